/* Prompts to tokens. SPDX-License-Identifier: MIT */
#include "engine/chat_int.h"

/* The ids of the text alone: special tokens that the template spells are those tokens. */
static qn_status encode(const qn_prompt *p, const qn_tokenizer *t, unsigned flags, int32_t *ids, size_t cap,
                        size_t *n_ids, qn_error *err)
{
    const qn_jinja_text *r = &p->rendered;
    size_t n_bytes;
    const char *text = qn_prompt_text(p, &n_bytes);
    size_t n_spans = (flags & QN_TEXT_PARSE_SPECIAL) != 0 ? 0 : r->n_spans;
    return qn_tokenizer_encode_spans(t, text, n_bytes, r->spans, n_spans, QN_TEXT_PARSE_SPECIAL, ids, cap, n_ids, err);
}

/* Whether the ids begin with a BOS that the template wrote, and not with one that a conversation spells. */
static bool begins_with_bos(const qn_prompt *p, int32_t bos, unsigned flags, const int32_t *ids, size_t n)
{
    const qn_jinja_text *r = &p->rendered;
    bool is_outside = (flags & QN_TEXT_PARSE_SPECIAL) != 0 || r->n_spans == 0 || r->spans[0].start > 0;
    return n > 0 && ids[0] == bos && is_outside;
}

qn_status qn_prompt_tokenize(const qn_prompt *p, const qn_model *m, unsigned flags, int32_t *ids, size_t cap,
                             size_t *n_ids, qn_error *err)
{
    QN_NEED(p, err);
    QN_NEED(m, err);
    QN_NEED_IF(cap != 0, ids, err);
    QN_NEED(n_ids, err);
    const qn_tokenizer *t = m->tokenizer;
    int32_t first, bos = qn_tokenizer_bos(t);
    bool wants_bos = (flags & QN_TEXT_ADD_SPECIAL) != 0 && qn_tokenizer_adds_bos(t) && bos >= 0;
    /* Room for one id at least, so that the first one is seen. */
    int32_t *to = cap > 0 ? ids : &first;
    size_t n = 0;
    qn_status status = encode(p, t, flags, to, cap > 0 ? cap : 1, &n, err);
    if (status != QN_OK && status != QN_ERANGE) {
        return qn_blame_ceiling(m->rt->budget, status, err);
    }
    bool adds = wants_bos && !begins_with_bos(p, bos, flags, to, n);
    *n_ids = n + adds;
    if (*n_ids > cap) {
        return qn_fail(err, QN_ERANGE, "%zu tokens, but room for %zu", *n_ids, cap);
    }
    if (adds) {
        memmove(ids + 1, ids, n * sizeof(*ids));
        ids[0] = bos;
    }
    return QN_OK;
}
