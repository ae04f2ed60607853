/* Tensor binding. SPDX-License-Identifier: MIT */
#include "model/binder.h"

#include <stdio.h>

void qn_binder_init(qn_binder *b, const qn_gguf *g, qn_weight *weights)
{
    *b = (qn_binder){.gguf = g, .weights = weights, .i_layer = -1};
}

/* Integers and doubles have decoders, for tables, but no model's weights are of these types. */
static bool holds_weights(qn_type t)
{
    return t != QN_TYPE_I8 && t != QN_TYPE_I16 && t != QN_TYPE_I32 && t != QN_TYPE_I64 && t != QN_TYPE_F64;
}

static qn_weight *bind(qn_binder *b, const char *name, const char *suffix, uint32_t n_in, uint32_t n_out,
                       uint32_t n_mats, bool is_vector, bool optional)
{
    char full[QN_GGUF_MAX_NAME];
    if (b->status != QN_OK) {
        return NULL;
    }
    if (b->i_layer >= 0) {
        snprintf(full, sizeof(full), "blk.%d.%s.%s", b->i_layer, name, suffix);
    } else {
        snprintf(full, sizeof(full), "%s.%s", name, suffix);
    }
    const qn_gguf_tensor *t = qn_gguf_find_tensor(b->gguf, full);
    if (t == NULL) {
        if (!optional) {
            b->status = qn_fail(&b->error, QN_ENOTFOUND, "tensor '%s': missing", full);
        }
        return NULL;
    }
    if (t->ne[0] != n_in || t->ne[1] != n_out || t->ne[2] != n_mats || t->ne[3] != 1) {
        b->status = qn_fail(&b->error, QN_EFORMAT, "tensor '%s': shape %llu x %llu x %llu, expected %u x %u x %u", full,
                            (unsigned long long)t->ne[0], (unsigned long long)t->ne[1], (unsigned long long)t->ne[2],
                            n_in, n_out, n_mats);
        return NULL;
    }
    if (!holds_weights(t->type)) {
        b->status = qn_fail(&b->error, QN_EUNSUPPORTED, "tensor '%s': type %s is not one for weights", full,
                            qn_type_name(t->type));
        return NULL;
    }
    if (is_vector && (t->type != QN_TYPE_F32 || (uintptr_t)t->data % sizeof(float) != 0)) {
        b->status = qn_fail(&b->error, QN_EUNSUPPORTED, "tensor '%s': type %s%s, expected aligned F32", full,
                            qn_type_name(t->type), t->type == QN_TYPE_F32 ? " at an odd offset" : "");
        return NULL;
    }
    qn_weight *w = &b->weights[t - qn_gguf_tensor_at(b->gguf, 0)];
    *w = (qn_weight){.name = t->name,
                     .type = t->type,
                     .n_in = n_in,
                     .n_out = n_out,
                     .n_mats = n_mats,
                     .row_bytes = t->row_bytes,
                     .data = t->data};
    return w;
}

const qn_weight *qn_bind_matrix(qn_binder *b, const char *name, uint32_t n_in, uint32_t n_out)
{
    return bind(b, name, "weight", n_in, n_out, 1, false, false);
}

const qn_weight *qn_bind_matrix_if(qn_binder *b, const char *name, uint32_t n_in, uint32_t n_out)
{
    return bind(b, name, "weight", n_in, n_out, 1, false, true);
}

/* Rows lie one after the other, so a matrix's beginning is a matrix. */
static const qn_weight *cut(qn_weight *w, uint32_t n_used)
{
    if (w != NULL) {
        w->n_out = n_used;
    }
    return w;
}

const qn_weight *qn_bind_rows(qn_binder *b, const char *name, uint32_t n_in, uint32_t n_out, uint32_t n_used)
{
    return cut(bind(b, name, "weight", n_in, n_out, 1, false, false), n_used);
}

const qn_weight *qn_bind_rows_if(qn_binder *b, const char *name, uint32_t n_in, uint32_t n_out, uint32_t n_used)
{
    return cut(bind(b, name, "weight", n_in, n_out, 1, false, true), n_used);
}

const qn_weight *qn_bind_matrices(qn_binder *b, const char *name, uint32_t n_in, uint32_t n_out, uint32_t n_mats)
{
    return bind(b, name, "weight", n_in, n_out, n_mats, false, false);
}

const qn_weight *qn_bind_vector(qn_binder *b, const char *name, uint32_t n)
{
    return bind(b, name, "weight", n, 1, 1, true, false);
}

const qn_weight *qn_bind_vector_if(qn_binder *b, const char *name, uint32_t n)
{
    return bind(b, name, "weight", n, 1, 1, true, true);
}

const qn_weight *qn_bind_bias_if(qn_binder *b, const char *name, uint32_t n)
{
    return bind(b, name, "bias", n, 1, 1, true, true);
}

qn_status qn_binder_finish(qn_binder *b, qn_error *err)
{
    if (b->status != QN_OK) {
        if (err != NULL) {
            *err = b->error;
        }
        return b->status;
    }
    for (size_t i = 0; i < qn_gguf_n_tensors(b->gguf); i++) {
        const qn_gguf_tensor *t = qn_gguf_tensor_at(b->gguf, i);
        if (b->weights[i].name.data == NULL) {
            return qn_fail(err, QN_EUNSUPPORTED, "tensor '%.*s': this architecture has no use for it",
                           QN_STR_ARG(t->name));
        }
    }
    return QN_OK;
}
