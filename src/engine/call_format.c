/* Formats of answers with calls: the template's marks, the model's special tokens in them, and the tools of a request.
 * SPDX-License-Identifier: MIT */
#include "engine/chat_int.h"
#include "engine/format_int.h"
#include "grammar/front_calls.h"

_Static_assert((int)QN_TOOLS_AUTO == (int)QN_CALLS_AUTO && (int)QN_TOOLS_REQUIRED == (int)QN_CALLS_REQUIRED &&
                   (int)QN_TOOLS_NONE == (int)QN_CALLS_NONE,
               "choices have one number inside and outside");

#define MAX_MARKS ((size_t)1 << 16) /* bytes of a dialect's marks: some hundreds of them */
#define MAX_TOOLS ((size_t)1 << 20) /* bytes of JSON: a thousand functions with a kilobyte each */
#define MAX_SPECIALS 256            /* in all marks together */

/* ---- special tokens in marks ---- */

static void add_mark(qn_buf *all, const qn_mark *m)
{
    qn_buf_add(all, m->core.data, m->core.len);
    qn_buf_add_char(all, '\0');
}

static void add_text(qn_buf *all, qn_str s)
{
    add_mark(all, &(qn_mark){.core = s});
}

static void gather_marks(const qn_dialect *d, qn_buf *all)
{
    qn_dialect_view v;
    qn_dialect_get_view(d, &v);
    const qn_mark *own[] = {&v.think_open, &v.think_close, &v.content_open, &v.content_close};
    for (size_t i = 0; i < 4; i++) {
        add_mark(all, own[i]);
    }
    for (size_t i = 0; i < v.n_ends; i++) {
        add_mark(all, &v.ends[i]);
    }
    if (v.header != NULL) {
        const qn_str parts[] = {v.header->open.core, v.header->end.core, v.header->content, v.header->reasoning,
                                v.header->recipient, v.header->lead,     v.header->tail};
        for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
            add_text(all, parts[i]);
        }
    }
    for (size_t i = 0; i < v.n_syntaxes; i++) {
        const qn_syntax *s = &v.syntaxes[i];
        const qn_mark *marks[] = {&s->section_open, &s->section_close, &s->call_open,  &s->call_close,
                                  &s->name_end,     &s->id_end,        &s->key_open,   &s->key_end,
                                  &s->key_end_json, &s->value_end,     &s->guard_open, &s->guard_close};
        for (size_t k = 0; k < sizeof(marks) / sizeof(marks[0]); k++) {
            add_mark(all, marks[k]);
        }
        add_text(all, s->quote);
    }
}

static qn_status find_in(qn_chat *c, const qn_tokenizer *t, const qn_buf *marks)
{
    for (uint32_t id = 0; id < qn_tokenizer_n_vocab(t); id++) {
        if (qn_tokenizer_kind(t, (int32_t)id) != QN_TOKEN_CONTROL || c->n_specials == MAX_SPECIALS) {
            continue;
        }
        qn_str piece = qn_tokenizer_piece(t, (int32_t)id);
        if (piece.len < 2 || memchr(piece.data, '\0', piece.len) != NULL ||
            memmem(marks->data, marks->len, piece.data, piece.len) == NULL) {
            continue;
        }
        size_t start = c->specials.len;
        qn_buf_add(&c->specials, piece.data, piece.len);
        c->special[c->n_specials++] = (qn_chat_special){{start, c->specials.len}, qn_tokenizer_is_end(t, (int32_t)id)};
    }
    return c->specials.status;
}

qn_status qn_chat_find_specials(qn_chat *c, const qn_model *m, qn_error *err)
{
    if (m == NULL) {
        return QN_OK;
    }
    qn_buf marks;
    qn_buf_init(&marks, c->budget, QN_CHAT_OWNER, MAX_MARKS);
    gather_marks(c->dialect, &marks);
    c->special = qn_zalloc_array(c->budget, QN_CHAT_OWNER, MAX_SPECIALS, sizeof(*c->special));
    qn_status status = c->special == NULL ? QN_ENOMEM : marks.status;
    status = status == QN_OK ? find_in(c, m->tokenizer, &marks) : status;
    qn_buf_free(&marks);
    return status == QN_OK ? QN_OK : qn_fail(err, status, "no memory for the chat template's marks");
}

/* ---- the format ---- */

void qn_call_format_options_init(qn_call_format_options *o)
{
    *o = (qn_call_format_options){0};
}

