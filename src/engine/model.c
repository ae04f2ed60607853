/* Opening a model file. SPDX-License-Identifier: MIT */
#include "engine/guide_int.h"

#include "backend/cpu/selfcheck.h"

void qn_model_options_init(qn_model_options *o)
{
    *o = (qn_model_options){0};
}

static void copy_str(char *out, size_t cap, qn_str s)
{
    size_t n = s.len < cap - 1 ? s.len : cap - 1;
    memcpy(out, s.data, n);
    out[n] = '\0';
}

static void copy_file_name(char *out, size_t cap, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    size_t len = strlen(name);
    copy_str(out, cap, qn_str_of(len < cap ? name : name + (len - cap + 1)));
}

static size_t longest_piece(const qn_tokenizer *t)
{
    size_t longest = 0;
    for (uint32_t id = 0; id < qn_tokenizer_n_vocab(t); id++) {
        size_t len = qn_tokenizer_piece(t, (int32_t)id).len;
        longest = len > longest ? len : longest;
    }
    return longest;
}

/* What comes after opening the file: its errors are about the file's content. */
static qn_status load_content(qn_model *m, const qn_model_options *o, qn_error *err)
{
    qn_str s;
    if (qn_gguf_get_str(m->gguf, "general.name", &s, NULL) == QN_OK) {
        copy_str(m->name, sizeof(m->name), s);
    }
    if (qn_gguf_get_str(m->gguf, "general.architecture", &s, NULL) == QN_OK) {
        copy_str(m->arch, sizeof(m->arch), s);
    }
    QN_TRY(qn_tokenizer_open(m->gguf, m->rt->budget, &m->tokenizer, err));
    m->longest_piece = longest_piece(m->tokenizer);
    QN_TRY(qn_guide_vocab_open(m->rt->budget, &m->guide_vocab, err));
    if (o->vocab_only) {
        return QN_OK;
    }
    if (qn_gguf_n_tensors(m->gguf) == 0) {
        return qn_fail(err, QN_EFORMAT, "the file has a vocabulary but no tensors");
    }
    return qn_net_open(m->gguf, m->rt->budget, &m->net, err);
}

/* A vocabulary is a small part of the file, so that is neither read nor kept whole for it. */
static qn_status open_file(qn_model *m, const char *path, const qn_model_options *o, qn_error *err)
{
    bool is_used = !o->vocab_only && !o->skip_self_check;
    qn_gguf_loading how = {.read = o->no_mmap && !o->vocab_only,
                           .fetch = is_used && !o->mlock,
                           .progress = o->progress,
                           .ctx = o->progress_ctx};
    m->is_mapped = !how.read;
    QN_TRY(qn_gguf_load(path, &how, m->rt->budget, &m->gguf, err));
    if (!o->mlock || o->vocab_only) {
        return QN_OK;
    }
    qn_status status = qn_gguf_lock(m->gguf, err);
    return status == QN_OK ? QN_OK : qn_gguf_name_file(path, status, err);
}

static qn_status load(qn_model *m, const char *path, const qn_model_options *o, qn_error *err)
{
    copy_file_name(m->file, sizeof(m->file), path);
    QN_TRY(open_file(m, path, o, err));
    qn_status status = load_content(m, o, err);
    if (qn_gguf_damaged(m->gguf)) { /* whatever else was found wrong follows from that */
        status = qn_fail(err, QN_EDAMAGED, "the file was cut short while it was read");
    }
    if (status != QN_OK) {
        return qn_gguf_name_file(path, status, err);
    }
    if (m->net != NULL && !o->skip_self_check) {
        bool used[QN_TYPE_COUNT];
        qn_net_types(m->net, used);
        return qn_kernels_self_check(&m->rt->kernels, used, err);
    }
    return QN_OK;
}

qn_status qn_model_open(qn_runtime *rt, const char *path, const qn_model_options *o, qn_model **out, qn_error *err)
{
    const qn_model_options none = {0};
    QN_NEED(rt, err);
    QN_NEED(path, err);
    QN_NEED(out, err);
    qn_model *m = qn_zalloc(rt->budget, "model", sizeof(*m));
    if (m == NULL) {
        return qn_blame_ceiling(rt->budget, qn_fail(err, QN_ENOMEM, "no memory for the model"), err);
    }
    m->rt = rt;
    qn_status status = load(m, path, o == NULL ? &none : o, err);
    if (status != QN_OK) {
        qn_model_close(m);
        return qn_blame_ceiling(rt->budget, status, err);
    }
    *out = m;
    return QN_OK;
}

void qn_model_close(qn_model *m)
{
    if (m == NULL) {
        return;
    }
    qn_guide_vocab_close(m->guide_vocab);
    qn_net_close(m->net);
    qn_tokenizer_close(m->tokenizer);
    qn_gguf_close(m->gguf);
    qn_free(m);
}

void qn_model_get_info(const qn_model *m, qn_model_info *out)
{
    *out = (qn_model_info){
        .architecture = m->arch,
        .name = m->name,
        .n_vocab = m->net != NULL ? m->net->n_vocab : qn_tokenizer_n_vocab(m->tokenizer),
        .file_bytes = qn_gguf_file_bytes(m->gguf),
        .bos = qn_tokenizer_bos(m->tokenizer),
        .eos = qn_tokenizer_eos(m->tokenizer),
        .adds_bos = qn_tokenizer_adds_bos(m->tokenizer),
    };
    for (size_t i = 0; i < qn_gguf_n_tensors(m->gguf); i++) {
        const qn_gguf_tensor *t = qn_gguf_tensor_at(m->gguf, i);
        out->n_params += t->ne[0] * t->ne[1] * t->ne[2] * t->ne[3];
        out->weight_bytes += t->bytes;
    }
    if (m->net != NULL) {
        out->n_ctx_train = m->net->hp.n_ctx_train;
        out->n_embd = m->net->hp.n_embd;
        out->n_layers = m->net->hp.n_layers;
        qn_net_count_weights(m->net, &out->body_weights, &out->head_weights);
    }
}
