/* One step over UTF-8, and one character written in it. Shortest form, no surrogates, at most U+10FFFF.
 * SPDX-License-Identifier: MIT */
#ifndef QN_BASE_UTF8_SCAN_H
#define QN_BASE_UTF8_SCAN_H

#include <stddef.h>
#include <stdint.h>

/* Length 1..4 of the valid character at s[0, n), or 0: invalid or cut. n >= 1. */
static inline size_t qn_utf8_scan(const char *s, size_t n)
{
    const uint8_t *u = (const uint8_t *)s;
    uint8_t lead = u[0];
    if (lead < 0x80) {
        return 1;
    }
    size_t len = lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
    if (len == 0 || len > n) {
        return 0;
    }
    /* The second byte alone decides on long forms, surrogates and the upper end. */
    uint8_t low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    uint8_t high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (u[1] < low || u[1] > high) {
        return 0;
    }
    for (size_t i = 2; i < len; i++) {
        if ((u[i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    return len;
}

/* Writes cp (below 0x110000) to out; returns its length, 1 to 4. */
static inline size_t qn_utf8_put(uint32_t cp, char out[4])
{
    if (cp < 0x80) {
        out[0] = (char)cp;
        return 1;
    }
    if (cp < 0x800) {
        out[0] = (char)(0xC0 | cp >> 6);
        out[1] = (char)(0x80 | (cp & 0x3F));
        return 2;
    }
    if (cp < 0x10000) {
        out[0] = (char)(0xE0 | cp >> 12);
        out[1] = (char)(0x80 | (cp >> 6 & 0x3F));
        out[2] = (char)(0x80 | (cp & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | cp >> 18);
    out[1] = (char)(0x80 | (cp >> 12 & 0x3F));
    out[2] = (char)(0x80 | (cp >> 6 & 0x3F));
    out[3] = (char)(0x80 | (cp & 0x3F));
    return 4;
}

#endif
