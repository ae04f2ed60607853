/* IQ4_NL and IQ4_XS: 4-bit codes into a table of 16 unevenly spaced values.
 *
 *   IQ4_NL  f16 d | 16 bytes                                   32 elements, nibbles as in Q4_0; x = d * value
 *   IQ4_XS  f16 d | u16 high | 4 bytes low | 128 bytes         256 elements; x = d * (scale - 32) * value
 *           Sub-block s of 32 elements has the low 4 bits of its scale in half s % 2 of low byte s / 2, the high 2 bits
 *           at 2 s of `high`, and its codes in bytes 16 s to 16 s + 15, nibbles as in Q4_0.
 *
 * SPDX-License-Identifier: MIT */
#include "quant/fit.h"

#define IQ4_NL_BYTES 18
#define IQ4_XS_BYTES 136
#define IQ4_XS_HIGH 2
#define IQ4_XS_LOW 4
#define IQ4_XS_CODES 8

const int8_t qn_iq4_values[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

static inline void look_up(const uint8_t *q, float d, float *dst)
{
    for (int j = 0; j < 16; j++) {
        dst[j] = d * (float)qn_iq4_values[q[j] & 15];
        dst[j + 16] = d * (float)qn_iq4_values[q[j] >> 4];
    }
}

void qn_decode_iq4_nl(const void *src, float *dst, size_t n)
{
    const uint8_t *p = src;
    for (size_t i = 0; i < n; i += QN_QK, p += IQ4_NL_BYTES) {
        look_up(p + 2, qn_load_f16(p), dst + i);
    }
}

void qn_decode_iq4_xs(const void *src, float *dst, size_t n)
{
    const uint8_t *p = src;
    for (size_t i = 0; i < n; i += QN_QK_K, p += IQ4_XS_BYTES) {
        float d = qn_load_f16(p);
        unsigned high = qn_load_u16(p + IQ4_XS_HIGH);
        for (int s = 0; s < 8; s++) {
            int low = p[IQ4_XS_LOW + s / 2] >> (s % 2 * 4) & 15;
            int scale = (low | (int)(high >> (2 * s) & 3) << 4) - 32;
            look_up(p + IQ4_XS_CODES + 16 * s, d * (float)scale, dst + i + 32 * s);
        }
    }
}

static inline void pack(const int8_t *q, uint8_t *p)
{
    for (int j = 0; j < 16; j++) {
        p[j] = (uint8_t)(q[j] | q[j + 16] << 4);
    }
}

static const qn_fit_form iq4_nl_form = {
    .n_sub = 1, .sub_len = 32, .table = qn_iq4_values, .scale_min = 1, .scale_max = 1};
static const qn_fit_form iq4_xs_form = {
    .n_sub = 8, .sub_len = 32, .table = qn_iq4_values, .scale_min = -32, .scale_max = 31};

void qn_encode_iq4_nl(const float *src, void *dst, size_t n, const float *weights)
{
    uint8_t *p = dst;
    for (size_t i = 0; i < n; i += QN_QK, p += IQ4_NL_BYTES) {
        qn_fit f;
        qn_fit_result r;
        qn_fit_open(&f, src + i, weights != NULL ? weights + i : NULL, QN_QK);
        qn_fit_symmetric(&f, &iq4_nl_form, &r);
        qn_store_u16(p, r.d);
        pack(r.q, p + 2);
    }
}

void qn_encode_iq4_xs(const float *src, void *dst, size_t n, const float *weights)
{
    uint8_t *p = dst;
    for (size_t i = 0; i < n; i += QN_QK_K, p += IQ4_XS_BYTES) {
        qn_fit f;
        qn_fit_result r;
        qn_fit_open(&f, src + i, weights != NULL ? weights + i : NULL, QN_QK_K);
        qn_fit_symmetric(&f, &iq4_xs_form, &r);
        memset(p, 0, IQ4_XS_CODES);
        qn_store_u16(p, r.d);
        unsigned high = 0;
        for (int s = 0; s < 8; s++) {
            unsigned scale = (unsigned)(r.scale[s] + 32);
            p[IQ4_XS_LOW + s / 2] |= (uint8_t)((scale & 15) << (s % 2 * 4));
            high |= scale >> 4 << (2 * s);
            pack(r.q + 32 * s, p + IQ4_XS_CODES + 16 * s);
        }
        qn_store_u16(p + IQ4_XS_HIGH, (uint16_t)high);
    }
}
