/* The parts that transformer layers are made of. SPDX-License-Identifier: MIT */
#include "model/net.h"

#include <math.h>

void qn_bind_attention(qn_net *net, qn_binder *b, qn_net_layer *l)
{
    const qn_hparams *hp = &net->hp;
    uint32_t n_q = hp->n_heads * hp->head_dim, n_k = hp->n_kv_heads * hp->head_dim, n_v = hp->n_kv_heads * hp->v_dim;
    l->attn_norm = qn_bind_vector(b, "attn_norm", hp->n_embd);
    l->q = qn_bind_matrix(b, "attn_q", hp->n_embd, n_q);
    l->k = qn_bind_matrix(b, "attn_k", hp->n_embd, n_k);
    l->v = qn_bind_matrix(b, "attn_v", hp->n_embd, n_v);
    l->o = qn_bind_matrix(b, "attn_output", hp->n_heads * hp->v_dim, hp->n_embd);
    l->q_bias = qn_bind_bias_if(b, "attn_q", n_q);
    l->k_bias = qn_bind_bias_if(b, "attn_k", n_k);
    l->v_bias = qn_bind_bias_if(b, "attn_v", n_v);
    l->o_bias = qn_bind_bias_if(b, "attn_output", hp->n_embd);
}

void qn_bind_ffn(qn_net *net, qn_binder *b, qn_net_layer *l)
{
    const qn_hparams *hp = &net->hp;
    l->ffn_norm = qn_bind_vector(b, "ffn_norm", hp->n_embd);
    l->gate = qn_bind_matrix(b, "ffn_gate", hp->n_embd, hp->n_ff);
    l->up = qn_bind_matrix(b, "ffn_up", hp->n_embd, hp->n_ff);
    l->down = qn_bind_matrix(b, "ffn_down", hp->n_ff, hp->n_embd);
    l->gate_bias = qn_bind_bias_if(b, "ffn_gate", hp->n_ff);
    l->up_bias = qn_bind_bias_if(b, "ffn_up", hp->n_ff);
    l->down_bias = qn_bind_bias_if(b, "ffn_down", hp->n_embd);
}

void qn_bind_experts(qn_net *net, qn_binder *b, qn_net_layer *l)
{
    const qn_hparams *hp = &net->hp;
    l->ffn_norm = qn_bind_vector(b, "ffn_norm", hp->n_embd);
    l->router = qn_bind_matrix(b, "ffn_gate_inp", hp->n_embd, hp->n_experts);
    l->gate_experts = qn_bind_matrices(b, "ffn_gate_exps", hp->n_embd, hp->n_ff, hp->n_experts);
    l->up_experts = qn_bind_matrices(b, "ffn_up_exps", hp->n_embd, hp->n_ff, hp->n_experts);
    l->down_experts = qn_bind_matrices(b, "ffn_down_exps", hp->n_ff, hp->n_embd, hp->n_experts);
}

void qn_bind_ends(qn_net *net, qn_binder *b)
{
    net->token_embd = qn_bind_rows(b, "token_embd", net->hp.n_embd, net->n_rows, net->n_vocab);
    net->output_norm = qn_bind_vector(b, "output_norm", net->hp.n_embd);
    net->output = qn_bind_rows_if(b, "output", net->hp.n_embd, net->n_rows, net->n_vocab);
    if (net->output == NULL) {
        net->output = net->token_embd;
    }
}

