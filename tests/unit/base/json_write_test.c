/* Tests of the JSON writer.
 * SPDX-License-Identifier: MIT */
#include "test.h"

#include "base/json.h"
#include "base/random.h"

#include <float.h>
#include <locale.h>
#include <math.h>

typedef struct sheet {
    qn_buf buf;
    qn_json_writer w;
} sheet;

static void begin(sheet *s)
{
    qn_buf_init(&s->buf, NULL, "test", SIZE_MAX);
    qn_json_writer_init(&s->w, &s->buf);
}

static void expect(sheet *s, const char *text)
{
    assert_int_equal(s->buf.status, QN_OK);
    assert_string_equal(s->buf.data, text);
    assert_int_equal(s->w.depth, 0);
    qn_buf_free(&s->buf);
}

static void test_nesting(void **state)
{
    (void)state;
    sheet s;
    begin(&s);
    qn_json_begin_object(&s.w);
    qn_json_key(&s.w, "a");
    qn_json_begin_array(&s.w);
    qn_json_end_array(&s.w);
    qn_json_key(&s.w, "b");
    qn_json_begin_array(&s.w);
    qn_json_u64(&s.w, UINT64_MAX);
    qn_json_i64(&s.w, INT64_MIN);
    qn_json_begin_object(&s.w);
    qn_json_end_object(&s.w);
    qn_json_begin_object(&s.w);
    qn_json_key_str(&s.w, QN_STR("x\0y"));
    qn_json_null(&s.w);
    qn_json_end_object(&s.w);
    qn_json_bool(&s.w, true);
    qn_json_bool(&s.w, false);
    qn_json_end_array(&s.w);
    qn_json_key(&s.w, "c");
    qn_json_cstring(&s.w, "");
    qn_json_end_object(&s.w);
    expect(&s, "{\"a\":[],\"b\":[18446744073709551615,-9223372036854775808,{},{\"x\\u0000y\":null},true,false],"
               "\"c\":\"\"}");
}

static void test_copies_keep_what_was_written(void **state)
{
    (void)state;
    static const char source[] = "{\"z\":[1.50e+3,-0,12345678901234567890123],\"a\":{\"z\":null,\"z\":[true,false,\"\\n\"]},"
                                 "\"\":[]}";
    qn_json_doc *d;
    qn_error err;
    assert_int_equal(qn_json_parse(NULL, source, strlen(source), 100, &d, &err), QN_OK);
    sheet s;
    begin(&s);
    qn_json_begin_array(&s.w);
    qn_json_raw(&s.w, QN_STR("[ 1 ]"));
    qn_json_copy(&s.w, qn_json_root(d));
    qn_json_end_array(&s.w);
    char want[256];
    snprintf(want, sizeof(want), "[[ 1 ],%s]", source);
    expect(&s, want);
    qn_json_free(d);
}

static void test_strings(void **state)
{
    (void)state;
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"plain", "\"plain\""},
        {"say \"hi\" \\ / \x7F", "\"say \\\"hi\\\" \\\\ / \x7F\""},
        {"\b\t\n\f\r\x01\x1F", "\"\\b\\t\\n\\f\\r\\u0001\\u001f\""},
        {"\xC3\xBC \xE2\x82\xAC \xF0\x9F\x98\x80", "\"\xC3\xBC \xE2\x82\xAC \xF0\x9F\x98\x80\""},
        {"a\xFFz", "\"a\xEF\xBF\xBDz\""},
        {"\xC3", "\"\xEF\xBF\xBD\""},
        {"\xE2\x82|", "\"\xEF\xBF\xBD\xEF\xBF\xBD|\""},
        {"\xED\xA0\x80", "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        sheet s;
        begin(&s);
        qn_json_cstring(&s.w, cases[i].in);
        expect(&s, cases[i].out);
    }
    sheet s;
    begin(&s);
    qn_json_string(&s.w, (qn_str){NULL, 0});
    expect(&s, "\"\"");
}

static void expect_f64(double v, const char *text)
{
    sheet s;
    begin(&s);
    qn_json_f64(&s.w, v);
    expect(&s, text);
}

