/* Marks as expressions, and free text: any in which no mark stands.
 * SPDX-License-Identifier: MIT */
#include "grammar/front_calls_int.h"

#include "base/buf.h"

#define MAX_BAD 96 /* marks of a dialect, and what else free text must not have */
#define MAX_PARTS (QN_MARK_MAX + 4)

/* ---- marks as they are written ---- */

static size_t special_at(const qn_calls *c, qn_str s, size_t at)
{
    size_t best = 0;
    for (size_t i = 0; i < c->o->n_specials; i++) {
        qn_str x = c->o->specials[i].text;
        if (x.len > best && x.len <= s.len - at && memcmp(s.data + at, x.data, x.len) == 0) {
            best = x.len;
        }
    }
    return best;
}

static qn_gx number(qn_gx_builder *b)
{
    qn_gx digit = qn_gx_class(b, &(qn_gx_range){'0', '9'}, 1), rest = qn_gx_repeat(b, digit, 0, 3);
    qn_gx ways[] = {qn_gx_bytes(b, QN_STR("0")),
                    qn_gx_cat(b, (qn_gx[]){qn_gx_class(b, &(qn_gx_range){'1', '9'}, 1), rest}, 2)};
    return qn_gx_alt(b, ways, 2);
}

qn_gx qn_calls_text(qn_calls *c, qn_str text)
{
    qn_gx_builder *b = c->b;
    qn_gx parts[MAX_PARTS];
    uint32_t n = 0;
    size_t from = 0, i = 0;
    while (i <= text.len && n + 2 < MAX_PARTS) {
        size_t special = i < text.len ? special_at(c, text, i) : 0;
        bool is_number = i < text.len && text.data[i] == QN_MARK_DIGITS;
        bool is_line = i < text.len && text.data[i] == QN_MARK_LINE_END;
        if (i < text.len && special == 0 && !is_number && !is_line) {
            i++;
            continue;
        }
        if (i > from) {
            parts[n++] = qn_gx_bytes(b, (qn_str){text.data + from, i - from});
        }
        if (i == text.len) {
            break;
        }
        parts[n++] = is_number ? number(b)
                     : is_line ? qn_gx_bytes(b, QN_STR("\n"))
                               : qn_gx_special(b, (qn_str){text.data + i, special});
        i += special > 0 ? special : 1;
        from = i;
    }
    return n == 0 ? c->none : qn_gx_cat(b, parts, n);
}

bool qn_calls_is_special(const qn_calls *c, qn_str text)
{
    return text.len > 0 && special_at(c, text, 0) > 0;
}

bool qn_calls_is_end(const qn_calls *c, qn_str text)
{
    for (size_t i = 0; i < c->o->n_specials; i++) {
        qn_str x = c->o->specials[i].text;
        if (c->o->specials[i].ends && x.len <= text.len && memmem(text.data, text.len, x.data, x.len) != NULL) {
            return true;
        }
    }
    return false;
}

qn_gx qn_calls_mark(qn_calls *c, const qn_mark *m)
{
    return qn_calls_text(c, m->core);
}

qn_gx qn_calls_maybe(qn_calls *c, qn_str text)
{
    return text.len == 0 ? c->none : qn_gx_repeat(c->b, qn_calls_text(c, text), 0, 1);
}

/* ---- texts that hold a mark ---- */

/* Readers take blanks between <|a|> and what stands beside it, and any blanks where a mark has some. */
static bool is_edge(qn_str s, size_t i)
{
    static const char bar[] = "\xEF\xBD\x9C";
    qn_str rest = {s.data + i, s.len - i};
    bool begins =
        i > 0 && rest.len > 3 && rest.data[0] == '<' && (rest.data[1] == '|' || memcmp(rest.data + 1, bar, 3) == 0);
    bool ends =
        i > 3 && i < s.len && s.data[i - 1] == '>' && (s.data[i - 2] == '|' || memcmp(s.data + i - 4, bar, 3) == 0);
    return begins || ends;
}

