/* Where a test's time went, printed. SPDX-License-Identifier: MIT */
#include "cli/bench_profile.h"

#include <stdlib.h>

static int more_time_first(const void *a, const void *b)
{
    const qn_profile_entry *x = a, *y = b;
    return (x->ns < y->ns) - (x->ns > y->ns);
}

void qn_bench_profile_read(const qn_session *s, qn_bench_profile *out)
{
    out->n = 0;
    while (out->n < QN_BENCH_MAX_PROFILE && qn_session_profile(s, out->n, &out->entries[out->n])) {
        out->n++;
    }
    qsort(out->entries, out->n, sizeof(out->entries[0]), more_time_first);
}

static uint64_t all_ns(const qn_bench_profile *p)
{
    uint64_t all = 0;
    for (size_t i = 0; i < p->n; i++) {
        all += p->entries[i].ns;
    }
    return all > 0 ? all : 1;
}

void qn_bench_profile_print(const qn_bench_profile *p)
{
    if (p->n > 0) {
        printf("  %-20s %8s %10s %6s %8s %12s\n", "op", "calls", "ms", "share", "GB/s", "G mul-adds/s");
    }
    for (size_t i = 0; i < p->n; i++) {
        const qn_profile_entry *e = &p->entries[i];
        double ns = (double)e->ns;
        printf("  %-20s %8llu %10.2f %5.1f%%", e->name, (unsigned long long)e->calls, (double)e->ns / 1e6,
               100.0 * (double)e->ns / (double)all_ns(p));
        if (e->bytes > 0 && e->ns > 0) {
            printf(" %8.2f", (double)e->bytes / ns);
        }
        if (e->mul_adds > 0 && e->ns > 0) {
            printf(" %12.1f", (double)e->mul_adds / ns);
        }
        putchar('\n');
    }
}

static void json_count(qn_json_writer *w, const char *key, uint64_t value)
{
    qn_json_key(w, key);
    qn_json_u64(w, value);
}

void qn_bench_profile_json(qn_json_writer *w, const qn_bench_profile *p)
{
    if (p->n == 0) {
        return;
    }
    qn_json_key(w, "profile");
    qn_json_begin_array(w);
    for (size_t i = 0; i < p->n; i++) {
        const qn_profile_entry *e = &p->entries[i];
        qn_json_begin_object(w);
        qn_json_key(w, "op");
        qn_json_cstring(w, e->name);
        json_count(w, "calls", e->calls);
        json_count(w, "ns", e->ns);
        json_count(w, "bytes", e->bytes);
        json_count(w, "mul_adds", e->mul_adds);
        qn_json_end_object(w);
    }
    qn_json_end_array(w);
}
