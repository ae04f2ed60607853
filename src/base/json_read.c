/* The JSON reader: text to tree.
 *
 * One loop, no recursion: `open` holds the containers that are not closed yet. A finished value waits on the `pending`
 * stack; when its container closes, all of the container's items move from there to the document side by side, so
 * that the i-th is found at once. Nodes name their items by index until the end, because the array moves as it grows.
 * SPDX-License-Identifier: MIT */
#include "base/json.h"

#include "base/checked.h"
#include "base/json_int.h"

#include <assert.h>
#include <string.h>

#define FIRST_NODES 16 /* of a growing array: a small request */

typedef struct reader {
    qn_budget *budget;
    qn_json_doc *doc;
    const char *source;
    char *at, *end; /* *end is NUL */
    size_t n_nodes, max_nodes;
    qn_json *pending;
    size_t n_pending, cap_pending;
    struct {
        bool is_object;
        size_t i_first; /* of its items in pending */
        qn_str key;     /* its own key, kept while its members use `key` */
    } open[QN_JSON_MAX_DEPTH];
    size_t depth;
    qn_str key; /* of the value that comes next */
    qn_error *err;
} reader;

/* ---- errors ---- */

/* Lines and columns begin at 1; a column counts bytes. */
static qn_status fail_at(reader *r, const char *at, const char *why)
{
    /* In the source, because unescaping may have put line ends into the copy. */
    const char *stop = r->source + (at - r->doc->text), *line_start = r->source;
    unsigned long line = 1;
    for (const char *c = r->source; c < stop; c++) {
        if (*c == '\n') {
            line++;
            line_start = c + 1;
        }
    }
    return qn_fail(r->err, QN_EFORMAT, "line %lu, column %lu: %s", line, (unsigned long)(stop - line_start) + 1, why);
}

static qn_status no_memory(reader *r)
{
    return qn_fail(r->err, QN_ENOMEM, "no memory for a JSON document");
}

/* ---- nodes ---- */

/* Room for `more` nodes after the n that are there. */
static qn_status grow(reader *r, qn_json **nodes, size_t n, size_t *cap, size_t more)
{
    if (more <= *cap - n) {
        return QN_OK;
    }
    size_t want, bytes;
    if (!qn_add_size(n, more, &want)) {
        return no_memory(r);
    }
    size_t twice = *cap < FIRST_NODES ? FIRST_NODES : *cap * 2; /* no overflow: cap nodes of 40 bytes are in memory */
    want = want > twice ? want : twice;
    qn_json *moved = qn_mul_size(want, sizeof(qn_json), &bytes) ? qn_realloc(r->budget, "json", *nodes, bytes) : NULL;
    if (moved == NULL) {
        return no_memory(r);
    }
    *nodes = moved;
    *cap = want;
    return QN_OK;
}

static qn_status add_value(reader *r, const qn_json *v)
{
    QN_TRY(grow(r, &r->pending, r->n_pending, &r->cap_pending, 1));
    r->pending[r->n_pending++] = *v;
    return QN_OK;
}

/* Each value is counted where it begins, so that a document with too many ends early. */
static qn_status count_node(reader *r)
{
    if (r->n_nodes == r->max_nodes) {
        return qn_fail(r->err, QN_EFULL, "more than %llu JSON values", (unsigned long long)r->max_nodes);
    }
    r->n_nodes++;
    return QN_OK;
}

/* ---- tokens ---- */

static void skip_space(reader *r)
{
    while (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r') {
        r->at++;
    }
}

static qn_status read_string(reader *r, qn_str *out)
{
    const char *why = qn_json_scan_string(&r->at, r->end, out);
    return why == NULL ? QN_OK : fail_at(r, r->at, why);
}

static qn_status read_number(reader *r, qn_str *out)
{
    char *start = r->at;
    const char *why = qn_json_scan_number(&r->at);
    *out = (qn_str){start, (size_t)(r->at - start)};
    return why == NULL ? QN_OK : fail_at(r, r->at, why);
}

static bool skip_word(reader *r, const char *word)
{
    size_t len = strlen(word);
    if (strncmp(r->at, word, len) != 0) {
        return false;
    }
    r->at += len;
    return true;
}

/* ---- values ---- */

static qn_status read_scalar(reader *r)
{
    qn_json v = {.key = r->key};
    char *start = r->at;
    qn_str text = {NULL, 0};
    if (*start == '"') {
        v.kind = QN_JSON_STRING;
        QN_TRY(read_string(r, &text));
    } else if (*start == '-' || (*start >= '0' && *start <= '9')) {
        v.kind = QN_JSON_NUMBER;
        QN_TRY(read_number(r, &text));
    } else if (skip_word(r, "true")) {
        v.kind = QN_JSON_BOOL;
        v.truth = true;
    } else if (skip_word(r, "false")) {
        v.kind = QN_JSON_BOOL;
    } else if (!skip_word(r, "null")) {
        return fail_at(r, start, start == r->end ? "a value is missing at the end" : "a value is missing");
    }
    v.n = text.len;
    v.as.text = text.data;
    return add_value(r, &v);
}

