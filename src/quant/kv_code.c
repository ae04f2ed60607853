/* Encoding keys and values as codes, and their places in a page. SPDX-License-Identifier: MIT */
#include "quant/kv_code.h"

#include <math.h>
#include <string.h>

static float as_half(float x) { return qn_f16_to_f32(qn_f32_to_f16(x)); }

/* The nearest half whose last three bits are 0. */
static float as_short_half(float x)
{
    uint32_t h = (qn_f32_to_f16(x) & 0x7FFFu) + 4;
    return qn_f16_to_f32((uint16_t)(h & 0x7FF8u));
}

static qn_kv_scale fit_packed(float lowest, float highest, uint32_t code_bits)
{
    const float step = qn_kv_packed_step(code_bits);
    const float half = (float)((1u << code_bits) - 1) * 0.5F;
    float range = highest - lowest;
    /* How far the middle of the numbers is from 0, in scales. */
    float shift = range > 0.0F ? (lowest + highest) / range * half : 0.0F;
    float z = nearbyintf(shift / step);
    z = z > 7.0F ? 7.0F : z < -8.0F ? -8.0F : z;
    float above = highest / (half + z * step);
    float below = -lowest / (half - z * step);
    float scale = as_short_half(above > below ? above : below);
    return (qn_kv_scale){scale, scale * (z * step - half)};
}

qn_kv_scale qn_kv_fit(float lowest, float highest, bool is_finite, uint32_t code_bits)
{
    qn_kv_scale s = code_bits == 8 ? (qn_kv_scale){as_half((highest - lowest) / 255.0F), as_half(lowest)}
                                   : fit_packed(lowest, highest, code_bits);
    return is_finite && !isinf(s.scale) && !isinf(s.min) ? s : (qn_kv_scale){NAN, NAN};
}

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
    qn_kv_scale s = qn_kv_fit(min, max, finite == 0.0F, code_bits);
    if (isnan(s.scale)) {
        memset(codes, 0, n);
        return s;
    }
    float inverse = s.scale > 0.0F ? 1.0F / s.scale : 0.0F;
    for (size_t i = 0; i < n; i++) {
        float c = nearbyintf((x[i] - s.min) * inverse);
        c = c > 0.0F ? c : 0.0F;
        codes[i] = (uint8_t)(c < top ? c : top);
    }
    return s;
}

static void put_scale(qn_kv_scale s, uint32_t code_bits, uint32_t page_tokens, uint32_t t, void *scales)
{
    uint16_t *at = scales;
    uint16_t half = qn_f32_to_f16(s.scale);
    if (code_bits == 8) {
        at[t] = half;
        at[page_tokens + t] = qn_f32_to_f16(s.min);
        return;
    }
    float z = s.scale > 0.0F ? (s.min / s.scale - qn_kv_packed_first(code_bits)) / qn_kv_packed_step(code_bits) : 8.0F;
    at[t] = (uint16_t)((half & 0x7FF8u) << 1 | (uint32_t)nearbyintf(z));
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
    put_scale(s, qn_kv_k_bits(bits), page_tokens, t, at + qn_kv_k_code_bytes(bits, n, page_tokens));
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
    if (code_bits == 8) {
        return qn_f16_to_f32(at[page_tokens + t]) + (double)qn_f16_to_f32(at[t]) * code;
    }
    double min = qn_kv_packed_first(code_bits) + (double)qn_kv_packed_step(code_bits) * (at[t] & 15);
    return qn_f16_to_f32(qn_kv_packed_half(at[t])) * (min + code);
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
