/* One-column and few-column products of Q4_K, Q5_K and Q6_K. The layouts of the super-blocks are told in
 * avx2/mm_q45k.c and avx2/mm_q6k.c. SPDX-License-Identifier: MIT */
#include "backend/cpu/avx512vnni/mm_rows_int.h"

enum { Q4_K_BYTES = 144, Q5_K_BYTES = 176, Q45_SCALES = 4, Q45_REST = 16 };
enum { Q6_K_BYTES = 210, Q6_HIGH = 128, Q6_SCALES = 192, Q6_D = 208 };

QN_INLINE __m256i load_256(const uint8_t *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

QN_INLINE __m256 bytes_to_ps(uint64_t bytes)
{
    return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long)bytes)));
}

QN_INLINE void unpack_scales(const uint8_t *p, qn_rows_group *g)
{
    uint32_t a = (uint32_t)qn_get_i32(p + Q45_SCALES), b = (uint32_t)qn_get_i32(p + Q45_SCALES + 4);
    uint32_t c = (uint32_t)qn_get_i32(p + Q45_SCALES + 8);
    uint32_t high_scales = (c & 0x0f0f0f0fu) | (a >> 2 & 0x30303030u);
    uint32_t high_minima = (c >> 4 & 0x0f0f0f0fu) | (b >> 2 & 0x30303030u);
    __m128 d = _mm_cvtph_ps(_mm_cvtsi32_si128(qn_get_i32(p)));
    __m256 scale = _mm256_broadcastss_ps(d), minus = _mm256_broadcastss_ps(_mm_movehdup_ps(d));
    g->d = _mm256_mul_ps(scale, bytes_to_ps((uint64_t)high_scales << 32 | (a & 0x3f3f3f3fu)));
    g->m = _mm256_mul_ps(_mm256_sub_ps(_mm256_setzero_ps(), minus),
                         bytes_to_ps((uint64_t)high_minima << 32 | (b & 0x3f3f3f3fu)));
}

/* 32 bytes: low nibbles are one block, high ones the next. */
QN_INLINE __m512i nibbles_by_32(const uint8_t *p)
{
    __m512i v = _mm512_broadcast_i64x4(load_256(p));
    v = _mm512_srlv_epi64(v, _mm512_setr_epi64(0, 0, 0, 0, 4, 4, 4, 4));
    return _mm512_and_si512(v, _mm512_set1_epi8(0x0F));
}

/* High nibbles stay where they are, 16 times too large; the scales of odd blocks make up for it. */
QN_INLINE void unpack_q4_k(const uint8_t *p, size_t n_blocks, qn_rows_group *g)
{
    (void)n_blocks;
    const __m512i mask = _mm512_inserti64x4(_mm512_set1_epi8(0x0F), _mm256_set1_epi8((char)0xF0), 1);
    const float f = 1.0f / 16.0f;
    unpack_scales(p, g);
    g->d = _mm256_mul_ps(g->d, _mm256_setr_ps(1.0f, f, 1.0f, f, 1.0f, f, 1.0f, f));
    QN_UNROLL
    for (int i = 0; i < 4; i++) {
        g->q[i] = _mm512_and_si512(_mm512_broadcast_i64x4(load_256(p + Q45_REST + 32 * i)), mask);
    }
}

QN_INLINE void unpack_q5_k(const uint8_t *p, size_t n_blocks, qn_rows_group *g)
{
    (void)n_blocks;
    unpack_scales(p, g);
    /* bit 2 i of a byte belongs to the first block of register i, bit 2 i + 1 to the second */
    __m512i bits = _mm512_broadcast_i64x4(load_256(p + Q45_REST));
    __m512i mask = _mm512_inserti64x4(_mm512_set1_epi8(1), _mm256_set1_epi8(2), 1);
    QN_UNROLL
    for (int i = 0; i < 4; i++) {
        __mmask64 fifth = _mm512_test_epi8_mask(bits, mask);
        __m512i q = nibbles_by_32(p + Q45_REST + 32 + 32 * i);
        g->q[i] = _mm512_mask_add_epi8(q, fifth, q, _mm512_set1_epi8(16));
        mask = _mm512_slli_epi16(mask, 2);
    }
}

/* Each half of 128 elements: blocks 0 and 1 are the low nibbles of 2 x 32 bytes, 2 and 3 their high ones; the j-th
 * block's high bits are bits 2 j and 2 j + 1 of 32 bytes. */
QN_INLINE void unpack_q6_k(const uint8_t *p, size_t n_blocks, qn_rows_group *g)
{
    (void)n_blocks;
    const __m512i low = _mm512_set1_epi8(0x0F), pair = _mm512_set1_epi8(0x30);
    QN_UNROLL
    for (int half = 0; half < 2; half++) {
        __m512i nibbles = _mm512_loadu_si512(p + 64 * half);
        __m512i high = _mm512_broadcast_i64x4(load_256(p + Q6_HIGH + 32 * half));
        __m512i first = _mm512_sllv_epi64(high, _mm512_setr_epi64(4, 4, 4, 4, 2, 2, 2, 2));
        __m512i second = _mm512_srlv_epi64(high, _mm512_setr_epi64(0, 0, 0, 0, 2, 2, 2, 2));
        g->q[2 * half] = _mm512_or_si512(_mm512_and_si512(nibbles, low), _mm512_and_si512(first, pair));
        g->q[2 * half + 1] =
            _mm512_or_si512(_mm512_and_si512(_mm512_srli_epi16(nibbles, 4), low), _mm512_and_si512(second, pair));
    }
    __m512 sc =
        _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)(const void *)(p + Q6_SCALES))));
    uint16_t d;
    memcpy(&d, p + Q6_D, sizeof(d));
    g->half_d = _mm512_mul_ps(_mm512_broadcastss_ps(_mm_cvtph_ps(_mm_cvtsi32_si128(d))), sc);
    g->half_m = _mm512_mul_ps(g->half_d, _mm512_set1_ps(-32.0f));
}

QN_ROWS_DEFINE(Q4_K, unpack_q4_k, Q4_K_BYTES, QN_SPREAD_BLOCKS)
QN_ROWS_DEFINE(Q5_K, unpack_q5_k, Q5_K_BYTES, QN_SPREAD_BLOCKS)
QN_ROWS_DEFINE(Q6_K, unpack_q6_k, Q6_K_BYTES, QN_SPREAD_HALVES)
