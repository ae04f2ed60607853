/* Reading hyper-parameters. SPDX-License-Identifier: MIT */
#include "model/hparams.h"

#include <stdio.h>

typedef char qn_key[128];

static const char *key_of(qn_key key, const qn_hparams *hp, const char *name)
{
    snprintf(key, sizeof(qn_key), "%s.%s", hp->arch, name);
    return key;
}

/* Some files give a count per layer. One that is the same for all layers is a count; else the model has layers that
 * differ, which no builder here knows. */
static qn_status uniform_item(const qn_gguf_kv *kv, uint32_t n_layers, uint32_t *out, qn_error *err)
{
    uint64_t first = 0, other;
    if (n_layers == 0) {
        return qn_fail(err, QN_EFORMAT, "%.*s: a list, not a count", QN_STR_ARG(kv->key));
    }
    if (kv->n_items != n_layers) {
        return qn_fail(err, QN_EFORMAT, "%.*s: a list of %llu for %u layers", QN_STR_ARG(kv->key),
                       (unsigned long long)kv->n_items, n_layers);
    }
    for (uint64_t i = 0; i < kv->n_items; i++) {
        if (!qn_gguf_item_u64(kv, i, &other) || other > UINT32_MAX) {
            return qn_fail(err, QN_EFORMAT, "%.*s: not an array of counts", QN_STR_ARG(kv->key));
        }
        first = i == 0 ? other : first;
        if (other != first) {
            return qn_fail(err, QN_EUNSUPPORTED, "%.*s: layers that differ, %llu and %llu", QN_STR_ARG(kv->key),
                           (unsigned long long)first, (unsigned long long)other);
        }
    }
    *out = (uint32_t)first;
    return QN_OK;
}

qn_status qn_hparams_u32(const qn_gguf *g, const qn_hparams *hp, const char *name, uint32_t *out, qn_error *err)
{
    qn_key key;
    const qn_gguf_kv *kv = qn_gguf_find(g, key_of(key, hp, name));
    if (kv == NULL) {
        return QN_OK;
    }
    return kv->type == QN_GGUF_ARRAY ? uniform_item(kv, hp->n_layers, out, err) : qn_gguf_get_u32(g, key, out, err);
}

qn_status qn_hparams_f32(const qn_gguf *g, const qn_hparams *hp, const char *name, float min, float max, float *out,
                         qn_error *err)
{
    qn_key key;
    if (qn_gguf_find(g, key_of(key, hp, name)) == NULL) {
        return QN_OK;
    }
    QN_TRY(qn_gguf_get_f32(g, key, out, err));
    return *out >= min && *out <= max /* not for NaN */
               ? QN_OK
               : qn_fail(err, QN_EFORMAT, "%s: %g is not between %g and %g", key, (double)*out, (double)min,
                         (double)max);
}

/* Published models have 10000 to some hundreds of millions. */
qn_status qn_hparams_freq_base(const qn_gguf *g, const qn_hparams *hp, const char *name, float *out, qn_error *err)
{
    return qn_hparams_f32(g, hp, name, 2.0f, 1e12f, out, err);
}

static qn_status in_range(const qn_hparams *hp, const char *name, uint32_t v, uint32_t min, uint32_t max, qn_error *err)
{
    return v >= min && v <= max
               ? QN_OK
               : qn_fail(err, QN_EFORMAT, "%s.%s: %u is not between %u and %u", hp->arch, name, v, min, max);
}

static qn_status need_u32(const qn_gguf *g, const qn_hparams *hp, const char *name, uint32_t max, uint32_t *out,
                          qn_error *err)
{
    qn_key key;
    if (qn_gguf_find(g, key_of(key, hp, name)) == NULL) {
        return qn_fail(err, QN_ENOTFOUND, "%s: missing", key);
    }
    QN_TRY(qn_hparams_u32(g, hp, name, out, err));
    return in_range(hp, name, *out, 1, max, err);
}