qn_val qn_block_attention(const qn_net *net, qn_graph *g, uint32_t i, qn_val x)
{
    const qn_hparams *hp = &net->hp;
    const qn_net_layer *l = &net->layers[i];
    qn_val q = qn_graph_bias(g, "q", qn_graph_mul_mat(g, "q", l->q, x), l->q_bias);
    qn_val k = qn_graph_bias(g, "k", qn_graph_mul_mat(g, "k", l->k, x), l->k_bias);
    qn_val v = qn_graph_bias(g, "v", qn_graph_mul_mat(g, "v", l->v, x), l->v_bias);
    if (l->q_norm != NULL) {
        q = qn_graph_norm_heads(g, "q_norm", q, l->q_norm, hp->norm_eps, hp->head_dim);
        k = qn_graph_norm_heads(g, "k_norm", k, l->k_norm, hp->norm_eps, hp->head_dim);
    }
    if (l->rope != NULL) {
        q = qn_graph_rope(g, "q_rope", q, l->rope, hp->head_dim);
        k = qn_graph_rope(g, "k_rope", k, l->rope, hp->head_dim);
    }
    qn_graph_kv_write(g, i, k, v);
    float scale = hp->attn_scale != 0.0f ? hp->attn_scale : 1.0f / sqrtf((float)hp->head_dim);
    qn_val a = qn_graph_attention(
        g, "attn", q,
        &(qn_attention){.i_layer = i, .n_heads = hp->n_heads, .scale = scale, .softcap = hp->attn_softcap});
    a = qn_graph_bias(g, "attn_out", qn_graph_mul_mat(g, "attn_out", l->o, a), l->o_bias);
    return l->attn_post_norm == NULL ? a : qn_graph_norm(g, "attn_post", a, l->attn_post_norm, hp->norm_eps);
}

static qn_val dense_ffn(const qn_net_layer *l, qn_graph *g, qn_act_kind act, qn_val x)
{
    qn_val gate = qn_graph_bias(g, "gate", qn_graph_mul_mat(g, "gate", l->gate, x), l->gate_bias);
    qn_val up = qn_graph_bias(g, "up", qn_graph_mul_mat(g, "up", l->up, x), l->up_bias);
    qn_val h = qn_graph_act_mul(g, "ffn", act, gate, up);
    return qn_graph_bias(g, "down", qn_graph_mul_mat(g, "down", l->down, h), l->down_bias);
}

/* Each row goes to the experts of highest router logit; their shares are the softmax over the chosen ones. */
static qn_val expert_ffn(const qn_net *net, const qn_net_layer *l, qn_graph *g, qn_act_kind act, qn_val x)
{
    qn_val logits = qn_graph_mul_mat(g, "router", l->router, x);
    qn_val routing = qn_graph_route(g, "routing", logits, net->hp.n_experts_used, true);
    qn_val gate = qn_graph_mul_expert(g, "gate", l->gate_experts, x, routing);
    qn_val up = qn_graph_mul_expert(g, "up", l->up_experts, x, routing);
    qn_val h = qn_graph_act_mul(g, "ffn", act, gate, up);
    qn_val down = qn_graph_mul_expert(g, "down", l->down_experts, h, routing);
    return qn_graph_sum_expert(g, "experts", down, routing);
}

qn_val qn_block_ffn(const qn_net *net, qn_graph *g, uint32_t i, qn_act_kind act, qn_val x)
{
    const qn_net_layer *l = &net->layers[i];
    qn_val h = l->router == NULL ? dense_ffn(l, g, act, x) : expert_ffn(net, l, g, act, x);
    return l->ffn_post_norm == NULL ? h : qn_graph_norm(g, "ffn_post", h, l->ffn_post_norm, net->hp.norm_eps);
}

qn_val qn_block_layers(const qn_net *net, qn_graph *g, qn_act_kind act, qn_val x)
{
    for (uint32_t i = 0; i < net->hp.n_layers; i++) {
        const qn_net_layer *l = &net->layers[i];
        g->i_block = (int32_t)i;
        qn_val h = qn_graph_norm(g, "attn_norm", x, l->attn_norm, net->hp.norm_eps);
        x = qn_graph_add(g, "attn_sum", x, qn_block_attention(net, g, i, h));
        h = qn_graph_norm(g, "ffn_norm", x, l->ffn_norm, net->hp.norm_eps);
        x = qn_graph_add(g, "ffn_sum", x, qn_block_ffn(net, g, i, act, h));
    }
    g->i_block = -1;
    return x;
}

void qn_block_head(const qn_net *net, qn_graph *g, qn_val x)
{
    x = qn_graph_pick(g, "wanted", x);
    x = qn_graph_norm(g, "output_norm", x, net->output_norm, net->hp.norm_eps);
    x = qn_graph_mul_mat(g, "logits", net->output, x);
    qn_graph_softcap(g, "capped", x, net->hp.final_softcap);
}
