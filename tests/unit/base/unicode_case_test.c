/* Case mappings of known characters: simple, several for one, titles that are not capitals.
 * SPDX-License-Identifier: MIT */
#include "test.h"

#include "base/unicode_case.h"

typedef unsigned map(uint32_t cp, uint32_t out[QN_UNICODE_MAX_CASE]);

static void assert_maps(map *by, uint32_t cp, unsigned n, uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t out[QN_UNICODE_MAX_CASE] = {0}, expected[QN_UNICODE_MAX_CASE] = {a, b, c};
    assert_int_equal(by(cp, out), n);
    assert_memory_equal(out, expected, n * sizeof(*out));
}

static void lower(void **state)
{
    (void)state;
    static const uint32_t pairs[][2] = {
        {'A', 'a'},         {'Z', 'z'},         {'a', 'a'},       {'1', '1'},           {'@', '@'},
        {'[', '['},         {0xC0, 0xE0},       {0xD7, 0xD7},     {0x178, 0xFF},        {0x100, 0x101},
        {0x101, 0x101},     {0x1C4, 0x1C6},     {0x1C5, 0x1C6},   {0x3A3, 0x3C3},       {0x410, 0x430},
        {0x1E9E, 0xDF},     {0x2126, 0x3C9},    {0x212A, 'k'},    {0x10A0, 0x2D00},     {0x1F88, 0x1F80},
        {0x10400, 0x10428}, {0x1E921, 0x1E943}, {0x4E00, 0x4E00}, {0x10FFFF, 0x10FFFF}, {UINT32_MAX, UINT32_MAX},
    };
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        assert_maps(qn_unicode_lower, pairs[i][0], 1, pairs[i][1], 0, 0);
    }
    assert_maps(qn_unicode_lower, 0x130, 2, 'i', 0x307, 0);
}

static void upper(void **state)
{
    (void)state;
    static const uint32_t pairs[][2] = {
        {'a', 'A'},      {'z', 'Z'},       {'A', 'A'},     {'{', '{'},       {0xB5, 0x39C},    {0xFF, 0x178},
        {0x131, 'I'},    {0x17F, 'S'},     {0x1C5, 0x1C4}, {0x3C2, 0x3A3},   {0x10D0, 0x1C90}, {0x10FF, 0x1CBF},
        {0x1C81, 0x414}, {0xAB70, 0x13A0}, {0x345, 0x399}, {0xA64B, 0xA64A}, {0x4E00, 0x4E00}, {UINT32_MAX, UINT32_MAX},
    };
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        assert_maps(qn_unicode_upper, pairs[i][0], 1, pairs[i][1], 0, 0);
    }
    assert_maps(qn_unicode_upper, 0xDF, 2, 'S', 'S', 0);
    assert_maps(qn_unicode_upper, 0x149, 2, 0x2BC, 'N', 0);
    assert_maps(qn_unicode_upper, 0x390, 3, 0x399, 0x308, 0x301);
    assert_maps(qn_unicode_upper, 0xFB03, 3, 'F', 'F', 'I');
    assert_maps(qn_unicode_upper, 0xFB17, 2, 0x544, 0x53D, 0);
    assert_maps(qn_unicode_upper, 0x1F80, 2, 0x1F08, 0x399, 0);
    assert_maps(qn_unicode_upper, 0x1F88, 2, 0x1F08, 0x399, 0);
}

static void title(void **state)
{
    (void)state;
    static const uint32_t pairs[][2] = {
        {'a', 'A'},       {'A', 'A'},       {0x1C4, 0x1C5},   {0x1C5, 0x1C5},   {0x1C6, 0x1C5}, {0x1F2, 0x1F2},
        {0x10D0, 0x10D0}, {0x1F80, 0x1F88}, {0x1F88, 0x1F88}, {0x1FB3, 0x1FBC}, {0x430, 0x410}, {0x3042, 0x3042},
    };
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        assert_maps(qn_unicode_title, pairs[i][0], 1, pairs[i][1], 0, 0);
    }
    assert_maps(qn_unicode_title, 0xDF, 2, 'S', 's', 0);
    assert_maps(qn_unicode_title, 0xFB04, 3, 'F', 'f', 'l');
    assert_maps(qn_unicode_title, 0x149, 2, 0x2BC, 'N', 0);
    assert_maps(qn_unicode_title, 0x1FB6, 2, 0x391, 0x342, 0);
}

static void properties(void **state)
{
    (void)state;
    static const uint32_t cased[] = {'A', 'z', 0xAA, 0xDF, 0x1C5, 0x2B0, 0x345, 0x2160, 0x24D0, 0x1D400, 0x1F189};
    static const uint32_t not_cased[] = {0, '1', ' ', '\'', 0x300, 0x5D0, 0x4E00, 0x10FFFF, UINT32_MAX};
    static const uint32_t ignorable[] = {'\'', '.', ':', '^', 0xAD, 0x2B0, 0x300, 0x345, 0x2019, 0x200D, 0xE01EF};
    static const uint32_t not_ignorable[] = {0, 'a', ' ', '!', ',', 0x4E00, 0xE01F0, UINT32_MAX};
    for (size_t i = 0; i < sizeof(cased) / sizeof(cased[0]); i++) {
        assert_true(qn_unicode_is_cased(cased[i]));
    }
    for (size_t i = 0; i < sizeof(not_cased) / sizeof(not_cased[0]); i++) {
        assert_false(qn_unicode_is_cased(not_cased[i]));
    }
    for (size_t i = 0; i < sizeof(ignorable) / sizeof(ignorable[0]); i++) {
        assert_true(qn_unicode_is_case_ignorable(ignorable[i]));
    }
    for (size_t i = 0; i < sizeof(not_ignorable) / sizeof(not_ignorable[0]); i++) {
        assert_false(qn_unicode_is_case_ignorable(not_ignorable[i]));
    }
}

/* No mapping leads anywhere but to code points, and none is longer than three. */
static void every_code_point_maps_to_some(void **state)
{
    (void)state;
    map *const maps[] = {qn_unicode_lower, qn_unicode_upper, qn_unicode_title};
    for (uint32_t cp = 0; cp < QN_UNICODE_END; cp++) {
        for (size_t k = 0; k < 3; k++) {
            uint32_t out[QN_UNICODE_MAX_CASE];
            unsigned n = maps[k](cp, out);
            assert_in_range(n, 1, QN_UNICODE_MAX_CASE);
            for (unsigned i = 0; i < n; i++) {
                assert_true(out[i] < QN_UNICODE_END && (out[i] != 0 || cp == 0));
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lower),
        cmocka_unit_test(upper),
        cmocka_unit_test(title),
        cmocka_unit_test(properties),
        cmocka_unit_test(every_code_point_maps_to_some),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
