/* Opening and closing a file: header, metadata, parts, tensors, in that order.
 * SPDX-License-Identifier: MIT */
#include "base/fetch.h"
#include "gguf/gguf_int.h"

/* What a wrong file begins with says what it is: a page of HTML, a pointer of Git LFS, a zip archive. */
static qn_status fail_magic(const qn_gguf_part *p, qn_error *err)
{
    char begin[25];
    size_t n = p->bytes < sizeof(begin) - 1 ? (size_t)p->bytes : sizeof(begin) - 1;
    for (size_t i = 0; i < n; i++) {
        begin[i] = (char)(p->data[i] >= 0x20 && p->data[i] < 0x7f ? p->data[i] : '.');
    }
    begin[n] = '\0';
    return qn_fail(err, QN_EFORMAT, "magic: the file begins with '%s', not with 'GGUF'", begin);
}

static qn_status check_version(uint32_t version, qn_error *err)
{
    if (version == 2 || version == 3) {
        return QN_OK;
    }
    if (version == 1) {
        return qn_fail(err, QN_EUNSUPPORTED, "version: 1, with lengths of 32 bits, is not supported");
    }
    if (version != 0 && (version & 0xffff) == 0) {
        return qn_fail(err, QN_EUNSUPPORTED, "version: 0x%08" PRIx32 ", so the file is big-endian: not supported",
                       version);
    }
    return qn_fail(err, QN_EUNSUPPORTED, "version: %" PRIu32 " is not 2 or 3", version);
}

static qn_status check_count(const qn_gguf_cursor *c, const char *field, uint64_t n, uint64_t max, uint64_t min_bytes,
                             qn_error *err)
{
    if (n > max) {
        return qn_fail(err, QN_EFORMAT, "%s: %" PRIu64 " is more than %" PRIu64, field, n, max);
    }
    if (n * min_bytes > qn_gguf_left(c)) {
        return qn_gguf_fail_cut(c, n * min_bytes, err, "%s: %" PRIu64, field, n);
    }
    return QN_OK;
}

qn_status qn_gguf_part_header(const qn_gguf *g, qn_gguf_part *p, qn_error *err)
{
    qn_gguf_cursor *c = &p->cursor;
    *c = (qn_gguf_cursor){.data = p->data, .file_bytes = p->bytes};
    c->end = p->bytes < g->meta_left ? p->bytes : g->meta_left;

    const uint8_t *magic;
    if (!qn_gguf_take(c, 4, &magic) || memcmp(magic, "GGUF", 4) != 0) {
        return fail_magic(p, err);
    }
    if (!qn_gguf_take_u32(c, &p->version)) {
        return qn_gguf_fail_cut(c, QN_GGUF_HEADER_BYTES - c->at, err, "version");
    }
    QN_TRY(check_version(p->version, err));
    if (!qn_gguf_take_u64(c, &p->n_tensors) || !qn_gguf_take_u64(c, &p->n_kv)) {
        return qn_gguf_fail_cut(c, QN_GGUF_HEADER_BYTES - c->at, err, "header");
    }
    QN_TRY(check_count(c, "n_tensors", p->n_tensors, QN_GGUF_MAX_TENSORS, QN_GGUF_MIN_TENSOR_BYTES, err));
    return check_count(c, "n_kv", p->n_kv, g->kv_left, QN_GGUF_MIN_KV_BYTES, err);
}

qn_status qn_gguf_part_meta(qn_gguf *g, qn_gguf_part *p, qn_gguf_meta *m, qn_error *err)
{
    QN_TRY(qn_gguf_meta_read(m, g->budget, &p->cursor, p->n_kv, err));
    g->meta_left -= p->cursor.at;
    g->kv_left -= p->n_kv;
    return qn_gguf_meta_alignment(m, &p->alignment, err);
}

static qn_status read_first_part(qn_gguf *g, qn_error *err)
{
    QN_TRY(qn_gguf_part_header(g, &g->parts[0], err));
    return qn_gguf_part_meta(g, &g->parts[0], &g->meta, err);
}

static void release(qn_gguf *g)
{
    qn_gguf_index_free(&g->index);
    qn_free(g->tensors);
    qn_gguf_meta_free(&g->meta);
}

qn_status qn_gguf_check_head(qn_budget *b, const void *head, size_t head_bytes, uint64_t file_bytes, qn_error *err)
{
    qn_gguf_part part = {.data = head, .bytes = file_bytes};
    qn_gguf g = {.budget = b, .parts = &part, .n_parts = 1, .meta_left = head_bytes, .kv_left = QN_GGUF_MAX_KV};
    qn_status status = read_first_part(&g, err);
    if (status == QN_OK) {
        status = qn_gguf_read_tensors(&g, err);
    }
    release(&g);
    return status;
}

/* A g with one empty part. */
static qn_status allocate(qn_budget *b, qn_gguf **out, qn_error *err)
{
    qn_gguf *g = qn_zalloc(b, QN_GGUF_OWNER, sizeof(*g));
    if (g != NULL) {
        g->budget = b;
        g->meta_left = QN_GGUF_MAX_META;
        g->kv_left = QN_GGUF_MAX_KV;
        g->parts = qn_zalloc_array(b, QN_GGUF_OWNER, 1, sizeof(*g->parts));
        g->n_parts = g->parts != NULL;
    }
    if (g == NULL || g->parts == NULL) {
        qn_gguf_close(g);
        return qn_fail(err, QN_ENOMEM, "no memory to open a file");
    }
    *out = g;
    return QN_OK;
}

