/* The way to the end: in random grammars and at chosen places it is accepted, each byte makes it shorter by one, and a
 * search of all texts, shorter ones first, finds the same.
 * SPDX-License-Identifier: MIT */
#include "grammar_rig.h"

#define qn_trie grammar_trie /* the tokenizer, which the rig knows from inside, has types of these names */
#define qn_trie_node grammar_trie_node
#include "grammar/matcher_int.h"

#define MAX_SEARCHED 20000 /* configurations; a search that needs more says nothing */

typedef struct step {
    uint32_t config, symbol, before, n; /* before: number of the step; n: bytes so far */
} step;

typedef struct found {
    bool is_known;
    uint64_t n;
    char text[JUDGE_MAX_TEXT * 64];
} found;

static bool is_new(bool **seen, uint32_t *n_seen, uint32_t config)
{
    if (config >= *n_seen) {
        uint32_t n = config * 2 + 64;
        *seen = realloc(*seen, n);
        assert_non_null(*seen);
        memset(*seen + *n_seen, 0, n - *n_seen);
        *n_seen = n;
    }
    bool was = (*seen)[config];
    (*seen)[config] = true;
    return !was;
}

static void spell(const step *steps, uint32_t i, found *f)
{
    f->is_known = true;
    f->n = steps[i].n;
    assert_true(f->n < sizeof(f->text));
    for (uint64_t k = f->n; k-- > 0; i = steps[i].before) {
        f->text[k] = (char)(steps[i].symbol < 256 ? steps[i].symbol : '\0');
    }
}

/* All texts from here, in the order of their length and then of their symbols, until one may end. */
static void search(qn_matcher *m, found *f)
{
    qn_matcher_begin(m);
    qn_engine *e = m->engine;
    step *steps = malloc((MAX_SEARCHED + 512) * sizeof(*steps));
    bool *seen = NULL;
    uint32_t n = 1, n_seen = 0;
    assert_non_null(steps);
    steps[0] = (step){qn_matcher_now(m), 0, 0, 0};
    is_new(&seen, &n_seen, steps[0].config);
    f->is_known = false;
    for (uint32_t i = 0; i < n && n < MAX_SEARCHED; i++) {
        if (qn_config_at(e, steps[i].config)->may_end) {
            spell(steps, i, f);
            break;
        }
        uint64_t first[4];
        qn_config_first(e, steps[i].config, first);
        for (uint32_t s = 0; s < 256 + e->rx.n_specials; s++) {
            if (s < 256 && (first[s / 64] >> (s % 64) & 1) == 0) {
                continue;
            }
            e->work = e->rx.work = 0;
            uint32_t to = qn_config_step(e, steps[i].config, s);
            if (e->status != QN_OK) {
                n = MAX_SEARCHED;
                break;
            }
            if (to != QN_DEAD && is_new(&seen, &n_seen, to)) {
                steps[n++] = (step){to, s, i, steps[i].n + 1};
            }
        }
    }
    free(steps);
    free(seen);
}

/* Takes the way to the end, and comes back. */
static void follow(qn_matcher *m, const qn_buf *way)
{
    uint64_t left = qn_matcher_shortest_end(m);
    qn_matcher *copy;
    qn_error err = {0};
    size_t n_taken;
    assert_int_equal(way->len, left);
    assert_int_equal(qn_matcher_copy(m, &copy, &err), QN_OK);
    for (size_t i = 0; i < way->len; i++) {
        assert_false(qn_matcher_may_end(copy));
        assert_int_equal(qn_matcher_accept_bytes(copy, way->data + i, 1, &n_taken), QN_OK);
        assert_int_equal(qn_matcher_shortest_end(copy), left - i - 1);
    }
    assert_true(qn_matcher_may_end(copy));
    qn_matcher_close(copy);
}

