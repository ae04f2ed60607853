/* Products in wide order: every type of every set that has them, against sums in double, and the order itself.
 * SPDX-License-Identifier: MIT */
#include "mm_support.h"

enum { WIDE_COLS = 45, WIDE_ROWS = 53 };

static const float canary = -12345.0f;

typedef struct wide_case {
    operands o; /* its columns are not used */
    bool ugly;
    float *x; /* WIDE_COLS x n_k */
    void *block, *scratch;
} wide_case;

static void open_case(qn_random *rng, const qn_kernels *k, qn_type type, size_t n_k, bool ugly, wide_case *w)
{
    make_operands(rng, k, type, WIDE_ROWS, n_k, ugly, &w->o);
    w->ugly = ugly;
    w->x = exact(WIDE_COLS * n_k * sizeof(float));
    w->block = exact((WIDE_COLS + 15) / 16 * 16 * qn_wide_bytes(n_k));
    w->scratch = exact(k->wide_scratch);
    memset(w->scratch, 0xA5, k->wide_scratch);
    for (size_t c = 0; c < WIDE_COLS; c++) {
        random_floats(rng, w->x + c * n_k, n_k, ugly);
        k->wide_store(w->x + c * n_k, n_k, w->block, c);
    }
}

static void close_case(wide_case *w)
{
    free_operands(&w->o);
    free(w->x);
    free(w->block);
    free(w->scratch);
}

/* Each of the two factors is off by up to 2^-8 of itself, a product by some 2^-9 in the root mean square. The roundings
 * are independent, so they add up as a random walk: 12 times its step. One wrong weight is about one term, and of n
 * terms of one size twelve steps are 12 * sqrt(n) / 512 terms: less than one up to 1,800. In ugly operands whole blocks
 * are alike, and so are their errors. Where a weight is the difference of larger terms, see mm_test. */
static double tolerance(const wide_case *w, size_t r, size_t c)
{
    const float *weight = w->o.w_exact + r * w->o.n_k, *x = w->x + c * w->o.n_k;
    double squares = 0, sizes = 0, sum = 0;
    for (size_t i = 0; i < w->o.n_k; i++) {
        squares += (double)weight[i] * weight[i] * x[i] * x[i];
        sizes += fabs((double)weight[i] * x[i]);
        sum += fabs((double)x[i]);
    }
    return (w->ugly ? 0x1p-7 * sizes : 12.0 * 0x1p-9 * sqrt(squares)) + 0x1p-18 * sum * (double)w->o.reach[r] + 1e-37;
}

static double judge(const wide_case *w, size_t r, size_t c)
{
    double sum = 0;
    for (size_t i = 0; i < w->o.n_k; i++) {
        sum += (double)w->o.w_exact[r * w->o.n_k + i] * (double)w->x[c * w->o.n_k + i];
    }
    return sum;
}

static void run(const qn_kernels *k, const wide_case *w, size_t r0, size_t n_rows, size_t n_cols, float *y, size_t ldy)
{
    for (size_t i = 0; i < WIDE_COLS * ldy; i++) {
        y[i] = canary;
    }
    k->mm[w->o.type].wide(w->o.w + r0 * w->o.row_bytes, w->o.row_bytes, n_rows, w->o.n_k, w->block, n_cols, y, ldy,
                          w->scratch);
}

static void check_case(const qn_kernels *k, const wide_case *w)
{
    enum { LDY = WIDE_ROWS + 3 };
    static float all[WIDE_COLS * LDY], part[WIDE_COLS * LDY];
    run(k, w, 0, WIDE_ROWS, WIDE_COLS, all, LDY);
    for (size_t i = 0; i < WIDE_COLS * LDY; i++) {
        size_t c = i / LDY, r = i % LDY;
        if (r >= WIDE_ROWS) {
            assert_true(all[i] == canary);
            continue;
        }
        double want = judge(w, r, c), error = fabs((double)all[i] - want);
        if (!(error <= tolerance(w, r, c))) {
            fail_msg("%s n_k %zu row %zu column %zu: %.9g, not %.9g (tolerance %.3g)", qn_type_name(w->o.type),
                     w->o.n_k, r, c, (double)all[i], want, tolerance(w, r, c));
        }
    }
    /* The bits depend neither on the rows nor on the columns beside them. */
    static const size_t n_rows[] = {1, 16, 20, 32, 53}, n_cols[] = {1, 16, 17, 32, 40};
    for (size_t i = 0; i < 5; i++) {
        size_t r0 = WIDE_ROWS - n_rows[i];
        run(k, w, r0, n_rows[i], n_cols[i], part, LDY);
        for (size_t c = 0; c < WIDE_COLS; c++) {
            bool inside = c < n_cols[i];
            assert_true(part[c * LDY + n_rows[i]] == canary);
            assert_true(inside || part[c * LDY] == canary);
            if (inside) {
                assert_memory_equal(part + c * LDY, all + c * LDY + r0, n_rows[i] * sizeof(float));
            }
        }
    }
}

static void test_products(void **state)
{
    (void)state;
    qn_kernels k;
    bool any = false;
    for (size_t i = 0; next_set(&i, &k);) {
        for (uint32_t t = 0; k.wide_min != 0 && t < QN_TYPE_COUNT; t++) {
            if (k.mm[t].wide == NULL) {
                continue;
            }
            any = true;
            assert_int_equal(k.mm[t].act, QN_ACT_A8);
            qn_random rng;
            qn_random_seed(&rng, t);
            size_t unit = qn_type_find(t)->block_len, lengths[] = {unit, 768, 2048, 4608};
            for (size_t j = 0; j < 4; j++) {
                wide_case w;
                open_case(&rng, &k, (qn_type)t, lengths[j], j % 2 == 1, &w);
                check_case(&k, &w);
                close_case(&w);
            }
        }
    }
    if (!any) {
        QN_TEST_SKIP("no set of this processor has wide products");
    }
}

/* [n / 32][row of the group][32], as bf16 is stored elsewhere. */
static void test_order(void **state)
{
    (void)state;
    enum { N = 96, ROWS = 19 };
    qn_kernels k;
    qn_random rng;
    qn_random_seed(&rng, 5);
    for (size_t i = 0; next_set(&i, &k);) {
        if (k.wide_min == 0) {
            continue;
        }
        uint16_t block[2][N / 32][QN_WIDE_GROUP][32], want[N];
        assert_int_equal(sizeof(block), 2 * QN_WIDE_GROUP * qn_wide_bytes(N));
        for (size_t r = 0; r < ROWS; r++) {
            float x[N];
            random_floats(&rng, x, N, false);
            k.wide_store(x, N, block, r);
            k.kv_store(x, N, QN_TYPE_BF16, want, 1);
            for (size_t j = 0; j < N; j++) {
                assert_int_equal(block[r / QN_WIDE_GROUP][j / 32][r % QN_WIDE_GROUP][j % 32], want[j]);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_products), cmocka_unit_test(test_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
