/* What the tests of grammars share: a small vocabulary, short ways to write expressions, and a judge that knows nothing
 * of automata: it asks of a whole text, part by part, whether it matches or could be made to match.
 * SPDX-License-Identifier: MIT */
#ifndef QN_TESTS_GRAMMAR_RIG_H
#define QN_TESTS_GRAMMAR_RIG_H

#include "test.h"

#include "../text/small_open.h"
#include "base/random.h"
#include "grammar/grammar.h"

#define RIG_END 0
#define RIG_TOOL 1
#define RIG_WORDS 64

static const char *const rig_words[] = {
    "ab", "abc", "ba", "bb", "cc", "aab", "bca", "aaaa", "bcbc", "abab", "cab", "\"", "\"a", "\",", "\":", "a\"", "ab\",",
    "[[", "]]", "],", "[1", "12", "123", "{\"", "\"}", "},{", "tr", "true", "ue", "fals", "null", "\xC3\xA9", "a\xC3\xA9",
    "\xC3\xA9\xC3\xA9", "\xC3", "\xA9", "a\xC3", "\xA9z", "\xE4\xB8\xAD", "\xE4\xB8", "\xB8\xAD", "\\\"", "\\n", "\\",
    "  ", ", ", ": ", "xyz", "hello", "world", "hello world", "the quick brown fox", "-1", "1.", ".5", "e+", "E1", "00",
};

typedef struct rig {
    small_vocab small;
    char spelled[RIG_WORDS][64];
    small_opened opened;
    qn_grammar_vocab *vocab;
    uint32_t n_vocab;
} rig;

static inline void rig_keys(qn_gguf_writer *w, void *ctx)
{
    (void)ctx;
    qn_gguf_set_u32(w, "tokenizer.ggml.eos_token_id", RIG_END);
}

static inline void rig_open(rig *r)
{
    memset(r, 0, sizeof(*r));
    qn_small_bpe(&r->small);
    r->small.edit = rig_keys;
    for (size_t i = 0; i < sizeof(rig_words) / sizeof(rig_words[0]); i++) {
        size_t n = 0;
        for (const char *c = rig_words[i]; *c != '\0'; c++) {
            const char *byte = r->small.text[(unsigned char)*c];
            memcpy(r->spelled[i] + n, byte, strlen(byte));
            n += strlen(byte);
        }
        bool is_there = false;
        for (uint32_t k = 0; k < r->small.n; k++) {
            is_there |= qn_str_is(r->small.tokens[k], r->spelled[i]);
        }
        if (!is_there) {
            qn_small_add(&r->small, r->spelled[i], QN_TOKEN_NORMAL, 0);
        }
    }
    r->opened = qn_small_open(&r->small);
    qn_error err = {0};
    assert_int_equal(qn_grammar_vocab_open(r->opened.t, NULL, &r->vocab, &err), QN_OK);
    r->n_vocab = qn_tokenizer_n_vocab(r->opened.t);
}

static inline void rig_close(rig *r)
{
    qn_grammar_vocab_close(r->vocab);
    qn_small_close(r->opened);
}

static inline bool rig_bit(const uint64_t *bits, int32_t id) { return (bits[id / 64] >> (id % 64) & 1) != 0; }

/* The bytes of a token of the rig in a static buffer; empty for what is no text. */
static inline qn_str rig_bytes(const rig *r, int32_t id)
{
    static char held[128];
    qn_buf b;
    qn_buf_init(&b, NULL, "test", 128);
    qn_token_kind kind = qn_tokenizer_kind(r->opened.t, id);
    if (kind == QN_TOKEN_NORMAL || kind == QN_TOKEN_USER) {
        assert_int_equal(qn_tokenizer_decode_token(r->opened.t, id, 0, false, &b, NULL), QN_OK);
    }
    size_t n = b.len;
    if (n != 0) {
        memcpy(held, b.data, n);
    }
    qn_buf_free(&b);
    return (qn_str){held, n};
}

/* ---- expressions ---- */

static inline qn_gx rig_lit(qn_gx_builder *b, const char *text) { return qn_gx_bytes(b, qn_str_of(text)); }
#define RIG_CAT(b, ...) qn_gx_cat((b), (qn_gx[]){__VA_ARGS__}, sizeof((qn_gx[]){__VA_ARGS__}) / sizeof(qn_gx))
#define RIG_ALT(b, ...) qn_gx_alt((b), (qn_gx[]){__VA_ARGS__}, sizeof((qn_gx[]){__VA_ARGS__}) / sizeof(qn_gx))
#define RIG_CLASS(b, ...)                                                                          \
    qn_gx_class((b), (qn_gx_range[]){__VA_ARGS__}, sizeof((qn_gx_range[]){__VA_ARGS__}) / sizeof(qn_gx_range))

