/* Times masks: for each case of a file, a schema (or GBNF, or a pattern) is compiled and texts, given as token ids, are
 * gone through; then, if asked to, texts of tokens drawn from the masks. Prints a line of JSON for each case: how long
 * compiling took and every single mask, with a fresh grammar for each round, so that the first mask in a state counts as
 * well; and the slowest masks with the text before them. bench/grammar.py writes the cases and compares with others.
 * SPDX-License-Identifier: MIT */
#include "base/json.h"
#include "base/random.h"
#include "grammar/front.h"
#include "grammar/grammar.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define N_SLOWEST 3 /* that are named */
#define N_WALKS 4
#define TAIL 60 /* bytes of text that a slow mask is named by */

typedef struct place { /* of a mask: the same in all rounds */
    double us;         /* in the fastest round */
    char tail[TAIL + 1];
} place;

typedef struct job {
    const qn_tokenizer *tokenizer;
    qn_grammar_vocab *vocab;
    uint64_t *bits;
    uint32_t max_whitespace;
    double *us; /* of this case's masks, round by round */
    size_t n_us, cap_us;
    place *places;
    size_t i_place, n_places, cap_places;
    double compile_us, accept_us;
    size_t n_accepted;
    unsigned n_steps; /* of each text that is drawn */
    qn_random random;
    qn_buf text;
} job;

static _Noreturn void fail(const char *what, const char *why)
{
    fprintf(stderr, "quern_grammar_bench: %s: %s\n", what, why);
    exit(1);
}

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static char *read_file(const char *path, size_t *n_bytes)
{
    FILE *f = fopen(path, "rb");
    if (f == NULL || fseek(f, 0, SEEK_END) != 0) {
        fail(path, "cannot be read");
    }
    long n = ftell(f);
    char *text = malloc((size_t)n + 1);
    rewind(f);
    if (text == NULL || fread(text, 1, (size_t)n, f) != (size_t)n) {
        fail(path, "cannot be read");
    }
    fclose(f);
    *n_bytes = (size_t)n;
    return text;
}

static void *grow(void *items, size_t n, size_t *cap, size_t item_bytes)
{
    if (n < *cap) {
        return items;
    }
    *cap = *cap == 0 ? 1024 : *cap * 2;
    items = realloc(items, *cap * item_bytes);
    if (items == NULL) {
        fail("times", "no memory");
    }
    return items;
}

static void note(job *j, double us)
{
    j->us = grow(j->us, j->n_us, &j->cap_us, sizeof(*j->us));
    j->us[j->n_us++] = us;
    size_t i = j->i_place++;
    if (i < j->n_places) {
        j->places[i].us = us < j->places[i].us ? us : j->places[i].us;
        return;
    }
    j->places = grow(j->places, i, &j->cap_places, sizeof(*j->places));
    size_t n = j->text.len < TAIL ? j->text.len : TAIL;
    place *p = &j->places[j->n_places++];
    p->us = us;
    memcpy(p->tail, n == 0 ? "" : j->text.data + j->text.len - n, n);
    p->tail[n] = '\0';
}

static qn_grammar *compile(job *j, const char *name, const qn_json *one)
{
    qn_gx_builder b;
    qn_grammar *g;
    qn_error err;
    const qn_json *schema = qn_json_find(one, "schema"), *gbnf = qn_json_find(one, "gbnf");
    double start = now_us();
    qn_gx_init(&b, NULL);
    qn_schema_options options = {.max_whitespace = j->max_whitespace};
    qn_status s = schema != NULL ? qn_front_schema(&b, schema, &options, &err)
                  : gbnf != NULL ? qn_front_gbnf(&b, qn_json_as_str(gbnf), &err)
                                 : qn_front_regex(&b, qn_json_as_str(qn_json_find(one, "regex")), &err);
    if (s != QN_OK || qn_grammar_open(&b, NULL, &g, &err) != QN_OK) {
        fail(name, err.what);
    }
    qn_gx_free(&b);
    j->compile_us += now_us() - start;
    return g;
}

