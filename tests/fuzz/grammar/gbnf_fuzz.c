/* Any bytes as GBNF: refused with a place, or compiled and walked.
 * SPDX-License-Identifier: MIT */
#include "walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    walk_open();
    uint64_t live = qn_alloc_live();
    qn_gx_builder b;
    qn_error err = {0};
    qn_gx_init(&b, NULL);
    qn_status status = qn_front_gbnf(&b, (qn_str){(const char *)data, n_bytes}, &err);
    walk(&b, status, &err, n_bytes);
    walk_must(qn_alloc_live() == live);
    return 0;
}
