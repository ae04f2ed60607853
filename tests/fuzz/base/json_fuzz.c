/* Any bytes go to the JSON reader. What it accepts is written, read again and compared, and accepted in pieces too.
 * SPDX-License-Identifier: MIT */
#include "base/json_stream.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static void must(bool good)
{
    if (!good) {
        abort();
    }
}

/* Depth is bounded by the reader. */
static void write_value(qn_json_writer *w, const qn_json *v)
{
    size_t n = qn_json_count(v);
    int64_t whole;
    switch (qn_json_kind_of(v)) {
    case QN_JSON_NULL:
        qn_json_null(w);
        break;
    case QN_JSON_BOOL:
        qn_json_bool(w, qn_json_as_bool(v));
        break;
    case QN_JSON_NUMBER:
        if (qn_json_as_i64(v, &whole)) {
            qn_json_i64(w, whole);
        } else {
            qn_json_f64(w, qn_json_as_f64(v));
        }
        break;
    case QN_JSON_STRING:
        qn_json_string(w, qn_json_as_str(v));
        break;
    case QN_JSON_ARRAY:
        qn_json_begin_array(w);
        for (size_t i = 0; i < n; i++) {
            write_value(w, qn_json_at(v, i));
        }
        qn_json_end_array(w);
        break;
    case QN_JSON_OBJECT:
        qn_json_begin_object(w);
        for (size_t i = 0; i < n; i++) {
            qn_json_key_str(w, qn_json_key_at(v, i));
            write_value(w, qn_json_at(v, i));
        }
        qn_json_end_object(w);
        break;
    }
}

static bool same_number(const qn_json *a, const qn_json *b)
{
    int64_t i, k;
    bool a_whole = qn_json_as_i64(a, &i), b_whole = qn_json_as_i64(b, &k);
    if (a_whole) {
        return b_whole && i == k;
    }
    return qn_json_as_f64(a) == qn_json_as_f64(b);
}

static bool same(const qn_json *a, const qn_json *b)
{
    size_t n = qn_json_count(a);
    /* A number beyond the doubles has no other text, so the writer says null. */
    if (qn_json_kind_of(a) == QN_JSON_NUMBER && qn_json_kind_of(b) == QN_JSON_NULL) {
        double v = qn_json_as_f64(a);
        return v - v != 0;
    }
    if (qn_json_kind_of(a) != qn_json_kind_of(b) || n != qn_json_count(b)) {
        return false;
    }
    if (qn_json_kind_of(a) == QN_JSON_NUMBER) {
        return same_number(a, b);
    }
    if (!qn_str_eq(qn_json_as_str(a), qn_json_as_str(b)) || qn_json_as_bool(a) != qn_json_as_bool(b)) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        if (!qn_str_eq(qn_json_key_at(a, i), qn_json_key_at(b, i)) || !same(qn_json_at(a, i), qn_json_at(b, i))) {
            return false;
        }
    }
    return true;
}

static bool stream_accepts(const char *text, size_t n_bytes)
{
    qn_json_stream s;
    qn_json_stream_init(&s);
    for (size_t i = 0; i < n_bytes; i++) {
        must(s.depth <= QN_JSON_MAX_DEPTH);
        if (qn_json_stream_push(&s, text[i]) == QN_JSON_BAD) {
            return false;
        }
    }
    return qn_json_stream_whole(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    uint64_t live = qn_alloc_live();
    qn_json_doc *first = NULL, *second = NULL;
    qn_error err = {0};
    qn_status status = qn_json_parse(NULL, (const char *)data, n_bytes, 10000, &first, &err);
    must(stream_accepts((const char *)data, n_bytes) || status != QN_OK);
    if (status != QN_OK) {
        must(err.code == status && err.what[0] != '\0' && first == NULL);
        must(qn_alloc_live() == live);
        return 0;
    }
    qn_buf text;
    qn_json_writer w;
    qn_buf_init(&text, NULL, "fuzz", SIZE_MAX);
    qn_json_writer_init(&w, &text);
    write_value(&w, qn_json_root(first));
    must(text.status == QN_OK);
    must(qn_json_parse(NULL, text.data, text.len, 10000, &second, &err) == QN_OK);
    must(same(qn_json_root(first), qn_json_root(second)));
    qn_buf_free(&text);
    qn_json_free(first);
    qn_json_free(second);
    must(qn_alloc_live() == live);
    return 0;
}