static inline qn_gx rig_json_char(qn_gx_builder *b)
{
    return RIG_ALT(b, RIG_CLASS(b, {0x20, 0x21}, {0x23, 0x5b}, {0x5d, 0xd7ff}, {0xe000, 0x10ffff}),
                   RIG_CAT(b, rig_lit(b, "\\"), RIG_CLASS(b, {'"', '"'}, {'\\', '\\'}, {'n', 'n'}, {'t', 't'})));
}

static inline qn_gx rig_string(qn_gx_builder *b, uint32_t min, uint32_t max)
{
    return RIG_CAT(b, rig_lit(b, "\""), qn_gx_repeat(b, rig_json_char(b), min, max), rig_lit(b, "\""));
}

static inline qn_gx rig_number(qn_gx_builder *b)
{
    qn_gx digit = RIG_CLASS(b, {'0', '9'});
    return RIG_CAT(b, qn_gx_repeat(b, rig_lit(b, "-"), 0, 1),
                   RIG_ALT(b, rig_lit(b, "0"),
                           RIG_CAT(b, RIG_CLASS(b, {'1', '9'}), qn_gx_repeat(b, digit, 0, QN_GX_NO_MAX))),
                   qn_gx_repeat(b, RIG_CAT(b, rig_lit(b, "."), qn_gx_repeat(b, digit, 1, QN_GX_NO_MAX)), 0, 1));
}

/* Compact JSON values of any depth; root: the rule of a value. */
static inline void rig_json(qn_gx_builder *b)
{
    uint32_t value = qn_gx_rule_new(b, QN_STR("value")), string = qn_gx_rule_new(b, QN_STR("string"));
    uint32_t number = qn_gx_rule_new(b, QN_STR("number"));
    qn_gx v = qn_gx_rule_ref(b, value), s = qn_gx_rule_ref(b, string);
    qn_gx blank = qn_gx_repeat(b, rig_lit(b, " "), 0, 1);
    qn_gx member = RIG_CAT(b, s, rig_lit(b, ":"), blank, v);
    qn_gx comma = RIG_CAT(b, rig_lit(b, ","), blank);
    qn_gx object = RIG_CAT(b, rig_lit(b, "{"),
                           qn_gx_repeat(b, RIG_CAT(b, member, qn_gx_repeat(b, RIG_CAT(b, comma, member), 0, QN_GX_NO_MAX)), 0, 1),
                           rig_lit(b, "}"));
    qn_gx array = RIG_CAT(b, rig_lit(b, "["),
                          qn_gx_repeat(b, RIG_CAT(b, v, qn_gx_repeat(b, RIG_CAT(b, comma, v), 0, QN_GX_NO_MAX)), 0, 1),
                          rig_lit(b, "]"));
    qn_gx_rule_define(b, string, rig_string(b, 0, QN_GX_NO_MAX));
    qn_gx_rule_define(b, number, rig_number(b));
    qn_gx_rule_define(b, value, RIG_ALT(b, object, array, s, qn_gx_rule_ref(b, number), rig_lit(b, "true"),
                                        rig_lit(b, "false"), rig_lit(b, "null")));
    b->root = value;
}

/* The root rule of a grammar that is one expression. */
static inline void rig_root(qn_gx_builder *b, qn_gx x)
{
    b->root = qn_gx_rule_new(b, QN_STR("root"));
    qn_gx_rule_define(b, b->root, x);
}

static inline qn_grammar *rig_compile(const qn_gx_builder *b)
{
    qn_grammar *g = NULL;
    qn_error err = {0};
    qn_status s = qn_grammar_open(b, NULL, &g, &err);
    if (s != QN_OK) {
        print_message("%s\n", err.what);
    }
    assert_int_equal(s, QN_OK);
    return g;
}

static inline qn_matcher *rig_match(qn_grammar *g, const rig *r)
{
    qn_matcher *m = NULL;
    qn_error err = {0};
    assert_int_equal(qn_matcher_open(g, r->vocab, NULL, &m, &err), QN_OK);
    return m;
}

static inline void rig_feed(qn_matcher *m, const char *text)
{
    size_t n_taken;
    assert_int_equal(qn_matcher_accept_bytes(m, text, strlen(text), &n_taken), QN_OK);
    assert_int_equal(n_taken, strlen(text));
}

