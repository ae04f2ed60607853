/* Tests of attention over KV pages: every kernel set against a plain softmax over all tokens in double, with random
 * masks, garbage where nobody looks, and the same bits for a row whatever company it is in.
 * SPDX-License-Identifier: MIT */
#include "kernel_support.h"

#include <float.h>

typedef struct shape {
    uint32_t head_dim, v_dim, page_tokens, n_q, n_pages;
    qn_type type;
    float softcap, q_scale;
} shape;

/* A few pages, query rows and what each row sees of each page. */
typedef struct scene {
    shape s;
    row q;
    size_t q_stride;
    row *k, *v;              /* of each page, as they are after rounding to the page's type */
    void **k_page, **v_page; /* the same, stored */
    uint32_t *lo, *hi;       /* [page][row] */
} scene;

typedef struct result {
    row m, l, acc;
} result;

static void *store(const row *x, qn_type type)
{
    size_t bytes = x->n * (type == QN_TYPE_F32 ? 4 : 2);
    void *page = malloc(bytes);
    assert_non_null(page);
    for (size_t i = 0; i < x->n; i++) {
        if (type == QN_TYPE_F16) {
            ((uint16_t *)page)[i] = qn_f32_to_f16(x->x[i]);
            x->x[i] = qn_f16_to_f32(((uint16_t *)page)[i]);
        } else if (type == QN_TYPE_BF16) {
            ((uint16_t *)page)[i] = qn_f32_to_bf16(x->x[i]);
            x->x[i] = qn_bf16_to_f32(((uint16_t *)page)[i]);
        } else {
            ((float *)page)[i] = x->x[i];
        }
    }
    return page;
}

static void *need(size_t bytes)
{
    void *p = malloc(bytes);
    assert_non_null(p);
    return p;
}

/* Tokens outside a page's [first, end) hold NaN and infinities; rows look inside it only. About one row in eight sees
 * nothing of a page. */
static scene scene_new(shape s, qn_random *rnd)
{
    scene c = {.s = s, .q_stride = s.head_dim + 5};
    c.q = row_normal((s.n_q - 1) * c.q_stride + s.head_dim, 1, s.q_scale / sqrtf((float)s.head_dim), rnd);
    c.k = need(s.n_pages * sizeof(row));
    c.v = need(s.n_pages * sizeof(row));
    c.k_page = need(s.n_pages * sizeof(void *));
    c.v_page = need(s.n_pages * sizeof(void *));
    c.lo = need((size_t)s.n_pages * s.n_q * sizeof(uint32_t));
    c.hi = need((size_t)s.n_pages * s.n_q * sizeof(uint32_t));
    for (uint32_t p = 0; p < s.n_pages; p++) {
        uint32_t first = p == 0 ? (uint32_t)qn_random_below(rnd, s.page_tokens) : 0;
        uint32_t end = first + 1 + (uint32_t)qn_random_below(rnd, s.page_tokens - first);
        c.k[p] = row_normal((size_t)s.head_dim * s.page_tokens, 0, 1.0F, rnd);
        c.v[p] = row_normal((size_t)s.page_tokens * s.v_dim, 0, 1.0F, rnd);
        for (uint32_t t = 0; t < s.page_tokens; t++) {
            float garbage = t % 3 == 0 ? NAN : t % 3 == 1 ? INFINITY : -INFINITY;
            for (uint32_t d = 0; d < s.head_dim && (t < first || t >= end); d++) {
                c.k[p].x[(size_t)d * s.page_tokens + t] = garbage;
            }
            for (uint32_t j = 0; j < s.v_dim && (t < first || t >= end); j++) {
                c.v[p].x[(size_t)t * s.v_dim + j] = garbage;
            }
        }
        c.k_page[p] = store(&c.k[p], s.type);
        c.v_page[p] = store(&c.v[p], s.type);
        uint64_t kind = qn_random_below(rnd, 3);
        for (uint32_t i = 0; i < s.n_q; i++) {
            uint32_t lo = first;
            uint32_t hi = end;
            if (kind == 1) { /* causal: later rows see more */
                hi = first + 1 + (uint32_t)((uint64_t)i * (end - first) / s.n_q);
            } else if (kind == 2) {
                lo = first + (uint32_t)qn_random_below(rnd, end - first);
                hi = lo + 1 + (uint32_t)qn_random_below(rnd, end - lo);
            }
            if (qn_random_below(rnd, 8) == 0) {
                hi = lo;
            }
            c.lo[p * s.n_q + i] = lo;
            c.hi[p * s.n_q + i] = hi;
        }
    }
    return c;
}

