/* The metadata section: keys and values, walked once and left where they lie.
 * SPDX-License-Identifier: MIT */
#include "gguf/gguf_int.h"

static const struct {
    uint8_t bytes;     /* of a value; 0: varies */
    uint8_t min_bytes; /* that a value takes in the file */
    const char *label;
} types[] = {
    /* clang-format off */
    [QN_GGUF_U8] = {1, 1, "a u8"},
    [QN_GGUF_I8] = {1, 1, "an i8"},
    [QN_GGUF_U16] = {2, 2, "a u16"},
    [QN_GGUF_I16] = {2, 2, "an i16"},
    [QN_GGUF_U32] = {4, 4, "a u32"},
    [QN_GGUF_I32] = {4, 4, "an i32"},
    [QN_GGUF_F32] = {4, 4, "an f32"},
    [QN_GGUF_BOOL] = {1, 1, "a bool"},
    [QN_GGUF_STRING] = {0, 8, "a string"},
    [QN_GGUF_ARRAY] = {0, 12, "an array"},
    [QN_GGUF_U64] = {8, 8, "a u64"},
    [QN_GGUF_I64] = {8, 8, "an i64"},
    [QN_GGUF_F64] = {8, 8, "an f64"},
    /* clang-format on */
};

#define N_TYPES (sizeof(types) / sizeof(types[0]))

uint64_t qn_gguf_type_bytes(qn_gguf_type t)
{
    return types[t].bytes;
}

const char *qn_gguf_type_label(qn_gguf_type t)
{
    return types[t].label;
}

static qn_status take_array(qn_gguf_cursor *c, qn_gguf_kv *array, unsigned depth, qn_error *err);

static qn_status take_strings(qn_gguf_cursor *c, qn_str key, uint64_t n, qn_error *err)
{
    for (uint64_t i = 0; i < n; i++) {
        uint64_t len = 0;
        const uint8_t *p;
        if (!qn_gguf_take_u64(c, &len) || !qn_gguf_take(c, len, &p)) {
            return qn_gguf_fail_cut(c, len != 0 ? len : sizeof(len), err, "%.*s: string %" PRIu64, QN_STR_ARG(key), i);
        }
    }
    return QN_OK;
}

/* n values of one type, one behind the other. */
static qn_status take_items(qn_gguf_cursor *c, qn_str key, qn_gguf_type type, uint64_t n, unsigned depth, qn_error *err)
{
    if (type == QN_GGUF_STRING) {
        return take_strings(c, key, n, err);
    }
    if (type == QN_GGUF_ARRAY) {
        for (uint64_t i = 0; i < n; i++) {
            qn_gguf_kv inner = {.key = key};
            QN_TRY(take_array(c, &inner, depth, err));
        }
        return QN_OK;
    }
    const uint8_t *p;
    uint64_t n_bytes = n * types[type].bytes; /* n is at most QN_GGUF_MAX_ARRAY */
    if (!qn_gguf_take(c, n_bytes, &p)) {
        return qn_gguf_fail_cut(c, n_bytes, err, "%.*s: value", QN_STR_ARG(key));
    }
    if (type == QN_GGUF_BOOL) {
        uint8_t all = 0;
        for (uint64_t i = 0; i < n; i++) {
            all |= p[i];
        }
        if (all > 1) {
            return qn_fail(err, QN_EFORMAT, "%.*s: a bool is neither 0 nor 1", QN_STR_ARG(key));
        }
    }
    return QN_OK;
}

/* An array's head and items; array->key is set, the rest is filled in. depth counts the arrays around this one. */
static qn_status take_array(qn_gguf_cursor *c, qn_gguf_kv *array, unsigned depth, qn_error *err)
{
    uint32_t item;
    uint64_t n;
    qn_str key = array->key;
    if (depth == QN_GGUF_MAX_DEPTH) {
        return qn_fail(err, QN_EFORMAT, "%.*s: arrays are nested deeper than %d", QN_STR_ARG(key), QN_GGUF_MAX_DEPTH);
    }
    if (qn_gguf_left(c) < sizeof(item) + sizeof(n) || !qn_gguf_take_u32(c, &item) || !qn_gguf_take_u64(c, &n)) {
        return qn_gguf_fail_cut(c, sizeof(item) + sizeof(n), err, "%.*s: array", QN_STR_ARG(key));
    }
    if (item >= N_TYPES) {
        return qn_fail(err, QN_EFORMAT, "%.*s: unknown item type %" PRIu32, QN_STR_ARG(key), item);
    }
    if (n > QN_GGUF_MAX_ARRAY) {
        return qn_fail(err, QN_EFORMAT, "%.*s: an array of %" PRIu64 " items, more than %u", QN_STR_ARG(key), n,
                       QN_GGUF_MAX_ARRAY);
    }
    if (n * types[item].min_bytes > qn_gguf_left(c)) {
        return qn_gguf_fail_cut(c, n * types[item].min_bytes, err, "%.*s: array of %" PRIu64 " items", QN_STR_ARG(key),
                                n);
    }
    c->n_walked += types[item].bytes == 0 ? n : 0;
    if (c->n_walked > QN_GGUF_MAX_STRINGS) {
        return qn_fail(err, QN_EFORMAT, "%.*s: more than %u strings and inner arrays", QN_STR_ARG(key),
                       QN_GGUF_MAX_STRINGS);
    }
    array->type = QN_GGUF_ARRAY;
    array->item_type = (qn_gguf_type)item;
    array->n_items = n;
    array->raw = c->data + c->at;
    uint64_t start = c->at;
    QN_TRY(take_items(c, key, array->item_type, n, depth + 1, err));
    array->raw_bytes = c->at - start;
    return QN_OK;
}

