/* The numbers that describe a model, read from a file's metadata and checked against each other.
 * SPDX-License-Identifier: MIT */
#ifndef QN_MODEL_HPARAMS_H
#define QN_MODEL_HPARAMS_H

#include "gguf/gguf.h"

/* Ceilings: far above any known model, low enough that products of two stay inside 64 bits and widths inside 32. */
#define QN_MAX_LAYERS 1024
#define QN_MAX_EMBD (1u << 18)
#define QN_MAX_FF (1u << 20)
#define QN_MAX_HEADS 2048
#define QN_MAX_HEAD_DIM 1024
#define QN_MAX_EXPERTS 1024
#define QN_MAX_CTX (1u << 24)

typedef enum qn_rope_scaling { QN_SCALING_NONE, QN_SCALING_LINEAR, QN_SCALING_YARN } qn_rope_scaling;

typedef struct qn_hparams {
    char arch[32];
    uint32_t n_layers, n_embd, n_ff, n_heads, n_kv_heads, head_dim, v_dim, n_ctx_train;
    float norm_eps;

    uint32_t n_rot;                   /* rotated elements of a head */
    float freq_base, freq_base_local; /* local: of windowed layers, the same unless an architecture has two */
    qn_rope_scaling scaling;
    float scaling_factor;
    uint32_t scaling_ctx; /* context before YaRN stretched it */
    float yarn_beta_fast, yarn_beta_slow, yarn_attn_factor;

    uint32_t window;         /* tokens; 0: none */
    uint32_t window_pattern; /* every n-th layer has no window; 0: every layer has it */
    float attn_softcap, final_softcap;
    float attn_scale; /* 0: one over the root of head_dim */
    uint32_t n_experts, n_experts_used;
} qn_hparams;

/* The keys that all architectures share, "<arch>.block_count" and so on. An architecture's own reader looks at the
 * rest. QN_EFORMAT, QN_ENOTFOUND, QN_EUNSUPPORTED: err names the key. */
qn_status qn_hparams_read(const qn_gguf *g, qn_hparams *hp, qn_error *err);

/* "<arch>.<name>" as a count, or as a number within [min, max]; a missing key leaves *out as it is. A count may be a
 * list of one for each layer that are all the same. QN_EFORMAT, QN_EUNSUPPORTED: err has the key and the value. */
qn_status qn_hparams_u32(const qn_gguf *g, const qn_hparams *hp, const char *name, uint32_t *out, qn_error *err);
qn_status qn_hparams_f32(const qn_gguf *g, const qn_hparams *hp, const char *name, float min, float max, float *out,
                         qn_error *err);

/* The base of rotary frequencies in key "<arch>.<name>". */
qn_status qn_hparams_freq_base(const qn_gguf *g, const qn_hparams *hp, const char *name, float *out, qn_error *err);

/* ---- keys.c ---------------------------------------------------------------------------------------- */

/* Refuses a file with an "<arch>.*" key that would change the model and that is not read: QN_EUNSUPPORTED, err has key
 * and value. own: names (after "<arch>.") that the architecture reads itself, NULL at the end; may be NULL. Keys that
 * nobody has heard of are told in one line of the log. hp is complete. */
qn_status qn_keys_check(const qn_gguf *g, const qn_hparams *hp, const char *const *own, qn_error *err);

#endif
