/* Real vocabularies: the ids that other implementations expect, every byte back again, long texts without an end.
 * SPDX-License-Identifier: MIT */
#include "test.h"

#include "base/random.h"
#include "base/unicode_norm.h"
#include "text/tokenizer_int.h"

#define SEPARATOR "\n__ggml_vocab_test__\n"

typedef struct vocab {
    qn_gguf *g;
    qn_tokenizer *t;
} vocab;

static vocab open_vocab(const char *path)
{
    vocab v = {0};
    qn_error err = {0};
    qn_status s = qn_gguf_open(path, NULL, &v.g, &err);
    if (s == QN_OK) {
        s = qn_tokenizer_open(v.g, NULL, &v.t, &err);
    }
    if (s != QN_OK) {
        print_message("%s: %s\n", path, err.what);
    }
    assert_int_equal(s, QN_OK);
    return v;
}

static vocab open_named(const char *name)
{
    char relative[128];
    snprintf(relative, sizeof(relative), "vocab/ggml-vocab-%s.gguf", name);
    const char *path = qn_test_data(relative);
    if (path == NULL) {
        QN_TEST_SKIP("no shared data: vocab");
    }
    return open_vocab(path);
}

static void close_vocab(vocab v)
{
    qn_tokenizer_close(v.t);
    qn_gguf_close(v.g);
}

static int32_t *encode(const qn_tokenizer *t, const char *text, size_t n, unsigned flags, size_t *n_ids)
{
    size_t cap = n + 16; /* bytes, a prefix and special tokens */
    int32_t *ids = malloc(cap * sizeof(*ids));
    assert_non_null(ids);
    qn_error err = {0};
    qn_status s = qn_tokenizer_encode(t, text, n, flags, ids, cap, n_ids, &err);
    if (s != QN_OK) {
        print_message("%s\n", err.what);
    }
    assert_int_equal(s, QN_OK);
    return ids;
}

/* Compares with one line of ids. */
static unsigned differs(const qn_tokenizer *t, const char *text, size_t n, const char *line)
{
    size_t n_ids;
    int32_t *ids = encode(t, text, n, 0, &n_ids);
    size_t i = 0;
    bool same = true;
    for (char *end; *line != '\n' && *line != '\0'; line = end, i++) {
        long id = strtol(line, &end, 10);
        if (end == line) {
            break;
        }
        same &= i < n_ids && ids[i] == id;
        while (*end == ' ') {
            end++;
        }
    }
    same &= i == n_ids;
    if (!same) {
        print_message("  \"%.*s\": %zu ids, expected %zu:", (int)n, text, n_ids, i);
        for (size_t k = 0; k < n_ids; k++) {
            print_message(" %d", ids[k]);
        }
        print_message("\n");
    }
    free(ids);
    return !same;
}

static void expected_ids(void **state)
{
    const char *name = *state;
    char relative[128], gguf[512], inp[512], out[512];
    const char *suffixes[] = {"", ".inp", ".out"};
    char *paths[] = {gguf, inp, out};
    for (int i = 0; i < 3; i++) {
        snprintf(relative, sizeof(relative), "vocab/ggml-vocab-%s.gguf%s", name, suffixes[i]);
        const char *path = qn_test_data(relative);
        if (path == NULL) {
            QN_TEST_SKIP("no shared data: vocab");
        }
        snprintf(paths[i], 512, "%s", path);
    }
    size_t n_texts_bytes, n_lines_bytes;
    char *texts = qn_test_read_file(inp, &n_texts_bytes), *lines = qn_test_read_file(out, &n_lines_bytes);
    vocab v = open_vocab(gguf);
    unsigned n_texts = 0, n_different = 0;
    const char *line = lines;
    for (char *text = texts, *end; (end = strstr(text, SEPARATOR)) != NULL; text = end + strlen(SEPARATOR)) {
        assert_non_null(line);
        n_different += differs(v.t, text, (size_t)(end - text), line);
        line = strchr(line, '\n');
        line = line == NULL ? NULL : line + 1;
        n_texts++;
    }
    print_message("%s: %u texts, %u different\n", name, n_texts, n_different);
    assert_true(n_texts > 40);
    assert_int_equal(n_different, 0);
    close_vocab(v);
    free(texts);
    free(lines);
}

