/* TQ1_0 and TQ2_0: 256 elements of -1, 0 or 1 times one scale, and Q1_0: 128 elements of -1 or 1.
 *
 *   TQ1_0  48 bytes of 5 elements | 4 bytes of 4 elements | f16 d
 *          A byte is a fraction: the digits in base 3 of byte / 256, the first element first. Bytes 0-31 hold elements
 *          0-159, bytes 32-47 elements 160-239, the last four elements 240-255, digit by digit: element t * 32 + j of
 *          the first group is digit t of byte j.
 *   TQ2_0  64 bytes of 4 elements | f16 d; element g * 128 + t * 32 + j is bits 2 t, 2 t + 1 of byte g * 32 + j, plus 1
 *          (3 is no code of ours and decodes to 2)
 *   Q1_0   f16 d | 16 bytes; bit j set: x = d, else -d
 *
 * SPDX-License-Identifier: MIT */
#include "quant/quant_int.h"

#define TQ1_0_BYTES 54
#define TQ1_0_D 52
#define TQ2_0_BYTES 66
#define TQ2_0_D 64
#define Q1_0_BYTES 18
#define Q1_0_LEN 128

static const uint8_t pow3[5] = {1, 3, 9, 27, 81};

/* Each of n_bytes bytes gives n_digits elements, n_bytes apart. */
static void digits_decode(const uint8_t *p, int n_bytes, int n_digits, float d, float *dst)
{
    for (int t = 0; t < n_digits; t++) {
        for (int j = 0; j < n_bytes; j++) {
            uint8_t shifted = (uint8_t)(p[j] * pow3[t]); /* the digits before t run out at the top */
            dst[t * n_bytes + j] = d * (float)((shifted * 3 >> 8) - 1);
        }
    }
}

static void digits_encode(const float *src, int n_bytes, int n_digits, float id, uint8_t *p)
{
    for (int j = 0; j < n_bytes; j++) {
        int v = 0;
        for (int t = 0; t < n_digits; t++) {
            v += (qn_round_away(src[t * n_bytes + j] * id) + 1) * pow3[4 - t];
        }
        p[j] = (uint8_t)((v * 256 + 242) / 243); /* rounded up, so that multiplying by 3 brings out v's digits */
    }
}

void qn_decode_tq1_0(const void *src, float *dst, size_t n)
{
    const uint8_t *p = src;
    for (size_t i = 0; i < n; i += QN_QK_K, p += TQ1_0_BYTES, dst += QN_QK_K) {
        float d = qn_load_f16(p + TQ1_0_D);
        digits_decode(p, 32, 5, d, dst);
        digits_decode(p + 32, 16, 5, d, dst + 160);
        digits_decode(p + 48, 4, 4, d, dst + 240);
    }
}

void qn_encode_tq1_0(const float *src, void *dst, size_t n, const float *weights)
{
    (void)weights;
    uint8_t *p = dst;
    for (size_t i = 0; i < n; i += QN_QK_K, p += TQ1_0_BYTES, src += QN_QK_K) {
        float d = qn_max_abs(src, QN_QK_K);
        float id = qn_inverse(d);
        digits_encode(src, 32, 5, id, p);
        digits_encode(src + 160, 16, 5, id, p + 32);
        digits_encode(src + 240, 4, 4, id, p + 48);
        qn_store_f16(p + TQ1_0_D, d);
    }
}

void qn_decode_tq2_0(const void *src, float *dst, size_t n)
{
    const uint8_t *p = src;
    for (size_t i = 0; i < n; i += QN_QK_K, p += TQ2_0_BYTES) {
        float d = qn_load_f16(p + TQ2_0_D);
        for (int g = 0; g < 2; g++) {
            for (int t = 0; t < 4; t++, dst += 32) {
                for (int j = 0; j < 32; j++) {
                    dst[j] = d * (float)((p[g * 32 + j] >> (2 * t) & 3) - 1);
                }
            }
        }
    }
}

void qn_encode_tq2_0(const float *src, void *dst, size_t n, const float *weights)
{
    (void)weights;
    uint8_t *p = dst;
    for (size_t i = 0; i < n; i += QN_QK_K, p += TQ2_0_BYTES, src += QN_QK_K) {
        float d = qn_max_abs(src, QN_QK_K);
        float id = qn_inverse(d);
        for (int k = 0; k < 64; k++) {
            const float *x = src + (k / 32) * 128 + k % 32;
            unsigned v = 0;
            for (int t = 0; t < 4; t++) {
                v |= (unsigned)(qn_round_away(x[t * 32] * id) + 1) << (2 * t);
            }
            p[k] = (uint8_t)v;
        }
        qn_store_f16(p + TQ2_0_D, d);
    }
}

void qn_decode_q1_0(const void *src, float *dst, size_t n)
{
    const uint8_t *p = src;
    for (size_t i = 0; i < n; i += Q1_0_LEN, p += Q1_0_BYTES, dst += Q1_0_LEN) {
        float d = qn_load_f16(p);
        float of_bit[2] = {-d, d};
        for (int j = 0; j < Q1_0_LEN; j++) {
            dst[j] = of_bit[p[2 + j / 8] >> (j % 8) & 1];
        }
    }
}
