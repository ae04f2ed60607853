/* A loaded network: hyper-parameters, weights by their role, rotary settings; and the op list made of them.
 * SPDX-License-Identifier: MIT */
#ifndef QN_MODEL_NET_H
#define QN_MODEL_NET_H

#include "model/binder.h"
#include "model/hparams.h"
#include "tensor/graph.h"

/* Roles that a layer's weights may have; NULL: the architecture has none. */
typedef struct qn_net_layer {
    const qn_weight *attn_norm, *q, *k, *v, *o;
    const qn_weight *q_bias, *k_bias, *v_bias, *o_bias;
    const qn_weight *q_norm, *k_norm; /* of each head */
    const qn_weight *attn_post_norm;
    const qn_weight *ffn_norm, *gate, *up, *down;
    const qn_weight *gate_bias, *up_bias, *down_bias;
    const qn_weight *router, *gate_experts, *up_experts, *down_experts;
    const qn_weight *ffn_post_norm;
    uint32_t window;     /* tokens that attention sees; 0: all */
    const qn_rope *rope; /* NULL: none */
} qn_net_layer;

typedef struct qn_net qn_net;

/* An architecture: three short functions in arch/<name>.c. */
typedef struct qn_arch {
    const char *name; /* general.architecture */
    /* Keys of its own that it reads, after "<arch>.", NULL at the end; NULL: none. Other keys that would change the
     * model are refused (keys.c). */
    const char *const *keys;
    /* What is special about its hyper-parameters. */
    qn_status (*read)(const qn_gguf *g, qn_hparams *hp, qn_error *err);
    /* Asks for the weights; sets each layer's window and rope. */
    void (*bind)(qn_net *net, qn_binder *b);
    /* Emits the op list, from token to logits. */
    void (*build)(const qn_net *net, qn_graph *g);
} qn_arch;

struct qn_net {
    const qn_arch *arch;
    qn_hparams hp;
    uint32_t n_vocab; /* tokens, and so logits */
    uint32_t n_rows;  /* of the embedding matrix; those beyond n_vocab stand for no token and are left alone */
    const qn_weight *token_embd, *output_norm, *output;
    const qn_weight *rope_factors; /* F32, divides the frequencies (Llama 3); NULL: none */
    qn_net_layer *layers;          /* hp.n_layers */
    qn_rope rope, rope_local;      /* of full and of windowed layers */
    qn_weight *weights;            /* one for each tensor of the file */
    qn_budget *budget;
};

/* NULL: not known. */
const qn_arch *qn_arch_find(qn_str name);
/* Names of all architectures, NULL at the end. */
const qn_arch *const *qn_arch_list(void);

/* g must outlive the net. QN_EUNSUPPORTED, QN_EFORMAT, QN_ENOTFOUND name the key or tensor; QN_ENOMEM. */
qn_status qn_net_open(const qn_gguf *g, qn_budget *b, qn_net **out, qn_error *err);
void qn_net_close(qn_net *net);

/* How this net's KV lies in pages of page_tokens tokens. kv->layers is for qn_free(). */
qn_status qn_net_kv_layout(const qn_net *net, qn_type type, uint32_t page_tokens, qn_kv_layout *kv, qn_error *err);
/* The op list. g was made by qn_graph_init() with the layout of qn_net_kv_layout(). */
qn_status qn_net_build(const qn_net *net, qn_graph *g, qn_error *err);
/* Which weight types the net uses, for the kernels' self-check. */
void qn_net_types(const qn_net *net, bool used[QN_TYPE_COUNT]);

/* Weights that a token is multiplied with in the layers (of experts those in use) and in the output matrix. */
void qn_net_count_weights(const qn_net *net, uint64_t *body, uint64_t *head);
/* The type that holds most of the layers' weights, and the longest row of it. */
qn_type qn_net_main_type(const qn_net *net, uint32_t *n_in);

/* ---- rope.c ---------------------------------------------------------------------------------------- */

/* Frequencies for n_rot elements: base^(-2i / n_rot), stretched as hp says (unless plain), divided by factors (if any).
 * YaRN: Peng et al. 2023, equations 13-25. Memory comes from b; for qn_rope_free(). */
qn_status qn_rope_init(qn_rope *r, const qn_hparams *hp, float freq_base, bool neox, bool plain,
                       const qn_weight *factors, qn_budget *b, qn_error *err);
void qn_rope_free(qn_rope *r);

/* ---- blocks.c: what the architectures share --------------------------------------------------------- */

/* Requests that nearly every layer makes: attn_norm, attn_{q,k,v,output} with their optional biases; and
 * ffn_norm, ffn_{gate,up,down} with theirs. */
void qn_bind_attention(qn_net *net, qn_binder *b, qn_net_layer *l);
void qn_bind_ffn(qn_net *net, qn_binder *b, qn_net_layer *l);
void qn_bind_experts(qn_net *net, qn_binder *b, qn_net_layer *l);
/* token_embd, output_norm, output (or the embedding again when the file ties them). */
void qn_bind_ends(qn_net *net, qn_binder *b);

/* Attention of layer i on the normalised input: products, biases, head norms, rope, KV, output product, post norm. */
qn_val qn_block_attention(const qn_net *net, qn_graph *g, uint32_t i, qn_val x);
/* Feed-forward of layer i on the normalised input, dense or with experts, and post norm. */
qn_val qn_block_ffn(const qn_net *net, qn_graph *g, uint32_t i, qn_act_kind act, qn_val x);
/* x + attention(norm(x)), then x + ffn(norm(x)): the layers of all architectures here. */
qn_val qn_block_layers(const qn_net *net, qn_graph *g, qn_act_kind act, qn_val x);
/* Picks the wanted rows, normalises, multiplies with the output matrix, caps. */
void qn_block_head(const qn_net *net, qn_graph *g, qn_val x);

#endif
