/* Normalization forms: known texts, what is cut off as normal, invalid bytes, long runs of marks, failing memory.
 * SPDX-License-Identifier: MIT */
#include "test.h"

#include "base/random.h"
#include "base/unicode_norm_int.h"

static const qn_norm forms[] = {QN_NORM_NFC, QN_NORM_NFD, QN_NORM_NFKC, QN_NORM_NFKD};

static void assert_form(qn_norm form, const char *text, size_t n, const char *expected, size_t n_expected)
{
    qn_buf out;
    qn_buf_init(&out, NULL, "test", SIZE_MAX / 2);
    assert_int_equal(qn_norm_add(form, text, n, &out), QN_OK);
    assert_int_equal(out.len, n_expected);
    assert_true(n_expected == 0 || memcmp(out.data, expected, n_expected) == 0);
    qn_buf_free(&out);
}

static void known_texts(void **state)
{
    (void)state;
    static const struct {
        const char *text, *expected[4]; /* in the order of forms; NULL: the text itself */
    } cases[] = {
        {"", {NULL, NULL, NULL, NULL}},
        {"plain text, of more than eight bytes", {NULL, NULL, NULL, NULL}},
        {"\u00E9", {NULL, "e\u0301", NULL, "e\u0301"}},
        {"e\u0301", {"\u00E9", NULL, "\u00E9", NULL}},
        {"a longer text with e\u0301 in it",
         {"a longer text with \u00E9 in it", NULL, "a longer text with \u00E9 in it", NULL}},
        {"\u212B", {"\u00C5", "A\u030A", "\u00C5", "A\u030A"}}, /* a singleton is never composed back */
        {"\u0958", {"\u0915\u093C", "\u0915\u093C", "\u0915\u093C", "\u0915\u093C"}}, /* an excluded composition */
        {"\uFB01x\u00B2", {NULL, NULL, "fix2", "fix2"}},
        {"\u1E9B\u0323", {NULL, "\u017F\u0323\u0307", "\u1E69", "s\u0323\u0307"}},
        {"q\u0307\u0323", {"q\u0323\u0307", "q\u0323\u0307", "q\u0323\u0307", "q\u0323\u0307"}}, /* only ordered */
        {"\u0307\u0323", {"\u0323\u0307", "\u0323\u0307", "\u0323\u0307", "\u0323\u0307"}},      /* no starter at all */
        {"a\u0315\u0300\u05AE\u0301b",
         {"\u00E0\u05AE\u0301\u0315b", "a\u05AE\u0300\u0301\u0315b", "\u00E0\u05AE\u0301\u0315b",
          "a\u05AE\u0300\u0301\u0315b"}},
        {"\uD55C\uAE00", {NULL, "\u1112\u1161\u11AB\u1100\u1173\u11AF", NULL, "\u1112\u1161\u11AB\u1100\u1173\u11AF"}},
        {"\u1112\u1161\u11AB\u1100\u1173\u11AF", {"\uD55C\uAE00", NULL, "\uD55C\uAE00", NULL}},
        {"\uD558\u11AB\u11AB",
         {"\uD55C\u11AB", "\u1112\u1161\u11AB\u11AB", "\uD55C\u11AB", "\u1112\u1161\u11AB\u11AB"}},
        {"\uFF21\u3000\u3392", {NULL, NULL, "A MHz", "A MHz"}},
        {"\uF900\U0002F800", {"\u8C48\u4E3D", "\u8C48\u4E3D", "\u8C48\u4E3D", "\u8C48\u4E3D"}},
        {"\U0001D15E",
         {"\U0001D157\U0001D165", "\U0001D157\U0001D165", "\U0001D157\U0001D165", "\U0001D157\U0001D165"}},
        {"\U00011099\U000110BA", {"\U0001109A", NULL, "\U0001109A", NULL}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (size_t k = 0; k < 4; k++) {
            const char *text = cases[i].text, *expected = cases[i].expected[k];
            expected = expected == NULL ? text : expected;
            assert_form(forms[k], text, strlen(text), expected, strlen(expected));
        }
    }
    static const char longest[] = "\u0635\u0644\u0649 \u0627\u0644\u0644\u0647 \u0639\u0644\u064A\u0647 "
                                  "\u0648\u0633\u0644\u0645";
    assert_form(QN_NORM_NFKD, "\uFDFA", 3, longest, sizeof(longest) - 1);
}

static void invalid_bytes_stay(void **state)
{
    (void)state;
    static const char text[] = "e\xFF\xCC\x81\xCC"
                               "e\xCC\x81\xED\xA0\x80\0e\xCC"; /* no mark crosses the FF */
    static const char nfc[] = "e\xFF\xCC\x81\xCC\xC3\xA9\xED\xA0\x80\0e\xCC";
    assert_form(QN_NORM_NFC, text, sizeof(text) - 1, nfc, sizeof(nfc) - 1);
    assert_form(QN_NORM_NFD, text, sizeof(text) - 1, text, sizeof(text) - 1);
    assert_form(QN_NORM_NFKC, "\xC3", 1, "\xC3", 1);
}

static void prefixes(void **state)
{
    (void)state;
    static const struct {
        qn_norm form;
        const char *text;
        size_t expected;
    } cases[] = {
        {QN_NORM_NFC, "", 0},
        {QN_NORM_NFC, "abc", 3},
        {QN_NORM_NFC, "abce\u0301", 3},
        {QN_NORM_NFC, "\u00E9", 2},
        {QN_NORM_NFD, "ab\u00E9", 1},
        {QN_NORM_NFC, "\u4E2D\u6587", 6},
        {QN_NORM_NFC, "\u4E2D\u6587\u0301", 3},
        {QN_NORM_NFKC, "a\uFF21", 0},
        {QN_NORM_NFC, "a\u0323\u0307", 0},
        {QN_NORM_NFD, "ab\u0323\u0307", 6},
        {QN_NORM_NFD, "ab\u0307\u0323", 1},
        {QN_NORM_NFC, "\xFF\u0301", 1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(qn_norm_prefix(cases[i].form, cases[i].text, strlen(cases[i].text)), cases[i].expected);
    }
}

static size_t random_text(qn_random *r, char *s, size_t n_chars)
{
    static const char *const parts[] = {"a",      "e",      "A",      "\u0301",   "\u0323",     "\u0307",
                                        "\u05AE", "\u0315", "\u00E9", "\u1E69",   "\u1112",     "\u1161",
                                        "\u11AB", "\uD558", "\uD55C", "\u0344",   "\u0F73",     "\u0F71",
                                        "\u0F72", "\u09C7", "\u09BE", "\uFB01",   "\u3000",     "\uFDFA",
                                        "\u3099", "\u304B", "\xFF",   "\xE2\x96", "\U0001D15E", " text in ascii "};
    size_t n = 0;
    for (size_t i = 0; i < n_chars; i++) {
        const char *part = parts[qn_random_below(r, sizeof(parts) / sizeof(parts[0]))];
        memcpy(s + n, part, strlen(part));
        n += strlen(part);
    }
    return n;
}

/* Normal text stays; the prefix and the rest make the whole; forms agree with one another. */
static void forms_hold_together(void **state)
{
    (void)state;
    qn_random r;
    qn_random_seed(&r, 7);
    char text[1024];
    for (int round = 0; round < 4000; round++) {
        size_t n = random_text(&r, text, qn_random_below(&r, 40));
        qn_buf once[4], again;
        qn_buf_init(&again, NULL, "test", SIZE_MAX / 2);
        for (size_t k = 0; k < 4; k++) {
            qn_buf_init(&once[k], NULL, "test", SIZE_MAX / 2);
            assert_int_equal(qn_norm_add(forms[k], text, n, &once[k]), QN_OK);
            assert_form(forms[k], once[k].data, once[k].len, once[k].data, once[k].len);
            if (forms[k] == QN_NORM_NFD || forms[k] == QN_NORM_NFKD) { /* the others leave some in doubt */
                assert_int_equal(qn_norm_prefix(forms[k], once[k].data, once[k].len), once[k].len);
            }
            size_t cut = qn_norm_prefix(forms[k], text, n);
            assert_int_equal(qn_norm_add(forms[k], text, cut, &again), QN_OK);
            assert_int_equal(qn_norm_add(forms[k], text + cut, n - cut, &again), QN_OK);
            assert_true(qn_str_eq(qn_buf_view(&again), qn_buf_view(&once[k])));
            qn_buf_clear(&again);
        }
        assert_form(QN_NORM_NFC, once[1].data, once[1].len, once[0].data, once[0].len);
        assert_form(QN_NORM_NFD, once[0].data, once[0].len, once[1].data, once[1].len);
        assert_form(QN_NORM_NFKC, once[1].data, once[1].len, once[2].data, once[2].len);
        assert_form(QN_NORM_NFKD, once[2].data, once[2].len, once[3].data, once[3].len);
        for (size_t k = 0; k < 4; k++) {
            qn_buf_free(&once[k]);
        }
        qn_buf_free(&again);
    }
}

/* A megabyte of marks in the worst order: ordering must not be quadratic. */
static void long_runs_of_marks(void **state)
{
    (void)state;
    enum { N = 1 << 19 };
    char *text = malloc(2 * N + 1), *expected = malloc(2 * N + 1);
    assert_non_null(text);
    assert_non_null(expected);
    text[0] = expected[0] = 'q';
    for (size_t i = 0; i < N; i++) { /* U+0307 of class 230 and U+0323 of class 220 in turn */
        memcpy(text + 1 + 2 * i, i % 2 == 0 ? "\u0307" : "\u0323", 2);
        memcpy(expected + 1 + 2 * i, i < N / 2 ? "\u0323" : "\u0307", 2);
    }
    for (size_t k = 0; k < 4; k++) {
        assert_form(forms[k], text, 2 * N + 1, expected, 2 * N + 1);
    }
    free(text);
    free(expected);
}

static void memory_fails(void **state)
{
    (void)state;
    char text[1200];
    size_t n = 0;
    for (int i = 0; i < 100; i++) {
        memcpy(text + n, i % 2 == 0 ? "\u0344" : "\u0323", 2);
        n += 2;
    }
    uint64_t live = qn_alloc_live();
    qn_status s = QN_ENOMEM;
    uint64_t failed = 0;
    for (; s == QN_ENOMEM; failed++) {
        qn_buf out;
        qn_buf_init(&out, NULL, "test", SIZE_MAX / 2);
        qn_alloc_fail_at(failed + 1);
        s = qn_norm_add(QN_NORM_NFC, text, n, &out);
        qn_alloc_fail_at(0);
        qn_buf_free(&out);
        assert_int_equal(qn_alloc_live(), live);
    }
    assert_int_equal(s, QN_OK);
    assert_true(failed > 3);

    qn_buf small;
    qn_buf_init(&small, NULL, "test", 8);
    assert_int_equal(qn_norm_add(QN_NORM_NFC, text, n, &small), QN_EFULL);
    qn_buf_free(&small);
}

static void combining_classes(void **state)
{
    (void)state;
    for (uint32_t cp = 0x4000; cp <= 0x9FFF; cp++) { /* passed over without a look */
        assert_int_equal(qn_norm_word(cp), 0);
    }
    assert_int_equal(qn_unicode_combining_class('a'), 0);
    assert_int_equal(qn_unicode_combining_class(0x301), 230);
    assert_int_equal(qn_unicode_combining_class(0x323), 220);
    assert_int_equal(qn_unicode_combining_class(0x3099), 8);
    assert_int_equal(qn_unicode_combining_class(0x1E94A), 7);
    assert_int_equal(qn_unicode_combining_class(0x10FFFF), 0);
    assert_int_equal(qn_unicode_combining_class(UINT32_MAX), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_texts),         cmocka_unit_test(invalid_bytes_stay), cmocka_unit_test(prefixes),
        cmocka_unit_test(forms_hold_together), cmocka_unit_test(long_runs_of_marks), cmocka_unit_test(memory_fails),
        cmocka_unit_test(combining_classes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
