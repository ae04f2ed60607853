/* What the parts of the self-check share. SPDX-License-Identifier: MIT */
#ifndef QN_BACKEND_CPU_SELFCHECK_INT_H
#define QN_BACKEND_CPU_SELFCHECK_INT_H

#include "backend/cpu/selfcheck.h"
#include "base/random.h"

typedef struct qn_self_check {
    const qn_kernels *k; /* under test */
    const qn_kernels *ref;
    qn_random random;
    qn_error *err;
} qn_self_check;

void qn_self_check_fill(qn_self_check *c, float *x, size_t n);

/* |got[i] - want[i]| <= relative * |want[i]| + absolute for all i. suffix: what kernel is about ("F16"), or "". */
qn_status qn_self_check_compare(qn_self_check *c, const char *kernel, const char *suffix, const float *got,
                                const float *want, size_t n, double relative, double absolute);
/* One value; tolerance is absolute. */
qn_status qn_self_check_value(qn_self_check *c, const char *kernel, const char *suffix, size_t i, double got,
                              double want, double tolerance);
qn_status qn_self_check_bytes(qn_self_check *c, const char *kernel, const char *suffix, const void *got,
                              const void *want, size_t n);

/* bits: 8 or 4, of codes; 0: pages of the type. */
qn_status qn_self_check_attention(qn_self_check *c, qn_type type, uint32_t bits);
qn_status qn_self_check_products(qn_self_check *c, qn_type type);

#endif