static void add_text(job *j, int32_t id)
{
    qn_error err;
    if (j->text.len > 4096) {
        qn_buf_clear(&j->text);
    }
    qn_tokenizer_decode_token(j->tokenizer, id, 0, false, &j->text, &err);
}

static void go_through(job *j, const char *name, qn_grammar *g, const qn_json *ids)
{
    qn_matcher *m;
    qn_error err;
    qn_buf_clear(&j->text);
    double start = now_us();
    if (qn_matcher_open(g, j->vocab, NULL, &m, &err) != QN_OK) {
        fail(name, err.what);
    }
    double opening = now_us() - start; /* counts to the first mask */
    size_t n = qn_json_count(ids);
    for (size_t i = 0; i <= n; i++) {
        start = now_us();
        qn_status s = qn_matcher_mask(m, j->bits);
        note(j, now_us() - start + opening);
        opening = 0;
        int64_t id = 0;
        if (s != QN_OK || (i < n && !qn_json_as_i64(qn_json_at(ids, i), &id))) {
            fail(name, qn_status_text(s));
        }
        start = now_us();
        if (i < n && ((j->bits[id / 64] >> (id % 64) & 1) == 0 || qn_matcher_accept(m, (int32_t)id) != QN_OK)) {
            fprintf(stderr, "token %zu of %zu\n", i, n);
            fail(name, "the text is refused");
        }
        j->accept_us += now_us() - start;
        j->n_accepted += i < n;
        if (i < n) {
            add_text(j, (int32_t)id);
        }
    }
    if (!qn_matcher_may_end(m)) {
        fail(name, "the text is not complete");
    }
    qn_matcher_close(m);
}

/* A token of the mask, the first from a random place on; -1: only ends are in it. */
static int32_t draw(job *j)
{
    uint32_t n = qn_tokenizer_n_vocab(j->tokenizer), first = (uint32_t)qn_random_below(&j->random, n);
    for (uint32_t i = 0; i < n; i++) {
        int32_t id = (int32_t)((first + i) % n);
        if ((j->bits[id / 64] >> (id % 64) & 1) != 0 && !qn_tokenizer_is_end(j->tokenizer, id)) {
            return id;
        }
    }
    return -1;
}

static void walk(job *j, const char *name, qn_grammar *g)
{
    qn_matcher *m;
    qn_error err;
    if (qn_matcher_open(g, j->vocab, NULL, &m, &err) != QN_OK) {
        fail(name, err.what);
    }
    qn_buf_clear(&j->text);
    for (unsigned i = 0; i < j->n_steps; i++) {
        double start = now_us();
        qn_status s = qn_matcher_mask(m, j->bits);
        note(j, now_us() - start);
        int32_t id = s == QN_OK ? draw(j) : -1;
        s = s == QN_OK && id >= 0 ? qn_matcher_accept(m, id) : s;
        if (s != QN_OK) {
            fprintf(stderr, "%s: %s behind a text that was drawn\n", name, qn_status_text(s));
        }
        if (s != QN_OK || id < 0) {
            break;
        }
        add_text(j, id);
    }
    qn_matcher_close(m);
}

static int slowest_first(const void *x, const void *y)
{
    const place *a = x, *b = y;
    return a->us > b->us ? -1 : a->us < b->us;
}

static void print_places(job *j)
{
    printf("\"best_us\":[");
    for (size_t i = 0; i < j->n_places; i++) {
        printf("%s%.2f", i == 0 ? "" : ",", j->places[i].us);
    }
    qsort(j->places, j->n_places, sizeof(*j->places), slowest_first);
    printf("],\"slowest\":[");
    for (size_t i = 0; i < N_SLOWEST && i < j->n_places; i++) {
        printf("%s[%.1f,\"", i == 0 ? "" : ",", j->places[i].us);
        for (const char *c = j->places[i].tail; *c != '\0'; c++) {
            printf(*c < ' ' || *c == '"' || *c == '\\' || *c == 127 ? "\\u%04x" : "%c", (unsigned char)*c);
        }
        printf("\"]");
    }
    printf("],");
}

