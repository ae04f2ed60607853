/* Vocabularies that lie or lack something: what is refused, by which key, and that nothing is left behind.
 * SPDX-License-Identifier: MIT */
#include "test.h"

#include "small_vocab.h"
#include "text/tokenizer_int.h"

/* Opens v; the error must name `key` when the status is one. */
static qn_tokenizer *open_vocab(const small_vocab *v, qn_status expected, const char *key, qn_gguf **g, uint8_t **bytes)
{
    size_t n;
    qn_error err = {0};
    qn_tokenizer *t = NULL;
    *bytes = qn_small_write(v, &n);
    assert_int_equal(qn_gguf_open_memory(*bytes, n, NULL, g, &err), QN_OK);
    qn_status s = qn_tokenizer_open(*g, NULL, &t, &err);
    if (s != expected) {
        print_message("%s\n", err.what);
    }
    assert_int_equal(s, expected);
    if (s != QN_OK) {
        assert_null(t);
        if (strstr(err.what, key) == NULL) {
            print_message("%s does not name %s\n", err.what, key);
        }
        assert_non_null(strstr(err.what, key));
    }
    return t;
}

static void assert_refused(const small_vocab *v, qn_status expected, const char *key)
{
    qn_gguf *g;
    uint8_t *bytes;
    uint64_t live = qn_alloc_live();
    open_vocab(v, expected, key, &g, &bytes);
    qn_gguf_close(g);
    qn_free(bytes);
    assert_int_equal(qn_alloc_live(), live);
}

/* ids may be NULL: they are only counted. */
static size_t count_ids(const small_vocab *v, const char *text, size_t n, int32_t *ids, size_t cap)
{
    qn_gguf *g;
    uint8_t *bytes;
    size_t n_ids;
    qn_tokenizer *t = open_vocab(v, QN_OK, "", &g, &bytes);
    assert_int_equal(qn_tokenizer_encode(t, text, n, 0, ids, cap, &n_ids, NULL), ids == NULL ? QN_ERANGE : QN_OK);
    qn_tokenizer_close(t);
    qn_gguf_close(g);
    qn_free(bytes);
    return n_ids;
}

static void unknown_kinds_are_named(void **state)
{
    (void)state;
    static small_vocab v;
    qn_small_bpe(&v);
    v.model = "plamo9";
    assert_refused(&v, QN_EUNSUPPORTED, "tokenizer.ggml.model: plamo9");
    v.model = "none";
    assert_refused(&v, QN_ENOTFOUND, "tokenizer.ggml.model");
    v.model = "gpt2";
    static const char *const pres[] = {"klingon", "gpt-2 mpt", " ", "gpt", "-2", "gpt-2\t",
                                       "a-name-that-is-longer-than-any-pre-tokenizer-kind-that-a-table-could-hold"};
    for (size_t i = 0; i < sizeof(pres) / sizeof(pres[0]); i++) {
        v.pre = pres[i];
        assert_refused(&v, QN_EUNSUPPORTED, "tokenizer.ggml.pre");
    }
    v.pre = NULL; /* missing: the default */
    assert_int_equal(count_ids(&v, "hello", 5, NULL, 0), 1);
}

static void every_kind_of_the_table_opens(void **state)
{
    (void)state;
    const char *names;
    const char *const *patterns;
    size_t n_kinds = 0;
    for (; qn_pre_kind_at(n_kinds, &names, &patterns); n_kinds++) {
        char copy[256];
        snprintf(copy, sizeof(copy), "%s", names);
        for (char *name = strtok(copy, " "); name != NULL; name = strtok(NULL, " ")) {
            qn_pre *p = NULL;
            assert_int_equal(qn_pre_open(qn_str_of(name), NULL, &p, NULL), QN_OK);
            qn_pre_close(p);
        }
        for (size_t i = 0; i < QN_PRE_PATTERNS && patterns[i] != NULL; i++) {
            qn_regex *re = NULL;
            size_t end;
            assert_int_equal(qn_regex_open(qn_str_of(patterns[i]), NULL, &re, NULL), QN_OK);
            assert_true(qn_regex_is_table(re));
            assert_false(qn_regex_match(re, "", 0, 0, &end)); /* splitting relies on it */
            qn_regex_close(re);
        }
    }
    assert_true(n_kinds > 10);
}

