/* Tells a script which texts a grammar allows: one case a line on the standard input, one result a line on the output.
 *
 *   case    {"kind": "schema", "gbnf", "regex" or "pattern", "source": SCHEMA or TEXT, "texts": [TEXT, ...]}; strict (a
 *           boolean), blanks (a count) may be there. "pattern" is found somewhere in a text, as JSON schema has it.
 *   result  {"status": NAME, "what": TEXT, "nodes": COUNT, "matches": [BOOLEAN or null, ...]}; null: not told in time
 *
 * The judge of a text is the slow matcher of the front ends, which shares nothing with the automaton.
 *
 * SPDX-License-Identifier: MIT */
#include "grammar/front_int.h"

#include <stdio.h>
#include <stdlib.h>

#define MAX_NODES 1000000

static qn_status build(qn_gx_builder *b, const qn_json *c, qn_error *err)
{
    const qn_json *kind = qn_json_find(c, "kind"), *source = qn_json_find(c, "source");
    const qn_json *strict = qn_json_find(c, "strict"), *blanks = qn_json_find(c, "blanks");
    qn_str name = kind != NULL ? qn_json_as_str(kind) : QN_STR("");
    if (source == NULL) {
        return qn_fail(err, QN_EINVAL, "a case without a source");
    }
    if (qn_str_is(name, "schema")) {
        int64_t n = 0;
        qn_schema_options o = {.strict = strict != NULL && qn_json_as_bool(strict)};
        if (blanks != NULL && qn_json_as_i64(blanks, &n)) {
            o.max_whitespace = (uint32_t)n;
        }
        return qn_front_schema(b, source, &o, err);
    }
    if (qn_str_is(name, "gbnf")) {
        return qn_front_gbnf(b, qn_json_as_str(source), err);
    }
    if (qn_str_is(name, "regex")) {
        return qn_front_regex(b, qn_json_as_str(source), err);
    }
    qn_gx body;
    QN_TRY(qn_front_pattern(b, qn_json_as_str(source), true, false, &body, err));
    b->root = qn_gx_rule_new(b, QN_STR("root"));
    qn_gx_rule_define(b, b->root, body);
    return QN_OK;
}

static void judge(qn_gx_builder *b, const qn_json *texts, qn_json_writer *w)
{
    qn_gx root = qn_gx_rule_ref(b, b->root);
    qn_json_key(w, "matches");
    qn_json_begin_array(w);
    for (size_t i = 0; texts != NULL && i < qn_json_count(texts); i++) {
        bool matches;
        if (qn_front_match(b, root, qn_json_as_str(qn_json_at(texts, i)), &matches) == QN_OK) {
            qn_json_bool(w, matches);
        } else {
            qn_json_null(w);
        }
    }
    qn_json_end_array(w);
}

static void run(const qn_json *c, qn_json_writer *w)
{
    qn_error err = {0};
    qn_gx_builder b;
    qn_gx_init(&b, NULL);
    qn_status status = build(&b, c, &err);
    qn_json_key(w, "status");
    qn_json_cstring(w, qn_status_name(status));
    qn_json_key(w, "what");
    qn_json_cstring(w, status != QN_OK ? err.what : "");
    qn_json_key(w, "nodes");
    qn_json_u64(w, b.n_nodes);
    if (status == QN_OK) {
        judge(&b, qn_json_find(c, "texts"), w);
    }
    qn_gx_free(&b);
}

int main(void)
{
    char *line = NULL;
    size_t cap = 0;
    for (ssize_t n; (n = getline(&line, &cap, stdin)) > 0;) {
        qn_json_doc *doc;
        qn_error err;
        if (qn_json_parse(NULL, line, (size_t)n, MAX_NODES, &doc, &err) != QN_OK) {
            fprintf(stderr, "schema_tool: %s\n", err.what);
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
