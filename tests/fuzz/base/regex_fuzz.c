/* A pattern up to the first NUL, then a text: compiling and searching end, and table and simulation agree.
 * SPDX-License-Identifier: MIT */
#include "base/regex_int.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *nul = size == 0 ? NULL : memchr(data, 0, size);
    size_t n_pattern = nul == NULL ? size : (size_t)(nul - data);
    qn_regex *re = NULL;
    qn_error err;
    if (qn_regex_open((qn_str){(const char *)data, n_pattern}, NULL, &re, &err) != QN_OK) {
        return 0;
    }
    const char *text = nul == NULL ? "" : (const char *)nul + 1;
    size_t n = nul == NULL ? 0 : size - n_pattern - 1, from = 0;
    for (int i = 0; i < 16 && from <= n; i++) {
        size_t start[2] = {0, 0}, end[2] = {0, 0};
        bool found = qn_regex_find(re, text, n, from, &start[0], &end[0]);
        if (found != qn_regex_simulate(re, text, n, from, false, &start[1], &end[1])) {
            abort();
        }
        if (!found) {
            break;
        }
        if (start[0] != start[1] || end[0] != end[1] || start[0] < from || end[0] < start[0] || end[0] > n) {
            abort();
        }
        from = end[0] > start[0] ? end[0] : end[0] + 1;
    }
    qn_regex_close(re);
    return 0;
}
