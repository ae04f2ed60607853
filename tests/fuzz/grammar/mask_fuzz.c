/* Bytes choose a grammar and a way through it. What the mask says must be what happens when a token is tried, and so it
 * must stay on the way. From each place, the shortest way to an end must be one.
 * SPDX-License-Identifier: MIT */
#include "../../unit/text/small_vocab.h"
#include "grammar/grammar.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

#define MAX_PARTS 4
#define MAX_DEPTH 6
#define N_RULES 4

typedef struct source {
    const uint8_t *data;
    size_t n, at;
} source;

static void must(bool good)
{
    if (!good) {
        abort();
    }
}

static uint32_t next(source *s, uint32_t n)
{
    return s->at < s->n ? s->data[s->at++] % n : 0;
}

static const char *const words[] = {"ab",
                                    "abc",
                                    "ba",
                                    "bb",
                                    "cc",
                                    "\"",
                                    "\",",
                                    "a\"",
                                    "[[",
                                    "],",
                                    "12",
                                    "{\"",
                                    "\"}",
                                    "\\n",
                                    "\\",
                                    "hello",
                                    "the quick brown fox",
                                    "aaaaaaaaaaaaaaaaaaaaaaaa"};

typedef struct world {
    qn_gguf *g;
    qn_tokenizer *t;
    qn_grammar_vocab *v;
    uint8_t *file;
} world;

static void keys(qn_gguf_writer *w, void *ctx)
{
    (void)ctx;
    qn_gguf_set_u32(w, "tokenizer.ggml.eos_token_id", 0);
}

static world w;

static void close_world(void)
{
    qn_grammar_vocab_close(w.v);
    qn_tokenizer_close(w.t);
    qn_gguf_close(w.g);
    qn_free(w.file);
}

/* Made once: the fuzzer runs in one process. */
static void make_world(void)
{
    static small_vocab small;
    if (w.v == NULL) {
        atexit(close_world);
        qn_small_bpe(&small);
        small.edit = keys;
        for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
            bool is_there = strchr(words[i], ' ') != NULL;
            for (uint32_t k = 0; k < small.n; k++) {
                is_there |= qn_str_is(small.tokens[k], words[i]);
            }
            if (!is_there) {
                qn_small_add(&small, words[i], QN_TOKEN_NORMAL, 0);
            }
        }
        size_t n;
        w.file = qn_small_write(&small, &n);
        must(qn_gguf_open_memory(w.file, n, NULL, &w.g, NULL) == QN_OK);
        must(qn_tokenizer_open(w.g, NULL, &w.t, NULL) == QN_OK);
        must(qn_grammar_vocab_open(w.t, NULL, &w.v, NULL) == QN_OK);
    }
}

static qn_gx character(qn_gx_builder *b, source *s)
{
    qn_gx_range ranges[3];
    uint32_t n = 1 + next(s, 3);
    static const uint32_t places[] = {0,   ' ', '"', '#',  '0',  'A',   '[',    '\\',
                                      'a', 'b', 'z', 0x7f, 0xe9, 0x7ff, 0xffff, 0x10ffff};
    for (uint32_t i = 0; i < n; i++) {
        uint32_t x = places[next(s, 16)], y = places[next(s, 16)];
        ranges[i] = (qn_gx_range){x < y ? x : y, x < y ? y : x};
    }
    return qn_gx_class(b, ranges, n);
}

static qn_gx expression(qn_gx_builder *b, source *s, int depth)
{
    static const uint32_t bounds[] = {0, 1, 2, 3, 9, 20, 70, 1000000, QN_GX_NO_MAX};
    qn_gx parts[MAX_PARTS];
    uint32_t kind = next(s, depth == 0 ? 3 : 11), n = 1 + next(s, MAX_PARTS);
    for (uint32_t i = 0; kind >= 3 && kind <= 6 && i < n; i++) {
        parts[i] = expression(b, s, depth - 1);
    }
    switch (kind) {
    case 0:
        return qn_gx_bytes(b, qn_str_of(words[next(s, 18)]));
    case 1:
        return character(b, s);
    case 2:
        return next(s, 8) == 0 ? qn_gx_special(b, QN_STR("<tool>")) : qn_gx_bytes(b, QN_STR(""));
    case 3:
    case 4:
        return qn_gx_cat(b, parts, n);
    case 5:
    case 6:
        return qn_gx_alt(b, parts, n);
    case 7: {
        uint32_t min = bounds[next(s, 8)], max = bounds[next(s, 9)];
        return qn_gx_repeat(b, expression(b, s, depth - 1), min < max ? min : max, min < max ? max : min);
    }
    case 8:
        parts[0] = expression(b, s, depth - 1);
        return qn_gx_and(b, parts[0], expression(b, s, depth - 1));
    case 9:
        return qn_gx_not(b, expression(b, s, depth - 1));
    default:
        return qn_gx_rule_ref(b, next(s, N_RULES));
    }
}