static void scene_free(scene *c)
{
    for (uint32_t p = 0; p < c->s.n_pages; p++) {
        row_free(&c->k[p]);
        row_free(&c->v[p]);
        free(c->k_page[p]);
        free(c->v_page[p]);
    }
    free(c->k);
    free(c->v);
    free(c->k_page);
    free(c->v_page);
    free(c->lo);
    free(c->hi);
    row_free(&c->q);
}

static result result_new(const scene *c, uint32_t n_q)
{
    result r = {row_new(n_q, 1), row_new(n_q, 2), row_new((size_t)n_q * c->s.v_dim, 3)};
    for (uint32_t i = 0; i < n_q; i++) {
        r.m.x[i] = -INFINITY;
        r.l.x[i] = 0.0F;
    }
    memset(r.acc.x, 0, r.acc.n * sizeof(float));
    return r;
}

static void result_free(result *r)
{
    row_free(&r->m);
    row_free(&r->l);
    row_free(&r->acc);
}

/* Folds page p into rows [first, first + n). */
static void run_page(const qn_kernels *k, const scene *c, uint32_t p, uint32_t first, uint32_t n, result *r)
{
    void *scratch = NULL;
    size_t floats = qn_attn_scratch_floats(n, c->s.head_dim, c->s.v_dim, c->s.page_tokens);
    assert_int_equal(posix_memalign(&scratch, 64, floats * sizeof(float)), 0);
    memset(scratch, 0xFF, floats * sizeof(float));
    qn_attn_page a = {
        .q = c->q.x + first * c->q_stride,
        .q_stride = c->q_stride,
        .k = c->k_page[p],
        .v = c->v_page[p],
        .type = c->s.type,
        .n_q = n,
        .head_dim = c->s.head_dim,
        .v_dim = c->s.v_dim,
        .page_tokens = c->s.page_tokens,
        .lo = c->lo + p * c->s.n_q + first,
        .hi = c->hi + p * c->s.n_q + first,
        .softcap = c->s.softcap,
        .m = r->m.x,
        .l = r->l.x,
        .acc = r->acc.x,
        .scratch = scratch,
    };
    k->attn_page(&a);
    free(scratch);
}

static result run_rows(const qn_kernels *k, const scene *c, uint32_t first, uint32_t n)
{
    result r = result_new(c, n);
    for (uint32_t p = 0; p < c->s.n_pages; p++) {
        run_page(k, c, p, first, n, &r);
    }
    return r;
}

/* score, and the sum of its terms' magnitudes, which bounds its rounding. */
static double score_of(const scene *c, uint32_t i, uint32_t p, uint32_t t, double *magnitude)
{
    double score = 0.0;
    *magnitude = 0.0;
    for (uint32_t d = 0; d < c->s.head_dim; d++) {
        double term = (double)c->q.x[i * c->q_stride + d] * c->k[p].x[(size_t)d * c->s.page_tokens + t];
        score += term;
        *magnitude += fabs(term);
    }
    return c->s.softcap > 0.0F ? c->s.softcap * tanh(score / c->s.softcap) : score;
}

