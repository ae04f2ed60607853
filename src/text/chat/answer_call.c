/* Sections of calls, names, and what all shapes have in common.
 * SPDX-License-Identifier: MIT */
#include "text/chat/answer_int.h"

static const qn_syntax header_json = {.shape = QN_SHAPE_NAMED};

/* ---- holding, announcing, ending ---- */

void qn_answer_hold(qn_answer *a, const qn_syntax *s)
{
    a->holding = true;
    qn_buf_clear(&a->raw);
    a->syntax = s;
    a->name.n = a->id.n = 0;
    a->id_said = false;
}

void qn_answer_keep(qn_answer *a, qn_str text)
{
    qn_buf_add(&a->raw, text.data, text.len);
    if (a->raw.status == QN_EFULL) {
        /* Longer than any call that begins with its name: it is content, and so is the byte that did not fit. */
        a->raw.status = QN_OK;
        qn_answer_reject(a);
        qn_answer_say(a, QN_PART_CONTENT, text.data, text.len);
    } else if (a->raw.status != QN_OK) {
        qn_answer_fail(a, a->raw.status, "no memory for a call");
    }
}

void qn_answer_reject(qn_answer *a)
{
    if (a->announced) {
        qn_tags_finish(a);
        qn_answer_flush(a, true);
        a->announced = false;
        a->i_call++;
    }
    if (a->holding) {
        qn_answer_say(a, QN_PART_CONTENT, a->raw.data, a->raw.len);
        qn_buf_clear(&a->raw);
        a->holding = false;
    }
    a->in_list = a->fresh = false;
    a->skip.len = 0;
    qn_answer_enter(a, QN_AS_CONTENT);
}

/* A mark that makes no sense here is content, and so is what was held before it. */
static void reject_mark(qn_answer *a, qn_str text)
{
    qn_answer_reject(a);
    qn_answer_say(a, QN_PART_CONTENT, text.data, text.len);
}

void qn_call_announce(qn_answer *a)
{
    qn_answer_say_once(a, QN_PART_CALL, qn_word_view(&a->name));
    if (a->id.n > 0) {
        qn_answer_say_once(a, QN_PART_CALL_ID, qn_word_view(&a->id));
        a->id_said = true;
    }
    a->parameters = qn_tool_parameters(qn_tools_find(a->tools, qn_word_view(&a->name)));
    a->announced = true;
    a->holding = false;
}

void qn_call_leave(qn_answer *a, qn_str skip)
{
    a->holding = a->in_list = a->list_over = false;
    a->fresh = true;
    qn_answer_enter(a, QN_AS_CONTENT);
    a->skip = skip;
}

void qn_call_end(qn_answer *a)
{
    if (a->id.n > 0 && !a->id_said) {
        qn_answer_say_once(a, QN_PART_CALL_ID, qn_word_view(&a->id));
    }
    qn_answer_say_once(a, QN_PART_CALL_END, (qn_str){"", 0});
    const qn_syntax *s = a->syntax;
    a->announced = false;
    a->i_call++;
    a->n_calls++;
    bool more = s->shape == QN_SHAPE_OBJECT || s->shape == QN_SHAPE_KEYED || a->in_list || s->call_close.core.len > 0 ||
                s->section_close.core.len > 0;
    qn_answer_hold(a, s);
    if (s == &header_json) {
        qn_answer_enter(a, QN_AS_BETWEEN);
    } else if (more) {
        qn_answer_enter(a, QN_AS_SECTION);
    } else {
        qn_call_leave(a, s->separator);
    }
}

void qn_call_from_header(qn_answer *a)
{
    a->syntax = &header_json;
    qn_answer_enter(a, QN_AS_BEFORE_JSON);
}

/* ---- sections and names ---- */

static bool is_name_char(char c)
{
    return (unsigned char)c > ' ' && strchr("<>{}()[]\"'`,;|=\\", c) == NULL;
}

static void begin_call(qn_answer *a)
{
    a->name.n = a->id.n = 0;
    a->word_over = false;
    bool objects = a->syntax->shape == QN_SHAPE_OBJECT || a->syntax->shape == QN_SHAPE_KEYED;
    qn_answer_enter(a, objects ? QN_AS_SECTION : a->syntax->id_place == QN_ID_BEFORE_NAME ? QN_AS_ID : QN_AS_NAME);
}

