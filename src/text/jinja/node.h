/* A template as a tree, what the lexer and the parser share to make it, and the scopes of its names. Private to this
 * folder.
 *
 *     lexer.c    source to tokens, one at a time; lexer_literal.c numbers and strings
 *     parser.c   statements; parser_tag.c those with signatures or imports
 *     parser_expr.c expressions; parser_primary.c names and literals; parser_postfix.c what follows them
 *     parser_tools.c tokens and lists of nodes
 *     scope.c    which variable a name means: jinja2's rules for scopes, worked out before anything runs;
 *     scope_table.c the names of one scope; scope_names.c how statements use names
 *     tree.c     memory of a tree, names, lists of nodes
 *
 * Chains of operators and of postfixes are lists in one node, so the height of the tree is bounded by the nesting of
 * the source and not by its length.
 *
 * SPDX-License-Identifier: MIT */
#ifndef QN_TEXT_JINJA_NODE_H
#define QN_TEXT_JINJA_NODE_H

#include "text/jinja/value.h"

typedef struct qn_node qn_node;
typedef struct qn_func qn_func;
typedef struct qn_scope qn_scope;

/* ---- memory of a tree (tree.c) ---- */

typedef struct qn_tree {
    qn_budget *budget;
    qn_error *err; /* while compiling */
    void *blocks;
    size_t room;     /* bytes left in the first block */
    char *free;      /* where they begin */
    qn_node **names; /* hash table of interned names: see qn_tree_name */
    uint32_t n_names, n_name_slots;
    uint32_t n_funcs;
    const qn_node *blocks_named; /* the last block of the template; the others follow */
    bool has_blocks;
} qn_tree;

void *qn_tree_alloc(qn_tree *t, size_t bytes); /* zeroed, aligned to 16; NULL: t->err is filled */
void qn_tree_free(qn_tree *t);

/* ---- tokens (lexer.c) ---- */

typedef enum qn_tok_kind {
    QN_T_EOF,
    QN_T_DATA,
    QN_T_VAR_BEGIN,
    QN_T_VAR_END,
    QN_T_BLOCK_BEGIN,
    QN_T_BLOCK_END,
    QN_T_NAME,
    QN_T_STRING,
    QN_T_INT,
    QN_T_FLOAT,
    QN_T_ADD,
    QN_T_SUB,
    QN_T_MUL,
    QN_T_DIV,
    QN_T_FLOORDIV,
    QN_T_MOD,
    QN_T_POW,
    QN_T_TILDE,
    QN_T_LPAREN,
    QN_T_RPAREN,
    QN_T_LBRACKET,
    QN_T_RBRACKET,
    QN_T_LBRACE,
    QN_T_RBRACE,
    QN_T_EQ,
    QN_T_NE,
    QN_T_LT,
    QN_T_LE,
    QN_T_GT,
    QN_T_GE,
    QN_T_ASSIGN,
    QN_T_DOT,
    QN_T_COLON,
    QN_T_COMMA,
    QN_T_PIPE,
    QN_T_SEMICOLON
} qn_tok_kind;

typedef struct qn_tok {
    qn_tok_kind kind;
    uint32_t line;
    qn_str text;    /* data, name, string (unescaped) */
    qn_value value; /* number */
} qn_tok;

#define QN_LEX_MAX_OPEN 256 /* brackets open at once; the parser stops earlier */

typedef struct qn_lexer {
    qn_tree *tree;
    const char *source; /* with \n for every line end */
    size_t n, pos;
    uint32_t line;
    uint8_t state; /* of lexer.c */
    uint8_t tag;   /* the tag found behind the data that was given out */
    bool at_line_start;
    char open[QN_LEX_MAX_OPEN]; /* closing brackets that are awaited */
    unsigned n_open;
} qn_lexer;

/* source must be UTF-8 (QN_EFORMAT) and outlive the tree only until the lexer is done. */
qn_status qn_lexer_open(qn_lexer *l, qn_tree *t, qn_str source);
qn_status qn_lexer_next(qn_lexer *l, qn_tok *out);
/* The number at s[0, n) (lexer_literal.c); *len 0: there is none. */
qn_status qn_lex_number(qn_lexer *l, qn_tok *out, size_t *len);
/* What stands between the quotes of a string literal, without its escapes. */
qn_status qn_lex_unescape(qn_lexer *l, qn_str raw, qn_str *out);
/* "line N: ..." into the tree's error; returns QN_EFORMAT. */
qn_status qn_tree_fail(qn_tree *t, uint32_t line, const char *fmt, ...) QN_PRINTF(3, 4);

