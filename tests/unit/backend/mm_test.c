/* Matrix products, A8 and row decoding: every type of every instruction set's table against sums in double of the
 * decoded operands. A kernel is tested by being in a table.
 * SPDX-License-Identifier: MIT */
#include "test.h"

#include <float.h>
#include <math.h>

#include "backend/cpu/mm_int.h"
#include "base/cpu.h"
#include "base/random.h"

enum { MAX_COLS = 23, MAX_ROWS = 19, LDY = MAX_ROWS + 3 };

static const float canary = -12345.0f;

/* ---- the tables under test ---- */

typedef struct isa {
    const char *name;
    void (*fill)(qn_kernels *k);
    bool (*usable)(void);
    qn_kernels k;
} isa;

static bool always(void) { return true; }

#if defined(__x86_64__)
static bool has_avx2(void)
{
    qn_cpu cpu;
    qn_cpu_detect(&cpu);
    return cpu.avx2;
}
#endif

static isa isas[] = {
    {"ref", qn_fill_mm_ref, always, {0}},
#if defined(__x86_64__)
    {"avx2", qn_fill_mm_avx2, has_avx2, {0}},
#endif
};

enum { N_ISAS = sizeof(isas) / sizeof(isas[0]) };

static int fill_tables(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_ISAS; i++) {
        qn_fill_mm_ref(&isas[i].k);
        if (isas[i].usable()) {
            isas[i].fill(&isas[i].k);
        } else {
            fprintf(stderr, "SKIP %s: this processor lacks it\n", isas[i].name);
        }
    }
    return 0;
}

/* ---- operands: buffers of the exact size, so that a sanitizer sees a read outside ---- */

static void *exact(size_t n_bytes)
{
    void *p = NULL;
    assert_int_equal(posix_memalign(&p, 64, n_bytes), 0);
    return p;
}

/* Where the half-precision scales of a block lie, for the types whose kernels read them themselves. */
static const struct scales {
    qn_type type;
    int n;
    size_t at[2];
} scales[] = {
    {QN_TYPE_F16, 1, {0}},     {QN_TYPE_Q4_0, 1, {0}},    {QN_TYPE_Q4_1, 2, {0, 2}},
    {QN_TYPE_Q5_0, 1, {0}},    {QN_TYPE_Q5_1, 2, {0, 2}}, {QN_TYPE_Q8_0, 1, {0}},
    {QN_TYPE_Q4_K, 2, {0, 2}}, {QN_TYPE_Q5_K, 2, {0, 2}}, {QN_TYPE_Q6_K, 1, {208}},
};

static const struct scales *find_scales(qn_type type)
{
    for (size_t i = 0; i < sizeof(scales) / sizeof(scales[0]); i++) {
        if (scales[i].type == type) {
            return &scales[i];
        }
    }
    return NULL;
}

static bool decodes_sanely(const qn_type_info *info, const uint8_t *block)
{
    float w[QN_MM_CHUNK];
    float max = 0;
    info->decode(block, w, info->block_len);
    for (size_t i = 0; i < info->block_len; i++) {
        if (!isfinite(w[i])) {
            return false;
        }
        max = fmaxf(max, fabsf(w[i]));
    }
    return max > 1e-3f && max < 1e3f;
}

static void random_bytes(qn_random *rng, uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        p[i] = (uint8_t)qn_random_below(rng, 256);
    }
}

