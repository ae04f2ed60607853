/* The characters of a pattern: escapes, and classes in brackets. \d \w \s mean what they mean in ECMAScript.
 * SPDX-License-Identifier: MIT */
#include "base/unicode.h"
#include "grammar/front_int.h"

static void add_digits(qn_ranges *r)
{
    qn_ranges_add(r, '0', '9');
}

static void add_words(qn_ranges *r)
{
    add_digits(r);
    qn_ranges_add(r, 'A', 'Z');
    qn_ranges_add(r, 'a', 'z');
    qn_ranges_add(r, '_', '_');
}

static void add_spaces(qn_ranges *r)
{
    static const qn_gx_range spaces[] = {{0x09, 0x0D},     {0x20, 0x20},     {0xA0, 0xA0},     {0x1680, 0x1680},
                                         {0x2000, 0x200A}, {0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F},
                                         {0x3000, 0x3000}, {0xFEFF, 0xFEFF}};
    for (size_t i = 0; i < sizeof(spaces) / sizeof(*spaces); i++) {
        qn_ranges_add(r, spaces[i].first, spaces[i].last);
    }
}

/* Adds set, or all that is not in it, and frees it. */
static void add_set(qn_ranges *r, qn_ranges *set, bool is_inverted)
{
    if (is_inverted) {
        qn_ranges_invert(set);
    }
    for (uint32_t i = 0; i < set->n; i++) {
        qn_ranges_add(r, set->items[i].first, set->items[i].last);
    }
    r->status = r->status != QN_OK ? r->status : set->status;
    qn_ranges_free(set);
}

static int hex_value(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* n digits; 0: as many as there are, up to a closing brace. */
static bool take_hex(qn_pattern_parser *p, unsigned n, uint32_t *v)
{
    unsigned n_read = 0;
    uint32_t sum = 0;
    while (p->i < p->pattern.len && (n == 0 || n_read < n) && sum <= QN_FRONT_LAST) {
        int digit = hex_value(p->pattern.data[p->i]);
        if (digit < 0) {
            break;
        }
        sum = sum * 16 + (uint32_t)digit;
        n_read++;
        p->i++;
    }
    *v = sum;
    return n == 0 ? n_read != 0 && sum <= QN_FRONT_LAST && qn_pattern_take(p, "}") : n_read == n;
}

static qn_status code_point(qn_pattern_parser *p, char kind, size_t at, uint32_t *cp)
{
    bool good = qn_pattern_take(p, "{") ? take_hex(p, 0, cp) : take_hex(p, kind == 'u' ? 4 : 2, cp);
    if (good && *cp >= 0xD800 && *cp <= 0xDBFF) { /* half of a character; the other half must follow */
        uint32_t low = 0;
        good = qn_pattern_take(p, "\\u") && take_hex(p, 4, &low) && low >= 0xDC00 && low <= 0xDFFF;
        *cp = 0x10000 + ((*cp - 0xD800) << 10) + (low - 0xDC00);
    } else if (good && *cp >= 0xDC00 && *cp <= 0xDFFF) {
        good = false;
    }
    return good ? QN_OK : qn_pattern_fail(p, QN_EFORMAT, at, "an escape that names no character");
}

/* \p{Name} and \pL: general categories. */
static qn_status property(qn_pattern_parser *p, bool is_inverted, size_t at, qn_ranges *r)
{
    size_t start = p->i, end = p->i + 1;
    if (qn_pattern_take(p, "{")) {
        start = p->i;
        while (p->i < p->pattern.len && p->pattern.data[p->i] != '}') {
            p->i++;
        }
        end = p->i;
        if (!qn_pattern_take(p, "}")) {
            return qn_pattern_fail(p, QN_EFORMAT, at, "a property without its closing brace");
        }
    } else if (p->i < p->pattern.len) {
        p->i++;
    } else {
        return qn_pattern_fail(p, QN_EFORMAT, at, "a property without a name");
    }
    static const char *const long_names[][2] = {{"Letter", "L"},
                                                {"Lowercase_Letter", "Ll"},
                                                {"Uppercase_Letter", "Lu"},
                                                {"Mark", "M"},
                                                {"Number", "N"},
                                                {"Decimal_Number", "Nd"},
                                                {"digit", "Nd"},
                                                {"Punctuation", "P"},
                                                {"Symbol", "S"},
                                                {"Separator", "Z"},
                                                {"Control", "Cc"},
                                                {"cntrl", "Cc"}};
    qn_str name = {p->pattern.data + start, end - start};
    for (size_t i = 0; i < sizeof(long_names) / sizeof(*long_names); i++) {
        if (qn_str_is(name, long_names[i][0])) {
            name = qn_str_of(long_names[i][1]);
        }
    }
    uint32_t mask = qn_unicode_category_mask(name);
    if (mask == 0) {
        return qn_pattern_fail(p, QN_EUNSUPPORTED, at, "this property of characters");
    }
    qn_ranges set = {.budget = r->budget};
    uint32_t first, last;
    qn_category category;
    for (size_t i = 0; qn_unicode_run(i, &first, &last, &category); i++) {
        if (mask >> category & 1) {
            qn_ranges_add(&set, first, last);
        }
    }
    add_set(r, &set, is_inverted);
    return QN_OK;
}

qn_status qn_pattern_escape(qn_pattern_parser *p, bool in_class, qn_ranges *r, uint32_t *cp)
{
    size_t at = p->i - 1;
    if (p->i >= p->pattern.len) {
        return qn_pattern_fail(p, QN_EFORMAT, at, "a backslash at the end");
    }
    char c = p->pattern.data[p->i];
    qn_ranges set = {.budget = r->budget};
    *cp = UINT32_MAX;
    p->i++;
    switch (c) {
    case 'd':
    case 'D':
        add_digits(&set);
        add_set(r, &set, c == 'D');
        return QN_OK;
    case 'w':
    case 'W':
        add_words(&set);
        add_set(r, &set, c == 'W');
        return QN_OK;
    case 's':
    case 'S':
        add_spaces(&set);
        add_set(r, &set, c == 'S');
        return QN_OK;
    case 'p':
    case 'P':
        return property(p, c == 'P', at, r);
    case 't':
        *cp = '\t';
        return QN_OK;
    case 'n':
        *cp = '\n';
        return QN_OK;
    case 'v':
        *cp = '\v';
        return QN_OK;
    case 'f':
        *cp = '\f';
        return QN_OK;
    case 'r':
        *cp = '\r';
        return QN_OK;
    case 'x':
    case 'u':
        return code_point(p, c, at, cp);
    case 'c':
        if (p->i < p->pattern.len && ((p->pattern.data[p->i] | 0x20) >= 'a' && (p->pattern.data[p->i] | 0x20) <= 'z')) {
            *cp = (uint32_t)p->pattern.data[p->i++] & 0x1F;
            return QN_OK;
        }
        return qn_pattern_fail(p, QN_EFORMAT, at, "\\c without a letter");
    case 'b':
        if (in_class) {
            *cp = '\b';
            return QN_OK;
        }
        return qn_pattern_fail(p, QN_EUNSUPPORTED, at, "the word boundary \\b");
    case 'B':
        return qn_pattern_fail(p, QN_EUNSUPPORTED, at, "the word boundary \\B");
    case 'k':
        return qn_pattern_fail(p, QN_EUNSUPPORTED, at, "a back reference");
    case '0':
        if (p->i < p->pattern.len && p->pattern.data[p->i] >= '0' && p->pattern.data[p->i] <= '9') {
            return qn_pattern_fail(p, QN_EUNSUPPORTED, at, "an octal escape");
        }
        *cp = 0;
        return QN_OK;
    default:
        if (c >= '1' && c <= '9') {
            return qn_pattern_fail(p, QN_EUNSUPPORTED, at, "a back reference");
        }
        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
            return qn_pattern_fail(p, QN_EFORMAT, at, "an unknown escape");
        }
        p->i--;
        return qn_pattern_char(p, cp);
    }
}

