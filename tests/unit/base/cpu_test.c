/* Tests of base/cpu.h, and of the core count with its cgroup rules.
 * SPDX-License-Identifier: MIT */
#include "test.h"

#include "base/cpu.h"
#include "base/os.h"
#include "base/pool.h"

#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

static void test_features_are_consistent(void **state)
{
    (void)state;
    qn_cpu c, again;
    memset(&c, 0xFF, sizeof(c));
    qn_cpu_detect(&c);
    qn_cpu_detect(&again);
    assert_string_equal(c.name, again.name);
    assert_int_equal(c.amx, again.amx);
    assert_true(memchr(c.name, '\0', sizeof(c.name)) != NULL);
    /* Each set stands on the ones that its kernels also use. */
    assert_true(c.avx2 || !c.avx512);
    assert_true(c.avx2 || !c.avx_vnni);
    assert_true(c.avx512 || !(c.avx512_vnni || c.avx512_bf16 || c.amx));
    assert_true(c.neon || !(c.dotprod || c.i8mm));
    assert_false(c.neon && c.avx2);
}

/* The kernel's own list is the judge. */
static void test_features_match_the_kernels_list(void **state)
{
    (void)state;
#if defined(__x86_64__)
    FILE *f = fopen("/proc/cpuinfo", "r");
    if (f == NULL) {
        QN_TEST_SKIP("no /proc/cpuinfo");
    }
    static char line[16384];
    bool found = false;
    while (!found && fgets(line, sizeof(line), f) != NULL) {
        found = strncmp(line, "flags", 5) == 0;
    }
    fclose(f);
    if (!found) {
        QN_TEST_SKIP("/proc/cpuinfo lists no flags");
    }
    line[strcspn(line, "\n")] = ' ';
    qn_cpu c;
    qn_cpu_detect(&c);
    assert_int_equal(c.avx2, strstr(line, " avx2 ") != NULL && strstr(line, " fma ") != NULL);
    assert_int_equal(c.avx512, strstr(line, " avx512f ") != NULL && strstr(line, " avx512vl ") != NULL);
    assert_int_equal(c.avx512_vnni, strstr(line, " avx512_vnni ") != NULL);
    assert_int_equal(c.avx512_bf16, strstr(line, " avx512_bf16 ") != NULL);
    assert_int_equal(c.avx_vnni, strstr(line, " avx_vnni ") != NULL);
    if (c.amx) {
        assert_non_null(strstr(line, " amx_int8 "));
    }
#else
    QN_TEST_SKIP("the flags are those of x86-64");
#endif
}

static void test_default_threads(void **state)
{
    (void)state;
    uint32_t n = qn_pool_default_threads();
    assert_in_range(n, 1, QN_POOL_MAX_THREADS);
#if defined(__linux__)
    cpu_set_t before, one;
    assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
    assert_true(n <= (uint32_t)CPU_COUNT(&before));
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE; i++) {
        if (CPU_ISSET(i, &before)) {
            CPU_SET(i, &one);
            break;
        }
    }
    assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
    assert_int_equal(qn_pool_default_threads(), 1);
    assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
    assert_int_equal(qn_pool_default_threads(), n);
#endif
}

/* ---- a made-up tree of control groups ---- */

static char root[4096];

static void write_file(const char *name, const char *text)
{
    char path[5000];
    snprintf(path, sizeof(path), "%s/%s", root, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void make_dir(const char *name)
{
    char path[5000];
    snprintf(path, sizeof(path), "%s/%s", root, name);
    assert_int_equal(mkdir(path, 0700), 0);
}

static int make_tree(void **state)
{
    (void)state;
    snprintf(root, sizeof(root), "%s", qn_test_temp("cgroup"));
    if (mkdir(root, 0700) != 0) {
        return -1;
    }
    make_dir("v2");
    make_dir("v2/a");
    make_dir("v2/a/b");
    make_dir("v2/a/b/c");
    write_file("v2/a/cpu.max", "250000 100000\n");
    write_file("v2/a/b/cpu.max", "max 100000\n");
    write_file("v2/a/b/c/cpu.max", "400000 100000\n");
    make_dir("v1");
    make_dir("v1/cpu");
    make_dir("v1/cpu/x");
    write_file("v1/cpu/cpu.cfs_quota_us", "-1\n");
    write_file("v1/cpu/cpu.cfs_period_us", "100000\n");
    write_file("v1/cpu/x/cpu.cfs_quota_us", "150001\n");
    write_file("v1/cpu/x/cpu.cfs_period_us", "50000\n");
    make_dir("top");
    write_file("top/cpu.max", "1000 100000\n");
    make_dir("odd");
    write_file("odd/cpu.max", "100000 0\n");
    return 0;
}

static int remove_tree(void **state)
{
    (void)state;
    static const char *const names[] = {
        "v2/a/b/c/cpu.max",
        "v2/a/b/cpu.max",
        "v2/a/cpu.max",
        "v2/a/b/c",
        "v2/a/b",
        "v2/a",
        "v2",
        "v1/cpu/x/cpu.cfs_quota_us",
        "v1/cpu/x/cpu.cfs_period_us",
        "v1/cpu/cpu.cfs_quota_us",
        "v1/cpu/cpu.cfs_period_us",
        "v1/cpu/x",
        "v1/cpu",
        "v1",
        "top/cpu.max",
        "top",
        "odd/cpu.max",
        "odd",
        "groups",
        "",
    };
    int rc = 0;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char path[5000];
        snprintf(path, sizeof(path), "%s/%s", root, names[i]);
        rc |= remove(path);
    }
    return rc;
}

static void test_cgroup_quota(void **state)
{
    (void)state;
#if defined(__linux__)
    static const struct {
        const char *groups, *mounts;
        uint32_t n;
    } cases[] = {
        {"0::/a\n", "v2", 3},                /* 2.5 rounded up */
        {"0::/a/b\n", "v2", 3},              /* no own quota: the one above counts */
        {"0::/a/b/c\n", "v2", 3},            /* the tightest of all above */
        {"0::/\n", "v2", UINT32_MAX},        /* no file at the root */
        {"0::/elsewhere/deep\n", "top", 1},  /* a path of another namespace; a hundredth of a core */
        {"0::/../../elsewhere\n", "top", 1}, /* the same, as newer kernels show it */
        {"0::/\n", "odd", UINT32_MAX},       /* nonsense in the file */
        {"4:cpu,cpuacct:/x\n", "v1", 4},     /* 3.00002 rounded up */
        {"7:memory:/x\n4:cpuacct,cpu:/x\n0::/\n", "v1", 4},
        {"4:cpu:/\n", "v1", UINT32_MAX}, /* -1 is no quota */
        {"4:cpuset:/x\n5:cpuacct:/x\n", "v1", UINT32_MAX},
        {"4:cpu\n\n:\n", "v1", UINT32_MAX},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        write_file("groups", cases[i].groups);
        char groups[5000], mounts[5000];
        snprintf(groups, sizeof(groups), "%s/groups", root);
        snprintf(mounts, sizeof(mounts), "%s/%s", root, cases[i].mounts);
        assert_int_equal(qn_os_cgroup_cores(groups, mounts), cases[i].n);
    }
    assert_int_equal(qn_os_cgroup_cores("/nonexistent", "/nonexistent"), UINT32_MAX);
#else
    QN_TEST_SKIP("control groups are Linux's");
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_features_are_consistent),
        cmocka_unit_test(test_features_match_the_kernels_list),
        cmocka_unit_test(test_default_threads),
        cmocka_unit_test_setup_teardown(test_cgroup_quota, make_tree, remove_tree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
