/* Dialects: derivation from end to end, memory, description.
 * SPDX-License-Identifier: MIT */
#include "text/chat/dialect_int.h"

struct qn_dialect_text {
    qn_dialect_text *next;
    char bytes[];
};

/* ---- memory: what was found are views of rendered texts, which go away ---- */

static bool keep(qn_dialect *d, qn_str *s)
{
    if (s->len == 0) {
        *s = (qn_str){"", 0};
        return true;
    }
    qn_dialect_text *text = qn_alloc(d->budget, "chat", sizeof(*text) + s->len);
    if (text == NULL) {
        s->len = 0;
        return false;
    }
    memcpy(text->bytes, s->data, s->len);
    text->next = d->texts;
    d->texts = text;
    s->data = text->bytes;
    return true;
}

/* A mark that is too long for the reader is none. */
static bool keep_mark(qn_dialect *d, qn_mark *m)
{
    if (m->before.len + m->core.len + m->after.len > QN_MARK_MAX) {
        *m = (qn_mark){.core = {"", 0}};
    }
    return keep(d, &m->before) && keep(d, &m->core) && keep(d, &m->after);
}

static bool keep_syntax(qn_dialect *d, qn_syntax *s)
{
    qn_mark *marks[] = {&s->section_open, &s->section_close, &s->call_open,  &s->call_close,
                        &s->name_end,     &s->id_end,        &s->key_open,   &s->key_end,
                        &s->value_end,    &s->key_end_json,  &s->guard_open, &s->guard_close};
    qn_str *strs[] = {&s->separator, &s->name_key, &s->arguments_key, &s->id_key,
                      &s->id_prefix, &s->quote,    &s->other_keys[0], &s->other_keys[1],
                      &s->head,      &s->middle,   &s->tail};
    bool good = true;
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        good = keep_mark(d, marks[i]) && good;
    }
    for (size_t i = 0; i < sizeof(strs) / sizeof(strs[0]); i++) {
        good = keep(d, strs[i]) && good;
    }
    return good;
}

static bool keep_all(qn_dialect *d)
{
    qn_header *h = &d->header;
    bool good = keep(d, &d->turn_start) && keep_mark(d, &d->think_open) && keep_mark(d, &d->think_close);
    good = good && keep_mark(d, &d->content_open) && keep_mark(d, &d->content_close) && keep_mark(d, &h->open) &&
           keep_mark(d, &h->end) && keep(d, &h->content) && keep(d, &h->reasoning) && keep(d, &h->recipient) &&
           keep(d, &h->lead) && keep(d, &h->tail);
    for (size_t i = 0; i < d->n_syntaxes; i++) {
        good = good && keep_syntax(d, &d->syntaxes[i]);
    }
    for (size_t i = 0; i < d->n_ends; i++) {
        good = good && keep_mark(d, &d->ends[i]);
    }
    return good;
}

qn_status qn_dialect_open(const qn_jinja *j, qn_str bos, qn_str eos, qn_budget *b, qn_dialect **out, qn_error *err)
{
    qn_dialect *d = qn_zalloc(b, "chat", sizeof(*d));
    qn_prober *p = qn_zalloc(b, "chat", sizeof(*p));
    if (d == NULL || p == NULL) {
        qn_free(d);
        qn_free(p);
        return qn_fail(err, qn_alloc_failure(b, sizeof(*d) + sizeof(*p)), "chat template: no memory");
    }
    d->budget = b;
    d->turn_start = (qn_str){"", 0};
    *p = (qn_prober){.jinja = j, .budget = b, .bos = bos, .eos = eos, .err = err};
    qn_turns turns = {.content = {"", 0}};
    qn_derive_turn(d, p, &turns);
    if (turns.content.len > 0) {
        qn_derive_reasoning(d, p, &turns);
        qn_derive_content_marks(d, &turns);
        qn_derive_calls(d, p, &turns);
    }
    qn_add_common_syntaxes(d);
    qn_status status = p->fatal;
    if (status == QN_OK && !keep_all(d)) {
        status = qn_fail(err, qn_alloc_failure(b, QN_MARK_MAX), "chat template: no memory for its marks");
    }
    qn_prober_free(p);
    qn_free(p);
    if (status != QN_OK) {
        qn_dialect_close(d);
        return status;
    }
    *out = d;
    return QN_OK;
}

void qn_dialect_close(qn_dialect *d)
{
    if (d == NULL) {
        return;
    }
    while (d->texts != NULL) {
        qn_dialect_text *next = d->texts->next;
        qn_free(d->texts);
        d->texts = next;
    }
    qn_free(d);
}

bool qn_dialect_has_calls(const qn_dialect *d)
{
    return d->n_own > 0 || d->has_header;
}

bool qn_dialect_has_reasoning(const qn_dialect *d)
{
    return d->has_reasoning;
}

/* ---- description ---- */

