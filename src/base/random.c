/* xoshiro256** by Blackman and Vigna, seeded by splitmix64. Everything here is integer arithmetic and correctly
 * rounded double arithmetic in a fixed order, so that a seed gives the same numbers on every machine.
 * SPDX-License-Identifier: MIT */
#include "base/random.h"

#include <math.h>

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif

static uint64_t rotate_left(uint64_t x, int n)
{
    return x << n | x >> (64 - n);
}

void qn_random_seed(qn_random *r, uint64_t seed)
{
    for (int i = 0; i < 4; i++) {
        seed += UINT64_C(0x9E3779B97F4A7C15);
        uint64_t z = seed;
        z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
        z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
        r->s[i] = z ^ z >> 31;
    }
}

uint64_t qn_random_u64(qn_random *r)
{
    uint64_t *s = r->s;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

uint64_t qn_random_below(qn_random *r, uint64_t n)
{
    /* 2^64 mod n values at the low end are refused; what is left is a whole number of rounds of n. */
    uint64_t refuse = (0 - n) % n;
    uint64_t x;
    do {
        x = qn_random_u64(r);
    } while (x < refuse);
    return x % n;
}

double qn_random_unit(qn_random *r)
{
    return (double)(qn_random_u64(r) >> 11) * 0x1p-53;
}

/* Natural logarithm of x in (0, 1]. Our own, because libraries differ in the last bit. */
static double natural_log(double x)
{
    int e;
    double m = frexp(x, &e);
    if (m < 0.70710678118654752) {
        m *= 2;
        e--;
    }
    /* log m = 2 atanh z with |z| < 0.172: the terms left out are below 1e-18. */
    double z = (m - 1) / (m + 1);
    double zz = z * z;
    double sum = 0;
    for (int k = 23; k >= 1; k -= 2) {
        sum = sum * zz + 1.0 / k;
    }
    return 2 * z * sum + e * 0.69314718055994531;
}

float qn_random_normal(qn_random *r)
{
    /* Marsaglia's polar method; the second number of the pair is given up, as the state has no place for it. */
    double u, v, q;
    do {
        u = 2 * qn_random_unit(r) - 1;
        v = 2 * qn_random_unit(r) - 1;
        q = u * u + v * v;
    } while (q >= 1 || q == 0);
    return (float)(u * sqrt(-2 * natural_log(q) / q));
}