static void arrays_of_the_wrong_length(void **state)
{
    (void)state;
    static small_vocab v;
    qn_small_spm(&v);
    v.n_scores = 0;
    assert_refused(&v, QN_EFORMAT, "tokenizer.ggml.scores");
    v.n_scores = (int)v.n - 1;
    assert_refused(&v, QN_EFORMAT, "tokenizer.ggml.scores");
    v.n_scores = (int)v.n + 1;
    assert_refused(&v, QN_EFORMAT, "tokenizer.ggml.scores: 282 items, but tokenizer.ggml.tokens has 281");
    v.n_scores = -1;
    v.n_kinds = (int)v.n - 1;
    assert_refused(&v, QN_EFORMAT, "tokenizer.ggml.token_type");
    v.n_kinds = (int)v.n + 3;
    assert_refused(&v, QN_EFORMAT, "tokenizer.ggml.token_type: 284 items, but tokenizer.ggml.tokens has 281");
    v.n_kinds = -1;
    v.scores[v.n - 2] = __builtin_nanf("");
    assert_refused(&v, QN_EFORMAT, "tokenizer.ggml.scores");
    qn_small_bpe(&v);
    v.n_merges = 0;
    assert_refused(&v, QN_EFORMAT, "tokenizer.ggml.merges");
    qn_small_bpe(&v);
    v.n_kinds = 0; /* old files have no kinds: all are normal */
    assert_int_equal(count_ids(&v, "<tool>", 6, NULL, 0), 6);
}

static void bad_kinds(void **state)
{
    (void)state;
    static small_vocab v;
    static const int32_t kinds[] = {0, 7, -1, INT32_MIN, INT32_MAX};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        qn_small_bpe(&v);
        v.kinds[17] = kinds[i];
        assert_refused(&v, QN_EFORMAT, "tokenizer.ggml.token_type");
    }
    qn_small_spm(&v);
    v.tokens[50] = QN_STR("<0xG0>"); /* a byte without its number */
    assert_refused(&v, QN_EFORMAT, "tokenizer.ggml.token_type");
}

static void set_id(qn_gguf_writer *w, void *ctx)
{
    const char *key = ctx;
    qn_gguf_set_u32(w, key, 100000);
}

static void set_negative(qn_gguf_writer *w, void *ctx)
{
    qn_gguf_set_i32(w, ctx, -2);
}

static void set_string(qn_gguf_writer *w, void *ctx)
{
    qn_gguf_set_str(w, ctx, QN_STR("1"));
}

static void ids_out_of_range(void **state)
{
    (void)state;
    static const char *const keys[] = {"tokenizer.ggml.bos_token_id", "tokenizer.ggml.eos_token_id",
                                       "tokenizer.ggml.unknown_token_id", "tokenizer.ggml.eot_token_id",
                                       "tokenizer.ggml.eom_token_id"};
    static small_vocab v;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        qn_small_spm(&v);
        v.ctx = (void *)(uintptr_t)keys[i];
        v.edit = set_id;
        assert_refused(&v, QN_EFORMAT, keys[i]);
        v.edit = set_negative;
        assert_refused(&v, QN_EFORMAT, keys[i]);
        v.edit = set_string;
        assert_refused(&v, QN_EFORMAT, keys[i]);
    }
}

static void set_true(qn_gguf_writer *w, void *ctx)
{
    qn_gguf_set_bool(w, ctx, true);
}

