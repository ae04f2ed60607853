/* Tells a script what the format of an answer with calls allows, and makes answers up. One line of JSON in, one out:
 *     {"template": text, "bos": text, "eos": text}   the dialect of the lines that follow; out: its description
 *     {"prompt": text, "tools": [...], "choice": "auto" | "required" | "none", "name": text, "one_call": bool,
 *      "strict": bool, "specials": [text, ...], "texts": [text, ...], "generate": n, "seed": n, "steer": [text, ...]}
 * Out: {"status", "what", "accepts": [bytes taken of each text, or -1: all], "made": [text or null, ...], "states": n,
 * "us": microseconds of a mask, "most_us"}. Answers are made of random tokens of the masks, where one of `steer` is
 * tried now and then, and after a while of those that end soonest. Special tokens are spelled out. The argument names a
 * vocabulary's file; without one a small one is made, which has the specials of the line as such tokens.
 * SPDX-License-Identifier: MIT */
#include "../../unit/text/small_vocab.h"
#include "base/random.h"
#include "grammar/front_calls.h"
#include "grammar/vocab_int.h"

#include <time.h>

#define MAX_NODES 1000000
#define FREE_TOKENS 80
#define MAX_TOKENS 6000
enum { PARSE_SPECIAL = QN_TEXT_PARSE_SPECIAL };

static const char *const words[] = {"\",\"", "\":",  "\"}",  "{\"",   "[\"",   "\"]",          "]}",
                                    "},",    "true", "null", "12",    "-1",    ".5",           "\\u",
                                    "\\n",   "</",   ">\\n", "<tool", "_call", "\xE6\xB1\x89", "name"};

typedef struct vocabulary {
    uint8_t *file;
    qn_gguf *gguf;
    qn_tokenizer *tokenizer;
    qn_grammar_vocab *vocab;
    uint64_t *bits;
    int32_t *allowed;
    int32_t bytes[256]; /* the token of each byte; -1: none */
    uint32_t n_vocab;
} vocabulary;

typedef struct run {
    const vocabulary *v;
    qn_random random;
    const qn_json *steer;
    double us, most_us;
    uint64_t n_masks;
} run;

static void must(qn_status status, const qn_error *err)
{
    if (status != QN_OK) {
        fprintf(stderr, "calls_tool: %s\n", err->what);
        exit(1);
    }
}

static void end_key(qn_gguf_writer *w, void *ctx)
{
    (void)ctx;
    qn_gguf_set_u32(w, "tokenizer.ggml.eos_token_id", 0);
}

static void prepare(vocabulary *v)
{
    qn_error err = {0};
    must(qn_tokenizer_open(v->gguf, NULL, &v->tokenizer, &err), &err);
    must(qn_grammar_vocab_open(v->tokenizer, NULL, &v->vocab, &err), &err);
    v->n_vocab = qn_tokenizer_n_vocab(v->tokenizer);
    v->bits = calloc((v->n_vocab + 63) / 64, sizeof(*v->bits));
    v->allowed = calloc(v->n_vocab, sizeof(*v->allowed));
    must(v->bits != NULL && v->allowed != NULL ? QN_OK : QN_ENOMEM, &err);
    memset(v->bytes, 0xFF, sizeof(v->bytes));
    for (uint32_t id = 0; id < v->n_vocab; id++) {
        qn_str s = qn_vocab_bytes(v->vocab, (int32_t)id);
        if (s.len == 1) {
            v->bytes[(uint8_t)s.data[0]] = (int32_t)id;
        }
    }
}

static void open_small(vocabulary *v, const qn_json *specials)
{
    static small_vocab small;
    static char kept[64][256];
    qn_error err = {0};
    size_t n;
    qn_small_bpe(&small);
    small.edit = end_key;
    small.tokens[0] = QN_STR("<|small-end|>"); /* what templates do not spell */
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        qn_small_add(&small, words[i], QN_TOKEN_NORMAL, 0);
    }
    for (size_t i = 0; specials != NULL && i < qn_json_count(specials) && i < 64; i++) {
        qn_str s = qn_json_as_str(qn_json_at(specials, i));
        snprintf(kept[i], sizeof(kept[i]), "%.*s", QN_STR_ARG(s));
        qn_small_add(&small, kept[i], QN_TOKEN_CONTROL, 0);
    }
    v->file = qn_small_write(&small, &n);
    must(qn_gguf_open_memory(v->file, n, NULL, &v->gguf, &err), &err);
    prepare(v);
}

