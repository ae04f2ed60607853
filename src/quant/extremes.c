/* Largest and least elements of a block.
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "quant/quant_int.h"

float qn_max_abs(const float *x, size_t n)
{
    float max = 0.0f;
    for (size_t i = 0; i < n; i++) {
        float a = fabsf(x[i]);
        max = a > max ? a : max;
    }
    return max;
}

float qn_max_signed(const float *x, size_t n)
{
    float best = x[0];
    float max = fabsf(best);
    for (size_t i = 1; i < n; i++) {
        float a = fabsf(x[i]);
        if (a > max) {
            max = a;
            best = x[i];
        }
    }
    return best;
}

void qn_min_max(const float *x, size_t n, float *min, float *max)
{
    float lo = x[0];
    float hi = x[0];
    for (size_t i = 1; i < n; i++) {
        lo = x[i] < lo ? x[i] : lo;
        hi = x[i] > hi ? x[i] : hi;
    }
    *min = lo;
    *max = hi;
}
