/* Literals and classes of GBNF, and their escapes.
 * SPDX-License-Identifier: MIT */
#include "base/unicode.h"
#include "grammar/front_gbnf.h"

static int hex_value(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static qn_status hex_escape(qn_gbnf *g, unsigned n, uint32_t *cp)
{
    size_t at = g->i;
    *cp = 0;
    for (unsigned i = 0; i < n; i++, g->i++) {
        int digit = g->i < g->source.len ? hex_value(qn_gbnf_peek(g)) : -1;
        if (digit < 0) {
            return qn_gbnf_fail(g, at, "an escape with too few hexadecimal digits");
        }
        *cp = *cp << 4 | (uint32_t)digit;
    }
    bool good = *cp <= QN_FRONT_LAST && (*cp < 0xD800 || *cp > 0xDFFF);
    return good ? QN_OK : qn_gbnf_fail(g, at, "an escape that names no character");
}

static qn_status character(qn_gbnf *g, uint32_t *cp)
{
    size_t at = g->i;
    if (!qn_gbnf_take(g, "\\")) {
        size_t len = qn_unicode_decode(g->source.data + g->i, g->source.len - g->i, cp);
        g->i += len;
        return *cp != UINT32_MAX ? QN_OK : qn_gbnf_fail(g, at, "invalid UTF-8");
    }
    char c = qn_gbnf_peek(g);
    g->i++;
    switch (c) {
    case 'x':
        return hex_escape(g, 2, cp);
    case 'u':
        return hex_escape(g, 4, cp);
    case 'U':
        return hex_escape(g, 8, cp);
    case 't':
        *cp = '\t';
        return QN_OK;
    case 'r':
        *cp = '\r';
        return QN_OK;
    case 'n':
        *cp = '\n';
        return QN_OK;
    case '\\':
    case '"':
    case '[':
    case ']':
    case '-':
    case '^':
    case '\'':
    case '/':
        *cp = (uint8_t)c;
        return QN_OK;
    default:
        return qn_gbnf_fail(g, at, "an unknown escape");
    }
}

qn_status qn_gbnf_literal(qn_gbnf *g, qn_gbnf_item *out)
{
    size_t open = g->i - 1;
    qn_buf text;
    qn_buf_init(&text, g->b->budget, "grammar", QN_GBNF_MAX_SOURCE);
    qn_status status = QN_OK;
    while (status == QN_OK && !qn_gbnf_take(g, "\"")) {
        uint32_t cp = 0;
        if (g->i >= g->source.len || qn_gbnf_peek(g) == '\n') {
            status = qn_gbnf_fail(g, open, "a literal without its closing quote");
            break;
        }
        status = character(g, &cp);
        char utf8[4];
        size_t n = cp < 0x80 ? 1 : cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;
        for (size_t i = n; i-- > 1; cp >>= 6) {
            utf8[i] = (char)(0x80 | (cp & 0x3F));
        }
        utf8[0] = (char)(n == 1 ? cp : (0xF00u >> n & 0xFF) | cp);
        qn_buf_add(&text, utf8, n);
    }
    if (status == QN_OK && text.status != QN_OK) {
        status = qn_fail(g->err, text.status, "no memory for a literal");
    }
    if (status == QN_OK) {
        *out = (qn_gbnf_item){qn_gx_bytes(g->b, qn_buf_view(&text)), text.len};
    }
    qn_buf_free(&text);
    return status;
}

static qn_status class_members(qn_gbnf *g, size_t open, qn_ranges *r)
{
    while (!qn_gbnf_take(g, "]")) {
        uint32_t first, last;
        if (g->i >= g->source.len || qn_gbnf_peek(g) == '\n') {
            return qn_gbnf_fail(g, open, "a class without its closing bracket");
        }
        size_t at = g->i;
        QN_TRY(character(g, &first));
        last = first;
        if (qn_gbnf_peek(g) == '-' && g->i + 1 < g->source.len && g->source.data[g->i + 1] != ']') {
            g->i++;
            QN_TRY(character(g, &last));
        }
        if (last < first) {
            return qn_gbnf_fail(g, at, "a range that runs backwards");
        }
        qn_ranges_add(r, first, last);
    }
    return QN_OK;
}

qn_status qn_gbnf_class(qn_gbnf *g, qn_gbnf_item *out)
{
    size_t open = g->i - 1;
    bool is_inverted = qn_gbnf_take(g, "^");
    qn_ranges r = {.budget = g->b->budget};
    qn_status status = class_members(g, open, &r);
    if (status == QN_OK && is_inverted) {
        qn_ranges_invert(&r);
    }
    if (status == QN_OK) {
        *out = (qn_gbnf_item){qn_front_class(g->b, &r, false), 1};
    }
    qn_ranges_free(&r);
    return status;
}
