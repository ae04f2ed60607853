/* A list of texts, one of which is the answer.
 * SPDX-License-Identifier: MIT */
#include "grammar/front_int.h"

#include "base/unicode.h"

#define MAX_CHOICES 65536

static bool is_utf8(qn_str s)
{
    uint32_t cp;
    for (size_t i = 0; i < s.len;) {
        i += qn_unicode_decode(s.data + i, s.len - i, &cp);
        if (cp == UINT32_MAX) {
            return false;
        }
    }
    return true;
}

qn_status qn_front_choice(qn_gx_builder *b, const qn_str *choices, size_t n, qn_error *err)
{
    if (n == 0) {
        return qn_fail(err, QN_EFORMAT, "a list of choices without a choice");
    }
    if (n > MAX_CHOICES) {
        return qn_fail(err, QN_EFULL, "more than %d choices", MAX_CHOICES);
    }
    qn_gx *ways = qn_alloc(b->budget, "grammar", n * sizeof(*ways));
    if (ways == NULL) {
        return qn_fail(err, qn_alloc_failure(b->budget, n * sizeof(*ways)), "no memory for %zu choices", n);
    }
    for (size_t i = 0; i < n; i++) {
        if (!is_utf8(choices[i])) {
            qn_free(ways);
            return qn_fail(err, QN_EFORMAT, "choice %zu is not valid UTF-8", i);
        }
        ways[i] = qn_gx_bytes(b, choices[i]);
    }
    b->root = qn_gx_rule_new(b, QN_STR("root"));
    qn_gx_rule_define(b, b->root, qn_gx_alt(b, ways, (uint32_t)n));
    qn_free(ways);
    return qn_front_status(b, err);
}
