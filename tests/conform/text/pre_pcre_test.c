/* Our regular expressions against PCRE2: every pattern of the pre-tokenizers' table, and general ones, over random
 * text. Only code points are drawn that both have assigned; U+180E is left out, which PCRE2 takes for a space.
 * SPDX-License-Identifier: MIT */
#include "test.h"

#ifdef QN_HAVE_PCRE2
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/random.h"
#include "base/unicode.h"
#include "text/tokenizer_int.h"
#include "text/utf8.h"

#define MAX_TEXT 160 /* bytes */

static pcre2_code *open_pcre(const char *pattern)
{
    int code;
    PCRE2_SIZE at;
    uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_DOLLAR_ENDONLY;
    pcre2_code *re = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, options, &code, &at, NULL);
    assert_non_null(re);
    return re;
}

static bool *assigned; /* per code point */

static int find_assigned(void **state)
{
    (void)state;
    assigned = calloc(QN_UNICODE_END, sizeof(*assigned));
    assert_non_null(assigned);
    pcre2_code *re = open_pcre("\\P{Cn}");
    pcre2_match_data *m = pcre2_match_data_create(1, NULL);
    for (uint32_t cp = 0; cp < QN_UNICODE_END; cp++) {
        char s[4];
        if (cp == 0x180E || qn_unicode_category(cp) == QN_CATEGORY_CN || qn_unicode_category(cp) == QN_CATEGORY_CS) {
            continue;
        }
        assigned[cp] = pcre2_match(re, (PCRE2_SPTR)s, qn_utf8_put(cp, s), 0, 0, m, NULL) >= 0;
    }
    pcre2_match_data_free(m);
    pcre2_code_free(re);
    return 0;
}

static int free_assigned(void **state)
{
    (void)state;
    free(assigned);
    return 0;
}

static uint32_t random_char(qn_random *r, uint64_t mood)
{
    static const char ascii[] = "aaAbBsStTdDlLmMrReEvV019  '!.,-/\\\n\r\t~$+|`_({[";
    static const uint32_t others[] = {0xA0, 0xB2, 0xE9, 0x130, 0x131, 0x17F, 0x212A, 0x301, 0x663, 0x2028, 0x3000,
                                      0x3042, 0x30A2, 0x4E2D, 0x9FA5, 0xAC00, 0xFF01, 0xFF0C, 0x2026, 0x1F600, 0x1C5,
                                      0x2B0, 0x85, 0x2160, 0x10400, 0xFFFD};
    if (mood == 0 || qn_random_below(r, 3) == 0) {
        return (uint8_t)ascii[qn_random_below(r, sizeof(ascii) - 1)];
    }
    if (mood == 1) {
        return others[qn_random_below(r, sizeof(others) / sizeof(others[0]))];
    }
    for (;;) {
        uint32_t cp = (uint32_t)qn_random_below(r, mood == 2 ? 0x3000 : QN_UNICODE_END);
        if (assigned[cp] && qn_unicode_category(cp) != QN_CATEGORY_CO) {
            return cp;
        }
    }
}

static size_t random_text(qn_random *r, char *text)
{
    size_t n = 0, max = qn_random_below(r, MAX_TEXT - 8);
    uint64_t mood = qn_random_below(r, 4);
    while (n < max) {
        uint32_t cp = random_char(r, mood);
        for (uint64_t k = 1 + qn_random_below(r, 8) / 7 * 4; k > 0 && n < max; k--) {
            n += qn_utf8_put(cp, text + n);
        }
    }
    return n;
}

/* All matches of both, one after another. */
static uint64_t compare(const char *pattern, const qn_regex *ours, const pcre2_code *theirs, const char *text, size_t n)
{
    pcre2_match_data *m = pcre2_match_data_create(1, NULL);
    uint64_t n_matches = 0;
    for (size_t from = 0; from <= n;) {
        size_t start = 0, end = 0;
        bool found = qn_regex_find(ours, text, n, from, &start, &end);
        int got = pcre2_match(theirs, (PCRE2_SPTR)text, n, from, 0, m, NULL);
        const PCRE2_SIZE *at = pcre2_get_ovector_pointer(m);
        bool same = found == (got >= 0) && (!found || (start == at[0] && end == at[1]));
        if (!same) {
            print_message("%s\n  on \"%.*s\" from %zu: %d %zu-%zu, PCRE2 %d %zu-%zu\n", pattern, (int)n, text, from,
                          found, start, end, got, at[0], at[1]);
        }
        assert_true(same);
        if (!found) {
            break;
        }
        n_matches++;
        uint32_t cp;
        from = end > start ? end : start < n ? start + qn_unicode_decode(text + start, n - start, &cp) : n + 1;
    }
    pcre2_match_data_free(m);
    return n_matches;
}

