/* What llama.cpp makes of given tokens, for quality.py: raw logits, or a greedy text with the runner-up.
 *
 *   peer_logits logits MODEL IDS.i32 OUT.f32     [fa 0|1]   float32 logits of every position
 *   peer_logits greedy MODEL IDS.i32 N OUT.jsonl [fa 0|1]   N more tokens; one line a step:
 *                                                           {"id": 28, "top": [[28, -0.1], [31, -2.4]]}
 *
 * The ids are int32 of this machine's byte order and taken as they are (no BOS is added). Tokens that end a text are
 * never picked, so that it goes on. Everything is as llama.cpp has it by default, but for the threads (all processors)
 * and the context (as many tokens as it takes); `fa` forces flash attention off or on.
 *
 * Users build it against their own llama.cpp (SRC: its sources, PEER: the build's folder):
 *
 *   cc -O2 -std=gnu17 -I SRC/include -I SRC/ggml/include bench/peer_logits.c -o peer_logits \
 *       -L PEER/bin -lllama -lggml -lggml-base -lm -Wl,-rpath,PEER/bin -Wl,-rpath-link,PEER/bin
 *
 * SPDX-License-Identifier: MIT */
#include <llama.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_IDS 65536 /* far above what quality.py asks for */

struct peer {
    struct llama_model *model;
    struct llama_context *ctx;
    int32_t n_vocab;
};

static int complain(const char *what)
{
    fprintf(stderr, "peer_logits: %s\n", what);
    return 1;
}

static void log_errors(enum ggml_log_level level, const char *text, void *unused)
{
    (void)unused;
    if (level == GGML_LOG_LEVEL_ERROR) {
        fputs(text, stderr);
    }
}

static int peer_open(struct peer *p, const char *path, uint32_t n_ctx, const char *fa)
{
    llama_log_set(log_errors, NULL);
    llama_backend_init();
    struct llama_model_params mp = llama_model_default_params();
    mp.n_gpu_layers = 0;
    p->model = llama_model_load_from_file(path, mp);
    if (p->model == NULL) {
        return complain("cannot load the model");
    }
    p->n_vocab = llama_vocab_n_tokens(llama_model_get_vocab(p->model));

    struct llama_context_params cp = llama_context_default_params();
    cp.n_ctx = n_ctx;
    cp.n_threads = cp.n_threads_batch = (int32_t)sysconf(_SC_NPROCESSORS_ONLN);
    if (fa != NULL) {
        cp.flash_attn_type = *fa == '1' ? LLAMA_FLASH_ATTN_TYPE_ENABLED : LLAMA_FLASH_ATTN_TYPE_DISABLED;
    }
    p->ctx = llama_init_from_model(p->model, cp);
    return p->ctx == NULL ? complain("cannot make a context") : 0;
}

static void peer_close(struct peer *p)
{
    if (p->ctx != NULL) {
        llama_free(p->ctx);
    }
    if (p->model != NULL) {
        llama_model_free(p->model);
    }
    llama_backend_free();
}

/* Appends n tokens at position pos. Logits are kept for all of them, or for the last alone. */
static int peer_eval(const struct peer *p, const int32_t *ids, int32_t n, int32_t pos, bool all)
{
    struct llama_batch b = llama_batch_init(n, 0, 1);
    b.n_tokens = n;
    for (int32_t i = 0; i < n; i++) {
        b.token[i] = ids[i];
        b.pos[i] = pos + i;
        b.n_seq_id[i] = 1;
        b.seq_id[i][0] = 0;
        b.logits[i] = all || i == n - 1;
    }
    int rc = llama_decode(p->ctx, b);
    llama_batch_free(b);
    return rc == 0 ? 0 : complain("llama_decode failed");
}

static int write_logits(const struct peer *p, const int32_t *ids, int32_t n, FILE *out)
{
    int32_t n_batch = (int32_t)llama_n_batch(p->ctx);
    for (int32_t at = 0; at < n; at += n_batch) {
        int32_t now = n - at < n_batch ? n - at : n_batch;
        if (peer_eval(p, ids + at, now, at, true)) {
            return 1;
        }
        for (int32_t i = 0; i < now; i++) {
            const float *row = llama_get_logits_ith(p->ctx, i);
            if (row == NULL || fwrite(row, sizeof(*row), (size_t)p->n_vocab, out) != (size_t)p->n_vocab) {
                return complain("cannot write the logits");
            }
        }
    }
    return 0;
}

