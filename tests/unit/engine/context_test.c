/* Long sequences, in which one row of decode is cut into parts, and sessions that run at the same time.
 * SPDX-License-Identifier: MIT */
#include "support.h"

#include <pthread.h>

enum { N_VOCAB = QN_TINY_MIN_VOCAB, N_LONG = 18000 };

/* Logits of position pos, evaluated alone (decode, in parts) or after its predecessor in one step (prefill, in tiles). */
static void logits_at(qn_seq *q, uint32_t pos, uint32_t n_rows, float *out)
{
    const float *logits;
    int32_t tokens[2];
    qn_error err = {0};
    assert_int_equal(qn_seq_truncate(q, pos + 1 - n_rows, NULL), QN_OK);
    for (uint32_t k = 0; k < n_rows; k++) {
        tokens[k] = token_at(0, pos + 1 - n_rows + k);
    }
    expect_ok(qn_seq_eval(q, tokens, n_rows, &logits, &err), &err);
    memcpy(out, logits, sizeof(float) * N_VOCAB);
}

static void test_parts_of_long_sequences(void **state)
{
    (void)state;
    /* around the borders of parts, and beyond the length from which parts grow instead of becoming more */
    static const uint32_t positions[] = {17990, 17000, 16640, 16384, 16383, 8192, 1536, 1025, 1024, 1023, 512, 511, 1};
    static const uint32_t page_tokens[] = {8, 32, 200};
    qn_runtime *rt = open_runtime(NULL, 2);
    qn_tiny_spec spec = qn_tiny_spec_of("llama");
    spec.n_layers = 1;
    spec.n_heads = 2;
    spec.n_kv_heads = 1;
    qn_model *m = open_tiny(rt, &spec);
    for (size_t p = 0; p < sizeof(page_tokens) / sizeof(page_tokens[0]); p++) {
        qn_session *s = open_session(m, &(qn_session_options){.n_ctx = N_LONG, .page_tokens = page_tokens[p],
                                                              .kv_type = QN_KV_F32});
        qn_seq *q = open_seq(s);
        static int32_t tokens[N_LONG];
        qn_error err = {0};
        for (uint32_t i = 0; i < N_LONG; i++) {
            tokens[i] = token_at(0, i);
        }
        expect_ok(qn_seq_eval(q, tokens, N_LONG, NULL, &err), &err);
        for (size_t i = 0; i < sizeof(positions) / sizeof(positions[0]); i++) {
            float alone[N_VOCAB], after[N_VOCAB];
            logits_at(q, positions[i], 1, alone);
            logits_at(q, positions[i], 2, after);
            for (uint32_t v = 0; v < N_VOCAB; v++) {
                if (!(fabsf(alone[v] - after[v]) <= 1e-4f)) {
                    fail_msg("position %u, pages of %u: %g and %g", positions[i], page_tokens[p], (double)alone[v],
                             (double)after[v]);
                }
            }
        }
        qn_session_close(s);
    }
    qn_model_close(m);
    qn_runtime_close(rt);
}

/* ---- sessions at the same time ---------------------------------------------------------------------- */

enum { N_THREADS = 3, N_TOKENS = 40 };

typedef struct talker {
    qn_model *m;
    uint32_t i_seq;
    float logits[N_VOCAB];
} talker;

static void *talk(void *arg)
{
    talker *t = arg;
    qn_session *s = NULL;
    qn_seq *q = NULL;
    qn_sampler *sampler = NULL;
    qn_sampler_options o;
    qn_sampler_options_init(&o);
    if (qn_session_open(t->m, &(qn_session_options){.n_ctx = 64, .n_batch = 16}, &s, NULL) != QN_OK ||
        qn_seq_open(s, &q, NULL) != QN_OK || qn_sampler_open(t->m, &o, &sampler, NULL) != QN_OK) {
        return arg; /* noticed by the logits that stay zero */
    }
    for (uint32_t pos = 0; pos < N_TOKENS;) {
        int32_t tokens[16], id;
        uint32_t n = pos == 0 ? 16 : 1;
        const float *logits;
        for (uint32_t k = 0; k < n; k++) {
            tokens[k] = token_at(t->i_seq, pos + k);
        }
        if (qn_seq_eval(q, tokens, n, &logits, NULL) != QN_OK || qn_sampler_pick(sampler, logits, &id, NULL, NULL) != QN_OK) {
            break;
        }
        pos += n;
        memcpy(t->logits, logits, sizeof(t->logits));
    }
    qn_sampler_close(sampler);
    qn_session_close(s);
    return NULL;
}

static void test_sessions_at_the_same_time(void **state)
{
    (void)state;
    static talker alone[N_THREADS], together[N_THREADS];
    qn_runtime *rt = open_runtime(NULL, 2);
    qn_tiny_spec specs[2] = {qn_tiny_spec_of("llama-moe"), qn_tiny_spec_of("gemma3")};
    qn_model *models[2] = {open_tiny(rt, &specs[0]), open_tiny(rt, &specs[1])};
    for (uint32_t i = 0; i < N_THREADS; i++) {
        alone[i] = together[i] = (talker){.m = models[i % 2], .i_seq = i};
        talk(&alone[i]);
    }
    for (int round = 0; round < 5; round++) {
        pthread_t threads[N_THREADS];
        for (uint32_t i = 0; i < N_THREADS; i++) {
            memset(together[i].logits, 0, sizeof(together[i].logits));
            assert_int_equal(pthread_create(&threads[i], NULL, talk, &together[i]), 0);
        }
        for (uint32_t i = 0; i < N_THREADS; i++) {
            pthread_join(threads[i], NULL);
            assert_true(alone[i].logits[0] != 0.0f);
            assert_memory_equal(alone[i].logits, together[i].logits, sizeof(alone[i].logits));
        }
    }
    qn_model_close(models[0]);
    qn_model_close(models[1]);
    qn_runtime_close(rt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_of_long_sequences),
        cmocka_unit_test(test_sessions_at_the_same_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
