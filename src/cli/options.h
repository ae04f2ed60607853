/* Every option of the program, in one table: flags, environment, defaults, checks and help all come from it.
 * A value is taken from the command line, else from the environment, else it is the default.
 * SPDX-License-Identifier: MIT */
#ifndef QN_CLI_OPTIONS_H
#define QN_CLI_OPTIONS_H

#include "base/alloc.h"

enum {
    QN_VERB_RUN = 1,
    QN_VERB_INSPECT = 2,
    QN_VERB_TOKENIZE = 4,
    QN_VERB_BENCH = 8,
    QN_VERB_EVAL = 16,
    QN_VERB_CHAT = 32,
    QN_VERB_TEMPLATE = 64,
    QN_VERB_GRAMMAR = 128,
};

typedef enum qn_option_kind {
    QN_OPTION_FLAG,  /* no value on the command line; 0, 1, true, false in the environment */
    QN_OPTION_TEXT,  /* NULL when not given */
    QN_OPTION_TEXTS, /* may be given many times */
    QN_OPTION_INT,
    QN_OPTION_INTS,   /* comma separated */
    QN_OPTION_REAL,   /* finite */
    QN_OPTION_CHOICE, /* one of the words of its metavar, which '|' separates */
} qn_option_kind;

#define QN_OPTION_MAX_INTS 64 /* a benchmark of more points takes days */

#define QN_TALKING (QN_VERB_RUN | QN_VERB_CHAT)
#define QN_GENERATING (QN_TALKING | QN_VERB_BENCH | QN_VERB_EVAL)
#define QN_TEMPLATING (QN_TALKING | QN_VERB_TEMPLATE)
#define QN_FORMATTING (QN_TALKING | QN_VERB_GRAMMAR)
#define QN_ALL_VERBS (QN_GENERATING | QN_VERB_TOKENIZE | QN_VERB_INSPECT | QN_VERB_TEMPLATE | QN_VERB_GRAMMAR)

/* X(id, name, short flag or 0, kind, metavar, default, min, max, verbs, key in a settings file, environment, help)
 * A name may stand in several rows, as long as no verb takes two of them. Environment NULL: flags only. */
