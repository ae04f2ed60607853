/* WordPiece: words, longest pieces, the unknown token, what normalisation does, special tokens, what comes back.
 * SPDX-License-Identifier: MIT */
#include "small_open.h"

static void assert_pieces(const qn_tokenizer *t, const char *text, const char *expected)
{
    qn_small_assert_pieces(t, text, strlen(text), 0, expected);
}

static void words_and_pieces(void **state)
{
    (void)state;
    static small_vocab v;
    qn_small_wpm(&v);
    small_opened o = qn_small_open(&v);
    assert_pieces(o.t, "", "");
    assert_pieces(o.t, " \t\n ", "");
    assert_pieces(o.t, "hello", "\u2581hello");
    assert_pieces(o.t, "hellos", "\u2581hello s");
    assert_pieces(o.t, "helo", "\u2581he lo");
    assert_pieces(o.t, "heo", "[UNK]"); /* no piece for the o: what came before is taken back */
    assert_pieces(o.t, "hello heo hello", "\u2581hello [UNK] \u2581hello");
    assert_pieces(o.t, "ab  ba", "\u2581a b \u2581b a");
    assert_pieces(o.t, "a,b.", "\u2581a \u2581, \u2581b \u2581.");
    assert_pieces(o.t, "lo", "[UNK]"); /* no word begins with it */
    assert_pieces(o.t, "\u4E2Da\u6587\u6587", "\u2581\u4E2D \u2581a \u2581\u6587 \u2581\u6587");
    assert_pieces(o.t, "a\u3000b\u00A0a", "\u2581a \u2581b \u2581a");
    qn_small_close(o);
}

/* A piece that begins a word is not one that goes on, though the file spells it with a mark that a text may hold. */
static void marks_in_the_text(void **state)
{
    (void)state;
    static small_vocab v;
    qn_small_wpm(&v);
    small_opened o = qn_small_open(&v);
    assert_pieces(o.t, "\u2581hello", "[UNK]");
    assert_pieces(o.t, "a\u2581hello", "[UNK]");
    qn_small_close(o);
    qn_small_add(&v, "\u2581", QN_TOKEN_NORMAL, 0);
    o = qn_small_open(&v);
    assert_pieces(o.t, "\u2581", "[UNK]");
    assert_pieces(o.t, "a\u2581b", "\u2581a \u2581 b");
    qn_small_close(o);
}

static void normalization(void **state)
{
    (void)state;
    static small_vocab v;
    qn_small_wpm(&v);
    small_opened o = qn_small_open(&v);
    assert_pieces(o.t, "HELLO", "\u2581hello");
    assert_pieces(o.t, "caf\u00E9", "\u2581cafe");
    assert_pieces(o.t, "Cafe\u0301", "\u2581cafe");
    assert_pieces(o.t, "\u00DF \u1E9E", "\u2581\u00DF \u2581\u00DF");
    assert_pieces(o.t, "\u03A3", "\u2581\u03C3");
    assert_pieces(o.t, "he\u200Dl\x01lo\uFFFD \uE000", "\u2581hello");
    qn_small_assert_pieces(o.t, "he\xFFl\xCClo\0a\xE4\xB8", 12, 0, "\u2581hello a");
    assert_pieces(o.t, "\uF9D8", "[UNK]"); /* a Chinese character that is another one when decomposed */
    qn_small_close(o);
}

static void cased_keys(qn_gguf_writer *w, void *ctx)
{
    qn_small_wpm_keys(w, NULL);
    const bool *flags = ctx;
    qn_gguf_set_bool(w, "tokenizer.ggml.normalizer.lowercase", flags[0]);
    if (flags[1]) {
        qn_gguf_set_bool(w, "tokenizer.ggml.normalizer.strip_accents", flags[2]);
    }
}

static void cased(void **state)
{
    (void)state;
    static const struct {
        bool flags[3];
        const char *expected;
    } cases[] = {{{false, false, false}, "\u2581Hello \u2581caf\u00E9 \u2581caf\u00E9"},
                 {{false, true, true}, "\u2581Hello \u2581cafe \u2581cafe"},
                 {{true, true, false}, "\u2581hello \u2581caf\u00E9 [UNK]"}};
    for (size_t i = 0; i < 3; i++) {
        static small_vocab v;
        qn_small_wpm(&v);
        v.edit = cased_keys;
        bool flags[3];
        memcpy(flags, cases[i].flags, sizeof(flags));
        v.ctx = flags;
        small_opened o = qn_small_open(&v);
        if (i == 0) {
            assert_pieces(o.t, "Hello caf\u00E9 caf\u00E9", cases[i].expected);
        } else {
            assert_pieces(o.t, "Hello caf\u00E9 cafe\u0301", cases[i].expected);
        }
        qn_small_close(o);
    }
}

