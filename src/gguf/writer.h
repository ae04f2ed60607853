/* What the two halves of the writer share. Private to src/gguf.
 * SPDX-License-Identifier: MIT */
#ifndef QN_GGUF_WRITER_H
#define QN_GGUF_WRITER_H

#include "base/buf.h"
#include "gguf/gguf_int.h"

typedef struct qn_gguf_span {
    const void *data;
    size_t n_bytes;
} qn_gguf_span;

struct qn_gguf_writer {
    qn_budget *budget;
    uint32_t alignment;
    bool has_alignment; /* the key general.alignment is among the metadata */
    qn_error error;     /* the first fault; code QN_OK: none */
    qn_buf meta;        /* the metadata section */
    qn_buf infos;       /* the tensor descriptions */
    uint64_t n_kv;
    qn_gguf_span *spans; /* of each tensor */
    size_t n_spans, spans_cap;
    uint64_t data_bytes; /* of the data section so far, padding included */
};

#endif
