/* The inside of the regular expressions. A pattern goes through these hands:
 *
 *     regex_parse.c    text -> tree of nodes (regex_chars.c: its characters) and sets of code points (regex_set.c)
 *     regex_program.c  tree -> instructions
 *     regex_class.c    sets -> classes of code points, and the map from a code point to its class
 *     regex_table.c    instructions x classes -> deterministic table, if it stays small
 *     regex.c          matching by the table or, without one, by the instructions
 *
 * SPDX-License-Identifier: MIT */
#ifndef QN_BASE_REGEX_INT_H
#define QN_BASE_REGEX_INT_H

#include "base/regex.h"
#include "base/unicode.h"

#define QN_REGEX_OWNER "regex"

/* The end of the text is looked at as if it were one more character, with a number and a class of its own. */
#define QN_REGEX_EOT QN_UNICODE_END

typedef struct qn_regex_range {
    uint32_t first, last;
} qn_regex_range;

typedef struct qn_regex_set { /* ranges[i_first, i_first + n): sorted, disjoint, not adjacent */
    uint32_t i_first, n;
} qn_regex_set;

typedef enum qn_regex_node_kind {
    QN_NODE_EMPTY,
    QN_NODE_SET,
    QN_NODE_AHEAD,
    QN_NODE_BEGIN,
    QN_NODE_CAT,
    QN_NODE_ALT,
    QN_NODE_REPEAT
} qn_regex_node_kind;

#define QN_NO_NODE UINT32_MAX
#define QN_REGEX_NO_MAX UINT32_MAX

typedef struct qn_regex_node {
    qn_regex_node_kind kind;
    uint32_t child, next; /* first child; next child of the same parent */
    uint32_t i_set;       /* SET and AHEAD */
    uint32_t min, max;    /* REPEAT; QN_REGEX_NO_MAX: no end */
    bool greedy;
} qn_regex_node;

typedef enum qn_regex_op {
    QN_OP_SET,   /* one character of set x, then on */
    QN_OP_AHEAD, /* the next character, or the end, is in set x */
    QN_OP_BEGIN, /* at the start of the text */
    QN_OP_SPLIT, /* x is tried before y */
    QN_OP_JUMP,  /* to x */
    QN_OP_MATCH
} qn_regex_op;

typedef struct qn_regex_inst {
    uint16_t op, x, y;
} qn_regex_inst;

/* What the compiler works on; everything in it is freed by qn_regex_open(). */
typedef struct qn_regex_build {
    qn_budget *budget;
    qn_error *err;
    qn_str pattern;
    qn_regex_range *work; /* the set that is being put together; sorted only by qn_regex_intern() */
    size_t n_work, cap_work;
    qn_regex_range *ranges;
    size_t n_ranges, cap_ranges;
    qn_regex_set *sets;
    size_t n_sets, cap_sets;
    qn_regex_node *nodes;
    size_t n_nodes, cap_nodes;
    qn_regex_inst *insts;
    size_t n_insts, cap_insts;
} qn_regex_build;

#define QN_CLASS_BLOCK 128 /* code points of one row of the class map */
#define QN_CLASS_BLOCKS (QN_UNICODE_END / QN_CLASS_BLOCK)

struct qn_regex {
    qn_regex_inst *insts;
    uint32_t n_insts;
    uint32_t n_sets;
    uint32_t n_classes;     /* the last one is QN_REGEX_EOT's */
    uint64_t (*members)[4]; /* per set: bit c when class c is in it */
    uint8_t ascii[128];     /* class of an ASCII character */
    uint16_t *blocks;       /* [QN_CLASS_BLOCKS]: row of each block */
    uint8_t *rows;          /* [n_rows][QN_CLASS_BLOCK]: classes */
    uint8_t invalid;        /* class of a byte outside any character */
    /* [row + ASCII character] and [row + QN_REGEX_ASCII + class]: next row << 1 | 1 when there is a match before that
     * character. Row 0 is the dead state, which leads nowhere. NULL: no table. */
    uint32_t *table;
    uint32_t row_begin, row_middle; /* where a match starts: at the start of the text, and elsewhere */
    bool starts[256];               /* with a table: a match may begin, not at the start of the text, at this byte */
};

