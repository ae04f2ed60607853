/* What the tests of the model layer share: a file in memory loaded as far as running a step of it.
 * SPDX-License-Identifier: MIT */
#ifndef QN_TESTS_UNIT_MODEL_SUPPORT_H
#define QN_TESTS_UNIT_MODEL_SUPPORT_H

#include "test.h"

#include "backend/cpu/cpu.h"
#include "backend/cpu/table.h"
#include "kv/kv.h"
#include "model/net.h"
#include "tiny_model.h"

#include <math.h>

/* The CPU on one thread. */
typedef struct machine {
    qn_kernels kernels;
    qn_pool *pool;
    qn_backend *be;
} machine;

static inline void open_machine(machine *m, const char *isa)
{
    assert_int_equal(qn_kernels_select(isa, &m->kernels, NULL), QN_OK);
    assert_int_equal(qn_pool_open(1, &m->pool, NULL), QN_OK);
    assert_int_equal(qn_cpu_open(&m->kernels, m->pool, NULL, &m->be, NULL), QN_OK);
}

static inline void close_machine(machine *m)
{
    m->be->ops->close(m->be);
    qn_pool_close(m->pool);
}

enum { STEP_ROWS = 3, MAX_VOCAB = 512 };

/* One step of three rows on a fresh plan; the last row's logits go to logits[0, net->n_vocab) when there is room. */
static inline qn_status run_net(const machine *m, const qn_net *net, float *logits, qn_error *err)
{
    qn_kv_layout layout = {0};
    qn_graph g;
    qn_exec *ex = NULL;
    qn_kv *kv = NULL;
    qn_kv_seq seq;
    qn_status status = qn_net_kv_layout(net, QN_TYPE_F16, 8, &layout, err);
    if (status != QN_OK) {
        return status;
    }
    qn_graph_init(&g, NULL, &layout);
    status = qn_net_build(net, &g, err);
    if (status == QN_OK) {
        qn_exec_limits lim = {.n_rows = STEP_ROWS, .n_seqs = 1, .n_ctx = 8, .n_out = 1};
        status = m->be->ops->compile(m->be, &g, &lim, &ex, err);
    }
    if (status == QN_OK) {
        status = qn_kv_open(&layout, qn_kv_worst_bytes(&layout, 8, STEP_ROWS, 1), NULL, &kv, err);
    }
    if (status == QN_OK) {
        const int32_t token[STEP_ROWS] = {0, (int32_t)net->n_vocab - 1, (int32_t)(net->n_vocab / 2)};
        const uint32_t pos[STEP_ROWS] = {0, 1, 2}, row_seq[STEP_ROWS] = {0}, out_row = STEP_ROWS - 1;
        const atomic_bool stop = false;
        float *out = calloc(net->n_vocab, sizeof(float));
        assert_non_null(out);
        assert_int_equal(qn_kv_seq_init(kv, &seq, 8, NULL), QN_OK);
        assert_int_equal(qn_kv_seq_reserve(kv, &seq, STEP_ROWS, NULL), QN_OK);
        qn_step_seq step_seq = {.n_rows = STEP_ROWS};
        for (uint32_t i = 0; i < layout.n_groups; i++) {
            step_seq.pages[i] = seq.pages[i];
        }
        qn_step_rows step = {.n_rows = STEP_ROWS, .token = token, .pos = pos, .seq = row_seq, .n_seqs = 1,
                             .seqs = &step_seq, .n_out = 1, .out_rows = &out_row};
        assert_int_equal(m->be->ops->run_body(ex, &step, &stop), QN_OK);
        assert_int_equal(m->be->ops->run_head(ex, &step, 0, 1, out, &stop), QN_OK);
        if (logits != NULL) {
            assert_true(net->n_vocab <= MAX_VOCAB);
            memcpy(logits, out, sizeof(float) * net->n_vocab);
        }
        free(out);
        qn_kv_seq_free(kv, &seq);
    }
    qn_kv_close(kv);
    m->be->ops->exec_free(ex);
    qn_graph_free(&g);
    qn_free(layout.layers);
    return status;
}

/* Opens w's file, and runs a step of it when it opens. */
static inline qn_status try_file(const machine *m, qn_gguf_writer *w, float *logits, qn_error *err)
{
    uint64_t live = qn_alloc_live();
    uint8_t *bytes = NULL;
    size_t n_bytes;
    qn_gguf *g = NULL;
    qn_net *net = NULL;
    qn_status status = qn_gguf_write_memory(w, &bytes, &n_bytes, err);
    if (status == QN_OK) {
        status = qn_gguf_open_memory(bytes, n_bytes, NULL, &g, err);
    }
    if (status == QN_OK) {
        status = qn_net_open(g, NULL, &net, err);
        assert_int_equal(status == QN_OK, net != NULL);
    }
    if (status == QN_OK) {
        status = run_net(m, net, logits, err);
    }
    qn_net_close(net);
    qn_gguf_close(g);
    qn_free(bytes);
    qn_gguf_writer_close(w);
    assert_true(live >= qn_alloc_live());
    return status;
}

/* A tiny model's file, open. */
typedef struct tiny {
    uint8_t *bytes;
    qn_gguf *g;
} tiny;

static inline tiny open_tiny(const qn_tiny_spec *spec)
{
    tiny t = {0};
    size_t n_bytes;
    t.bytes = qn_tiny_bytes(spec, &n_bytes);
    assert_int_equal(qn_gguf_open_memory(t.bytes, n_bytes, NULL, &t.g, NULL), QN_OK);
    return t;
}

static inline void close_tiny(tiny *t)
{
    qn_gguf_close(t->g);
    qn_free(t->bytes);
}

#endif
