/* The list of tokens that may still be picked, and a heap over it. SPDX-License-Identifier: MIT */
#include "sample/sample_int.h"

#include <assert.h>
#include <string.h>

void qn_candidates_fill(qn_candidates *c, const float *logits, uint32_t n_vocab)
{
    assert(c->cap >= n_vocab);
    size_t n = 0;
    for (uint32_t i = 0; i < n_vocab; i++) {
        if (isfinite(logits[i])) {
            c->item[n++] = (qn_candidate){.id = (int32_t)i, .logit = logits[i]};
        }
    }
    c->n = n;
}

float qn_candidates_max_logit(const qn_candidates *c)
{
    assert(c->n >= 1);
    float max = c->item[0].logit;
    for (size_t i = 1; i < c->n; i++) {
        max = c->item[i].logit > max ? c->item[i].logit : max;
    }
    return max;
}

double qn_candidates_weigh(qn_candidates *c, double temperature)
{
    double max = qn_candidates_max_logit(c);
    double sum = 0;
    for (size_t i = 0; i < c->n; i++) {
        c->item[i].weight = exp(((double)c->item[i].logit - max) / temperature);
        sum += c->item[i].weight;
    }
    return sum;
}

static void sift_down(qn_candidate *item, size_t n, size_t i, qn_candidate_before *before)
{
    qn_candidate moving = item[i];
    for (size_t child = 2 * i + 1; child < n; child = 2 * i + 1) {
        if (child + 1 < n && before(&item[child + 1], &item[child])) {
            child++;
        }
        if (!before(&item[child], &moving)) {
            break;
        }
        item[i] = item[child];
        i = child;
    }
    item[i] = moving;
}

void qn_heap_build(qn_candidate *item, size_t n, qn_candidate_before *before)
{
    for (size_t i = n / 2; i-- > 0;) {
        sift_down(item, n, i, before);
    }
}

void qn_heap_pop(qn_candidate *item, size_t n, qn_candidate_before *before)
{
    assert(n >= 1);
    qn_candidate root = item[0];
    item[0] = item[n - 1];
    item[n - 1] = root;
    if (n > 1) {
        sift_down(item, n - 1, 0, before);
    }
}

void qn_candidates_keep_popped(qn_candidates *c, size_t n_popped)
{
    assert(n_popped <= c->n);
    qn_candidate *popped = c->item + (c->n - n_popped); /* the first popped lies last */
    for (size_t i = 0, j = n_popped; i + 1 < j; i++) {
        j--;
        qn_candidate swap = popped[i];
        popped[i] = popped[j];
        popped[j] = swap;
    }
    memmove(c->item, popped, n_popped * sizeof(*popped));
    c->n = n_popped;
}

bool qn_candidate_is_better(const qn_candidate *a, const qn_candidate *b)
{
    return a->logit > b->logit || (a->logit == b->logit && a->id < b->id);
}

void qn_candidates_keep_best(qn_candidates *c, size_t k)
{
    size_t n_kept = 0;
    qn_heap_build(c->item, c->n, qn_candidate_is_better);
    while (n_kept < k && n_kept < c->n) {
        qn_heap_pop(c->item, c->n - n_kept, qn_candidate_is_better);
        n_kept++;
    }
    qn_candidates_keep_popped(c, n_kept);
}
