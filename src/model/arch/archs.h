/* Every architecture's entry. SPDX-License-Identifier: MIT */
#ifndef QN_MODEL_ARCH_ARCHS_H
#define QN_MODEL_ARCH_ARCHS_H

#include "model/net.h"

extern const qn_arch qn_arch_llama, qn_arch_qwen2, qn_arch_qwen3, qn_arch_gemma2, qn_arch_gemma3;

/* Gemma 2 and 3 share most: scaled embeddings, norms after each block, GELU. */
void qn_gemma_bind_layer(qn_net *net, qn_binder *b, qn_net_layer *l);
void qn_gemma_build(const qn_net *net, qn_graph *g);
/* "attention.sliding_window_pattern": a period, or one flag a layer of which the period is taken. */
qn_status qn_gemma_read_pattern(const qn_gguf *g, qn_hparams *hp, qn_error *err);

#endif
