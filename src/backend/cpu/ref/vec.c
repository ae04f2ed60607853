/* The row kernels in plain C: sums and functions in double, one rounding at the end.
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/vec_int.h"

#include <math.h>

/* sqrt(2 / pi), and the cubic coefficient of gelu's tanh form. */
#define GELU_SCALE 0.79788456080286535588
#define GELU_CUBE 0.044715

void qn_rms_norm_ref(const float *x, const float *w, size_t n, float eps, float *y)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        sum += (double)x[i] * x[i];
    }
    double f = 1.0 / sqrt(sum / (double)n + eps);
    for (size_t i = 0; i < n; i++) {
        y[i] = (float)(x[i] * f * (w != NULL ? w[i] : 1.0F));
    }
}

void qn_add_ref(const float *a, const float *b, size_t n, float *y)
{
    for (size_t i = 0; i < n; i++) {
        y[i] = a[i] + b[i];
    }
}

void qn_mul_ref(const float *a, const float *b, size_t n, float *y)
{
    for (size_t i = 0; i < n; i++) {
        y[i] = a[i] * b[i];
    }
}

void qn_scale_ref(const float *x, float f, size_t n, float *y)
{
    for (size_t i = 0; i < n; i++) {
        y[i] = x[i] * f;
    }
}

void qn_add_scaled_ref(const float *x, float f, size_t n, float *y)
{
    for (size_t i = 0; i < n; i++) {
        y[i] = (float)(y[i] + (double)f * x[i]);
    }
}

void qn_softcap_ref(const float *x, float cap, size_t n, float *y)
{
    for (size_t i = 0; i < n; i++) {
        y[i] = (float)(cap * tanh((double)x[i] / cap));
    }
}

void qn_silu_mul_ref(const float *gate, const float *up, size_t n, float *y)
{
    for (size_t i = 0; i < n; i++) {
        y[i] = (float)(gate[i] / (1.0 + exp(-(double)gate[i])) * up[i]);
    }
}

void qn_gelu_mul_ref(const float *gate, const float *up, size_t n, float *y)
{
    for (size_t i = 0; i < n; i++) {
        double g = gate[i];
        double u = GELU_SCALE * (g + GELU_CUBE * g * g * g);
        /* 1 + tanh(u) = 2 / (1 + exp(-2u)); this form keeps its digits where tanh comes close to -1. */
        y[i] = (float)(g / (1.0 + exp(-2.0 * u)) * up[i]);
    }
}

void qn_softmax_ref(const float *x, size_t n, float *y)
{
    double max = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        max = x[i] > max ? x[i] : max;
    }
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        sum += exp(x[i] - max);
    }
    for (size_t i = 0; i < n; i++) {
        y[i] = (float)(exp(x[i] - max) / sum);
    }
}
