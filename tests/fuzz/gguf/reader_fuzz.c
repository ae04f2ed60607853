/* Any bytes: refused, or safe to walk, and then a copy through the writer reads back with the same contents.
 * SPDX-License-Identifier: MIT */
#include "gguf/gguf.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

#define REQUIRE(condition)                                                          \
    do {                                                                            \
        if (!(condition)) {                                                         \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            abort();                                                                \
        }                                                                           \
    } while (0)

static volatile uint8_t sink;

static void touch(const void *p, uint64_t n_bytes)
{
    const uint8_t *bytes = p;
    if (n_bytes > 0) {
        sink = (uint8_t)(bytes[0] ^ bytes[n_bytes - 1]);
    }
}

static void walk_value(const qn_gguf *g, const qn_gguf_kv *kv)
{
    char key[QN_GGUF_MAX_KEY + 1];
    snprintf(key, sizeof(key), "%.*s", (int)kv->key.len, kv->key.data);
    REQUIRE(qn_gguf_find(g, key) == kv);
    touch(kv->raw, kv->raw_bytes);

    uint32_t u32;
    int32_t i32;
    uint64_t u64;
    int64_t i64;
    float f32;
    bool yes;
    qn_str s = {0};
    qn_error err;
    int n_fits = 0;
    n_fits += qn_gguf_get_u32(g, key, &u32, &err) == QN_OK;
    n_fits += qn_gguf_get_i32(g, key, &i32, &err) == QN_OK;
    n_fits += qn_gguf_get_u64(g, key, &u64, &err) == QN_OK;
    n_fits += qn_gguf_get_f32(g, key, &f32, &err) == QN_OK;
    n_fits += qn_gguf_get_bool(g, key, &yes, &err) == QN_OK;
    n_fits += qn_gguf_get_str(g, key, &s, &err) == QN_OK;
    REQUIRE(n_fits <= 3 && (kv->type != QN_GGUF_ARRAY || n_fits == 0));
    touch(s.data, s.len);

    qn_gguf_iter it = {0};
    uint64_t n_strs = 0;
    for (; qn_gguf_next_str(kv, &it, &s); n_strs++) {
        touch(s.data, s.len);
    }
    REQUIRE(n_strs == (kv->type == QN_GGUF_ARRAY && kv->item_type == QN_GGUF_STRING ? kv->n_items : 0));
    for (uint64_t i = 0; i < kv->n_items + 1; i++) {
        bool any = qn_gguf_item_u64(kv, i, &u64);
        any |= qn_gguf_item_i64(kv, i, &i64);
        any |= qn_gguf_item_f32(kv, i, &f32);
        REQUIRE(!any || i < kv->n_items);
    }
}

static void walk_tensor(const qn_gguf *g, const qn_gguf_tensor *t, const uint8_t *data, size_t n_bytes)
{
    char name[QN_GGUF_MAX_NAME + 1];
    snprintf(name, sizeof(name), "%.*s", (int)t->name.len, t->name.data);
    REQUIRE(qn_gguf_find_tensor(g, name) == t);
    REQUIRE(t->data >= data && t->bytes <= n_bytes && (size_t)(t->data - data) <= n_bytes - t->bytes);
    REQUIRE(t->bytes == t->row_bytes * t->ne[1] * t->ne[2] * t->ne[3] && t->bytes > 0);
    REQUIRE(t->offset % qn_gguf_alignment(g) == 0);
    touch(t->data, t->bytes);
}

static void copy_through_the_writer(const qn_gguf *g)
{
    qn_gguf_writer *w;
    REQUIRE(qn_gguf_writer_open(NULL, qn_gguf_alignment(g), &w, NULL) == QN_OK);
    for (size_t i = 0; i < qn_gguf_n_kv(g); i++) {
        qn_gguf_set_kv(w, qn_gguf_kv_at(g, i));
    }
    for (size_t i = 0; i < qn_gguf_n_tensors(g); i++) {
        const qn_gguf_tensor *t = qn_gguf_tensor_at(g, i);
        char name[QN_GGUF_MAX_NAME + 1];
        snprintf(name, sizeof(name), "%.*s", (int)t->name.len, t->name.data);
        qn_gguf_add_tensor(w, name, t->type, t->n_dims, t->ne, t->data);
    }
    uint8_t *copy;
    size_t n_bytes;
    qn_gguf *again;
    REQUIRE(qn_gguf_write_memory(w, &copy, &n_bytes, NULL) == QN_OK);
    REQUIRE(qn_gguf_open_memory(copy, n_bytes, NULL, &again, NULL) == QN_OK);
    REQUIRE(qn_gguf_n_kv(again) == qn_gguf_n_kv(g) && qn_gguf_n_tensors(again) == qn_gguf_n_tensors(g));
    for (size_t i = 0; i < qn_gguf_n_kv(g); i++) {
        const qn_gguf_kv *a = qn_gguf_kv_at(g, i), *b = qn_gguf_kv_at(again, i);
        REQUIRE(qn_str_eq(a->key, b->key) && a->type == b->type && a->raw_bytes == b->raw_bytes);
        REQUIRE(memcmp(a->raw, b->raw, a->raw_bytes) == 0);
    }
    for (size_t i = 0; i < qn_gguf_n_tensors(g); i++) {
        const qn_gguf_tensor *a = qn_gguf_tensor_at(g, i), *b = qn_gguf_tensor_at(again, i);
        REQUIRE(qn_str_eq(a->name, b->name) && a->type == b->type && memcmp(a->ne, b->ne, sizeof(a->ne)) == 0);
        REQUIRE(a->bytes == b->bytes && memcmp(a->data, b->data, a->bytes) == 0);
    }
    qn_gguf_close(again);
    qn_free(copy);
    qn_gguf_writer_close(w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    qn_budget *budget;
    qn_gguf *g;
    qn_error err = {0};
    REQUIRE(qn_budget_open(0, &budget) == QN_OK);
    qn_status status = qn_gguf_open_memory(data, n_bytes, budget, &g, &err);
    REQUIRE(qn_budget_peak(budget) <= (16u << 20) + 2 * n_bytes);
    if (status == QN_OK) {
        for (size_t i = 0; i < qn_gguf_n_kv(g); i++) {
            walk_value(g, qn_gguf_kv_at(g, i));
        }
        for (size_t i = 0; i < qn_gguf_n_tensors(g); i++) {
            walk_tensor(g, qn_gguf_tensor_at(g, i), data, n_bytes);
        }
        copy_through_the_writer(g);
        qn_gguf_close(g);
    } else {
        REQUIRE(err.code == status && err.what[0] != '\0');
    }
    REQUIRE(qn_budget_used(budget) == 0);
    qn_budget_close(budget);
    return 0;
}