static void close_vocabulary(vocabulary *v)
{
    qn_grammar_vocab_close(v->vocab);
    qn_tokenizer_close(v->tokenizer);
    qn_gguf_close(v->gguf);
    qn_free(v->file);
    free(v->bits);
    free(v->allowed);
    *v = (vocabulary){0};
}

static qn_str string(const qn_json *line, const char *key)
{
    const qn_json *v = qn_json_find(line, key);
    return v == NULL ? (qn_str){"", 0} : qn_json_as_str(v);
}

static bool flag(const qn_json *line, const char *key)
{
    const qn_json *v = qn_json_find(line, key);
    return v != NULL && qn_json_as_bool(v);
}

static uint64_t number(const qn_json *line, const char *key)
{
    const qn_json *v = qn_json_find(line, key);
    int64_t n = 0;
    return v != NULL && qn_json_as_i64(v, &n) && n > 0 ? (uint64_t)n : 0;
}

/* ---- masks ---- */

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static uint32_t mask(run *r, qn_matcher *m)
{
    qn_error err = {0};
    const vocabulary *v = r->v;
    double start = now_us();
    must(qn_matcher_mask(m, v->bits), &err);
    double us = now_us() - start;
    r->us += us;
    r->most_us = us > r->most_us ? us : r->most_us;
    r->n_masks++;
    uint32_t n = 0;
    for (uint32_t i = 0; i < v->n_vocab; i++) {
        if ((v->bits[i / 64] >> i % 64 & 1) != 0) {
            v->allowed[n++] = (int32_t)i;
        }
    }
    return n;
}

/* ---- accepting ---- */

static bool take(run *r, qn_matcher *m, qn_str text, qn_buf *out)
{
    int32_t ids[512];
    size_t n = 0;
    qn_error err = {0};
    const qn_tokenizer *t = r->v->tokenizer;
    if (qn_tokenizer_encode(t, text.data, text.len, PARSE_SPECIAL, ids, 512, &n, &err) != QN_OK || n > 60) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        if (qn_tokenizer_is_end(t, ids[i]) || qn_matcher_accept(m, ids[i]) != QN_OK) {
            must(i > 0 ? qn_matcher_rollback(m, (uint32_t)i) : QN_OK, &err);
            return false;
        }
    }
    qn_buf_add(out, text.data, text.len);
    return true;
}

/* How many bytes of a text are taken, special tokens as such; -1: all, and the text may end there. */
static int64_t accepted(run *r, qn_grammar *g, qn_str text)
{
    qn_matcher *m;
    qn_error err = {0};
    qn_buf out;
    qn_buf_init(&out, NULL, "tool", 1u << 24);
    must(qn_matcher_open(g, r->v->vocab, NULL, &m, &err), &err);
    static int32_t ids[1 << 16];
    size_t n = 0;
    must(qn_tokenizer_encode(r->v->tokenizer, text.data, text.len, PARSE_SPECIAL, ids, 1 << 16, &n, &err), &err);
    size_t i = 0;
    for (; i < n; i++) {
        mask(r, m);
        if (qn_matcher_accept(m, ids[i]) != QN_OK) {
            break;
        }
        must(qn_tokenizer_decode_token(r->v->tokenizer, ids[i], PARSE_SPECIAL, false, &out, &err), &err);
    }
    int64_t taken = i == n && qn_matcher_may_end(m) ? -1 : (int64_t)out.len;
    qn_matcher_close(m);
    qn_buf_free(&out);
    return taken;
}

/* ---- making ---- */

