/* Keeping, saving and loading conversations. SPDX-License-Identifier: MIT */
#include "cli/transcript.h"

#include "base/outfile.h"
#include "cli/input.h"

#define QN_TRANSCRIPT_OWNER "transcript"
#define QN_TRANSCRIPT_MAX_NODES ((size_t)1 << 20)

static void init_buf(qn_buf *b)
{
    qn_buf_init(b, NULL, QN_TRANSCRIPT_OWNER, QN_INPUT_MAX_CONVERSATION);
}

void qn_transcript_init(qn_transcript *t)
{
    *t = (qn_transcript){0};
    init_buf(&t->others);
    init_buf(&t->tools);
}

static void drop_messages(qn_transcript *t, size_t n_left)
{
    while (t->n > n_left) {
        qn_buf_free(&t->messages[--t->n]);
    }
}

void qn_transcript_free(qn_transcript *t)
{
    drop_messages(t, 0);
    qn_free(t->messages);
    qn_buf_free(&t->others);
    qn_buf_free(&t->tools);
    qn_transcript_init(t);
}

/* ---- messages ------------------------------------------------------------------------------------- */

static qn_status no_memory(qn_error *err)
{
    return qn_fail(err, QN_ENOMEM, "no memory for the conversation");
}

static qn_status insert(qn_transcript *t, size_t i, qn_str message, qn_error *err)
{
    if (t->n == t->cap) {
        size_t cap = t->cap < 16 ? 16 : t->cap * 2;
        qn_buf *messages = qn_realloc(NULL, QN_TRANSCRIPT_OWNER, t->messages, cap * sizeof(*messages));
        if (messages == NULL) {
            return no_memory(err);
        }
        t->messages = messages;
        t->cap = cap;
    }
    qn_buf b;
    init_buf(&b);
    qn_buf_add(&b, message.data, message.len);
    if (b.status != QN_OK) {
        qn_buf_free(&b);
        return no_memory(err);
    }
    memmove(t->messages + i + 1, t->messages + i, (t->n - i) * sizeof(*t->messages));
    t->messages[i] = b;
    t->n++;
    return QN_OK;
}

static void write_message(const char *role, qn_str content, qn_buf *out)
{
    qn_json_writer w;
    qn_json_writer_init(&w, out);
    qn_json_begin_object(&w);
    qn_json_key(&w, "role");
    qn_json_cstring(&w, role);
    qn_json_key(&w, "content");
    qn_json_string(&w, content);
    qn_json_end_object(&w);
}

static qn_status insert_text(qn_transcript *t, size_t i, const char *role, qn_str content, qn_error *err)
{
    qn_buf message;
    init_buf(&message);
    write_message(role, content, &message);
    qn_status status = message.status == QN_OK ? insert(t, i, qn_buf_view(&message), err) : no_memory(err);
    qn_buf_free(&message);
    return status;
}

qn_status qn_transcript_add(qn_transcript *t, const char *role, qn_str content, qn_error *err)
{
    return insert_text(t, t->n, role, content, err);
}

qn_status qn_transcript_add_json(qn_transcript *t, qn_str message, qn_error *err)
{
    return insert(t, t->n, message, err);
}

void qn_transcript_drop_last(qn_transcript *t)
{
    drop_messages(t, t->n - 1);
}

qn_status qn_transcript_set_system(qn_transcript *t, qn_str text, qn_error *err)
{
    if (text.len > 0) {
        QN_TRY(insert_text(t, 0, "system", text, err));
    }
    if (t->has_system) { /* the one before */
        size_t i = text.len > 0;
        qn_buf_free(&t->messages[i]);
        memmove(t->messages + i, t->messages + i + 1, (t->n - i - 1) * sizeof(*t->messages));
        t->n--;
    }
    t->has_system = text.len > 0;
    return QN_OK;
}

void qn_transcript_reset(qn_transcript *t)
{
    drop_messages(t, t->has_system);
}

/* ---- JSON ----------------------------------------------------------------------------------------- */

static void set_json(qn_buf *b, const qn_json *v)
{
    qn_json_writer w;
    qn_buf_clear(b);
    qn_json_writer_init(&w, b);
    qn_json_copy(&w, v);
}

qn_status qn_transcript_set_tools(qn_transcript *t, qn_str json, qn_error *err)
{
    qn_json_doc *doc;
    QN_TRY(qn_json_parse(NULL, json.data, json.len, QN_TRANSCRIPT_MAX_NODES, &doc, err));
    const qn_json *root = qn_json_root(doc), *tools = root;
    if (qn_json_kind_of(root) == QN_JSON_OBJECT) {
        tools = qn_json_find(root, "tools");
    }
    qn_status status = QN_OK;
    if (tools == NULL || qn_json_kind_of(tools) != QN_JSON_ARRAY) {
        status = qn_fail(err, QN_EFORMAT, "no list of tools");
    } else {
        set_json(&t->tools, tools);
        status = t->tools.status == QN_OK ? QN_OK : no_memory(err);
    }
    qn_json_free(doc);
    return status;
}

