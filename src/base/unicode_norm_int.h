/* The steps of normalization, for unicode_norm*.c alone. A text in the course of it is an array of code points, each
 * with its combining class in the highest byte.
 * SPDX-License-Identifier: MIT */
#ifndef QN_BASE_UNICODE_NORM_INT_H
#define QN_BASE_UNICODE_NORM_INT_H

#include "base/unicode_norm.h"
#include "base/unicode_tables.h"

#define QN_NORM_CLASS_SHIFT 24
#define QN_NORM_CODE_POINT ((UINT32_C(1) << QN_NORM_CLASS_SHIFT) - 1)
#define QN_NORM_MAX_EXPANSION 18 /* code points of the longest decomposition, U+FDFA's */

typedef struct qn_norm_run { /* a stretch that is normalised by itself */
    uint32_t *items;
    size_t n, cap;
    qn_budget *budget;
} qn_norm_run;

/* Combining class and QN_NORM_* flags. */
static inline uint32_t qn_norm_word(uint32_t cp)
{
    uint32_t block = cp / QN_NORM_BLOCK;
    return block < qn_unicode_n_norm_index ? qn_unicode_norm_words[qn_unicode_norm_index[block]][cp % QN_NORM_BLOCK]
                                           : 0;
}

/* Appends what cp decomposes into, with classes. QN_ENOMEM. */
qn_status qn_norm_decompose(qn_norm_run *run, uint32_t cp, bool compatibility);
/* Puts marks in the canonical order: those between starters, by class, equal ones as they stand. QN_ENOMEM. */
qn_status qn_norm_reorder(qn_norm_run *run);
/* Composes what is decomposed and in order. */
void qn_norm_compose(qn_norm_run *run);

#endif