/* All that the reader takes for the mark, as text. */
qn_gx qn_calls_spelled(qn_calls *c, qn_str core)
{
    qn_gx_builder *b = c->b;
    qn_gx parts[2 * MAX_PARTS], digits = 0;
    uint32_t n = 0;
    size_t from = 0;
    for (size_t i = 0; i <= core.len && n + 3 < 2 * MAX_PARTS; i++) {
        char x = i < core.len ? core.data[i] : ' ';
        bool is_special = i == core.len || qn_is_blank(x) || x == QN_MARK_DIGITS || x == QN_MARK_LINE_END;
        if (!is_special && !is_edge(core, i)) {
            continue;
        }
        if (i > from) {
            parts[n++] = qn_gx_bytes(b, (qn_str){core.data + from, i - from});
        }
        from = is_special ? i + 1 : i;
        if (i == core.len) {
            break;
        }
        if (x == QN_MARK_DIGITS) {
            digits = qn_gx_class(b, &(qn_gx_range){'0', '9'}, 1);
            parts[n++] = qn_gx_repeat(b, digits, 1, QN_GX_NO_MAX);
        } else {
            parts[n++] = x == QN_MARK_LINE_END ? qn_gx_bytes(b, QN_STR("\n")) : c->blanks;
        }
    }
    return qn_gx_cat(b, parts, n);
}

typedef struct bad_list {
    qn_gx inside[MAX_BAD], begins[8], ends[QN_MARK_MAX], whole[1];
    uint32_t n_inside, n_begins, n_ends, n_whole;
} bad_list;

bool qn_calls_overlaps(qn_str core)
{
    for (size_t n = 1; n < core.len; n++) {
        if (memcmp(core.data, core.data + core.len - n, n) == 0) {
            return true;
        }
    }
    return false;
}

/* Behind `>`, the mark `>>>` is found one place too early. */
static void add_next(qn_calls *c, bad_list *bad, const qn_mark *next)
{
    qn_str core = next != NULL ? next->core : (qn_str){"", 0};
    for (size_t n = 1; n < core.len; n++) {
        if (memcmp(core.data, core.data + core.len - n, n) == 0) {
            bad->ends[bad->n_ends++] = qn_calls_spelled(c, (qn_str){core.data, core.len - n});
        }
    }
}

static void add_inside(qn_calls *c, bad_list *bad, qn_str core)
{
    if (core.len > 0 && bad->n_inside < MAX_BAD) {
        bad->inside[bad->n_inside++] = qn_calls_spelled(c, core);
    }
}

static void add_begin(qn_calls *c, bad_list *bad, qn_str core)
{
    if (core.len > 0) {
        bad->begins[bad->n_begins++] = qn_gx_cat(c->b, (qn_gx[]){c->blanks, qn_calls_spelled(c, core)}, 2);
    }
}

static void add_turn(qn_calls *c, bad_list *bad)
{
    for (size_t i = 0; i < c->d->n_ends; i++) {
        add_inside(c, bad, c->d->ends[i].core);
    }
    if (c->d->header != NULL) {
        add_inside(c, bad, c->d->header->open.core);
    }
}

/* Any characters, bad texts left out. */
static qn_gx free_text(qn_calls *c, const bad_list *bad)
{
    qn_gx_builder *b = c->b;
    qn_gx ways[4], text = c->any;
    uint32_t n = 0;
    if (bad->n_inside > 0) {
        ways[n++] = qn_gx_cat(b, (qn_gx[]){c->any, qn_gx_alt(b, bad->inside, bad->n_inside), c->any}, 3);
    }
    if (bad->n_begins > 0) {
        ways[n++] = qn_gx_cat(b, (qn_gx[]){qn_gx_alt(b, bad->begins, bad->n_begins), c->any}, 2);
    }
    if (bad->n_ends > 0) {
        ways[n++] = qn_gx_cat(b, (qn_gx[]){c->any, qn_gx_alt(b, bad->ends, bad->n_ends)}, 2);
    }
    if (bad->n_whole > 0) {
        ways[n++] = bad->whole[0];
    }
    if (n > 0) {
        text = qn_gx_and(b, text, qn_gx_not(b, qn_gx_alt(b, ways, n)));
    }
    return text;
}

/* ---- JSON that the reader takes for a call without a mark ---- */

static qn_gx words(qn_calls *c, const char *const *list, size_t n, qn_str own)
{
    qn_gx ways[8];
    uint32_t n_ways = 0;
    for (size_t i = 0; i < n; i++) {
        ways[n_ways++] = qn_gx_bytes(c->b, qn_str_of(list[i]));
    }
    if (own.len > 0) {
        ways[n_ways++] = qn_gx_bytes(c->b, own);
    }
    return qn_gx_alt(c->b, ways, n_ways);
}