static bool in_section(qn_answer *a, char c)
{
    const qn_syntax *s = a->syntax;
    bool objects = s->shape == QN_SHAPE_OBJECT || s->shape == QN_SHAPE_KEYED;
    bool lists = objects || s->shape == QN_SHAPE_PYTHON;
    if (qn_is_blank(c)) {
        return true;
    }
    if (lists && c == '[' && a->n_calls == 0 && !a->in_list) {
        a->in_list = true;
        return true;
    }
    if (lists && (c == ',' || c == ';') && a->n_calls > 0 && !a->list_over) {
        return true;
    }
    if (c == ']' && a->in_list && a->n_calls > 0) {
        a->in_list = false;
        a->list_over = true;
        if (s->section_close.core.len == 0 && s->call_close.core.len == 0) {
            qn_call_leave(a, (qn_str){"", 0});
        }
        return true;
    }
    if (c == '}' && a->n_calls > 0 && (objects || s->shape == QN_SHAPE_NAMED)) {
        return true; /* one too many: content, unless a mark follows */
    }
    bool json = objects || (s->shape == QN_SHAPE_PYTHON && s->section_open.core.len > 0); /* models mix the two */
    if (json && c == '{' && !a->list_over) {
        qn_object_begin(a);
        return qn_object_byte(a, c);
    }
    if (!objects && s->call_open.core.len == 0 && is_name_char(c) && !a->list_over) {
        begin_call(a);
        return qn_answer_call_byte(a, c);
    }
    return false;
}

static void begin_literal(qn_answer *a, char close)
{
    qn_call_announce(a);
    qn_literal_init_members(&a->literal, a->syntax->quote, close);
    qn_answer_say(a, QN_PART_ARGUMENTS, a->literal.out, a->literal.n_out);
    a->holding = a->done = true;
    qn_buf_clear(&a->raw);
    qn_answer_enter(a, QN_AS_LITERAL);
}

/* A byte of a name or an id: blanks may stand around it where a mark ends it. */
static bool in_word(qn_answer *a, qn_word *w, char c)
{
    if (qn_is_blank(c)) {
        a->word_over = w->n > 0;
        return w->n == 0 || a->n_expected > 0;
    }
    return is_name_char(c) && !a->word_over && qn_word_add(w, c);
}

static bool in_name(qn_answer *a, char c)
{
    const qn_syntax *s = a->syntax;
    if (a->name.n > 0) {
        if (s->shape == QN_SHAPE_PYTHON || s->shape == QN_SHAPE_BRACES) {
            if (c == (s->shape == QN_SHAPE_PYTHON ? '(' : '{')) {
                begin_literal(a, c == '(' ? ')' : '}');
                return true;
            }
        } else if (s->name_end.core.len == 0 && s->shape == QN_SHAPE_NAMED) {
            if (c == '{') {
                return qn_arguments_begin(a, c);
            }
            if (qn_is_blank(c)) {
                qn_answer_enter(a, QN_AS_BEFORE_JSON);
                return true;
            }
        } else if (s->name_end.core.len == 0 && qn_is_blank(c)) {
            qn_tags_begin(a);
            return true;
        }
    }
    return in_word(a, &a->name, c);
}

/* Bytes that have not become JSON yet are held: content when they never do. */
static bool in_literal(qn_answer *a, char c)
{
    qn_literal_step step = qn_literal_push(&a->literal, c);
    if (a->literal.n_out > 0) {
        qn_answer_say(a, QN_PART_ARGUMENTS, a->literal.out, a->literal.n_out);
        qn_buf_clear(&a->raw);
        a->done = !qn_literal_pending(&a->literal);
    }
    if (step == QN_LITERAL_DONE) {
        qn_call_end(a);
    }
    return step != QN_LITERAL_BAD;
}

