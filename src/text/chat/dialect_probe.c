/* Small conversations, rendered to see what the template does with them. All that they say is made of words that no
 * template holds, so that each can be found again in the rendered text.
 * SPDX-License-Identifier: MIT */
#include "text/chat/dialect_int.h"

#include <stdio.h>

#define PROBE_MAX_JSON (64u << 10)
#define PROBE_NOW 1767225600 /* templates that print a date print the same one each time */

static const char *const names[] = {"qzalpha", "qzbeta"};
static const char *const ids[] = {QN_SYNTAX_ID, "qzid00002"};
static const char *const long_ids[] = {"functions.qzalpha:0", "functions.qzbeta:1"};
static const char *const keys[] = {"qzka", "qzkb", "qzkc", "qzkd"};
static const char *const values[] = {"qzva", "7351", "qzvc", "7352"};
const char qn_probe_ugly[] = "qzva<qzvx>&\nqzvy";

qn_str qn_probe_name(unsigned i_call)
{
    return qn_str_of(names[i_call]);
}

qn_str qn_probe_id(unsigned i_call)
{
    return qn_str_of(ids[i_call]);
}

qn_str qn_probe_key(unsigned i_call, unsigned i_key)
{
    return qn_str_of(keys[2 * i_call + i_key]);
}

qn_str qn_probe_value_text(unsigned i_call, unsigned i_key)
{
    return qn_str_of(values[2 * i_call + i_key]);
}

static void member(qn_json_writer *w, const char *key, const char *value)
{
    qn_json_key(w, key);
    qn_json_cstring(w, value);
}

static void write_tools(qn_json_writer *w)
{
    qn_json_key(w, "tools");
    qn_json_begin_array(w);
    for (unsigned i = 0; i < 2; i++) {
        qn_json_begin_object(w);
        member(w, "type", "function");
        qn_json_key(w, "function");
        qn_json_begin_object(w);
        member(w, "name", names[i]);
        member(w, "description", "Does something.");
        qn_json_key(w, "parameters");
        qn_json_begin_object(w);
        member(w, "type", "object");
        qn_json_key(w, "properties");
        qn_json_begin_object(w);
        for (unsigned k = 0; k < 2; k++) {
            qn_json_key(w, keys[2 * i + k]);
            qn_json_begin_object(w);
            member(w, "type", k == 0 ? "string" : "integer");
            member(w, "description", "Something.");
            qn_json_end_object(w);
        }
        qn_json_end_object(w);
        qn_json_key(w, "required");
        qn_json_begin_array(w);
        qn_json_cstring(w, keys[2 * i]);
        qn_json_end_array(w);
        qn_json_end_object(w);
        qn_json_end_object(w);
        qn_json_end_object(w);
    }
    qn_json_end_array(w);
}

static void write_arguments(qn_json_writer *w, const qn_probe *probe, unsigned i_call)
{
    if (probe->arguments_text) {
        char text[96];
        snprintf(text, sizeof(text), "{\"%s\": \"%s\", \"%s\": %s}", keys[2 * i_call], values[2 * i_call],
                 keys[2 * i_call + 1], values[2 * i_call + 1]);
        qn_json_cstring(w, text);
        return;
    }
    qn_json_begin_object(w);
    member(w, keys[2 * i_call], probe->value == QN_VALUE_UGLY && i_call == 0 ? qn_probe_ugly : values[2 * i_call]);
    qn_json_key(w, keys[2 * i_call + 1]);
    qn_json_i64(w, i_call == 0 ? 7351 : 7352);
    qn_json_end_object(w);
}

static void write_calls(qn_json_writer *w, const qn_probe *probe)
{
    qn_json_key(w, "tool_calls");
    qn_json_begin_array(w);
    for (unsigned i = 0; i < probe->n_calls; i++) {
        qn_json_begin_object(w);
        member(w, "id", probe->long_ids ? long_ids[i] : ids[i]);
        member(w, "type", "function");
        qn_json_key(w, "function");
        qn_json_begin_object(w);
        member(w, "name", names[i]);
        qn_json_key(w, "arguments");
        write_arguments(w, probe, i);
        qn_json_end_object(w);
        qn_json_end_object(w);
    }
    qn_json_end_array(w);
}

