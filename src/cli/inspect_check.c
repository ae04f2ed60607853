/* The engine's own judgement of a file. SPDX-License-Identifier: MIT */
#include "cli/inspect_check.h"

#include <stdio.h>

static qn_status open_model(const char *path, bool vocab_only, const qn_options *o, uint32_t n_ctx,
                            qn_memory_plan *memory, qn_error *why)
{
    qn_runtime *rt;
    qn_runtime_options runtime_options;
    qn_runtime_options_init(&runtime_options);
    runtime_options.n_threads = (uint32_t)qn_options_int(o, QN_OPTION_ID_THREADS);
    QN_TRY(qn_runtime_open(&runtime_options, &rt, why));
    qn_model *m = NULL;
    qn_model_options model_options;
    qn_model_options_init(&model_options);
    model_options.vocab_only = vocab_only;
    model_options.skip_self_check = true;
    qn_status status = qn_model_open(rt, path, &model_options, &m, why);
    if (status == QN_OK && !vocab_only) {
        qn_session_options s;
        qn_inspect_session_options(o, n_ctx, &s);
        qn_inspect_memory(rt, m, o, &s, memory);
    }
    qn_model_close(m);
    qn_runtime_close(rt);
    return status;
}

qn_verdict qn_inspect_check(const char *path, const qn_gguf *g, const qn_options *o, uint32_t n_ctx,
                            qn_memory_plan *memory, qn_error *why)
{
    memory->known = false;
    if (qn_gguf_find(g, "general.architecture") == NULL) {
        qn_fail(why, QN_EUNSUPPORTED, "general.architecture: missing, so this is no model");
        return QN_VERDICT_UNSUPPORTED;
    }
    bool vocab_only = qn_gguf_n_tensors(g) == 0;
    switch (open_model(path, vocab_only, o, n_ctx, memory, why)) {
    case QN_OK:
        return vocab_only ? QN_VERDICT_VOCABULARY : QN_VERDICT_RUNS;
    case QN_EUNSUPPORTED:
        return QN_VERDICT_UNSUPPORTED;
    default:
        return QN_VERDICT_BROKEN;
    }
}

void qn_verdict_print(qn_verdict v, const qn_error *why)
{
    switch (v) {
    case QN_VERDICT_RUNS:
        puts("good: quern runs it");
        break;
    case QN_VERDICT_VOCABULARY:
        puts("good: a vocabulary without a model; quern tokenize takes it");
        break;
    case QN_VERDICT_UNSUPPORTED:
        printf("readable, but quern does not run it: %s\n", why->what);
        break;
    case QN_VERDICT_BROKEN:
        printf("broken: %s\n", why->what);
        break;
    }
}

void qn_verdict_json(qn_verdict v, const qn_error *why, qn_json_writer *w)
{
    static const char *const names[] = {"good", "vocabulary", "unsupported", "broken"};
    qn_json_begin_object(w);
    qn_json_key(w, "result");
    qn_json_cstring(w, names[v]);
    qn_json_key(w, "why");
    if (v == QN_VERDICT_RUNS || v == QN_VERDICT_VOCABULARY) {
        qn_json_null(w);
    } else {
        qn_json_cstring(w, why->what);
    }
    qn_json_end_object(w);
}
