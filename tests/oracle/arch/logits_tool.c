/* Lets a script reach a model's logits.
 *
 *   logits_tool MODEL KV CHUNK     int32 ids on stdin; the float32 logits of every position on stdout
 *
 * KV is f32 or f16. The ids are evaluated CHUNK at a time (0: all at once), each with the KV of those before.
 * QUERN_ISA forces a kernel set.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "quern/quern.h"

#define MAX_IDS 65536 /* far above what the scripts ask for */

static int complain(const char *what)
{
    fprintf(stderr, "logits_tool: %s\n", what);
    return 1;
}

static int write_row(void *ctx, uint32_t i_row, const float *logits)
{
    const qn_model_info *info = ctx;
    (void)i_row;
    return fwrite(logits, sizeof(*logits), info->n_vocab, stdout) != info->n_vocab;
}

static qn_status eval(qn_model *m, const qn_session_options *o, const int32_t *ids, uint32_t n, qn_error *err)
{
    qn_session *s = NULL;
    qn_seq *q = NULL;
    qn_model_info info;
    qn_model_get_info(m, &info);
    qn_status status = qn_session_open(m, o, &s, err);
    if (status == QN_OK) {
        status = qn_seq_open(s, &q, err);
    }
    for (uint32_t at = 0; status == QN_OK && at < n; at += o->n_batch) {
        uint32_t now = n - at < o->n_batch ? n - at : o->n_batch;
        status = qn_seq_eval_each(q, ids + at, now, write_row, &info, err);
    }
    qn_session_close(s);
    return status;
}

int main(int argc, char **argv)
{
    static int32_t ids[MAX_IDS];
    qn_runtime *rt = NULL;
    qn_model *m = NULL;
    qn_session_options o;
    qn_error err = {0};
    if (argc != 4 || (strcmp(argv[2], "f32") != 0 && strcmp(argv[2], "f16") != 0)) {
        return complain("usage: logits_tool MODEL f32|f16 CHUNK");
    }
    uint32_t n = (uint32_t)fread(ids, sizeof(ids[0]), MAX_IDS, stdin);
    if (n == 0 || n == MAX_IDS) {
        return complain("no ids, or too many");
    }
    uint32_t chunk = (uint32_t)strtoul(argv[3], NULL, 10);
    qn_session_options_init(&o);
    o.kv_type = strcmp(argv[2], "f32") == 0 ? QN_KV_F32 : QN_KV_F16;
    o.n_ctx = n;
    o.n_batch = chunk != 0 && chunk < n ? chunk : n;
    qn_status status = qn_runtime_open(NULL, &rt, &err);
    if (status == QN_OK) {
        status = qn_model_open(rt, argv[1], NULL, &m, &err);
    }
    if (status == QN_OK) {
        status = eval(m, &o, ids, n, &err);
    }
    qn_model_close(m);
    qn_runtime_close(rt);
    return status == QN_OK ? 0 : complain(err.what);
}
