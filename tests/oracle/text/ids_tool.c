/* Lets a script encode many texts with one vocabulary.
 *
 *   ids_tool ids FILE     the token ids of each text, by the vocabulary of a GGUF file
 *   ids_tool cuts KIND    where each word of a text ends, in bytes, by the patterns of a pre-tokenizer kind
 *   ids_tool kinds        the names of the table's kinds, one row a line
 *   ids_tool assigned     a byte for each code point: 1 when the tables here know it as a character
 *
 * Standard input: for each text its length and the flags (QN_TEXT_*), 32 bits each in the machine's order, then its
 * bytes. Standard output: for each text a count and so many numbers, 32 bits each.
 * SPDX-License-Identifier: MIT */
#include "base/unicode.h"
#include "text/tokenizer_int.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct numbers {
    int32_t *at;
    size_t n, cap;
} numbers;

static void reserve(numbers *out, size_t cap)
{
    if (cap > out->cap) {
        out->at = realloc(out->at, cap * sizeof(*out->at));
        if (out->at == NULL) {
            abort();
        }
        out->cap = cap;
    }
}

typedef struct source {
    const qn_tokenizer *tokenizer;
    const qn_pre *pre; /* NULL: ids are asked for */
    const char *text;
    numbers out;
} source;

static qn_status add_end(void *ctx, const char *word, size_t n)
{
    source *s = ctx;
    s->out.at[s->out.n++] = (int32_t)(word - s->text + (ptrdiff_t)n);
    return QN_OK;
}

static qn_status convert(source *s, const char *text, size_t n, unsigned flags, qn_error *err)
{
    reserve(&s->out, 16 * n + 16); /* what a map of characters may make of a byte, a prefix and special tokens */
    s->out.n = 0;
    s->text = text;
    return s->pre != NULL ? qn_pre_split(s->pre, text, n, add_end, s)
                          : qn_tokenizer_encode(s->tokenizer, text, n, flags, s->out.at, s->out.cap, &s->out.n, err);
}

static int serve(source *s)
{
    uint32_t head[2];
    char *text = NULL;
    qn_error err = {0};
    qn_status status = QN_OK;
    while (status == QN_OK && fread(head, sizeof(head), 1, stdin) == 1) {
        char *grown = realloc(text, (size_t)head[0] + 1);
        if (grown == NULL) {
            break;
        }
        text = grown;
        if (fread(text, 1, head[0], stdin) != head[0]) {
            break;
        }
        status = convert(s, text, head[0], head[1], &err);
        uint32_t n = (uint32_t)s->out.n;
        if (status == QN_OK) {
            fwrite(&n, sizeof(n), 1, stdout);
            fwrite(s->out.at, sizeof(*s->out.at), n, stdout);
        }
    }
    free(text);
    free(s->out.at);
    if (status != QN_OK) {
        fprintf(stderr, "ids_tool: %s\n", err.what);
    }
    return status != QN_OK || !feof(stdin) || fflush(stdout) != 0;
}

static int complain(const qn_error *err)
{
    fprintf(stderr, "ids_tool: %s\n", err->what);
    return 1;
}

static int serve_ids(const char *path)
{
    qn_gguf *g;
    qn_tokenizer *t;
    qn_error err;
    if (qn_gguf_open(path, NULL, &g, &err) != QN_OK) {
        return complain(&err);
    }
    if (qn_tokenizer_open(g, NULL, &t, &err) != QN_OK) {
        qn_gguf_close(g);
        return complain(&err);
    }
    int code = serve(&(source){.tokenizer = t});
    qn_tokenizer_close(t);
    qn_gguf_close(g);
    return code;
}

static int serve_cuts(const char *kind)
{
    qn_pre *pre;
    qn_error err;
    if (qn_pre_open(qn_str_of(kind), NULL, &pre, &err) != QN_OK) {
        return complain(&err);
    }
    int code = serve(&(source){.pre = pre});
    qn_pre_close(pre);
    return code;
}

static int print_kinds(void)
{
    const char *names;
    const char *const *patterns;
    for (size_t i = 0; qn_pre_kind_at(i, &names, &patterns); i++) {
        printf("%s\n", names);
    }
    return 0;
}

static int print_assigned(void)
{
    for (uint32_t cp = 0; cp < QN_UNICODE_END; cp++) {
        uint8_t category = qn_unicode_category(cp);
        putchar(category != QN_CATEGORY_CN && category != QN_CATEGORY_CS);
    }
    return fflush(stdout) != 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "ids") == 0) {
        return serve_ids(argv[2]);
    }
    if (argc == 3 && strcmp(argv[1], "cuts") == 0) {
        return serve_cuts(argv[2]);
    }
    if (argc == 2 && strcmp(argv[1], "kinds") == 0) {
        return print_kinds();
    }
    if (argc == 2 && strcmp(argv[1], "assigned") == 0) {
        return print_assigned();
    }
    fprintf(stderr, "usage: %s ids FILE | cuts KIND | kinds | assigned\n", argv[0]);
    return 2;
}
