/* Tests of the list of kernel sets. SPDX-License-Identifier: MIT */
#include "kernel_support.h"

static void assert_complete(const qn_kernels *k)
{
    assert_non_null(k->isa);
    assert_non_null(k->quantize_a8);
    assert_non_null(k->rms_norm);
    assert_non_null(k->add);
    assert_non_null(k->mul);
    assert_non_null(k->scale);
    assert_non_null(k->add_scaled);
    assert_non_null(k->softcap);
    assert_non_null(k->silu_mul);
    assert_non_null(k->gelu_mul);
    assert_non_null(k->softmax);
    assert_non_null(k->rope);
    assert_non_null(k->kv_store);
    assert_non_null(k->attn_page);
    for (uint32_t t = 0; t < QN_TYPE_COUNT; t++) {
        const qn_type_info *info = qn_type_find(t);
        bool decodes = info != NULL && info->decode != NULL;
        assert_int_equal(k->decode_row[t] != NULL, decodes);
        assert_int_equal(k->mm[t].one != NULL, decodes);
        if (decodes) {
            assert_non_null(k->mm[t].few);
            assert_true(k->mm[t].few_max >= 1);
            assert_int_equal(k->mm[t].panel_rows % 8, 0);
            bool panels = k->mm[t].panel_rows > 0;
            assert_int_equal(k->mm[t].panel_bytes != NULL && k->mm[t].pack != NULL && k->mm[t].panel != NULL, panels);
        }
    }
}

static void test_every_usable_set_is_complete(void **state)
{
    (void)state;
    const char *isa = NULL;
    bool usable = false;
    size_t n_usable = 0;
    for (size_t i = 0; qn_kernels_known(i, &isa, &usable); i++) {
        qn_kernels k;
        qn_error err;
        memset(&k, 0xA5, sizeof(k));
        if (!usable) {
            assert_int_equal(qn_kernels_select(isa, &k, &err), QN_EUNSUPPORTED);
            continue;
        }
        n_usable++;
        assert_int_equal(qn_kernels_select(isa, &k, &err), QN_OK);
        assert_string_equal(k.isa, isa);
        assert_complete(&k);
    }
    assert_true(n_usable >= 1);
}

static void test_the_best_set_is_the_last_usable_one(void **state)
{
    (void)state;
    const char *isa = NULL;
    const char *best = NULL;
    bool usable = false;
    for (size_t i = 0; qn_kernels_known(i, &isa, &usable); i++) {
        best = usable ? isa : best;
        assert_true(i > 0 || (usable && strcmp(isa, "ref") == 0));
    }
    qn_kernels k;
    assert_int_equal(qn_kernels_select(NULL, &k, NULL), QN_OK);
    assert_string_equal(k.isa, best);
    assert_int_equal(qn_kernels_select("", &k, NULL), QN_OK);
    assert_string_equal(k.isa, best);
}

static void test_an_unknown_name_is_refused_and_the_known_ones_listed(void **state)
{
    (void)state;
    static const char *const names[] = {"avx3", "REF", "ref ",
                                        "a name that is much longer than any instruction set's is"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        qn_kernels k;
        qn_kernels before;
        qn_error err;
        memset(&k, 0x5A, sizeof(k));
        before = k;
        assert_int_equal(qn_kernels_select(names[i], &k, &err), QN_EUNSUPPORTED);
        assert_int_equal(err.code, QN_EUNSUPPORTED);
        char start[12] = {0};
        memcpy(start, names[i], strlen(names[i]) < 11 ? strlen(names[i]) : 11);
        assert_non_null(strstr(err.what, start));
        assert_non_null(strstr(err.what, "unknown"));
        assert_non_null(strstr(err.what, "known: ref"));
        assert_memory_equal(&k, &before, sizeof(k));
        assert_int_equal(qn_kernels_select(names[i], &k, NULL), QN_EUNSUPPORTED);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_usable_set_is_complete),
        cmocka_unit_test(test_the_best_set_is_the_last_usable_one),
        cmocka_unit_test(test_an_unknown_name_is_refused_and_the_known_ones_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