static void flags_that_cannot_be_met(void **state)
{
    (void)state;
    static small_vocab v;
    qn_small_bpe(&v);
    v.edit = set_true;
    v.ctx = (void *)(uintptr_t)"tokenizer.ggml.add_bos_token";
    assert_refused(&v, QN_EFORMAT, "tokenizer.ggml.add_bos_token");
    qn_small_spm(&v);
    v.edit = set_true;
    v.ctx = (void *)(uintptr_t)"tokenizer.ggml.remove_extra_whitespaces";
    assert_refused(&v, QN_EUNSUPPORTED, "tokenizer.ggml.remove_extra_whitespaces");
    v.edit = set_string;
    v.ctx = (void *)(uintptr_t)"tokenizer.ggml.add_space_prefix";
    assert_refused(&v, QN_EFORMAT, "tokenizer.ggml.add_space_prefix");
}

static void lengths_of_tokens(void **state)
{
    (void)state;
    static small_vocab v;
    char *text = malloc(70000);
    assert_non_null(text);
    memset(text, 'q', 70000);
    qn_small_bpe(&v);
    v.tokens[40] = (qn_str){text, 65536};
    assert_refused(&v, QN_EFORMAT, "tokenizer.ggml.tokens");
    v.tokens[40] = (qn_str){text, 65535};
    assert_true(count_ids(&v, "hello", 5, NULL, 0) >= 1);
    v.tokens[0] = (qn_str){text, 256}; /* a control token is looked for at every place of a text */
    assert_true(count_ids(&v, "hello", 5, NULL, 0) >= 1);
    v.tokens[0] = (qn_str){text, 257};
    assert_refused(&v, QN_EFORMAT, "tokenizer.ggml.tokens: token 0 has 257 bytes");
    qn_small_bpe(&v);
    v.tokens[0] = v.tokens[1] = v.tokens[40] = QN_STR("");
    assert_int_equal(count_ids(&v, "hello", 5, NULL, 0), 1);
    free(text);
}

static void repeated_tokens_and_odd_merges(void **state)
{
    (void)state;
    static small_vocab v;
    int32_t ids[8];
    qn_small_bpe(&v);
    int32_t first = (int32_t)v.n - 15 + 3; /* hello */
    qn_small_add(&v, "hello", QN_TOKEN_NORMAL, 0);
    qn_small_add(&v, "hello", QN_TOKEN_CONTROL, 0);
    v.merges[v.n_merges++] = QN_STR("nothing");
    v.merges[v.n_merges++] = QN_STR("");
    v.merges[v.n_merges++] = QN_STR(" ");
    v.merges[v.n_merges++] = QN_STR("zz yy");
    v.merges[v.n_merges++] = QN_STR("h e");
    v.merges[v.n_merges++] = QN_STR("he llo ");
    assert_int_equal(count_ids(&v, "hello", 5, ids, 8), 1);
    assert_int_equal(ids[0], first);
    /* A merge that spells a control token makes none of it. */
    qn_small_bpe(&v);
    v.tokens[0] = QN_STR("xy");
    v.merges[v.n_merges++] = QN_STR("x y");
    assert_int_equal(count_ids(&v, "xy", 2, ids, 8), 2);
}

static void bytes_without_tokens(void **state)
{
    (void)state;
    static small_vocab v;
    int32_t ids[8];
    qn_small_bpe(&v);
    v.tokens[2 + 'x'] = QN_STR("gone"); /* left out, as nothing could stand for it */
    assert_int_equal(count_ids(&v, "axc", 3, ids, 8), 2);
    assert_int_equal(count_ids(&v, "axb", 3, ids, 8), 1); /* and its neighbours meet */
    assert_int_equal(count_ids(&v, "xx", 2, ids, 8), 0);
    qn_small_spm(&v);
    v.kinds[3 + 'x'] = QN_TOKEN_NORMAL; /* the unknown token instead */
    assert_int_equal(count_ids(&v, "axb", 3, ids, 8), 4);
    assert_int_equal(ids[2], 0);
    /* Without a token for a space no prefix is put before a text, and a space is its byte. */
    qn_small_spm(&v);
    v.tokens[3 + 256] = QN_STR("gone");
    assert_int_equal(count_ids(&v, "a b", 3, ids, 8), 3);
    assert_int_equal(ids[1], 3 + ' ');
}

