/* The block formats that have NEON products, each as an unpacker of four blocks of 32 elements (a quad; K formats have
 * two in a super-block). All quants become signed bytes, for those are what sdot and smmla multiply. Private to
 * backend/cpu/neon and neon_i8mm.
 * SPDX-License-Identifier: MIT */
#ifndef QN_BACKEND_CPU_NEON_UNPACK_INT_H
#define QN_BACKEND_CPU_NEON_UNPACK_INT_H

#include "backend/cpu/neon/simd_int.h"

typedef enum qn_quants {
    QN_SCALED,  /* w = d * q */
    QN_SHIFTED, /* w = d * q + m */
    QN_HALVES,  /* w = d * sc[half of the block] * q */
} qn_quants;

/* Four blocks in their natural order. */
typedef struct qn_quad {
    int8x16_t q[8];
    float32x4_t d;
    float32x4_t m; /* QN_SHIFTED */
    int16x8_t sc;  /* QN_HALVES */
} qn_quad;

/* Quad i_quad of the 256 elements at p; blocks from n_blocks on, n_blocks <= 4, become zeros and are not read. K
 * formats always have all four. */
typedef void qn_unpack_fn(const uint8_t *p, size_t i_quad, size_t n_blocks, qn_quad *g);

/* Finds the blocks of a quad; zeros stand in for those behind a row's end. */
QN_INLINE void qn_locate(const uint8_t *b[4], const uint8_t *p, size_t block_bytes, size_t i_quad, size_t n_blocks)
{
    static const uint8_t zeros[64];
    for (size_t i = 0; i < 4; i++) {
        b[i] = i < n_blocks ? p + (4 * i_quad + i) * block_bytes : zeros;
    }
}

/* The halves at offset `at` of four blocks. */
QN_INLINE float32x4_t qn_gather_f16(const uint8_t *const b[4], size_t at)
{
    uint16_t h[4];
    for (int i = 0; i < 4; i++) {
        memcpy(&h[i], b[i] + at, sizeof(h[i]));
    }
    return qn_load4_f16(h);
}

QN_INLINE int8x16_t qn_low_nibbles(uint8x16_t v)
{
    return vreinterpretq_s8_u8(vandq_u8(v, vdupq_n_u8(15)));
}

QN_INLINE int8x16_t qn_high_nibbles(uint8x16_t v)
{
    return vreinterpretq_s8_u8(vshrq_n_u8(v, 4));
}

QN_INLINE int8x16_t qn_or(int8x16_t a, uint8x16_t b)
{
    return vorrq_s8(a, vreinterpretq_s8_u8(b));
}

/* ---- Q4_0, Q4_1, Q5_0, Q5_1: half d, half m (_1), 32 fifth bits (Q5), 16 bytes whose low nibbles are elements 0..15
 * and whose high ones are 16..31; without m, 8 or 16 is taken from each. ---- */

QN_INLINE void qn_unpack_4_or_5(const uint8_t *p, size_t block_bytes, size_t i_quad, size_t n_blocks, bool has_m,
                                bool has_fifth, qn_quad *g)
{
    const uint8_t *b[4];
    qn_locate(b, p, block_bytes, i_quad, n_blocks);
    size_t at_bits = has_m ? 4 : 2;
    for (int i = 0; i < 4; i++) {
        uint8x16_t v = vld1q_u8(b[i] + at_bits + (has_fifth ? 4 : 0));
        g->q[2 * i] = qn_low_nibbles(v);
        g->q[2 * i + 1] = qn_high_nibbles(v);
        for (int j = 2 * i; j < 2 * i + 2; j++) {
            if (has_fifth) {
                g->q[j] = qn_or(g->q[j], qn_bits_to_16(b[i] + at_bits + 2 * (j % 2)));
            }
            if (!has_m) {
                g->q[j] = vsubq_s8(g->q[j], vdupq_n_s8(has_fifth ? 16 : 8));
            }
        }
    }
    g->d = qn_gather_f16(b, 0);
    if (has_m) {
        g->m = qn_gather_f16(b, 2);
    }
}

QN_INLINE void qn_unpack_Q4_0(const uint8_t *p, size_t i_quad, size_t n_blocks, qn_quad *g)
{
    qn_unpack_4_or_5(p, 18, i_quad, n_blocks, false, false, g);
}

QN_INLINE void qn_unpack_Q4_1(const uint8_t *p, size_t i_quad, size_t n_blocks, qn_quad *g)
{
    qn_unpack_4_or_5(p, 20, i_quad, n_blocks, true, false, g);
}

QN_INLINE void qn_unpack_Q5_0(const uint8_t *p, size_t i_quad, size_t n_blocks, qn_quad *g)
{
    qn_unpack_4_or_5(p, 22, i_quad, n_blocks, false, true, g);
}

QN_INLINE void qn_unpack_Q5_1(const uint8_t *p, size_t i_quad, size_t n_blocks, qn_quad *g)
{
    qn_unpack_4_or_5(p, 24, i_quad, n_blocks, true, true, g);
}

/* ---- Q8_0: half d, 32 signed bytes. ---- */

QN_INLINE void qn_unpack_Q8_0(const uint8_t *p, size_t i_quad, size_t n_blocks, qn_quad *g)
{
    const uint8_t *b[4];
    qn_locate(b, p, 34, i_quad, n_blocks);
    for (int i = 0; i < 4; i++) {
        g->q[2 * i] = vreinterpretq_s8_u8(vld1q_u8(b[i] + 2));
        g->q[2 * i + 1] = vreinterpretq_s8_u8(vld1q_u8(b[i] + 18));
    }
    g->d = qn_gather_f16(b, 0);
}

