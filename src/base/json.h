/* JSON: a writer that appends to a qn_buf, and a reader that builds a tree in one block.
 *
 * Writer: commas and nesting are the writer's care. Strings are bytes; invalid UTF-8 is written as U+FFFD.
 * Numbers that are not finite are written as null.
 * Reader: RFC 8259, strict; order of members kept; duplicates kept (find returns the last); numbers keep their
 * source text; depth and size limited.
 * SPDX-License-Identifier: MIT */
#ifndef QN_BASE_JSON_H
#define QN_BASE_JSON_H

#include "base/buf.h"

typedef struct qn_json_writer {
    qn_buf *out;
    unsigned depth;
    bool need_comma, after_key;
} qn_json_writer;

void qn_json_writer_init(qn_json_writer *w, qn_buf *out);
void qn_json_begin_object(qn_json_writer *w);
void qn_json_end_object(qn_json_writer *w);
void qn_json_begin_array(qn_json_writer *w);
void qn_json_end_array(qn_json_writer *w);
void qn_json_key(qn_json_writer *w, const char *key);
void qn_json_key_str(qn_json_writer *w, qn_str key);
void qn_json_string(qn_json_writer *w, qn_str s);
void qn_json_cstring(qn_json_writer *w, const char *s);
void qn_json_u64(qn_json_writer *w, uint64_t v);
void qn_json_i64(qn_json_writer *w, int64_t v);
void qn_json_f64(qn_json_writer *w, double v); /* shortest text that reads back as the same double */
void qn_json_bool(qn_json_writer *w, bool v);
void qn_json_null(qn_json_writer *w);
void qn_json_raw(qn_json_writer *w, qn_str json); /* a value that is JSON already */

typedef enum qn_json_kind {
    QN_JSON_NULL, QN_JSON_BOOL, QN_JSON_NUMBER, QN_JSON_STRING, QN_JSON_ARRAY, QN_JSON_OBJECT
} qn_json_kind;

typedef struct qn_json_doc qn_json_doc;
typedef struct qn_json qn_json; /* a node; owned by its document */

#define QN_JSON_MAX_DEPTH 128 /* deeper than any real schema or request; bounds the stack */

/* Copies what it keeps. QN_EFORMAT: err has line and column (from 1; in bytes); QN_EFULL: more than max_nodes nodes. */
qn_status qn_json_parse(qn_budget *b, const char *text, size_t n_bytes, size_t max_nodes, qn_json_doc **out,
                        qn_error *err);
void qn_json_free(qn_json_doc *d);
const qn_json *qn_json_root(const qn_json_doc *d);
qn_json_kind qn_json_kind_of(const qn_json *v);
bool qn_json_as_bool(const qn_json *v);
double qn_json_as_f64(const qn_json *v); /* too large: an infinity */
bool qn_json_as_i64(const qn_json *v, int64_t *out); /* 1.0 and 1e2 are integers; false: it is not one, or too large */
qn_str qn_json_as_str(const qn_json *v);     /* string: unescaped UTF-8; number: its source text */
size_t qn_json_count(const qn_json *v);      /* members or elements */
const qn_json *qn_json_at(const qn_json *v, size_t i);
qn_str qn_json_key_at(const qn_json *v, size_t i);
const qn_json *qn_json_find(const qn_json *v, const char *key); /* NULL: none, or v is not an object */

/* Writes v with all below it; numbers as their source spells them. */
void qn_json_copy(qn_json_writer *w, const qn_json *v);

#endif