/* 1: the search had the same; 0: it came to no end. */
static int check(qn_matcher *m)
{
    static found f;
    qn_buf way;
    qn_buf_init(&way, NULL, "test", 1u << 20);
    qn_buf_add_char(&way, '>');
    qn_status s = qn_matcher_shortest_text(m, &way);
    assert_true(s == QN_OK || s == QN_EUNSUPPORTED || s == QN_EFULL || s == QN_ERANGE);
    assert_true((s == QN_OK || s == QN_EUNSUPPORTED) || way.len == 1);
    assert_int_equal(way.data[0], '>');
    memmove(way.data, way.data + 1, way.len--);
    if (s == QN_OK) {
        follow(m, &way);
    }
    search(m, &f);
    if (f.is_known) {
        assert_int_equal(qn_matcher_shortest_end(m), f.n);
        assert_true(way.len <= f.n && (s != QN_OK || way.len == f.n));
        if (way.len != 0) {
            assert_memory_equal(way.data, f.text, way.len);
        }
    }
    qn_buf_free(&way);
    return f.is_known;
}

/* ---- random grammars ---- */

static qn_gx random_char(qn_gx_builder *b, qn_random *r)
{
    switch (qn_random_below(r, 5)) {
    case 0:
        return RIG_CLASS(b, {'a', 'b'});
    case 1:
        return RIG_CLASS(b, {'b', 'c'}, {0xe9, 0xea});
    case 2:
        return RIG_CLASS(b, {0xe9, 0xe9});
    case 3:
        return RIG_ALT(b, rig_lit(b, "a"), RIG_CLASS(b, {0x4e2d, 0x4e2d}));
    default:
        return RIG_ALT(b, RIG_CLASS(b, {'a', 'a'}), rig_lit(b, "\\u00"));
    }
}

/* n_rules 0: a regular expression, for operands of AND and NOT. */
static qn_gx random_expr(qn_gx_builder *b, qn_random *r, uint32_t n_rules, int depth)
{
    static const uint32_t bounds[][2] = {{0, 1}, {0, QN_GX_NO_MAX}, {1, QN_GX_NO_MAX}, {2, 5}, {3, 12}, {10, QN_GX_NO_MAX},
                                         {0, 70}, {2, 1000000}, {80, 90}, {9, 9}};
    uint64_t k = qn_random_below(r, 10), pick = qn_random_below(r, depth <= 0 ? 2 : n_rules == 0 ? 9 : 11);
    switch (pick) {
    case 0:
        return rig_lit(b, k < 3 ? "a" : k < 5 ? "ab" : k < 7 ? "\xC3\xA9" : k < 9 ? "cc" : "");
    case 1:
        return random_char(b, r);
    case 2:
    case 3:
        return RIG_CAT(b, random_expr(b, r, n_rules, depth - 1), random_expr(b, r, n_rules, depth - 1));
    case 4:
        return RIG_ALT(b, random_expr(b, r, n_rules, depth - 1), random_expr(b, r, n_rules, depth - 1));
    case 5:
    case 6:
        k = n_rules == 0 && k >= 6 ? 3 : k;
        return qn_gx_repeat(b, random_expr(b, r, n_rules, depth - 1), bounds[k][0], bounds[k][1]);
    case 7: /* a pattern beside a length */
        return qn_gx_and(b, random_expr(b, r, 0, depth - 1), qn_gx_repeat(b, random_char(b, r), bounds[k][0], bounds[k][1]));
    case 8:
        return k < 5 ? qn_gx_not(b, random_expr(b, r, 0, depth - 1))
                     : qn_gx_and(b, random_expr(b, r, 0, depth - 1), random_expr(b, r, 0, depth - 1));
    case 9:
        return k == 0 ? qn_gx_special(b, QN_STR("<tool>")) : qn_gx_repeat(b, random_char(b, r), (uint32_t)k, 20);
    default:
        return qn_gx_rule_ref(b, (uint32_t)qn_random_below(r, n_rules));
    }
}

