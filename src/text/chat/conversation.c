/* Conversations, read and put right. The JSON is written anew with the changes and read again: that keeps trees, whose
 * nodes belong to one block, simple. SPDX-License-Identifier: MIT */
#include "text/chat/conversation.h"

#define QN_CONVERSATION_OWNER "chat"

struct qn_conversation {
    qn_json_doc *doc;
    bool has_gaps;
};

/* One rewriting. */
typedef struct rewriting {
    const qn_conversation_options *o;
    qn_budget *budget;
    qn_error *err;
    qn_json_writer w;
    size_t i_message, i_call; /* for errors */
    bool has_gaps;
} rewriting;

static qn_status parse(qn_str json, qn_budget *b, qn_json_doc **out, qn_error *err)
{
    if (json.len > QN_CONVERSATION_MAX_BYTES) {
        return qn_fail(err, QN_EFULL, "a conversation of %zu bytes; at most %zu are possible", json.len,
                       QN_CONVERSATION_MAX_BYTES);
    }
    if (json.len >= 3 && memcmp(json.data, "\xEF\xBB\xBF", 3) == 0) {
        return qn_fail(err, QN_EFORMAT, "line 1: a byte order mark (U+FEFF) stands before the JSON; remove it");
    }
    return qn_json_parse(b, json.data, json.len, QN_CONVERSATION_MAX_NODES, out, err);
}

static bool is_blank(qn_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (strchr(" \t\r\n", s.data[i]) == NULL || s.data[i] == '\0') {
            return false;
        }
    }
    return true;
}

/* ---- parts of messages ------------------------------------------------------------------------------ */

/* The JSON of v as a string. */
static qn_status spell_arguments(rewriting *r, const qn_json *v)
{
    qn_buf text;
    qn_json_writer w;
    qn_buf_init(&text, r->budget, QN_CONVERSATION_OWNER, QN_CONVERSATION_MAX_BYTES);
    qn_json_writer_init(&w, &text);
    qn_json_copy(&w, v);
    qn_json_string(&r->w, qn_buf_view(&text));
    qn_status status = text.status;
    qn_buf_free(&text);
    return status == QN_OK ? QN_OK : qn_fail(r->err, status, "no memory for the arguments of a call");
}

static qn_status parse_arguments(rewriting *r, qn_str text)
{
    if (is_blank(text)) {
        qn_json_raw(&r->w, QN_STR("{}"));
        return QN_OK;
    }
    qn_json_doc *doc;
    qn_error why;
    qn_status status = parse(text, r->budget, &doc, &why);
    if (status != QN_OK) {
        return qn_fail(r->err, status, "messages[%zu].tool_calls[%zu]: arguments: %s", r->i_message, r->i_call,
                       why.what);
    }
    qn_json_copy(&r->w, qn_json_root(doc));
    qn_json_free(doc);
    return QN_OK;
}

static qn_status write_arguments(rewriting *r, const qn_json *v)
{
    bool is_text = qn_json_kind_of(v) == QN_JSON_STRING;
    if (is_text && r->o->arguments == QN_ARGUMENTS_PARSED) {
        return parse_arguments(r, qn_json_as_str(v));
    }
    if (!is_text && r->o->arguments == QN_ARGUMENTS_SPELLED) {
        return spell_arguments(r, v);
    }
    qn_json_copy(&r->w, v);
    return QN_OK;
}

/* {"arguments": ...}, or a call with {"function": {"arguments": ...}}. */
static qn_status write_call(rewriting *r, const qn_json *call, bool is_function)
{
    if (qn_json_kind_of(call) != QN_JSON_OBJECT) {
        qn_json_copy(&r->w, call);
        return QN_OK;
    }
    qn_json_begin_object(&r->w);
    for (size_t i = 0; i < qn_json_count(call); i++) {
        qn_str key = qn_json_key_at(call, i);
        const qn_json *v = qn_json_at(call, i);
        qn_json_key_str(&r->w, key);
        if (qn_str_is(key, "arguments")) {
            QN_TRY(write_arguments(r, v));
        } else if (!is_function && qn_str_is(key, "function")) {
            QN_TRY(write_call(r, v, true));
        } else {
            qn_json_copy(&r->w, v);
        }
    }
    qn_json_end_object(&r->w);
    return QN_OK;
}

static qn_status write_calls(rewriting *r, const qn_json *calls)
{
    if (qn_json_kind_of(calls) != QN_JSON_ARRAY) {
        qn_json_copy(&r->w, calls);
        return QN_OK;
    }
    qn_json_begin_array(&r->w);
    for (size_t i = 0; i < qn_json_count(calls); i++) {
        r->i_call = i;
        QN_TRY(write_call(r, qn_json_at(calls, i), false));
    }
    qn_json_end_array(&r->w);
    return QN_OK;
}