/* The first part's data and bytes are set; path as for qn_gguf_open_shards(). */
static qn_status read_all(qn_gguf *g, const char *path, qn_error *err)
{
    QN_TRY(read_first_part(g, err));
    QN_TRY(qn_gguf_open_shards(g, path, err));
    QN_TRY(qn_gguf_read_tensors(g, err));
    for (size_t i = 0; i < g->n_tensors; i++) {
        g->tensors[i].data = g->parts[g->tensors[i].i_shard].data + g->tensors[i].offset;
    }
    return QN_OK;
}

/* Longer names keep their end, which tells parts and kinds of one model apart, and leave the text room. */
#define NAME_BYTES 96

qn_status qn_gguf_name_file(const char *path, qn_status status, qn_error *err)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    size_t name_bytes = strlen(name);
    if (err == NULL) {
        return status;
    }
    bool cut = name_bytes > NAME_BYTES;
    return qn_fail(err, status, "%s%s: %s", cut ? "..." : "", cut ? name + name_bytes - NAME_BYTES : name, err->what);
}

static void set_bytes(qn_gguf_part *p)
{
    p->data = qn_map_data(p->map);
    p->bytes = qn_map_bytes(p->map);
}

qn_status qn_gguf_part_map(qn_gguf_part *p, const char *path, qn_error *err)
{
    QN_TRY(qn_map_open(path, &p->map, err));
    set_bytes(p);
    return QN_OK;
}

qn_status qn_gguf_part_load(const qn_gguf *g, qn_gguf_part *p, const char *path, qn_error *err)
{
    if (!g->how.read && !g->how.fetch) {
        return QN_OK;
    }
    QN_TRY(qn_gguf_part_header(g, p, err)); /* what is no model is refused before all of it is read */
    if (!g->how.read) {
        p->fetch = qn_fetch_start(path);
        return QN_OK;
    }
    qn_map_close(p->map);
    p->map = NULL;
    QN_TRY(qn_map_read(path, g->budget, QN_GGUF_FILE_OWNER, g->how.progress, g->how.ctx, &p->map, err));
    set_bytes(p);
    return QN_OK;
}

qn_status qn_gguf_load(const char *path, const qn_gguf_loading *how, qn_budget *b, qn_gguf **out, qn_error *err)
{
    qn_gguf *g;
    QN_TRY(allocate(b, &g, err));
    g->how = *how;
    qn_status status = qn_gguf_part_map(&g->parts[0], path, err);
    if (status == QN_OK) {
        status = qn_gguf_part_load(g, &g->parts[0], path, err);
        if (status == QN_OK) {
            status = read_all(g, path, err);
        }
        if (qn_gguf_damaged(g)) { /* whatever else was found wrong follows from that */
            status = qn_fail(err, QN_EDAMAGED, "the file was cut short while it was read");
        }
        if (status != QN_OK) {
            qn_gguf_name_file(path, status, err);
        }
    }
    if (status != QN_OK) {
        qn_gguf_close(g);
        return status;
    }
    *out = g;
    return QN_OK;
}

qn_status qn_gguf_open(const char *path, qn_budget *b, qn_gguf **out, qn_error *err)
{
    return qn_gguf_load(path, &(qn_gguf_loading){.read = false}, b, out, err);
}

qn_status qn_gguf_open_memory(const void *data, size_t n_bytes, qn_budget *b, qn_gguf **out, qn_error *err)
{
    qn_gguf *g;
    QN_TRY(allocate(b, &g, err));
    g->parts[0].data = data;
    g->parts[0].bytes = n_bytes;
    qn_status status = read_all(g, NULL, err);
    if (status != QN_OK) {
        qn_gguf_close(g);
        return status;
    }
    *out = g;
    return QN_OK;
}

void qn_gguf_close(qn_gguf *g)
{
    if (g == NULL) {
        return;
    }
    release(g);
    for (uint32_t i = 0; i < g->n_parts; i++) {
        qn_fetch_stop(g->parts[i].fetch);
        qn_map_close(g->parts[i].map);
    }
    qn_free(g->parts);
    qn_free(g);
}

uint32_t qn_gguf_version(const qn_gguf *g)
{
    return g->parts[0].version;
}

uint32_t qn_gguf_alignment(const qn_gguf *g)
{
    return g->parts[0].alignment;
}

uint32_t qn_gguf_n_shards(const qn_gguf *g)
{
    return g->n_parts;
}

uint64_t qn_gguf_file_bytes(const qn_gguf *g)
{
    uint64_t n_bytes = 0;
    for (uint32_t i = 0; i < g->n_parts; i++) {
        n_bytes += g->parts[i].bytes;
    }
    return n_bytes;
}

bool qn_gguf_damaged(const qn_gguf *g)
{
    for (uint32_t i = 0; i < g->n_parts; i++) {
        if (g->parts[i].map != NULL && qn_map_damaged(g->parts[i].map)) {
            return true;
        }
    }
    return false;
}

qn_status qn_gguf_lock(const qn_gguf *g, qn_error *err)
{
    for (uint32_t i = 0; i < g->n_parts; i++) {
        if (g->parts[i].map != NULL) {
            QN_TRY(qn_map_lock(g->parts[i].map, err));
        }
    }
    return QN_OK;
}
