/* Tests of tensor/graph.h. SPDX-License-Identifier: MIT */
#include "test.h"

#include "tensor/graph.h"

static qn_kv_layer layers[] = {{.n_heads = 2, .head_dim = 4, .v_dim = 6}};
static const qn_kv_layout kv = {.type = QN_TYPE_F32, .page_tokens = 8, .n_layers = 1, .layers = layers};
static const float no_freq[2];

static qn_weight weight(const char *name, uint32_t n_in, uint32_t n_out, uint32_t n_mats)
{
    return (qn_weight){.name = qn_str_of(name), .type = QN_TYPE_F32, .n_in = n_in, .n_out = n_out, .n_mats = n_mats};
}

static void check_value(const qn_graph *g, qn_val v, const char *name, uint32_t width, qn_rows rows)
{
    assert_true(v >= 0 && (uint32_t)v < g->n_values);
    assert_string_equal(g->values[v].name, name);
    assert_int_equal(g->values[v].width, width);
    assert_int_equal(g->values[v].rows, rows);
}

static void test_every_op(void **state)
{
    (void)state;
    qn_weight embd = weight("embd", 16, 50, 1), norm = weight("norm", 16, 1, 1), head = weight("head", 4, 1, 1);
    qn_weight q = weight("q", 16, 16, 1), k = weight("k", 16, 8, 1), v = weight("v", 16, 12, 1);
    qn_weight bias = weight("bias", 16, 1, 1), o = weight("o", 24, 16, 1), router = weight("router", 16, 5, 1);
    qn_weight up = weight("up", 16, 32, 5), down = weight("down", 32, 16, 5);
    const qn_rope rope = {.n_pairs = 2, .inv_freq = no_freq};
    qn_graph g;
    qn_graph_init(&g, NULL, &kv);
    qn_val x = qn_graph_embed(&g, "x", &embd);
    check_value(&g, x, "x", 16, QN_ROWS_STEP);
    assert_int_equal(qn_graph_scale(&g, "none", x, 1.0f), x);
    assert_int_equal(qn_graph_softcap(&g, "none", x, 0.0f), x);
    assert_int_equal(qn_graph_bias(&g, "none", x, NULL), x);
    assert_int_equal(g.n_ops, 1);
    g.i_block = 12;
    qn_val h = qn_graph_norm(&g, "norm", x, &norm, 1e-5f);
    check_value(&g, h, "blk.12.norm", 16, QN_ROWS_STEP);
    assert_int_equal(g.ops[1].width, 16);
    qn_val vq = qn_graph_bias(&g, "qb", qn_graph_mul_mat(&g, "q", &q, h), &bias);
    vq = qn_graph_rope(&g, "qr", qn_graph_norm_heads(&g, "qn", vq, &head, 1e-6f, 4), &rope, 4);
    check_value(&g, vq, "blk.12.qr", 16, QN_ROWS_STEP);
    qn_val vk = qn_graph_mul_mat(&g, "k", &k, h), vv = qn_graph_mul_mat(&g, "v", &v, h);
    check_value(&g, vv, "blk.12.v", 12, QN_ROWS_STEP);
    uint32_t n_values = g.n_values;
    qn_graph_kv_write(&g, 0, vk, vv);
    assert_int_equal(g.n_values, n_values);
    assert_int_equal(g.ops[g.n_ops - 1].kind, QN_OP_KV_WRITE);
    assert_int_equal(g.ops[g.n_ops - 1].out, QN_NONE);
    qn_val a = qn_graph_attention(&g, "attn", vq, &(qn_attention){.n_heads = 4, .scale = 0.5f});
    check_value(&g, a, "blk.12.attn", 24, QN_ROWS_STEP);
    a = qn_graph_mul_mat(&g, "o", &o, a);
    x = qn_graph_add(&g, "sum", x, a);
    qn_val routing = qn_graph_route(&g, "routing", qn_graph_mul_mat(&g, "router", &router, x), 2, true);
    assert_int_equal(g.n_experts, 5);
    assert_int_equal(g.n_used, 2);
    qn_val e = qn_graph_mul_expert(&g, "up", &up, x, routing);
    check_value(&g, e, "blk.12.up", 32, QN_ROWS_EXPERT);
    e = qn_graph_act_mul(&g, "act", QN_GELU_TANH, e, e);
    e = qn_graph_mul_expert(&g, "down", &down, e, routing);
    e = qn_graph_sum_expert(&g, "experts", e, routing);
    check_value(&g, e, "blk.12.experts", 16, QN_ROWS_STEP);
    g.i_block = -1;
    qn_val out = qn_graph_softcap(&g, "cap", qn_graph_scale(&g, "scaled", qn_graph_pick(&g, "picked", e), 2.0f), 30.0f);
    check_value(&g, out, "cap", 16, QN_ROWS_OUT);
    assert_int_equal(qn_graph_status(&g, NULL), QN_OK);
    for (uint32_t i = 0; i < g.n_ops; i++) {
        assert_non_null(qn_op_kind_name(g.ops[i].kind));
        assert_true(g.ops[i].x < (qn_val)g.n_values && g.ops[i].out < (qn_val)g.n_values);
        assert_true(g.ops[i].out == QN_NONE || g.ops[i].x < g.ops[i].out);
    }
    qn_graph_free(&g);
    assert_int_equal(g.n_ops, 0);
    assert_null(g.ops);
}

