/* Tests of the CPU backend's plans by hand: long sequences, stops, what cannot run, failing memory.
 * SPDX-License-Identifier: MIT */
#include "graph_rig.h"

static const qn_type f32_only[] = {QN_TYPE_F32};
static const qn_type mixed[] = {QN_TYPE_F32, QN_TYPE_Q8_0, QN_TYPE_Q4_0, QN_TYPE_Q5_1, QN_TYPE_F16, QN_TYPE_MXFP4};

/* One layer of attention between an embedding and logits. */
static void attention_graph(rig *r)
{
    qn_val x = qn_graph_embed(&r->g, "embd", new_weight(r, QN_TYPE_F32, WIDTH, N_VOCAB, 1, 0.0f, 1.0f));
    push(r, x);
    for (uint32_t i = 0; i < N_LAYERS; i++) {
        add_attention(r, i);
    }
    end_graph(r);
}

/* Sequence 0 is prefilled far enough for its decode rows to be cut into parts, sequence 1 half as far; then all go on
 * together, one row each or more. */
static void long_step(rig *r, step *s, sequence *all)
{
    begin_step(s);
    if (all[1].length < 500) {
        add_rows(r, s, all, 0, MAX_ROWS / 2);
        add_rows(r, s, all, 1, MAX_ROWS / 2);
    } else if (all[0].length < 1100) {
        add_rows(r, s, all, 0, MAX_ROWS - 1);
        add_rows(r, s, all, 1, 1);
    } else {
        for (uint32_t i = 0; i < JUDGE_MAX_SEQS; i++) {
            add_rows(r, s, all, i, i == 2 ? 1 + below(r, 2) : 1);
        }
    }
    if (s->rows.n_out == 0) {
        s->out_rows[s->rows.n_out++] = s->rows.n_rows - 1;
    }
}

static void test_long_sequences(void **state)
{
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        machine m;
        rig *r = malloc(sizeof(*r));
        open_machine(&m, i % 2 == 1 ? NULL : "ref", 1 + i / 2);
        open_rig(r, 70 + i, f32_only, 1, i < 2 ? QN_TYPE_F32 : QN_TYPE_F16);
        r->layers[0].window = 0;
        r->layers[1].window = 700;
        r->layers[2].window = 90;
        assert_int_equal(qn_kv_layout_plan(&r->kv, NULL), QN_OK);
        attention_graph(r);
        if (i == 3) {
            poison_backend(m.be);
        }
        play(r, &m, 90, long_step, i < 2 ? 2e-5 : 1e-2);
        close_rig(r);
        free(r);
        close_machine(&m);
    }
}

static void test_a_stop_ends_a_step(void **state)
{
    (void)state;
    for (uint32_t n_threads = 1; n_threads <= 3; n_threads++) {
        machine m;
        step s;
        float want[MAX_ROWS * N_LOGITS], got[MAX_ROWS * N_LOGITS];
        const atomic_bool stop = true;
        sequence *all = calloc(JUDGE_MAX_SEQS, sizeof(*all));
        rig *r = malloc(sizeof(*r));
        open_machine(&m, "ref", n_threads);
        open_rig(r, 80, mixed, 6, QN_TYPE_F32);
        random_graph(r, true);
        qn_exec *ex = compile_rig(r, &m, &(qn_exec_limits){.n_rows = MAX_ROWS, .n_seqs = JUDGE_MAX_SEQS, .n_ctx = 100,
                                                       .n_out = MAX_OUT});
        random_step(r, &s, all);
        run_step(ex, m.be, &s, want);
        assert_int_equal(m.be->ops->run_body(ex, &s.rows, &stop), QN_EABORTED);
        assert_int_equal(m.be->ops->run_head(ex, &s.rows, 0, 1, got, &stop), QN_EABORTED);
        run_step(ex, m.be, &s, got);
        assert_memory_equal(got, want, sizeof(float) * N_LOGITS * s.rows.n_out);
        m.be->ops->exec_free(ex);
        close_rig(r);
        free(r);
        free_sequences(all);
        close_machine(&m);
    }
}

static void expect_refusal(rig *r, machine *m, qn_status status, const char *part)
{
    qn_exec *ex = NULL;
    qn_error err = {0};
    uint64_t live = qn_alloc_live();
    qn_exec_limits lim = {.n_rows = 4, .n_seqs = 1, .n_ctx = 16, .n_out = 1};
    assert_int_equal(qn_graph_status(&r->g, NULL), QN_OK);
    qn_status got = m->be->ops->compile(m->be, &r->g, &lim, &ex, &err);
    if (got != status || err.code != status || strstr(err.what, part) == NULL) {
        fail_msg("%s, '%s' in place of '%s'", qn_status_name(got), err.what, part);
    }
    assert_null(ex);
    assert_int_equal(qn_alloc_live(), live);
    close_rig(r);
    open_rig(r, 90, f32_only, 1, QN_TYPE_F32);
}

