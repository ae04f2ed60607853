/* Whether an expression matches a text: by the sets of places that each part can end at, given those that it can begin
 * at. Slow and plain. It decides what is known while a grammar is being built (whether a key fits a pattern), and in
 * tests it is the judge of the automaton, with which it shares nothing.
 * SPDX-License-Identifier: MIT */
#include "base/unicode.h"
#include "grammar/front_int.h"

#define MAX_DEPTH 3000             /* of expressions and rules in each other; about 300 bytes of stack each */
#define MAX_STEPS (20u * 1000000u) /* words of sets that were looked at: about 50 ms */
#define CALL_STEPS 64u             /* a call costs as much as so many words */

typedef struct matcher {
    const qn_gx_builder *b;
    qn_str text;
    size_t n_words;
    unsigned depth;
    uint64_t n_steps;
    qn_status status;
} matcher;

static void step(matcher *m, qn_gx x, const uint64_t *in, uint64_t *out);

static bool bit(const uint64_t *s, size_t i)
{
    return s[i / 64] >> i % 64 & 1;
}
static void set_bit(uint64_t *s, size_t i)
{
    s[i / 64] |= 1ull << i % 64;
}

static bool is_empty(const matcher *m, const uint64_t *s)
{
    for (size_t i = 0; i < m->n_words; i++) {
        if (s[i] != 0) {
            return false;
        }
    }
    return true;
}

static size_t set_bytes(const matcher *m)
{
    return m->n_words * sizeof(uint64_t);
}

/* n sets, empty, in one block; NULL: status is set. */
static uint64_t *new_sets(matcher *m, size_t n)
{
    uint64_t *s = m->status == QN_OK ? qn_zalloc(m->b->budget, "grammar", n * set_bytes(m)) : NULL;
    if (s == NULL && m->status == QN_OK) {
        m->status = QN_ENOMEM;
    }
    return s;
}

static void step_class(matcher *m, const qn_gx_node *node, const uint64_t *in, uint64_t *out)
{
    for (size_t i = 0; i < m->text.len; i++) {
        if (!bit(in, i)) {
            continue;
        }
        uint32_t cp;
        size_t len = qn_unicode_decode(m->text.data + i, m->text.len - i, &cp);
        for (uint32_t k = 0; k < node->n; k++) {
            qn_gx_range r = m->b->ranges[node->first + k];
            if (r.first <= cp && cp <= r.last) {
                set_bit(out, i + len);
                break;
            }
        }
    }
}

static void step_bytes(matcher *m, const qn_gx_node *node, const uint64_t *in, uint64_t *out)
{
    for (size_t i = 0; i + node->n <= m->text.len; i++) {
        if (bit(in, i) && (node->n == 0 || memcmp(m->text.data + i, m->b->text + node->first, node->n) == 0)) {
            set_bit(out, i + node->n);
        }
    }
}

static void step_cat(matcher *m, const qn_gx_node *node, const uint64_t *in, uint64_t *out)
{
    uint64_t *s = new_sets(m, 2);
    if (s == NULL) {
        return;
    }
    uint64_t *from = s, *to = s + m->n_words;
    memcpy(from, in, set_bytes(m));
    for (uint32_t i = 0; i < node->n && !is_empty(m, from) && m->status == QN_OK; i++) {
        memset(to, 0, set_bytes(m));
        step(m, m->b->children[node->first + i], from, to);
        uint64_t *swap = from;
        from = to;
        to = swap;
    }
    for (size_t i = 0; i < m->n_words; i++) {
        out[i] |= from[i];
    }
    qn_free(s);
}

