/* Tells a script which texts a grammar allows, and makes texts up: one case a line on the standard input, one result a
 * line on the output.
 *
 *   case    {"kind": "schema", "gbnf", "regex" or "pattern", "source": SCHEMA or TEXT, "texts": [TEXT, ...]}; strict and
 *           plain (booleans), blanks, generate and seed (counts) may be there. "pattern" is found somewhere in a text, as JSON
 *           schema has it.
 *   result  {"status": NAME, "what": TEXT, "nodes": COUNT, "matches": [BOOLEAN or null, ...], "accepts": [BOOLEAN,
 * ...], "made": [TEXT or null, ...], "states": COUNT, "bytes": COUNT} matches: by the slow matcher of the front ends,
 * which shares nothing with the automaton; null: not told in time. accepts: by the automaton, byte by byte. made: by
 * choosing among the tokens of its masks at random, and after a while those that end soonest, or the bytes of the shortest
 * way to an end; null: no end came.
 *
 * SPDX-License-Identifier: MIT */
#include "../../unit/text/small_vocab.h"
#include "base/random.h"
#include "grammar/front_int.h"
#include "grammar/grammar.h"
#include "text/tokenizer_int.h"

#define MAX_NODES 1000000
#define FREE_TOKENS 60 /* chosen at random; then the text is brought to its end */
#define MAX_TOKENS 3000

/* Beside the bytes: tokens that hold more than one part of JSON, and parts of characters. */
static const char *const words[] = {"\",\"", "\":", "\"}", "{\"", "[\"", "\"]", "]}",  "},",   "true",
                                    "null",  "12",  "-1",  ".5",  "00",  "\\u", "\\n", "2024-"};

typedef struct vocabulary {
    uint8_t *file;
    qn_gguf *gguf;
    qn_tokenizer *tokenizer;
    qn_grammar_vocab *vocab;
} vocabulary;

static void end_key(qn_gguf_writer *w, void *ctx)
{
    (void)ctx;
    qn_gguf_set_u32(w, "tokenizer.ggml.eos_token_id", 0);
}

static void must(qn_status status, const qn_error *err)
{
    if (status != QN_OK) {
        fprintf(stderr, "schema_tool: %s\n", err->what);
        exit(1);
    }
}

static void open_vocabulary(vocabulary *v)
{
    static small_vocab small;
    qn_error err = {0};
    size_t n;
    qn_small_bpe(&small);
    small.edit = end_key;
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        qn_small_add(&small, words[i], QN_TOKEN_NORMAL, 0);
    }
    v->file = qn_small_write(&small, &n);
    must(qn_gguf_open_memory(v->file, n, NULL, &v->gguf, &err), &err);
    must(qn_tokenizer_open(v->gguf, NULL, &v->tokenizer, &err), &err);
    must(qn_grammar_vocab_open(v->tokenizer, NULL, &v->vocab, &err), &err);
}

static void close_vocabulary(vocabulary *v)
{
    qn_grammar_vocab_close(v->vocab);
    qn_tokenizer_close(v->tokenizer);
    qn_gguf_close(v->gguf);
    qn_free(v->file);
}

static qn_status build(qn_gx_builder *b, const qn_json *c, qn_error *err)
{
    const qn_json *kind = qn_json_find(c, "kind"), *source = qn_json_find(c, "source");
    const qn_json *strict = qn_json_find(c, "strict"), *blanks = qn_json_find(c, "blanks");
    const qn_json *plain = qn_json_find(c, "plain");
    qn_str name = kind != NULL ? qn_json_as_str(kind) : QN_STR("");
    if (source == NULL) {
        return qn_fail(err, QN_EINVAL, "a case without a source");
    }
    if (qn_str_is(name, "schema")) {
        int64_t n = 0;
        qn_schema_options o = {.strict = strict != NULL && qn_json_as_bool(strict),
                               .plain = plain != NULL && qn_json_as_bool(plain)};
        if (blanks != NULL && qn_json_as_i64(blanks, &n)) {
            o.max_whitespace = (uint32_t)n;
        }
        return qn_front_schema(b, source, &o, err);
    }
    if (qn_str_is(name, "gbnf")) {
        return qn_front_gbnf(b, qn_json_as_str(source), err);
    }
    if (qn_str_is(name, "regex")) {
        return qn_front_regex(b, qn_json_as_str(source), err);
    }
    qn_gx body;
    QN_TRY(qn_front_pattern(b, qn_json_as_str(source), true, false, &body, err));
    b->root = qn_gx_rule_new(b, QN_STR("root"));
    qn_gx_rule_define(b, b->root, body);
    return QN_OK;
}

