/* Unigram: the best way through the pieces, unknown characters, spaces, symbols, special tokens, what comes back.
 * SPDX-License-Identifier: MIT */
#include "small_open.h"

#include "base/random.h"
#include "small_charsmap.h"

typedef struct options { /* keys; -1: none */
    int prefix, squeezes;
    const small_charsmap *map;
} options;

static void write_options(qn_gguf_writer *w, void *ctx)
{
    const options *o = ctx;
    if (o->prefix >= 0) {
        qn_gguf_set_bool(w, "tokenizer.ggml.add_space_prefix", o->prefix != 0);
    }
    if (o->squeezes >= 0) {
        qn_gguf_set_bool(w, "tokenizer.ggml.remove_extra_whitespaces", o->squeezes != 0);
    }
    if (o->map != NULL) {
        qn_gguf_set_array(w, "tokenizer.ggml.precompiled_charsmap", QN_GGUF_U8, o->map->bytes, o->map->n);
    }
}

static small_opened open_with(options *how, bool with_bytes)
{
    static small_vocab v;
    qn_small_unigram(&v, with_bytes);
    v.edit = write_options;
    v.ctx = how;
    return qn_small_open(&v);
}

static void assert_pieces(const qn_tokenizer *t, const char *text, const char *expected)
{
    qn_small_assert_pieces(t, text, strlen(text), 0, expected);
}

static void best_way(void **state)
{
    (void)state;
    small_opened o = open_with(&(options){0, 0, NULL}, false);
    assert_pieces(o.t, "", "");
    assert_pieces(o.t, "a", "a");
    assert_pieces(o.t, "ab", "ab");   /* -6 against -4 - 4.5 */
    assert_pieces(o.t, "abc", "abc"); /* -9 against -4 - 5.25 and -6 - 5 */
    assert_pieces(o.t, "bcab", "bc ab");
    assert_pieces(o.t, " hello", "\u2581hello");
    assert_pieces(o.t, "hello", "he llo");
    assert_pieces(o.t, "\u4E2D\u6587\u4E2D", "\u4E2D\u6587 \u4E2D");
    qn_small_close(o);
}

static void unknown_characters(void **state)
{
    (void)state;
    small_opened o = open_with(&(options){0, 0, NULL}, false);
    assert_pieces(o.t, "a\u6587x", "a <unk>"); /* neighbours are one */
    assert_pieces(o.t, "xaxxa", "<unk> a <unk> a");
    assert_pieces(o.t, "\u6587 \u6587", "<unk> \u2581 <unk>");
    qn_small_assert_pieces(o.t,
                           "\xFF\xE4"
                           "a\0",
                           4, 0, "<unk> a <unk>");
    qn_small_close(o);
    o = open_with(&(options){0, 0, NULL}, true);
    assert_pieces(o.t, "a\u6587", "a <0xE6> <0x96> <0x87>");
    qn_small_assert_pieces(o.t,
                           "\xFF"
                           "a",
                           2, 0, "<0xEF> <0xBF> <0xBD> a"); /* a byte that is no UTF-8 is U+FFFD */
    qn_small_close(o);
}

