/* Patterns, what they match first, what is refused and where, and that the table and the simulation agree.
 * SPDX-License-Identifier: MIT */
#include "test.h"

#include "base/random.h"
#include "base/regex.h"
#include "base/regex_int.h"

static qn_regex *open_pattern(const char *pattern)
{
    qn_error err = {0};
    qn_regex *re = NULL;
    qn_status s = qn_regex_open(qn_str_of(pattern), NULL, &re, &err);
    if (s != QN_OK) {
        print_message("%s: %s\n", pattern, err.what);
    }
    assert_int_equal(s, QN_OK);
    return re;
}

/* "start-end" of the leftmost match, or "none", by both ways of running. */
static void assert_finds(const char *pattern, const char *text, size_t n, const char *expected)
{
    qn_regex *re = open_pattern(pattern);
    size_t start = 0, end = 0;
    char got[64] = "none";
    if (qn_regex_find(re, text, n, 0, &start, &end)) {
        snprintf(got, sizeof(got), "%zu-%zu", start, end);
    }
    if (strcmp(got, expected) != 0) {
        print_message("%s on %s: %s, expected %s\n", pattern, text, got, expected);
    }
    assert_string_equal(got, expected);
    strcpy(got, "none");
    if (qn_regex_simulate(re, text, n, 0, false, &start, &end)) {
        snprintf(got, sizeof(got), "%zu-%zu", start, end);
    }
    assert_string_equal(got, expected);
    qn_regex_close(re);
}

static void finds_the_leftmost_and_first(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *text, *expected;
    } cases[] = {
        {"a", "xxa", "2-3"},
        {"", "abc", "0-0"},
        {"b", "aaa", "none"},
        {"a|ab", "ab", "0-1"}, /* the first alternative, not the longest */
        {"ab|a", "ab", "0-2"},
        {"(?:a|ab)(?:c|bcd)", "abcd", "0-4"},
        {"a*", "aaab", "0-3"},
        {"a*?", "aaab", "0-0"},
        {"a+?b", "aaab", "0-4"},
        {"a??b", "ab", "0-2"},
        {"a{2}", "aaaa", "0-2"},
        {"a{2,}", "aaaa", "0-4"},
        {"a{2,3}", "aaaa", "0-3"},
        {"a{2,3}?", "aaaa", "0-2"},
        {"(ab){2}", "ababab", "0-4"},
        {"a{0}b", "ab", "1-2"},
        {"x*y", "xxz xy", "4-6"},
        {"a{,2}", "a{,2}", "0-5"}, /* not a repeat: plain characters */
        {"{", "{", "0-1"},
        {".", "\n\xC3\xA9", "1-3"},
        {"(?s).", "\n", "0-1"},
        {"(?s:.)x.", "\nx\n", "none"},
        {"[a-c]+", "xxabcd", "2-5"},
        {"[^a-c]+", "abxyc", "2-4"},
        {"[-a]+", "b-a-", "1-4"},
        {"[a-]+", "b-a-", "1-4"},
        {"[\\]\\\\]+", "x]\\", "1-3"},
        {"[\\w-]+", " a-b ", "1-4"},
        {"[[]", "[", "0-1"},
        {"\\x41\\x{1F600}\\u00e9", "A\xF0\x9F\x98\x80\xC3\xA9", "0-7"},
        {"\\p{Lu}\\pN", "aB7", "1-3"},
        {"\\P{L}+", "ab12c", "2-4"},
        {"\\p{^L}+", "ab12c", "2-4"},
        {"[^\\S\\n]+", "a \t\nb", "1-3"},
        {"\\d+", "x\xD9\xA3" "4", "1-4"},
        {"^a", "ba", "none"},
        {"^a", "ab", "0-1"},
        {"a$", "aba", "2-3"},
        {"$", "ab", "2-2"},
        {"^$", "", "0-0"},
        {"(?:^|x)a", "bxa", "1-3"},
        {"\\s+(?!\\S)", "a   b", "1-3"},
        {"\\s+(?!\\S)", "a   ", "1-4"},
        {"\\s+(?!\\S)", "a b", "none"},
        {"a(?=b)", "acab", "2-3"},
        {"a(?!$)", "aa", "0-1"},
        {"(?i:'s|'ll)", "'LL", "0-3"},
        {"(?i)k", "\xE2\x84\xAA", "0-3"},      /* the Kelvin sign */
        {"(?i:s)s", "\xC5\xBFs", "0-3"},       /* the long s; the flag ends with its group */
        {"(?i:s)s", "sS", "none"},
        {"(a(?i)b)c", "aBc", "0-3"},
        {"(a(?i)b)c", "aBC", "none"},
        {"(?i:[^a])", "A", "none"},
        {"(?:a*)*b", "aab", "0-3"},
        {"(?:a|b|)+c", "abc", "0-3"},
        {"(|a)b", "ab", "0-2"},
        {"\xE4\xB8\x80|\xE9\xBE\xA5", "x\xE9\xBE\xA5", "1-4"},
        {"[\xE4\xB8\x80-\xE9\xBE\xA5]+", "\xE4\xBD\xA0\xE5\xA5\xBD!", "0-6"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_finds(cases[i].pattern, cases[i].text, strlen(cases[i].text), cases[i].expected);
    }
}

