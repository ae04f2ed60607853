/* Source to tokens: text between tags, white space around them, operators and names inside them.
 * SPDX-License-Identifier: MIT */
#include "base/unicode.h"
#include "text/jinja/node.h"

enum { IN_TEXT, IN_TAG, IN_VAR, IN_RAW, IN_COMMENT };
enum { NO_TAG, TAG_VAR, TAG_BLOCK, TAG_RAW, TAG_COMMENT };

qn_status qn_lexer_open(qn_lexer *l, qn_tree *t, qn_str source)
{
    char *text = qn_tree_alloc(t, source.len + 1);
    if (text == NULL) {
        return t->err->code;
    }
    size_t n = 0;
    uint32_t line = 1;
    for (size_t i = 0; i < source.len;) {
        size_t len = qn_utf8_scan(source.data + i, source.len - i);
        if (len == 0) {
            return qn_tree_fail(t, line, "the template is not valid UTF-8");
        }
        if (source.data[i] == '\r') {
            text[n++] = '\n';
            len += i + 1 < source.len && source.data[i + 1] == '\n';
        } else {
            memcpy(text + n, source.data + i, len);
            n += len;
        }
        line += text[n - 1] == '\n';
        i += len;
    }
    if (n > 0 && text[n - 1] == '\n') {
        n--; /* the line end of the last line is not part of the template */
    }
    *l = (qn_lexer){.tree = t, .source = text, .n = n, .line = 1, .at_line_start = true};
    return QN_OK;
}

/* Python's white space: that of Unicode and the separators U+001C to U+001F. */
static size_t space_at(const qn_lexer *l, size_t pos)
{
    if (pos >= l->n) {
        return 0;
    }
    uint8_t c = (uint8_t)l->source[pos];
    if (c < 0x80) {
        return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1C && c <= 0x1F);
    }
    uint32_t cp;
    size_t len = qn_unicode_decode(l->source + pos, l->n - pos, &cp);
    return qn_unicode_is_space(cp) ? len : 0;
}

static size_t skip_space(const qn_lexer *l, size_t pos)
{
    for (size_t len; (len = space_at(l, pos)) > 0;) {
        pos += len;
    }
    return pos;
}

/* The end of s[from, to) without the white space at its end. */
static size_t strip_right(const qn_lexer *l, size_t from, size_t to)
{
    while (to > from) {
        size_t start = to - 1;
        while (start > from && ((uint8_t)l->source[start] & 0xC0) == 0x80) {
            start--;
        }
        if (space_at(l, start) != to - start) {
            break;
        }
        to = start;
    }
    return to;
}

static bool at(const qn_lexer *l, size_t pos, const char *text)
{
    size_t n = strlen(text);
    return l->n - pos >= n && memcmp(l->source + pos, text, n) == 0;
}

static void move(qn_lexer *l, size_t to)
{
    for (const char *p = l->source + l->pos, *end = l->source + to; (p = memchr(p, '\n', (size_t)(end - p))) != NULL;
         p++) {
        l->line++;
    }
    if (to > l->pos) {
        l->at_line_start = l->source[to - 1] == '\n';
    }
    l->pos = to;
}

/* The end of a tag's closing mark ("%}") at pos, with its signs and the white space that it takes; 0: not there. */
static size_t close_at(const qn_lexer *l, size_t pos, const char *mark, bool plus, bool trim)
{
    if (pos < l->n && l->source[pos] == '-' && at(l, pos + 1, mark)) {
        return skip_space(l, pos + 3);
    }
    if (plus && pos < l->n && l->source[pos] == '+' && at(l, pos + 1, mark)) {
        return pos + 3;
    }
    if (at(l, pos, mark)) {
        return pos + 2 + (trim && at(l, pos + 2, "\n"));
    }
    return 0;
}

static char sign_at(const qn_lexer *l, size_t pos)
{
    return pos < l->n && (l->source[pos] == '-' || l->source[pos] == '+') ? l->source[pos] : '\0';
}

/* The end of "{% NAME" and its closing mark, from pos at "{%"; 0: that is not there. */
static size_t word_tag(const qn_lexer *l, size_t pos, const char *name, bool plus, bool trim)
{
    pos += 2;
    pos = skip_space(l, pos + (sign_at(l, pos) != '\0'));
    if (!at(l, pos, name)) {
        return 0;
    }
    return close_at(l, skip_space(l, pos + strlen(name)), "%}", plus, trim);
}

/* The text [l->pos, tag) before a tag that opens with this sign, as data: a "-" takes the white space before it,
 * a tag that is no expression the blanks between it and the start of its line. */
static qn_str text_before(const qn_lexer *l, size_t tag, char sign, bool is_var)
{
    size_t from = l->pos, to = tag;
    if (sign == '-') {
        to = strip_right(l, from, tag);
    } else if (sign != '+' && !is_var) {
        size_t line = tag;
        while (line > from && l->source[line - 1] != '\n') {
            line--;
        }
        if ((line > from || l->at_line_start) && strip_right(l, line, tag) == line) {
            to = line;
        }
    }
    return (qn_str){l->source + from, to - from};
}