/* The number of matches. */
static uint64_t compare_over_random_text(const char *pattern, unsigned n_texts)
{
    qn_regex *ours = NULL;
    qn_random r;
    char text[MAX_TEXT];
    uint64_t n_matches = 0;
    assert_int_equal(qn_regex_open(qn_str_of(pattern), NULL, &ours, NULL), QN_OK);
    pcre2_code *theirs = open_pcre(pattern);
    qn_random_seed(&r, strlen(pattern));
    for (unsigned i = 0; i < n_texts; i++) {
        size_t n = random_text(&r, text);
        n_matches += compare(pattern, ours, theirs, text, n);
    }
    pcre2_code_free(theirs);
    qn_regex_close(ours);
    return n_matches;
}

static void patterns_of_the_table(void **state)
{
    (void)state;
    const char *names;
    const char *const *patterns;
    for (size_t i = 0; qn_pre_kind_at(i, &names, &patterns); i++) {
        uint64_t n_matches = 0;
        for (size_t k = 0; k < QN_PRE_PATTERNS && patterns[k] != NULL; k++) {
            n_matches += compare_over_random_text(patterns[k], 2000);
        }
        assert_true(n_matches > 0);
    }
}

static void general_patterns(void **state)
{
    (void)state;
    static const char *const patterns[] = {
        "a|ab|abc", "(?:a|ab)(?:c|bcd)?", "(?i:stra\\x{DF}e|k|s)+", "\\d{2,3}?", "(?:\\p{Lu}\\p{Ll}*)+",
        "[^\\P{L}\\p{Lo}]+", "\\S+$", "^\\s*\\S", "(?:(?:a|b)*c?)*?d", "(?s:.)\\n", ".+?(?=\\s)", "(?:[ab]{1,3}|b)+?(?!b)",
        "\\x{4E2D}|[^\\x00-\\x7F]{2}",
    };
    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
        assert_true(compare_over_random_text(patterns[i], 4000) > 0);
    }
}

/* Each property over all code points at once. */
static void properties(void **state)
{
    (void)state;
    static const char *const names[] = {"\\p{L}", "\\p{Lu}", "\\p{Ll}", "\\p{Lt}", "\\p{Lm}", "\\p{Lo}",
                                        "\\p{M}", "\\p{N}", "\\p{P}", "\\p{S}", "\\p{Z}", "\\s", "\\d", "(?i:k)", "(?i:s)", "(?i:[a-z])"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        qn_regex *ours = NULL;
        assert_int_equal(qn_regex_open(qn_str_of(names[i]), NULL, &ours, NULL), QN_OK);
        pcre2_code *theirs = open_pcre(names[i]);
        pcre2_match_data *m = pcre2_match_data_create(1, NULL);
        unsigned n_different = 0;
        for (uint32_t cp = 0; cp < QN_UNICODE_END; cp++) {
            if (assigned[cp]) {
                char s[4];
                size_t n = qn_utf8_put(cp, s), end;
                bool here = qn_regex_match(ours, s, n, 0, &end);
                if (here != (pcre2_match(theirs, (PCRE2_SPTR)s, n, 0, 0, m, NULL) >= 0)) {
                    print_message("%s: U+%04X\n", names[i], cp);
                    n_different++;
                }
            }
        }
        assert_int_equal(n_different, 0);
        pcre2_match_data_free(m);
        pcre2_code_free(theirs);
        qn_regex_close(ours);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_of_the_table),
        cmocka_unit_test(general_patterns),
        cmocka_unit_test(properties),
    };
    return cmocka_run_group_tests(tests, find_assigned, free_assigned);
}

#else

static void patterns_of_the_table(void **state)
{
    (void)state;
    QN_TEST_SKIP("PCRE2 is not installed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(patterns_of_the_table)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
