/* Sessions: checking the options, reserving what steps need; and opening and closing sequences.
 * SPDX-License-Identifier: MIT */
#include "engine/engine_int.h"

#include "base/checked.h"

void qn_session_options_init(qn_session_options *o)
{
    *o = (qn_session_options){0};
}

static void set_default(uint32_t *v, uint32_t value)
{
    if (*v == 0) {
        *v = value;
    }
}

static qn_status in_range(const char *name, uint64_t v, uint64_t max, qn_error *err)
{
    return v <= max ? QN_OK
                    : qn_fail(err, QN_EINVAL, "%s: %llu is above %llu", name, (unsigned long long)v,
                              (unsigned long long)max);
}

static qn_status settle_options(const qn_model *m, qn_session_options *o, qn_error *err)
{
    set_default(&o->n_ctx, m->net->hp.n_ctx_train);
    set_default(&o->n_seqs, 1);
    set_default(&o->n_batch, 512);
    set_default(&o->page_tokens, 32);
    QN_TRY(in_range("n_ctx", o->n_ctx, QN_MAX_CTX, err));
    QN_TRY(in_range("n_seqs", o->n_seqs, QN_MAX_SEQS, err));
    QN_TRY(in_range("n_batch", o->n_batch, QN_MAX_BATCH, err));
    QN_TRY(in_range("page_tokens", o->page_tokens, 256, err));
    if (o->page_tokens % 8 != 0) {
        return qn_fail(err, QN_EINVAL, "page_tokens: %u is not a multiple of 8", o->page_tokens);
    }
    set_default(&o->n_logits, o->n_seqs < o->n_batch ? o->n_seqs : o->n_batch);
    QN_TRY(in_range("n_logits", o->n_logits, o->n_batch, err));
    uint64_t most = (uint64_t)o->n_ctx * o->n_seqs; /* no step can have more rows */
    o->n_batch = o->n_batch < most ? o->n_batch : (uint32_t)most;
    o->n_logits = o->n_logits < most ? o->n_logits : (uint32_t)most;
    QN_TRY(in_range("n_threads", o->n_threads, qn_pool_threads(m->rt->pool), err));
    set_default(&o->n_threads, qn_pool_threads(m->rt->pool));
    return qn_kv_settle_options(o, err);
}

static qn_status compile(qn_session *s, qn_error *err)
{
    qn_runtime *rt = s->model->rt;
    qn_graph g;
    qn_graph_init(&g, rt->budget, &s->layout);
    qn_status status = qn_net_build(s->model->net, &g, err);
    if (status == QN_OK) {
        qn_exec_limits lim = {.n_rows = s->opt.n_batch,
                              .n_out = s->opt.n_logits,
                              .n_seqs = s->opt.n_seqs,
                              .n_ctx = s->opt.n_ctx,
                              .n_threads = s->opt.n_threads,
                              .profile = s->opt.profile};
        status = rt->cpu->ops->compile(rt->cpu, &g, &lim, &s->exec, err);
    }
    qn_graph_free(&g);
    return status;
}

static qn_status reserve_step(qn_session *s, qn_error *err)
{
    qn_budget *b = s->model->rt->budget;
    const qn_session_options *o = &s->opt;
    s->seqs = qn_zalloc_array(b, "step", o->n_seqs, sizeof(*s->seqs));
    s->token = qn_zalloc_array(b, "step", o->n_batch, sizeof(*s->token));
    s->pos = qn_zalloc_array(b, "step", o->n_batch, sizeof(*s->pos));
    s->row_seq = qn_zalloc_array(b, "step", o->n_batch, sizeof(*s->row_seq));
    s->out_rows = qn_zalloc_array(b, "step", o->n_batch, sizeof(*s->out_rows));
    s->step_seqs = qn_zalloc_array(b, "step", o->n_seqs, sizeof(*s->step_seqs));
    s->step_items = qn_zalloc_array(b, "step", o->n_seqs, sizeof(*s->step_items));
    uint64_t bytes = (uint64_t)o->n_logits * s->model->net->n_vocab * sizeof(float);
    s->logits = bytes > SIZE_MAX ? NULL : qn_zalloc(b, "logits", (size_t)bytes);
    if (s->seqs == NULL || s->token == NULL || s->pos == NULL || s->row_seq == NULL || s->out_rows == NULL ||
        s->step_seqs == NULL || s->step_items == NULL || s->logits == NULL) {
        return qn_fail(err, qn_alloc_failure(b, bytes), "no memory for %llu bytes of logits and steps of %u rows",
                       (unsigned long long)bytes, o->n_batch);
    }
    return QN_OK;
}

static qn_status open_all(qn_session *s, qn_error *err)
{
    QN_TRY(settle_options(s->model, &s->opt, err));
    QN_TRY(qn_net_kv_layout(s->model->net, QN_TYPE_F16, s->opt.page_tokens, &s->layout, err));
    QN_TRY(qn_session_open_kv(s, s->opt.kv_type, 0, err));
    QN_TRY(compile(s, err));
    return reserve_step(s, err);
}

qn_status qn_session_open_as(qn_model *m, const qn_session_options *o, uint64_t kv_asked, qn_session **out,
                             qn_error *err)
{
    if (m->net == NULL) {
        return qn_fail(err, QN_EINVAL, "the model was opened with vocab_only");
    }
    qn_session *s = qn_zalloc(m->rt->budget, "session", sizeof(*s));
    if (s == NULL) {
        return qn_blame_ceiling(m->rt->budget, qn_fail(err, QN_ENOMEM, "no memory for the session"), err);
    }
    s->model = m;
    atomic_init(&s->stop, false);
    if (o != NULL) {
        s->opt = *o;
    }
    s->kv_asked = kv_asked;
    qn_status status = open_all(s, err);
    if (status != QN_OK) {
        qn_session_close(s);
        return qn_blame_ceiling(m->rt->budget, status, err);
    }
    *out = s;
    return QN_OK;
}

