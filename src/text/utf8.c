/* UTF-8 by the book.
 * SPDX-License-Identifier: MIT */
#include "text/utf8.h"

#include "base/unicode.h"

size_t qn_utf8_next(const char *s, size_t n, uint32_t *cp) { return qn_unicode_decode(s, n, cp); }

size_t qn_utf8_tail(const char *s, size_t n)
{
    for (size_t tail = 1; tail <= 3 && tail <= n; tail++) {
        uint8_t lead = (uint8_t)s[n - tail];
        if ((lead & 0xC0) == 0x80) {
            continue;
        }
        size_t len = lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
        if (len <= tail) {
            return 0;
        }
        /* Continuation bytes of the least value that the lead allows, or of those that are there. */
        char full[4] = {(char)lead, (char)(lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80), (char)0x80, (char)0x80};
        for (size_t i = 1; i < tail; i++) {
            full[i] = s[n - tail + i];
        }
        return qn_utf8_scan(full, len) == len ? tail : 0;
    }
    return 0;
}
