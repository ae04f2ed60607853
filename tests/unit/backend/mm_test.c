/* Matrix products and row decoding: every type of every instruction set's table against sums in double of the decoded
 * operands. A kernel is tested by being in a table.
 * SPDX-License-Identifier: MIT */
#include "mm_support.h"

enum { LDY = MAX_ROWS + 3 };

static const float canary = -12345.0f;

/* ---- the judge ---- */

/* Rounding alone may separate kernel and judge. A kernel rounds each term of its sums (a block's scaled dot product, a
 * minimum times the block's sum) a few times, and the running sum once for each term that follows in its lane; signs
 * are random, so the errors add up like a random walk, far below the bound n * eps * sum of magnitudes. 16 eps times
 * the sum of |x| times the largest term of a weight (a weight d * q - 8 * d is made of terms larger than itself) holds
 * with a margin of several, while one wrong quant or scale in a row of 4096 weighs a hundred times as much. */
static double tolerance(const operands *o, size_t r, size_t c)
{
    double sum = 0;
    for (size_t i = 0; i < o->n_k; i++) {
        sum += fabs(o->x_exact[c * o->n_k + i]);
    }
    return 16.0 * 0x1p-24 * sum * (double)o->reach[r] + 1e-40;
}

static double size_of(const operands *o, size_t r, size_t c)
{
    double sum = 0;
    for (size_t i = 0; i < o->n_k; i++) {
        sum += fabs((double)o->w_exact[r * o->n_k + i] * o->x_exact[c * o->n_k + i]);
    }
    return sum;
}

/* For float activations there are no hidden terms: 2e-6 (32 eps) of the sum of the products' magnitudes. The least
 * exact kernels add runs of 64 products in one lane and then the runs' sums, 64 of them at 4096: up to 128 roundings of
 * half an eps. Where an outlier makes all partial sums as large as the result, 18 eps are seen; without one, 5. */
static double tolerance_f32(const operands *o, size_t r, size_t c)
{
    return 32.0 * 0x1p-24 * size_of(o, r, c) + 1e-40;
}

static double judge(const operands *o, size_t r, size_t c)
{
    double sum = 0;
    for (size_t i = 0; i < o->n_k; i++) {
        sum += (double)o->w_exact[r * o->n_k + i] * o->x_exact[c * o->n_k + i];
    }
    return sum;
}

typedef struct results {
    double want[MAX_COLS][MAX_ROWS], tolerance[MAX_COLS][MAX_ROWS];
    double size[MAX_COLS][MAX_ROWS]; /* sum of the products' magnitudes; 0: errors do not count for `worst` */
} results;

/* Largest error over the sum of the products' magnitudes, by the way of calling: the table in docs/performance.md. */
static struct worst {
    const char *what;
    double error;
} worst[] = {{"one", 0}, {"few", 0}, {"several", 0}, {"panel", 0}};

static void note_error(const char *what, double error, double size)
{
    for (size_t i = 0; i < sizeof(worst) / sizeof(worst[0]); i++) {
        if (strcmp(worst[i].what, what) == 0 && size > 0) {
            worst[i].error = fmax(worst[i].error, error / size);
        }
    }
}

static void print_worst(const char *isa, const char *type)
{
    printf("%s %s: worst error", isa, type);
    for (size_t i = 0; i < sizeof(worst) / sizeof(worst[0]); i++) {
        printf(" %s %.1e", worst[i].what, worst[i].error);
        worst[i].error = 0;
    }
    putchar('\n');
}

static void judge_all(const operands *o, qn_act act, bool ugly, results *out)
{
    for (size_t c = 0; c < o->n_cols; c++) {
        for (size_t r = 0; r < o->n_rows; r++) {
            out->want[c][r] = judge(o, r, c);
            out->size[c][r] = ugly ? 0 : size_of(o, r, c);
            out->tolerance[c][r] = act == QN_ACT_A8 ? tolerance(o, r, c) : tolerance_f32(o, r, c);
        }
    }
}

static void clear(float *y)
{
    for (size_t i = 0; i < MAX_COLS * LDY; i++) {
        y[i] = canary;
    }
}

