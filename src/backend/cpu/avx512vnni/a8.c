/* Activations to A8, eight blocks of 32 at a time, which is what rows are padded to.
 * SPDX-License-Identifier: MIT */
#include <float.h>
#include <math.h>

#include "backend/cpu/avx512vnni/simd_int.h"
#include "backend/cpu/avx512vnni/vec_int512.h"

enum { GROUP = 256, BLOCKS = GROUP / 32 };
_Static_assert(QN_A8_PAD == GROUP, "rows are whole groups");

/* Lane b: the largest lane of top[b]. */
QN_INLINE __m256i max_of_each(const __m512i top[BLOCKS])
{
    __m512i two[4]; /* lanes of 128 bits: a a b b */
    for (int i = 0; i < 4; i++) {
        __m512i a = top[2 * i], b = top[2 * i + 1];
        two[i] = _mm512_max_epu32(_mm512_shuffle_i64x2(a, b, 0x44), _mm512_shuffle_i64x2(a, b, 0xEE));
    }
    __m512i four[2]; /* a b c d */
    for (int i = 0; i < 2; i++) {
        __m512i a = two[2 * i], b = two[2 * i + 1];
        four[i] = _mm512_max_epu32(_mm512_shuffle_i64x2(a, b, 0x88), _mm512_shuffle_i64x2(a, b, 0xDD));
    }
    __m512i all = _mm512_max_epu32(_mm512_unpacklo_epi64(four[0], four[1]), _mm512_unpackhi_epi64(four[0], four[1]));
    all = _mm512_max_epu32(all, _mm512_shuffle_epi32(all, _MM_PERM_CDAB));
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 2, 6, 10, 14, 0, 0, 0, 0, 0, 0, 0, 0);
    return _mm512_castsi512_si256(_mm512_permutexvar_epi32(order, all));
}

/* The four lanes of 128 bits of each sum[i], added: sum[0]'s four dwords, sum[1]'s, ... */
QN_INLINE __m512i sum_of_each(const __m512i sum[4])
{
    __m512i two[2];
    for (int i = 0; i < 2; i++) {
        __m512i a = sum[2 * i], b = sum[2 * i + 1];
        two[i] = _mm512_add_epi32(_mm512_shuffle_i64x2(a, b, 0x44), _mm512_shuffle_i64x2(a, b, 0xEE));
    }
    return _mm512_add_epi32(_mm512_shuffle_i64x2(two[0], two[1], 0x88), _mm512_shuffle_i64x2(two[0], two[1], 0xDD));
}

/* 16 floats as integers. */
QN_INLINE __m512i scaled(const float *x, __m512 f)
{
    return _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_loadu_ps(x), f));
}

/* The arithmetic of each element is ref's. */
static void quantize_group(const float *x, int8_t *q, float *d, float *s, int16_t *h)
{
    const __m512i magnitude = _mm512_set1_epi32(0x7fffffff);
    __m512i top[BLOCKS];
    QN_UNROLL
    for (int b = 0; b < BLOCKS; b++) {
        top[b] = _mm512_max_epu32(_mm512_and_si512(_mm512_loadu_si512(x + 32 * b), magnitude),
                                  _mm512_and_si512(_mm512_loadu_si512(x + 32 * b + 16), magnitude));
    }
    __m256 max = _mm256_castsi256_ps(max_of_each(top));
    __m256 inverse = _mm256_div_ps(_mm256_set1_ps(127.0f), max);
    __mmask8 finite = _mm256_cmp_ps_mask(max, _mm256_set1_ps(FLT_MAX), _CMP_LE_OQ);
    /* Blocks of zeros, or below 1e-36 and as good as zeros, have no inverse. */
    __mmask8 usable = _mm256_mask_cmp_ps_mask(finite, inverse, _mm256_set1_ps(FLT_MAX), _CMP_LE_OQ);
    _Alignas(32) float f[BLOCKS];
    _mm256_store_ps(f, _mm256_maskz_mov_ps(usable, inverse));
    __m256 scale = _mm256_maskz_div_ps(usable, max, _mm256_set1_ps(127.0f));

    /* Packing works inside lanes of 128 bits: lane i holds dword i of each of the four halves. */
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    __m512i sum[BLOCKS / 2];
    QN_UNROLL
    for (int b = 0; b < BLOCKS; b += 2) {
        __m512 f0 = _mm512_set1_ps(f[b]), f1 = _mm512_set1_ps(f[b + 1]);
        const float *at = x + 32 * b;
        __m512i bytes = _mm512_packs_epi16(_mm512_packs_epi32(scaled(at, f0), scaled(at + 16, f0)),
                                           _mm512_packs_epi32(scaled(at + 32, f1), scaled(at + 48, f1)));
        sum[b / 2] = _mm512_dpbusd_epi32(_mm512_setzero_si512(), _mm512_set1_epi8(1), bytes);
        _mm512_storeu_si512(q + 32 * b, _mm512_permutexvar_epi32(order, bytes));
    }
    __m256i halves = _mm512_cvtepi32_epi16(sum_of_each(sum));
    _mm256_storeu_si256((__m256i *)(void *)h, halves);
    __m256 sums = _mm256_cvtepi32_ps(_mm256_madd_epi16(halves, _mm256_set1_epi16(1)));
    _mm256_storeu_ps(d, scale);
    _mm256_storeu_ps(s, _mm256_mul_ps(scale, sums));

    if (finite != 0xFF) {
        for (int b = 0; b < BLOCKS; b++) {
            if ((finite >> b & 1) == 0) {
                d[b] = s[b] = NAN;
                h[2 * b] = h[2 * b + 1] = 0;
                memset(q + 32 * b, 0, 32);
            }
        }
    }
}

/* A group's n < 256 floats and zeros, written as they will be read: stores of another width would stall the loads. */
static void pad_group(const float *x, size_t n, float *group)
{
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        _mm512_store_ps(group + i, _mm512_loadu_ps(x + i));
    }
    if (i < n) {
        _mm512_store_ps(group + i, _mm512_maskz_loadu_ps(qn_first_lanes(n - i), x + i));
        i += 16;
    }
    for (; i < GROUP; i += 16) {
        _mm512_store_ps(group + i, _mm512_setzero_ps());
    }
}

void qn_quantize_a8_avx512vnni(const float *x, size_t n, void *out)
{
    size_t np = qn_a8_padded(n);
    int8_t *q = out;
    float *d = (float *)(void *)(q + np);
    float *s = d + np / 32;
    int16_t *h = (int16_t *)(void *)(s + np / 32);
    size_t i = 0;
    for (; i + GROUP <= n; i += GROUP) {
        quantize_group(x + i, q + i, d + i / 32, s + i / 32, h + i / 16);
    }
    if (i < n) {
        _Alignas(64) float last[GROUP];
        pad_group(x + i, n - i, last);
        quantize_group(last, q + i, d + i / 32, s + i / 32, h + i / 16);
    }
    /* What rounds the row up to whole lines. */
    char *end = (char *)(h + np / 16);
    memset(end, 0, (size_t)((char *)out + qn_a8_bytes(n) - end));
}
