/* Activations to A8.
 * SPDX-License-Identifier: MIT */
#include <float.h>
#include <math.h>

#include "backend/cpu/avx2/mm_avx2_int.h"

/* A block of 32 floats; the arithmetic of each element is ref's. */
QN_INLINE void quantize_block(const float *x, int8_t *q, float *d, float *s, int16_t *h)
{
    const __m256i magnitude = _mm256_set1_epi32(0x7fffffff);
    __m256i v[4];
    for (int i = 0; i < 4; i++) {
        v[i] = qn_load_256(x + 8 * i);
    }
    __m256i top8 =
        _mm256_max_epu32(_mm256_max_epu32(_mm256_and_si256(v[0], magnitude), _mm256_and_si256(v[1], magnitude)),
                         _mm256_max_epu32(_mm256_and_si256(v[2], magnitude), _mm256_and_si256(v[3], magnitude)));
    __m128i top = _mm_max_epu32(_mm256_castsi256_si128(top8), _mm256_extracti128_si256(top8, 1));
    top = _mm_max_epu32(top, _mm_shuffle_epi32(top, 0x4E));
    top = _mm_max_epu32(top, _mm_shuffle_epi32(top, 0xB1));
    float max = _mm_cvtss_f32(_mm_castsi128_ps(top));
    float inverse = 127.0f / max;
    *d = *s = 0.0f;
    h[0] = h[1] = 0;
    if (!(max <= FLT_MAX) || !(inverse <= FLT_MAX)) {
        qn_store_256(q, _mm256_setzero_si256());
        if (!(max <= FLT_MAX)) {
            *d = *s = NAN;
        }
        return;
    }
    for (int i = 0; i < 4; i++) {
        v[i] = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_castsi256_ps(v[i]), _mm256_set1_ps(inverse)));
    }
    /* Packing works inside halves, so the dwords come out as 0 4 1 5 2 6 3 7. */
    __m256i bytes = _mm256_packs_epi16(_mm256_packs_epi32(v[0], v[1]), _mm256_packs_epi32(v[2], v[3]));
    bytes = _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
    qn_store_256(q, bytes);
    __m256i pairs = _mm256_maddubs_epi16(_mm256_set1_epi8(1), bytes);
    __m256i sums = _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
    sums = _mm256_add_epi32(sums, _mm256_shuffle_epi32(sums, 0x4E));
    sums = _mm256_add_epi32(sums, _mm256_shuffle_epi32(sums, 0xB1));
    int first = _mm256_extract_epi32(sums, 0), second = _mm256_extract_epi32(sums, 4);
    h[0] = (int16_t)first;
    h[1] = (int16_t)second;
    *d = max / 127.0f;
    *s = *d * (float)(first + second);
}

void qn_quantize_a8_avx2(const float *x, size_t n, void *out)
{
    size_t np = qn_a8_padded(n);
    int8_t *q = out;
    float *d = (float *)(void *)(q + np);
    float *s = d + np / 32;
    int16_t *h = (int16_t *)(void *)(s + np / 32);
    size_t i = 0;
    for (; i + 32 <= n; i += 32) {
        quantize_block(x + i, q + i, d + i / 32, s + i / 32, h + i / 16);
    }
    if (i < n) {
        float last[32] = {0};
        memcpy(last, x + i, (n - i) * sizeof(*x));
        quantize_block(last, q + i, d + i / 32, s + i / 32, h + i / 16);
        i += 32;
    }
    if (i < np) {
        size_t n_rest = np - i;
        memset(q + i, 0, n_rest);
        memset(d + i / 32, 0, n_rest / 32 * sizeof(*d));
        memset(s + i / 32, 0, n_rest / 32 * sizeof(*s));
        memset(h + i / 16, 0, n_rest / 16 * sizeof(*h));
    }
    /* What rounds the row up to whole lines. */
    char *end = (char *)(h + np / 16);
    memset(end, 0, (size_t)((char *)out + qn_a8_bytes(n) - end));
}
