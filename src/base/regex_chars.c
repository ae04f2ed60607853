/* The characters and classes of a pattern: escapes, properties, brackets.
 * SPDX-License-Identifier: MIT */
#include "base/regex_parse.h"

qn_status qn_parse_next_char(qn_regex_parser *p, uint32_t *cp)
{
    size_t len = qn_unicode_decode(p->b->pattern.data + p->i, p->b->pattern.len - p->i, cp);
    if (*cp == UINT32_MAX) {
        return qn_parse_fail(p, QN_EFORMAT, p->i, "not UTF-8");
    }
    p->i += len;
    return QN_OK;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* n_digits hex digits, or with n_digits 0 any number of them and a closing brace. */
static qn_status parse_hex(qn_regex_parser *p, unsigned n_digits, uint32_t *cp)
{
    uint32_t v = 0;
    unsigned n = 0;
    while ((n_digits == 0 || n < n_digits) && hex_digit(qn_parse_peek(p)) >= 0 && v < QN_UNICODE_END) {
        v = v * 16 + (uint32_t)hex_digit(qn_parse_peek(p));
        p->i++;
        n++;
    }
    if (n == 0 || (n_digits != 0 && n != n_digits) || (n_digits == 0 && !qn_parse_take(p, "}"))) {
        return qn_parse_fail(p, QN_EFORMAT, p->i, "malformed number of a character");
    }
    if (v >= QN_UNICODE_END) {
        return qn_parse_fail(p, QN_EFORMAT, p->i, "no such character");
    }
    *cp = v;
    return QN_OK;
}

/* After \p or \P. */
static qn_status parse_property(qn_regex_parser *p, bool inverted)
{
    size_t at = p->i;
    qn_str name = {p->b->pattern.data + p->i, 1};
    if (qn_parse_take(p, "{")) {
        inverted ^= qn_parse_take(p, "^");
        size_t start = p->i;
        while (qn_parse_more(p) && qn_parse_peek(p) != '}') {
            p->i++;
        }
        name = (qn_str){p->b->pattern.data + start, p->i - start};
        if (!qn_parse_take(p, "}")) {
            return qn_parse_fail(p, QN_EFORMAT, at, "a property without its closing brace");
        }
    } else if (qn_parse_more(p)) {
        p->i++;
    } else {
        return qn_parse_fail(p, QN_EFORMAT, at, "a property without a name");
    }
    uint32_t mask = qn_unicode_category_mask(name);
    if (mask == 0) {
        return qn_fail(p->b->err, QN_EUNSUPPORTED, "pattern, byte %zu: property %.*s", at, QN_STR_ARG(name));
    }
    return qn_regex_add_categories(p->b, inverted ? ~mask : mask);
}

#define CATEGORIES_DIGIT (1u << QN_CATEGORY_ND)
#define CATEGORIES_LETTER                                                                                           \
    (1u << QN_CATEGORY_LU | 1u << QN_CATEGORY_LL | 1u << QN_CATEGORY_LT | 1u << QN_CATEGORY_LM | 1u << QN_CATEGORY_LO)
#define CATEGORIES_MARK (1u << QN_CATEGORY_MN | 1u << QN_CATEGORY_MC | 1u << QN_CATEGORY_ME)
#define CATEGORIES_WORD (CATEGORIES_LETTER | CATEGORIES_MARK | CATEGORIES_DIGIT | 1u << QN_CATEGORY_PC)

/* After a backslash: one character in *cp, or a class added to the work set with *cp = UINT32_MAX. */
qn_status qn_parse_escape(qn_regex_parser *p, uint32_t *cp)
{
    size_t at = p->i;
    if (!qn_parse_more(p)) {
        return qn_parse_fail(p, QN_EFORMAT, at, "nothing after the backslash");
    }
    char c = p->b->pattern.data[p->i];
    *cp = UINT32_MAX;
    if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z')) {
        return qn_parse_next_char(p, cp);
    }
    p->i++;
    switch (c) {
    case 'r': *cp = '\r'; return QN_OK;
    case 'n': *cp = '\n'; return QN_OK;
    case 't': *cp = '\t'; return QN_OK;
    case 'f': *cp = '\f'; return QN_OK;
    case 'v': *cp = '\v'; return QN_OK;
    case 'x': return qn_parse_take(p, "{") ? parse_hex(p, 0, cp) : parse_hex(p, 2, cp);
    case 'u': return qn_parse_take(p, "{") ? parse_hex(p, 0, cp) : parse_hex(p, 4, cp);
    case 'p': return parse_property(p, false);
    case 'P': return parse_property(p, true);
    case 'd': return qn_regex_add_categories(p->b, CATEGORIES_DIGIT);
    case 'D': return qn_regex_add_categories(p->b, ~CATEGORIES_DIGIT);
    case 'w': return qn_regex_add_categories(p->b, CATEGORIES_WORD);
    case 'W': return qn_regex_add_categories(p->b, ~CATEGORIES_WORD);
    case 's': return qn_regex_add_spaces(p->b, false);
    case 'S': return qn_regex_add_spaces(p->b, true);
    default: return qn_fail(p->b->err, QN_EUNSUPPORTED, "pattern, byte %zu: \\%c", at - 1, c);
    }
}

