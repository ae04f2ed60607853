/* Tests of attention over pages of codes: every kernel set against a plain softmax in double over what the codes stand
 * for, within the error that 15-bit queries and weights allow; the same bits for a row whatever company it is in; and of
 * what comes before: the rotation and the encoder. SPDX-License-Identifier: MIT */
#include "kernel_support.h"

typedef struct shape {
    uint32_t bits, head_dim, v_dim, page_tokens, n_q, n_pages;
    float softcap, q_scale;
    bool has_offset;
} shape;

/* A few pages, query rows and what each row sees of each page. */
typedef struct scene {
    shape s;
    row q, offset;
    size_t q_stride;
    uint8_t **k_page, **v_page;
    uint32_t *lo, *hi; /* [page][row] */
} scene;

typedef struct result {
    row m, l, acc;
} result;

static void *need(size_t bytes)
{
    void *p = malloc(bytes);
    assert_non_null(p);
    return p;
}

/* Tokens outside a page's [first, end) are codes of NaN, or bytes that nobody wrote. */
static void fill_page(scene *c, uint32_t p, uint32_t first, uint32_t end, qn_random *rnd)
{
    const shape *s = &c->s;
    c->k_page[p] = need(qn_kv_k_bytes(s->bits, s->head_dim, s->page_tokens));
    c->v_page[p] = need(qn_kv_v_bytes(s->bits, s->v_dim, s->page_tokens));
    memset(c->k_page[p], 0xFF, qn_kv_k_bytes(s->bits, s->head_dim, s->page_tokens));
    memset(c->v_page[p], 0xFF, qn_kv_v_bytes(s->bits, s->v_dim, s->page_tokens));
    uint8_t codes[512];
    for (uint32_t t = 0; t < s->page_tokens; t++) {
        float size = powf(4.0F, qn_random_normal(rnd));
        row k = row_normal(s->head_dim, 0, size, rnd), v = row_normal(s->v_dim, 0, size, rnd);
        if (t < first || t >= end) {
            k.x[0] = NAN;
            v.x[0] = INFINITY;
        }
        if (t >= first && t < end + 2) { /* the rest was never written */
            qn_kv_scale scale = qn_kv_encode(k.x, s->head_dim, qn_kv_k_bits(s->bits), codes);
            qn_kv_put_k(codes, scale, s->bits, s->head_dim, s->page_tokens, t, c->k_page[p]);
            scale = qn_kv_encode(v.x, s->v_dim, s->bits, codes);
            qn_kv_put_v(codes, scale, s->bits, s->v_dim, s->page_tokens, t, c->v_page[p]);
        }
        row_free(&k);
        row_free(&v);
    }
}

static scene scene_new(shape s, qn_random *rnd)
{
    scene c = {.s = s, .q_stride = s.head_dim + 5};
    c.q = row_normal((s.n_q - 1) * c.q_stride + s.head_dim, 1, s.q_scale / sqrtf((float)s.head_dim), rnd);
    c.offset = row_normal(s.n_q, 0, 1.0F, rnd);
    c.k_page = need(s.n_pages * sizeof(void *));
    c.v_page = need(s.n_pages * sizeof(void *));
    c.lo = need((size_t)s.n_pages * s.n_q * sizeof(uint32_t));
    c.hi = need((size_t)s.n_pages * s.n_q * sizeof(uint32_t));
    for (uint32_t p = 0; p < s.n_pages; p++) {
        uint32_t first = p == 0 ? (uint32_t)qn_random_below(rnd, s.page_tokens) : 0;
        uint32_t end = first + 1 + (uint32_t)qn_random_below(rnd, s.page_tokens - first);
        fill_page(&c, p, first, end, rnd);
        uint64_t kind = qn_random_below(rnd, 3);
        for (uint32_t i = 0; i < s.n_q; i++) {
            uint32_t lo = first, hi = end;
            if (kind == 1) { /* causal: later rows see more */
                hi = first + 1 + (uint32_t)((uint64_t)i * (end - first) / s.n_q);
            } else if (kind == 2) { /* a window */
                lo = first + (uint32_t)qn_random_below(rnd, end - first);
                hi = lo + 1 + (uint32_t)qn_random_below(rnd, end - lo);
            }
            c.lo[p * s.n_q + i] = lo;
            c.hi[p * s.n_q + i] = qn_random_below(rnd, 8) == 0 ? lo : hi;
        }
    }
    return c;
}

static void scene_free(scene *c)
{
    for (uint32_t p = 0; p < c->s.n_pages; p++) {
        free(c->k_page[p]);
        free(c->v_page[p]);
    }
    free(c->k_page);
    free(c->v_page);
    free(c->lo);
    free(c->hi);
    row_free(&c->q);
    row_free(&c->offset);
}

