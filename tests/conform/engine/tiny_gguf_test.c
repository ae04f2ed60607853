/* Small checkpoints of every architecture, made and run by another implementation: the same logits here, whatever the
 * size of the steps; and a small trained model that tells a known story. SPDX-License-Identifier: MIT */
#include "test.h"

#include "npz.h"
#include "quern/quern.h"
#include "tiny_model.h"

#include <math.h>
#include <unistd.h>

static const char *const names[] = {"gemma2", "gemma3-text", "llama-yarn", "llama3rope", "mistral-noswa",
                                    "mixtral", "qwen2",      "qwen3"};
enum { N_NAMES = sizeof(names) / sizeof(names[0]) };

/* Largest difference allowed, as a part of the logits' deviation. */
#define TOLERANCE_F32 1e-4
#define TOLERANCE_F16 5e-3

static void expect_ok(qn_status status, const qn_error *err)
{
    if (status != QN_OK) {
        fail_msg("%s: %s", qn_status_name(status), err->what);
    }
}

typedef struct expected {
    qn_npz npz;
    int32_t *ids;
    float *logits;
    size_t n_tokens, n_vocab;
    double deviation;
} expected;

static expected read_expected(const char *path)
{
    expected e = {.npz = qn_npz_open(path)};
    size_t shape[2];
    const uint8_t *ids = qn_npz_array(&e.npz, "ids", "<i8", shape);
    e.n_tokens = shape[0];
    const uint8_t *out = qn_npz_array(&e.npz, "out", "<f4", shape);
    assert_int_equal(shape[0], e.n_tokens);
    e.n_vocab = shape[1];
    e.ids = malloc(e.n_tokens * sizeof(*e.ids));
    e.logits = malloc(e.n_tokens * e.n_vocab * sizeof(float));
    assert_true(e.ids != NULL && e.logits != NULL);
    memcpy(e.logits, out, e.n_tokens * e.n_vocab * sizeof(float));
    for (size_t i = 0; i < e.n_tokens; i++) {
        int64_t id;
        memcpy(&id, ids + i * sizeof(id), sizeof(id));
        e.ids[i] = (int32_t)id;
    }
    double sum = 0.0, squares = 0.0, n = (double)(e.n_tokens * e.n_vocab);
    for (size_t i = 0; i < e.n_tokens * e.n_vocab; i++) {
        sum += (double)e.logits[i];
        squares += (double)e.logits[i] * (double)e.logits[i];
    }
    e.deviation = sqrt(squares / n - sum / n * (sum / n));
    return e;
}

static void free_expected(expected *e)
{
    qn_npz_close(&e->npz);
    free(e->ids);
    free(e->logits);
}

typedef struct comparison {
    const expected *e;
    size_t first; /* position of row 0 */
    double worst;
} comparison;

static int compare_row(void *ctx, uint32_t i_row, const float *logits)
{
    comparison *c = ctx;
    const float *want = c->e->logits + (c->first + i_row) * c->e->n_vocab;
    for (size_t v = 0; v < c->e->n_vocab; v++) {
        double d = fabs((double)logits[v] - (double)want[v]) / c->e->deviation;
        c->worst = d > c->worst || isnan(d) ? d : c->worst;
    }
    return 0;
}

/* The largest difference when the text goes in `step` tokens at a time. */
static double compare(qn_model *m, const expected *e, qn_kv_type kv_type, size_t step)
{
    qn_error err = {0};
    qn_session *s = NULL;
    qn_seq *q = NULL;
    comparison c = {.e = e};
    qn_session_options o = {.n_ctx = 64, .n_batch = (uint32_t)step, .n_logits = step < 5 ? 1 : 5, .page_tokens = 8,
                            .kv_type = kv_type};
    expect_ok(qn_session_open(m, &o, &s, &err), &err);
    expect_ok(qn_seq_open(s, &q, &err), &err);
    for (; c.first < e->n_tokens; c.first += step) {
        size_t left = e->n_tokens - c.first;
        uint32_t n = (uint32_t)(left < step ? left : step);
        expect_ok(qn_seq_eval_each(q, e->ids + c.first, n, compare_row, &c, &err), &err);
    }
    qn_session_close(s);
    return c.worst;
}

static void check_files(const char *isa)
{
    qn_error err = {0};
    qn_runtime *rt = NULL;
    qn_status status = qn_runtime_open(&(qn_runtime_options){.isa = isa, .n_threads = 2}, &rt, &err);
    if (status == QN_EUNSUPPORTED) {
        QN_TEST_SKIP("this processor lacks the instruction set");
    }
    expect_ok(status, &err);
    for (size_t i = 0; i < N_NAMES; i++) {
        char relative[64], model[4096];
        snprintf(relative, sizeof(relative), "tiny-gguf/%s.gguf", names[i]);
        const char *path = qn_test_data(relative);
        if (path == NULL) {
            qn_runtime_close(rt);
            QN_TEST_SKIP("no shared data: tiny-gguf");
        }
        snprintf(model, sizeof(model), "%s", path);
        snprintf(relative, sizeof(relative), "tiny-gguf/%s.npz", names[i]);
        expected e = read_expected(qn_test_data(relative));
        qn_model *m = NULL;
        expect_ok(qn_model_open(rt, model, NULL, &m, &err), &err);
        const size_t steps[] = {1, 7, e.n_tokens};
        for (size_t k = 0; k < 6; k++) {
            qn_kv_type kv_type = k < 3 ? QN_KV_F32 : QN_KV_F16;
            double worst = compare(m, &e, kv_type, steps[k % 3]), limit = k < 3 ? TOLERANCE_F32 : TOLERANCE_F16;
            if (!(worst <= limit)) {
                fail_msg("%s with %s, steps of %zu, %s cache: off by %g of the deviation", names[i],
                         qn_runtime_isa(rt), steps[k % 3], k < 3 ? "f32" : "f16", worst);
            }
        }
        qn_model_close(m);
        free_expected(&e);
    }
    qn_runtime_close(rt);
}