/* The key of the next member and its colon. */
static qn_status read_key(reader *r)
{
    skip_space(r);
    if (*r->at != '"') {
        return fail_at(r, r->at, "a key in quotes is missing");
    }
    QN_TRY(read_string(r, &r->key));
    skip_space(r);
    if (*r->at != ':') {
        return fail_at(r, r->at, "':' is missing after a key");
    }
    r->at++;
    return QN_OK;
}

/* The container at the top of `open` is finished: its items leave pending, it enters. */
static qn_status close_container(reader *r)
{
    r->depth--;
    size_t i_first = r->open[r->depth].i_first;
    size_t n = r->n_pending - i_first;
    qn_json_doc *d = r->doc;
    QN_TRY(grow(r, &d->nodes, d->n_nodes, &d->cap, n));
    if (n > 0) {
        memcpy(d->nodes + d->n_nodes, r->pending + i_first, n * sizeof(qn_json));
    }
    r->n_pending = i_first;
    qn_json v = {.kind = r->open[r->depth].is_object ? QN_JSON_OBJECT : QN_JSON_ARRAY,
                 .key = r->open[r->depth].key,
                 .n = n,
                 .as.i_first = d->n_nodes};
    d->n_nodes += n;
    return add_value(r, &v);
}

/* Begins the value at r->at. *complete: it needs nothing more; else its first item comes next. */
static qn_status begin_value(reader *r, bool *complete)
{
    skip_space(r);
    QN_TRY(count_node(r));
    *complete = true;
    bool is_object = *r->at == '{';
    if (!is_object && *r->at != '[') {
        return read_scalar(r);
    }
    if (r->depth == QN_JSON_MAX_DEPTH) {
        return fail_at(r, r->at, "nested too deeply");
    }
    r->open[r->depth].is_object = is_object;
    r->open[r->depth].i_first = r->n_pending;
    r->open[r->depth].key = r->key;
    r->depth++;
    r->key = QN_STR("");
    r->at++;
    skip_space(r);
    if (*r->at == (is_object ? '}' : ']')) {
        r->at++;
        return close_container(r);
    }
    *complete = false;
    return is_object ? read_key(r) : QN_OK;
}

/* After a value inside a container: closes containers until a comma announces the next item, or all are closed. */
static qn_status after_value(reader *r)
{
    while (r->depth > 0) {
        bool is_object = r->open[r->depth - 1].is_object;
        skip_space(r);
        char c = *r->at;
        if (c == ',') {
            r->at++;
            r->key = QN_STR("");
            return is_object ? read_key(r) : QN_OK;
        }
        if (c != (is_object ? '}' : ']')) {
            return fail_at(r, r->at, is_object ? "',' or '}' is missing" : "',' or ']' is missing");
        }
        r->at++;
        QN_TRY(close_container(r));
    }
    return QN_OK;
}

static qn_status read_document(reader *r)
{
    do {
        bool complete;
        QN_TRY(begin_value(r, &complete));
        if (complete) {
            QN_TRY(after_value(r));
        }
    } while (r->depth > 0);
    skip_space(r);
    return r->at == r->end ? QN_OK : fail_at(r, r->at, "text after the end of the value");
}

/* Indexes become pointers, now that the nodes stay where they are. */
static void link_items(qn_json_doc *d, qn_json *v)
{
    if (v->kind == QN_JSON_ARRAY || v->kind == QN_JSON_OBJECT) {
        v->as.first = v->n > 0 ? d->nodes + v->as.i_first : NULL;
    }
}

qn_status qn_json_parse(qn_budget *b, const char *text, size_t n_bytes, size_t max_nodes, qn_json_doc **out,
                        qn_error *err)
{
    reader r = {.budget = b, .source = text, .max_nodes = max_nodes, .key = QN_STR(""), .err = err};
    r.doc = qn_zalloc(b, "json", sizeof(*r.doc));
    if (r.doc == NULL) {
        return no_memory(&r);
    }
    size_t copy_bytes;
    r.doc->text = qn_add_size(n_bytes, 1, &copy_bytes) ? qn_alloc(b, "json", copy_bytes) : NULL;
    if (r.doc->text == NULL) {
        qn_json_free(r.doc);
        return no_memory(&r);
    }
    if (n_bytes > 0) {
        memcpy(r.doc->text, text, n_bytes);
    }
    r.doc->text[n_bytes] = '\0';
    r.at = r.doc->text;
    r.end = r.at + n_bytes;

    qn_status status = read_document(&r);
    if (status == QN_OK) {
        assert(r.n_pending == 1);
        r.doc->root = r.pending[0];
        link_items(r.doc, &r.doc->root);
        for (size_t i = 0; i < r.doc->n_nodes; i++) {
            link_items(r.doc, &r.doc->nodes[i]);
        }
        *out = r.doc;
    } else {
        qn_json_free(r.doc);
    }
    qn_free(r.pending);
    return status;
}

void qn_json_free(qn_json_doc *d)
{
    if (d == NULL) {
        return;
    }
    qn_free(d->nodes);
    qn_free(d->text);
    qn_free(d);
}
