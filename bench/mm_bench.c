/* Speed of the matrix product kernels on one thread.
 *
 *     quern_mm_bench [isa [type [n_k [n_cols]]]]
 *     quern_mm_bench [isa [type [n_k]]] columns
 *
 * For each type: GB/s of weights through `one`, from the cache and from memory, and through `few` with all its columns;
 * 10^9 operations (two a weight and column) a second of `few`, of `panel` and of `panel` with packing. Medians.
 * With "columns", for 1, 2, 3, 4, 6, 8, 12, 16, 24 and 32 columns: GB/s of weights from memory through each kernel that
 * takes so many, which tells where one should follow the other; the best of a few runs.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backend/cpu/table.h"

enum {
    HOT_BYTES = 512 << 10,
    COLD_BYTES = 256 << 20,
    PANELS = 8,
    MAX_TIMES = 101,
    SWEEP_BYTES = 64 << 20,
    MAX_SWEEP = 32,
    SWEEP_RUNS = 5
};

typedef struct bench {
    const qn_mm *mm;
    const qn_type_info *info;
    size_t n_k, n_cols, row_bytes, n_rows, x_bytes;
    uint8_t *w;
    char *x;
    float *y;
    void *panel;
} bench;

typedef void bench_fn(bench *b);

static void *need(size_t n_bytes)
{
    void *p = aligned_alloc(64, (n_bytes + 63) / 64 * 64);
    if (p == NULL) {
        fprintf(stderr, "mm_bench: no memory for %zu bytes\n", n_bytes);
        exit(1);
    }
    memset(p, 0, n_bytes);
    return p;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Time of this process alone, so that a busy machine disturbs less. */
static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Median seconds of a call, over a third of a second or so. */
static double seconds(bench_fn *fn, bench *b)
{
    double times[MAX_TIMES], total = 0;
    size_t n = 0;
    fn(b);
    while (n < MAX_TIMES && (n < 3 || total < 0.3)) {
        double start = cpu_seconds();
        fn(b);
        times[n] = cpu_seconds() - start;
        total += times[n++];
    }
    qsort(times, n, sizeof(times[0]), compare);
    return times[n / 2];
}

static void run_one(bench *b)
{
    b->mm->one(b->w, b->row_bytes, b->n_rows, b->n_k, b->x, b->y);
}

static void run_few(bench *b)
{
    b->mm->few(b->w, b->row_bytes, b->n_rows, b->n_k, b->x, b->x_bytes, b->mm->few_max, b->y, b->n_rows);
}

static void pack(bench *b, size_t i)
{
    b->mm->pack(b->w + i * b->mm->panel_rows * b->row_bytes, b->row_bytes, b->mm->panel_rows, b->n_k, b->panel);
}

static void multiply(bench *b, size_t i)
{
    b->mm->panel(b->panel, b->mm->panel_rows, b->n_k, b->x, b->x_bytes, b->n_cols, b->y + i * b->mm->panel_rows,
                 PANELS * b->mm->panel_rows);
}

static void run_pack(bench *b)
{
    for (size_t i = 0; i < PANELS; i++) {
        pack(b, i);
    }
}

static void run_panel(bench *b)
{
    for (size_t i = 0; i < PANELS; i++) {
        multiply(b, i);
    }
}

static void run_pack_and_panel(bench *b)
{
    for (size_t i = 0; i < PANELS; i++) {
        pack(b, i);
        multiply(b, i);
    }
}

/* ---- one kernel after the other, by the number of columns ---- */

static void run_few_columns(bench *b)
{
    b->mm->few(b->w, b->row_bytes, b->n_rows, b->n_k, b->x, b->x_bytes, b->n_cols, b->y, b->n_rows);
}

static void run_several(bench *b)
{
    b->mm->several(b->w, b->row_bytes, b->n_rows, b->n_k, b->x, b->x_bytes, b->n_cols, b->y, b->n_rows);
}

static void run_panels(bench *b)
{
    for (size_t r = 0; r + b->mm->panel_rows <= b->n_rows; r += b->mm->panel_rows) {
        b->mm->pack(b->w + r * b->row_bytes, b->row_bytes, b->mm->panel_rows, b->n_k, b->panel);
        b->mm->panel(b->panel, b->mm->panel_rows, b->n_k, b->x, b->x_bytes, b->n_cols, b->y + r, b->n_rows);
    }
}

static double best_seconds(bench_fn *fn, bench *b)
{
    double best = 1e9;
    for (int i = 0; i < SWEEP_RUNS; i++) {
        double start = cpu_seconds();
        fn(b);
        double s = cpu_seconds() - start;
        best = s < best ? s : best;
    }
    return best;
}

static void bench_columns(bench *b)
{
    static const size_t counts[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, MAX_SWEEP};
    const qn_mm *mm = b->mm;
    double gb = (double)(b->n_rows * b->row_bytes) * 1e-9;
    printf("%-8s few_max %u, several_max %u\n", b->info->name, mm->few_max, mm->several_max);
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        b->n_cols = counts[i];
        printf("%4zu", b->n_cols);
        printf(" %9.1f",
               b->n_cols <= mm->few_max ? gb / best_seconds(b->n_cols == 1 ? run_one : run_few_columns, b) : 0);
        printf(" %9.1f", b->n_cols <= mm->several_max ? gb / best_seconds(run_several, b) : 0);
        printf(" %9.1f\n", mm->panel_rows > 0 ? gb / best_seconds(run_panels, b) : 0);
    }
}

