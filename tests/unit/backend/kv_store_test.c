/* Tests of writing rows into KV storage: the rounding, the stride, and nothing beside it touched.
 * SPDX-License-Identifier: MIT */
#include "kernel_support.h"

static float from_bits(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof(f));
    return f;
}

static bool same_half(uint16_t a, uint16_t b)
{
    bool nan_a = (a & 0x7FFF) > 0x7C00;
    bool nan_b = (b & 0x7FFF) > 0x7C00;
    return nan_a || nan_b ? nan_a && nan_b : a == b;
}

static void test_half_rounds_as_the_reference(void **state)
{
    (void)state;
    enum { N = 4 * 65536 + 3 };
    row x = row_new(N, 1);
    qn_random rnd;
    qn_random_seed(&rnd, 23);
    for (uint32_t i = 0; i < N; i++) {
        /* Every half, the midpoint above it and the float beside that midpoint, then any bits. */
        uint32_t near = 0;
        float f = qn_f16_to_f32((uint16_t)(i / 4));
        memcpy(&near, &f, sizeof(near));
        static const uint32_t step[4] = {0, 0x1000, 0xFFF, 0x1001};
        x.x[i] = i < 4 * 65536 ? from_bits(near + step[i % 4]) : from_bits((uint32_t)qn_random_u64(&rnd));
    }
    uint16_t *half = malloc(N * sizeof(*half));
    assert_non_null(half);
    qn_kernels k;
    for (size_t i_set = 0; next_set(&i_set, &k);) {
        k.kv_store(x.x, N, QN_TYPE_F16, half, 1);
        for (size_t i = 0; i < N; i++) {
            if (!same_half(half[i], qn_f32_to_f16(x.x[i]))) {
                fail_msg("%s: %a gives %04x, want %04x", k.isa, (double)x.x[i], half[i], qn_f32_to_f16(x.x[i]));
            }
        }
    }
    free(half);
    row_free(&x);
}

static void test_bfloat16_rounds_as_the_reference(void **state)
{
    (void)state;
    enum { N = 4 * 65536 + 3 };
    row x = row_new(N, 1);
    qn_random rnd;
    qn_random_seed(&rnd, 24);
    for (uint32_t i = 0; i < N; i++) {
        /* Every bfloat16, the midpoint above it and its neighbours, then any bits. */
        static const uint32_t step[4] = {0, 0x8000, 0x7FFF, 0x8001};
        x.x[i] = from_bits(i < 4 * 65536 ? i / 4 << 16 | step[i % 4] : (uint32_t)qn_random_u64(&rnd));
    }
    uint16_t *half = malloc(N * sizeof(*half));
    assert_non_null(half);
    qn_kernels k;
    for (size_t i_set = 0; next_set(&i_set, &k);) {
        k.kv_store(x.x, N, QN_TYPE_BF16, half, 1);
        for (size_t i = 0; i < N; i++) {
            uint16_t want = qn_f32_to_bf16(x.x[i]);
            bool both_nan = (half[i] & 0x7FFF) > 0x7F80 && (want & 0x7FFF) > 0x7F80;
            if (!both_nan && half[i] != want) {
                fail_msg("%s: %a gives %04x, want %04x", k.isa, (double)x.x[i], half[i], want);
            }
        }
    }
    free(half);
    row_free(&x);
}

static void check_stride(const qn_kernels *k, size_t n, size_t stride, qn_type type, qn_random *rnd)
{
    size_t element = type == QN_TYPE_F32 ? 4 : 2;
    size_t n_dst = (n - 1) * stride + 1; /* nothing behind the last element */
    uint8_t *dst = malloc(n_dst * element);
    assert_non_null(dst);
    memset(dst, 0x5A, n_dst * element);
    row x = row_normal(n, n % 3, 10.0F, rnd);
    k->kv_store(x.x, n, type, dst, stride);
    for (size_t i = 0; i < n_dst; i++) {
        uint8_t want[4];
        memset(want, 0x5A, sizeof(want));
        if (i % stride == 0 && type == QN_TYPE_F16) {
            uint16_t h = qn_f32_to_f16(x.x[i / stride]);
            memcpy(want, &h, sizeof(h));
        } else if (i % stride == 0 && type == QN_TYPE_BF16) {
            uint16_t h = qn_f32_to_bf16(x.x[i / stride]);
            memcpy(want, &h, sizeof(h));
        } else if (i % stride == 0) {
            memcpy(want, x.x + i / stride, sizeof(float));
        }
        assert_memory_equal(dst + i * element, want, element);
    }
    free(dst);
    row_free(&x);
}

static void test_strides_leave_the_rest_alone(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 2, 7, 8, 9, 16, 31, 80, 129};
    static const size_t strides[] = {1, 2, 8, 32, 33};
    qn_random rnd;
    qn_random_seed(&rnd, 29);
    qn_kernels k;
    for (size_t i_set = 0; next_set(&i_set, &k);) {
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            for (size_t j = 0; j < sizeof(strides) / sizeof(strides[0]); j++) {
                check_stride(&k, sizes[i], strides[j], QN_TYPE_F16, &rnd);
                check_stride(&k, sizes[i], strides[j], QN_TYPE_BF16, &rnd);
                check_stride(&k, sizes[i], strides[j], QN_TYPE_F32, &rnd);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_half_rounds_as_the_reference),
        cmocka_unit_test(test_bfloat16_rounds_as_the_reference),
        cmocka_unit_test(test_strides_leave_the_rest_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