/* ---- the judge ---- */

#define JUDGE_MAX_TEXT 63

typedef struct judge {
    const qn_gx_builder *b;
    const unsigned char *text;
    uint32_t n;
    uint64_t *full; /* by expression and place: bit j set when it matches up to j */
    uint8_t *known; /* bit 0: full is there; bit 1: part is; bit 2: what part is; bit 3: full is being made */
    bool recurs;    /* a rule began with itself, before what matches nothing: nothing is known of the text */
    bool *has_match; /* by expression: it matches anything at all */
} judge;

static inline uint32_t judge_char(uint32_t c, unsigned char out[4])
{
    return (uint32_t)qn_utf8_put(c, (char *)out);
}

/* Whether text[i..] begins with a character of x (returns its bytes), or is the beginning of one (*is_part). */
static inline uint32_t judge_class(const judge *j, const qn_gx_node *x, uint32_t i, bool *is_part)
{
    uint32_t left = j->n - i, found = 0;
    *is_part = left == 0;
    for (uint32_t r = 0; r < x->n; r++) {
        qn_gx_range range = j->b->ranges[x->first + r];
        for (uint32_t c = range.first; c <= range.last; c++) {
            unsigned char bytes[4];
            uint32_t len = judge_char(c, bytes);
            if (len <= left && memcmp(bytes, j->text + i, len) == 0) {
                found = len;
            } else if (len > left && memcmp(bytes, j->text + i, left) == 0) {
                *is_part = true;
            }
        }
    }
    *is_part |= found == left;
    return found;
}

static inline uint64_t judge_full(judge *j, qn_gx at, uint32_t i);

static inline uint64_t judge_full_of_set(judge *j, qn_gx at, uint64_t places)
{
    uint64_t out = 0;
    for (uint32_t i = 0; i <= j->n; i++) {
        if ((places >> i & 1) != 0) {
            out |= judge_full(j, at, i);
        }
    }
    return out;
}

static inline uint64_t judge_make_full(judge *j, qn_gx at, uint32_t i)
{
    const qn_gx_node *x = &j->b->nodes[at];
    const qn_gx *kids = j->b->children == NULL ? NULL : j->b->children + x->first;
    uint64_t out = 0, here = (uint64_t)1 << i;
    bool is_part;
    switch ((qn_gx_kind)x->kind) {
    case QN_GX_BYTES:
        return x->n <= j->n - i && (x->n == 0 || memcmp(j->b->text + x->first, j->text + i, x->n) == 0)
                   ? here << x->n
                   : 0;
    case QN_GX_CLASS: {
        uint32_t len = judge_class(j, x, i, &is_part);
        return len == 0 ? 0 : here << len;
    }
    case QN_GX_CAT:
        out = here;
        for (uint32_t k = 0; k < x->n; k++) {
            out = judge_full_of_set(j, kids[k], out);
        }
        return out;
    case QN_GX_ALT:
        for (uint32_t k = 0; k < x->n; k++) {
            out |= judge_full(j, kids[k], i);
        }
        return out;
    case QN_GX_REPEAT: {
        if (x->max == 0 || !j->has_match[kids[0]]) {
            return here; /* what is in it may recur without an end, and does not count */
        }
        uint32_t min = (judge_full(j, kids[0], i) & here) != 0 ? 0 : x->min;
        for (uint32_t k = 0; k <= x->max && k <= j->n + 1 && here != 0; k++) {
            out |= k >= min ? here : 0;
            here = judge_full_of_set(j, kids[0], here);
        }
        return out;
    }
    case QN_GX_RULE:
        return judge_full(j, j->b->rules[x->rule].body, i);
    case QN_GX_AND:
        return judge_full(j, kids[0], i) & judge_full(j, kids[1], i);
    case QN_GX_NOT: /* the judge of NOT is for texts of whole characters */
        return ~judge_full(j, kids[0], i) & ((here << 1) - 1 == ~(uint64_t)0 ? 0 : ~(here - 1)) &
               (((uint64_t)1 << j->n << 1) - 1);
    default:
        return 0;
    }
}

static inline uint64_t judge_full(judge *j, qn_gx at, uint32_t i)
{
    size_t place = (size_t)at * (JUDGE_MAX_TEXT + 1) + i;
    if ((j->known[place] & 8) != 0) {
        j->recurs = true;
        return 0;
    }
    if ((j->known[place] & 1) == 0) {
        j->known[place] |= 8;
        j->full[place] = j->has_match[at] ? judge_make_full(j, at, i) : 0;
        j->known[place] = (uint8_t)((j->known[place] & ~8) | 1);
    }
    return j->full[place];
}

