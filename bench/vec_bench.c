/* Speed of the row kernels on one thread, over rows that stay in the cache: nanoseconds a call, the best of many rounds.
 *
 *     quern_vec_bench [isa]
 *
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backend/cpu/table.h"
#include "base/random.h"

enum { MAX_N = 4096, ROUNDS = 400, FLOATS_A_ROUND = 32 << 10 };

typedef struct rows {
    _Alignas(64) float a[MAX_N], b[MAX_N], y[MAX_N], cosv[MAX_N], sinv[MAX_N];
    _Alignas(64) uint8_t a8[2 * MAX_N];
} rows;

/* Rounds are short, so that the best of many escapes what else the machine does. */
static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* The best time of CALL over the rounds. */
#define BENCH(name, CALL)                                                 \
    do {                                                                  \
        double best = 1e30;                                               \
        for (int round = 0; round < ROUNDS; round++) {                    \
            double start = now_ns();                                      \
            for (size_t i = 0; i < calls; i++) {                          \
                CALL;                                                     \
            }                                                             \
            double ns = (now_ns() - start) / (double)calls;               \
            best = ns < best ? ns : best;                                 \
        }                                                                 \
        printf("%-10s %-12s n %5zu  %9.1f ns\n", k->isa, name, n, best);  \
    } while (0)

static void bench_length(const qn_kernels *k, rows *r, size_t n)
{
    size_t calls = FLOATS_A_ROUND / n;
    BENCH("add", k->add(r->a, r->b, n, r->y));
    BENCH("mul", k->mul(r->a, r->b, n, r->y));
    BENCH("scale", k->scale(r->a, 0.5F, n, r->y));
    BENCH("add_scaled", k->add_scaled(r->a, 1e-6F, n, r->y));
    BENCH("softcap", k->softcap(r->a, 30.0F, n, r->y));
    BENCH("silu_mul", k->silu_mul(r->a, r->b, n, r->y));
    BENCH("gelu_mul", k->gelu_mul(r->a, r->b, n, r->y));
    BENCH("rms_norm", k->rms_norm(r->a, r->b, n, 1e-6F, r->y));
    BENCH("softmax", k->softmax(r->a, n, r->y));
    BENCH("quantize_a8", k->quantize_a8(r->a, n, r->a8));
    memcpy(r->y, r->a, sizeof(r->y));
    BENCH("rope neox", k->rope(r->y, n / 2, r->cosv, r->sinv, QN_ROPE_NEOX));
    BENCH("rope normal", k->rope(r->y, n / 2, r->cosv, r->sinv, QN_ROPE_NORMAL));
}

int main(int argc, char **argv)
{
    qn_kernels k;
    qn_error err;
    if (qn_kernels_select(argc > 1 ? argv[1] : NULL, &k, &err) != QN_OK) {
        fprintf(stderr, "vec_bench: %s\n", err.what);
        return 1;
    }
    rows *r = aligned_alloc(64, sizeof(rows));
    if (r == NULL) {
        fprintf(stderr, "vec_bench: no memory\n");
        return 1;
    }
    qn_random random;
    qn_random_seed(&random, 1);
    for (size_t i = 0; i < MAX_N; i++) {
        r->a[i] = qn_random_normal(&random);
        r->b[i] = qn_random_normal(&random);
        r->y[i] = 0.0F;
        r->cosv[i] = 0.6F;
        r->sinv[i] = 0.8F;
    }
    static const size_t lengths[] = {16, 64, 576, 1536, 4096};
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        bench_length(&k, r, lengths[i]);
    }
    free(r);
    return 0;
}
