/* Encoding and decoding with small vocabularies: merges in their order, special tokens, spaces, bytes, long pieces.
 * SPDX-License-Identifier: MIT */
#include "test.h"

#include "base/random.h"
#include "small_vocab.h"
#include "text/tokenizer_int.h"

typedef struct fixture {
    uint8_t *bytes;
    qn_gguf *g;
    qn_tokenizer *t;
} fixture;

static fixture open_small(const small_vocab *v)
{
    fixture f = {0};
    size_t n;
    qn_error err = {0};
    f.bytes = qn_small_write(v, &n);
    assert_int_equal(qn_gguf_open_memory(f.bytes, n, NULL, &f.g, &err), QN_OK);
    qn_status s = qn_tokenizer_open(f.g, NULL, &f.t, &err);
    if (s != QN_OK) {
        print_message("%s\n", err.what);
    }
    assert_int_equal(s, QN_OK);
    return f;
}

static void close_small(fixture f)
{
    qn_tokenizer_close(f.t);
    qn_gguf_close(f.g);
    qn_free(f.bytes);
}

static fixture open_bpe(void)
{
    static small_vocab v;
    qn_small_bpe(&v);
    return open_small(&v);
}

static fixture open_spm(void)
{
    static small_vocab v;
    qn_small_spm(&v);
    return open_small(&v);
}

/* The pieces of a text's ids, with a | between them. */
static void assert_pieces(const qn_tokenizer *t, const char *text, unsigned flags, const char *expected)
{
    int32_t ids[256];
    char got[1024] = "";
    size_t n;
    assert_int_equal(qn_tokenizer_encode(t, text, strlen(text), flags, ids, 256, &n, NULL), QN_OK);
    for (size_t i = 0; i < n; i++) {
        qn_str piece = qn_tokenizer_piece(t, ids[i]);
        snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%.*s", i > 0 ? "|" : "", (int)piece.len, piece.data);
    }
    assert_string_equal(got, expected);
}

static void assert_decodes(const qn_tokenizer *t, const int32_t *ids, size_t n, unsigned flags, const char *expected)
{
    qn_buf out;
    qn_buf_init(&out, NULL, "test", 1 << 20);
    assert_int_equal(qn_tokenizer_decode(t, ids, n, flags, &out, NULL), QN_OK);
    assert_string_equal(out.data == NULL ? "" : out.data, expected);
    qn_buf_free(&out);
}

static void bpe_merges_in_order(void **state)
{
    (void)state;
    fixture f = open_bpe();
    assert_pieces(f.t, "hello world", 0, "hello|\u0120world");
    assert_pieces(f.t, "hell", 0, "he|ll");
    assert_pieces(f.t, "abc", 0, "a|bc"); /* "b c" stands before "a b", though abc is a token */
    assert_pieces(f.t, "ab", 0, "ab");
    assert_pieces(f.t, "aaaaaaa", 0, "aaaa|aa|a");
    assert_pieces(f.t, "", 0, "");
    assert_pieces(f.t, "   x", 0, "\u0120\u0120|\u0120|x"); /* two spaces, then " x" as one word */
    assert_pieces(f.t, "\n\xFF", 0, "\u010A|\u00FF");
    close_small(f);
}

static void spm_merges_by_score(void **state)
{
    (void)state;
    fixture f = open_spm();
    assert_pieces(f.t, "hello hello", 0, "\u2581hello|\u2581hello");
    assert_pieces(f.t, "abc", 0, "\u2581|ab|c"); /* equal scores: the leftmost */
    assert_pieces(f.t, "  b", 0, "\u2581\u2581|\u2581|b");
    assert_pieces(f.t, "z\u00E9", 0, "\u2581|<0x7A>|\u00E9");
    assert_pieces(f.t, "", 0, "");
    assert_pieces(f.t, "a\u2581" "b", 0, "\u2581|a|<0xE2>|<0x96>|<0x81>|b"); /* told from a space */
    assert_pieces(f.t, "\xE2\x96", 0, "\u2581|<0xE2>|<0x96>");
    close_small(f);
}

