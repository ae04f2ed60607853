/* How a template wants the arguments of tool calls: most take an object, some a string of JSON.
 * SPDX-License-Identifier: MIT */
#include "text/chat/conversation.h"

#include <stdio.h>

/* The name stands in quotes of the one kind in JSON, of the other where Python shows an object. */
#define QN_PROBE_KEY "qn_probe_key"
#define QN_PROBE_HEAD                                                                       \
    "{\"add_generation_prompt\":false,\"messages\":[{\"role\":\"user\",\"content\":\"x\"}," \
    "{\"role\":\"assistant\",\"content\":"
#define QN_PROBE_CALL                                                                      \
    ",\"tool_calls\":[{\"id\":\"call00000\",\"type\":\"function\",\"function\":{\"name\":" \
    "\"qn_probe_name\",\"arguments\":"
#define QN_PROBE_TAIL                                                                                \
    "}}]},{\"role\":\"tool\",\"tool_call_id\":\"call00000\",\"name\":\"qn_probe_name\",\"content\":" \
    "\"y\"}]}"

static const char *const contents[] = {"\"\"", "null"};
static const char *const forms[] = {"{\"" QN_PROBE_KEY "\":\"z\"}", "\"{\\\"" QN_PROBE_KEY "\\\":\\\"z\\\"}\""};

/* FAILED: also when Python's spelling of an object is shown. ENDLESS: at a limit, where the others will end too. */
typedef enum finding { FAILED, ENDLESS, ABSENT, AS_JSON, OTHERWISE } finding;

static bool holds(const qn_buf *text, const char *word)
{
    return text->len > 0 && memmem(text->data, text->len, word, strlen(word)) != NULL;
}

/* What a rendering of the call with this form of arguments shows of them. */
static qn_status try_form(const qn_jinja *j, const qn_conversation_options *o, const char *content, const char *form,
                          qn_budget *b, finding *out, qn_error *err)
{
    qn_conversation_options as_given = *o;
    as_given.arguments = QN_ARGUMENTS_GIVEN;
    char json[1024];
    int n = snprintf(json, sizeof(json), QN_PROBE_HEAD "%s" QN_PROBE_CALL "%s" QN_PROBE_TAIL, content, form);
    qn_conversation *c;
    QN_TRY(qn_conversation_open((qn_str){json, (size_t)n}, &as_given, b, &c, err));
    qn_jinja_text text;
    /* Far more than three short messages take: a template that never ends is soon seen to. */
    const qn_jinja_options limits = {
        .max_steps = 2000000, .max_memory = 16u << 20, .max_output = 1u << 20, .now = INT64_MIN};
    qn_status status = qn_jinja_render(j, qn_conversation_vars(c), &limits, b, &text, err);
    qn_conversation_close(c);
    if (status == QN_ENOMEM || status == QN_EBUDGET) {
        return status;
    }
    *out = status == QN_EFULL ? ENDLESS : FAILED;
    if (status == QN_OK) {
        if (holds(&text.text, "\"" QN_PROBE_KEY "\":")) {
            *out = AS_JSON;
        } else if (!holds(&text.text, "'" QN_PROBE_KEY "'")) {
            *out = holds(&text.text, QN_PROBE_KEY) ? OTHERWISE : ABSENT;
        }
        qn_jinja_text_free(&text);
    }
    return QN_OK;
}

qn_status qn_conversation_probe(const qn_jinja *j, const qn_conversation_options *o, qn_budget *b, bool *text_arguments,
                                qn_error *err)
{
    *text_arguments = false;
    for (size_t i = 0; i < sizeof(contents) / sizeof(contents[0]); i++) {
        finding object, text;
        QN_TRY(try_form(j, o, contents[i], forms[0], b, &object, err));
        if (object == AS_JSON || object == OTHERWISE || object == ENDLESS) {
            return QN_OK; /* an object is shown, as JSON or in a form of the template's own; or nothing ever is */
        }
        QN_TRY(try_form(j, o, contents[i], forms[1], b, &text, err));
        if (text == AS_JSON) {
            *text_arguments = true;
            return QN_OK;
        }
    }
    return QN_OK;
}