static void result_free(result *r)
{
    row_free(&r->m);
    row_free(&r->l);
    row_free(&r->acc);
}

static void *aligned(size_t bytes)
{
    void *p = NULL;
    assert_int_equal(posix_memalign(&p, 64, bytes), 0);
    memset(p, 0xFF, bytes);
    return p;
}

/* Folds all pages into rows [first, first + n). */
static result run_rows(const qn_kernels *k, const scene *c, uint32_t first, uint32_t n)
{
    const shape *s = &c->s;
    result r = {row_new(n, 1), row_new(n, 2), row_new((size_t)n * s->v_dim, 3)};
    size_t q_bytes = qn_attn_q_bytes(s->head_dim);
    uint8_t *q_codes = aligned(n * q_bytes);
    float *scratch = aligned(sizeof(float) * qn_attn_scratch_floats(n, s->head_dim, s->v_dim, s->page_tokens));
    memset(r.acc.x, 0, r.acc.n * sizeof(float));
    for (uint32_t i = 0; i < n; i++) {
        r.m.x[i] = -INFINITY;
        r.l.x[i] = 0.0F;
        k->attn_prepare(c->q.x + (first + i) * c->q_stride, s->head_dim, q_codes + i * q_bytes);
    }
    for (uint32_t p = 0; p < s->n_pages; p++) {
        qn_attn_page a = {
            .q = c->q.x + first * c->q_stride,
            .q_stride = c->q_stride,
            .k = c->k_page[p],
            .v = c->v_page[p],
            .bits = s->bits,
            .q_codes = q_codes,
            .offset = s->has_offset ? c->offset.x + first : NULL,
            .n_q = n,
            .head_dim = s->head_dim,
            .v_dim = s->v_dim,
            .page_tokens = s->page_tokens,
            .lo = c->lo + p * s->n_q + first,
            .hi = c->hi + p * s->n_q + first,
            .softcap = s->softcap,
            .m = r.m.x,
            .l = r.l.x,
            .acc = r.acc.x,
            .scratch = scratch,
        };
        k->attn_page(&a);
    }
    free(q_codes);
    free(scratch);
    return r;
}

static double code_scale(const uint8_t *block, uint32_t bits, uint64_t at, uint32_t t)
{
    uint16_t stored = ((const uint16_t *)(const void *)(block + at))[t];
    return qn_f16_to_f32(bits == 8 ? stored : qn_kv_packed_half(stored));
}

/* score, and what it may be off by: q's largest element over 32512 for each code, and the roundings of sums. */
static double score_of(const scene *c, uint32_t i, uint32_t p, uint32_t t, double *error)
{
    const shape *s = &c->s;
    const float *q = c->q.x + i * c->q_stride;
    double score = s->has_offset ? c->offset.x[i] : 0.0, magnitude = fabs(score), largest = 0.0, codes = 0.0;
    double scale = code_scale(c->k_page[p], s->bits, qn_kv_k_code_bytes(s->bits, s->head_dim, s->page_tokens), t);
    for (uint32_t d = 0; d < s->head_dim; d++) {
        double k = qn_kv_get_k(c->k_page[p], s->bits, s->head_dim, s->page_tokens, t, d);
        score += q[d] * k;
        /* min and scale times code are added apart: their magnitudes count each */
        double top = scale * ((1u << qn_kv_k_bits(s->bits)) - 1);
        magnitude += fabs((double)q[d]) * (fabs(k) + 2.0 * top);
        largest = fmax(largest, fabs((double)q[d]));
        codes += top;
    }
    *error = codes * largest / 32512 + 3e-7 * magnitude;
    return s->softcap > 0.0F ? s->softcap * tanh(score / s->softcap) : score;
}