static qn_status read_heads(const qn_gguf *g, qn_hparams *hp, qn_error *err)
{
    QN_TRY(need_u32(g, hp, "attention.head_count", QN_MAX_HEADS, &hp->n_heads, err));
    hp->n_kv_heads = hp->n_heads;
    QN_TRY(qn_hparams_u32(g, hp, "attention.head_count_kv", &hp->n_kv_heads, err));
    if (hp->n_kv_heads == 0 || hp->n_heads % hp->n_kv_heads != 0) {
        return qn_fail(err, QN_EFORMAT, "%s.attention.head_count_kv: %u does not divide the %u heads", hp->arch,
                       hp->n_kv_heads, hp->n_heads);
    }
    hp->head_dim = hp->n_embd / hp->n_heads;
    QN_TRY(qn_hparams_u32(g, hp, "attention.key_length", &hp->head_dim, err));
    hp->v_dim = hp->head_dim;
    QN_TRY(qn_hparams_u32(g, hp, "attention.value_length", &hp->v_dim, err));
    QN_TRY(in_range(hp, "attention.key_length", hp->head_dim, 1, QN_MAX_HEAD_DIM, err));
    QN_TRY(in_range(hp, "attention.value_length", hp->v_dim, 1, QN_MAX_HEAD_DIM, err));
    QN_TRY(qn_hparams_f32(g, hp, "attention.scale", 0.0f, 1e4f, &hp->attn_scale, err));
    hp->norm_eps = 1e-5f;
    return qn_hparams_f32(g, hp, "attention.layer_norm_rms_epsilon", 0.0f, 0.1f, &hp->norm_eps, err);
}

static qn_status read_scaling_type(const qn_gguf *g, qn_hparams *hp, qn_error *err)
{
    qn_key key;
    qn_str type;
    hp->scaling = hp->scaling_factor != 1.0f ? QN_SCALING_LINEAR : QN_SCALING_NONE;
    if (qn_gguf_find(g, key_of(key, hp, "rope.scaling.type")) == NULL) {
        return QN_OK;
    }
    QN_TRY(qn_gguf_get_str(g, key, &type, err));
    if (qn_str_is(type, "none")) {
        hp->scaling = QN_SCALING_NONE;
    } else if (qn_str_is(type, "linear")) {
        hp->scaling = QN_SCALING_LINEAR;
    } else if (qn_str_is(type, "yarn")) {
        hp->scaling = QN_SCALING_YARN;
    } else {
        return qn_fail(err, QN_EUNSUPPORTED, "%s: '%.*s' is not supported", key, QN_STR_ARG(type));
    }
    return QN_OK;
}

static qn_status only(bool ok, const qn_hparams *hp, const char *name, float v, float expected, qn_error *err)
{
    return ok ? QN_OK
              : qn_fail(err, QN_EUNSUPPORTED, "%s.%s: %g is not supported with this scaling, only %g", hp->arch, name,
                        (double)v, (double)expected);
}

static qn_status read_yarn(const qn_gguf *g, qn_hparams *hp, qn_error *err)
{
    bool yarn = hp->scaling == QN_SCALING_YARN;
    hp->yarn_beta_fast = 32.0f;
    hp->yarn_beta_slow = 1.0f;
    hp->yarn_attn_factor = 1.0f;
    QN_TRY(qn_hparams_f32(g, hp, "rope.scaling.yarn_beta_fast", 1e-3f, 1e4f, &hp->yarn_beta_fast, err));
    QN_TRY(qn_hparams_f32(g, hp, "rope.scaling.yarn_beta_slow", 1e-3f, 1e4f, &hp->yarn_beta_slow, err));
    float factor = 1.0f; /* two names for one thing */
    QN_TRY(qn_hparams_f32(g, hp, "rope.scaling.attn_factor", 1e-3f, 1e3f, &factor, err));
    QN_TRY(only(yarn || factor == 1.0f, hp, "rope.scaling.attn_factor", factor, 1.0f, err));
    QN_TRY(qn_hparams_f32(g, hp, "rope.scaling.yarn_attn_factor", 1e-3f, 1e3f, &factor, err));
    QN_TRY(only(yarn || factor == 1.0f, hp, "rope.scaling.yarn_attn_factor", factor, 1.0f, err));
    hp->yarn_attn_factor = factor;
    /* How much of the ramp is used: here all of it. Files say -1 for what is usual. */
    float usual = yarn ? 1.0f : 0.0f, share = usual;
    QN_TRY(qn_hparams_f32(g, hp, "rope.scaling.yarn_ext_factor", -1.0f, 1e4f, &share, err));
    return only(share == usual || share == -1.0f, hp, "rope.scaling.yarn_ext_factor", share, usual, err);
}

