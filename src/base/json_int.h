/* The tree that the JSON reader builds, and its tokens. Private to src/base/json_*.c.
 * SPDX-License-Identifier: MIT */
#ifndef QN_BASE_JSON_INT_H
#define QN_BASE_JSON_INT_H

#include "base/json.h"

struct qn_json {
    qn_json_kind kind;
    bool truth; /* of a QN_JSON_BOOL */
    qn_str key; /* of a member of an object; empty for others */
    size_t n;   /* items of a container, bytes of a string or number */
    union {
        const char *text;     /* string or number: in the document's text */
        size_t i_first;       /* container, while the tree is being built: index of its first item */
        const qn_json *first; /* container, afterwards; its items stand side by side */
    } as;
};

struct qn_json_doc {
    char *text; /* a copy of the source, in which strings are unescaped in place; a NUL follows */
    qn_json *nodes;
    size_t n_nodes, cap;
    qn_json root;
};

/* Each moves *at, which is at the first byte of the token, over the token and returns NULL; or moves it to the fault
 * and returns what is wrong there. A NUL ends the text; `end` is the last one. */
const char *qn_json_scan_string(char **at, const char *end, qn_str *out); /* unescapes in place */
const char *qn_json_scan_number(char **at);

#endif