static void specials_are_found_when_asked(void **state)
{
    (void)state;
    fixture f = open_bpe();
    assert_pieces(f.t, "ab<|end|>ab<tool>", 0, "ab|<|||e|n|d|||>|ab|<tool>");
    assert_pieces(f.t, "ab<|end|>ab<tool>", QN_TEXT_PARSE_SPECIAL, "ab|<|end|>|ab|<tool>");
    assert_pieces(f.t, "<tool><tool", 0, "<tool>|<|t|o|o|l");
    close_small(f);
    f = open_spm();
    assert_pieces(f.t, "<s>a", 0, "\u2581|<0x3C>|<0x73>|<0x3E>|a"); /* text never becomes a control token by itself */
    assert_pieces(f.t, "<s>a</s>b<tool>c", QN_TEXT_PARSE_SPECIAL, "<s>|\u2581|a|</s>|\u2581|b|<tool>|c");
    assert_pieces(f.t, "<tool>a", 0, "<tool>|a");
    close_small(f);
}

static void longest_special_wins(void **state)
{
    (void)state;
    static small_vocab v;
    qn_small_bpe(&v);
    qn_small_add(&v, "<a", QN_TOKEN_USER, 0);
    qn_small_add(&v, "<a><b>", QN_TOKEN_USER, 0);
    qn_small_add(&v, "<a>", QN_TOKEN_CONTROL, 0);
    fixture f = open_small(&v);
    assert_pieces(f.t, "<a><b><a><", 0, "<a><b>|<a|>|<");
    assert_pieces(f.t, "<a><b><a><", QN_TEXT_PARSE_SPECIAL, "<a><b>|<a>|<");
    close_small(f);
}

static void add_ids(qn_gguf_writer *w, void *ctx)
{
    (void)ctx;
    qn_gguf_set_u32(w, "tokenizer.ggml.bos_token_id", 0);
    qn_gguf_set_u32(w, "tokenizer.ggml.eos_token_id", 1);
    qn_gguf_set_bool(w, "tokenizer.ggml.add_bos_token", true);
    qn_gguf_set_bool(w, "tokenizer.ggml.add_eos_token", true);
    qn_gguf_set_u32(w, "tokenizer.ggml.eot_token_id", 5);
    qn_gguf_set_u32(w, "tokenizer.ggml.eom_token_id", UINT32_MAX);
}

static void bos_and_eos(void **state)
{
    (void)state;
    static small_vocab v;
    fixture f = open_bpe();
    assert_int_equal(qn_tokenizer_bos(f.t), -1);
    assert_false(qn_tokenizer_adds_bos(f.t));
    assert_pieces(f.t, "ab", QN_TEXT_ADD_SPECIAL, "ab");
    assert_true(qn_tokenizer_is_end(f.t, 0)); /* <|end|> by its spelling */
    assert_false(qn_tokenizer_is_end(f.t, 1));
    assert_false(qn_tokenizer_is_end(f.t, -1));
    assert_false(qn_tokenizer_is_end(f.t, 100000));
    close_small(f);
    qn_small_bpe(&v);
    v.edit = add_ids;
    f = open_small(&v);
    assert_int_equal(qn_tokenizer_bos(f.t), 0);
    assert_int_equal(qn_tokenizer_eos(f.t), 1);
    assert_true(qn_tokenizer_adds_eos(f.t));
    assert_pieces(f.t, "ab", QN_TEXT_ADD_SPECIAL, "<|end|>|ab|<tool>");
    assert_pieces(f.t, "ab", 0, "ab");
    assert_true(qn_tokenizer_is_end(f.t, 1));
    assert_true(qn_tokenizer_is_end(f.t, 5));
    close_small(f);
    f = open_spm(); /* SentencePiece has its usual ids when the file is silent */
    assert_int_equal(qn_tokenizer_bos(f.t), 1);
    assert_int_equal(qn_tokenizer_eos(f.t), 2);
    assert_true(qn_tokenizer_adds_bos(f.t));
    assert_pieces(f.t, "", QN_TEXT_ADD_SPECIAL, "<s>");
    close_small(f);
}

