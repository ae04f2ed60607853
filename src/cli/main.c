/* The program: finds the verb, reads its options, runs it. SPDX-License-Identifier: MIT */
#include "cli/cli.h"
#include "cli/report.h"

#include "base/log.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const qn_verb qn_verb_table[] = {
    {"run", QN_VERB_RUN, "[PROMPT]", 1, "Continues a text with the model; the text appears as it is made.",
     "  quern run \"Once upon a time\"\n"
     "  quern run -m model.gguf -f prompt.txt -n 200 --temp 0 --no-display-prompt\n"
     "  quern run --chat --system \"Answer in one word.\" \"What is the capital of France?\"\n"
     "  quern run --chat --json-schema @person.json \"Invent a person.\"\n"
     "  echo -n \"The capital of France is\" | quern run -f - --stop . --json\n",
     NULL, qn_verb_run},
    {"chat", QN_VERB_CHAT, "", 0, "Talks with the model; /help lists what can be typed beside messages.",
     "  quern chat\n"
     "  quern chat -m model.gguf --system \"You are a pirate.\" -c 4096\n"
     "  echo \"Name three rivers.\" | quern chat --temp 0\n",
     NULL, qn_verb_chat},
    {"inspect", QN_VERB_INSPECT, "FILE", 1, "Shows what a GGUF file holds and how much memory it needs.",
     "  quern inspect model.gguf\n"
     "  quern inspect model.gguf -c 8192 --json\n"
     "  quern inspect model.gguf --plan\n",
     NULL, qn_verb_inspect},
    {"tokenize", QN_VERB_TOKENIZE, "[TEXT]", 1, "Turns text into token ids, or ids into text.",
     "  quern tokenize -m model.gguf \"Hello world\"\n"
     "  quern tokenize -m model.gguf -f book.txt --no-special --json\n"
     "  quern tokenize -m model.gguf --ids \"1 403 407\"\n",
     NULL, qn_verb_tokenize},
    {"template", QN_VERB_TEMPLATE, "", 0, "Shows the text that a chat template makes of a conversation.",
     "  quern template -m model.gguf --input conversation.json\n"
     "  quern template --template chat.jinja --input - < conversation.json\n"
     "  echo '{\"messages\": [{\"role\": \"user\", \"content\": \"Hi\"}]}' | quern template --input -\n",
     NULL, qn_verb_template},
    {"grammar", QN_VERB_GRAMMAR, "check [FILE]", 2,
     "Says whether a grammar, schema or regular expression is supported, and how large its automaton is.",
     "  quern grammar check schema.json\n"
     "  quern grammar check --json-schema '{\"type\": \"array\", \"items\": {\"type\": \"integer\"}}' --json\n"
     "  quern grammar check --regex '[0-9]{4}-[0-9]{2}'\n"
     "  quern grammar check list.gbnf\n",
     "check", qn_verb_grammar},
    {"bench", QN_VERB_BENCH, "", 0, "Measures how fast the model reads and makes tokens on this machine.",
     "  quern bench -m model.gguf\n"
     "  quern bench -m model.gguf -p 512,2048 -n 0 -t 1,2,4 -r 3 --json\n"
     "  quern bench -m model.gguf -p 0 -n 64 -d 0,1024,4096\n",
     NULL, qn_verb_bench},
    {"eval", QN_VERB_EVAL, "perplexity", 1, "Measures how well the model predicts a text.",
     "  quern eval perplexity -m model.gguf -f wiki.test.raw -c 512\n"
     "  quern eval perplexity -m model.gguf -f wiki.test.raw --chunks 20 --json\n",
     "perplexity", qn_verb_eval},
};
const size_t qn_n_verbs = sizeof(qn_verb_table) / sizeof(qn_verb_table[0]);

const qn_verb *qn_verb_find(const char *name)
{
    for (size_t i = 0; i < qn_n_verbs; i++) {
        if (strcmp(name, qn_verb_table[i].name) == 0) {
            return &qn_verb_table[i];
        }
    }
    return NULL;
}

static int unknown_verb(const char *name)
{
    const char *words[16] = {"help", "version"};
    size_t n = 2;
    for (size_t i = 0; i < qn_n_verbs && n < 16; i++) {
        words[n++] = qn_verb_table[i].name;
    }
    qn_error err;
    const char *nearest = qn_nearest_word(name, words, n);
    if (nearest != NULL) {
        qn_fail(&err, QN_EINVAL, "unknown verb '%s'; did you mean '%s'?", name, nearest);
    } else {
        qn_fail(&err, QN_EINVAL, "unknown verb '%s'", name);
    }
    return qn_report_usage(NULL, &err);
}

