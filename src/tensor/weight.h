/* A weight as the rest of the engine sees it: a named stack of matrices in some block format. Who holds the bytes is
 * the backend's business (qn_backend_ops.prepare); the CPU uses the rows as they lie in the mapped file.
 * SPDX-License-Identifier: MIT */
#ifndef QN_TENSOR_WEIGHT_H
#define QN_TENSOR_WEIGHT_H

#include "base/str.h"
#include "quant/quant.h"

typedef struct qn_weight {
    qn_str name;
    qn_type type;
    uint32_t n_in;       /* elements of a row */
    uint32_t n_out;      /* rows of a matrix; 1 for a vector */
    uint32_t n_mats;     /* matrices (experts); 1 for the common case */
    uint64_t row_bytes;  /* of one row */
    const uint8_t *data; /* n_mats * n_out rows, one after the other */
} qn_weight;

#endif