/* Bytes that the vocabulary can say: the others are left out of what comes back. */
static size_t sayable(const qn_tokenizer *t, char *bytes, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        bool can = t->ops != &qn_tokenizer_bpe || t->byte_ids[(uint8_t)bytes[i]] != QN_NO_ID;
        if (can) {
            bytes[kept++] = bytes[i];
        }
    }
    return kept;
}

/* What comes back is the text, in NFC where the vocabulary wants that. */
static void assert_returns(const qn_tokenizer *t, const char *bytes, size_t n)
{
    size_t n_ids;
    int32_t *ids = encode(t, bytes, n, 0, &n_ids);
    qn_buf back, expected;
    qn_buf_init(&back, NULL, "test", SIZE_MAX / 2);
    qn_buf_init(&expected, NULL, "test", SIZE_MAX / 2);
    if (t->is_nfc) {
        assert_int_equal(qn_norm_add(QN_NORM_NFC, bytes, n, &expected), QN_OK);
    } else {
        qn_buf_add(&expected, bytes, n);
    }
    assert_int_equal(qn_tokenizer_decode(t, ids, n_ids, 0, &back, NULL), QN_OK);
    assert_true(qn_str_eq(qn_buf_view(&back), qn_buf_view(&expected)));
    qn_buf_free(&back);
    qn_buf_free(&expected);
    free(ids);
}

static const char *const names[] = {"gpt-2", "llama-bpe", "qwen2", "falcon", "mpt", "deepseek-coder", "command-r",
                                    "llama-spm", "phi-3"};

static void bytes_return(void **state)
{
    vocab v = open_named(*state);
    qn_random r;
    qn_random_seed(&r, 42);
    static char bytes[20000];
    for (int round = 0; round < 300; round++) {
        size_t n = qn_random_below(&r, round < 250 ? 40 : sizeof(bytes));
        for (size_t i = 0; i < n; i++) {
            /* All bytes, or mostly text with its spaces and marks. */
            static const char text[] = "  \n\tab0.<|s>\xE2\x96\x81\xC3\xA9";
            bytes[i] = round % 2 == 0 ? (char)qn_random_u64(&r) : text[qn_random_below(&r, sizeof(text) - 1)];
        }
        assert_returns(v.t, bytes, sayable(v.t, bytes, n));
    }
    close_vocab(v);
}

static void one_long_word(void **state)
{
    vocab v = open_named(*state);
    size_t n = 1 << 18;
    char *bytes = malloc(n);
    assert_non_null(bytes);
    memset(bytes, 'a', n);
    assert_returns(v.t, bytes, n);
    memset(bytes, ' ', n);
    assert_returns(v.t, bytes, n);
    for (size_t i = 0; i < n; i++) {
        bytes[i] = "ab"[i * i / 7 % 2];
    }
    assert_returns(v.t, bytes, n);
    close_vocab(v);
    free(bytes);
}

int main(void)
{
    static const struct {
        const char *what;
        CMUnitTestFunction run;
    } kinds[] = {{"expected ids", expected_ids}, {"bytes return", bytes_return}, {"one long word", one_long_word}};
    enum { N_NAMES = sizeof(names) / sizeof(names[0]), N_KINDS = sizeof(kinds) / sizeof(kinds[0]) };
    static struct CMUnitTest tests[N_NAMES * N_KINDS + 1];
    static char labels[N_NAMES * N_KINDS][64];
    for (size_t i = 0; i < N_NAMES * N_KINDS; i++) {
        const char *name = names[i / N_KINDS];
        snprintf(labels[i], sizeof(labels[i]), "%s: %s", name, kinds[i % N_KINDS].what);
        tests[i] = (struct CMUnitTest){labels[i], kinds[i % N_KINDS].run, NULL, NULL, (void *)(uintptr_t)name};
    }
    /* Words come back from this one, not texts. */
    static char bert[] = "bert-bge";
    tests[N_NAMES * N_KINDS] = (struct CMUnitTest){"bert-bge: expected ids", expected_ids, NULL, NULL, bert};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
