/* BPE over characters: merges in the order of their list, spaces, bytes, what converters call tokens, texts that come
 * back.
 * SPDX-License-Identifier: MIT */
#include "small_gemma.h"
#include "small_open.h"

#include "base/random.h"

#define FIRST_WORD (3 + 256)

static void merges_in_order(void **state)
{
    (void)state;
    static small_vocab v;
    qn_small_gemma(&v);
    small_opened o = qn_small_open(&v);
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"", ""},
        {"hello", "hello"},
        {" hello", "\u2581hello"},
        {"hello hello", "hello \u2581hello"},
        {"  hello", "\u2581\u2581 hello"}, /* two spaces come before "\u2581 he" in the list */
        {"hell", "he ll"},
        {"abc", "a bc"}, /* "b c" is before "a b" */
        {"abbc", "abbc"},
        {"bbc", "b bc"},
        {"\n\n\nab", "\n\n \n ab"},
        {"\u00E9x\u4E2D", "\u00E9 <0x78> <0xE4> <0xB8> <0xAD>"},
        {"\u2581a", "<0xE2> <0x96> <0x81> a"}, /* not a space */
        {"\xE2\x96", "<0xE2> <0x96>"},
        {"a\xFF"
         "b",
         "a <0xFF> b"},
        {"<tool>a", "<tool> a"},
        {"<s>", "<0x3C> <0x73> <0x3E>"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        qn_small_assert_pieces(o.t, cases[i].text, strlen(cases[i].text), 0, cases[i].expected);
    }
    qn_small_assert_pieces(o.t, "<s> a", 5, QN_TEXT_PARSE_SPECIAL, "<s> \u2581 a");
    qn_small_close(o);
}

static void every_text_comes_back(void **state)
{
    (void)state;
    static small_vocab v;
    qn_small_gemma(&v);
    small_opened o = qn_small_open(&v);
    qn_random r;
    qn_random_seed(&r, 4);
    for (int round = 0; round < 500; round++) {
        static const char often[] = "  helo\n\xE2\x96\x81"
                                    "abc";
        char text[400];
        size_t n = qn_random_below(&r, sizeof(text));
        for (size_t i = 0; i < n; i++) {
            text[i] = round % 2 == 0 ? (char)qn_random_u64(&r) : often[qn_random_below(&r, sizeof(often) - 1)];
        }
        qn_small_assert_returns(o.t, text, n, 0, text, n);
    }
    qn_small_close(o);
}

/* Some converters call bytes ordinary tokens and runs of spaces user-defined ones, and the model "gpt2". */
static void converters_differ(void **state)
{
    (void)state;
    static small_vocab v;
    qn_small_gemma(&v);
    v.model = "gpt2";
    v.pre = "gemma4";
    for (int byte = 0; byte < 256; byte++) {
        v.kinds[3 + byte] = QN_TOKEN_NORMAL;
    }
    v.kinds[FIRST_WORD + 11] = QN_TOKEN_USER; /* two spaces */
    small_opened o = qn_small_open(&v);
    qn_small_assert_pieces(o.t, "  hello", 7, 0, "\u2581\u2581 hello");
    qn_small_assert_pieces(o.t, "x  <0x41>", 9, 0, "<0x78> \u2581\u2581 <0x3C> <0x30> <0x78> <0x34> <0x31> <0x3E>");
    qn_small_assert_returns(o.t, "  x\n", 4, 0, "  x\n", 4);
    qn_small_close(o);
}

static void lists_of_merges(void **state)
{
    (void)state;
    static small_vocab v;
    qn_small_gemma(&v);
    v.n_merges = 0;
    qn_small_refuse(&v, QN_EFORMAT, "tokenizer.ggml.merges");
    static const char *const odd[] = {"", " ", "a", "a b c", "q r", "h e", "h e", "<s> a", "ll o", "l l"};
    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
        v.merges[v.n_merges++] = qn_str_of(odd[i]);
    }
    small_opened o = qn_small_open(&v);
    qn_small_assert_pieces(o.t, "hello", 5, 0, "he llo");
    qn_small_close(o);
}

static void memory_may_fail(void **state)
{
    (void)state;
    static small_vocab v;
    qn_small_gemma(&v);
    char text[300];
    memset(text, 'l', sizeof(text) - 1); /* longer than a window */
    text[sizeof(text) - 1] = '\0';
    qn_small_fail_memory(&v, text, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merges_in_order), cmocka_unit_test(every_text_comes_back), cmocka_unit_test(converters_differ),
        cmocka_unit_test(lists_of_merges), cmocka_unit_test(memory_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