bool qn_answer_call_byte(qn_answer *a, char c)
{
    switch (a->state) {
    case QN_AS_SECTION:
        return in_section(a, c);
    case QN_AS_NAME:
        return in_name(a, c);
    case QN_AS_ID:
        return in_word(a, &a->id, c);
    case QN_AS_BEFORE_JSON:
        return qn_is_blank(c) || (c == '{' && qn_arguments_begin(a, c));
    case QN_AS_JSON:
        return qn_arguments_byte(a, c);
    case QN_AS_OBJECT:
        if (c == ']' && a->in_list && qn_object_lacks_end(a)) {
            qn_call_cut_json(a);
            return a->state == QN_AS_SECTION && in_section(a, c);
        }
        return qn_object_byte(a, c);
    case QN_AS_WHOLE:
        return a->object.over ? qn_is_blank(c) : qn_object_byte(a, c);
    case QN_AS_LITERAL:
        return in_literal(a, c);
    default:
        return qn_tags_byte(a, c);
    }
}

/* ---- marks ---- */

/* AROUND: the id is what stands around the name, with it: functions.NAME:0. */
static void make_id(qn_answer *a, qn_str text)
{
    const qn_syntax *s = a->syntax;
    qn_str core = qn_cut_trim(text);
    size_t n = s->id_suffix - 1; /* then digits */
    while (n < core.len && core.data[n] >= '0' && core.data[n] <= '9') {
        n++;
    }
    qn_str parts[] = {s->id_prefix, qn_word_view(&a->name), qn_cut_to(core, n)};
    for (size_t i = 0; i < 3; i++) {
        for (size_t k = 0; k < parts[i].len; k++) {
            qn_word_add(&a->id, parts[i].data[k]);
        }
    }
}

static void end_name(qn_answer *a, const qn_expected *e, qn_str text)
{
    bool id = a->state == QN_AS_ID;
    bool known = !a->syntax->known || qn_tools_find(a->tools, qn_word_view(&a->name)) != NULL;
    if ((id ? a->id.n : a->name.n) == 0 || !known) {
        reject_mark(a, text);
    } else if (e->kind == QN_MK_ID_END) {
        a->word_over = false;
        qn_answer_enter(a, id ? QN_AS_NAME : QN_AS_ID);
    } else if (a->syntax->shape == QN_SHAPE_NAMED) {
        if (a->syntax->id_place == QN_ID_AROUND_NAME) {
            make_id(a, text);
        }
        qn_answer_enter(a, QN_AS_BEFORE_JSON);
    } else {
        qn_tags_begin(a);
    }
}

static void close_call(qn_answer *a, const qn_expected *e, qn_str text)
{
    const qn_syntax *s = a->syntax;
    bool outer = s->section_open.core.len > 0 || (s->known && s->section_close.core.len > 0);
    if (a->n_calls == 0 || a->state == QN_AS_CONTENT) {
        reject_mark(a, text);
    } else if (e->kind == QN_MK_SECTION_CLOSE || !outer) {
        qn_call_leave(a, e->mark->after);
    } else {
        qn_answer_hold(a, a->syntax);
        qn_answer_enter(a, QN_AS_SECTION);
        a->done = true;
    }
}

void qn_call_on_mark(qn_answer *a, const qn_expected *e, qn_str text)
{
    switch (e->kind) {
    case QN_MK_SECTION_OPEN:
    case QN_MK_CALL_OPEN:
        if (a->state == QN_AS_CONTENT) {
            qn_answer_hold(a, &a->d->syntaxes[e->i]);
            a->n_calls = 0;
            a->in_list = a->list_over = false;
        } else if (a->n_calls > 0) {
            qn_answer_hold(a, a->syntax);
        }
        if (e->kind == QN_MK_SECTION_OPEN) {
            qn_answer_enter(a, QN_AS_SECTION);
        } else {
            begin_call(a);
        }
        break;
    case QN_MK_SECTION_CLOSE:
        close_call(a, e, text);
        break;
    case QN_MK_CALL_CLOSE:
        if (a->state != QN_AS_SECTION && (a->name.n == 0 || a->state == QN_AS_CONTENT)) {
            reject_mark(a, text);
            break;
        }
        if (a->state != QN_AS_SECTION) {
            qn_tags_end_call(a);
        }
        close_call(a, e, text);
        break;
    case QN_MK_NAME_END:
    case QN_MK_ID_END:
        end_name(a, e, text);
        break;
    default:
        qn_tags_on_mark(a, e, text);
        break;
    }
}