static void test_ref(void **state)
{
    (void)state;
    check_files("ref");
}

static void test_avx2(void **state)
{
    (void)state;
    check_files("avx2");
}

static void test_best(void **state)
{
    (void)state;
    check_files(NULL);
}

static int keep_row(void *ctx, uint32_t i_row, const float *logits)
{
    comparison *c = ctx;
    memcpy(c->e->logits + (c->first + i_row) * c->e->n_vocab, logits, c->e->n_vocab * sizeof(float));
    return 0;
}

/* Needs no files: the size of the steps does not matter to models made here either. */
static void test_step_sizes_agree(void **state)
{
    (void)state;
    enum { N_TOKENS = 60 };
    qn_error err = {0};
    qn_runtime *rt = NULL;
    expect_ok(qn_runtime_open(&(qn_runtime_options){.n_threads = 2}, &rt, &err), &err);
    for (size_t kind = 0; kind < QN_TINY_N_KINDS; kind++) {
        char path[4096];
        qn_model *m = NULL;
        qn_session *s = NULL;
        qn_seq *q = NULL;
        qn_tiny_spec spec = qn_tiny_spec_of(qn_tiny_kinds[kind]);
        qn_tiny_file(&spec, path);
        qn_status status = qn_model_open(rt, path, NULL, &m, &err);
        unlink(path);
        expect_ok(status, &err);
        expected e = {.n_tokens = N_TOKENS, .n_vocab = spec.n_vocab, .ids = malloc(N_TOKENS * sizeof(int32_t)),
                      .logits = malloc(sizeof(float) * N_TOKENS * spec.n_vocab)};
        assert_true(e.ids != NULL && e.logits != NULL);
        for (int32_t i = 0; i < N_TOKENS; i++) {
            e.ids[i] = 3 + i * 31 % 280;
        }
        for (int f16 = 0; f16 < 2; f16++) {
            qn_session_options o = {.n_ctx = 64, .kv_type = f16 ? QN_KV_F16 : QN_KV_F32};
            comparison c = {.e = &e};
            expect_ok(qn_session_open(m, &o, &s, &err), &err);
            expect_ok(qn_seq_open(s, &q, &err), &err);
            expect_ok(qn_seq_eval_each(q, e.ids, N_TOKENS, keep_row, &c, &err), &err);
            qn_session_close(s);
            double squares = 0.0;
            for (size_t i = 0; i < N_TOKENS * e.n_vocab; i++) {
                squares += (double)e.logits[i] * (double)e.logits[i];
            }
            e.deviation = sqrt(squares / (double)(N_TOKENS * e.n_vocab));
            assert_true(compare(m, &e, o.kv_type, 1) <= (f16 ? TOLERANCE_F16 : TOLERANCE_F32));
            assert_true(compare(m, &e, o.kv_type, 7) <= (f16 ? TOLERANCE_F16 : TOLERANCE_F32));
        }
        qn_model_close(m);
        free(e.ids);
        free(e.logits);
    }
    qn_runtime_close(rt);
}

static void test_a_known_story(void **state)
{
    (void)state;
    static const char *const story = ", there was a little girl named Lily. She loved to play outside in the park. One day, "
                                     "she saw a big, red ball. She wanted to play with it, but it was too high";
    QN_TEST_NEED(path, "models/stories260K.gguf");
    qn_error err = {0};
    qn_runtime *rt = NULL;
    qn_model *m = NULL;
    qn_session *s = NULL;
    qn_seq *q = NULL;
    qn_stream *stream = NULL;
    qn_sampler *greedy = NULL;
    qn_sampler_options so;
    qn_model_info info;
    qn_sampler_options_init(&so);
    so.temperature = 0.0f;
    expect_ok(qn_runtime_open(NULL, &rt, &err), &err);
    expect_ok(qn_model_open(rt, path, NULL, &m, &err), &err);
    expect_ok(qn_session_open(m, NULL, &s, &err), &err);
    expect_ok(qn_seq_open(s, &q, &err), &err);
    expect_ok(qn_stream_open(m, NULL, 0, &stream, &err), &err);
    expect_ok(qn_sampler_open(m, &so, &greedy, &err), &err);
    qn_model_get_info(m, &info);
    char text[1024] = "";
    size_t len = 0;
    int32_t id = info.bos;
    while (len < strlen(story) + 40) {
        const float *logits;
        const char *piece;
        size_t n_bytes;
        bool stopped;
        expect_ok(qn_seq_eval(q, &id, 1, &logits, &err), &err);
        expect_ok(qn_sampler_pick(greedy, logits, &id, NULL, &err), &err);
        expect_ok(qn_stream_push(stream, id, &piece, &n_bytes, &stopped, &err), &err);
        assert_true(len + n_bytes < sizeof(text));
        memcpy(text + len, piece, n_bytes);
        len += n_bytes;
    }
    text[len] = '\0';
    if (strstr(text, story) == NULL) {
        fail_msg("another story: '%s'", text);
    }
    qn_sampler_close(greedy);
    qn_stream_close(stream);
    qn_session_close(s);
    qn_model_close(m);
    qn_runtime_close(rt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ref),
        cmocka_unit_test(test_avx2),
        cmocka_unit_test(test_best),
        cmocka_unit_test(test_step_sizes_agree),
        cmocka_unit_test(test_a_known_story),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