static void step_repeat(matcher *m, const qn_gx_node *node, const uint64_t *in, uint64_t *out)
{
    uint64_t *s = new_sets(m, 3);
    if (s == NULL) {
        return;
    }
    uint64_t *from = s, *to = s + m->n_words, *ends = s + 2 * m->n_words;
    memcpy(from, in, set_bytes(m));
    if (node->min == 0) {
        memcpy(ends, in, set_bytes(m));
    }
    for (uint32_t k = 1; (node->max == QN_GX_NO_MAX || k <= node->max) && m->status == QN_OK; k++) {
        memset(to, 0, set_bytes(m));
        step(m, m->b->children[node->first], from, to);
        bool is_same = memcmp(from, to, set_bytes(m)) == 0, is_new = false;
        for (size_t i = 0; i < m->n_words; i++) {
            if (k >= node->min || is_same) {
                is_new |= (to[i] & ~ends[i]) != 0;
                ends[i] |= to[i];
            }
        }
        /* The same set again would stay the same up to any count; no new end means that none will come. */
        if (is_same || (k >= node->min && !is_new)) {
            break;
        }
        uint64_t *swap = from;
        from = to;
        to = swap;
    }
    for (size_t i = 0; i < m->n_words; i++) {
        out[i] |= ends[i];
    }
    qn_free(s);
}

/* AND and NOT depend on where a text began, so each beginning is looked at alone. */
static void step_logic(matcher *m, const qn_gx_node *node, const uint64_t *in, uint64_t *out)
{
    uint64_t *s = new_sets(m, 3);
    for (size_t i = 0; s != NULL && i <= m->text.len && m->status == QN_OK; i++) {
        if (!bit(in, i)) {
            continue;
        }
        memset(s, 0, 3 * set_bytes(m));
        set_bit(s, i);
        step(m, m->b->children[node->first], s, s + m->n_words);
        if (node->kind == QN_GX_AND) {
            step(m, m->b->children[node->first + 1], s, s + 2 * m->n_words);
        }
        for (size_t k = i; k <= m->text.len; k++) {
            bool x = bit(s + m->n_words, k), y = bit(s + 2 * m->n_words, k);
            if (node->kind == QN_GX_AND ? x && y : !x) {
                set_bit(out, k);
            }
        }
    }
    qn_free(s);
}

static void step(matcher *m, qn_gx x, const uint64_t *in, uint64_t *out)
{
    m->n_steps += m->n_words + CALL_STEPS;
    if (m->depth >= MAX_DEPTH || m->n_steps > MAX_STEPS) {
        m->status = m->status != QN_OK ? m->status : QN_EFULL;
    }
    if (m->status != QN_OK || is_empty(m, in)) {
        return;
    }
    m->depth++;
    const qn_gx_node *node = &m->b->nodes[x];
    switch ((qn_gx_kind)node->kind) {
    case QN_GX_NEVER:
        break;
    case QN_GX_BYTES:
        step_bytes(m, node, in, out);
        break;
    case QN_GX_CLASS:
        step_class(m, node, in, out);
        break;
    case QN_GX_CAT:
        step_cat(m, node, in, out);
        break;
    case QN_GX_ALT:
        for (uint32_t i = 0; i < node->n; i++) {
            step(m, m->b->children[node->first + i], in, out);
        }
        break;
    case QN_GX_REPEAT:
        step_repeat(m, node, in, out);
        break;
    case QN_GX_RULE:
        step(m, m->b->rules[node->rule].body, in, out);
        break;
    case QN_GX_AND:
    case QN_GX_NOT:
        step_logic(m, node, in, out);
        break;
    case QN_GX_SPECIAL:
        m->status = QN_EUNSUPPORTED;
        break;
    }
    m->depth--;
}

qn_status qn_front_match(const qn_gx_builder *b, qn_gx x, qn_str text, bool *matches)
{
    if (b->status != QN_OK) {
        return b->status;
    }
    if (text.len > QN_FRONT_MAX_MATCH) {
        return QN_EFULL;
    }
    matcher m = {.b = b, .text = text, .n_words = text.len / 64 + 1};
    uint64_t *s = new_sets(&m, 2);
    if (s == NULL) {
        return m.status;
    }
    set_bit(s, 0);
    step(&m, x, s, s + m.n_words);
    if (m.status == QN_OK) {
        *matches = bit(s + m.n_words, text.len);
    }
    qn_free(s);
    return m.status;
}
