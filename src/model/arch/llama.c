/* Llama 2 and 3, SmolLM, Mistral, TinyLlama, and Mixtral (the same with experts). A window (Mistral 7B v0.1: every
 * layer has it) and soft caps are honoured when a file states them, though other programs pass over them.
 * SPDX-License-Identifier: MIT */
#include "model/arch/archs.h"

static qn_status read(const qn_gguf *g, qn_hparams *hp, qn_error *err)
{
    (void)g;
    (void)hp;
    (void)err;
    return QN_OK;
}

static void bind(qn_net *net, qn_binder *b)
{
    net->rope.neox = false; /* converters reorder Q and K so that pairs stand together */
    net->rope_factors = qn_bind_vector_if(b, "rope_freqs", net->hp.n_rot / 2);
    for (uint32_t i = 0; i < net->hp.n_layers; i++) {
        qn_net_layer *l = &net->layers[i];
        b->i_layer = (int32_t)i;
        qn_bind_attention(net, b, l);
        if (net->hp.n_experts != 0) {
            qn_bind_experts(net, b, l);
        } else {
            qn_bind_ffn(net, b, l);
        }
        l->window = net->hp.window;
        l->rope = &net->rope;
    }
}

static void build(const qn_net *net, qn_graph *g)
{
    qn_val x = qn_graph_embed(g, "embd", net->token_embd);
    x = qn_block_layers(net, g, QN_SILU, x);
    qn_block_head(net, g, x);
}

const qn_arch qn_arch_llama = {"llama", NULL, read, bind, build};
