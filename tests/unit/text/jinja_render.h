/* Renders a template with variables written as JSON, for the tests of chat templates.
 * SPDX-License-Identifier: MIT */
#ifndef QN_TESTS_JINJA_RENDER_H
#define QN_TESTS_JINJA_RENDER_H

#include "test.h"

#include "text/jinja/jinja.h"

#define QN_JINJA_TEST_NOW 1721984703 /* 2024-07-26 09:05:03 UTC */

/* Compiles and renders. *text must be freed when QN_OK comes back; err says what else. */
static inline qn_status qn_jinja_try(const char *source, size_t n, const char *json, const qn_jinja_options *o,
                                     qn_budget *b, qn_jinja_text *text, qn_error *err)
{
    qn_json_doc *doc;
    qn_jinja *j = NULL;
    qn_jinja_options defaults = {.now = QN_JINJA_TEST_NOW};
    assert_int_equal(qn_json_parse(NULL, json, strlen(json), 100000, &doc, err), QN_OK);
    qn_status status = qn_jinja_open((qn_str){source, n}, b, &j, err);
    if (status == QN_OK) {
        status = qn_jinja_render(j, qn_json_root(doc), o == NULL ? &defaults : o, b, text, err);
    }
    qn_jinja_close(j);
    qn_json_free(doc);
    return status;
}

/* The template gives exactly this text. */
static inline void qn_jinja_gives(const char *source, const char *json, const char *wanted)
{
    qn_jinja_text text;
    qn_error err = {0};
    qn_status status = qn_jinja_try(source, strlen(source), json, NULL, NULL, &text, &err);
    if (status != QN_OK) {
        print_message("%s\n  %s\n", source, err.what);
    }
    assert_int_equal(status, QN_OK);
    qn_str got = qn_buf_view(&text.text);
    if (!qn_str_is(got, wanted)) {
        print_message("%s\n  gives  %.*s\n  wanted %s\n", source, (int)got.len, got.data, wanted);
    }
    assert_true(qn_str_is(got, wanted));
    qn_jinja_text_free(&text);
}

/* The template is refused or fails with this code and exactly this message. */
static inline void qn_jinja_fails(const char *source, const char *json, qn_status code, const char *message)
{
    qn_jinja_text text;
    qn_error err = {0};
    qn_status status = qn_jinja_try(source, strlen(source), json, NULL, NULL, &text, &err);
    if (status != code || strcmp(err.what, message) != 0) {
        print_message("%s\n  says   %s\n  wanted %s\n", source, status == QN_OK ? "nothing" : err.what, message);
    }
    assert_int_equal(status, code);
    assert_string_equal(err.what, message);
}

typedef struct qn_jinja_case {
    const char *source, *wanted;
} qn_jinja_case;

#define QN_JINJA_ALL_GIVE(cases, json)                                \
    do {                                                              \
        for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) { \
            qn_jinja_gives(cases[i].source, json, cases[i].wanted);   \
        }                                                             \
    } while (0)

#define QN_JINJA_ALL_FAIL(cases, json)                                          \
    do {                                                                        \
        for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {           \
            qn_jinja_fails(cases[i].source, json, QN_EFORMAT, cases[i].wanted); \
        }                                                                       \
    } while (0)

#endif
