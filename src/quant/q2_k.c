/* Q2_K: 16 sub-blocks of 16 elements of 2 bits, each with a scale and a minimum of 4 bits.
 *
 *   16 bytes: scale (low half) and minimum of a sub-block | 64 bytes of codes | f16 d | f16 dmin
 *   x = d * scale * q - dmin * minimum
 *
 * Element h * 128 + t * 32 + j is bits 2 t, 2 t + 1 of byte h * 32 + j of the codes.
 * SPDX-License-Identifier: MIT */
#include "quant/fit.h"

#define BYTES 84
#define CODES 16
#define D 80
#define DMIN 82

void qn_decode_q2_k(const void *src, float *dst, size_t n)
{
    const uint8_t *p = src;
    for (size_t i = 0; i < n; i += QN_QK_K, p += BYTES) {
        float d = qn_load_f16(p + D);
        float dmin = qn_load_f16(p + DMIN);
        for (int s = 0; s < 16; s++, dst += 16) {
            float scale = d * (float)(p[s] & 15);
            float min = dmin * (float)(p[s] >> 4);
            const uint8_t *q = p + CODES + s / 8 * 32 + s % 2 * 16;
            int shift = s / 2 % 4 * 2;
            for (int j = 0; j < 16; j++) {
                dst[j] = scale * (float)(q[j] >> shift & 3) - min;
            }
        }
    }
}

static const qn_fit_form form = {
    .n_sub = 16, .sub_len = 16, .level_max = 3, .scale_max = 15, .min_max = 15};

void qn_encode_q2_k(const float *src, void *dst, size_t n, const float *weights)
{
    uint8_t *p = dst;
    for (size_t i = 0; i < n; i += QN_QK_K, p += BYTES) {
        qn_fit f;
        qn_fit_result r;
        qn_fit_open(&f, src + i, weights != NULL ? weights + i : NULL, QN_QK_K);
        qn_fit_affine(&f, &form, &r);
        memset(p, 0, BYTES);
        qn_store_u16(p + D, r.d);
        qn_store_u16(p + DMIN, r.dmin);
        for (int s = 0; s < 16; s++) {
            p[s] = (uint8_t)(r.scale[s] | r.min[s] << 4);
            uint8_t *q = p + CODES + s / 8 * 32 + s % 2 * 16;
            for (int j = 0; j < 16; j++) {
                q[j] |= (uint8_t)(r.q[16 * s + j] << (s / 2 % 4 * 2));
            }
        }
    }
}
