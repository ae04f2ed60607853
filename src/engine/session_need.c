/* What a session would hold, told without holding it. SPDX-License-Identifier: MIT */
#include "engine/engine_int.h"

#include <string.h>

/* The pages that full contexts take, of which a session opened with QN_KV_LEAST has reserved only the first. */
static uint64_t kv_wanted(const qn_session *s, const qn_session_options *o)
{
    uint64_t worst = qn_kv_worst_bytes(&s->layout, s->opt.n_ctx, s->opt.n_batch, s->opt.n_seqs);
    return o != NULL && o->kv_bytes != 0 && o->kv_bytes < worst ? o->kv_bytes : worst;
}

static void add_part(qn_memory_fn *fn, void *ctx, const char *part, uint64_t bytes, uint64_t *sum)
{
    if (bytes != 0) {
        *sum += bytes;
        if (fn != NULL) {
            fn(ctx, part, bytes);
        }
    }
}

static uint64_t add_parts(const qn_session *s, const qn_session_options *o, qn_memory_fn *fn, void *ctx)
{
    const qn_model *m = s->model;
    const char *owner;
    uint64_t bytes, sum = 0;
    if (m->is_mapped) {
        add_part(fn, ctx, "model file", qn_gguf_file_bytes(m->gguf), &sum);
    }
    for (size_t i = 0; qn_budget_owner(m->rt->budget, i, &owner, &bytes); i++) {
        if (strcmp(owner, "kv") == 0) {
            bytes = bytes - s->opt.kv_bytes + kv_wanted(s, o);
        }
        add_part(fn, ctx, owner, bytes, &sum);
    }
    return sum;
}

/* Their page tables are a part of the memory, too. */
static qn_status open_sequences(qn_session *s, qn_error *err)
{
    for (uint32_t i = 0; i < s->opt.n_seqs; i++) {
        qn_seq *q;
        QN_TRY(qn_seq_open(s, &q, err));
    }
    return QN_OK;
}

qn_status qn_session_memory_need(qn_model *m, const qn_session_options *o, qn_memory_fn *fn, void *ctx, uint64_t *bytes,
                                 qn_error *err)
{
    QN_NEED(m, err);
    QN_NEED(bytes, err);
    qn_session *s;
    QN_TRY(qn_session_open_as(m, o, QN_KV_LEAST, &s, err));
    qn_status status = open_sequences(s, err);
    if (status == QN_OK) {
        *bytes = add_parts(s, o, fn, ctx);
    }
    qn_session_close(s);
    return status;
}
