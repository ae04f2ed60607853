/* Formats and the cache that shares them. Private to engine.
 *
 * A format is counted: the cache, whoever opened it and every guide hold it; the last one to let go frees it. What is
 * compiled never changes, so that nothing but the cache itself is locked.
 * SPDX-License-Identifier: MIT */
#ifndef QN_ENGINE_FORMAT_INT_H
#define QN_ENGINE_FORMAT_INT_H

#include "engine/engine_int.h"
#include "grammar/front.h"
#include "grammar/grammar.h"

#include <stdatomic.h>

#define QN_FORMAT_OWNER "format"

struct qn_format {
    qn_runtime *rt;
    qn_grammar *grammar;
    atomic_uint n_refs;
    qn_buf key;
};

typedef struct qn_format_cache qn_format_cache;

/* memory_bytes: the runtime's ceiling, of which the cache takes a small part; 0: none. */
qn_status qn_format_cache_open(qn_budget *b, uint64_t memory_bytes, qn_format_cache **out);
void qn_format_cache_close(qn_format_cache *c);
/* Lets go of all formats; those in use live on. False: there were none. */
bool qn_format_cache_clear(qn_format_cache *c);

/* Everything that a format depends on, as bytes: two sources with one key have one format. Begins with a word for the
 * kind of source and a NUL ("schema", "calls"), so that kinds have nothing in common. The caller adds the rest, looks at
 * key->status and frees it. */
void qn_format_key_init(qn_buf *key, qn_runtime *rt, const char *kind);

/* What was made for this key lately, held for the caller, to be closed; NULL: nothing. */
qn_format *qn_format_find(qn_runtime *rt, const qn_buf *key);

/* Compiles b (root set by a front end) and keeps what it makes under key; if another thread was faster, *out is what that
 * one made. b and key stay the caller's. Status and err as qn_grammar_open()'s. */
qn_status qn_format_from(qn_runtime *rt, const qn_gx_builder *b, const qn_buf *key, qn_format **out, qn_error *err);

qn_format *qn_format_hold(qn_format *f); /* f, counted once more */
/* Puts f in its runtime's cache. Returns f; or lets go of it and returns, held, the one that was there already. */
qn_format *qn_format_keep(qn_format *f);

#endif
