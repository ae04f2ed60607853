/* Reads answers as a template's dialect understands them. One line of JSON in, one out:
 *     {"template": text, "bos": text, "eos": text}          the dialect of the lines that follow; out: its description
 *     {"prompt": text, "answer": text, "tools": [...], "cuts": how, "no_calls": bool, "keep_reasoning": bool}
 * cuts: "none"; "all": also byte by byte and in two parts, wherever they are cut, which must not matter; "truncate":
 * every beginning of the answer is read too, and must not make more of it. Out: what was read, and "same".
 * SPDX-License-Identifier: MIT */
#include "text/chat/answer.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct heard {
    qn_buf content, reasoning, calls; /* calls: the inside of a JSON array */
    qn_buf arguments, name, id;
    bool open, cut, over;
    uint32_t n_calls;
} heard;

static void heard_init(heard *h)
{
    *h = (heard){.open = false};
    qn_buf *bufs[] = {&h->content, &h->reasoning, &h->calls, &h->arguments, &h->name, &h->id};
    for (size_t i = 0; i < 6; i++) {
        qn_buf_init(bufs[i], NULL, "tool", 1u << 30);
    }
}

static void heard_free(heard *h)
{
    qn_buf *bufs[] = {&h->content, &h->reasoning, &h->calls, &h->arguments, &h->name, &h->id};
    for (size_t i = 0; i < 6; i++) {
        qn_buf_free(bufs[i]);
    }
}

static void put_call(heard *h, bool whole)
{
    if (!h->open) {
        return;
    }
    qn_json_writer w;
    if (h->calls.len > 0) {
        qn_buf_add_char(&h->calls, ',');
    }
    qn_json_writer_init(&w, &h->calls);
    qn_json_begin_object(&w);
    qn_json_key(&w, "name");
    qn_json_string(&w, qn_buf_view(&h->name));
    qn_json_key(&w, "id");
    qn_json_string(&w, qn_buf_view(&h->id));
    qn_json_key(&w, "arguments");
    qn_json_string(&w, qn_buf_view(&h->arguments));
    qn_json_key(&w, "whole");
    qn_json_bool(&w, whole);
    qn_json_end_object(&w);
    h->open = false;
}

static qn_status hear(void *ctx, qn_part part, uint32_t i_call, qn_str text)
{
    heard *h = ctx;
    bool of_call = part != QN_PART_CONTENT && part != QN_PART_REASONING;
    if (part == QN_PART_CALL) {
        put_call(h, false);
        qn_buf_clear(&h->name);
        qn_buf_clear(&h->id);
        qn_buf_clear(&h->arguments);
        h->open = true;
        h->n_calls = i_call + 1;
    }
    if (of_call && (!h->open || i_call + 1 != h->n_calls)) {
        fprintf(stderr, "a part of call %u while call %u is open\n", i_call, h->n_calls);
        abort();
    }
    qn_buf *bufs[] = {[QN_PART_CONTENT] = &h->content,
                      [QN_PART_REASONING] = &h->reasoning,
                      [QN_PART_CALL] = &h->name,
                      [QN_PART_CALL_ID] = &h->id,
                      [QN_PART_ARGUMENTS] = &h->arguments};
    if (part == QN_PART_CALL_END) {
        put_call(h, true);
    } else {
        qn_buf_add(bufs[part], text.data, text.len);
    }
    return QN_OK;
}

static void fatal(const qn_error *err)
{
    fprintf(stderr, "%s\n", err->what);
    exit(1);
}

/* Reads text in pieces that end at the cuts (SIZE_MAX: every byte is one). */
static void read_answer(const qn_dialect *d, const qn_answer_options *o, qn_str text, size_t cut, heard *h)
{
    qn_answer *a = NULL;
    qn_error err = {0};
    heard_init(h);
    if (qn_answer_open(d, o, NULL, &a, &err) != QN_OK) {
        fatal(&err);
    }
    size_t step = cut == SIZE_MAX ? 1 : cut == 0 ? text.len : cut;
    for (size_t at = 0; at < text.len;) {
        size_t n = text.len - at < step ? text.len - at : step;
        if (qn_answer_push(a, text.data + at, n, hear, h, &err) != QN_OK) {
            fatal(&err);
        }
        at += n;
        step = cut == SIZE_MAX ? 1 : text.len;
    }
    h->over = qn_answer_is_over(a);
    if (qn_answer_finish(a, hear, h, &h->cut, &err) != QN_OK) {
        fatal(&err);
    }
    put_call(h, false);
    qn_answer_close(a);
}

static bool buf_same(const qn_buf *a, const qn_buf *b)
{
    return qn_str_eq((qn_str){a->data, a->len}, (qn_str){b->data, b->len});
}

static bool same(const heard *a, const heard *b)
{
    return buf_same(&a->content, &b->content) && buf_same(&a->reasoning, &b->reasoning) &&
           buf_same(&a->calls, &b->calls) && a->cut == b->cut;
}

