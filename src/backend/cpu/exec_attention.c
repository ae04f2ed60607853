/* Attention over KV pages: keys and values of the step's rows go into their pages, then each item of work folds pages
 * into the running softmax of a few query rows that share a KV head.
 *
 * A sequence with one row in the step (decode) is cut by page index into splits of a length that depends on its own
 * length alone; the parts are combined in page order. A sequence with more rows (prefill) is cut into tiles of rows,
 * each walking its pages in order. So no result depends on threads, and none on the other sequences.
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/exec_attention_int.h"

#include <math.h>
#include <string.h>

static uint32_t group_of(const qn_exec *ex, const qn_cpu_op *op)
{
    return op->attention.n_heads / ex->kv->layers[op->attention.i_layer].n_heads;
}

static uint32_t tile_rows_of(uint32_t group)
{
    return group < QN_CPU_TILE_ROWS ? QN_CPU_TILE_ROWS / group : 1;
}

static uint64_t round64(uint64_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

uint64_t qn_cpu_attention_scratch(const qn_exec *ex, const qn_cpu_op *op)
{
    const qn_kv_layer *l = &ex->kv->layers[op->attention.i_layer];
    uint32_t group = group_of(ex, op);
    uint64_t n_q = (uint64_t)tile_rows_of(group) * group;
    return round64(4 * n_q * l->head_dim) + round64(4 * n_q * l->v_dim) + 5 * round64(4 * n_q) +
           n_q * qn_attn_q_bytes(l->head_dim) + round64(qn_cpu_recent_scratch(ex->kv, l)) +
           round64(4 * qn_attn_scratch_floats(n_q, l->head_dim, l->v_dim, ex->kv->page_tokens));
}

static uint32_t max_splits(const qn_exec *ex)
{
    uint32_t n = ex->lim.n_ctx / QN_CPU_SPLIT_TOKENS + 1;
    return n < QN_CPU_MAX_SPLITS ? n : QN_CPU_MAX_SPLITS;
}

/* Floats of one part: m, l, then the accumulator. */
static uint32_t part_floats(uint32_t v_dim)
{
    return v_dim + 2;
}

uint64_t qn_cpu_partial_floats(const qn_exec *ex)
{
    uint64_t widest = 0;
    for (uint32_t i = 0; i < ex->n_ops; i++) {
        const qn_cpu_op *op = &ex->ops[i];
        if (op->kind == QN_CPU_ATTENTION) {
            uint64_t n = (uint64_t)op->attention.n_heads * part_floats(ex->kv->layers[op->attention.i_layer].v_dim);
            widest = n > widest ? n : widest;
        }
    }
    return widest * max_splits(ex) * ex->lim.n_seqs;
}

/* What is the same for all threads. */
static qn_attention_run common(const qn_exec *ex, const qn_cpu_op *op, const qn_step_rows *step)
{
    qn_attention_run a = {.ex = ex, .op = op, .kv = ex->kv, .step = step, .all_decode = true};
    a.layer = &a.kv->layers[op->attention.i_layer];
    a.group = group_of(ex, op);
    a.tile_rows = tile_rows_of(a.group);
    for (uint32_t i = 0; i < step->n_seqs; i++) {
        a.all_decode = a.all_decode && step->seqs[i].n_rows == 1;
    }
    return a;
}

static qn_attention_run begin(qn_worker *w, const qn_cpu_op *op)
{
    qn_attention_run a = common(w->ex, op, w->job->step);
    a.w = w;
    uint64_t n_q = (uint64_t)a.tile_rows * a.group;
    uint8_t *at = w->scratch + w->ex->scratch_at;
    a.q = (float *)(void *)at;
    at += round64(4 * n_q * a.layer->head_dim);
    a.acc = (float *)(void *)at;
    at += round64(4 * n_q * a.layer->v_dim);
    a.m = (float *)(void *)at;
    a.l = (float *)(void *)(at + round64(4 * n_q));
    a.lo = (uint32_t *)(void *)(at + 2 * round64(4 * n_q));
    a.hi = (uint32_t *)(void *)(at + 3 * round64(4 * n_q));
    a.offset = (float *)(void *)(at + 4 * round64(4 * n_q));
    a.q_codes = at + 5 * round64(4 * n_q);
    a.recent_page = a.q_codes + n_q * qn_attn_q_bytes(a.layer->head_dim);
    a.page_scratch = (float *)(void *)(a.recent_page + round64(qn_cpu_recent_scratch(a.kv, a.layer)));
    return a;
}

