/* The encoders that search for scales, against llama.cpp's quantiser: on the same numbers our mean squared error must
 * not be larger. The figures in the tables are that quantiser's relative error (mean squared error over mean square,
 * in millionths) without importances: its library's quantise-chunk call on exactly the rows made below, decoded by the
 * gguf package and compared in double; llama.cpp build 11434 (ggml 0.26.0) on x86-64.
 * SPDX-License-Identifier: MIT */
#include "test.h"

#include <math.h>

#include "base/random.h"
#include "quant/quant.h"

#define N_ELEMENTS (256 * 256)
#define TRAINED_FIRST 28 /* bytes of header before the floats */

enum { NORMAL, UNIFORM, HEAVY, POSITIVE, SHIFTED, N_KINDS };

static const char *const kind_names[N_KINDS] = {"normal", "uniform", "heavy-tailed", "positive", "shifted"};

static void fill(int kind, float *x)
{
    qn_random r;
    qn_random_seed(&r, 1000 + (uint64_t)kind);
    for (int i = 0; i < N_ELEMENTS; i++) {
        switch (kind) {
        case NORMAL:
            x[i] = 0.02f * qn_random_normal(&r);
            break;
        case UNIFORM:
            x[i] = (float)(2.0 * qn_random_unit(&r) - 1.0);
            break;
        case HEAVY: { /* Student's t with 2 degrees of freedom */
            float a = qn_random_normal(&r), b = qn_random_normal(&r), c = qn_random_normal(&r);
            x[i] = 0.1f * a / sqrtf(0.5f * (b * b + c * c) + 1e-4f);
            break;
        }
        case POSITIVE:
            x[i] = fabsf(qn_random_normal(&r));
            break;
        default:
            x[i] = 1.0f + 0.1f * qn_random_normal(&r);
            break;
        }
    }
}

typedef struct figure {
    qn_type type;
    double peer[N_KINDS]; /* millionths */
    double trained;
} figure;

static const figure figures[] = {
    {QN_TYPE_Q2_K, {88742.819, 54070.615, 109633.599, 35822.390, 8217.537}, 77909.222},
    {QN_TYPE_Q3_K, {22854.877, 15646.385, 29571.264, 21253.514, 6388.909}, 19654.573},
    {QN_TYPE_Q4_K, {5080.651, 2973.643, 9296.284, 1784.342, 434.065}, 4279.296},
    {QN_TYPE_Q5_K, {1302.096, 756.868, 2636.456, 429.668, 108.666}, 1069.080},
    {QN_TYPE_Q6_K, {315.251, 173.904, 914.076, 313.449, 83.314}, 254.835},
    {QN_TYPE_IQ4_NL, {5809.737, 4087.316, 11607.872, 5630.977, 2893.817}, 5238.720},
    {QN_TYPE_IQ4_XS, {5908.522, 4160.220, 11990.268, 5719.464, 2946.172}, 5351.964},
};

#define N_FIGURES (sizeof figures / sizeof figures[0])

static double relative_error(qn_type type, const float *x, size_t n)
{
    uint64_t n_bytes;
    assert_true(qn_type_row_bytes(type, n, &n_bytes));
    void *blocks = malloc(n_bytes);
    float *back = malloc(n * sizeof *back);
    assert_non_null(blocks);
    assert_non_null(back);
    assert_int_equal(qn_encode_row(type, x, blocks, n, NULL, NULL), QN_OK);
    assert_int_equal(qn_decode_row(type, blocks, back, n, NULL), QN_OK);
    double error = 0, square = 0;
    for (size_t i = 0; i < n; i++) {
        double e = (double)back[i] - (double)x[i];
        error += e * e;
        square += (double)x[i] * (double)x[i];
    }
    free(blocks);
    free(back);
    return 1e6 * error / square;
}

static void check(qn_type type, const char *what, double ours, double peer)
{
    if (!(ours <= peer)) {
        fail_msg("%s on %s numbers: error %.2f, the other quantiser's %.2f", qn_type_name(type), what, ours, peer);
    }
}

static void error_is_no_larger_on_random_numbers(void **state)
{
    (void)state;
    float *x = malloc(N_ELEMENTS * sizeof *x);
    assert_non_null(x);
    for (int kind = 0; kind < N_KINDS; kind++) {
        fill(kind, x);
        for (size_t i = 0; i < N_FIGURES; i++) {
            check(figures[i].type, kind_names[kind], relative_error(figures[i].type, x, N_ELEMENTS),
                  figures[i].peer[kind]);
        }
    }
    free(x);
}

static void error_is_no_larger_on_trained_weights(void **state)
{
    (void)state;
    QN_TEST_NEED(path, "models/stories260K.bin");
    size_t n_bytes;
    char *file = qn_test_read_file(path, &n_bytes);
    size_t n = (n_bytes - TRAINED_FIRST) / sizeof(float) / 256 * 256;
    float *x = malloc(n * sizeof *x);
    assert_non_null(x);
    memcpy(x, file + TRAINED_FIRST, n * sizeof *x);
    for (size_t i = 0; i < N_FIGURES; i++) {
        check(figures[i].type, "trained", relative_error(figures[i].type, x, n), figures[i].trained);
    }
    free(x);
    free(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(error_is_no_larger_on_random_numbers),
        cmocka_unit_test(error_is_no_larger_on_trained_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
