/* Tests of steps whose threads come late: kernels that sleep, at random or until they are told to go on, stand for a
 * system that takes a thread off its processor. Results must have the bits of one thread.
 * SPDX-License-Identifier: MIT */
#include "graph_rig.h"

#include <pthread.h>
#include <unistd.h>

static const qn_type mixed[] = {QN_TYPE_F32, QN_TYPE_Q8_0, QN_TYPE_Q4_0, QN_TYPE_Q5_1, QN_TYPE_F16, QN_TYPE_MXFP4};

/* ---- kernels that take their time ---- */

static struct {
    qn_kernels real;
    pthread_t caller;
    atomic_uint n_calls;
    atomic_uint one_in; /* every so many calls one sleeps; 0: none */
    atomic_bool hold;   /* a worker that comes to a product stays there, and the caller waits for one to come */
    atomic_uint n_held, n_let_go;
} late;

static void maybe_sleep(void)
{
    unsigned n = atomic_fetch_add(&late.n_calls, 1), one_in = atomic_load(&late.one_in);
    if (one_in != 0 && n * 2654435761u >> 16 << 16 < UINT32_MAX / one_in) {
        usleep(n % 4 == 0 ? 2000 : 300);
    }
}

static void come_to_product(void)
{
    bool is_caller = pthread_equal(pthread_self(), late.caller) != 0;
    while (is_caller && atomic_load(&late.hold) && atomic_load(&late.n_held) == 0) {
        usleep(100);
    }
    if (!is_caller && atomic_load(&late.hold)) {
        atomic_fetch_add(&late.n_held, 1);
        while (atomic_load(&late.hold)) {
            usleep(100);
        }
        atomic_fetch_add(&late.n_let_go, 1);
    }
    maybe_sleep();
}

