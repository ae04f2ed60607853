/* A conversation as the program keeps it: messages in JSON, and whatever else a loaded file says about it.
 * SPDX-License-Identifier: MIT */
#ifndef QN_CLI_TRANSCRIPT_H
#define QN_CLI_TRANSCRIPT_H

#include "base/json.h"

typedef struct qn_transcript {
    qn_buf *messages; /* each a JSON object; the first is the system message, when has_system */
    size_t n, cap;
    bool has_system;
    qn_buf others; /* members of the loaded object that are not messages, as JSON, each behind a comma */
    qn_buf tools;  /* JSON list of the functions that may be called; empty: none */
} qn_transcript;

void qn_transcript_init(qn_transcript *t);
void qn_transcript_free(qn_transcript *t); /* leaves an empty, usable one */

/* Appends a message of the text, or one that is JSON already. On failure nothing is appended. */
qn_status qn_transcript_add(qn_transcript *t, const char *role, qn_str content, qn_error *err);
qn_status qn_transcript_add_json(qn_transcript *t, qn_str message, qn_error *err);
void qn_transcript_drop_last(qn_transcript *t);

/* Sets the system message, or takes it away (an empty text). */
qn_status qn_transcript_set_system(qn_transcript *t, qn_str text, qn_error *err);

/* Takes the list of tools out of JSON: a list, or an object with "tools". */
qn_status qn_transcript_set_tools(qn_transcript *t, qn_str json, qn_error *err);

/* Forgets all messages but the system message. */
void qn_transcript_reset(qn_transcript *t);

/* Appends the JSON object that templates read, with "add_generation_prompt" true when an answer is wanted. */
void qn_transcript_write(const qn_transcript *t, bool wants_answer, qn_buf *out);

/* The same as a file, and back. A file that is no conversation: an error, and t is as it was. */
qn_status qn_transcript_save(const qn_transcript *t, const char *path, qn_error *err);
qn_status qn_transcript_load(qn_transcript *t, const char *path, qn_error *err);

#endif
