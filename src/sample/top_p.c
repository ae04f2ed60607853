/* Top-p (nucleus): the fewest best tokens whose probabilities reach p. SPDX-License-Identifier: MIT */
#include "sample/sample_int.h"

/* All tokens below the share (1 - p) / n weigh less than 1 - p together, so the nucleus is complete without any of
 * them: one pass leaves the heap little to do. */
static void drop_dust(qn_candidates *c, double p, double sum)
{
    double least = (1 - p) * sum / (double)c->n;
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++) {
        if (c->item[i].weight >= least) {
            c->item[n++] = c->item[i];
        }
    }
    c->n = n;
}

void qn_sample_top_p(qn_candidates *c, double p)
{
    double sum = qn_candidates_weigh(c, 1);
    drop_dust(c, p, sum);
    qn_heap_build(c->item, c->n, qn_candidate_is_better);
    double reached = 0;
    size_t n_kept = 0;
    do {
        qn_heap_pop(c->item, c->n - n_kept, qn_candidate_is_better);
        n_kept++;
        reached += c->item[c->n - n_kept].weight;
    } while (reached < p * sum && n_kept < c->n);
    qn_candidates_keep_popped(c, n_kept);
}
