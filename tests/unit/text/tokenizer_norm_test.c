/* Vocabularies whose texts are brought into NFC: which kinds they are, and what that does to ids, special tokens and
 * what comes back.
 * SPDX-License-Identifier: MIT */
#include "small_open.h"

typedef struct opened {
    uint8_t *bytes;
    qn_gguf *g;
    qn_tokenizer *t;
} opened;

static opened open_kind(const char *pre)
{
    static small_vocab v;
    opened o = {0};
    size_t n;
    qn_small_bpe(&v);
    v.pre = pre;
    qn_small_add(&v, "\u00C3\u00A9", QN_TOKEN_NORMAL, 0); /* the two bytes of U+00E9 */
    v.merges[v.n_merges++] = QN_STR("\u00C3 \u00A9");
    o.bytes = qn_small_write(&v, &n);
    assert_int_equal(qn_gguf_open_memory(o.bytes, n, NULL, &o.g, NULL), QN_OK);
    assert_int_equal(qn_tokenizer_open(o.g, NULL, &o.t, NULL), QN_OK);
    return o;
}

static void close_kind(opened o)
{
    qn_tokenizer_close(o.t);
    qn_gguf_close(o.g);
    qn_free(o.bytes);
}

/* Asserts what comes back and returns the number of ids. */
static size_t assert_returns(const qn_tokenizer *t, const char *text, const char *expected)
{
    int32_t ids[64];
    size_t n_ids;
    assert_int_equal(qn_tokenizer_encode(t, text, strlen(text), QN_TEXT_PARSE_SPECIAL, ids, 64, &n_ids, NULL), QN_OK);
    qn_buf out;
    qn_buf_init(&out, NULL, "test", 1 << 16);
    assert_int_equal(qn_tokenizer_decode(t, ids, n_ids, QN_TEXT_PARSE_SPECIAL, &out, NULL), QN_OK);
    assert_int_equal(out.len, strlen(expected));
    assert_memory_equal(out.data, expected, out.len);
    qn_buf_free(&out);
    return n_ids;
}

static void some_kinds_want_nfc(void **state)
{
    (void)state;
    static const char *const yes[] = {"qwen2", "mpt", "command-r"};
    static const char *const no[] = {"gpt-2", "llama-bpe", "deepseek-coder", "default"};
    for (size_t i = 0; i < 3; i++) {
        opened o = open_kind(yes[i]);
        assert_true(o.t->is_nfc);
        assert_int_equal(assert_returns(o.t, "e\u0301", "\u00E9"), 1);
        assert_int_equal(assert_returns(o.t, "\u00E9", "\u00E9"), 1);
        close_kind(o);
    }
    for (size_t i = 0; i < 4; i++) {
        opened o = open_kind(no[i]);
        assert_false(o.t->is_nfc);
        assert_int_equal(assert_returns(o.t, "e\u0301", "e\u0301"), 3);
        close_kind(o);
    }
    assert_false(qn_pre_kind_is_nfc(QN_STR("")));
    assert_false(qn_pre_kind_is_nfc(QN_STR(" ")));
    assert_false(qn_pre_kind_is_nfc(QN_STR("qwen2 qwen35")));
}

/* They are found in the text as it is, and what is between them is normalised by itself. */
static void special_tokens_come_first(void **state)
{
    (void)state;
    opened o = open_kind("qwen2");
    int32_t ids[8];
    size_t n_ids;
    static const char text[] = "<|end|>\u0338e\u0301"; /* U+0338 would make one character of the > before it */
    assert_int_equal(qn_tokenizer_encode(o.t, text, sizeof(text) - 1, QN_TEXT_PARSE_SPECIAL, ids, 8, &n_ids, NULL),
                     QN_OK);
    assert_int_equal(n_ids, 4);
    assert_int_equal(ids[0], 0);
    assert_returns(o.t, text, "<|end|>\u0338\u00E9");
    assert_returns(o.t, "a\u0323\u0307 <tool> e\u0301\u1112\u1161 \xFF\u0301",
                   "\u1EA1\u0307 <tool> \u00E9\uD558 \xFF\u0301");
    close_kind(o);
}

static void write_flags(qn_gguf_writer *w, void *ctx)
{
    const int *flags = ctx; /* of small letters and accents; -1: no key */
    if (flags[0] >= 0) {
        qn_gguf_set_bool(w, "tokenizer.ggml.normalizer.lowercase", flags[0] != 0);
    }
    if (flags[1] >= 0) {
        qn_gguf_set_bool(w, "tokenizer.ggml.normalizer.strip_accents", flags[1] != 0);
    }
}

static void memory_fails(void **state)
{
    (void)state;
    opened o = open_kind("qwen2");
    static const char text[] = "e\u0301 a\u0323\u0307 text";
    int32_t ids[64];
    size_t n_ids;
    qn_status s = QN_ENOMEM;
    uint64_t live = qn_alloc_live(), failed = 0;
    for (; s == QN_ENOMEM; failed++) {
        qn_alloc_fail_at(failed + 1);
        s = qn_tokenizer_encode(o.t, text, sizeof(text) - 1, 0, ids, 64, &n_ids, NULL);
        qn_alloc_fail_at(0);
        assert_int_equal(qn_alloc_live(), live);
    }
    assert_int_equal(s, QN_OK);
    assert_true(failed > 2);
    close_kind(o);

    static small_vocab v;
    int flags[2] = {1, 1};
    qn_small_bpe(&v);
    v.pre = "qwen2";
    v.edit = write_flags;
    v.ctx = flags;
    qn_small_fail_memory(&v, "CAF\u00C9 \u1112\u1161", 10);
}

/* What the file says counts for any algorithm that has no rule of its own. */
static void letters_and_accents(void **state)
{
    (void)state;
    static const struct {
        int flags[2];
        const char *pre, *text, *expected;
    } cases[] = {
        {{-1, -1}, "gpt-2", "Hello CAF\u00C9", "Hello CAF\u00C9"},
        {{0, 0}, "gpt-2", "Hello CAF\u00C9", "Hello CAF\u00C9"},
        {{1, -1}, "gpt-2", "Hello CAFE\u0301 \u0130\xFF", "hello cafe\u0301 i\u0307\xFF"},
        {{1, -1}, "qwen2", "Hello CAFE\u0301", "hello caf\u00E9"},
        {{0, 1}, "qwen2", "Hello CAF\u00C9 E\u0301\u1112\u1161", "Hello CAFE E\uD558"},
        {{1, 1}, "gpt-2", "Hello CAF\u00C9", "hello cafe"},
        {{1, 1}, "gpt-2", "\u0301", ""},
        {{1, -1}, "gpt-2", "A<|end|>B<tool>C<TOOL>", "a<|end|>b<tool>c<tool>"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        static small_vocab v;
        int flags[2] = {cases[i].flags[0], cases[i].flags[1]};
        opened o = {0};
        size_t n;
        qn_small_bpe(&v);
        v.pre = cases[i].pre;
        v.edit = write_flags;
        v.ctx = flags;
        o.bytes = qn_small_write(&v, &n);
        assert_int_equal(qn_gguf_open_memory(o.bytes, n, NULL, &o.g, NULL), QN_OK);
        assert_int_equal(qn_tokenizer_open(o.g, NULL, &o.t, NULL), QN_OK);
        assert_returns(o.t, cases[i].text, cases[i].expected);
        close_kind(o);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(some_kinds_want_nfc),
        cmocka_unit_test(special_tokens_come_first),
        cmocka_unit_test(memory_fails),
        cmocka_unit_test(letters_and_accents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
