/* Collecting what a new file shall hold. Metadata and tensor descriptions are kept as the bytes of the file to come;
 * before anything is written the reader checks them, so one set of rules serves both ways.
 * SPDX-License-Identifier: MIT */
#include "gguf/writer.h"
#include "base/checked.h"

qn_status qn_gguf_writer_open(qn_budget *b, uint32_t alignment, qn_gguf_writer **out, qn_error *err)
{
    if (alignment == 0) {
        alignment = QN_GGUF_DEFAULT_ALIGNMENT;
    }
    if ((alignment & (alignment - 1)) != 0 || alignment < QN_GGUF_MIN_ALIGNMENT || alignment > QN_GGUF_MAX_ALIGNMENT) {
        return qn_fail(err, QN_EINVAL, "alignment: %" PRIu32 " is not a power of two within %d to %u", alignment,
                       QN_GGUF_MIN_ALIGNMENT, QN_GGUF_MAX_ALIGNMENT);
    }
    qn_gguf_writer *w = qn_zalloc(b, QN_GGUF_OWNER, sizeof(*w));
    if (w == NULL) {
        return qn_fail(err, QN_ENOMEM, "no memory to write a file");
    }
    w->budget = b;
    w->alignment = alignment;
    qn_buf_init(&w->meta, b, QN_GGUF_OWNER, QN_GGUF_MAX_META);
    qn_buf_init(&w->infos, b, QN_GGUF_OWNER, QN_GGUF_MAX_META);
    *out = w;
    return QN_OK;
}

void qn_gguf_writer_close(qn_gguf_writer *w)
{
    if (w == NULL) {
        return;
    }
    qn_buf_free(&w->meta);
    qn_buf_free(&w->infos);
    qn_free(w->spans);
    qn_free(w);
}

/* Only the first fault is kept: the others may follow from it. */
#define FAIL(w, ...)                           \
    do {                                       \
        if ((w)->error.code == QN_OK) {        \
            qn_fail(&(w)->error, __VA_ARGS__); \
        }                                      \
    } while (0)

static void add_str(qn_buf *b, qn_str s)
{
    uint64_t len = s.len;
    qn_buf_add(b, &len, sizeof(len));
    qn_buf_add(b, s.data, s.len);
}

static void begin_kv(qn_gguf_writer *w, qn_str key, qn_gguf_type type)
{
    uint32_t id = type;
    add_str(&w->meta, key);
    qn_buf_add(&w->meta, &id, sizeof(id));
    w->n_kv++;
}

static void set_scalar(qn_gguf_writer *w, const char *key, qn_gguf_type type, const void *value)
{
    begin_kv(w, qn_str_of(key), type);
    qn_buf_add(&w->meta, value, qn_gguf_type_bytes(type));
}

/* general.alignment is known since the writer was opened; tensors were placed by it. */
static void note_alignment(qn_gguf_writer *w, qn_str key, uint32_t v)
{
    if (qn_str_is(key, "general.alignment")) {
        w->has_alignment = true;
        if (v != w->alignment) {
            FAIL(w, QN_EINVAL, "general.alignment: %" PRIu32 ", but the writer was opened with %" PRIu32, v,
                 w->alignment);
        }
    }
}

void qn_gguf_set_u32(qn_gguf_writer *w, const char *key, uint32_t v)
{
    note_alignment(w, qn_str_of(key), v);
    set_scalar(w, key, QN_GGUF_U32, &v);
}

void qn_gguf_set_i32(qn_gguf_writer *w, const char *key, int32_t v)
{
    set_scalar(w, key, QN_GGUF_I32, &v);
}

void qn_gguf_set_u64(qn_gguf_writer *w, const char *key, uint64_t v)
{
    set_scalar(w, key, QN_GGUF_U64, &v);
}

void qn_gguf_set_f32(qn_gguf_writer *w, const char *key, float v)
{
    set_scalar(w, key, QN_GGUF_F32, &v);
}

void qn_gguf_set_bool(qn_gguf_writer *w, const char *key, bool v)
{
    uint8_t byte = v;
    set_scalar(w, key, QN_GGUF_BOOL, &byte);
}

void qn_gguf_set_str(qn_gguf_writer *w, const char *key, qn_str v)
{
    begin_kv(w, qn_str_of(key), QN_GGUF_STRING);
    add_str(&w->meta, v);
}

static void add_array_head(qn_gguf_writer *w, qn_gguf_type item, uint64_t n)
{
    uint32_t id = item;
    qn_buf_add(&w->meta, &id, sizeof(id));
    qn_buf_add(&w->meta, &n, sizeof(n));
}

static void begin_array(qn_gguf_writer *w, const char *key, qn_gguf_type item, uint64_t n)
{
    begin_kv(w, qn_str_of(key), QN_GGUF_ARRAY);
    add_array_head(w, item, n);
}

