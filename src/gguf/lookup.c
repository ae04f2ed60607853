/* Finding entries and tensors, and reading values as the type that a caller wants.
 * SPDX-License-Identifier: MIT */
#include "gguf/gguf_int.h"

#include <math.h>

size_t qn_gguf_n_kv(const qn_gguf *g)
{
    return g->meta.n;
}

const qn_gguf_kv *qn_gguf_kv_at(const qn_gguf *g, size_t i)
{
    return i < g->meta.n ? &g->meta.kvs[i] : NULL;
}

const qn_gguf_kv *qn_gguf_find(const qn_gguf *g, const char *key)
{
    return qn_gguf_meta_find(&g->meta, qn_str_of(key));
}

size_t qn_gguf_n_tensors(const qn_gguf *g)
{
    return g->n_tensors;
}

const qn_gguf_tensor *qn_gguf_tensor_at(const qn_gguf *g, size_t i)
{
    return i < g->n_tensors ? &g->tensors[i] : NULL;
}

const qn_gguf_tensor *qn_gguf_find_tensor(const qn_gguf *g, const char *name)
{
    size_t i = qn_gguf_index_find(&g->index, qn_str_of(name));
    return i == QN_GGUF_NONE ? NULL : &g->tensors[i];
}

/* An integer of any width: 64 bits, extended by its sign. */
typedef struct any_int {
    uint64_t bits;
    bool is_negative;
} any_int;

/* False: the type is no integer. */
static bool load_int(const uint8_t *p, qn_gguf_type type, any_int *out)
{
    *out = (any_int){0};
    switch (type) {
    case QN_GGUF_U8:
    case QN_GGUF_U16:
    case QN_GGUF_U32:
    case QN_GGUF_U64:
        memcpy(&out->bits, p, qn_gguf_type_bytes(type));
        return true;
    case QN_GGUF_I8:
    case QN_GGUF_I16:
    case QN_GGUF_I32:
    case QN_GGUF_I64: {
        unsigned n_above = 64 - 8 * (unsigned)qn_gguf_type_bytes(type);
        memcpy(&out->bits, p, qn_gguf_type_bytes(type));
        out->bits = (uint64_t)((int64_t)(out->bits << n_above) >> n_above);
        out->is_negative = out->bits >> 63;
        return true;
    }
    default:
        return false;
    }
}

typedef enum fit { FIT, FIT_OTHER_TYPE, FIT_OUT_OF_RANGE } fit;

static fit load_f32(const uint8_t *p, qn_gguf_type type, float *out)
{
    if (type == QN_GGUF_F32) {
        memcpy(out, p, sizeof(*out));
        return FIT;
    }
    if (type != QN_GGUF_F64) {
        return FIT_OTHER_TYPE;
    }
    double v;
    memcpy(&v, p, sizeof(v));
    if (isfinite(v) && !isfinite((float)v)) {
        return FIT_OUT_OF_RANGE;
    }
    *out = (float)v;
    return FIT;
}

static qn_status need(const qn_gguf *g, const char *key, const qn_gguf_kv **kv, qn_error *err)
{
    *kv = qn_gguf_find(g, key);
    return *kv != NULL ? QN_OK : qn_fail(err, QN_ENOTFOUND, "%s: the file has no such key", key);
}

static qn_status fail_type(const qn_gguf_kv *kv, const char *wanted, qn_error *err)
{
    return qn_fail(err, QN_EFORMAT, "%.*s: is %s, not %s", QN_STR_ARG(kv->key), qn_gguf_type_label(kv->type), wanted);
}

static qn_status kv_int(const qn_gguf_kv *kv, any_int *out, qn_error *err)
{
    return load_int(kv->raw, kv->type, out) ? QN_OK : fail_type(kv, "an integer", err);
}

static qn_status fail_range(const qn_gguf_kv *kv, any_int v, int64_t min, uint64_t max, qn_error *err)
{
    if (v.is_negative) {
        return qn_fail(err, QN_EFORMAT, "%.*s: %" PRId64 " is not within %" PRId64 " to %" PRIu64, QN_STR_ARG(kv->key),
                       (int64_t)v.bits, min, max);
    }
    return qn_fail(err, QN_EFORMAT, "%.*s: %" PRIu64 " is not within %" PRId64 " to %" PRIu64, QN_STR_ARG(kv->key),
                   v.bits, min, max);
}

qn_status qn_gguf_kv_u64(const qn_gguf_kv *kv, uint64_t max, uint64_t *out, qn_error *err)
{
    any_int v;
    QN_TRY(kv_int(kv, &v, err));
    if (v.is_negative || v.bits > max) {
        return fail_range(kv, v, 0, max, err);
    }
    *out = v.bits;
    return QN_OK;
}

qn_status qn_gguf_get_u64(const qn_gguf *g, const char *key, uint64_t *out, qn_error *err)
{
    const qn_gguf_kv *kv;
    QN_TRY(need(g, key, &kv, err));
    return qn_gguf_kv_u64(kv, UINT64_MAX, out, err);
}

