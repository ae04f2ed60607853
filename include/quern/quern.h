/* quern.h: the whole public interface of libquern.
 *
 * Objects are opaque and form a chain; each must outlive the ones that follow it:
 *
 *     qn_runtime -> qn_model -> qn_session -> qn_seq
 *
 * Threads: calls on different sessions may run at the same time. Calls on one session and on its
 * sequences must come from one thread at a time; qn_session_abort() alone may come from anywhere,
 * a signal handler included.
 *
 * Errors: every call that can fail returns a qn_status, and fills *err when err is not NULL. On failure
 * out-parameters are left as they were unless the call says otherwise. A NULL where the call needs something is
 * QN_EINVAL and names the argument. QN_EBUDGET instead of QN_ENOMEM says that the runtime's memory_bytes was
 * in the way; err has the bytes asked for and that ceiling.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef QUERN_QUERN_H
#define QUERN_QUERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define QN_VERSION_MAJOR 0
#define QN_VERSION_MINOR 1
#define QN_VERSION_PATCH 0

/* ---- status ------------------------------------------------------------------------------------ */

/* X(name, value, text). -1xx: the input is wrong; -2xx: try again later or with less; -3xx: the world
 * outside failed; -9xx: a fault of this program or of the machine. */
#define QN_STATUS_MAP(X)                                                                           \
    X(QN_OK, 0, "ok")                                                                              \
    X(QN_EINVAL, -100, "invalid argument")                                                         \
    X(QN_EFORMAT, -101, "malformed input")                                                         \
    X(QN_EUNSUPPORTED, -102, "not supported")                                                      \
    X(QN_ENOTFOUND, -103, "not found")                                                             \
    X(QN_ERANGE, -104, "out of range")                                                             \
    X(QN_ENOMEM, -200, "out of memory")                                                            \
    X(QN_EBUDGET, -201, "memory budget exceeded")                                                  \
    X(QN_EFULL, -202, "no room left")                                                              \
    X(QN_EABORTED, -203, "stopped on request")                                                     \
    X(QN_EIO, -300, "input or output failed")                                                      \
    X(QN_EDAMAGED, -301, "the file changed while in use")                                          \
    X(QN_EINTERNAL, -900, "internal error")

typedef enum qn_status {
#define QN_STATUS_ENUM(name, value, text) name = (value),
    QN_STATUS_MAP(QN_STATUS_ENUM)
#undef QN_STATUS_ENUM
} qn_status;

#define QN_ERROR_TEXT 256 /* bytes of an error's text, the NUL included; longer texts are cut */

typedef struct qn_error {
    qn_status code;
    char what[QN_ERROR_TEXT]; /* one line of UTF-8 that names the field, key, tensor or argument */
} qn_error;

/* "QN_EINVAL" and "invalid argument"; for an unknown code "QN_?" and "unknown status". */
const char *qn_status_name(qn_status code);
const char *qn_status_text(qn_status code);

/* MAJOR << 16 | MINOR << 8 | PATCH of the library that is linked. */
uint32_t qn_version(void);

/* ---- runtime: what the models of one process share ---------------------------------------------- */

typedef struct qn_runtime qn_runtime;

typedef struct qn_runtime_options {
    uint64_t memory_bytes; /* ceiling for everything the library allocates; 0: none */
    uint32_t n_threads;    /* compute threads; 0: the cores that affinity and cgroup allow */
    const char *isa;       /* forced kernel set ("ref", "avx2", ...); NULL: QUERN_ISA, else the best */
} qn_runtime_options;

void qn_runtime_options_init(qn_runtime_options *o);

/* Starts the compute pool. o may be NULL. QN_EINVAL: n_threads above 512; QN_EUNSUPPORTED: the machine
 * lacks that isa, or nobody knows it (err names it). */
qn_status qn_runtime_open(const qn_runtime_options *o, qn_runtime **out, qn_error *err);
void qn_runtime_close(qn_runtime *rt); /* NULL is allowed, as in every close below */

uint32_t qn_runtime_threads(const qn_runtime *rt);
const char *qn_runtime_isa(const qn_runtime *rt);

