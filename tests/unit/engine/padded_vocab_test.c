/* Embeddings with more rows than there are tokens: the rows without a token are as if they were not there.
 * SPDX-License-Identifier: MIT */
#include "support.h"

#include "base/log.h"

enum { N_ROWS = 304, N_TOKENS = QN_TINY_MIN_VOCAB + 5 };

static void remember(void *ctx, qn_log_level level, const char *line)
{
    (void)level;
    snprintf(ctx, 256, "%s", line);
}

/* The first n_tokens items of a list of numbers, the last one repeated when there are fewer. */
static void set_numbers(qn_gguf_writer *w, const qn_gguf *g, const char *key, uint32_t n_tokens)
{
    const qn_gguf_kv *kv = qn_gguf_find(g, key);
    uint32_t *items = calloc(n_tokens, sizeof(*items)); /* of floats or integers, moved as they are */
    assert_true(kv != NULL && items != NULL && kv->n_items > 0);
    for (uint32_t i = 0; i < n_tokens; i++) {
        memcpy(&items[i], kv->raw + 4 * (i < kv->n_items ? i : kv->n_items - 1), 4);
    }
    qn_gguf_set_array(w, key, kv->item_type, items, n_tokens);
    free(items);
}

/* The model of n_rows rows with the first n_tokens of its tokens. */
static qn_model *open_with_tokens(qn_runtime *rt, const qn_tiny_spec *spec, uint32_t n_tokens, qn_error *err)
{
    static const char key[] = "tokenizer.ggml.tokens";
    size_t n_bytes;
    uint8_t *bytes = qn_tiny_bytes(spec, &n_bytes);
    qn_gguf *g = NULL;
    assert_int_equal(qn_gguf_open_memory(bytes, n_bytes, NULL, &g, NULL), QN_OK);
    qn_str *tokens = calloc(n_tokens, sizeof(*tokens));
    assert_non_null(tokens);
    qn_gguf_iter it = {0};
    uint32_t n = 0;
    while (n < n_tokens && qn_gguf_next_str(qn_gguf_find(g, key), &it, &tokens[n])) {
        n++;
    }
    for (; n < n_tokens; n++) {
        tokens[n] = QN_STR("more");
    }
    static const char *const lists[] = {key, "tokenizer.ggml.scores", "tokenizer.ggml.token_type", NULL};
    qn_gguf_writer *w = qn_tiny_copy_but(g, lists, NULL);
    qn_gguf_set_strs(w, key, tokens, n_tokens);
    set_numbers(w, g, lists[1], n_tokens);
    set_numbers(w, g, lists[2], n_tokens);
    char path[4096];
    snprintf(path, sizeof(path), "%s", qn_test_temp("padded.gguf"));
    expect_ok(qn_gguf_write(w, path, err), err);
    qn_gguf_writer_close(w);
    free(tokens);
    qn_gguf_close(g);
    qn_free(bytes);
    qn_model *m = NULL;
    qn_status status = qn_model_open(rt, path, NULL, &m, err);
    unlink(path);
    assert_int_equal(status == QN_OK, m != NULL);
    return m;
}

static void eval(qn_model *m, float *logits, uint32_t n)
{
    const float *out;
    const int32_t tokens[] = {1, 40, 290, 7};
    qn_session *s = open_session(m, &(qn_session_options){.n_ctx = 32, .n_batch = 8});
    assert_int_equal(qn_seq_eval(open_seq(s), tokens, 4, &out, NULL), QN_OK);
    memcpy(logits, out, sizeof(float) * n);
    qn_session_close(s);
}

static void test_rows_without_a_token(void **state)
{
    (void)state;
    static const char *const kinds[] = {"llama", "qwen2"}; /* with an output matrix, and without */
    for (size_t i = 0; i < 2; i++) {
        float all[N_ROWS], some[N_TOKENS];
        char line[256] = "";
        qn_error err = {0};
        qn_runtime *rt = open_runtime(NULL, 2);
        qn_tiny_spec spec = qn_tiny_spec_of(kinds[i]);
        spec.n_vocab = N_ROWS;
        qn_model *whole = open_tiny(rt, &spec);
        qn_log_set_sink(remember, line);
        qn_model *m = open_with_tokens(rt, &spec, N_TOKENS, &err);
        qn_log_set_sink(NULL, NULL);
        assert_non_null(m);
        assert_non_null(strstr(line, "293 tokens for the 304 rows"));
        qn_model_info info;
        qn_model_get_info(m, &info);
        assert_int_equal(info.n_vocab, N_TOKENS);
        eval(whole, all, N_ROWS);
        eval(m, some, N_TOKENS);
        for (uint32_t k = 0; k < N_TOKENS; k++) {
            assert_true(fabsf(all[k] - some[k]) <= 1e-5f);
        }

        /* The probabilities of the tokens alone add up to one. */
        int32_t ids[N_ROWS];
        float logprobs[N_ROWS];
        double sum = 0.0;
        qn_logprobs_top(m, some, N_ROWS, ids, logprobs);
        for (uint32_t k = 0; k < N_TOKENS; k++) {
            assert_true(ids[k] >= 0 && ids[k] < N_TOKENS);
            sum += exp((double)logprobs[k]);
        }
        assert_int_equal(ids[N_TOKENS], -1);
        assert_true(fabs(sum - 1.0) < 1e-5);

        qn_session *s = open_session(m, &(qn_session_options){.n_ctx = 32});
        assert_int_equal(qn_seq_eval(open_seq(s), (const int32_t[]){N_TOKENS}, 1, NULL, &err), QN_ERANGE);
        assert_non_null(strstr(err.what, "vocabulary of 293"));
        const qn_logit_bias bias = {N_TOKENS, 100.0f};
        qn_sampler_options o;
        qn_sampler *sampler = NULL;
        qn_sampler_options_init(&o);
        o.bias = &bias;
        o.n_bias = 1;
        assert_int_equal(qn_sampler_open(m, &o, &sampler, &err), QN_EINVAL);
        qn_session_close(s);
        qn_model_close(m);
        qn_model_close(whole);
        qn_runtime_close(rt);
    }
}