/* How a decode row's pages [first, first + n) are cut. */
typedef struct splits {
    uint32_t first_page, n_pages, pages_each, n;
} splits;

static splits splits_of(const qn_attention_run *a, const qn_step_seq *seq)
{
    uint32_t pt = a->kv->page_tokens;
    splits s = {.first_page = qn_attention_first_visible(a, seq->pos0) / pt};
    s.n_pages = seq->pos0 / pt + 1 - s.first_page;
    uint32_t least = QN_CPU_SPLIT_TOKENS / pt, cap = max_splits(a->ex);
    uint32_t even = (s.n_pages + cap - 1) / cap;
    s.pages_each = least > even ? least : even;
    s.n = (s.n_pages + s.pages_each - 1) / s.pages_each;
    return s;
}

/* What pages of codes need of query i: it turned as the keys are, its product with what the keys lack, its codes. */
static void encode_query(const qn_attention_run *a, const qn_step_seq *seq, uint32_t i_head, uint32_t i)
{
    uint32_t dim = a->layer->head_dim;
    float *q = a->q + (uint64_t)i * dim;
    a->w->k->rotate(q, dim);
    a->w->k->attn_prepare(q, dim, a->q_codes + i * qn_attn_q_bytes(dim));
    a->offset[i] = 0.0f;
    if (qn_kv_is_centred(a->kv)) {
        const float *mean = qn_attention_mean(a, seq, i_head);
        for (uint32_t d = 0; d < dim; d++) {
            a->offset[i] += q[d] * mean[d];
        }
    }
}

/* Loads the queries of rows [row0, row0 + n_rows) of seq that share KV head i_head, prepared and scaled. */
static void load_queries(const qn_attention_run *a, const qn_step_seq *seq, uint32_t row0, uint32_t n_rows,
                         uint32_t i_head)
{
    uint32_t dim = a->layer->head_dim;
    for (uint32_t r = 0; r < n_rows; r++) {
        const float *row = (const float *)qn_job_row(a->w->job, a->op->q, row0 + r) + (uint64_t)i_head * a->group * dim;
        for (uint32_t g = 0; g < a->group; g++) {
            float *q = a->q + (uint64_t)(r * a->group + g) * dim;
            memcpy(q, row + (uint64_t)g * dim, dim * sizeof(float));
            qn_attention_prepare(a, &a->op->q_prep, q, dim, row0 + r);
            a->w->k->scale(q, a->op->attention.scale, dim, q);
            if (a->kv->bits != 0) {
                encode_query(a, seq, i_head, r * a->group + g);
            }
        }
    }
}

/* Folds pages [first, end) into the state of the loaded queries, whose rows stand at positions pos0, pos0 + 1, ...; with
 * the last page the recent tokens too. */
static void fold_pages(const qn_attention_run *a, const qn_step_seq *seq, uint32_t pos0, uint32_t n_rows, uint32_t i_head,
                       uint32_t first, uint32_t end)
{
    uint32_t n_q = n_rows * a->group, pt = a->kv->page_tokens;
    for (uint32_t i = 0; i < n_q; i++) {
        a->m[i] = -INFINITY;
        a->l[i] = 0.0f;
    }
    memset(a->acc, 0, sizeof(float) * (uint64_t)n_q * a->layer->v_dim);
    qn_attn_page p = {.q = a->q,
                      .q_stride = a->layer->head_dim,
                      .type = a->kv->type,
                      .q_codes = a->q_codes,
                      .offset = a->offset,
                      .n_q = n_q,
                      .head_dim = a->layer->head_dim,
                      .v_dim = a->layer->v_dim,
                      .page_tokens = pt,
                      .lo = a->lo,
                      .hi = a->hi,
                      .softcap = a->op->attention.softcap,
                      .m = a->m,
                      .l = a->l,
                      .acc = a->acc,
                      .scratch = a->page_scratch};
    for (uint32_t i_page = first; i_page < end; i_page++) {
        uint32_t base = i_page * pt;
        bool is_plain = qn_kv_is_plain(a->kv, a->layer, i_page);
        for (uint32_t r = 0; r < n_rows; r++) {
            uint32_t lo = qn_attention_first_visible(a, pos0 + r);
            uint32_t hi = is_plain ? pos0 + r + 1 : qn_attention_recent_from(a, seq, pos0 + r);
            lo = lo > base ? lo - base : 0;
            hi = hi > base ? hi - base : 0;
            hi = hi < pt ? hi : pt;
            for (uint32_t g = 0; g < a->group; g++) {
                a->lo[r * a->group + g] = lo < hi ? lo : 0;
                a->hi[r * a->group + g] = lo < hi ? hi : 0;
            }
        }
        uint8_t *page = qn_attention_page(a, seq, i_page);
        p.bits = is_plain ? 0 : a->kv->bits;
        p.k = qn_kv_k_block(a->kv, a->layer, page, i_page, i_head);
        p.v = qn_kv_v_block(a->kv, a->layer, page, i_page, i_head);
        a->w->k->attn_page(&p);
    }
    if (end == (pos0 + n_rows - 1) / pt + 1) {
        qn_attention_fold_recent(a, seq, &p, pos0, n_rows, i_head);
    }
    for (uint32_t i = 0; i < n_q && a->kv->bits != 0; i++) {
        a->w->k->rotate(a->acc + (uint64_t)i * a->layer->v_dim, a->layer->v_dim);
    }
}

