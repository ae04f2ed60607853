/* Guides: a sequence's place in a format, and what is kept to choose tokens there. Private to engine.
 *
 * A pick goes: the grammar's mask -> the sampler -> the grammar moves on; what it has no room to go on with is masked,
 * and another token picked. When the limit on tokens is near, what was picked must leave a way to the end, or it is
 * taken back, masked and picked anew, too (guide_end.c). A jump goes: bytes that the
 * grammar forces -> tokens, as the tokenizer cuts them behind the last ones (guide_jump.c).
 * SPDX-License-Identifier: MIT */
#ifndef QN_ENGINE_GUIDE_INT_H
#define QN_ENGINE_GUIDE_INT_H

#include "base/os.h"
#include "engine/format_int.h"
#include "sample/sampler.h"

#define QN_GUIDE_OWNER "guide"
#define QN_GUIDE_TAIL 16 /* tokens: further back no tokenizer's cuts depend on what follows */

/* What guides need of a model's vocabulary; made by the first of them, kept by the model. */
struct qn_guide_vocab {
    qn_os_mutex lock;
    qn_grammar_vocab *grammar; /* written once, under the lock */
    bool has_bytes;            /* every byte of UTF-8 is a token by itself, so that n bytes take at most n tokens */
};

qn_status qn_guide_vocab_open(qn_budget *b, qn_guide_vocab **out, qn_error *err);
void qn_guide_vocab_close(qn_guide_vocab *v);
/* Prepares it if nobody did yet. The other threads wait. */
qn_status qn_guide_vocab_need(const qn_model *m, qn_error *err);

struct qn_guide {
    const qn_model *model;
    qn_format *format;
    qn_matcher *matcher;
    uint64_t *mask;  /* of the pick that goes on */
    uint64_t *ahead; /* of a place on the way to the end */
    uint32_t n_words;
    bool has_ended;
    int32_t tail[QN_GUIDE_TAIL]; /* the last tokens of ordinary text, the oldest first */
    uint32_t n_tail;
    qn_buf forced, text; /* of a jump: what must follow; that behind the tail */
    int32_t *ids;        /* room for tokens of the text, twice */
    size_t cap_ids;
    qn_buf way; /* a text that leads to the end */
};

/* The matcher has taken id. */
void qn_guide_moved(qn_guide *g, int32_t id);

/* Whether id, which the matcher has taken, ended the text. */
bool qn_guide_has_ended_by(const qn_guide *g, int32_t id);
/* Whether s is of as many tokens as the guide's model; QN_EINVAL names it. */
qn_status qn_guide_check_sampler(const qn_guide *g, const qn_sampler *s, qn_error *err);

/* ---- guide_end.c ---- */

/* Whether a shortest text to the end takes at most n_left tokens from here, special ones and the end token counted. */
qn_status qn_guide_can_end(qn_guide *g, uint64_t n_left, bool *can);
/* Leaves in the mask only what begins a shortest text to the end, in as few tokens as there can be; where the text may
 * end, the end tokens. Nothing: no way is known. */
qn_status qn_guide_mask_way(qn_guide *g);

#endif