/* What n_threads threads (0: all) can multiply and add in a second with the i-th kernel set that this machine has, on
 * numbers of 8 bits, on bf16, and on floats; 0: that set has no such instructions of its own. Takes about 0.1 s.
 * QN_ENOTFOUND: no such i. */
typedef struct qn_peaks {
    const char *isa;
    double i8, bf16, f32;
} qn_peaks;
qn_status qn_runtime_peaks(qn_runtime *rt, size_t i, uint32_t n_threads, qn_peaks *out, qn_error *err);

/* Memory by owner: the i-th owner's name and bytes held now. False: no such i. */
bool qn_runtime_memory(const qn_runtime *rt, size_t i, const char **owner, uint64_t *bytes);
uint64_t qn_runtime_memory_used(const qn_runtime *rt);
uint64_t qn_runtime_memory_peak(const qn_runtime *rt);

/* ---- model -------------------------------------------------------------------------------------- */

typedef struct qn_model qn_model;

/* Told now and then how much of a file has been read (the parts of a split one follow each other). Other than 0: stop. */
typedef int qn_progress_fn(void *ctx, uint64_t n_done, uint64_t n_bytes);

typedef struct qn_model_options {
    bool vocab_only;      /* only the tokenizer; sessions cannot be opened; files without tensors are fine */
    bool skip_self_check; /* do not run the kernels: to look at a model, not to use it */
    bool no_mmap;         /* read the file into memory, which counts as the runtime's, instead of mapping it */
    bool mlock;           /* keep the file in memory: the system must neither drop nor swap it; waits until it is read */
    qn_progress_fn *progress; /* with no_mmap; may be NULL */
    void *progress_ctx;
} qn_model_options;

void qn_model_options_init(qn_model_options *o);

/* Maps the GGUF file (and the other parts of a split one), checks its metadata and the places of all tensors, binds the
 * weights and checks each active kernel against the reference. No weight is read; a thread of low priority brings a map
 * into memory meanwhile, unless it would take more than half of the machine's. o may be NULL. The error begins with the
 * file's name and names the field, key or tensor. QN_EUNSUPPORTED: another architecture, or a key or tensor that would
 * change the model and is not known; QN_EFULL: mlock is not allowed (err names the limit); QN_EABORTED: progress said
 * so. With vocab_only, no_mmap and mlock do nothing. */
qn_status qn_model_open(qn_runtime *rt, const char *path, const qn_model_options *o, qn_model **out,
                        qn_error *err);
void qn_model_close(qn_model *m);

typedef struct qn_model_info {
    const char *architecture; /* "llama"; owned by the model */
    const char *name;         /* general.name or "" */
    uint32_t n_vocab; /* tokens; rows of the file's embedding beyond them are not used */
    uint32_t n_ctx_train;
    uint32_t n_embd;
    uint32_t n_layers;
    uint64_t n_params;
    uint64_t file_bytes;   /* all parts */
    uint64_t weight_bytes; /* tensors alone */
    uint64_t body_weights; /* weights that each token is multiplied with, the experts in use alone */
    uint64_t head_weights; /* and those of the output matrix, for rows whose logits are wanted */
    int32_t bos;           /* -1: the vocabulary has none */
    int32_t eos;
    bool adds_bos; /* qn_tokenize() with QN_TEXT_ADD_SPECIAL puts bos first */
} qn_model_info;

void qn_model_get_info(const qn_model *m, qn_model_info *out);

/* Multiply-adds a second of which n_threads threads (0: all) are capable together, with the instructions that a step of
 * n_rows rows uses for the type that holds most of the model's weights: the limit of prefill and of large batches.
 * Takes about 0.05 s. QN_EUNSUPPORTED: nobody measures this kernel set. */
qn_status qn_model_peak(const qn_model *m, uint32_t n_rows, uint32_t n_threads, double *per_second, qn_error *err);

/* ---- text --------------------------------------------------------------------------------------- */