/* ---- nodes ---- */

typedef enum qn_node_kind {
    /* expressions */
    QN_N_CONST, /* value */
    QN_N_NAME,  /* name; op: a qn_name_use; cell, hops: where it lives */
    QN_N_NSREF, /* name as a target with an attribute: value */
    QN_N_TUPLE,
    QN_N_LIST,
    QN_N_DICT, /* key, value, key, value ... */
    QN_N_COND, /* test, then, else or NULL */
    QN_N_OR,
    QN_N_AND,
    QN_N_CONCAT, /* two or more */
    QN_N_NOT,
    QN_N_NEG,
    QN_N_POS,
    QN_N_COMPARE,
    QN_N_ARITH, /* operands; ops[i] (tokens) stands before operand i + 1, from the left */
    QN_N_CHAIN, /* what the postfixes that follow apply to (NULL: the text of a block), then those */
    /* postfixes */
    QN_N_ATTR,  /* name */
    QN_N_ITEM,  /* key */
    QN_N_SLICE, /* from, to, step, each or NULL */
    QN_N_CALL,  /* arguments */
    QN_N_FILTER,
    QN_N_TEST, /* name, arguments; op of a test: negated */
    /* statements */
    QN_N_BODY,   /* statements */
    QN_N_DATA,   /* value: a string */
    QN_N_OUTPUT, /* expressions and data */
    QN_N_IF,     /* test, body, test, body ..., then a last body for else */
    QN_N_FOR,    /* target, iterable, body, else or NULL, test or NULL, target of the test or NULL; op: recursive */
    QN_N_BREAK,
    QN_N_CONTINUE,
    QN_N_SET,         /* target, value */
    QN_N_SETBLOCK,    /* target, chain of filters or NULL, body */
    QN_N_MACRO,       /* name; n_args parameters, defaults of the last ones, body */
    QN_N_CALLBLOCK,   /* call (NULL: a generation block), n_args parameters, defaults, body */
    QN_N_FILTERBLOCK, /* body, chain of filters */
    QN_N_WITH,        /* n_args targets, as many values, body */
    QN_N_BLOCK,       /* name; body; op: QN_BLOCK_* */
    QN_N_AUTOESCAPE,  /* on or off, body */
    QN_N_EXTENDS,
    QN_N_INCLUDE, /* template */
    QN_N_IMPORT,  /* template; name */
    QN_N_FROM,    /* template, then names as they are called here */
    QN_N_WORD     /* not part of a tree: an interned name */
} qn_node_kind;

typedef enum qn_name_use { QN_USE_LOAD, QN_USE_STORE, QN_USE_PARAM } qn_name_use;
enum { QN_BLOCK_SCOPED = 1, QN_BLOCK_REQUIRED = 2 };

/* Arguments are the kids of their node: positional ones, named ones, then *list and **dict when there are such. */
typedef struct qn_callargs {
    uint32_t n_pos, n_named;
    qn_str *names;
    bool star, star_star;
} qn_callargs;

struct qn_node {
    uint8_t kind, op;
    bool exports;        /* a store at the top level: blocks see it */
    uint16_t hops;       /* functions outward from the one the node stands in */
    uint32_t line, cell; /* cell in the function's activation */
    uint32_t n_kids, n_args;
    qn_node **kids;
    const qn_node *name; /* interned: the same name is the same node */
    const uint8_t *ops;
    const qn_callargs *args;
    union {
        qn_value value;
        qn_str text;          /* of a word */
        qn_filter_fn *filter; /* NULL: there is none, and that is an error when it runs */
        qn_test_fn *test;
        struct {
            qn_scope *scope, *scope2; /* of the body; of a loop's else, around a block */
            qn_func *func;            /* of a body that is called: macro, caller, recursive loop, block */
            struct qn_loop_code *loop;
            const qn_node *next_block; /* of blocks */
        } s;
    } u;
};

