/* What the files of the parser share with each other alone.
 * SPDX-License-Identifier: MIT */
#ifndef QN_TEXT_JINJA_PARSER_INT_H
#define QN_TEXT_JINJA_PARSER_INT_H

#include "text/jinja/node.h"

/* Comparisons that are not tokens. */
enum { QN_OP_IN = 100, QN_OP_NOT_IN };

/* Appends to a list of operators in the tree's memory. */
qn_status qn_ops_add(qn_parser *p, uint8_t **ops, uint32_t *n, uint32_t *cap, unsigned op);
/* A node, at the line said; NULL kids to be filled in. */
qn_status qn_new_node(qn_parser *p, qn_node_kind kind, uint32_t line, uint32_t n_kids, qn_node **out);
qn_status qn_name_of(qn_parser *p, qn_str text, qn_node *n); /* gives n the name */
qn_status qn_name_node(qn_parser *p, const qn_tok *t, qn_node **out);
bool qn_is_constant(qn_str name); /* true, none ... in both spellings */

/* The postfixes at the current token are pushed: attributes, subscripts and calls; or filters, tests and calls. */
qn_status qn_parse_postfixes(qn_parser *p);
qn_status qn_parse_filter_chain(qn_parser *p);

#endif
