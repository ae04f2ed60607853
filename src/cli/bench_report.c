/* Results of a benchmark, printed three ways. SPDX-License-Identifier: MIT */
#include "cli/bench_report.h"

#include "cli/report.h"

#include <stdlib.h>

qn_status qn_bench_report_add(qn_bench_report *r, const qn_bench_result *result, qn_error *err)
{
    if (r->n == r->cap) {
        size_t cap = r->cap < 16 ? 16 : r->cap * 2;
        qn_bench_result *results = qn_realloc(NULL, QN_INPUT_OWNER, r->results, cap * sizeof(*results));
        if (results == NULL) {
            return qn_fail(err, QN_ENOMEM, "no memory for %zu results", cap);
        }
        r->results = results;
        r->cap = cap;
    }
    r->results[r->n++] = *result;
    return QN_OK;
}

void qn_bench_report_close(qn_bench_report *r)
{
    qn_free(r->results);
    qn_free(r->limits);
    *r = (qn_bench_report){0};
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void qn_bench_summarize(double *rates, size_t n, qn_bench_result *out)
{
    qsort(rates, n, sizeof(*rates), compare);
    out->median = n % 2 == 1 ? rates[n / 2] : (rates[n / 2 - 1] + rates[n / 2]) / 2;
    out->min = rates[0];
    out->max = rates[n - 1];
}

static void print_peak(const char *what, double per_second)
{
    if (per_second > 0) {
        printf(" %s %.0f", what, per_second / 1e9);
    }
}

static void print_limits(const qn_bench_limits *l)
{
    printf("limits with %u threads: reading %.1f GB/s; G mul-adds/s:", (unsigned)l->threads, l->read_bytes / 1e9);
    for (size_t i = 0; i < l->n_peaks; i++) {
        printf("%s %s", i > 0 ? ";" : "", l->peaks[i].isa);
        print_peak("int8", l->peaks[i].i8);
        print_peak("bf16", l->peaks[i].bf16);
        print_peak("f32", l->peaks[i].f32);
    }
    putchar('\n');
}

bool qn_bench_print_table(const qn_bench_report *r)
{
    char bytes[QN_REPORT_BYTES_TEXT];
    qn_report_escaped(stdout, qn_str_of(r->info.name), 64);
    printf(" (%s), %.1f M parameters, weights %s, kernels %s, batch %u, %u runs\n", r->info.architecture,
           (double)r->info.n_params / 1e6, qn_report_bytes(r->info.weight_bytes, bytes), r->isa, (unsigned)r->n_batch,
           (unsigned)r->n_repetitions);
    printf("%-8s %8s %8s %6s %8s %8s  %12s %12s %12s  %14s\n", "test", "prompt", "gen", "seqs", "depth", "threads",
           "tok/s", "min", "max", "of the limit");
    for (size_t i = 0; i < r->n; i++) {
        const qn_bench_result *b = &r->results[i];
        printf("%-8s %8u %8u %6u %8u %8u  %12.2f %12.2f %12.2f", b->test, (unsigned)b->n_prompt, (unsigned)b->n_gen,
               (unsigned)b->n_seqs, (unsigned)b->depth, (unsigned)b->threads, b->median, b->min, b->max);
        if (b->read_bytes > 0) {
            printf("  %7.2f GB/s", b->read_bytes / 1e9);
        }
        if (b->read_share > 0) {
            printf(", %.0f %% of memory", b->read_share * 100);
        }
        if (b->mul_adds > 0) {
            printf("%s %7.1f G mul-adds/s", b->read_bytes > 0 ? "," : " ", b->mul_adds / 1e9);
        }
        if (b->peak_share > 0) {
            printf(", %.0f %% of the peak", b->peak_share * 100);
        }
        putchar('\n');
        qn_bench_profile_print(&b->profile);
    }
    for (size_t i = 0; i < r->n_limits; i++) {
        print_limits(&r->limits[i]);
    }
    return qn_report_flush();
}

bool qn_bench_print_csv(const qn_bench_report *r)
{
    puts("test,n_prompt,n_gen,n_seqs,depth,threads,tokens_per_second,min,max,weight_bytes_per_second,memory_share,"
         "mul_adds_per_second,peak_share");
    for (size_t i = 0; i < r->n; i++) {
        const qn_bench_result *b = &r->results[i];
        printf("%s,%u,%u,%u,%u,%u,%.3f,%.3f,%.3f,%.0f,%.4f,%.0f,%.4f\n", b->test, (unsigned)b->n_prompt,
               (unsigned)b->n_gen, (unsigned)b->n_seqs, (unsigned)b->depth, (unsigned)b->threads, b->median, b->min,
               b->max, b->read_bytes, b->read_share, b->mul_adds, b->peak_share);
    }
    return qn_report_flush();
}

static void json_result(qn_json_writer *w, const qn_bench_result *b)
{
    qn_json_begin_object(w);
    qn_json_key(w, "test");
    qn_json_cstring(w, b->test);
    qn_json_key(w, "n_prompt");
    qn_json_u64(w, b->n_prompt);
    qn_json_key(w, "n_gen");
    qn_json_u64(w, b->n_gen);
    qn_json_key(w, "n_seqs");
    qn_json_u64(w, b->n_seqs);
    qn_json_key(w, "depth");
    qn_json_u64(w, b->depth);
    qn_json_key(w, "threads");
    qn_json_u64(w, b->threads);
    qn_json_key(w, "tokens_per_second");
    qn_json_begin_object(w);
    qn_json_key(w, "median");
    qn_json_f64(w, b->median);
    qn_json_key(w, "min");
    qn_json_f64(w, b->min);
    qn_json_key(w, "max");
    qn_json_f64(w, b->max);
    qn_json_end_object(w);
    if (b->read_bytes > 0) {
        qn_json_key(w, "weight_bytes_per_second");
        qn_json_f64(w, b->read_bytes);
    }
    if (b->read_share > 0) {
        qn_json_key(w, "memory_share");
        qn_json_f64(w, b->read_share);
    }
    if (b->mul_adds > 0) {
        qn_json_key(w, "mul_adds_per_second");
        qn_json_f64(w, b->mul_adds);
    }
    if (b->peak_share > 0) {
        qn_json_key(w, "peak_share");
        qn_json_f64(w, b->peak_share);
    }
    qn_bench_profile_json(w, &b->profile);
    qn_json_end_object(w);
}

static void json_limits(qn_json_writer *w, const qn_bench_limits *l)
{
    qn_json_begin_object(w);
    qn_json_key(w, "threads");
    qn_json_u64(w, l->threads);
    qn_json_key(w, "read_bytes_per_second");
    qn_json_f64(w, l->read_bytes);
    qn_json_key(w, "mul_adds_per_second");
    qn_json_begin_object(w);
    for (size_t i = 0; i < l->n_peaks; i++) {
        const struct {
            const char *name;
            double value;
        } kinds[] = {{"int8", l->peaks[i].i8}, {"bf16", l->peaks[i].bf16}, {"f32", l->peaks[i].f32}};
        qn_json_key(w, l->peaks[i].isa);
        qn_json_begin_object(w);
        for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
            if (kinds[k].value > 0) {
                qn_json_key(w, kinds[k].name);
                qn_json_f64(w, kinds[k].value);
            }
        }
        qn_json_end_object(w);
    }
    qn_json_end_object(w);
    qn_json_end_object(w);
}