/* {"name": "TOOL"   {"function": {   {"arguments"   and keys or names with escapes, which may be these. While a key or
 * name is open, a mark of calls is part of it: so the text before such a mark does not end there. */
static void add_bare(qn_calls *c, bad_list *bad, const qn_syntax *s, bool has_next)
{
    static const char *const names[] = {"name", "tool_name", "function"};
    static const char *const others[] = {"arguments", "parameters", "id", "tool_call_id", "type"};
    static const qn_gx_range plain[] = {{0, '!'}, {'#', '['}, {']', QN_FRONT_LAST}};
    qn_gx_builder *b = c->b;
    qn_gx quote = qn_gx_bytes(b, QN_STR("\"")), open = qn_gx_bytes(b, QN_STR("{"));
    qn_gx open_text = qn_gx_repeat(b, qn_gx_class(b, plain, 3), 0, QN_GX_NO_MAX);
    qn_gx escaped = qn_gx_cat(b, (qn_gx[]){open_text, qn_gx_bytes(b, QN_STR("\\"))}, 2);
    qn_gx list = qn_gx_repeat(b, qn_gx_cat(b, (qn_gx[]){qn_gx_bytes(b, QN_STR("[")), c->blanks}, 2), 0, 1);
    qn_gx *tools = qn_alloc(b->budget, "grammar", (c->n_listed + 1) * sizeof(*tools));
    if (tools == NULL) {
        b->status = b->status != QN_OK ? b->status : QN_ENOMEM;
        return;
    }
    for (uint32_t i = 0; i < c->n_listed; i++) {
        tools[i] = qn_gx_cat(b, (qn_gx[]){qn_gx_bytes(b, c->names[i]), quote}, 2);
    }
    tools[c->n_listed] = escaped;
    qn_gx called[] = {qn_gx_cat(b, (qn_gx[]){quote, qn_gx_alt(b, tools, c->n_listed + 1)}, 2), open};
    qn_free(tools);
    qn_gx named = qn_gx_cat(
        b, (qn_gx[]){words(c, names, 3, s->name_key), quote, c->blanks, qn_gx_bytes(b, QN_STR(":")), c->blanks}, 5);
    qn_gx by_name = qn_gx_cat(b, (qn_gx[]){named, qn_gx_alt(b, called, 2)}, 2);
    qn_gx by_other = qn_gx_cat(b, (qn_gx[]){words(c, others, 5, s->arguments_key), quote}, 2);
    qn_gx keys[] = {by_name, by_other, escaped};
    bad->begins[bad->n_begins++] =
        qn_gx_cat(b, (qn_gx[]){c->blanks, list, open, c->blanks, quote, qn_gx_alt(b, keys, 3)}, 6);
    if (has_next) {
        qn_gx ways[] = {open_text, qn_gx_cat(b, (qn_gx[]){named, quote, open_text}, 3)};
        bad->whole[bad->n_whole++] =
            qn_gx_cat(b, (qn_gx[]){c->blanks, list, open, c->blanks, quote, qn_gx_alt(b, ways, 2)}, 6);
    }
}

/* ---- free text ---- */

qn_gx qn_calls_content(qn_calls *c, const qn_mark *next)
{
    const qn_dialect_view *d = c->d;
    bad_list bad = {.n_inside = 0};
    bool has_bare = false;
    for (size_t i = 0; i < d->n_syntaxes; i++) {
        const qn_syntax *s = &d->syntaxes[i];
        add_inside(c, &bad, s->section_open.core);
        add_inside(c, &bad, s->call_open.core);
        if (s->bare && !has_bare) {
            add_bare(c, &bad, s, next != NULL);
            has_bare = true;
        }
    }
    add_turn(c, &bad);
    add_next(c, &bad, next);
    add_inside(c, &bad, d->content_close.core);
    add_begin(c, &bad, d->content_open.core);
    if (d->has_reasoning && d->header == NULL) {
        add_begin(c, &bad, d->think_open.core);
        add_begin(c, &bad, d->think_close.core);
    }
    return free_text(c, &bad);
}

qn_gx qn_calls_reasoning(qn_calls *c, const qn_mark *next)
{
    bad_list bad = {.n_inside = 0};
    if (c->d->header == NULL) {
        add_inside(c, &bad, c->d->think_close.core);
    }
    add_turn(c, &bad);
    add_next(c, &bad, next);
    return free_text(c, &bad);
}