static void try_all(qn_matcher *m, const uint64_t *bits)
{
    qn_buf forced;
    qn_buf_init(&forced, NULL, "test", 1u << 16);
    must(qn_matcher_forced(m, &forced) != QN_EINVAL);
    bool any = false;
    for (int32_t id = 0; id < (int32_t)qn_tokenizer_n_vocab(w.t); id++) {
        bool is_set = (bits[id / 64] >> (id % 64) & 1) != 0;
        qn_status s = qn_matcher_accept(m, id);
        must(s == QN_EFULL || (s == QN_OK) == is_set);
        any |= is_set;
        if (s == QN_OK) {
            must(qn_matcher_rollback(m, 1) == QN_OK);
        }
    }
    must(any);
    size_t n_taken;
    if (forced.len != 0 && qn_matcher_accept_bytes(m, forced.data, forced.len, &n_taken) == QN_OK) {
        must(qn_matcher_rollback(m, 1) == QN_OK);
    }
    qn_buf_free(&forced);
}

/* Takes the shortest way, which gets shorter by one with each byte. */
static void try_way(const qn_matcher *from)
{
    qn_matcher *m;
    if (qn_matcher_copy(from, &m, NULL) != QN_OK) {
        return;
    }
    uint64_t left = qn_matcher_shortest_end(m);
    qn_buf way;
    qn_buf_init(&way, NULL, "test", 1u << 16);
    qn_status s = qn_matcher_shortest_text(m, &way);
    must(left <= 1u << 16 ? s == QN_OK || s == QN_EUNSUPPORTED || s == QN_EFULL : s == QN_ERANGE);
    must(s == QN_OK ? way.len == left : s == QN_EUNSUPPORTED ? way.len < left : way.len == 0);
    for (size_t i = 0, n; i < way.len; i++) {
        must(qn_matcher_accept_bytes(m, way.data + i, 1, &n) == QN_OK);
        must(qn_matcher_shortest_end(m) == left - i - 1);
    }
    must(s != QN_OK || qn_matcher_may_end(m));
    qn_buf_free(&way);
    qn_matcher_close(m);
}

static void go_through(qn_grammar *g, source *s)
{
    qn_matcher *m;
    qn_error err;
    if (qn_matcher_open(g, w.v, NULL, &m, &err) != QN_OK) {
        return;
    }
    uint64_t bits[16];
    for (int step = 0; step < 12 && qn_matcher_mask(m, bits) == QN_OK; step++) {
        try_all(m, bits);
        int32_t n = (int32_t)qn_tokenizer_n_vocab(w.t), id = (int32_t)(next(s, 256) * 256 + next(s, 256)) % n;
        for (int32_t k = 0; k < n && (bits[id / 64] >> (id % 64) & 1) == 0; k++) {
            id = (id + 1) % n;
        }
        uint64_t left = qn_matcher_shortest_end(m);
        must((left == 0) == qn_matcher_may_end(m));
        try_way(m);
        if (id == 0 || qn_matcher_accept(m, id) != QN_OK) {
            break;
        }
    }
    qn_matcher_close(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    make_world();
    source s = {data, n_bytes, 0};
    qn_budget *budget;
    must(qn_budget_open(256u << 20, &budget) == QN_OK);
    qn_gx_builder b;
    qn_gx_init(&b, budget);
    for (uint32_t r = 0; r < N_RULES; r++) {
        qn_gx_rule_new(&b, QN_STR("rule"));
    }
    for (uint32_t r = 0; r < N_RULES; r++) {
        qn_gx_rule_define(&b, r, expression(&b, &s, MAX_DEPTH));
    }
    qn_grammar *g;
    qn_error err;
    if (qn_grammar_open(&b, budget, &g, &err) == QN_OK) {
        go_through(g, &s);
        qn_grammar_close(g);
    }
    qn_gx_free(&b);
    must(qn_budget_used(budget) == 0);
    qn_budget_close(budget);
    return 0;
}