/* At a high temperature every token comes sooner or later; each has a text. */
static void test_generation_goes_on(void **state)
{
    (void)state;
    qn_error err = {0};
    qn_runtime *rt = open_runtime(NULL, 1);
    qn_tiny_spec spec = qn_tiny_spec_of("llama");
    spec.n_vocab = N_ROWS;
    qn_log_set_level(QN_LOG_ERROR);
    qn_model *m = open_with_tokens(rt, &spec, N_TOKENS, &err);
    qn_log_set_level(QN_LOG_WARN);
    assert_non_null(m);
    qn_session *s = open_session(m, &(qn_session_options){.n_ctx = 2000});
    qn_seq *q = open_seq(s);
    qn_sampler *sampler = NULL;
    qn_stream *stream = NULL;
    qn_sampler_options o = {.temperature = 100.0f, .top_p = 1, .typical_p = 1, .repeat_penalty = 1, .seed = 3};
    assert_int_equal(qn_sampler_open(m, &o, &sampler, NULL), QN_OK);
    assert_int_equal(qn_stream_open(m, NULL, 0, 0, &stream, NULL), QN_OK);
    int32_t id = 1, highest = 0;
    for (uint32_t i = 0; i < 1500; i++) {
        const float *logits;
        const char *text;
        size_t n_bytes;
        bool stopped;
        float logprob;
        expect_ok(qn_seq_eval(q, &id, 1, &logits, &err), &err);
        expect_ok(qn_sampler_pick(sampler, logits, &id, &logprob, &err), &err);
        expect_ok(qn_stream_push(stream, id, &text, &n_bytes, &stopped, &err), &err);
        highest = id > highest ? id : highest;
    }
    assert_true(highest >= N_TOKENS - 10 && highest < N_TOKENS);
    qn_stream_close(stream);
    qn_sampler_close(sampler);
    qn_session_close(s);
    qn_model_close(m);
    qn_runtime_close(rt);
}

static void test_tokens_without_a_row(void **state)
{
    (void)state;
    qn_error err = {0};
    qn_runtime *rt = open_runtime("ref", 1);
    qn_tiny_spec spec = qn_tiny_spec_of("llama");
    spec.n_vocab = N_ROWS;
    /* Numbers for each token are there too, so that nothing else is wrong. */
    size_t n_bytes;
    uint8_t *bytes = qn_tiny_bytes(&spec, &n_bytes);
    qn_gguf *g = NULL;
    assert_int_equal(qn_gguf_open_memory(bytes, n_bytes, NULL, &g, NULL), QN_OK);
    static const float rows[QN_TINY_MIN_VOCAB * 32];
    qn_gguf_writer *w = qn_tiny_copy(g, NULL, "token_embd.weight");
    qn_gguf_add_tensor(w, "token_embd.weight", QN_TYPE_F32, 2, (const uint64_t[]){32, QN_TINY_MIN_VOCAB}, rows);
    char path[4096];
    snprintf(path, sizeof(path), "%s", qn_test_temp("short.gguf"));
    expect_ok(qn_gguf_write(w, path, &err), &err);
    qn_model *m = NULL;
    assert_int_equal(qn_model_open(rt, path, NULL, &m, &err), QN_EFORMAT);
    assert_null(m);
    assert_non_null(strstr(err.what, "tokenizer.ggml.tokens: 304 tokens, but token_embd.weight has 288 rows"));
    unlink(path);
    qn_gguf_writer_close(w);
    qn_gguf_close(g);
    qn_free(bytes);
    qn_runtime_close(rt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_without_a_token),
        cmocka_unit_test(test_generation_goes_on),
        cmocka_unit_test(test_tokens_without_a_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
