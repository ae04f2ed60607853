/* Gemma 2: every second layer sees a window; soft caps on scores and logits. Also what Gemma 3 shares with it.
 * SPDX-License-Identifier: MIT */
#include "model/arch/archs.h"

#include <math.h>
#include <stdio.h>

#define GEMMA2_27B_LAYERS 46

qn_status qn_gemma_read_pattern(const qn_gguf *g, qn_hparams *hp, qn_error *err)
{
    char key[96];
    snprintf(key, sizeof(key), "%s.attention.sliding_window_pattern", hp->arch);
    const qn_gguf_kv *kv = qn_gguf_find(g, key);
    if (kv == NULL) {
        return QN_OK;
    }
    if (kv->type != QN_GGUF_ARRAY) {
        return qn_gguf_get_u32(g, key, &hp->window_pattern, err);
    }
    /* Flags: true where the layer has a window. The first false one gives the period; the others must repeat it. */
    uint64_t period = 0, flag;
    if (kv->n_items != hp->n_layers) {
        return qn_fail(err, QN_EFORMAT, "%s: a list of %llu for %u layers", key, (unsigned long long)kv->n_items,
                       hp->n_layers);
    }
    for (uint64_t i = 0; i < kv->n_items; i++) {
        if (!qn_gguf_item_u64(kv, i, &flag)) {
            return qn_fail(err, QN_EFORMAT, "%s: not an array of flags", key);
        }
        period = flag == 0 && period == 0 ? i + 1 : period;
        if (period != 0 && (flag == 0) != ((i + 1) % period == 0)) {
            return qn_fail(err, QN_EUNSUPPORTED, "%s: layer %llu breaks the period of %llu", key, (unsigned long long)i,
                           (unsigned long long)period);
        }
    }
    hp->window_pattern = (uint32_t)period;
    return QN_OK;
}

void qn_gemma_bind_layer(qn_net *net, qn_binder *b, qn_net_layer *l)
{
    qn_bind_attention(net, b, l);
    qn_bind_ffn(net, b, l);
    l->attn_post_norm = qn_bind_vector(b, "post_attention_norm", net->hp.n_embd);
    l->ffn_post_norm = qn_bind_vector(b, "post_ffw_norm", net->hp.n_embd);
}

void qn_gemma_build(const qn_net *net, qn_graph *g)
{
    qn_val x = qn_graph_embed(g, "embd", net->token_embd);
    x = qn_graph_scale(g, "embd_scaled", x, sqrtf((float)net->hp.n_embd));
    x = qn_block_layers(net, g, QN_GELU_TANH, x);
    qn_block_head(net, g, x);
}

/* The first files of these models do not state them; every published one has these values. */
#define GEMMA2_WINDOW 4096
#define GEMMA2_ATTN_SOFTCAP 50.0f
#define GEMMA2_FINAL_SOFTCAP 30.0f

static bool is_stated(const qn_gguf *g, const char *name)
{
    char key[96];
    snprintf(key, sizeof(key), "gemma2.%s", name);
    return qn_gguf_find(g, key) != NULL;
}

static qn_status read(const qn_gguf *g, qn_hparams *hp, qn_error *err)
{
    hp->window_pattern = 2;
    hp->window = is_stated(g, "attention.sliding_window") ? hp->window : GEMMA2_WINDOW;
    hp->attn_softcap = is_stated(g, "attn_logit_softcapping") ? hp->attn_softcap : GEMMA2_ATTN_SOFTCAP;
    hp->final_softcap = is_stated(g, "final_logit_softcapping") ? hp->final_softcap : GEMMA2_FINAL_SOFTCAP;
    if (hp->n_layers == GEMMA2_27B_LAYERS && hp->attn_scale == 0.0f) {
        /* The 27B model scales queries by the width of a head if heads filled the embedding. Files do not say so. */
        hp->attn_scale = 1.0f / sqrtf((float)hp->n_embd / (float)hp->n_heads);
    }
    return qn_gemma_read_pattern(g, hp, err);
}

static void bind(qn_net *net, qn_binder *b)
{
    uint32_t pattern = net->hp.window_pattern;
    net->rope.neox = true;
    for (uint32_t i = 0; i < net->hp.n_layers; i++) {
        qn_net_layer *l = &net->layers[i];
        b->i_layer = (int32_t)i;
        qn_gemma_bind_layer(net, b, l);
        l->window = pattern == 0 || (i + 1) % pattern != 0 ? net->hp.window : 0;
        l->rope = &net->rope;
    }
}

static const char *const keys[] = {"attention.sliding_window_pattern", NULL};

const qn_arch qn_arch_gemma2 = {"gemma2", keys, read, bind, qn_gemma_build};
