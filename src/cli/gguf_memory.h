/* How much memory the model in a GGUF file needs, told from its metadata alone. SPDX-License-Identifier: MIT */
#ifndef QN_CLI_GGUF_MEMORY_H
#define QN_CLI_GGUF_MEMORY_H

#include "gguf/gguf.h"

#include "quern/quern.h"

typedef struct qn_memory_need {
    uint64_t weight_bytes, n_params;
    uint64_t n_tensors_of[QN_TYPE_COUNT], bytes_of[QN_TYPE_COUNT]; /* by type */
    /* Keys and values of the whole context in every layer; more than is needed where layers have sliding windows. */
    bool kv_known;
    uint64_t kv_bytes;
} qn_memory_need;

void qn_memory_estimate(const qn_gguf *g, uint32_t n_ctx, const qn_session_options *kv, qn_memory_need *out);

/* What the model was trained for; 0: the file does not say. */
uint32_t qn_memory_trained_context(const qn_gguf *g);

/* Bytes of weights that one decoded token reads: all but the embedding table, of which it reads a row, unless the
 * output uses that table too. */
uint64_t qn_memory_read_per_token(const qn_gguf *g);

#endif
