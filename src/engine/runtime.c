/* The runtime: budget, compute pool, kernel table, backend. SPDX-License-Identifier: MIT */
#include "engine/format_int.h"

#include "backend/cpu/cpu.h"
#include "backend/cpu/table.h"

#include <stdlib.h>

uint32_t qn_version(void)
{
    return QN_VERSION_MAJOR << 16 | QN_VERSION_MINOR << 8 | QN_VERSION_PATCH;
}

void qn_runtime_options_init(qn_runtime_options *o)
{
    *o = (qn_runtime_options){0};
}

static qn_status start(qn_runtime *rt, const qn_runtime_options *o, qn_error *err)
{
    const char *isa = o->isa != NULL ? o->isa : getenv("QUERN_ISA");
    QN_TRY(qn_kernels_select(isa, &rt->kernels, err));
    QN_TRY(qn_pool_open(o->n_threads, &rt->pool, err));
    qn_status status = qn_format_cache_open(rt->budget, o->memory_bytes, &rt->formats);
    if (status != QN_OK) {
        return qn_fail(err, status, "no memory for the runtime");
    }
    return qn_cpu_open(&rt->kernels, rt->pool, rt->budget, &rt->cpu, err);
}

qn_status qn_blame_ceiling(const qn_budget *b, qn_status status, qn_error *err)
{
    uint64_t bytes, limit;
    if ((status != QN_ENOMEM && status != QN_EBUDGET) || !qn_budget_refusal(b, &bytes, &limit)) {
        return status;
    }
    const char *what = err != NULL && err->code == status ? err->what : "no memory";
    return qn_fail(err, QN_EBUDGET, "%.140s: %llu bytes more would pass the ceiling of %llu", what,
                   (unsigned long long)bytes, (unsigned long long)limit);
}

qn_status qn_runtime_open(const qn_runtime_options *o, qn_runtime **out, qn_error *err)
{
    const qn_runtime_options none = {0};
    o = o == NULL ? &none : o;
    QN_NEED(out, err);
    if (o->n_threads > QN_POOL_MAX_THREADS) {
        return qn_fail(err, QN_EINVAL, "n_threads: %u is above %d", o->n_threads, QN_POOL_MAX_THREADS);
    }
    qn_budget *budget;
    qn_status status = qn_budget_open(o->memory_bytes, &budget);
    if (status != QN_OK) {
        return qn_fail(err, status, "no memory for the runtime");
    }
    qn_runtime *rt = qn_zalloc(budget, "runtime", sizeof(*rt));
    if (rt == NULL) {
        status = qn_blame_ceiling(budget, qn_fail(err, QN_ENOMEM, "no memory for the runtime"), err);
        qn_budget_close(budget);
        return status;
    }
    rt->budget = budget;
    status = start(rt, o, err);
    if (status != QN_OK) {
        status = qn_blame_ceiling(budget, status, err);
        qn_runtime_close(rt);
        return status;
    }
    *out = rt;
    return QN_OK;
}

void qn_runtime_close(qn_runtime *rt)
{
    if (rt == NULL) {
        return;
    }
    qn_format_cache_close(rt->formats);
    if (rt->cpu != NULL) {
        rt->cpu->ops->close(rt->cpu);
    }
    qn_pool_close(rt->pool);
    qn_budget *budget = rt->budget;
    qn_free(rt);
    qn_budget_close(budget);
}

uint32_t qn_runtime_threads(const qn_runtime *rt)
{
    return qn_pool_threads(rt->pool);
}
const char *qn_runtime_isa(const qn_runtime *rt)
{
    return rt->kernels.isa;
}
uint64_t qn_runtime_memory_used(const qn_runtime *rt)
{
    return qn_budget_used(rt->budget);
}
uint64_t qn_runtime_memory_peak(const qn_runtime *rt)
{
    return qn_budget_peak(rt->budget);
}

bool qn_runtime_memory(const qn_runtime *rt, size_t i, const char **owner, uint64_t *bytes)
{
    return qn_budget_owner(rt->budget, i, owner, bytes);
}