/* One block whose values are finite. ugly: scales of zero, subnormal or large, quants all at one end. */
static void random_block(qn_random *rng, qn_type type, bool ugly, uint8_t *p)
{
    const qn_type_info *info = qn_type_find((uint32_t)type);
    const struct scales *sc = find_scales(type);
    float f = qn_random_normal(rng);
    double f64 = (double)f;
    switch (type) {
    case QN_TYPE_F32:
        f = ugly && qn_random_below(rng, 4) == 0 ? FLT_MIN / 8 : f;
        memcpy(p, &f, sizeof(f));
        return;
    case QN_TYPE_F64:
        memcpy(p, &f64, sizeof(f64));
        return;
    case QN_TYPE_I8:
    case QN_TYPE_I16:
    case QN_TYPE_I32:
    case QN_TYPE_I64:
        memset(p, f < 0 ? 0xFF : 0, info->block_bytes);
        p[0] = (uint8_t)(int)f;
        return;
    default:
        break;
    }
    if (sc == NULL) {
        do {
            random_bytes(rng, p, info->block_bytes);
        } while (!decodes_sanely(info, p));
        return;
    }
    random_bytes(rng, p, info->block_bytes);
    uint64_t kind = ugly ? qn_random_below(rng, 4) : 0;
    if (kind == 1) {
        memset(p, 0xFF, info->block_bytes);
    } else if (kind == 2) { /* Q8_0: -128; nibbles: 0 and 8 */
        memset(p, 0x80, info->block_bytes);
    }
    static const uint16_t ugly_scales[] = {0, 0x8000, 1, 0x03ff, 0x0400, 0xbc00, 0x5640}; /* 0x5640: 100 */
    for (int i = 0; i < sc->n; i++) {
        uint16_t h = qn_f32_to_f16(qn_random_normal(rng));
        if (kind != 0) {
            h = ugly_scales[qn_random_below(rng, sizeof(ugly_scales) / sizeof(ugly_scales[0]))];
        }
        memcpy(p + sc->at[i], &h, sizeof(h));
    }
}

typedef struct operands {
    qn_type type;
    size_t n_rows, n_cols, n_k, row_bytes, x_bytes;
    uint8_t *w_base; /* starts at an odd address: files promise no alignment of rows */
    const uint8_t *w;
    float *w_exact; /* n_rows x n_k */
    float *x_floats;
    void *x;          /* what the kernel reads */
    double *x_exact;  /* n_cols x n_k */
    float *reach; /* per row: the largest term that a weight is made of, see tolerance() */
} operands;

/* n floats. ugly: zeros, subnormals, an outlier. */
static void random_floats(qn_random *rng, float *x, size_t n, bool ugly)
{
    for (size_t i = 0; i < n; i++) {
        x[i] = qn_random_normal(rng);
    }
    for (size_t i = 0; ugly && i < n; i += 32) {
        size_t n_here = n - i < 32 ? n - i : 32;
        uint64_t kind = qn_random_below(rng, 4);
        for (size_t j = 0; j < n_here; j++) {
            x[i + j] *= kind == 0 ? 0.0f : kind == 1 ? 1e-40f : 1.0f;
        }
        x[i] *= kind == 2 ? 1000.0f : 1.0f;
    }
}

static void make_columns(qn_random *rng, const qn_kernels *k, operands *o, bool ugly)
{
    qn_act act = k->mm[o->type].act;
    o->x_bytes = act == QN_ACT_A8 ? qn_a8_bytes(o->n_k) : (o->n_k * sizeof(float) + 63) / 64 * 64;
    size_t last_bytes = act == QN_ACT_A8 ? o->x_bytes : o->n_k * sizeof(float);
    o->x = exact((o->n_cols - 1) * o->x_bytes + last_bytes);
    o->x_exact = exact(o->n_cols * o->n_k * sizeof(double));
    o->x_floats = exact(o->n_k * sizeof(float));
    for (size_t c = 0; c < o->n_cols; c++) {
        char *xc = (char *)o->x + c * o->x_bytes;
        random_floats(rng, o->x_floats, o->n_k, ugly);
        if (act == QN_ACT_A8) {
            k->quantize_a8(o->x_floats, o->n_k, xc);
        } else {
            memcpy(xc, o->x_floats, o->n_k * sizeof(float));
        }
        for (size_t i = 0; i < o->n_k; i++) {
            o->x_exact[c * o->n_k + i] = act == QN_ACT_A8
                                             ? (double)qn_a8_d(xc, o->n_k)[i / 32] * (double)qn_a8_q(xc)[i]
                                             : (double)o->x_floats[i];
        }
    }
}

