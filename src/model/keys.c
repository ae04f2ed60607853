/* Which "<arch>.*" keys change what a model computes, and which values of them change nothing.
 *
 * A key that nobody here reads may stand in a file as long as it holds a value without effect; any other value would
 * mean running another model than the file describes. The names are those of the GGUF specification and of the files
 * that are about.
 *
 * SPDX-License-Identifier: MIT */
#include "model/hparams.h"

#include "base/log.h"

#include <stdio.h>

/* Values without effect. */
enum { NONE = 0, ZERO = 1, ONE = 2, ANY = 4 };

#define NO ZERO /* of flags */
#define YES ONE

typedef struct rule {
    const char *name; /* after "<arch>."; one that ends in a dot stands for all that begin so */
    uint8_t neutral;
    bool of_windows;   /* matters only to layers with a window */
    uint16_t same_u32; /* offset of the member of qn_hparams whose value has no effect either; 0: none */
    uint16_t same_f32;
} rule;

#define SAME_U32(member) .same_u32 = offsetof(qn_hparams, member)
#define SAME_F32(member) .same_f32 = offsetof(qn_hparams, member)

static const rule rules[] = {
    /* read by hparams.c for every architecture */
    {"block_count", ANY},
    {"context_length", ANY},
    {"embedding_length", ANY},
    {"feed_forward_length", ANY},
    {"expert_count", ANY},
    {"expert_used_count", ANY},
    {"attn_logit_softcapping", ANY},
    {"final_logit_softcapping", ANY},
    {"attention.head_count", ANY},
    {"attention.head_count_kv", ANY},
    {"attention.key_length", ANY},
    {"attention.value_length", ANY},
    {"attention.layer_norm_rms_epsilon", ANY},
    {"attention.scale", ANY},
    {"attention.sliding_window", ANY},
    {"rope.dimension_count", ANY},
    {"rope.freq_base", ANY},
    {"rope.scale_linear", ANY},
    {"rope.scaling.type", ANY},
    {"rope.scaling.factor", ANY},
    {"rope.scaling.original_context_length", ANY},
    {"rope.scaling.attn_factor", ANY},
    {"rope.scaling.yarn_attn_factor", ANY},
    {"rope.scaling.yarn_beta_fast", ANY},
    {"rope.scaling.yarn_beta_slow", ANY},
    {"rope.scaling.yarn_ext_factor", ANY},

    /* without effect on logits */
    {"vocab_size", ANY},
    {"pooling_type", ANY}, /* of embeddings */
    {"tensor_data_layout", ANY},
    {"decoder_start_token_id", ANY},
    {"attention.layer_norm_epsilon", ANY}, /* of norms with a mean; ours have none */
    {"attention.group_norm_epsilon", ANY},
    {"rope.scaling.finetuned", ANY},

    /* the sizes of parts that these architectures do not have */
    {"embedding_length_out", ZERO, SAME_U32(n_embd)},
    {"embedding_length_per_layer_input", ZERO},
    {"features_length", ZERO},
    {"leading_dense_block_count", ZERO},
    {"decoder_block_count", ZERO},
    {"nextn_predict_layers", ZERO},
    {"expert_feed_forward_length", ZERO, SAME_U32(n_ff)},
    {"expert_shared_feed_forward_length", ZERO},
    {"expert_chunk_feed_forward_length", ZERO},
    {"expert_shared_count", ZERO},
    {"expert_latent_length", ZERO},
    {"moe_latent_size", ZERO},
    {"n_deepstack_layers", ZERO},
    {"deepstack_mapping", ZERO},
    {"dense_2_feat_in", ZERO},
    {"dense_2_feat_out", ZERO},
    {"dense_3_feat_in", ZERO},
    {"dense_3_feat_out", ZERO},
    {"target_layers", ZERO},
    {"target_hidden_size", ZERO},
    {"block_size", ZERO},
    {"conv_kernel_size", ZERO},
    {"conv_group_size", ZERO},
    {"selector_rank", ZERO},
    {"selector_top_k", ZERO},
    {"sample_from_anchor", NO},
    {"has_confidence_head", NO},
    {"hash_layer_count", ZERO},
    {"num_loops", ZERO | ONE},
    {"time_mix_extra_dim", ZERO},
    {"time_decay_extra_dim", ZERO},
    {"token_shift_count", ZERO},
    {"activation.", ZERO},
    {"adapters.", ZERO},
    {"altup.", ZERO},
    {"attn_res.", ZERO},
    {"classifier.", ZERO},
    {"convnext.", ZERO},
    {"decision.", ZERO},
    {"hrm.", ZERO},
    {"hyper_connection.", ZERO},
    {"kda.", ZERO},
    {"ple.", ZERO},
    {"posnet.", ZERO},
    {"shortconv.", ZERO},
    {"ssm.", ZERO},
    {"wkv.", ZERO},

    /* how experts are chosen and weighed: softmax over the router's logits, shares that add up to one */
    {"expert_gating_func", ZERO | ONE}, /* 0: not told, 1: softmax */
    {"expert_group_count", ZERO | ONE},
    {"expert_group_used_count", ZERO | ONE},
    {"expert_group_scale", ZERO | ONE},
    {"experts_per_group", ZERO},
    {"expert_weights_norm", YES},
    {"expert_weights_scale", ZERO | ONE},
    {"interleave_moe_layer_step", ZERO | ONE},
    {"moe_every_n_layers", ZERO | ONE},
    {"router_logit_softcapping", ZERO},

    /* other maths between the layers and in them */
    {"logit_scale", ZERO | ONE},
    {"residual_scale", ZERO | ONE},
    {"embedding_scale", ZERO | ONE},
    {"use_parallel_residual", NO},
    {"swin_norm", NO},
    {"skip_loop_final_norm", NO},
    {"norm_before_residual", NO},
    {"norm_before_fc", NO},
    {"hidden_activation", NONE},
    {"rescale_every_n_layers", ZERO},
    {"activation_sparsity_scale", ZERO},
    {"swiglu_clamp_exp", ZERO},
    {"swiglu_clamp_shexp", ZERO},
    {"full_attention_interval", ZERO | ONE},

    /* other attention */
    {"attention.causal", YES},
    {"attention.max_alibi_bias", ZERO},
    {"attention.clamp_kqv", ZERO},
    {"attention.output_scale", ZERO | ONE},
    {"attention.value_scale", ZERO | ONE},
    {"attention.temperature_scale", ZERO},
    {"attention.temperature_length", ZERO},
    {"attention.sliding_window_pattern", ZERO, .of_windows = true},
    {"attention.key_length_swa", ZERO, .of_windows = true, SAME_U32(head_dim)},
    {"attention.value_length_swa", ZERO, .of_windows = true, SAME_U32(v_dim)},
    {"attention.shared_kv_layers", ZERO},
    {"attention.recurrent_layers", ZERO},
    {"attention.rope_pattern", NONE},
    {"attention.group_norm_groups", ZERO},
    {"attention.relative_buckets_count", ZERO},
    {"attention.q_lora_rank", ZERO},
    {"attention.kv_lora_rank", ZERO},
    {"attention.kv_lora_rank_swa", ZERO},
    {"attention.decay_lora_rank", ZERO},
    {"attention.iclr_lora_rank", ZERO},
    {"attention.gate_lora_rank", ZERO},
    {"attention.output_lora_rank", ZERO},
    {"attention.value_residual_mix_lora_rank", ZERO},
    {"attention.output_group_count", ZERO | ONE},
    {"attention.key_length_mla", ZERO},
    {"attention.value_length_mla", ZERO},
    {"attention.key_length_mla_swa", ZERO},
    {"attention.value_length_mla_swa", ZERO},
    {"attention.compress_ratios", ZERO},
    {"attention.compress_rope_freq_base", ZERO},
    {"attention.indexer.", ZERO},

    /* other rotation */
    {"rope.dimension_count_swa", ZERO, .of_windows = true, SAME_U32(n_rot)},
    {"rope.dimension_sections", ZERO},
    {"rope.freq_base_swa", ZERO, .of_windows = true, SAME_F32(freq_base)},
    {"rope.scaling.alpha", ZERO | ONE},
    {"rope.scaling.yarn_log_multiplier", ZERO},
};

