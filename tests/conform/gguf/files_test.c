/* Files that other programs wrote, held against counts taken with the format's own Python package.
 * SPDX-License-Identifier: MIT */
#include "test.h"

#include "gguf/gguf.h"

static const struct {
    const char *path;
    size_t n_kv, n_tensors;
    uint64_t n_tokens;
    const char *architecture;
    uint64_t tensor_bytes; /* of all tensors, padding left out */
} files[] = {
    {"vocab/ggml-vocab-bert-bge.gguf", 20, 0, 30522, "bert", 0},
    {"vocab/ggml-vocab-command-r.gguf", 27, 0, 256000, "command-r", 0},
    {"vocab/ggml-vocab-deepseek-coder.gguf", 25, 0, 32256, "llama", 0},
    {"vocab/ggml-vocab-falcon.gguf", 18, 0, 65024, "falcon", 0},
    {"vocab/ggml-vocab-gpt-2.gguf", 16, 0, 50257, "gpt2", 0},
    {"vocab/ggml-vocab-llama-bpe.gguf", 20, 0, 128256, "llama", 0},
    {"vocab/ggml-vocab-llama-spm.gguf", 22, 0, 32000, "llama", 0},
    {"vocab/ggml-vocab-mpt.gguf", 17, 0, 50432, "mpt", 0},
    {"vocab/ggml-vocab-phi-3.gguf", 26, 0, 32064, "phi3", 0},
    {"vocab/ggml-vocab-qwen2.gguf", 20, 0, 151936, "qwen2", 0},
    {"tiny-gguf/gemma2.gguf", 28, 24, 512, "gemma2", 428288},
    {"tiny-gguf/gemma3-text.gguf", 28, 80, 512, "gemma3", 1022976},
    {"tiny-gguf/llama-yarn.gguf", 30, 21, 512, "llama", 558336},
    {"tiny-gguf/llama3rope.gguf", 27, 22, 512, "llama", 558368},
    {"tiny-gguf/mistral-noswa.gguf", 27, 21, 1024, "llama", 820480},
    {"tiny-gguf/mixtral.gguf", 27, 23, 512, "llama", 1150208},
    {"tiny-gguf/qwen2.gguf", 22, 27, 1024, "qwen2", 821504},
    {"tiny-gguf/qwen3.gguf", 24, 25, 512, "qwen3", 657152},
    {"models/stories260K.gguf", 19, 48, 512, "llama", 1171200},
};

enum { n_files = sizeof(files) / sizeof(files[0]) };

static qn_gguf *open_file(const char *path)
{
    qn_gguf *g = NULL;
    qn_error err;
    if (qn_gguf_open(path, NULL, &g, &err) != QN_OK) {
        fail_msg("%s: %s", path, err.what);
    }
    return g;
}

static void counts_agree(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_files; i++) {
        const char *path = qn_test_data(files[i].path);
        if (path == NULL) {
            QN_TEST_SKIP("no shared data");
        }
        qn_gguf *g = open_file(path);
        assert_int_equal(qn_gguf_version(g), 3);
        assert_int_equal(qn_gguf_n_kv(g), files[i].n_kv);
        assert_int_equal(qn_gguf_n_tensors(g), files[i].n_tensors);
        qn_str s;
        assert_int_equal(qn_gguf_get_str(g, "general.architecture", &s, NULL), QN_OK);
        assert_true(qn_str_is(s, files[i].architecture));
        const qn_gguf_kv *tokens = qn_gguf_find(g, "tokenizer.ggml.tokens");
        assert_non_null(tokens);
        assert_int_equal(tokens->n_items, files[i].n_tokens);
        qn_gguf_iter it = {0};
        while (qn_gguf_next_str(tokens, &it, &s)) {
            assert_true(s.len < 4096);
        }
        assert_int_equal(it.i, files[i].n_tokens);
        assert_int_equal(it.offset, tokens->raw_bytes);
        uint64_t n_bytes = 0;
        for (size_t k = 0; k < qn_gguf_n_tensors(g); k++) {
            const qn_gguf_tensor *t = qn_gguf_tensor_at(g, k);
            assert_int_equal(t->offset % qn_gguf_alignment(g), 0);
            n_bytes += t->bytes;
        }
        assert_int_equal(n_bytes, files[i].tensor_bytes);
        qn_gguf_close(g);
    }
}

