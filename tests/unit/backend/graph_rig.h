/* What the tests of plans share: op lists made at random or by parts, ragged steps over shuffled pages, and a run of
 * both the plan and the judge. SPDX-License-Identifier: MIT */
#ifndef QN_TESTS_UNIT_BACKEND_GRAPH_RIG_H
#define QN_TESTS_UNIT_BACKEND_GRAPH_RIG_H

#include "graph_judge.h"
#include "poison.h"

#include "backend/cpu/table.h"
#include "base/random.h"

enum { WIDTH = 64, N_VOCAB = 30, N_LOGITS = 40, N_LAYERS = 3, MAX_ROWS = 24, MAX_OUT = 5, N_EXPERTS = 5, N_USED = 2 };
enum { MAX_WEIGHTS = 400, MAX_POOL = 200, MAX_PAGES = 160 };

/* A graph in the making, with all that it borrows. */
typedef struct rig {
    qn_random rnd;
    qn_graph g;
    qn_weight weights[MAX_WEIGHTS];
    uint32_t n_weights;
    qn_type types[8]; /* that matrices may have */
    uint32_t n_types;
    qn_kv_layer layers[N_LAYERS];
    qn_kv_layout kv;
    qn_rope ropes[2];
    float freq[8];
    qn_val pool[MAX_POOL]; /* values of step rows to go on from */
    uint32_t n_pool;
} rig;

static uint32_t below(rig *r, uint32_t n) { return (uint32_t)qn_random_below(&r->rnd, n); }

static inline bool chance(rig *r) { return below(r, 2) == 0; }

static const qn_weight *new_weight(rig *r, qn_type type, uint32_t n_in, uint32_t n_out, uint32_t n_mats, float mean,
                                   float spread)
{
    assert_true(r->n_weights < MAX_WEIGHTS);
    qn_weight *w = &r->weights[r->n_weights++];
    *w = (qn_weight){.name = QN_STR("w"), .type = type, .n_in = n_in, .n_out = n_out, .n_mats = n_mats};
    assert_true(qn_type_row_bytes(type, n_in, &w->row_bytes));
    size_t n = (size_t)n_in * n_out * n_mats;
    float *x = malloc(n * sizeof(*x));
    uint8_t *data = malloc(w->row_bytes * n_out * n_mats);
    for (size_t i = 0; i < n; i++) {
        x[i] = mean + spread * qn_random_normal(&r->rnd);
    }
    assert_int_equal(qn_encode_row(type, x, data, n, NULL, NULL), QN_OK);
    free(x);
    w->data = data;
    return w;
}

static const qn_weight *matrix(rig *r, uint32_t n_in, uint32_t n_out, uint32_t n_mats)
{
    qn_type type = r->types[below(r, r->n_types)];
    type = n_in % qn_type_find(type)->block_len == 0 ? type : QN_TYPE_F32;
    return new_weight(r, type, n_in, n_out, n_mats, 0.0f, 1.0f / sqrtf((float)n_in));
}

static const qn_weight *vector(rig *r, uint32_t n, float mean)
{
    return new_weight(r, QN_TYPE_F32, n, 1, 1, mean, 0.2f);
}

static inline qn_val push(rig *r, qn_val v)
{
    assert_true(v != QN_NONE && r->n_pool < MAX_POOL);
    r->pool[r->n_pool++] = v;
    return v;
}

static uint32_t width_of(const rig *r, qn_val v) { return r->g.values[v].width; }

/* A value of the pool, rather a late one. */
static inline qn_val any(rig *r)
{
    uint32_t back = chance(r) ? below(r, r->n_pool) : below(r, r->n_pool < 3 ? r->n_pool : 3);
    return r->pool[r->n_pool - 1 - back];
}

static inline qn_val any_of(rig *r, uint32_t width)
{
    for (;;) {
        qn_val v = r->pool[below(r, r->n_pool)];
        if (width_of(r, v) == width) {
            return v;
        }
    }
}