#define QN_REGEX_ASCII 128 /* characters of their own in a row of the table */

/* Threads of the program, best first, with where each began. */
typedef struct qn_regex_threads {
    uint32_t n;
    uint16_t pc[QN_REGEX_MAX_PROGRAM];
    size_t start[QN_REGEX_MAX_PROGRAM];
} qn_regex_threads;

/* Makes room for one more item of an array; false: no memory. */
bool qn_regex_grow(qn_budget *b, void **items, size_t *cap, size_t n, size_t item_bytes);

/* Sets: ranges are added to the work set, which qn_regex_intern() turns into a set and empties. */
qn_status qn_regex_add(qn_regex_build *b, uint32_t first, uint32_t last);
qn_status qn_regex_add_categories(qn_regex_build *b, uint32_t mask);
qn_status qn_regex_add_spaces(qn_regex_build *b, bool inverted);
qn_status qn_regex_add_set(qn_regex_build *b, uint32_t i_set);
qn_status qn_regex_fold_case(qn_regex_build *b); /* adds the other cases of what is in the work set */
/* The work set becomes all code points up to `last` that are not in it. */
qn_status qn_regex_invert(qn_regex_build *b, uint32_t last);
qn_status qn_regex_intern(qn_regex_build *b, uint32_t *i_set);

qn_status qn_regex_parse(qn_regex_build *b, uint32_t *root);
qn_status qn_regex_emit_program(qn_regex_build *b, uint32_t root);
/* Fills n_classes, members, ascii, blocks, rows and invalid. */
qn_status qn_regex_make_classes(qn_regex_build *b, qn_regex *re);
/* Fills table and the start rows, or leaves table NULL when it would be too large. */
qn_status qn_regex_make_table(qn_regex *re, qn_budget *budget);

/* One character of class c for all threads of `in`: who survives goes to `out`. True: a thread came to the end
 * before the character; it is the best that did, *start is where it began, and worse threads are cut off.
 * at_begin: this is the start of the text. */
bool qn_regex_step(const qn_regex *re, const qn_regex_threads *in, bool at_begin, uint32_t c, qn_regex_threads *out,
                   size_t *start);

/* Matching by the instructions, the judge of the table. anchored: only at `from`. */
bool qn_regex_simulate(const qn_regex *re, const char *text, size_t n, size_t from, bool anchored, size_t *start,
                       size_t *end);

/* Length of the character at s[0, n), n >= 1, and its class. */
static inline size_t qn_regex_class_at(const qn_regex *re, const char *s, size_t n, uint32_t *c)
{
    const uint8_t *u = (const uint8_t *)s;
    if (u[0] < 0x80) {
        *c = re->ascii[u[0]];
        return 1;
    }
    /* Most characters of three bytes; not those behind E0 and ED, where not every second byte will do. */
    if (u[0] > 0xE0 && u[0] < 0xF0 && u[0] != 0xED && n >= 3 && (u[1] & 0xC0) == 0x80 && (u[2] & 0xC0) == 0x80) {
        uint32_t low = (uint32_t)(u[1] & 0x3F) << 6 | (u[2] & 0x3F);
        uint32_t block = ((uint32_t)(u[0] & 0x0F) << 12 | low) / QN_CLASS_BLOCK;
        *c = re->rows[(size_t)re->blocks[block] * QN_CLASS_BLOCK + low % QN_CLASS_BLOCK];
        return 3;
    }
    uint32_t cp;
    size_t len = qn_unicode_decode(s, n, &cp);
    if (cp == UINT32_MAX) {
        *c = re->invalid;
    } else {
        *c = re->rows[(size_t)re->blocks[cp / QN_CLASS_BLOCK] * QN_CLASS_BLOCK + cp % QN_CLASS_BLOCK];
    }
    return len;
}

#endif