static float *out_head(const qn_attention_run *a, uint32_t i_row, uint32_t i_query_head)
{
    return (float *)qn_job_row(a->w->job, a->op->out, i_row) + (uint64_t)i_query_head * a->layer->v_dim;
}

static void attend_tile(const qn_attention_run *a, const qn_step_seq *seq, uint32_t i_tile, uint32_t i_head)
{
    uint32_t r0 = i_tile * a->tile_rows, left = seq->n_rows - r0, pt = a->kv->page_tokens;
    uint32_t n_rows = left < a->tile_rows ? left : a->tile_rows, pos0 = seq->pos0 + r0;
    load_queries(a, seq, seq->first_row + r0, n_rows, i_head);
    fold_pages(a, seq, pos0, n_rows, i_head, qn_attention_first_visible(a, pos0) / pt, (pos0 + n_rows - 1) / pt + 1);
    if (i_tile == 0) {
        qn_attention_keep_recent(a, seq, i_head);
    }
    for (uint32_t r = 0; r < n_rows; r++) {
        for (uint32_t g = 0; g < a->group; g++) {
            uint32_t i = r * a->group + g;
            a->w->k->scale(a->acc + (uint64_t)i * a->layer->v_dim, 1.0f / a->l[i], a->layer->v_dim,
                           out_head(a, seq->first_row + r0 + r, i_head * a->group + g));
        }
    }
}

static float *part_of(const qn_attention_run *a, uint32_t i_seq, uint32_t i_query_head, uint32_t i_split)
{
    uint64_t i = ((uint64_t)i_seq * a->op->attention.n_heads + i_query_head) * max_splits(a->ex) + i_split;
    return a->ex->partials + i * part_floats(a->layer->v_dim);
}

static void attend_split(const qn_attention_run *a, uint32_t i_seq, const splits *s, uint32_t i_split, uint32_t i_head)
{
    const qn_step_seq *seq = &a->step->seqs[i_seq];
    uint32_t first = s->first_page + i_split * s->pages_each, last = s->first_page + s->n_pages;
    uint32_t end = first + s->pages_each < last ? first + s->pages_each : last;
    if (a->all_decode && i_split == s->n - 1) {
        qn_attention_write_head(a, seq, seq->first_row, i_head);
    }
    load_queries(a, seq, seq->first_row, 1, i_head);
    fold_pages(a, seq, seq->pos0, 1, i_head, first, end);
    if (i_split == s->n - 1) {
        qn_attention_keep_recent(a, seq, i_head);
    }
    for (uint32_t g = 0; g < a->group; g++) {
        const float *acc = a->acc + (uint64_t)g * a->layer->v_dim;
        if (s->n == 1) {
            a->w->k->scale(acc, 1.0f / a->l[g], a->layer->v_dim, out_head(a, seq->first_row, i_head * a->group + g));
            continue;
        }
        float *part = part_of(a, i_seq, i_head * a->group + g, i_split);
        part[0] = a->m[g];
        part[1] = a->l[g];
        memcpy(part + 2, acc, sizeof(float) * a->layer->v_dim);
    }
}