static void run_case(job *j, const qn_json *one, unsigned rounds)
{
    const qn_json *name = qn_json_find(one, "name"), *texts = qn_json_find(one, "texts");
    char label[128];
    snprintf(label, sizeof(label), "%.*s", QN_STR_ARG(qn_json_as_str(name)));
    j->n_us = j->n_accepted = 0;
    j->compile_us = j->accept_us = 0;
    j->n_places = 0;
    for (unsigned r = 0; r < rounds; r++) {
        j->i_place = 0;
        qn_random_seed(&j->random, 5);
        qn_grammar *g = compile(j, label, one);
        for (size_t i = 0; i < qn_json_count(texts); i++) {
            go_through(j, label, g, qn_json_at(texts, i));
        }
        for (unsigned i = 0; i < N_WALKS && j->n_steps != 0; i++) {
            walk(j, label, g);
        }
        qn_grammar_close(g);
    }
    printf("{\"name\":\"%s\",", label);
    print_places(j);
    printf("\"compile_us\":%.1f,\"accept_us\":%.3f,\"mask_us\":[", j->compile_us / rounds,
           j->accept_us / (double)(j->n_accepted == 0 ? 1 : j->n_accepted));
    for (size_t i = 0; i < j->n_us; i++) {
        printf("%s%.2f", i == 0 ? "" : ",", j->us[i]);
    }
    printf("]}\n");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    job j = {0};
    unsigned rounds = 3;
    for (int c; (c = getopt(argc, argv, "r:b:w:")) != -1;) {
        rounds = c == 'r' ? (unsigned)strtoul(optarg, NULL, 10) : rounds;
        j.max_whitespace = c == 'b' ? (uint32_t)strtoul(optarg, NULL, 10) : j.max_whitespace;
        j.n_steps = c == 'w' ? (unsigned)strtoul(optarg, NULL, 10) : j.n_steps;
        if (c == '?') {
            return 2;
        }
    }
    if (argc - optind != 2) {
        fail("usage", "quern_grammar_bench [-r ROUNDS] [-b BLANKS] [-w STEPS] VOCAB.gguf CASES.json");
    }
    qn_gguf *g;
    qn_tokenizer *t;
    qn_error err;
    if (qn_gguf_open(argv[optind], NULL, &g, &err) != QN_OK || qn_tokenizer_open(g, NULL, &t, &err) != QN_OK) {
        fail(argv[optind], err.what);
    }
    j.tokenizer = t;
    qn_buf_init(&j.text, NULL, "bench", 1u << 20);
    double start = now_us();
    if (qn_grammar_vocab_open(t, NULL, &j.vocab, &err) != QN_OK) {
        fail(argv[optind], err.what);
    }
    fprintf(stderr, "%u tokens, prepared in %.1f ms\n", qn_tokenizer_n_vocab(t), (now_us() - start) * 1e-3);
    j.bits = calloc((qn_tokenizer_n_vocab(t) + 63) / 64, sizeof(*j.bits));
    size_t n_bytes;
    char *text = read_file(argv[optind + 1], &n_bytes);
    qn_json_doc *doc;
    if (j.bits == NULL || qn_json_parse(NULL, text, n_bytes, 1u << 22, &doc, &err) != QN_OK) {
        fail(argv[optind + 1], j.bits == NULL ? "no memory" : err.what);
    }
    for (size_t i = 0; i < qn_json_count(qn_json_root(doc)); i++) {
        run_case(&j, qn_json_at(qn_json_root(doc), i), rounds);
    }
    qn_json_free(doc);
    free(text);
    free(j.us);
    free(j.places);
    free(j.bits);
    qn_buf_free(&j.text);
    qn_grammar_vocab_close(j.vocab);
    qn_tokenizer_close(t);
    qn_gguf_close(g);
    return 0;
}