static void default_ids_need_their_kind(void **state)
{
    (void)state;
    static small_vocab v;
    qn_small_spm(&v);
    v.kinds[1] = v.kinds[2] = QN_TOKEN_NORMAL;
    qn_gguf *g;
    uint8_t *bytes;
    qn_tokenizer *t = open_vocab(&v, QN_OK, "", &g, &bytes);
    assert_int_equal(qn_tokenizer_bos(t), -1);
    assert_false(qn_tokenizer_adds_bos(t));
    qn_tokenizer_close(t);
    qn_gguf_close(g);
    qn_free(bytes);
}

static void no_vocabulary(void **state)
{
    (void)state;
    qn_gguf_writer *w;
    uint8_t *bytes;
    size_t n;
    qn_gguf *g;
    qn_tokenizer *t = NULL;
    qn_error err = {0};
    assert_int_equal(qn_gguf_writer_open(NULL, 32, &w, NULL), QN_OK);
    qn_gguf_set_str(w, "general.architecture", QN_STR("llama"));
    assert_int_equal(qn_gguf_write_memory(w, &bytes, &n, NULL), QN_OK);
    qn_gguf_writer_close(w);
    assert_int_equal(qn_gguf_open_memory(bytes, n, NULL, &g, NULL), QN_OK);
    assert_int_equal(qn_tokenizer_open(g, NULL, &t, &err), QN_ENOTFOUND);
    assert_null(t);
    qn_gguf_close(g);
    qn_free(bytes);
}

/* Opening, encoding a short and a long piece and decoding, with the n-th allocation failing for every n. */
static void every_allocation_may_fail(void **state)
{
    (void)state;
    static small_vocab v;
    char text[2000];
    memset(text, 'a', sizeof(text));
    for (int which = 0; which < 2; which++) {
        which == 0 ? qn_small_bpe(&v) : qn_small_spm(&v);
        size_t n_bytes;
        qn_gguf *g;
        uint8_t *bytes = qn_small_write(&v, &n_bytes);
        assert_int_equal(qn_gguf_open_memory(bytes, n_bytes, NULL, &g, NULL), QN_OK);
        qn_budget *budget;
        assert_int_equal(qn_budget_open(0, &budget), QN_OK);
        uint64_t live = qn_alloc_live();
        qn_status s = QN_ENOMEM;
        uint64_t n = 1;
        for (; s != QN_OK; n++) {
            qn_tokenizer *t = NULL;
            static int32_t ids[2100];
            size_t n_ids = 0;
            qn_error err = {0};
            qn_alloc_fail_at(n);
            s = qn_tokenizer_open(g, budget, &t, &err);
            if (s == QN_OK) {
                s = qn_tokenizer_encode(t, text, sizeof(text), 0, ids, 2100, &n_ids, &err);
            }
            if (s == QN_OK) {
                qn_buf out;
                qn_buf_init(&out, budget, "test", 1 << 20);
                s = qn_tokenizer_decode(t, ids, n_ids, 0, &out, &err);
                qn_buf_free(&out);
            }
            qn_alloc_fail_at(0);
            assert_true(s == QN_OK || s == QN_ENOMEM);
            assert_true(s == QN_OK || strlen(err.what) > 0);
            qn_tokenizer_close(t);
            assert_int_equal(qn_alloc_live(), live);
            assert_int_equal(qn_budget_used(budget), 0);
        }
        assert_true(n > 10);
        qn_budget_close(budget);
        qn_gguf_close(g);
        qn_free(bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_kinds_are_named),     cmocka_unit_test(every_kind_of_the_table_opens),
        cmocka_unit_test(arrays_of_the_wrong_length),  cmocka_unit_test(bad_kinds),
        cmocka_unit_test(ids_out_of_range),            cmocka_unit_test(flags_that_cannot_be_met),
        cmocka_unit_test(lengths_of_tokens),           cmocka_unit_test(repeated_tokens_and_odd_merges),
        cmocka_unit_test(bytes_without_tokens),        cmocka_unit_test(default_ids_need_their_kind),
        cmocka_unit_test(no_vocabulary),               cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
