/* The cursor that every field of a file passes through: bounds, and text that may stand in an error.
 * SPDX-License-Identifier: MIT */
#include "base/utf8_scan.h"
#include "gguf/gguf_int.h"

#include <stdarg.h>
#include <stdio.h>

qn_status qn_gguf_fail_cut(const qn_gguf_cursor *c, uint64_t need, qn_error *err, const char *field, ...)
{
    char name[160];
    va_list args;
    va_start(args, field);
    vsnprintf(name, sizeof(name), field, args);
    va_end(args);

    uint64_t expected = need > UINT64_MAX - c->at ? UINT64_MAX : c->at + need;
    if (expected <= c->file_bytes) {
        return qn_fail(err, QN_EFORMAT, "%s: the metadata is larger than %u MiB", name, QN_GGUF_MAX_META >> 20);
    }
    return qn_fail(err, QN_EFORMAT, "%s: the file is cut short: at least %" PRIu64 " bytes expected, %" PRIu64 " found",
                   name, expected, c->file_bytes);
}

/* True when each of eight bytes is 0x20..0x7e: adding to seven bits carries into the eighth for the others. */
static bool are_plain_ascii(const char *s)
{
    const uint64_t ones = 0x0101010101010101, high = 0x80 * ones;
    uint64_t x;
    memcpy(&x, s, sizeof(x));
    return ((x | (x + ones)) & high) == 0 && ((x + 0x60 * ones) & high) == high;
}

/* UTF-8 without control characters (C0, DEL, C1): a name goes to terminals and logs. */
static bool is_plain_text(qn_str s)
{
    for (size_t i = 0, n_char; i < s.len; i += n_char) {
        if (s.len - i >= 8 && are_plain_ascii(s.data + i)) {
            n_char = 8;
            continue;
        }
        uint8_t first = (uint8_t)s.data[i];
        n_char = qn_utf8_scan(s.data + i, s.len - i);
        if (n_char == 0 || first < 0x20 || first == 0x7f || (first == 0xc2 && (uint8_t)s.data[i + 1] < 0xa0)) {
            return false;
        }
    }
    return true;
}

qn_status qn_gguf_take_name(qn_gguf_cursor *c, uint64_t max, const char *what, uint64_t i, qn_str *out, qn_error *err)
{
    uint64_t n;
    const uint8_t *p;
    if (!qn_gguf_take_u64(c, &n)) {
        return qn_gguf_fail_cut(c, sizeof(n), err, "%s %" PRIu64, what, i);
    }
    if (n == 0) {
        return qn_fail(err, QN_EFORMAT, "%s %" PRIu64 ": the name is empty", what, i);
    }
    if (n > max) {
        return qn_fail(err, QN_EFORMAT, "%s %" PRIu64 ": the name has %" PRIu64 " bytes, more than %" PRIu64, what, i,
                       n, max);
    }
    if (!qn_gguf_take(c, n, &p)) {
        return qn_gguf_fail_cut(c, n, err, "%s %" PRIu64, what, i);
    }
    *out = (qn_str){(const char *)p, n};
    if (!is_plain_text(*out)) {
        return qn_fail(err, QN_EFORMAT, "%s %" PRIu64 ": the name '%.*s' is not plain UTF-8 text", what, i,
                       QN_STR_ARG(*out));
    }
    return QN_OK;
}