/* The interned word for text: two equal names are one node. */
const qn_node *qn_tree_name(qn_tree *t, qn_str text);
qn_node *qn_tree_node(qn_tree *t, qn_node_kind kind, uint32_t line, uint32_t n_kids);
/* The constant that text is; copies it. */
qn_status qn_tree_string(qn_tree *t, qn_str text, qn_value *out);

static inline bool qn_word_is(const qn_node *word, const char *text)
{
    return qn_str_is(word->u.text, text);
}

/* ---- parser ---- */

#define QN_MAX_PARAMS 255 /* of one macro or with: far more than any has, and looking for doubles stays cheap */

typedef struct qn_parser {
    qn_lexer lexer;
    qn_tree *tree;
    qn_tok cur, ahead;
    bool has_ahead;
    unsigned depth;
    unsigned n_loops; /* around the statement, within its function: break needs one */
    qn_node **stack;  /* kids of lists that are not complete */
    uint32_t n_stack, cap_stack;
    const char *ends[QN_JINJA_MAX_DEPTH + 2]; /* tags that the statements being read may end with, "else,endfor" */
    qn_str tags[QN_JINJA_MAX_DEPTH + 2];      /* the statements themselves */
    unsigned n_ends, n_tags;
} qn_parser;

/* The whole template as a body. */
qn_status qn_parse(qn_parser *p, qn_node **out);

qn_status qn_parser_enter(qn_parser *p); /* one level of nesting; QN_EFULL */
static inline void qn_parser_leave(qn_parser *p)
{
    p->depth--;
}
qn_status qn_parser_step(qn_parser *p);                                  /* to the next token */
qn_status qn_parser_look(qn_parser *p, const qn_tok **out);              /* the one after the current */
qn_status qn_parser_expect(qn_parser *p, qn_tok_kind kind, qn_tok *out); /* out may be NULL */
qn_status qn_parser_expect_name(qn_parser *p, const char *name);
qn_status qn_parser_skip(qn_parser *p, qn_tok_kind kind, bool *did);
qn_status qn_parser_skip_name(qn_parser *p, const char *name, bool *did);
static inline bool qn_parser_at_name(const qn_parser *p, const char *name)
{
    return p->cur.kind == QN_T_NAME && qn_str_is(p->cur.text, name);
}
qn_status qn_parser_push(qn_parser *p, qn_node *n); /* NULL is pushed as it is */
/* A node with what was pushed since mark as its kids. */
qn_status qn_parser_collect(qn_parser *p, qn_node_kind kind, uint32_t line, uint32_t mark, qn_node **out);
/* What an error message calls the token. */
qn_str qn_tok_describe(const qn_tok *t);
qn_str qn_tok_kind_name(qn_tok_kind kind);

/* Statements up to one of the comma-separated end tags, which stays the current token when keep, else is skipped. */
qn_status qn_parse_body(qn_parser *p, const char *ends, bool keep, qn_node **out);
/* Tags of parser_tag.c: the current token is the tag's name. */
qn_status qn_parse_macro(qn_parser *p, qn_node **out);
qn_status qn_parse_call_block(qn_parser *p, qn_node **out);
qn_status qn_parse_generation(qn_parser *p, qn_node **out);
qn_status qn_parse_filter_block(qn_parser *p, qn_node **out);
qn_status qn_parse_with(qn_parser *p, qn_node **out);
qn_status qn_parse_block(qn_parser *p, qn_node **out);
qn_status qn_parse_include(qn_parser *p, qn_node **out);
qn_status qn_parse_import(qn_parser *p, qn_node **out);
qn_status qn_parse_from(qn_parser *p, qn_node **out);

enum { QN_EXPR_NO_COND = 1, QN_EXPR_PARENS = 2, QN_EXPR_TARGET = 4, QN_EXPR_NAMESPACE = 8 };
qn_status qn_parse_expr(qn_parser *p, unsigned flags, qn_node **out); /* QN_EXPR_NO_COND alone */
/* One expression, or a tuple of them without parentheses. */
qn_status qn_parse_tuple(qn_parser *p, unsigned flags, qn_node **out);
qn_status qn_parse_primary(qn_parser *p, unsigned flags, qn_node **out);
qn_status qn_parse_filters(qn_parser *p, bool at_name, qn_node **out); /* *out NULL: there are none */
enum { QN_TARGET_NAME = 1, QN_TARGET_NAMESPACE = 2 };
qn_status qn_parse_target(qn_parser *p, unsigned flags, qn_name_use use, qn_node **out);

