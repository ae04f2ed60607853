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

/* What a page holds: floats of a type, or codes. */
typedef struct kind {
    const char *name;
    qn_type type;
    uint32_t bits;
} kind;

static size_t block_bytes(const kind *what, uint32_t head_dim, bool is_k)
{
    if (what->bits != 0) {
        return is_k ? qn_kv_k_bytes(what->bits, head_dim, PAGE_TOKENS) : qn_kv_v_bytes(what->bits, head_dim, PAGE_TOKENS);
    }
    return (size_t)head_dim * PAGE_TOKENS * (what->type == QN_TYPE_F32 ? 4 : 2);
}

static char *random_pages(const qn_kernels *k, qn_random *r, const kind *what, uint32_t head_dim, bool is_k)
{
    size_t bytes = block_bytes(what, head_dim, is_k);
    float *x = need(head_dim * sizeof(float));
    uint8_t *codes = need(head_dim);
    char *pages = need(bytes * N_PAGES);
    size_t element = what->type == QN_TYPE_F32 ? 4 : 2;
    for (uint32_t i = 0; i < PAGE_TOKENS * N_PAGES; i++) {
        char *page = pages + i / PAGE_TOKENS * bytes;
        uint32_t t = i % PAGE_TOKENS;
        fill(r, x, head_dim);
        if (what->bits == 0) {
            k->kv_store(x, head_dim, what->type, page + element * t * (is_k ? 1 : head_dim), is_k ? PAGE_TOKENS : 1);
        } else if (is_k) {
            qn_kv_scale s = k->kv_encode(x, head_dim, qn_kv_k_bits(what->bits), codes);
            qn_kv_put_k(codes, s, what->bits, head_dim, PAGE_TOKENS, t, page);
        } else {
            qn_kv_scale s = k->kv_encode(x, head_dim, what->bits, codes);
            qn_kv_put_v(codes, s, what->bits, head_dim, PAGE_TOKENS, t, page);
        }
    }
    free(x);
    free(codes);
    return pages;
}

static void bench_one(const qn_kernels *k, const kind *what, uint32_t head_dim, uint32_t n_q)
{
    qn_random r;
    qn_random_seed(&r, 1);
    size_t k_bytes = block_bytes(what, head_dim, true), v_bytes = block_bytes(what, head_dim, false);
    char *keys = random_pages(k, &r, what, head_dim, true);
    char *values = random_pages(k, &r, what, head_dim, false);
    uint8_t *q_codes = need(n_q * qn_attn_q_bytes(head_dim));
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
        .type = what->type,
        .bits = what->bits,
        .q_codes = q_codes,
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
        for (uint32_t i = 0; i < n_q && what->bits != 0; i++) {
            k->attn_prepare(q + (size_t)i * head_dim, head_dim, q_codes + i * qn_attn_q_bytes(head_dim));
        }
        for (size_t i = 0; i < N_PAGES; i++) {
            a.k = keys + i * k_bytes;
            a.v = values + i * v_bytes;
            k->attn_page(&a);
        }
        double ns = cpu_ns() - start;
        best = ns < best ? ns : best;
    }
    double flops = 4.0 * n_q * head_dim * PAGE_TOKENS * N_PAGES;
    double bytes = (double)(k_bytes + v_bytes) * N_PAGES;
    printf("%-10s %-4s head %3u  rows %3u  %8.3f ms  %7.2f GFLOP/s  %6.2f GB/s\n", k->isa, what->name, head_dim, n_q,
           best / 1e6, flops / best, bytes / best);
    free(keys);
    free(q_codes);
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
    static const kind types[] = {
        {"F16", QN_TYPE_F16, 0}, {"BF16", QN_TYPE_BF16, 0}, {"F32", QN_TYPE_F32, 0}, {"q8", QN_TYPE_F16, 8}, {"q4", QN_TYPE_F16, 4},
    };
    static const uint32_t dims[] = {64, 128, 256};
    static const uint32_t rows[] = {1, 3, 4, 8, 32, 256};
    for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++) {
        for (size_t d = 0; d < sizeof(dims) / sizeof(dims[0]); d++) {
            for (size_t n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
                bench_one(&k, &types[t], dims[d], rows[n]);
            }
        }
    }
    return 0;
}