static void walk(qn_matcher *m, qn_random *r, int *n_known, int *n_checked)
{
    for (int i = 0; i < 5; i++) {
        *n_known += check(m);
        ++*n_checked;
        for (uint64_t n = 1 + qn_random_below(r, 12); n != 0; n--) {
            uint64_t first[4];
            uint8_t bytes[256];
            uint32_t n_bytes = 0;
            size_t n_taken;
            qn_matcher_begin(m);
            qn_config_first(m->engine, qn_matcher_now(m), first);
            for (uint32_t c = 0; c < 256; c++) {
                if ((first[c / 64] >> (c % 64) & 1) != 0) {
                    bytes[n_bytes++] = (uint8_t)c;
                }
            }
            if (n_bytes == 0) {
                return;
            }
            char byte = (char)bytes[qn_random_below(r, n_bytes)];
            (void)qn_matcher_accept_bytes(m, &byte, 1, &n_taken); /* a guard may forbid it after all */
        }
    }
}

static void random_grammars(void **state)
{
    (void)state;
    rig g;
    rig_open(&g);
    qn_random r;
    qn_random_seed(&r, 11);
    int n_known = 0, n_checked = 0;
    const char *more = getenv("QUERN_END_GRAMMARS");
    for (int i = 0; i < (more == NULL ? 250 : atoi(more)); i++) {
        qn_gx_builder b;
        qn_gx_init(&b, NULL);
        for (uint32_t k = 0; k < 3; k++) {
            qn_gx_rule_new(&b, QN_STR("r"));
        }
        for (uint32_t k = 0; k < 3; k++) {
            qn_gx_rule_define(&b, k, random_expr(&b, &r, 3, 4));
        }
        qn_grammar *grammar = NULL;
        qn_error err = {0};
        if (qn_grammar_open(&b, NULL, &grammar, &err) == QN_OK) {
            qn_matcher *m = NULL;
            if (qn_matcher_open(grammar, g.vocab, NULL, &m, &err) == QN_OK) {
                walk(m, &r, &n_known, &n_checked);
                qn_matcher_close(m);
            }
            qn_grammar_close(grammar);
        }
        qn_gx_free(&b);
    }
    print_message("%d of %d places were searched to an end\n", n_known, n_checked);
    assert_true(n_checked > 300 && n_known * 10 > n_checked * 9);
    rig_close(&g);
}

/* ---- chosen ones ---- */

typedef struct fixture {
    rig g;
    qn_gx_builder b;
    qn_grammar *grammar;
    qn_matcher *m;
} fixture;

static void begin(fixture *f)
{
    rig_open(&f->g);
    qn_gx_init(&f->b, NULL);
}

static void start(fixture *f, qn_gx x)
{
    rig_root(&f->b, x);
    f->grammar = rig_compile(&f->b);
    f->m = rig_match(f->grammar, &f->g);
}

static void end(fixture *f)
{
    qn_matcher_close(f->m);
    qn_grammar_close(f->grammar);
    qn_gx_free(&f->b);
    rig_close(&f->g);
}

static void assert_way(fixture *f, qn_status code, const char *text)
{
    qn_buf way;
    qn_buf_init(&way, NULL, "test", 1u << 20);
    assert_int_equal(qn_matcher_shortest_text(f->m, &way), code);
    assert_true(qn_str_is(qn_buf_view(&way), text));
    qn_buf_free(&way);
}