/* Whether text[i..] is the beginning of a match of `at`, or one. Without AND and NOT. */
static inline bool judge_part(judge *j, qn_gx at, uint32_t i)
{
    const qn_gx_node *x = &j->b->nodes[at];
    const qn_gx *kids = j->b->children == NULL ? NULL : j->b->children + x->first;
    uint64_t here = (uint64_t)1 << i;
    bool found = false;
    if (!j->has_match[at]) {
        return false;
    }
    if (i == j->n) {
        return true;
    }
    size_t place = (size_t)at * (JUDGE_MAX_TEXT + 1) + i;
    if ((j->known[place] & 2) != 0) {
        return (j->known[place] & 4) != 0;
    }
    switch ((qn_gx_kind)x->kind) {
    case QN_GX_BYTES:
        found = x->n >= j->n - i && memcmp(j->b->text + x->first, j->text + i, j->n - i) == 0;
        break;
    case QN_GX_CLASS:
        judge_class(j, x, i, &found);
        break;
    case QN_GX_CAT:
        for (uint32_t k = 0; k < x->n && !found; k++) {
            for (uint32_t p = i; p <= j->n && !found; p++) {
                found = (here >> p & 1) != 0 && judge_part(j, kids[k], p);
            }
            here = judge_full_of_set(j, kids[k], here);
        }
        found |= (here >> j->n & 1) != 0;
        break;
    case QN_GX_ALT:
        for (uint32_t k = 0; k < x->n; k++) {
            found |= judge_part(j, kids[k], i);
        }
        break;
    case QN_GX_REPEAT:
        for (uint32_t k = 0; j->has_match[kids[0]] && k < x->max && k <= j->n + 1 && here != 0 && !found; k++) {
            for (uint32_t p = i; p <= j->n && !found; p++) {
                found = (here >> p & 1) != 0 && judge_part(j, kids[0], p);
            }
            here = judge_full_of_set(j, kids[0], here);
        }
        found |= (here >> j->n & 1) != 0;
        break;
    case QN_GX_RULE:
        found = judge_part(j, j->b->rules[x->rule].body, i);
        break;
    default:
        break;
    }
    j->known[place] |= found ? 6 : 2;
    return found;
}

static inline bool judge_can_match(const judge *j, qn_gx at)
{
    const qn_gx_node *x = &j->b->nodes[at];
    bool all = true, any = false;
    if (x->kind == QN_GX_RULE) {
        return j->has_match[j->b->rules[x->rule].body];
    }
    bool has_kids = x->kind == QN_GX_CAT || x->kind == QN_GX_ALT || x->kind == QN_GX_REPEAT;
    for (uint32_t k = 0; has_kids && k < x->n; k++) {
        bool kid = j->has_match[j->b->children[x->first + k]];
        all &= kid;
        any |= kid;
    }
    return x->kind == QN_GX_CAT ? all : x->kind == QN_GX_ALT ? any : x->kind == QN_GX_REPEAT ? x->min == 0 || all
                                                                                           : x->kind != QN_GX_NEVER;
}

static inline void judge_open(judge *j, const qn_gx_builder *b)
{
    *j = (judge){.b = b};
    size_t n = (size_t)b->n_nodes * (JUDGE_MAX_TEXT + 1);
    j->full = malloc(n * sizeof(*j->full));
    j->known = malloc(n);
    j->has_match = calloc(b->n_nodes, sizeof(bool));
    assert_non_null(j->full);
    assert_non_null(j->known);
    assert_non_null(j->has_match);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < b->n_nodes; i++) {
            bool can = judge_can_match(j, i);
            changed |= can != j->has_match[i];
            j->has_match[i] = can;
        }
    }
}

static inline void judge_close(judge *j)
{
    free(j->full);
    free(j->known);
    free(j->has_match);
}

static inline void judge_text(judge *j, const char *text, uint32_t n)
{
    assert_true(n <= JUDGE_MAX_TEXT);
    j->text = (const unsigned char *)text;
    j->n = n;
    j->recurs = false;
    memset(j->known, 0, (size_t)j->b->n_nodes * (JUDGE_MAX_TEXT + 1));
}

static inline bool judge_matches(judge *j)
{
    return (judge_full(j, j->b->rules[j->b->root].body, 0) >> j->n & 1) != 0;
}

static inline bool judge_begins(judge *j) { return judge_part(j, j->b->rules[j->b->root].body, 0); }

#endif
