/* A matcher: one sequence's place in a grammar, and the places before it.
 * SPDX-License-Identifier: MIT */
#include "grammar/mask_int.h"

#define MAX_FORCED 4096            /* bytes at a time */
#define MAX_FORCED_WORK (1u << 18) /* frames looked at for them */

static void remember(qn_matcher *m, uint32_t config, bool ended)
{
    if (m->n_history == QN_MAX_HISTORY + 1) {
        memmove(m->history, m->history + 1, QN_MAX_HISTORY * sizeof(*m->history));
        memmove(m->ended, m->ended + 1, QN_MAX_HISTORY * sizeof(*m->ended));
        m->n_history--;
    }
    m->history[m->n_history] = config;
    m->ended[m->n_history++] = ended;
}

/* An engine that holds too much forgets what can be found out again. */
static qn_status keep_small(qn_matcher *m)
{
    qn_engine *e = m->engine;
    return qn_engine_bytes(e) - qn_rx_bytes(&e->rx) <= QN_MAX_ENGINE_BYTES && !qn_engine_has_many_states(e)
               ? QN_OK
               : qn_engine_forget(e, m->history, m->n_history);
}

qn_status qn_matcher_open(qn_grammar *g, const qn_grammar_vocab *v, qn_budget *b, qn_matcher **out, qn_error *err)
{
    *out = NULL;
    if (err != NULL) {
        err->what[0] = '\0';
    }
    qn_matcher *m = qn_zalloc(b, QN_RX_OWNER, sizeof(*m));
    if (m == NULL) {
        return qn_fail(err, qn_alloc_failure(b, sizeof(*m)), "opening a matcher: no memory");
    }
    m->grammar = g;
    m->vocab = v;
    m->budget = b;
    qn_status status = qn_grammar_take_engine(g, v, &m->engine, err);
    if (status == QN_OK) {
        qn_matcher_begin(m);
        const qn_automaton *a = qn_grammar_automaton(g);
        uint32_t start = qn_rx_rules(&m->engine->rx)[a->root].start;
        uint32_t config = qn_config_enter(m->engine, start, 0, 0, 0, true);
        status = m->engine->status;
        remember(m, config, false);
    }
    if (status != QN_OK) {
        qn_matcher_close(m);
        if (err != NULL && err->what[0] == '\0') {
            qn_fail(err, status, "opening a matcher: %s", qn_status_text(status));
        }
        return status;
    }
    *out = m;
    return QN_OK;
}

void qn_matcher_close(qn_matcher *m)
{
    if (m != NULL) {
        qn_grammar_give_engine(m->grammar, m->engine);
        qn_free(m);
    }
}

qn_status qn_matcher_copy(const qn_matcher *m, qn_matcher **out, qn_error *err)
{
    *out = NULL;
    qn_matcher *copy = qn_alloc(m->budget, QN_RX_OWNER, sizeof(*copy));
    qn_status status = copy == NULL ? qn_alloc_failure(m->budget, sizeof(*copy)) : QN_OK;
    if (copy != NULL) {
        *copy = *m;
        status = qn_engine_copy(m->engine, &copy->engine);
    }
    if (status != QN_OK) {
        qn_free(copy);
        return qn_fail(err, status, "copying a matcher: %s", qn_status_text(status));
    }
    *out = copy;
    return QN_OK;
}

qn_status qn_matcher_mask(qn_matcher *m, uint64_t *bits)
{
    qn_matcher_begin(m);
    QN_TRY(keep_small(m));
    return qn_mask_fill(m->engine, qn_matcher_now(m), bits);
}

/* ---- going on ---- */

/* Where `bytes` lead; *n_taken: how far. QN_EINVAL: not to the end. */
static qn_status take_bytes(qn_matcher *m, const char *bytes, size_t n, size_t *n_taken, uint32_t *config)
{
    *config = qn_matcher_now(m);
    for (*n_taken = 0; *n_taken < n; ++*n_taken) {
        m->engine->work = m->engine->rx.work = 0;
        uint32_t to = qn_config_step(m->engine, *config, (unsigned char)bytes[*n_taken]);
        if (m->engine->status != QN_OK) {
            return m->engine->status;
        }
        if (to == QN_DEAD) {
            return QN_EINVAL;
        }
        *config = to;
    }
    return QN_OK;
}

/* Frames of both. */
static uint32_t join(qn_engine *e, uint32_t a, uint32_t b)
{
    qn_rx_vec all = {0};
    uint32_t both[2] = {a, b};
    for (int i = 0; i < 2; i++) {
        for (uint32_t k = 0; k < qn_config_at(e, both[i])->n; k++) {
            uint32_t f = qn_config_frames(e, both[i])[k];
            qn_vec_add(e->budget, &e->status, &all, &f, QN_MAX_FRAMES, sizeof(f));
        }
    }
    bool may_end = qn_config_at(e, a)->may_end || qn_config_at(e, b)->may_end;
    uint32_t joined = e->status != QN_OK ? QN_DEAD : qn_config_make(e, all.items, all.n, may_end);
    qn_free(all.items);
    return joined;
}