static void check_row(const qn_kernels *k, const scene *c, uint32_t i, const result *r)
{
    double max = -INFINITY;
    double magnitude = 0.0;
    for (uint32_t p = 0; p < c->s.n_pages; p++) {
        for (uint32_t t = c->lo[p * c->s.n_q + i]; t < c->hi[p * c->s.n_q + i]; t++) {
            double one = 0.0;
            max = fmax(max, score_of(c, i, p, t, &one));
            magnitude = fmax(magnitude, one);
        }
    }
    if (max == -INFINITY) {
        assert_true(r->m.x[i] == -INFINITY && r->l.x[i] == 0.0F);
        return;
    }
    double tolerance = 2e-6 + 3e-7 * magnitude;
    double *out = calloc(2 * (size_t)c->s.v_dim, sizeof(double));
    assert_non_null(out);
    double sum = 0.0;
    for (uint32_t p = 0; p < c->s.n_pages; p++) {
        for (uint32_t t = c->lo[p * c->s.n_q + i]; t < c->hi[p * c->s.n_q + i]; t++) {
            double unused;
            double weight = exp(score_of(c, i, p, t, &unused) - max);
            sum += weight;
            for (uint32_t j = 0; j < c->s.v_dim; j++) {
                double term = weight * c->v[p].x[(size_t)t * c->s.v_dim + j];
                out[2 * j] += term;
                out[2 * j + 1] += fabs(term);
            }
        }
    }
    assert_close(r->m.x[i], max, 1e-6, tolerance, "attn_page maximum", k->isa, i);
    assert_close(r->l.x[i], sum, tolerance, 0.0, "attn_page sum", k->isa, i);
    for (uint32_t j = 0; j < c->s.v_dim; j++) {
        assert_close(r->acc.x[(size_t)i * c->s.v_dim + j], out[2 * j], 0.0, tolerance * out[2 * j + 1],
                     "attn_page values", k->isa, (size_t)i * c->s.v_dim + j);
    }
    free(out);
}

static void check_same_bits(const scene *c, const result *all, uint32_t i, const result *part, uint32_t i_part)
{
    size_t dim = c->s.v_dim;
    assert_memory_equal(all->m.x + i, part->m.x + i_part, sizeof(float));
    assert_memory_equal(all->l.x + i, part->l.x + i_part, sizeof(float));
    assert_memory_equal(all->acc.x + i * dim, part->acc.x + i_part * dim, dim * sizeof(float));
}

static void check_scene(const qn_kernels *k, shape s, qn_random *rnd)
{
    scene c = scene_new(s, rnd);
    result all = run_rows(k, &c, 0, s.n_q);
    for (uint32_t i = 0; i < s.n_q; i++) {
        check_row(k, &c, i, &all);
        result alone = run_rows(k, &c, i, 1);
        check_same_bits(&c, &all, i, &alone, 0);
        result_free(&alone);
    }
    if (s.n_q > 2) {
        result part = run_rows(k, &c, 1, s.n_q - 2); /* other neighbours, other blocks */
        for (uint32_t i = 1; i < s.n_q - 1; i++) {
            check_same_bits(&c, &all, i, &part, i - 1);
        }
        result_free(&part);
    }
    result_free(&all);
    scene_free(&c);
}

static void test_matches_plain_softmax(void **state)
{
    (void)state;
    static const uint32_t dims[] = {8, 16, 32, 64, 80, 96, 128, 256};
    static const uint32_t rows[] = {1, 2, 3, 4, 5, 6, 7, 8, 11, 13, 33, 50};
    static const uint32_t tokens[] = {8, 16, 24, 32, 72, 256};
    static const qn_type types[] = {QN_TYPE_F16, QN_TYPE_F32, QN_TYPE_BF16};
    qn_random rnd;
    qn_random_seed(&rnd, 31);
    qn_kernels k;
    for (size_t i_set = 0; next_set(&i_set, &k);) {
        for (uint32_t i = 0; i < 96; i++) {
            shape s = {
                .head_dim = dims[i % 8],
                .v_dim = i % 3 == 0 ? dims[i % 8] : dims[(i + 5) % 8],
                .page_tokens = tokens[i / 2 % 6],
                .n_q = rows[i % 12],
                .n_pages = 1 + i % 5,
                .type = types[i / 8 % 3],
                .softcap = i % 5 == 0   ? 2.0F
                           : i % 7 == 0 ? 50.0F
                                        : 0.0F,
                .q_scale = i % 4 == 0 ? 10.0F : 1.0F,
            };
            check_scene(&k, s, &rnd);
        }
    }
}

