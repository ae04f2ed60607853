/* Memory estimates from metadata. SPDX-License-Identifier: MIT */
#include "cli/gguf_memory.h"

#include "base/checked.h"

#include <stdio.h>

/* "<architecture>.<name>"; false: too long or no architecture. */
static bool key_of(const qn_gguf *g, const char *name, char key[128])
{
    qn_str architecture;
    if (qn_gguf_get_str(g, "general.architecture", &architecture, NULL) != QN_OK || architecture.len > 64) {
        return false;
    }
    snprintf(key, 128, "%.*s.%s", QN_STR_ARG(architecture), name);
    return true;
}

static bool get_u32(const qn_gguf *g, const char *name, uint32_t *out)
{
    char key[128];
    return key_of(g, name, key) && qn_gguf_get_u32(g, key, out, NULL) == QN_OK;
}

/* Some files give one number for all layers, others an array. */
static bool get_of_layer(const qn_gguf *g, const char *name, uint64_t i_layer, uint64_t *out)
{
    char key[128];
    const qn_gguf_kv *kv = key_of(g, name, key) ? qn_gguf_find(g, key) : NULL;
    if (kv == NULL) {
        return false;
    }
    if (kv->type == QN_GGUF_ARRAY) {
        return qn_gguf_item_u64(kv, i_layer, out);
    }
    return qn_gguf_get_u64(g, key, out, NULL) == QN_OK;
}

/* Bytes of the keys and values of one token in one layer. */
static bool kv_of_layer(const qn_gguf *g, uint64_t i_layer, uint64_t *bytes)
{
    uint64_t n_heads, n_kv_heads;
    uint32_t key_length, value_length, n_embd;
    if (!get_of_layer(g, "attention.head_count", i_layer, &n_heads)) {
        return false;
    }
    if (!get_of_layer(g, "attention.head_count_kv", i_layer, &n_kv_heads)) {
        n_kv_heads = n_heads;
    }
    if (!get_u32(g, "attention.key_length", &key_length)) {
        if (n_heads == 0 || !get_u32(g, "embedding_length", &n_embd)) {
            return false;
        }
        key_length = (uint32_t)(n_embd / n_heads);
    }
    if (!get_u32(g, "attention.value_length", &value_length)) {
        value_length = key_length;
    }
    uint64_t numbers;
    return qn_mul_u64(n_kv_heads, (uint64_t)key_length + value_length, &numbers) && qn_mul_u64(numbers, 2, bytes);
}

static bool estimate_kv(const qn_gguf *g, uint32_t n_ctx, uint64_t *bytes)
{
    uint32_t n_layers;
    if (!get_u32(g, "block_count", &n_layers) || n_layers > QN_GGUF_MAX_TENSORS) {
        return false;
    }
    uint64_t per_token = 0;
    for (uint32_t i = 0; i < n_layers; i++) {
        uint64_t of_layer;
        if (!kv_of_layer(g, i, &of_layer) || !qn_add_u64(per_token, of_layer, &per_token)) {
            return false;
        }
    }
    return qn_mul_u64(per_token, n_ctx, bytes);
}

void qn_memory_estimate(const qn_gguf *g, uint32_t n_ctx, qn_memory_need *out)
{
    *out = (qn_memory_need){0};
    for (size_t i = 0; i < qn_gguf_n_tensors(g); i++) {
        const qn_gguf_tensor *t = qn_gguf_tensor_at(g, i);
        out->weight_bytes += t->bytes; /* the reader has checked that all of them lie inside files */
        out->n_params += t->ne[0] * t->ne[1] * t->ne[2] * t->ne[3];
        out->n_tensors_of[t->type]++;
        out->bytes_of[t->type] += t->bytes;
    }
    out->kv_known = n_ctx > 0 && estimate_kv(g, n_ctx, &out->kv_bytes);
}

uint32_t qn_memory_trained_context(const qn_gguf *g)
{
    uint32_t n_ctx;
    return get_u32(g, "context_length", &n_ctx) ? n_ctx : 0;
}

uint64_t qn_memory_read_per_token(const qn_gguf *g)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < qn_gguf_n_tensors(g); i++) {
        bytes += qn_gguf_tensor_at(g, i)->bytes;
    }
    const qn_gguf_tensor *embedding = qn_gguf_find_tensor(g, "token_embd.weight");
    bool is_apart = qn_gguf_find_tensor(g, "output.weight") != NULL;
    return embedding != NULL && is_apart ? bytes - embedding->bytes : bytes;
}
