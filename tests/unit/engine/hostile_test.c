/* Files whose metadata lies, through the public calls: a file opens and then works, or its error names the key.
 * SPDX-License-Identifier: MIT */
#include "support.h"

#include "base/log.h"

typedef void change_fn(qn_gguf_writer *w, const char *key);

#define CHANGE(name, call)                                                                                             \
    static void name(qn_gguf_writer *w, const char *key) { call; }

CHANGE(drop, (void)w; (void)key)
CHANGE(zero, qn_gguf_set_u32(w, key, 0))
CHANGE(some, qn_gguf_set_u32(w, key, 300))
CHANGE(most, qn_gguf_set_u32(w, key, UINT32_MAX))
CHANGE(negative, qn_gguf_set_i32(w, key, -7))
CHANGE(no_number, qn_gguf_set_f32(w, key, NAN))
CHANGE(text, qn_gguf_set_str(w, key, QN_STR("gpt2")))
CHANGE(truth, qn_gguf_set_bool(w, key, true))
CHANGE(empty_array, qn_gguf_set_strs(w, key, NULL, 0))
CHANGE(one_text, qn_gguf_set_strs(w, key, (const qn_str[]){{"", 0}}, 1))
CHANGE(numbers, qn_gguf_set_array(w, key, QN_GGUF_I32, (const int32_t[]){1, -1, 99}, 3))

static change_fn *const changes[] = {drop,  zero,  some,        most,     negative, no_number,
                                     text,  truth, empty_array, one_text, numbers};

static void write_bytes(const char *path, const uint8_t *bytes, size_t n_bytes)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n_bytes, f), n_bytes);
    fclose(f);
}

/* Uses an open model in every way. Statuses may be anything, crashes may not. */
static void use(qn_model *m)
{
    static const char *const stops[] = {"x"};
    qn_model_info info;
    qn_session *s = NULL;
    qn_error err;
    int32_t ids[64];
    char back[256];
    size_t n_ids = 0, n_bytes;
    qn_model_get_info(m, &info);
    assert_int_equal(info.n_vocab, QN_TINY_MIN_VOCAB);
    assert_true(info.bos < (int32_t)info.n_vocab && info.eos < (int32_t)info.n_vocab);
    if (qn_tokenize(m, "a b\xff</s>", 8, QN_TEXT_ADD_SPECIAL | QN_TEXT_PARSE_SPECIAL, ids, 64, &n_ids, &err) == QN_OK) {
        for (size_t i = 0; i < n_ids; i++) {
            assert_true(ids[i] >= 0 && (uint32_t)ids[i] < info.n_vocab);
        }
        qn_detokenize(m, ids, n_ids, QN_TEXT_PARSE_SPECIAL, back, sizeof(back), &n_bytes, &err);
    }
    if (qn_session_open(m, &(qn_session_options){.n_ctx = 32, .n_batch = 8}, &s, &err) != QN_OK) {
        return;
    }
    const float *logits;
    qn_seq *q = open_seq(s);
    qn_stream *stream = NULL;
    assert_int_equal(qn_seq_eval(q, (const int32_t[]){5, 0, 287}, 3, &logits, &err), QN_OK);
    if (qn_stream_open(m, stops, 1, 0, &stream, &err) == QN_OK) {
        for (int32_t id = -1; id <= (int32_t)info.n_vocab; id++) {
            const char *text;
            bool stopped;
            qn_stream_push(stream, id, &text, &n_bytes, &stopped, &err);
            qn_token_is_end(m, id);
        }
    }
    qn_stream_close(stream);
    qn_session_close(s);
}

