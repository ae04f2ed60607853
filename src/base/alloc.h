/* The only way to get memory. Every block has an owner's name and is charged to a budget, so that what the
 * process holds can be accounted for, bounded, and made to fail in tests.
 * SPDX-License-Identifier: MIT */
#ifndef QN_BASE_ALLOC_H
#define QN_BASE_ALLOC_H

#include "base/status.h"

typedef struct qn_budget qn_budget;

/* limit_bytes 0: no ceiling. Any thread may charge a budget. */
qn_status qn_budget_open(uint64_t limit_bytes, qn_budget **out);
void qn_budget_close(qn_budget *b); /* everything charged must have been released */

uint64_t qn_budget_used(const qn_budget *b);
uint64_t qn_budget_peak(const qn_budget *b);
/* Owner i (in order of first use, at most 64; later ones are counted as "other"). False: no such i. */
bool qn_budget_owner(const qn_budget *b, size_t i, const char **name, uint64_t *bytes);

/* Charges bytes that are not allocated here (a file map). QN_EBUDGET: would pass the ceiling. */
qn_status qn_budget_charge(qn_budget *b, const char *owner, uint64_t bytes);
void qn_budget_release(qn_budget *b, const char *owner, uint64_t bytes);

/* A block of `bytes` bytes aligned to 64, not initialised; NULL: no memory or no budget. bytes may be 0.
 * owner is a string literal ("kv", "tokenizer"). b NULL: not charged. Else 64 bytes (debug builds: some more) are
 * charged beside the block's own, for its header. */
void *qn_alloc(qn_budget *b, const char *owner, size_t bytes);
/* The same, zeroed; big blocks come from the system zeroed and are touched only when used. */
void *qn_zalloc(qn_budget *b, const char *owner, size_t bytes);
/* n * size bytes, zeroed; NULL also when the product overflows. */
void *qn_zalloc_array(qn_budget *b, const char *owner, size_t n, size_t size);
/* Grows or shrinks p (NULL: allocates), keeping budget and owner of p; NULL: p is unchanged. */
void *qn_realloc(qn_budget *b, const char *owner, void *p, size_t bytes);
void qn_free(void *p); /* NULL is allowed */

/* Why a request for `bytes` came back empty: QN_EBUDGET when they would pass b's ceiling, else QN_ENOMEM. */
qn_status qn_alloc_failure(const qn_budget *b, uint64_t bytes);

/* Whether it was b's ceiling that refused the last of this thread's requests that failed, told once: what was asked
 * for, and the ceiling. For the call that turns a failure deep inside into an answer for the user. */
bool qn_budget_refusal(const qn_budget *b, uint64_t *bytes, uint64_t *limit);

/* Tests: the n-th allocation from now on (1 = the next) fails, once. 0: none fails. */
void qn_alloc_fail_at(uint64_t n);
/* Tests: blocks that are allocated now, and allocations made since the start. */
uint64_t qn_alloc_live(void);
uint64_t qn_alloc_count(void);

#endif
