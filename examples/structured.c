/* Answers in JSON: structured MODEL.gguf "Invent a person." prints an object that the schema below allows, whatever the
 * model would rather write. Build: see the Makefile beside it.
 * SPDX-License-Identifier: MIT */
#include <quern/quern.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char schema[] = "{\"type\": \"object\", \"properties\": {"
                             "  \"name\": {\"type\": \"string\", \"maxLength\": 40},"
                             "  \"age\": {\"type\": \"integer\", \"minimum\": 0, \"maximum\": 120},"
                             "  \"mood\": {\"enum\": [\"merry\", \"calm\", \"grim\"]}},"
                             " \"required\": [\"name\", \"age\", \"mood\"], \"additionalProperties\": false}";
enum { MOST = 100 }; /* tokens; the object is closed in time */

static qn_error err;

static void check(qn_status status)
{
    if (status != QN_OK) {
        fprintf(stderr, "%s: %s\n", qn_status_name(status), err.what);
        exit(1); /* the system takes back what is open */
    }
}

static void show(qn_stream *stream, int32_t id)
{
    const char *text;
    size_t n_bytes;
    bool stopped;
    check(qn_stream_push(stream, id, &text, &n_bytes, &stopped, &err));
    fwrite(text, 1, n_bytes, stdout);
}

int main(int argc, char **argv)
{
    qn_runtime *runtime;
    qn_model *model;
    qn_session *session;
    qn_seq *seq;
    qn_sampler *sampler;
    qn_stream *stream;
    qn_format *format;
    qn_guide *guide;
    check(qn_runtime_open(NULL, &runtime, &err));
    check(qn_format_open(runtime, QN_FORMAT_JSON_SCHEMA, schema, strlen(schema), NULL, &format, &err));
    check(qn_model_open(runtime, argc > 1 ? argv[1] : "model.gguf", NULL, &model, &err));
    check(qn_session_open(model, NULL, &session, &err));
    check(qn_seq_open(session, &seq, &err));
    check(qn_sampler_open(model, NULL, &sampler, &err));
    check(qn_stream_open(model, NULL, 0, 0, &stream, &err));
    check(qn_guide_open(model, format, &guide, &err));

    const char *prompt = argc > 2 ? argv[2] : "Invent a person.\n";
    int32_t ids[256];
    size_t n_ids;
    check(qn_tokenize(model, prompt, strlen(prompt), QN_TEXT_ADD_SPECIAL, ids, 256, &n_ids, &err));
    for (uint64_t n_left = MOST; n_left > 0 && !qn_guide_must_end(guide);) {
        const float *logits;
        check(qn_seq_eval(seq, ids, n_ids, &logits, &err));
        check(qn_guide_pick(guide, sampler, logits, n_left, &ids[0], NULL, &err));
        show(stream, ids[0]);
        /* What must follow needs no model: it is read together with the token that was picked. */
        check(qn_guide_jump(guide, sampler, n_left - 1, ids + 1, 255, &n_ids, &err));
        for (size_t i = 1; i <= n_ids; i++) {
            show(stream, ids[i]);
        }
        n_ids++;
        n_left -= n_ids;
    }
    printf("\n");
    qn_guide_close(guide);
    qn_stream_close(stream);
    qn_sampler_close(sampler);
    qn_session_close(session);
    qn_model_close(model);
    qn_format_close(format);
    qn_runtime_close(runtime);
    return 0;
}
