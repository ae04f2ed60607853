/* quern inspect --plan: the fused op list and the arena. Loads the model, but runs nothing.
 * SPDX-License-Identifier: MIT */
#include "cli/inspect_plan.h"

#include "cli/inspect_memory.h"
#include "cli/report.h"

#include "base/alloc.h"

typedef struct planned {
    qn_runtime *runtime;
    qn_model *model;
    qn_session *session;
} planned;

static qn_status open_all(planned *p, const qn_options *o, const char *path, qn_error *err)
{
    qn_model_options model_options;
    qn_model_options_init(&model_options);
    model_options.skip_self_check = true;
    qn_session_options session_options;
    qn_inspect_session_options(o, (uint32_t)qn_options_int(o, QN_OPTION_ID_CTX_SIZE), &session_options);
    qn_runtime_options runtime_options;
    qn_runtime_options_init(&runtime_options);
    runtime_options.n_threads = (uint32_t)qn_options_int(o, QN_OPTION_ID_THREADS);
    QN_TRY(qn_runtime_open(&runtime_options, &p->runtime, err));
    QN_TRY(qn_model_open(p->runtime, path, &model_options, &p->model, err));
    return qn_session_open(p->model, &session_options, &p->session, err);
}

/* The plan is text for people; a program gets its lines. */
static bool print_json(const planned *p, qn_str text)
{
    qn_session_options options;
    qn_session_get_options(p->session, &options);
    qn_buf out;
    qn_json_writer w;
    qn_buf_init(&out, NULL, "inspect", SIZE_MAX / 2);
    qn_json_writer_init(&w, &out);
    qn_json_begin_object(&w);
    qn_json_key(&w, "context");
    qn_json_u64(&w, options.n_ctx);
    qn_json_key(&w, "batch");
    qn_json_u64(&w, options.n_batch);
    qn_json_key(&w, "plan");
    qn_json_begin_array(&w);
    for (size_t at = 0; at < text.len;) {
        const char *end = memchr(text.data + at, '\n', text.len - at);
        size_t n = end != NULL ? (size_t)(end - text.data) - at : text.len - at;
        qn_json_string(&w, (qn_str){text.data + at, n});
        at += n + 1;
    }
    qn_json_end_array(&w);
    qn_json_end_object(&w);
    bool ok = qn_report_json(&out);
    qn_buf_free(&out);
    return ok;
}

static bool print_text(qn_str text)
{
    fwrite(text.data, 1, text.len, stdout);
    return qn_report_flush();
}

static qn_status print(const planned *p, bool json, qn_error *err)
{
    size_t n_bytes = 0;
    if (qn_session_plan_text(p->session, NULL, 0, &n_bytes, err) != QN_ERANGE) {
        return qn_fail(err, QN_EINTERNAL, "the plan is empty");
    }
    char *text = qn_alloc(NULL, "inspect", n_bytes);
    if (text == NULL) {
        return qn_fail(err, QN_ENOMEM, "no memory for a plan of %zu bytes", n_bytes);
    }
    qn_status status = qn_session_plan_text(p->session, text, n_bytes, &n_bytes, err);
    qn_str view = {text, n_bytes};
    if (status == QN_OK && !(json ? print_json(p, view) : print_text(view))) {
        status = qn_fail(err, QN_EIO, "standard output: cannot be written");
    }
    qn_free(text);
    return status;
}

int qn_inspect_plan(const qn_options *o, const char *path)
{
    planned p = {0};
    qn_error err;
    qn_status status = open_all(&p, o, path, &err);
    if (status == QN_OK) {
        status = print(&p, qn_options_flag(o, QN_OPTION_ID_JSON), &err);
    }
    qn_session_close(p.session);
    qn_model_close(p.model);
    qn_runtime_close(p.runtime);
    return status == QN_OK ? QN_EXIT_DONE : qn_report_failure("inspect", &err);
}