/* <|end|> is no end where <|return|> and <|call|> are. */
static void ends_of_a_harmony_vocabulary(void **state)
{
    (void)state;
    static small_vocab v;
    qn_small_bpe(&v);
    int32_t call = qn_small_add(&v, "<|call|>", QN_TOKEN_CONTROL, 0);
    int32_t back = qn_small_add(&v, "<|return|>", QN_TOKEN_CONTROL, 0);
    int32_t plain = qn_small_add(&v, "</s>", QN_TOKEN_NORMAL, 0);
    fixture f = open_small(&v);
    assert_true(qn_tokenizer_is_end(f.t, call));
    assert_true(qn_tokenizer_is_end(f.t, back));
    assert_false(qn_tokenizer_is_end(f.t, 0));
    assert_false(qn_tokenizer_is_end(f.t, plain));
    close_small(f);
}

static void too_little_room_tells_the_need(void **state)
{
    (void)state;
    fixture f = open_bpe();
    int32_t ids[3] = {-7, -7, -7};
    size_t n = 0;
    assert_int_equal(qn_tokenizer_encode(f.t, "hello world!", 12, 0, ids, 2, &n, NULL), QN_ERANGE);
    assert_int_equal(n, 3);
    assert_int_equal(ids[2], -7);
    assert_int_equal(qn_tokenizer_encode(f.t, "hello world!", 12, 0, NULL, 0, &n, NULL), QN_ERANGE);
    assert_int_equal(n, 3);
    assert_int_equal(qn_tokenizer_encode(f.t, NULL, 0, 0, NULL, 0, &n, NULL), QN_OK);
    assert_int_equal(n, 0);
    close_small(f);
}

static void decodes_kinds(void **state)
{
    (void)state;
    fixture f = open_spm();
    int32_t hello = (int32_t)qn_tokenizer_n_vocab(f.t) - 4, tool = (int32_t)qn_tokenizer_n_vocab(f.t) - 1;
    const int32_t ids[] = {1, hello, hello, 3 + 'A', tool, hello, 2};
    assert_decodes(f.t, ids, 7, 0, "hello helloA<tool> hello");
    assert_decodes(f.t, ids, 7, QN_TEXT_PARSE_SPECIAL, "<s>hello helloA<tool> hello</s>");
    assert_decodes(f.t, ids + 2, 1, 0, "hello");
    qn_buf out;
    qn_buf_init(&out, NULL, "test", 64);
    assert_int_equal(qn_tokenizer_decode_token(f.t, hello, 0, false, &out, NULL), QN_OK);
    assert_string_equal(out.data, " hello");
    qn_error err = {0};
    assert_int_equal(qn_tokenizer_decode_token(f.t, -1, 0, false, &out, &err), QN_ERANGE);
    assert_int_equal(qn_tokenizer_decode_token(f.t, tool + 1, 0, false, &out, &err), QN_ERANGE);
    const int32_t bad[] = {hello, 99999};
    assert_int_equal(qn_tokenizer_decode(f.t, bad, 2, 0, &out, &err), QN_ERANGE);
    for (int i = 0; i < 20; i++) {
        qn_tokenizer_decode_token(f.t, hello, 0, false, &out, NULL);
    }
    assert_int_equal(qn_tokenizer_decode_token(f.t, hello, 0, false, &out, &err), QN_EFULL);
    qn_buf_free(&out);
    assert_int_equal(qn_tokenizer_kind(f.t, 3), QN_TOKEN_BYTE);
    assert_int_equal(qn_tokenizer_kind(f.t, -1), QN_TOKEN_UNUSED);
    assert_int_equal(qn_tokenizer_piece(f.t, -1).len, 0);
    close_small(f);
}

static void assert_returns(const qn_tokenizer *t, const char *bytes, size_t n, unsigned flags)
{
    int32_t *ids = malloc((n + 8) * sizeof(*ids));
    size_t n_ids;
    assert_non_null(ids);
    assert_int_equal(qn_tokenizer_encode(t, bytes, n, flags, ids, n + 8, &n_ids, NULL), QN_OK);
    qn_buf out;
    qn_buf_init(&out, NULL, "test", SIZE_MAX / 2);
    assert_int_equal(qn_tokenizer_decode(t, ids, n_ids, flags, &out, NULL), QN_OK);
    assert_int_equal(out.len, n);
    assert_true(n == 0 || memcmp(out.data, bytes, n) == 0);
    qn_buf_free(&out);
    free(ids);
}