static void check_row(const qn_kernels *k, const scene *c, uint32_t i, const result *r)
{
    const shape *s = &c->s;
    double max = -INFINITY, error = 0.0, sum = 0.0;
    for (uint32_t p = 0; p < s->n_pages; p++) {
        for (uint32_t t = c->lo[p * s->n_q + i]; t < c->hi[p * s->n_q + i]; t++) {
            double one;
            max = fmax(max, score_of(c, i, p, t, &one));
            error = fmax(error, one);
        }
    }
    if (max == -INFINITY) {
        assert_true(r->m.x[i] == -INFINITY && r->l.x[i] == 0.0F);
        return;
    }
    /* A weight is off by its score's error and that of the maximum; beside that a page's weights times scales are off by
     * their largest over 32512. */
    double relative = 2e-6 + 2.0 * error;
    double *out = calloc(2 * (size_t)s->v_dim, sizeof(double));
    assert_non_null(out);
    for (uint32_t p = 0; p < s->n_pages; p++) {
        double heaviest = 0.0, n_seen = 0.0;
        for (uint32_t t = c->lo[p * s->n_q + i]; t < c->hi[p * s->n_q + i]; t++) {
            double unused, weight = exp(score_of(c, i, p, t, &unused) - max);
            double scale = code_scale(c->v_page[p], s->bits, qn_kv_v_code_bytes(s->bits, s->v_dim, s->page_tokens), t);
            double top = scale * ((1u << s->bits) - 1);
            sum += weight;
            heaviest = fmax(heaviest, weight * scale);
            n_seen++;
            for (uint32_t j = 0; j < s->v_dim; j++) {
                double v = qn_kv_get_v(c->v_page[p], s->bits, s->v_dim, s->page_tokens, t, j);
                out[2 * j] += weight * v;
                out[2 * j + 1] += weight * (fabs(v) + 2.0 * top) * relative;
            }
        }
        for (uint32_t j = 0; j < s->v_dim; j++) {
            out[2 * j + 1] += n_seen * ((1u << s->bits) - 1) * heaviest / 32512 * (1.0 + relative);
        }
    }
    assert_close(r->m.x[i], max, 1e-6, error, "attn_page maximum", k->isa, i);
    assert_close(r->l.x[i], sum, relative, 0.0, "attn_page sum", k->isa, i);
    for (uint32_t j = 0; j < s->v_dim; j++) {
        assert_close(r->acc.x[(size_t)i * s->v_dim + j], out[2 * j], 0.0, out[2 * j + 1], "attn_page values", k->isa,
                     (size_t)i * s->v_dim + j);
    }
    free(out);
}

static void check_scene(const qn_kernels *k, shape s, qn_random *rnd)
{
    scene c = scene_new(s, rnd);
    result all = run_rows(k, &c, 0, s.n_q);
    for (uint32_t i = 0; i < s.n_q; i++) {
        check_row(k, &c, i, &all);
        result alone = run_rows(k, &c, i, 1);
        assert_memory_equal(all.m.x + i, alone.m.x, sizeof(float));
        assert_memory_equal(all.l.x + i, alone.l.x, sizeof(float));
        assert_memory_equal(all.acc.x + (size_t)i * s.v_dim, alone.acc.x, s.v_dim * sizeof(float));
        result_free(&alone);
    }
    result_free(&all);
    scene_free(&c);
}