bool qn_bench_print_json(const qn_bench_report *r)
{
    qn_buf out;
    qn_json_writer w;
    qn_buf_init(&out, NULL, QN_INPUT_OWNER, QN_INPUT_MAX_BYTES);
    qn_json_writer_init(&w, &out);
    qn_json_begin_object(&w);
    qn_json_key(&w, "model");
    qn_json_cstring(&w, r->model_path);
    qn_json_key(&w, "architecture");
    qn_json_cstring(&w, r->info.architecture);
    qn_json_key(&w, "parameters");
    qn_json_u64(&w, r->info.n_params);
    qn_json_key(&w, "weight_bytes");
    qn_json_u64(&w, r->info.weight_bytes);
    qn_json_key(&w, "isa");
    qn_json_cstring(&w, r->isa);
    qn_json_key(&w, "batch");
    qn_json_u64(&w, r->n_batch);
    qn_json_key(&w, "repetitions");
    qn_json_u64(&w, r->n_repetitions);
    qn_json_key(&w, "peak_memory_bytes");
    qn_json_u64(&w, r->peak_memory);
    qn_json_key(&w, "results");
    qn_json_begin_array(&w);
    for (size_t i = 0; i < r->n; i++) {
        json_result(&w, &r->results[i]);
    }
    qn_json_end_array(&w);
    qn_json_key(&w, "limits");
    qn_json_begin_array(&w);
    for (size_t i = 0; i < r->n_limits; i++) {
        json_limits(&w, &r->limits[i]);
    }
    qn_json_end_array(&w);
    qn_json_end_object(&w);
    bool ok = qn_report_json(&out);
    qn_buf_free(&out);
    return ok;
}
