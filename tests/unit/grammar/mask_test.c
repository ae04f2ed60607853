/* Masks of random grammars on random texts, against the judge.
 * SPDX-License-Identifier: MIT */
#include "grammar_rig.h"

static const char *const pieces[] = {"a", "b", "ab", "c", "\"", ",", "abc", "[", "]", "bb", "1", "12", " "};

static qn_gx random_char(qn_gx_builder *b, qn_random *r)
{
    switch (qn_random_below(r, 5)) {
    case 0:
        return RIG_CLASS(b, {'a', 'c'});
    case 1:
        return RIG_CLASS(b, {'a', 'z'}, {' ', ' '});
    case 2:
        return RIG_CLASS(b, {'a', 'b'}, {0xe0, 0xef}, {0x4e00, 0x4e40});
    case 3:
        return RIG_ALT(b, RIG_CLASS(b, {' ', '!'}, {'#', '['}, {']', '~'}, {0xa0, 0x200}),
                       RIG_CAT(b, rig_lit(b, "\\"), RIG_CLASS(b, {'"', '"'}, {'\\', '\\'}, {'n', 'n'})));
    default:
        return RIG_CLASS(b, {'0', '9'});
    }
}

static qn_gx random_expr(qn_gx_builder *b, qn_random *r, const uint32_t *rules, uint32_t n_rules, int depth)
{
    uint64_t pick = qn_random_below(r, depth <= 0 ? 4 : 12);
    qn_gx parts[4];
    uint32_t n = 1 + (uint32_t)qn_random_below(r, 3);
    switch (pick) {
    case 0:
    case 1:
        return rig_lit(b, pieces[qn_random_below(r, sizeof(pieces) / sizeof(pieces[0]))]);
    case 2:
        return random_char(b, r);
    case 3:
        return qn_random_below(r, 12) == 0 ? qn_gx_never(b) : rig_lit(b, "");
    case 4:
    case 5:
    case 6:
        for (uint32_t i = 0; i < n; i++) {
            parts[i] = random_expr(b, r, rules, n_rules, depth - 1);
        }
        return qn_gx_cat(b, parts, n);
    case 7:
    case 8:
        for (uint32_t i = 0; i < n; i++) {
            parts[i] = random_expr(b, r, rules, n_rules, depth - 1);
        }
        return qn_gx_alt(b, parts, n);
    case 9: {
        static const uint32_t bounds[][2] = {{0, 1}, {0, QN_GX_NO_MAX}, {1, QN_GX_NO_MAX}, {2, 5}, {0, 9}, {3, 12},
                                             {10, QN_GX_NO_MAX}, {0, 70}, {2, 1000000}, {0, 0}};
        uint64_t k = qn_random_below(r, sizeof(bounds) / sizeof(bounds[0]));
        return qn_gx_repeat(b, random_expr(b, r, rules, n_rules, depth - 1), bounds[k][0], bounds[k][1]);
    }
    case 10:
        return qn_gx_repeat(b, random_char(b, r), (uint32_t)qn_random_below(r, 4), 12 + (uint32_t)qn_random_below(r, 30));
    default:
        return qn_gx_rule_ref(b, rules[qn_random_below(r, n_rules)]);
    }
}

static void random_grammar(qn_gx_builder *b, qn_random *r)
{
    uint32_t rules[4], n = 1 + (uint32_t)qn_random_below(r, 4);
    for (uint32_t i = 0; i < n; i++) {
        rules[i] = qn_gx_rule_new(b, QN_STR("r"));
    }
    for (uint32_t i = 0; i < n; i++) {
        qn_gx_rule_define(b, rules[i], random_expr(b, r, rules, n, 4));
    }
    b->root = rules[0];
}

/* One text, token by token, each chosen among those that the mask has. */
static void compare_text(const rig *g, qn_matcher *m, judge *j, qn_random *r)
{
    char text[JUDGE_MAX_TEXT + 1];
    uint32_t n = 0;
    uint64_t bits[16];
    for (int step = 0; step < 8; step++) {
        assert_int_equal(qn_matcher_mask(m, bits), QN_OK);
        judge_text(j, text, n);
        bool may_end = judge_matches(j);
        assert_int_equal(qn_matcher_may_end(m), may_end);
        int32_t allowed[1024];
        uint32_t n_allowed = 0;
        for (int32_t id = 0; id < (int32_t)g->n_vocab; id++) {
            qn_str bytes = rig_bytes(g, id);
            bool expected = id == RIG_END && may_end;
            if (bytes.len != 0 && n + bytes.len <= JUDGE_MAX_TEXT) {
                memcpy(text + n, bytes.data, bytes.len);
                judge_text(j, text, n + (uint32_t)bytes.len);
                expected = judge_begins(j);
            } else if (bytes.len != 0) {
                continue;
            }
            if (rig_bit(bits, id) != expected) {
                print_message("token %d \"%.*s\" behind \"%.*s\": mask %d\n", id, (int)bytes.len, bytes.data, (int)n, text,
                              rig_bit(bits, id));
            }
            assert_int_equal(rig_bit(bits, id), expected);
            if (expected && id != RIG_END) {
                allowed[n_allowed++] = id;
            }
        }
        if (n_allowed == 0) {
            assert_true(may_end);
            return;
        }
        int32_t id = allowed[qn_random_below(r, n_allowed)];
        qn_str bytes = rig_bytes(g, id);
        memcpy(text + n, bytes.data, bytes.len);
        n += (uint32_t)bytes.len;
        assert_int_equal(qn_matcher_accept(m, id), QN_OK);
    }
}