static inline qn_val normed(rig *r, qn_val x)
{
    return push(r, qn_graph_norm(&r->g, "norm", x, vector(r, width_of(r, x), 1.0f), 1e-5f));
}

static inline qn_val times(rig *r, qn_val x, uint32_t n_out)
{
    return qn_graph_mul_mat(&r->g, "product", matrix(r, width_of(r, x), n_out, 1), x);
}

/* What may happen to heads on their way to attention, or elsewhere. */
static inline qn_val prepared(rig *r, qn_val x, uint32_t head_dim)
{
    if (chance(r)) {
        x = qn_graph_norm_heads(&r->g, "heads", x, vector(r, head_dim, 1.0f), 1e-6f, head_dim);
    }
    if (chance(r)) {
        x = qn_graph_rope(&r->g, "turned", x, &r->ropes[below(r, 2)], head_dim);
    }
    return x;
}

static inline void add_attention(rig *r, uint32_t i_layer)
{
    const qn_kv_layer *l = &r->layers[i_layer];
    uint32_t n_heads = l->n_heads * (1 + below(r, 3));
    qn_val x = normed(r, any(r)), raw_k = times(r, x, l->n_heads * l->head_dim), v;
    bool shared = l->v_dim == l->head_dim && below(r, 3) == 0; /* one product serves as key and as value */
    qn_val q = prepared(r, times(r, x, n_heads * l->head_dim), l->head_dim);
    qn_val k = prepared(r, raw_k, l->head_dim);
    v = shared ? raw_k : times(r, x, l->n_heads * l->v_dim);
    if (chance(r)) {
        v = qn_graph_bias(&r->g, "bias", v, vector(r, width_of(r, v), 0.0f));
    }
    qn_graph_kv_write(&r->g, i_layer, k, v);
    if (below(r, 4) == 0) {
        push(r, raw_k); /* somebody else wants the key as it was */
    }
    qn_attention a = {.i_layer = i_layer, .n_heads = n_heads, .scale = 0.3f, .softcap = chance(r) ? 5.0f : 0.0f};
    x = push(r, times(r, qn_graph_attention(&r->g, "attention", q, &a), WIDTH));
    if (chance(r)) {
        push(r, qn_graph_add(&r->g, "sum", any_of(r, WIDTH), x));
    }
}

static inline void add_experts(rig *r)
{
    qn_val x = normed(r, any_of(r, WIDTH));
    if (chance(r)) {
        x = push(r, qn_graph_scale(&r->g, "scaled", x, 0.5f));
    }
    const qn_weight *router = new_weight(r, QN_TYPE_F32, WIDTH, N_EXPERTS, 1, 0.0f, 0.5f);
    qn_val routing = qn_graph_route(&r->g, "routing", qn_graph_mul_mat(&r->g, "router", router, x), N_USED, chance(r));
    qn_val gate = qn_graph_mul_expert(&r->g, "gate", matrix(r, WIDTH, 96, N_EXPERTS), x, routing);
    qn_val up = qn_graph_mul_expert(&r->g, "up", matrix(r, WIDTH, 96, N_EXPERTS), x, routing);
    qn_val h = qn_graph_act_mul(&r->g, "act", QN_SILU, gate, up);
    qn_val down = qn_graph_mul_expert(&r->g, "down", matrix(r, 96, WIDTH, N_EXPERTS), h, routing);
    qn_val sum = qn_graph_sum_expert(&r->g, "experts", down, routing);
    if (chance(r)) { /* an expert that all rows share */
        sum = qn_graph_add(&r->g, "shared", sum, times(r, x, WIDTH));
    }
    push(r, sum);
}

