/* Min-p: tokens at least p times as probable as the best one. SPDX-License-Identifier: MIT */
#include "sample/sample_int.h"

void qn_sample_min_p(qn_candidates *c, double p)
{
    /* The ratio of two probabilities is the exponential of the difference of their logits. */
    double least = (double)qn_candidates_max_logit(c) + log(p);
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++) {
        if ((double)c->item[i].logit >= least) {
            c->item[n++] = c->item[i];
        }
    }
    c->n = n;
}