static void over_long_words(void **state)
{
    (void)state;
    static small_vocab v;
    qn_small_wpm(&v);
    small_opened o = qn_small_open(&v);
    char text[8192];
    int32_t ids[128];
    size_t n_ids;
    for (size_t n = 99; n <= 2000; n += n < 102 ? 1 : 379) {
        memset(text, 'a', n);
        assert_int_equal(qn_tokenizer_encode(o.t, text, n, 0, ids, 128, &n_ids, NULL), QN_OK);
        assert_int_equal(n_ids, n > 100 ? 1 : n);
        assert_int_equal(ids[0] == 1, n > 100);
    }
    for (size_t i = 0; i < 101; i++) { /* accents do not count once they are off */
        memcpy(text + 3 * i, "a\u0301", 3);
    }
    assert_int_equal(qn_tokenizer_encode(o.t, text, 300, 0, ids, 128, &n_ids, NULL), QN_OK);
    assert_int_equal(n_ids, 100);
    assert_int_equal(qn_tokenizer_encode(o.t, text, 303, 0, ids, 128, &n_ids, NULL), QN_OK);
    assert_int_equal(n_ids, 1);
    qn_small_close(o);
}

static void special_tokens(void **state)
{
    (void)state;
    static small_vocab v;
    qn_small_wpm(&v);
    small_opened o = qn_small_open(&v);
    assert_int_equal(qn_tokenizer_bos(o.t), 2);
    assert_int_equal(qn_tokenizer_eos(o.t), 3);
    qn_small_assert_pieces(o.t, "hello", 5, QN_TEXT_ADD_SPECIAL, "[CLS] \u2581hello [SEP]");
    qn_small_assert_pieces(o.t, "", 0, QN_TEXT_ADD_SPECIAL, "[CLS] [SEP]");
    qn_small_assert_pieces(o.t, "he[MASK]a", 9, QN_TEXT_PARSE_SPECIAL, "\u2581he [MASK] \u2581a");
    assert_pieces(o.t, "[", "\u2581[");
    qn_small_close(o);
    v.edit = NULL; /* the ids of the first such model are the default, but these tokens are not special here */
    o = qn_small_open(&v);
    assert_int_equal(qn_tokenizer_bos(o.t), -1);
    assert_pieces(o.t, "heo", "");
    qn_small_close(o);
}

/* Words, with a space between them; the text itself is not kept. */
static void what_comes_back(void **state)
{
    (void)state;
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"hello", "hello"}, {"  Hellos,\n\nCAF\u00C9", "hellos , cafe"}, {"a [MASK] b", "a[MASK]b"}, {"heo", "[UNK]"}};
    static small_vocab v;
    qn_small_wpm(&v);
    small_opened o = qn_small_open(&v);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        qn_small_assert_returns(o.t, cases[i].text, strlen(cases[i].text), QN_TEXT_PARSE_SPECIAL, cases[i].expected,
                                strlen(cases[i].expected));
    }
    qn_small_assert_returns(o.t, "heo a", 5, 0, "a", 1);
    qn_small_close(o);
}

static void bad_keys(qn_gguf_writer *w, void *ctx)
{
    qn_gguf_set_str(w, ctx, QN_STR("yes"));
}

static void lies(void **state)
{
    (void)state;
    static char keys[][48] = {"tokenizer.ggml.normalizer.lowercase", "tokenizer.ggml.normalizer.strip_accents",
                              "tokenizer.ggml.cls_token_id", "tokenizer.ggml.seperator_token_id"};
    for (size_t i = 0; i < 4; i++) {
        static small_vocab v;
        qn_small_wpm(&v);
        v.edit = bad_keys;
        v.ctx = keys[i];
        qn_small_refuse(&v, QN_EFORMAT, keys[i]);
    }
}

static void memory_fails(void **state)
{
    (void)state;
    static small_vocab v;
    qn_small_wpm(&v);
    qn_small_fail_memory(&v, "hello caf\u00E9", 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_and_pieces), cmocka_unit_test(marks_in_the_text),
        cmocka_unit_test(normalization),    cmocka_unit_test(cased),
        cmocka_unit_test(over_long_words),  cmocka_unit_test(special_tokens),
        cmocka_unit_test(what_comes_back),  cmocka_unit_test(lies),
        cmocka_unit_test(memory_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