static inline void add_ffn(rig *r)
{
    qn_val x = any_of(r, WIDTH), h = chance(r) ? normed(r, x) : x;
    bool swapped = below(r, 4) == 0;
    uint32_t n_ff = 32 * (1 + below(r, 4));
    qn_val a = times(r, h, n_ff);
    a = chance(r) ? qn_graph_bias(&r->g, "bias", a, vector(r, n_ff, 0.0f)) : a;
    qn_val b = times(r, h, n_ff);
    b = chance(r) ? qn_graph_bias(&r->g, "bias", b, vector(r, n_ff, 0.0f)) : b;
    qn_val act = qn_graph_act_mul(&r->g, "act", chance(r) ? QN_SILU : QN_GELU_TANH, swapped ? b : a, swapped ? a : b);
    if (below(r, 4) == 0) {
        push(r, chance(r) ? a : b); /* half of a pair has another reader */
    }
    qn_val y = times(r, act, WIDTH);
    y = chance(r) ? qn_graph_norm(&r->g, "post", y, vector(r, WIDTH, 1.0f), 1e-6f) : y;
    qn_val base = chance(r) ? x : h; /* the residual may be the normalised value itself */
    push(r, chance(r) ? qn_graph_add(&r->g, "sum", base, y) : qn_graph_add(&r->g, "sum", y, base));
}

/* A product and whatever may follow it, in any order. */
static inline void add_chain(rig *r)
{
    qn_val x = times(r, any(r), WIDTH);
    for (uint32_t n = below(r, 5); n > 0; n--) {
        switch (below(r, 4)) {
        case 0:
            x = qn_graph_bias(&r->g, "bias", x, vector(r, WIDTH, 0.0f));
            break;
        case 1:
            x = qn_graph_scale(&r->g, "scale", x, 0.6f);
            break;
        case 2:
            x = qn_graph_softcap(&r->g, "softcap", x, 2.0f);
            break;
        default:
            x = qn_graph_add(&r->g, "add", x, any_of(r, WIDTH));
            break;
        }
    }
    push(r, x);
}

static inline void add_plain(rig *r)
{
    qn_val x = any(r);
    switch (below(r, 9)) {
    case 0:
        normed(r, x);
        break;
    case 1:
        push(r, times(r, x, 32 * (1 + below(r, 4))));
        break;
    case 2:
        push(r, qn_graph_bias(&r->g, "bias", x, vector(r, width_of(r, x), 0.0f)));
        break;
    case 3:
        push(r, qn_graph_add(&r->g, "add", x, any_of(r, width_of(r, x))));
        break;
    case 4:
        push(r, qn_graph_scale(&r->g, "scale", x, chance(r) ? 0.7f : -1.3f));
        break;
    case 5:
        push(r, qn_graph_softcap(&r->g, "softcap", x, 3.0f));
        break;
    case 6:
        x = normed(r, x);
        push(r, qn_graph_act_mul(&r->g, "act", QN_GELU_TANH, x, x));
        break;
    case 7:
        push(r, prepared(r, x, 16));
        break;
    case 8: { /* x + W norm(x), the residual the sum or the norm */
        x = any_of(r, WIDTH);
        qn_val n = normed(r, x), y = times(r, n, WIDTH);
        push(r, qn_graph_add(&r->g, "sum", y, chance(r) ? x : n));
        break;
    }
    }
}

