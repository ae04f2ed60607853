/* Reading and compiling what a text must look like. SPDX-License-Identifier: MIT */
#include "cli/format_option.h"

#include "base/json.h"
#include "base/utf8_scan.h"

static const struct {
    qn_option_id id;
    qn_format_kind kind;
} texts[] = {
    {QN_OPTION_ID_GRAMMAR, QN_FORMAT_GRAMMAR},
    {QN_OPTION_ID_JSON_SCHEMA, QN_FORMAT_JSON_SCHEMA},
    {QN_OPTION_ID_REGEX, QN_FORMAT_REGEX},
};
#define N_TEXTS (sizeof(texts) / sizeof(texts[0]))

static void begin(qn_format_source *s)
{
    *s = (qn_format_source){.flag = NULL};
    qn_buf_init(&s->text, NULL, QN_INPUT_OWNER, QN_INPUT_MAX_FORMAT);
}

void qn_format_source_free(qn_format_source *s)
{
    qn_buf_free(&s->text);
}

static qn_status add(qn_format_source *s, const char *text, qn_error *err)
{
    qn_buf_add_str(&s->text, text);
    return s->text.status == QN_OK ? QN_OK : qn_fail(err, s->text.status, "--%s: no memory for its text", s->flag);
}

/* ---- files --------------------------------------------------------------------------------------- */

/* Who else reads standard input; NULL: nobody. */
static const char *reader_of_input(const qn_options *o)
{
    static const qn_option_id ids[] = {QN_OPTION_ID_FILE, QN_OPTION_ID_TOOLS, QN_OPTION_ID_TEMPLATE};
    unsigned verb = qn_options_verb(o);
    if (verb == QN_VERB_CHAT) {
        return "the conversation";
    }
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        const qn_option *option = &qn_option_table[ids[i]];
        const char *path = (option->verbs & verb) ? qn_options_text(o, ids[i]) : NULL;
        if (path != NULL && strcmp(path, "-") == 0) {
            return option->name;
        }
    }
    return NULL;
}

/* The line end that editors put behind a file's last line is no part of a pattern. */
static void drop_line_end(qn_buf *text)
{
    if (text->len > 0 && text->data[text->len - 1] == '\n') {
        text->len--;
        text->len -= text->len > 0 && text->data[text->len - 1] == '\r';
        text->data[text->len] = '\0';
    }
}

static qn_status read_file(qn_format_source *s, const char *path, qn_error *err)
{
    qn_error why;
    s->path = strcmp(path, "-") == 0 ? "standard input" : path;
    qn_status status = qn_input_file(path, &s->text, &why);
    if (status != QN_OK) {
        /* A file that is too long is a bad format; one that cannot be read is the system's matter. */
        status = status == QN_EFULL ? QN_EINVAL : status;
        return s->flag != NULL ? qn_fail(err, status, "--%s: %s", s->flag, why.what)
                               : qn_fail(err, status, "%s", why.what);
    }
    qn_input_drop_mark(&s->text);
    if (s->kind == QN_FORMAT_REGEX) {
        drop_line_end(&s->text);
    }
    return QN_OK;
}

/* The value of an option: @FILE, @@ and a text that begins with @, or a text. */
static qn_status read_value(qn_format_source *s, const qn_options *o, const char *value, qn_error *err)
{
    if (value[0] != '@' || value[1] == '@') {
        return add(s, value + (value[0] == '@'), err);
    }
    const char *path = value + 1;
    if (path[0] == '\0') {
        return qn_fail(err, QN_EINVAL,
                       "--%s: a file's name is missing behind @; a text that begins with @ is written @@", s->flag);
    }
    const char *reader = strcmp(path, "-") == 0 ? reader_of_input(o) : NULL;
    if (reader != NULL) {
        return qn_fail(err, QN_EINVAL, "--%s: standard input is read already, by %s%s", s->flag,
                       strchr(reader, ' ') == NULL ? "--" : "", reader);
    }
    return read_file(s, path, err);
}

qn_status qn_format_source_file(qn_format_source *s, const char *path, qn_error *err)
{
    const char *ending = strrchr(path, '.');
    begin(s);
    if (ending != NULL && strcmp(ending, ".json") == 0) {
        s->kind = QN_FORMAT_JSON_SCHEMA;
    } else if (ending != NULL && strcmp(ending, ".gbnf") == 0) {
        s->kind = QN_FORMAT_GRAMMAR;
    } else {
        return qn_fail(err, QN_EINVAL,
                       "%s: only .json (a schema) and .gbnf tell what a file holds; else say it: --regex @FILE", path);
    }
    return read_file(s, path, err);
}

/* ---- choices -------------------------------------------------------------------------------------- */

