/* The plans that sessions of every kind of model get: no two values that live at the same time overlap, and memory in
 * which nothing lives may hold anything. SPDX-License-Identifier: MIT */
#include "../backend/poison.h"

#include "support.h"

enum { N_SEQS = 3, N_STEPS = 7, MAX_LOGITS = 200 };

static qn_tiny_spec spec_of(size_t kind, qn_type type)
{
    qn_tiny_spec spec = qn_tiny_spec_of(qn_tiny_kinds[kind]);
    spec.type = spec.embd_type = type;
    spec.o_biases = kind % 2 == 0 && spec.n_experts == 0;
    if (qn_type_find(type)->block_len == 256) { /* such blocks take long to encode, so there are few */
        spec.n_embd = spec.n_ff = 256;
        spec.n_heads = 8;
        spec.n_kv_heads = 2;
        spec.head_dim = spec.v_dim = 32;
        spec.n_layers = 1;
        spec.n_experts = spec.n_experts == 0 ? 0 : 2;
        spec.n_experts_used = spec.n_experts / 2;
        spec.embd_type = QN_TYPE_F32;
        spec.tied = true;
    }
    return spec;
}

static void check_blocks(const qn_session *s)
{
    const qn_backend_ops *ops = s->model->rt->cpu->ops;
    uint32_t n = ops->n_blocks(s->exec);
    uint64_t total = ops->arena_bytes(s->exec), sum = 0;
    qn_block *blocks = calloc(n, sizeof(*blocks));
    assert_non_null(blocks);
    for (uint32_t i = 0; i < n; i++) {
        const char *name = NULL;
        blocks[i] = *ops->block(s->exec, i, &name);
        assert_true(name != NULL && name[0] != '\0');
        assert_true(blocks[i].bytes == 0 || blocks[i].first <= blocks[i].last);
        assert_true(blocks[i].offset % QN_ARENA_ALIGN == 0 && blocks[i].offset + blocks[i].bytes <= total);
        sum += blocks[i].bytes;
    }
    assert_true(qn_arena_plan_ok(blocks, n));
    assert_true(total < sum / 2); /* memory is shared, or the plan would be for nothing */
    free(blocks);
}

static void check_text(const qn_session *s)
{
    static char text[1 << 16];
    size_t n_bytes = 0, needed = 0;
    qn_error err = {0};
    assert_int_equal(qn_session_plan_text(s, text, sizeof(text) - 1, &n_bytes, &err), QN_OK);
    text[n_bytes] = '\0';
    assert_int_equal(qn_session_plan_text(s, text, n_bytes - 1, &needed, &err), QN_ERANGE);
    assert_int_equal(needed, n_bytes);
    for (uint32_t i = 0; i < s->exec->n_blocks; i++) {
        assert_true(s->exec->places[i].bytes == 0 || strstr(text, s->exec->blocks[i].name) != NULL);
    }
}

static void test_no_two_live_blocks_overlap(void **state)
{
    (void)state;
    static const qn_type types[] = {QN_TYPE_F32, QN_TYPE_Q8_0, QN_TYPE_Q4_K};
    static const qn_session_options options[] = {
        {.n_ctx = 64, .n_batch = 1},
        {.n_ctx = 256, .n_batch = 64, .n_seqs = 3, .n_logits = 64},
        {.n_ctx = 5000, .n_batch = 512, .n_seqs = 2, .n_threads = 1},
    };
    const char *isa;
    for (size_t i = 0; next_isa(&i, &isa);) {
        qn_runtime *rt = open_runtime(isa, 2);
        for (size_t kind = 0; kind < QN_TINY_N_KINDS; kind++) {
            for (size_t t = 0; t < (kind < 2 ? 3 : 2); t++) {
                qn_tiny_spec spec = spec_of(kind, types[t]);
                qn_model *m = open_tiny(rt, &spec);
                for (size_t o = 0; o < 3; o++) {
                    qn_session *s = open_session(m, &options[o]);
                    check_blocks(s);
                    check_text(s);
                    qn_session_close(s);
                }
                qn_model_close(m);
            }
        }
        qn_runtime_close(rt);
    }
}