enum {
    QN_TEXT_ADD_SPECIAL = 1,   /* BOS and EOS as the file says */
    QN_TEXT_PARSE_SPECIAL = 2, /* special tokens spelled in the text become those tokens */
};

/* Writes the ids of text[0, n_bytes) to ids[0, cap) and their count to *n_ids.
 * QN_ERANGE: cap is too small; *n_ids is the count needed and ids is untouched beyond cap. */
qn_status qn_tokenize(const qn_model *m, const char *text, size_t n_bytes, unsigned flags, int32_t *ids,
                      size_t cap, size_t *n_ids, qn_error *err);

/* The inverse: the bytes of ids, not NUL-terminated. With QN_TEXT_PARSE_SPECIAL special tokens are spelled
 * out, without it they give nothing. QN_ERANGE: a bad id (err names it), or cap too small (*n_bytes tells). */
qn_status qn_detokenize(const qn_model *m, const int32_t *ids, size_t n_ids, unsigned flags, char *text,
                        size_t cap, size_t *n_bytes, qn_error *err);

/* True when id ends a generation (EOS, end of turn, ...). */
bool qn_token_is_end(const qn_model *m, int32_t id);

/* ---- session and sequences ---------------------------------------------------------------------- */

typedef struct qn_session qn_session;
typedef struct qn_seq qn_seq;

/* How keys and values are kept. Q8: bytes with a scale and a minimum for each token and head. Q4: about 4.75 bits, the
 * first page of a sequence F16, its last two tokens F16 beside their codes. MIXED: the first tokens of a sequence F16,
 * the others as Q8 or Q4. */
typedef enum qn_kv_type {
    QN_KV_F16 = 0,
    QN_KV_F32 = 1,
    QN_KV_BF16 = 2,
    QN_KV_Q8 = 3,
    QN_KV_Q4 = 4,
    QN_KV_MIXED = 5
} qn_kv_type;

typedef struct qn_session_options {
    uint32_t n_ctx;       /* tokens a sequence may hold; 0: what the model was trained for */
    uint32_t n_batch;     /* rows of one step at most; 0: 512 */
    uint32_t n_seqs;      /* sequences open at the same time; 0: 1 */
    uint32_t n_logits;    /* rows of logits kept by one step at most; 0: n_seqs */
    uint32_t page_tokens; /* tokens of a KV page, a multiple of 8 up to 256; 0: 32 */
    uint32_t n_threads;   /* of the pool; 0: all */
    qn_kv_type kv_type;
    uint32_t kv_mixed_tokens; /* tokens that MIXED keeps as F16, a multiple of page_tokens; 0: 512, in whole pages */
    qn_kv_type kv_mixed_rest; /* how MIXED keeps the others: Q8 or Q4; 0: Q8 */
    uint64_t kv_bytes; /* ceiling of the KV pages; 0: room for n_seqs sequences of n_ctx tokens; at least one page */
    bool profile;      /* measure what each kind of op costs, for qn_session_profile() */
} qn_session_options;

void qn_session_options_init(qn_session_options *o);

/* A part of a process's memory: "model file", "kv", "arena", "tokenizer", ... */
typedef void qn_memory_fn(void *ctx, const char *part, uint64_t bytes);

/* What m's runtime, the model and a session with these options hold together when all contexts are full: hands fn (may
 * be NULL) each part, and *bytes gets the sum. A mapped file is a part, all of it, though it is the system's to drop and
 * not charged to the runtime. Not in it: samplers, formats, other models and sessions, the program itself. Opens such a
 * session, with the least of pages, and closes it. o may be NULL. Errors as from qn_session_open(). */
qn_status qn_session_memory_need(qn_model *m, const qn_session_options *o, qn_memory_fn *fn, void *ctx,
                                 uint64_t *bytes, qn_error *err);

/* Plans and reserves all memory that steps will need. o may be NULL.
 * QN_EINVAL names the option; QN_ENOMEM, QN_EBUDGET: err tells the bytes asked for. */
qn_status qn_session_open(qn_model *m, const qn_session_options *o, qn_session **out, qn_error *err);
void qn_session_close(qn_session *s); /* closes its sequences too */

