/* What the answers of a conversation must look like: a format that the user asked for, or calls of tools.
 * SPDX-License-Identifier: MIT */
#include "cli/talk_format.h"

#define QN_TALK_MAX_NODES ((size_t)1 << 20) /* of a list of tools, or of what a template's marks are */

static bool has_tools(const qn_talk *t)
{
    return t->transcript.tools.len > 0 && !qn_str_is(qn_buf_view(&t->transcript.tools), "[]");
}

/* ---- options -------------------------------------------------------------------------------------- */

static const qn_json *name_of_tool(const qn_json *tool)
{
    const qn_json *function = qn_json_find(tool, "function");
    return qn_json_find(function != NULL ? function : tool, "name");
}

static qn_status check_name(const qn_talk *t, const char *name, qn_error *err)
{
    qn_json_doc *doc;
    qn_str tools = qn_buf_view(&t->transcript.tools);
    QN_TRY(qn_json_parse(NULL, tools.data, tools.len, QN_TALK_MAX_NODES, &doc, err));
    const qn_json *list = qn_json_root(doc);
    bool is_there = false;
    for (size_t i = 0; i < qn_json_count(list) && !is_there; i++) {
        const qn_json *of_tool = name_of_tool(qn_json_at(list, i));
        is_there =
            of_tool != NULL && qn_json_kind_of(of_tool) == QN_JSON_STRING && qn_str_is(qn_json_as_str(of_tool), name);
    }
    qn_json_free(doc);
    if (!is_there) {
        return qn_fail(err, QN_EINVAL,
                       "--tool-choice: '%s' is none of auto, required, none, and no function in --tools", name);
    }
    return QN_OK;
}

static qn_status read_choice(qn_talk *t, qn_error *err)
{
    static const char *const words[] = {"auto", "required", "none"};
    static const qn_tool_choice choices[] = {QN_TOOLS_AUTO, QN_TOOLS_REQUIRED, QN_TOOLS_NONE};
    const char *word = qn_options_text(t->options, QN_OPTION_ID_TOOL_CHOICE);
    t->tool_choice = QN_TOOLS_AUTO;
    if (word == NULL) {
        return QN_OK;
    }
    for (size_t i = 0; i < 3; i++) {
        if (strcmp(word, words[i]) == 0) {
            t->tool_choice = choices[i];
            return i == 1 && !has_tools(t) ? qn_fail(err, QN_EINVAL, "--tool-choice required needs --tools") : QN_OK;
        }
    }
    if (!has_tools(t)) {
        return qn_fail(err, QN_EINVAL, "--tool-choice: '%s' is none of auto, required, none, and there are no --tools",
                       word);
    }
    t->tool_choice = QN_TOOLS_REQUIRED;
    t->tool_name = word;
    return check_name(t, word, err);
}

/* What every template and every shape of calls would stumble over. */
static qn_status check_tools(const qn_talk *t, qn_error *err)
{
    qn_json_doc *doc;
    qn_str tools = qn_buf_view(&t->transcript.tools);
    if (!has_tools(t)) {
        return QN_OK;
    }
    QN_TRY(qn_json_parse(NULL, tools.data, tools.len, QN_TALK_MAX_NODES, &doc, err));
    const qn_json *list = qn_json_root(doc);
    qn_status status = QN_OK;
    for (size_t i = 0; i < qn_json_count(list) && status == QN_OK; i++) {
        const qn_json *tool = qn_json_at(list, i);
        bool is_object = qn_json_kind_of(tool) == QN_JSON_OBJECT;
        const qn_json *type = is_object ? qn_json_find(tool, "type") : NULL;
        bool is_other = type != NULL && !qn_str_is(qn_json_as_str(type), "function");
        const qn_json *name = is_object ? name_of_tool(tool) : NULL;
        bool is_named = name != NULL && qn_json_kind_of(name) == QN_JSON_STRING && qn_json_as_str(name).len > 0;
        if (!is_object || (!is_other && !is_named)) {
            status =
                qn_fail(err, QN_EINVAL, "--tools: its item %zu %s", i + 1, is_object ? "has no name" : "is no object");
        }
    }
    qn_json_free(doc);
    return status;
}

qn_status qn_talk_format_check(qn_talk *t, qn_error *err)
{
    QN_TRY(check_tools(t, err));
    QN_TRY(read_choice(t, err));
    if (t->format != NULL && has_tools(t) && t->tool_choice != QN_TOOLS_NONE) {
        return qn_fail(err, QN_EINVAL, "an answer cannot have a format and call --tools: add --tool-choice none");
    }
    return QN_OK;
}

/* ---- reasoning ------------------------------------------------------------------------------------ */

static int see_part(void *ctx, qn_answer_part part, uint32_t i_call, const char *text, size_t n)
{
    bool *is_reasoning = ctx;
    (void)i_call, (void)text, (void)n;
    *is_reasoning |= part == QN_ANSWER_REASONING;
    return 0;
}