static void write_text(qn_json_writer *w, qn_str text, bool typed)
{
    if (!typed) {
        qn_json_string(w, text);
        return;
    }
    qn_json_begin_array(w);
    qn_json_begin_object(w);
    member(w, "type", "text");
    qn_json_key(w, "text");
    qn_json_string(w, text);
    qn_json_end_object(w);
    qn_json_end_array(w);
}

static void write_content(qn_json_writer *w, const qn_probe *probe, bool typed)
{
    if (probe->content == QN_TEXT_ABSENT) {
        return;
    }
    qn_json_key(w, "content");
    if (probe->parts) {
        qn_json_begin_array(w);
        qn_json_begin_object(w);
        member(w, "type", "thinking");
        member(w, "thinking", QN_PROBE_REASON);
        qn_json_end_object(w);
        qn_json_begin_object(w);
        member(w, "type", "text");
        member(w, "text", QN_PROBE_CONTENT);
        qn_json_end_object(w);
        qn_json_end_array(w);
    } else if (probe->content == QN_TEXT_NULL) {
        qn_json_null(w);
    } else if (probe->literal.len != 0) {
        write_text(w, probe->literal, typed);
    } else {
        write_text(w, probe->content == QN_TEXT_CONTENT ? QN_STR(QN_PROBE_CONTENT) : QN_STR(""), typed);
    }
}

static void write_user(qn_json_writer *w, qn_str text, bool typed)
{
    qn_json_begin_object(w);
    member(w, "role", "user");
    qn_json_key(w, "content");
    write_text(w, text, typed);
    qn_json_end_object(w);
}

static void write_messages(qn_json_writer *w, const qn_probe *probe, bool typed)
{
    qn_json_key(w, "messages");
    qn_json_begin_array(w);
    write_user(w, QN_STR(QN_PROBE_USER), typed);
    if (probe->assistant) {
        qn_json_begin_object(w);
        member(w, "role", "assistant");
        write_content(w, probe, typed);
        if (probe->reasoning) {
            member(w, "reasoning_content", QN_PROBE_REASON);
            member(w, "reasoning", QN_PROBE_REASON);
            member(w, "thinking", QN_PROBE_REASON);
        }
        if (probe->n_calls > 0) {
            write_calls(w, probe);
        }
        qn_json_end_object(w);
    }
    for (unsigned i = 0; probe->next == QN_NEXT_RESULT && i < probe->n_calls; i++) {
        qn_json_begin_object(w);
        member(w, "role", "tool");
        member(w, "tool_call_id", probe->long_ids ? long_ids[i] : ids[i]);
        member(w, "name", names[i]);
        member(w, "content", QN_PROBE_RESULT);
        qn_json_end_object(w);
    }
    if (probe->next == QN_NEXT_USER) {
        write_user(w, QN_STR(QN_PROBE_USER2), typed);
    }
    qn_json_end_array(w);
}

static void write_think(qn_json_writer *w, qn_probe_think think)
{
    if (think == QN_THINK_DEFAULT) {
        return;
    }
    bool on = think != QN_THINK_OFF;
    qn_json_key(w, "enable_thinking");
    qn_json_bool(w, on);
    qn_json_key(w, "thinking");
    qn_json_bool(w, on);
    member(w, "thinking_mode", on ? "enabled" : "disabled");
    if (think == QN_THINK_ON_EFFORT) {
        member(w, "reasoning_effort", "high");
    }
}

static void write_probe(qn_buf *out, const qn_prober *p, const qn_probe *probe)
{
    qn_json_writer w;
    qn_json_writer_init(&w, out);
    qn_json_begin_object(&w);
    write_messages(&w, probe, p->typed);
    if (probe->tools) {
        write_tools(&w);
    } else if (!p->undefined) {
        qn_json_key(&w, "tools");
        qn_json_null(&w);
    }
    if (!p->undefined) {
        qn_json_key(&w, "documents");
        qn_json_null(&w);
    }
    qn_json_key(&w, "add_generation_prompt");
    qn_json_bool(&w, probe->generate);
    qn_json_key(&w, "bos_token");
    qn_json_string(&w, p->bos);
    qn_json_key(&w, "eos_token");
    qn_json_string(&w, p->eos);
    write_think(&w, probe->think);
    for (size_t i = 0; i < p->n_vars; i++) {
        member(&w, p->vars[i], "");
    }
    qn_json_end_object(&w);
}