qn_status qn_gguf_take_value(qn_gguf_cursor *c, qn_gguf_kv *kv, uint32_t type, qn_error *err)
{
    if (type >= N_TYPES) {
        return qn_fail(err, QN_EFORMAT, "%.*s: unknown value type %" PRIu32, QN_STR_ARG(kv->key), type);
    }
    if (type == QN_GGUF_ARRAY) {
        return take_array(c, kv, 0, err);
    }
    kv->type = (qn_gguf_type)type;
    kv->raw = c->data + c->at;
    uint64_t start = c->at;
    QN_TRY(take_items(c, kv->key, kv->type, 1, 0, err));
    kv->raw_bytes = c->at - start;
    return QN_OK;
}

qn_status qn_gguf_meta_read(qn_gguf_meta *m, qn_budget *b, qn_gguf_cursor *c, uint64_t n, qn_error *err)
{
    *m = (qn_gguf_meta){0};
    m->kvs = qn_zalloc_array(b, QN_GGUF_OWNER, n, sizeof(*m->kvs));
    if (m->kvs == NULL || !qn_gguf_index_init(&m->index, b, m->kvs, sizeof(*m->kvs), n)) {
        return qn_fail(err, QN_ENOMEM, "no memory for %" PRIu64 " metadata entries", n);
    }
    for (; m->n < n; m->n++) {
        qn_gguf_kv *kv = &m->kvs[m->n];
        uint32_t type;
        QN_TRY(qn_gguf_take_name(c, QN_GGUF_MAX_KEY, "metadata key", m->n, &kv->key, err));
        if (!qn_gguf_take_u32(c, &type)) {
            return qn_gguf_fail_cut(c, sizeof(type), err, "%.*s: value type", QN_STR_ARG(kv->key));
        }
        if (!qn_gguf_index_add(&m->index, m->n)) {
            return qn_fail(err, QN_EFORMAT, "%.*s: the key stands twice", QN_STR_ARG(kv->key));
        }
        QN_TRY(qn_gguf_take_value(c, kv, type, err));
    }
    return QN_OK;
}

void qn_gguf_meta_free(qn_gguf_meta *m)
{
    qn_gguf_index_free(&m->index);
    qn_free(m->kvs);
    *m = (qn_gguf_meta){0};
}

const qn_gguf_kv *qn_gguf_meta_find(const qn_gguf_meta *m, qn_str key)
{
    size_t i = qn_gguf_index_find(&m->index, key);
    return i == QN_GGUF_NONE ? NULL : &m->kvs[i];
}

qn_status qn_gguf_meta_alignment(const qn_gguf_meta *m, uint32_t *out, qn_error *err)
{
    const qn_gguf_kv *kv = qn_gguf_meta_find(m, QN_STR("general.alignment"));
    *out = QN_GGUF_DEFAULT_ALIGNMENT;
    if (kv == NULL) {
        return QN_OK;
    }
    if (kv->type != QN_GGUF_U32) {
        return qn_fail(err, QN_EFORMAT, "general.alignment: is %s, not a u32", types[kv->type].label);
    }
    memcpy(out, kv->raw, sizeof(*out));
    if ((*out & (*out - 1)) != 0 || *out == 0) {
        return qn_fail(err, QN_EFORMAT, "general.alignment: %" PRIu32 " is not a power of two", *out);
    }
    if (*out < QN_GGUF_MIN_ALIGNMENT || *out > QN_GGUF_MAX_ALIGNMENT) {
        return qn_fail(err, QN_EFORMAT, "general.alignment: %" PRIu32 " is not within %d to %u", *out,
                       QN_GGUF_MIN_ALIGNMENT, QN_GGUF_MAX_ALIGNMENT);
    }
    return QN_OK;
}
