/* Writing what a writer has collected, to a file or to memory.
 * SPDX-License-Identifier: MIT */
#include "base/checked.h"
#include "base/outfile.h"
#include "gguf/writer.h"

static const uint8_t zeros[QN_GGUF_MAX_ALIGNMENT];

/* Zeros that bring a length to a multiple of the alignment. */
static size_t padding(const qn_gguf_writer *w, uint64_t n_bytes)
{
    return (size_t)(-n_bytes & (w->alignment - 1));
}

static void add_header(const qn_gguf_writer *w, qn_buf *head)
{
    uint32_t version = 3;
    uint64_t n_tensors = w->n_spans;
    qn_buf_add(head, "GGUF", 4);
    qn_buf_add(head, &version, sizeof(version));
    qn_buf_add(head, &n_tensors, sizeof(n_tensors));
    qn_buf_add(head, &w->n_kv, sizeof(w->n_kv));
}

/* All that stands before the tensor data, read by the reader before anybody else sees it. head is empty, and is the
 * caller's to free in any case. */
static qn_status build_head(qn_gguf_writer *w, qn_buf *head, uint64_t *file_bytes, qn_error *err)
{
    if (w->alignment != QN_GGUF_DEFAULT_ALIGNMENT && !w->has_alignment) {
        qn_gguf_set_u32(w, "general.alignment", w->alignment);
    }
    if (w->error.code != QN_OK) {
        return qn_fail(err, w->error.code, "%s", w->error.what);
    }
    add_header(w, head);
    qn_buf_add(head, w->meta.data, w->meta.len);
    qn_buf_add(head, w->infos.data, w->infos.len);
    size_t n_bytes = head->len;
    qn_buf_add(head, zeros, padding(w, n_bytes));
    if (w->meta.status == QN_EFULL || w->infos.status == QN_EFULL || head->status == QN_EFULL) {
        return qn_fail(err, QN_EINVAL, "the metadata is larger than %u MiB", QN_GGUF_MAX_META >> 20);
    }
    if (w->meta.status != QN_OK || w->infos.status != QN_OK || head->status != QN_OK) {
        return qn_fail(err, QN_ENOMEM, "no memory for the metadata");
    }
    if (!qn_add_u64(head->len, w->data_bytes, file_bytes)) {
        return qn_fail(err, QN_EINVAL, "the tensors are too large");
    }
    qn_error e;
    qn_status status = qn_gguf_check_head(w->budget, head->data, n_bytes, *file_bytes, &e);
    if (status == QN_OK) {
        return QN_OK;
    }
    return qn_fail(err, status == QN_ENOMEM ? status : QN_EINVAL, "%s", e.what);
}

typedef void put_fn(void *ctx, const void *bytes, size_t n_bytes);

static void put_all(const qn_gguf_writer *w, const qn_buf *head, put_fn *put, void *ctx)
{
    put(ctx, head->data, head->len);
    for (size_t i = 0; i < w->n_spans; i++) {
        put(ctx, w->spans[i].data, w->spans[i].n_bytes);
        put(ctx, zeros, padding(w, w->spans[i].n_bytes));
    }
}

static void put_file(void *ctx, const void *bytes, size_t n_bytes)
{
    qn_outfile_write(ctx, bytes, n_bytes);
}

qn_status qn_gguf_write(qn_gguf_writer *w, const char *path, qn_error *err)
{
    qn_buf head;
    qn_buf_init(&head, w->budget, QN_GGUF_OWNER, QN_GGUF_MAX_META);
    uint64_t file_bytes;
    qn_status status = build_head(w, &head, &file_bytes, err);
    qn_outfile *f = NULL;
    if (status == QN_OK) {
        status = qn_outfile_open(path, &f, err);
    }
    if (f != NULL) {
        put_all(w, &head, put_file, f);
        status = qn_outfile_commit(f, err);
    }
    qn_buf_free(&head);
    return status;
}

static void put_memory(void *ctx, const void *bytes, size_t n_bytes)
{
    uint8_t **at = ctx;
    memcpy(*at, bytes, n_bytes);
    *at += n_bytes;
}

static qn_status copy_all(const qn_gguf_writer *w, const qn_buf *head, uint64_t file_bytes, uint8_t **out,
                          size_t *n_bytes, qn_error *err)
{
    uint8_t *data = file_bytes <= SIZE_MAX ? qn_alloc(w->budget, QN_GGUF_OWNER, (size_t)file_bytes) : NULL;
    if (data == NULL) {
        return qn_fail(err, QN_ENOMEM, "no memory for a file of %" PRIu64 " bytes", file_bytes);
    }
    uint8_t *at = data;
    put_all(w, head, put_memory, &at);
    *out = data;
    *n_bytes = (size_t)file_bytes;
    return QN_OK;
}

qn_status qn_gguf_write_memory(qn_gguf_writer *w, uint8_t **out, size_t *n_bytes, qn_error *err)
{
    qn_buf head;
    qn_buf_init(&head, w->budget, QN_GGUF_OWNER, QN_GGUF_MAX_META);
    uint64_t file_bytes;
    qn_status status = build_head(w, &head, &file_bytes, err);
    if (status == QN_OK) {
        status = copy_all(w, &head, file_bytes, out, n_bytes, err);
    }
    qn_buf_free(&head);
    return status;
}