/* Weights whose scales and values are plain: bytes 0x2A, halves about 0.05. */
static void bench_type(const qn_kernels *k, qn_type type, size_t n_k, size_t n_cols, bool sweep)
{
    bench b = {.mm = &k->mm[type], .info = qn_type_find((uint32_t)type), .n_k = n_k, .n_cols = n_cols};
    b.row_bytes = n_k / b.info->block_len * b.info->block_bytes;
    size_t n_cold = COLD_BYTES / b.row_bytes, n_hot = HOT_BYTES / b.row_bytes + 1;
    size_t n_panel_rows = PANELS * b.mm->panel_rows;
    size_t n_cols_max = n_cols > b.mm->few_max ? n_cols : b.mm->few_max;
    n_cols_max = sweep && n_cols_max < MAX_SWEEP ? MAX_SWEEP : n_cols_max;
    if (sweep) {
        n_cold = SWEEP_BYTES / b.row_bytes;
    }
    b.x_bytes = b.mm->act == QN_ACT_A8 ? qn_a8_bytes(n_k) : (n_k * sizeof(float) + 63) / 64 * 64;
    b.w = need((n_cold > n_panel_rows ? n_cold : n_panel_rows) * b.row_bytes);
    memset(b.w, 0x2A, n_cold * b.row_bytes);
    b.x = need(n_cols_max * b.x_bytes);
    b.y = need((n_cold * (sweep ? MAX_SWEEP : 1) + n_cols_max * (n_hot + n_panel_rows)) * sizeof(float));
    float *x = need(n_k * sizeof(float));
    for (size_t c = 0; c < n_cols_max; c++) {
        for (size_t i = 0; i < n_k; i++) {
            x[i] = (float)((int)(i * 7 + c) % 255 - 127);
        }
        if (b.mm->act == QN_ACT_A8) {
            k->quantize_a8(x, n_k, b.x + c * b.x_bytes);
        } else {
            memcpy(b.x + c * b.x_bytes, x, n_k * sizeof(float));
        }
    }
    b.n_rows = n_cold;
    if (sweep) {
        b.panel = b.mm->panel_rows > 0 ? need(b.mm->panel_bytes(n_k)) : NULL;
        bench_columns(&b);
        free(b.panel);
        goto done;
    }
    double cold = (double)(n_cold * b.row_bytes) * 1e-9 / seconds(run_one, &b);
    b.n_rows = n_hot;
    double hot_gb = (double)(n_hot * b.row_bytes) * 1e-9;
    double hot = hot_gb / seconds(run_one, &b), few = hot_gb / seconds(run_few, &b);
    double few_gop = few / (double)b.row_bytes * 2.0 * (double)n_k * b.mm->few_max;
    printf("%-8s %9.1f %9.1f %4u %9.1f %8.1f", b.info->name, hot, cold, b.mm->few_max, few, few_gop);
    if (b.mm->panel_rows > 0) {
        b.panel = need(b.mm->panel_bytes(n_k));
        run_pack(&b);
        double gop = (double)n_panel_rows * (double)n_k * (double)n_cols * 2e-9;
        double panel = gop / seconds(run_panel, &b), both = gop / seconds(run_pack_and_panel, &b);
        double pack = (double)n_panel_rows * (double)b.row_bytes * 1e-9 / seconds(run_pack, &b);
        printf(" %9.1f %9.1f %9.1f", pack, panel, both);
        free(b.panel);
    }
    printf("\n");
done:
    free(b.w);
    free(b.x);
    free(b.y);
    free(x);
}

int main(int argc, char **argv)
{
    static qn_kernels k;
    bool sweep = argc > 1 && strcmp(argv[argc - 1], "columns") == 0;
    argc -= sweep;
    const char *isa = argc > 1 ? argv[1] : "avx2";
    const char *only = argc > 2 ? argv[2] : "all";
    size_t n_k = argc > 3 ? strtoul(argv[3], NULL, 10) : 4096;
    size_t n_cols = argc > 4 ? strtoul(argv[4], NULL, 10) : 64;
    qn_error err;
    if (qn_kernels_select(isa, &k, &err) != QN_OK) {
        fprintf(stderr, "mm_bench: %s\n", err.what);
        return 1;
    }
    if (sweep) {
        printf("%s, n_k %zu, GB/s\n%4s %9s %9s %9s\n", isa, n_k, "cols", "few", "several", "panel");
    } else {
        printf("%s, n_k %zu, %zu columns in panel\n", isa, n_k, n_cols);
        printf("%-8s %9s %9s %4s %9s %8s %9s %9s %9s\n", "type", "one GB/s", "cold", "few", "GB/s", "Gop/s",
               "pack GB/s", "panel", "with pack");
    }
    for (uint32_t t = 0; t < QN_TYPE_COUNT; t++) {
        const qn_type_info *info = qn_type_find(t);
        bool wanted = info != NULL && k.mm[t].one != NULL && n_k % info->block_len == 0 && n_k > 0 && n_cols > 0 &&
                      (strcmp(only, "all") == 0 || strcmp(only, info->name) == 0);
        if (wanted) {
            bench_type(&k, (qn_type)t, n_k, n_cols, sweep);
        }
    }
    return 0;
}