qn_status qn_pattern_char(qn_pattern_parser *p, uint32_t *cp)
{
    size_t len = qn_unicode_decode(p->pattern.data + p->i, p->pattern.len - p->i, cp);
    if (*cp == UINT32_MAX) {
        return qn_pattern_fail(p, QN_EFORMAT, p->i, "invalid UTF-8");
    }
    p->i += len;
    return QN_OK;
}

/* One member of a class: a character in *cp, or a set added to r with *cp = UINT32_MAX. */
static qn_status member(qn_pattern_parser *p, qn_ranges *r, uint32_t *cp)
{
    return qn_pattern_take(p, "\\") ? qn_pattern_escape(p, true, r, cp) : qn_pattern_char(p, cp);
}

qn_status qn_pattern_class(qn_pattern_parser *p, qn_ranges *r)
{
    size_t open = p->i - 1;
    bool is_inverted = qn_pattern_take(p, "^");
    while (!qn_pattern_take(p, "]")) {
        if (p->i >= p->pattern.len) {
            return qn_pattern_fail(p, QN_EFORMAT, open, "a class without its closing bracket");
        }
        size_t at = p->i;
        uint32_t first, last;
        QN_TRY(member(p, r, &first));
        size_t left = p->pattern.len - p->i;
        bool is_range = left >= 2 && p->pattern.data[p->i] == '-' && p->pattern.data[p->i + 1] != ']';
        if (!is_range) {
            if (first != UINT32_MAX) {
                qn_ranges_add(r, first, first);
            }
            continue;
        }
        p->i++;
        QN_TRY(member(p, r, &last));
        if (first == UINT32_MAX || last == UINT32_MAX) { /* [\w-.]: three members */
            qn_ranges_add(r, '-', '-');
            qn_ranges_add(r, first == UINT32_MAX ? 1 : first, first == UINT32_MAX ? 0 : first);
            qn_ranges_add(r, last == UINT32_MAX ? 1 : last, last == UINT32_MAX ? 0 : last);
        } else if (last < first) {
            return qn_pattern_fail(p, QN_EFORMAT, at, "a range that runs backwards");
        } else {
            qn_ranges_add(r, first, last);
        }
    }
    if (is_inverted) {
        qn_ranges_invert(r);
    }
    return QN_OK;
}
