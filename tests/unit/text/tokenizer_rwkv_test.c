/* RWKV: the longest token at each place, spelled bytes, texts that come back.
 * SPDX-License-Identifier: MIT */
#include "small_open.h"

#include "base/random.h"

static void longest_tokens(void **state)
{
    (void)state;
    static small_vocab v;
    qn_small_rwkv(&v);
    small_opened o = qn_small_open(&v);
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"", ""},
        {"hello", "hello"},
        {"hell", "he l l"},
        {"hello w", "hello   w"}, /* greedy: "lo w" is not reached */
        {"lo w", "lo w"},
        {"\n\n\n", "\\n\\n \\n"},
        {"\\n", "\\\\n"},
        {"it's", "it\\'s"},
        {"\u00E9\u4E2D", "\\xc3\\xa9 \u4E2D"},
        {"[PAD]", "[ P A D ]"},
        {"<s>", "< s >"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        qn_small_assert_pieces(o.t, cases[i].text, strlen(cases[i].text), 0, cases[i].expected);
    }
    qn_small_assert_pieces(o.t, "a<s>", 4, QN_TEXT_PARSE_SPECIAL | QN_TEXT_ADD_SPECIAL, "a <s>");
    qn_small_close(o);
}

static void every_text_comes_back(void **state)
{
    (void)state;
    static small_vocab v;
    qn_small_rwkv(&v);
    small_opened o = qn_small_open(&v);
    qn_random r;
    qn_random_seed(&r, 9);
    for (int round = 0; round < 500; round++) {
        char text[200];
        size_t n = qn_random_below(&r, sizeof(text));
        for (size_t i = 0; i < n; i++) {
            text[i] = round % 2 == 0 ? (char)qn_random_u64(&r) : "helo w\n\t\\'\xC3\xA9"[qn_random_below(&r, 12)];
        }
        qn_small_assert_returns(o.t, text, n, 0, text, n);
    }
    qn_small_close(o);
}

/* Spellings that end in the middle of an escape stand for themselves; bytes without a token are left out. */
static void odd_spellings(void **state)
{
    (void)state;
    static small_vocab v;
    v = (small_vocab){.model = "rwkv", .n_kinds = -1};
    static const char *const pieces[] = {"\\", "\\x4", "\\xZZ", "a\\", "\\q", "\\x41"};
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        qn_small_add(&v, pieces[i], QN_TOKEN_NORMAL, 0);
    }
    small_opened o = qn_small_open(&v);
    qn_small_assert_pieces(o.t, "\\x4", 3, 0, "\\x4");
    qn_small_assert_pieces(o.t, "\\xZZ", 4, 0, "\\xZZ");
    qn_small_assert_pieces(o.t, "a\\", 2, 0, "a\\");
    qn_small_assert_pieces(o.t, "qA", 2, 0, "\\q \\x41");
    qn_small_assert_returns(o.t, "\\x4a\\qAb\\", 9, 0, "\\x4a\\qA\\", 8);
    qn_small_close(o);
}

static void memory_fails(void **state)
{
    (void)state;
    static small_vocab v;
    qn_small_rwkv(&v);
    qn_small_fail_memory(&v, "hello", 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(longest_tokens), cmocka_unit_test(every_text_comes_back),
                                       cmocka_unit_test(odd_spellings), cmocka_unit_test(memory_fails)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
