/* The objects behind quern.h. Private to engine. SPDX-License-Identifier: MIT */
#ifndef QN_ENGINE_ENGINE_INT_H
#define QN_ENGINE_ENGINE_INT_H

#include "backend/backend.h"
#include "backend/cpu/table.h"
#include "base/alloc.h"
#include "base/pool.h"
#include "gguf/gguf.h"
#include "kv/kv.h"
#include "model/net.h"
#include "text/tokenizer.h"

/* Ceilings of session options; far above use, low enough that sizes computed from them stay inside 64 bits. */
#define QN_MAX_BATCH 65536
#define QN_MAX_SEQS 4096

/* Returns QN_EINVAL when an argument that a caller must give is NULL. */
#define QN_NEED(arg, err)                                       \
    do {                                                        \
        if ((arg) == NULL) {                                    \
            return qn_fail((err), QN_EINVAL, "%s: NULL", #arg); \
        }                                                       \
    } while (0)

#define QN_NEED_IF(condition, arg, err) \
    do {                                \
        if (condition) {                \
            QN_NEED(arg, err);          \
        }                               \
    } while (0)

/* What a call returns that may have failed for want of memory: when the ceiling of b was in the way it is QN_EBUDGET,
 * and *err (if not NULL) has the bytes asked for and the ceiling. */
qn_status qn_blame_ceiling(const qn_budget *b, qn_status status, qn_error *err);

struct qn_runtime {
    qn_budget *budget;
    qn_pool *pool;
    qn_kernels kernels;
    qn_backend *cpu;
    struct qn_format_cache *formats;
};

typedef struct qn_guide_vocab qn_guide_vocab;

struct qn_model {
    qn_runtime *rt;
    qn_gguf *gguf;
    qn_tokenizer *tokenizer;
    size_t longest_piece; /* bytes of the longest token's spelling */
    qn_net *net;          /* NULL: vocabulary only */
    qn_guide_vocab *guide_vocab;
    char name[128];
    char arch[32];
    char file[128]; /* the file's name without its folder, perhaps only its end */
    bool is_mapped; /* the file, as against read into memory */
};

/* A sequence is in use (`is_open`) from qn_seq_open() to qn_seq_close(); slots are reused. */
struct qn_seq {
    qn_session *session;
    qn_kv_seq kv;
    bool is_open, in_step;
};

struct qn_sampler {
    struct qn_chain *chain;
};

struct qn_session {
    qn_model *model;
    qn_session_options opt; /* with every 0 replaced */
    uint64_t kv_asked; /* opt.kv_bytes as it was given; QN_KV_LEAST */
    qn_kv_layout layout;
    qn_kv *kv;
    qn_exec *exec;
    qn_seq *seqs; /* opt.n_seqs slots */

    /* The step being built; sized for n_batch rows and n_seqs sequences. */
    int32_t *token;
    uint32_t *pos, *row_seq, *out_rows;
    qn_step_seq *step_seqs;
    qn_step_item **step_items; /* the item behind each of step_seqs */
    qn_step_rows rows;

    float *logits; /* opt.n_logits rows */
    uint32_t n_logits;
    atomic_bool stop;
};

/* session_kv.c */
#define QN_KV_LEAST UINT64_MAX /* as kv_asked: no more than a page of each group */
qn_status qn_kv_type_check(qn_kv_type type, qn_error *err);
/* Checks the options of keys and values and replaces each 0; page_tokens is settled. */
qn_status qn_kv_settle_options(qn_session_options *o, qn_error *err);
/* Plans the pages of the type and reserves kv_asked bytes of them, at most what all sequences need; 0: all that. The
 * layers of s->layout are set. On failure s->layout is that of the type, all else as it was. */
qn_status qn_session_open_kv(qn_session *s, qn_kv_type type, uint32_t n_first, qn_error *err);

/* session.c: qn_session_open() with kv_asked as given here. */
qn_status qn_session_open_as(qn_model *m, const qn_session_options *o, uint64_t kv_asked, qn_session **out,
                             qn_error *err);

#endif