static void attend(const qn_attention_run *a, qn_chunks *c)
{
    uint32_t before = 0, i_seq = 0, n_heads = a->layer->n_heads;
    for (uint32_t item = qn_chunks_take(c);; item = qn_chunks_take(c)) {
        uint32_t n_items = 0;
        splits s = {0};
        for (; i_seq < a->step->n_seqs; before += n_items, i_seq++) {
            const qn_step_seq *seq = &a->step->seqs[i_seq];
            if (seq->n_rows == 1) {
                s = splits_of(a, seq);
                n_items = s.n * n_heads;
            } else {
                n_items = (seq->n_rows + a->tile_rows - 1) / a->tile_rows * n_heads;
            }
            if (item - before < n_items) {
                break;
            }
        }
        if (i_seq == a->step->n_seqs) {
            return;
        }
        /* Last part first: late tiles see more pages, and long items should not be left for the end. */
        uint32_t i = n_items - 1 - (item - before);
        if (a->step->seqs[i_seq].n_rows == 1) {
            attend_split(a, i_seq, &s, i / n_heads, i % n_heads);
        } else {
            attend_tile(a, &a->step->seqs[i_seq], i / n_heads, i % n_heads);
        }
    }
}

static void combine_parts(const qn_attention_run *a, uint32_t i_seq, const splits *s, uint32_t i_query_head)
{
    uint32_t v_dim = a->layer->v_dim;
    float m = -INFINITY, l = 0.0f;
    for (uint32_t i = 0; i < s->n; i++) {
        const float *part = part_of(a, i_seq, i_query_head, i);
        m = part[0] > m ? part[0] : m;
    }
    float *out = out_head(a, a->step->seqs[i_seq].first_row, i_query_head);
    memset(out, 0, sizeof(float) * v_dim);
    for (uint32_t i = 0; i < s->n; i++) {
        const float *part = part_of(a, i_seq, i_query_head, i);
        float f = expf(part[0] - m);
        l += f * part[1];
        a->w->k->add_scaled(part + 2, f, v_dim, out);
    }
    a->w->k->scale(out, 1.0f / l, v_dim, out);
}

static bool has_splits(const qn_attention_run *a)
{
    for (uint32_t i = 0; i < a->step->n_seqs; i++) {
        if (a->step->seqs[i].n_rows == 1 && splits_of(a, &a->step->seqs[i]).n > 1) {
            return true;
        }
    }
    return false;
}

static void combine(const qn_attention_run *a, qn_chunks *c)
{
    uint32_t n_heads = a->op->attention.n_heads;
    for (uint32_t item = qn_chunks_take(c); item < a->step->n_seqs * n_heads; item = qn_chunks_take(c)) {
        const qn_step_seq *seq = &a->step->seqs[item / n_heads];
        splits s = seq->n_rows == 1 ? splits_of(a, seq) : (splits){0};
        if (s.n > 1) {
            combine_parts(a, item / n_heads, &s, item % n_heads);
        }
    }
}

enum { WRITE, WRITE_LATER, ATTEND, COMBINE };

_Static_assert(COMBINE < QN_CPU_PASSES, "each part is a pass");

uint32_t qn_cpu_attention_parts(const qn_exec *ex, const qn_cpu_op *op, const qn_step_rows *step)
{
    qn_attention_run a = common(ex, op, step);
    uint32_t parts = 1u << ATTEND;
    if (!a.all_decode) {
        parts |= 1u << WRITE | (uint32_t)qn_attention_needs_mean(a.kv, step) << WRITE_LATER;
    }
    return parts | (uint32_t)has_splits(&a) << COMBINE;
}

void qn_cpu_run_attention(qn_worker *w, const qn_cpu_op *op, uint32_t part, qn_chunks *c)
{
    qn_attention_run a = begin(w, op);
    switch (part) {
    case WRITE:
        qn_attention_write_pages(&a, c, qn_attention_needs_mean(a.kv, a.step) ? QN_KV_FIRST_PAGES : QN_KV_ALL_PAGES);
        break;
    case WRITE_LATER:
        qn_attention_write_pages(&a, c, QN_KV_LATER_PAGES);
        break;
    case ATTEND:
        attend(&a, c);
        break;
    default:
        combine(&a, c);
        break;
    }
}