/* Steps of one row, of few and of many, alone and mixed, the last one longer than the logits buffer. */
static const uint32_t rows_of[N_STEPS][N_SEQS] = {{1, 0, 0}, {1, 0, 0}, {0, 30, 0}, {1, 1, 0}, {2, 1, 7}, {40, 1, 1}, {0, 0, 1}};

static int save_row(void *ctx, uint32_t i_row, const float *logits)
{
    float (*rows)[QN_TINY_MIN_VOCAB] = ctx;
    memcpy(rows[i_row], logits, sizeof(rows[0]));
    return 0;
}

static uint32_t run_steps(qn_session *s, float (*out)[QN_TINY_MIN_VOCAB])
{
    qn_seq *q[N_SEQS];
    uint32_t n_out = 0;
    for (uint32_t i = 0; i < N_SEQS; i++) {
        q[i] = open_seq(s);
    }
    for (uint32_t step = 0; step < N_STEPS; step++) {
        int32_t tokens[N_SEQS][64];
        qn_step_item items[N_SEQS];
        uint32_t n_items = 0;
        for (uint32_t i = 0; i < N_SEQS; i++) {
            uint32_t n = rows_of[step][i];
            for (uint32_t k = 0; k < n; k++) {
                tokens[i][k] = token_at(i, qn_seq_length(q[i]) + k);
            }
            if (n != 0) {
                items[n_items++] = (qn_step_item){.seq = q[i], .tokens = tokens[i], .n_tokens = n, .want = QN_WANT_LAST};
            }
        }
        assert_int_equal(qn_step(s, items, n_items, NULL), QN_OK);
        for (uint32_t i = 0; i < n_items; i++) {
            save_row(out, n_out++, qn_session_logits(s, items[i].i_logits));
        }
    }
    int32_t tokens[20];
    for (uint32_t k = 0; k < 20; k++) {
        tokens[k] = token_at(0, k);
    }
    assert_int_equal(qn_seq_eval_each(q[2], tokens, 20, save_row, out + n_out, NULL), QN_OK);
    n_out += 20;
    for (uint32_t i = 0; i < N_SEQS; i++) {
        qn_seq_close(q[i]);
    }
    return n_out;
}

static void check_poisoned(const char *isa, size_t kind, qn_type type)
{
    static float plain[MAX_LOGITS][QN_TINY_MIN_VOCAB], poisoned[MAX_LOGITS][QN_TINY_MIN_VOCAB];
    qn_runtime *rt = open_runtime(isa, 2);
    qn_tiny_spec spec = spec_of(kind, type);
    qn_model *m = open_tiny(rt, &spec);
    qn_session_options o = {.n_ctx = 96, .n_batch = 64, .n_seqs = N_SEQS + 1, .n_logits = 6, .page_tokens = 8};
    qn_session *s = open_session(m, &o);
    uint32_t n = run_steps(s, plain);
    qn_session_close(s);
    qn_random rnd;
    qn_random_seed(&rnd, 1);
    s = open_session(m, &o);
    spoil_pages(s, &rnd);
    poison_backend(rt->cpu);
    assert_int_equal(run_steps(s, poisoned), n);
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t v = 0; v < QN_TINY_MIN_VOCAB; v++) {
            if (!(plain[i][v] == poisoned[i][v])) {
                fail_msg("%s, %s weights, %s: logits row %u differs", qn_tiny_kinds[kind], qn_type_name(type), isa, i);
            }
        }
    }
    qn_session_close(s);
    qn_model_close(m);
    qn_runtime_close(rt);
}

static void test_dead_memory_does_not_matter(void **state)
{
    (void)state;
    const char *isa;
    for (size_t i = 0; next_isa(&i, &isa);) {
        for (size_t kind = 0; kind < QN_TINY_N_KINDS; kind++) {
            check_poisoned(isa, kind, kind % 2 == 0 ? QN_TYPE_F32 : QN_TYPE_Q8_0);
            check_poisoned(isa, kind, kind % 2 == 0 ? QN_TYPE_Q4_0 : QN_TYPE_F16);
        }
        check_poisoned(isa, 0, QN_TYPE_Q4_K);
        check_poisoned(isa, 1, QN_TYPE_Q6_K);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_two_live_blocks_overlap),
        cmocka_unit_test(test_dead_memory_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