/* What one kind of op has cost since the session was opened or its profile reset. */
typedef struct qn_profile_entry {
    char name[32];     /* "product Q4_K", "attention", ...; the last is "wait" */
    uint64_t calls;    /* ops run */
    uint64_t ns;       /* of all threads together */
    uint64_t bytes;    /* weights, or keys and values, read; of other ops the rows that go in and out */
    uint64_t mul_adds; /* 0 for ops that are not products or attention */
} qn_profile_entry;

/* The i-th entry. Residual sums and norms that are done together with the product after them count as its time. "wait" is
 * what the threads had beside: starting, waiting for one another, and being off the processor between passes; waiting for
 * the last chunk of a product of few rows counts as the product. False: no such i, or the session was opened without
 * `profile`. Not while a step runs. */
bool qn_session_profile(const qn_session *s, size_t i, qn_profile_entry *out);
void qn_session_profile_reset(qn_session *s);

/* The options in force, with every 0 replaced. */
void qn_session_get_options(const qn_session *s, qn_session_options *out);

/* Changes how keys and values are kept from now on. n_first: tokens of a sequence that MIXED keeps as F16, in whole
 * pages; 0: kv_mixed_tokens; the other types do not look at it. All sequences must be empty (closed, or without tokens);
 * they stay open. The pages are reserved anew, with kv_bytes as it was given to qn_session_open(), before the old ones are given
 * back. QN_EINVAL: a sequence holds tokens, or no such type; QN_ENOMEM, QN_EBUDGET: all is as it was. */
qn_status qn_kv_set_type(qn_session *s, qn_kv_type type, uint32_t n_first, qn_error *err);

/* The plan as text for people: every fused op, every block of the arena with offset, bytes and life. No NUL at the end.
 * QN_ERANGE: cap is too small; *n_bytes is what it takes. */
qn_status qn_session_plan_text(const qn_session *s, char *text, size_t cap, size_t *n_bytes, qn_error *err);

/* QN_EFULL: n_seqs are open already. */
qn_status qn_seq_open(qn_session *s, qn_seq **out, qn_error *err);
void qn_seq_close(qn_seq *q);

uint32_t qn_seq_length(const qn_seq *q); /* tokens in its KV memory */

/* Forgets the tokens from position n_keep on. QN_ERANGE: n_keep above the length, or inside a part that a
 * sliding window has already given up (then only 0 is possible). What follows is the same to the bit as if the tokens
 * had never been; with Q4 but for rounding, since the tokens that are the last ones now are there as codes only. */
qn_status qn_seq_truncate(qn_seq *q, uint32_t n_keep, qn_error *err);

typedef enum qn_want { QN_WANT_NONE, QN_WANT_LAST, QN_WANT_ALL } qn_want;

/* One sequence's part of a step: n_tokens >= 1 tokens, appended at the sequence's end. */
typedef struct qn_step_item {
    qn_seq *seq;
    const int32_t *tokens;
    uint32_t n_tokens;
    qn_want want;      /* which rows give logits */
    qn_status status;  /* out: QN_OK, QN_ERANGE (token or context), QN_EFULL (no page), QN_EINVAL */
    uint32_t i_logits; /* out: index of the first row of logits, for qn_session_logits() */
} qn_step_item;

/* Runs the items together in one step. An item with a fault is left out: its sequence is unchanged, its
 * status says why and err (if given) describes the first one; the others run. A sequence may stand in one
 * item only. Returns QN_OK when the step ran, even with some items left out;
 * QN_EINVAL: more rows than n_batch or more logits than n_logits, nothing ran; QN_EABORTED, QN_EDAMAGED:
 * no sequence advanced. */
qn_status qn_step(qn_session *s, qn_step_item *items, size_t n_items, qn_error *err);

/* Row i of the last step: n_vocab floats, valid until the next step. NULL: there is no such row. */
const float *qn_session_logits(const qn_session *s, uint32_t i);

