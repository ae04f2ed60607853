/* A regular expression as a grammar: the whole answer matches.
 * SPDX-License-Identifier: MIT */
#include "grammar/front_int.h"

qn_status qn_front_regex(qn_gx_builder *b, qn_str pattern, qn_error *err)
{
    qn_gx body;
    QN_TRY(qn_front_pattern(b, pattern, false, false, &body, err));
    b->root = qn_gx_rule_new(b, QN_STR("root"));
    qn_gx_rule_define(b, b->root, body);
    return qn_front_status(b, err);
}