/* The first values of a known model, read through the map. */
static void known_values(void **state)
{
    (void)state;
    QN_TEST_NEED(path, "models/stories260K.gguf");
    qn_gguf *g = open_file(path);
    uint32_t n_embd, n_layers;
    assert_int_equal(qn_gguf_get_u32(g, "llama.embedding_length", &n_embd, NULL), QN_OK);
    assert_int_equal(qn_gguf_get_u32(g, "llama.block_count", &n_layers, NULL), QN_OK);
    assert_int_equal(n_embd, 64);
    assert_int_equal(n_layers, 5);
    const qn_gguf_tensor *t = qn_gguf_find_tensor(g, "token_embd.weight");
    assert_non_null(t);
    assert_int_equal(t->n_dims, 2);
    assert_int_equal(t->ne[0], n_embd);
    assert_int_equal(t->ne[1], 512);
    const qn_gguf_kv *tokens = qn_gguf_find(g, "tokenizer.ggml.tokens");
    static const char *const first[] = {"<unk>", "<s>", "</s>", "<0x00>"};
    qn_gguf_iter it = {0};
    qn_str s;
    for (size_t i = 0; i < 4; i++) {
        assert_true(qn_gguf_next_str(tokens, &it, &s));
        assert_true(qn_str_is(s, first[i]));
    }
    qn_gguf_close(g);
}

/* The parts that may differ between writers are the padding and the version; the rest of a copy is the same. */
static void copies_read_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_files; i++) {
        const char *path = qn_test_data(files[i].path);
        if (path == NULL) {
            QN_TEST_SKIP("no shared data");
        }
        qn_gguf *g = open_file(path), *copy;
        qn_gguf_writer *w;
        uint8_t *data;
        size_t n_bytes;
        qn_error err;
        assert_int_equal(qn_gguf_writer_open(NULL, qn_gguf_alignment(g), &w, NULL), QN_OK);
        for (size_t k = 0; k < qn_gguf_n_kv(g); k++) {
            qn_gguf_set_kv(w, qn_gguf_kv_at(g, k));
        }
        for (size_t k = 0; k < qn_gguf_n_tensors(g); k++) {
            const qn_gguf_tensor *t = qn_gguf_tensor_at(g, k);
            char name[QN_GGUF_MAX_NAME + 1];
            snprintf(name, sizeof(name), "%.*s", (int)t->name.len, t->name.data);
            qn_gguf_add_tensor(w, name, t->type, t->n_dims, t->ne, t->data);
        }
        if (qn_gguf_write_memory(w, &data, &n_bytes, &err) != QN_OK) {
            fail_msg("%s: %s", files[i].path, err.what);
        }
        qn_gguf_writer_close(w);
        assert_int_equal(qn_gguf_open_memory(data, n_bytes, NULL, &copy, NULL), QN_OK);
        for (size_t k = 0; k < qn_gguf_n_kv(g); k++) {
            const qn_gguf_kv *a = qn_gguf_kv_at(g, k), *b = qn_gguf_kv_at(copy, k);
            assert_true(qn_str_eq(a->key, b->key) && a->type == b->type && a->raw_bytes == b->raw_bytes);
            assert_memory_equal(a->raw, b->raw, a->raw_bytes);
        }
        for (size_t k = 0; k < qn_gguf_n_tensors(g); k++) {
            const qn_gguf_tensor *a = qn_gguf_tensor_at(g, k), *b = qn_gguf_tensor_at(copy, k);
            assert_true(qn_str_eq(a->name, b->name) && a->bytes == b->bytes);
            assert_memory_equal(a->data, b->data, a->bytes);
        }
        qn_gguf_close(copy);
        qn_free(data);
        qn_gguf_close(g);
    }
}

/* 60 % of a good file (a download that broke off): refused, with both sizes. */
static void cut_at_sixty_percent(void **state)
{
    (void)state;
    QN_TEST_NEED(path, "models/stories260K.gguf");
    size_t n_bytes;
    char *data = qn_test_read_file(path, &n_bytes), expected[64];
    qn_gguf *g;
    qn_error err;
    assert_int_equal(qn_gguf_open_memory(data, n_bytes, NULL, &g, NULL), QN_OK);
    qn_gguf_close(g);
    size_t n_cut = n_bytes * 6 / 10;
    assert_int_equal(qn_gguf_open_memory(data, n_cut, NULL, &g, &err), QN_EFORMAT);
    snprintf(expected, sizeof(expected), "at least %zu bytes expected, %zu found", n_bytes, n_cut);
    assert_non_null(strstr(err.what, expected));
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_agree),
        cmocka_unit_test(known_values),
        cmocka_unit_test(copies_read_the_same),
        cmocka_unit_test(cut_at_sixty_percent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
