/* PLaMo 2: the best sum of scores, ties, bytes, texts that come back, files that lie.
 * SPDX-License-Identifier: MIT */
#include "small_open.h"

#include "base/random.h"

#include <math.h>

static void best_ways(void **state)
{
    (void)state;
    static small_vocab v;
    qn_small_plamo(&v);
    small_opened o = qn_small_open(&v);
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"", ""},
        {"ab", "ab"},
        {"abc", "a bc"}, /* -4 - 4 against -9 and -6 - 5 */
        {"aba", "ab a"},
        {"bab", "b ab"}, /* -4.5 - 6 against -8.5 - 4.5 */
        {"ba", "ba"},    /* -8.5 either way: the longer one */
        {"hello hell", "hello   <0x68> <0x65> <0x6C> <0x6C>"},
        {"\u00E9\u00E8", "\u00E9 <0xC3> <0xA8>"},
        {"a\u4E2D", "a <0xE4> <0xB8> <0xAD>"},
        {"\uFEFF"
         "a",
         "a"},
        {"a\uFEFF", "a <0xEF> <0xBB> <0xBF>"},
        {"<|plamo:bos|>a", "<0x3C> <0x7C> <0x70> <0x6C> a <0x6D> <0x6F> <0x3A> b <0x6F> <0x73> <0x7C> <0x3E> a"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        qn_small_assert_pieces(o.t, cases[i].text, strlen(cases[i].text), 0, cases[i].expected);
    }
    qn_small_assert_pieces(o.t, "<|plamo:bos|>a", 14, QN_TEXT_PARSE_SPECIAL, "<|plamo:bos|> a");
    qn_small_close(o);
}

/* Every way, by brute force, in the units of the reference. */
static int64_t least_cost(const small_vocab *v, const char *s)
{
    if (*s == '\0') {
        return 0;
    }
    int64_t best = least_cost(v, s + 1) + 10000000;
    for (uint32_t id = 3 + 256; id < v->n; id++) {
        size_t len = v->tokens[id].len;
        if (strncmp(s, v->tokens[id].data, len) == 0) {
            int64_t cost = least_cost(v, s + len) - (int64_t)lround((double)v->scores[id] * 1e4);
            best = cost < best ? cost : best;
        }
    }
    return best;
}

static void no_way_is_better(void **state)
{
    (void)state;
    static small_vocab v;
    qn_small_plamo(&v);
    small_opened o = qn_small_open(&v);
    qn_random r;
    qn_random_seed(&r, 21);
    for (int round = 0; round < 2000; round++) {
        char text[12];
        size_t n = 1 + qn_random_below(&r, 10), n_ids;
        for (size_t i = 0; i < n; i++) {
            text[i] = "abc hx"[qn_random_below(&r, 6)];
        }
        text[n] = '\0';
        int32_t ids[16];
        assert_int_equal(qn_tokenizer_encode(o.t, text, n, 0, ids, 16, &n_ids, NULL), QN_OK);
        int64_t cost = 0;
        for (size_t i = 0; i < n_ids; i++) {
            bool is_byte = v.kinds[ids[i]] == QN_TOKEN_BYTE;
            cost += is_byte ? 10000000 : -(int64_t)lround((double)v.scores[ids[i]] * 1e4);
        }
        assert_int_equal(cost, least_cost(&v, text));
        qn_small_assert_returns(o.t, text, n, 0, text, n);
    }
    qn_small_close(o);
}

static void bytes_come_back(void **state)
{
    (void)state;
    static small_vocab v;
    qn_small_plamo(&v);
    small_opened o = qn_small_open(&v);
    qn_random r;
    qn_random_seed(&r, 22);
    for (int round = 0; round < 300; round++) {
        char text[200];
        size_t n = qn_random_below(&r, sizeof(text));
        for (size_t i = 0; i < n; i++) {
            text[i] = round % 2 == 0 ? (char)qn_random_u64(&r) : "abc hello\xC3\xA9\xE4"[qn_random_below(&r, 12)];
        }
        qn_small_assert_returns(o.t, text, n, 0, text, n);
    }
    qn_small_close(o);
}

static void lies(void **state)
{
    (void)state;
    static small_vocab v;
    qn_small_plamo(&v);
    v.n_scores = 5;
    qn_small_refuse(&v, QN_EFORMAT, "tokenizer.ggml.scores");
    qn_small_plamo(&v);
    v.scores[260] = (float)NAN;
    qn_small_refuse(&v, QN_EFORMAT, "tokenizer.ggml.scores");
    qn_small_plamo(&v);
    v.kinds[3 + 0x41] = QN_TOKEN_NORMAL;
    qn_small_refuse(&v, QN_EFORMAT, "0x41");
    qn_small_plamo(&v);
    v.scores[v.n - 10] = 1e30f; /* "a": no score of the reference's range, so it is never taken */
    v.scores[v.n - 9] = -2000.0f;
    small_opened o = qn_small_open(&v);
    qn_small_assert_pieces(o.t, "ab", 2, 0, "ab");
    qn_small_assert_pieces(o.t, "b", 1, 0, "<0x62>");
    qn_small_close(o);
}

static void memory_fails(void **state)
{
    (void)state;
    static small_vocab v;
    qn_small_plamo(&v);
    qn_small_fail_memory(&v, "hello \u4E2D", 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(best_ways), cmocka_unit_test(no_way_is_better),
                                       cmocka_unit_test(bytes_come_back), cmocka_unit_test(lies),
                                       cmocka_unit_test(memory_fails)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
