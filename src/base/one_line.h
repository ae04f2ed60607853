/* Text that may go to a terminal. Private to src/base.
 * SPDX-License-Identifier: MIT */
#ifndef QN_BASE_ONE_LINE_H
#define QN_BASE_ONE_LINE_H

#include <stddef.h>

/* Replaces each control character (C0, DEL, C1) and each invalid byte of s[0, n) by '?', in place; s[n] is NUL and
 * stays so at the new end. Returns the new length, at most n. A character cut off at the end is dropped when `cut`. */
size_t qn_one_line(char *s, size_t n, int cut);

#endif
