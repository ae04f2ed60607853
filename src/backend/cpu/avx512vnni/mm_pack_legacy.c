/* Packing of Q4_0, Q4_1, Q5_0, Q5_1 and Q8_0. The layouts of the blocks are told in mm_rows_legacy.c.
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/avx512vnni/mm_pack_int.h"

enum { Q4_0_BYTES = 18, Q4_1_BYTES = 20, Q5_0_BYTES = 22, Q5_1_BYTES = 24, Q8_0_BYTES = 34 };

static const uint8_t zeros[8 * Q8_0_BYTES];

/* Four bytes of each row. */
QN_INLINE __m512i turn_dwords(const qn_row_set *rows, size_t at)
{
    __m512i v[4];
    qn_turn_rows(rows, at, v);
    return v[0];
}

/* Bits of step i of a block, four of each lane's 32, as bytes of 0 or 16. */
QN_INLINE __m512i fifth_bits(__m512i bits, int i)
{
    const __m512i lanes = _mm512_broadcast_i32x4(_mm_setr_epi32(0, 0x04040404, 0x08080808, 0x0C0C0C0C));
    __m512i byte = _mm512_shuffle_epi8(bits, _mm512_add_epi8(lanes, _mm512_set1_epi8((char)(i / 2))));
    __mmask64 set = _mm512_test_epi8_mask(byte, _mm512_set1_epi32(i % 2 == 0 ? 0x08040201 : (int)0x80402010));
    return _mm512_maskz_mov_epi8(set, _mm512_set1_epi8(16));
}

/* at_fifth: where the fifth bits lie in a block, 0: there are none. minimum: of a block without m, in units of d. */
QN_INLINE void pack_u8(const uint8_t *w, size_t row_bytes, size_t n_rows, size_t n_k, size_t block_bytes,
                       size_t at_fifth, bool has_m, float minimum, void *panel)
{
    qn_panel_u8 *t = panel;
    qn_row_set rows = {{NULL}};
    for (size_t b = 0; b < n_k / 32; b++, t++) {
        size_t at = b % 8 * block_bytes;
        if (b % 8 == 0) {
            rows = qn_rows_at(w + b * block_bytes, row_bytes, n_rows, zeros);
        }
        __m512i v[4], head = turn_dwords(&rows, at), bits = at_fifth != 0 ? turn_dwords(&rows, at + at_fifth) : head;
        __m512 d = qn_low_half(head);
        _mm512_store_ps(t->d, d);
        _mm512_store_ps(t->m, has_m ? qn_high_half(head) : _mm512_mul_ps(d, _mm512_set1_ps(minimum)));
        qn_turn_rows(&rows, at + block_bytes - 16, v);
        QN_UNROLL
        for (int i = 0; i < 4; i++) {
            __m512i low = qn_low_nibbles(v[i]), high = qn_high_nibbles(v[i]);
            if (at_fifth != 0) {
                low = _mm512_or_si512(low, fifth_bits(bits, i));
                high = _mm512_or_si512(high, fifth_bits(bits, 4 + i));
            }
            _mm512_store_si512(t->q[i], low);
            _mm512_store_si512(t->q[4 + i], high);
        }
    }
}

#define DEFINE(T, at_fifth, has_m, minimum)                                                                   \
    void qn_pack_##T##_avx512vnni(const uint8_t *w, size_t row_bytes, size_t n_rows, size_t n_k, void *panel) \
    {                                                                                                         \
        pack_u8(w, row_bytes, n_rows, n_k, T##_BYTES, at_fifth, has_m, minimum, panel);                       \
    }

DEFINE(Q4_0, 0, false, -8.0f)
DEFINE(Q4_1, 0, true, 0.0f)
DEFINE(Q5_0, 2, false, -16.0f)
DEFINE(Q5_1, 4, true, 0.0f)

void qn_pack_Q8_0_avx512vnni(const uint8_t *w, size_t row_bytes, size_t n_rows, size_t n_k, void *panel)
{
    qn_panel_s8 *t = panel;
    qn_row_set rows = {{NULL}};
    for (size_t b = 0; b < n_k / 32; b++, t++) {
        size_t at = b % 8 * Q8_0_BYTES;
        if (b % 8 == 0) {
            rows = qn_rows_at(w + b * Q8_0_BYTES, row_bytes, n_rows, zeros);
        }
        __m512i v[8];
        _mm512_store_ps(t->d, qn_low_half(turn_dwords(&rows, at)));
        qn_turn_rows(&rows, at + 2, v);
        qn_turn_rows(&rows, at + 18, v + 4);
        QN_UNROLL
        for (int i = 0; i < 8; i++) {
            _mm512_store_si512(t->q[i], v[i]);
        }
    }
}
