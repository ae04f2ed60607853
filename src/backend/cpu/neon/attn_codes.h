/* Attention over a page of codes, as the blocks of attn.c take it. Private to backend/cpu/neon.
 * SPDX-License-Identifier: MIT */
#ifndef QN_BACKEND_CPU_NEON_ATTN_CODES_H
#define QN_BACKEND_CPU_NEON_ATTN_CODES_H

#include "backend/cpu/kernels.h"

/* s[r * page_tokens + t] = the score of row[r], t in [t0, t1), both multiples of 4. n_rows <= QN_ATTN_ROWS. */
void qn_attn_score_codes_neon(const qn_attn_page *a, const uint32_t *row, size_t n_rows, size_t t0, size_t t1,
                              float *s);

/* acc of row[r] = that times keep[r] + the values of the tokens that it sees, weighed by p[r * page_tokens + t]. All
 * that the rows see lies in [lo, hi). */
void qn_attn_value_codes_neon(const qn_attn_page *a, const uint32_t *row, size_t n_rows, const float *p,
                              const float *keep, uint32_t lo, uint32_t hi);

#endif
