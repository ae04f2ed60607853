/* Speed of a tokenizer on one thread, through the library: a text is encoded line by line, or as one.
 *
 *     quern_tok_bench [-r ROUNDS] [-w] [-f] [-s] [-i IDS] VOCAB.gguf TEXT
 *
 * A round encodes the whole text once; its seconds are printed, then the best in MB/s. -w: as one text and not by
 * lines, which keep their newline. -f: each round with a tokenizer that has seen no text. -s: a round for each line of
 * standard input, so that another program can take turns with this one. -i: writes the ids, four bytes each, and
 * measures nothing.
 *
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "text/tokenizer.h"

typedef struct job {
    const qn_gguf *g;
    qn_tokenizer *t;
    char *text;
    size_t n_bytes;
    bool whole, fresh;
    int32_t *ids; /* n_bytes + 16 of them: a byte gives one id at most, and a prefix may come before the first */
} job;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "tok_bench: %s: %s\n", what, why);
    exit(1);
}

static char *read_text(const char *path, size_t *n_bytes)
{
    FILE *f = fopen(path, "rb");
    if (f == NULL || fseek(f, 0, SEEK_END) != 0) {
        fail(path, strerror(errno));
    }
    long size = ftell(f);
    rewind(f);
    char *text = malloc((size_t)size + 1);
    if (text == NULL || fread(text, 1, (size_t)size, f) != (size_t)size) {
        fail(path, "cannot be read");
    }
    fclose(f);
    *n_bytes = (size_t)size;
    return text;
}

static size_t encode(const job *j)
{
    size_t n_ids = 0, n;
    qn_error err;
    for (size_t at = 0, end; at < j->n_bytes; at = end) {
        const char *newline = j->whole ? NULL : memchr(j->text + at, '\n', j->n_bytes - at);
        end = newline == NULL ? j->n_bytes : (size_t)(newline - j->text) + 1;
        size_t room = j->n_bytes + 16 - n_ids;
        if (qn_tokenizer_encode(j->t, j->text + at, end - at, 0, j->ids + n_ids, room, &n, &err) != QN_OK) {
            fail("encoding", err.what);
        }
        n_ids += n;
    }
    return n_ids;
}

static void open_tokenizer(job *j)
{
    qn_error err;
    if (qn_tokenizer_open(j->g, NULL, &j->t, &err) != QN_OK) {
        fail("vocabulary", err.what);
    }
}

static double time_round(job *j)
{
    if (j->fresh) {
        qn_tokenizer_close(j->t);
        open_tokenizer(j);
    }
    double start = now();
    encode(j);
    return now() - start;
}

static void write_ids(const job *j, const char *path)
{
    size_t n_ids = encode(j);
    FILE *f = fopen(path, "wb");
    if (f == NULL || fwrite(j->ids, sizeof(*j->ids), n_ids, f) != n_ids || fclose(f) != 0) {
        fail(path, "cannot be written");
    }
}

static void measure(job *j, unsigned rounds)
{
    double best = 1e30;
    size_t n_ids = encode(j);
    for (unsigned i = 0; i < rounds; i++) {
        double seconds = time_round(j);
        printf("%.6f\n", seconds);
        best = seconds < best ? seconds : best;
    }
    printf("%zu bytes, %zu ids, %.1f MB/s\n", j->n_bytes, n_ids, (double)j->n_bytes / best * 1e-6);
}

static void take_turns(job *j)
{
    char line[64];
    encode(j);
    while (fgets(line, sizeof(line), stdin) != NULL) {
        printf("%.6f\n", time_round(j));
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    job j = {0};
    const char *ids_path = NULL;
    unsigned rounds = 5;
    bool steps = false;
    for (int c; (c = getopt(argc, argv, "r:wfsi:")) != -1;) {
        rounds = c == 'r' ? (unsigned)strtoul(optarg, NULL, 10) : rounds;
        j.whole |= c == 'w';
        j.fresh |= c == 'f';
        steps |= c == 's';
        ids_path = c == 'i' ? optarg : ids_path;
        if (c == '?') {
            return 2;
        }
    }
    if (argc - optind != 2) {
        fail("usage", "quern_tok_bench [-r ROUNDS] [-w] [-f] [-s] [-i IDS] VOCAB.gguf TEXT");
    }
    qn_gguf *g;
    qn_error err;
    if (qn_gguf_open(argv[optind], NULL, &g, &err) != QN_OK) {
        fail(argv[optind], err.what);
    }
    j.g = g;
    double start = now();
    open_tokenizer(&j);
    fprintf(stderr, "%u tokens, loaded in %.1f ms\n", qn_tokenizer_n_vocab(j.t), (now() - start) * 1e3);
    j.text = read_text(argv[optind + 1], &j.n_bytes);
    j.ids = malloc((j.n_bytes + 16) * sizeof(*j.ids));
    if (j.ids == NULL) {
        fail("ids", "no memory");
    }
    if (ids_path != NULL) {
        write_ids(&j, ids_path);
    } else if (steps) {
        take_turns(&j);
    } else {
        measure(&j, rounds);
    }
    free(j.ids);
    free(j.text);
    qn_tokenizer_close(j.t);
    qn_gguf_close(g);
    return 0;
}