qn_status qn_gguf_get_u32(const qn_gguf *g, const char *key, uint32_t *out, qn_error *err)
{
    const qn_gguf_kv *kv;
    uint64_t v;
    QN_TRY(need(g, key, &kv, err));
    QN_TRY(qn_gguf_kv_u64(kv, UINT32_MAX, &v, err));
    *out = (uint32_t)v;
    return QN_OK;
}

qn_status qn_gguf_get_i32(const qn_gguf *g, const char *key, int32_t *out, qn_error *err)
{
    const qn_gguf_kv *kv;
    any_int v;
    QN_TRY(need(g, key, &kv, err));
    QN_TRY(kv_int(kv, &v, err));
    if (v.is_negative ? (int64_t)v.bits < INT32_MIN : v.bits > INT32_MAX) {
        return fail_range(kv, v, INT32_MIN, INT32_MAX, err);
    }
    *out = (int32_t)(int64_t)v.bits;
    return QN_OK;
}

qn_status qn_gguf_get_f32(const qn_gguf *g, const char *key, float *out, qn_error *err)
{
    const qn_gguf_kv *kv;
    QN_TRY(need(g, key, &kv, err));
    switch (load_f32(kv->raw, kv->type, out)) {
    case FIT:
        return QN_OK;
    case FIT_OUT_OF_RANGE:
        return qn_fail(err, QN_EFORMAT, "%s: the value does not fit an f32", key);
    default:
        return fail_type(kv, "an f32 or f64", err);
    }
}

qn_status qn_gguf_get_bool(const qn_gguf *g, const char *key, bool *out, qn_error *err)
{
    const qn_gguf_kv *kv;
    QN_TRY(need(g, key, &kv, err));
    if (kv->type != QN_GGUF_BOOL) {
        return fail_type(kv, "a bool", err);
    }
    *out = kv->raw[0] != 0;
    return QN_OK;
}

qn_status qn_gguf_get_str(const qn_gguf *g, const char *key, qn_str *out, qn_error *err)
{
    const qn_gguf_kv *kv;
    QN_TRY(need(g, key, &kv, err));
    if (kv->type != QN_GGUF_STRING) {
        return fail_type(kv, "a string", err);
    }
    *out = (qn_str){(const char *)kv->raw + sizeof(uint64_t), kv->raw_bytes - sizeof(uint64_t)};
    return QN_OK;
}

/* Item i of an array of numbers or bools; NULL: there is none. */
static const uint8_t *item_at(const qn_gguf_kv *kv, uint64_t i)
{
    if (kv == NULL || kv->type != QN_GGUF_ARRAY || i >= kv->n_items) {
        return NULL;
    }
    uint64_t item_bytes = qn_gguf_type_bytes(kv->item_type);
    return item_bytes == 0 ? NULL : kv->raw + i * item_bytes;
}

static bool item_int(const qn_gguf_kv *kv, uint64_t i, any_int *out)
{
    const uint8_t *p = item_at(kv, i);
    if (p == NULL) {
        return false;
    }
    if (kv->item_type == QN_GGUF_BOOL) {
        *out = (any_int){p[0] != 0, false};
        return true;
    }
    return load_int(p, kv->item_type, out);
}

bool qn_gguf_item_u64(const qn_gguf_kv *kv, uint64_t i, uint64_t *out)
{
    any_int v;
    if (!item_int(kv, i, &v) || v.is_negative) {
        return false;
    }
    *out = v.bits;
    return true;
}

bool qn_gguf_item_i64(const qn_gguf_kv *kv, uint64_t i, int64_t *out)
{
    any_int v;
    if (!item_int(kv, i, &v) || (!v.is_negative && v.bits > INT64_MAX)) {
        return false;
    }
    *out = (int64_t)v.bits;
    return true;
}

bool qn_gguf_item_f32(const qn_gguf_kv *kv, uint64_t i, float *out)
{
    const uint8_t *p = item_at(kv, i);
    return p != NULL && load_f32(p, kv->item_type, out) == FIT;
}

bool qn_gguf_next_str(const qn_gguf_kv *kv, qn_gguf_iter *it, qn_str *out)
{
    if (kv == NULL || kv->type != QN_GGUF_ARRAY || kv->item_type != QN_GGUF_STRING || it->i >= kv->n_items) {
        return false;
    }
    /* Looked at again although the reader did so: the file may have changed under the map. */
    uint64_t len;
    if (it->offset > kv->raw_bytes || kv->raw_bytes - it->offset < sizeof(len)) {
        return false;
    }
    memcpy(&len, kv->raw + it->offset, sizeof(len));
    if (len > kv->raw_bytes - it->offset - sizeof(len)) {
        return false;
    }
    *out = (qn_str){(const char *)kv->raw + it->offset + sizeof(len), len};
    it->offset += sizeof(len) + len;
    it->i++;
    return true;
}
