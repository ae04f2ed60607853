/* Tests of the self-check: good kernels pass, and each kernel that computes slightly wrong is found and named.
 * SPDX-License-Identifier: MIT */
#include "kernel_support.h"

#include "backend/cpu/selfcheck.h"
#include "base/alloc.h"

static void use_all(bool used[QN_TYPE_COUNT])
{
    for (uint32_t t = 0; t < QN_TYPE_COUNT; t++) {
        used[t] = true;
    }
}

static void test_every_set_passes_with_every_type(void **state)
{
    (void)state;
    bool used[QN_TYPE_COUNT];
    use_all(used);
    qn_kernels k;
    for (size_t i_set = 0; next_set(&i_set, &k);) {
        qn_error err = {0};
        if (qn_kernels_self_check(&k, used, &err) != QN_OK) {
            fail_msg("%s", err.what);
        }
    }
    assert_int_equal(qn_alloc_live(), 0);
}

/* Wrong versions of kernels: the right one's result with one element a little off. */
static qn_kernels good;

static void wrong_rms_norm(const float *x, const float *w, size_t n, float eps, float *y)
{
    good.rms_norm(x, w, n, eps, y);
    y[n - 1] *= 1.001F;
}

static void wrong_add(const float *a, const float *b, size_t n, float *y)
{
    good.add(a, b, n, y);
    y[0] += 0.001F;
}

static void wrong_mul(const float *a, const float *b, size_t n, float *y)
{
    good.mul(a, b, n - 1, y);
}

static void wrong_scale(const float *x, float f, size_t n, float *y)
{
    good.scale(x, f * 1.001F, n, y);
}

static void wrong_add_scaled(const float *x, float f, size_t n, float *y)
{
    good.scale(x, f, n, y);
}

static void wrong_softcap(const float *x, float cap, size_t n, float *y)
{
    good.softcap(x, cap * 1.001F, n, y);
}

static void wrong_silu_mul(const float *gate, const float *up, size_t n, float *y)
{
    good.gelu_mul(gate, up, n, y);
}

static void wrong_gelu_mul(const float *gate, const float *up, size_t n, float *y)
{
    good.gelu_mul(gate, up, n, y);
    y[7] = NAN;
}

static void wrong_softmax(const float *x, size_t n, float *y)
{
    good.softmax(x, n, y);
    y[8] += 0.0001F;
}

static void wrong_rope(float *x, size_t n_pairs, const float *cosv, const float *sinv, qn_rope_kind kind)
{
    (void)kind;
    good.rope(x, n_pairs, cosv, sinv, QN_ROPE_NORMAL);
}

static void wrong_kv_store(const float *x, size_t n, qn_type type, void *dst, size_t dst_stride)
{
    good.kv_store(x, n, type, dst, dst_stride);
    *(uint8_t *)dst ^= type == QN_TYPE_F16 ? 1 : 0;
}

static void wrong_quantize_a8(const float *x, size_t n, void *out)
{
    good.quantize_a8(x, n, out);
    ((int8_t *)out)[5] += 1;
}

static void wrong_attn_page(const qn_attn_page *a)
{
    good.attn_page(a);
    a->acc[a->v_dim + 1] += a->lo[1] < a->hi[1] ? 0.01F : 0.0F;
}

static void wrong_rotate(float *x, size_t n)
{
    good.rotate(x, n);
    x[2] = -x[2];
}

static qn_kv_scale wrong_kv_encode(const float *x, size_t n, uint32_t code_bits, uint8_t *codes)
{
    qn_kv_scale s = good.kv_encode(x, n, code_bits, codes);
    codes[n - 1] ^= code_bits == 5;
    return s;
}

static void wrong_code_page(const qn_attn_page *a)
{
    good.attn_page(a);
    a->acc[a->v_dim + 1] += a->bits == 4 && a->lo[1] < a->hi[1] ? 0.05F : 0.0F;
}

static void assert_found(const qn_kernels *k, const char *name)
{
    bool used[QN_TYPE_COUNT] = {false};
    used[QN_TYPE_Q4_K] = used[QN_TYPE_F16] = true;
    qn_error err = {0};
    assert_int_equal(qn_kernels_self_check(k, used, &err), QN_EINTERNAL);
    if (strstr(err.what, name) == NULL || strstr(err.what, k->isa) == NULL) {
        fail_msg("'%s' names neither %s nor %s", err.what, name, k->isa);
    }
    assert_int_equal(qn_alloc_live(), 0);
}

