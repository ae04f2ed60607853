/* Texts, model files and tokens for the verbs. SPDX-License-Identifier: MIT */
#include "cli/input.h"

#include "cli/load_progress.h"
#include "cli/report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define QN_DEFAULT_MODEL "quern/SmolLM2-135M-Instruct.Q4_1.gguf" /* below the user's cache folder */

static qn_status read_all(int fd, const char *name, qn_buf *text, qn_error *err)
{
    static char chunk[1 << 16];
    for (;;) {
        ssize_t n = read(fd, chunk, sizeof(chunk));
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return qn_fail(err, QN_EIO, "%s: cannot be read: %s", name, strerror(errno));
        }
        if (n == 0) {
            break;
        }
        qn_buf_add(text, chunk, (size_t)n);
        if (text->status != QN_OK) {
            char most[QN_REPORT_BYTES_TEXT];
            return text->status == QN_EFULL
                       ? qn_fail(err, QN_EFULL, "%s: longer than %s", name, qn_report_bytes(text->max, most))
                       : qn_fail(err, text->status, "%s: does not fit into memory", name);
        }
    }
    return QN_OK;
}

qn_status qn_input_file(const char *path, qn_buf *text, qn_error *err)
{
    if (strcmp(path, "-") == 0) {
        return read_all(STDIN_FILENO, "standard input", text, err);
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return qn_fail(err, QN_EIO, "%s: cannot be opened: %s", path, strerror(errno));
    }
    qn_status status = read_all(fd, path, text, err);
    close(fd);
    return status;
}

void qn_input_drop_mark(qn_buf *text)
{
    static const char mark[] = "\xEF\xBB\xBF";
    if (text->len >= 3 && memcmp(text->data, mark, 3) == 0) {
        text->len -= 3;
        memmove(text->data, text->data + 3, text->len + 1);
    }
}

qn_status qn_input_text(const qn_options *o, qn_buf *text, qn_error *err)
{
    size_t n_rest;
    const char *const *rest = qn_options_rest(o, &n_rest);
    const char *prompt = qn_options_text(o, QN_OPTION_ID_PROMPT), *path = qn_options_text(o, QN_OPTION_ID_FILE);
    if ((prompt != NULL) + (path != NULL) + (n_rest > 0) != 1) {
        return qn_fail(err, QN_EINVAL, "give one text: as an argument, with --prompt, or with --file");
    }
    if (path != NULL) {
        return qn_input_file(path, text, err);
    }
    qn_buf_add_str(text, prompt != NULL ? prompt : rest[0]);
    return text->status == QN_OK ? QN_OK : qn_fail(err, text->status, "no memory for the text");
}

qn_status qn_input_model_path(const qn_options *o, qn_buf *path, qn_error *err)
{
    qn_buf_init(path, NULL, QN_INPUT_OWNER, 1 << 16);
    const char *given = qn_options_text(o, QN_OPTION_ID_MODEL);
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (given != NULL) {
        qn_buf_add_str(path, given);
    } else if (cache != NULL && cache[0] != '\0') {
        qn_buf_printf(path, "%s/" QN_DEFAULT_MODEL, cache);
    } else {
        qn_buf_printf(path, "%s/.cache/" QN_DEFAULT_MODEL, home != NULL ? home : "");
    }
    qn_status status = path->status;
    if (status != QN_OK) {
        qn_fail(err, status, "no memory for the model's path");
    } else if (given == NULL && access(path->data, R_OK) != 0) {
        status = qn_fail(err, QN_ENOTFOUND,
                         "no model: give one with --model, or run scripts/fetch-default-model once; it makes %s",
                         path->data);
    }
    if (status != QN_OK) {
        qn_buf_free(path);
    }
    return status;
}

static qn_status tokens_reserve(qn_tokens *t, size_t cap, qn_error *err)
{
    if (cap <= t->cap) {
        return QN_OK;
    }
    int32_t *ids = cap <= SIZE_MAX / sizeof(*ids) ? qn_realloc(NULL, QN_INPUT_OWNER, t->ids, cap * sizeof(*ids)) : NULL;
    if (ids == NULL) {
        return qn_fail(err, QN_ENOMEM, "no memory for %zu tokens", cap);
    }
    t->ids = ids;
    t->cap = cap;
    return QN_OK;
}

qn_status qn_tokens_add(qn_tokens *t, int32_t id, qn_error *err)
{
    if (t->n == t->cap) {
        QN_TRY(tokens_reserve(t, t->cap < 64 ? 64 : t->cap * 2, err));
    }
    t->ids[t->n++] = id;
    return QN_OK;
}

void qn_tokens_free(qn_tokens *t)
{
    qn_free(t->ids);
    *t = (qn_tokens){0};
}

qn_status qn_input_tokenize(const qn_model *m, qn_str text, unsigned flags, qn_tokens *t, qn_error *err)
{
    /* A third of the bytes serves most texts; when it does not, the call tells how many. */
    QN_TRY(tokens_reserve(t, text.len / 3 + 16, err));
    qn_status status = qn_tokenize(m, text.data, text.len, flags, t->ids, t->cap, &t->n, err);
    if (status == QN_ERANGE) {
        QN_TRY(tokens_reserve(t, t->n, err));
        status = qn_tokenize(m, text.data, text.len, flags, t->ids, t->cap, &t->n, err);
    }
    return status;
}