/* The two best that do not end a text (ties: the lower id first); false: there are no two. *norm: the logarithm of
 * the sum of all exponentials. */
static bool best_two(const struct peer *p, const float *logits, int32_t best[2], double *norm)
{
    const struct llama_vocab *vocab = llama_model_get_vocab(p->model);
    double sum = 0;
    best[0] = best[1] = -1;
    for (int32_t i = 0; i < p->n_vocab; i++) {
        sum += exp((double)logits[i]); /* far from overflow: logits are below 700 */
        if ((best[1] >= 0 && logits[i] <= logits[best[1]]) || llama_vocab_is_eog(vocab, i)) {
            continue;
        }
        bool first = best[0] < 0 || logits[i] > logits[best[0]];
        best[1] = first ? best[0] : i;
        best[0] = first ? i : best[0];
    }
    *norm = log(sum);
    return best[1] >= 0;
}

static int write_greedy(const struct peer *p, const int32_t *ids, int32_t n, int32_t n_new, FILE *out)
{
    int32_t n_batch = (int32_t)llama_n_batch(p->ctx);
    for (int32_t at = 0; at < n; at += n_batch) {
        if (peer_eval(p, ids + at, n - at < n_batch ? n - at : n_batch, at, false)) {
            return 1;
        }
    }
    for (int32_t i = 0; i < n_new; i++) {
        int32_t best[2];
        double norm;
        const float *row = llama_get_logits_ith(p->ctx, -1);
        if (row == NULL || !best_two(p, row, best, &norm)) {
            return complain("no logits to choose from");
        }
        fprintf(out, "{\"id\": %d, \"top\": [[%d, %.7f], [%d, %.7f]]}\n", best[0], best[0], row[best[0]] - norm,
                best[1], row[best[1]] - norm);
        if (i + 1 < n_new && peer_eval(p, best, 1, n + i, true)) {
            return 1;
        }
    }
    return 0;
}

static int32_t read_ids(const char *path, int32_t *ids)
{
    FILE *f = fopen(path, "rb");
    if (f == NULL) {
        return 0;
    }
    size_t n = fread(ids, sizeof(*ids), MAX_IDS, f);
    fclose(f);
    return (int32_t)n;
}

int main(int argc, char **argv)
{
    static int32_t ids[MAX_IDS];
    bool greedy = argc > 1 && strcmp(argv[1], "greedy") == 0;
    int n_args = greedy ? 6 : 5;
    bool has_fa = argc == n_args + 2 && strcmp(argv[n_args], "fa") == 0 &&
                  (strcmp(argv[n_args + 1], "0") == 0 || strcmp(argv[n_args + 1], "1") == 0);
    if ((!greedy && (argc < 2 || strcmp(argv[1], "logits") != 0)) || (argc != n_args && !has_fa)) {
        return complain("usage: logits MODEL IDS OUT [fa 0|1], or greedy MODEL IDS N OUT [fa 0|1]");
    }
    int32_t n = read_ids(argv[3], ids), n_new = greedy ? (int32_t)strtol(argv[4], NULL, 10) : 0;
    if (n == 0 || n == MAX_IDS || n_new < 0 || n_new > MAX_IDS) {
        return complain("no ids, too many, or a bad N");
    }
    FILE *out = fopen(argv[n_args - 1], "wb");
    if (out == NULL) {
        return complain("cannot write the output");
    }
    struct peer p = {0};
    int rc = peer_open(&p, argv[2], (uint32_t)(n + n_new), has_fa ? argv[n_args + 1] : NULL);
    if (rc == 0) {
        rc = greedy ? write_greedy(&p, ids, n, n_new, out) : write_logits(&p, ids, n, out);
    }
    peer_close(&p);
    return fclose(out) != 0 ? complain("cannot write the output") : rc;
}
