/* Activations to A8, in plain C.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "backend/cpu/ref/mm_ref_int.h"

static uint32_t magnitude_bits(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof(bits));
    return bits & 0x7fffffffu;
}

/* Magnitudes are compared as integers, where NaN is the largest, so that one bad element marks its block whatever
 * the order. */
static float block_max(const float *x, size_t n)
{
    uint32_t top = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t bits = magnitude_bits(x[i]);
        top = bits > top ? bits : top;
    }
    float max;
    memcpy(&max, &top, sizeof(max));
    return max;
}

void qn_quantize_a8_ref(const float *x, size_t n, void *out)
{
    size_t np = qn_a8_padded(n);
    int8_t *q = out;
    float *d = (float *)(void *)(q + np);
    float *s = d + np / 32;
    int16_t *h = (int16_t *)(void *)(s + np / 32);
    memset(out, 0, qn_a8_bytes(n));
    for (size_t i = 0; i < n; i += 32) {
        size_t n_here = n - i < 32 ? n - i : 32;
        float max = block_max(x + i, n_here);
        if (!isfinite(max)) {
            d[i / 32] = s[i / 32] = NAN;
            continue;
        }
        float inverse = 127.0f / max;
        if (!isfinite(inverse)) { /* zeros, or below 1e-36 and as good as zeros */
            continue;
        }
        int sum[2] = {0, 0};
        for (size_t j = 0; j < n_here; j++) {
            int v = (int)rintf(x[i + j] * inverse);
            q[i + j] = (int8_t)v;
            sum[j / 16] += v;
        }
        d[i / 32] = max / 127.0f;
        s[i / 32] = d[i / 32] * (float)(sum[0] + sum[1]);
        h[i / 16] = (int16_t)sum[0];
        h[i / 16 + 1] = (int16_t)sum[1];
    }
}
