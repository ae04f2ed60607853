/* Renders templates for a script: one case a line on the standard input, one result a line on the standard output.
 *
 *   case    {"template": TEXT, "vars": OBJECT, "now": SECONDS}; now may be absent
 *   result  {"text": TEXT, "spans": [[START, END], ...]} or {"stage": "compile" or "render", "code": NAME, "what":
 * TEXT}
 *
 * SPDX-License-Identifier: MIT */
#include "text/jinja/jinja.h"

#include <stdio.h>
#include <stdlib.h>

#define MAX_NODES 1000000

static void write_failure(qn_json_writer *w, const char *stage, qn_status status, const qn_error *err)
{
    qn_json_key(w, "stage");
    qn_json_cstring(w, stage);
    qn_json_key(w, "code");
    qn_json_cstring(w, qn_status_name(status));
    qn_json_key(w, "what");
    qn_json_cstring(w, err->what);
}

static void write_text(qn_json_writer *w, const qn_jinja_text *t)
{
    qn_json_key(w, "text");
    qn_json_string(w, qn_buf_view(&t->text));
    qn_json_key(w, "spans");
    qn_json_begin_array(w);
    for (size_t i = 0; i < t->n_spans; i++) {
        qn_json_begin_array(w);
        qn_json_u64(w, t->spans[i].start);
        qn_json_u64(w, t->spans[i].end);
        qn_json_end_array(w);
    }
    qn_json_end_array(w);
}

static void run(const qn_json *c, qn_json_writer *w)
{
    qn_error err = {0};
    qn_jinja *j = NULL;
    qn_jinja_text text;
    qn_jinja_options o = {.now = INT64_MIN};
    const qn_json *now = qn_json_find(c, "now");
    if (now != NULL) {
        qn_json_as_i64(now, &o.now);
    }
    qn_status status = qn_jinja_open(qn_json_as_str(qn_json_find(c, "template")), NULL, &j, &err);
    if (status != QN_OK) {
        write_failure(w, "compile", status, &err);
        return;
    }
    status = qn_jinja_render(j, qn_json_find(c, "vars"), &o, NULL, &text, &err);
    if (status != QN_OK) {
        write_failure(w, "render", status, &err);
    } else {
        write_text(w, &text);
        qn_jinja_text_free(&text);
    }
    qn_jinja_close(j);
}

int main(void)
{
    char *line = NULL;
    size_t cap = 0;
    for (ssize_t n; (n = getline(&line, &cap, stdin)) > 0;) {
        qn_json_doc *doc;
        qn_error err;
        if (qn_json_parse(NULL, line, (size_t)n, MAX_NODES, &doc, &err) != QN_OK) {
            fprintf(stderr, "jinja_tool: %s\n", err.what);
            return 1;
        }
        qn_buf out;
        qn_json_writer w;
        qn_buf_init(&out, NULL, "tool", SIZE_MAX / 2);
        qn_json_writer_init(&w, &out);
        qn_json_begin_object(&w);
        run(qn_json_root(doc), &w);
        qn_json_end_object(&w);
        qn_json_free(doc);
        printf("%.*s\n", (int)out.len, out.data);
        fflush(stdout);
        qn_buf_free(&out);
    }
    free(line);
    return 0;
}