static inline void open_rig(rig *r, uint64_t seed, const qn_type *types, uint32_t n_types, qn_type kv_type)
{
    memset(r, 0, sizeof(*r));
    qn_random_seed(&r->rnd, seed);
    memcpy(r->types, types, n_types * sizeof(*types));
    r->n_types = n_types;
    static const uint32_t pages[] = {8, 16, 24, 32};
    for (uint32_t i = 0; i < N_LAYERS; i++) {
        uint32_t head_dim = 16 * (1 + below(r, 2));
        r->layers[i] = (qn_kv_layer){.window = chance(r) ? 0 : 13, .n_heads = 1 + below(r, 2), .head_dim = head_dim,
                                     .v_dim = chance(r) ? head_dim : 32};
    }
    r->kv = (qn_kv_layout){.type = kv_type, .page_tokens = pages[below(r, 4)], .n_layers = N_LAYERS, .layers = r->layers};
    assert_int_equal(qn_kv_layout_plan(&r->kv, NULL), QN_OK);
    for (uint32_t i = 0; i < 8; i++) {
        r->freq[i] = powf(100.0f, -(float)i / 8.0f);
    }
    r->ropes[0] = (qn_rope){.neox = false, .n_pairs = 8, .mscale = 1.0f, .inv_freq = r->freq};
    r->ropes[1] = (qn_rope){.neox = true, .n_pairs = 5, .mscale = 1.1f, .inv_freq = r->freq};
    qn_graph_init(&r->g, NULL, &r->kv);
}

static inline void close_rig(rig *r)
{
    qn_graph_free(&r->g);
    for (uint32_t i = 0; i < r->n_weights; i++) {
        free((void *)(uintptr_t)r->weights[i].data);
    }
}

static inline void begin_graph(rig *r)
{
    qn_val x = qn_graph_embed(&r->g, "embd", new_weight(r, QN_TYPE_F32, WIDTH, N_VOCAB, 1, 0.0f, 1.0f));
    push(r, x);
    if (chance(r)) {
        push(r, qn_graph_scale(&r->g, "scaled", x, 2.0f));
    }
}

static inline void end_graph(rig *r)
{
    qn_val x = any_of(r, WIDTH);
    for (uint32_t n = below(r, 8); n > 0; n--) { /* so that not too much of the graph is for nothing */
        x = qn_graph_add(&r->g, "sum", x, any_of(r, WIDTH));
    }
    x = qn_graph_pick(&r->g, "picked", x);
    if (chance(r)) {
        x = qn_graph_norm(&r->g, "norm", x, vector(r, width_of(r, x), 1.0f), 1e-5f);
    }
    x = times(r, x, N_LOGITS);
    x = qn_graph_scale(&r->g, "scaled", x, chance(r) ? 1.0f : 0.5f);
    x = qn_graph_softcap(&r->g, "capped", x, chance(r) ? 0.0f : 4.0f);
    qn_error err = {0};
    if (qn_graph_status(&r->g, &err) != QN_OK) {
        fail_msg("%s", err.what);
    }
}

static inline void random_graph(rig *r, bool experts)
{
    uint32_t i_layer = 0;
    begin_graph(r);
    for (uint32_t n = 4 + below(r, 12); n > 0; n--) {
        uint32_t what = below(r, 10);
        if (what < 2 && i_layer < N_LAYERS) {
            add_attention(r, i_layer++);
        } else if (what < 4) {
            add_ffn(r);
        } else if (what == 4 && experts) {
            add_experts(r);
        } else if (what == 5) {
            add_chain(r);
        } else {
            add_plain(r);
        }
    }
    end_graph(r);
}

/* ---- running a graph -------------------------------------------------------------------------------- */

typedef struct sequence {
    uint32_t length;
    uint8_t *pages[QN_KV_MAX_GROUPS][MAX_PAGES];
    float means[N_LAYERS * 2 * 32]; /* of at most 2 heads of 32 */
} sequence;

static inline void free_sequences(sequence *all)
{
    for (uint32_t i = 0; i < JUDGE_MAX_SEQS; i++) {
        for (uint32_t g = 0; g < QN_KV_MAX_GROUPS; g++) {
            for (uint32_t p = 0; p < MAX_PAGES; p++) {
                free(all[i].pages[g][p]);
            }
        }
    }
    free(all);
}

/* Rows of a step over some of the sequences. */
typedef struct step {
    qn_step_rows rows;
    int32_t token[MAX_ROWS];
    uint32_t pos[MAX_ROWS], seq[MAX_ROWS], out_rows[MAX_ROWS];
    qn_step_seq seqs[JUDGE_MAX_SEQS];
    uint32_t seq_of[JUDGE_MAX_SEQS];
} step;