#define QN_OPTION_TABLE(X)                                                                                           \
    X(MODEL, "model", 'm', TEXT, "FILE", NULL, 0, 0, QN_ALL_VERBS, "model.path", "QUERN_MODEL", "GGUF file")         \
    X(PROMPT, "prompt", 'p', TEXT, "TEXT", NULL, 0, 0, QN_VERB_RUN | QN_VERB_TOKENIZE, NULL, NULL, "the text")       \
    X(FILE, "file", 'f', TEXT, "FILE", NULL, 0, 0, QN_VERB_RUN | QN_VERB_TOKENIZE | QN_VERB_EVAL, NULL, NULL,        \
      "read the text from FILE, byte for byte; - is standard input")                                                 \
    X(N_PREDICT, "n-predict", 'n', INT, "N", "128", -1, 1 << 30, QN_VERB_RUN, "run.n_predict", "QUERN_N_PREDICT",    \
      "tokens to make; 0: only read the prompt; -1: until the model ends or the context is full")                    \
    X(CTX_SIZE, "ctx-size", 'c', INT, "N", "0", 0, 1 << 24, QN_VERB_RUN | QN_VERB_INSPECT, "session.context",        \
      "QUERN_CTX_SIZE", "tokens the context holds; 0: as many as needed, at most what the model was trained for")    \
    X(CHAT_N_PREDICT, "n-predict", 'n', INT, "N", "-1", -1, 1 << 30, QN_VERB_CHAT, "chat.n_predict",                 \
      "QUERN_N_PREDICT", "tokens of an answer at most; -1: until the model ends or the context is full")             \
    X(CHAT_CTX_SIZE, "ctx-size", 'c', INT, "N", "0", 0, 1 << 24, QN_VERB_CHAT, "session.context", "QUERN_CTX_SIZE",  \
      "tokens the context holds; 0: what the model was trained for, but 8192 at most")                               \
    X(CHAT, "chat", 0, FLAG, NULL, NULL, 0, 0, QN_VERB_RUN, NULL, NULL,                                              \
      "the text is a message: answer it by the model's chat template")                                               \
    X(SYSTEM, "system", 0, TEXT, "TEXT", NULL, 0, 0, QN_TALKING, "chat.system", NULL,                                \
      "the system message, which tells the model how to answer")                                                     \
    X(TEMPLATE, "template", 0, TEXT, "FILE", NULL, 0, 0, QN_TEMPLATING, "chat.template", NULL,                       \
      "Jinja file to use in place of the model's chat template")                                                     \
    X(TEMPLATE_NAME, "template-name", 0, TEXT, "NAME", NULL, 0, 0, QN_TEMPLATING, NULL, NULL,                        \
      "which of the model's named chat templates to use (\"tool_use\")")                                             \
    X(TOOLS, "tools", 0, TEXT, "FILE", NULL, 0, 0, QN_TALKING, NULL, NULL,                                           \
      "JSON list of functions that the model may call, as in the OpenAI interface")                                  \
    X(TOOL_CHOICE, "tool-choice", 0, TEXT, "CHOICE", NULL, 0, 0, QN_TALKING, NULL, NULL,                             \
      "auto: the model may call a function of --tools; required: it must; none: it must not; or the name of the one "\
      "it must call")                                                                                                \
    X(INPUT, "input", 'i', TEXT, "FILE", NULL, 0, 0, QN_VERB_TEMPLATE, NULL, NULL,                                   \
      "JSON object with messages, tools, add_generation_prompt and any other variable; - is standard input")         \
    X(EVAL_CTX_SIZE, "ctx-size", 'c', INT, "N", "512", 8, 1 << 24, QN_VERB_EVAL, "eval.context", NULL,               \
      "tokens of a chunk")                                                                                           \
    X(THREADS, "threads", 't', INT, "N", "0", 0, 512, QN_TALKING | QN_VERB_EVAL | QN_VERB_INSPECT,                   \
      "runtime.threads", "QUERN_THREADS",                                                                            \
      "compute threads; 0: the cores that this process may use")                                                     \
    X(BATCH_SIZE, "batch-size", 'b', INT, "N", "512", 1, 65536, QN_GENERATING | QN_VERB_INSPECT, "session.batch",    \
      "QUERN_BATCH_SIZE",                                                                                            \
      "tokens of one step at most")                                                                                  \
    X(KV_TYPE, "kv-type", 0, CHOICE, "f16|f32|bf16|q8|q4|mixed", "f16", 0, 0, QN_GENERATING | QN_VERB_INSPECT,       \
      "session.kv_type", "QUERN_KV_TYPE", "numbers of the attention memory; mixed: f16 first, then q8")              \
    X(KV_MIXED_TOKENS, "kv-mixed-tokens", 0, INT, "N", "512", 1, 1 << 24, QN_GENERATING | QN_VERB_INSPECT,           \
      "session.kv_mixed_tokens", "QUERN_KV_MIXED_TOKENS",                                                            \
      "with --kv-type mixed: tokens at the beginning that are f16; a multiple of 32")                                \
    X(KV_MIXED_REST, "kv-mixed-rest", 0, CHOICE, "q8|q4", "q8", 0, 0, QN_GENERATING | QN_VERB_INSPECT,               \
      "session.kv_mixed_rest", "QUERN_KV_MIXED_REST", "with --kv-type mixed: what the tokens after those are")       \
    X(NO_MMAP, "no-mmap", 0, FLAG, NULL, NULL, 0, 0, QN_GENERATING | QN_VERB_INSPECT, "model.no_mmap",               \
      "QUERN_NO_MMAP", "read the model into memory instead of mapping its file")                                     \
    X(MLOCK, "mlock", 0, FLAG, NULL, NULL, 0, 0, QN_GENERATING, "model.mlock", "QUERN_MLOCK",                        \
      "keep the model in memory: it is neither dropped nor swapped out")                                             \
    X(N_SEQS, "n-seqs", 0, INT, "N", "1", 1, 4096, QN_VERB_INSPECT, "session.sequences", NULL,                       \
      "sequences of --ctx-size tokens at the same time")                                                             \
    X(TEMP, "temp", 0, REAL, "T", "0.8", 0, 1000, QN_TALKING, "sampling.temperature", "QUERN_TEMP",                  \
      "temperature; 0: always the most probable token")                                                              \
    X(TOP_K, "top-k", 0, INT, "K", "40", 0, INT32_MAX, QN_TALKING, "sampling.top_k", "QUERN_TOP_K",                  \
      "only the K most probable tokens; 0: off")                                                                     \
    X(TOP_P, "top-p", 0, REAL, "P", "0.95", 0, 1, QN_TALKING, "sampling.top_p", "QUERN_TOP_P",                       \
      "only the most probable tokens that reach P together; 1: off")                                                 \
    X(MIN_P, "min-p", 0, REAL, "P", "0.05", 0, 1, QN_TALKING, "sampling.min_p", "QUERN_MIN_P",                       \
      "only tokens at least P times as probable as the best; 0: off")                                                \
    X(TYPICAL, "typical", 0, REAL, "P", "1", 0, 1, QN_TALKING, "sampling.typical", "QUERN_TYPICAL",                  \
      "only the most typical tokens that reach P together; 1: off")                                                  \
    X(REPEAT_PENALTY, "repeat-penalty", 0, REAL, "R", "1", 0.001, 1000, QN_TALKING, "sampling.repeat_penalty",       \
      "QUERN_REPEAT_PENALTY", "makes tokens used lately less likely by this factor; 1: off")                         \
    X(REPEAT_LAST_N, "repeat-last-n", 0, INT, "N", "64", 0, 1 << 20, QN_TALKING, "sampling.repeat_last_n",           \
      "QUERN_REPEAT_LAST_N", "how many tokens the penalties look back; 0: off")                                      \
    X(FREQUENCY_PENALTY, "frequency-penalty", 0, REAL, "F", "0", -1000, 1000, QN_TALKING,                            \
      "sampling.frequency_penalty", "QUERN_FREQUENCY_PENALTY", "taken from a token's logit for each use; 0: off")    \
    X(PRESENCE_PENALTY, "presence-penalty", 0, REAL, "F", "0", -1000, 1000, QN_TALKING, "sampling.presence_penalty", \
      "QUERN_PRESENCE_PENALTY", "taken from a used token's logit once; 0: off")                                      \
    X(SEED, "seed", 0, INT, "N", "-1", -1, INT64_MAX, QN_TALKING, "sampling.seed", "QUERN_SEED",                     \
      "the same seed gives the same text; -1: a new one each time")                                                  \
    X(STOP, "stop", 0, TEXTS, "TEXT", NULL, 0, 0, QN_TALKING, NULL, NULL,                                            \
      "end before this text; may be given up to 64 times")                                                           \
    X(LOGIT_BIAS, "logit-bias", 0, TEXTS, "ID=B", NULL, 0, 0, QN_TALKING, NULL, NULL,                                \
      "add B to the logit of token ID; -100 bans it, 100 forces it; may be given many times")                        \
    X(IGNORE_EOS, "ignore-eos", 0, FLAG, NULL, NULL, 0, 0, QN_TALKING, "run.ignore_eos", "QUERN_IGNORE_EOS",         \
      "never let the model end by itself")                                                                           \
    X(GRAMMAR, "grammar", 0, TEXT, "TEXT", NULL, 0, 0, QN_FORMATTING, "format.grammar", NULL,                        \
      "the text must be one that this GBNF grammar makes; here and in the next three @FILE reads FILE")              \
    X(JSON_SCHEMA, "json-schema", 0, TEXT, "TEXT", NULL, 0, 0, QN_FORMATTING, "format.json_schema", NULL,            \
      "the text must be JSON that this schema allows (draft 2020-12 or 7)")                                          \
    X(REGEX, "regex", 0, TEXT, "TEXT", NULL, 0, 0, QN_FORMATTING, "format.regex", NULL,                              \
      "the text must match this regular expression from end to end; @@ is an @ at its beginning")                    \
    X(CHOICE, "choice", 0, TEXTS, "TEXT", NULL, 0, 0, QN_FORMATTING, NULL, NULL,                                     \
      "the text must be this one or that of another --choice; @FILE reads a JSON list of them")                      \
    X(JSON_WHITESPACE, "json-whitespace", 0, INT, "N", "0", 0, 64, QN_FORMATTING, "format.json_whitespace",          \
      "QUERN_JSON_WHITESPACE", "blanks between two tokens of JSON at most, where there is a schema")                 \
    X(STRICT_SCHEMA, "strict-schema", 0, FLAG, NULL, NULL, 0, 0, QN_FORMATTING, "format.strict_schema",              \
      "QUERN_STRICT_SCHEMA", "refuse schemas with an object that is open or has members that are not required")      \
    X(TIME_LIMIT, "time-limit", 0, REAL, "SECONDS", "0", 0, 1e8, QN_VERB_RUN, "run.time_limit", "QUERN_TIME_LIMIT",  \
      "end after this time, counted from the prompt's first token; 0: none")                                         \
    X(NO_DISPLAY_PROMPT, "no-display-prompt", 0, FLAG, NULL, NULL, 0, 0, QN_VERB_RUN, "run.no_display_prompt",       \
      "QUERN_NO_DISPLAY_PROMPT", "print the new text alone")                                                         \
    X(FULL, "full", 0, FLAG, NULL, NULL, 0, 0, QN_VERB_INSPECT, NULL, NULL, "whole arrays and texts, however long")  \
    X(PLAN, "plan", 0, FLAG, NULL, NULL, 0, 0, QN_VERB_INSPECT, NULL, NULL,                                          \
      "the plan instead: fused ops, offsets and lifetimes in the arena; loads the model")                            \
    X(NO_SPECIAL, "no-special", 0, FLAG, NULL, NULL, 0, 0, QN_VERB_TOKENIZE, NULL, NULL,                             \
      "add no BOS or EOS; special tokens spelled in the text are plain text")                                        \
    X(IDS, "ids", 0, TEXT, "\"1 2 3\"", NULL, 0, 0, QN_VERB_TOKENIZE, NULL, NULL, "print the text of these tokens")  \
    X(DETOKENIZE, "detokenize", 0, FLAG, NULL, NULL, 0, 0, QN_VERB_TOKENIZE, NULL, NULL,                             \
      "the text given is a list of tokens; print what they spell")                                                   \
    X(PIECES, "pieces", 0, FLAG, NULL, NULL, 0, 0, QN_VERB_TOKENIZE, NULL, NULL, "one token a line, with its text")  \
    X(N_PROMPT, "n-prompt", 'p', INTS, "N,...", "512", 0, 1 << 24, QN_VERB_BENCH, "bench.n_prompt", NULL,            \
      "tokens of the prefill test; 0: none")                                                                         \
    X(N_GEN, "n-gen", 'n', INTS, "N,...", "128", 0, 1 << 24, QN_VERB_BENCH, "bench.n_gen", NULL,                     \
      "tokens of the decode test; 0: none")                                                                          \
    X(SEQUENCES, "sequences", 0, INTS, "N,...", "1", 1, 256, QN_VERB_BENCH, "bench.sequences", NULL,                 \
      "sequences that decode side by side, a token each in a step")                                                  \
    X(DEPTH, "depth", 'd', INTS, "N,...", "0", 0, 1 << 24, QN_VERB_BENCH, "bench.depth", NULL,                       \
      "tokens that stand in the context before the test")                                                            \
    X(BENCH_THREADS, "threads", 't', INTS, "N,...", "0", 0, 512, QN_VERB_BENCH, "bench.threads", "QUERN_THREADS",    \
      "compute threads; 0: the cores that this process may use")                                                     \
    X(REPETITIONS, "repetitions", 'r', INT, "N", "5", 1, 10000, QN_VERB_BENCH, "bench.repetitions", NULL,            \
      "measured runs of each test, after one that warms up")                                                         \
    X(MIXED, "mixed", 0, INT, "N", "0", 0, 256, QN_VERB_BENCH, "bench.mixed", NULL,                                  \
      "also test N sequences that decode while a prompt is read in the same steps; 0: no")                           \
    X(PROFILE, "profile", 0, FLAG, NULL, NULL, 0, 0, QN_VERB_BENCH, "bench.profile", NULL,                           \
      "also tell what each kind of op cost: time, bytes, multiply-adds")                                             \
    X(CHUNKS, "chunks", 0, INT, "N", "0", 0, 1 << 30, QN_VERB_EVAL, "eval.chunks", NULL,                             \
      "only the first N chunks; 0: all")                                                                             \
    X(KL_AGAINST, "kl-against", 0, CHOICE, "f16|f32|bf16|q8|q4|mixed|none", "none", 0, 0, QN_VERB_EVAL, NULL, NULL,  \
      "also compare each prediction with that of another --kv-type: loss of perplexity, KL divergence")              \
    X(JSON, "json", 0, FLAG, NULL, NULL, 0, 0, QN_ALL_VERBS, NULL, NULL,                                             \
      "one JSON object on standard output; from chat, one for each answer")                                          \
    X(CSV, "csv", 0, FLAG, NULL, NULL, 0, 0, QN_VERB_BENCH, NULL, NULL, "comma separated values")                    \
    X(VERBOSE, "verbose", 'v', FLAG, NULL, NULL, 0, 0, QN_ALL_VERBS, "log.verbose", "QUERN_VERBOSE",                 \
      "tell more on standard error")                                                                                 \
    X(HELP, "help", 'h', FLAG, NULL, NULL, 0, 0, QN_ALL_VERBS, NULL, NULL, "this text")

