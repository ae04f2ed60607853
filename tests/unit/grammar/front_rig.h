/* What the tests of the front ends share: build something from a source, and ask which texts it matches.
 * SPDX-License-Identifier: MIT */
#ifndef QN_TESTS_FRONT_RIG_H
#define QN_TESTS_FRONT_RIG_H

#include "test.h"

#include "grammar/front_int.h"

typedef qn_status (*front_build)(qn_gx_builder *b, qn_str source, qn_error *err);

/* Schemas compact and not strict. */
static inline qn_status front_schema(qn_gx_builder *b, qn_str source, qn_error *err)
{
    qn_json_doc *doc;
    QN_TRY(qn_json_parse(NULL, source.data, source.len, 1u << 20, &doc, err));
    qn_status status = qn_front_schema(b, qn_json_root(doc), &(qn_schema_options){.max_whitespace = 0}, err);
    qn_json_free(doc);
    return status;
}

/* A pattern as JSON schema has it: found somewhere. */
static inline qn_status front_search(qn_gx_builder *b, qn_str source, qn_error *err)
{
    qn_gx x;
    QN_TRY(qn_front_pattern(b, source, true, false, &x, err));
    b->root = qn_gx_rule_new(b, QN_STR("root"));
    qn_gx_rule_define(b, b->root, x);
    return QN_OK;
}

/* Texts after `source`: each begins with '+' (must match) or '-' (must not); NULL ends. */
static inline void front_check(front_build build, const char *source, ...)
{
    qn_gx_builder b;
    qn_error err = {0};
    qn_gx_init(&b, NULL);
    qn_status status = build(&b, qn_str_of(source), &err);
    if (status != QN_OK) {
        fail_msg("%s: %s", source, err.what);
    }
    qn_gx root = qn_gx_rule_ref(&b, b.root);
    va_list texts;
    va_start(texts, source);
    for (const char *text; (text = va_arg(texts, const char *)) != NULL;) {
        bool matches = false;
        assert_int_equal(qn_front_match(&b, root, qn_str_of(text + 1), &matches), QN_OK);
        if (matches != (text[0] == '+')) {
            fail_msg("%s: %s %s", source, matches ? "matches" : "does not match", text + 1);
        }
    }
    va_end(texts);
    qn_gx_free(&b);
}

/* It fails with that code, and the error holds `part`. */
static inline void front_refuses(front_build build, const char *source, qn_status code, const char *part)
{
    qn_gx_builder b;
    qn_error err = {0};
    qn_gx_init(&b, NULL);
    uint64_t live = qn_alloc_live();
    qn_status status = build(&b, qn_str_of(source), &err);
    if (status != code || strstr(err.what, part) == NULL) {
        fail_msg("%s: %s, \"%s\"", source, qn_status_name(status), err.what);
    }
    qn_gx_free(&b);
    assert_true(qn_alloc_live() <= live);
}

/* Fails every allocation once: an error each time, and nothing is left. */
static inline void front_without_memory(front_build build, const char *source)
{
    for (uint64_t n = 1;; n++) {
        qn_gx_builder b;
        qn_error err = {0};
        qn_gx_init(&b, NULL);
        uint64_t live = qn_alloc_live();
        qn_alloc_fail_at(n);
        qn_status status = build(&b, qn_str_of(source), &err);
        qn_alloc_fail_at(0);
        qn_gx_free(&b);
        assert_int_equal(qn_alloc_live(), live);
        if (status == QN_OK) {
            assert_true(n > 3);
            return;
        }
        if (status != QN_ENOMEM) {
            fail_msg("allocation %llu: %s, \"%s\"", (unsigned long long)n, qn_status_name(status), err.what);
        }
        assert_true(err.what[0] != '\0');
    }
}

#endif