/* Where a token leads that the grammar may name as special. */
static uint32_t take_special(qn_matcher *m, int32_t id)
{
    uint32_t config = QN_DEAD;
    for (uint32_t i = 0; i < m->engine->rx.n_specials; i++) {
        if (m->engine->special_ids[i] == id) {
            config = qn_config_step(m->engine, qn_matcher_now(m), QN_RX_SPECIAL_SYMBOL + i);
        }
    }
    return config;
}

qn_status qn_matcher_accept(qn_matcher *m, int32_t id)
{
    qn_matcher_begin(m);
    if (id < 0 || (uint32_t)id >= m->vocab->n_vocab) {
        return QN_EINVAL;
    }
    QN_TRY(keep_small(m));
    uint32_t special = qn_matcher_has_ended(m) ? QN_DEAD : take_special(m, id);
    QN_TRY(m->engine->status);
    if (special == QN_DEAD && qn_tokenizer_is_end(m->vocab->tokenizer, id)) {
        if (!qn_config_at(m->engine, qn_matcher_now(m))->may_end) {
            return QN_EINVAL;
        }
        remember(m, qn_matcher_now(m), true);
        return QN_OK;
    }
    qn_str bytes = qn_vocab_bytes(m->vocab, id);
    uint32_t config = QN_DEAD;
    size_t n_taken;
    if (!qn_matcher_has_ended(m) && bytes.len != 0) {
        qn_status status = take_bytes(m, bytes.data, bytes.len, &n_taken, &config);
        if (status != QN_OK && status != QN_EINVAL) {
            return status;
        }
        config = status == QN_OK ? config : QN_DEAD;
    }
    config = special == QN_DEAD ? config : config == QN_DEAD ? special : join(m->engine, config, special);
    QN_TRY(m->engine->status);
    if (config == QN_DEAD) {
        return QN_EINVAL;
    }
    remember(m, config, false);
    return QN_OK;
}

qn_status qn_matcher_accept_bytes(qn_matcher *m, const char *bytes, size_t n, size_t *n_taken)
{
    qn_matcher_begin(m);
    *n_taken = 0;
    if (qn_matcher_has_ended(m)) {
        return n == 0 ? QN_OK : QN_EINVAL;
    }
    QN_TRY(keep_small(m));
    uint32_t config;
    QN_TRY(take_bytes(m, bytes, n, n_taken, &config));
    remember(m, config, false);
    return QN_OK;
}

qn_status qn_matcher_rollback(qn_matcher *m, uint32_t n)
{
    if (n >= m->n_history) {
        return QN_ERANGE;
    }
    m->n_history -= n;
    return QN_OK;
}

/* ---- what lies ahead ---- */

static bool has_special(qn_engine *e, uint32_t config)
{
    for (uint32_t i = 0; i < qn_config_at(e, config)->n; i++) {
        qn_rx_head h = qn_rx_head_of(&e->rx, qn_frame_at(e, qn_config_frames(e, config)[i])->state);
        if (h.n_runs != 0 && qn_rx_runs(&e->rx)[h.first_run + h.n_runs - 1].hi >= QN_RX_SPECIAL_SYMBOL) {
            return true;
        }
    }
    return false;
}

qn_status qn_matcher_forced(qn_matcher *m, qn_buf *out)
{
    qn_matcher_begin(m);
    qn_engine *e = m->engine;
    uint32_t config = qn_matcher_has_ended(m) ? QN_DEAD : qn_matcher_now(m);
    for (int n = 0; n < MAX_FORCED && config != QN_DEAD && !qn_config_at(e, config)->may_end; n++) {
        uint64_t first[4];
        qn_config_first(e, config, first);
        int n_first = 0, byte = 0;
        for (int w = 0; w < 4; w++) {
            n_first += __builtin_popcountll(first[w]);
            byte = first[w] != 0 ? w * 64 + __builtin_ctzll(first[w]) : byte;
        }
        if (n_first != 1 || has_special(e, config)) {
            break;
        }
        if (e->work > MAX_FORCED_WORK) {
            break;
        }
        config = qn_config_step(e, config, (uint32_t)byte);
        QN_TRY(e->status);
        qn_buf_add_char(out, (char)byte);
    }
    QN_TRY(e->rx.status);
    return out->status;
}

const char *qn_matcher_limit(const qn_matcher *m)
{
    const qn_engine *e = m->engine;
    bool is_full = e->status == QN_EFULL || e->rx.status == QN_EFULL;
    const char *limit = e->limit != NULL ? e->limit : e->rx.limit;
    return !is_full ? "" : limit != NULL ? limit : "the matcher holds too many states of the text";
}

bool qn_matcher_may_end(const qn_matcher *m) { return qn_config_at(m->engine, qn_matcher_now(m))->may_end; }

bool qn_matcher_must_end(const qn_matcher *m)
{
    return qn_matcher_has_ended(m) || (qn_matcher_may_end(m) && qn_config_at(m->engine, qn_matcher_now(m))->n == 0);
}
