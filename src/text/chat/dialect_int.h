/* What a dialect holds. Private to src/text/chat.
 *
 *     dialect.c            public calls, memory, description
 *     dialect_probe.c      small conversations and their rendering
 *     dialect_turn.c       where an answer begins and how it ends
 *     dialect_reasoning.c  the marks of reasoning
 *     dialect_calls.c      finding calls in the text of a turn, and their shape
 *     dialect_split.c      the marks around calls
 *     dialect_tags.c       the marks of calls whose parameters stand one by one
 *     dialect_header.c     turns that are made of several messages with headers
 *     dialect_common.c     syntaxes that models write though their template does not show them
 *
 * SPDX-License-Identifier: MIT */
#ifndef QN_TEXT_CHAT_DIALECT_INT_H
#define QN_TEXT_CHAT_DIALECT_INT_H

#include "text/chat/cut.h"
#include "text/chat/dialect.h"

typedef enum qn_shape {
    QN_SHAPE_OBJECT, /* {"name": NAME, "arguments": {...}}, members in any order */
    QN_SHAPE_KEYED,  /* {NAME: {...}} */
    QN_SHAPE_NAMED,  /* NAME name_end {...} */
    QN_SHAPE_TAGGED, /* NAME name_end (key_open KEY key_end VALUE value_end)* */
    QN_SHAPE_NESTED, /* NAME name_end (key_open KEY> VALUE-or-more-of-these key_open /KEY>)* */
    QN_SHAPE_BRACES, /* NAME{KEY:VALUE,...} */
    QN_SHAPE_PYTHON, /* NAME(KEY=VALUE, ...) */
} qn_shape;

typedef enum qn_id_place { QN_ID_NONE, QN_ID_BEFORE_NAME, QN_ID_AFTER_NAME, QN_ID_AROUND_NAME } qn_id_place;

/* One way to write calls: section_open (call_open CALL call_close)* section_close, where a section or the marks of one
 * call may be absent. Calls that are JSON or Python may stand in a list. */
typedef struct qn_syntax {
    qn_shape shape;
    bool list;  /* the template writes [ and ] around the calls, and commas between them */
    bool bare;  /* no mark before: only where the answer begins, and only functions that are known */
    bool whole; /* only when the call is the whole answer */
    qn_mark section_open, section_close, call_open, call_close;
    qn_str separator; /* whitespace between calls */
    /* OBJECT */
    qn_str name_key, arguments_key, id_key;
    qn_str other_keys[2]; /* members that the template writes too, and whose values say nothing */
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
} qn_header;

#define QN_MAX_SYNTAXES 6
#define QN_MAX_ENDS 8
#define QN_MAX_NOTES 8

typedef struct qn_dialect_text qn_dialect_text;

struct qn_dialect {
    qn_budget *budget;
    qn_dialect_text *texts;           /* what the strings below point into */
    qn_str turn_start;                /* what a prompt ends with before anything that the model could have said */
    bool has_tools;                   /* the template shows tools */
    bool has_reasoning, prompt_opens; /* prompt_opens: the generation prompt opens reasoning by itself */
    qn_mark think_open, think_close;
    qn_mark content_open, content_close; /* around content: <response> ... */
    bool has_header;
    qn_header header;
    qn_syntax syntaxes[QN_MAX_SYNTAXES];
    size_t n_syntaxes, n_own; /* n_own: those that the template itself writes stand first */
    qn_mark ends[QN_MAX_ENDS];
    size_t n_ends;
    unsigned ends_go_on; /* a bit for each: after it the turn may go on with another header */
    const char *notes[QN_MAX_NOTES];
    size_t n_notes;
};

/* ---- probes ---- */

/* Words that no template holds. */
#define QN_PROBE_USER "qzuserone"
#define QN_PROBE_USER2 "qzusertwo"
#define QN_PROBE_CONTENT "qzcontent"
#define QN_PROBE_REASON "qzreason"
#define QN_PROBE_RESULT "qzresult"

typedef enum qn_probe_text { QN_TEXT_EMPTY, QN_TEXT_NULL, QN_TEXT_ABSENT, QN_TEXT_CONTENT } qn_probe_text;
typedef enum qn_probe_think { QN_THINK_DEFAULT, QN_THINK_ON, QN_THINK_ON_EFFORT, QN_THINK_OFF } qn_probe_think;
typedef enum qn_probe_next { QN_NEXT_NOTHING, QN_NEXT_USER, QN_NEXT_RESULT } qn_probe_next;
typedef enum qn_probe_value { QN_VALUE_PLAIN, QN_VALUE_UGLY } qn_probe_value;

