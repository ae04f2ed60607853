/* What the verbs read: texts, the model file, tokens. SPDX-License-Identifier: MIT */
#ifndef QN_CLI_INPUT_H
#define QN_CLI_INPUT_H

#include "base/buf.h"
#include "cli/options.h"

#define QN_INPUT_OWNER "input"
#define QN_INPUT_MAX_BYTES ((size_t)1 << 30) /* a text that no context holds and no evaluation ends */
/* What the library reads at most of these; a file that is longer, or has no end, is not read further. */
#define QN_INPUT_MAX_CONVERSATION ((size_t)64 << 20)
#define QN_INPUT_MAX_TEMPLATE ((size_t)1 << 20)
#define QN_INPUT_MAX_FORMAT ((size_t)1 << 20)

/* Appends the text of --prompt, of --file, or of the argument that is no option: exactly one of them.
 * QN_EINVAL: none or several, which is wrong usage; QN_EIO; QN_EFULL. */
qn_status qn_input_text(const qn_options *o, qn_buf *text, qn_error *err);

/* Appends a whole file to text; "-" is standard input. QN_EFULL: it is longer than text may become. */
qn_status qn_input_file(const char *path, qn_buf *text, qn_error *err);

/* Without the byte order mark that some editors write at the beginning of a UTF-8 file. */
void qn_input_drop_mark(qn_buf *text);

/* --model, else the default model where scripts/fetch-default-model puts it. path is an open buffer on success.
 * QN_ENOTFOUND: there is none. */
qn_status qn_input_model_path(const qn_options *o, qn_buf *path, qn_error *err);

/* A list of tokens that grows. */
typedef struct qn_tokens {
    int32_t *ids;
    size_t n, cap;
} qn_tokens;

qn_status qn_tokens_add(qn_tokens *t, int32_t id, qn_error *err);
void qn_tokens_free(qn_tokens *t);

/* The tokens of a text; t is empty before. */
qn_status qn_input_tokenize(const qn_model *m, qn_str text, unsigned flags, qn_tokens *t, qn_error *err);

/* The same for a rendered conversation: it begins with BOS, and nothing is special in what came from outside. */
qn_status qn_input_tokenize_prompt(const qn_model *m, const qn_prompt *p, qn_tokens *t, qn_error *err);

/* Runtime and model of a verb, opened and closed together. */
typedef struct qn_opened {
    qn_runtime *runtime;
    qn_model *model;
} qn_opened;

/* The runtime alone, for what needs no model. */
qn_status qn_open_runtime(uint32_t n_threads, qn_opened *out, qn_error *err);
/* Opens the runtime too, unless it is open. After a failure qn_close_model() is still due. */
qn_status qn_open_model(const qn_options *o, uint32_t n_threads, bool vocab_only, qn_opened *out, qn_error *err);
void qn_close_model(qn_opened *opened);

/* Sets what the options say of keys and values. */
void qn_input_kv_options(const qn_options *o, qn_session_options *s);

/* The chat template that --template and --template-name choose, else the model's. QN_EINVAL: wrong usage. */
qn_status qn_open_chat(const qn_options *o, const qn_opened *opened, qn_chat **out, qn_error *err);

/* Renders a conversation. Errors name the file at fault: the template's, or that of the conversation at path, which is
 * NULL where it is in no file. */
qn_status qn_input_render(const qn_options *o, const qn_chat *c, qn_str conversation, const char *path, qn_prompt **out,
                          qn_error *err);

#endif
