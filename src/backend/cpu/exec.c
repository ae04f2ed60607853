/* The CPU backend: compiling a plan and reserving its memory.
 * SPDX-License-Identifier: MIT */
#include "backend/cpu/exec_profile.h"

#include "base/checked.h"

static bool add_product(uint64_t *sum, uint64_t a, uint64_t b)
{
    uint64_t p;
    return qn_mul_u64(a, b, &p) && qn_round_up_u64(p, 64, &p) && qn_add_u64(*sum, p, sum);
}

/* Each thread has room for a private copy of the widest input of a row op or a product. */
static bool plan_thread_scratch(qn_exec *ex)
{
    uint64_t width = 0, scratch = 0, at = 0;
    for (uint32_t i = 0; i < ex->n_ops; i++) {
        qn_cpu_op *op = &ex->ops[i];
        uint64_t need = 0;
        if ((op->kind == QN_CPU_ROWS || op->kind == QN_CPU_PRODUCT) && op->width > width) {
            width = op->width;
        }
        if (op->kind == QN_CPU_PRODUCT || op->kind == QN_CPU_EXPERT) {
            need = qn_cpu_product_scratch(ex, op);
            qn_cpu_cut_private(ex, op);
        } else if (op->kind == QN_CPU_ATTENTION) {
            need = qn_cpu_attention_scratch(ex, op);
        } else if (op->kind == QN_CPU_ROUTE) {
            need = sizeof(float) * (uint64_t)op->width;
        }
        scratch = need > scratch ? need : scratch;
    }
    ex->private_x = at;
    if (!add_product(&at, sizeof(float) * 2 * QN_CPU_JOIN_ROWS, width + 16)) {
        return false;
    }
    ex->private_a8 = at;
    if (!add_product(&at, QN_CPU_JOIN_ROWS, qn_a8_bytes(width))) {
        return false;
    }
    ex->private_y = at;
    if (!add_product(&at, sizeof(float) * QN_CPU_JOIN_ROWS, QN_PRIVATE_LD)) {
        return false;
    }
    ex->scratch_at = at;
    return add_product(&at, 1, scratch) && qn_round_up_u64(at, 4096, &ex->thread_stride);
}

static qn_status reserve(qn_exec *ex, void **out, const char *owner, uint64_t bytes, qn_error *err)
{
    *out = bytes > SIZE_MAX ? NULL : qn_zalloc(ex->be->budget, owner, (size_t)bytes);
    if (*out == NULL) {
        return qn_fail(err, qn_alloc_failure(ex->be->budget, bytes), "no memory for %llu bytes of '%s'",
                       (unsigned long long)bytes, owner);
    }
    return QN_OK;
}

static qn_status reserve_all(qn_exec *ex, qn_error *err)
{
    uint64_t angle_bytes = 0, thread_bytes = 0;
    if (!plan_thread_scratch(ex) ||
        !add_product(&angle_bytes, (uint64_t)ex->n_ropes * ex->lim.n_rows, 2 * sizeof(float) * ex->max_pairs) ||
        !add_product(&thread_bytes, ex->n_threads, ex->thread_stride)) {
        return qn_fail(err, QN_ERANGE, "the working memory does not fit in 64 bits");
    }
    QN_TRY(qn_arena_plan(ex->places, ex->n_blocks, ex->be->budget, &ex->arena_bytes, err));
    QN_TRY(reserve(ex, (void **)&ex->arena, "arena", ex->arena_bytes, err));
    QN_TRY(reserve(ex, (void **)&ex->angles, "arena", angle_bytes, err));
    QN_TRY(reserve(ex, (void **)&ex->thread_bytes, "thread scratch", thread_bytes, err));
    QN_TRY(reserve(ex, (void **)&ex->partials, "attention parts", sizeof(float) * qn_cpu_partial_floats(ex), err));
    if (QN_CPU_PASSES * (uint64_t)ex->n_ops > QN_POOL_MAX_PASSES) {
        return qn_fail(err, QN_EUNSUPPORTED, "a plan of %u ops has too many passes", ex->n_ops);
    }
    return reserve(ex, (void **)&ex->passes, "plan", QN_CPU_PASSES * sizeof(*ex->passes) * (uint64_t)ex->n_ops, err);
}

