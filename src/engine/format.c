/* Formats: from what users write to grammars that are shared.
 * SPDX-License-Identifier: MIT */
#include "engine/format_int.h"

#include "base/checked.h"

#define MAX_SOURCE ((size_t)1 << 20) /* bytes; more than any schema or grammar in use, small enough to be kept as a key */
#define MAX_KEY (MAX_SOURCE * 4)     /* bytes: room for a source with a conversation's tools */

void qn_format_options_init(qn_format_options *o)
{
    *o = (qn_format_options){0};
}

/* ---- sharing ---- */

qn_format *qn_format_hold(qn_format *f)
{
    atomic_fetch_add_explicit(&f->n_refs, 1, memory_order_relaxed); /* the caller holds it already, or a lock does */
    return f;
}

void qn_format_close(qn_format *f)
{
    /* Whoever frees must see all that the others did with it. */
    if (f != NULL && atomic_fetch_sub_explicit(&f->n_refs, 1, memory_order_acq_rel) == 1) {
        qn_grammar_close(f->grammar);
        qn_buf_free(&f->key);
        qn_free(f);
    }
}

void qn_format_key_init(qn_buf *key, qn_runtime *rt, const char *kind)
{
    qn_buf_init(key, rt->budget, QN_FORMAT_OWNER, MAX_KEY);
    qn_buf_add(key, kind, strlen(kind) + 1);
}

static qn_format *alloc_format(qn_runtime *rt, const qn_buf *key)
{
    qn_format *f = qn_zalloc(rt->budget, QN_FORMAT_OWNER, sizeof(*f));
    if (f == NULL) {
        return NULL;
    }
    f->rt = rt;
    atomic_init(&f->n_refs, 1);
    qn_buf_init(&f->key, rt->budget, QN_FORMAT_OWNER, MAX_KEY);
    qn_buf_add(&f->key, key->data, key->len);
    if (f->key.status != QN_OK) {
        qn_format_close(f);
        return NULL;
    }
    return f;
}

qn_status qn_format_from(qn_runtime *rt, const qn_gx_builder *b, const qn_buf *key, qn_format **out, qn_error *err)
{
    qn_format *f = alloc_format(rt, key);
    if (f == NULL) {
        return qn_fail(err, QN_ENOMEM, "no memory for a format");
    }
    qn_status status = qn_grammar_open(b, rt->budget, &f->grammar, err);
    if (status != QN_OK) {
        qn_format_close(f);
        return status;
    }
    *out = qn_format_keep(f);
    return QN_OK;
}

/* ---- the public calls ---- */

static const char *const kinds[] = {
    [QN_FORMAT_GRAMMAR] = "grammar",
    [QN_FORMAT_JSON_SCHEMA] = "schema",
    [QN_FORMAT_REGEX] = "regex",
    [QN_FORMAT_CHOICE] = "choice",
};

static qn_status read_source(qn_gx_builder *b, qn_format_kind kind, qn_str source, const qn_format_options *o,
                             qn_error *err)
{
    const qn_schema_options so = {.strict = o->strict, .max_whitespace = o->max_whitespace, .plain = true};
    switch (kind) {
    case QN_FORMAT_GRAMMAR:
        return qn_front_gbnf(b, source, err);
    case QN_FORMAT_JSON_SCHEMA:
        return qn_front_schema_text(b, source, &so, err);
    case QN_FORMAT_REGEX:
        return qn_front_regex(b, source, err);
    case QN_FORMAT_CHOICE:
        return qn_front_choice_text(b, source, err);
    }
    return qn_fail(err, QN_EINVAL, "kind: %d is no kind of format", (int)kind);
}

static qn_status compile(qn_runtime *rt, qn_format_kind kind, qn_str source, const qn_format_options *o,
                         const qn_buf *key, qn_format **out, qn_error *err)
{
    qn_gx_builder b;
    qn_gx_init(&b, rt->budget);
    qn_status status = read_source(&b, kind, source, o, err);
    if (status == QN_OK) {
        status = qn_format_from(rt, &b, key, out, err);
    }
    qn_gx_free(&b);
    return status;
}

static qn_status find_or_compile(qn_runtime *rt, qn_format_kind kind, qn_str source, const qn_format_options *o,
                                 const qn_buf *key, qn_format **out, qn_error *err)
{
    if (key->status != QN_OK) {
        return qn_fail(err, key->status, "no memory for a format of %zu bytes", source.len);
    }
    *out = qn_format_find(rt, key);
    return *out != NULL ? QN_OK : compile(rt, kind, source, o, key, out, err);
}

qn_status qn_format_open(qn_runtime *rt, qn_format_kind kind, const char *source, size_t n_bytes,
                         const qn_format_options *o, qn_format **out, qn_error *err)
{
    qn_format_options usual;
    qn_format_options_init(&usual);
    o = o == NULL ? &usual : o;
    QN_NEED(rt, err);
    QN_NEED_IF(n_bytes != 0, source, err);
    QN_NEED(out, err);
    if ((unsigned)kind >= sizeof(kinds) / sizeof(kinds[0])) {
        return qn_fail(err, QN_EINVAL, "kind: %d is no kind of format", (int)kind);
    }
    if (n_bytes > MAX_SOURCE) {
        return qn_fail(err, QN_EFULL, "%s: %zu bytes, at most %zu", kinds[kind], n_bytes, MAX_SOURCE);
    }
    qn_buf key;
    qn_format *f = NULL;
    bool is_schema = kind == QN_FORMAT_JSON_SCHEMA; /* options mean nothing to the others */
    qn_format_key_init(&key, rt, kinds[kind]);
    qn_buf_printf(&key, "%d %u ", is_schema && o->strict, is_schema ? (unsigned)o->max_whitespace : 0);
    qn_buf_add(&key, source, n_bytes);
    qn_str text = {source != NULL ? source : "", n_bytes};
    qn_status status = qn_blame_ceiling(rt->budget, find_or_compile(rt, kind, text, o, &key, &f, err), err);
    if (status == QN_EBUDGET && qn_format_cache_clear(rt->formats)) { /* what is only kept makes room */
        status = qn_blame_ceiling(rt->budget, find_or_compile(rt, kind, text, o, &key, &f, err), err);
    }
    qn_buf_free(&key);
    if (status == QN_OK) {
        *out = f;
    }
    return status;
}

void qn_format_get_info(const qn_format *f, qn_format_info *out)
{
    qn_grammar_size size;
    qn_grammar_get_size(f->grammar, &size);
    *out = (qn_format_info){
        .n_rules = size.n_rules, .n_states = size.n_states, .n_edges = size.n_edges, .bytes = size.bytes};
}