static void a_text_is_closed(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    rig_json(&f.b);
    start(&f, qn_gx_rule_ref(&f.b, f.b.root));
    assert_way(&f, QN_OK, "0");
    rig_feed(f.m, "[");
    assert_way(&f, QN_OK, "]");
    rig_feed(f.m, "{\"a");
    assert_way(&f, QN_OK, "\":0}]");
    rig_feed(f.m, "\\");
    assert_way(&f, QN_OK, "\"\":0}]");
    rig_feed(f.m, "n\xE4\xB8");
    assert_way(&f, QN_OK, "\x80\":0}]"); /* the character comes first */
    rig_feed(f.m, "\xAD\":[1.");
    assert_way(&f, QN_OK, "0]}]");
    rig_feed(f.m, "5,tr");
    assert_way(&f, QN_OK, "ue]}]");
    rig_feed(f.m, "ue]}]");
    assert_way(&f, QN_OK, "");
    assert_int_equal(qn_matcher_accept(f.m, RIG_END), QN_OK);
    assert_way(&f, QN_OK, "");
    assert_int_equal(qn_matcher_shortest_end(f.m), 0);
    end(&f);
}

static void special_tokens_on_the_way(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    start(&f, RIG_CAT(&f.b, qn_gx_repeat(&f.b, rig_lit(&f.b, "ab"), 2, 3), qn_gx_special(&f.b, QN_STR("<tool>")),
                      rig_lit(&f.b, "c")));
    assert_int_equal(qn_matcher_shortest_end(f.m), 6);
    assert_way(&f, QN_EUNSUPPORTED, "abab");
    rig_feed(f.m, "abab");
    assert_way(&f, QN_EUNSUPPORTED, "");
    uint64_t bits[16];
    assert_int_equal(qn_matcher_mask(f.m, bits), QN_OK);
    assert_true(rig_bit(bits, RIG_TOOL));
    assert_int_equal(qn_matcher_accept(f.m, RIG_TOOL), QN_OK);
    assert_way(&f, QN_OK, "c");
    end(&f);

    begin(&f); /* an ordinary way of the same length is preferred */
    start(&f, RIG_ALT(&f.b, qn_gx_special(&f.b, QN_STR("<tool>")), rig_lit(&f.b, "x")));
    assert_way(&f, QN_OK, "x");
    end(&f);
}

static void ways_too_long(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    qn_gx x = qn_gx_repeat(&f.b, RIG_CLASS(&f.b, {'a', 'z'}), 65537, 100000);
    start(&f, x);
    assert_int_equal(qn_matcher_shortest_end(f.m), 65537);
    assert_way(&f, QN_ERANGE, "");
    rig_feed(f.m, "a");
    qn_buf way;
    qn_buf_init(&way, NULL, "test", 1u << 20);
    assert_int_equal(qn_matcher_shortest_text(f.m, &way), QN_OK);
    assert_int_equal(way.len, 65536);
    qn_buf_free(&way);
    qn_buf_init(&way, NULL, "test", 100); /* no room for it: nothing */
    assert_int_equal(qn_matcher_shortest_text(f.m, &way), QN_EFULL);
    assert_int_equal(way.len, 0);
    qn_buf_free(&way);
    end(&f);

    begin(&f);
    x = qn_gx_repeat(&f.b, qn_gx_repeat(&f.b, rig_lit(&f.b, "a"), 1000000, 1000000), 0, QN_GX_NO_MAX);
    start(&f, RIG_CAT(&f.b, qn_gx_repeat(&f.b, RIG_CAT(&f.b, rig_lit(&f.b, "b"), x), 1000, 1000), rig_lit(&f.b, "c")));
    assert_int_equal(qn_matcher_shortest_end(f.m), 1001);
    rig_feed(f.m, "ba");
    assert_int_equal(qn_matcher_shortest_end(f.m), 999999 + 1000);
    end(&f);

    begin(&f);
    x = qn_gx_repeat(&f.b, qn_gx_repeat(&f.b, RIG_CLASS(&f.b, {'a', 'z'}), 1000000, 1000000), 4000, 4000);
    start(&f, RIG_CAT(&f.b, qn_gx_repeat(&f.b, RIG_CAT(&f.b, rig_lit(&f.b, "0"), x), 0, 5), rig_lit(&f.b, "1")));
    assert_int_equal(qn_matcher_shortest_end(f.m), 1);
    rig_feed(f.m, "0");
    assert_int_equal(qn_matcher_shortest_end(f.m), 4000000001);
    rig_feed(f.m, "a");
    assert_int_equal(qn_matcher_shortest_end(f.m), 4000000000);
    end(&f);
}