/* Adds n_rows tokens of sequence i to the step; every third row's logits are wanted. */
static inline void add_rows(rig *r, step *s, sequence *all, uint32_t i, uint32_t n_rows)
{
    qn_step_seq *q = &s->seqs[s->rows.n_seqs];
    s->seq_of[s->rows.n_seqs] = i;
    *q = (qn_step_seq){.first_row = s->rows.n_rows, .n_rows = n_rows, .pos0 = all[i].length, .means = all[i].means};
    assert_true(r->kv.n_means <= sizeof(all[i].means) / sizeof(float));
    for (uint32_t g = 0; g < r->kv.n_groups; g++) {
        q->pages[g] = all[i].pages[g];
        for (uint32_t p = all[i].length / r->kv.page_tokens; p <= (all[i].length + n_rows - 1) / r->kv.page_tokens; p++) {
            if (all[i].pages[g][p] == NULL) {
                bool is_plain = p < qn_kv_plain_pages(&r->kv, r->kv.groups[g].window);
                uint64_t bytes = is_plain ? r->kv.groups[g].page_bytes : r->kv.groups[g].code_bytes;
                all[i].pages[g][p] = aligned_alloc(64, bytes);
                memset(all[i].pages[g][p], 0xFF, bytes);
            }
        }
    }
    for (uint32_t k = 0; k < n_rows; k++) {
        uint32_t row = s->rows.n_rows++;
        s->token[row] = (int32_t)below(r, N_VOCAB);
        s->pos[row] = all[i].length + k;
        s->seq[row] = s->rows.n_seqs;
        if (below(r, 3) == 0) {
            s->out_rows[s->rows.n_out++] = row;
        }
    }
    s->rows.n_seqs++;
}

static inline void begin_step(step *s)
{
    memset(s, 0, sizeof(*s));
    s->rows = (qn_step_rows){.token = s->token, .pos = s->pos, .seq = s->seq, .seqs = s->seqs, .out_rows = s->out_rows};
}

static inline void random_step(rig *r, step *s, sequence *all)
{
    bool decode = below(r, 3) == 0;
    begin_step(s);
    for (uint32_t i = 0; i < JUDGE_MAX_SEQS; i++) {
        uint32_t left = MAX_ROWS - s->rows.n_rows, n_rows = decode || chance(r) ? 1 : 1 + below(r, 12);
        if (n_rows <= left && (below(r, 3) != 0 || s->rows.n_seqs == 0)) {
            add_rows(r, s, all, i, n_rows);
        }
    }
    if (s->rows.n_out == 0) {
        s->out_rows[s->rows.n_out++] = s->rows.n_rows - 1;
    }
}

/* Afterwards, as the cache would do it: what fell behind a window is gone. */
static inline void end_step(const rig *r, const step *s, sequence *all)
{
    for (uint32_t i = 0; i < s->rows.n_seqs; i++) {
        sequence *q = &all[s->seq_of[i]];
        q->length += s->seqs[i].n_rows;
        for (uint32_t g = 0; g < r->kv.n_groups; g++) {
            uint32_t window = r->kv.groups[g].window;
            uint32_t keep = window != 0 && q->length + 1 > window ? (q->length + 1 - window) / r->kv.page_tokens : 0;
            for (uint32_t p = 0; p < keep; p++) {
                free(q->pages[g][p]);
                q->pages[g][p] = NULL;
            }
        }
    }
}

static inline void run_step(qn_exec *ex, qn_backend *be, const step *s, float *logits)
{
    const atomic_bool stop = false;
    assert_int_equal(be->ops->run_body(ex, &s->rows, &stop), QN_OK);
    for (uint32_t first = 0; first < s->rows.n_out; first += MAX_OUT) {
        uint32_t n = s->rows.n_out - first < MAX_OUT ? s->rows.n_out - first : MAX_OUT;
        assert_int_equal(be->ops->run_head(ex, &s->rows, first, n, logits + first * N_LOGITS, &stop), QN_OK);
    }
}