/* A fresh graph with values of 16 and 12 floats, for ops that must be refused. */
static qn_val begin(qn_graph *g, const qn_weight *embd, qn_val *narrow, const qn_weight *w)
{
    qn_graph_init(g, NULL, &kv);
    qn_val x = qn_graph_embed(g, "x", embd);
    *narrow = qn_graph_mul_mat(g, "narrow", w, x);
    assert_int_equal(g->status, QN_OK);
    return x;
}

static void end(qn_graph *g, qn_status status, const char *part)
{
    qn_error err = {0};
    assert_int_equal(qn_graph_status(g, &err), status);
    assert_int_equal(err.code, status);
    assert_non_null(strstr(err.what, part));
    /* the fault sticks: whatever comes after is silent and changes nothing */
    uint32_t n_ops = g->n_ops, n_values = g->n_values;
    qn_weight w = weight("later", 16, 16, 1);
    assert_int_equal(qn_graph_embed(g, "later", &w), QN_NONE);
    assert_int_equal(qn_graph_mul_mat(g, "later", &w, 0), QN_NONE);
    assert_int_equal(qn_graph_add(g, "later", 0, 0), QN_NONE);
    assert_int_equal(qn_graph_scale(g, "later", 0, 2.0f), QN_NONE);
    qn_graph_kv_write(g, 0, 0, 0);
    assert_int_equal(g->n_ops, n_ops);
    assert_int_equal(g->n_values, n_values);
    qn_graph_free(g);
}