static qn_status write_message(rewriting *r, const qn_json *message)
{
    if (qn_json_kind_of(message) != QN_JSON_OBJECT) {
        return qn_fail(r->err, QN_EFORMAT, "messages[%zu]: not an object", r->i_message);
    }
    bool has_content = false;
    qn_json_begin_object(&r->w);
    for (size_t i = 0; i < qn_json_count(message); i++) {
        qn_str key = qn_json_key_at(message, i);
        const qn_json *v = qn_json_at(message, i);
        bool is_gap = qn_str_is(key, "content") && qn_json_kind_of(v) == QN_JSON_NULL;
        has_content = has_content || (qn_str_is(key, "content") && !is_gap);
        qn_json_key_str(&r->w, key);
        if (qn_str_is(key, "tool_calls")) {
            QN_TRY(write_calls(r, v));
        } else if (is_gap && r->o->filled_contents) {
            qn_json_cstring(&r->w, "");
        } else {
            qn_json_copy(&r->w, v);
        }
    }
    if (!has_content && r->o->filled_contents && qn_json_find(message, "content") == NULL) {
        qn_json_key(&r->w, "content");
        qn_json_cstring(&r->w, "");
    }
    qn_json_end_object(&r->w);
    r->has_gaps = r->has_gaps || !has_content;
    return QN_OK;
}

static qn_status write_messages(rewriting *r, const qn_json *messages)
{
    if (qn_json_kind_of(messages) != QN_JSON_ARRAY) {
        return qn_fail(r->err, QN_EFORMAT, "messages: not a list");
    }
    qn_json_begin_array(&r->w);
    for (size_t i = 0; i < qn_json_count(messages); i++) {
        r->i_message = i;
        QN_TRY(write_message(r, qn_json_at(messages, i)));
    }
    qn_json_end_array(&r->w);
    return QN_OK;
}

/* ---- the whole -------------------------------------------------------------------------------------- */

/* What transformers passes to every template: none for what the caller does not name, false for the prompt. */
static void write_absent(rewriting *r, const qn_json *root)
{
    static const struct {
        const char *name;
        bool is_flag;
    } always[] = {{"tools", false}, {"documents", false}, {"add_generation_prompt", true}};
    for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++) {
        if (qn_json_find(root, always[i].name) == NULL) {
            qn_json_key(&r->w, always[i].name);
            qn_json_raw(&r->w, always[i].is_flag ? QN_STR("false") : QN_STR("null"));
        }
    }
}

static void write_token(rewriting *r, const qn_json *root, const char *key, qn_str spelling)
{
    if (spelling.len > 0 && qn_json_find(root, key) == NULL) {
        qn_json_key(&r->w, key);
        qn_json_string(&r->w, spelling);
    }
}

static qn_status write_root(rewriting *r, const qn_json *root)
{
    if (qn_json_kind_of(root) != QN_JSON_OBJECT) {
        return qn_fail(r->err, QN_EFORMAT, "a conversation is a JSON object with \"messages\"");
    }
    qn_json_begin_object(&r->w);
    for (size_t i = 0; i < qn_json_count(root); i++) {
        qn_str key = qn_json_key_at(root, i);
        qn_json_key_str(&r->w, key);
        if (qn_str_is(key, "messages")) {
            QN_TRY(write_messages(r, qn_json_at(root, i)));
        } else {
            qn_json_copy(&r->w, qn_json_at(root, i));
        }
    }
    write_token(r, root, "bos_token", r->o->bos);
    write_token(r, root, "eos_token", r->o->eos);
    write_absent(r, root);
    qn_json_end_object(&r->w);
    return QN_OK;
}

static qn_status new_conversation(qn_json_doc *doc, bool has_gaps, qn_budget *b, qn_conversation **out, qn_error *err)
{
    qn_conversation *c = qn_zalloc(b, QN_CONVERSATION_OWNER, sizeof(*c));
    if (c == NULL) {
        qn_json_free(doc);
        return qn_fail(err, qn_alloc_failure(b, sizeof(*c)), "no memory for a conversation");
    }
    c->doc = doc;
    c->has_gaps = has_gaps;
    *out = c;
    return QN_OK;
}

qn_status qn_conversation_open(qn_str json, const qn_conversation_options *o, qn_budget *b, qn_conversation **out,
                               qn_error *err)
{
    const qn_conversation_options none = {0};
    qn_json_doc *source, *doc = NULL;
    QN_TRY(parse(json, b, &source, err));
    qn_buf text;
    /* Strings may grow where they are escaped again; six bytes for one at most. */
    qn_buf_init(&text, b, QN_CONVERSATION_OWNER, 6 * QN_CONVERSATION_MAX_BYTES);
    rewriting r = {.o = o != NULL ? o : &none, .budget = b, .err = err};
    qn_json_writer_init(&r.w, &text);
    qn_status status = write_root(&r, qn_json_root(source));
    if (status == QN_OK && text.status != QN_OK) {
        status = qn_fail(err, text.status, "no memory for a conversation of %zu bytes", json.len);
    }
    qn_json_free(source);
    if (status == QN_OK) {
        status = qn_json_parse(b, text.data, text.len, QN_CONVERSATION_MAX_NODES, &doc, err);
    }
    qn_buf_free(&text);
    return status == QN_OK ? new_conversation(doc, r.has_gaps, b, out, err) : status;
}

qn_status qn_conversation_open_value(qn_str json, qn_budget *b, qn_conversation **out, qn_error *err)
{
    qn_json_doc *doc;
    QN_TRY(parse(json, b, &doc, err));
    return new_conversation(doc, false, b, out, err);
}

void qn_conversation_close(qn_conversation *c)
{
    if (c != NULL) {
        qn_json_free(c->doc);
        qn_free(c);
    }
}

const qn_json *qn_conversation_vars(const qn_conversation *c)
{
    return qn_json_root(c->doc);
}

bool qn_conversation_has_gaps(const qn_conversation *c)
{
    return c->has_gaps;
}
