/* Finding a model's tensors by name and shape. Requests are made in any order; a first failure sticks. At the end every
 * tensor of the file must have been asked for: a tensor that nobody uses means a model that we would run wrongly.
 * SPDX-License-Identifier: MIT */
#ifndef QN_MODEL_BINDER_H
#define QN_MODEL_BINDER_H

#include "gguf/gguf.h"
#include "tensor/weight.h"

typedef struct qn_binder {
    const qn_gguf *gguf;
    qn_weight *weights; /* one for each tensor of the file, by its index; name.data NULL: not asked for */
    int32_t i_layer;    /* names start with "blk.<i>."; -1: with nothing */
    qn_status status;
    qn_error error;
} qn_binder;

/* weights: room for qn_gguf_n_tensors() entries, zeroed. */
void qn_binder_init(qn_binder *b, const qn_gguf *g, qn_weight *weights);

/* "<name>.weight" of n_in x n_out. Fails when it is missing or shaped otherwise. */
const qn_weight *qn_bind_matrix(qn_binder *b, const char *name, uint32_t n_in, uint32_t n_out);
/* The same, NULL when the file has none. */
const qn_weight *qn_bind_matrix_if(qn_binder *b, const char *name, uint32_t n_in, uint32_t n_out);
/* The first n_used rows of a matrix of n_out. */
const qn_weight *qn_bind_rows(qn_binder *b, const char *name, uint32_t n_in, uint32_t n_out, uint32_t n_used);
const qn_weight *qn_bind_rows_if(qn_binder *b, const char *name, uint32_t n_in, uint32_t n_out, uint32_t n_used);
/* n_mats matrices in one tensor (experts). */
const qn_weight *qn_bind_matrices(qn_binder *b, const char *name, uint32_t n_in, uint32_t n_out, uint32_t n_mats);
/* "<name>.weight" (norms) or "<name>.bias" of n floats of type F32. */
const qn_weight *qn_bind_vector(qn_binder *b, const char *name, uint32_t n);
const qn_weight *qn_bind_vector_if(qn_binder *b, const char *name, uint32_t n);
const qn_weight *qn_bind_bias_if(qn_binder *b, const char *name, uint32_t n);

/* The sticky status, or QN_EUNSUPPORTED naming a tensor that was not asked for. */
qn_status qn_binder_finish(qn_binder *b, qn_error *err);

#endif
