/* Tests of base/map.h: plain reading, files cut short while mapped, faults that are not ours.
 * SPDX-License-Identifier: MIT */
#include "test.h"

#include "base/alloc.h"
#include "base/map.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static uint8_t pattern(size_t i)
{
    return (uint8_t)(1 + i * 7 % 251);
}

/* A file of n_bytes of pattern(); the path is copied to out. */
static void make_file(char out[4096], size_t n_bytes)
{
    snprintf(out, 4096, "%s", qn_test_temp("map"));
    FILE *f = fopen(out, "wb");
    assert_non_null(f);
    for (size_t i = 0; i < n_bytes; i++) {
        fputc(pattern(i), f);
    }
    assert_int_equal(fclose(f), 0);
}

/* Number of bytes of m[from, to) that are as written. */
static size_t count_good(const qn_map *m, size_t from, size_t to)
{
    const volatile uint8_t *data = qn_map_data(m);
    size_t n = 0;
    for (size_t i = from; i < to; i++) {
        n += data[i] == pattern(i);
    }
    return n;
}

static size_t count_zero(const qn_map *m, size_t from, size_t to)
{
    const volatile uint8_t *data = qn_map_data(m);
    size_t n = 0;
    for (size_t i = from; i < to; i++) {
        n += data[i] == 0;
    }
    return n;
}

static void test_reads_a_file(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 4095, 4096, 4097, 100000};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        char path[4096];
        make_file(path, sizes[i]);
        qn_map *m = NULL;
        assert_int_equal(qn_map_open(path, &m, NULL), QN_OK);
        unlink(path);
        assert_int_equal(qn_map_bytes(m), sizes[i]);
        qn_map_will_need(m, 0, sizes[i]);
        qn_map_will_need(m, sizes[i] / 2, UINT64_MAX);
        qn_map_will_need(m, UINT64_MAX, 1);
        qn_map_will_need(m, 0, 0);
        assert_int_equal(count_good(m, 0, sizes[i]), sizes[i]);
        assert_false(qn_map_damaged(m));
        qn_map_close(m);
    }
    qn_map_close(NULL);
}

static void expect_refused(const char *path, qn_status code, const char *reason)
{
    qn_map *m = NULL;
    qn_error err = {0};
    assert_int_equal(qn_map_open(path, &m, &err), code);
    assert_int_equal(err.code, code);
    assert_null(m);
    assert_non_null(strstr(err.what, reason));
    assert_int_equal(qn_map_open(path, &m, NULL), code);
}

static void test_refuses_what_is_no_file(void **state)
{
    (void)state;
    uint64_t live = qn_alloc_live();
    char path[4096];
    snprintf(path, sizeof(path), "%s", qn_test_temp("absent"));
    expect_refused(path, QN_EIO, "No such file");
    expect_refused(path, QN_EIO, "absent");
    expect_refused("/", QN_EFORMAT, "not a regular file");
    expect_refused("/dev/null", QN_EFORMAT, "not a regular file");
    make_file(path, 0);
    expect_refused(path, QN_EFORMAT, "empty");
    unlink(path);
    /* A pipe without a writer must not block. */
    assert_int_equal(mkfifo(path, 0600), 0);
    expect_refused(path, QN_EFORMAT, "not a regular file");
    unlink(path);
    /* The reason stands after the end of a long path. */
    char longest[3000];
    memset(longest, 'd', sizeof(longest));
    strcpy(longest + sizeof(longest) - 12, "/model.gguf");
    expect_refused(longest, QN_EIO, "/model.gguf: ");
    assert_int_equal(qn_alloc_live(), live);
}

static void test_no_memory(void **state)
{
    (void)state;
    char path[4096];
    make_file(path, 100);
    uint64_t live = qn_alloc_live();
    qn_map *m = NULL;
    qn_status status = QN_ENOMEM;
    uint64_t n = 0;
    while (status == QN_ENOMEM) {
        qn_error err = {0};
        qn_alloc_fail_at(++n);
        status = qn_map_open(path, &m, &err);
        qn_alloc_fail_at(0);
        assert_int_equal(err.code, status);
        assert_int_equal(qn_alloc_live(), live + (status == QN_OK));
    }
    assert_int_equal(status, QN_OK);
    assert_true(n > 1);
    qn_map_close(m);
    assert_int_equal(qn_alloc_live(), live);
    unlink(path);
}

