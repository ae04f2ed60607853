/* Loading a network. SPDX-License-Identifier: MIT */
#include "model/net.h"

#include "base/log.h"

#include <stdio.h>

void qn_net_close(qn_net *net)
{
    if (net == NULL) {
        return;
    }
    qn_rope_free(&net->rope);
    qn_rope_free(&net->rope_local);
    qn_free(net->layers);
    qn_free(net->weights);
    qn_free(net);
}

static qn_status find_vocab(const qn_gguf *g, qn_net *net, qn_error *err)
{
    const qn_gguf_tensor *t = qn_gguf_find_tensor(g, "token_embd.weight");
    if (t == NULL) {
        return qn_fail(err, QN_ENOTFOUND, "tensor 'token_embd.weight': missing");
    }
    if (t->ne[1] > INT32_MAX) {
        return qn_fail(err, QN_EFORMAT, "tensor 'token_embd.weight': %llu rows", (unsigned long long)t->ne[1]);
    }
    net->n_vocab = net->n_rows = (uint32_t)t->ne[1];
    const qn_gguf_kv *tokens = qn_gguf_find(g, "tokenizer.ggml.tokens");
    if (tokens == NULL || tokens->type != QN_GGUF_ARRAY || tokens->n_items == 0) {
        return QN_OK; /* judged where tokens are needed */
    }
    if (tokens->n_items > net->n_rows) {
        return qn_fail(err, QN_EFORMAT, "tokenizer.ggml.tokens: %llu tokens, but token_embd.weight has %u rows",
                       (unsigned long long)tokens->n_items, net->n_rows);
    }
    net->n_vocab = (uint32_t)tokens->n_items;
    if (net->n_vocab < net->n_rows) {
        qn_log(QN_LOG_WARN,
               "tokenizer.ggml.tokens: %u tokens for the %u rows of token_embd.weight; the others are not used",
               net->n_vocab, net->n_rows);
    }
    return QN_OK;
}

static qn_status unknown_arch(qn_str arch, qn_error *err)
{
    char known[128] = "";
    const qn_arch *const *list = qn_arch_list();
    for (size_t i = 0, used = 0; list[i] != NULL && used < sizeof(known); i++) {
        used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s", i > 0 ? ", " : "", list[i]->name);
    }
    return qn_fail(err, QN_EUNSUPPORTED, "general.architecture: '%.*s' is not known; known: %s", QN_STR_ARG(arch),
                   known);
}

static qn_status load(qn_net *net, const qn_gguf *g, qn_error *err)
{
    qn_str arch;
    QN_TRY(qn_gguf_get_str(g, "general.architecture", &arch, err));
    net->arch = qn_arch_find(arch);
    if (net->arch == NULL) {
        return unknown_arch(arch, err);
    }
    QN_TRY(qn_hparams_read(g, &net->hp, err));
    QN_TRY(net->arch->read(g, &net->hp, err));
    QN_TRY(qn_keys_check(g, &net->hp, net->arch->keys, err));
    QN_TRY(find_vocab(g, net, err));
    net->layers = qn_zalloc_array(net->budget, "weights", net->hp.n_layers, sizeof(*net->layers));
    net->weights = qn_zalloc_array(net->budget, "weights", qn_gguf_n_tensors(g), sizeof(*net->weights));
    if (net->layers == NULL || net->weights == NULL) {
        return qn_fail(err, QN_ENOMEM, "no memory for the weight table");
    }
    qn_binder b;
    qn_binder_init(&b, g, net->weights);
    qn_bind_ends(net, &b);
    net->arch->bind(net, &b);
    return qn_binder_finish(&b, err);
}

/* The rotary settings depend on a bound weight (the factors), so they come last; layers already point at them. */
static qn_status init_ropes(qn_net *net, qn_error *err)
{
    const qn_hparams *hp = &net->hp;
    bool neox = net->rope.neox;
    QN_TRY(qn_rope_init(&net->rope, hp, hp->freq_base, neox, false, net->rope_factors, net->budget, err));
    return qn_rope_init(&net->rope_local, hp, hp->freq_base_local, neox, true, net->rope_factors, net->budget, err);
}

