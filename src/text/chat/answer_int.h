/* The reader of answers. Private to src/text/chat/answer*.c.
 *
 * Bytes go through three steps. answer_mark.c keeps those that may be part of a mark which the state expects, until it
 * is certain; whole marks and bytes that are not part of one go to the state's code; what that says goes out through
 * answer_out.c, which cuts it between characters.
 *
 *     answer.c         public calls; where the prompt leaves off
 *     answer_mark.c    marks and which of them a state expects
 *     answer_text.c    content, reasoning, headers
 *     answer_call.c    sections, names, what is common to all shapes of calls
 *     answer_json.c    arguments that are JSON
 *     answer_object.c  calls that are JSON objects
 *     answer_tags.c    calls whose parameters stand one by one
 *     answer_out.c     parts of the message
 *
 * Invariants: (1) while `holding`, raw has every byte since the mark that may begin a call, and nothing of the call has
 * come out: when it is none, raw comes out as content. (2) `announced`: QN_PART_CALL of call i_call has come out, its
 * QN_PART_CALL_END has not. (3) both only after arguments, or one of them: raw has what came since.
 * SPDX-License-Identifier: MIT */
#ifndef QN_TEXT_CHAT_ANSWER_INT_H
#define QN_TEXT_CHAT_ANSWER_INT_H

#include "base/json_stream.h"
#include "text/chat/answer.h"
#include "text/chat/argument.h"
#include "text/chat/dialect_int.h"
#include "text/chat/literal.h"

#define QN_ANSWER_RAW (256u << 10) /* bytes of a call that are kept before its name is certain: arguments first */
#define QN_ANSWER_VALUE (4u << 20) /* bytes of one value that is no string */
#define QN_ANSWER_NAME 256         /* bytes of a function's name, an id, a parameter's name, a header */
#define QN_ANSWER_OUT 4096         /* bytes of a part that wait for more */
#define QN_ANSWER_MARKS 32         /* marks that one state expects */
#define QN_ANSWER_DEPTH 64         /* of JSON arguments: templates are given 100, conversation and all */
#define QN_ANSWER_NESTED 32        /* depth of parameters that have parameters */

typedef enum qn_answer_state {
    QN_AS_CONTENT,
    QN_AS_REASONING,
    QN_AS_HEADER,
    QN_AS_BETWEEN, /* after a message of a turn that has several */
    QN_AS_OVER,    /* the end of the turn has been said */
    QN_AS_SECTION, /* where calls may stand */
    QN_AS_NAME,
    QN_AS_ID,
    QN_AS_BEFORE_JSON, /* after the name, before { */
    QN_AS_JSON,        /* arguments that are JSON */
    QN_AS_OBJECT,      /* a call that is JSON */
    QN_AS_WHOLE,       /* a call that is JSON, and must be the whole answer */
    QN_AS_LITERAL,
    QN_AS_TAGS, /* before a parameter or the end of the call */
    QN_AS_KEY,
    QN_AS_VALUE,
    QN_AS_CLOSE_KEY, /* NESTED: the name in a closing tag */
} qn_answer_state;

typedef enum qn_mark_kind {
    QN_MK_THINK_OPEN,
    QN_MK_THINK_CLOSE,
    QN_MK_CONTENT_OPEN,
    QN_MK_CONTENT_CLOSE,
    QN_MK_END,
    QN_MK_HEADER_OPEN,
    QN_MK_HEADER_END,
    QN_MK_SECTION_OPEN,
    QN_MK_SECTION_CLOSE,
    QN_MK_CALL_OPEN,
    QN_MK_CALL_CLOSE,
    QN_MK_NAME_END,
    QN_MK_ID_END,
    QN_MK_KEY_OPEN,
    QN_MK_KEY_END,
    QN_MK_KEY_END_JSON,
    QN_MK_VALUE_END,
    QN_MK_GUARD_OPEN,
    QN_MK_GUARD_CLOSE,
} qn_mark_kind;

typedef struct qn_expected {
    const qn_mark *mark;
    qn_mark_kind kind;
    size_t i; /* which syntax, or which end */
} qn_expected;

typedef struct qn_word { /* a short text that is being read */
    char bytes[QN_ANSWER_NAME];
    size_t n;
} qn_word;

/* A call that is a JSON object. */
typedef struct qn_object_reader {
    qn_json_stream stream;
    qn_json_unescape unescape;
    qn_json_stream inner; /* arguments that are a string of JSON */
    uint32_t level;       /* depth at which the call's members are */
    uint8_t member;       /* which one is being read: private */
    bool in_key, has_name, has_arguments, in_arguments, text_arguments;
    bool over; /* WHOLE: it was a call, if nothing follows */
    qn_word key;
} qn_object_reader;

/* An open parameter of a NESTED call. */
typedef struct qn_nest {
    char kind; /* '?': nothing has come yet; '{' '[' or 'v': a value */
    bool any;  /* something stands in it */
    const qn_json *schema;
    size_t key_at; /* in nest_keys */
} qn_nest;

struct qn_answer {
    const qn_dialect *d;
    qn_budget *budget;
    qn_json_doc *tools;
    bool no_calls, keep_reasoning;
    bool fresh; /* nothing but whitespace since the answer, or since a call ended */
    bool begun; /* reasoning or its end has come */
    bool cut;   /* the turn ended inside reasoning */
    qn_answer_state state;