void qn_gguf_set_array(qn_gguf_writer *w, const char *key, qn_gguf_type item, const void *items, uint64_t n)
{
    if ((unsigned)item > QN_GGUF_F64 || qn_gguf_type_bytes(item) == 0 || n > QN_GGUF_MAX_ARRAY) {
        FAIL(w, QN_EINVAL, "%s: an array of %" PRIu64 " items of type %u cannot be written", key, n, (unsigned)item);
        return;
    }
    begin_array(w, key, item, n);
    qn_buf_add(&w->meta, items, n * qn_gguf_type_bytes(item));
}

void qn_gguf_set_strs(qn_gguf_writer *w, const char *key, const qn_str *items, uint64_t n)
{
    begin_array(w, key, QN_GGUF_STRING, n);
    for (uint64_t i = 0; i < n && w->meta.status == QN_OK; i++) {
        add_str(&w->meta, items[i]);
    }
}

/* The value at meta[start, end) came from outside: it may be shorter or longer than what its own lengths say. */
static void check_value(qn_gguf_writer *w, const qn_gguf_kv *kv, size_t start)
{
    qn_gguf_cursor c = {.data = (const uint8_t *)w->meta.data, .at = start, .end = w->meta.len};
    qn_gguf_kv copy = {.key = kv->key};
    if (w->meta.status == QN_OK && (qn_gguf_take_value(&c, &copy, kv->type, NULL) != QN_OK || c.at != c.end)) {
        FAIL(w, QN_EINVAL, "%.*s: the bytes are not those of a value of its type", QN_STR_ARG(kv->key));
    }
}

void qn_gguf_set_kv(qn_gguf_writer *w, const qn_gguf_kv *kv)
{
    if (kv->type == QN_GGUF_U32 && kv->raw_bytes == sizeof(uint32_t)) {
        uint32_t v;
        memcpy(&v, kv->raw, sizeof(v));
        note_alignment(w, kv->key, v);
    }
    begin_kv(w, kv->key, kv->type);
    size_t start = w->meta.len;
    if (kv->type == QN_GGUF_ARRAY) {
        add_array_head(w, kv->item_type, kv->n_items);
    }
    qn_buf_add(&w->meta, kv->raw, kv->raw_bytes);
    check_value(w, kv, start);
}

/* Room for one more; false: the fault is noted. */
static bool grow_spans(qn_gguf_writer *w)
{
    if (w->n_spans == QN_GGUF_MAX_TENSORS) {
        FAIL(w, QN_EINVAL, "more than %d tensors", QN_GGUF_MAX_TENSORS);
        return false;
    }
    if (w->n_spans < w->spans_cap) {
        return true;
    }
    size_t cap = w->spans_cap == 0 ? 64 : 2 * w->spans_cap;
    qn_gguf_span *spans = qn_realloc(w->budget, QN_GGUF_OWNER, w->spans, cap * sizeof(*spans));
    if (spans == NULL) {
        FAIL(w, QN_ENOMEM, "no memory for %zu tensors", cap);
        return false;
    }
    w->spans = spans;
    w->spans_cap = cap;
    return true;
}

void qn_gguf_add_tensor(qn_gguf_writer *w, const char *name, qn_type type, uint32_t n_dims, const uint64_t *ne,
                        const void *data)
{
    if (n_dims == 0 || n_dims > 4 || data == NULL) {
        FAIL(w, QN_EINVAL, "tensor '%s': %s", name, data == NULL ? "no data" : "its dimensions are not 1 to 4");
        return;
    }
    uint64_t n_bytes, end;
    bool fits = qn_type_row_bytes(type, ne[0], &n_bytes);
    for (uint32_t i = 1; i < n_dims; i++) {
        fits = fits && qn_mul_u64(n_bytes, ne[i], &n_bytes);
    }
    if (!fits || n_bytes > SIZE_MAX || !qn_add_u64(w->data_bytes, n_bytes, &end) ||
        !qn_round_up_u64(end, w->alignment, &end)) {
        FAIL(w, QN_EINVAL, "tensor '%s': a row of %" PRIu64 " does not suit the type %s, or the size overflows", name,
             ne[0], qn_type_name(type));
        return;
    }
    if (!grow_spans(w)) {
        return;
    }
    uint32_t id = type;
    add_str(&w->infos, qn_str_of(name));
    qn_buf_add(&w->infos, &n_dims, sizeof(n_dims));
    qn_buf_add(&w->infos, ne, n_dims * sizeof(*ne));
    qn_buf_add(&w->infos, &id, sizeof(id));
    qn_buf_add(&w->infos, &w->data_bytes, sizeof(w->data_bytes));
    w->spans[w->n_spans++] = (qn_gguf_span){.data = data, .n_bytes = (size_t)n_bytes};
    w->data_bytes = end;
}
