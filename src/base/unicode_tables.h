/* The generated tables, for unicode.c alone.
 * SPDX-License-Identifier: MIT */
#ifndef QN_BASE_UNICODE_TABLES_H
#define QN_BASE_UNICODE_TABLES_H

#include <stdint.h>

extern const uint32_t qn_unicode_runs[];
extern const uint32_t qn_unicode_n_runs;
extern const uint32_t qn_unicode_spaces[][2];
extern const uint32_t qn_unicode_n_spaces;
extern const uint32_t qn_unicode_case_rings[][2];
extern const uint32_t qn_unicode_n_case_rings;

#endif
