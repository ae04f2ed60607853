/* quern bench: prefill and decode speed, and how near they come to what the kernels and the memory can deliver.
 *
 * Tokens are random ids from a fixed seed, so that no tokenizer and no sampler is in the measured time. Every test has
 * a session of its own, of exactly the size it needs, and one run that warms up.
 *
 * SPDX-License-Identifier: MIT */
#include "cli/bench_limits.h"
#include "cli/bench_report.h"
#include "cli/cli.h"
#include "cli/gguf_memory.h"
#include "cli/input.h"
#include "cli/interrupt.h"
#include "cli/report.h"

#include "base/clock.h"
#include "base/random.h"

typedef struct bench {
    const qn_options *options;
    qn_opened opened;
    qn_bench_report report;
    qn_tokens tokens; /* random, as many as the longest test reads */
    uint64_t read_per_token;
    double *rates;
} bench;

/* One test in its session. */
typedef struct test {
    bench *b;
    qn_bench_result result;
    qn_session *session;
    qn_seq **seqs; /* result.n_seqs, and in a mixed test one more, for the prompt */
    size_t n_open;
    qn_step_item *items;
    bool is_mixed;
} test;

typedef qn_status run_fn(test *t, uint64_t *n_tokens, qn_error *err);

static qn_status run_prefill(test *t, uint64_t *n_tokens, qn_error *err)
{
    *n_tokens = t->result.n_prompt;
    return qn_seq_eval(t->seqs[0], t->b->tokens.ids, t->result.n_prompt, NULL, err);
}

/* One step of what is in t->items; any item's failure is the step's. */
static qn_status run_step(test *t, size_t n_items, qn_error *err)
{
    QN_TRY(qn_step(t->session, t->items, n_items, err));
    for (size_t i = 0; i < n_items; i++) {
        if (t->items[i].status != QN_OK) {
            return qn_fail(err, t->items[i].status, "sequence %zu of a step: %s", i,
                           qn_status_text(t->items[i].status));
        }
    }
    return QN_OK;
}

/* The i-th token of every decoding sequence. */
static void set_decode_items(test *t, uint32_t i)
{
    for (uint32_t k = 0; k < t->result.n_seqs; k++) {
        const int32_t *id = &t->b->tokens.ids[(i + k) % t->b->tokens.n];
        t->items[k] = (qn_step_item){.seq = t->seqs[k], .tokens = id, .n_tokens = 1, .want = QN_WANT_LAST};
    }
}

static qn_status run_decode(test *t, uint64_t *n_tokens, qn_error *err)
{
    uint32_t n_seqs = t->result.n_seqs;
    *n_tokens = (uint64_t)t->result.n_gen * n_seqs;
    for (uint32_t i = 0; i < t->result.n_gen; i++) {
        set_decode_items(t, i);
        QN_TRY(run_step(t, n_seqs, err));
    }
    return QN_OK;
}

/* Each step holds one token of every decoding sequence and as much of the prompt as fits. */
static qn_status run_mixed(test *t, uint64_t *n_tokens, qn_error *err)
{
    uint32_t n_seqs = t->result.n_seqs, n_chunk = t->b->report.n_batch - n_seqs;
    *n_tokens = 0;
    t->result.n_gen = 0;
    for (uint32_t i = 0; i < t->result.n_prompt; i += n_chunk) {
        uint32_t n = t->result.n_prompt - i < n_chunk ? t->result.n_prompt - i : n_chunk;
        set_decode_items(t, t->result.n_gen);
        t->items[n_seqs] =
            (qn_step_item){.seq = t->seqs[n_seqs], .tokens = &t->b->tokens.ids[i], .n_tokens = n, .want = QN_WANT_LAST};
        QN_TRY(run_step(t, n_seqs + 1, err));
        t->result.n_gen += n_seqs;
        *n_tokens += n + n_seqs;
    }
    return QN_OK;
}

