/* UTF-8 by the book: shortest form, no surrogates, at most U+10FFFF.
 * SPDX-License-Identifier: MIT */
#ifndef QN_TEXT_UTF8_H
#define QN_TEXT_UTF8_H

#include "base/utf8_scan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decodes the character at s[0, n), n >= 1. Returns its length 1..4 and sets *cp; for invalid bytes returns 1 and
 * sets *cp to UINT32_MAX. */
size_t qn_utf8_next(const char *s, size_t n, uint32_t *cp);
/* Bytes at the end of s[0, n) that begin a character and could still become valid with more bytes: 0..3. */
size_t qn_utf8_tail(const char *s, size_t n);

#endif