static void judge(qn_gx_builder *b, const qn_json *texts, qn_json_writer *w)
{
    qn_gx root = qn_gx_rule_ref(b, b->root);
    qn_json_key(w, "matches");
    qn_json_begin_array(w);
    for (size_t i = 0; texts != NULL && i < qn_json_count(texts); i++) {
        bool matches;
        if (qn_front_match(b, root, qn_json_as_str(qn_json_at(texts, i)), &matches) == QN_OK) {
            qn_json_bool(w, matches);
        } else {
            qn_json_null(w);
        }
    }
    qn_json_end_array(w);
}

static void run_automaton(qn_grammar *g, const vocabulary *v, const qn_json *texts, qn_json_writer *w)
{
    qn_error err = {0};
    qn_json_key(w, "accepts");
    qn_json_begin_array(w);
    for (size_t i = 0; texts != NULL && i < qn_json_count(texts); i++) {
        qn_matcher *m;
        size_t n_taken;
        qn_str text = qn_json_as_str(qn_json_at(texts, i));
        must(qn_matcher_open(g, v->vocab, NULL, &m, &err), &err);
        bool is_taken = qn_matcher_accept_bytes(m, text.data, text.len, &n_taken) == QN_OK;
        qn_json_bool(w, is_taken && qn_matcher_may_end(m));
        qn_matcher_close(m);
    }
    qn_json_end_array(w);
}

/* The allowed token behind which the text can end soonest. */
static int32_t soonest(qn_matcher *m, const uint64_t *bits, uint32_t n_vocab)
{
    int32_t best = -1;
    uint64_t least = UINT64_MAX;
    for (uint32_t id = 0; id < n_vocab; id++) {
        if ((bits[id / 64] >> id % 64 & 1) == 0 || qn_matcher_accept(m, (int32_t)id) != QN_OK) {
            continue;
        }
        uint64_t n = qn_matcher_shortest_end(m);
        if (best < 0 || n < least) {
            best = (int32_t)id;
            least = n;
        }
        qn_error err = {0};
        must(qn_matcher_rollback(m, 1), &err);
    }
    return best;
}

/* Whether the shortest way to an end is one: of the bytes that it is said to have, each of which makes it shorter. Takes
 * it, where no special token is on it. */
static bool take_shortest(qn_matcher *m, qn_buf *out)
{
    uint64_t left = qn_matcher_shortest_end(m);
    size_t at = out->len, n_taken;
    if (qn_matcher_shortest_text(m, out) != QN_OK || out->len - at != left) {
        return false;
    }
    for (; at < out->len; at++) {
        if (qn_matcher_accept_bytes(m, out->data + at, 1, &n_taken) != QN_OK || qn_matcher_shortest_end(m) != --left) {
            return false;
        }
    }
    return qn_matcher_may_end(m);
}

/* The same, from a copy. */
static void check_shortest(const qn_matcher *m, const qn_buf *text)
{
    qn_matcher *copy;
    qn_buf way;
    qn_error err = {0};
    qn_buf_init(&way, NULL, "tool", 1u << 24);
    must(qn_matcher_copy(m, &copy, &err), &err);
    if (!take_shortest(copy, &way)) {
        fprintf(stderr, "schema_tool: no way to an end after %.*s: %.*s\n", (int)text->len,
                text->data != NULL ? text->data : "", (int)way.len, way.data != NULL ? way.data : "");
        exit(1);
    }
    qn_matcher_close(copy);
    qn_buf_free(&way);
}

