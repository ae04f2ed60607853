/* The tiny models of the test support: every kind and every type that can be encoded opens and runs, and none gives the
 * same logits as another. SPDX-License-Identifier: MIT */
#include "test.h"

#include "quern/quern.h"
#include "tiny_model.h"

#include <math.h>
#include <unistd.h>

static qn_runtime *open_runtime(void)
{
    qn_runtime_options o;
    qn_runtime *rt = NULL;
    qn_runtime_options_init(&o);
    o.n_threads = 2;
    assert_int_equal(qn_runtime_open(&o, &rt, NULL), QN_OK);
    return rt;
}

/* The last row of logits after a few tokens. */
static void run(qn_runtime *rt, const qn_tiny_spec *spec, float *logits)
{
    char path[4096];
    qn_error err = {0};
    qn_model *m = NULL;
    qn_session *s = NULL;
    qn_seq *q = NULL;
    qn_tiny_file(spec, path);
    qn_status status = qn_model_open(rt, path, NULL, &m, &err);
    unlink(path);
    if (status == QN_OK) {
        status = qn_session_open(m, NULL, &s, &err);
    }
    if (status != QN_OK) {
        fail_msg("%s in %s: %s", spec->arch, qn_type_name(spec->type), err.what);
    }
    assert_int_equal(qn_seq_open(s, &q, NULL), QN_OK);
    int32_t ids[40];
    for (int i = 0; i < 40; i++) {
        ids[i] = 3 + i * 7 % 280;
    }
    const float *out;
    assert_int_equal(qn_seq_eval(q, ids, 40, &out, NULL), QN_OK);
    for (uint32_t i = 0; i < spec->n_vocab; i++) {
        assert_true(isfinite(out[i]));
        logits[i] = out[i];
    }
    qn_session_close(s);
    qn_model_close(m);
}

static float difference(const float *a, const float *b, size_t n)
{
    double sum = 0.0, norm = 0.0;
    for (size_t i = 0; i < n; i++) {
        sum += ((double)a[i] - b[i]) * ((double)a[i] - b[i]);
        norm += (double)a[i] * a[i];
    }
    return (float)sqrt(sum / norm);
}

static void test_every_kind(void **state)
{
    (void)state;
    static float logits[QN_TINY_N_KINDS][QN_TINY_MIN_VOCAB];
    qn_runtime *rt = open_runtime();
    for (size_t i = 0; i < QN_TINY_N_KINDS; i++) {
        qn_tiny_spec spec = qn_tiny_spec_of(qn_tiny_kinds[i]);
        run(rt, &spec, logits[i]);
        for (size_t k = 0; k < i; k++) {
            assert_true(difference(logits[i], logits[k], spec.n_vocab) > 0.1f);
        }
        spec.o_biases = spec.n_experts == 0;
        float other[QN_TINY_MIN_VOCAB];
        run(rt, &spec, other);
        assert_true((difference(logits[i], other, spec.n_vocab) > 0.1f) == spec.o_biases);
    }
    qn_runtime_close(rt);
}

/* Logits with weights of type t must be those of floats but for the rounding. */
static void check_type(qn_runtime *rt, qn_tiny_spec spec, uint32_t t, const float *exact)
{
    float logits[QN_TINY_MIN_VOCAB];
    spec.type = spec.embd_type = (qn_type)t;
    run(rt, &spec, logits);
    float d = difference(exact, logits, spec.n_vocab);
    bool is_ternary = t == QN_TYPE_TQ1_0 || t == QN_TYPE_TQ2_0; /* nothing but signs is left of such weights */
    if (d > (is_ternary ? 2.0f : 1.0f) || d == 0.0f) {
        fail_msg("%s: logits differ by %g", qn_type_name(t), (double)d);
    }
}

static void test_every_type(void **state)
{
    (void)state;
    float exact[2][QN_TINY_MIN_VOCAB];
    qn_tiny_spec dense = qn_tiny_spec_of("llama"), experts = qn_tiny_spec_of("llama-moe");
    qn_runtime *rt = open_runtime();
    dense.n_layers = experts.n_layers = 1;
    dense.n_embd = dense.n_ff = experts.n_embd = experts.n_ff = 256; /* the longest blocks */
    dense.n_heads = experts.n_heads = dense.n_kv_heads = experts.n_kv_heads = 8;
    dense.head_dim = dense.v_dim = experts.head_dim = experts.v_dim = 32;
    dense.n_distinct = experts.n_distinct = 32; /* else encoding is all that takes time, minutes under a sanitizer */
    experts.n_experts = 2;
    experts.n_experts_used = 1;
    run(rt, &dense, exact[0]);
    run(rt, &experts, exact[1]);
    for (uint32_t t = 0; t < QN_TYPE_COUNT; t++) {
        const qn_type_info *info = qn_type_find(t);
        if (info != NULL && info->encode != NULL && t != QN_TYPE_F32) {
            check_type(rt, dense, t, exact[0]);
            if (t == QN_TYPE_F16 || t == QN_TYPE_Q4_K || t == QN_TYPE_MXFP4) {
                check_type(rt, experts, t, exact[1]);
            }
        }
    }
    qn_runtime_close(rt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind),
        cmocka_unit_test(test_every_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
