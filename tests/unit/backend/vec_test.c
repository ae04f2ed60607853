/* Tests of the row kernels: every kernel set against the definitions in double, over odd sizes and ugly values.
 * SPDX-License-Identifier: MIT */
#include "kernel_support.h"

#include <float.h>

static const size_t sizes[] = {1, 2, 3, 5, 7, 8, 9, 13, 15, 16, 17, 23, 31, 32, 33, 64, 95, 128, 257, 1000, 4099};
#define N_SIZES (sizeof(sizes) / sizeof(sizes[0]))

/* Element-wise kernels as one shape: y = f(a, b, scalar), y holding b at the start for add_scaled. */
typedef enum op { OP_ADD, OP_MUL, OP_SCALE, OP_ADD_SCALED, OP_SOFTCAP, OP_SILU_MUL, OP_GELU_MUL, N_OPS } op;

static const char *const op_names[N_OPS] = {"add", "mul", "scale", "add_scaled", "softcap", "silu_mul", "gelu_mul"};

static void run(const qn_kernels *k, op o, const float *a, const float *b, float f, size_t n, float *y)
{
    switch (o) {
    case OP_ADD:
        k->add(a, b, n, y);
        break;
    case OP_MUL:
        k->mul(a, b, n, y);
        break;
    case OP_SCALE:
        k->scale(a, f, n, y);
        break;
    case OP_ADD_SCALED:
        memmove(y, b, n * sizeof(*y));
        k->add_scaled(a, f, n, y);
        break;
    case OP_SOFTCAP:
        k->softcap(a, f, n, y);
        break;
    case OP_SILU_MUL:
        k->silu_mul(a, b, n, y);
        break;
    case OP_GELU_MUL:
        k->gelu_mul(a, b, n, y);
        break;
    default:
        fail();
    }
}

static double want_of(op o, double a, double b, double f)
{
    switch (o) {
    case OP_ADD:
        return a + b;
    case OP_MUL:
        return a * b;
    case OP_SCALE:
        return a * f;
    case OP_ADD_SCALED:
        return b + f * a;
    case OP_SOFTCAP:
        return f * tanh(a / f);
    case OP_SILU_MUL:
        return a / (1.0 + exp(-a)) * b;
    default:
        /* In long double, because 1 + tanh() loses digits. */
        return (double)(0.5L * a *
                        (1.0L + tanhl(0.797884560802865355879892119868763737L * (a + 0.044715L * a * a * a))) * b);
    }
}

/* Relative: a few roundings of float. Absolute: gelu and silu of large negative numbers are tiny, and the rounding of
 * the exponent's argument counts there. */
static const double rel_of[N_OPS] = {6e-8, 6e-8, 6e-8, 6e-8, 4e-7, 8e-7, 8e-7};

static double abs_of(op o, double b, double f)
{
    if (o == OP_ADD_SCALED) {
        return 6e-8 * fabs(b) + 1e-37 * fabs(f) + 1e-44; /* the sum may cancel in plain C's products too */
    }
    return o == OP_SILU_MUL || o == OP_GELU_MUL ? 2e-9 * fabs(b) + 1e-37 : 1e-37;
}

static void test_elementwise_match_definition(void **state)
{
    (void)state;
    qn_kernels k;
    for (size_t i_set = 0; next_set(&i_set, &k);) {
        qn_random rnd;
        qn_random_seed(&rnd, 7);
        for (op o = 0; o < N_OPS; o++) {
            for (size_t i_size = 0; i_size < N_SIZES; i_size++) {
                size_t n = sizes[i_size];
                row a = row_normal(n, i_size % 4, 4.0F, &rnd);
                row b = row_normal(n, (i_size + 1) % 3, 2.0F, &rnd);
                row y = row_new(n, (i_size + 2) % 5);
                run(&k, o, a.x, b.x, 3.5F, n, y.x);
                for (size_t i = 0; i < n; i++) {
                    assert_close(y.x[i], want_of(o, a.x[i], b.x[i], 3.5), rel_of[o], abs_of(o, b.x[i], 3.5),
                                 op_names[o], k.isa, i);
                }
                row_free(&a);
                row_free(&b);
                row_free(&y);
            }
        }
    }
}