/* Sizes that no model has: the kernels promise any head_dim and v_dim. */
static void test_odd_dimensions(void **state)
{
    (void)state;
    qn_random rnd;
    qn_random_seed(&rnd, 37);
    qn_kernels k;
    for (size_t i_set = 0; next_set(&i_set, &k);) {
        for (uint32_t i = 0; i < 40; i++) {
            shape s = {
                .head_dim = 1 + i,
                .v_dim = 1 + (uint32_t)qn_random_below(&rnd, 40),
                .page_tokens = 8 * (1 + i % 4),
                .n_q = 1 + i % 37,
                .n_pages = 3,
                .type = i % 3 == 0 ? QN_TYPE_F16 : i % 3 == 1 ? QN_TYPE_F32 : QN_TYPE_BF16,
                .q_scale = 1.0F,
            };
            check_scene(&k, s, &rnd);
        }
    }
}

/* A row that sees nothing keeps its state bit for bit, whatever the state is. */
static void test_empty_rows_keep_their_state(void **state)
{
    (void)state;
    shape s = {
        .head_dim = 32, .v_dim = 20, .page_tokens = 32, .n_q = 35, .n_pages = 1, .type = QN_TYPE_F16, .q_scale = 1.0F};
    qn_random rnd;
    qn_random_seed(&rnd, 41);
    qn_kernels k;
    for (size_t i_set = 0; next_set(&i_set, &k);) {
        scene c = scene_new(s, &rnd);
        for (int all = 0; all < 2; all++) {
            result r = result_new(&c, s.n_q);
            for (uint32_t i = 0; i < s.n_q; i++) {
                if (i % 3 != 1 || all == 1) {
                    c.hi[i] = c.lo[i];
                    memset(r.m.x + i, 0xA5 + (int)i, sizeof(float));
                    memset(r.l.x + i, 0x7F, sizeof(float));
                    memset(r.acc.x + (size_t)i * s.v_dim, 0xFF, s.v_dim * sizeof(float));
                }
            }
            row before[3] = {row_copy(&r.m, 0), row_copy(&r.l, 0), row_copy(&r.acc, 0)};
            run_page(&k, &c, 0, 0, s.n_q, &r);
            for (uint32_t i = 0; i < s.n_q; i++) {
                if (c.lo[i] == c.hi[i]) {
                    assert_memory_equal(r.m.x + i, before[0].x + i, sizeof(float));
                    assert_memory_equal(r.l.x + i, before[1].x + i, sizeof(float));
                    assert_memory_equal(r.acc.x + (size_t)i * s.v_dim, before[2].x + (size_t)i * s.v_dim,
                                        s.v_dim * sizeof(float));
                } else {
                    assert_true(r.l.x[i] > 0.0F);
                }
            }
            row_free(&before[0]);
            row_free(&before[1]);
            row_free(&before[2]);
            result_free(&r);
        }
        scene_free(&c);
    }
}

