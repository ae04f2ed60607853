/* Gemma 3 (text): five windowed layers to one full layer, each kind with its own rotary base; norms on Q and K heads.
 * SPDX-License-Identifier: MIT */
#include "model/arch/archs.h"

#include <math.h>

#define GEMMA3_27B_LAYERS 62

static qn_status read(const qn_gguf *g, qn_hparams *hp, qn_error *err)
{
    hp->window_pattern = 6;
    hp->freq_base_local = 10000.0f;
    QN_TRY(qn_hparams_freq_base(g, hp, "rope.freq_base_swa", &hp->freq_base_local, err));
    if (hp->n_layers == GEMMA3_27B_LAYERS && hp->attn_scale == 0.0f) {
        hp->attn_scale = 1.0f / sqrtf((float)hp->n_embd / (float)hp->n_heads); /* as Gemma 2 27B */
    }
    return qn_gemma_read_pattern(g, hp, err);
}

static void bind(qn_net *net, qn_binder *b)
{
    uint32_t pattern = net->hp.window_pattern;
    net->rope.neox = true;
    for (uint32_t i = 0; i < net->hp.n_layers; i++) {
        qn_net_layer *l = &net->layers[i];
        bool local = net->hp.window != 0 && (pattern == 0 || (i + 1) % pattern != 0);
        b->i_layer = (int32_t)i;
        qn_gemma_bind_layer(net, b, l);
        l->q_norm = qn_bind_vector(b, "attn_q_norm", net->hp.head_dim);
        l->k_norm = qn_bind_vector(b, "attn_k_norm", net->hp.head_dim);
        l->window = local ? net->hp.window : 0;
        l->rope = local ? &net->rope_local : &net->rope;
    }
}

static const char *const keys[] = {"attention.sliding_window_pattern", "rope.freq_base_swa", NULL};

const qn_arch qn_arch_gemma3 = {"gemma3", keys, read, bind, qn_gemma_build};
