/* Qwen 2 and 2.5: biases on Q, K and V. SPDX-License-Identifier: MIT */
#include "model/arch/archs.h"

static qn_status read(const qn_gguf *g, qn_hparams *hp, qn_error *err)
{
    (void)g;
    (void)err;
    hp->window = 0; /* the published models state one and do not use it */
    return QN_OK;
}

static void bind(qn_net *net, qn_binder *b)
{
    net->rope.neox = true;
    for (uint32_t i = 0; i < net->hp.n_layers; i++) {
        qn_net_layer *l = &net->layers[i];
        b->i_layer = (int32_t)i;
        qn_bind_attention(net, b, l);
        qn_bind_ffn(net, b, l);
        l->rope = &net->rope;
    }
}

static void build(const qn_net *net, qn_graph *g)
{
    qn_val x = qn_graph_embed(g, "embd", net->token_embd);
    x = qn_block_layers(net, g, QN_SILU, x);
    qn_block_head(net, g, x);
}

const qn_arch qn_arch_qwen2 = {"qwen2", NULL, read, bind, build};