/* JSON holds no other text. */
static bool is_utf8(const char *text)
{
    size_t n = strlen(text), length;
    for (size_t i = 0; i < n; i += length) {
        length = qn_utf8_scan(text + i, n - i);
        if (length == 0) {
            return false;
        }
    }
    return true;
}

/* A list is a file's, or is written out; else each option gives one text. */
static qn_status read_choices(qn_format_source *s, const qn_options *o, const char *const *values, size_t n,
                              qn_error *err)
{
    bool is_list = n == 1 && (values[0][0] == '[' || (values[0][0] == '@' && values[0][1] != '@'));
    if (is_list) {
        return read_value(s, o, values[0], err);
    }
    qn_json_writer w;
    qn_json_writer_init(&w, &s->text);
    qn_json_begin_array(&w);
    for (size_t i = 0; i < n; i++) {
        const char *value = values[i];
        if (value[0] == '@' && value[1] != '@') {
            return qn_fail(err, QN_EINVAL,
                           "--choice: %s is a file with all choices and cannot stand beside others; a text that begins "
                           "with @ is written @@",
                           value);
        }
        if (!is_utf8(value)) {
            return qn_fail(err, QN_EINVAL, "--choice: its text %zu is not valid UTF-8", i + 1);
        }
        qn_json_cstring(&w, value + (value[0] == '@'));
    }
    qn_json_end_array(&w);
    return s->text.status == QN_OK ? QN_OK : qn_fail(err, s->text.status, "--choice: no memory for its texts");
}

/* ---- all ------------------------------------------------------------------------------------------ */

qn_status qn_format_source_read(qn_format_source *s, const qn_options *o, qn_error *err)
{
    const char *value = NULL;
    size_t n_choices;
    const char *const *choices = qn_options_texts(o, QN_OPTION_ID_CHOICE, &n_choices);
    begin(s);
    for (size_t i = 0; i < N_TEXTS + 1; i++) {
        const char *text = i < N_TEXTS ? qn_options_text(o, texts[i].id) : n_choices > 0 ? choices[0] : NULL;
        const char *flag = i < N_TEXTS ? qn_option_table[texts[i].id].name : "choice";
        if (text == NULL) {
            continue;
        }
        if (s->flag != NULL) {
            return qn_fail(err, QN_EINVAL, "give --%s or --%s, not both", s->flag, flag);
        }
        s->flag = flag;
        s->kind = i < N_TEXTS ? texts[i].kind : QN_FORMAT_CHOICE;
        value = text;
    }
    if (s->flag == NULL) {
        return QN_OK;
    }
    return s->kind == QN_FORMAT_CHOICE ? read_choices(s, o, choices, n_choices, err) : read_value(s, o, value, err);
}

qn_status qn_format_source_compile(const qn_format_source *s, const qn_options *o, qn_runtime *rt, qn_format **out,
                                   qn_error *err)
{
    qn_format_options fo;
    qn_error why;
    qn_format_options_init(&fo);
    fo.max_whitespace = (uint32_t)qn_options_int(o, QN_OPTION_ID_JSON_WHITESPACE);
    fo.strict = qn_options_flag(o, QN_OPTION_ID_STRICT_SCHEMA);
    qn_status status = qn_format_open(rt, s->kind, s->text.len > 0 ? s->text.data : "", s->text.len, &fo, out, &why);
    if (status == QN_OK) {
        return QN_OK;
    }
    if (status == QN_EFORMAT || status == QN_EUNSUPPORTED || status == QN_EFULL) {
        status = QN_EINVAL;
    }
    return qn_fail(err, status, "%s%s%s%s%s%s", s->flag != NULL ? "--" : "", s->flag != NULL ? s->flag : "",
                   s->flag != NULL ? ": " : "", s->path != NULL ? s->path : "", s->path != NULL ? ": " : "", why.what);
}

qn_status qn_format_option_open(const qn_options *o, qn_runtime *rt, qn_format **out, qn_error *err)
{
    qn_format_source s;
    qn_status status = qn_format_source_read(&s, o, err);
    if (status == QN_OK && s.flag != NULL) {
        status = qn_format_source_compile(&s, o, rt, out, err);
    }
    qn_format_source_free(&s);
    return status;
}

qn_status qn_format_option_set(qn_generation *g, qn_format *f, qn_error *err)
{
    qn_error why;
    qn_status status = qn_generation_set_format(g, f, &why);
    if (status == QN_ENOTFOUND) { /* the one kind of format that names tokens */
        return qn_fail(err, QN_EINVAL, "--grammar: %s", why.what);
    }
    return status == QN_OK ? QN_OK : qn_fail(err, status, "%s", why.what);
}