static void any_bytes_are_text(void **state)
{
    (void)state;
    assert_finds("[^\\s\\p{L}\\p{N}]+", "a\xFF\xC3\x28\x00z", 6, "1-5"); /* each bad byte like U+FFFD, NUL like any */
    assert_finds("\\x{FFFD}", "\xE2\x96", 2, "0-1");
    assert_finds("\\x00", "a\0b", 3, "1-2");
    assert_finds("\\p{L}", "\xED\xA0\x80", 3, "none");
}

static void searches_from_an_offset(void **state)
{
    (void)state;
    qn_regex *re = open_pattern("^a|b(?=c)|\\s+(?!\\S)");
    size_t start, end;
    assert_true(qn_regex_find(re, "aabbc", 5, 1, &start, &end)); /* ^ is the start of the text, not of the search */
    assert_int_equal(start, 3);
    assert_int_equal(end, 4);
    assert_false(qn_regex_find(re, "aabbc", 5, 4, &start, &end));
    assert_false(qn_regex_find(re, "aabbc", 5, 5, &start, &end));
    assert_true(qn_regex_match(re, "aab", 3, 0, &end));
    assert_int_equal(end, 1);
    assert_false(qn_regex_match(re, "aab", 3, 1, &end));
    qn_regex_close(re);
}