static qn_status read_scaling(const qn_gguf *g, qn_hparams *hp, qn_error *err)
{
    const float least = 1e-3f, most = 1e6f; /* contexts are stretched by 2 to 64 */
    hp->scaling_factor = 1.0f;
    hp->scaling_ctx = hp->n_ctx_train;
    QN_TRY(qn_hparams_f32(g, hp, "rope.scale_linear", least, most, &hp->scaling_factor, err)); /* as old files say it */
    QN_TRY(qn_hparams_f32(g, hp, "rope.scaling.factor", least, most, &hp->scaling_factor, err));
    QN_TRY(read_scaling_type(g, hp, err));
    QN_TRY(qn_hparams_u32(g, hp, "rope.scaling.original_context_length", &hp->scaling_ctx, err));
    QN_TRY(in_range(hp, "rope.scaling.original_context_length", hp->scaling_ctx, 1, QN_MAX_CTX, err));
    return read_yarn(g, hp, err);
}

static qn_status read_rope(const qn_gguf *g, qn_hparams *hp, qn_error *err)
{
    hp->n_rot = hp->head_dim;
    QN_TRY(qn_hparams_u32(g, hp, "rope.dimension_count", &hp->n_rot, err));
    if (hp->n_rot == 0 || hp->n_rot % 2 != 0 || hp->n_rot > hp->head_dim) {
        return qn_fail(err, QN_EFORMAT, "%s.rope.dimension_count: %u is not an even number from 2 to the %u of a head",
                       hp->arch, hp->n_rot, hp->head_dim);
    }
    hp->freq_base = 10000.0f;
    QN_TRY(qn_hparams_freq_base(g, hp, "rope.freq_base", &hp->freq_base, err));
    hp->freq_base_local = hp->freq_base;
    return read_scaling(g, hp, err);
}

static qn_status read_experts(const qn_gguf *g, qn_hparams *hp, qn_error *err)
{
    QN_TRY(qn_hparams_u32(g, hp, "expert_count", &hp->n_experts, err));
    QN_TRY(qn_hparams_u32(g, hp, "expert_used_count", &hp->n_experts_used, err));
    QN_TRY(in_range(hp, "expert_count", hp->n_experts, 0, QN_MAX_EXPERTS, err));
    return hp->n_experts == 0 ? QN_OK : in_range(hp, "expert_used_count", hp->n_experts_used, 1, hp->n_experts, err);
}

qn_status qn_hparams_read(const qn_gguf *g, qn_hparams *hp, qn_error *err)
{
    qn_str arch;
    *hp = (qn_hparams){0};
    QN_TRY(qn_gguf_get_str(g, "general.architecture", &arch, err));
    if (arch.len == 0 || arch.len >= sizeof(hp->arch) || memchr(arch.data, 0, arch.len) != NULL) {
        return qn_fail(err, QN_EUNSUPPORTED, "general.architecture: '%.*s' is not known", QN_STR_ARG(arch));
    }
    memcpy(hp->arch, arch.data, arch.len);
    QN_TRY(need_u32(g, hp, "block_count", QN_MAX_LAYERS, &hp->n_layers, err));
    QN_TRY(need_u32(g, hp, "embedding_length", QN_MAX_EMBD, &hp->n_embd, err));
    QN_TRY(need_u32(g, hp, "feed_forward_length", QN_MAX_FF, &hp->n_ff, err));
    QN_TRY(need_u32(g, hp, "context_length", QN_MAX_CTX, &hp->n_ctx_train, err));
    QN_TRY(read_heads(g, hp, err));
    QN_TRY(read_rope(g, hp, err));
    QN_TRY(qn_hparams_u32(g, hp, "attention.sliding_window", &hp->window, err));
    QN_TRY(qn_hparams_f32(g, hp, "attn_logit_softcapping", 0.0f, 1e6f, &hp->attn_softcap, err));
    QN_TRY(qn_hparams_f32(g, hp, "final_logit_softcapping", 0.0f, 1e6f, &hp->final_softcap, err));
    return read_experts(g, hp, err);
}
