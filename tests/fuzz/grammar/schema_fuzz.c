/* Any JSON as a schema: refused with a path, or compiled and walked; what comes out is JSON too. The first byte has the
 * options.
 * SPDX-License-Identifier: MIT */
#include "walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    walk_open();
    uint64_t live = qn_alloc_live();
    qn_json_doc *doc;
    if (n_bytes == 0 || qn_json_parse(NULL, (const char *)data + 1, n_bytes - 1, 10000, &doc, NULL) != QN_OK) {
        return 0;
    }
    qn_gx_builder b;
    qn_error err = {0};
    qn_schema_options o = {
        .strict = (data[0] & 1) != 0, .max_whitespace = data[0] >> 1 & 3, .plain = (data[0] & 8) != 0};
    qn_gx_init(&b, NULL);
    qn_status status = qn_front_schema(&b, qn_json_root(doc), &o, &err);
    qn_json_free(doc);
    walk(&b, status, &err, n_bytes);
    walk_must(qn_alloc_live() == live);
    return 0;
}
