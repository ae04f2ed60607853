/* The way to the end: in random grammars and at chosen places it is accepted, each byte makes it shorter by one, and a
 * search of all texts, shorter ones first, finds the same.
 * SPDX-License-Identifier: MIT */
#include "end_rig.h"
#include "grammar_fixture.h"

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
    qn_gx x = 0, y = 0; /* made in this order by any compiler */
    if (pick >= 2 && pick <= 8) {
        x = random_expr(b, r, pick >= 7 ? 0 : n_rules, depth - 1);
        y = pick == 5 || pick == 6 ? x : pick == 7 ? random_char(b, r) : random_expr(b, r, pick == 8 ? 0 : n_rules, depth - 1);
    }
    switch (pick) {
    case 0:
        return rig_lit(b, k < 3 ? "a" : k < 5 ? "ab" : k < 7 ? "\xC3\xA9" : k < 9 ? "cc" : "");
    case 1:
        return random_char(b, r);
    case 2:
    case 3:
        return RIG_CAT(b, x, y);
    case 4:
        return RIG_ALT(b, x, y);
    case 5:
    case 6:
        k = n_rules == 0 && k >= 6 ? 3 : k;
        return qn_gx_repeat(b, x, bounds[k][0], bounds[k][1]);
    case 7: /* a pattern beside a length */
        return qn_gx_and(b, x, qn_gx_repeat(b, y, bounds[k][0], bounds[k][1]));
    case 8:
        return k < 5 ? qn_gx_not(b, x) : qn_gx_and(b, x, y);
    case 9:
        return k == 0 ? qn_gx_special(b, QN_STR("<tool>")) : qn_gx_repeat(b, random_char(b, r), (uint32_t)k, 20);
    default:
        return qn_gx_rule_ref(b, (uint32_t)qn_random_below(r, n_rules));
    }
}

typedef struct place { /* of a walk: what led there, as far as the judge takes it */
    qn_matcher *m;
    judge *j; /* NULL: none */
    char text[JUDGE_MAX_TEXT + 1];
    uint32_t n;
    bool is_kept;
} place;

static bool has_kind(const qn_gx_builder *b, qn_gx_kind kind)
{
    for (uint32_t i = 0; i < b->n_nodes; i++) {
        if (b->nodes[i].kind == kind) {
            return true;
        }
    }
    return false;
}

/* The judge, who knows nothing of automata, matches the text with the way, and none with less than `left` bytes. */
static void ask_judge(place *p, qn_random *r)
{
    static const char *const chars[] = {"a", "b", "c", "\\", "u", "0", "", "\xC3\xA9", "\xC3\xAA", "\xE4\xB8\xAD"};
    uint64_t left = qn_matcher_shortest_end(p->m);
    qn_buf way;
    qn_buf_init(&way, NULL, "test", JUDGE_MAX_TEXT);
    if (!p->is_kept || p->n + left > JUDGE_MAX_TEXT || qn_matcher_shortest_text(p->m, &way) != QN_OK) {
        qn_buf_free(&way);
        return;
    }
    char text[JUDGE_MAX_TEXT + 8];
    memcpy(text, p->text, p->n);
    memcpy(text + p->n, way.len == 0 ? "" : way.data, way.len);
    judge_text(p->j, text, p->n + (uint32_t)way.len);
    assert_true(judge_matches(p->j) || p->j->recurs);
    bool is_whole = way.len == 0 || (way.data[0] & 0xc0) != 0x80;
    bool has_not = has_kind(p->j->b, QN_GX_NOT), is_ascii = true; /* the judge of NOT parts characters */
    for (uint32_t i = 0; i < p->n; i++) {
        is_ascii &= (unsigned char)p->text[i] < 0x80;
    }
    for (int i = 0; i < 40 && is_whole && left != 0 && (is_ascii || !has_not); i++) {
        uint32_t n = p->n;
        for (uint64_t k = 1 + qn_random_below(r, 3); k != 0; k--) {
            const char *c = chars[qn_random_below(r, has_not ? 7 : 10)];
            if (n - p->n + strlen(c) < left) {
                memcpy(text + n, c, strlen(c));
                n += (uint32_t)strlen(c);
            }
        }
        judge_text(p->j, text, n);
        assert_true(!judge_matches(p->j) || p->j->recurs);
    }
    qn_buf_free(&way);
}

