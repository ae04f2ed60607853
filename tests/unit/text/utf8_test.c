/* UTF-8: every code point there and back, ill-formed bytes, unfinished ends.
 * SPDX-License-Identifier: MIT */
#include "test.h"

#include "text/utf8.h"

static void every_code_point_returns(void **state)
{
    (void)state;
    for (uint32_t cp = 0; cp < 0x110000; cp++) {
        if (cp >= 0xD800 && cp <= 0xDFFF) {
            continue;
        }
        char s[4];
        size_t n = qn_utf8_put(cp, s);
        uint32_t back;
        assert_int_equal(qn_utf8_next(s, n, &back), n);
        assert_int_equal(back, cp);
        for (size_t cut = 1; cut < n; cut++) {
            assert_int_equal(qn_utf8_next(s, cut, &back), 1);
            assert_int_equal(back, UINT32_MAX);
            assert_int_equal(qn_utf8_tail(s, cut), cut);
        }
        assert_int_equal(qn_utf8_tail(s, n), 0);
    }
}

static void ill_formed(void **state)
{
    (void)state;
    static const char *const cases[] = {"\x80",         "\xBF",         "\xC0\x80",         "\xC1\xBF", "\xE0\x80\x80",
                                        "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF", "\xFF",     "\xF5\x80",
                                        "\xF4\x90\x80\x80",     "\xC3(",        "\xE2\x28\xA1",     "\xFE"};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint32_t cp = 0;
        assert_int_equal(qn_utf8_next(cases[i], strlen(cases[i]), &cp), 1);
        assert_int_equal(cp, UINT32_MAX);
        assert_int_equal(qn_utf8_tail(cases[i], strlen(cases[i])), 0);
    }
}

static void tail_counts_only_what_can_become_valid(void **state)
{
    (void)state;
    static const struct {
        const char *s;
        size_t tail;
    } cases[] = {{"", 0},           {"a", 0},          {"a\xC3", 1},     {"a\xE2\x96", 2},     {"\xF0\x9F\x98", 3},
                 {"\xF0\x9F", 2},   {"\xF0", 1},       {"\xE0\x9F", 0},  {"\xED\xA0", 0},      {"\xF4\x90", 0},
                 {"\xF0\x8F", 0},   {"\xC0", 0},       {"\xF5", 0},      {"\xC3\xA9", 0},      {"\xC3\xA9\x80", 0},
                 {"\x80\x80\x80", 0}, {"\xE2\x96\x81\xE2", 1}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(qn_utf8_tail(cases[i].s, strlen(cases[i].s)), cases[i].tail);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_point_returns),
        cmocka_unit_test(ill_formed),
        cmocka_unit_test(tail_counts_only_what_can_become_valid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
