/* What the tests of the engine share: tiny models opened from a file, and scripts of ragged steps.
 * SPDX-License-Identifier: MIT */
#ifndef QN_TESTS_UNIT_ENGINE_SUPPORT_H
#define QN_TESTS_UNIT_ENGINE_SUPPORT_H

#include "test.h"

#include "backend/cpu/table.h"
#include "base/random.h"
#include "engine/engine_int.h"
#include "tiny_model.h"

#include <math.h>
#include <unistd.h>

static inline void expect_ok(qn_status status, const qn_error *err)
{
    if (status != QN_OK) {
        fail_msg("%s: %s", qn_status_name(status), err->what);
    }
}

static inline qn_runtime *open_runtime(const char *isa, uint32_t n_threads)
{
    qn_runtime *rt = NULL;
    qn_error err = {0};
    expect_ok(qn_runtime_open(&(qn_runtime_options){.isa = isa, .n_threads = n_threads}, &rt, &err), &err);
    return rt;
}

/* The file is gone by the time this returns; the map keeps it. */
static inline qn_model *open_tiny(qn_runtime *rt, const qn_tiny_spec *spec)
{
    char path[4096];
    qn_model *m = NULL;
    qn_error err = {0};
    qn_tiny_file(spec, path);
    qn_status status = qn_model_open(rt, path, NULL, &m, &err);
    unlink(path);
    expect_ok(status, &err);
    return m;
}

static inline qn_session *open_session(qn_model *m, const qn_session_options *o)
{
    qn_session *s = NULL;
    qn_error err = {0};
    expect_ok(qn_session_open(m, o, &s, &err), &err);
    return s;
}

static inline qn_seq *open_seq(qn_session *s)
{
    qn_seq *q = NULL;
    qn_error err = {0};
    expect_ok(qn_seq_open(s, &q, &err), &err);
    return q;
}

/* Token i of sequence i_seq: the same whatever else runs. */
static inline int32_t token_at(uint32_t i_seq, uint32_t i) { return (int32_t)((i * 37 + i_seq * 101 + i * i % 11) % 280); }

/* for (size_t i = 0; next_isa(&i, &isa);) every kernel set that this processor can run */
static inline bool next_isa(size_t *i, const char **isa)
{
    bool usable;
    while (qn_kernels_known(*i, isa, &usable)) {
        (*i)++;
        if (usable) {
            return true;
        }
    }
    return false;
}

static inline void run_rows(qn_seq *q, uint32_t n)
{
    int32_t tokens[512] = {0};
    qn_step_item it = {.seq = q, .tokens = tokens, .n_tokens = n};
    assert_true(n <= 512);
    assert_int_equal(qn_step(q->session, &it, 1, NULL), QN_OK);
    assert_int_equal(it.status, QN_OK);
}

/* Makes the free pages of a session hold NaNs and come in a shuffled order: sequences take them, spoil them and go. One
 * is left open with a page of its own, as an empty cache would be cut anew. */
static inline qn_seq *spoil_pages(qn_session *s, qn_random *rnd)
{
    qn_seq *seqs[16];
    uint32_t n = s->opt.n_seqs;
    assert_true(n <= 16);
    for (uint32_t i = 0; i < n; i++) {
        seqs[i] = open_seq(s);
        for (uint32_t left = s->opt.n_ctx, now; left > 0; left -= now) {
            now = left < s->opt.n_batch ? left : s->opt.n_batch;
            run_rows(seqs[i], now);
        }
        for (uint32_t g = 0; g < s->layout.n_groups; g++) {
            for (uint32_t p = seqs[i]->kv.first[g]; p < seqs[i]->kv.end[g]; p++) {
                const qn_kv_group *group = &s->layout.groups[g];
                bool is_plain = p < qn_kv_plain_pages(&s->layout, group->window);
                memset(seqs[i]->kv.pages[g][p], 0xFF, is_plain ? group->page_bytes : group->code_bytes);
            }
        }
    }
    qn_seq *held = seqs[n - 1];
    assert_int_equal(qn_seq_truncate(held, 0, NULL), QN_OK);
    run_rows(held, 1);
    for (uint32_t left = n - 1; left > 0; left--) {
        uint32_t i = (uint32_t)qn_random_below(rnd, left);
        qn_seq_close(seqs[i]);
        seqs[i] = seqs[left - 1];
    }
    return held;
}

#endif