static void test_doubles(void **state)
{
    (void)state;
    expect_f64(0, "0");
    expect_f64(-0.0, "-0");
    expect_f64(1, "1");
    expect_f64(-17, "-17");
    expect_f64(999999999999999, "999999999999999");
    expect_f64(100000000000000, "100000000000000");
    expect_f64(0.1, "0.1");
    expect_f64(0.1f, "0.10000000149011612");
    expect_f64(1.0 / 3, "0.3333333333333333");
    expect_f64(2.0 / 3, "0.6666666666666666");
    expect_f64(0.1 + 0.2, "0.30000000000000004");
    expect_f64(1e100, "1e+100");
    expect_f64(DBL_MAX, "1.7976931348623157e+308");
    expect_f64(DBL_MIN, "2.2250738585072014e-308");
    expect_f64(5e-324, "5e-324");
    expect_f64(9007199254740993.0, "9007199254740992");
    /* the nearest text of 16 digits is another double; the next larger one is not */
    expect_f64(0x1p-44, "5.684341886080802e-14");
    expect_f64(-0x1p-1017, "-7.120236347223045e-307");
    expect_f64(0x1p863, "6.150157786156811e+259");
    expect_f64(0x1p-489, "6.256509672447191e-148");
    expect_f64(NAN, "null");
    expect_f64(INFINITY, "null");
    expect_f64(-INFINITY, "null");
}

static void test_doubles_come_back(void **state)
{
    (void)state;
    qn_random r;
    qn_random_seed(&r, 3);
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = qn_random_u64(&r);
        double v, back;
        memcpy(&v, &bits, sizeof(v));
        if (i % 2 == 0) {
            v = (double)(float)qn_random_normal(&r);
        }
        if (!isfinite(v)) {
            continue;
        }
        sheet s;
        begin(&s);
        qn_json_f64(&s.w, v);
        qn_json_doc *d = NULL;
        assert_int_equal(qn_json_parse(NULL, s.buf.data, s.buf.len, 1, &d, NULL), QN_OK);
        back = qn_json_as_f64(qn_json_root(d));
        assert_memory_equal(&back, &v, sizeof(v));
        qn_json_free(d);
        qn_buf_free(&s.buf);
    }
}

/* A host program may have set a locale whose decimal point is a comma. */
static void test_locale_does_not_matter(void **state)
{
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8", "nl_NL.UTF-8"};
    const char *set = NULL;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && set == NULL; i++) {
        set = setlocale(LC_NUMERIC, names[i]);
    }
    if (set == NULL) {
        QN_TEST_SKIP("no locale with a decimal comma is installed");
    }
    sheet s;
    begin(&s);
    qn_json_f64(&s.w, 1234567.5);
    qn_json_doc *d = NULL;
    qn_status status = qn_json_parse(NULL, "1.5", 3, 1, &d, NULL);
    double v = status == QN_OK ? qn_json_as_f64(qn_json_root(d)) : 0;
    char still[8];
    snprintf(still, sizeof(still), "%.1f", 0.5);
    setlocale(LC_NUMERIC, "C");
    qn_json_free(d);
    assert_int_equal(status, QN_OK);
    assert_true(v == 1.5);
    assert_string_equal(still, "0,5");
    expect(&s, "1234567.5");
}

static void test_a_full_buffer_is_told(void **state)
{
    (void)state;
    sheet s;
    qn_buf_init(&s.buf, NULL, "test", 10);
    qn_json_writer_init(&s.w, &s.buf);
    qn_json_begin_array(&s.w);
    for (int i = 0; i < 10; i++) {
        qn_json_cstring(&s.w, "abc");
    }
    qn_json_end_array(&s.w);
    assert_int_equal(s.buf.status, QN_EFULL);
    assert_true(s.buf.len <= 10);
    qn_buf_free(&s.buf);
}

static void write_all(qn_buf *buf)
{
    qn_json_writer w;
    qn_json_writer_init(&w, buf);
    qn_json_begin_array(&w);
    for (int i = 0; i < 30; i++) {
        qn_json_cstring(&w, "some text\n");
        qn_json_f64(&w, 0.5 * i);
    }
    qn_json_end_array(&w);
}

static void test_no_memory(void **state)
{
    (void)state;
    uint64_t live = qn_alloc_live(), n = 0;
    qn_status status = QN_ENOMEM;
    while (status == QN_ENOMEM) {
        qn_buf buf;
        qn_buf_init(&buf, NULL, "test", SIZE_MAX);
        qn_alloc_fail_at(++n);
        write_all(&buf);
        qn_alloc_fail_at(0);
        status = buf.status;
        qn_buf_free(&buf);
        assert_int_equal(qn_alloc_live(), live);
    }
    assert_int_equal(status, QN_OK);
    assert_true(n > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nesting),
        cmocka_unit_test(test_copies_keep_what_was_written),
        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_doubles),
        cmocka_unit_test(test_doubles_come_back),
        cmocka_unit_test(test_locale_does_not_matter),
        cmocka_unit_test(test_a_full_buffer_is_told),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