#define SLOW_PRODUCT(T)                                                                                        \
    static void one_##T(const uint8_t *w, size_t row_bytes, size_t n_rows, size_t n_k, const void *x, float *y) \
    {                                                                                                          \
        come_to_product();                                                                                     \
        late.real.mm[QN_TYPE_##T].one(w, row_bytes, n_rows, n_k, x, y);                                        \
    }                                                                                                          \
    static void few_##T(const uint8_t *w, size_t row_bytes, size_t n_rows, size_t n_k, const void *x,          \
                        size_t x_bytes, size_t n_cols, float *y, size_t ldy)                                   \
    {                                                                                                          \
        come_to_product();                                                                                     \
        late.real.mm[QN_TYPE_##T].few(w, row_bytes, n_rows, n_k, x, x_bytes, n_cols, y, ldy);                  \
    }

SLOW_PRODUCT(F32)
SLOW_PRODUCT(Q8_0)
SLOW_PRODUCT(Q4_0)
SLOW_PRODUCT(Q5_1)
SLOW_PRODUCT(F16)
SLOW_PRODUCT(MXFP4)

static void slow_norm(const float *x, const float *w, size_t n, float eps, float *y)
{
    maybe_sleep();
    late.real.rms_norm(x, w, n, eps, y);
}

static void slow_attn_page(const qn_attn_page *a)
{
    maybe_sleep();
    late.real.attn_page(a);
}

static void open_late_machine(machine *m, const char *isa, uint32_t n_threads)
{
    open_machine(m, isa, n_threads);
    memset(&late, 0, sizeof(late));
    late.real = m->kernels;
    late.caller = pthread_self();
#define SLOW(T)                              \
    m->kernels.mm[QN_TYPE_##T].one = one_##T; \
    m->kernels.mm[QN_TYPE_##T].few = few_##T
    SLOW(F32);
    SLOW(Q8_0);
    SLOW(Q4_0);
    SLOW(Q5_1);
    SLOW(F16);
    SLOW(MXFP4);
    m->kernels.rms_norm = slow_norm;
    m->kernels.attn_page = slow_attn_page;
}

/* ---- two runs of the same steps ---- */

typedef struct run {
    machine m;
    rig *r;
    qn_exec *ex;
    sequence *all;
    step s;
    float logits[MAX_ROWS * N_LOGITS];
} run;

static run *open_run(const char *isa, uint32_t n_threads, uint64_t seed)
{
    run *n = calloc(1, sizeof(*n));
    n->r = malloc(sizeof(*n->r));
    n->all = calloc(JUDGE_MAX_SEQS, sizeof(*n->all));
    if (n_threads == 1) {
        open_machine(&n->m, isa, 1);
    } else {
        open_late_machine(&n->m, isa, n_threads);
    }
    open_rig(n->r, seed, mixed, 6, QN_TYPE_F32);
    random_graph(n->r, seed % 2 == 0);
    n->ex = compile_rig(n->r, &n->m, &(qn_exec_limits){.n_rows = MAX_ROWS, .n_seqs = JUDGE_MAX_SEQS,
                                                      .n_ctx = JUDGE_MAX_POS, .n_out = MAX_OUT});
    return n;
}

static void close_run(run *n)
{
    if (n->ex != NULL) {
        n->m.be->ops->exec_free(n->ex);
    }
    close_rig(n->r);
    free(n->r);
    free_sequences(n->all);
    close_machine(&n->m);
    free(n);
}

/* One or two rows, as in decode: products of few rows. */
static void few_rows(rig *r, step *s, sequence *all)
{
    begin_step(s);
    for (uint32_t i = 0; i < 1 + below(r, 2); i++) {
        add_rows(r, s, all, i, 1);
    }
    if (s->rows.n_out == 0) {
        s->out_rows[s->rows.n_out++] = s->rows.n_rows - 1;
    }
}

static void both_step(run *alone, run *many, next_step_fn *next)
{
    run *both[2] = {alone, many};
    for (int i = 0; i < 2; i++) {
        run *n = both[i];
        next(n->r, &n->s, n->all);
        run_step(n->ex, n->m.be, &n->s, n->logits);
        end_step(n->r, &n->s, n->all);
    }
    assert_int_equal(alone->s.rows.n_out, many->s.rows.n_out);
    assert_memory_equal(alone->logits, many->logits, sizeof(float) * N_LOGITS * alone->s.rows.n_out);
}

static void test_late_threads_change_no_bit(void **state)
{
    (void)state;
    const char *isa;
    bool usable;
    for (size_t i_set = 0; qn_kernels_known(i_set, &isa, &usable); i_set++) {
        for (uint32_t i = 0; usable && i < 4; i++) {
            run *alone = open_run(isa, 1, 300 + i), *many = open_run(isa, 2 + i * 2, 300 + i);
            atomic_store(&late.one_in, 60);
            for (uint32_t k = 0; k < 8; k++) {
                both_step(alone, many, k % 4 == 0 ? random_step : few_rows);
            }
            atomic_store(&late.one_in, 0);
            for (uint32_t k = 0; k < 40; k++) { /* more threads than cores, with no sleeps */
                both_step(alone, many, few_rows);
            }
            close_run(many);
            close_run(alone);
        }
    }
}

/* ---- a thread that does not come back; odd seeds, for products of experts are not private ---- */

static void *let_go(void *arg)
{
    (void)arg;
    usleep(20000);
    atomic_store(&late.hold, false);
    return NULL;
}

/* Steps, with all workers held in the middle of a chunk from the first on. */
static void hold_workers(run *alone, run *many)
{
    atomic_store(&late.hold, true);
    for (uint32_t k = 0; k < 4; k++) {
        both_step(alone, many, few_rows);
        assert_true(atomic_load(&late.n_held) > 0);
    }
    assert_int_equal(atomic_load(&late.n_let_go), 0);
}

static void test_steps_end_without_a_held_thread(void **state)
{
    (void)state;
    for (uint32_t n_threads = 2; n_threads <= 4; n_threads++) {
        run *alone = open_run("ref", 1, 331 + 2 * n_threads), *many = open_run("ref", n_threads, 331 + 2 * n_threads);
        hold_workers(alone, many);
        /* They go on in a later step. */
        pthread_t other;
        assert_int_equal(pthread_create(&other, NULL, let_go, NULL), 0);
        while (atomic_load(&late.hold)) {
            both_step(alone, many, few_rows);
        }
        pthread_join(other, NULL);
        for (uint32_t k = 0; k < 10; k++) {
            both_step(alone, many, k % 3 == 0 ? random_step : few_rows);
        }
        close_run(many);
        close_run(alone);
    }
}

static void test_a_plan_is_freed_when_all_are_back(void **state)
{
    (void)state;
    run *alone = open_run("ref", 1, 341), *many = open_run("ref", 3, 341);
    hold_workers(alone, many);
    unsigned n_held = atomic_load(&late.n_held);
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, let_go, NULL), 0);
    many->m.be->ops->exec_free(many->ex);
    many->ex = NULL;
    assert_int_equal(atomic_load(&late.n_let_go), n_held);
    pthread_join(other, NULL);
    close_run(many);
    close_run(alone);
}

static void *set_stop(void *arg)
{
    usleep(3000);
    atomic_store((atomic_bool *)arg, true);
    return NULL;
}

static void test_a_stop_while_threads_are_late(void **state)
{
    (void)state;
    run *alone = open_run("ref", 1, 351), *many = open_run("ref", 3, 351);
    atomic_bool stop = false;
    hold_workers(alone, many);
    atomic_store(&late.one_in, 2);
    few_rows(alone->r, &alone->s, alone->all);
    few_rows(many->r, &many->s, many->all);
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, set_stop, &stop), 0);
    qn_status status = QN_OK;
    for (uint32_t k = 0; k < 10000 && status == QN_OK; k++) { /* the same step again does no harm */
        status = many->m.be->ops->run_body(many->ex, &many->s.rows, &stop);
    }
    assert_int_equal(status, QN_EABORTED);
    pthread_join(other, NULL);
    assert_int_equal(atomic_load(&late.n_let_go), 0);
    atomic_store(&late.one_in, 0);
    run_step(alone->ex, alone->m.be, &alone->s, alone->logits);
    run_step(many->ex, many->m.be, &many->s, many->logits);
    assert_memory_equal(alone->logits, many->logits, sizeof(float) * N_LOGITS * alone->s.rows.n_out);
    atomic_store(&late.hold, false);
    close_run(many);
    close_run(alone);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_late_threads_change_no_bit),
        cmocka_unit_test(test_steps_end_without_a_held_thread),
        cmocka_unit_test(test_a_plan_is_freed_when_all_are_back),
        cmocka_unit_test(test_a_stop_while_threads_are_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