static void test_every_key(void **state)
{
    (void)state;
    static const char *const kinds[] = {"llama", "gemma3"};
    static const char *const more[] = {"tokenizer.ggml.pre",           "tokenizer.ggml.merges",
                                       "tokenizer.ggml.add_bos_token", "tokenizer.ggml.add_eos_token",
                                       "tokenizer.ggml.eot_token_id",  "tokenizer.ggml.add_space_prefix"};
    enum { N_MORE = sizeof(more) / sizeof(more[0]) };
    qn_runtime *rt = open_runtime("ref", 1);
    uint64_t live = qn_alloc_live();
    uint32_t n_refused = 0, n_used = 0;
    for (size_t kind = 0; kind < 2; kind++) {
        qn_tiny_spec spec = qn_tiny_spec_of(kinds[kind]);
        size_t n_bytes;
        uint8_t *bytes = qn_tiny_bytes(&spec, &n_bytes);
        qn_gguf *g;
        assert_int_equal(qn_gguf_open_memory(bytes, n_bytes, NULL, &g, NULL), QN_OK);
        for (size_t i = 0; i < qn_gguf_n_kv(g) + N_MORE; i++) {
            char key[128], path[4096];
            snprintf(path, sizeof(path), "%s", qn_test_temp("hostile.gguf"));
            if (i < qn_gguf_n_kv(g)) {
                qn_str k = qn_gguf_kv_at(g, i)->key;
                snprintf(key, sizeof(key), "%.*s", (int)k.len, k.data);
            } else {
                snprintf(key, sizeof(key), "%s", more[i - qn_gguf_n_kv(g)]);
            }
            for (size_t c = 0; c < sizeof(changes) / sizeof(changes[0]); c++) {
                uint8_t *changed;
                size_t n_changed;
                qn_model *m = NULL;
                qn_error err = {0};
                qn_gguf_writer *w = qn_tiny_copy(g, key, NULL);
                changes[c](w, key);
                qn_status status = qn_gguf_write_memory(w, &changed, &n_changed, &err);
                qn_gguf_writer_close(w);
                expect_ok(status, &err);
                write_bytes(path, changed, n_changed);
                qn_free(changed);
                status = qn_model_open(rt, path, NULL, &m, &err);
                assert_int_equal(status == QN_OK, m != NULL);
                if (status == QN_OK) {
                    use(m);
                    n_used++;
                } else {
                    bool other = strstr(err.what, "tensor '") != NULL || strstr(err.what, spec.arch) != NULL ||
                                 strstr(err.what, "tokenizer.ggml.") != NULL;
                    bool is_named = strncmp(err.what, strrchr(path, '/') + 1, strlen(strrchr(path, '/') + 1)) == 0;
                    if ((strstr(err.what, key) == NULL && !other) || !is_named) {
                        fail_msg("change %u of %s: %s '%s'", (unsigned)c, key, qn_status_name(status), err.what);
                    }
                    n_refused++;
                }
                qn_model_close(m);
            }
            unlink(path);
        }
        qn_gguf_close(g);
        qn_free(bytes);
        assert_int_equal(qn_alloc_live(), live);
    }
    assert_true(n_refused > 200 && n_used > 50);
    qn_runtime_close(rt);
}

static void test_vocabulary_only(void **state)
{
    (void)state;
    char path[4096];
    qn_error err = {0};
    qn_model *m = NULL;
    qn_session *s = NULL;
    qn_runtime *rt = open_runtime("ref", 1);
    qn_tiny_spec spec = qn_tiny_spec_of("qwen2");
    qn_tiny_file(&spec, path);
    expect_ok(qn_model_open(rt, path, &(qn_model_options){.vocab_only = true}, &m, &err), &err);
    assert_int_equal(qn_session_open(m, NULL, &s, &err), QN_EINVAL);
    assert_non_null(strstr(err.what, "vocab_only"));
    qn_model_info info;
    qn_model_get_info(m, &info);
    assert_int_equal(info.n_vocab, QN_TINY_MIN_VOCAB);
    assert_string_equal(info.architecture, "qwen2");
    assert_int_equal(info.n_embd, 0);
    qn_model_close(m);
    unlink(path);
    qn_runtime_close(rt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_key),
        cmocka_unit_test(test_vocabulary_only),
    };
    qn_log_set_level(QN_LOG_ERROR); /* hundreds of warnings about odd files say nothing here */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
