/* Making a block ready for the search, and halves in its units.
 * SPDX-License-Identifier: MIT */
#include <float.h>
#include <math.h>

#include "quant/fit.h"

#define LEAST_WEIGHT 1e-6f /* of the largest: even what nobody asks for comes out roughly right */

/* Copies n finite numbers times the power of two that brings the largest magnitude into [1, 2); returns the power's
 * exponent with the sign that undoes it. */
static int scale_to_one(float *x, size_t n)
{
    int exponent = 0;
    float max = qn_max_abs(x, n);
    if (max > 0.0f) {
        (void)frexpf(max, &exponent);
        exponent--;
        /* In two steps: 2^149, which the least subnormal needs, is no float. */
        float first = ldexpf(1.0f, -(exponent / 2));
        float second = ldexpf(1.0f, -(exponent - exponent / 2));
        for (size_t i = 0; i < n; i++) {
            x[i] = x[i] * first * second;
        }
    }
    return exponent;
}

void qn_fit_open(qn_fit *f, const float *src, const float *weights, size_t n)
{
    bool any_weight = false;
    for (size_t i = 0; i < n; i++) {
        float v = src[i] == src[i] ? src[i] : 0.0f;
        f->x[i] = v > FLT_MAX ? FLT_MAX : v < -FLT_MAX ? -FLT_MAX : v;
        float w = weights != NULL && weights[i] > 0.0f ? weights[i] : 0.0f;
        f->w[i] = w > FLT_MAX ? FLT_MAX : w;
        any_weight = any_weight || w > 0.0f;
    }
    f->exponent = scale_to_one(f->x, n);
    scale_to_one(f->w, n);
    for (size_t i = 0; i < n; i++) {
        f->w[i] = !any_weight ? 1.0f : f->w[i] > LEAST_WEIGHT ? f->w[i] : LEAST_WEIGHT;
    }
}

uint16_t qn_fit_half(const qn_fit *f, float d, float *value)
{
    float real = ldexpf(d, f->exponent);
    real = real > 65504.0f ? 65504.0f : real < -65504.0f ? -65504.0f : real;
    uint16_t half = qn_f32_to_f16(real);
    *value = ldexpf(qn_f16_to_f32(half), -f->exponent);
    return half;
}
