/* The verbs of the program and what they share. SPDX-License-Identifier: MIT */
#ifndef QN_CLI_CLI_H
#define QN_CLI_CLI_H

#include "cli/options.h"

enum {
    QN_EXIT_DONE = 0,
    QN_EXIT_FAILED = 1,
    QN_EXIT_USAGE = 2,
    QN_EXIT_INTERRUPTED = 130,
};

typedef struct qn_verb {
    const char *name;
    unsigned bit;
    const char *arguments; /* as the usage line shows them */
    size_t max_rest;       /* arguments that are no options, at most */
    const char *summary;
    const char *examples;            /* whole lines */
    const char *subject;             /* the word that says what to do, where there is one; help takes it too */
    int (*run)(const qn_options *o); /* returns the exit code, having printed its errors */
} qn_verb;

extern const qn_verb qn_verb_table[];
extern const size_t qn_n_verbs;
const qn_verb *qn_verb_find(const char *name); /* NULL: none */

int qn_verb_run(const qn_options *o);
int qn_verb_chat(const qn_options *o);
int qn_verb_template(const qn_options *o);
int qn_verb_inspect(const qn_options *o);
int qn_verb_tokenize(const qn_options *o);
int qn_verb_bench(const qn_options *o);
int qn_verb_eval(const qn_options *o);
int qn_verb_grammar(const qn_options *o);

/* Help for a verb, or for the program (NULL), to standard output. False: it cannot be written. */
bool qn_help(const qn_verb *verb, bool json);

#endif
