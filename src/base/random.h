/* A small seeded generator (xoshiro256**), the same on every machine; not for secrets.
 * SPDX-License-Identifier: MIT */
#ifndef QN_BASE_RANDOM_H
#define QN_BASE_RANDOM_H

#include <stdint.h>

typedef struct qn_random {
    uint64_t s[4];
} qn_random;

void qn_random_seed(qn_random *r, uint64_t seed); /* splitmix64 spreads the seed */
uint64_t qn_random_u64(qn_random *r);
uint64_t qn_random_below(qn_random *r, uint64_t n); /* uniform in [0, n), n >= 1, no modulo bias */
double qn_random_unit(qn_random *r);                /* uniform in [0, 1), 53 bits */
float qn_random_normal(qn_random *r);               /* mean 0, deviation 1 */

#endif
