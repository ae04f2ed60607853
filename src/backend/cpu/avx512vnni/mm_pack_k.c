/* Packing of Q4_K, Q5_K and Q6_K. The layouts of the super-blocks are told in avx2/mm_q45k.c and avx2/mm_q6k.c.
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/avx512vnni/mm_pack_int.h"

enum { Q4_K_BYTES = 144, Q5_K_BYTES = 176, Q45_FIFTH = 16 };
enum { Q6_K_BYTES = 210, Q6_HIGH = 128, Q6_SCALES = 192, Q6_D_LAST = 194 }; /* d ends the 16 bytes from there */

static const uint8_t zeros[256];

/* Byte i of each lane, masked. */
QN_INLINE __m512i bits_at(__m512i v, int shift, int mask)
{
    return _mm512_and_si512(_mm512_srli_epi32(v, (unsigned)shift), _mm512_set1_epi32(mask));
}

QN_INLINE void pack_scales(const qn_row_set *rows, qn_panel_u8 *tiles)
{
    __m512i head[4]; /* both halves; 12 bytes of scales and minima */
    qn_turn_rows(rows, 0, head);
    __m512 d = qn_low_half(head[0]);
    __m512 minus = _mm512_xor_ps(qn_high_half(head[0]), _mm512_set1_ps(-0.0f));
    QN_UNROLL
    for (int i = 0; i < 4; i++) {
        __m512i scale = bits_at(head[1], 8 * i, 63), minimum = bits_at(head[2], 8 * i, 63);
        _mm512_store_ps(tiles[i].d, _mm512_mul_ps(d, _mm512_cvtepi32_ps(scale)));
        _mm512_store_ps(tiles[i].m, _mm512_mul_ps(minus, _mm512_cvtepi32_ps(minimum)));
        scale = _mm512_or_si512(bits_at(head[3], 8 * i, 15), bits_at(head[1], 8 * i + 2, 0x30));
        minimum = _mm512_or_si512(bits_at(head[3], 8 * i + 4, 15), bits_at(head[2], 8 * i + 2, 0x30));
        _mm512_store_ps(tiles[4 + i].d, _mm512_mul_ps(d, _mm512_cvtepi32_ps(scale)));
        _mm512_store_ps(tiles[4 + i].m, _mm512_mul_ps(minus, _mm512_cvtepi32_ps(minimum)));
    }
}

void qn_pack_Q4_K_avx512vnni(const uint8_t *w, size_t row_bytes, size_t n_rows, size_t n_k, void *panel)
{
    qn_panel_u8 *tiles = panel;
    for (size_t k = 0; k < n_k; k += 256, w += Q4_K_BYTES, tiles += 8) {
        qn_row_set rows = qn_rows_at(w, row_bytes, n_rows, zeros);
        pack_scales(&rows, tiles);
        for (size_t i = 0; i < 8; i++) { /* 16 bytes: half of two blocks */
            __m512i v[4];
            qn_turn_rows(&rows, 16 + 16 * i, v);
            qn_panel_u8 *t = &tiles[i / 2 * 2];
            QN_UNROLL
            for (int j = 0; j < 4; j++) {
                _mm512_store_si512(t[0].q[i % 2 * 4 + (size_t)j], qn_low_nibbles(v[j]));
                _mm512_store_si512(t[1].q[i % 2 * 4 + (size_t)j], qn_high_nibbles(v[j]));
            }
        }
    }
}

void qn_pack_Q5_K_avx512vnni(const uint8_t *w, size_t row_bytes, size_t n_rows, size_t n_k, void *panel)
{
    const __m512i fifth = _mm512_set1_epi8(16);
    qn_panel_u8 *tiles = panel;
    for (size_t k = 0; k < n_k; k += 256, w += Q5_K_BYTES, tiles += 8) {
        qn_row_set rows = qn_rows_at(w, row_bytes, n_rows, zeros);
        pack_scales(&rows, tiles);
        for (size_t half = 0; half < 2; half++) { /* of each block */
            __m512i bits[4];
            qn_turn_rows(&rows, Q45_FIFTH + 16 * half, bits);
            QN_UNROLL
            for (int i = 0; i < 4; i++) { /* pairs of blocks, whose fifth bits are bits 2 i and 2 i + 1 */
                __m512i v[4];
                qn_turn_rows(&rows, Q45_FIFTH + 32 + 32 * (size_t)i + 16 * half, v);
                QN_UNROLL
                for (int j = 0; j < 4; j++) {
                    __m512i low =
                        i < 2 ? _mm512_slli_epi16(bits[j], i == 0 ? 4 : 2) : _mm512_srli_epi16(bits[j], i == 2 ? 0 : 2);
                    __m512i high =
                        i < 2 ? _mm512_slli_epi16(bits[j], i == 0 ? 3 : 1) : _mm512_srli_epi16(bits[j], i == 2 ? 1 : 3);
                    low = _mm512_or_si512(qn_low_nibbles(v[j]), _mm512_and_si512(low, fifth));
                    high = _mm512_or_si512(qn_high_nibbles(v[j]), _mm512_and_si512(high, fifth));
                    _mm512_store_si512(tiles[2 * i].q[4 * half + (size_t)j], low);
                    _mm512_store_si512(tiles[2 * i + 1].q[4 * half + (size_t)j], high);
                }
            }
        }
    }
}

