/* Texts of which parts came from outside: there, control tokens are text. SPDX-License-Identifier: MIT */
#include "test.h"

#include "base/random.h"
#include "small_vocab.h"

typedef struct fixture {
    uint8_t *bytes;
    qn_gguf *g;
    qn_tokenizer *t;
} fixture;

static fixture open_vocab(void (*make)(small_vocab *v))
{
    static small_vocab v;
    fixture f = {0};
    size_t n;
    make(&v);
    qn_small_add(&v, "<a>", QN_TOKEN_CONTROL, 0);
    qn_small_add(&v, "<a><b>", QN_TOKEN_CONTROL, 0);
    qn_small_add(&v, "<a><c>", QN_TOKEN_USER, 0);
    f.bytes = qn_small_write(&v, &n);
    assert_int_equal(qn_gguf_open_memory(f.bytes, n, NULL, &f.g, NULL), QN_OK);
    assert_int_equal(qn_tokenizer_open(f.g, NULL, &f.t, NULL), QN_OK);
    return f;
}

static void close_vocab(fixture f)
{
    qn_tokenizer_close(f.t);
    qn_gguf_close(f.g);
    qn_free(f.bytes);
}

/* { and } in marked stand around the spans and are no part of the text. */
static size_t unmark(const char *marked, char *text, qn_span *spans, size_t *n_spans)
{
    size_t n = 0;
    *n_spans = 0;
    for (; *marked != '\0'; marked++) {
        if (*marked == '{') {
            spans[*n_spans].start = n;
        } else if (*marked == '}') {
            spans[(*n_spans)++].end = n;
        } else {
            text[n++] = *marked;
        }
    }
    return n;
}

static void assert_pieces(const qn_tokenizer *t, const char *marked, unsigned flags, const char *expected)
{
    char text[256], got[1024] = "";
    qn_span spans[16];
    int32_t ids[256];
    size_t n_spans, n_ids, n = unmark(marked, text, spans, &n_spans);
    assert_int_equal(qn_tokenizer_encode_spans(t, text, n, spans, n_spans, flags, ids, 256, &n_ids, NULL), QN_OK);
    for (size_t i = 0; i < n_ids; i++) {
        qn_str piece = qn_tokenizer_piece(t, ids[i]);
        snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%.*s", i > 0 ? "|" : "", (int)piece.len, piece.data);
    }
    assert_string_equal(got, expected);
}

static void control_tokens_lie_outside(void **state)
{
    (void)state;
    fixture f = open_vocab(qn_small_bpe);
    unsigned parse = QN_TEXT_PARSE_SPECIAL;
    assert_pieces(f.t, "<a>ab<a>", parse, "<a>|ab|<a>");
    assert_pieces(f.t, "<a>{ab<a>}<a>", parse, "<a>|ab|<|a|>|<a>");
    assert_pieces(f.t, "{<a>}", parse, "<|a|>");
    assert_pieces(f.t, "<a>{}<a>", parse, "<a>|<a>");
    /* A token that begins in one and ends in the other is none. */
    assert_pieces(f.t, "<{a>}ab", parse, "<|a|>|ab");
    assert_pieces(f.t, "{<a}>ab", parse, "<|a|>|ab");
    assert_pieces(f.t, "<{a}>", parse, "<|a|>");
    /* A shorter one still fits when the longer one would not. */
    assert_pieces(f.t, "<a><b>", parse, "<a><b>");
    assert_pieces(f.t, "<a>{<b>}", parse, "<a>|<|b|>");
    assert_pieces(f.t, "<a>{<}b>", parse, "<a>|<|b|>");
    /* Without the flag there are none anywhere. */
    assert_pieces(f.t, "<a>{<a>}", 0, "<|a|>|<|a|>");
    close_vocab(f);
}

static void user_tokens_are_found_everywhere(void **state)
{
    (void)state;
    fixture f = open_vocab(qn_small_bpe);
    for (unsigned flags = 0; flags <= QN_TEXT_PARSE_SPECIAL; flags += QN_TEXT_PARSE_SPECIAL) {
        assert_pieces(f.t, "{<tool>}ab<tool>", flags, "<tool>|ab|<tool>");
        assert_pieces(f.t, "<to{ol>}", flags, "<tool>");
        assert_pieces(f.t, "<a>{<c>}", flags, "<a><c>");
    }
    close_vocab(f);
}

static void words_join_over_borders(void **state)
{
    (void)state;
    fixture f = open_vocab(qn_small_bpe);
    assert_pieces(f.t, "he{llo wo}rld", QN_TEXT_PARSE_SPECIAL, "hello|\u0120world");
    close_vocab(f);
    f = open_vocab(qn_small_spm);
    assert_pieces(f.t, "<s>{<s>a}</s>", QN_TEXT_PARSE_SPECIAL, "<s>|\u2581|<0x3C>|<0x73>|<0x3E>|a|</s>");
    assert_pieces(f.t, "{<s>a}</s>", QN_TEXT_ADD_SPECIAL | QN_TEXT_PARSE_SPECIAL,
                  "<s>|\u2581|<0x3C>|<0x73>|<0x3E>|a|</s>");
    close_vocab(f);
}

/* Against the definition: cut at the borders of what is found when each span's brackets are put out of reach. */
static void random_texts_and_spans(void **state)
{
    (void)state;
    fixture f = open_vocab(qn_small_bpe);
    qn_random r;
    qn_random_seed(&r, 4);
    static const char *const parts[] = {"<a>", "<b>", "<", "a>", "ab", " ", "<tool>", "<|end|>", ">"};
    for (int run = 0; run < 3000; run++) {
        char text[128];
        qn_span spans[8];
        size_t n = 0, n_spans = 0;
        while (n < 60) {
            const char *part = parts[qn_random_below(&r, 9)];
            size_t len = strlen(part);
            memcpy(text + n, part, len);
            if (n_spans < 8 && qn_random_below(&r, 4) == 0 && (n_spans == 0 || spans[n_spans - 1].end < n)) {
                spans[n_spans++] = (qn_span){n, n + len};
            }
            n += len;
        }
        int32_t ids[128];
        size_t n_ids, at = 0;
        assert_int_equal(
            qn_tokenizer_encode_spans(f.t, text, n, spans, n_spans, QN_TEXT_PARSE_SPECIAL, ids, 128, &n_ids, NULL),
            QN_OK);
        for (size_t i = 0; i < n_ids; i++) {
            qn_buf piece;
            qn_buf_init(&piece, NULL, "test", 64);
            assert_int_equal(qn_tokenizer_decode_token(f.t, ids[i], QN_TEXT_PARSE_SPECIAL, false, &piece, NULL), QN_OK);
            assert_memory_equal(text + at, piece.data, piece.len);
            for (size_t k = 0; qn_tokenizer_kind(f.t, ids[i]) == QN_TOKEN_CONTROL && k < n_spans; k++) {
                assert_true(at + piece.len <= spans[k].start || at >= spans[k].end);
            }
            at += piece.len;
            qn_buf_free(&piece);
        }
        assert_int_equal(at, n);
    }
    close_vocab(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(control_tokens_lie_outside),
        cmocka_unit_test(user_tokens_are_found_everywhere),
        cmocka_unit_test(words_join_over_borders),
        cmocka_unit_test(random_texts_and_spans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