static void refuses_with_a_position(void **state)
{
    (void)state;
    static const struct {
        const char *pattern;
        qn_status status;
        const char *where;
    } cases[] = {
        {"^+[a-f]$", QN_EFORMAT, "byte 1:"},
        {"^{2}x$", QN_EFORMAT, "byte 1:"},
        {"^(?<=k)*z$", QN_EUNSUPPORTED, "byte 3:"},
        {"^[a-", QN_EFORMAT, "byte 1:"},
        {"^\\", QN_EFORMAT, "byte 2:"},
        {"*a", QN_EFORMAT, "byte 0:"},
        {"a**", QN_EFORMAT, "byte 2:"},
        {"a|+", QN_EFORMAT, "byte 2:"},
        {"a{3,2}", QN_EFORMAT, "byte 1:"},
        {"a{1001}", QN_EUNSUPPORTED, "byte 1:"},
        {"a{99999999999999999999}", QN_EUNSUPPORTED, "byte 1:"},
        {"a++", QN_EUNSUPPORTED, "byte 2:"},
        {"[]", QN_EFORMAT, "byte 0:"},
        {"[z-a]", QN_EFORMAT, "byte 1:"},
        {"[a-\\d]", QN_EFORMAT, "byte 1:"},
        {"[[:alpha:]]", QN_EUNSUPPORTED, "byte 1:"},
        {"(a", QN_EFORMAT, "byte 0:"},
        {"a)", QN_EFORMAT, "byte 1:"},
        {"(?P<n>a)", QN_EUNSUPPORTED, "byte 2:"},
        {"(?=ab)", QN_EUNSUPPORTED, "byte 3:"},
        {"(?=a)*", QN_EFORMAT, "byte 5:"},
        {"\\1", QN_EUNSUPPORTED, "byte 0:"},
        {"\\bx", QN_EUNSUPPORTED, "byte 0:"},
        {"\\p{Klingon}", QN_EUNSUPPORTED, "byte 2:"},
        {"\\p{L", QN_EFORMAT, "byte 2:"},
        {"\\x{110000}", QN_EFORMAT, "byte 10:"},
        {"\\xg0", QN_EFORMAT, "byte 2:"},
        {"a\xFF", QN_EFORMAT, "byte 1:"},
        {"(?:(?:a{1000}){1000}){1000}", QN_EUNSUPPORTED, "steps"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        qn_error err = {0};
        qn_regex *re = NULL;
        assert_int_equal(qn_regex_open(qn_str_of(cases[i].pattern), NULL, &re, &err), cases[i].status);
        assert_null(re);
        if (strstr(err.what, cases[i].where) == NULL) {
            print_message("%s: %s\n", cases[i].pattern, err.what);
        }
        assert_non_null(strstr(err.what, cases[i].where));
    }
}

static void limits_hold(void **state)
{
    (void)state;
    qn_error err = {0};
    qn_regex *re = NULL;
    char *text = malloc(QN_REGEX_MAX_PATTERN + 2);
    assert_non_null(text);
    memset(text, '(', QN_REGEX_MAX_PATTERN + 1);
    assert_int_equal(qn_regex_open((qn_str){text, QN_REGEX_MAX_PATTERN}, NULL, &re, &err), QN_EUNSUPPORTED);
    assert_int_equal(qn_regex_open((qn_str){text, QN_REGEX_MAX_PATTERN + 1}, NULL, &re, &err), QN_EUNSUPPORTED);
    memset(text, 'a', QN_REGEX_MAX_PATTERN);
    assert_int_equal(qn_regex_open((qn_str){text, QN_REGEX_MAX_PATTERN}, NULL, &re, &err), QN_EUNSUPPORTED);
    for (size_t i = 0; i < 1200; i++) { /* more characters told apart than there may be classes */
        text[3 * i] = (char)0xE4;
        text[3 * i + 1] = (char)(0xB8 + i / 64);
        text[3 * i + 2] = (char)(0x80 + i % 64);
    }
    for (size_t i = 448; i < 1200; i++) { /* 0xB8 + 7 is the last lead that stays in range */
        memcpy(text + 3 * i, "\xE4\xB8\x80", 3);
    }
    assert_int_equal(qn_regex_open((qn_str){text, 3600}, NULL, &re, &err), QN_EUNSUPPORTED);
    assert_non_null(strstr(err.what, "classes"));
    free(text);
}

/* Too many states for a table: the simulation answers. */
static void large_patterns_are_simulated(void **state)
{
    (void)state;
    qn_regex *re = open_pattern("(?:a|b)*a(?:a|b){16}c");
    assert_false(qn_regex_is_table(re));
    const char *text = "xxbaaaaabbbbbbbbbbbbbbbbbc";
    size_t start, end;
    assert_false(qn_regex_find(re, text, strlen(text), 0, &start, &end));
    text = "xxbaaaaaaaaaaaaaaaaaabbc";
    assert_true(qn_regex_find(re, text, strlen(text), 0, &start, &end));
    assert_int_equal(start, 2);
    assert_int_equal(end, strlen(text));
    qn_regex_close(re);
    re = open_pattern("\\p{N}{1,3}|\\s+(?!\\S)");
    assert_true(qn_regex_is_table(re));
    qn_regex_close(re);
}

/* Ends in this life only when a search is linear: each place would read on to the end in vain. */
static void search_is_linear(void **state)
{
    (void)state;
    size_t n = 1 << 20, start, end;
    char *text = malloc(n);
    assert_non_null(text);
    memset(text, ' ', n);
    text[n - 1] = 'x';
    qn_regex *re = open_pattern("\\s+$");
    assert_false(qn_regex_find(re, text, n, 0, &start, &end));
    text[n - 2] = 'x';
    text[n - 1] = ' ';
    assert_true(qn_regex_find(re, text, n, 0, &start, &end));
    assert_int_equal(start, n - 1);
    qn_regex_close(re);
    re = open_pattern("(?:(?:\\s*)*)*y");
    assert_false(qn_regex_find(re, text, n, 0, &start, &end));
    qn_regex_close(re);
    free(text);
}

/* Random small patterns over a small alphabet, the table against the simulation. */
static void table_and_simulation_agree(void **state)
{
    (void)state;
    static const char *const pieces[] = {"a", "b", "c", "[ab]", "[^a]", ".", "\\s", "(?!\\S)", "(?=b)", "^", "$", "|",
                                         "(?:", ")", "*", "+", "?", "*?", "{1,2}", "(?i:B)", "\\p{L}"};
    qn_random r;
    qn_random_seed(&r, 7);
    unsigned n_compared = 0;
    for (int round = 0; round < 20000; round++) {
        char pattern[128] = "";
        uint64_t n_pieces = 1 + qn_random_below(&r, 8);
        for (uint64_t i = 0; i < n_pieces; i++) {
            strcat(pattern, pieces[qn_random_below(&r, sizeof(pieces) / sizeof(pieces[0]))]);
        }
        qn_regex *re = NULL;
        if (qn_regex_open(qn_str_of(pattern), NULL, &re, NULL) != QN_OK) {
            continue;
        }
        char text[24];
        size_t n = qn_random_below(&r, sizeof(text));
        for (size_t i = 0; i < n; i++) {
            text[i] = "abcB \n"[qn_random_below(&r, 6)];
        }
        for (size_t from = 0; from <= n; from++) {
            size_t start[2] = {99, 99}, end[2] = {99, 99};
            bool found[2] = {qn_regex_find(re, text, n, from, &start[0], &end[0]),
                             qn_regex_simulate(re, text, n, from, false, &start[1], &end[1])};
            assert_int_equal(found[0], found[1]);
            assert_true(!found[0] || (start[0] == start[1] && end[0] == end[1]));
            n_compared += found[0];
        }
        qn_regex_close(re);
    }
    assert_true(n_compared > 1000);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    qn_budget *budget;
    assert_int_equal(qn_budget_open(0, &budget), QN_OK);
    uint64_t live = qn_alloc_live();
    for (uint64_t n = 1;; n++) {
        qn_regex *re = NULL;
        qn_error err = {0};
        qn_alloc_fail_at(n);
        qn_status s = qn_regex_open(QN_STR("(?i:'s|'t)|[^\\r\\n\\p{L}]?\\p{L}+|\\s+(?!\\S)"), budget, &re, &err);
        qn_alloc_fail_at(0);
        if (s == QN_OK) {
            assert_true(n > 5);
            qn_regex_close(re);
            break;
        }
        assert_int_equal(s, QN_ENOMEM);
        assert_null(re);
        assert_int_equal(qn_alloc_live(), live);
        assert_int_equal(qn_budget_used(budget), 0);
    }
    assert_int_equal(qn_alloc_live(), live);
    qn_budget_close(budget);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_leftmost_and_first), cmocka_unit_test(any_bytes_are_text),
        cmocka_unit_test(searches_from_an_offset),      cmocka_unit_test(refuses_with_a_position),
        cmocka_unit_test(limits_hold),                  cmocka_unit_test(large_patterns_are_simulated),
        cmocka_unit_test(search_is_linear),             cmocka_unit_test(table_and_simulation_agree),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