static void test_what_cannot_run_is_refused(void **state)
{
    (void)state;
    machine m;
    rig *r = malloc(sizeof(*r));
    open_machine(&m, "ref", 1);
    m.kernels.mm[QN_TYPE_I32].one = NULL; /* as a kernel set may lack a type */
    m.kernels.decode_row[QN_TYPE_I32] = NULL;
    open_rig(r, 90, f32_only, 1, QN_TYPE_F32);
    qn_weight bad = {.name = QN_STR("blk.7.bad"), .type = QN_TYPE_I32, .n_in = WIDTH, .n_out = WIDTH, .n_mats = 1,
                     .row_bytes = 4 * WIDTH};
    qn_weight bad_experts = bad;
    bad_experts.n_mats = N_EXPERTS;

    begin_graph(r);
    expect_refusal(r, &m, QN_EINTERNAL, "logits");

    qn_graph_pick(&r->g, "picked", qn_graph_embed(&r->g, "embd", &bad));
    expect_refusal(r, &m, QN_EUNSUPPORTED, "blk.7.bad");

    begin_graph(r);
    qn_graph_mul_mat(&r->g, "y", &bad, r->pool[0]);
    expect_refusal(r, &m, QN_EUNSUPPORTED, "I32");

    begin_graph(r);
    qn_val routing = qn_graph_route(&r->g, "route", times(r, r->pool[0], N_EXPERTS), N_USED, true);
    qn_graph_mul_expert(&r->g, "y", &bad_experts, r->pool[0], routing);
    expect_refusal(r, &m, QN_EUNSUPPORTED, "blk.7.bad");

    begin_graph(r);
    qn_graph_route(&r->g, "route", times(r, r->pool[0], N_EXPERTS), N_USED, true);
    qn_graph_route(&r->g, "route", times(r, r->pool[0], N_EXPERTS), N_USED + 1, true);
    end_graph(r);
    expect_refusal(r, &m, QN_EUNSUPPORTED, "experts");

    begin_graph(r);
    const qn_kv_layer *l = &r->layers[0];
    qn_val k = times(r, r->pool[0], l->n_heads * l->head_dim), v = times(r, r->pool[0], l->n_heads * l->v_dim);
    qn_attention a = {.n_heads = l->n_heads, .scale = 1.0f};
    qn_graph_attention(&r->g, "attention", k, &a);
    end_graph(r);
    expect_refusal(r, &m, QN_EINTERNAL, "KV write");

    begin_graph(r);
    l = &r->layers[0];
    k = times(r, r->pool[0], l->n_heads * l->head_dim);
    v = times(r, r->pool[0], l->n_heads * l->v_dim);
    qn_graph_kv_write(&r->g, 0, k, v);
    qn_graph_attention(&r->g, "attention", k, &a);
    qn_graph_attention(&r->g, "attention", k, &a);
    end_graph(r);
    expect_refusal(r, &m, QN_EINTERNAL, "KV write");

    begin_graph(r);
    k = times(r, r->pool[0], r->layers[0].n_heads * r->layers[0].head_dim);
    v = times(r, r->pool[0], r->layers[0].n_heads * r->layers[0].v_dim);
    qn_graph_kv_write(&r->g, 0, k, v);
    end_graph(r);
    expect_refusal(r, &m, QN_EINTERNAL, "KV write");

    qn_rope ropes[QN_CPU_MAX_ROPES + 1];
    begin_graph(r);
    qn_val x = r->pool[0];
    for (uint32_t i = 0; i <= QN_CPU_MAX_ROPES; i++) {
        ropes[i] = r->ropes[0];
        x = qn_graph_rope(&r->g, "turned", x, &ropes[i], 16);
    }
    end_graph(r);
    expect_refusal(r, &m, QN_EUNSUPPORTED, "rotary");
    close_rig(r);
    free(r);
    close_machine(&m);
}

static void test_no_memory(void **state)
{
    (void)state;
    machine m;
    rig *r = malloc(sizeof(*r));
    open_machine(&m, "ref", 2);
    open_rig(r, 95, f32_only, 1, QN_TYPE_F32);
    begin_graph(r);
    add_attention(r, 0);
    add_experts(r);
    add_ffn(r);
    end_graph(r);
    uint64_t live = qn_alloc_live();
    uint32_t n_failed = 0;
    for (bool done = false; !done; n_failed += !done) {
        qn_exec *ex = NULL;
        qn_error err = {0};
        qn_exec_limits lim = {.n_rows = 4, .n_seqs = 1, .n_ctx = 16, .n_out = 1};
        qn_alloc_fail_at(n_failed + 1);
        qn_status status = m.be->ops->compile(m.be, &r->g, &lim, &ex, &err);
        qn_alloc_fail_at(0);
        done = status == QN_OK;
        assert_true(done || (status == QN_ENOMEM && err.code == QN_ENOMEM && ex == NULL));
        m.be->ops->exec_free(ex);
        assert_int_equal(qn_alloc_live(), live);
    }
    assert_true(n_failed > 10);
    close_rig(r);
    free(r);
    close_machine(&m);
}

/* Keys and values as codes, in steps that end inside the first page, at its end and behind it: what the judge says, but
 * for the error of the codes; and the same from all kernel sets, whatever the number of threads. */
static void test_codes(void **state)
{
    (void)state;
    const char *isa;
    bool usable;
    for (size_t i_set = 0; qn_kernels_known(i_set, &isa, &usable); i_set++) {
        for (uint32_t i = 0; usable && i < 6; i++) {
            static const uint32_t n_plain[] = {0, 3, 1};
            machine m;
            rig *r = malloc(sizeof(*r));
            open_machine(&m, isa, 1 + i % 2);
            open_rig(r, 170 + i, f32_only, 1, i % 2 == 0 ? QN_TYPE_F16 : QN_TYPE_BF16);
            r->kv.bits = i % 3 < 2 ? 8 : 4;
            r->kv.n_plain = n_plain[i % 3];
            r->layers[0].window = 0;
            r->layers[1].window = 70;
            assert_int_equal(qn_kv_layout_plan(&r->kv, NULL), QN_OK);
            attention_graph(r);
            play(r, &m, 40, i < 3 ? random_step : long_step, r->kv.bits == 8 ? 3e-2 : 0.3);
            close_rig(r);
            free(r);
            close_machine(&m);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_long_sequences),
        cmocka_unit_test(test_codes),
        cmocka_unit_test(test_a_stop_ends_a_step),
        cmocka_unit_test(test_what_cannot_run_is_refused),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