/* Among the tokens of one byte, and special ones, that behind which the text can end soonest. */
static int32_t soonest(run *r, qn_matcher *m, uint32_t n_allowed)
{
    int32_t best = -1;
    uint64_t least = UINT64_MAX;
    qn_error err = {0};
    for (uint32_t i = 0; i < n_allowed; i++) {
        int32_t id = r->v->allowed[i];
        qn_str s = qn_vocab_bytes(r->v->vocab, id);
        if (s.len > 1 || (s.len == 1 && r->v->bytes[(uint8_t)s.data[0]] != id) ||
            qn_tokenizer_is_end(r->v->tokenizer, id) || qn_matcher_accept(m, id) != QN_OK) {
            continue;
        }
        uint64_t n = qn_matcher_shortest_end(m);
        if (best < 0 || n < least) {
            best = id;
            least = n;
        }
        must(qn_matcher_rollback(m, 1), &err);
    }
    return best;
}

/* False: no end came. */
static bool make_text(run *r, qn_grammar *g, qn_buf *out)
{
    qn_matcher *m;
    qn_error err = {0};
    bool is_done = false;
    uint32_t n_free = 1 + qn_random_below(&r->random, FREE_TOKENS);
    must(qn_matcher_open(g, r->v->vocab, NULL, &m, &err), &err);
    for (unsigned n = 0; n < MAX_TOKENS && !is_done; n++) {
        size_t n_steer = r->steer != NULL ? qn_json_count(r->steer) : 0;
        if (n_steer > 0 && n < n_free && qn_random_below(&r->random, 4) == 0 &&
            take(r, m, qn_json_as_str(qn_json_at(r->steer, qn_random_below(&r->random, (uint32_t)n_steer))), out)) {
            continue;
        }
        uint32_t n_allowed = mask(r, m);
        if (n_allowed == 0) {
            fprintf(stderr, "calls_tool: an empty mask after %.*s\n", (int)out->len,
                    out->data != NULL ? out->data : "");
            exit(1);
        }
        int32_t id = r->v->allowed[qn_random_below(&r->random, n_allowed)];
        if (n >= n_free) {
            is_done = qn_matcher_may_end(m);
            id = is_done ? 0 : soonest(r, m, n_allowed);
        }
        is_done = is_done || (qn_tokenizer_is_end(r->v->tokenizer, id) && qn_matcher_may_end(m));
        if (!is_done && id < 0) {
            break;
        }
        if (!is_done) {
            must(qn_tokenizer_decode_token(r->v->tokenizer, id, PARSE_SPECIAL, false, out, &err), &err);
            must(qn_matcher_accept(m, id), &err);
        }
    }
    qn_matcher_close(m);
    return is_done;
}

static void answers(run *r, qn_grammar *g, const qn_json *line, qn_json_writer *w)
{
    const qn_json *texts = qn_json_find(line, "texts");
    qn_json_key(w, "accepts");
    qn_json_begin_array(w);
    for (size_t i = 0; texts != NULL && i < qn_json_count(texts); i++) {
        qn_json_i64(w, accepted(r, g, qn_json_as_str(qn_json_at(texts, i))));
    }
    qn_json_end_array(w);
    qn_random_seed(&r->random, number(line, "seed"));
    r->steer = qn_json_find(line, "steer");
    qn_json_key(w, "made");
    qn_json_begin_array(w);
    for (uint64_t i = 0; i < number(line, "generate"); i++) {
        qn_buf text;
        qn_buf_init(&text, NULL, "tool", 1u << 24);
        if (make_text(r, g, &text)) {
            qn_json_string(w, qn_buf_view(&text));
        } else {
            qn_json_null(w);
        }
        qn_buf_free(&text);
    }
    qn_json_end_array(w);
    qn_json_key(w, "us");
    qn_json_f64(w, r->n_masks > 0 ? r->us / (double)r->n_masks : 0);
    qn_json_key(w, "most_us");
    qn_json_f64(w, r->most_us);
}

static bool ends_generation(const vocabulary *v, qn_str text)
{
    for (uint32_t id = 0; id < v->n_vocab; id++) {
        if (qn_str_eq(qn_tokenizer_piece(v->tokenizer, (int32_t)id), text)) {
            return qn_tokenizer_is_end(v->tokenizer, (int32_t)id);
        }
    }
    return false;
}

