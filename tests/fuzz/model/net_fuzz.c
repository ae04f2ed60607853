/* Any bytes that the reader takes for a file: refused as a model, or a model that runs a step.
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/cpu.h"
#include "backend/cpu/table.h"
#include "base/log.h"
#include "kv/kv.h"
#include "model/net.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

#define MAX_MEMORY (UINT64_C(64) << 20) /* of one input's model and plan */
enum { N_ROWS = 3, N_CTX = 16, PAGE_TOKENS = 8 };

typedef struct machine {
    qn_kernels kernels;
    qn_pool *pool;
} machine;

static const machine *the_machine(void)
{
    static machine m;
    qn_log_set_level(QN_LOG_ERROR); /* odd files are warned of all the time */
    if (m.pool == NULL && (qn_kernels_select(NULL, &m.kernels, NULL) != QN_OK || qn_pool_open(1, &m.pool, NULL) != QN_OK)) {
        abort();
    }
    return &m;
}

/* What one input needs, freed together at the end. */
typedef struct trial {
    qn_budget *budget;
    qn_backend *be;
    qn_gguf *gguf;
    qn_net *net;
    qn_kv_layout layout;
    qn_graph graph;
    qn_exec *exec;
    qn_kv *kv;
    qn_kv_seq seq;
    float *logits;
} trial;

static qn_status prepare(trial *t, const uint8_t *data, size_t n_bytes, qn_error *err)
{
    const machine *m = the_machine();
    QN_TRY(qn_cpu_open(&m->kernels, m->pool, t->budget, &t->be, err));
    QN_TRY(qn_gguf_open_memory(data, n_bytes, t->budget, &t->gguf, err));
    QN_TRY(qn_net_open(t->gguf, t->budget, &t->net, err));
    QN_TRY(qn_net_kv_layout(t->net, QN_TYPE_F16, PAGE_TOKENS, &t->layout, err));
    qn_graph_init(&t->graph, t->budget, &t->layout);
    QN_TRY(qn_net_build(t->net, &t->graph, err));
    qn_exec_limits lim = {.n_rows = N_ROWS, .n_seqs = 1, .n_ctx = N_CTX, .n_out = 1};
    QN_TRY(t->be->ops->compile(t->be, &t->graph, &lim, &t->exec, err));
    t->logits = qn_zalloc_array(t->budget, "logits", t->net->n_vocab, sizeof(float));
    if (t->logits == NULL) {
        return QN_ENOMEM;
    }
    QN_TRY(qn_kv_open(&t->layout, qn_kv_worst_bytes(&t->layout, N_CTX, N_ROWS, 1), t->budget, &t->kv, err));
    return qn_kv_seq_init(t->kv, &t->seq, N_CTX, err);
}

/* Three rows, then one at a time until the context is full. */
static void run(trial *t)
{
    const atomic_bool stop = false;
    for (uint32_t n = N_ROWS; t->seq.length + n <= N_CTX; n = 1) {
        int32_t token[N_ROWS];
        uint32_t pos[N_ROWS], row_seq[N_ROWS] = {0}, out_row = n - 1;
        for (uint32_t i = 0; i < n; i++) {
            pos[i] = t->seq.length + i;
            token[i] = (int32_t)(t->net->n_vocab - 1 - pos[i] % t->net->n_vocab);
        }
        if (qn_kv_seq_reserve(t->kv, &t->seq, n, NULL) != QN_OK) {
            abort(); /* the worst case was reserved */
        }
        qn_step_seq seq = {.n_rows = n, .pos0 = t->seq.length};
        for (uint32_t g = 0; g < t->layout.n_groups; g++) {
            seq.pages[g] = t->seq.pages[g];
        }
        qn_step_rows rows = {.n_rows = n, .token = token, .pos = pos, .seq = row_seq, .n_seqs = 1, .seqs = &seq,
                             .n_out = 1, .out_rows = &out_row};
        if (t->be->ops->run_body(t->exec, &rows, &stop) != QN_OK ||
            t->be->ops->run_head(t->exec, &rows, 0, 1, t->logits, &stop) != QN_OK) {
            abort();
        }
        qn_kv_seq_commit(t->kv, &t->seq, n);
    }
}

static void end(trial *t)
{
    if (t->kv != NULL) {
        qn_kv_seq_free(t->kv, &t->seq);
    }
    qn_kv_close(t->kv);
    qn_free(t->logits);
    if (t->be != NULL) {
        t->be->ops->exec_free(t->exec);
    }
    qn_graph_free(&t->graph);
    qn_free(t->layout.layers);
    qn_net_close(t->net);
    qn_gguf_close(t->gguf);
    if (t->be != NULL) {
        t->be->ops->close(t->be);
    }
    if (qn_budget_used(t->budget) != 0) {
        abort();
    }
    qn_budget_close(t->budget);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    trial t = {0};
    qn_error err;
    the_machine();
    if (qn_budget_open(MAX_MEMORY, &t.budget) != QN_OK) {
        return 0;
    }
    if (prepare(&t, data, n_bytes, &err) == QN_OK) {
        run(&t);
    }
    end(&t);
    return 0;
}
