/* Formats: every kind compiles or says what is wrong and where; what was compiled lately is shared.
 * SPDX-License-Identifier: MIT */
#include "support.h"

#include "base/os.h"

static qn_format *open_format(qn_runtime *rt, qn_format_kind kind, const char *source)
{
    qn_format *f = NULL;
    qn_error err = {0};
    expect_ok(qn_format_open(rt, kind, source, strlen(source), NULL, &f, &err), &err);
    assert_non_null(f);
    return f;
}

static void test_every_kind(void **state)
{
    (void)state;
    static const struct {
        qn_format_kind kind;
        const char *source;
    } cases[] = {
        {QN_FORMAT_GRAMMAR, "root ::= \"a\" [bc]+"},
        {QN_FORMAT_JSON_SCHEMA, "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"}}}"},
        {QN_FORMAT_REGEX, "[a-c]{2,5}x"},
        {QN_FORMAT_CHOICE, "[\"yes\", \"no\"]"},
    };
    qn_runtime *rt = open_runtime("ref", 1);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        qn_format_info info;
        qn_format *f = open_format(rt, cases[i].kind, cases[i].source);
        qn_format_get_info(f, &info);
        assert_true(info.n_rules > 0 && info.n_states > 0 && info.bytes > 0);
        qn_format_close(f);
    }
    qn_format_close(NULL);
    qn_runtime_close(rt);
}

static void test_what_is_wrong(void **state)
{
    (void)state;
    static const struct {
        qn_format_kind kind;
        bool strict;
        const char *source;
        qn_status status;
        const char *told;
    } cases[] = {
        {QN_FORMAT_GRAMMAR, false, "root ::= \"a\"\nx ::= (", QN_EFORMAT, "line 2"},
        {QN_FORMAT_GRAMMAR, false, "", QN_EFORMAT, "root"},
        {QN_FORMAT_GRAMMAR, false, "root ::= thing", QN_EFORMAT, "thing"},
        {QN_FORMAT_JSON_SCHEMA, false, "{\"type\":\n ?}", QN_EFORMAT, "line 2"},
        {QN_FORMAT_JSON_SCHEMA, false, "", QN_EFORMAT, "line 1"},
        {QN_FORMAT_JSON_SCHEMA, false, "{\"properties\":{\"a\":{\"$dynamicRef\":\"#x\"}}}", QN_EUNSUPPORTED, "dynamicRef"},
        {QN_FORMAT_JSON_SCHEMA, true, "{\"type\":\"object\",\"properties\":{\"a\":{}}}", QN_EUNSUPPORTED, "strict"},
        {QN_FORMAT_REGEX, false, "ab(", QN_EFORMAT, ""},
        {QN_FORMAT_REGEX, false, "a(?=b)c", QN_EUNSUPPORTED, "look"},
        {QN_FORMAT_CHOICE, false, "[]", QN_EFORMAT, "without a choice"},
        {QN_FORMAT_CHOICE, false, "[\"a\", 1]", QN_EFORMAT, "item 1 is not a string"},
        {QN_FORMAT_CHOICE, false, "{\"a\": 1}", QN_EFORMAT, "not a list"},
        {QN_FORMAT_CHOICE, false, "[\"a\"", QN_EFORMAT, "choices: line 1"},
    };
    qn_runtime *rt = open_runtime("ref", 1);
    uint64_t used = qn_runtime_memory_used(rt);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        qn_format *f = NULL;
        qn_error err = {0};
        const qn_format_options o = {.strict = cases[i].strict};
        qn_status status = qn_format_open(rt, cases[i].kind, cases[i].source, strlen(cases[i].source), &o, &f, &err);
        if (status != cases[i].status || err.code != status || strstr(err.what, cases[i].told) == NULL) {
            fail_msg("case %zu: %s '%s'", i, qn_status_name(status), err.what);
        }
        assert_null(f);
        assert_int_equal(qn_runtime_memory_used(rt), used);
    }
    qn_runtime_close(rt);
}

static void test_arguments(void **state)
{
    (void)state;
    qn_runtime *rt = open_runtime("ref", 1);
    qn_format *f = NULL;
    qn_error err = {0};
    assert_int_equal(qn_format_open(NULL, QN_FORMAT_REGEX, "a", 1, NULL, &f, &err), QN_EINVAL);
    assert_non_null(strstr(err.what, "rt"));
    assert_int_equal(qn_format_open(rt, QN_FORMAT_REGEX, NULL, 1, NULL, &f, &err), QN_EINVAL);
    assert_int_equal(qn_format_open(rt, QN_FORMAT_REGEX, "a", 1, NULL, NULL, &err), QN_EINVAL);
    assert_int_equal(qn_format_open(rt, (qn_format_kind)4, "a", 1, NULL, &f, &err), QN_EINVAL);
    assert_int_equal(qn_format_open(rt, (qn_format_kind)-1, "a", 1, NULL, &f, &err), QN_EINVAL);
    size_t n = ((size_t)1 << 20) + 1;
    char *large = malloc(n);
    assert_non_null(large);
    memset(large, ' ', n);
    assert_int_equal(qn_format_open(rt, QN_FORMAT_JSON_SCHEMA, large, n, NULL, &f, &err), QN_EFULL);
    assert_non_null(strstr(err.what, "1048577 bytes"));
    free(large);
    assert_null(f);
    qn_runtime_close(rt);
}