static const rule *rule_of(qn_str name)
{
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        const rule *r = &rules[i];
        size_t len = strlen(r->name);
        bool is_prefix = r->name[len - 1] == '.';
        if (name.len >= len && memcmp(name.data, r->name, len) == 0 && (is_prefix || name.len == len)) {
            return r;
        }
    }
    return NULL;
}

static bool is_listed(qn_str name, const char *const *list)
{
    for (; list != NULL && *list != NULL; list++) {
        if (qn_str_is(name, *list)) {
            return true;
        }
    }
    return false;
}

/* A number or flag, as a number. */
static bool value_of(const qn_gguf_kv *kv, uint64_t i, double *out)
{
    int64_t integer;
    float real;
    if (qn_gguf_item_i64(kv, i, &integer)) {
        *out = (double)integer;
        return true;
    }
    if (qn_gguf_item_f32(kv, i, &real)) {
        *out = (double)real;
        return true;
    }
    return false;
}

static bool is_neutral(const rule *r, const qn_hparams *hp, double v)
{
    uint32_t same_u32;
    float same_f32;
    memcpy(&same_u32, (const char *)hp + r->same_u32, sizeof(same_u32));
    memcpy(&same_f32, (const char *)hp + r->same_f32, sizeof(same_f32));
    return (v == 0.0 && (r->neutral & ZERO) != 0) || (v == 1.0 && (r->neutral & ONE) != 0) ||
           (r->same_u32 != 0 && v == (double)same_u32) || (r->same_f32 != 0 && v == (double)same_f32);
}