static void make_operands(qn_random *rng, const qn_kernels *k, qn_type type, size_t n_rows, size_t n_k, bool ugly,
                          operands *o)
{
    const qn_type_info *info = qn_type_find((uint32_t)type);
    *o = (operands){.type = type, .n_rows = n_rows, .n_cols = MAX_COLS, .n_k = n_k};
    size_t used = n_k / info->block_len * info->block_bytes;
    o->row_bytes = used + (ugly ? 2 : 0);
    o->w_base = exact(1 + (n_rows - 1) * o->row_bytes + used);
    o->w_exact = exact(n_rows * n_k * sizeof(float));
    o->reach = exact(n_rows * sizeof(float));
    uint8_t *w = o->w_base + 1;
    for (size_t r = 0; r < n_rows; r++) {
        for (size_t b = 0; b < n_k / info->block_len; b++) {
            random_block(rng, type, ugly, w + r * o->row_bytes + b * info->block_bytes);
        }
        info->decode(w + r * o->row_bytes, o->w_exact + r * n_k, n_k);
        o->reach[r] = 0;
        for (size_t i = 0; i < n_k; i++) {
            o->reach[r] = fmaxf(o->reach[r], fabsf(o->w_exact[r * n_k + i]));
        }
        const struct scales *sc = info->block_len > 1 ? find_scales(type) : NULL;
        for (size_t b = 0; sc != NULL && b < n_k / info->block_len; b++) {
            for (int i = 0; i < sc->n; i++) {
                uint16_t h;
                memcpy(&h, w + r * o->row_bytes + b * info->block_bytes + sc->at[i], sizeof(h));
                o->reach[r] = fmaxf(o->reach[r], 32.0f * fabsf(qn_f16_to_f32(h)));
            }
        }
    }
    o->w = w;
    make_columns(rng, k, o, ugly);
}

static void free_operands(operands *o)
{
    free(o->w_base);
    free(o->w_exact);
    free(o->reach);
    free(o->x_floats);
    free(o->x);
    free(o->x_exact);
}

/* ---- the judge ---- */

/* Rounding alone may separate kernel and judge. A kernel rounds each term of its sums (a block's scaled dot product, a
 * minimum times the block's sum) a few times, and the running sum once for each term that follows in its lane; signs
 * are random, so the errors add up like a random walk, far below the bound n * eps * sum of magnitudes. 16 eps times the
 * sum of |x| times the largest term of a weight (a weight d * q - 8 * d is made of terms larger than itself) holds with
 * a margin of several, while one wrong quant or scale in a row of 4096 weighs a hundred times as much. */
static double tolerance(const operands *o, size_t r, size_t c)
{
    double sum = 0;
    for (size_t i = 0; i < o->n_k; i++) {
        sum += fabs(o->x_exact[c * o->n_k + i]);
    }
    return 16.0 * 0x1p-24 * sum * (double)o->reach[r] + 1e-40;
}

/* For float activations there are no hidden terms: 1e-6 (16 eps) of the sum of the products' magnitudes. The least exact
 * kernels add runs of 64 products in one lane and then the runs' sums, 64 of them at 4096; 12 eps are seen when an
 * outlier makes all partial sums large. */
static double tolerance_f32(const operands *o, size_t r, size_t c)
{
    double sum = 0;
    for (size_t i = 0; i < o->n_k; i++) {
        sum += fabs((double)o->w_exact[r * o->n_k + i] * o->x_exact[c * o->n_k + i]);
    }
    return 16.0 * 0x1p-24 * sum + 1e-40;
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
} results;