static void test_sharing(void **state)
{
    (void)state;
    static const char schema[] = "{\"type\":\"integer\"}";
    qn_runtime *rt = open_runtime("ref", 1);
    qn_format *a = open_format(rt, QN_FORMAT_JSON_SCHEMA, schema);
    qn_format *b = open_format(rt, QN_FORMAT_JSON_SCHEMA, schema);
    assert_ptr_equal(a, b);
    qn_format_close(b);
    qn_format_close(a);
    assert_ptr_equal(open_format(rt, QN_FORMAT_JSON_SCHEMA, schema), a); /* kept, though nobody held it */
    qn_format_close(a);

    qn_format *other = NULL;
    qn_error err = {0};
    const qn_format_options blanks = {.max_whitespace = 3};
    expect_ok(qn_format_open(rt, QN_FORMAT_JSON_SCHEMA, schema, strlen(schema), &blanks, &other, &err), &err);
    assert_ptr_not_equal(other, a);
    qn_format_close(other);
    other = open_format(rt, QN_FORMAT_CHOICE, "[\"a\"]");
    qn_format *regex = open_format(rt, QN_FORMAT_REGEX, "[\"a\"]"); /* the same bytes of another kind */
    assert_ptr_not_equal(other, regex);
    qn_format_close(other);
    qn_format_close(regex);
    qn_runtime_close(rt);
}

/* What was not used for long goes; what is used stays, and what is held outlives the cache's interest in it. */
static void test_the_oldest_goes(void **state)
{
    (void)state;
    char source[32];
    qn_runtime *rt = open_runtime("ref", 1);
    qn_format *first = open_format(rt, QN_FORMAT_REGEX, "first");
    qn_format *held = open_format(rt, QN_FORMAT_REGEX, "held");
    qn_format_close(first);
    uint64_t most = 0;
    for (int i = 0; i < 300; i++) {
        snprintf(source, sizeof(source), "x%d", i);
        qn_format_close(open_format(rt, QN_FORMAT_REGEX, source));
        qn_format_close(open_format(rt, QN_FORMAT_REGEX, "first"));
        most = i == 100 ? qn_runtime_memory_used(rt) : most;
    }
    assert_true(qn_runtime_memory_used(rt) < most + most / 4); /* no growth without end */
    qn_format *again = open_format(rt, QN_FORMAT_REGEX, "first");
    assert_ptr_equal(again, first);
    qn_format_close(again);
    again = open_format(rt, QN_FORMAT_REGEX, "held");
    assert_ptr_not_equal(again, held);
    qn_format_close(again);
    qn_format_close(held);
    qn_runtime_close(rt);
}

static uint64_t format_bytes(const qn_runtime *rt)
{
    const char *owner;
    uint64_t bytes, sum = 0;
    for (size_t i = 0; qn_runtime_memory(rt, i, &owner, &bytes); i++) {
        sum += strcmp(owner, "format") == 0 || strcmp(owner, "grammar") == 0 ? bytes : 0;
    }
    return sum;
}

/* Under a ceiling, what is only kept is a small part of it, and gives way to what is asked for. */
static void test_a_ceiling(void **state)
{
    (void)state;
    enum { CEILING = 6 << 20 };
    char source[4096];
    qn_runtime *rt = NULL;
    qn_format *f = NULL;
    qn_error err = {0};
    expect_ok(qn_runtime_open(&(qn_runtime_options){.memory_bytes = CEILING, .n_threads = 1, .isa = "ref"}, &rt, &err), &err);
    uint32_t n_open = 0, n_refused = 0;
    for (int i = 0; i < 40; i++) {
        int n = snprintf(source, sizeof(source), "(a%d|[b-y]{3,40}|\\d{2,60}z)+[a-z]*x%d", i, i);
        f = NULL;
        qn_status status = qn_format_open(rt, QN_FORMAT_REGEX, source, (size_t)n, NULL, &f, &err);
        if (status != QN_OK) {
            assert_int_equal(status, QN_EBUDGET);
            n_refused++;
        }
        n_open += status == QN_OK;
        qn_format_close(f);
        assert_true(format_bytes(rt) < CEILING / 4);
    }
    assert_int_equal(n_refused, 0);
    assert_int_equal(n_open, 40);
    uint64_t kept = format_bytes(rt);
    assert_true(kept > 0);

    /* What is left is not enough, unless the cache gives some back. */
    uint64_t left = CEILING - qn_runtime_memory_used(rt);
    void *hog = qn_alloc(rt->budget, "test", left - 8192);
    assert_non_null(hog);
    expect_ok(qn_format_open(rt, QN_FORMAT_REGEX, "new", 3, NULL, &f, &err), &err);
    assert_true(format_bytes(rt) < kept);
    qn_format_close(f);
    qn_free(hog);
    qn_runtime_close(rt);
}

