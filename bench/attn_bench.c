/* Speed of attention over KV pages on one thread, by KV type, head size and query rows: the rows see all of a context
 * of 8192 tokens. Prints milliseconds, GFLOP/s (a multiply-add is 2) and GB/s of pages.
 *
 *     quern_attn_bench [isa]
 *
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backend/cpu/table.h"
#include "base/random.h"

enum { PAGE_TOKENS = 32, N_PAGES = 256, ROUNDS = 5 };

static void *need(size_t bytes)
{
    void *p = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (p == NULL) {
        fprintf(stderr, "attn_bench: no memory\n");
        exit(1);
    }
    return p;
}

/* Time of this process alone, so that a busy machine disturbs less. */
static double cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void fill(qn_random *r, float *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        x[i] = qn_random_normal(r);
    }
}

static void *random_page(const qn_kernels *k, qn_random *r, qn_type type, size_t n)
{
    float *x = need(n * sizeof(float));
    void *page = need(n * sizeof(float));
    fill(r, x, n);
    k->kv_store(x, n, type, page, 1);
    free(x);
    return page;
}

static void bench_one(const qn_kernels *k, qn_type type, uint32_t head_dim, uint32_t n_q)
{
    qn_random r;
    qn_random_seed(&r, 1);
    size_t page = (size_t)head_dim * PAGE_TOKENS;
    size_t element = type == QN_TYPE_F16 ? 2 : 4;
    char *keys = random_page(k, &r, type, page * N_PAGES);
    char *values = random_page(k, &r, type, page * N_PAGES);
    float *q = need((size_t)n_q * head_dim * sizeof(float));
    float *acc = need((size_t)n_q * head_dim * sizeof(float));
    float *m = need(n_q * sizeof(float));
    float *l = need(n_q * sizeof(float));
    uint32_t *lo = need(n_q * sizeof(uint32_t));
    uint32_t *hi = need(n_q * sizeof(uint32_t));
    fill(&r, q, (size_t)n_q * head_dim);
    for (uint32_t i = 0; i < n_q; i++) {
        lo[i] = 0;
        hi[i] = PAGE_TOKENS;
    }
    qn_attn_page a = {
        .q = q,
        .q_stride = head_dim,
        .type = type,
        .n_q = n_q,
        .head_dim = head_dim,
        .v_dim = head_dim,
        .page_tokens = PAGE_TOKENS,
        .lo = lo,
        .hi = hi,
        .m = m,
        .l = l,
        .acc = acc,
        .scratch = need(qn_attn_scratch_floats(n_q, head_dim, head_dim, PAGE_TOKENS) * sizeof(float)),
    };
    double best = 1e30;
    for (int round = 0; round < ROUNDS; round++) {
        memset(acc, 0, (size_t)n_q * head_dim * sizeof(float));
        for (uint32_t i = 0; i < n_q; i++) {
            m[i] = -INFINITY;
            l[i] = 0.0F;
        }
        double start = cpu_ns();
        for (size_t i = 0; i < N_PAGES; i++) {
            a.k = keys + i * page * element;
            a.v = values + i * page * element;
            k->attn_page(&a);
        }
        double ns = cpu_ns() - start;
        best = ns < best ? ns : best;
    }
    double flops = 4.0 * n_q * head_dim * PAGE_TOKENS * N_PAGES;
    double bytes = 2.0 * (double)(page * element) * N_PAGES;
    printf("%-6s %-4s head %3u  rows %3u  %8.3f ms  %7.2f GFLOP/s  %6.2f GB/s\n", k->isa, qn_type_name(type), head_dim,
           n_q, best / 1e6, flops / best, bytes / best);
    free(keys);
    free(values);
    free(q);
    free(acc);
    free(m);
    free(l);
    free(lo);
    free(hi);
    free(a.scratch);
}

int main(int argc, char **argv)
{
    qn_kernels k;
    qn_error err;
    if (qn_kernels_select(argc > 1 ? argv[1] : NULL, &k, &err) != QN_OK) {
        fprintf(stderr, "attn_bench: %s\n", err.what);
        return 1;
    }
    static const qn_type types[] = {QN_TYPE_F16, QN_TYPE_F32};
    static const uint32_t dims[] = {64, 128, 256};
    static const uint32_t rows[] = {1, 4, 8, 32, 256};
    for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++) {
        for (size_t d = 0; d < sizeof(dims) / sizeof(dims[0]); d++) {
            for (size_t n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
                bench_one(&k, types[t], dims[d], rows[n]);
            }
        }
    }
    return 0;
}