static qn_status compile(const qn_chat *c, const qn_front_calls_options *fo, const qn_buf *key, qn_format **out,
                         qn_error *err)
{
    qn_gx_builder b;
    qn_gx_init(&b, c->budget);
    qn_status status = qn_front_calls(&b, fo, err);
    if (status == QN_OK) {
        status = qn_format_from(c->rt, &b, key, out, err);
        if (status == QN_EFORMAT) { /* such a grammar is well-formed: it matches nothing */
            qn_fail(err, status,
                    fo->name.len > 0 ? "tool \"%.*s\": no object satisfies its parameters"
                                     : "tools: no object satisfies the parameters of any%.*s",
                    QN_STR_ARG(fo->name));
        }
    }
    qn_gx_free(&b);
    return status;
}

static qn_status read_and_compile(const qn_chat *c, const qn_call_format_options *o, qn_answer_start start,
                                  const qn_buf *key, qn_format **out, qn_error *err)
{
    qn_dialect_view view;
    qn_calls_special specials[MAX_SPECIALS];
    qn_conversation *tools = NULL;
    qn_dialect_get_view(c->dialect, &view);
    for (size_t i = 0; i < c->n_specials; i++) {
        qn_span s = c->special[i].text;
        specials[i] = (qn_calls_special){{c->specials.data + s.start, s.end - s.start}, c->special[i].ends};
    }
    qn_front_calls_options fo = {.dialect = &view,
                                 .start = start,
                                 .choice = (qn_calls_choice)o->choice,
                                 .name = o->name != NULL ? qn_str_of(o->name) : (qn_str){"", 0},
                                 .one_call = o->one_call,
                                 .strict = o->strict,
                                 .specials = specials,
                                 .n_specials = c->n_specials};
    if (o->tools != NULL) {
        qn_error why;
        qn_status status = qn_conversation_open_value((qn_str){o->tools, o->tools_bytes}, c->budget, &tools, &why);
        if (status != QN_OK) {
            return qn_fail(err, status, "tools: %s", why.what);
        }
        fo.tools = qn_conversation_vars(tools);
    }
    qn_status status = compile(c, &fo, key, out, err);
    qn_conversation_close(tools);
    return status;
}

static qn_status find_or_compile(const qn_chat *c, const qn_prompt *p, const qn_call_format_options *o, qn_format **out,
                                 qn_error *err)
{
    qn_answer_start start;
    qn_str prompt;
    prompt.data = qn_prompt_text(p, &prompt.len);
    QN_TRY(qn_dialect_find_start(c->dialect, prompt, c->budget, &start, err));
    qn_buf key;
    qn_format_key_init(&key, c->rt, "calls");
    qn_buf_printf(&key, "%llu %d %d %d %d ", (unsigned long long)c->serial, (int)start, (int)o->choice, o->one_call,
                  o->strict);
    qn_buf_add_str(&key, o->name != NULL ? o->name : "");
    qn_buf_add_char(&key, '\0');
    qn_buf_add(&key, o->tools != NULL ? o->tools : "", o->tools_bytes);
    qn_status status = key.status != QN_OK ? qn_fail(err, key.status, "no memory for a format of calls") : QN_OK;
    if (status == QN_OK) {
        *out = qn_format_find(c->rt, &key);
        status = *out != NULL ? QN_OK : read_and_compile(c, o, start, &key, out, err);
    }
    qn_buf_free(&key);
    return status;
}

qn_status qn_call_format_open(const qn_chat *c, const qn_prompt *p, const qn_call_format_options *o, qn_format **out,
                              qn_error *err)
{
    QN_NEED(c, err);
    QN_NEED(p, err);
    QN_NEED(o, err);
    QN_NEED(out, err);
    QN_NEED_IF(o->tools_bytes != 0, o->tools, err);
    if (o->choice > QN_TOOLS_NONE) {
        return qn_fail(err, QN_EINVAL, "choice: %d is none", (int)o->choice);
    }
    if (o->tools_bytes > MAX_TOOLS) {
        return qn_fail(err, QN_EFULL, "tools: %zu bytes, at most %zu", o->tools_bytes, MAX_TOOLS);
    }
    qn_format *f = NULL;
    qn_status status = find_or_compile(c, p, o, &f, err);
    if (status != QN_OK) {
        return qn_blame_ceiling(c->budget, status, err);
    }
    *out = f;
    return QN_OK;
}
