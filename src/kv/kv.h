/* The paged KV cache: one reservation in bytes, cut into pages on demand, and each sequence's list of pages.
 *
 * A page belongs to a group of layers (tensor/kv_layout.h), and is plain or holds codes by its number in the sequence.
 * All share the reservation: memory is carved when the group's own free list of that kind is empty, and a freed page
 * goes back to it; when no page is in use all is carved anew.
 * Nothing is zeroed: attention reads no token that was not written. Not thread-safe; the session that owns it is used
 * by one thread at a time. SPDX-License-Identifier: MIT */
#ifndef QN_KV_KV_H
#define QN_KV_KV_H

#include "base/alloc.h"
#include "tensor/kv_layout.h"

typedef struct qn_kv qn_kv;

/* max_bytes is reserved at once (owner "kv") but becomes resident only as pages are used. layout is borrowed.
 * QN_ENOMEM, QN_EBUDGET. */
qn_status qn_kv_open(const qn_kv_layout *layout, uint64_t max_bytes, qn_budget *b, qn_kv **out, qn_error *err);
void qn_kv_close(qn_kv *kv); /* every sequence must have been freed */

/* Bytes that n_seqs sequences of n_ctx tokens need at most, steps having at most n_batch rows. UINT64_MAX: overflow. */
uint64_t qn_kv_worst_bytes(const qn_kv_layout *layout, uint32_t n_ctx, uint32_t n_batch, uint32_t n_seqs);
uint64_t qn_kv_pages_in_use(const qn_kv *kv);

/* One sequence's memory.
 * Invariants: pages[g][i] is set exactly for first[g] <= i < end[g]; length <= end[g] * page_tokens; all positions that
 * a row at `length` or later sees are in pages that are set. */
typedef struct qn_kv_seq {
    uint32_t length; /* tokens held */
    uint32_t max_pages;
    uint8_t **pages[QN_KV_MAX_GROUPS];
    uint32_t first[QN_KV_MAX_GROUPS], end[QN_KV_MAX_GROUPS];
    uint8_t *recent;   /* layout->recent_bytes: the last tokens as plain numbers; NULL: none are kept */
    uint32_t n_recent; /* of them, those that are there: [length - n_recent, length) */
    float *means; /* layout->n_means floats, set while the first page is filled for the last time; NULL: none */
} qn_kv_seq;

qn_status qn_kv_seq_init(qn_kv *kv, qn_kv_seq *s, uint32_t n_ctx, qn_error *err);
/* Makes a sequence without pages, of another cache with the same groups and page size, one of kv. QN_ENOMEM: still good
 * for both. */
qn_status qn_kv_seq_fit(qn_kv *kv, qn_kv_seq *s, qn_error *err);
void qn_kv_seq_free(qn_kv *kv, qn_kv_seq *s);

/* Makes room for n_tokens more. QN_EFULL: no page left; what was reserved on the way is given back. */
qn_status qn_kv_seq_reserve(qn_kv *kv, qn_kv_seq *s, uint32_t n_tokens, qn_error *err);
/* The reserved tokens were written: they count now, and pages that fell behind a window are freed. */
void qn_kv_seq_commit(qn_kv *kv, qn_kv_seq *s, uint32_t n_tokens);
/* The reserved tokens were not written, or not all: what was kept of the last ones is gone. */
void qn_kv_seq_cancel(qn_kv *kv, qn_kv_seq *s);
/* QN_ERANGE: longer than the sequence, or positions that the next row sees are gone. */
qn_status qn_kv_seq_truncate(qn_kv *kv, qn_kv_seq *s, uint32_t n_keep, qn_error *err);

#endif