/* False: no end came. */
static bool make_text(qn_grammar *g, const vocabulary *v, qn_random *random, qn_buf *out)
{
    enum { WORDS = SMALL_VOCAB_CAP / 64 };
    uint64_t bits[WORDS];
    uint32_t n_vocab = qn_tokenizer_n_vocab(v->tokenizer);
    qn_matcher *m;
    qn_error err = {0};
    bool is_done = false;
    uint64_t n_free = qn_random_below(random, 2) == 0 ? FREE_TOKENS : qn_random_below(random, FREE_TOKENS);
    bool is_shortest = qn_random_below(random, 2) == 0;
    must(qn_matcher_open(g, v->vocab, NULL, &m, &err), &err);
    for (unsigned n = 0; n < MAX_TOKENS && !is_done; n++) {
        must(qn_matcher_mask(m, bits), &err);
        int32_t allowed[SMALL_VOCAB_CAP], id;
        uint32_t n_allowed = 0;
        for (uint32_t i = 0; i < n_vocab; i++) {
            if ((bits[i / 64] >> i % 64 & 1) != 0) {
                allowed[n_allowed++] = (int32_t)i;
            }
        }
        if (n_allowed == 0) {
            fprintf(stderr, "schema_tool: an empty mask after %.*s\n", (int)out->len,
                    out->data != NULL ? out->data : "");
            exit(1);
        }
        id = allowed[qn_random_below(random, n_allowed)];
        if (n % 8 == 0) {
            check_shortest(m, out);
        }
        if (n >= n_free && is_shortest) {
            is_done = take_shortest(m, out);
            break;
        }
        if (n >= n_free) {
            id = qn_matcher_may_end(m) ? 0 : soonest(m, bits, n_vocab);
        }
        is_done = id == 0;
        if (!is_done) {
            must(qn_tokenizer_decode_token(v->tokenizer, id, 0, false, out, &err), &err);
            must(qn_matcher_accept(m, id), &err);
        }
    }
    qn_matcher_close(m);
    return is_done;
}

static void make_texts(qn_grammar *g, const vocabulary *v, uint64_t n, uint64_t seed, qn_json_writer *w)
{
    qn_random random;
    qn_random_seed(&random, seed);
    qn_json_key(w, "made");
    qn_json_begin_array(w);
    for (uint64_t i = 0; i < n; i++) {
        qn_buf text;
        qn_buf_init(&text, NULL, "tool", 1u << 24);
        if (make_text(g, v, &random, &text)) {
            qn_json_string(w, qn_buf_view(&text));
        } else {
            qn_json_null(w);
        }
        qn_buf_free(&text);
    }
    qn_json_end_array(w);
}

static int64_t number_of(const qn_json *c, const char *key)
{
    const qn_json *v = qn_json_find(c, key);
    int64_t n = 0;
    return v != NULL && qn_json_as_i64(v, &n) ? n : 0;
}

static void run(const qn_json *c, const vocabulary *v, qn_json_writer *w)
{
    qn_error err = {0};
    qn_gx_builder b;
    qn_grammar *g = NULL;
    qn_gx_init(&b, NULL);
    qn_status status = build(&b, c, &err);
    const char *stage = status != QN_OK ? "front" : "automaton";
    if (status == QN_OK) {
        status = qn_grammar_open(&b, NULL, &g, &err);
    }
    qn_json_key(w, "status");
    qn_json_cstring(w, qn_status_name(status));
    qn_json_key(w, "stage");
    qn_json_cstring(w, stage);
    qn_json_key(w, "what");
    qn_json_cstring(w, status != QN_OK ? err.what : "");
    qn_json_key(w, "nodes");
    qn_json_u64(w, b.n_nodes);
    const qn_json *texts = qn_json_find(c, "texts");
    if (strcmp(stage, "automaton") == 0) {
        judge(&b, texts, w);
    }
    if (status == QN_OK) {
        qn_grammar_size size;
        run_automaton(g, v, texts, w);
        make_texts(g, v, (uint64_t)number_of(c, "generate"), (uint64_t)number_of(c, "seed"), w);
        qn_grammar_get_size(g, &size);
        qn_json_key(w, "states");
        qn_json_u64(w, size.n_states);
        qn_json_key(w, "bytes");
        qn_json_u64(w, size.bytes);
    }
    qn_grammar_close(g);
    qn_gx_free(&b);
}

int main(void)
{
    char *line = NULL;
    size_t cap = 0;
    vocabulary v;
    open_vocabulary(&v);
    for (ssize_t n; (n = getline(&line, &cap, stdin)) > 0;) {
        qn_json_doc *doc;
        qn_error err;
        if (qn_json_parse(NULL, line, (size_t)n, MAX_NODES, &doc, &err) != QN_OK) {
            fprintf(stderr, "schema_tool: %s\n", err.what);
            return 1;
        }
        qn_buf out;
        qn_json_writer w;
        qn_buf_init(&out, NULL, "tool", SIZE_MAX / 2);
        qn_json_writer_init(&w, &out);
        qn_json_begin_object(&w);
        run(qn_json_root(doc), &v, &w);
        qn_json_end_object(&w);
        qn_json_free(doc);
        printf("%.*s\n", (int)out.len, out.data);
        fflush(stdout);
        qn_buf_free(&out);
    }
    free(line);
    close_vocabulary(&v);
    return 0;
}
