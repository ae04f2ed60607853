/* Tests of base/map.h: files read into memory, memory that is locked.
 * SPDX-License-Identifier: MIT */
#include "test.h"

#include "base/alloc.h"
#include "base/map.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define N_BYTES ((size_t)9 << 20) /* more than two steps of reading */

static uint8_t pattern(size_t i)
{
    return (uint8_t)(1 + i * 7 % 251);
}

/* A file of n_bytes of pattern(); the path is copied to out. */
static void make_file(char out[4096], size_t n_bytes)
{
    snprintf(out, 4096, "%s", qn_test_temp("read"));
    FILE *f = fopen(out, "wb");
    assert_non_null(f);
    for (size_t i = 0; i < n_bytes; i++) {
        putc(pattern(i), f);
    }
    assert_int_equal(fclose(f), 0);
}

static void expect_pattern(const qn_map *m, size_t n_bytes)
{
    const uint8_t *data = qn_map_data(m);
    size_t n_good = 0;
    assert_int_equal(qn_map_bytes(m), n_bytes);
    for (size_t i = 0; i < n_bytes; i++) {
        n_good += data[i] == pattern(i);
    }
    assert_int_equal(n_good, n_bytes);
}

typedef struct progress {
    uint64_t n_done, n_bytes;
    unsigned n_calls, stop_at; /* the call that says stop; 0: none */
    const char *cut;           /* a file to cut to nothing at the first call */
} progress;

static int on_progress(void *ctx, uint64_t n_done, uint64_t n_bytes)
{
    progress *p = ctx;
    assert_true(n_done > p->n_done && n_done <= n_bytes);
    p->n_done = n_done;
    p->n_bytes = n_bytes;
    if (p->cut != NULL) {
        assert_int_equal(truncate(p->cut, 0), 0);
    }
    return ++p->n_calls == p->stop_at;
}

static void test_reads_into_memory(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 4097, N_BYTES + 5};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        char path[4096];
        make_file(path, sizes[i]);
        qn_budget *b;
        qn_map *m = NULL;
        progress p = {0};
        assert_int_equal(qn_budget_open(0, &b), QN_OK);
        assert_int_equal(qn_map_read(path, b, "file", on_progress, &p, &m, NULL), QN_OK);
        unlink(path);
        expect_pattern(m, sizes[i]);
        assert_int_equal((uintptr_t)qn_map_data(m) % 64, 0);
        assert_int_equal(p.n_done, sizes[i]);
        assert_int_equal(p.n_bytes, sizes[i]);
        assert_false(qn_map_damaged(m));
        const char *owner;
        uint64_t bytes;
        assert_true(qn_budget_owner(b, 0, &owner, &bytes));
        assert_string_equal(owner, "file");
        assert_in_range(bytes, sizes[i], sizes[i] + 256);
        qn_map_will_need(m, 0, sizes[i]);
        qn_map_close(m);
        assert_int_equal(qn_budget_used(b), 0);
        qn_budget_close(b);
    }
}

static void expect_refused(const char *path, qn_budget *b, progress *p, qn_status code, const char *reason)
{
    qn_map *m = NULL;
    qn_error err = {0};
    uint64_t live = qn_alloc_live();
    assert_int_equal(qn_map_read(path, b, "file", p != NULL ? on_progress : NULL, p, &m, &err), code);
    assert_int_equal(err.code, code);
    assert_null(m);
    assert_non_null(strstr(err.what, reason));
    assert_int_equal(qn_alloc_live(), live);
}

static void test_refuses(void **state)
{
    (void)state;
    char path[4096];
    expect_refused("/", NULL, NULL, QN_EFORMAT, "not a regular file");
    expect_refused(qn_test_temp("absent"), NULL, NULL, QN_EIO, "No such file");
    make_file(path, N_BYTES);
    qn_budget *b;
    assert_int_equal(qn_budget_open(N_BYTES, &b), QN_OK); /* the block has a header, too */
    expect_refused(path, b, NULL, QN_EBUDGET, "9437184 bytes");
    qn_budget_close(b);
    progress stop = {.stop_at = 2};
    expect_refused(path, NULL, &stop, QN_EABORTED, "stopped");
    assert_int_equal(stop.n_calls, 2);
    progress cut = {.cut = path};
    expect_refused(path, NULL, &cut, QN_EDAMAGED, "cut short");
    unlink(path);
}

static void test_no_memory(void **state)
{
    (void)state;
    char path[4096];
    make_file(path, 100);
    qn_status status = QN_ENOMEM;
    qn_map *m = NULL;
    uint64_t n = 0, live = qn_alloc_live();
    while (status == QN_ENOMEM) {
        qn_error err = {0};
        qn_alloc_fail_at(++n);
        status = qn_map_read(path, NULL, "file", NULL, NULL, &m, &err);
        qn_alloc_fail_at(0);
        assert_int_equal(err.code, status);
    }
    assert_int_equal(status, QN_OK);
    assert_int_equal(n, 3);
    qn_map_close(m);
    assert_int_equal(qn_alloc_live(), live);
    unlink(path);
}

static int lock_both(const char *path)
{
    int n_good = 0;
    for (int is_read = 0; is_read < 2; is_read++) {
        qn_map *m = NULL;
        qn_status status =
            is_read ? qn_map_read(path, NULL, "file", NULL, NULL, &m, NULL) : qn_map_open(path, &m, NULL);
        if (status != QN_OK) {
            return -1;
        }
        n_good += qn_map_lock(m, NULL) == QN_OK && qn_map_lock(m, NULL) == QN_OK;
        qn_map_close(m);
    }
    return n_good;
}

static void test_locks(void **state)
{
    (void)state;
    char path[4096];
    make_file(path, 20000); /* below every system's default limit */
    assert_int_equal(lock_both(path), 2);
    unlink(path);
}

/* In a child, without the privileges and with a limit of nothing. Sanitizers make mlock() do nothing. */
static void test_names_the_limit_of_locks(void **state)
{
    (void)state;
    char path[4096];
    make_file(path, 20000);
    assert_int_equal(chmod(path, 0644), 0);
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        const struct rlimit none = {0, 0};
        qn_map *m = NULL;
        qn_error err;
        if (setrlimit(RLIMIT_MEMLOCK, &none) != 0 || (geteuid() == 0 && setuid(65534) != 0) || mlock(path, 1) == 0 ||
            qn_map_open(path, &m, NULL) != QN_OK) {
            _exit(2);
        }
        qn_status status = qn_map_lock(m, &err);
        _exit(status == QN_EFULL && strstr(err.what, "RLIMIT_MEMLOCK") != NULL &&
                      strstr(err.what, "20000 bytes") != NULL
                  ? 0
                  : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    unlink(path);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 2) {
        QN_TEST_SKIP("the limit of locked memory cannot be lowered here");
    }
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_into_memory),
        cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_no_memory),

        cmocka_unit_test(test_locks),
        cmocka_unit_test(test_names_the_limit_of_locks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
