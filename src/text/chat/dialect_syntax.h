/* What a dialect says of calls, for those who make texts that its reader will understand: read only.
 *
 * A mark's core has runs of whitespace as the template writes them, though a reader takes any; QN_MARK_LINE_END stands
 * for a line end and QN_MARK_DIGITS for a number.
 * SPDX-License-Identifier: MIT */
#ifndef QN_TEXT_CHAT_DIALECT_SYNTAX_H
#define QN_TEXT_CHAT_DIALECT_SYNTAX_H

#include "text/chat/dialect.h"
#include "text/chat/mark.h"

typedef enum qn_shape {
    QN_SHAPE_OBJECT, /* {"name": NAME, "arguments": {...}}, members in any order */
    QN_SHAPE_KEYED,  /* {NAME: {...}} */
    QN_SHAPE_NAMED,  /* NAME name_end {...} */
    QN_SHAPE_TAGGED, /* NAME name_end (key_open KEY key_end VALUE value_end)* */
    QN_SHAPE_NESTED, /* NAME name_end (key_open KEY> VALUE-or-more-of-these key_open /KEY>)* */
    QN_SHAPE_BRACES, /* NAME{KEY:VALUE,...} */
    QN_SHAPE_PYTHON, /* NAME(KEY=VALUE, ...) */
} qn_shape;

#define QN_SYNTAX_ID "qzid00001"

typedef enum qn_id_place { QN_ID_NONE, QN_ID_BEFORE_NAME, QN_ID_AFTER_NAME, QN_ID_AROUND_NAME } qn_id_place;

/* One way to write calls: section_open (call_open CALL call_close)* section_close, where a section or the marks of one
 * call may be absent. Calls that are JSON or Python may stand in a list. */
typedef struct qn_syntax {
    qn_shape shape;
    bool list;  /* the template writes [ and ] around the calls, and commas between them */
    bool bare;  /* no mark before: only where the answer begins, and only functions that are known */
    bool whole; /* only when the call is the whole answer */
    bool known; /* its marks may stand in ordinary text: only functions that are known */
    bool alone; /* the template shows no two calls in one turn */
    qn_mark section_open, section_close, call_open, call_close;
    qn_str separator; /* whitespace between calls */
    /* OBJECT */
    qn_str name_key, arguments_key, id_key;
    qn_str other_keys[2]; /* members that the template writes too, and whose values say nothing */
    /* What the template writes before the name, between it and the arguments, and behind these: pieces of JSON, in
     * which QN_SYNTAX_ID is an id. All empty: not known. */
    qn_str head, middle, tail;
    /* NAMED, TAGGED, NESTED */
    qn_mark name_end;
    qn_id_place id_place; /* NAMED; AROUND: the id is id_prefix, the name and what the core of name_end begins with */
    qn_mark id_end;       /* between id and name, or name and id */
    qn_str id_prefix;     /* AROUND: the end of call_open that belongs to the id */
    size_t id_suffix;     /* AROUND: bytes of name_end's core that belong to the id */
    /* TAGGED, NESTED */
    qn_mark key_open, key_end, key_end_json, value_end; /* key_end_json: values that are no strings; may be absent */
    qn_mark guard_open, guard_close; /* around values with characters that need it: <![CDATA[ and ]]> */
    bool quoted;                     /* strings are written as JSON too */
    /* BRACES */
    qn_str quote; /* what stands for a quotation mark; empty: JSON's */
} qn_syntax;

/* A turn of several messages: open HEADER end BODY terminator. */
typedef struct qn_header {
    qn_mark open, end;
    qn_str content, reasoning; /* the headers of these; reasoning may be empty */
    qn_str recipient;          /* stands before the name in the header of a call; may be empty */
    bool json_body;            /* the body of a call is its arguments; else a syntax reads it */
    qn_str lead, tail;         /* what the header of a call has before its recipient, and after its name */
    bool alone;                /* the template shows no two calls in one turn */
} qn_header;

/* Views, valid as long as the dialect. */
typedef struct qn_dialect_view {
    bool has_reasoning;
    qn_mark think_open, think_close;
    qn_mark content_open, content_close; /* around content; often absent */
    const qn_header *header;             /* NULL: turns have none */
    const qn_syntax *syntaxes;           /* the first n_own are the template's own */
    size_t n_syntaxes, n_own;
    const qn_mark *ends; /* what ends a turn, or, with its bit in ends_go_on, a message of one */
    size_t n_ends;
    unsigned ends_go_on;
} qn_dialect_view;

void qn_dialect_get_view(const qn_dialect *d, qn_dialect_view *out);

/* Where an answer begins, after its prompt. */
typedef enum qn_answer_start {
    QN_START_CONTENT,     /* reasoning may come first, if the dialect has any */
    QN_START_AFTER_THINK, /* reasoning is over */
    QN_START_IN_THINK,
    QN_START_IN_HEADER, /* of a message; nothing of it has come */
    QN_START_UNKNOWN,   /* inside a header, a call or content that the prompt begins */
} qn_answer_start;

qn_status qn_dialect_find_start(const qn_dialect *d, qn_str prompt, qn_budget *b, qn_answer_start *out, qn_error *err);

#endif
