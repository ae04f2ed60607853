/* Normalization against the Unicode Standard's own test file, where Debian's unicode-data has it, and against utf8proc
 * over random text of code points that both have assigned.
 * SPDX-License-Identifier: MIT */
#include "test.h"

#include "base/random.h"
#include "base/unicode_norm.h"
#include "base/unicode_norm_int.h"

static void put(uint32_t cp, qn_buf *out)
{
    char s[4] = {(char)cp};
    size_t n = cp < 0x80 ? 1 : cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;
    for (size_t i = n; n > 1 && i-- > 1; cp >>= 6) {
        s[i] = (char)(0x80 | (cp & 0x3F));
    }
    if (n > 1) {
        s[0] = (char)((0xF00 >> n & 0xFF) | cp); /* n ones, then what is left */
    }
    qn_buf_add(out, s, n);
}

static qn_buf new_buf(void)
{
    qn_buf b;
    qn_buf_init(&b, NULL, "test", SIZE_MAX / 2);
    return b;
}

static void assert_form(qn_norm form, const qn_buf *from, const qn_buf *expected, const char *line)
{
    qn_buf out = new_buf();
    assert_int_equal(qn_norm_add(form, from->data, from->len, &out), QN_OK);
    if (!qn_str_eq(qn_buf_view(&out), qn_buf_view(expected))) {
        print_message("form %d: %s", form, line);
        fail();
    }
    qn_buf_free(&out);
}

static bool *listed; /* per code point: it stands in part 1 of the file */

/* One line: source, NFC, NFD, NFKC and NFKD of it, as lists of code points. */
static void check_line(const char *line, bool in_part_1)
{
    qn_buf column[5];
    const char *at = line;
    for (size_t i = 0; i < 5; i++) {
        column[i] = new_buf();
        size_t n = 0;
        uint32_t cp = 0;
        for (char *end; *at != ';'; at = end, n++) {
            cp = (uint32_t)strtoul(at, &end, 16);
            assert_true(end != at);
            put(cp, &column[i]);
        }
        at++;
        if (i == 0 && n == 1 && in_part_1) {
            listed[cp] = true;
        }
    }
    for (size_t i = 0; i < 5; i++) {
        assert_form(QN_NORM_NFC, &column[i], &column[i < 3 ? 1 : 3], line);
        assert_form(QN_NORM_NFD, &column[i], &column[i < 3 ? 2 : 4], line);
        assert_form(QN_NORM_NFKC, &column[i], &column[3], line);
        assert_form(QN_NORM_NFKD, &column[i], &column[4], line);
    }
    for (size_t i = 0; i < 5; i++) {
        qn_buf_free(&column[i]);
    }
}

/* What part 1 does not list is its own form in each of the four. */
static void check_unlisted(void)
{
    for (uint32_t cp = 0; cp < QN_UNICODE_END; cp++) {
        if (listed[cp] || (cp >= 0xD800 && cp <= 0xDFFF)) {
            continue;
        }
        qn_buf one = new_buf();
        put(cp, &one);
        for (qn_norm form = QN_NORM_NFC; form <= QN_NORM_NFKD; form++) {
            assert_form(form, &one, &one, "a character that is not listed\n");
        }
        qn_buf_free(&one);
    }
}

static void standard_test_file(void **state)
{
    (void)state;
    FILE *f = popen("bzcat /usr/share/unicode/NormalizationTest.txt.bz2 2>/dev/null", "r");
    assert_non_null(f);
    listed = calloc(QN_UNICODE_END, sizeof(*listed));
    assert_non_null(listed);
    char line[2048];
    unsigned part = 0, n_lines = 0;
    while (fgets(line, sizeof(line), f) != NULL) {
        if (sscanf(line, "@Part%u", &part) == 1 || line[0] == '#' || line[0] == '@') {
            continue;
        }
        check_line(line, part == 1);
        n_lines++;
    }
    pclose(f);
    if (n_lines > 0) {
        check_unlisted();
    }
    free(listed);
    if (n_lines == 0) {
        QN_TEST_SKIP("no NormalizationTest.txt.bz2 of unicode-data, or no bzcat");
    }
    assert_true(n_lines > 18000);
}

#ifdef QN_HAVE_UTF8PROC
#include <utf8proc.h>

/* Code points where something happens are drawn often. */
static uint32_t random_char(qn_random *r)
{
    for (;;) {
        uint32_t cp;
        switch (qn_random_below(r, 6)) {
        case 0:
            cp = qn_unicode_canonical[qn_random_below(r, qn_unicode_n_canonical)][0];
            break;
        case 1:
            cp = qn_unicode_compositions[qn_random_below(r, qn_unicode_n_compositions)][qn_random_below(r, 2)];
            break;
        case 2:
            cp = 0x300 + (uint32_t)qn_random_below(r, 0x70);
            break;
        case 3:
            cp = qn_random_below(r, 2) == 0 ? 0xAC00 + (uint32_t)qn_random_below(r, 11172)
                                            : 0x1100 + (uint32_t)qn_random_below(r, 0x100);
            break;
        case 4:
            cp = (uint32_t)qn_random_below(r, QN_UNICODE_END);
            break;
        default:
            cp = (uint32_t)qn_random_below(r, 0x3000);
        }
        qn_category category = qn_unicode_category(cp);
        if (category != QN_CATEGORY_CN && category != QN_CATEGORY_CS &&
            utf8proc_category((utf8proc_int32_t)cp) != UTF8PROC_CATEGORY_CN) {
            return cp;
        }
    }
}

static void random_text(void **state)
{
    (void)state;
    static const utf8proc_option_t options[] = {
        UTF8PROC_STABLE | UTF8PROC_COMPOSE, UTF8PROC_STABLE | UTF8PROC_DECOMPOSE,
        UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT, UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT};
    qn_random r;
    qn_random_seed(&r, 11);
    for (int round = 0; round < 20000; round++) {
        qn_buf text = new_buf();
        for (size_t i = qn_random_below(&r, 20) + 1; i > 0; i--) {
            put(random_char(&r), &text);
        }
        for (qn_norm form = QN_NORM_NFC; form <= QN_NORM_NFKD; form++) {
            utf8proc_uint8_t *expected = NULL;
            utf8proc_ssize_t n =
                utf8proc_map((const utf8proc_uint8_t *)text.data, (utf8proc_ssize_t)text.len, &expected, options[form]);
            assert_true(n >= 0);
            qn_buf view = {.data = (char *)expected, .len = (size_t)n};
            assert_form(form, &text, &view, "random text\n");
            free(expected);
        }
        qn_buf_free(&text);
    }
}
#else
static void random_text(void **state)
{
    (void)state;
    QN_TEST_SKIP("utf8proc is not installed");
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(standard_test_file), cmocka_unit_test(random_text)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