/* What one row sees never reaches another that does not, even where both are computed side by side. */
static void test_an_infinite_token_stays_with_those_who_see_it(void **state)
{
    (void)state;
    enum { TOKENS = 16, BAD = 9, DIM = 16, N_Q = 8 };
    shape s = {.head_dim = DIM,
               .v_dim = DIM,
               .page_tokens = TOKENS,
               .n_q = N_Q,
               .n_pages = 1,
               .type = QN_TYPE_F32,
               .q_scale = 1.0F};
    qn_random rnd;
    qn_random_seed(&rnd, 43);
    qn_kernels k;
    for (size_t i_set = 0; next_set(&i_set, &k);) {
        scene c = scene_new(s, &rnd);
        for (size_t i = 0; i < (size_t)TOKENS * DIM; i++) {
            ((float *)c.k_page[0])[i] = qn_random_normal(&rnd);
            ((float *)c.v_page[0])[i] = qn_random_normal(&rnd);
        }
        for (uint32_t j = 0; j < DIM; j++) {
            ((float *)c.v_page[0])[BAD * DIM + j] = NAN;
        }
        for (uint32_t i = 0; i < N_Q; i++) { /* even rows end before it, of the odd ones some begin after it */
            c.lo[i] = i % 4 == 3 ? BAD + 1 : 0;
            c.hi[i] = i % 2 == 0 ? BAD : TOKENS;
        }
        result r = run_rows(&k, &c, 0, N_Q);
        for (uint32_t i = 0; i < N_Q; i++) {
            bool sees = i % 4 == 1;
            for (uint32_t j = 0; j < DIM; j++) {
                assert_int_equal(isnan(r.acc.x[i * DIM + j]) != 0, sees);
            }
        }
        result_free(&r);
        scene_free(&c);
    }
}

/* Scores of -inf weigh nothing, also when nothing else has been seen yet; NaN is not hidden. */
static void test_infinite_and_nan_scores(void **state)
{
    (void)state;
    enum { TOKENS = 8, DIM = 8 };
    shape s = {.head_dim = DIM,
               .v_dim = DIM,
               .page_tokens = TOKENS,
               .n_q = 2,
               .n_pages = 2,
               .type = QN_TYPE_F16,
               .q_scale = 1.0F};
    qn_random rnd;
    qn_random_seed(&rnd, 47);
    qn_kernels k;
    for (size_t i_set = 0; next_set(&i_set, &k);) {
        scene c = scene_new(s, &rnd);
        for (size_t i = 0; i < 2 * c.q_stride && i < c.q.n; i++) {
            c.q.x[i] = 0.5F;
        }
        for (uint32_t p = 0; p < 2; p++) {
            for (size_t i = 0; i < (size_t)TOKENS * DIM; i++) {
                ((uint16_t *)c.k_page[p])[i] = p == 0 ? 0xFC00 : 0x3C00; /* -inf, then 1 */
                ((uint16_t *)c.v_page[p])[i] = p == 0 ? 0x4000 : 0x4200; /* 2, then 3 */
            }
            for (uint32_t i = 0; i < 2; i++) {
                c.lo[p * 2 + i] = 0;
                c.hi[p * 2 + i] = TOKENS;
            }
        }
        result r = result_new(&c, 2);
        run_page(&k, &c, 0, 0, 2, &r);
        assert_true(r.m.x[1] == -INFINITY && r.l.x[1] == 0.0F && r.acc.x[DIM] == 0.0F);
        run_page(&k, &c, 1, 0, 2, &r);
        assert_true(r.m.x[1] == 4.0F && r.l.x[1] == 8.0F && r.acc.x[DIM] == 24.0F);
        run_page(&k, &c, 0, 0, 2, &r);
        assert_true(r.m.x[1] == 4.0F && r.l.x[1] == 8.0F && r.acc.x[DIM] == 24.0F);
        ((uint16_t *)c.k_page[1])[3] = 0x7E00;
        run_page(&k, &c, 1, 0, 2, &r);
        assert_true(isnan(r.l.x[1]) && isnan(r.acc.x[DIM]));
        result_free(&r);
        scene_free(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matches_plain_softmax),
        cmocka_unit_test(test_odd_dimensions),
        cmocka_unit_test(test_empty_rows_keep_their_state),
        cmocka_unit_test(test_an_infinite_token_stays_with_those_who_see_it),
        cmocka_unit_test(test_infinite_and_nan_scores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
