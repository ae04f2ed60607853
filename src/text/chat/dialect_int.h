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
 *     dialect_syntax.c     what others may know of calls
 *
 * SPDX-License-Identifier: MIT */
#ifndef QN_TEXT_CHAT_DIALECT_INT_H
#define QN_TEXT_CHAT_DIALECT_INT_H

#include "text/chat/cut.h"
#include "text/chat/dialect_syntax.h"

#define QN_MAX_SYNTAXES 8
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
    bool undefined;                   /* absent tools and documents are left out: the template fails on none */
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
