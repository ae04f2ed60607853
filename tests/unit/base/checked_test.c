/* Tests of base/checked.h and base/str.h.
 * SPDX-License-Identifier: MIT */
#include "test.h"

#include "base/checked.h"
#include "base/str.h"

static void test_sizes(void **state)
{
    (void)state;
    size_t out = 7;
    assert_true(qn_add_size(SIZE_MAX - 1, 1, &out));
    assert_true(out == SIZE_MAX);
    assert_false(qn_add_size(SIZE_MAX, 1, &(size_t){0}));
    assert_true(qn_mul_size(SIZE_MAX / 2, 2, &out));
    assert_true(out == SIZE_MAX - 1);
    assert_false(qn_mul_size(SIZE_MAX / 2 + 1, 2, &(size_t){0}));
    assert_true(qn_mul_size(0, SIZE_MAX, &out));
    assert_true(out == 0);
}

static void test_u64(void **state)
{
    (void)state;
    uint64_t out = 7;
    assert_true(qn_add_u64(UINT64_MAX, 0, &out));
    assert_true(out == UINT64_MAX);
    assert_false(qn_add_u64(UINT64_MAX, 1, &(uint64_t){0}));
    assert_true(qn_mul_u64(UINT64_C(1) << 32, (UINT64_C(1) << 32) - 1, &out));
    assert_false(qn_mul_u64(UINT64_C(1) << 32, UINT64_C(1) << 32, &(uint64_t){0}));
}

static void test_round_up(void **state)
{
    (void)state;
    uint64_t out = 7;
    assert_true(qn_round_up_u64(0, 32, &out));
    assert_int_equal(out, 0);
    assert_true(qn_round_up_u64(1, 32, &out));
    assert_int_equal(out, 32);
    assert_true(qn_round_up_u64(32, 32, &out));
    assert_int_equal(out, 32);
    assert_true(qn_round_up_u64(UINT64_MAX - 31, 32, &out));
    assert_true(out == UINT64_MAX - 31);
    out = 7;
    assert_false(qn_round_up_u64(UINT64_MAX - 30, 32, &out));
    assert_int_equal(out, 7);
}

static void test_str(void **state)
{
    (void)state;
    assert_true(qn_str_is(QN_STR("kv"), "kv"));
    assert_false(qn_str_is(QN_STR("kv"), "k"));
    assert_false(qn_str_is(QN_STR("k\0v"), "k"));
    assert_true(qn_str_eq(QN_STR("k\0v"), QN_STR("k\0v")));
    assert_true(qn_str_eq((qn_str){NULL, 0}, QN_STR("")));
    char shown[200], longest[150];
    memset(longest, 'x', sizeof(longest));
    qn_str s = {longest, sizeof(longest)};
    assert_int_equal(snprintf(shown, sizeof(shown), "%.*s", QN_STR_ARG(s)), 96);
    s.len = 3;
    assert_int_equal(snprintf(shown, sizeof(shown), "%.*s", QN_STR_ARG(s)), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_u64),
        cmocka_unit_test(test_round_up),
        cmocka_unit_test(test_str),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