typedef enum qn_option_id {
#define QN_OPTION_ENUM(id, ...) QN_OPTION_ID_##id,
    QN_OPTION_TABLE(QN_OPTION_ENUM)
#undef QN_OPTION_ENUM
        QN_OPTION_COUNT
} qn_option_id;

typedef struct qn_option {
    const char *name;
    char short_name;
    qn_option_kind kind;
    const char *metavar, *fallback;
    double min, max;
    unsigned verbs;
    const char *key, *environment, *help;
} qn_option;

extern const qn_option qn_option_table[QN_OPTION_COUNT];

typedef struct qn_options qn_options;

/* Reads argv[0, argc) (what follows the verb) for the one verb given. The strings of argv and of the environment
 * must outlive the options. QN_EINVAL: the error says what is wrong and what was perhaps meant. */
qn_status qn_options_open(unsigned verb, int argc, char **argv, qn_options **out, qn_error *err);
void qn_options_close(qn_options *o);

/* The value of an option that the verb takes. */
bool qn_options_flag(const qn_options *o, qn_option_id id);
const char *qn_options_text(const qn_options *o, qn_option_id id);
int64_t qn_options_int(const qn_options *o, qn_option_id id); /* a choice: the number of the word */
double qn_options_real(const qn_options *o, qn_option_id id);
const int64_t *qn_options_ints(const qn_options *o, qn_option_id id, size_t *n);
const char *const *qn_options_texts(const qn_options *o, qn_option_id id, size_t *n);
unsigned qn_options_verb(const qn_options *o);
/* Arguments that are no options. */
const char *const *qn_options_rest(const qn_options *o, size_t *n);

/* Strict: the whole text, decimal, in [min, max]. */
bool qn_parse_int(const char *text, int64_t min, int64_t max, int64_t *out);
bool qn_parse_real(const char *text, double min, double max, double *out);

/* Of n words the one most like `word`; NULL: none is near. */
const char *qn_nearest_word(const char *word, const char *const *words, size_t n);

#endif