static void spaces(void **state)
{
    (void)state;
    static const struct {
        options how;
        const char *text, *expected;
    } cases[] = {
        {{-1, -1, NULL}, "hello", "\u2581hello"},
        {{-1, -1, NULL}, "  a  b ", "\u2581 \u2581 \u2581 a \u2581 \u2581 b \u2581"},
        {{1, 1, NULL}, "  a  b ", "\u2581 a \u2581 b"},
        {{0, 1, NULL}, "  a  b ", "a \u2581 b"},
        {{1, 1, NULL}, "   ", ""},
        {{1, 0, NULL}, "   ", "\u2581 \u2581 \u2581 \u2581"},
        {{0, 0, NULL}, "  ", "\u2581 \u2581"},
        {{0, 0, NULL}, "a\u2581b", "a \u2581 b"},
        {{1, 1, NULL}, "a \u2581 ", "\u2581 a"},
        {{1, 1, NULL}, " a <tool> b ", "\u2581 a \u2581 <tool> \u2581 b"},
        {{1, 1, NULL}, "<tool> a<tool>  ", "<tool> \u2581 a <tool>"},
        {{1, 0, NULL}, "<tool>a", "<tool> a"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        options how = cases[i].how;
        small_opened o = open_with(&how, false);
        assert_pieces(o.t, cases[i].text, cases[i].expected);
        qn_small_close(o);
    }
}

static void mapped_characters(void **state)
{
    (void)state;
    static const small_rule rules[] = {{"\x01", ""}, {"\t", " "},           {"A", "a"},      {"B", "b"},
                                       {"BB", "c"},  {"e\u0301", "\u00E9"}, {"\u3000", " "}, {"\uFB00", "a b"}};
    static small_charsmap map;
    qn_small_charsmap(&map, rules, sizeof(rules) / sizeof(rules[0]));
    small_opened o = open_with(&(options){1, 1, &map}, false);
    assert_pieces(o.t, "ABBB", "\u2581 a c b"); /* the longest sequence counts */
    assert_pieces(o.t,
                  "a\x01"
                  "b",
                  "\u2581 ab");
    assert_pieces(o.t, "\x01", "");
    assert_pieces(o.t, "\t\u3000a\tb\u3000\t", "\u2581 a \u2581 b");
    assert_pieces(o.t, "e\u0301", "\u2581 \u00E9");
    assert_pieces(o.t, "\uFB00\u3000", "\u2581 a \u2581 b");
    qn_small_close(o);
}

static void special_tokens(void **state)
{
    (void)state;
    small_opened o = open_with(&(options){1, 1, NULL}, false);
    assert_int_equal(qn_tokenizer_bos(o.t), -1);
    assert_int_equal(qn_tokenizer_eos(o.t), 1);
    qn_small_assert_pieces(o.t, "a", 1, QN_TEXT_ADD_SPECIAL, "\u2581 a </s>");
    qn_small_assert_pieces(o.t, " a </s> b ", 10, QN_TEXT_PARSE_SPECIAL, "\u2581 a </s> \u2581 b");
    qn_small_close(o);
}

static void what_comes_back(void **state)
{
    (void)state;
    static const struct {
        options how;
        const char *text, *expected;
    } cases[] = {{{1, 1, NULL}, "  a  b", "a b"},
                 {{1, 0, NULL}, "  a  b ", "  a  b "},
                 {{0, 0, NULL}, " hello", " hello"},
                 {{1, 1, NULL}, "a \u6587", "a "}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        options how = cases[i].how;
        small_opened o = open_with(&how, false);
        qn_small_assert_returns(o.t, cases[i].text, strlen(cases[i].text), 0, cases[i].expected,
                                strlen(cases[i].expected));
        qn_small_close(o);
    }
}

/* Every way to cut a short text, by brute force: none has a better sum. */
static float best_sum(const small_vocab *v, const char *s)
{
    if (*s == '\0') {
        return 0;
    }
    float best = best_sum(v, s + 1) - 19.0f; /* an unknown character: 10 less than the worst piece, -9 */
    for (uint32_t id = 3; id < v->n; id++) {
        size_t len = v->tokens[id].len;
        if (strncmp(s, v->tokens[id].data, len) == 0 && v->kinds[id] == QN_TOKEN_NORMAL) {
            float sum = best_sum(v, s + len) + v->scores[id];
            best = sum > best ? sum : best;
        }
    }
    return best;
}

static void no_way_is_better(void **state)
{
    (void)state;
    static small_vocab v;
    qn_small_unigram(&v, false);
    small_opened o = open_with(&(options){0, 0, NULL}, false);
    qn_random r;
    qn_random_seed(&r, 3);
    for (int round = 0; round < 2000; round++) {
        char text[12];
        size_t n = 1 + qn_random_below(&r, 10), n_ids;
        for (size_t i = 0; i < n; i++) {
            text[i] = "abchelo"[qn_random_below(&r, 7)];
        }
        text[n] = '\0';
        int32_t ids[16];
        assert_int_equal(qn_tokenizer_encode(o.t, text, n, 0, ids, 16, &n_ids, NULL), QN_OK);
        float sum = 0;
        for (size_t i = 0; i < n_ids; i++) {
            sum += ids[i] == 2 ? 0 : v.scores[ids[i]];
        }
        size_t n_known = 0;
        for (size_t i = 0; i < n_ids; i++) {
            n_known += ids[i] == 2 ? 0 : v.tokens[ids[i]].len;
        }
        assert_float_equal(sum - 19.0f * (float)(n - n_known), best_sum(&v, text), 1e-3f);
    }
    qn_small_close(o);
}

static void lies(void **state)
{
    (void)state;
    static small_vocab v;
    static const float bad[] = {0.0f / 0.0f, 1.0f / 0.0f, -1.0f / 0.0f};
    for (size_t i = 0; i < 3; i++) {
        qn_small_unigram(&v, false);
        v.scores[4] = bad[i];
        qn_small_refuse(&v, QN_EFORMAT, "tokenizer.ggml.scores");
    }
    qn_small_unigram(&v, false);
    v.n_scores = 3;
    qn_small_refuse(&v, QN_EFORMAT, "tokenizer.ggml.scores");
    v.n_scores = 0;
    qn_small_refuse(&v, QN_EFORMAT, "tokenizer.ggml.scores");
}

static void memory_fails(void **state)
{
    (void)state;
    static const small_rule rules[] = {{"A", "a"}};
    static small_charsmap map;
    static small_vocab v;
    qn_small_charsmap(&map, rules, 1);
    options how = {1, 1, &map};
    qn_small_unigram(&v, true);
    v.edit = write_options;
    v.ctx = &how;
    qn_small_fail_memory(&v, "hello abc \u4E2D\u6587 \u6587", 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(best_way),         cmocka_unit_test(unknown_characters),
        cmocka_unit_test(spaces),           cmocka_unit_test(mapped_characters),
        cmocka_unit_test(special_tokens),   cmocka_unit_test(what_comes_back),
        cmocka_unit_test(no_way_is_better), cmocka_unit_test(lies),
        cmocka_unit_test(memory_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
