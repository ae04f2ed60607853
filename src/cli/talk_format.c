/* What the answers of a conversation must look like: a format that the user asked for.
 * SPDX-License-Identifier: MIT */
#include "cli/talk_format.h"

#define QN_TALK_MAX_NODES ((size_t)1 << 20) /* of a list of tools, or of what a template's marks are */

static bool has_tools(const qn_talk *t)
{
    return t->transcript.tools.len > 0 && !qn_str_is(qn_buf_view(&t->transcript.tools), "[]");
}

qn_status qn_talk_format_check(qn_talk *t, qn_error *err)
{
    if (t->format != NULL && has_tools(t)) {
        return qn_fail(err, QN_EINVAL, "an answer cannot have a format and call --tools");
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

qn_status qn_talk_format_choose(qn_talk *t, qn_error *err)
{
    t->generation.guide_after = NULL;
    return t->format != NULL ? place_format(t, err) : QN_OK;
}
