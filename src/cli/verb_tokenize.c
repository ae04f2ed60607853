/* quern tokenize: text to tokens and back. SPDX-License-Identifier: MIT */
#include "cli/cli.h"
#include "cli/input.h"
#include "cli/report.h"

typedef struct job {
    const qn_options *options;
    qn_opened opened;
    qn_buf text;
    qn_tokens tokens;
    bool backwards;
    unsigned flags;
} job;

/* Token ids between blanks and commas. */
static qn_status parse_ids(job *j, qn_str text, qn_error *err)
{
    for (size_t at = 0; at < text.len;) {
        size_t n = 0;
        while (at + n < text.len && strchr(" ,\t\r\n", text.data[at + n]) == NULL) {
            n++;
        }
        char word[24];
        int64_t id;
        if (n > 0) {
            snprintf(word, sizeof(word), "%.*s", n < sizeof(word) ? (int)n : 0, text.data + at);
            if (!qn_parse_int(word, INT32_MIN, INT32_MAX, &id)) {
                qn_str bad = {text.data + at, n};
                return qn_fail(err, QN_EINVAL, "'%.*s' is no token id", QN_STR_ARG(bad));
            }
            QN_TRY(qn_tokens_add(&j->tokens, (int32_t)id, err));
        }
        at += n + 1;
    }
    return QN_OK;
}

static qn_status read_input(job *j, qn_error *err)
{
    const char *ids = qn_options_text(j->options, QN_OPTION_ID_IDS);
    j->backwards = ids != NULL || qn_options_flag(j->options, QN_OPTION_ID_DETOKENIZE);
    if (ids == NULL) {
        QN_TRY(qn_input_text(j->options, &j->text, err));
        return j->backwards ? parse_ids(j, qn_buf_view(&j->text), err) : QN_OK;
    }
    size_t n_rest;
    qn_options_rest(j->options, &n_rest);
    if (n_rest > 0 || qn_options_text(j->options, QN_OPTION_ID_PROMPT) != NULL ||
        qn_options_text(j->options, QN_OPTION_ID_FILE) != NULL) {
        return qn_fail(err, QN_EINVAL, "give a text or --ids, not both");
    }
    return parse_ids(j, qn_str_of(ids), err);
}

/* The bytes of ids[0, n) into j->text, which is empty before. */
static qn_status detokenize(job *j, const int32_t *ids, size_t n, qn_error *err)
{
    char *bytes = NULL;
    size_t n_bytes = n * 8 + 64; /* serves most texts; when it does not, the call tells how many */
    for (;;) {
        char *grown = qn_realloc(NULL, QN_INPUT_OWNER, bytes, n_bytes);
        if (grown == NULL) {
            qn_free(bytes);
            return qn_fail(err, QN_ENOMEM, "no memory for a text of %zu bytes", n_bytes);
        }
        bytes = grown;
        size_t cap = n_bytes;
        qn_status status =
            qn_detokenize(j->opened.model, ids, n, j->flags & QN_TEXT_PARSE_SPECIAL, bytes, cap, &n_bytes, err);
        if (status == QN_OK) {
            qn_buf_add(&j->text, bytes, n_bytes);
            status = j->text.status == QN_OK ? QN_OK : qn_fail(err, j->text.status, "no memory for the text");
        } else if (status == QN_ERANGE && n_bytes > cap) {
            continue;
        }
        qn_free(bytes);
        return status;
    }
}

/* The text of each token; uses j->text. */
static qn_status json_pieces(job *j, qn_json_writer *w, qn_error *err)
{
    qn_json_key(w, "pieces");
    qn_json_begin_array(w);
    for (size_t i = 0; i < j->tokens.n; i++) {
        qn_buf_clear(&j->text);
        QN_TRY(detokenize(j, &j->tokens.ids[i], 1, err));
        qn_json_string(w, qn_buf_view(&j->text));
    }
    qn_json_end_array(w);
    return QN_OK;
}

static qn_status print_json(job *j, qn_buf *out, qn_error *err)
{
    qn_json_writer w;
    qn_json_writer_init(&w, out);
    qn_json_begin_object(&w);
    if (j->backwards) {
        qn_json_key(&w, "text");
        qn_json_string(&w, qn_buf_view(&j->text));
    } else {
        qn_json_key(&w, "tokens");
        qn_json_begin_array(&w);
        for (size_t i = 0; i < j->tokens.n; i++) {
            qn_json_i64(&w, j->tokens.ids[i]);
        }
        qn_json_end_array(&w);
    }
    if (qn_options_flag(j->options, QN_OPTION_ID_PIECES)) {
        QN_TRY(json_pieces(j, &w, err));
    }
    qn_json_end_object(&w);
    return out->status == QN_OK ? QN_OK : qn_fail(err, out->status, "no memory for the output");
}

static qn_status print_pieces(job *j, qn_error *err)
{
    for (size_t i = 0; i < j->tokens.n; i++) {
        qn_buf_clear(&j->text);
        QN_TRY(detokenize(j, &j->tokens.ids[i], 1, err));
        printf("%8ld  '", (long)j->tokens.ids[i]);
        qn_report_escaped(stdout, qn_buf_view(&j->text), SIZE_MAX);
        puts("'");
    }
    return QN_OK;
}

static qn_status print_result(job *j, qn_error *err)
{
    if (qn_options_flag(j->options, QN_OPTION_ID_JSON)) {
        qn_buf out;
        qn_buf_init(&out, NULL, QN_INPUT_OWNER, QN_INPUT_MAX_BYTES);
        qn_status status = print_json(j, &out, err);
        if (status == QN_OK) {
            qn_report_json(&out);
        }
        qn_buf_free(&out);
        return status;
    }
    if (qn_options_flag(j->options, QN_OPTION_ID_PIECES)) {
        return print_pieces(j, err);
    }
    if (j->backwards) {
        fwrite(j->text.data, 1, j->text.len, stdout);
        return QN_OK;
    }
    for (size_t i = 0; i < j->tokens.n; i++) {
        printf("%s%ld", i > 0 ? " " : "", (long)j->tokens.ids[i]);
    }
    putchar('\n');
    return QN_OK;
}

static qn_status tokenize(job *j, qn_error *err)
{
    QN_TRY(qn_open_model(j->options, 1, true, &j->opened, err));
    if (j->backwards) {
        qn_buf_clear(&j->text);
        QN_TRY(detokenize(j, j->tokens.ids, j->tokens.n, err));
    } else {
        QN_TRY(qn_input_tokenize(j->opened.model, qn_buf_view(&j->text), j->flags, &j->tokens, err));
    }
    return print_result(j, err);
}

int qn_verb_tokenize(const qn_options *o)
{
    job j = {.options = o};
    j.flags = qn_options_flag(o, QN_OPTION_ID_NO_SPECIAL) ? 0 : QN_TEXT_ADD_SPECIAL | QN_TEXT_PARSE_SPECIAL;
    qn_buf_init(&j.text, NULL, QN_INPUT_OWNER, QN_INPUT_MAX_BYTES);
    qn_error err;
    int code = QN_EXIT_DONE;
    qn_status status = read_input(&j, &err);
    if (status == QN_EINVAL) {
        code = qn_report_usage("tokenize", &err);
    } else {
        status = status == QN_OK ? tokenize(&j, &err) : status;
        code = status == QN_OK ? QN_EXIT_DONE : qn_report_failure("tokenize", &err);
    }
    qn_close_model(&j.opened);
    qn_tokens_free(&j.tokens);
    qn_buf_free(&j.text);
    return code;
}