/* "... 'functions' is undefined": the template wants a variable that is not among the usual ones. */
static bool learn_variable(qn_prober *p, const qn_error *err)
{
    const char *end = strstr(err->what, "' is undefined");
    const char *begin = end;
    while (begin != NULL && begin > err->what && begin[-1] != '\'') {
        begin--;
    }
    if (begin == NULL || begin == err->what || p->n_vars == QN_PROBE_MAX_VARS) {
        return false;
    }
    size_t n = (size_t)(end - begin);
    if (n == 0 || n >= sizeof(p->vars[0])) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        char c = begin[i];
        if (c != '_' && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9')) {
            return false; /* a member of something, not a variable */
        }
    }
    for (size_t i = 0; i < p->n_vars; i++) {
        if (strlen(p->vars[i]) == n && memcmp(p->vars[i], begin, n) == 0) {
            return false;
        }
    }
    memcpy(p->vars[p->n_vars], begin, n);
    p->vars[p->n_vars++][n] = '\0';
    return true;
}

static qn_status render_once(qn_prober *p, const qn_probe *probe, qn_jinja_text *out, qn_error *err)
{
    qn_buf json;
    qn_buf_init(&json, p->budget, "chat", PROBE_MAX_JSON);
    write_probe(&json, p, probe);
    qn_json_doc *doc = NULL;
    qn_status status = json.status;
    if (status == QN_OK) {
        status = qn_json_parse(p->budget, json.data, json.len, 1000, &doc, err);
    }
    if (status == QN_OK) {
        /* A probe is short: a template that needs more than this for one is out to waste time. */
        qn_jinja_options o = {.max_steps = 2000000, .max_memory = 16u << 20, .max_output = 1u << 20, .now = PROBE_NOW};
        status = qn_jinja_render(p->jinja, qn_json_root(doc), &o, p->budget, out, err);
    }
    qn_json_free(doc);
    qn_buf_free(&json);
    return status;
}

static qn_status render_and_learn(qn_prober *p, const qn_probe *probe, qn_jinja_text *out, qn_error *err)
{
    qn_status status = render_once(p, probe, out, err);
    while (status == QN_EFORMAT && learn_variable(p, err)) {
        status = render_once(p, probe, out, err);
    }
    return status;
}

/* Tools and documents are none where there are not any, as in a real conversation. A template that walks through them
 * all the same is meant for conversations with some, and may show more when they are left out. */
static qn_status render(qn_prober *p, const qn_probe *probe, qn_jinja_text *out, qn_error *err)
{
    size_t n_vars = p->n_vars;
    qn_status status = render_and_learn(p, probe, out, err);
    if (status == QN_EFORMAT && !p->undefined) {
        p->undefined = true;
        p->n_vars = n_vars;
        status = render_and_learn(p, probe, out, err);
        if (status == QN_EFORMAT) {
            p->undefined = false;
            p->n_vars = n_vars;
        }
    }
    return status;
}

bool qn_probe_render(qn_prober *p, const qn_probe *probe, qn_str *out)
{
    *out = (qn_str){"", 0};
    if (p->fatal != QN_OK || p->n_texts == sizeof(p->texts) / sizeof(p->texts[0])) {
        return false;
    }
    qn_error err = {0};
    qn_jinja_text *text = &p->texts[p->n_texts];
    qn_status status = render(p, probe, text, &err);
    if (status == QN_ENOMEM || status == QN_EBUDGET) {
        p->fatal = qn_fail(p->err, status, "chat template: no memory for a probe");
        return false;
    }
    if (status != QN_OK) {
        return false;
    }
    p->n_texts++;
    if (text->text.len > 0) {
        *out = qn_buf_view(&text->text);
    }
    return true;
}

void qn_prober_free(qn_prober *p)
{
    for (size_t i = 0; i < p->n_texts; i++) {
        qn_jinja_text_free(&p->texts[i]);
    }
    p->n_texts = 0;
}