/* Every sequence back to the depth where the measured tokens begin. */
static qn_status rewind_to_depth(test *t, qn_error *err)
{
    for (size_t i = 0; i < t->n_open; i++) {
        bool is_prompt = t->is_mixed && i == t->n_open - 1;
        uint32_t depth = is_prompt ? 0 : t->result.depth;
        if (qn_seq_length(t->seqs[i]) >= depth && qn_seq_truncate(t->seqs[i], depth, NULL) == QN_OK) {
            continue;
        }
        QN_TRY(qn_seq_truncate(t->seqs[i], 0, err)); /* not filled yet, or a window has given the tokens up */
        QN_TRY(qn_seq_eval(t->seqs[i], t->b->tokens.ids, depth, NULL, err));
    }
    return QN_OK;
}

static qn_status measure(test *t, run_fn *run, qn_error *err)
{
    uint32_t n_runs = t->b->report.n_repetitions;
    for (uint32_t i = 0; i <= n_runs; i++) {
        QN_TRY(rewind_to_depth(t, err));
        if (i <= 1) { /* the run that warms up does not count */
            qn_session_profile_reset(t->session);
        }
        uint64_t n_tokens, begin_ns = qn_clock_ns();
        QN_TRY(run(t, &n_tokens, err));
        double rate = qn_rate(n_tokens, qn_clock_ns() - begin_ns);
        if (i > 0) { /* the first one warms up */
            t->b->rates[i - 1] = rate;
        }
    }
    qn_bench_profile_read(t->session, &t->result.profile);
    qn_bench_summarize(t->b->rates, n_runs, &t->result);
    return QN_OK;
}

static qn_status test_open(test *t, uint32_t n_threads, qn_error *err)
{
    const qn_options *o = t->b->options;
    uint32_t n_seqs = t->result.n_seqs + t->is_mixed;
    uint64_t n_ctx = (uint64_t)t->result.depth + t->result.n_prompt + t->result.n_gen;
    qn_session_options s;
    qn_session_options_init(&s);
    s.n_ctx = n_ctx > UINT32_MAX ? UINT32_MAX : (uint32_t)n_ctx;
    s.n_batch = t->b->report.n_batch;
    s.n_seqs = n_seqs;
    s.n_threads = n_threads;
    s.profile = qn_options_flag(o, QN_OPTION_ID_PROFILE);
    qn_input_kv_options(o, &s);
    t->seqs = qn_zalloc_array(NULL, QN_INPUT_OWNER, n_seqs, sizeof(*t->seqs));
    t->items = qn_zalloc_array(NULL, QN_INPUT_OWNER, n_seqs, sizeof(*t->items));
    if (t->seqs == NULL || t->items == NULL) {
        return qn_fail(err, QN_ENOMEM, "no memory for %u sequences", (unsigned)n_seqs);
    }
    QN_TRY(qn_session_open(t->b->opened.model, &s, &t->session, err));
    qn_interrupt_target(t->session);
    for (; t->n_open < n_seqs; t->n_open++) {
        QN_TRY(qn_seq_open(t->session, &t->seqs[t->n_open], err));
    }
    return QN_OK;
}

static void test_close(test *t)
{
    qn_interrupt_target(NULL);
    qn_session_close(t->session); /* and its sequences */
    qn_free(t->seqs);
    qn_free(t->items);
}

static qn_status run_test(bench *b, qn_bench_result what, uint32_t n_threads, run_fn *run, qn_error *err)
{
    test t = {.b = b, .result = what, .is_mixed = run == run_mixed};
    t.result.threads = n_threads > 0 ? n_threads : qn_runtime_threads(b->opened.runtime);
    qn_status status = qn_interrupted() ? QN_EABORTED : test_open(&t, n_threads, err);
    if (status == QN_OK) {
        status = measure(&t, run, err);
    }
    test_close(&t);
    if (status != QN_OK) {
        return status;
    }
    const qn_model_info *info = &b->report.info;
    if (run == run_decode) { /* each step reads the weights once, for all sequences */
        t.result.read_bytes = t.result.median / t.result.n_seqs * (double)b->read_per_token;
        t.result.mul_adds = t.result.median * (double)(info->body_weights + info->head_weights);
    } else if (run == run_prefill) {
        t.result.mul_adds = t.result.median * (double)info->body_weights;
    }
    return qn_bench_report_add(&b->report, &t.result, err);
}