/* y holds columns [c0, c0 + n_cols) of rows [r0, r0 + n_rows) and nothing else. */
static void check(const operands *o, const results *want, const char *what, const float *y, size_t r0, size_t n_rows,
                  size_t c0, size_t n_cols)
{
    for (size_t i = 0; i < MAX_COLS * LDY; i++) {
        size_t c = i / LDY, r = i % LDY;
        if (c >= n_cols || r >= n_rows) {
            if (y[i] != canary) {
                fail_msg("%s: wrote outside, column %zu row %zu", what, c, r);
            }
        } else {
            double error = fabs((double)y[i] - want->want[c0 + c][r0 + r]);
            note_error(what, error, want->size[c0 + c][r0 + r]);
            if (!(error <= want->tolerance[c0 + c][r0 + r])) {
                fail_msg("%s %s n_k %zu: row %zu of %zu, column %zu of %zu: %.9g, not %.9g (tolerance %.3g)",
                         qn_type_name((uint32_t)o->type), what, o->n_k, r, n_rows, c, n_cols, (double)y[i],
                         want->want[c0 + c][r0 + r], want->tolerance[c0 + c][r0 + r]);
            }
        }
    }
}

/* ---- one and few ---- */

static void run_rows(const qn_mm *mm, const operands *o, const results *want)
{
    float one[MAX_COLS * LDY], y[MAX_COLS * LDY];
    clear(one);
    mm->one(o->w, o->row_bytes, o->n_rows, o->n_k, o->x, one);
    check(o, want, "one", one, 0, o->n_rows, 0, 1);
    for (size_t n_cols = 1; n_cols <= mm->few_max && n_cols <= MAX_COLS; n_cols++) {
        size_t c0 = MAX_COLS - n_cols;
        clear(y);
        mm->few(o->w, o->row_bytes, o->n_rows, o->n_k, (char *)o->x + c0 * o->x_bytes, o->x_bytes, n_cols, y, LDY);
        check(o, want, "few", y, 0, o->n_rows, c0, n_cols);
        /* A column's bits do not depend on its neighbours. */
        clear(one);
        mm->one(o->w, o->row_bytes, o->n_rows, o->n_k, (char *)o->x + (c0 + n_cols - 1) * o->x_bytes, one);
        assert_memory_equal(one, y + (n_cols - 1) * LDY, o->n_rows * sizeof(float));
    }
    /* Nor a row's. */
    size_t r = o->n_rows - 1;
    clear(y);
    mm->one(o->w + r * o->row_bytes, o->row_bytes, 1, o->n_k, (char *)o->x + (MAX_COLS - 1) * o->x_bytes, y);
    check(o, want, "one", y, r, 1, MAX_COLS - 1, 1);
    assert_memory_equal(one + r, y, sizeof(float));
}

/* ---- panels ---- */

static void run_panels(const qn_mm *mm, const operands *o, const results *want)
{
    assert_int_equal(mm->panel_rows % 8, 0);
    size_t n_bytes = mm->panel_bytes(o->n_k);
    assert_int_equal(n_bytes % 64, 0);
    void *panel = exact(n_bytes), *last = exact(n_bytes);
    float y[MAX_COLS * LDY], single[MAX_COLS * LDY];
    for (size_t r0 = 0; r0 < o->n_rows; r0 += mm->panel_rows) {
        size_t n_rows = o->n_rows - r0 < mm->panel_rows ? o->n_rows - r0 : mm->panel_rows;
        memset(panel, 0xA5, n_bytes);
        mm->pack(o->w + r0 * o->row_bytes, o->row_bytes, n_rows, o->n_k, panel);
        memset(last, 0x5A, n_bytes);
        mm->pack(o->w + (r0 + n_rows - 1) * o->row_bytes, o->row_bytes, 1, o->n_k, last);
        for (size_t n_cols = 1; n_cols <= MAX_COLS; n_cols++) {
            size_t c0 = MAX_COLS - n_cols;
            clear(y);
            mm->panel(panel, n_rows, o->n_k, (char *)o->x + c0 * o->x_bytes, o->x_bytes, n_cols, y, LDY);
            check(o, want, "panel", y, r0, n_rows, c0, n_cols);
            clear(single);
            mm->panel(last, 1, o->n_k, (char *)o->x + (MAX_COLS - 1) * o->x_bytes, o->x_bytes, 1, single, LDY);
            assert_memory_equal(single, y + (n_cols - 1) * LDY + n_rows - 1, sizeof(float));
        }
    }
    free(panel);
    free(last);
}

