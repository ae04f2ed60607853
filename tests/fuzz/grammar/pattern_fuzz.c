/* Any bytes as a pattern, after a byte that chooses: the whole text or found in it, plain or inside a JSON string.
 * SPDX-License-Identifier: MIT */
#include "walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    walk_open();
    if (n_bytes == 0) {
        return 0;
    }
    uint64_t live = qn_alloc_live();
    qn_gx_builder b;
    qn_error err = {0};
    qn_gx x = 0;
    qn_gx_init(&b, NULL);
    qn_status status =
        qn_front_pattern(&b, (qn_str){(const char *)data + 1, n_bytes - 1}, data[0] & 1, data[0] & 2, &x, &err);
    if (status == QN_OK) {
        b.root = qn_gx_rule_new(&b, QN_STR("root"));
        qn_gx_rule_define(&b, b.root, x);
    }
    walk(&b, status, &err, n_bytes);
    walk_must(qn_alloc_live() == live);
    return 0;
}