/* As qn_step() with one item and QN_WANT_ALL, for any number of rows up to n_batch and whatever n_logits is:
 * hands each row's logits to fn in order of position. A non-zero return of fn ends with QN_EABORTED. */
typedef int qn_logits_fn(void *ctx, uint32_t i_row, const float *logits);
qn_status qn_seq_eval_each(qn_seq *q, const int32_t *tokens, uint32_t n_tokens, qn_logits_fn *fn, void *ctx,
                           qn_error *err);

/* One sequence, any number of tokens: as many steps as it takes; *logits (if not NULL) gets the last row.
 * QN_ERANGE: the context would overflow (err has both counts), or a bad token; nothing ran.
 * QN_EFULL (no page), QN_EABORTED, QN_EDAMAGED: the steps before the one that failed count. qn_seq_length() tells how
 * many tokens the sequence holds now, and the logits are gone; qn_seq_truncate() takes the tokens back. */
qn_status qn_seq_eval(qn_seq *q, const int32_t *tokens, size_t n_tokens, const float **logits,
                      qn_error *err);

/* Makes the running step, or the next one, end with QN_EABORTED. Async-signal-safe. */
void qn_session_abort(qn_session *s);

/* ---- sampling ----------------------------------------------------------------------------------- */

typedef struct qn_sampler qn_sampler;

typedef struct qn_logit_bias {
    int32_t id;
    float bias; /* added to the logit; at most -100 (or -INFINITY) bans the token; at least 100 forces it: then
                 * only forced tokens are picked, as long as one of them has a finite logit */
} qn_logit_bias;

typedef struct qn_sampler_options {
    float temperature;       /* 0: greedy; else > 0 */
    uint32_t top_k;          /* 0: off */
    float top_p;             /* 1: off */
    float min_p;             /* 0: off */
    float typical_p;         /* 1: off */
    float repeat_penalty;    /* 1: off; divides positive logits, multiplies negative ones */
    float frequency_penalty; /* 0: off */
    float presence_penalty;  /* 0: off */
    uint32_t penalty_last_n; /* tokens that the penalties look back; 0: off */
    uint64_t seed;
    const qn_logit_bias *bias; /* copied */
    size_t n_bias;
} qn_sampler_options;

/* temperature 0.8, top_k 40, top_p 0.95, min_p 0.05, penalty_last_n 64, everything else off. */
void qn_sampler_options_init(qn_sampler_options *o);

/* QN_EINVAL names the option: not finite, out of range (temperature >= 0; top_p, min_p, typical_p in [0, 1];
 * repeat_penalty > 0; penalty_last_n <= 1048576), or a bias id outside the vocabulary.
 * Same options, same logits, same text: whatever the thread count. o NULL: what qn_sampler_options_init() sets. */
qn_status qn_sampler_open(const qn_model *m, const qn_sampler_options *o, qn_sampler **out, qn_error *err);
void qn_sampler_close(qn_sampler *s);

/* Picks the next token from n_vocab logits (left as they are) and remembers it for the penalties.
 * *logprob (if not NULL): natural logarithm of its probability under the plain softmax of the logits.
 * QN_EINVAL: no logit is finite, or all tokens are banned. */
qn_status qn_sampler_pick(qn_sampler *s, const float *logits, int32_t *id, float *logprob, qn_error *err);

/* Shows the sampler tokens that it did not pick (the prompt), for the penalties. */
void qn_sampler_accept(qn_sampler *s, const int32_t *ids, size_t n_ids);

/* The n most probable tokens, best first (ties: lower id first), with natural log-probabilities. Beyond n_vocab:
 * id -1 and -INFINITY. */
void qn_logprobs_top(const qn_model *m, const float *logits, size_t n, int32_t *ids, float *logprobs);

/* ---- formats: what an answer must look like --------------------------------------------------------
 *
 * Formats are closed before their runtime, guides before their model and runtime; a guide may outlive its format.
 * A guide is used by one thread at a time; a copy is independent of it. */

typedef struct qn_format qn_format; /* compiled; any thread may use it */
typedef struct qn_guide qn_guide;   /* one sequence's place in a format */