/* ---- Q4_K, Q5_K: half d, half dmin, 12 bytes with 8 scales and 8 minima of 6 bits, for Q5_K 32 bytes whose bit i is
 * the fifth bit of block i's elements, then 4 x 32 bytes whose low nibbles are one block and whose high ones are the
 * next. w = d * scale * q - dmin * minimum. ---- */

QN_INLINE float32x4_t qn_bytes_to_f32(uint32_t bytes)
{
    uint16x8_t words = vmovl_u8(vreinterpret_u8_u32(vdup_n_u32(bytes)));
    return vcvtq_f32_u32(vmovl_u16(vget_low_u16(words)));
}

/* Scales and minima of blocks 0..3 are the low 6 bits of bytes 0..3 and 4..7; those of blocks 4..7 have their low 4
 * bits in the nibbles of bytes 8..11 and their high 2 in the top of the former. */
QN_INLINE void qn_unpack_k_scales(const uint8_t *p, size_t i_quad, qn_quad *g)
{
    uint32_t a = qn_get_u32(p + 4), b = qn_get_u32(p + 8), c = qn_get_u32(p + 12);
    uint32_t scales = i_quad == 0 ? a & 0x3f3f3f3fu : (c & 0x0f0f0f0fu) | (a >> 2 & 0x30303030u);
    uint32_t minima = i_quad == 0 ? b & 0x3f3f3f3fu : (c >> 4 & 0x0f0f0f0fu) | (b >> 2 & 0x30303030u);
    g->d = vmulq_n_f32(qn_bytes_to_f32(scales), qn_get_f16(p));
    g->m = vmulq_n_f32(qn_bytes_to_f32(minima), -qn_get_f16(p + 2));
}

QN_INLINE void qn_unpack_k(const uint8_t *p, size_t i_quad, bool has_fifth, qn_quad *g)
{
    qn_unpack_k_scales(p, i_quad, g);
    const uint8_t *nibbles = p + (has_fifth ? 48 : 16) + 64 * i_quad;
    for (int i = 0; i < 8; i++) {
        /* Vectors 0, 1 are block 0, 2, 3 block 1; both come from the same 32 bytes. */
        uint8x16_t v = vld1q_u8(nibbles + 32 * (i / 4) + 16 * (i % 2));
        g->q[i] = i / 2 % 2 == 0 ? qn_low_nibbles(v) : qn_high_nibbles(v);
        if (has_fifth) {
            int8x16_t shift = vdupq_n_s8((int8_t)(4 - (4 * (int)i_quad + i / 2)));
            uint8x16_t bit = vshlq_u8(vld1q_u8(p + 16 + 16 * (i % 2)), shift);
            g->q[i] = qn_or(g->q[i], vandq_u8(bit, vdupq_n_u8(16)));
        }
    }
}

QN_INLINE void qn_unpack_Q4_K(const uint8_t *p, size_t i_quad, size_t n_blocks, qn_quad *g)
{
    (void)n_blocks;
    qn_unpack_k(p, i_quad, false, g);
}

QN_INLINE void qn_unpack_Q5_K(const uint8_t *p, size_t i_quad, size_t n_blocks, qn_quad *g)
{
    (void)n_blocks;
    qn_unpack_k(p, i_quad, true, g);
}

/* ---- Q6_K: 128 bytes of low nibbles, 64 bytes of high bit pairs, 16 signed scales of half blocks, half d. A quad's
 * blocks are the low nibbles of 2 x 32 bytes, then their high nibbles; block j's high bits are bits 2 j and 2 j + 1 of
 * 32 bytes. w = d * scale * (q - 32). ---- */

QN_INLINE void qn_unpack_Q6_K(const uint8_t *p, size_t i_quad, size_t n_blocks, qn_quad *g)
{
    (void)n_blocks;
    for (int i = 0; i < 8; i++) {
        uint8x16_t v = vld1q_u8(p + 64 * i_quad + 16 * (i % 4));
        uint8x16_t pairs = vld1q_u8(p + 128 + 32 * i_quad + 16 * (i % 2));
        uint8x16_t high = vandq_u8(vshlq_u8(pairs, vdupq_n_s8((int8_t)(4 - i / 2 * 2))), vdupq_n_u8(0x30));
        int8x16_t q = qn_or(i < 4 ? qn_low_nibbles(v) : qn_high_nibbles(v), high);
        g->q[i] = vsubq_s8(q, vdupq_n_s8(32));
    }
    g->sc = vmovl_s8(vreinterpret_s8_u8(vld1_u8(p + 192 + 8 * i_quad)));
    g->d = vdupq_n_f32(qn_get_f16(p + 208));
}

/* X(type, bytes of 256 elements, kind) */
#define QN_NEON_A8_FORMATS(X)   \
    X(Q4_0, 8 * 18, QN_SCALED)  \
    X(Q4_1, 8 * 20, QN_SHIFTED) \
    X(Q5_0, 8 * 22, QN_SCALED)  \
    X(Q5_1, 8 * 24, QN_SHIFTED) \
    X(Q8_0, 8 * 34, QN_SCALED)  \
    X(Q4_K, 144, QN_SHIFTED)    \
    X(Q5_K, 176, QN_SHIFTED)    \
    X(Q6_K, 210, QN_HALVES)

#endif
