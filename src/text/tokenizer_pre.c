/* Pre-tokenizers: how a text is cut into words before byte-level BPE, by the patterns of a kind
 * (tokenizer_pre_kinds.c). SPDX-License-Identifier: MIT */
#include "text/tokenizer_int.h"

struct qn_pre {
    const qn_pre_kind *kind;
    qn_regex *patterns[QN_PRE_PATTERNS];
    size_t n_patterns;
};

qn_status qn_pre_open(qn_str name, qn_budget *b, qn_pre **out, qn_error *err)
{
    const qn_pre_kind *kind = qn_pre_kind_find(name);
    if (kind == NULL) {
        return qn_fail(err, QN_EUNSUPPORTED, "tokenizer.ggml.pre: %.*s", QN_STR_ARG(name));
    }
    qn_pre *p = qn_zalloc(b, QN_TOKENIZER_OWNER, sizeof(*p));
    if (p == NULL) {
        return qn_fail(err, QN_ENOMEM, "no memory for a pre-tokenizer");
    }
    p->kind = kind;
    for (size_t i = 0; i < QN_PRE_PATTERNS && kind->patterns[i] != NULL; i++) {
        qn_status s = qn_regex_open(qn_str_of(kind->patterns[i]), b, &p->patterns[i], err);
        if (s != QN_OK) {
            qn_pre_close(p);
            return s;
        }
        p->n_patterns++;
    }
    *out = p;
    return QN_OK;
}

void qn_pre_close(qn_pre *p)
{
    if (p != NULL) {
        for (size_t i = 0; i < QN_PRE_PATTERNS; i++) {
            qn_regex_close(p->patterns[i]);
        }
        qn_free(p);
    }
}

bool qn_pre_ignores_merges(const qn_pre *p)
{
    return p->kind->ignores_merges;
}
bool qn_pre_adds_bos(const qn_pre *p)
{
    return p->kind->adds_bos;
}

static qn_status split(const qn_pre *p, size_t level, const char *text, size_t n, qn_pre_word *word, void *ctx);

/* One part of what the pattern number `level` cut. */
static inline qn_status pass_on(const qn_pre *p, size_t level, const char *part, size_t n, qn_pre_word *word, void *ctx)
{
    return level + 1 == p->n_patterns ? word(ctx, part, n) : split(p, level + 1, part, n, word, ctx);
}

/* Cuts text by the patterns from number `level` on; recursion is as deep as there are patterns. */
static qn_status split(const qn_pre *p, size_t level, const char *text, size_t n, qn_pre_word *word, void *ctx)
{
    size_t done = 0, start, end;
    while (done < n && qn_regex_find(p->patterns[level], text, n, done, &start, &end)) {
        if (start > done) {
            QN_TRY(pass_on(p, level, text + done, start - done, word, ctx));
        }
        QN_TRY(pass_on(p, level, text + start, end - start, word, ctx)); /* no pattern of the table matches nothing */
        done = end;
    }
    return done < n ? pass_on(p, level, text + done, n - done, word, ctx) : QN_OK;
}

qn_status qn_pre_split(const qn_pre *p, const char *text, size_t n, qn_pre_word *word, void *ctx)
{
    return p->n_patterns == 0 ? word(ctx, text, n) : split(p, 0, text, n, word, ctx);
}
