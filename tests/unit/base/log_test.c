/* Tests of base/log.h and base/clock.h.
 * SPDX-License-Identifier: MIT */
#include "test.h"

#include "base/clock.h"
#include "base/log.h"

#include <unistd.h>

typedef struct seen {
    int n_lines;
    qn_log_level level;
    char line[2000];
} seen;

static void remember(void *ctx, qn_log_level level, const char *line)
{
    seen *s = ctx;
    s->n_lines++;
    s->level = level;
    snprintf(s->line, sizeof(s->line), "%s", line);
}

static void test_levels(void **state)
{
    (void)state;
    seen s = {0};
    assert_int_equal(qn_log_get_level(), QN_LOG_WARN);
    qn_log_set_sink(remember, &s);
    qn_log(QN_LOG_INFO, "too quiet");
    assert_int_equal(s.n_lines, 0);
    qn_log(QN_LOG_WARN, "layer %d", 3);
    assert_int_equal(s.n_lines, 1);
    assert_int_equal(s.level, QN_LOG_WARN);
    assert_string_equal(s.line, "layer 3");
    qn_log_set_level(QN_LOG_TRACE);
    assert_int_equal(qn_log_get_level(), QN_LOG_TRACE);
    qn_log(QN_LOG_TRACE, "step");
    assert_int_equal(s.n_lines, 2);
    qn_log_set_level(QN_LOG_ERROR);
    qn_log(QN_LOG_WARN, "no");
    qn_log(QN_LOG_ERROR, "yes");
    assert_int_equal(s.n_lines, 3);
    assert_string_equal(s.line, "yes");
    qn_log_set_sink(NULL, NULL);
    qn_log_set_level(QN_LOG_WARN);
}

static void test_lines_are_clean_and_bounded(void **state)
{
    (void)state;
    seen s = {0};
    qn_log_set_sink(remember, &s);
    qn_log(QN_LOG_ERROR, "a\nforged line \x1B[2J");
    assert_string_equal(s.line, "a?forged line ?[2J");
    char text[5000];
    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    qn_log(QN_LOG_ERROR, "%s", text);
    assert_in_range(strlen(s.line), 900, 1023);
    qn_log_set_sink(NULL, NULL);
}

static void test_stderr_gets_one_whole_line(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    int before = dup(STDERR_FILENO);
    dup2(ends[1], STDERR_FILENO);
    qn_log(QN_LOG_WARN, "the page pool is %s", "full");
    dup2(before, STDERR_FILENO);
    close(before);
    close(ends[1]);
    char got[200];
    ssize_t n = read(ends[0], got, sizeof(got) - 1);
    close(ends[0]);
    assert_true(n > 0);
    got[n] = '\0';
    assert_string_equal(got, "quern: warning: the page pool is full\n");
}

static void test_clock_goes_forward(void **state)
{
    (void)state;
    uint64_t start = qn_clock_ns(), last = start;
    while (last - start < 2000000) {
        uint64_t now = qn_clock_ns();
        assert_true(now >= last);
        last = now;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_lines_are_clean_and_bounded),
        cmocka_unit_test(test_stderr_gets_one_whole_line),
        cmocka_unit_test(test_clock_goes_forward),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
