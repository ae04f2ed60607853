/* Tiny models with random weights, of every architecture, so that tests of the model path need no data from outside.
 *
 * The vocabulary is a SentencePiece one: <unk>, <s>, </s>, the 256 bytes, a space, the letters, and fillers.
 * SPDX-License-Identifier: MIT */
#ifndef QN_TESTS_SUPPORT_TINY_MODEL_H
#define QN_TESTS_SUPPORT_TINY_MODEL_H

#include "gguf/gguf.h"

#define QN_TINY_MIN_VOCAB 288

typedef struct qn_tiny_spec {
    const char *arch; /* general.architecture */
    uint32_t n_layers, n_embd, n_heads, n_kv_heads, head_dim, v_dim, n_ff, n_vocab, n_ctx, n_rot;
    uint32_t n_experts, n_experts_used; /* 0: dense */
    uint32_t window, window_pattern;    /* 0: not in the file */
    float attn_softcap, final_softcap;  /* 0: not in the file */
    const char *scaling;                /* "linear", "yarn"; NULL: none */
    float scaling_factor;
    uint32_t scaling_ctx;
    bool rope_factors;       /* as Llama 3 has them */
    bool q_biases, o_biases; /* on q, k and v; on the attention's output and the feed-forward */
    bool head_norms;         /* on heads of q and k */
    bool post_norms;         /* after attention and feed-forward */
    bool tied;               /* no output matrix */
    uint32_t n_distinct;     /* rows of a matrix that differ, the others repeat them: encoding is slow; 0: all */
    qn_type type, embd_type; /* of the matrices of layers and output; of the embedding */
    uint64_t seed;
} qn_tiny_spec;

/* Every kind of model that the engine knows: "llama", "llama-moe", "llama-rope", "mistral", "qwen2", "qwen3", "gemma2",
 * "gemma3". */
extern const char *const qn_tiny_kinds[];
enum { QN_TINY_N_KINDS = 8 };

/* Sizes that make a model of some tens of kilobytes, with what the kind is known for; F32. Change it as you like: widths
 * must be multiples of the types' blocks. */
qn_tiny_spec qn_tiny_spec_of(const char *kind);

/* The file in memory, for qn_free(). Fails the test when it cannot be made. */
uint8_t *qn_tiny_bytes(const qn_tiny_spec *spec, size_t *n_bytes);

/* The file under a fresh temporary path, which is written to path[0, 4096); for unlink(). */
void qn_tiny_file(const qn_tiny_spec *spec, char *path);

/* A writer with all that g holds but for one key and one tensor (NULL: none is left out), which a test then sets in its
 * own way. g must outlive it. */
qn_gguf_writer *qn_tiny_copy(const qn_gguf *g, const char *but_key, const char *but_tensor);
/* The same without any of these keys; NULL ends them. */
qn_gguf_writer *qn_tiny_copy_but(const qn_gguf *g, const char *const *but_keys, const char *but_tensor);

#endif
