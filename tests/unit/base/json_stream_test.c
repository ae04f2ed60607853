/* JSON byte by byte: the same texts are accepted as by the reader, and each byte is called what it is.
 * SPDX-License-Identifier: MIT */
#include "base/json_stream.h"
#include "test.h"

static bool accepts(const char *text, size_t n)
{
    qn_json_stream s;
    qn_json_stream_init(&s);
    for (size_t i = 0; i < n; i++) {
        if (qn_json_stream_push(&s, text[i]) == QN_JSON_BAD) {
            return false;
        }
    }
    return qn_json_stream_whole(&s);
}

static void accepts_what_the_reader_accepts(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{}",
        "[]",
        " [1, 2.5e-3, -0, true, false, null, \"a\\u00e9\\n\"] ",
        "{\"a\": {\"b\": []}, \"c\": 1}",
        "12",
        "-0.5E+7",
        "\"x\"",
        "true",
        "null",
        "",
        " ",
        "{",
        "[1,]",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "01",
        "1.",
        ".5",
        "-",
        "1e",
        "+1",
        "tru",
        "trux",
        "\"\\x\"",
        "\"\\ud83d\\udc1d\"",
        "\"\\uD83D\\uDFFF\\ud7ff\\ue000\\udbff\\uDC00\"",
        "\"\\ud800\"",
        "\"\\ud800 \"",
        "\"\\ud800\\n\"",
        "\"\\ud800\\u0041\"",
        "\"\\ud800\\ud800\"",
        "\"\\udc00\"",
        "\"\\uDFFF\\uD800\"",
        "{\"\\ud800\": 1}",
        "\"\\u12g4\"",
        "\"\n\"",
        "[1 2]",
        "{a: 1}",
        "]",
        "[}",
        "{]",
        "1 2",
        "{} {}",
        "nulll",
        "[,]",
        "{\"a\":1 \"b\":2}",
        "\"a",
        "[[[]",
        "1.5.2",
        "--1",
        "\"\\\"\"",
        "[\"\\\\\"]",
        "[-]",
        "[1e5,2E-1]",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        qn_json_doc *doc = NULL;
        qn_error err;
        bool good = qn_json_parse(NULL, texts[i], strlen(texts[i]), 100, &doc, &err) == QN_OK;
        if (good != accepts(texts[i], strlen(texts[i]))) {
            fail_msg("%s: the reader says %d", texts[i], good);
        }
        qn_json_free(doc);
    }
}

static void events(void **state)
{
    (void)state;
    static const char text[] = "{\"k\": [1, \"s\"]}";
    static const qn_json_event wanted[] = {
        QN_JSON_OPEN_OBJECT, QN_JSON_OPEN_KEY,   QN_JSON_IN_STRING,    QN_JSON_CLOSE_KEY,   QN_JSON_COLON,
        QN_JSON_SPACE,       QN_JSON_OPEN_ARRAY, QN_JSON_OPEN_SCALAR,  QN_JSON_COMMA,       QN_JSON_SPACE,
        QN_JSON_OPEN_STRING, QN_JSON_IN_STRING,  QN_JSON_CLOSE_STRING, QN_JSON_CLOSE_ARRAY, QN_JSON_CLOSE_OBJECT,
    };
    qn_json_stream s;
    qn_json_stream_init(&s);
    for (size_t i = 0; i < sizeof(text) - 1; i++) {
        assert_int_equal(qn_json_stream_push(&s, text[i]), wanted[i]);
        assert_int_equal(qn_json_stream_whole(&s), i == sizeof(text) - 2);
    }
    assert_int_equal(s.depth, 0);
}

static void a_bad_byte_changes_nothing(void **state)
{
    (void)state;
    qn_json_stream s, before;
    qn_json_stream_init(&s);
    for (const char *c = "{\"a\": [12"; *c != '\0'; c++) {
        for (int bad = 1; bad < 0x20; bad++) {
            before = s;
            if (bad != '\t' && bad != '\n' && bad != '\r') {
                assert_int_equal(qn_json_stream_push(&s, (char)bad), QN_JSON_BAD);
                assert_memory_equal(&s, &before, sizeof(s));
            }
        }
        assert_int_not_equal(qn_json_stream_push(&s, *c), QN_JSON_BAD);
    }
}

static void depth_is_bounded(void **state)
{
    (void)state;
    qn_json_stream s;
    qn_json_stream_init(&s);
    for (int i = 0; i < QN_JSON_MAX_DEPTH; i++) {
        assert_int_equal(qn_json_stream_push(&s, '['), QN_JSON_OPEN_ARRAY);
    }
    assert_int_equal(qn_json_stream_push(&s, '['), QN_JSON_BAD);
    assert_int_equal(qn_json_stream_push(&s, ']'), QN_JSON_CLOSE_ARRAY);
}

static void check_unescape(const char *text, const char *wanted)
{
    qn_json_unescape u = {0};
    char out[64];
    size_t n = 0;
    for (; *text != '\0'; text++) {
        n += qn_json_unescape_push(&u, *text, out + n);
    }
    out[n] = '\0';
    assert_string_equal(out, wanted);
}

static void strings_are_unescaped(void **state)
{
    (void)state;
    check_unescape("plain", "plain");
    check_unescape("\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\b\f\n\r\t");
    check_unescape("\\u0041\\u00e9\\u20AC\\ud83d\\udc1d", "A\xC3\xA9\xE2\x82\xAC\xF0\x9F\x90\x9D");
    check_unescape("\\ud83dx", "\xEF\xBF\xBDx");
    check_unescape("\\udc1d", "\xEF\xBF\xBD");
    check_unescape("\\ud83d\\u0041", "\xEF\xBF\xBD"
                                     "A");
    check_unescape("\\ud83d\\ud83d\\udc1d", "\xEF\xBF\xBD\xF0\x9F\x90\x9D");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts_what_the_reader_accepts), cmocka_unit_test(events),
        cmocka_unit_test(a_bad_byte_changes_nothing),      cmocka_unit_test(depth_is_bounded),
        cmocka_unit_test(strings_are_unescaped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
