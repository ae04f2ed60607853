/* The k best logits, without sorting the vocabulary. SPDX-License-Identifier: MIT */
#include "sample/sample_int.h"

#include <assert.h>

static bool is_worse(const float *logits, int32_t a, int32_t b)
{
    float x = qn_logit_clean(logits[a]), y = qn_logit_clean(logits[b]);
    return x < y || (x == y && a > b);
}

/* ids[0, n) is a heap with the worst at the root. */
static void sift_down(const float *logits, int32_t *ids, size_t n, size_t i)
{
    int32_t moving = ids[i];
    for (size_t child = 2 * i + 1; child < n; child = 2 * i + 1) {
        if (child + 1 < n && is_worse(logits, ids[child + 1], ids[child])) {
            child++;
        }
        if (!is_worse(logits, ids[child], moving)) {
            break;
        }
        ids[i] = ids[child];
        i = child;
    }
    ids[i] = moving;
}

void qn_sample_top_k(const float *logits, uint32_t n_vocab, uint32_t k, int32_t *ids)
{
    assert(k >= 1 && k <= n_vocab);
    for (uint32_t i = 0; i < k; i++) {
        ids[i] = (int32_t)i;
    }
    for (size_t i = k / 2; i-- > 0;) {
        sift_down(logits, ids, k, i);
    }
    float worst = qn_logit_clean(logits[ids[0]]);
    for (uint32_t i = k; i < n_vocab; i++) {
        /* Strictly: of equal logits the lower id, which came earlier, stays. NaN is never above. */
        if (logits[i] > worst && isfinite(logits[i])) {
            ids[0] = (int32_t)i;
            sift_down(logits, ids, k, 0);
            worst = qn_logit_clean(logits[ids[0]]);
        }
    }
    for (size_t n = k; n > 1; n--) { /* the worst goes to the end, and so on: best first */
        int32_t swap = ids[0];
        ids[0] = ids[n - 1];
        ids[n - 1] = swap;
        sift_down(logits, ids, n - 1, 0);
    }
}
