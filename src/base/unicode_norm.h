/* Normalization forms of the Unicode Standard (annex 15), over UTF-8. Bytes that are no UTF-8 stay as they are, and
 * nothing is composed or reordered across them.
 * SPDX-License-Identifier: MIT */
#ifndef QN_BASE_UNICODE_NORM_H
#define QN_BASE_UNICODE_NORM_H

#include "base/buf.h"
#include "base/unicode.h"

typedef enum qn_norm { QN_NORM_NFC, QN_NORM_NFD, QN_NORM_NFKC, QN_NORM_NFKD } qn_norm;

/* Bytes at the start of s[0, n) that are in the form already, and can be cut off: whatever follows normalises by
 * itself, and the two together are the form of the whole. n: all of it is. Never cuts a valid character. */
size_t qn_norm_prefix(qn_norm form, const char *s, size_t n);

/* Appends the form of s[0, n). Linear time and memory, however long a run of combining marks is. QN_ENOMEM and
 * QN_EFULL as of the buffer, which then holds a part. */
qn_status qn_norm_add(qn_norm form, const char *s, size_t n, qn_buf *out);

/* Canonical combining class: 0 for what is no combining mark or is not reordered. */
uint8_t qn_unicode_combining_class(uint32_t cp);

#endif