static void test_elementwise_ugly_values(void **state)
{
    (void)state;
    static const float ugly[] = {0.0F,   -0.0F,  1e-45F, -1e-45F, 1e-40F, FLT_MIN, -FLT_MIN, 1e-20F,   1e-8F,   -1e-8F,
                                 1e-4F,  0.624F, 0.626F, 1.0F,    -1.0F,  9.0F,    -9.0F,    20.0F,    -20.0F,  50.0F,
                                 -50.0F, 87.0F,  -87.0F, 88.5F,   -88.5F, 88.8F,   -88.8F,   100.0F,   -100.0F, 1e4F,
                                 -1e4F,  1e19F,  -1e19F, 1e30F,   -1e30F, FLT_MAX, -FLT_MAX, INFINITY, NAN};
    enum { N = sizeof(ugly) / sizeof(ugly[0]) };
    qn_kernels k;
    for (size_t i_set = 0; next_set(&i_set, &k);) {
        for (op o = 0; o < N_OPS; o++) {
            float b[N];
            float y[N];
            for (size_t i = 0; i < N; i++) {
                b[i] = 1.0F;
            }
            run(&k, o, ugly, b, 30.0F, N, y);
            for (size_t i = 0; i < N; i++) {
                assert_close(y[i], want_of(o, ugly[i], 1.0, 30.0), rel_of[o], abs_of(o, 1.0, 30.0), op_names[o], k.isa,
                             i);
            }
        }
        float minus_inf = -INFINITY;
        float y;
        k.softcap(&minus_inf, 30.0F, 1, &y);
        assert_true(y == -30.0F);
    }
}

/* A dense walk over both signs and all magnitudes that matter, where the polynomials meet the exponentials. */
static void test_functions_over_a_dense_grid(void **state)
{
    (void)state;
    enum { N = 60000 };
    row x = row_new(N, 0);
    row one = row_new(N, 0);
    row y = row_new(N, 0);
    for (size_t i = 0; i < N; i++) {
        double magnitude = exp(-18.0 + 23.0 * (double)(i / 2) / (N / 2)); /* 1.5e-8 to 148 */
        x.x[i] = (float)(i % 2 == 0 ? magnitude : -magnitude);
        one.x[i] = 1.0F;
    }
    qn_kernels k;
    for (size_t i_set = 0; next_set(&i_set, &k);) {
        for (op o = OP_SOFTCAP; o < N_OPS; o++) {
            run(&k, o, x.x, one.x, 1.0F, N, y.x);
            for (size_t i = 0; i < N; i++) {
                assert_close(y.x[i], want_of(o, x.x[i], 1.0, 1.0), rel_of[o], abs_of(o, 1.0, 1.0), op_names[o], k.isa,
                             i);
            }
        }
    }
    row_free(&x);
    row_free(&one);
    row_free(&y);
}

/* An element's bits do not depend on where it stands, on alignment, or on who is beside it; in place is allowed. */
static void test_elementwise_bits_do_not_depend_on_place(void **state)
{
    (void)state;
    enum { N = 43 };
    qn_random rnd;
    qn_random_seed(&rnd, 9);
    qn_kernels k;
    for (size_t i_set = 0; next_set(&i_set, &k);) {
        for (op o = 0; o < N_OPS; o++) {
            row a = row_normal(N, 0, 3.0F, &rnd);
            row b = row_normal(N, 1, 3.0F, &rnd);
            row y = row_new(N, 2);
            run(&k, o, a.x, b.x, 2.5F, N, y.x);
            for (size_t i = 0; i < N; i++) {
                float alone;
                run(&k, o, a.x + i, b.x + i, 2.5F, 1, &alone);
                assert_memory_equal(&alone, y.x + i, sizeof(alone));
            }
            row in_place = row_copy(o == OP_ADD_SCALED ? &b : &a, 3);
            run(&k, o, o == OP_ADD_SCALED ? a.x : in_place.x, o == OP_ADD_SCALED ? in_place.x : b.x, 2.5F, N,
                in_place.x);
            assert_memory_equal(in_place.x, y.x, N * sizeof(float));
            row_free(&a);
            row_free(&b);
            row_free(&y);
            row_free(&in_place);
        }
    }
}

