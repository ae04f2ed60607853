/* How a session keeps keys and values: from the type to pages, at opening and later. SPDX-License-Identifier: MIT */
#include "engine/engine_int.h"

#define MIXED_FIRST_TOKENS 512
#define Q4_FIRST_TOKENS 32 /* enough for a mean of the keys; and what all tokens attend to stands there */
#define Q4_RECENT_TOKENS 2 /* without them 4 bits would cost more than twice as much; more of them help little */

qn_status qn_kv_type_check(qn_kv_type type, qn_error *err)
{
    return (int)type >= QN_KV_F16 && (int)type <= QN_KV_MIXED
               ? QN_OK
               : qn_fail(err, QN_EINVAL, "kv_type: %d is not known", (int)type);
}

qn_status qn_kv_settle_options(qn_session_options *o, qn_error *err)
{
    QN_TRY(qn_kv_type_check(o->kv_type, err));
    if (o->kv_mixed_tokens == 0) {
        o->kv_mixed_tokens = (MIXED_FIRST_TOKENS + o->page_tokens - 1) / o->page_tokens * o->page_tokens;
    }
    if (o->kv_mixed_tokens % o->page_tokens != 0) {
        return qn_fail(err, QN_EINVAL, "kv_mixed_tokens: %u is not a multiple of a page's %u tokens",
                       o->kv_mixed_tokens, o->page_tokens);
    }
    o->kv_mixed_rest = o->kv_mixed_rest == (qn_kv_type)0 ? QN_KV_Q8 : o->kv_mixed_rest;
    return o->kv_mixed_rest == QN_KV_Q8 || o->kv_mixed_rest == QN_KV_Q4
               ? QN_OK
               : qn_fail(err, QN_EINVAL, "kv_mixed_rest: %d is neither Q8 nor Q4", (int)o->kv_mixed_rest);
}

/* n_first: of MIXED, as is rest. */
static void apply_type(qn_kv_layout *l, qn_kv_type type, uint32_t n_first, qn_kv_type rest)
{
    bool is_mixed = type == QN_KV_MIXED;
    qn_kv_type codes = is_mixed ? rest : type;
    l->type = type == QN_KV_F32 ? QN_TYPE_F32 : type == QN_KV_BF16 ? QN_TYPE_BF16 : QN_TYPE_F16;
    l->bits = codes == QN_KV_Q4 ? 4 : codes == QN_KV_Q8 ? 8 : 0;
    l->n_recent = codes == QN_KV_Q4 ? Q4_RECENT_TOKENS : 0;
    uint32_t n_plain = is_mixed ? n_first : type == QN_KV_Q4 ? Q4_FIRST_TOKENS : 0;
    l->n_plain = n_plain / l->page_tokens + (n_plain % l->page_tokens != 0);
}

/* A page of each group of layers: less holds no token. */
static uint64_t least_kv_bytes(const qn_kv_layout *layout)
{
    uint64_t sum = 0;
    for (uint32_t g = 0; g < layout->n_groups; g++) {
        bool is_code = qn_kv_plain_pages(layout, layout->groups[g].window) == 0;
        sum += is_code ? layout->groups[g].code_bytes : layout->groups[g].page_bytes;
    }
    return sum;
}

qn_status qn_session_open_kv(qn_session *s, qn_kv_type type, uint32_t n_first, qn_error *err)
{
    qn_session_options *o = &s->opt;
    apply_type(&s->layout, type, n_first != 0 ? n_first : o->kv_mixed_tokens, o->kv_mixed_rest);
    QN_TRY(qn_kv_layout_plan(&s->layout, err));
    uint64_t worst = qn_kv_worst_bytes(&s->layout, o->n_ctx, o->n_batch, o->n_seqs);
    if (worst == UINT64_MAX) {
        return qn_fail(err, QN_EINVAL, "n_ctx: the KV cache of %u sequences of %u tokens does not fit in 64 bits",
                       o->n_seqs, o->n_ctx);
    }
    uint64_t least = least_kv_bytes(&s->layout);
    uint64_t bytes = s->kv_asked == 0 || s->kv_asked > worst ? worst : s->kv_asked;
    bytes = s->kv_asked == QN_KV_LEAST ? least : bytes;
    if (bytes < least) {
        return qn_fail(err, QN_EINVAL, "kv_bytes: %llu is less than the %llu of a first page of %u tokens",
                       (unsigned long long)bytes, (unsigned long long)least, o->page_tokens);
    }
    QN_TRY(qn_kv_open(&s->layout, bytes, s->model->rt->budget, &s->kv, err));
    o->kv_bytes = bytes;
    o->kv_type = type;
    return QN_OK;
}

/* Of sequences without tokens the page tables serve any type; only the means may be wanting. */
static qn_status fit_sequences(qn_session *s, qn_kv *kv, qn_error *err)
{
    for (uint32_t i = 0; i < s->opt.n_seqs; i++) {
        if (s->seqs[i].is_open) {
            QN_TRY(qn_kv_seq_fit(kv, &s->seqs[i].kv, err));
        }
    }
    return QN_OK;
}

static qn_status set_type(qn_session *s, qn_kv_type type, uint32_t n_first, qn_error *err)
{
    qn_kv *before = s->kv;
    qn_kv_layout layout = s->layout;
    qn_session_options opt = s->opt;
    qn_status status = qn_session_open_kv(s, type, n_first, err);
    if (status == QN_OK) {
        status = fit_sequences(s, s->kv, err);
    }
    if (status != QN_OK) {
        if (s->kv != before) {
            qn_kv_close(s->kv);
        }
        s->kv = before;
        s->opt = opt;
        s->layout = layout;
        /* The layers are shared: they are placed again as they were. */
        return qn_kv_layout_plan(&s->layout, NULL) == QN_OK ? status : QN_EINTERNAL;
    }
    qn_kv_close(before);
    return QN_OK;
}

qn_status qn_kv_set_type(qn_session *s, qn_kv_type type, uint32_t n_first, qn_error *err)
{
    QN_NEED(s, err);
    QN_TRY(qn_kv_type_check(type, err));
    for (uint32_t i = 0; i < s->opt.n_seqs; i++) {
        if (s->seqs[i].is_open && s->seqs[i].kv.length != 0) {
            return qn_fail(err, QN_EINVAL,
                           "a sequence of the session holds %u tokens: truncate it to 0 or close it first",
                           s->seqs[i].kv.length);
        }
    }
    return qn_blame_ceiling(s->model->rt->budget, set_type(s, type, n_first, err), err);
}
