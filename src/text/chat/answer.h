/* A model's answer, read as it comes: bytes in, parts of a message out. Each byte is looked at a bounded number of
 * times, whatever the cuts; every byte of the answer is either in some part or belongs to a mark.
 *
 * A call comes out as soon as it is certain: its mark, its name and the beginning of its arguments have been read. What
 * looks like a call and is none comes out as content, as it was written. A call that goes wrong later gets no
 * QN_PART_CALL_END; the bytes from the first that does not fit on are content. The name of a call between marks need
 * not be a tool's: that is for the caller to see. Bare JSON is a call only when it names a tool.
 * SPDX-License-Identifier: MIT */
#ifndef QN_TEXT_CHAT_ANSWER_H
#define QN_TEXT_CHAT_ANSWER_H

#include "base/json.h"
#include "text/chat/dialect.h"

typedef enum qn_part {
    QN_PART_CONTENT,
    QN_PART_REASONING,
    QN_PART_CALL,      /* a call begins: text is the function's name */
    QN_PART_CALL_ID,   /* its id, in dialects that have one: right after QN_PART_CALL, or right before QN_PART_CALL_END
                        * where the model writes it after the arguments */
    QN_PART_ARGUMENTS, /* a piece of its arguments, which together are one JSON object */
    QN_PART_CALL_END,  /* the call is whole; text is empty */
} qn_part;

/* i_call counts calls from 0; it is 0 for content and reasoning. text is valid UTF-8 when the answer was, and is cut
 * only between characters. A status other than QN_OK stops the reading and is passed on. */
typedef qn_status qn_part_fn(void *ctx, qn_part part, uint32_t i_call, qn_str text);

typedef struct qn_answer_options {
    qn_str prompt;        /* what the answer goes on from: its end tells whether reasoning is open already */
    const qn_json *tools; /* OpenAI's list of tools, or NULL; types of parameters, and which names are functions */
    bool no_calls;        /* everything is content or reasoning (tool_choice "none", or no tools at all) */
    bool keep_reasoning;  /* reasoning comes out as content, marks and all */
} qn_answer_options;

typedef struct qn_answer qn_answer;

/* d must outlive the answer; the rest is copied. */
qn_status qn_answer_open(const qn_dialect *d, const qn_answer_options *o, qn_budget *b, qn_answer **out, qn_error *err);
void qn_answer_close(qn_answer *a);
qn_status qn_answer_push(qn_answer *a, const char *bytes, size_t n, qn_part_fn *fn, void *ctx, qn_error *err);
/* The mark that ends a turn has been read, and nothing but whitespace since. If more is pushed the mark was
 * none: it comes out as content, and so does what follows. */
bool qn_answer_is_over(const qn_answer *a);
/* The answer is over. *cut: a call or the reasoning was not closed: its last call got no QN_PART_CALL_END, or came out
 * as content when it was not certain yet. A call with whole arguments that lacks no more than braces is whole. */
qn_status qn_answer_finish(qn_answer *a, qn_part_fn *fn, void *ctx, bool *cut, qn_error *err);

#endif