qn_status qn_session_open(qn_model *m, const qn_session_options *o, qn_session **out, qn_error *err)
{
    QN_NEED(m, err);
    QN_NEED(out, err);
    uint64_t kv_bytes = o != NULL ? o->kv_bytes : 0;
    return qn_session_open_as(m, o, kv_bytes != QN_KV_LEAST ? kv_bytes : 0, out, err);
}

bool qn_session_profile(const qn_session *s, size_t i, qn_profile_entry *out)
{
    return s != NULL && out != NULL && i <= UINT32_MAX && s->model->rt->cpu->ops->profile(s->exec, (uint32_t)i, out);
}

void qn_session_profile_reset(qn_session *s)
{
    if (s != NULL) {
        s->model->rt->cpu->ops->profile_reset(s->exec);
    }
}

void qn_session_close(qn_session *s)
{
    if (s == NULL) {
        return;
    }
    for (uint32_t i = 0; s->seqs != NULL && i < s->opt.n_seqs; i++) {
        qn_seq_close(&s->seqs[i]);
    }
    const qn_backend_ops *ops = s->model->rt->cpu->ops;
    ops->exec_free(s->exec);
    qn_kv_close(s->kv);
    qn_free(s->layout.layers);
    qn_free(s->seqs);
    qn_free(s->token);
    qn_free(s->pos);
    qn_free(s->row_seq);
    qn_free(s->out_rows);
    qn_free(s->step_seqs);
    qn_free(s->step_items);
    qn_free(s->logits);
    qn_free(s);
}

void qn_session_get_options(const qn_session *s, qn_session_options *out)
{
    *out = s->opt;
}

qn_status qn_seq_open(qn_session *s, qn_seq **out, qn_error *err)
{
    QN_NEED(s, err);
    QN_NEED(out, err);
    for (uint32_t i = 0; i < s->opt.n_seqs; i++) {
        qn_seq *q = &s->seqs[i];
        if (!q->is_open) {
            qn_status status = qn_kv_seq_init(s->kv, &q->kv, s->opt.n_ctx, err);
            if (status != QN_OK) {
                return qn_blame_ceiling(s->model->rt->budget, status, err);
            }
            q->session = s;
            q->is_open = true;
            *out = q;
            return QN_OK;
        }
    }
    return qn_fail(err, QN_EFULL, "all %u sequences are open", s->opt.n_seqs);
}

void qn_seq_close(qn_seq *q)
{
    if (q != NULL && q->is_open) {
        qn_kv_seq_free(q->session->kv, &q->kv);
        q->is_open = false;
    }
}

uint32_t qn_seq_length(const qn_seq *q)
{
    return q->kv.length;
}

qn_status qn_seq_truncate(qn_seq *q, uint32_t n_keep, qn_error *err)
{
    QN_NEED(q, err);
    return qn_kv_seq_truncate(q->session->kv, &q->kv, n_keep, err);
}

/* ---- plan, for inspection -------------------------------------------------------------------------- */

static void describe(const qn_session *s, qn_buf *out)
{
    const qn_backend_ops *ops = s->model->rt->cpu->ops;
    qn_buf_add_str(out, "ops, in order; those of one phase wait for nothing between them\n");
    for (uint32_t i = 0; i < ops->n_ops(s->exec); i++) {
        ops->describe_op(s->exec, i, out);
        qn_buf_add_char(out, '\n');
    }
    static const char *const kv_names[] = {
        [QN_KV_F16] = "f16", [QN_KV_F32] = "f32", [QN_KV_BF16] = "bf16",
        [QN_KV_Q8] = "q8",   [QN_KV_Q4] = "q4",   [QN_KV_MIXED] = "mixed",
    };
    qn_buf_printf(out, "\nKV pages of %u tokens as %s: %llu bytes at most\n", s->opt.page_tokens,
                  kv_names[s->opt.kv_type], (unsigned long long)s->opt.kv_bytes);
    qn_buf_printf(out, "\narena of %llu bytes; first and last: phases between which a block keeps its contents\n",
                  (unsigned long long)ops->arena_bytes(s->exec));
    qn_buf_printf(out, "%12s %12s %6s %6s  block\n", "offset", "bytes", "first", "last");
    for (uint32_t i = 0; i < ops->n_blocks(s->exec); i++) {
        const char *name;
        const qn_block *b = ops->block(s->exec, i, &name);
        if (b->bytes != 0) {
            qn_buf_printf(out, "%12llu %12llu %6u %6u  %s\n", (unsigned long long)b->offset,
                          (unsigned long long)b->bytes, b->first, b->last, name);
        }
    }
}

qn_status qn_session_plan_text(const qn_session *s, char *text, size_t cap, size_t *n_bytes, qn_error *err)
{
    qn_buf out;
    QN_NEED(s, err);
    QN_NEED(n_bytes, err);
    QN_NEED_IF(cap != 0, text, err);
    qn_buf_init(&out, s->model->rt->budget, "text", SIZE_MAX);
    describe(s, &out);
    qn_status status = out.status;
    if (status != QN_OK) {
        status = qn_blame_ceiling(s->model->rt->budget, qn_fail(err, status, "no memory for the plan's text"), err);
    } else {
        *n_bytes = out.len;
        if (out.len > cap) {
            status = qn_fail(err, QN_ERANGE, "the plan's text has %zu bytes, the buffer %zu", out.len, cap);
        } else {
            memcpy(text, out.data, out.len);
        }
    }
    qn_buf_free(&out);
    return status;
}