static void compare_grammars(uint64_t seed, int n_grammars)
{
    rig g;
    rig_open(&g);
    qn_random r;
    qn_random_seed(&r, seed);
    int n_good = 0;
    for (int i = 0; i < n_grammars; i++) {
        qn_gx_builder b;
        qn_gx_init(&b, NULL);
        random_grammar(&b, &r);
        qn_grammar *made = NULL;
        qn_error err = {0};
        qn_status s = qn_grammar_open(&b, NULL, &made, &err);
        judge j;
        judge_open(&j, &b);
        if (s == QN_OK) {
            n_good++;
            for (int k = 0; k < 3; k++) {
                qn_matcher *m = rig_match(made, &g);
                compare_text(&g, m, &j, &r);
                qn_matcher_close(m);
            }
        } else {
            assert_int_equal(s, QN_EFORMAT);
            bool is_empty = !j.has_match[b.rules[b.root].body];
            assert_true(is_empty || strstr(err.what, "left recursion") != NULL);
        }
        qn_grammar_close(made);
        judge_close(&j);
        qn_gx_free(&b);
    }
    assert_true(n_good > n_grammars / 4);
    rig_close(&g);
}

static void random_grammars(void **state)
{
    (void)state;
    const char *more = getenv("QUERN_TEST_GRAMMARS");
    compare_grammars(1, 150);
    for (int i = 0; more != NULL && i < atoi(more); i++) {
        compare_grammars(100 + (uint64_t)i, 100);
    }
}

/* A vocabulary of 128k tokens: what the mask says is what happens when each token is tried. */
static void try_all(qn_matcher *m, const qn_tokenizer *t, uint64_t *bits)
{
    assert_int_equal(qn_matcher_mask(m, bits), QN_OK);
    for (int32_t id = 0; id < (int32_t)qn_tokenizer_n_vocab(t); id++) {
        bool goes = qn_matcher_accept(m, id) == QN_OK;
        if (goes != rig_bit(bits, id)) {
            qn_str piece = qn_tokenizer_piece(t, id);
            print_message("token %d \"%.*s\": mask %d\n", id, (int)piece.len, piece.data, rig_bit(bits, id));
        }
        assert_int_equal(goes, rig_bit(bits, id));
        if (goes) {
            assert_int_equal(qn_matcher_rollback(m, 1), QN_OK);
        }
    }
}

static void make_schema(qn_gx_builder *b)
{
    qn_gx lower = RIG_CLASS(b, {'a', 'z'}), any = rig_json_char(b);
    qn_gx name = RIG_CAT(b, rig_lit(b, "\""), qn_gx_repeat(b, any, 2, 12), rig_lit(b, "\""));
    qn_gx slug = RIG_CAT(b, rig_lit(b, "\""), qn_gx_repeat(b, lower, 1, 40), rig_lit(b, "-end\""));
    qn_gx holds = RIG_CAT(b, qn_gx_repeat(b, any, 0, QN_GX_NO_MAX), rig_lit(b, "x-"), qn_gx_repeat(b, any, 0, QN_GX_NO_MAX));
    qn_gx key = RIG_CAT(b, rig_lit(b, "\""), qn_gx_and(b, holds, qn_gx_repeat(b, any, 0, 20)), rig_lit(b, "\""));
    qn_gx other = RIG_CAT(b, rig_lit(b, "\""),
                          qn_gx_and(b, qn_gx_repeat(b, any, 0, QN_GX_NO_MAX),
                                    qn_gx_not(b, RIG_ALT(b, rig_lit(b, "name"), rig_lit(b, "number")))),
                          rig_lit(b, "\""));
    qn_gx free_text = qn_gx_repeat(b, RIG_CLASS(b, {0, 0x10ffff}), 0, 500);
    rig_root(b, RIG_CAT(b, rig_lit(b, "{\"name\":"), name, rig_lit(b, ",\"slug\":"), slug, rig_lit(b, ","), key,
                        rig_lit(b, ":"), rig_number(b), rig_lit(b, ","), other, rig_lit(b, ":"), rig_string(b, 0, QN_GX_NO_MAX),
                        rig_lit(b, "}\n"), free_text));
}

static void a_large_vocabulary(void **state)
{
    (void)state;
    QN_TEST_NEED(path, "vocab/ggml-vocab-llama-bpe.gguf");
    qn_gguf *g;
    qn_tokenizer *t;
    qn_grammar_vocab *v;
    qn_error err = {0};
    assert_int_equal(qn_gguf_open(path, NULL, &g, &err), QN_OK);
    assert_int_equal(qn_tokenizer_open(g, NULL, &t, &err), QN_OK);
    assert_int_equal(qn_grammar_vocab_open(t, NULL, &v, &err), QN_OK);
    qn_gx_builder b;
    qn_gx_init(&b, NULL);
    make_schema(&b);
    qn_grammar *made = rig_compile(&b);
    qn_matcher *m = NULL;
    assert_int_equal(qn_matcher_open(made, v, NULL, &m, &err), QN_OK);
    uint64_t *bits = calloc((qn_tokenizer_n_vocab(t) + 63) / 64, sizeof(*bits));
    static const char *const parts[] = {"{\"name\":", "\"", "Jo", "hn \xE6\x9D", "\xB1 Smith", "\",\"slug\":\"", "quick",
                                        "thirtyfivelettersarenotquite", "abcde", "-end\",\"", "first", " x-",
                                        "\":", "-1", "2.5,\"", "na", "me", "s\":\"", "\\", "\"abc\"}\n", "any \"text\"\n"};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        try_all(m, t, bits);
        rig_feed(m, parts[i]);
    }
    try_all(m, t, bits);
    free(bits);
    qn_matcher_close(m);
    qn_grammar_close(made);
    qn_gx_free(&b);
    qn_grammar_vocab_close(v);
    qn_tokenizer_close(t);
    qn_gguf_close(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_grammars), cmocka_unit_test(a_large_vocabulary)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
