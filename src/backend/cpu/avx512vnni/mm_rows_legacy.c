/* One-column and few-column products of Q4_0, Q4_1, Q5_0, Q5_1 and Q8_0.
 * Blocks: half d, half m (Q4_1, Q5_1), 32 fifth bits (Q5), 16 bytes whose low nibbles are elements 0..15 and whose high
 * ones are 16..31; Q8_0: half d, 32 signed bytes. Signed weights are taken as unsigned with a minimum.
 *
 * The scales of eight blocks are picked out of whole vectors by one or two word permutations: eight single loads would
 * cost more than all the rest. SPDX-License-Identifier: MIT */
#include "backend/cpu/avx512vnni/mm_rows_int.h"

enum { Q4_0_BYTES = 18, Q4_1_BYTES = 20, Q5_0_BYTES = 22, Q5_1_BYTES = 24, Q8_0_BYTES = 34 };

/* Block i of n_blocks; behind the end, the last one again: its d is 0, so it does not count. */
QN_INLINE const uint8_t *block(const uint8_t *p, size_t bytes, size_t i, size_t n_blocks)
{
    return p + (i < n_blocks ? i : n_blocks - 1) * bytes;
}

QN_INLINE void load_nibbles(const uint8_t *p, size_t bytes, size_t at, size_t n_blocks, qn_rows_group *g)
{
    QN_UNROLL
    for (size_t i = 0; i < 4; i++) {
        g->q[i] = qn_twice_each(block(p, bytes, 2 * i, n_blocks) + at, block(p, bytes, 2 * i + 1, n_blocks) + at);
    }
}

/* High nibbles stay where they are, 16 times too large: QN_SPREAD_QUARTERS makes up for it. */
QN_INLINE void split_in_place(qn_rows_group *g)
{
    const __m512i mask = _mm512_set4_epi64((long long)0xF0F0F0F0F0F0F0F0, (long long)0xF0F0F0F0F0F0F0F0,
                                           0x0F0F0F0F0F0F0F0F, 0x0F0F0F0F0F0F0F0F);
    QN_UNROLL
    for (int i = 0; i < 4; i++) {
        g->q[i] = _mm512_and_si512(g->q[i], mask);
    }
}

/* With a fifth bit to add they have to be shifted down. */
QN_INLINE void split_and_add_fifth_bits(const uint8_t *p, size_t bytes, size_t at, size_t n_blocks, qn_rows_group *g)
{
    QN_UNROLL
    for (size_t i = 0; i < 4; i++) {
        __m512i v = _mm512_srlv_epi64(g->q[i], _mm512_setr_epi64(0, 0, 4, 4, 0, 0, 4, 4));
        v = _mm512_and_si512(v, _mm512_set1_epi8(0x0F));
        uint64_t low = (uint32_t)qn_get_i32(block(p, bytes, 2 * i, n_blocks) + at);
        uint64_t high = (uint32_t)qn_get_i32(block(p, bytes, 2 * i + 1, n_blocks) + at);
        g->q[i] = _mm512_mask_add_epi8(v, high << 32 | low, v, _mm512_set1_epi8(16));
    }
}

/* Words to floats: the first eight are d. */
QN_INLINE void set_d(__m512i words, float minimum, qn_rows_group *g)
{
    g->d = _mm256_cvtph_ps(_mm512_castsi512_si128(words));
    g->m = _mm256_mul_ps(g->d, _mm256_set1_ps(minimum));
}

/* Words to floats: eight d, then eight m. */
QN_INLINE void set_d_and_m(__m512i words, qn_rows_group *g)
{
    __m512 both = _mm512_cvtph_ps(_mm512_castsi512_si256(words));
    g->d = _mm512_castps512_ps256(both);
    g->m = _mm512_extractf32x8_ps(both, 1);
}

/* Word lists for permutations of two registers a (0..31) and b (32..63). */
QN_INLINE __m512i words8(int a, int b, int c, int d, int e, int f, int g, int h)
{
    return _mm512_castsi128_si512(
        _mm_setr_epi16((short)a, (short)b, (short)c, (short)d, (short)e, (short)f, (short)g, (short)h));
}

QN_INLINE void unpack_q4_0(const uint8_t *p, size_t n_blocks, qn_rows_group *g)
{
    load_nibbles(p, Q4_0_BYTES, 2, n_blocks, g);
    split_in_place(g);
    __m512i a = qn_load_part(p, 0, n_blocks, Q4_0_BYTES), b = qn_load_part(p, 64, n_blocks, Q4_0_BYTES);
    set_d(_mm512_permutex2var_epi16(a, words8(0, 9, 18, 27, 36, 45, 54, 63), b), -8.0f, g);
}