static void test_table_is_full(void **state)
{
    (void)state;
    char path[4096];
    make_file(path, 10);
    static qn_map *maps[1024];
    for (int i = 0; i < 1024; i++) {
        assert_int_equal(qn_map_open(path, &maps[i], NULL), QN_OK);
    }
    expect_refused(path, QN_EFULL, "");
    qn_map_close(maps[500]);
    assert_int_equal(qn_map_open(path, &maps[500], NULL), QN_OK);
    for (int i = 0; i < 1024; i++) {
        qn_map_close(maps[i]);
    }
    unlink(path);
}

static void test_survives_a_file_cut_short(void **state)
{
    (void)state;
    size_t page = page_bytes(), n_bytes = 64 * page + 123, half = 32 * page;
    char path[4096], whole_path[4096];
    make_file(path, n_bytes);
    make_file(whole_path, n_bytes);
    qn_map *m = NULL, *whole = NULL;
    assert_int_equal(qn_map_open(path, &m, NULL), QN_OK);
    assert_int_equal(qn_map_open(whole_path, &whole, NULL), QN_OK);
    assert_int_equal(count_good(m, 0, n_bytes), n_bytes);
    assert_int_equal(truncate(path, (off_t)half), 0);
    assert_false(qn_map_damaged(m));
    assert_int_equal(count_good(m, 0, half), half);
    assert_false(qn_map_damaged(m));
    assert_int_equal(count_zero(m, half, n_bytes), n_bytes - half);
    assert_true(qn_map_damaged(m));
    /* What is still in the file stays readable, and the flag stays set when the file grows again. */
    assert_int_equal(count_good(m, 0, half), half);
    assert_int_equal(truncate(path, (off_t)n_bytes), 0);
    assert_int_equal(count_good(m, 0, half), half);
    assert_true(qn_map_damaged(m));
    assert_int_equal(count_good(whole, 0, n_bytes), n_bytes);
    assert_false(qn_map_damaged(whole));
    qn_map_close(m);
    qn_map_close(whole);
    unlink(path);
    unlink(whole_path);
}

static void test_backwards_and_to_nothing(void **state)
{
    (void)state;
    size_t page = page_bytes(), n_bytes = 8 * page;
    char path[4096];
    make_file(path, n_bytes);
    qn_map *m = NULL;
    assert_int_equal(qn_map_open(path, &m, NULL), QN_OK);
    assert_int_equal(truncate(path, 0), 0);
    const volatile uint8_t *data = qn_map_data(m);
    for (size_t i = n_bytes; i-- > 0;) {
        assert_int_equal(data[i], 0);
    }
    assert_true(qn_map_damaged(m));
    /* The place can be used again: a new map of a good file is not touched by the old damage. */
    qn_map_close(m);
    make_file(path, n_bytes);
    assert_int_equal(qn_map_open(path, &m, NULL), QN_OK);
    assert_int_equal(count_good(m, 0, n_bytes), n_bytes);
    assert_false(qn_map_damaged(m));
    qn_map_close(m);
    unlink(path);
}

/* ---- several threads fault at once, while other maps come and go ---- */

typedef struct reading {
    const qn_map *map;
    size_t n_zero;
} reading;

static void *read_all(void *arg)
{
    reading *r = arg;
    r->n_zero = count_zero(r->map, 0, (size_t)qn_map_bytes(r->map));
    return NULL;
}

static void *open_and_close(void *arg)
{
    const char *path = arg;
    bool good = true;
    for (int i = 0; i < 300; i++) {
        qn_map *m = NULL;
        if (qn_map_open(path, &m, NULL) != QN_OK) {
            return NULL;
        }
        good &= count_good(m, 0, 10) == 10 && !qn_map_damaged(m);
        qn_map_close(m);
    }
    return good ? arg : NULL;
}