typedef enum qn_format_kind {
    QN_FORMAT_GRAMMAR,     /* GBNF; a text is what the rule "root" makes */
    QN_FORMAT_JSON_SCHEMA, /* a schema, draft 2020-12 or 7: the text is JSON that it allows, members in its order */
    QN_FORMAT_REGEX,       /* a regular expression that the whole text matches */
    QN_FORMAT_CHOICE,      /* a JSON list of strings: the text is one of them */
} qn_format_kind;

typedef struct qn_format_options {
    bool strict;             /* schemas: objects must be closed and require all their members, else QN_EUNSUPPORTED */
    uint32_t max_whitespace; /* JSON: blanks between two tokens of JSON at most; 0: none */
} qn_format_options;

void qn_format_options_init(qn_format_options *o);

/* Compiles source, in bounded time and memory; for a source, kind and options that were compiled lately, what was made
 * then is shared. o may be NULL. QN_EFORMAT: malformed, or no text satisfies it; QN_EUNSUPPORTED: it asks for what
 * cannot be enforced; QN_EFULL: too large; QN_EINVAL: no such kind. err names line and column, JSON path and keyword,
 * or the pattern's byte. */
qn_status qn_format_open(qn_runtime *rt, qn_format_kind kind, const char *source, size_t n_bytes,
                         const qn_format_options *o, qn_format **out, qn_error *err);
void qn_format_close(qn_format *f);

typedef struct qn_format_info {
    uint32_t n_rules, n_states, n_edges; /* of the automaton, as far as it is made beforehand */
    uint64_t bytes;
} qn_format_info;

void qn_format_get_info(const qn_format *f, qn_format_info *out); /* neither may be NULL */

/* At the beginning of a text. The first guide of a model prepares its vocabulary (well below a second).
 * QN_ENOTFOUND: the format names a special token that the model lacks; QN_EINVAL: the format is of another runtime. */
qn_status qn_guide_open(const qn_model *m, qn_format *f, qn_guide **out, qn_error *err);
void qn_guide_close(qn_guide *g);
/* At the same place. QN_ENOMEM or QN_EBUDGET alone can be in the way. */
qn_status qn_guide_copy(const qn_guide *g, qn_guide **out, qn_error *err);

/* As qn_sampler_pick(), among the tokens that may come next; g moves behind the one that was picked. Tokens that end a
 * generation may come where the text may end; where it must, one more pick gives such a token. A bias that forces a
 * token counts only where the format allows that token.
 *
 * n_left: tokens that may still be made, this one and the one that ends the text counted; 0: any number. Where the
 * shortest text to the end (of fewest bytes, a special token counted as one; of several the first in the order of
 * bytes), cut into as few tokens as there can be, has room in n_left, only tokens are picked behind which that stays
 * true, so that the text ends in time. Where it has not, picks are not steered, though another text may have had room.
 * A token that bias bans is not picked, even if the end then comes too late.
 *
 * A token behind which the format's matcher would hold too much is passed over; at last those that lead to the end, or
 * end the text, are tried. On failure g stays where it is. QN_EINVAL: nothing that may come next can be picked (banned,
 * no finite logit), the text has ended, or s is of another model; QN_ENOTFOUND: no token of the vocabulary goes on with
 * the text; QN_EFULL: the matcher's limits are in the way (err tells which); QN_ENOMEM, QN_EBUDGET. */
qn_status qn_guide_pick(qn_guide *g, qn_sampler *s, const float *logits, uint64_t n_left, int32_t *id, float *logprob,
                        qn_error *err);

/* Tokens that follow whatever is picked, as the model's tokenizer cuts them; those that would be cut differently with
 * more text behind them are left to qn_guide_pick(). A model may have picked other tokens for the same text, so what it
 * makes of the rest may differ from a text without jumps. g moves behind them, and s (if not NULL) is shown them. At
 * most cap, and not more than leave room to end in n_left. *n_ids: how many; perhaps none, which is all that the
 * matcher's limits do here. QN_EINVAL: s is of another model; QN_ENOMEM, QN_EBUDGET: g stays where it is. */