/* One of the bytes that may come, if there are any; a guard may forbid it after all. */
static bool take_any(place *p, qn_random *r)
{
    uint64_t first[4];
    uint8_t bytes[256];
    uint32_t n_bytes = 0;
    size_t n_taken;
    qn_matcher_begin(p->m);
    qn_config_first(p->m->engine, qn_matcher_now(p->m), first);
    for (uint32_t c = 0; c < 256; c++) {
        if ((first[c / 64] >> (c % 64) & 1) != 0) {
            bytes[n_bytes++] = (uint8_t)c;
        }
    }
    if (n_bytes == 0) {
        return false;
    }
    char byte = (char)bytes[qn_random_below(r, n_bytes)];
    if (qn_matcher_accept_bytes(p->m, &byte, 1, &n_taken) == QN_OK) {
        p->is_kept &= p->n < JUDGE_MAX_TEXT;
        p->text[p->n] = byte;
        p->n += p->is_kept;
    }
    return true;
}

static void walk(qn_matcher *m, judge *j, qn_random *r, int *n_known, int *n_checked)
{
    place p = {.m = m, .j = j, .is_kept = j != NULL};
    bool goes_on = true;
    for (int i = 0; i < 5 && goes_on; i++) {
        *n_known += end_check(m);
        ++*n_checked;
        ask_judge(&p, r);
        for (uint64_t n = 1 + qn_random_below(r, 12); n != 0 && goes_on; n--) {
            goes_on = take_any(&p, r);
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
                judge j;
                judge_open(&j, &b);
                walk(m, has_kind(&b, QN_GX_SPECIAL) ? NULL : &j, &r, &n_known, &n_checked);
                judge_close(&j);
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

static void start_with(fixture *f, qn_gx x)
{
    rig_root(&f->b, x);
    start(f);
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
    start_with(&f, qn_gx_rule_ref(&f.b, f.b.root));
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
    start_with(&f, RIG_CAT(&f.b, qn_gx_repeat(&f.b, rig_lit(&f.b, "ab"), 2, 3), qn_gx_special(&f.b, QN_STR("<tool>")),
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
    start_with(&f, RIG_ALT(&f.b, qn_gx_special(&f.b, QN_STR("<tool>")), rig_lit(&f.b, "x")));
    assert_way(&f, QN_OK, "x");
    end(&f);
}

static void ways_too_long(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    qn_gx x = qn_gx_repeat(&f.b, RIG_CLASS(&f.b, {'a', 'z'}), 65537, 100000);
    start_with(&f, x);
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
    start_with(&f, RIG_CAT(&f.b, qn_gx_repeat(&f.b, RIG_CAT(&f.b, rig_lit(&f.b, "b"), x), 1000, 1000), rig_lit(&f.b, "c")));
    assert_int_equal(qn_matcher_shortest_end(f.m), 1001);
    rig_feed(f.m, "ba");
    assert_int_equal(qn_matcher_shortest_end(f.m), 999999 + 1000);
    end(&f);

    begin(&f);
    x = qn_gx_repeat(&f.b, qn_gx_repeat(&f.b, RIG_CLASS(&f.b, {'a', 'z'}), 1000000, 1000000), 4000, 4000);
    start_with(&f, RIG_CAT(&f.b, qn_gx_repeat(&f.b, RIG_CAT(&f.b, rig_lit(&f.b, "0"), x), 0, 5), rig_lit(&f.b, "1")));
    assert_int_equal(qn_matcher_shortest_end(f.m), 1);
    rig_feed(f.m, "0");
    assert_int_equal(qn_matcher_shortest_end(f.m), 4000000001);
    rig_feed(f.m, "a");
    assert_int_equal(qn_matcher_shortest_end(f.m), 4000000000);
    end(&f);
}

/* A grammar that needs no frames: there is nothing to copy, and nothing to add. */
static void nothing_to_say(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    start_with(&f, rig_lit(&f.b, ""));
    assert_int_equal(end_check(f.m), 1);
    assert_int_equal(qn_matcher_shortest_end(f.m), 0);
    assert_way(&f, QN_OK, "");
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
            start_with(&f, RIG_CAT(&f.b, rig_lit(&f.b, "\""), x, rig_lit(&f.b, "\"")));
            qn_random r;
            qn_random_seed(&r, (uint64_t)(pattern * N_LENGTHS + i));
            int n_known = 0, n_checked = 0;
            if (lengths[i][0] < 700) {
                walk(f.m, NULL, &r, &n_known, &n_checked);
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
        cmocka_unit_test(nothing_to_say),
        cmocka_unit_test(patterns_beside_lengths),
        cmocka_unit_test(random_grammars),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
