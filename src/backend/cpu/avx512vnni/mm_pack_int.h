/* What the AVX-512 packers share: 16 rows are turned so that lanes are rows while they are still packed, and only then
 * unpacked, all rows at once. Private to backend/cpu/avx512vnni. SPDX-License-Identifier: MIT */
#ifndef QN_BACKEND_CPU_AVX512VNNI_MM_PACK_INT_H
#define QN_BACKEND_CPU_AVX512VNNI_MM_PACK_INT_H

#include "backend/cpu/avx512vnni/mm_int512.h"
#include "backend/cpu/avx512vnni/simd_int.h"

/* Where 16 rows stand. */
typedef struct qn_row_set {
    const uint8_t *at[QN_PANEL_ROWS];
} qn_row_set;

/* The first n_rows rows; the others read zeros, which is what missing rows of a panel are. zeros: as long as what will
 * be read of a row before the set is made anew. */
QN_INLINE qn_row_set qn_rows_at(const uint8_t *w, size_t row_bytes, size_t n_rows, const uint8_t *zeros)
{
    qn_row_set rows;
    QN_UNROLL
    for (size_t r = 0; r < QN_PANEL_ROWS; r++) {
        rows.at[r] = r < n_rows ? w + r * row_bytes : zeros;
    }
    return rows;
}

QN_INLINE __m128i qn_load_16(const uint8_t *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

/* 16 bytes of each row from `at` on: lane r of out[i] is dword i of row r. */
QN_INLINE void qn_turn_rows(const qn_row_set *rows, size_t at, __m512i out[4])
{
    __m512i v[4];
    QN_UNROLL
    for (int i = 0; i < 4; i++) {
        v[i] = _mm512_castsi128_si512(qn_load_16(rows->at[i] + at));
        v[i] = _mm512_inserti32x4(v[i], qn_load_16(rows->at[4 + i] + at), 1);
        v[i] = _mm512_inserti32x4(v[i], qn_load_16(rows->at[8 + i] + at), 2);
        v[i] = _mm512_inserti32x4(v[i], qn_load_16(rows->at[12 + i] + at), 3);
    }
    __m512i low01 = _mm512_unpacklo_epi32(v[0], v[1]), high01 = _mm512_unpackhi_epi32(v[0], v[1]);
    __m512i low23 = _mm512_unpacklo_epi32(v[2], v[3]), high23 = _mm512_unpackhi_epi32(v[2], v[3]);
    out[0] = _mm512_unpacklo_epi64(low01, low23);
    out[1] = _mm512_unpackhi_epi64(low01, low23);
    out[2] = _mm512_unpacklo_epi64(high01, high23);
    out[3] = _mm512_unpackhi_epi64(high01, high23);
}

/* The low or high word of each lane, a half, as a float. */
QN_INLINE __m512 qn_low_half(__m512i v)
{
    return _mm512_cvtph_ps(_mm512_cvtepi32_epi16(v));
}
QN_INLINE __m512 qn_high_half(__m512i v)
{
    return qn_low_half(_mm512_srli_epi32(v, 16));
}

QN_INLINE __m512i qn_low_nibbles(__m512i v)
{
    return _mm512_and_si512(v, _mm512_set1_epi8(0x0F));
}
QN_INLINE __m512i qn_high_nibbles(__m512i v)
{
    return qn_low_nibbles(_mm512_srli_epi16(v, 4));
}

#endif