static void test_many_threads(void **state)
{
    (void)state;
    enum { N = 4 };
    size_t n_bytes = 128 * page_bytes();
    char path[4096], other[4096];
    make_file(path, n_bytes);
    make_file(other, 10);
    qn_map *m = NULL;
    assert_int_equal(qn_map_open(path, &m, NULL), QN_OK);
    assert_int_equal(truncate(path, (off_t)(n_bytes / 4)), 0);
    pthread_t threads[N + 1];
    reading r[N];
    for (int i = 0; i < N; i++) {
        r[i] = (reading){.map = m};
        assert_int_equal(pthread_create(&threads[i], NULL, read_all, &r[i]), 0);
    }
    assert_int_equal(pthread_create(&threads[N], NULL, open_and_close, other), 0);
    for (int i = 0; i < N; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(r[i].n_zero, n_bytes - n_bytes / 4);
    }
    void *good = NULL;
    pthread_join(threads[N], &good);
    assert_ptr_equal(good, other);
    assert_true(qn_map_damaged(m));
    qn_map_close(m);
    unlink(path);
    unlink(other);
}

/* ---- faults that are not ours ---- */

/* The status of a child that runs fn. */
static int in_child(void (*fn)(void))
{
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        fn();
        _exit(99);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

/* Reads a cut file that the test maps itself. */
static void fault_elsewhere(void)
{
    int fd = open(qn_test_temp("own"), O_RDWR | O_CREAT | O_TRUNC, 0600);
    unlink(qn_test_temp("own"));
    if (fd < 0 || ftruncate(fd, 100) != 0) {
        _exit(98);
    }
    volatile const uint8_t *p = mmap(NULL, 100, PROT_READ, MAP_SHARED, fd, 0);
    if (ftruncate(fd, 0) != 0) {
        _exit(98);
    }
    _exit(p[50]);
}

static void on_signal(int number)
{
    (void)number;
    _exit(43);
}

static void on_signal_info(int number, siginfo_t *info, void *context)
{
    (void)context;
    _exit(number == SIGBUS && info->si_addr != NULL ? 44 : 97);
}

static void open_one_map(void)
{
    char path[4096];
    make_file(path, 10);
    qn_map *m = NULL;
    if (qn_map_open(path, &m, NULL) != QN_OK) {
        _exit(96);
    }
    unlink(path);
}

static void child_default(void)
{
    signal(SIGBUS, SIG_DFL);
    open_one_map();
    fault_elsewhere();
}

static void child_ignored(void)
{
    signal(SIGBUS, SIG_IGN);
    open_one_map();
    fault_elsewhere();
}

static void child_plain_handler(void)
{
    signal(SIGBUS, on_signal);
    open_one_map();
    fault_elsewhere();
}

static void child_info_handler(void)
{
    struct sigaction action = {.sa_flags = SA_SIGINFO};
    action.sa_sigaction = on_signal_info;
    sigaction(SIGBUS, &action, NULL);
    open_one_map();
    fault_elsewhere();
}

static void child_sent_default(void)
{
    signal(SIGBUS, SIG_DFL);
    open_one_map();
    raise(SIGBUS);
}

static void child_sent_ignored(void)
{
    signal(SIGBUS, SIG_IGN);
    open_one_map();
    raise(SIGBUS);
    _exit(45);
}

/* The handler is installed once per process, so these run first, in children of a process without one. */
static void test_other_faults_go_where_they_went(void **state)
{
    (void)state;
    int status = in_child(child_default);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
    status = in_child(child_ignored);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
    status = in_child(child_plain_handler);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 43);
    status = in_child(child_info_handler);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 44);
    status = in_child(child_sent_default);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
    status = in_child(child_sent_ignored);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 45);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_other_faults_go_where_they_went),
        cmocka_unit_test(test_reads_a_file),
        cmocka_unit_test(test_refuses_what_is_no_file),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_table_is_full),
        cmocka_unit_test(test_survives_a_file_cut_short),
        cmocka_unit_test(test_backwards_and_to_nothing),
        cmocka_unit_test(test_many_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
