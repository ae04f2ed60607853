/* Activations to A8.
 * SPDX-License-Identifier: MIT */
#include <float.h>
#include <math.h>

#include "backend/cpu/neon/mm_neon_int.h"

/* The largest magnitude of 32 floats. Compared as integers, where NaN is the largest. */
QN_INLINE float block_max(const float32x4_t v[8])
{
    uint32x4_t top = vdupq_n_u32(0);
    for (int i = 0; i < 8; i++) {
        top = vmaxq_u32(top, vandq_u32(vreinterpretq_u32_f32(v[i]), vdupq_n_u32(0x7fffffff)));
    }
    uint32_t bits = vmaxvq_u32(top);
    float max;
    memcpy(&max, &bits, sizeof(max));
    return max;
}

/* Sixteen of them as bytes, to nearest even; none is beyond 127. */
QN_INLINE int8x16_t to_bytes(const float32x4_t v[4], float inverse)
{
    int16x4_t words[4];
    for (int i = 0; i < 4; i++) {
        words[i] = vmovn_s32(vcvtnq_s32_f32(vmulq_n_f32(v[i], inverse)));
    }
    int8x8_t low = vmovn_s16(vcombine_s16(words[0], words[1]));
    return vcombine_s8(low, vmovn_s16(vcombine_s16(words[2], words[3])));
}

/* The arithmetic of each element is ref's. */
QN_INLINE void quantize_block(const float *x, int8_t *q, float *d, float *s, int16_t *h)
{
    float32x4_t v[8];
    for (int i = 0; i < 8; i++) {
        v[i] = vld1q_f32(x + 4 * i);
    }
    float max = block_max(v);
    float inverse = 127.0F / max;
    if (!(max <= FLT_MAX) || !(inverse <= FLT_MAX)) {
        memset(q, 0, 32);
        h[0] = h[1] = 0;
        *d = *s = max <= FLT_MAX ? 0.0F : NAN;
        return;
    }
    for (int i = 0; i < 2; i++) {
        int8x16_t bytes = to_bytes(v + 4 * i, inverse);
        vst1q_s8(q + 16 * i, bytes);
        h[i] = vaddlvq_s8(bytes);
    }
    *d = max / 127.0F;
    *s = *d * (float)(h[0] + h[1]);
}

void qn_quantize_a8_neon(const float *x, size_t n, void *out)
{
    size_t np = qn_a8_padded(n);
    int8_t *q = out;
    float *d = (float *)(void *)(q + np);
    float *s = d + np / 32;
    int16_t *h = (int16_t *)(void *)(s + np / 32);
    size_t i = 0;
    for (; i + 32 <= n; i += 32) {
        quantize_block(x + i, q + i, d + i / 32, s + i / 32, h + i / 16);
    }
    if (i < n) {
        float last[32] = {0};
        memcpy(last, x + i, (n - i) * sizeof(*x));
        quantize_block(last, q + i, d + i / 32, s + i / 32, h + i / 16);
        i += 32;
    }
    memset(q + i, 0, np - i);
    memset(d + i / 32, 0, (np - i) / 32 * sizeof(*d));
    memset(s + i / 32, 0, (np - i) / 32 * sizeof(*s));
    memset(h + i / 16, 0, (np - i) / 16 * sizeof(*h));
    /* What rounds the row up to whole lines. */
    char *end = (char *)(h + np / 16);
    memset(end, 0, (size_t)((char *)out + qn_a8_bytes(n) - end));
}