/* The prompt may have opened reasoning: then a word, whatever it is, is part of it. */
static qn_status begins_in_reasoning(const qn_talk *t, bool *out, qn_error *err)
{
    qn_answer_reader_options o;
    qn_answer_reader *reader;
    bool cut;
    qn_answer_reader_options_init(&o);
    o.no_calls = true;
    QN_TRY(qn_answer_reader_open(t->chat, t->rendered, &o, &reader, err));
    *out = false;
    qn_status status = qn_answer_reader_push(reader, "word", 4, see_part, out, err);
    if (status == QN_OK) {
        status = qn_answer_reader_finish(reader, see_part, out, &cut, err);
    }
    qn_answer_reader_close(reader);
    return status;
}

static qn_str trimmed(qn_str s)
{
    while (s.len > 0 && memchr(" \t\r\n", s.data[0], 4) != NULL) {
        s.data++;
        s.len--;
    }
    while (s.len > 0 && memchr(" \t\r\n", s.data[s.len - 1], 4) != NULL) {
        s.len--;
    }
    return s;
}

qn_status qn_talk_format_marks(qn_talk *t, qn_error *err)
{
    const char *json = qn_chat_describe(t->chat);
    qn_json_doc *doc;
    if (t->format == NULL) {
        return QN_OK;
    }
    QN_TRY(qn_json_parse(NULL, json, strlen(json), QN_TALK_MAX_NODES, &doc, err));
    const qn_json *root = qn_json_root(doc), *reasoning = qn_json_find(root, "reasoning");
    const qn_json *close = reasoning != NULL ? qn_json_find(reasoning, "close") : NULL;
    if (close != NULL && qn_json_kind_of(close) == QN_JSON_STRING) {
        qn_str mark = trimmed(qn_json_as_str(close));
        qn_buf_add(&t->reasoning_end, mark.data, mark.len);
    }
    bool has_headers = qn_json_find(root, "headers") != NULL;
    qn_json_free(doc);
    if (has_headers) {
        return qn_fail(err, QN_EINVAL,
                       "this model's answers are messages with headers of their own; a format for them is "
                       "not supported");
    }
    return t->reasoning_end.status == QN_OK ? QN_OK
                                            : qn_fail(err, t->reasoning_end.status, "no memory for a template's mark");
}

static qn_status place_format(qn_talk *t, qn_error *err)
{
    bool in_reasoning;
    QN_TRY(begins_in_reasoning(t, &in_reasoning, err));
    if (in_reasoning && t->reasoning_end.len == 0) {
        return qn_fail(err, QN_EUNSUPPORTED,
                       "the answer begins with reasoning, and the chat template does not show what "
                       "ends it: a format cannot begin behind it");
    }
    t->generation.guide_after = in_reasoning ? t->reasoning_end.data : NULL;
    return QN_OK;
}

/* ---- calls ---------------------------------------------------------------------------------------- */

static qn_status open_calls(qn_talk *t, qn_format **out, qn_error *err)
{
    qn_call_format_options o;
    qn_call_format_options_init(&o);
    o.tools = t->transcript.tools.data;
    o.tools_bytes = t->transcript.tools.len;
    o.choice = t->tool_choice;
    o.name = t->tool_name;
    o.strict = qn_options_flag(t->options, QN_OPTION_ID_STRICT_SCHEMA);
    qn_error why;
    qn_status status = qn_call_format_open(t->chat, t->rendered, &o, out, &why);
    bool is_demanded = t->tool_choice == QN_TOOLS_REQUIRED || o.strict;
    if (status == QN_EUNSUPPORTED && t->tool_choice == QN_TOOLS_NONE) {
        return QN_OK; /* what would be a call is content then: nothing has to be checked */
    }
    if (status != QN_EUNSUPPORTED || is_demanded) {
        t->wrong_usage = status == QN_EUNSUPPORTED || status == QN_EFORMAT || status == QN_EFULL;
        return status == QN_OK ? QN_OK : qn_fail(err, status, "--tools: %s", why.what);
    }
    if (!t->said_free_calls) {
        fprintf(stderr, "quern %s: warning: calls of tools are not checked as they are made: %s\n", t->verb, why.what);
        t->said_free_calls = true;
    }
    return QN_OK;
}

qn_status qn_talk_format_choose(qn_talk *t, qn_error *err)
{
    t->generation.guide_after = NULL;
    if (t->format != NULL) {
        return place_format(t, err);
    }
    qn_format *calls = NULL;
    if (has_tools(t)) {
        QN_TRY(open_calls(t, &calls, err));
    }
    qn_status status = qn_generation_set_format(&t->generation, calls, err);
    qn_format_close(calls);
    return status;
}
