/* Keys and values as codes: how the numbers of one head lie in a KV page when they are kept in 8 or about 4 bits.
 *
 * A block is one head of one token: n numbers, each about min + scale * code. With 8 bits codes are in [0, 255], and
 * scale and min are halves. With 4 bits values have codes in [0, 15] and keys, which need more, in [0, 31]; 16 bits hold
 * both: above, scale as a half without its sign and its last three bits, in the lower four z, which says that min is
 * scale times -7.5 + (z - 8) / 4 (keys: -15.5 + (z - 8) / 2). A head's part of a page is
 *   K, 8 bits  codes [n / 4][page_tokens][4], byte i of a cell dimension 4g + i; scale[page_tokens], min[page_tokens]
 *   K, 4 bits  codes [n / 8][page_tokens][4], byte i of a cell dimension 8g + i low, 8g + 4 + i high; the fifth bits
 *              [n / 4][page_tokens] times 4 bits, bit i of a cell dimension 4g + i, even tokens low; scale[page_tokens]
 *   V, 8 bits  codes [page_tokens / 4][n][4], byte i of a cell token 4g + i; scale[page_tokens], min[page_tokens]
 *   V, 4 bits  codes [page_tokens / 8][n][4], byte i of a cell token 8g + i low, 8g + 4 + i high; scale[page_tokens]
 * so that a vector runs over tokens (K) or dimensions (V), and a lane holds four neighbours, as an integer dot product
 * takes them. In K n is rounded up to a multiple of 8; what the pad holds is never used.
 * SPDX-License-Identifier: MIT */
#ifndef QN_QUANT_KV_CODE_H
#define QN_QUANT_KV_CODE_H

#include "quant/quant.h"

/* Of one block, as they are after rounding to halves. */
typedef struct qn_kv_scale {
    float scale, min;
} qn_kv_scale;

/* Bits of a code. */
static inline uint32_t qn_kv_k_bits(uint32_t bits) { return bits == 4 ? 5 : bits; }

static inline uint64_t qn_kv_padded(uint32_t n) { return ((uint64_t)n + 7) / 8 * 8; }

/* What 16 bits hold of codes of 5 or 4 bits: the scale as a half, and min over scale, which is `first` + z * `step`. */
static inline uint16_t qn_kv_packed_half(uint16_t packed) { return (uint16_t)(packed >> 1 & 0x7FF8); }
static inline float qn_kv_packed_step(uint32_t code_bits) { return code_bits == 4 ? 0.25F : 0.5F; }
static inline float qn_kv_packed_first(uint32_t code_bits) { return code_bits == 4 ? -9.5F : -19.5F; }

/* Bytes before the scales: of a K block, and of its part before the fifth bits; and of a V block.
 * page_tokens: a multiple of 8. */
static inline uint64_t qn_kv_k_low_bytes(uint32_t bits, uint32_t n, uint32_t page_tokens)
{
    return qn_kv_padded(n) * page_tokens * bits / 8;
}
static inline uint64_t qn_kv_k_code_bytes(uint32_t bits, uint32_t n, uint32_t page_tokens)
{
    return qn_kv_padded(n) * page_tokens * qn_kv_k_bits(bits) / 8;
}
static inline uint64_t qn_kv_v_code_bytes(uint32_t bits, uint32_t n, uint32_t page_tokens)
{
    return (uint64_t)n * page_tokens * bits / 8;
}
static inline uint64_t qn_kv_scale_bytes(uint32_t bits, uint32_t page_tokens)
{
    return (bits == 4 ? 2ull : 4ull) * page_tokens;
}

/* Bytes of a block. */
static inline uint64_t qn_kv_k_bytes(uint32_t bits, uint32_t n, uint32_t page_tokens)
{
    return qn_kv_k_code_bytes(bits, n, page_tokens) + qn_kv_scale_bytes(bits, page_tokens);
}
static inline uint64_t qn_kv_v_bytes(uint32_t bits, uint32_t n, uint32_t page_tokens)
{
    return qn_kv_v_code_bytes(bits, n, page_tokens) + qn_kv_scale_bytes(bits, page_tokens);
}

/* Scale and min for numbers from lowest to highest, as they will be stored: with 8 bits min is the lowest and scale the
 * range over 255, with fewer z is what centres the codes best and scale what then covers the range. NaN both where the
 * numbers were not finite or halves do not hold them, so that the fault shows up in the answer. */
qn_kv_scale qn_kv_fit(float lowest, float highest, bool is_finite, uint32_t code_bits);

/* The reference encoder: codes[n], one a byte, of code_bits 8, 5 or 4: (x - min) times 1 / scale, to nearest even. */
qn_kv_scale qn_kv_encode(const float *x, size_t n, uint32_t code_bits, uint8_t *codes);

/* Put token t's codes into its head's block, and take back one number of it. bits: of the page, 8 or 4. */
void qn_kv_put_k(const uint8_t *codes, qn_kv_scale s, uint32_t bits, uint32_t n, uint32_t page_tokens, uint32_t t,
                 void *block);
void qn_kv_put_v(const uint8_t *codes, qn_kv_scale s, uint32_t bits, uint32_t n, uint32_t page_tokens, uint32_t t,
                 void *block);
double qn_kv_get_k(const void *block, uint32_t bits, uint32_t n, uint32_t page_tokens, uint32_t t, uint32_t d);
double qn_kv_get_v(const void *block, uint32_t bits, uint32_t n, uint32_t page_tokens, uint32_t t, uint32_t j);

#endif