static void test_each_wrong_row_kernel_is_named(void **state)
{
    (void)state;
    assert_int_equal(qn_kernels_select(NULL, &good, NULL), QN_OK);
#define FOUND(kernel)              \
    do {                           \
        qn_kernels k = good;       \
        k.kernel = wrong_##kernel; \
        assert_found(&k, #kernel); \
    } while (0)
    FOUND(rms_norm);
    FOUND(add);
    FOUND(mul);
    FOUND(scale);
    FOUND(add_scaled);
    FOUND(softcap);
    FOUND(silu_mul);
    FOUND(gelu_mul);
    FOUND(softmax);
    FOUND(rope);
    FOUND(kv_store);
    FOUND(quantize_a8);
    FOUND(attn_page);
    FOUND(rotate);
    FOUND(kv_encode);
    qn_kernels k = good;
    k.attn_page = wrong_code_page;
    assert_found(&k, "attn_page 4 bits");
#undef FOUND
}

static void wrong_one(const uint8_t *w, size_t row_bytes, size_t n_rows, size_t n_k, const void *x, float *y)
{
    good.mm[QN_TYPE_Q4_K].one(w, row_bytes, n_rows, n_k, x, y);
    y[n_rows - 1] += 0.25F;
}

static void wrong_few(const uint8_t *w, size_t row_bytes, size_t n_rows, size_t n_k, const void *x, size_t x_bytes,
                      size_t n_cols, float *y, size_t ldy)
{
    good.mm[QN_TYPE_Q4_K].few(w, row_bytes, n_rows, n_k, x, x_bytes, n_cols, y, ldy);
    y[(n_cols - 1) * ldy] += 0.25F;
}

static void wrong_panel(const void *panel, size_t n_rows, size_t n_k, const void *x, size_t x_bytes, size_t n_cols,
                        float *y, size_t ldy)
{
    good.mm[QN_TYPE_Q4_K].panel(panel, n_rows, n_k, x, x_bytes, n_cols, y, ldy);
    y[0] += n_rows == 1 ? 0.25F : 0.0F;
}

static void wrong_decode(const void *src, float *dst, size_t n)
{
    good.decode_row[QN_TYPE_F16](src, dst, n);
    dst[n - 1] += 0.125F;
}

static void test_each_wrong_product_is_named_with_its_type(void **state)
{
    (void)state;
    assert_int_equal(qn_kernels_select(NULL, &good, NULL), QN_OK);
    qn_kernels k = good;
    k.mm[QN_TYPE_Q4_K].one = wrong_one;
    assert_found(&k, "mm.one Q4_K");
    k = good;
    k.mm[QN_TYPE_Q4_K].few = wrong_few;
    assert_found(&k, "mm.few Q4_K");
    k = good;
    k.decode_row[QN_TYPE_F16] = wrong_decode;
    assert_found(&k, "decode_row F16");
    if (good.mm[QN_TYPE_Q4_K].panel_rows > 0) {
        k = good;
        k.mm[QN_TYPE_Q4_K].panel = wrong_panel;
        assert_found(&k, "mm.panel Q4_K");
    }
}

static void test_types_not_in_use_are_left_out(void **state)
{
    (void)state;
    assert_int_equal(qn_kernels_select(NULL, &good, NULL), QN_OK);
    qn_kernels k = good;
    k.mm[QN_TYPE_Q4_K].one = wrong_one;
    bool used[QN_TYPE_COUNT] = {false};
    used[QN_TYPE_Q6_K] = true;
    assert_int_equal(qn_kernels_self_check(&k, used, NULL), QN_OK);
}

static void test_no_memory_is_told(void **state)
{
    (void)state;
    bool used[QN_TYPE_COUNT] = {false};
    used[QN_TYPE_Q4_K] = true;
    assert_int_equal(qn_kernels_select(NULL, &good, NULL), QN_OK);
    uint64_t before = qn_alloc_count();
    assert_int_equal(qn_kernels_self_check(&good, used, NULL), QN_OK);
    uint64_t n_allocs = qn_alloc_count() - before;
    assert_true(n_allocs >= 1);
    for (uint64_t n = 1; n <= n_allocs; n++) {
        qn_error err = {0};
        qn_alloc_fail_at(n);
        assert_int_equal(qn_kernels_self_check(&good, used, &err), QN_ENOMEM);
        qn_alloc_fail_at(0);
        assert_int_equal(err.code, QN_ENOMEM);
        assert_int_equal(qn_alloc_live(), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_set_passes_with_every_type),
        cmocka_unit_test(test_each_wrong_row_kernel_is_named),
        cmocka_unit_test(test_each_wrong_product_is_named_with_its_type),
        cmocka_unit_test(test_types_not_in_use_are_left_out),
        cmocka_unit_test(test_no_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