/* All tests at one depth with one number of threads. */
static qn_status run_tests_at(bench *b, uint32_t depth, uint32_t n_threads, qn_error *err)
{
    size_t n;
    const int64_t *prompts = qn_options_ints(b->options, QN_OPTION_ID_N_PROMPT, &n);
    uint32_t n_mixed = (uint32_t)qn_options_int(b->options, QN_OPTION_ID_MIXED);
    for (size_t i = 0; i < n; i++) {
        qn_bench_result what = {.test = "prefill", .n_prompt = (uint32_t)prompts[i], .n_seqs = 1, .depth = depth};
        if (what.n_prompt > 0) {
            QN_TRY(run_test(b, what, n_threads, run_prefill, err));
        }
    }
    size_t n_gens, n_counts;
    const int64_t *gens = qn_options_ints(b->options, QN_OPTION_ID_N_GEN, &n_gens);
    const int64_t *counts = qn_options_ints(b->options, QN_OPTION_ID_SEQUENCES, &n_counts);
    for (size_t i = 0; i < n_gens * n_counts; i++) {
        qn_bench_result what = {.test = "decode",
                                .n_gen = (uint32_t)gens[i / n_counts],
                                .n_seqs = (uint32_t)counts[i % n_counts],
                                .depth = depth};
        if (what.n_gen > 0) {
            QN_TRY(run_test(b, what, n_threads, run_decode, err));
        }
    }
    for (size_t i = 0; n_mixed > 0 && i < n; i++) {
        qn_bench_result what = {.test = "mixed", .n_prompt = (uint32_t)prompts[i], .n_seqs = n_mixed, .depth = depth};
        if (what.n_prompt > 0) {
            QN_TRY(run_test(b, what, n_threads, run_mixed, err));
        }
    }
    return QN_OK;
}

static qn_status run_tests(bench *b, qn_error *err)
{
    size_t n_thread_counts, n_depths;
    const int64_t *threads = qn_options_ints(b->options, QN_OPTION_ID_BENCH_THREADS, &n_thread_counts);
    const int64_t *depths = qn_options_ints(b->options, QN_OPTION_ID_DEPTH, &n_depths);
    for (size_t i = 0; i < n_thread_counts; i++) {
        for (size_t k = 0; k < n_depths; k++) {
            QN_TRY(run_tests_at(b, (uint32_t)depths[k], (uint32_t)threads[i], err));
        }
    }
    return QN_OK;
}

/* The largest of a list; 0 stands for what the machine has, when zero_is_all. */
static uint32_t largest(const qn_options *o, qn_option_id id, bool zero_is_all)
{
    size_t n;
    const int64_t *v = qn_options_ints(o, id, &n);
    int64_t max = 0;
    for (size_t i = 0; i < n; i++) {
        if (v[i] == 0 && zero_is_all) {
            return 0;
        }
        max = v[i] > max ? v[i] : max;
    }
    return (uint32_t)max;
}

static qn_status make_tokens(bench *b, qn_error *err)
{
    qn_random r;
    qn_random_seed(&r, 1);
    const qn_option_id lists[] = {QN_OPTION_ID_N_PROMPT, QN_OPTION_ID_N_GEN, QN_OPTION_ID_DEPTH};
    uint32_t n = 1;
    for (size_t i = 0; i < 3; i++) {
        uint32_t of_list = largest(b->options, lists[i], false);
        n = of_list > n ? of_list : n;
    }
    for (uint32_t i = 0; i < n; i++) {
        QN_TRY(qn_tokens_add(&b->tokens, (int32_t)qn_random_below(&r, b->report.info.n_vocab), err));
    }
    return QN_OK;
}

/* A mixture of experts reads only some of its weights, and which is not known here: 0. */
static uint64_t weights_read(const char *path)
{
    qn_gguf *g;
    if (qn_gguf_open(path, NULL, &g, NULL) != QN_OK) {
        return 0;
    }
    uint64_t bytes = qn_gguf_find_tensor(g, "blk.0.ffn_gate_inp.weight") != NULL ? 0 : qn_memory_read_per_token(g);
    qn_gguf_close(g);
    return bytes;
}