/* Low nibbles of a, and bits 4 and 5 of b. */
QN_INLINE __m512i six_bits(__m512i a, __m512i b, int offset)
{
    __m512i v = _mm512_ternarylogic_epi32(_mm512_set1_epi8(0x0F), a, b, 0xCA);
    v = _mm512_and_si512(v, _mm512_set1_epi8(0x3F));
    return offset != 0 ? _mm512_sub_epi8(v, _mm512_set1_epi8((char)offset)) : v;
}

/* Bytes first and first + 1 of each lane as two words, sign included. */
QN_INLINE __m512i two_words(__m512i v, int first)
{
    const __m128i top = _mm_setr_epi8(-128, 0, -128, 1, -128, 4, -128, 5, -128, 8, -128, 9, -128, 12, -128, 13);
    __m512i pick = _mm512_broadcast_i32x4(_mm_add_epi8(top, _mm_set1_epi16((short)(first << 8))));
    return _mm512_srai_epi16(_mm512_shuffle_epi8(v, pick), 8);
}

/* Byte i of each lane as a float. */
QN_INLINE __m512 signed_byte(__m512i v, int i)
{
    return _mm512_cvtepi32_ps(_mm512_srai_epi32(_mm512_slli_epi32(v, (unsigned)(24 - 8 * i)), 24));
}

/* is_signed: tiles are qn_panel_hf. */
QN_INLINE void pack_q6_k(const uint8_t *w, size_t row_bytes, size_t n_rows, size_t n_k, bool is_signed, void *panel)
{
    const int offset = is_signed ? 32 : 0;
    qn_panel_h8 *tiles = panel;
    for (size_t k = 0; k < n_k; k += 256, w += Q6_K_BYTES, tiles += 8) {
        qn_row_set rows = qn_rows_at(w, row_bytes, n_rows, zeros);
        __m512i sc[4], end[4];
        qn_turn_rows(&rows, Q6_SCALES, sc);
        qn_turn_rows(&rows, Q6_D_LAST, end);
        __m512 d = qn_high_half(end[3]);
        QN_UNROLL
        for (int i = 0; i < 8; i++) {
            if (is_signed) {
                float *scales = ((qn_panel_hf *)(void *)&tiles[i])->d[0];
                _mm512_store_ps(scales, _mm512_mul_ps(d, signed_byte(sc[i / 2], i % 2 * 2)));
                _mm512_store_ps(scales + QN_PANEL_ROWS, _mm512_mul_ps(d, signed_byte(sc[i / 2], i % 2 * 2 + 1)));
            } else {
                _mm512_store_si512(tiles[i].sc, two_words(sc[i / 2], i % 2 * 2));
                _mm512_store_ps(tiles[i].d, d);
            }
        }
        for (size_t i = 0; i < 4; i++) { /* 128 elements, of each block 16: see avx2/mm_q6k.c */
            size_t half = i / 2, part = i % 2;
            __m512i a[4], b[4], high[4];
            qn_turn_rows(&rows, 64 * half + 16 * part, a);
            qn_turn_rows(&rows, 64 * half + 32 + 16 * part, b);
            qn_turn_rows(&rows, Q6_HIGH + 32 * half + 16 * part, high);
            qn_panel_h8 *t = &tiles[4 * half];
            QN_UNROLL
            for (size_t j = 0; j < 4; j++) {
                size_t step = 4 * part + j;
                _mm512_store_si512(t[0].q[step], six_bits(a[j], _mm512_slli_epi16(high[j], 4), offset));
                _mm512_store_si512(t[1].q[step], six_bits(b[j], _mm512_slli_epi16(high[j], 2), offset));
                _mm512_store_si512(t[2].q[step], six_bits(_mm512_srli_epi16(a[j], 4), high[j], offset));
                _mm512_store_si512(t[3].q[step],
                                   six_bits(_mm512_srli_epi16(b[j], 4), _mm512_srli_epi16(high[j], 2), offset));
            }
        }
    }
}

void qn_pack_Q6_K_avx512vnni(const uint8_t *w, size_t row_bytes, size_t n_rows, size_t n_k, void *panel)
{
    pack_q6_k(w, row_bytes, n_rows, n_k, false, panel);
}

void qn_pack_Q6_K_signed_avx512vnni(const uint8_t *w, size_t row_bytes, size_t n_rows, size_t n_k, void *panel)
{
    pack_q6_k(w, row_bytes, n_rows, n_k, true, panel);
}
