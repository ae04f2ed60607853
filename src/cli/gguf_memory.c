/* Memory estimates from metadata. SPDX-License-Identifier: MIT */
#include "cli/gguf_memory.h"

#include "base/checked.h"
#include "quant/kv_code.h"

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

/* Bytes of the keys and values of n_ctx tokens in n_heads heads of one layer, the first page of 4 bits taken as 32
 * tokens. */
static bool kv_bytes(uint64_t n_heads, uint32_t key_length, uint32_t value_length, uint32_t n_ctx,
                     const qn_session_options *kv, uint64_t *bytes)
{
    bool is_mixed = kv->kv_type == QN_KV_MIXED;
    qn_kv_type type = is_mixed ? kv->kv_mixed_rest : kv->kv_type;
    uint32_t bits = type == QN_KV_Q4 ? 4 : type == QN_KV_Q8 ? 8 : 0;
    uint32_t n_plain = bits == 0 ? n_ctx : is_mixed ? kv->kv_mixed_tokens : type == QN_KV_Q4 ? 32 : 0;
    n_plain = n_plain < n_ctx ? n_plain : n_ctx;
    uint64_t plain = ((uint64_t)key_length + value_length) * (type == QN_KV_F32 ? 4 : 2);
    uint64_t eight = bits != 0 ? qn_kv_k_bytes(bits, key_length, 8) + qn_kv_v_bytes(bits, value_length, 8) : 0;
    uint64_t codes;
    return qn_mul_u64(plain, n_plain, &plain) && qn_mul_u64(eight, ((uint64_t)n_ctx - n_plain + 7) / 8, &codes) &&
           qn_add_u64(plain, codes, bytes) && qn_mul_u64(*bytes, n_heads, bytes);
}

static bool kv_of_layer(const qn_gguf *g, uint64_t i_layer, uint32_t n_ctx, const qn_session_options *kv,
                        uint64_t *bytes)
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
    return kv_bytes(n_kv_heads, key_length, value_length, n_ctx, kv, bytes);
}

static bool estimate_kv(const qn_gguf *g, uint32_t n_ctx, const qn_session_options *kv, uint64_t *bytes)
{
    uint32_t n_layers;
    if (!get_u32(g, "block_count", &n_layers) || n_layers > QN_GGUF_MAX_TENSORS) {
        return false;
    }
    *bytes = 0;
    for (uint32_t i = 0; i < n_layers; i++) {
        uint64_t of_layer;
        if (!kv_of_layer(g, i, n_ctx, kv, &of_layer) || !qn_add_u64(*bytes, of_layer, bytes)) {
            return false;
        }
    }
    return true;
}

void qn_memory_estimate(const qn_gguf *g, uint32_t n_ctx, const qn_session_options *kv, qn_memory_need *out)
{
    *out = (qn_memory_need){0};
    for (size_t i = 0; i < qn_gguf_n_tensors(g); i++) {
        const qn_gguf_tensor *t = qn_gguf_tensor_at(g, i);
        out->weight_bytes += t->bytes; /* the reader has checked that all of them lie inside files */
        out->n_params += t->ne[0] * t->ne[1] * t->ne[2] * t->ne[3];
        out->n_tensors_of[t->type]++;
        out->bytes_of[t->type] += t->bytes;
    }
    out->kv_known = n_ctx > 0 && estimate_kv(g, n_ctx, kv, &out->kv_bytes);
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