/* ---- several ---- */

/* Whatever columns stand together, and wherever rows are cut, the bits are those of the panel. */
static void run_several(const qn_mm *mm, const operands *o, const results *want)
{
    static float y[MAX_COLS * LDY], all[MAX_COLS * LDY];
    clear(all);
    void *panel = exact(mm->panel_bytes(o->n_k));
    for (size_t r0 = 0; r0 < o->n_rows; r0 += mm->panel_rows) {
        size_t n_rows = o->n_rows - r0 < mm->panel_rows ? o->n_rows - r0 : mm->panel_rows;
        mm->pack(o->w + r0 * o->row_bytes, o->row_bytes, n_rows, o->n_k, panel);
        mm->panel(panel, n_rows, o->n_k, o->x, o->x_bytes, MAX_COLS, all + r0, LDY);
    }
    free(panel);
    for (size_t n_cols = 1; n_cols <= mm->several_max && n_cols <= MAX_COLS; n_cols++) {
        size_t c0 = MAX_COLS - n_cols, r0 = n_cols % o->n_rows, n_rows = o->n_rows - r0;
        clear(y);
        mm->several(o->w + r0 * o->row_bytes, o->row_bytes, n_rows, o->n_k, (char *)o->x + c0 * o->x_bytes, o->x_bytes,
                    n_cols, y, LDY);
        check(o, want, "several", y, r0, n_rows, c0, n_cols);
        for (size_t c = 0; c < n_cols; c++) {
            assert_memory_equal(y + c * LDY, all + (c0 + c) * LDY + r0, n_rows * sizeof(float));
        }
    }
}

static void run_type(const qn_kernels *k, qn_type type)
{
    static const size_t rows[] = {1, MAX_ROWS, 16, 7};
    const qn_type_info *info = qn_type_find((uint32_t)type);
    const qn_mm *mm = &k->mm[type];
    size_t unit = info->block_len < 32 ? 1 : info->block_len;
    size_t lengths[] = {unit, unit == 1 ? 37 : 3 * unit, 256, 576, 768, 1536, 4096};
    static results want;
    qn_random rng;
    qn_random_seed(&rng, (uint64_t)type);
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        for (int ugly = 0; ugly < 2; ugly++) {
            operands o;
            size_t n_k = lengths[i] / unit * unit;
            make_operands(&rng, k, type, rows[(i + (size_t)ugly) % 4], n_k, ugly != 0, &o);
            judge_all(&o, mm->act, ugly != 0, &want);
            run_rows(mm, &o, &want);
            if (mm->panel_rows > 0) {
                run_panels(mm, &o, &want);
            }
            if (mm->several_max > 0) {
                run_several(mm, &o, &want);
            }
            free_operands(&o);
        }
    }
    print_worst(k->isa, info->name);
}

static void test_products(void **state)
{
    (void)state;
    qn_kernels k;
    for (size_t i = 0; next_set(&i, &k);) {
        for (uint32_t t = 0; t < QN_TYPE_COUNT; t++) {
            const qn_type_info *info = qn_type_find(t);
            if (info == NULL || info->decode == NULL) {
                assert_null(k.mm[t].one);
                assert_null(k.decode_row[t]);
                continue;
            }
            assert_non_null(k.mm[t].one);
            assert_non_null(k.mm[t].few);
            assert_true(k.mm[t].few_max >= 1);
            run_type(&k, (qn_type)t);
        }
    }
}