static void test_shapes_that_do_not_fit(void **state)
{
    (void)state;
    qn_weight embd = weight("embd", 16, 50, 1), small = weight("small", 16, 12, 1), w = weight("blk.3.wrong", 8, 4, 1);
    qn_weight stack = weight("stack", 16, 16, 2), vector = weight("vector", 16, 2, 1);
    const qn_rope rope = {.n_pairs = 3, .inv_freq = no_freq};
    qn_graph g;
    qn_val n, x;
#define REFUSED(call, part)                                                                                            \
    do {                                                                                                               \
        x = begin(&g, &embd, &n, &small);                                                                              \
        (void)(x), (void)(n);                                                                                          \
        assert_int_equal((call), QN_NONE);                                                                             \
        end(&g, QN_EFORMAT, part);                                                                                     \
    } while (0)
    REFUSED(qn_graph_mul_mat(&g, "y", &w, x), "blk.3.wrong");
    REFUSED(qn_graph_mul_mat(&g, "y", &stack, x), "stack");
    REFUSED(qn_graph_norm(&g, "y", n, &embd, 0.0f), "embd");
    REFUSED(qn_graph_norm(&g, "y", x, &vector, 0.0f), "vector");
    REFUSED(qn_graph_norm_heads(&g, "y", n, &w, 0.0f, 8), "blk.3.wrong");
    REFUSED(qn_graph_norm_heads(&g, "y", n, &w, 0.0f, 0), "blk.3.wrong");
    REFUSED(qn_graph_bias(&g, "y", n, &embd), "embd");
    REFUSED(qn_graph_add(&g, "the sum", x, n), "the sum");
    REFUSED(qn_graph_act_mul(&g, "the act", QN_SILU, n, x), "the act");
    REFUSED(qn_graph_add(&g, "rows", x, qn_graph_pick(&g, "p", x)), "rows");
    REFUSED(qn_graph_rope(&g, "turn", x, &rope, 5), "turn");
    REFUSED(qn_graph_rope(&g, "turn", x, &rope, 4), "turn"); /* three pairs in a head of four */
    REFUSED(qn_graph_rope(&g, "turn", x, &rope, 0), "turn");
    REFUSED(qn_graph_attention(&g, "attn", x, &(qn_attention){.n_heads = 3}), "attn");
    REFUSED(qn_graph_attention(&g, "attn", n, &(qn_attention){.n_heads = 4}), "attn");
    REFUSED(qn_graph_route(&g, "route", n, 0, true), "route");
    REFUSED(qn_graph_route(&g, "route", n, 13, true), "route");
    REFUSED(qn_graph_mul_expert(&g, "e", &w, x, n), "blk.3.wrong");
#undef REFUSED
    x = begin(&g, &embd, &n, &small);
    qn_graph_kv_write(&g, 0, x, n);
    end(&g, QN_EFORMAT, "kv_write");
    x = begin(&g, &embd, &n, &small);
    assert_int_equal(qn_graph_add(&g, "y", x, QN_NONE), QN_NONE);
    end(&g, QN_EINTERNAL, "input");
    x = begin(&g, &embd, &n, &small);
    assert_int_equal(qn_graph_add(&g, "y", x, 2), QN_NONE);
    end(&g, QN_EINTERNAL, "input");
}

static void test_long_names_are_cut(void **state)
{
    (void)state;
    qn_weight embd = weight("embd", 16, 50, 1);
    qn_graph g;
    qn_graph_init(&g, NULL, &kv);
    g.i_block = 1023;
    qn_val x = qn_graph_embed(&g, "a name that is longer than any that builders use", &embd);
    assert_int_equal(strlen(g.values[x].name), sizeof(g.values[x].name) - 1);
    qn_graph_free(&g);
}

static void test_too_many_ops(void **state)
{
    (void)state;
    qn_weight embd = weight("embd", 16, 50, 1);
    qn_graph g;
    qn_graph_init(&g, NULL, &kv);
    qn_val x = qn_graph_embed(&g, "x", &embd);
    for (uint32_t i = 1; i < QN_GRAPH_MAX_OPS; i++) {
        x = qn_graph_scale(&g, "y", x, 2.0f);
    }
    assert_int_equal(g.n_ops, QN_GRAPH_MAX_OPS);
    assert_int_equal(g.status, QN_OK);
    assert_int_equal(qn_graph_scale(&g, "y", x, 2.0f), QN_NONE);
    end(&g, QN_ERANGE, "65536");
}

static void test_no_memory(void **state)
{
    (void)state;
    qn_weight embd = weight("embd", 16, 50, 1);
    uint64_t live = qn_alloc_live();
    bool done = false;
    int n_failed = 0;
    for (uint64_t n = 1; !done; n++) {
        qn_graph g;
        qn_graph_init(&g, NULL, &kv);
        qn_alloc_fail_at(n);
        qn_val x = qn_graph_embed(&g, "x", &embd);
        for (int i = 0; i < 600; i++) {
            x = qn_graph_scale(&g, "y", x, 2.0f);
        }
        qn_alloc_fail_at(0);
        qn_error err = {0};
        done = qn_graph_status(&g, &err) == QN_OK;
        assert_int_equal(x == QN_NONE, !done);
        assert_int_equal(err.code, done ? QN_OK : QN_ENOMEM);
        n_failed += !done;
        qn_graph_free(&g);
        assert_int_equal(qn_alloc_live(), live);
    }
    assert_true(n_failed >= 4); /* both arrays, from nothing and when they grow */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_op),
        cmocka_unit_test(test_shapes_that_do_not_fit),
        cmocka_unit_test(test_long_names_are_cut),
        cmocka_unit_test(test_too_many_ops),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
