/* The type table: names, sizes, and what the row functions refuse.
 * SPDX-License-Identifier: MIT */
#include "test.h"

#include "quant/quant.h"

static void names_find_ids_and_back(void **state)
{
    (void)state;
    int n_types = 0;
    for (uint32_t id = 0; id < QN_TYPE_COUNT; id++) {
        const qn_type_info *t = qn_type_find(id);
        if (t == NULL) {
            assert_string_equal(qn_type_name(id), "?");
            continue;
        }
        n_types++;
        qn_type found = QN_TYPE_COUNT;
        assert_ptr_equal(qn_type_find_name(t->name, &found), t);
        assert_int_equal(found, id);
        assert_string_equal(qn_type_name(id), t->name);
        assert_true(t->block_len > 0 && t->block_bytes > 0);
    }
    assert_int_equal(n_types, 34);
}

static void names_ignore_case_and_must_match_whole(void **state)
{
    (void)state;
    qn_type id = QN_TYPE_F32;
    assert_non_null(qn_type_find_name("q4_k", &id));
    assert_int_equal(id, QN_TYPE_Q4_K);
    assert_non_null(qn_type_find_name("iQ2_xXs", NULL));
    id = QN_TYPE_I8;
    assert_null(qn_type_find_name("Q4", &id));
    assert_null(qn_type_find_name("Q4_K_M", &id));
    assert_null(qn_type_find_name("", &id));
    assert_null(qn_type_find_name(NULL, &id));
    assert_int_equal(id, QN_TYPE_I8);
}

static void unknown_ids_are_unknown(void **state)
{
    (void)state;
    static const uint32_t holes[] = {4, 5, 31, 32, 33, 36, 37, 38, QN_TYPE_COUNT, 1000, UINT32_MAX};
    for (size_t i = 0; i < sizeof holes / sizeof holes[0]; i++) {
        uint64_t bytes = 7;
        assert_null(qn_type_find(holes[i]));
        assert_string_equal(qn_type_name(holes[i]), "?");
        assert_false(qn_type_row_bytes(holes[i], 256, &bytes));
        assert_int_equal(bytes, 7);
        qn_error err;
        float x = 0;
        assert_int_equal(qn_decode_row((qn_type)holes[i], &x, &x, 0, &err), QN_EUNSUPPORTED);
        assert_int_equal(qn_encode_row((qn_type)holes[i], &x, &x, 0, NULL, NULL), QN_EUNSUPPORTED);
    }
}

static void row_bytes_are_exact(void **state)
{
    (void)state;
    uint64_t bytes;
    assert_true(qn_type_row_bytes(QN_TYPE_F32, 3, &bytes));
    assert_int_equal(bytes, 12);
    assert_true(qn_type_row_bytes(QN_TYPE_Q4_K, 4096, &bytes));
    assert_int_equal(bytes, 4096 / 256 * 144);
    assert_true(qn_type_row_bytes(QN_TYPE_Q8_0, 0, &bytes));
    assert_int_equal(bytes, 0);
    /* a row whose size does not fit is refused, the last that fits is not */
    assert_true(qn_type_row_bytes(QN_TYPE_F32, UINT64_MAX / 4, &bytes));
    assert_false(qn_type_row_bytes(QN_TYPE_F32, UINT64_MAX / 4 + 1, &bytes));
    assert_false(qn_type_row_bytes(QN_TYPE_Q8_0, UINT64_MAX - 31, &bytes));
    assert_true(qn_type_row_bytes(QN_TYPE_Q4_0, UINT64_MAX - 31, &bytes));
}

static void parts_of_blocks_are_refused(void **state)
{
    (void)state;
    char block[512] = {0};
    float x[256] = {0};
    for (uint32_t id = 0; id < QN_TYPE_COUNT; id++) {
        const qn_type_info *t = qn_type_find(id);
        if (t == NULL || t->block_len == 1) {
            continue;
        }
        uint64_t bytes;
        qn_error err;
        assert_false(qn_type_row_bytes(id, t->block_len - 1, &bytes));
        assert_false(qn_type_row_bytes(id, t->block_len + 1, &bytes));
        assert_int_equal(qn_decode_row((qn_type)id, block, x, t->block_len - 1, &err), QN_EINVAL);
        assert_non_null(strstr(err.what, t->name));
        assert_int_equal(qn_encode_row((qn_type)id, x, block, t->block_len - 1, NULL, &err), QN_EINVAL);
        assert_non_null(strstr(err.what, t->name));
    }
}

static void what_has_no_encoder_says_so(void **state)
{
    (void)state;
    static const qn_type silent[] = {QN_TYPE_IQ1_S,   QN_TYPE_IQ1_M, QN_TYPE_IQ2_XXS, QN_TYPE_IQ2_XS, QN_TYPE_IQ2_S,
                                     QN_TYPE_IQ3_XXS, QN_TYPE_IQ3_S, QN_TYPE_NVFP4,   QN_TYPE_Q1_0,   QN_TYPE_I8};
    char block[512] = {0};
    float x[256] = {0};
    for (size_t i = 0; i < sizeof silent / sizeof silent[0]; i++) {
        qn_error err;
        assert_int_equal(qn_encode_row(silent[i], x, block, 256, NULL, &err), QN_EUNSUPPORTED);
        assert_non_null(strstr(err.what, qn_type_name(silent[i])));
        assert_int_equal(qn_decode_row(silent[i], block, x, 256, &err), QN_OK);
    }
}

static void empty_rows_touch_nothing(void **state)
{
    (void)state;
    for (uint32_t id = 0; id < QN_TYPE_COUNT; id++) {
        const qn_type_info *t = qn_type_find(id);
        if (t == NULL) {
            continue;
        }
        assert_int_equal(qn_decode_row((qn_type)id, NULL, NULL, 0, NULL), QN_OK);
        if (t->encode != NULL) {
            assert_int_equal(qn_encode_row((qn_type)id, NULL, NULL, 0, NULL, NULL), QN_OK);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_find_ids_and_back),
        cmocka_unit_test(names_ignore_case_and_must_match_whole),
        cmocka_unit_test(unknown_ids_are_unknown),
        cmocka_unit_test(row_bytes_are_exact),
        cmocka_unit_test(parts_of_blocks_are_refused),
        cmocka_unit_test(what_has_no_encoder_says_so),
        cmocka_unit_test(empty_rows_touch_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