/* One member of a class: a character in *cp, or a class within (UINT32_MAX). */
static qn_status parse_member(qn_regex_parser *p, uint32_t *cp)
{
    if (qn_parse_looking_at(p, "[:") || qn_parse_looking_at(p, "&&")) {
        return qn_parse_fail(p, QN_EUNSUPPORTED, p->i, "named class or intersection");
    }
    return qn_parse_take(p, "\\") ? qn_parse_escape(p, cp) : qn_parse_next_char(p, cp);
}

/* After the opening bracket. */
qn_status qn_parse_class(qn_regex_parser *p, uint32_t *node)
{
    size_t at = p->i - 1;
    bool inverted = qn_parse_take(p, "^");
    if (qn_parse_looking_at(p, "]")) {
        return qn_parse_fail(p, QN_EFORMAT, at, "an empty class");
    }
    while (!qn_parse_take(p, "]")) {
        if (!qn_parse_more(p)) {
            return qn_parse_fail(p, QN_EFORMAT, at, "a class without its closing bracket");
        }
        uint32_t first, last;
        size_t at_member = p->i;
        QN_TRY(parse_member(p, &first));
        last = first;
        if (first != UINT32_MAX && qn_parse_looking_at(p, "-") && !qn_parse_looking_at(p, "-]")) {
            p->i++;
            if (!qn_parse_more(p)) {
                return qn_parse_fail(p, QN_EFORMAT, at, "a class without its closing bracket");
            }
            QN_TRY(parse_member(p, &last));
            if (last == UINT32_MAX || last < first) {
                return qn_parse_fail(p, QN_EFORMAT, at_member, "a range that runs backwards");
            }
        }
        if (first != UINT32_MAX) {
            QN_TRY(qn_regex_add(p->b, first, last));
        }
    }
    if (p->fold) {
        QN_TRY(qn_regex_fold_case(p->b));
    }
    if (inverted) {
        QN_TRY(qn_regex_invert(p->b, QN_UNICODE_END - 1));
    }
    return qn_parse_set_node(p, QN_NODE_SET, node);
}

qn_status qn_parse_char(qn_regex_parser *p, uint32_t cp, uint32_t *node)
{
    if (cp != UINT32_MAX) { /* otherwise a class is in the work set already */
        QN_TRY(qn_regex_add(p->b, cp, cp));
    }
    if (p->fold) {
        QN_TRY(qn_regex_fold_case(p->b));
    }
    return qn_parse_set_node(p, QN_NODE_SET, node);
}