/* `help` and `version` take no options but this one; *argc and argv lose it. */
static bool take_json(int *argc, char **argv)
{
    bool json = false;
    int n = 0;
    for (int i = 0; i < *argc; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            json = true;
        } else {
            argv[n++] = argv[i];
        }
    }
    *argc = n;
    return json;
}

static int help(int argc, char **argv)
{
    qn_error err;
    bool json = take_json(&argc, argv);
    const qn_verb *verb = argc > 0 ? qn_verb_find(argv[0]) : NULL;
    if (argc > 0 && verb == NULL && strcmp(argv[0], "help") != 0 && strcmp(argv[0], "version") != 0) {
        return unknown_verb(argv[0]);
    }
    /* What a verb is told to do may stand here too: "quern help eval perplexity". */
    bool is_subject = argc == 2 && verb != NULL && verb->subject != NULL && strcmp(argv[1], verb->subject) == 0;
    if (argc > 1 && !is_subject) {
        qn_fail(&err, QN_EINVAL, "'%s' is one argument too many; help takes one verb", argv[1]);
        return qn_report_usage(NULL, &err);
    }
    return qn_help(verb, json) ? QN_EXIT_DONE : QN_EXIT_FAILED;
}

static int version(int argc, char **argv)
{
    bool json = take_json(&argc, argv);
    if (argc > 0) {
        qn_error err;
        qn_fail(&err, QN_EINVAL, "'%s' is one argument too many; version takes --json at most", argv[0]);
        return qn_report_usage(NULL, &err);
    }
    uint32_t v = qn_version();
    printf(json ? "{\"version\":\"%u.%u.%u\"}\n" : "quern %u.%u.%u\n", (unsigned)(v >> 16), (unsigned)(v >> 8 & 0xFF),
           (unsigned)(v & 0xFF));
    return QN_EXIT_DONE;
}

/* A kernel set that cannot be had is the user's mistake, found before a verb does anything: one thread and no model,
 * so it costs next to nothing. */
static qn_status check_isa(qn_error *err)
{
    const char *isa = getenv("QUERN_ISA");
    if (isa == NULL || isa[0] == '\0') {
        return QN_OK;
    }
    qn_runtime_options ro;
    qn_runtime *rt = NULL;
    qn_runtime_options_init(&ro);
    ro.n_threads = 1;
    qn_status status = qn_runtime_open(&ro, &rt, err);
    qn_runtime_close(rt);
    return status == QN_EUNSUPPORTED ? qn_fail(err, QN_EINVAL, "QUERN_ISA: %s", err->what) : status;
}

static int run_verb(const qn_verb *verb, int argc, char **argv)
{
    qn_error err;
    qn_options *o = NULL;
    if (qn_options_open(verb->bit, argc, argv, &o, &err) != QN_OK) {
        return err.code == QN_EINVAL ? qn_report_usage(verb->name, &err) : qn_report_failure(verb->name, &err);
    }
    size_t n_rest;
    const char *const *rest = qn_options_rest(o, &n_rest);
    int code;
    if (qn_options_flag(o, QN_OPTION_ID_HELP)) {
        code = qn_help(verb, qn_options_flag(o, QN_OPTION_ID_JSON)) ? QN_EXIT_DONE : QN_EXIT_FAILED;
    } else if (n_rest > verb->max_rest) {
        qn_fail(&err, QN_EINVAL, "'%s' is one argument too many; put a text with spaces in quotes",
                rest[verb->max_rest]);
        code = qn_report_usage(verb->name, &err);
    } else if (check_isa(&err) != QN_OK) {
        code = err.code == QN_EINVAL ? qn_report_usage(verb->name, &err) : qn_report_failure(verb->name, &err);
    } else {
        qn_log_set_level(qn_options_flag(o, QN_OPTION_ID_VERBOSE) ? QN_LOG_DEBUG : QN_LOG_WARN);
        code = verb->run(o);
    }
    qn_options_close(o);
    return code;
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2) {
        qn_error err;
        qn_fail(&err, QN_EINVAL,
                "say what to do: run, chat, inspect, tokenize, template, grammar, bench, eval, version or help");
        return qn_report_usage(NULL, &err);
    }
    const char *name = argv[1];
    if (strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        return help(argc - 2, argv + 2);
    }
    if (strcmp(name, "version") == 0 || strcmp(name, "--version") == 0) {
        return version(argc - 2, argv + 2);
    }
    const qn_verb *verb = qn_verb_find(name);
    return verb != NULL ? run_verb(verb, argc - 2, argv + 2) : unknown_verb(name);
}

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN); /* a closed pipe is found when writing, so that nothing is left half done */
    int code = dispatch(argc, argv);
    return qn_report_flush() || code != QN_EXIT_DONE ? code : QN_EXIT_FAILED;
}
