/* Reading hyper-parameters. SPDX-License-Identifier: MIT */
#include "model/hparams.h"

#include <math.h>
#include <stdio.h>

typedef char qn_key[128];

static const char *key_of(qn_key key, const qn_hparams *hp, const char *name)
{
    snprintf(key, sizeof(qn_key), "%s.%s", hp->arch, name);
    return key;
}

/* Some files give a count per layer. One that is the same for all layers is a count; else the model has layers that
 * differ, which no builder here knows. */
static qn_status uniform_item(const qn_gguf_kv *kv, uint32_t *out, qn_error *err)
{
    uint64_t first = 0, other;
    for (uint64_t i = 0; i < kv->n_items; i++) {
        if (!qn_gguf_item_u64(kv, i, &other) || other > UINT32_MAX) {
            return qn_fail(err, QN_EFORMAT, "%.*s: not an array of counts", QN_STR_ARG(kv->key));
        }
        first = i == 0 ? other : first;
        if (other != first) {
            return qn_fail(err, QN_EUNSUPPORTED, "%.*s: layers that differ", QN_STR_ARG(kv->key));
        }
    }
    if (kv->n_items == 0) {
        return qn_fail(err, QN_EFORMAT, "%.*s: empty", QN_STR_ARG(kv->key));
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
    return kv->type == QN_GGUF_ARRAY ? uniform_item(kv, out, err) : qn_gguf_get_u32(g, key, out, err);
}

qn_status qn_hparams_f32(const qn_gguf *g, const qn_hparams *hp, const char *name, float *out, qn_error *err)
{
    qn_key key;
    if (qn_gguf_find(g, key_of(key, hp, name)) == NULL) {
        return QN_OK;
    }
    QN_TRY(qn_gguf_get_f32(g, key, out, err));
    return isfinite(*out) ? QN_OK : qn_fail(err, QN_EFORMAT, "%s: not a finite number", key);
}

static qn_status need_u32(const qn_gguf *g, const qn_hparams *hp, const char *name, uint32_t max, uint32_t *out,
                          qn_error *err)
{
    qn_key key;
    if (qn_gguf_find(g, key_of(key, hp, name)) == NULL) {
        return qn_fail(err, QN_ENOTFOUND, "%s: missing", key);
    }
    QN_TRY(qn_hparams_u32(g, hp, name, out, err));
    if (*out == 0 || *out > max) {
        return qn_fail(err, QN_EFORMAT, "%s: %u is not between 1 and %u", key, *out, max);
    }
    return QN_OK;
}

static qn_status check(bool ok, const qn_hparams *hp, const char *name, const char *what, qn_error *err)
{
    return ok ? QN_OK : qn_fail(err, QN_EFORMAT, "%s.%s: %s", hp->arch, name, what);
}

static qn_status read_heads(const qn_gguf *g, qn_hparams *hp, qn_error *err)
{
    QN_TRY(need_u32(g, hp, "attention.head_count", QN_MAX_HEADS, &hp->n_heads, err));
    hp->n_kv_heads = hp->n_heads;
    QN_TRY(qn_hparams_u32(g, hp, "attention.head_count_kv", &hp->n_kv_heads, err));
    QN_TRY(check(hp->n_kv_heads != 0 && hp->n_heads % hp->n_kv_heads == 0, hp, "attention.head_count_kv",
                 "does not divide the head count", err));
    hp->head_dim = hp->n_embd / hp->n_heads;
    QN_TRY(qn_hparams_u32(g, hp, "attention.key_length", &hp->head_dim, err));
    hp->v_dim = hp->head_dim;
    QN_TRY(qn_hparams_u32(g, hp, "attention.value_length", &hp->v_dim, err));
    QN_TRY(
        check(hp->head_dim != 0 && hp->head_dim <= QN_MAX_HEAD_DIM, hp, "attention.key_length", "out of range", err));
    QN_TRY(check(hp->v_dim != 0 && hp->v_dim <= QN_MAX_HEAD_DIM, hp, "attention.value_length", "out of range", err));
    QN_TRY(qn_hparams_f32(g, hp, "attention.scale", &hp->attn_scale, err));
    QN_TRY(check(hp->attn_scale >= 0.0f, hp, "attention.scale", "negative", err));
    hp->norm_eps = 1e-5f;
    QN_TRY(qn_hparams_f32(g, hp, "attention.layer_norm_rms_epsilon", &hp->norm_eps, err));
    return check(hp->norm_eps >= 0.0f && hp->norm_eps < 1.0f, hp, "attention.layer_norm_rms_epsilon", "out of range",
                 err);
}

static qn_status read_scaling(const qn_gguf *g, qn_hparams *hp, qn_error *err)
{
    qn_key key;
    hp->scaling_factor = 1.0f;
    hp->yarn_beta_fast = 32.0f;
    hp->yarn_beta_slow = 1.0f;
    hp->yarn_attn_factor = 1.0f;
    hp->scaling_ctx = hp->n_ctx_train;
    QN_TRY(qn_hparams_f32(g, hp, "rope.scale_linear", &hp->scaling_factor, err)); /* as old files say it */
    hp->scaling = hp->scaling_factor != 1.0f ? QN_SCALING_LINEAR : QN_SCALING_NONE;
    if (qn_gguf_find(g, key_of(key, hp, "rope.scaling.type")) != NULL) {
        qn_str type;
        QN_TRY(qn_gguf_get_str(g, key, &type, err));
        if (qn_str_is(type, "none")) {
            hp->scaling = QN_SCALING_NONE;
        } else if (qn_str_is(type, "linear")) {
            hp->scaling = QN_SCALING_LINEAR;
        } else if (qn_str_is(type, "yarn")) {
            hp->scaling = QN_SCALING_YARN;
        } else {
            return qn_fail(err, QN_EUNSUPPORTED, "%s: '%.*s'", key, QN_STR_ARG(type));
        }
    } else if (qn_gguf_find(g, key_of(key, hp, "rope.scaling.factor")) != NULL && hp->scaling == QN_SCALING_NONE) {
        hp->scaling = QN_SCALING_LINEAR;
    }
    QN_TRY(qn_hparams_f32(g, hp, "rope.scaling.factor", &hp->scaling_factor, err));
    QN_TRY(check(hp->scaling_factor > 0.0f, hp, "rope.scaling.factor", "not positive", err));
    QN_TRY(qn_hparams_u32(g, hp, "rope.scaling.original_context_length", &hp->scaling_ctx, err));
    QN_TRY(check(hp->scaling_ctx != 0, hp, "rope.scaling.original_context_length", "zero", err));
    QN_TRY(qn_hparams_f32(g, hp, "rope.scaling.attn_factor", &hp->yarn_attn_factor, err));
    QN_TRY(qn_hparams_f32(g, hp, "rope.scaling.yarn_attn_factor", &hp->yarn_attn_factor, err));
    QN_TRY(qn_hparams_f32(g, hp, "rope.scaling.yarn_beta_fast", &hp->yarn_beta_fast, err));
    QN_TRY(qn_hparams_f32(g, hp, "rope.scaling.yarn_beta_slow", &hp->yarn_beta_slow, err));
    return check(hp->yarn_beta_fast > 0.0f && hp->yarn_beta_slow > 0.0f, hp, "rope.scaling.yarn_beta_fast",
                 "not positive", err);
}

static qn_status read_rope(const qn_gguf *g, qn_hparams *hp, qn_error *err)
{
    hp->n_rot = hp->head_dim;
    QN_TRY(qn_hparams_u32(g, hp, "rope.dimension_count", &hp->n_rot, err));
    QN_TRY(check(hp->n_rot % 2 == 0 && hp->n_rot <= hp->head_dim, hp, "rope.dimension_count",
                 "odd, or longer than a head", err));
    hp->freq_base = 10000.0f;
    QN_TRY(qn_hparams_f32(g, hp, "rope.freq_base", &hp->freq_base, err));
    QN_TRY(check(hp->freq_base > 0.0f, hp, "rope.freq_base", "not positive", err));
    hp->freq_base_local = hp->freq_base;
    QN_TRY(qn_hparams_f32(g, hp, "rope.freq_base_swa", &hp->freq_base_local, err));
    QN_TRY(check(hp->freq_base_local > 0.0f, hp, "rope.freq_base_swa", "not positive", err));
    return read_scaling(g, hp, err);
}

static qn_status read_experts(const qn_gguf *g, qn_hparams *hp, qn_error *err)
{
    QN_TRY(qn_hparams_u32(g, hp, "expert_count", &hp->n_experts, err));
    QN_TRY(qn_hparams_u32(g, hp, "expert_used_count", &hp->n_experts_used, err));
    QN_TRY(check(hp->n_experts <= QN_MAX_EXPERTS, hp, "expert_count", "out of range", err));
    return check(hp->n_experts == 0 || (hp->n_experts_used != 0 && hp->n_experts_used <= hp->n_experts), hp,
                 "expert_used_count", "zero, or above expert_count", err);
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
    QN_TRY(qn_hparams_f32(g, hp, "attn_logit_softcapping", &hp->attn_softcap, err));
    QN_TRY(check(hp->attn_softcap >= 0.0f, hp, "attn_logit_softcapping", "negative", err));
    QN_TRY(qn_hparams_f32(g, hp, "final_logit_softcapping", &hp->final_softcap, err));
    QN_TRY(check(hp->final_softcap >= 0.0f, hp, "final_logit_softcapping", "negative", err));
    return read_experts(g, hp, err);
}
