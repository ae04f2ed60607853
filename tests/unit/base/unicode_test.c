/* Categories, white space and case rings of known characters, and the shape of the tables.
 * SPDX-License-Identifier: MIT */
#include "test.h"

#include "base/unicode.h"

static void known_categories(void **state)
{
    (void)state;
    static const struct {
        uint32_t cp;
        qn_category category;
    } cases[] = {
        {0, QN_CATEGORY_CC},      {'A', QN_CATEGORY_LU},    {'z', QN_CATEGORY_LL},     {'5', QN_CATEGORY_ND},
        {' ', QN_CATEGORY_ZS},    {'_', QN_CATEGORY_PC},    {'$', QN_CATEGORY_SC},     {'+', QN_CATEGORY_SM},
        {0xB2, QN_CATEGORY_NO},   {0x1C5, QN_CATEGORY_LT},  {0x2B0, QN_CATEGORY_LM},   {0x301, QN_CATEGORY_MN},
        {0x378, QN_CATEGORY_CN},  {0x2028, QN_CATEGORY_ZL}, {0x2029, QN_CATEGORY_ZP},  {0x2160, QN_CATEGORY_NL},
        {0x4E00, QN_CATEGORY_LO}, {0x9FFF, QN_CATEGORY_LO}, {0xD800, QN_CATEGORY_CS},  {0xE000, QN_CATEGORY_CO},
        {0xFFFD, QN_CATEGORY_SO}, {0xFFFF, QN_CATEGORY_CN}, {0x1F600, QN_CATEGORY_SO}, {0x10FFFD, QN_CATEGORY_CO},
        {0x10FFFF, QN_CATEGORY_CN}, {0x110000, QN_CATEGORY_CN}, {UINT32_MAX, QN_CATEGORY_CN},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(qn_unicode_category(cases[i].cp), cases[i].category);
    }
}

static void runs_cover_everything_in_order(void **state)
{
    (void)state;
    uint32_t first, last, expected = 0;
    qn_category category, before = QN_CATEGORY_CO;
    size_t i = 0;
    for (; qn_unicode_run(i, &first, &last, &category); i++) {
        assert_int_equal(first, expected);
        assert_true(last >= first);
        assert_true(i == 0 || category != before);
        assert_int_equal(qn_unicode_category(first), category);
        assert_int_equal(qn_unicode_category(last), category);
        expected = last + 1;
        before = category;
    }
    assert_int_equal(expected, QN_UNICODE_END);
    assert_false(qn_unicode_run(i + 1, &first, &last, &category));
}

static void property_names(void **state)
{
    (void)state;
    assert_int_equal(qn_unicode_category_mask(QN_STR("Lu")), 1u << QN_CATEGORY_LU);
    assert_int_equal(qn_unicode_category_mask(QN_STR("N")),
                     1u << QN_CATEGORY_ND | 1u << QN_CATEGORY_NL | 1u << QN_CATEGORY_NO);
    assert_int_equal(qn_unicode_category_mask(QN_STR("Any")), UINT32_MAX);
    assert_int_equal(qn_unicode_category_mask(QN_STR("LC")),
                     1u << QN_CATEGORY_LU | 1u << QN_CATEGORY_LL | 1u << QN_CATEGORY_LT);
    assert_int_equal(qn_unicode_category_mask(QN_STR("")), 0);
    assert_int_equal(qn_unicode_category_mask(QN_STR("X")), 0);
    assert_int_equal(qn_unicode_category_mask(QN_STR("Lux")), 0);
}

static void white_space(void **state)
{
    (void)state;
    static const uint32_t yes[] = {9, 10, 11, 12, 13, ' ', 0x85, 0xA0, 0x1680, 0x2000, 0x200A, 0x2028, 0x2029, 0x202F,
                                   0x205F, 0x3000};
    static const uint32_t no[] = {0, 8, 14, 0x1C, 0x180E, 0x200B, 0x2060, 0xFEFF, 'a', UINT32_MAX};
    for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
        assert_true(qn_unicode_is_space(yes[i]));
    }
    for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++) {
        assert_false(qn_unicode_is_space(no[i]));
    }
}

static void case_rings_close(void **state)
{
    (void)state;
    uint32_t cp, next, before = 0;
    for (size_t i = 0; qn_unicode_case_entry(i, &cp, &next); i++) {
        assert_true(i == 0 || cp > before);
        before = cp;
        assert_int_equal(qn_unicode_next_case(cp), next);
        uint32_t c = next;
        for (int steps = 0; c != cp; steps++) {
            assert_true(steps < 4);
            c = qn_unicode_next_case(c);
        }
    }
    assert_int_equal(qn_unicode_next_case('K'), 'k');
    assert_int_equal(qn_unicode_next_case('k'), 0x212A); /* Kelvin sign */
    assert_int_equal(qn_unicode_next_case(0x212A), 'K');
    assert_int_equal(qn_unicode_next_case('1'), '1');
}

static void decodes(void **state)
{
    (void)state;
    uint32_t cp;
    assert_int_equal(qn_unicode_decode("\xF0\x9F\x98\x80", 4, &cp), 4);
    assert_int_equal(cp, 0x1F600);
    assert_int_equal(qn_unicode_decode("\xE2\x96\x81", 3, &cp), 3);
    assert_int_equal(cp, 0x2581);
    assert_int_equal(qn_unicode_decode("\xE2\x96\x81", 2, &cp), 1);
    assert_int_equal(cp, UINT32_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_categories), cmocka_unit_test(runs_cover_everything_in_order),
        cmocka_unit_test(property_names),   cmocka_unit_test(white_space),
        cmocka_unit_test(case_rings_close), cmocka_unit_test(decodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