static void test_rms_norm(void **state)
{
    (void)state;
    static const float scales[] = {1.0F, 1e-20F, 1e-3F, 1e5F, 1e25F};
    qn_random rnd;
    qn_random_seed(&rnd, 11);
    qn_kernels k;
    for (size_t i_set = 0; next_set(&i_set, &k);) {
        for (size_t i_size = 0; i_size < N_SIZES; i_size++) {
            size_t n = sizes[i_size];
            float eps = i_size % 2 == 0 ? 1e-5F : 1e-6F;
            row x = row_normal(n, i_size % 4, scales[i_size % 5], &rnd);
            row w = row_normal(n, 1, 1.0F, &rnd);
            row y = row_new(n, 2);
            row plain = row_copy(&x, 1);
            double sum = 0.0;
            for (size_t i = 0; i < n; i++) {
                sum += (double)x.x[i] * x.x[i];
            }
            double f = 1.0 / sqrt(sum / (double)n + eps);
            k.rms_norm(x.x, w.x, n, eps, y.x);
            k.rms_norm(plain.x, NULL, n, eps, plain.x);
            for (size_t i = 0; i < n; i++) {
                assert_close(y.x[i], x.x[i] * f * w.x[i], 2.5e-7, 1e-37, "rms_norm", k.isa, i);
                assert_close(plain.x[i], x.x[i] * f, 2.5e-7, 1e-37, "rms_norm without weights", k.isa, i);
            }
            row again = row_copy(&x, 3); /* another alignment, the same bits */
            k.rms_norm(again.x, w.x, n, eps, again.x);
            assert_memory_equal(again.x, y.x, n * sizeof(float));
            row_free(&x);
            row_free(&w);
            row_free(&y);
            row_free(&plain);
            row_free(&again);
        }
        float zeros[5] = {0};
        k.rms_norm(zeros, NULL, 5, 1e-6F, zeros);
        for (size_t i = 0; i < 5; i++) {
            assert_true(zeros[i] == 0.0F);
        }
    }
}

static void check_softmax(const qn_kernels *k, const row *x)
{
    double max = -INFINITY;
    for (size_t i = 0; i < x->n; i++) {
        max = fmax(max, x->x[i]);
    }
    double sum = 0.0;
    for (size_t i = 0; i < x->n; i++) {
        sum += exp(x->x[i] - max);
    }
    row y = row_new(x->n, 1);
    k->softmax(x->x, x->n, y.x);
    for (size_t i = 0; i < x->n; i++) {
        double d = x->x[i] - max;
        /* x - max is rounded to float before exp(). */
        double rel = d < -1e4 ? 1.0 : 3e-7 + 6e-8 * -d;
        assert_close(y.x[i], exp(d) / sum, rel, 1.2e-38, "softmax", k->isa, i);
    }
    row in_place = row_copy(x, 2);
    k->softmax(in_place.x, x->n, in_place.x);
    assert_memory_equal(in_place.x, y.x, x->n * sizeof(float));
    row_free(&y);
    row_free(&in_place);
}

static void test_softmax(void **state)
{
    (void)state;
    qn_random rnd;
    qn_random_seed(&rnd, 13);
    qn_kernels k;
    for (size_t i_set = 0; next_set(&i_set, &k);) {
        static const float scales[] = {1.0F, 1e-3F, 30.0F, 1e4F};
        for (size_t i_size = 0; i_size < N_SIZES; i_size++) {
            row x = row_normal(sizes[i_size], i_size % 4, scales[i_size % 4], &rnd);
            check_softmax(&k, &x);
            /* Masked entries, the last ones and all but one. */
            for (size_t i = x.n / 2 + 1; i < x.n; i++) {
                x.x[i] = -INFINITY;
            }
            check_softmax(&k, &x);
            for (size_t i = 1; i < x.n; i++) {
                x.x[i] = -INFINITY;
            }
            check_softmax(&k, &x);
            x.x[x.n / 2] = NAN;
            k.softmax(x.x, x.n, x.x);
            assert_true(isnan(x.x[0]));
            row_free(&x);
        }
        row many = row_new(200000, 0); /* a vocabulary */
        for (size_t i = 0; i < many.n; i++) {
            many.x[i] = 2.0F * qn_random_normal(&rnd);
        }
        check_softmax(&k, &many);
        row_free(&many);
    }
}

/* n == 0 must neither read nor write. */
static void test_empty_rows(void **state)
{
    (void)state;
    qn_kernels k;
    for (size_t i_set = 0; next_set(&i_set, &k);) {
        row x = row_new(0, 0);
        row y = row_new(0, 0);
        for (op o = 0; o < N_OPS; o++) {
            run(&k, o, x.x, x.x, 1.0F, 0, y.x);
        }
        k.softmax(x.x, 0, y.x);
        k.rms_norm(x.x, NULL, 0, 1e-6F, y.x);
        row_free(&x);
        row_free(&y);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elementwise_match_definition),
        cmocka_unit_test(test_elementwise_ugly_values),
        cmocka_unit_test(test_functions_over_a_dense_grid),
        cmocka_unit_test(test_elementwise_bits_do_not_depend_on_place),
        cmocka_unit_test(test_rms_norm),
        cmocka_unit_test(test_softmax),
        cmocka_unit_test(test_empty_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
