/* KV memory that is too small: at opening, and in the middle of a long text. SPDX-License-Identifier: MIT */
#include "support.h"

/* Bytes of one token in all layers of a kind of tiny model, with F16 keys and values. */
static uint64_t token_bytes(const qn_tiny_spec *spec)
{
    return (uint64_t)spec->n_layers * spec->n_kv_heads * (spec->head_dim + spec->v_dim) * 2;
}

static void test_no_room_for_a_page(void **state)
{
    (void)state;
    static const char *const kinds[] = {"llama", "gemma3"}; /* one group of layers, and two */
    for (size_t i = 0; i < 2; i++) {
        qn_runtime *rt = open_runtime("ref", 1);
        qn_tiny_spec spec = qn_tiny_spec_of(kinds[i]);
        qn_model *m = open_tiny(rt, &spec);
        uint64_t least = token_bytes(&spec) * 16, used = qn_runtime_memory_used(rt);
        qn_session_options o = {.n_ctx = 64, .page_tokens = 16};
        char needed[32];
        snprintf(needed, sizeof(needed), "%llu", (unsigned long long)least);
        const uint64_t sizes[] = {1, least / 2, least - 1};
        for (size_t k = 0; k < 3; k++) {
            qn_session *s = NULL;
            qn_error err = {0};
            o.kv_bytes = sizes[k];
            assert_int_equal(qn_session_open(m, &o, &s, &err), QN_EINVAL);
            assert_null(s);
            assert_non_null(strstr(err.what, "kv_bytes"));
            assert_non_null(strstr(err.what, needed));
        }
        assert_int_equal(qn_runtime_memory_used(rt), used);
        o.kv_bytes = least;
        qn_session *s = open_session(m, &o);
        run_rows(open_seq(s), 1);
        qn_session_close(s);
        qn_model_close(m);
        qn_runtime_close(rt);
    }
}

/* What ran before the pages were used up counts, and can be taken back. */
static void test_full_in_the_middle(void **state)
{
    (void)state;
    qn_runtime *rt = open_runtime("ref", 1);
    qn_tiny_spec spec = qn_tiny_spec_of("llama");
    qn_model *m = open_tiny(rt, &spec);
    qn_session *s = open_session(m, &(qn_session_options){.n_ctx = 64, .n_batch = 8, .page_tokens = 8,
                                                          .kv_bytes = 3 * 8 * token_bytes(&spec)});
    qn_seq *q = open_seq(s);
    int32_t tokens[40];
    qn_error err = {0};
    const float *logits = NULL;
    for (uint32_t i = 0; i < 40; i++) {
        tokens[i] = token_at(0, i);
    }
    assert_int_equal(qn_seq_eval(q, tokens, 20, &logits, &err), QN_OK);
    float want[QN_TINY_MIN_VOCAB];
    memcpy(want, logits, sizeof(want));
    assert_int_equal(qn_seq_truncate(q, 0, NULL), QN_OK);

    logits = NULL;
    assert_int_equal(qn_seq_eval(q, tokens, 40, &logits, &err), QN_EFULL);
    assert_null(logits);
    assert_null(qn_session_logits(s, 0));
    assert_int_equal(qn_seq_length(q), 24);
    assert_int_equal(qn_seq_truncate(q, 16, NULL), QN_OK);
    assert_int_equal(qn_seq_eval(q, tokens + 16, 4, &logits, &err), QN_OK);
    for (uint32_t i = 0; i < QN_TINY_MIN_VOCAB; i++) {
        assert_true(fabsf(logits[i] - want[i]) <= 1e-4f);
    }

    /* A bad token far behind is seen before anything runs. */
    assert_int_equal(qn_seq_truncate(q, 0, NULL), QN_OK);
    tokens[19] = (int32_t)spec.n_vocab;
    assert_int_equal(qn_seq_eval(q, tokens, 20, &logits, &err), QN_ERANGE);
    assert_non_null(strstr(err.what, "tokens[19]"));
    assert_int_equal(qn_seq_length(q), 0);
    qn_session_close(s);
    qn_model_close(m);
    qn_runtime_close(rt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_room_for_a_page),
        cmocka_unit_test(test_full_in_the_middle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
