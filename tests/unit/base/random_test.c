/* Tests of base/random.h.
 * SPDX-License-Identifier: MIT */
#include "test.h"

#include "base/random.h"

#include <math.h>

/* The published algorithms, written a second time and as plainly as possible. */
static void test_known_sequence(void **state)
{
    (void)state;
    /* splitmix64 from seed 1234567: the first outputs are published with the algorithm. */
    qn_random r;
    qn_random_seed(&r, 1234567);
    assert_true(r.s[0] == UINT64_C(6457827717110365317));
    assert_true(r.s[1] == UINT64_C(3203168211198807973));
    assert_true(r.s[2] == UINT64_C(9817491932198370423));
    assert_true(r.s[3] == UINT64_C(4593380528125082431));
    /* xoshiro256** from state 1, 2, 3, 4: by hand, s[1] * 5 rotated by 7, times 9. */
    r = (qn_random){{1, 2, 3, 4}};
    assert_true(qn_random_u64(&r) == 11520);
    assert_true(qn_random_u64(&r) == 0);
    assert_true(qn_random_u64(&r) == 1509978240);
    assert_true(qn_random_u64(&r) == UINT64_C(1215971899390074240));
}

static void test_seeds_differ(void **state)
{
    (void)state;
    qn_random a, b, c;
    qn_random_seed(&a, 0);
    qn_random_seed(&b, 0);
    qn_random_seed(&c, 1);
    int n_same = 0;
    for (int i = 0; i < 100; i++) {
        uint64_t x = qn_random_u64(&a);
        assert_true(x == qn_random_u64(&b));
        n_same += x == qn_random_u64(&c);
    }
    assert_int_equal(n_same, 0);
}

static void test_below(void **state)
{
    (void)state;
    qn_random r;
    qn_random_seed(&r, 42);
    int counts[7] = {0};
    for (int i = 0; i < 70000; i++) {
        uint64_t x = qn_random_below(&r, 7);
        assert_true(x < 7);
        counts[x]++;
    }
    for (int i = 0; i < 7; i++) {
        assert_in_range(counts[i], 9600, 10400);
    }
    for (int i = 0; i < 100; i++) {
        assert_int_equal(qn_random_below(&r, 1), 0);
        assert_true(qn_random_below(&r, UINT64_MAX) < UINT64_MAX);
    }
    /* Just above half the range a plain remainder would give the lower half twice as often. */
    uint64_t n = (UINT64_C(1) << 63) + (UINT64_C(1) << 62);
    int n_low = 0;
    for (int i = 0; i < 3000; i++) {
        n_low += qn_random_below(&r, n) < n / 3;
    }
    assert_in_range(n_low, 850, 1150);
}

static void test_unit(void **state)
{
    (void)state;
    qn_random r;
    qn_random_seed(&r, 7);
    double sum = 0, least = 1, most = 0;
    for (int i = 0; i < 100000; i++) {
        double u = qn_random_unit(&r);
        assert_true(u >= 0 && u < 1);
        assert_true(u * 0x1p53 == floor(u * 0x1p53));
        sum += u;
        least = u < least ? u : least;
        most = u > most ? u : most;
    }
    assert_true(fabs(sum / 100000 - 0.5) < 0.005);
    assert_true(least < 0.001 && most > 0.999);
}

static void test_normal(void **state)
{
    (void)state;
    qn_random r;
    qn_random_seed(&r, 9);
    enum { N = 200000 };
    double sum = 0, squares = 0, fourth = 0;
    int n_outside_two = 0;
    for (int i = 0; i < N; i++) {
        double x = qn_random_normal(&r);
        assert_true(isfinite(x) && fabs(x) < 8);
        sum += x;
        squares += x * x;
        fourth += x * x * x * x;
        n_outside_two += fabs(x) > 2;
    }
    assert_true(fabs(sum / N) < 0.01);
    assert_true(fabs(squares / N - 1) < 0.02);
    assert_true(fabs(fourth / N - 3) < 0.15);
    assert_in_range(n_outside_two, (int)(0.0435 * N), (int)(0.0475 * N));
}

/* The same numbers as the textbook formula with the library's logarithm, to a float's last bits. */
static void test_normal_follows_the_formula(void **state)
{
    (void)state;
    qn_random r, again;
    qn_random_seed(&r, 11);
    for (int i = 0; i < 1000; i++) {
        again = r;
        double u, v, q;
        do {
            u = 2 * qn_random_unit(&again) - 1;
            v = 2 * qn_random_unit(&again) - 1;
            q = u * u + v * v;
        } while (q >= 1 || q == 0);
        double expected = u * sqrt(-2 * log(q) / q);
        assert_true(fabs(qn_random_normal(&r) - expected) <= 1e-7 * fabs(expected) + 1e-30);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_sequence), cmocka_unit_test(test_seeds_differ),
        cmocka_unit_test(test_below),          cmocka_unit_test(test_unit),
        cmocka_unit_test(test_normal),         cmocka_unit_test(test_normal_follows_the_formula),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
