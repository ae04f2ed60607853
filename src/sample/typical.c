/* Locally typical sampling (Meister et al. 2022): the fewest tokens, those whose surprise is nearest to the entropy
 * first, whose probabilities reach p. SPDX-License-Identifier: MIT */
#include "sample/sample_int.h"

/* weight holds the distance |surprise - entropy| while the heap is in use. */
static bool is_more_typical(const qn_candidate *a, const qn_candidate *b)
{
    if (a->weight != b->weight) {
        return a->weight < b->weight;
    }
    return a->logit > b->logit || (a->logit == b->logit && a->id < b->id);
}

void qn_sample_typical(qn_candidates *c, double p)
{
    double max = qn_candidates_max_logit(c);
    double sum = qn_candidates_weigh(c, 1);
    double log_sum = max + log(sum);
    double entropy = 0;
    for (size_t i = 0; i < c->n; i++) {
        entropy += c->item[i].weight / sum * (log_sum - (double)c->item[i].logit);
    }
    for (size_t i = 0; i < c->n; i++) {
        c->item[i].weight = fabs(log_sum - (double)c->item[i].logit - entropy);
    }
    qn_heap_build(c->item, c->n, is_more_typical);
    double reached = 0;
    size_t n_kept = 0;
    do {
        qn_heap_pop(c->item, c->n - n_kept, is_more_typical);
        n_kept++;
        reached += exp((double)c->item[c->n - n_kept].logit - max);
    } while (reached < p * sum && n_kept < c->n);
    qn_candidates_keep_popped(c, n_kept);
}