/* Error of the logits as a part of their own size. */
static inline double error_of(const float *got, const double *want, uint32_t n)
{
    double sum = 0.0, norm = 1e-9;
    for (uint32_t i = 0; i < n; i++) {
        double d = isfinite(got[i]) ? got[i] - want[i] : 1e9;
        sum += d * d;
        norm += want[i] * want[i];
    }
    return sqrt(sum / norm);
}

typedef struct machine {
    qn_kernels kernels;
    qn_pool *pool;
    qn_backend *be;
} machine;

static inline void open_machine(machine *m, const char *isa, uint32_t n_threads)
{
    assert_int_equal(qn_kernels_select(isa, &m->kernels, NULL), QN_OK);
    assert_int_equal(qn_pool_open(n_threads, &m->pool, NULL), QN_OK);
    assert_int_equal(qn_cpu_open(&m->kernels, m->pool, NULL, &m->be, NULL), QN_OK);
}

static inline void close_machine(machine *m)
{
    m->be->ops->close(m->be);
    qn_pool_close(m->pool);
}

typedef void next_step_fn(rig *r, step *s, sequence *all);

static inline qn_exec *compile_rig(const rig *r, machine *m, const qn_exec_limits *lim)
{
    qn_exec *ex = NULL;
    qn_error err = {0};
    if (m->be->ops->compile(m->be, &r->g, lim, &ex, &err) != QN_OK) {
        fail_msg("%s", err.what);
    }
    assert_true(qn_arena_plan_ok(ex->places, ex->n_blocks));
    return ex;
}

static inline void fail_step(qn_exec *ex, qn_backend *be, const step *s, double error)
{
    qn_buf text;
    qn_buf_init(&text, NULL, "test", SIZE_MAX);
    for (uint32_t k = 0; k < be->ops->n_ops(ex); k++) {
        be->ops->describe_op(ex, k, &text);
        qn_buf_add_char(&text, '\n');
    }
    fail_msg("a step of %u rows (%u sequences) is off by %g\n%s", s->rows.n_rows, s->rows.n_seqs, error, text.data);
}

/* Runs n_steps steps of r's graph; every step must agree with the judge to `tolerance`. */
static inline void play(rig *r, machine *m, uint32_t n_steps, next_step_fn *next, double tolerance)
{
    judge *j = malloc(sizeof(*j));
    sequence *all = calloc(JUDGE_MAX_SEQS, sizeof(*all));
    qn_exec *ex = compile_rig(r, m, &(qn_exec_limits){.n_rows = MAX_ROWS, .n_seqs = JUDGE_MAX_SEQS, .n_ctx = JUDGE_MAX_POS,
                                                  .n_out = MAX_OUT});
    judge_open(j, &r->g, MAX_ROWS);
    double worst = 0.0;
    for (uint32_t i = 0; i < n_steps; i++) {
        step s;
        float logits[MAX_ROWS * N_LOGITS];
        next(r, &s, all);
        run_step(ex, m->be, &s, logits);
        const double *want = judge_step(j, &s.rows, s.seq_of);
        double e = error_of(logits, want, s.rows.n_out * N_LOGITS);
        worst = e > worst ? e : worst;
        if (e > tolerance) {
            fail_step(ex, m->be, &s, e);
        }
        end_step(r, &s, all);
    }
    if (getenv("QUERN_TEST_VERBOSE") != NULL) {
        printf("%s: %u ops, worst error %g\n", m->kernels.isa, r->g.n_ops, worst);
    }
    judge_close(j);
    free(j);
    m->be->ops->exec_free(ex);
    free_sequences(all);
}

#endif
