/* Continues a text: generate MODEL.gguf "Once upon a time". Build: see the Makefile beside it.
 * SPDX-License-Identifier: MIT */
#include <quern/quern.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static qn_error err;

static void check(qn_status status)
{
    if (status != QN_OK) {
        fprintf(stderr, "%s: %s\n", qn_status_name(status), err.what);
        exit(1); /* the system takes back what is open */
    }
}

int main(int argc, char **argv)
{
    qn_runtime *runtime;
    qn_model *model;
    qn_session *session;
    qn_seq *seq;
    qn_sampler *sampler;
    qn_stream *stream;
    qn_sampler_options sampling;
    qn_sampler_options_init(&sampling);
    check(qn_runtime_open(NULL, &runtime, &err));
    check(qn_model_open(runtime, argc > 1 ? argv[1] : "model.gguf", NULL, &model, &err));
    check(qn_session_open(model, NULL, &session, &err));
    check(qn_seq_open(session, &seq, &err));
    check(qn_sampler_open(model, &sampling, &sampler, &err));
    check(qn_stream_open(model, NULL, 0, 0, &stream, &err));

    const char *text = argc > 2 ? argv[2] : "Once upon a time";
    int32_t ids[256], id;
    size_t n_ids, n_bytes;
    const float *logits;
    bool stopped = false;
    check(qn_tokenize(model, text, strlen(text), QN_TEXT_ADD_SPECIAL, ids, 256, &n_ids, &err));
    check(qn_seq_eval(seq, ids, n_ids, &logits, &err));
    for (int i = 0; i < 64 && !stopped; i++) {
        check(qn_sampler_pick(sampler, logits, &id, NULL, &err));
        if (qn_token_is_end(model, id)) {
            break;
        }
        check(qn_stream_push(stream, id, &text, &n_bytes, &stopped, &err));
        fwrite(text, 1, n_bytes, stdout);
        check(qn_seq_eval(seq, &id, 1, &logits, &err));
    }
    check(qn_stream_finish(stream, &text, &n_bytes, &err));
    printf("%.*s\n", (int)n_bytes, text);
    qn_stream_close(stream);
    qn_sampler_close(sampler);
    qn_session_close(session);
    qn_model_close(model);
    qn_runtime_close(runtime);
    return 0;
}