static void test_matches_plain_softmax(void **state)
{
    (void)state;
    static const uint32_t dims[] = {64, 80, 96, 128, 256, 32, 16, 8};
    static const uint32_t rows[] = {1, 2, 3, 4, 5, 6, 7, 8, 11, 33};
    static const uint32_t tokens[] = {8, 16, 24, 32, 72, 256};
    qn_random rnd;
    qn_random_seed(&rnd, 131);
    qn_kernels k;
    for (size_t i_set = 0; next_set(&i_set, &k);) {
        for (uint32_t i = 0; i < 80; i++) {
            shape s = {
                .bits = i % 2 == 0 ? 8 : 4,
                .head_dim = dims[i / 2 % 8],
                .v_dim = i % 3 == 0 ? dims[(i + 5) % 8] : dims[i / 2 % 8],
                .page_tokens = tokens[i / 3 % 6],
                .n_q = rows[i / 2 % 10],
                .n_pages = 1 + i % 4,
                .softcap = i % 7 == 0 ? 20.0F : 0.0F,
                .q_scale = i % 5 == 0 ? 0.5F : 0.1F,
                .has_offset = i % 4 < 2,
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
    qn_random_seed(&rnd, 137);
    qn_kernels k;
    for (size_t i_set = 0; next_set(&i_set, &k);) {
        for (uint32_t i = 0; i < 40; i++) {
            shape s = {
                .bits = i / 2 % 2 == 0 ? 8 : 4,
                .head_dim = 1 + i,
                .v_dim = 1 + (uint32_t)qn_random_below(&rnd, 40),
                .page_tokens = 8 * (1 + i % 5),
                .n_q = 1 + i % 13,
                .n_pages = 2,
                .q_scale = 0.2F,
            };
            check_scene(&k, s, &rnd);
        }
    }
}

/* A token whose numbers are not finite spoils what sees it, and nothing else. */
static void test_a_bad_token_shows(void **state)
{
    (void)state;
    enum { TOKENS = 16, BAD = 5, DIM = 16, N_Q = 4 };
    qn_random rnd;
    qn_random_seed(&rnd, 139);
    qn_kernels k;
    for (size_t i_set = 0; next_set(&i_set, &k);) {
        for (uint32_t bits = 4; bits <= 8; bits += 4) {
            shape s = {.bits = bits, .head_dim = DIM, .v_dim = DIM, .page_tokens = TOKENS, .n_q = N_Q, .n_pages = 1,
                       .q_scale = 0.2F};
            scene c = scene_new(s, &rnd);
            uint8_t codes[DIM];
            for (uint32_t t = 0; t < TOKENS; t++) {
                row v = row_normal(DIM, 0, 1.0F, &rnd);
                qn_kv_scale scale = qn_kv_encode(v.x, DIM, qn_kv_k_bits(bits), codes);
                qn_kv_put_k(codes, scale, bits, DIM, TOKENS, t, c.k_page[0]);
                v.x[3] = t == BAD ? NAN : 1.0F;
                scale = qn_kv_encode(v.x, DIM, bits, codes);
                qn_kv_put_v(codes, scale, bits, DIM, TOKENS, t, c.v_page[0]);
                row_free(&v);
            }
            for (uint32_t i = 0; i < N_Q; i++) {
                c.lo[i] = i == 2 ? BAD + 1 : 0;
                c.hi[i] = i == 0 ? BAD : TOKENS;
            }
            result r = run_rows(&k, &c, 0, N_Q);
            for (uint32_t i = 0; i < N_Q; i++) {
                for (uint32_t j = 0; j < DIM; j++) {
                    assert_int_equal(isnan(r.acc.x[i * DIM + j]) != 0, i == 1 || i == 3);
                }
            }
            result_free(&r);
            scene_free(&c);
        }
    }
}

/* An orthogonal matrix that is its own inverse, the same in every set. */
static void test_rotation(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 2, 3, 4, 7, 8, 12, 24, 40, 64, 80, 96, 128, 192, 256};
    qn_random rnd;
    qn_random_seed(&rnd, 149);
    qn_kernels k;
    for (size_t i_set = 0; next_set(&i_set, &k);) {
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            row x = row_normal(sizes[i], i % 3, 3.0F, &rnd), once = row_copy(&x, 1), want = row_copy(&x, 0);
            k.rotate(once.x, once.n);
            qn_kernels ref = {0};
            qn_kernels_fill_ref(&ref);
            ref.rotate(want.x, want.n);
            assert_memory_equal(once.x, want.x, want.n * sizeof(float));
            double before = 0.0, after = 0.0;
            for (size_t d = 0; d < x.n; d++) {
                before += (double)x.x[d] * x.x[d];
                after += (double)once.x[d] * once.x[d];
            }
            assert_close(after, before, 1e-5, 0.0, "rotate's length", k.isa, sizes[i]);
            k.rotate(once.x, once.n);
            for (size_t d = 0; d < x.n; d++) {
                assert_close(once.x[d], x.x[d], 1e-5, 1e-5, "rotate twice", k.isa, d);
            }
            row_free(&x);
            row_free(&once);
            row_free(&want);
        }
    }
    /* one large number is spread evenly */
    float one[64] = {[5] = 8.0F};
    qn_kernels_fill_ref(&k);
    k.rotate(one, 64);
    for (size_t d = 0; d < 64; d++) {
        assert_true(fabsf(one[d]) == 1.0F);
    }
}

static void check_encoder(const qn_kernels *k, const row *x, uint32_t code_bits)
{
    uint8_t got[512], want[512];
    memset(got, 0x5A, sizeof(got));
    qn_kv_scale w = qn_kv_encode(x->x, x->n, code_bits, want);
    qn_kv_scale g = k->kv_encode(x->x, x->n, code_bits, got);
    assert_true((isnan(w.scale) && isnan(g.scale)) || (w.scale == g.scale && w.min == g.min));
    assert_memory_equal(got, want, x->n);
    assert_int_equal(got[x->n], 0x5A);
}

static void test_encoders_agree(void **state)
{
    (void)state;
    qn_random rnd;
    qn_random_seed(&rnd, 151);
    qn_kernels k;
    for (size_t i_set = 0; next_set(&i_set, &k);) {
        for (uint32_t i = 0; i < 300; i++) {
            row x = row_normal(1 + i, i % 3, powf(10.0F, (float)(i % 11) - 6.0F), &rnd);
            if (i % 6 == 1) {
                memset(x.x, 0, x.n * sizeof(float));
            } else if (i % 6 == 2) {
                x.x[i / 2] = i % 12 == 2 ? NAN : i % 4 == 0 ? INFINITY : -INFINITY;
            } else if (i % 6 == 3) {
                x.x[i / 3] = i % 12 == 3 ? 1e30F : 7e4F;
            }
            check_encoder(&k, &x, 4);
            check_encoder(&k, &x, 5);
            check_encoder(&k, &x, 8);
            row_free(&x);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matches_plain_softmax), cmocka_unit_test(test_odd_dimensions),
        cmocka_unit_test(test_a_bad_token_shows),     cmocka_unit_test(test_rotation),
        cmocka_unit_test(test_encoders_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