void qn_transcript_write(const qn_transcript *t, bool wants_answer, qn_buf *out)
{
    qn_buf_add_str(out, "{\"messages\":[");
    for (size_t i = 0; i < t->n; i++) {
        qn_buf_add_str(out, i > 0 ? ",\n" : "\n");
        qn_buf_add(out, t->messages[i].data, t->messages[i].len);
    }
    qn_buf_add_str(out, "\n]");
    if (t->tools.len > 0) {
        qn_buf_add_str(out, ",\"tools\":");
        qn_buf_add(out, t->tools.data, t->tools.len);
    }
    qn_buf_add(out, t->others.data, t->others.len);
    qn_buf_add_str(out, wants_answer ? ",\"add_generation_prompt\":true}" : "}");
}

/* ---- files ---------------------------------------------------------------------------------------- */

static qn_status write_file(const char *path, qn_str text, qn_error *err)
{
    qn_outfile *f;
    QN_TRY(qn_outfile_open(path, &f, err));
    qn_outfile_write(f, text.data, text.len);
    return qn_outfile_commit(f, err);
}

qn_status qn_transcript_save(const qn_transcript *t, const char *path, qn_error *err)
{
    qn_buf text;
    qn_buf_init(&text, NULL, QN_TRANSCRIPT_OWNER, SIZE_MAX / 2);
    qn_transcript_write(t, false, &text);
    qn_buf_add_char(&text, '\n');
    qn_status status = text.status == QN_OK ? write_file(path, qn_buf_view(&text), err) : no_memory(err);
    qn_buf_free(&text);
    return status;
}

static qn_status check_message(const qn_json *m, size_t i, qn_error *err)
{
    const qn_json *role = qn_json_find(m, "role"), *content = qn_json_find(m, "content");
    if (role == NULL || qn_json_kind_of(role) != QN_JSON_STRING) {
        return qn_fail(err, QN_EFORMAT, "messages[%zu]: no object with a role", i);
    }
    qn_json_kind kind = content != NULL ? qn_json_kind_of(content) : QN_JSON_NULL;
    if (kind != QN_JSON_STRING && kind != QN_JSON_NULL && kind != QN_JSON_ARRAY) {
        return qn_fail(err, QN_EFORMAT, "messages[%zu]: content is no text", i);
    }
    return QN_OK;
}

static qn_status take_messages(qn_transcript *t, const qn_json *messages, qn_error *err)
{
    if (messages == NULL || qn_json_kind_of(messages) != QN_JSON_ARRAY) {
        return qn_fail(err, QN_EFORMAT, "no conversation: there is no list of messages");
    }
    qn_status status = QN_OK;
    qn_buf text;
    init_buf(&text);
    for (size_t i = 0; i < qn_json_count(messages) && status == QN_OK; i++) {
        const qn_json *m = qn_json_at(messages, i);
        status = check_message(m, i, err);
        if (status == QN_OK) {
            set_json(&text, m);
            status = text.status == QN_OK ? qn_transcript_add_json(t, qn_buf_view(&text), err) : no_memory(err);
        }
        if (status == QN_OK && i == 0) {
            t->has_system = qn_str_is(qn_json_as_str(qn_json_find(m, "role")), "system");
        }
    }
    qn_buf_free(&text);
    return status;
}

static qn_status take(qn_transcript *t, const qn_json *root, qn_error *err)
{
    QN_TRY(take_messages(t, qn_json_find(root, "messages"), err));
    for (size_t i = 0; i < qn_json_count(root); i++) {
        qn_str key = qn_json_key_at(root, i);
        const qn_json *v = qn_json_at(root, i);
        if (qn_str_is(key, "tools") && qn_json_kind_of(v) == QN_JSON_ARRAY) {
            set_json(&t->tools, v);
        } else if (!qn_str_is(key, "messages") && !qn_str_is(key, "add_generation_prompt") &&
                   !qn_str_is(key, "tools")) {
            qn_json_writer w;
            qn_buf_add_char(&t->others, ',');
            qn_json_writer_init(&w, &t->others);
            w.depth = 1; /* within the object that qn_transcript_write() opens */
            qn_json_key_str(&w, key);
            qn_json_copy(&w, v);
        }
    }
    return t->others.status == QN_OK && t->tools.status == QN_OK ? QN_OK : no_memory(err);
}

static qn_status read_file(qn_transcript *t, const char *path, qn_error *err)
{
    qn_buf text;
    qn_json_doc *doc;
    init_buf(&text);
    qn_status status = qn_input_file(path, &text, err);
    if (status == QN_OK) {
        qn_error why;
        status = qn_json_parse(NULL, text.data, text.len, QN_TRANSCRIPT_MAX_NODES, &doc, &why);
        if (status == QN_OK) {
            status = take(t, qn_json_root(doc), &why);
            qn_json_free(doc);
        }
        if (status != QN_OK) {
            qn_fail(err, status, "%s: %s", path, why.what);
        }
    }
    qn_buf_free(&text);
    return status;
}

qn_status qn_transcript_load(qn_transcript *t, const char *path, qn_error *err)
{
    qn_transcript fresh;
    qn_transcript_init(&fresh);
    qn_status status = read_file(&fresh, path, err);
    if (status != QN_OK) {
        qn_transcript_free(&fresh);
        return status;
    }
    if (fresh.tools.len == 0) { /* those of the command line stay */
        qn_buf tools = fresh.tools;
        fresh.tools = t->tools;
        t->tools = tools;
    }
    qn_transcript_free(t);
    *t = fresh;
    return QN_OK;
}
