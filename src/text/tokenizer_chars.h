/* A number for each character of the Basic Multilingual Plane: rows of 64, of which only those in use take memory.
 * SPDX-License-Identifier: MIT */
#ifndef QN_TEXT_TOKENIZER_CHARS_H
#define QN_TEXT_TOKENIZER_CHARS_H

#include "base/alloc.h"

#define QN_CHARS_END 0x10000u
#define QN_CHARS_ROW 64
#define QN_CHARS_NONE UINT32_MAX

typedef struct qn_chars {
    uint16_t i_row[QN_CHARS_END / QN_CHARS_ROW];
    uint32_t *rows; /* row 0 has nothing in it */
} qn_chars;

/* First every character is announced, then there is room made, then each may be set. */
static inline void qn_chars_announce(qn_chars *c, uint32_t cp)
{
    if (cp < QN_CHARS_END) {
        c->i_row[cp / QN_CHARS_ROW] = 1;
    }
}

qn_status qn_chars_make_room(qn_chars *c, qn_budget *b, const char *owner); /* c zeroed before; QN_ENOMEM */
void qn_chars_free(qn_chars *c);

static inline void qn_chars_set(qn_chars *c, uint32_t cp, uint32_t value)
{
    if (cp < QN_CHARS_END && c->i_row[cp / QN_CHARS_ROW] != 0) {
        c->rows[c->i_row[cp / QN_CHARS_ROW] * QN_CHARS_ROW + cp % QN_CHARS_ROW] = value;
    }
}

/* cp < QN_CHARS_END */
static inline uint32_t qn_chars_get(const qn_chars *c, uint32_t cp)
{
    return c->rows[c->i_row[cp / QN_CHARS_ROW] * QN_CHARS_ROW + cp % QN_CHARS_ROW];
}

#endif
