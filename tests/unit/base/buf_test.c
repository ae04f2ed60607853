/* Tests of base/buf.h.
 * SPDX-License-Identifier: MIT */
#include "test.h"

#include "base/buf.h"

static void test_grows(void **state)
{
    (void)state;
    qn_buf b;
    qn_buf_init(&b, NULL, "test", SIZE_MAX);
    assert_null(b.data);
    assert_true(qn_str_is(qn_buf_view(&b), ""));
    for (int i = 0; i < 1000; i++) {
        qn_buf_add_char(&b, (char)('a' + i % 26));
        assert_int_equal(b.data[b.len], '\0');
    }
    qn_buf_add_str(&b, "-end");
    qn_buf_add(&b, "\0x", 2);
    assert_int_equal(b.status, QN_OK);
    assert_int_equal(b.len, 1006);
    assert_int_equal(b.data[999], 'a' + 999 % 26);
    assert_memory_equal(b.data + 1000, "-end\0x", 7);
    assert_true(b.cap > b.len);
    qn_buf_clear(&b);
    assert_int_equal(b.len, 0);
    assert_string_equal(b.data, "");
    assert_true(b.cap > 1000);
    qn_buf_free(&b);
    qn_buf_add_str(&b, "usable again");
    assert_true(qn_str_is(qn_buf_view(&b), "usable again"));
    qn_buf_free(&b);
}

static void test_printf(void **state)
{
    (void)state;
    qn_buf b;
    qn_buf_init(&b, NULL, "test", 2000);
    qn_buf_printf(&b, "%d of %s", 7, "nine");
    assert_true(qn_str_is(qn_buf_view(&b), "7 of nine"));
    qn_buf_printf(&b, "%0*d", 255, 1);
    qn_buf_printf(&b, "%0*d", 256, 1);
    qn_buf_printf(&b, "%0*d", 1000, 1);
    assert_int_equal(b.status, QN_OK);
    assert_int_equal(b.len, 9 + 255 + 256 + 1000);
    assert_int_equal(strlen(b.data), b.len);
    qn_buf_printf(&b, "%0*d", 600, 1);
    assert_int_equal(b.status, QN_EFULL);
    assert_int_equal(b.len, 9 + 255 + 256 + 1000);
    qn_buf_free(&b);
}

static void test_ceiling(void **state)
{
    (void)state;
    qn_buf b;
    qn_buf_init(&b, NULL, "test", 100);
    for (int i = 0; i < 100; i++) {
        qn_buf_add_char(&b, 'x');
    }
    assert_int_equal(b.status, QN_OK);
    assert_int_equal(b.cap, 101);
    qn_buf_add(&b, "", 0);
    assert_int_equal(b.status, QN_OK);
    qn_buf_add_char(&b, 'y');
    assert_int_equal(b.status, QN_EFULL);
    assert_int_equal(b.len, 100);
    qn_buf_clear(&b);
    qn_buf_add_str(&b, "ok");
    assert_int_equal(b.status, QN_OK);
    qn_buf_free(&b);

    /* All or nothing, and the error stays although a shorter text would fit. */
    qn_buf_init(&b, NULL, "test", 4);
    qn_buf_add_str(&b, "12345");
    assert_int_equal(b.status, QN_EFULL);
    assert_int_equal(b.len, 0);
    qn_buf_add_str(&b, "1");
    assert_int_equal(b.len, 0);
    qn_buf_free(&b);

    qn_buf_init(&b, NULL, "test", 0);
    qn_buf_add_str(&b, "");
    assert_int_equal(b.status, QN_OK);
    qn_buf_add_str(&b, "1");
    assert_int_equal(b.status, QN_EFULL);
    qn_buf_free(&b);
}

static void test_no_memory(void **state)
{
    (void)state;
    uint64_t live = qn_alloc_live();
    size_t n_failures = 0;
    for (uint64_t n = 1;; n++) {
        qn_buf b;
        qn_buf_init(&b, NULL, "test", SIZE_MAX);
        qn_alloc_fail_at(n);
        for (int i = 0; i < 50; i++) {
            qn_buf_printf(&b, "%0*d,", i * 10, i);
        }
        qn_alloc_fail_at(0);
        qn_status status = b.status;
        if (status != QN_OK) {
            assert_int_equal(status, QN_ENOMEM);
            assert_true(b.data == NULL || b.data[b.len] == '\0');
            n_failures++;
        }
        qn_buf_free(&b);
        assert_int_equal(qn_alloc_live(), live);
        if (status == QN_OK) {
            break;
        }
    }
    assert_true(n_failures >= 3);
}

static void test_budget(void **state)
{
    (void)state;
    qn_budget *budget = NULL;
    assert_int_equal(qn_budget_open(4096, &budget), QN_OK);
    qn_buf b;
    qn_buf_init(&b, budget, "text", SIZE_MAX);
    for (int i = 0; i < 5000; i++) {
        qn_buf_add_char(&b, 'x');
    }
    assert_int_equal(b.status, QN_ENOMEM);
    assert_true(b.len > 500 && b.len < 4096);
    assert_true(qn_budget_peak(budget) <= 4096);
    qn_buf_free(&b);
    assert_int_equal(qn_budget_used(budget), 0);
    qn_budget_close(budget);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grows),     cmocka_unit_test(test_printf), cmocka_unit_test(test_ceiling),
        cmocka_unit_test(test_no_memory), cmocka_unit_test(test_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
