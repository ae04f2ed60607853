/* Rows of characters. See tokenizer_chars.h.
 * SPDX-License-Identifier: MIT */
#include "text/tokenizer_chars.h"

#include <string.h>

qn_status qn_chars_make_room(qn_chars *c, qn_budget *b, const char *owner)
{
    size_t n_rows = 1;
    for (size_t i = 0; i < QN_CHARS_END / QN_CHARS_ROW; i++) {
        c->i_row[i] = c->i_row[i] != 0 ? (uint16_t)n_rows++ : 0;
    }
    size_t bytes = n_rows * QN_CHARS_ROW * sizeof(*c->rows);
    c->rows = qn_alloc(b, owner, bytes);
    if (c->rows == NULL) {
        return QN_ENOMEM;
    }
    memset(c->rows, 0xFF, bytes); /* QN_CHARS_NONE */
    return QN_OK;
}

void qn_chars_free(qn_chars *c)
{
    qn_free(c->rows);
    c->rows = NULL;
}