static qn_status check_values(const qn_gguf_kv *kv, const rule *r, const qn_hparams *hp, qn_error *err)
{
    qn_gguf_kv list = *kv;
    if (kv->type != QN_GGUF_ARRAY) { /* one value is a list of one */
        list.type = QN_GGUF_ARRAY;
        list.item_type = kv->type;
        list.n_items = 1;
    }
    for (uint64_t i = 0; i < list.n_items; i++) {
        double v;
        if (!value_of(&list, i, &v)) {
            return qn_fail(err, QN_EUNSUPPORTED, "%.*s: not supported in the architecture '%s'", QN_STR_ARG(kv->key),
                           hp->arch);
        }
        if (!is_neutral(r, hp, v)) {
            return qn_fail(err, QN_EUNSUPPORTED, "%.*s: %g is not supported in the architecture '%s'",
                           QN_STR_ARG(kv->key), v, hp->arch);
        }
    }
    return QN_OK;
}

qn_status qn_keys_check(const qn_gguf *g, const qn_hparams *hp, const char *const *own, qn_error *err)
{
    size_t n_prefix = strlen(hp->arch), n_unknown = 0;
    const qn_gguf_kv *unknown = NULL;
    for (size_t i = 0; i < qn_gguf_n_kv(g); i++) {
        const qn_gguf_kv *kv = qn_gguf_kv_at(g, i);
        if (kv->key.len <= n_prefix || memcmp(kv->key.data, hp->arch, n_prefix) != 0 || kv->key.data[n_prefix] != '.') {
            continue;
        }
        qn_str name = {kv->key.data + n_prefix + 1, kv->key.len - n_prefix - 1};
        const rule *r = rule_of(name);
        if (is_listed(name, own)) {
            continue;
        }
        if (r == NULL) {
            unknown = n_unknown++ == 0 ? kv : unknown;
        } else if (r->neutral != ANY && (!r->of_windows || hp->window != 0)) {
            QN_TRY(check_values(kv, r, hp, err));
        }
    }
    if (n_unknown != 0) { /* one line, however many a file has */
        qn_log(QN_LOG_WARN, "%.*s: not known, so it has no effect (%zu such key%s)", QN_STR_ARG(unknown->key),
               n_unknown, n_unknown == 1 ? "" : "s");
    }
    return QN_OK;
}
