/* Showing and gathering the parts of an answer. SPDX-License-Identifier: MIT */
#include "cli/answer_view.h"

#include "cli/generation.h"
#include "cli/input.h"

#define QN_VIEW_OWNER "answer"

/* The buffers of a view, for what is done to all of them. */
static qn_buf **buffers(qn_answer_view *v, qn_buf *list[6])
{
    list[0] = &v->content;
    list[1] = &v->reasoning;
    list[2] = &v->calls;
    list[3] = &v->name;
    list[4] = &v->id;
    list[5] = &v->arguments;
    return list;
}

void qn_answer_view_init(qn_answer_view *v, qn_terminal *out, qn_terminal *notes)
{
    qn_buf *list[6];
    *v = (qn_answer_view){.out = out, .notes = notes};
    for (size_t i = 0; i < 6; i++) {
        qn_buf_init(buffers(v, list)[i], NULL, QN_VIEW_OWNER, QN_INPUT_MAX_BYTES);
    }
}

static void close_reader(qn_answer_view *v)
{
    qn_answer_reader_close(v->reader);
    v->reader = NULL;
}

void qn_answer_view_free(qn_answer_view *v)
{
    qn_buf *list[6];
    close_reader(v);
    for (size_t i = 0; i < 6; i++) {
        qn_buf_free(buffers(v, list)[i]);
    }
}

qn_status qn_answer_view_begin(qn_answer_view *v, const qn_chat *c, const qn_prompt *p, qn_str tools, qn_error *err)
{
    qn_buf *list[6];
    qn_answer_reader_options o;
    qn_answer_reader_options_init(&o);
    o.tools = tools.len > 0 ? tools.data : NULL;
    o.tools_bytes = tools.len;
    o.no_calls = tools.len == 0;
    close_reader(v);
    for (size_t i = 0; i < 6; i++) {
        qn_buf_clear(buffers(v, list)[i]);
    }
    v->n_calls = 0;
    v->in_call = v->is_cut = false;
    v->failure.code = QN_OK;
    return qn_answer_reader_open(c, p, &o, &v->reader, err);
}

/* ---- showing ------------------------------------------------------------------------------------- */

static void show(qn_answer_view *v, qn_style style, const char *bytes, size_t n)
{
    if (v->out == NULL || n == 0) {
        return;
    }
    qn_terminal *t = style == QN_STYLE_PLAIN || v->out->is_terminal ? v->out : v->notes;
    if (t->style != style) {
        qn_terminal_style(t, QN_STYLE_PLAIN);
        qn_terminal_end_line(t); /* each kind of part has lines of its own */
        qn_terminal_style(t, style);
    }
    bool ok = qn_terminal_write(t, bytes, n);
    v->broken_output |= !ok && t == v->out;
}

static void show_text(qn_answer_view *v, qn_style style, const char *text)
{
    show(v, style, text, strlen(text));
}

/* ---- gathering ----------------------------------------------------------------------------------- */

static void end_call(qn_answer_view *v)
{
    qn_json_writer w;
    if (v->calls.len > 0) {
        qn_buf_add_char(&v->calls, ',');
    }
    qn_json_writer_init(&w, &v->calls);
    qn_json_begin_object(&w);
    if (v->id.len > 0) {
        qn_json_key(&w, "id");
        qn_json_string(&w, qn_buf_view(&v->id));
    }
    qn_json_key(&w, "type");
    qn_json_cstring(&w, "function");
    qn_json_key(&w, "function");
    qn_json_begin_object(&w);
    qn_json_key(&w, "name");
    qn_json_string(&w, qn_buf_view(&v->name));
    qn_json_key(&w, "arguments");
    qn_json_string(&w, qn_buf_view(&v->arguments));
    qn_json_end_object(&w);
    qn_json_end_object(&w);
    v->n_calls++;
    v->in_call = false;
}

static void begin_call(qn_answer_view *v, const char *name, size_t n)
{
    qn_buf_clear(&v->name);
    qn_buf_clear(&v->id);
    qn_buf_clear(&v->arguments);
    qn_buf_add(&v->name, name, n);
    v->in_call = true;
    show_text(v, QN_STYLE_CALL, "[call] ");
    show(v, QN_STYLE_CALL, name, n);
    show_text(v, QN_STYLE_CALL, " ");
}

static int take_part(void *ctx, qn_answer_part part, uint32_t i_call, const char *text, size_t n)
{
    qn_answer_view *v = ctx;
    (void)i_call; /* calls come one after another */
    switch (part) {
    case QN_ANSWER_CONTENT:
        qn_buf_add(&v->content, text, n);
        show(v, QN_STYLE_PLAIN, text, n);
        break;
    case QN_ANSWER_REASONING:
        qn_buf_add(&v->reasoning, text, n);
        show(v, QN_STYLE_DIM, text, n);
        break;
    case QN_ANSWER_CALL:
        begin_call(v, text, n);
        break;
    case QN_ANSWER_CALL_ID:
        qn_buf_add(&v->id, text, n);
        break;
    case QN_ANSWER_ARGUMENTS:
        qn_buf_add(&v->arguments, text, n);
        show(v, QN_STYLE_CALL, text, n);
        break;
    case QN_ANSWER_CALL_END:
        end_call(v);
        show_text(v, QN_STYLE_CALL, "\n");
        break;
    }
    return v->broken_output;
}

int qn_answer_view_show(void *view, const char *bytes, size_t n_bytes)
{
    qn_answer_view *v = view;
    if (qn_answer_reader_push(v->reader, bytes, n_bytes, take_part, v, &v->failure) != QN_OK) {
        return -1;
    }
    return qn_answer_reader_is_over(v->reader) ? QN_SHOW_WHOLE : 0;
}

qn_status qn_answer_view_end(qn_answer_view *v, qn_error *err)
{
    qn_buf *list[6];
    qn_status status = v->failure.code;
    if (status == QN_OK) {
        status = qn_answer_reader_finish(v->reader, take_part, v, &v->is_cut, err);
    } else if (err != NULL) {
        *err = v->failure;
    }
    close_reader(v);
    if (v->out != NULL) {
        qn_terminal_style(v->out, QN_STYLE_PLAIN);
    }
    for (size_t i = 0; i < 6 && status == QN_OK; i++) {
        status = buffers(v, list)[i]->status;
        if (status != QN_OK) {
            qn_fail(err, status, "no memory for the answer");
        }
    }
    return status == QN_EABORTED && v->broken_output ? QN_OK : status;
}

void qn_answer_view_message(const qn_answer_view *v, qn_buf *out)
{
    qn_json_writer w;
    qn_json_writer_init(&w, out);
    qn_json_begin_object(&w);
    qn_json_key(&w, "role");
    qn_json_cstring(&w, "assistant");
    if (v->reasoning.len > 0) {
        qn_json_key(&w, "reasoning_content");
        qn_json_string(&w, qn_buf_view(&v->reasoning));
    }
    qn_json_key(&w, "content");
    qn_json_string(&w, qn_buf_view(&v->content));
    if (v->n_calls > 0) {
        qn_json_key(&w, "tool_calls");
        qn_json_begin_array(&w);
        qn_json_raw(&w, qn_buf_view(&v->calls));
        qn_json_end_array(&w);
    }
    qn_json_end_object(&w);
}