/* What only the user can have got wrong. */
static qn_status check_usage(const qn_options *o, qn_error *err)
{
    int64_t n_batch = qn_options_int(o, QN_OPTION_ID_BATCH_SIZE), n_mixed = qn_options_int(o, QN_OPTION_ID_MIXED);
    if (largest(o, QN_OPTION_ID_SEQUENCES, false) > n_batch) {
        return qn_fail(err, QN_EINVAL, "--sequences: %u do not fit into a batch of %lld",
                       (unsigned)largest(o, QN_OPTION_ID_SEQUENCES, false), (long long)n_batch);
    }
    if (n_mixed >= n_batch) {
        return qn_fail(err, QN_EINVAL, "--mixed: %lld sequences leave no room for a prompt in a batch of %lld",
                       (long long)n_mixed, (long long)n_batch);
    }
    uint64_t longest = (uint64_t)largest(o, QN_OPTION_ID_DEPTH, false) + largest(o, QN_OPTION_ID_N_PROMPT, false) +
                       largest(o, QN_OPTION_ID_N_GEN, false);
    if (longest > 1u << 24) {
        return qn_fail(err, QN_EINVAL, "--depth, --n-prompt and --n-gen: %llu tokens together, a context holds %u",
                       (unsigned long long)longest, 1u << 24);
    }
    return QN_OK;
}

static qn_status prepare(bench *b, const char *path, qn_error *err)
{
    const qn_options *o = b->options;
    uint32_t n_threads = largest(o, QN_OPTION_ID_BENCH_THREADS, true);
    QN_TRY(qn_open_model(o, n_threads, false, &b->opened, err));
    qn_model_get_info(b->opened.model, &b->report.info);
    b->report.model_path = path;
    b->report.isa = qn_runtime_isa(b->opened.runtime);
    b->report.n_batch = (uint32_t)qn_options_int(o, QN_OPTION_ID_BATCH_SIZE);
    b->report.n_repetitions = (uint32_t)qn_options_int(o, QN_OPTION_ID_REPETITIONS);
    b->rates = qn_zalloc_array(NULL, QN_INPUT_OWNER, b->report.n_repetitions, sizeof(*b->rates));
    if (b->rates == NULL) {
        return qn_fail(err, QN_ENOMEM, "no memory for %u runs", (unsigned)b->report.n_repetitions);
    }
    b->read_per_token = weights_read(path);
    return make_tokens(b, err);
}

static bool print_results(const bench *b)
{
    if (qn_options_flag(b->options, QN_OPTION_ID_JSON)) {
        return qn_bench_print_json(&b->report);
    }
    return qn_options_flag(b->options, QN_OPTION_ID_CSV) ? qn_bench_print_csv(&b->report)
                                                         : qn_bench_print_table(&b->report);
}

int qn_verb_bench(const qn_options *o)
{
    bench b = {.options = o};
    qn_error err;
    qn_buf path;
    if (check_usage(o, &err) != QN_OK) {
        return qn_report_usage("bench", &err);
    }
    if (qn_input_model_path(o, &path, &err) != QN_OK) {
        return qn_report_failure("bench", &err);
    }
    qn_interrupt_watch();
    qn_status status = prepare(&b, path.data, &err);
    if (status == QN_OK) {
        status = run_tests(&b, &err);
    }
    int code;
    if (status == QN_EABORTED && qn_interrupted()) {
        code = QN_EXIT_INTERRUPTED;
    } else if (status != QN_OK) {
        code = qn_report_failure("bench", &err);
    } else {
        b.report.peak_memory = qn_report_peak_memory();
        if (qn_bench_compare_with_limits(&b.report, b.opened.runtime, b.opened.model, b.read_per_token, &err) !=
            QN_OK) {
            fprintf(stderr, "quern bench: %s\n", err.what);
        }
        code = print_results(&b) ? QN_EXIT_DONE : QN_EXIT_FAILED;
    }
    qn_bench_report_close(&b.report);
    qn_close_model(&b.opened);
    qn_tokens_free(&b.tokens);
    qn_free(b.rates);
    qn_buf_free(&path);
    return code;
}