static qn_status fail_char(qn_lexer *l)
{
    size_t len = qn_utf8_scan(l->source + l->pos, l->n - l->pos), i_char = 0;
    for (size_t i = 0; i < l->pos; i++) {
        i_char += ((uint8_t)l->source[i] & 0xC0) != 0x80;
    }
    const char *quote = l->source[l->pos] == '\'' ? "\"" : "'"; /* as Python shows it */
    const char *escape = l->source[l->pos] == '\\' ? "\\" : "";
    return qn_tree_fail(l->tree, l->line, "unexpected char %s%s%.*s%s at %zu", quote, escape, (int)len,
                        l->source + l->pos, quote, i_char);
}

/* Data up to the next tag, whose opening is left to the next call. */
static bool lex_text(qn_lexer *l, qn_tok *out)
{
    size_t tag = l->pos;
    for (;; tag++) {
        const char *p = tag < l->n ? memchr(l->source + tag, '{', l->n - tag) : NULL;
        if (p == NULL || (size_t)(p - l->source) + 1 >= l->n) {
            out->kind = QN_T_DATA;
            out->text = (qn_str){l->source + l->pos, l->n - l->pos};
            move(l, l->n);
            return out->text.len > 0;
        }
        tag = (size_t)(p - l->source);
        if (p[1] == '{' || p[1] == '%' || p[1] == '#') {
            break;
        }
    }
    char kind = l->source[tag + 1];
    l->tag = kind == '{'                                 ? TAG_VAR
             : kind == '#'                               ? TAG_COMMENT
             : word_tag(l, tag, "raw", false, false) > 0 ? TAG_RAW
                                                         : TAG_BLOCK;
    out->kind = QN_T_DATA;
    out->text = text_before(l, tag, sign_at(l, tag + 2), kind == '{');
    move(l, tag);
    return out->text.len > 0;
}

/* The opening of the tag that lex_text found. True: it is a token. */
static bool lex_open(qn_lexer *l, qn_tok *out)
{
    uint8_t tag = l->tag;
    l->tag = NO_TAG;
    out->line = l->line;
    if (tag == TAG_RAW) {
        move(l, word_tag(l, l->pos, "raw", false, false));
        l->state = IN_RAW;
        return false;
    }
    move(l, l->pos + 2 + (sign_at(l, l->pos + 2) != '\0'));
    l->state = tag == TAG_COMMENT ? IN_COMMENT : tag == TAG_VAR ? IN_VAR : IN_TAG;
    out->kind = tag == TAG_VAR ? QN_T_VAR_BEGIN : QN_T_BLOCK_BEGIN;
    return tag != TAG_COMMENT;
}

static qn_status skip_comment(qn_lexer *l)
{
    for (size_t i = l->pos; i + 1 < l->n; i++) {
        if (l->source[i] == '#' && l->source[i + 1] == '}') {
            char sign = i > l->pos ? sign_at(l, i - 1) : '\0';
            move(l, close_at(l, i - (sign != '\0'), "#}", true, true));
            l->state = IN_TEXT;
            return QN_OK;
        }
    }
    if (l->pos < l->n) {
        return qn_tree_fail(l->tree, l->line, "Missing end of comment tag");
    }
    return QN_OK; /* as jinja2: a comment that opens at the very end is no fault */
}

static qn_status lex_raw(qn_lexer *l, qn_tok *out, bool *is)
{
    for (size_t tag = l->pos; tag + 1 < l->n; tag++) {
        size_t end = at(l, tag, "{%") ? word_tag(l, tag, "endraw", true, true) : 0;
        if (end > 0) {
            out->kind = QN_T_DATA;
            out->text = text_before(l, tag, sign_at(l, tag + 2), false);
            *is = out->text.len > 0;
            move(l, end);
            l->state = IN_TEXT;
            return QN_OK;
        }
    }
    *is = false;
    if (l->pos < l->n) {
        return qn_tree_fail(l->tree, l->line, "Missing end of raw directive");
    }
    return QN_OK;
}

static const struct {
    char text[3];
    uint8_t kind;
} operators[] = {
    /* the longer ones first */
    {"**", QN_T_POW},      {"//", QN_T_FLOORDIV}, {"==", QN_T_EQ},      {"!=", QN_T_NE},      {">=", QN_T_GE},
    {"<=", QN_T_LE},       {"+", QN_T_ADD},       {"-", QN_T_SUB},      {"/", QN_T_DIV},      {"*", QN_T_MUL},
    {"%", QN_T_MOD},       {"~", QN_T_TILDE},     {"[", QN_T_LBRACKET}, {"]", QN_T_RBRACKET}, {"(", QN_T_LPAREN},
    {")", QN_T_RPAREN},    {"{", QN_T_LBRACE},    {"}", QN_T_RBRACE},   {">", QN_T_GT},       {"<", QN_T_LT},
    {"=", QN_T_ASSIGN},    {".", QN_T_DOT},       {":", QN_T_COLON},    {"|", QN_T_PIPE},     {",", QN_T_COMMA},
    {";", QN_T_SEMICOLON},
};