qn_status qn_guide_jump(qn_guide *g, qn_sampler *s, uint64_t n_left, int32_t *ids, size_t cap, size_t *n_ids,
                        qn_error *err);

/* g must not be NULL. */
bool qn_guide_may_end(const qn_guide *g);  /* the text so far is whole */
bool qn_guide_must_end(const qn_guide *g); /* nothing may follow but a token that ends it, if that did not come yet */

/* ---- streams: tokens to text that may be shown -------------------------------------------------- */

typedef struct qn_stream qn_stream;

/* Turns tokens into text: only whole UTF-8 characters leave, a stop string (even one that begins in one
 * token and ends in another) never does, each byte leaves once. stops[0, n_stops) are NUL-terminated and
 * copied; at most 64 of at most 4096 bytes each; empty ones are QN_EINVAL. Special tokens give nothing; with
 * QN_TEXT_PARSE_SPECIAL in flags all but those that end a generation are spelled out. */
qn_status qn_stream_open(const qn_model *m, const char *const *stops, size_t n_stops, unsigned flags, qn_stream **out,
                         qn_error *err);
void qn_stream_close(qn_stream *st);

/* Adds a token. *text, *n_bytes: what may be shown now (perhaps nothing), valid until the next call.
 * *stopped: a stop string was completed; nothing more will come. QN_ERANGE: bad id. */
qn_status qn_stream_push(qn_stream *st, int32_t id, const char **text, size_t *n_bytes, bool *stopped,
                         qn_error *err);

/* Ends the stream: text held back as a possible stop comes out; a cut character becomes one U+FFFD. */
qn_status qn_stream_finish(qn_stream *st, const char **text, size_t *n_bytes, qn_error *err);

/* ---- chat: conversations to prompts, answers to messages ------------------------------------------ */

typedef struct qn_chat qn_chat;     /* a chat template and what its marks mean; any thread may use it */
typedef struct qn_prompt qn_prompt; /* one rendered conversation */
typedef struct qn_answer_reader qn_answer_reader;

typedef struct qn_chat_options {
    const char *source; /* Jinja text in place of the file's tokenizer.chat_template; NULL: the file's */
    size_t source_bytes;
    const char *name; /* which of the file's named templates ("tool_use"); NULL: the unnamed one */
} qn_chat_options;

void qn_chat_options_init(qn_chat_options *o);

/* m may be NULL when o->source is given: then there are no bos and eos tokens but those in the conversation's JSON.
 * QN_ENOTFOUND: the file has no such template; QN_EFORMAT: err has the template's line. */
qn_status qn_chat_open(qn_runtime *rt, const qn_model *m, const qn_chat_options *o, qn_chat **out, qn_error *err);
void qn_chat_close(qn_chat *c);

/* The marks that were found in the template, as one JSON object; owned by c. */
const char *qn_chat_describe(const qn_chat *c);

/* Renders a conversation: a JSON object of template variables: "messages", "tools", "add_generation_prompt" and any
 * other. bos_token and eos_token are the model's unless it holds them; absent "tools" and "documents" are none, an
 * absent "add_generation_prompt" is false. In "tool_calls", "arguments" that are a string
 * of JSON become what they spell, unless the template wants text there. What a template fails on as it was given is
 * tried once more with arguments as text, if it wants that, and with "" for a "content" that is null or absent.
 * QN_EFORMAT: not such JSON (line and column), or the template's own error (its line and message), which begins with
 * "chat template: ". */
qn_status qn_chat_render(const qn_chat *c, const char *json, size_t n_bytes, qn_prompt **out, qn_error *err);
void qn_prompt_close(qn_prompt *p);

/* UTF-8, owned by p, followed by a NUL that is not counted. n_bytes may be NULL. */
const char *qn_prompt_text(const qn_prompt *p, size_t *n_bytes);

/* Ids as for qn_tokenize(). Special tokens that the template spells are those tokens; in what came from the
 * conversation they are text, unless flags has QN_TEXT_PARSE_SPECIAL. With QN_TEXT_ADD_SPECIAL, and if the model wants
 * a BOS, one is put in front unless the template's text begins with it; those that the template prints all stay. */