typedef struct qn_probe {
    bool generate; /* with the generation prompt */
    bool tools;
    bool assistant; /* a turn of the assistant follows the user's */
    qn_probe_think think;
    qn_probe_text content;
    qn_str literal; /* content in place of QN_PROBE_CONTENT when not empty */
    bool reasoning; /* reasoning in a member of its own */
    bool parts;     /* ... or as a part of the content */
    unsigned n_calls;
    bool arguments_text;  /* a string of JSON instead of an object */
    bool long_ids;        /* ids like functions.NAME:0 */
    qn_probe_value value; /* UGLY: the first argument of the first call has characters that may need care */
    qn_probe_next next;
} qn_probe;

#define QN_PROBE_MAX_VARS 4

typedef struct qn_prober {
    const qn_jinja *jinja;
    qn_budget *budget;
    qn_str bos, eos;
    bool typed;                       /* contents are lists of parts */
    char vars[QN_PROBE_MAX_VARS][64]; /* variables that the template wants and nobody gives */
    size_t n_vars;
    qn_jinja_text texts[96]; /* of all probes that succeeded: results are views of them */
    size_t n_texts;
    char made[QN_MARK_MAX]; /* a mark that stands in no text as it is */
    qn_status fatal;        /* no memory: ends the derivation */
    qn_error *err;
} qn_prober;

/* Renders; false: the template refuses, or no memory (p->fatal). Tools and calls are named by qn_probe_name ... */
bool qn_probe_render(qn_prober *p, const qn_probe *probe, qn_str *out);
void qn_prober_free(qn_prober *p);
qn_str qn_probe_name(unsigned i_call);
qn_str qn_probe_id(unsigned i_call);
qn_str qn_probe_key(unsigned i_call, unsigned i_key);
qn_str qn_probe_value_text(unsigned i_call, unsigned i_key);
extern const char qn_probe_ugly[]; /* the value of QN_VALUE_UGLY */

/* ---- derivation: each fills its part of d with views of rendered text ---- */

typedef struct qn_turns {
    qn_str before;   /* the conversation before the turn */
    qn_str prompt;   /* ... with the generation prompt */
    qn_str tails[4]; /* of generation prompts (default, thinking on, on with effort, off): what follows turn_start */
    size_t n_tails;
    qn_str content; /* the text of a turn with content only, from turn_start on */
    qn_str lead;    /* what stands before the content in it */
} qn_turns;

void qn_derive_turn(qn_dialect *d, qn_prober *p, qn_turns *t);
/* The text of the assistant's turn in a rendered conversation: from turn_start to the end. False: not found. */
bool qn_turn_text(const qn_dialect *d, qn_str rendered, qn_str *out);
void qn_derive_reasoning(qn_dialect *d, qn_prober *p, const qn_turns *t);
void qn_derive_content_marks(qn_dialect *d, const qn_turns *t); /* after reasoning */
void qn_derive_calls(qn_dialect *d, qn_prober *p, qn_turns *t);
void qn_add_common_syntaxes(qn_dialect *d);
void qn_add_end(qn_dialect *d, qn_str token);
void qn_add_note(qn_dialect *d, const char *note);

/* Calls as they stand in the text of a turn. */
typedef struct qn_call_text {
    qn_str turn;
    unsigned n_calls; /* 1: the template refuses two, or shows one of them */
    qn_str before;    /* what stands before the first call's text, content and reasoning left out */
    size_t body;      /* where the first call begins after a header that names it; 0: no header */
    size_t name_at[2], key_at[2][2], value_at[2][2]; /* places in turn */
} qn_call_text;

/* Sets the marks of parameters, and where each call begins and its last parameter ends. */
bool qn_derive_tags(qn_syntax *s, const qn_call_text *c, size_t (*spans)[2]);
/* Sets what stands around a value that needs care, from calls with such a value. */
void qn_derive_guard(qn_syntax *s, const qn_call_text *c);
/* Renders a turn with calls and finds them. */
bool qn_show_calls(const qn_dialect *d, qn_prober *p, const qn_probe *probe, qn_call_text *c);
/* Sets the marks of sections and calls. spans: where the first call's own text begins and ends, and the second's. */
void qn_split_turn(qn_dialect *d, qn_prober *p, const qn_turns *t, const qn_probe *how, qn_call_text *c, qn_syntax *s,
                   const size_t (*spans)[2]);
/* False: turns have no headers. Else c->body is set. */
bool qn_derive_header(qn_dialect *d, qn_prober *p, const qn_turns *t, qn_call_text *c);
/* A turn with reasoning before its content, and where these are. */
bool qn_find_reasoning_turn(const qn_dialect *d, qn_prober *p, qn_str *turn, size_t *reason_at, size_t *content_at);

#endif