static void judge_all(const operands *o, qn_act act, results *out)
{
    for (size_t c = 0; c < o->n_cols; c++) {
        for (size_t r = 0; r < o->n_rows; r++) {
            out->want[c][r] = judge(o, r, c);
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

static void run_type(const isa *set, qn_type type, uint64_t seed)
{
    static const size_t rows[] = {1, MAX_ROWS, 16, 7};
    const qn_type_info *info = qn_type_find((uint32_t)type);
    const qn_mm *mm = &set->k.mm[type];
    size_t unit = info->block_len < 32 ? 1 : info->block_len;
    size_t lengths[] = {unit, unit == 1 ? 37 : 3 * unit, 256, 576, 768, 1536, 4096};
    static results want;
    qn_random rng;
    qn_random_seed(&rng, seed);
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        for (int ugly = 0; ugly < 2; ugly++) {
            operands o;
            size_t n_k = lengths[i] / unit * unit;
            make_operands(&rng, &set->k, type, rows[(i + (size_t)ugly) % 4], n_k, ugly != 0, &o);
            judge_all(&o, mm->act, &want);
            run_rows(mm, &o, &want);
            if (mm->panel_rows > 0) {
                run_panels(mm, &o, &want);
            }
            free_operands(&o);
        }
    }
}

static void test_products(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_ISAS; i++) {
        for (uint32_t t = 0; t < QN_TYPE_COUNT; t++) {
            const qn_type_info *info = qn_type_find(t);
            if (info == NULL || info->decode == NULL) {
                assert_null(isas[i].k.mm[t].one);
                assert_null(isas[i].k.decode_row[t]);
                continue;
            }
            assert_non_null(isas[i].k.mm[t].one);
            assert_non_null(isas[i].k.mm[t].few);
            assert_true(isas[i].k.mm[t].few_max >= 1);
            run_type(&isas[i], (qn_type)t, 1000 * i + t);
        }
    }
}

/* A NaN stays in its row or column: it neither spreads nor gets lost. */
static void test_nan(void **state)
{
    (void)state;
    static const qn_type types[] = {QN_TYPE_F32, QN_TYPE_F16, QN_TYPE_Q4_0, QN_TYPE_Q4_1, QN_TYPE_Q5_0,
                                    QN_TYPE_Q8_0, QN_TYPE_Q4_K, QN_TYPE_Q6_K};
    enum { N_K = 512, N_ROWS = 3, N_COLS = 2 };
    for (size_t i = 0; i < N_ISAS * sizeof(types) / sizeof(types[0]); i++) {
        const qn_kernels *k = &isas[i % N_ISAS].k;
        qn_type type = types[i / N_ISAS];
        const qn_type_info *info = qn_type_find((uint32_t)type);
        const qn_mm *mm = &k->mm[type];
        if (info->decode == NULL) {
            continue;
        }
        operands o;
        qn_random rng;
        qn_random_seed(&rng, i);
        make_operands(&rng, k, type, N_ROWS, N_K, false, &o);
        uint16_t bad = 0x7e00;
        float bad_float = NAN, x[N_K];
        uint8_t *row = o.w_base + 1 + o.row_bytes; /* row 1 */
        if (type == QN_TYPE_F32) {
            memcpy(row + 4 * 300, &bad_float, sizeof(bad_float));
        } else {
            memcpy(row + (size_t)(N_K / info->block_len - 1) * info->block_bytes + find_scales(type)->at[0], &bad,
                   sizeof(bad));
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
}

static void test_decode_row(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_ISAS; i++) {
        for (uint32_t t = 0; t < QN_TYPE_COUNT; t++) {
            const qn_type_info *info = qn_type_find(t);
            if (info == NULL || info->decode == NULL) {
                continue;
            }
            operands o;
            qn_random rng;
            qn_random_seed(&rng, t);
            make_operands(&rng, &isas[i].k, (qn_type)t, 1, 3 * QN_MM_CHUNK, true, &o);
            float *got = exact(o.n_k * sizeof(float));
            isas[i].k.decode_row[t](o.w, got, o.n_k);
            assert_memory_equal(got, o.w_exact, o.n_k * sizeof(float));
            free(got);
            free_operands(&o);
        }
    }
}

/* ---- A8 ---- */

/* The format as kernels.h states it, block by block. */
static void check_a8(const float *x, size_t n, const void *row)
{
    size_t np = qn_a8_padded(n);
    const int8_t *q = qn_a8_q(row);
    for (size_t b = 0; b < np / 32; b++) {
        float max = 0;
        int sum[2] = {0, 0};
        for (size_t i = 32 * b; i < 32 * b + 32; i++) {
            max = fmaxf(max, i < n ? fabsf(x[i]) : 0.0f);
            sum[i % 32 / 16] += q[i];
        }
        bool is_zero = !isfinite(127.0f / max);
        float d = is_zero ? 0.0f : max / 127.0f;
        assert_true(qn_a8_d(row, n)[b] == d);
        assert_true(qn_a8_s(row, n)[b] == d * (float)(sum[0] + sum[1]));
        assert_int_equal(qn_a8_h(row, n)[2 * b], sum[0]);
        assert_int_equal(qn_a8_h(row, n)[2 * b + 1], sum[1]);
        for (size_t i = 32 * b; i < 32 * b + 32; i++) {
            assert_int_equal(q[i], i < n && !is_zero ? (int)rintf(x[i] * (127.0f / max)) : 0);
            assert_in_range(q[i] + 127, 0, 254);
        }
    }
    for (size_t i = np / 32 * 44; i < qn_a8_bytes(n); i++) {
        assert_int_equal(((const uint8_t *)row)[i], 0);
    }
}

static void test_quantize_a8(void **state)
{
    (void)state;
    qn_random rng;
    qn_random_seed(&rng, 8);
    for (size_t n = 1; n <= 600; n += n < 70 ? 1 : 53) {
        float *x = exact(n * sizeof(float));
        uint8_t *want = exact(qn_a8_bytes(n)), *got = exact(qn_a8_bytes(n));
        for (int kind = 0; kind < 5; kind++) {
            random_floats(&rng, x, n, kind > 0);
            for (size_t i = 0; i < n; i++) {
                if (kind == 2) { /* ties: the maximum is 127, the others are halves */
                    x[i] = i % 32 == 0 ? -127.0f : (float)(int)qn_random_below(&rng, 254) - 126.5f;
                } else if (kind == 3) { /* around the least scale whose inverse is finite */
                    x[i] *= 0x1p-120f;
                } else if (kind == 4) {
                    x[i] = qn_random_below(&rng, 2) == 0 ? FLT_MAX : -x[i];
                }
            }
            memset(want, 0xA5, qn_a8_bytes(n));
            isas[0].k.quantize_a8(x, n, want);
            check_a8(x, n, want);
            for (size_t i = 1; i < N_ISAS; i++) {
                memset(got, 0x5A, qn_a8_bytes(n));
                isas[i].k.quantize_a8(x, n, got);
                assert_memory_equal(got, want, qn_a8_bytes(n));
            }
        }
        free(x);
        free(want);
        free(got);
    }
}

/* Blocks with a NaN or an infinity: d and s are NaN, quants zero; neighbours are as ever. */
static void test_quantize_a8_not_finite(void **state)
{
    (void)state;
    enum { N = 96 };
    static const float bad[] = {NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < N_ISAS * sizeof(bad) / sizeof(bad[0]); i++) {
        float x[N];
        uint8_t *row = exact(qn_a8_bytes(N));
        for (size_t j = 0; j < N; j++) {
            x[j] = (float)j;
        }
        x[32 + i * 3] = bad[i / N_ISAS];
        isas[i % N_ISAS].k.quantize_a8(x, N, row);
        assert_true(isnan(qn_a8_d(row, N)[1]) && isnan(qn_a8_s(row, N)[1]));
        for (size_t j = 32; j < 64; j++) {
            assert_int_equal(qn_a8_q(row)[j], 0);
        }
        assert_true(qn_a8_d(row, N)[0] == 31.0f / 127.0f && qn_a8_d(row, N)[2] == 95.0f / 127.0f);
        free(row);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products),    cmocka_unit_test(test_nan),
        cmocka_unit_test(test_decode_row),  cmocka_unit_test(test_quantize_a8),
        cmocka_unit_test(test_quantize_a8_not_finite),
    };
    return cmocka_run_group_tests(tests, fill_tables, NULL);
}
