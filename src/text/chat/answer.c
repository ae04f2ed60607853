/* Reading an answer: public calls, and where its prompt leaves off.
 * SPDX-License-Identifier: MIT */
#include "text/chat/answer_int.h"

static bool is_start_of(qn_str s, qn_str of)
{
    return s.len <= of.len && qn_cut_starts(of, s);
}

/* Whitespace of the mark that the prompt ends with and that may still come: `rest` is what follows the mark's core. */
static qn_str rest_of(qn_str after, qn_str rest)
{
    return is_start_of(rest, after) ? qn_cut_from(after, rest.len) : (qn_str){"", 0};
}

/* What the prompt has after the generation prompt's fixed part: marks of reasoning, and text to go on from. */
static void enter_after(qn_answer *a, qn_str tail)
{
    const qn_dialect *d = a->d;
    qn_str trimmed = qn_cut_from(tail, qn_mark_of(tail).before.len);
    qn_answer_state state = QN_AS_CONTENT;
    qn_str skip = {"", 0};
    if (d->has_reasoning && d->think_open.core.len > 0) {
        bool open = qn_cut_starts(trimmed, d->think_open.core);
        size_t close = qn_cut_find(trimmed, d->think_close.core, 0);
        if (open || close == 0) {
            bool closed = close != QN_NOWHERE;
            size_t end = closed ? close + d->think_close.core.len : d->think_open.core.len;
            state = closed ? QN_AS_CONTENT : QN_AS_REASONING;
            skip = rest_of(closed ? d->think_close.after : d->think_open.after, qn_cut_from(trimmed, end));
            a->begun = true;
            trimmed = closed ? qn_cut_from(trimmed, end) : (qn_str){"", 0};
        }
    }
    a->fresh = qn_cut_trim(trimmed).len == 0;
    qn_answer_enter(a, state);
    a->skip = skip;
}

static void enter_after_header(qn_answer *a, qn_str tail)
{
    qn_answer_hold(a, NULL);
    qn_answer_enter(a, QN_AS_HEADER);
    qn_answer_feed(a, tail.data, tail.len); /* nobody hears it: the prompt is not the answer */
    qn_answer_settle(a, true);
    qn_buf_clear(&a->raw);
    a->n_out = 0;
}

static void enter_first(qn_answer *a, qn_str prompt)
{
    const qn_dialect *d = a->d;
    a->fresh = true;
    if (d->has_header) {
        size_t at = qn_cut_find_last(prompt, d->header.open.core, prompt.len);
        if (at != QN_NOWHERE) {
            enter_after_header(a, qn_cut_from(prompt, at + d->header.open.core.len));
            return;
        }
    }
    qn_str start = qn_cut_trim(d->turn_start);
    size_t at = qn_cut_find_last(prompt, start, prompt.len);
    if (at != QN_NOWHERE) {
        enter_after(a, qn_cut_from(prompt, at + start.len));
        return;
    }
    at = d->has_reasoning ? qn_cut_find_last(prompt, d->think_open.core, prompt.len) : QN_NOWHERE;
    bool ends_open = at != QN_NOWHERE && qn_cut_trim(qn_cut_from(prompt, at + d->think_open.core.len)).len == 0;
    enter_after(a, ends_open ? qn_cut_from(prompt, at) : (qn_str){"", 0});
}

qn_status qn_answer_open(const qn_dialect *d, const qn_answer_options *o, qn_budget *b, qn_answer **out, qn_error *err)
{
    qn_answer *a = qn_zalloc(b, "chat", sizeof(*a));
    if (a == NULL) {
        return qn_fail(err, qn_alloc_failure(b, sizeof(*a)), "answer: no memory");
    }
    a->d = d;
    a->budget = b;
    a->no_calls = o->no_calls;
    a->keep_reasoning = o->keep_reasoning;
    a->err = err;
    qn_buf_init(&a->raw, b, "chat", QN_ANSWER_RAW);
    qn_buf_init(&a->value, b, "chat", QN_ANSWER_VALUE);
    qn_buf_init(&a->nest_keys, b, "chat", (size_t)QN_ANSWER_NESTED * QN_ANSWER_NAME);
    a->status = qn_tools_copy(o->tools, b, &a->tools, err);
    if (a->status == QN_OK) {
        enter_first(a, o->prompt);
    }
    qn_status status = a->status;
    if (status != QN_OK) {
        qn_answer_close(a);
        return status;
    }
    *out = a;
    return QN_OK;
}

void qn_answer_close(qn_answer *a)
{
    if (a == NULL) {
        return;
    }
    qn_json_free(a->tools);
    qn_buf_free(&a->raw);
    qn_buf_free(&a->value);
    qn_buf_free(&a->nest_keys);
    qn_free(a);
}

qn_status qn_answer_push(qn_answer *a, const char *bytes, size_t n, qn_part_fn *fn, void *ctx, qn_error *err)
{
    a->fn = fn;
    a->ctx = ctx;
    a->err = err;
    qn_answer_feed(a, bytes, n);
    qn_answer_flush(a, false);
    return a->status;
}

bool qn_answer_is_over(const qn_answer *a)
{
    return a->state == QN_AS_OVER;
}

/* What is held follows a call, a message or the turn, and is whitespace or marks. */
static bool is_after_end(const qn_answer *a)
{
    return (a->state == QN_AS_SECTION && a->n_calls > 0) || a->state == QN_AS_BETWEEN || a->state == QN_AS_OVER;
}

qn_status qn_answer_finish(qn_answer *a, qn_part_fn *fn, void *ctx, bool *cut, qn_error *err)
{
    a->fn = fn;
    a->ctx = ctx;
    a->err = err;
    if (qn_object_lacks_end(a)) {
        a->n_held = 0; /* the beginning of a mark that had to come */
        qn_call_cut_json(a);
    }
    bool after_calls = is_after_end(a);
    bool bare = a->syntax != NULL && a->syntax->bare;
    bool inside = a->announced || (a->holding && !after_calls && !bare);
    if ((after_calls && a->state != QN_AS_OVER) || (a->announced && a->state == QN_AS_TAGS)) {
        a->n_held = 0; /* the beginning of a mark that had to come */
    }
    qn_answer_settle(a, true);
    if (a->state == QN_AS_WHOLE && a->object.over) {
        qn_object_end_whole(a);
    }
    *cut = a->cut || inside || a->announced || a->state == QN_AS_REASONING;
    if (a->announced && a->state == QN_AS_KEY) {
        qn_answer_say(a, QN_PART_ARGUMENTS, "\"", 1); /* what there is of a parameter's name */
        qn_answer_say(a, QN_PART_ARGUMENTS, a->key.bytes, a->key.n);
    }
    if (a->announced && a->holding && (a->state == QN_AS_LITERAL || a->state == QN_AS_CLOSE_KEY)) {
        qn_tags_finish(a);
        qn_answer_say(a, QN_PART_ARGUMENTS, a->raw.data, a->raw.len);
    } else if (a->announced && a->holding && a->state == QN_AS_OBJECT && qn_cut_trim(qn_buf_view(&a->raw)).len > 0) {
        qn_answer_say(a, QN_PART_CONTENT, a->raw.data, a->raw.len); /* members after the arguments */
    }
    if (a->announced) {
        qn_tags_finish(a);
        a->announced = a->holding = false;
    }
    if (a->holding && !is_after_end(a)) {
        qn_answer_say(a, QN_PART_CONTENT, a->raw.data, a->raw.len);
    }
    a->holding = false;
    qn_answer_flush(a, true);
    qn_answer_enter(a, QN_AS_OVER);
    return a->status;
}
