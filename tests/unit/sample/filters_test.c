/* Top-p, min-p and typical against straightforward versions that sort everything. SPDX-License-Identifier: MIT */
#include "support.h"

typedef struct kept {
    int32_t ids[2048];
    size_t n;
} kept;

static void sort_by(const double *key, int32_t *ids, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) { /* insertion: stable, so ties stay in the order given */
        int32_t id = ids[i];
        uint32_t j = i;
        for (; j > 0 && key[id] < key[ids[j - 1]]; j--) {
            ids[j] = ids[j - 1];
        }
        ids[j] = id;
    }
}

static void plain_top_p(const float *x, uint32_t n, double top_p, kept *out)
{
    int32_t *ids = test_order(x, n);
    double *p = test_softmax(x, n);
    double sum = 0;
    out->n = 0;
    do {
        out->ids[out->n] = ids[out->n];
        sum += p[ids[out->n]];
        out->n++;
    } while (sum < top_p - 1e-12 && out->n < n); /* so that 1800 times 1/2000 is 0.9 */
    free(p);
    free(ids);
}

static void plain_typical(const float *x, uint32_t n, double typical_p, kept *out)
{
    int32_t *ids = test_order(x, n);
    double *p = test_softmax(x, n);
    double *distance = malloc(n * sizeof(*distance));
    assert_non_null(distance);
    double entropy = 0, sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        entropy -= p[i] * log(p[i]);
    }
    for (uint32_t i = 0; i < n; i++) {
        distance[i] = fabs(-log(p[i]) - entropy);
    }
    sort_by(distance, ids, n);
    out->n = 0;
    do {
        out->ids[out->n] = ids[out->n];
        sum += p[ids[out->n]];
        out->n++;
    } while (sum < typical_p - 1e-12 && out->n < n);
    free(distance);
    free(p);
    free(ids);
}

static void assert_kept(const qn_candidates *c, const kept *want)
{
    assert_int_equal(c->n, want->n);
    for (size_t i = 0; i < c->n; i++) {
        assert_int_equal(c->item[i].id, want->ids[i]);
    }
}

static const double shares[] = {0, 0.001, 0.1, 0.33, 0.5, 0.9, 0.95, 0.999};
#define N_SHARES (sizeof(shares) / sizeof(shares[0]))

static void top_p_matches_full_sort(void **state)
{
    (void)state;
    qn_random r;
    qn_random_seed(&r, 3);
    static kept want;
    const uint32_t sizes[] = {1, 2, 3, 17, 255, 2000};
    for (size_t i_size = 0; i_size < 6; i_size++) {
        for (int spread = 0; spread < 4; spread++) { /* 0: all equal */
            float *x = test_logits(&r, sizes[i_size], (float)spread * 1.5f);
            for (size_t i = 0; i < N_SHARES; i++) {
                qn_candidates c = test_candidates(x, sizes[i_size]);
                qn_sample_top_p(&c, shares[i]);
                plain_top_p(x, sizes[i_size], shares[i], &want);
                assert_kept(&c, &want);
                free(c.item);
            }
            free(x);
        }
    }
}

static void typical_matches_full_sort(void **state)
{
    (void)state;
    qn_random r;
    qn_random_seed(&r, 4);
    static kept want;
    const uint32_t sizes[] = {1, 2, 5, 64, 700};
    for (size_t i_size = 0; i_size < 5; i_size++) {
        for (int spread = 1; spread < 4; spread++) {
            float *x = test_logits(&r, sizes[i_size], (float)spread);
            for (size_t i = 0; i < N_SHARES; i++) {
                qn_candidates c = test_candidates(x, sizes[i_size]);
                qn_sample_typical(&c, shares[i]);
                plain_typical(x, sizes[i_size], shares[i], &want);
                assert_kept(&c, &want);
                free(c.item);
            }
            free(x);
        }
    }
}

static void typical_may_drop_the_best(void **state)
{
    (void)state;
    /* p = 0.4 and fifty of 0.012: the entropy, 3.02, is nearer to the surprise of the many (4.42) than to that of the
     * best (0.92). */
    float x[51];
    x[0] = logf(0.4f / 0.012f);
    for (int i = 1; i < 51; i++) {
        x[i] = 0;
    }
    qn_candidates c = test_candidates(x, 51);
    qn_sample_typical(&c, 0.2);
    for (size_t i = 0; i < c.n; i++) {
        assert_int_not_equal(c.item[i].id, 0);
    }
    assert_int_equal(c.n, 17); /* 16 times 0.012 is short of 0.2 */
    free(c.item);
}

static void min_p_keeps_by_ratio(void **state)
{
    (void)state;
    qn_random r;
    qn_random_seed(&r, 5);
    enum { N = 500 };
    float *x = test_logits(&r, N, 2);
    double *p = test_softmax(x, N);
    int32_t *order = test_order(x, N);
    const double ratios[] = {1e-6, 0.01, 0.05, 0.3, 0.99, 1};
    for (size_t i_ratio = 0; i_ratio < 6; i_ratio++) {
        qn_candidates c = test_candidates(x, N);
        qn_sample_min_p(&c, ratios[i_ratio]);
        size_t n_want = 0;
        for (int i = 0; i < N; i++) {
            if (p[i] >= ratios[i_ratio] * p[order[0]]) {
                assert_true(n_want < c.n);
                assert_int_equal(c.item[n_want++].id, i);
            }
        }
        assert_int_equal(c.n, n_want);
        free(c.item);
    }
    free(order);
    free(p);
    free(x);
}

static void extreme_logits_leave_one(void **state)
{
    (void)state;
    const float x[] = {-FLT_MAX, FLT_MAX, 0, NAN, -INFINITY};
    for (int i = 0; i < 3; i++) {
        qn_candidates c = test_candidates(x, 5);
        assert_int_equal(c.n, 3);
        if (i == 0) {
            qn_sample_top_p(&c, 0.99);
        } else if (i == 1) {
            qn_sample_min_p(&c, 0.01);
        } else {
            qn_sample_typical(&c, 0.99);
        }
        assert_int_equal(c.n, 1);
        assert_int_equal(c.item[0].id, 1);
        assert_int_equal(qn_sample_temperature(&c, 1e-30, 0.999), 1);
        free(c.item);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(top_p_matches_full_sort),   cmocka_unit_test(typical_matches_full_sort),
        cmocka_unit_test(typical_may_drop_the_best), cmocka_unit_test(min_p_keeps_by_ratio),
        cmocka_unit_test(extreme_logits_leave_one),
    };
    return cmocka_run_group_tests_name("filters", tests, NULL, NULL);
}
