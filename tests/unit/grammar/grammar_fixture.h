/* One grammar at a time with its matcher: put it together in b, start, ask the matcher, end.
 * SPDX-License-Identifier: MIT */
#ifndef QN_TESTS_GRAMMAR_FIXTURE_H
#define QN_TESTS_GRAMMAR_FIXTURE_H

#include "grammar_rig.h"

typedef struct fixture {
    rig g;
    qn_gx_builder b;
    qn_grammar *grammar;
    qn_matcher *m;
    uint64_t bits[16]; /* room for a mask of the rig's vocabulary */
} fixture;

static inline void begin(fixture *f)
{
    rig_open(&f->g);
    memset(f->bits, 0, sizeof(f->bits));
    qn_gx_init(&f->b, NULL);
}

/* The builder's root is set. */
static inline void start(fixture *f)
{
    f->grammar = rig_compile(&f->b);
    f->m = rig_match(f->grammar, &f->g);
}

static inline void end(fixture *f)
{
    qn_matcher_close(f->m);
    qn_grammar_close(f->grammar);
    qn_gx_free(&f->b);
    rig_close(&f->g);
}

#endif