    /* answer_mark.c */
    qn_expected expected[QN_ANSWER_MARKS];
    size_t n_expected;
    bool starts[256]; /* bytes that a mark may begin with */
    char held[QN_MARK_MAX + QN_MARK_SPACES * 8];
    size_t n_held;
    qn_str skip; /* whitespace after a mark that still belongs to it */
    bool done;   /* the last mark or byte closed something: it is no part of what is held from now on */

    /* the call */
    const qn_syntax *syntax;
    uint32_t i_call;
    bool holding, announced;
    qn_buf raw;
    unsigned n_calls; /* in this section */
    bool in_list, list_over;
    qn_word name, id, key;
    bool id_said;
    bool word_over; /* blanks have come after the name or the id */
    qn_json_stream json, before_comma;
    bool comma;   /* one has come, and nothing after it: the scanner was before_comma before it */
    size_t n_gap; /* bytes at the end of value: it and the blanks after it */
    qn_object_reader object;
    qn_literal literal;
    const qn_json *parameters, *schema; /* of the function; of the value */
    unsigned types;
    bool any_parameter;
    bool streaming;      /* the value is a string and goes out as it comes */
    bool guard, guarded; /* may begin with, has begun with guard_open */
    qn_buf value;
    qn_nest nest[QN_ANSWER_NESTED];
    size_t n_nest;
    qn_buf nest_keys;

    /* answer_out.c */
    qn_part_fn *fn;
    void *ctx;
    qn_error *err;
    qn_status status; /* sticks */
    qn_part out_part;
    char out[QN_ANSWER_OUT];
    size_t n_out;
};

/* ---- answer_out.c ---- */

void qn_answer_say(qn_answer *a, qn_part part, const char *bytes, size_t n);
void qn_answer_say_once(qn_answer *a, qn_part part, qn_str text); /* a part that is whole */
void qn_answer_flush(qn_answer *a, bool all);                     /* all: also half a character */
void qn_answer_fail(qn_answer *a, qn_status status, const char *what);

/* ---- answer_mark.c ---- */

void qn_answer_feed(qn_answer *a, const char *bytes, size_t n);
void qn_answer_settle(qn_answer *a, bool final); /* looks at the held bytes; final: no more will come */
void qn_answer_enter(qn_answer *a, qn_answer_state state);

/* ---- states: each takes a byte, or says that it cannot stand here ---- */

bool qn_answer_text_byte(qn_answer *a, char c);
bool qn_answer_call_byte(qn_answer *a, char c);
bool qn_object_byte(qn_answer *a, char c);
bool qn_tags_byte(qn_answer *a, char c);
void qn_answer_on_mark(qn_answer *a, const qn_expected *e, qn_str text);
void qn_call_on_mark(qn_answer *a, const qn_expected *e, qn_str text);
void qn_tags_on_mark(qn_answer *a, const qn_expected *e, qn_str text);

/* ---- answer_json.c ---- */

void qn_arguments_init(qn_answer *a, qn_json_stream *s); /* before arguments, or the object they are in */
bool qn_arguments_begin(qn_answer *a, char c);           /* the name is known: announces the call */
bool qn_arguments_byte(qn_answer *a, char c);
/* The scanner's word on a byte, where a comma may stand before a closing bracket. */
qn_json_event qn_arguments_push(qn_answer *a, qn_json_stream *s, char c);
/* The byte is one of the arguments: says it, or keeps it in `value` until the call is announced. False: too many. */
bool qn_arguments_say(qn_answer *a, qn_json_event event, char c);
void qn_arguments_flush(qn_answer *a);    /* says what `value` has */
bool qn_call_in_json(const qn_answer *a); /* the call, or its arguments, are JSON and go on */
void qn_call_cut_json(qn_answer *a);      /* a mark has come there: ends the call, or rejects it */

/* ---- answer_call.c ---- */

void qn_answer_hold(qn_answer *a, const qn_syntax *s); /* a mark that may begin a call has come */
void qn_answer_keep(qn_answer *a, qn_str text);        /* more of what is held */
void qn_answer_reject(qn_answer *a); /* what was held is no call: content. A call that was announced gets no end */
void qn_call_announce(qn_answer *a);
void qn_call_end(qn_answer *a);
void qn_call_from_header(qn_answer *a);        /* a->name is known; its arguments follow */
void qn_call_leave(qn_answer *a, qn_str skip); /* the section is over */
void qn_object_begin(qn_answer *a);
bool qn_object_lacks_end(const qn_answer *a); /* its arguments are whole, and nothing has begun after them */
void qn_object_end_whole(qn_answer *a);       /* nothing follows a WHOLE object that is over: it is a call */
void qn_tags_begin(qn_answer *a);
void qn_tags_end_call(qn_answer *a);
void qn_tags_finish(qn_answer *a); /* the answer is over: what a value has so far comes out */

bool qn_word_add(qn_word *w, char c);
static inline qn_str qn_word_view(const qn_word *w)
{
    return (qn_str){w->bytes, w->n};
}

#endif