static qn_status balance(qn_lexer *l, char c)
{
    char closing = c == '(' ? ')' : c == '[' ? ']' : c == '{' ? '}' : '\0';
    if (closing != '\0') {
        if (l->n_open == QN_LEX_MAX_OPEN) {
            return qn_fail(l->tree->err, QN_EFULL, "line %u: more than %d brackets are open", l->line, QN_LEX_MAX_OPEN);
        }
        l->open[l->n_open++] = closing;
    } else if (c == ')' || c == ']' || c == '}') {
        if (l->n_open == 0) {
            return qn_tree_fail(l->tree, l->line, "unexpected '%c'", c);
        }
        if (l->open[--l->n_open] != c) {
            return qn_tree_fail(l->tree, l->line, "unexpected '%c', expected '%c'", c, l->open[l->n_open]);
        }
    }
    return QN_OK;
}

static size_t name_length(const qn_lexer *l)
{
    const uint32_t word = qn_unicode_category_mask(QN_STR("L")) | qn_unicode_category_mask(QN_STR("N")) |
                          qn_unicode_category_mask(QN_STR("Mn")) | qn_unicode_category_mask(QN_STR("Mc"));
    size_t i = l->pos;
    while (i < l->n) {
        uint32_t cp;
        size_t len = qn_unicode_decode(l->source + i, l->n - i, &cp);
        bool is = cp < 0x80 ? cp == '_' || (cp >= '0' && cp <= '9') || ((cp | 32) >= 'a' && (cp | 32) <= 'z')
                            : (word >> qn_unicode_category(cp) & 1) != 0;
        if (!is) {
            break;
        }
        i += len;
    }
    return i - l->pos;
}

static qn_status lex_string(qn_lexer *l, qn_tok *out)
{
    char quote = l->source[l->pos];
    size_t i = l->pos + 1;
    while (i < l->n && l->source[i] != quote) {
        i += l->source[i] == '\\' ? 2 : 1;
    }
    if (i >= l->n) {
        return fail_char(l);
    }
    out->kind = QN_T_STRING;
    QN_TRY(qn_lex_unescape(l, (qn_str){l->source + l->pos + 1, i - l->pos - 1}, &out->text));
    move(l, i + 1);
    return QN_OK;
}

/* One token inside a tag. */
static qn_status lex_code(qn_lexer *l, qn_tok *out)
{
    size_t len = 0;
    char c = l->source[l->pos];
    out->line = l->line;
    if (c == '"' || c == '\'') {
        return lex_string(l, out);
    }
    if (c >= '0' && c <= '9') {
        QN_TRY(qn_lex_number(l, out, &len));
        move(l, l->pos + len);
        return QN_OK;
    }
    len = name_length(l);
    if (len > 0) {
        out->kind = QN_T_NAME;
        out->text = (qn_str){l->source + l->pos, len};
        move(l, l->pos + len);
        return QN_OK;
    }
    for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
        if (at(l, l->pos, operators[i].text)) {
            out->kind = operators[i].kind;
            QN_TRY(balance(l, c));
            move(l, l->pos + strlen(operators[i].text));
            return QN_OK;
        }
    }
    return fail_char(l);
}

qn_status qn_lexer_next(qn_lexer *l, qn_tok *out)
{
    for (;;) {
        out->line = l->line;
        if (l->tag != NO_TAG) {
            if (lex_open(l, out)) {
                return QN_OK;
            }
        } else if (l->pos >= l->n) {
            out->kind = QN_T_EOF;
            return QN_OK;
        } else if (l->state == IN_TEXT) {
            if (lex_text(l, out)) {
                return QN_OK;
            }
        } else if (l->state == IN_COMMENT) {
            QN_TRY(skip_comment(l));
        } else if (l->state == IN_RAW) {
            bool is;
            QN_TRY(lex_raw(l, out, &is));
            if (is) {
                return QN_OK;
            }
        } else {
            bool is_var = l->state == IN_VAR;
            size_t end = l->n_open > 0 ? 0 : close_at(l, l->pos, is_var ? "}}" : "%}", !is_var, !is_var);
            if (end > 0) {
                out->kind = is_var ? QN_T_VAR_END : QN_T_BLOCK_END;
                move(l, end);
                l->state = IN_TEXT;
                return QN_OK;
            }
            if (space_at(l, l->pos) == 0) {
                return lex_code(l, out);
            }
            move(l, skip_space(l, l->pos));
        }
    }
}
