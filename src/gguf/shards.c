/* Split files: PREFIX-00001-of-00003.gguf holds the metadata and says how many parts there are; each part is a whole
 * GGUF file with tensors of its own.
 * SPDX-License-Identifier: MIT */
#include "base/buf.h"
#include "gguf/gguf_int.h"

#include <stdio.h>

#define SUFFIX_BYTES 32 /* "-00001-of-00003.gguf" and room for numbers that are out of range */

/* The end of the name of part i, counted from 0. */
static qn_str suffix_of(char text[SUFFIX_BYTES], uint32_t i, uint32_t n)
{
    int len = snprintf(text, SUFFIX_BYTES, "-%05u-of-%05u.gguf", (unsigned)i + 1, (unsigned)n);
    return (qn_str){text, (size_t)len};
}

typedef struct split_keys {
    uint64_t no, count; /* a file that is not split: 0 and 1 */
    uint64_t n_tensors; /* of all parts; UINT64_MAX: not told */
} split_keys;

static qn_status read_key(const qn_gguf_meta *m, const char *key, uint64_t max, uint64_t *out, qn_error *err)
{
    const qn_gguf_kv *kv = qn_gguf_meta_find(m, qn_str_of(key));
    return kv == NULL ? QN_OK : qn_gguf_kv_u64(kv, max, out, err);
}

static qn_status read_split_keys(const qn_gguf_meta *m, split_keys *s, qn_error *err)
{
    *s = (split_keys){.no = 0, .count = 1, .n_tensors = UINT64_MAX};
    QN_TRY(read_key(m, "split.count", QN_GGUF_MAX_SHARDS, &s->count, err));
    QN_TRY(read_key(m, "split.no", QN_GGUF_MAX_SHARDS - 1, &s->no, err));
    QN_TRY(read_key(m, "split.tensors.count", QN_GGUF_MAX_TENSORS, &s->n_tensors, err));
    if (s->no >= s->count && s->count > 1) {
        return qn_fail(err, QN_EFORMAT, "split.no: %" PRIu64 " of %" PRIu64 " parts, counted from 0", s->no, s->count);
    }
    return QN_OK;
}

/* The path less the suffix of part i; false: it does not end so. */
static bool prefix_of(const char *path, uint32_t i, uint32_t n, qn_str *prefix)
{
    char text[SUFFIX_BYTES];
    qn_str suffix = suffix_of(text, i, n), whole = qn_str_of(path);
    if (whole.len < suffix.len || memcmp(path + whole.len - suffix.len, suffix.data, suffix.len) != 0) {
        return false;
    }
    *prefix = (qn_str){path, whole.len - suffix.len};
    return true;
}

static qn_status fail_not_first(const char *path, const split_keys *s, qn_error *err)
{
    char text[SUFFIX_BYTES];
    qn_str prefix;
    if (!prefix_of(path, (uint32_t)s->no, (uint32_t)s->count, &prefix)) {
        prefix = QN_STR("...");
    }
    const char *slash = memrchr(prefix.data, '/', prefix.len);
    if (slash != NULL) {
        prefix.len -= (size_t)(slash + 1 - prefix.data);
        prefix.data = slash + 1;
    }
    return qn_fail(err, QN_EINVAL, "split.no: this is part %" PRIu64 " of %" PRIu64 "; open the first, '%.*s%s'",
                   s->no + 1, s->count, QN_STR_ARG(prefix), suffix_of(text, 0, (uint32_t)s->count).data);
}

/* Part i of those that follow the first: its map, header, metadata, and whether it is the part that it should be. */
static qn_status open_part(qn_gguf *g, const char *path, uint32_t i, const split_keys *first, qn_error *err)
{
    qn_gguf_part *p = &g->parts[i];
    QN_TRY(qn_gguf_part_map(p, path, err));
    QN_TRY(qn_gguf_part_load(g, p, path, err));
    QN_TRY(qn_gguf_part_header(g, p, err));

    qn_gguf_meta meta;
    split_keys s;
    qn_status status = qn_gguf_part_meta(g, p, &meta, err);
    if (status == QN_OK) {
        status = read_split_keys(&meta, &s, err);
    }
    qn_gguf_meta_free(&meta);
    QN_TRY(status);

    if (s.count != first->count) {
        return qn_fail(err, QN_EFORMAT, "split.count: %" PRIu64 " here, %" PRIu64 " in the first part", s.count,
                       first->count);
    }
    if (s.no != i) {
        return qn_fail(err, QN_EFORMAT, "split.no: %" PRIu64 ", though the file's name says %" PRIu32, s.no, i);
    }
    if (s.n_tensors != first->n_tensors) {
        return qn_fail(err, QN_EFORMAT, "split.tensors.count: differs from that of the first part");
    }
    return QN_OK;
}

static qn_status open_parts(qn_gguf *g, qn_str prefix, const split_keys *first, qn_buf *path, qn_error *err)
{
    uint32_t n = (uint32_t)first->count;
    uint64_t n_tensors = g->parts[0].n_tensors;
    for (uint32_t i = 1; i < n; i++) {
        char text[SUFFIX_BYTES];
        qn_buf_clear(path);
        qn_buf_add(path, prefix.data, prefix.len);
        qn_buf_add_str(path, suffix_of(text, i, n).data);
        if (path->status != QN_OK) {
            return qn_fail(err, path->status, "no memory for the name of part %" PRIu32, i + 1);
        }
        g->n_parts = i + 1;
        qn_error e;
        qn_status status = open_part(g, path->data, i, first, &e);
        if (status != QN_OK) {
            return qn_fail(err, status, "part %" PRIu32 " of %" PRIu32 ": %s", i + 1, n, e.what);
        }
        n_tensors += g->parts[i].n_tensors;
    }
    if (first->n_tensors != UINT64_MAX && n_tensors != first->n_tensors) {
        return qn_fail(err, QN_EFORMAT, "split.tensors.count: %" PRIu64 ", but the parts have %" PRIu64,
                       first->n_tensors, n_tensors);
    }
    return QN_OK;
}

qn_status qn_gguf_open_shards(qn_gguf *g, const char *path, qn_error *err)
{
    split_keys first;
    QN_TRY(read_split_keys(&g->meta, &first, err));
    if (first.count <= 1) {
        return QN_OK;
    }
    if (path == NULL) {
        return qn_fail(err, QN_EUNSUPPORTED, "split.count: a file of %" PRIu64 " parts cannot be read from memory",
                       first.count);
    }
    if (first.no != 0) {
        return fail_not_first(path, &first, err);
    }
    qn_str prefix;
    if (!prefix_of(path, 0, (uint32_t)first.count, &prefix)) {
        char text[SUFFIX_BYTES];
        return qn_fail(err, QN_EINVAL, "split.count: the name of the first of %" PRIu64 " parts must end in '%s'",
                       first.count, suffix_of(text, 0, (uint32_t)first.count).data);
    }

    qn_gguf_part *parts = qn_zalloc_array(g->budget, QN_GGUF_OWNER, first.count, sizeof(*parts));
    if (parts == NULL) {
        return qn_fail(err, QN_ENOMEM, "no memory for %" PRIu64 " parts", first.count);
    }
    parts[0] = g->parts[0];
    qn_free(g->parts);
    g->parts = parts;

    qn_buf name;
    qn_buf_init(&name, g->budget, QN_GGUF_OWNER, prefix.len + SUFFIX_BYTES);
    qn_status status = open_parts(g, prefix, &first, &name, err);
    qn_buf_free(&name);
    return status;
}