qn_status qn_input_tokenize_prompt(const qn_model *m, const qn_prompt *p, qn_tokens *t, qn_error *err)
{
    size_t n_bytes;
    qn_prompt_text(p, &n_bytes);
    QN_TRY(tokens_reserve(t, n_bytes / 3 + 16, err));
    qn_status status = qn_prompt_tokenize(p, m, QN_TEXT_ADD_SPECIAL, t->ids, t->cap, &t->n, err);
    if (status == QN_ERANGE) {
        QN_TRY(tokens_reserve(t, t->n, err));
        status = qn_prompt_tokenize(p, m, QN_TEXT_ADD_SPECIAL, t->ids, t->cap, &t->n, err);
    }
    return status;
}

qn_status qn_open_runtime(uint32_t n_threads, qn_opened *out, qn_error *err)
{
    qn_runtime_options o;
    qn_runtime_options_init(&o);
    o.n_threads = n_threads;
    return qn_runtime_open(&o, &out->runtime, err);
}

qn_status qn_open_model(const qn_options *o, uint32_t n_threads, bool vocab_only, qn_opened *out, qn_error *err)
{
    qn_buf path = {0};
    qn_model_options model_options;
    qn_model_options_init(&model_options);
    model_options.vocab_only = vocab_only;
    if (!vocab_only) {
        model_options.no_mmap = qn_options_flag(o, QN_OPTION_ID_NO_MMAP);
        model_options.mlock = qn_options_flag(o, QN_OPTION_ID_MLOCK);
        qn_load_progress_show(&model_options);
    }
    qn_status status = qn_input_model_path(o, &path, err);
    if (status == QN_OK && out->runtime == NULL) {
        status = qn_open_runtime(n_threads, out, err);
    }
    if (status == QN_OK) {
        status = qn_model_open(out->runtime, path.data, &model_options, &out->model, err);
    }
    qn_buf_free(&path);
    return status;
}

void qn_close_model(qn_opened *opened)
{
    qn_model_close(opened->model);
    qn_runtime_close(opened->runtime);
    *opened = (qn_opened){0};
}

qn_status qn_open_chat(const qn_options *o, const qn_opened *opened, qn_chat **out, qn_error *err)
{
    const char *path = qn_options_text(o, QN_OPTION_ID_TEMPLATE);
    qn_chat_options co;
    qn_buf source;
    qn_error why;
    qn_chat_options_init(&co);
    co.name = qn_options_text(o, QN_OPTION_ID_TEMPLATE_NAME);
    if (path != NULL && co.name != NULL) {
        return qn_fail(err, QN_EINVAL, "give --template or --template-name, not both");
    }
    qn_buf_init(&source, NULL, QN_INPUT_OWNER, QN_INPUT_MAX_TEMPLATE);
    qn_status status = path != NULL ? qn_input_file(path, &source, &why) : QN_OK;
    if (status == QN_OK) {
        co.source = path == NULL ? NULL : source.len > 0 ? source.data : "";
        co.source_bytes = source.len;
        status = qn_chat_open(opened->runtime, opened->model, &co, out, &why);
        if (status != QN_OK && path != NULL) {
            qn_fail(&why, status, "%s: %s", path, why.what);
        } else if (status == QN_ENOTFOUND || status == QN_EFORMAT) {
            qn_fail(&why, status, "%s; --template FILE takes another", why.what);
        }
    }
    qn_buf_free(&source);
    if (status != QN_OK && err != NULL) {
        *err = why;
    }
    return status;
}

qn_status qn_input_render(const qn_options *o, const qn_chat *c, qn_str conversation, const char *path, qn_prompt **out,
                          qn_error *err)
{
    static const char of_template[] = "chat template: "; /* as quern.h has it */
    const char *template_path = qn_options_text(o, QN_OPTION_ID_TEMPLATE);
    qn_error why;
    qn_status status = qn_chat_render(c, conversation.data, conversation.len, out, &why);
    if (status == QN_OK) {
        return QN_OK;
    }
    if (strncmp(why.what, of_template, sizeof(of_template) - 1) == 0) {
        return template_path != NULL ? qn_fail(err, status, "%s: %s", template_path, why.what)
                                     : qn_fail(err, status, "the model's %s", why.what);
    }
    return path != NULL ? qn_fail(err, status, "%s: %s", path, why.what) : qn_fail(err, status, "%s", why.what);
}

void qn_input_kv_options(const qn_options *o, qn_session_options *s)
{
    static const qn_kv_type rests[] = {QN_KV_Q8, QN_KV_Q4};
    s->kv_type = (qn_kv_type)qn_options_int(o, QN_OPTION_ID_KV_TYPE); /* choices stand in its order */
    s->kv_mixed_tokens = (uint32_t)qn_options_int(o, QN_OPTION_ID_KV_MIXED_TOKENS);
    s->kv_mixed_rest = rests[qn_options_int(o, QN_OPTION_ID_KV_MIXED_REST)];
}
