/* quern grammar check: is a format supported, and how large is what it becomes? SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "cli/cli.h"
#include "cli/format_option.h"
#include "cli/report.h"

typedef struct job {
    const qn_options *options;
    qn_opened opened; /* without a model unless one was named */
    qn_format_source source;
    qn_format *format;
    qn_guide *guide;
    qn_format_info info;
    uint64_t compile_ns, vocabulary_ns;
    bool wrong_usage;
    bool is_refused; /* the format is what is wrong */
} job;

static const char *const kinds[] = {
    [QN_FORMAT_GRAMMAR] = "grammar",
    [QN_FORMAT_JSON_SCHEMA] = "JSON schema",
    [QN_FORMAT_REGEX] = "regular expression",
    [QN_FORMAT_CHOICE] = "choice",
};

static qn_status usage(job *j, qn_status status)
{
    j->wrong_usage = status == QN_EINVAL;
    return status;
}

static qn_status read_source(job *j, qn_error *err)
{
    size_t n_rest;
    const char *const *rest = qn_options_rest(j->options, &n_rest);
    QN_TRY(qn_format_source_read(&j->source, j->options, err));
    if (n_rest == 2 && j->source.flag != NULL) {
        return qn_fail(err, QN_EINVAL, "give a file or --%s, not both", j->source.flag);
    }
    if (n_rest == 2) {
        qn_format_source_free(&j->source);
        return qn_format_source_file(&j->source, rest[1], err);
    }
    if (j->source.flag == NULL) {
        return qn_fail(err, QN_EINVAL,
                       "give what is to be checked: a file, --grammar, --json-schema, --regex or --choice");
    }
    return QN_OK;
}

static qn_status check(job *j, qn_error *err)
{
    QN_TRY(usage(j, read_source(j, err)));
    QN_TRY(qn_open_runtime(1, &j->opened, err));
    uint64_t begin_ns = qn_clock_ns();
    qn_status status = usage(j, qn_format_source_compile(&j->source, j->options, j->opened.runtime, &j->format, err));
    j->compile_ns = qn_clock_ns() - begin_ns;
    j->is_refused = j->wrong_usage;
    QN_TRY(status);
    qn_format_get_info(j->format, &j->info);
    if (qn_options_text(j->options, QN_OPTION_ID_MODEL) == NULL) {
        return QN_OK;
    }
    QN_TRY(qn_open_model(j->options, 1, true, &j->opened, err));
    begin_ns = qn_clock_ns();
    status = qn_guide_open(j->opened.model, j->format, &j->guide, err);
    j->vocabulary_ns = qn_clock_ns() - begin_ns;
    j->wrong_usage = j->is_refused = status == QN_ENOTFOUND;
    return status;
}

/* ---- results ------------------------------------------------------------------------------------ */

static bool print_json(const job *j, const qn_error *err)
{
    qn_buf out;
    qn_json_writer w;
    qn_buf_init(&out, NULL, QN_INPUT_OWNER, 1 << 16);
    qn_json_writer_init(&w, &out);
    qn_json_begin_object(&w);
    qn_json_key(&w, "kind");
    qn_json_cstring(&w, kinds[j->source.kind]);
    qn_json_key(&w, "supported");
    qn_json_bool(&w, err == NULL);
    qn_json_key(&w, "error");
    if (err != NULL) {
        qn_json_cstring(&w, err->what);
    } else {
        qn_json_null(&w);
        qn_json_key(&w, "rules");
        qn_json_u64(&w, j->info.n_rules);
        qn_json_key(&w, "states");
        qn_json_u64(&w, j->info.n_states);
        qn_json_key(&w, "edges");
        qn_json_u64(&w, j->info.n_edges);
        qn_json_key(&w, "bytes");
        qn_json_u64(&w, j->info.bytes);
        qn_json_key(&w, "compile_ms");
        qn_json_f64(&w, (double)j->compile_ns / 1e6);
        if (j->guide != NULL) {
            qn_json_key(&w, "vocabulary_ms");
            qn_json_f64(&w, (double)j->vocabulary_ns / 1e6);
        }
    }
    qn_json_end_object(&w);
    bool ok = qn_report_json(&out);
    qn_buf_free(&out);
    return ok;
}

static bool print_text(const job *j)
{
    char memory[QN_REPORT_BYTES_TEXT];
    printf("%s: supported\n", kinds[j->source.kind]);
    printf("rules       %10lu\n", (unsigned long)j->info.n_rules);
    printf("states      %10lu\n", (unsigned long)j->info.n_states);
    printf("edges       %10lu\n", (unsigned long)j->info.n_edges);
    printf("memory      %10s\n", qn_report_bytes(j->info.bytes, memory));
    printf("compile     %7.2f ms\n", (double)j->compile_ns / 1e6);
    if (j->guide != NULL) {
        printf("vocabulary  %7.2f ms, once for a model\n", (double)j->vocabulary_ns / 1e6);
    }
    return qn_report_flush();
}

static int report(const job *j, qn_status status, const qn_error *err)
{
    bool json = qn_options_flag(j->options, QN_OPTION_ID_JSON);
    if (status == QN_OK) {
        return (json ? print_json(j, NULL) : print_text(j)) ? QN_EXIT_DONE : QN_EXIT_FAILED;
    }
    if (json && j->is_refused) {
        return print_json(j, err) ? QN_EXIT_USAGE : QN_EXIT_FAILED;
    }
    return j->wrong_usage ? qn_report_usage("grammar", err) : qn_report_failure("grammar", err);
}

static int grammar_check(const qn_options *o)
{
    job j = {.options = o};
    qn_error err;
    qn_status status = check(&j, &err);
    int code = report(&j, status, &err);
    qn_guide_close(j.guide);
    qn_format_close(j.format);
    qn_close_model(&j.opened);
    qn_format_source_free(&j.source);
    return code;
}

int qn_verb_grammar(const qn_options *o)
{
    static const char *const words[] = {"check"};
    size_t n_rest;
    const char *const *rest = qn_options_rest(o, &n_rest);
    qn_error err;
    if (n_rest > 0 && strcmp(rest[0], words[0]) == 0) {
        return grammar_check(o);
    }
    const char *nearest = n_rest > 0 ? qn_nearest_word(rest[0], words, 1) : NULL;
    if (n_rest == 0) {
        qn_fail(&err, QN_EINVAL, "say what to do: check");
    } else if (nearest != NULL) {
        qn_fail(&err, QN_EINVAL, "'%s' is nothing to do; did you mean '%s'?", rest[0], nearest);
    } else {
        qn_fail(&err, QN_EINVAL, "'%s' is nothing to do; say: quern grammar check %s", rest[0], rest[0]);
    }
    return qn_report_usage("grammar", &err);
}