/* Of a and é, of which the shorter one is not always the better: patterns beside lengths of all sizes. */
static void patterns_beside_lengths(void **state)
{
    (void)state;
    static const uint32_t lengths[][2] = {{0, 10}, {7, 9}, {1, QN_GX_NO_MAX}, {100, QN_GX_NO_MAX}, {600, 5000},
                                          {5000, 100000}, {20000, 20000}};
    enum { N_LENGTHS = sizeof(lengths) / sizeof(lengths[0]) };
    for (int pattern = 0; pattern < 6; pattern++) {
        for (int i = 0; i < N_LENGTHS; i++) {
            fixture f;
            begin(&f);
            qn_gx a = rig_lit(&f.b, "a"), wide = rig_lit(&f.b, "\xC3\xA9"), any = RIG_CLASS(&f.b, {'a', 'b'}, {0xe9, 0xe9});
            qn_gx wides = qn_gx_repeat(&f.b, wide, 0, QN_GX_NO_MAX), all = qn_gx_repeat(&f.b, any, 0, QN_GX_NO_MAX);
            qn_gx three = qn_gx_repeat(&f.b, RIG_CAT(&f.b, a, a, wide), 0, QN_GX_NO_MAX);
            qn_gx guards[] = {
                RIG_ALT(&f.b, wides, RIG_CAT(&f.b, qn_gx_repeat(&f.b, wide, 50, 50), all)), /* catches up late */
                RIG_ALT(&f.b, RIG_CAT(&f.b, qn_gx_repeat(&f.b, wide, 5, 5), all), RIG_CAT(&f.b, a, wides)),
                RIG_CAT(&f.b, three, qn_gx_repeat(&f.b, wide, 0, 2)),
                RIG_CAT(&f.b, all, wide, qn_gx_repeat(&f.b, any, 3, 3)),
                RIG_ALT(&f.b, three, qn_gx_repeat(&f.b, RIG_CAT(&f.b, wide, a), 0, QN_GX_NO_MAX)),
                RIG_CAT(&f.b, qn_gx_repeat(&f.b, RIG_ALT(&f.b, RIG_CAT(&f.b, a, a), RIG_CAT(&f.b, wide, wide, wide)), 0,
                                           QN_GX_NO_MAX), wide),
            };
            qn_gx x = qn_gx_and(&f.b, guards[pattern], qn_gx_repeat(&f.b, any, lengths[i][0], lengths[i][1]));
            start(&f, RIG_CAT(&f.b, rig_lit(&f.b, "\""), x, rig_lit(&f.b, "\"")));
            qn_random r;
            qn_random_seed(&r, (uint64_t)(pattern * N_LENGTHS + i));
            int n_known = 0, n_checked = 0;
            if (lengths[i][0] < 700) {
                walk(f.m, &r, &n_known, &n_checked);
                assert_int_equal(n_known, n_checked);
            }
            qn_buf way;
            qn_buf_init(&way, NULL, "test", 1u << 20);
            assert_int_equal(qn_matcher_shortest_text(f.m, &way), QN_OK);
            assert_int_equal(way.len, qn_matcher_shortest_end(f.m));
            size_t n_taken;
            assert_int_equal(qn_matcher_accept_bytes(f.m, way.data, way.len, &n_taken), QN_OK);
            assert_true(qn_matcher_may_end(f.m));
            qn_buf_free(&way);
            end(&f);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_is_closed),
        cmocka_unit_test(special_tokens_on_the_way),
        cmocka_unit_test(ways_too_long),
        cmocka_unit_test(patterns_beside_lengths),
        cmocka_unit_test(random_grammars),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