static void add_mark(qn_json_writer *w, const char *key, const qn_mark *m, qn_buf *scratch)
{
    if (m->core.len == 0) {
        return;
    }
    qn_buf_clear(scratch);
    qn_buf_add(scratch, m->before.data, m->before.len);
    for (size_t i = 0; i < m->core.len; i++) {
        char c = m->core.data[i];
        qn_buf_add_char(scratch, c == QN_MARK_DIGITS ? '0' : c == QN_MARK_LINE_END ? '\n' : c);
    }
    qn_buf_add(scratch, m->after.data, m->after.len);
    qn_json_key(w, key);
    qn_json_string(w, qn_buf_view(scratch));
}

static void add_text(qn_json_writer *w, const char *key, qn_str s)
{
    if (s.len > 0) {
        qn_json_key(w, key);
        qn_json_string(w, s);
    }
}

static void add_flag(qn_json_writer *w, const char *key, bool on)
{
    if (on) {
        qn_json_key(w, key);
        qn_json_bool(w, true);
    }
}

static void describe_syntax(qn_json_writer *w, const qn_syntax *s, qn_buf *scratch)
{
    static const char *const shapes[] = {"object",      "keyed object", "named", "tagged",
                                         "nested tags", "braces",       "python"};
    static const char *const ids[] = {"", "before the name", "after the name", "around the name"};
    qn_json_begin_object(w);
    qn_json_key(w, "shape");
    qn_json_cstring(w, shapes[s->shape]);
    add_flag(w, "list", s->list);
    add_flag(w, "bare", s->bare);
    add_flag(w, "whole", s->whole);
    add_flag(w, "known", s->known);
    add_mark(w, "section_open", &s->section_open, scratch);
    add_mark(w, "call_open", &s->call_open, scratch);
    add_mark(w, "name_end", &s->name_end, scratch);
    add_mark(w, "id_end", &s->id_end, scratch);
    add_mark(w, "key_open", &s->key_open, scratch);
    add_mark(w, "key_end", &s->key_end, scratch);
    add_mark(w, "key_end_json", &s->key_end_json, scratch);
    add_mark(w, "value_end", &s->value_end, scratch);
    add_mark(w, "guard_open", &s->guard_open, scratch);
    add_mark(w, "guard_close", &s->guard_close, scratch);
    add_mark(w, "call_close", &s->call_close, scratch);
    add_mark(w, "section_close", &s->section_close, scratch);
    add_text(w, "separator", s->separator);
    add_text(w, "quote", s->quote);
    add_flag(w, "quoted", s->quoted);
    if (s->shape == QN_SHAPE_OBJECT) {
        add_text(w, "name_key", s->name_key);
        add_text(w, "arguments_key", s->arguments_key);
        add_text(w, "id_key", s->id_key);
    }
    add_text(w, "id", qn_str_of(ids[s->id_place]));
    qn_json_end_object(w);
}

qn_status qn_dialect_describe(const qn_dialect *d, qn_buf *out)
{
    qn_json_writer w;
    qn_buf scratch;
    qn_buf_init(&scratch, d->budget, "chat", 4 * QN_MARK_MAX);
    qn_json_writer_init(&w, out);
    qn_json_begin_object(&w);
    add_text(&w, "turn_start", d->turn_start);
    if (d->has_reasoning) {
        qn_json_key(&w, "reasoning");
        qn_json_begin_object(&w);
        add_mark(&w, "open", &d->think_open, &scratch);
        add_mark(&w, "close", &d->think_close, &scratch);
        add_flag(&w, "opened_by_prompt", d->prompt_opens);
        qn_json_end_object(&w);
    }
    add_mark(&w, "content_open", &d->content_open, &scratch);
    add_mark(&w, "content_close", &d->content_close, &scratch);
    if (d->has_header) {
        const qn_header *h = &d->header;
        qn_json_key(&w, "headers");
        qn_json_begin_object(&w);
        add_mark(&w, "open", &h->open, &scratch);
        add_mark(&w, "end", &h->end, &scratch);
        add_text(&w, "content", h->content);
        add_text(&w, "reasoning", h->reasoning);
        add_text(&w, "recipient", h->recipient);
        add_flag(&w, "json_body", h->json_body);
        qn_json_end_object(&w);
    }
    qn_json_key(&w, "calls");
    qn_json_begin_array(&w);
    for (size_t i = 0; i < d->n_syntaxes; i++) {
        describe_syntax(&w, &d->syntaxes[i], &scratch);
    }
    qn_json_end_array(&w);
    qn_json_key(&w, "end");
    qn_json_begin_array(&w);
    for (size_t i = 0; i < d->n_ends; i++) {
        qn_json_string(&w, d->ends[i].core);
    }
    qn_json_end_array(&w);
    qn_json_key(&w, "notes");
    qn_json_begin_array(&w);
    for (size_t i = 0; i < d->n_notes; i++) {
        qn_json_cstring(&w, d->notes[i]);
    }
    qn_json_end_array(&w);
    qn_json_end_object(&w);
    qn_status status = out->status != QN_OK ? out->status : scratch.status;
    qn_buf_free(&scratch);
    return status;
}
