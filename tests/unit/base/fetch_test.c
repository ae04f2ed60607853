/* Tests of base/fetch.h: files that are read ahead. SPDX-License-Identifier: MIT */
#include "test.h"

#include "base/alloc.h"
#include "base/fetch.h"

#include <time.h>
#include <unistd.h>

static void make_file(char out[4096], size_t n_bytes)
{
    snprintf(out, 4096, "%s", qn_test_temp("fetch"));
    FILE *f = fopen(out, "wb");
    assert_non_null(f);
    for (size_t i = 0; i < n_bytes; i++) {
        putc((int)(i % 251), f);
    }
    assert_int_equal(fclose(f), 0);
}

/* They end by themselves, if perhaps late. */
static void wait_for_all(void)
{
    for (int i = 0; i < 60000 && qn_fetch_count() > 0; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    assert_int_equal(qn_fetch_count(), 0);
}

static void test_reads_and_ends(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 100000, (size_t)9 << 20};
    uint64_t live = qn_alloc_live(), last = 0;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        char path[4096];
        make_file(path, sizes[i]);
        uint64_t ticket = qn_fetch_start(path);
        assert_true(ticket > last);
        last = ticket;
        wait_for_all();
        qn_fetch_stop(ticket); /* of what has ended */
        unlink(path);
    }
    assert_int_equal(qn_alloc_live(), live);
}

static void test_stops_and_is_bounded(void **state)
{
    (void)state;
    char path[4096];
    make_file(path, (size_t)9 << 20);
    uint64_t tickets[100];
    for (int i = 0; i < 100; i++) {
        tickets[i] = qn_fetch_start(path);
        assert_in_range(qn_fetch_count(), 0, 4);
    }
    assert_true(tickets[0] != 0);
    for (int i = 0; i < 100; i++) {
        qn_fetch_stop(tickets[i]);
    }
    qn_fetch_stop(0);
    assert_int_equal(truncate(path, 10), 0); /* nothing comes of that */
    wait_for_all();
    assert_true(qn_fetch_start(path) != 0);
    wait_for_all();
    unlink(path);
}

static void test_what_is_no_file(void **state)
{
    (void)state;
    assert_int_equal(qn_fetch_start(qn_test_temp("absent")), 0);
    assert_int_equal(qn_fetch_start("/"), 0);
    assert_int_equal(qn_fetch_start("/dev/null"), 0);
    assert_int_equal(qn_fetch_count(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_and_ends),
        cmocka_unit_test(test_stops_and_is_bounded),
        cmocka_unit_test(test_what_is_no_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
