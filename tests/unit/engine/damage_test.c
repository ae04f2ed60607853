/* A model file that is cut short while it is in use ends that model with an error; the process and other models go on.
 * SPDX-License-Identifier: MIT */
#include "support.h"

#include <fcntl.h>
#include <sys/stat.h>

enum { N_VOCAB = QN_TINY_MIN_VOCAB };

static void eval(qn_seq *q, float *logits)
{
    const float *l;
    const int32_t tokens[] = {4, 9, 16, 25, 36, 49, 64, 81, 100, 121};
    qn_error err = {0};
    expect_ok(qn_seq_eval(q, tokens, 10, &l, &err), &err);
    memcpy(logits, l, sizeof(float) * N_VOCAB);
}

static void cut(const char *path, int part, int of)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(truncate(path, st.st_size / of * part), 0);
}

static void test_a_cut_in_use(void **state)
{
    (void)state;
    char path[4096];
    float before[N_VOCAB], after[N_VOCAB];
    qn_error err = {0};
    qn_runtime *rt = open_runtime(NULL, 2);
    qn_tiny_spec spec = qn_tiny_spec_of("qwen3");
    qn_model *other = open_tiny(rt, &spec);
    qn_session *other_session = open_session(other, NULL);
    qn_seq *other_seq = open_seq(other_session);
    eval(other_seq, before);
    assert_int_equal(qn_seq_truncate(other_seq, 0, NULL), QN_OK);

    spec = qn_tiny_spec_of("llama");
    spec.n_vocab = 20000; /* so that the tensors reach over many pages of memory */
    qn_tiny_file(&spec, path);
    qn_model *m = NULL;
    expect_ok(qn_model_open(rt, path, NULL, &m, &err), &err);
    qn_session *s = open_session(m, NULL);
    qn_seq *q = open_seq(s);
    const int32_t tokens[] = {5, 6, 19999};
    assert_int_equal(qn_seq_eval(q, tokens, 2, NULL, &err), QN_OK);
    cut(path, 1, 4);
    assert_int_equal(qn_seq_eval(q, tokens, 3, NULL, &err), QN_EDAMAGED);
    assert_int_equal(err.code, QN_EDAMAGED);
    assert_non_null(strstr(err.what, strrchr(path, '/') + 1)); /* names the file */
    assert_int_equal(qn_seq_length(q), 2);
    assert_null(qn_session_logits(s, 0));
    /* it stays so, for other sessions too */
    assert_int_equal(qn_seq_eval(q, tokens, 1, NULL, &err), QN_EDAMAGED);
    qn_session *second = open_session(m, &(qn_session_options){.n_ctx = 32});
    assert_int_equal(qn_seq_eval(open_seq(second), tokens, 1, NULL, &err), QN_EDAMAGED);
    qn_session_close(second);

    eval(other_seq, after);
    assert_memory_equal(before, after, sizeof(before));
    qn_session_close(s);
    qn_model_close(m);
    /* the file is no model any more, and another can be opened in its place */
    m = NULL;
    assert_int_equal(qn_model_open(rt, path, NULL, &m, &err), QN_EFORMAT);
    assert_null(m);
    unlink(path);
    qn_tiny_file(&spec, path);
    expect_ok(qn_model_open(rt, path, NULL, &m, &err), &err);
    qn_model_close(m);
    unlink(path);
    qn_session_close(other_session);
    qn_model_close(other);
    qn_runtime_close(rt);
}

static void test_a_file_cut_before_it_is_opened(void **state)
{
    (void)state;
    qn_runtime *rt = open_runtime(NULL, 1);
    qn_tiny_spec spec = qn_tiny_spec_of("gemma2");
    for (int part = 0; part < 20; part++) {
        char path[4096];
        qn_error err = {0};
        qn_model *m = NULL;
        qn_tiny_file(&spec, path);
        cut(path, part, 20);
        assert_int_equal(qn_model_open(rt, path, NULL, &m, &err), QN_EFORMAT);
        assert_true(err.what[0] != '\0');
        assert_null(m);
        unlink(path);
    }
    qn_model *m = NULL;
    qn_error err = {0};
    assert_int_equal(qn_model_open(rt, "/nonexistent/model.gguf", NULL, &m, &err), QN_EIO);
    assert_non_null(strstr(err.what, "/nonexistent/model.gguf"));
    assert_int_equal(qn_model_open(rt, "/", NULL, &m, &err), QN_EFORMAT);
    qn_runtime_close(rt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_cut_in_use),
        cmocka_unit_test(test_a_file_cut_before_it_is_opened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