static void exec_free(qn_exec *ex)
{
    if (ex == NULL) {
        return;
    }
    qn_pool_quiesce(ex->be->pool); /* a late thread may still be at its scratch and at weights */
    qn_free(ex->ops);
    qn_free(ex->blocks);
    qn_free(ex->places);
    qn_free(ex->arena);
    qn_free(ex->angles);
    qn_free(ex->thread_bytes);
    qn_free(ex->partials);
    qn_free(ex->passes);
    qn_free(ex->profile);
    qn_free(ex);
}

static qn_status compile(qn_backend *be, const qn_graph *g, const qn_exec_limits *lim, qn_exec **out, qn_error *err)
{
    qn_cpu_backend *cpu = (qn_cpu_backend *)be;
    qn_exec *ex = qn_zalloc(cpu->budget, "plan", sizeof(*ex));
    if (ex == NULL) {
        return qn_fail(err, QN_ENOMEM, "no memory for the plan");
    }
    ex->be = cpu;
    ex->kernels = cpu->kernels;
    ex->kv = g->kv;
    ex->lim = *lim;
    uint32_t pool = qn_pool_threads(cpu->pool);
    ex->n_threads = lim->n_threads == 0 || lim->n_threads > pool ? pool : lim->n_threads;
    qn_status status = qn_cpu_fuse(ex, g, err);
    if (status == QN_OK) {
        status = reserve_all(ex, err);
    }
    if (status == QN_OK && lim->profile && (ex->profile = qn_cpu_profile_new(ex)) == NULL) {
        status = qn_fail(err, QN_ENOMEM, "no memory for a profile");
    }
    if (status != QN_OK) {
        exec_free(ex);
        return status;
    }
    *out = ex;
    return QN_OK;
}

static qn_status run_body(qn_exec *ex, const qn_step_rows *step, const atomic_bool *stop)
{
    qn_job job = {.step = step, .op_begin = 0, .op_end = ex->i_head, .stop = stop};
    return qn_cpu_run(ex, &job);
}

static qn_status run_head(qn_exec *ex, const qn_step_rows *step, uint32_t first, uint32_t n, float *logits,
                          const atomic_bool *stop)
{
    qn_job job = {.step = step,
                  .op_begin = ex->i_head,
                  .op_end = ex->n_ops,
                  .out_first = first,
                  .n_out = n,
                  .logits = logits,
                  .stop = stop};
    return qn_cpu_run(ex, &job);
}

static uint32_t n_ops(const qn_exec *ex)
{
    return ex->n_ops;
}
static uint32_t n_blocks(const qn_exec *ex)
{
    return ex->n_blocks;
}
static uint64_t arena_bytes(const qn_exec *ex)
{
    return ex->arena_bytes;
}

static const qn_block *block(const qn_exec *ex, uint32_t i, const char **name)
{
    *name = ex->blocks[i].name;
    return &ex->places[i];
}

static void cpu_close(qn_backend *be)
{
    qn_free(be);
}

static const qn_backend_ops cpu_ops = {
    .name = "cpu",
    .compile = compile,
    .exec_free = exec_free,
    .run_body = run_body,
    .run_head = run_head,
    .n_ops = n_ops,
    .describe_op = qn_cpu_describe,
    .n_blocks = n_blocks,
    .block = block,
    .arena_bytes = arena_bytes,
    .profile = qn_cpu_profile_get,
    .profile_reset = qn_cpu_profile_reset,
    .close = cpu_close,
};

qn_status qn_cpu_open(const qn_kernels *kernels, qn_pool *pool, qn_budget *b, qn_backend **out, qn_error *err)
{
    qn_cpu_backend *be = qn_zalloc(b, "plan", sizeof(*be));
    if (be == NULL) {
        return qn_fail(err, QN_ENOMEM, "no memory for the CPU backend");
    }
    *be = (qn_cpu_backend){.base = {&cpu_ops}, .kernels = kernels, .pool = pool, .budget = b};
    *out = &be->base;
    return QN_OK;
}