static void everything_returns(void **state)
{
    (void)state;
    fixture f[] = {open_bpe(), open_spm()};
    static const char *const parts[] = {"a", "b", " ", "hello", "<s>", "</s>", "<tool>", "<|end|>", "<unk>", "<0x41>",
                                        "\xFF", "\u2581", "\u00E9", "\xE2\x96", "\n", "llo"};
    qn_random r;
    qn_random_seed(&r, 3);
    for (int round = 0; round < 4000; round++) {
        char text[256];
        size_t n = 0;
        for (uint64_t k = qn_random_below(&r, 12); k > 0; k--) {
            const char *part = parts[qn_random_below(&r, sizeof(parts) / sizeof(parts[0]))];
            memcpy(text + n, part, strlen(part));
            n += strlen(part);
        }
        for (size_t i = 0; i < 2; i++) {
            assert_returns(f[i].t, text, n, 0);
            assert_returns(f[i].t, text, n, QN_TEXT_PARSE_SPECIAL);
        }
    }
    close_small(f[0]);
    close_small(f[1]);
}

/* The heap and the small arrays give the same: pieces of every length about the border between them. */
static void long_and_short_pieces_agree(void **state)
{
    (void)state;
    fixture f[] = {open_bpe(), open_spm()};
    for (size_t i = 0; i < 2; i++) {
        char text[400];
        memset(text, 'a', sizeof(text));
        for (size_t n = 1; n <= sizeof(text); n++) {
            int32_t ids[408];
            size_t n_ids, first = i; /* SentencePiece has its space first */
            assert_int_equal(qn_tokenizer_encode(f[i].t, text, n, 0, ids, 408, &n_ids, NULL), QN_OK);
            assert_int_equal(n_ids, first + n / 4 + n % 4 / 2 + n % 2);
            for (size_t k = first; k < n_ids; k++) {
                size_t len = qn_tokenizer_piece(f[i].t, ids[k]).len;
                assert_int_equal(len, k - first < n / 4 ? 4 : k + 1 < n_ids || n % 2 == 0 ? 2 : 1);
            }
        }
        close_small(f[i]);
    }
}

/* The same merging by search alone, the judge: the pair whose joined spelling comes first by the list of merges, or has
 * the best score, until there is none. Returns the number of parts that are left. */
static size_t merge_naively(const small_vocab *v, char parts[][64], size_t n)
{
    for (;;) {
        size_t at = n;
        float best = 0;
        for (size_t i = 0; i + 1 < n; i++) {
            char joined[128], line[130];
            snprintf(joined, sizeof(joined), "%s%s", parts[i], parts[i + 1]);
            snprintf(line, sizeof(line), "%s %s", parts[i], parts[i + 1]);
            for (uint32_t k = 0; k < (v->n_merges > 0 ? v->n_merges : v->n); k++) {
                bool same = v->n_merges > 0 ? qn_str_is(v->merges[k], line)
                                            : v->kinds[k] == QN_TOKEN_NORMAL && qn_str_is(v->tokens[k], joined);
                float score = v->n_merges > 0 ? -(float)k : v->scores[k];
                if (same && (at == n || score > best)) {
                    at = i;
                    best = score;
                }
            }
        }
        if (at == n) {
            return n;
        }
        char joined[128];
        snprintf(joined, sizeof(joined), "%s%s", parts[at], parts[at + 1]);
        memcpy(parts[at], joined, sizeof(parts[0]));
        memmove(parts + at + 1, parts + at + 2, (n - at - 2) * sizeof(parts[0]));
        n--;
    }
}

