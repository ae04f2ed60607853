/* Encoding keys and values as codes, and their places in a page. SPDX-License-Identifier: MIT */
#include "quant/kv_code.h"

#include <math.h>
#include <string.h>

static float as_half(float x) { return qn_f16_to_f32(qn_f32_to_f16(x)); }

qn_kv_scale qn_kv_encode(const float *x, size_t n, uint32_t code_bits, uint8_t *codes)
{
    const float top = (float)((1u << code_bits) - 1);
    float min = x[0];
    float max = x[0];
    float finite = 0.0F; /* NaN as soon as a number is not finite */
    for (size_t i = 0; i < n; i++) {
        min = x[i] < min ? x[i] : min;
        max = x[i] > max ? x[i] : max;
        finite += x[i] * 0.0F;
    }
    qn_kv_scale s;
    if (code_bits == 8) {
        s = (qn_kv_scale){as_half((max - min) / top), as_half(min)};
    } else {
        s.scale = as_half((max > -min ? max : -min) / (0.5F * top));
        s.min = s.scale * qn_kv_middle(code_bits);
    }
    if (!(finite == 0.0F) || isinf(s.scale) || isinf(s.min)) {
        memset(codes, 0, n);
        return (qn_kv_scale){NAN, NAN};
    }
    float inverse = s.scale > 0.0F ? 1.0F / s.scale : 0.0F;
    for (size_t i = 0; i < n; i++) {
        float c = nearbyintf((x[i] - s.min) * inverse);
        c = c > 0.0F ? c : 0.0F;
        codes[i] = (uint8_t)(c < top ? c : top);
    }
    return s;
}

static void put_scale(qn_kv_scale s, uint32_t bits, uint32_t page_tokens, uint32_t t, void *scales)
{
    uint16_t *at = scales;
    at[t] = qn_f32_to_f16(s.scale);
    if (bits == 8) {
        at[page_tokens + t] = qn_f32_to_f16(s.min);
    }
}

/* Four codes of token t into the cells of dimensions 4g to 4g + 3. */
static void put_k8(const uint8_t *codes, uint32_t page_tokens, uint32_t t, uint32_t g, uint8_t *block)
{
    memcpy(block + 4 * ((size_t)g * page_tokens + t), codes, 4);
}

static void put_k5(const uint8_t *codes, uint32_t page_tokens, uint32_t t, uint32_t g, uint8_t *block, uint8_t *fifth)
{
    uint8_t *cell = block + 4 * ((size_t)(g / 2) * page_tokens + t);
    uint8_t *bits = fifth + ((size_t)g * page_tokens + t) / 2;
    uint32_t high = 0;
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t low = codes[i] & 15u;
        cell[i] = (uint8_t)(g % 2 == 0 ? (cell[i] & 0xF0) | low : (cell[i] & 0x0F) | low << 4);
        high |= (uint32_t)codes[i] >> 4 << i;
    }
    *bits = (uint8_t)(t % 2 == 0 ? (*bits & 0xF0) | high : (*bits & 0x0F) | high << 4);
}

void qn_kv_put_k(const uint8_t *codes, qn_kv_scale s, uint32_t bits, uint32_t n, uint32_t page_tokens, uint32_t t,
                 void *block)
{
    uint8_t *at = block;
    for (uint32_t d = 0; d < n; d += 4) {
        uint8_t last[4] = {0};
        const uint8_t *four = codes + d;
        if (n - d < 4) {
            memcpy(last, four, n - d);
            four = last;
        }
        if (bits == 8) {
            put_k8(four, page_tokens, t, d / 4, at);
        } else {
            put_k5(four, page_tokens, t, d / 4, at, at + qn_kv_k_low_bytes(bits, n, page_tokens));
        }
    }
    put_scale(s, bits, page_tokens, t, at + qn_kv_k_code_bytes(bits, n, page_tokens));
}

void qn_kv_put_v(const uint8_t *codes, qn_kv_scale s, uint32_t bits, uint32_t n, uint32_t page_tokens, uint32_t t,
                 void *block)
{
    uint8_t *cell = (uint8_t *)block + 4 * (size_t)(t / (32 / bits)) * n + t % 4;
    uint32_t shift = bits == 8 ? 0 : t / 4 % 2 * 4;
    uint32_t kept = bits == 8 ? 0 : 0xF0u >> shift;
    for (uint32_t j = 0; j < n; j++, cell += 4) {
        *cell = (uint8_t)((*cell & kept) | (uint32_t)codes[j] << shift);
    }
    put_scale(s, bits, page_tokens, t, (uint8_t *)block + qn_kv_v_code_bytes(bits, n, page_tokens));
}

static double number(uint32_t code, uint32_t code_bits, const void *scales, uint32_t page_tokens, uint32_t t)
{
    const uint16_t *at = scales;
    double scale = qn_f16_to_f32(at[t]);
    double min = code_bits == 8 ? qn_f16_to_f32(at[page_tokens + t]) : scale * qn_kv_middle(code_bits);
    return min + scale * code;
}

double qn_kv_get_k(const void *block, uint32_t bits, uint32_t n, uint32_t page_tokens, uint32_t t, uint32_t d)
{
    const uint8_t *at = block;
    const uint8_t *scales = at + qn_kv_k_code_bytes(bits, n, page_tokens);
    if (bits == 8) {
        return number(at[4 * ((size_t)(d / 4) * page_tokens + t) + d % 4], 8, scales, page_tokens, t);
    }
    const uint8_t *fifth = at + qn_kv_k_low_bytes(bits, n, page_tokens);
    uint32_t low = at[4 * ((size_t)(d / 8) * page_tokens + t) + d % 4] >> d / 4 % 2 * 4 & 15u;
    uint32_t high = fifth[((size_t)(d / 4) * page_tokens + t) / 2] >> (t % 2 * 4 + d % 4) & 1u;
    return number(low | high << 4, 5, scales, page_tokens, t);
}

double qn_kv_get_v(const void *block, uint32_t bits, uint32_t n, uint32_t page_tokens, uint32_t t, uint32_t j)
{
    const uint8_t *at = block;
    uint32_t code = at[4 * ((size_t)(t / (32 / bits)) * n + j) + t % 4];
    if (bits == 4) {
        code = code >> t / 4 % 2 * 4 & 15u;
    }
    return number(code, bits, at + qn_kv_v_code_bytes(bits, n, page_tokens), page_tokens, t);
}
