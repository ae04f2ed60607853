/* Tests of rotary embedding: every kernel set against the rotation in double. SPDX-License-Identifier: MIT */
#include "kernel_support.h"

static const size_t pairs[] = {1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 20, 31, 32, 40, 48, 64, 127, 128};
#define N_PAIRS (sizeof(pairs) / sizeof(pairs[0]))

static void check(const qn_kernels *k, size_t n, qn_rope_kind kind, qn_random *rnd)
{
    enum { REST = 3 }; /* the part of the head that is not rotated */
    row x = row_normal(2 * n + REST, n % 4, 3.0F, rnd);
    row c = row_new(n, (n + 1) % 3);
    row s = row_new(n, n % 2);
    for (size_t i = 0; i < n; i++) {
        double angle = 7.0 * qn_random_normal(rnd);
        c.x[i] = (float)cos(angle);
        s.x[i] = (float)sin(angle);
    }
    row y = row_copy(&x, n % 3);
    k->rope(y.x, n, c.x, s.x, kind);
    for (size_t i = 0; i < n; i++) {
        size_t i_a = kind == QN_ROPE_NORMAL ? 2 * i : i;
        size_t i_b = kind == QN_ROPE_NORMAL ? 2 * i + 1 : i + n;
        double a = x.x[i_a];
        double b = x.x[i_b];
        double abs = 1e-7 * (fabs(a) + fabs(b));
        assert_close(y.x[i_a], a * c.x[i] - b * s.x[i], 0.0, abs, "rope", k->isa, i_a);
        assert_close(y.x[i_b], b * c.x[i] + a * s.x[i], 0.0, abs, "rope", k->isa, i_b);
    }
    assert_memory_equal(y.x + 2 * n, x.x + 2 * n, REST * sizeof(float));
    /* No room behind the last pair, and another alignment: the same bits. */
    row tight = row_new(2 * n, (n + 2) % 4);
    memcpy(tight.x, x.x, 2 * n * sizeof(float));
    k->rope(tight.x, n, c.x, s.x, kind);
    assert_memory_equal(tight.x, y.x, 2 * n * sizeof(float));
    row_free(&x);
    row_free(&c);
    row_free(&s);
    row_free(&y);
    row_free(&tight);
}

static void test_rotation_matches_definition(void **state)
{
    (void)state;
    qn_random rnd;
    qn_random_seed(&rnd, 17);
    qn_kernels k;
    for (size_t i_set = 0; next_set(&i_set, &k);) {
        for (size_t i = 0; i < N_PAIRS; i++) {
            check(&k, pairs[i], QN_ROPE_NORMAL, &rnd);
            check(&k, pairs[i], QN_ROPE_NEOX, &rnd);
        }
    }
}

static void test_angle_zero_changes_nothing(void **state)
{
    (void)state;
    qn_random rnd;
    qn_random_seed(&rnd, 19);
    qn_kernels k;
    for (size_t i_set = 0; next_set(&i_set, &k);) {
        for (int kind = QN_ROPE_NORMAL; kind <= QN_ROPE_NEOX; kind++) {
            enum { N = 13 };
            float c[N];
            float s[N] = {0};
            for (size_t i = 0; i < N; i++) {
                c[i] = 1.0F;
            }
            row x = row_normal((size_t)2 * N, 0, 1.0F, &rnd);
            row y = row_copy(&x, 0);
            k.rope(y.x, N, c, s, (qn_rope_kind)kind);
            for (size_t i = 0; i < (size_t)2 * N; i++) {
                assert_true(y.x[i] == x.x[i]);
            }
            row_free(&x);
            row_free(&y);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rotation_matches_definition),
        cmocka_unit_test(test_angle_zero_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