static void merging_agrees_with_its_judge(void **state)
{
    (void)state;
    static small_vocab v[2];
    static char parts[128][64];
    qn_small_bpe(&v[0]);
    qn_small_spm(&v[1]);
    qn_random r;
    qn_random_seed(&r, 21);
    for (size_t which = 0; which < 2; which++) {
        fixture f = open_small(&v[which]);
        for (int round = 0; round < 1500; round++) {
            char text[100];
            size_t n = 1 + qn_random_below(&r, sizeof(text) - 1), n_parts = 0, n_ids;
            int32_t ids[110];
            if (which == 1) {
                strcpy(parts[n_parts++], "\u2581");
            }
            for (size_t i = 0; i < n; i++) { /* one word for byte-level BPE, spaces too for SentencePiece */
                text[i] = (which == 0 ? "aabchelo" : "abchel o")[qn_random_below(&r, 8)];
                snprintf(parts[n_parts++], sizeof(parts[0]), "%s", text[i] == ' ' ? "\u2581" : (char[]){text[i], '\0'});
            }
            n_parts = merge_naively(&v[which], parts, n_parts);
            assert_int_equal(qn_tokenizer_encode(f.t, text, n, 0, ids, 110, &n_ids, NULL), QN_OK);
            assert_int_equal(n_ids, n_parts);
            for (size_t i = 0; i < n_ids; i++) {
                assert_true(qn_str_is(qn_tokenizer_piece(f.t, ids[i]), parts[i]));
            }
        }
        close_small(f);
    }
}

/* Ends only if merging is not quadratic. */
static void megabytes_without_a_break(void **state)
{
    (void)state;
    fixture f[] = {open_bpe(), open_spm()};
    size_t n = 1 << 20;
    char *text = malloc(n);
    assert_non_null(text);
    qn_random r;
    qn_random_seed(&r, 9);
    for (size_t i = 0; i < 2; i++) {
        memset(text, 'a', n);
        assert_returns(f[i].t, text, n, 0);
        memset(text, ' ', n);
        assert_returns(f[i].t, text, n, 0);
        for (size_t k = 0; k < n; k++) {
            text[k] = (char)qn_random_u64(&r);
        }
        assert_returns(f[i].t, text, n, QN_TEXT_PARSE_SPECIAL);
        for (size_t k = 0; k < n; k++) {
            text[k] = "abcl"[qn_random_below(&r, 4)];
        }
        assert_returns(f[i].t, text, n, 0);
        close_small(f[i]);
    }
    free(text);
}

static void llama3_words_need_no_merges(void **state)
{
    (void)state;
    static small_vocab v;
    qn_small_bpe(&v);
    v.pre = "llama-bpe";
    fixture f = open_small(&v);
    assert_pieces(f.t, "abc", 0, "abc"); /* a token, whatever the merges would give */
    assert_false(qn_tokenizer_adds_bos(f.t)); /* would by default, but there is none */
    close_small(f);
}

static void no_prefix(qn_gguf_writer *w, void *ctx)
{
    (void)ctx;
    qn_gguf_set_bool(w, "tokenizer.ggml.add_space_prefix", false);
}

static void spm_without_prefix(void **state)
{
    (void)state;
    static small_vocab v;
    qn_small_spm(&v);
    v.edit = no_prefix;
    fixture f = open_small(&v);
    assert_pieces(f.t, "hello hello", 0, "hello|\u2581hello");
    assert_returns(f.t, " hello", 6, 0);
    const int32_t space_hello[] = {(int32_t)qn_tokenizer_n_vocab(f.t) - 4};
    assert_decodes(f.t, space_hello, 1, 0, " hello");
    close_small(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bpe_merges_in_order),           cmocka_unit_test(spm_merges_by_score),
        cmocka_unit_test(specials_are_found_when_asked), cmocka_unit_test(longest_special_wins),
        cmocka_unit_test(bos_and_eos),                   cmocka_unit_test(ends_of_a_harmony_vocabulary),
        cmocka_unit_test(too_little_room_tells_the_need), cmocka_unit_test(decodes_kinds),
        cmocka_unit_test(everything_returns),            cmocka_unit_test(long_and_short_pieces_agree),
        cmocka_unit_test(megabytes_without_a_break),     cmocka_unit_test(llama3_words_need_no_merges),
        cmocka_unit_test(spm_without_prefix),            cmocka_unit_test(merging_agrees_with_its_judge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
