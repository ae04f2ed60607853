/* What a file or its kind of vocabulary wants done to plain text before it is encoded: accents taken off, letters made
 * small, NFC, in this order. Text that is so already is only looked at.
 * SPDX-License-Identifier: MIT */
#include "base/unicode_case.h"
#include "base/unicode_norm.h"
#include "text/tokenizer_int.h"
#include "text/utf8.h"

qn_status qn_normal_load(qn_tokenizer *t, const qn_gguf *g, qn_error *err)
{
    QN_TRY(qn_vocab_load_flag(g, "tokenizer.ggml.normalizer.lowercase", &t->is_lowercase, err));
    return qn_vocab_load_flag(g, "tokenizer.ggml.normalizer.strip_accents", &t->is_unaccented, err);
}

/* Copies with letters made small, or without marks. */
static void copy(bool lowercase, bool unaccented, const char *text, size_t n, qn_buf *out)
{
    for (size_t at = 0, len; at < n && out->status == QN_OK; at += len) {
        uint32_t cp, lower[QN_UNICODE_MAX_CASE];
        len = qn_utf8_next(text + at, n - at, &cp);
        if (unaccented && cp != UINT32_MAX && qn_unicode_category(cp) == QN_CATEGORY_MN) {
            continue;
        }
        unsigned n_lower = lowercase && cp != UINT32_MAX ? qn_unicode_lower(cp, lower) : 0;
        if (n_lower == 0 || (n_lower == 1 && lower[0] == cp)) {
            qn_buf_add(out, text + at, len);
            continue;
        }
        for (unsigned i = 0; i < n_lower; i++) {
            char s[4];
            qn_buf_add(out, s, qn_utf8_put(lower[i], s));
        }
    }
}

/* One step: what make() appends for *text becomes *text. run->normal holds the last one's result, and gives its memory
 * for the next. */
static qn_status step(qn_encode_run *run, qn_str *text,
                      qn_status (*make)(const qn_tokenizer *t, qn_str text, qn_buf *out))
{
    qn_buf out;
    qn_buf_init(&out, run->t->budget, QN_TOKENIZER_OWNER, run->normal.max);
    qn_status s = make(run->t, *text, &out);
    qn_buf_free(&run->normal);
    run->normal = out;
    *text = qn_buf_view(&run->normal);
    return s;
}

static qn_status decompose(const qn_tokenizer *t, qn_str text, qn_buf *out)
{
    (void)t;
    return qn_norm_add(QN_NORM_NFD, text.data, text.len, out);
}

static qn_status compose(const qn_tokenizer *t, qn_str text, qn_buf *out)
{
    (void)t;
    return qn_norm_add(QN_NORM_NFC, text.data, text.len, out);
}

static qn_status map(const qn_tokenizer *t, qn_str text, qn_buf *out)
{
    copy(t->is_lowercase, t->is_unaccented, text.data, text.len, out);
    return out->status;
}

qn_status qn_normal_text(qn_encode_run *run, const char **text, size_t *n)
{
    const qn_tokenizer *t = run->t;
    qn_str s = {*text, *n};
    if (t->is_unaccented && qn_norm_prefix(QN_NORM_NFD, s.data, s.len) < s.len) {
        QN_TRY(step(run, &s, decompose));
    }
    if (t->is_lowercase || t->is_unaccented) {
        QN_TRY(step(run, &s, map));
    }
    if (t->is_nfc && qn_norm_prefix(QN_NORM_NFC, s.data, s.len) < s.len) {
        QN_TRY(step(run, &s, compose));
    }
    *text = s.data;
    *n = s.len;
    return QN_OK;
}