/* A NaN stays in its row or column: it neither spreads nor gets lost. */
static void run_nan(const qn_kernels *k, qn_type type)
{
    enum { N_K = 512, N_ROWS = 3, N_COLS = 2 };
    const qn_type_info *info = qn_type_find((uint32_t)type);
    const qn_mm *mm = &k->mm[type];
    operands o;
    qn_random rng;
    qn_random_seed(&rng, (uint64_t)type);
    make_operands(&rng, k, type, N_ROWS, N_K, false, &o);
    uint16_t bad = 0x7e00;
    float bad_float = NAN, x[N_K];
    uint8_t *bad_row = o.w_base + 1 + o.row_bytes; /* row 1 */
    if (type == QN_TYPE_F32) {
        memcpy(bad_row + 4 * 300, &bad_float, sizeof(bad_float));
    } else {
        size_t i_last = N_K / info->block_len - 1;
        memcpy(bad_row + i_last * info->block_bytes + find_scales(type)->at[0], &bad, sizeof(bad));
    }
    random_floats(&rng, x, N_K, false);
    x[77] = NAN; /* column 1 */
    if (mm->act == QN_ACT_A8) {
        k->quantize_a8(x, N_K, (char *)o.x + o.x_bytes);
    } else {
        memcpy((char *)o.x + o.x_bytes, x, sizeof(x));
    }
    float y[N_COLS * N_ROWS];
    for (int use_panel = 0; use_panel <= (mm->panel_rows > 0); use_panel++) {
        if (use_panel) {
            void *panel = exact(mm->panel_bytes(N_K));
            mm->pack(o.w, o.row_bytes, N_ROWS, N_K, panel);
            mm->panel(panel, N_ROWS, N_K, o.x, o.x_bytes, N_COLS, y, N_ROWS);
            free(panel);
        } else {
            mm->few(o.w, o.row_bytes, N_ROWS, N_K, o.x, o.x_bytes, N_COLS, y, N_ROWS);
        }
        for (int c = 0; c < N_COLS; c++) {
            for (int r = 0; r < N_ROWS; r++) {
                assert_int_equal(isnan(y[c * N_ROWS + r]) != 0, r == 1 || c == 1);
            }
        }
    }
    free_operands(&o);
}

static void test_nan(void **state)
{
    (void)state;
    static const qn_type types[] = {QN_TYPE_F32,   QN_TYPE_F16,     QN_TYPE_Q4_0,   QN_TYPE_Q4_1,    QN_TYPE_Q5_0,
                                    QN_TYPE_Q2_K,  QN_TYPE_Q3_K,    QN_TYPE_IQ4_NL, QN_TYPE_IQ4_XS,  QN_TYPE_Q5_1,
                                    QN_TYPE_Q8_0,  QN_TYPE_Q4_K,    QN_TYPE_Q5_K,   QN_TYPE_Q6_K,    QN_TYPE_TQ1_0,
                                    QN_TYPE_TQ2_0, QN_TYPE_Q1_0,    QN_TYPE_IQ1_S,  QN_TYPE_IQ2_XXS, QN_TYPE_IQ2_XS,
                                    QN_TYPE_IQ2_S, QN_TYPE_IQ3_XXS, QN_TYPE_IQ3_S};
    qn_kernels k;
    for (size_t i = 0; next_set(&i, &k);) {
        for (size_t i_type = 0; i_type < sizeof(types) / sizeof(types[0]); i_type++) {
            run_nan(&k, types[i_type]);
        }
    }
}

static void test_decode_row(void **state)
{
    (void)state;
    qn_kernels k;
    for (size_t i = 0; next_set(&i, &k);) {
        for (uint32_t t = 0; t < QN_TYPE_COUNT; t++) {
            if (k.decode_row[t] == NULL) {
                continue;
            }
            operands o;
            qn_random rng;
            qn_random_seed(&rng, t);
            make_operands(&rng, &k, (qn_type)t, 1, 3 * QN_MM_CHUNK, true, &o);
            float *got = exact(o.n_k * sizeof(float));
            k.decode_row[t](o.w, got, o.n_k);
            assert_memory_equal(got, o.w_exact, o.n_k * sizeof(float));
            free(got);
            free_operands(&o);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_nan),
        cmocka_unit_test(test_decode_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