qn_status qn_prompt_tokenize(const qn_prompt *p, const qn_model *m, unsigned flags, int32_t *ids, size_t cap,
                             size_t *n_ids, qn_error *err);

typedef enum qn_answer_part {
    QN_ANSWER_CONTENT,
    QN_ANSWER_REASONING,
    QN_ANSWER_CALL,      /* a tool call begins: the function's name */
    QN_ANSWER_CALL_ID,   /* its id, in templates that have one; after QN_ANSWER_CALL, or before QN_ANSWER_CALL_END */
    QN_ANSWER_ARGUMENTS, /* a piece of its arguments, which together are one JSON object */
    QN_ANSWER_CALL_END,  /* the call is whole; no text */
} qn_answer_part;

/* i_call counts calls from 0. text is not NUL-terminated. A return other than 0 ends the call with QN_EABORTED. */
typedef int qn_answer_fn(void *ctx, qn_answer_part part, uint32_t i_call, const char *text, size_t n_bytes);

typedef struct qn_answer_reader_options {
    const char *tools; /* JSON: OpenAI's list of tools, or NULL */
    size_t tools_bytes;
    bool no_calls;       /* nothing is a tool call */
    bool keep_reasoning; /* reasoning stays in the content, as it was written */
} qn_answer_reader_options;

void qn_answer_reader_options_init(qn_answer_reader_options *o);

/* Reads the answer to p (whose end tells whether the answer begins inside reasoning). o may be NULL. c must outlive
 * the reader. The text to push has special tokens spelled out: a stream with QN_TEXT_PARSE_SPECIAL gives it. */
qn_status qn_answer_reader_open(const qn_chat *c, const qn_prompt *p, const qn_answer_reader_options *o,
                                qn_answer_reader **out, qn_error *err);
void qn_answer_reader_close(qn_answer_reader *a);
qn_status qn_answer_reader_push(qn_answer_reader *a, const char *text, size_t n_bytes, qn_answer_fn *fn, void *ctx,
                                qn_error *err);
/* True once the template's mark of a turn's end has been read as text: nothing after it is part of the answer, and
 * nothing of it comes out. A generation may end there. */
bool qn_answer_reader_is_over(const qn_answer_reader *a);

/* The answer is over. *cut: it ended inside reasoning or a call. */
qn_status qn_answer_reader_finish(qn_answer_reader *a, qn_answer_fn *fn, void *ctx, bool *cut, qn_error *err);

typedef enum qn_tool_choice {
    QN_TOOLS_AUTO,     /* content, then perhaps calls */
    QN_TOOLS_REQUIRED, /* at least one call */
    QN_TOOLS_NONE,     /* no call */
} qn_tool_choice;

typedef struct qn_call_format_options {
    const char *tools; /* JSON: OpenAI's list of tools */
    size_t tools_bytes;
    qn_tool_choice choice;
    const char *name;   /* with QN_TOOLS_REQUIRED: the only function that may be called; NULL: any */
    bool one_call;      /* not more than one */
    bool strict;        /* as in qn_format_options, for every tool; one may ask for it by its own "strict" */
} qn_call_format_options;

void qn_call_format_options_init(qn_call_format_options *o);

/* The format of an answer to p that calls tools as c's template shows it: every call names a tool of the list, and its
 * arguments are JSON (or tagged values) that the tool's "parameters" allow. It may outlive c and p. QN_ENOTFOUND: name
 * is none of the tools; QN_EFORMAT: no such list, or no arguments satisfy the parameters; QN_EUNSUPPORTED: the template
 * shows no calls or in a form that cannot be enforced, or a tool's parameters ask for what cannot be enforced (err
 * names the tool); QN_EFULL: too large; QN_EINVAL: no such choice, or o is NULL. */
qn_status qn_call_format_open(const qn_chat *c, const qn_prompt *p, const qn_call_format_options *o, qn_format **out,
                              qn_error *err);

#ifdef __cplusplus
}
#endif
#endif