/* ---- scopes (scope.c) ---- */

/* A body that is called and so has an activation of its own. */
struct qn_func {
    const qn_func *parent;
    uint32_t index, depth;
    uint32_t n_cells;
    bool has_inner; /* functions inside may outlive a call and still see its cells */
    void *cells;    /* while compiling: which name of which level has which cell */
    /* of a macro or a caller */
    uint32_t *params; /* cells of the declared ones */
    uint32_t caller, kwargs, varargs;
    bool wants_caller, wants_kwargs, wants_varargs;
};

#define QN_NO_CELL UINT32_MAX

typedef enum qn_load { QN_LOAD_PARAM, QN_LOAD_RESOLVE, QN_LOAD_ALIAS, QN_LOAD_UNDEFINED } qn_load;

typedef struct qn_symbol { /* a name of one scope */
    const qn_node *name;
    uint8_t load; /* qn_load: what its cell holds when the scope is entered */
    bool stored;
    uint32_t cell;
    uint32_t from_hops, from_cell; /* alias: of what, seen from the scope's function */
} qn_symbol;

struct qn_scope {
    qn_scope *parent;
    qn_func *func;
    uint32_t level;
    qn_symbol *symbols;
    uint32_t n, cap;
    uint32_t *slots; /* hash table of indexes + 1 */
    uint32_t n_slots;
    uint32_t *journal; /* symbols that were stored first inside the branches of an if */
    uint32_t n_journal, cap_journal, n_ifs;
};

typedef struct qn_loop_code {
    uint32_t loop_cell;   /* of the variable `loop`, or QN_NO_CELL */
    qn_scope *test_scope; /* its func is the filter's own activation */
} qn_loop_code;

/* scope_table.c; NULL: the tree's error is filled. */
qn_scope *qn_scope_new(qn_tree *t, qn_scope *parent, qn_func *func);
qn_func *qn_func_new(qn_tree *t, qn_func *parent);
/* The symbol of name that code in scope means, and in which scope it is; NULL: there is none. */
qn_symbol *qn_scope_find(const qn_scope *scope, const qn_node *name, const qn_scope **where);
qn_status qn_scope_load(qn_tree *t, qn_scope *scope, const qn_node *name);
qn_status qn_scope_store(qn_tree *t, qn_scope *scope, const qn_node *name);
qn_status qn_scope_param(qn_tree *t, qn_scope *scope, const qn_node *name, uint32_t *cell); /* cell may be NULL */
/* Brackets the branches of an if: what is set in some of them alone is looked up before. */
uint32_t qn_scope_if_begin(qn_scope *scope);
void qn_scope_if_end(qn_scope *scope, uint32_t mark);

/* scope_names.c. Which names are read in a body before it sets them, as one walk from start to end finds them. */
typedef struct qn_search {
    const qn_node *names[3];
    unsigned n, found, set; /* the sets: bit i for name i */
} qn_search;
qn_status qn_scope_search(qn_tree *t, const char *const *names, unsigned n, const qn_node *body, qn_search *out);
/* A node that sets `loop`, which no loop may hold; *has_scoped is set when there is a scoped block. */
const qn_node *qn_scope_loop_store(const qn_node *n, bool *has_scoped);
/* Tells the scope of the names in n, in kids of n, in a target whose names are parameters. */
qn_status qn_scope_names(qn_tree *t, qn_scope *s, const qn_node *n);
qn_status qn_scope_names_kids(qn_tree *t, qn_scope *s, const qn_node *n, uint32_t from, uint32_t to);
qn_status qn_scope_names_params(qn_tree *t, qn_scope *s, const qn_node *target);

/* Works out every name of the template. *top: the scope of its top level. */
qn_status qn_scope_resolve(qn_tree *t, qn_node *body, qn_scope **top);

#endif
