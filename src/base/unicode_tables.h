/* The generated tables, for unicode*.c alone.
 * SPDX-License-Identifier: MIT */
#ifndef QN_BASE_UNICODE_TABLES_H
#define QN_BASE_UNICODE_TABLES_H

#include <stdint.h>

/* unicode_tables.c */
extern const uint32_t qn_unicode_runs[];
extern const uint32_t qn_unicode_n_runs;
extern const uint32_t qn_unicode_spaces[][2];
extern const uint32_t qn_unicode_n_spaces;
extern const uint32_t qn_unicode_case_rings[][2];
extern const uint32_t qn_unicode_n_case_rings;

/* unicode_case_tables.c */
extern const int32_t qn_unicode_lower_runs[][4], qn_unicode_upper_runs[][4], qn_unicode_title_runs[][4];
extern const uint32_t qn_unicode_n_lower_runs, qn_unicode_n_upper_runs, qn_unicode_n_title_runs;
extern const uint32_t qn_unicode_lower_longs[][4], qn_unicode_upper_longs[][4], qn_unicode_title_longs[][4];
extern const uint32_t qn_unicode_n_lower_longs, qn_unicode_n_upper_longs, qn_unicode_n_title_longs;
extern const uint32_t qn_unicode_cased[][2], qn_unicode_case_ignorable[][2];
extern const uint32_t qn_unicode_n_cased, qn_unicode_n_case_ignorable;

/* unicode_norm_tables.c */
#define QN_NORM_BLOCK 64
enum { /* of an entry of qn_unicode_norm_words, above the combining class in its low byte */
    QN_NORM_NOT_NFC = 0x100, QN_NORM_MAYBE = 0x200, QN_NORM_NOT_NFD = 0x400, QN_NORM_NOT_NFKC = 0x800,
    QN_NORM_NOT_NFKD = 0x1000,
};
extern const uint8_t qn_unicode_norm_index[];
extern const uint32_t qn_unicode_n_norm_index;
extern const uint16_t qn_unicode_norm_words[][QN_NORM_BLOCK];
extern const uint32_t qn_unicode_canonical[][2], qn_unicode_compatible[][2];
extern const uint32_t qn_unicode_n_canonical, qn_unicode_n_compatible;
extern const uint32_t qn_unicode_norm_pool[];
extern const uint32_t qn_unicode_compositions[][3];
extern const uint32_t qn_unicode_n_compositions;

#endif