qn_status qn_net_open(const qn_gguf *g, qn_budget *b, qn_net **out, qn_error *err)
{
    qn_net *net = qn_zalloc(b, "weights", sizeof(*net));
    if (net == NULL) {
        return qn_fail(err, QN_ENOMEM, "no memory for the model");
    }
    net->budget = b;
    qn_status status = load(net, g, err);
    if (status == QN_OK) {
        status = init_ropes(net, err);
    }
    if (status != QN_OK) {
        qn_net_close(net);
        return status;
    }
    *out = net;
    return QN_OK;
}

qn_status qn_net_kv_layout(const qn_net *net, qn_type type, uint32_t page_tokens, qn_kv_layout *kv, qn_error *err)
{
    *kv = (qn_kv_layout){.type = type, .page_tokens = page_tokens, .n_layers = net->hp.n_layers};
    kv->layers = qn_zalloc_array(net->budget, "kv", kv->n_layers, sizeof(*kv->layers));
    if (kv->layers == NULL) {
        return qn_fail(err, QN_ENOMEM, "no memory for the KV layout");
    }
    for (uint32_t i = 0; i < kv->n_layers; i++) {
        kv->layers[i] = (qn_kv_layer){.window = net->layers[i].window,
                                      .n_heads = net->hp.n_kv_heads,
                                      .head_dim = net->hp.head_dim,
                                      .v_dim = net->hp.v_dim};
    }
    qn_status status = qn_kv_layout_plan(kv, err);
    if (status != QN_OK) {
        qn_free(kv->layers);
        kv->layers = NULL;
    }
    return status;
}

qn_status qn_net_build(const qn_net *net, qn_graph *g, qn_error *err)
{
    net->arch->build(net, g);
    return qn_graph_status(g, err);
}

/* Calls fn with every matrix of the layers. */
static void each_matrix(const qn_net *net, void (*fn)(void *ctx, const qn_weight *w), void *ctx)
{
    for (uint32_t i = 0; i < net->hp.n_layers; i++) {
        const qn_net_layer *l = &net->layers[i];
        const qn_weight *const all[] = {
            l->q,          l->k,           l->v, l->o, l->gate, l->up, l->down, l->router, l->gate_experts,
            l->up_experts, l->down_experts};
        for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++) {
            if (all[k] != NULL) {
                fn(ctx, all[k]);
            }
        }
    }
}

static void mark_type(void *ctx, const qn_weight *w)
{
    ((bool *)ctx)[w->type] = true;
}

void qn_net_types(const qn_net *net, bool used[QN_TYPE_COUNT])
{
    memset(used, 0, sizeof(bool) * QN_TYPE_COUNT);
    used[net->token_embd->type] = used[net->output->type] = true;
    each_matrix(net, mark_type, used);
}

typedef struct tally {
    uint32_t n_experts_used;
    uint64_t total, of_type[QN_TYPE_COUNT];
    uint32_t n_in[QN_TYPE_COUNT];
} tally;

static void add_weights(void *ctx, const qn_weight *w)
{
    tally *t = ctx;
    uint64_t n = (uint64_t)w->n_in * w->n_out * (w->n_mats > 1 ? t->n_experts_used : 1);
    t->total += n;
    t->of_type[w->type] += n;
    t->n_in[w->type] = w->n_in > t->n_in[w->type] ? w->n_in : t->n_in[w->type];
}

void qn_net_count_weights(const qn_net *net, uint64_t *body, uint64_t *head)
{
    tally t = {.n_experts_used = net->hp.n_experts_used};
    each_matrix(net, add_weights, &t);
    *body = t.total;
    *head = (uint64_t)net->output->n_in * net->output->n_out;
}

qn_type qn_net_main_type(const qn_net *net, uint32_t *n_in)
{
    tally t = {.n_experts_used = net->hp.n_experts_used};
    each_matrix(net, add_weights, &t);
    uint32_t best = 0;
    for (uint32_t i = 1; i < QN_TYPE_COUNT; i++) {
        best = t.of_type[i] > t.of_type[best] ? i : best;
    }
    *n_in = t.n_in[best];
    return (qn_type)best;
}
