/* Text that may go to a terminal.
 * SPDX-License-Identifier: MIT */
#include "base/one_line.h"

#include "base/utf8_scan.h"

#include <string.h>

size_t qn_one_line(char *s, size_t n, int cut)
{
    size_t i = 0, o = 0;
    while (i < n) {
        size_t len = qn_utf8_scan(s + i, n - i);
        if (len == 0) {
            /* Within three bytes of the cut a lead byte is a whole character's rest, not the writer's fault. */
            if (cut && n - i < 4 && (uint8_t)s[i] >= 0xC2) {
                break;
            }
            s[o++] = '?';
            i++;
            continue;
        }
        uint8_t first = (uint8_t)s[i];
        if ((len == 1 && (first < 0x20 || first == 0x7F)) || (first == 0xC2 && (uint8_t)s[i + 1] < 0xA0)) {
            s[o++] = '?';
        } else {
            memmove(s + o, s + i, len);
            o += len;
        }
        i += len;
    }
    s[o] = '\0';
    return o;
}