static void format_line(const qn_dialect *d, const vocabulary *v, const qn_json *line, qn_json_writer *w)
{
    qn_dialect_view view;
    qn_error err = {0};
    qn_str choice = string(line, "choice");
    qn_calls_special specials[64];
    const qn_json *list = qn_json_find(line, "specials");
    qn_gx_builder b;
    qn_grammar *g = NULL;
    run r = {.v = v};
    qn_dialect_get_view(d, &view);
    qn_front_calls_options o = {.dialect = &view,
                                .tools = qn_json_find(line, "tools"),
                                .name = string(line, "name"),
                                .one_call = flag(line, "one_call"),
                                .strict = flag(line, "strict"),
                                .choice = qn_str_is(choice, "required") ? QN_CALLS_REQUIRED
                                          : qn_str_is(choice, "none")   ? QN_CALLS_NONE
                                                                        : QN_CALLS_AUTO,
                                .specials = specials};
    for (size_t i = 0; list != NULL && i < qn_json_count(list) && i < 64; i++) {
        qn_str text = qn_json_as_str(qn_json_at(list, i));
        specials[o.n_specials++] = (qn_calls_special){text, ends_generation(v, text)};
    }
    must(qn_dialect_find_start(d, string(line, "prompt"), NULL, &o.start, &err), &err);
    qn_gx_init(&b, NULL);
    qn_status status = qn_front_calls(&b, &o, &err);
    status = status == QN_OK ? qn_grammar_open(&b, NULL, &g, &err) : status;
    qn_gx_free(&b);
    qn_json_key(w, "status");
    qn_json_cstring(w, qn_status_name(status));
    qn_json_key(w, "what");
    qn_json_cstring(w, status != QN_OK ? err.what : "");
    if (status == QN_OK) {
        qn_grammar_size size;
        answers(&r, g, line, w);
        qn_grammar_get_size(g, &size);
        qn_json_key(w, "states");
        qn_json_u64(w, size.n_states);
    }
    qn_grammar_close(g);
}

static qn_dialect *template_line(const qn_json *line, qn_buf *out)
{
    qn_jinja *j = NULL;
    qn_dialect *d = NULL;
    qn_error err = {0};
    must(qn_jinja_open(string(line, "template"), NULL, &j, &err), &err);
    must(qn_dialect_open(j, string(line, "bos"), string(line, "eos"), NULL, &d, &err), &err);
    qn_jinja_close(j);
    must(qn_dialect_describe(d, out), &err);
    return d;
}

int main(int argc, char **argv)
{
    char *text = NULL;
    size_t cap = 0;
    qn_dialect *d = NULL;
    vocabulary v = {0};
    qn_error err = {0};
    if (argc > 1) {
        must(qn_gguf_open(argv[1], NULL, &v.gguf, &err), &err);
        prepare(&v);
    }
    for (ssize_t n; (n = getline(&text, &cap, stdin)) > 0;) {
        qn_json_doc *doc = NULL;
        must(qn_json_parse(NULL, text, (size_t)n, MAX_NODES, &doc, &err), &err);
        const qn_json *line = qn_json_root(doc);
        qn_buf out;
        qn_buf_init(&out, NULL, "tool", SIZE_MAX / 2);
        if (qn_json_find(line, "template") != NULL) {
            qn_dialect_close(d);
            d = template_line(line, &out);
        } else {
            vocabulary small = {0};
            qn_json_writer w;
            if (argc < 2) {
                open_small(&small, qn_json_find(line, "specials"));
            }
            qn_json_writer_init(&w, &out);
            qn_json_begin_object(&w);
            format_line(d, argc < 2 ? &small : &v, line, &w);
            qn_json_end_object(&w);
            close_vocabulary(&small);
        }
        printf("%.*s\n", (int)out.len, out.data);
        fflush(stdout);
        qn_buf_free(&out);
        qn_json_free(doc);
    }
    qn_dialect_close(d);
    close_vocabulary(&v);
    free(text);
    return 0;
}