/* ---- threads ---- */

enum { N_THREADS = 4, N_ROUNDS = 60 };

typedef struct worker {
    qn_runtime *rt;
    uint32_t n_failed;
} worker;

static void *compile_all(void *ctx)
{
    worker *w = ctx;
    char source[64];
    for (int i = 0; i < N_ROUNDS; i++) {
        qn_format *f = NULL;
        int n = snprintf(source, sizeof(source), "[a-z]{1,%d}(x|y)*", i % 7 + 1);
        qn_status status = qn_format_open(w->rt, QN_FORMAT_REGEX, source, (size_t)n, NULL, &f, NULL);
        w->n_failed += status != QN_OK;
        qn_format_close(f);
    }
    return NULL;
}

static void test_threads_compile_at_once(void **state)
{
    (void)state;
    qn_runtime *rt = open_runtime("ref", 1);
    qn_os_thread threads[N_THREADS];
    worker workers[N_THREADS];
    for (int i = 0; i < N_THREADS; i++) {
        workers[i] = (worker){.rt = rt};
        assert_true(qn_os_thread_start(&threads[i], compile_all, &workers[i]));
    }
    for (int i = 0; i < N_THREADS; i++) {
        qn_os_thread_join(threads[i]);
        assert_int_equal(workers[i].n_failed, 0);
    }
    qn_format *a = open_format(rt, QN_FORMAT_REGEX, "[a-z]{1,3}(x|y)*");
    qn_format *b = open_format(rt, QN_FORMAT_REGEX, "[a-z]{1,3}(x|y)*");
    assert_ptr_equal(a, b);
    qn_format_close(a);
    qn_format_close(b);
    qn_runtime_close(rt);
}

/* ---- memory ---- */

static qn_status open_two(qn_error *err)
{
    static const char schema[] = "{\"type\":\"object\",\"properties\":{\"a\":{\"enum\":[1,2]},\"b\":{\"type\":\"string\"}}}";
    qn_runtime *rt = NULL;
    qn_format *f = NULL, *g = NULL;
    qn_status status = qn_runtime_open(&(qn_runtime_options){.n_threads = 1, .isa = "ref"}, &rt, err);
    if (status == QN_OK) {
        status = qn_format_open(rt, QN_FORMAT_JSON_SCHEMA, schema, sizeof(schema) - 1, NULL, &f, err);
        assert_int_equal(status == QN_OK, f != NULL);
    }
    if (status == QN_OK) {
        status = qn_format_open(rt, QN_FORMAT_CHOICE, "[\"a\",\"b\"]", 9, NULL, &g, err);
        assert_int_equal(status == QN_OK, g != NULL);
    }
    qn_format_close(f);
    qn_format_close(g);
    qn_runtime_close(rt);
    return status;
}

static void test_the_nth_allocation_fails(void **state)
{
    (void)state;
    qn_error err = {0};
    uint64_t live = qn_alloc_live(), before = qn_alloc_count();
    expect_ok(open_two(&err), &err);
    uint64_t n_allocations = qn_alloc_count() - before;
    assert_true(n_allocations > 40);
    uint64_t n_refused = 0;
    for (uint64_t n = 1; n <= n_allocations; n++) {
        err = (qn_error){0};
        qn_alloc_fail_at(n);
        qn_status status = open_two(&err);
        qn_alloc_fail_at(0);
        n_refused += status != QN_OK;
        /* What only saves time may be done without. */
        if (status != QN_OK && (status != QN_ENOMEM || err.code != QN_ENOMEM || err.what[0] == '\0')) {
            fail_msg("allocation %u of %u: %s, '%s'", (unsigned)n, (unsigned)n_allocations, qn_status_name(status),
                     err.what);
        }
        assert_int_equal(qn_alloc_live(), live);
    }
    assert_true(n_refused > n_allocations - n_allocations / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind),
        cmocka_unit_test(test_what_is_wrong),
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_sharing),
        cmocka_unit_test(test_the_oldest_goes),
        cmocka_unit_test(test_a_ceiling),
        cmocka_unit_test(test_threads_compile_at_once),
        cmocka_unit_test(test_the_nth_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