static bool check_cuts(const qn_dialect *d, const qn_answer_options *o, qn_str text, const heard *whole, size_t *bad)
{
    for (size_t cut = 1; cut <= text.len; cut++) {
        heard h;
        read_answer(d, o, text, cut == text.len ? SIZE_MAX : cut, &h);
        bool good = same(&h, whole);
        heard_free(&h);
        *bad = cut;
        if (!good) {
            return false;
        }
    }
    return true;
}

static size_t said(const heard *h)
{
    return h->content.len + h->reasoning.len;
}

static bool check_beginnings(const qn_dialect *d, const qn_answer_options *o, qn_str text, const heard *whole,
                             size_t *bad)
{
    for (size_t n = 0; n < text.len; n++) {
        heard h;
        read_answer(d, o, (qn_str){text.data, n}, 0, &h);
        bool good = said(&h) <= said(whole) + text.len && h.n_calls <= whole->n_calls;
        heard_free(&h);
        *bad = n;
        if (!good) {
            return false;
        }
    }
    return true;
}

static bool flag(const qn_json *line, const char *key)
{
    const qn_json *v = qn_json_find(line, key);
    return v != NULL && qn_json_as_bool(v);
}

static qn_str string(const qn_json *line, const char *key)
{
    const qn_json *v = qn_json_find(line, key);
    return v == NULL ? (qn_str){"", 0} : qn_json_as_str(v);
}

static void answer_line(const qn_dialect *d, const qn_json *line)
{
    qn_answer_options o = {.prompt = string(line, "prompt"),
                           .tools = qn_json_find(line, "tools"),
                           .no_calls = flag(line, "no_calls"),
                           .keep_reasoning = flag(line, "keep_reasoning")};
    qn_str text = string(line, "answer"), cuts = string(line, "cuts");
    heard h;
    size_t bad = 0;
    read_answer(d, &o, text, 0, &h);
    bool good = true;
    if (qn_str_is(cuts, "all") || qn_str_is(cuts, "truncate")) {
        good = check_cuts(d, &o, text, &h, &bad);
    }
    if (good && qn_str_is(cuts, "truncate")) {
        good = check_beginnings(d, &o, text, &h, &bad);
    }
    qn_buf out;
    qn_json_writer w;
    qn_buf_init(&out, NULL, "tool", 1u << 30);
    qn_json_writer_init(&w, &out);
    qn_json_begin_object(&w);
    qn_json_key(&w, "content");
    qn_json_string(&w, qn_buf_view(&h.content));
    qn_json_key(&w, "reasoning");
    qn_json_string(&w, qn_buf_view(&h.reasoning));
    qn_json_key(&w, "cut");
    qn_json_bool(&w, h.cut);
    qn_json_key(&w, "over");
    qn_json_bool(&w, h.over);
    qn_json_key(&w, "same");
    qn_json_bool(&w, good);
    qn_json_key(&w, "bad");
    qn_json_u64(&w, bad);
    qn_json_end_object(&w);
    out.len--; /* its brace: the calls are JSON already */
    printf("%.*s,\"calls\":[%.*s]}\n", (int)out.len, out.data, (int)h.calls.len, h.calls.len > 0 ? h.calls.data : "");
    qn_buf_free(&out);
    heard_free(&h);
}

static qn_dialect *template_line(const qn_json *line)
{
    qn_jinja *j = NULL;
    qn_dialect *d = NULL;
    qn_error err = {0};
    if (qn_jinja_open(string(line, "template"), NULL, &j, &err) != QN_OK ||
        qn_dialect_open(j, string(line, "bos"), string(line, "eos"), NULL, &d, &err) != QN_OK) {
        fatal(&err);
    }
    qn_jinja_close(j);
    qn_buf out;
    qn_buf_init(&out, NULL, "tool", 1u << 20);
    if (qn_dialect_describe(d, &out) != QN_OK) {
        exit(1);
    }
    printf("%.*s\n", (int)out.len, out.data);
    qn_buf_free(&out);
    return d;
}

int main(void)
{
    char *text = NULL;
    size_t cap = 0;
    ssize_t n;
    qn_dialect *d = NULL;
    while ((n = getline(&text, &cap, stdin)) > 0) {
        qn_json_doc *doc = NULL;
        qn_error err = {0};
        if (qn_json_parse(NULL, text, (size_t)n, 1u << 20, &doc, &err) != QN_OK) {
            fatal(&err);
        }
        const qn_json *line = qn_json_root(doc);
        if (qn_json_find(line, "template") != NULL) {
            qn_dialect_close(d);
            d = template_line(line);
        } else {
            answer_line(d, line);
        }
        fflush(stdout);
        qn_json_free(doc);
    }
    qn_dialect_close(d);
    free(text);
    return 0;
}
