/* Tests of base/status.h and of the cleaning of error texts.
 * SPDX-License-Identifier: MIT */
#include "test.h"

#include "base/status.h"

static void test_names_and_texts(void **state)
{
    (void)state;
    assert_string_equal(qn_status_name(QN_OK), "QN_OK");
    assert_string_equal(qn_status_text(QN_OK), "ok");
    assert_string_equal(qn_status_name(QN_EDAMAGED), "QN_EDAMAGED");
    assert_string_equal(qn_status_text(QN_EBUDGET), "memory budget exceeded");
    assert_string_equal(qn_status_name((qn_status)7), "QN_?");
    assert_string_equal(qn_status_text((qn_status)-7), "unknown status");
}

static void test_fail_fills_and_returns(void **state)
{
    (void)state;
    qn_error err;
    memset(&err, 0xAA, sizeof(err));
    assert_int_equal(qn_fail(&err, QN_EFORMAT, "general.alignment: %u", 33u), QN_EFORMAT);
    assert_int_equal(err.code, QN_EFORMAT);
    assert_string_equal(err.what, "general.alignment: 33");
    assert_int_equal(qn_fail(NULL, QN_EIO, "%s", "nobody looks"), QN_EIO);
}

static void test_fail_may_quote_itself(void **state)
{
    (void)state;
    qn_error err;
    qn_fail(&err, QN_EFORMAT, "inner");
    qn_fail(&err, QN_EIO, "outer: %s", err.what);
    assert_string_equal(err.what, "outer: inner");
    assert_int_equal(err.code, QN_EIO);
}

static void test_fail_cleans(void **state)
{
    (void)state;
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"\x1B[31mred\x1B[0m", "?[31mred?[0m"}, /* terminal escapes */
        {"a\nb\tc\rd\x7F", "a?b?c?d?"},         /* control characters */
        {"\xC2\x9B"
         "31m \xC2\xA0.",
         "?31m \xC2\xA0."}, /* a C1 control; the first character after C1 stays */
        {"gr\xC3\xBC\xC3\x9F \xE2\x82\xAC \xF0\x9F\x98\x80", "gr\xC3\xBC\xC3\x9F \xE2\x82\xAC \xF0\x9F\x98\x80"},
        {"\xC3(", "?("},                          /* lead byte without the rest */
        {"\xE2\x82", "??"},                       /* cut by the sender, not by us */
        {"\xC0\xAF \xE0\x80\xAF", "?? ???"},      /* long forms */
        {"\xED\xA0\x80", "???"},                  /* a surrogate */
        {"\xF4\x90\x80\x80 \xFF", "???? ?"},      /* above U+10FFFF */
        {"\xF4\x8F\xBF\xBF", "\xF4\x8F\xBF\xBF"}, /* U+10FFFF */
        {"", ""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        qn_error err;
        qn_fail(&err, QN_EFORMAT, "%s", cases[i].in);
        assert_string_equal(err.what, cases[i].out);
    }
}

static void test_fail_cuts_between_characters(void **state)
{
    (void)state;
    char text[QN_ERROR_TEXT + 8];
    for (size_t n_ascii = QN_ERROR_TEXT - 6; n_ascii <= QN_ERROR_TEXT; n_ascii++) {
        memset(text, 'x', sizeof(text));
        memcpy(text + n_ascii, "\xF0\x9F\x98\x80", 5);
        qn_error err;
        qn_fail(&err, QN_EFORMAT, "%s", text);
        size_t fits = n_ascii + 4 < QN_ERROR_TEXT ? n_ascii + 4 : n_ascii;
        size_t expected = fits < QN_ERROR_TEXT ? fits : QN_ERROR_TEXT - 1;
        assert_int_equal(strlen(err.what), expected);
        assert_memory_equal(err.what, text, expected);
    }
}

static qn_status try_twice(qn_status first, int *n_calls)
{
    (*n_calls)++;
    QN_TRY(first);
    (*n_calls)++;
    return QN_OK;
}

static void test_try(void **state)
{
    (void)state;
    int n_calls = 0;
    assert_int_equal(try_twice(QN_EFULL, &n_calls), QN_EFULL);
    assert_int_equal(n_calls, 1);
    assert_int_equal(try_twice(QN_OK, &n_calls), QN_OK);
    assert_int_equal(n_calls, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_and_texts),
        cmocka_unit_test(test_fail_fills_and_returns),
        cmocka_unit_test(test_fail_may_quote_itself),
        cmocka_unit_test(test_fail_cleans),
        cmocka_unit_test(test_fail_cuts_between_characters),
        cmocka_unit_test(test_try),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