QN_INLINE void unpack_q4_1(const uint8_t *p, size_t n_blocks, qn_rows_group *g)
{
    load_nibbles(p, Q4_1_BYTES, 4, n_blocks, g);
    split_in_place(g);
    __m512i a = qn_load_part(p, 0, n_blocks, Q4_1_BYTES), b = qn_load_part(p, 64, n_blocks, Q4_1_BYTES);
    /* the last block's d and m lie behind both: they take the place of four quants at the end of b */
    int32_t last = n_blocks == 8 ? qn_get_i32(p + 7 * Q4_1_BYTES) : 0;
    b = _mm512_mask_set1_epi32(b, 0x8000, last);
    const __m512i at =
        _mm512_castsi256_si512(_mm256_setr_epi16(0, 10, 20, 30, 40, 50, 60, 62, 1, 11, 21, 31, 41, 51, 61, 63));
    set_d_and_m(_mm512_permutex2var_epi16(a, at, b), g);
}

QN_INLINE void unpack_q5_0(const uint8_t *p, size_t n_blocks, qn_rows_group *g)
{
    load_nibbles(p, Q5_0_BYTES, 6, n_blocks, g);
    split_and_add_fifth_bits(p, Q5_0_BYTES, 2, n_blocks, g);
    __m512i a = qn_load_part(p, 0, n_blocks, Q5_0_BYTES), b = qn_load_part(p, 64, n_blocks, Q5_0_BYTES);
    __m512i c = qn_load_part(p, 112, n_blocks, Q5_0_BYTES);
    __m512i six = _mm512_permutex2var_epi16(a, words8(0, 11, 22, 33, 44, 55, 0, 0), b);
    set_d(_mm512_permutex2var_epi16(six, words8(0, 1, 2, 3, 4, 5, 32 + 10, 32 + 21), c), -16.0f, g);
}

QN_INLINE void unpack_q5_1(const uint8_t *p, size_t n_blocks, qn_rows_group *g)
{
    load_nibbles(p, Q5_1_BYTES, 8, n_blocks, g);
    split_and_add_fifth_bits(p, Q5_1_BYTES, 4, n_blocks, g);
    __m512i a = qn_load_part(p, 0, n_blocks, Q5_1_BYTES), b = qn_load_part(p, 64, n_blocks, Q5_1_BYTES);
    __m512i c = qn_load_part(p, 128, n_blocks, Q5_1_BYTES);
    const __m512i first =
        _mm512_castsi256_si512(_mm256_setr_epi16(0, 12, 24, 36, 48, 60, 0, 0, 1, 13, 25, 37, 49, 61, 0, 0));
    const __m512i rest = _mm512_castsi256_si512(
        _mm256_setr_epi16(0, 1, 2, 3, 4, 5, 32 + 8, 32 + 20, 8, 9, 10, 11, 12, 13, 32 + 9, 32 + 21));
    set_d_and_m(_mm512_permutex2var_epi16(_mm512_permutex2var_epi16(a, first, b), rest, c), g);
}

QN_INLINE void unpack_q8_0(const uint8_t *p, size_t n_blocks, qn_rows_group *g)
{
    __m512i part[4];
    QN_UNROLL
    for (size_t i = 0; i < 4; i++) {
        const uint8_t *a = block(p, Q8_0_BYTES, 2 * i, n_blocks) + 2,
                      *b = block(p, Q8_0_BYTES, 2 * i + 1, n_blocks) + 2;
        __m256i low = _mm256_loadu_si256((const __m256i *)(const void *)a);
        __m256i high = _mm256_loadu_si256((const __m256i *)(const void *)b);
        __m512i v = _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
        g->q[i] = _mm512_xor_si512(v, _mm512_set1_epi8((char)0x80));
        part[i] = qn_load_part(p, 2 * Q8_0_BYTES * i, n_blocks, Q8_0_BYTES);
    }
    const __m512i pair = words8(0, 17, 32, 49, 0, 0, 0, 0);
    __m512i low = _mm512_permutex2var_epi16(part[0], pair, part[1]);
    __m512i high = _mm512_permutex2var_epi16(part[2], pair, part[3]);
    set_d(_mm512_unpacklo_epi64(low, high), -128.0f, g);
}

QN_ROWS_DEFINE(Q4_0, unpack_q4_0, 8 * Q4_0_BYTES, QN_SPREAD_QUARTERS)
QN_ROWS_DEFINE(Q4_1, unpack_q4_1, 8 * Q4_1_BYTES, QN_SPREAD_QUARTERS)
QN_ROWS_DEFINE(Q5_0, unpack_q5_0, 8 * Q5_0_BYTES, QN_SPREAD_BLOCKS)
QN_ROWS_DEFINE(Q5_1, unpack_q5_1, 8 * Q5_1_BYTES, QN_SPREAD_BLOCKS)
QN_ROWS_DEFINE(Q8_0, unpack_q8_0, 8 * Q8_0_BYTES, QN_SPREAD_BLOCKS)
