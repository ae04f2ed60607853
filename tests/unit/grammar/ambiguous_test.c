/* Grammars with many ways to read a text, what is shared among them, and what is forgotten of them.
 * SPDX-License-Identifier: MIT */
#include "grammar_fixture.h"

#include "grammar/front.h"

#define qn_trie grammar_trie /* the tokenizer, which the rig knows from inside, has types of these names */
#define qn_trie_node grammar_trie_node
#include "grammar/matcher_int.h"

static uint32_t n_stacks(const qn_matcher *m) { return qn_config_at(m->engine, qn_matcher_now(m))->n; }

/* b ::= [a-z]{2,32} b*: every letter may begin another b, within any of those that are open. */
static void repeats_within_repeats(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    uint32_t rule = qn_gx_rule_new(&f.b, QN_STR("b"));
    qn_gx letters = qn_gx_repeat(&f.b, RIG_CLASS(&f.b, {'a', 'z'}), 2, 32);
    qn_gx more = qn_gx_repeat(&f.b, qn_gx_rule_ref(&f.b, rule), 0, QN_GX_NO_MAX);
    qn_gx_rule_define(&f.b, rule, RIG_CAT(&f.b, letters, more));
    rig_root(&f.b, RIG_CAT(&f.b, qn_gx_rule_ref(&f.b, rule), rig_lit(&f.b, ".")));
    start(&f);
    for (int i = 0; i < 400; i++) {
        rig_feed(f.m, "a");
        assert_int_equal(qn_matcher_mask(f.m, f.bits), QN_OK);
        assert_int_equal(rig_bit(f.bits, 2 + '.'), i > 0);
        assert_true(rig_bit(f.bits, 2 + 'a'));
    }
    assert_true(n_stacks(f.m) < 10);
    rig_feed(f.m, ".");
    assert_true(qn_matcher_must_end(f.m));
    end(&f);
}

/* Loops that began at different letters: those whose counters allow more stand for the others. */
static void counters_that_include_others(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    qn_gx some = qn_gx_repeat(&f.b, RIG_CLASS(&f.b, {'a', 'z'}), 0, 100000);
    rig_root(&f.b, RIG_CAT(&f.b, some, rig_lit(&f.b, "b"), some, rig_lit(&f.b, "c")));
    start(&f);
    for (int i = 0; i < 2000; i++) {
        rig_feed(f.m, "b");
    }
    assert_true(n_stacks(f.m) < 8);
    rig_feed(f.m, "c");
    assert_true(qn_matcher_may_end(f.m));
    end(&f);

    begin(&f); /* a limit is kept where it is one: 120 letters at most, in up to 40 parts */
    qn_gx few = qn_gx_repeat(&f.b, RIG_CLASS(&f.b, {'a', 'b'}), 1, 3);
    rig_root(&f.b, qn_gx_repeat(&f.b, qn_gx_repeat(&f.b, few, 1, 20), 2, 2));
    start(&f);
    for (int i = 0; i < 120; i++) {
        assert_int_equal(qn_matcher_may_end(f.m), i >= 2);
        rig_feed(f.m, "a");
    }
    assert_true(qn_matcher_must_end(f.m));
    end(&f);
}

/* What is too much says so, and is never taken for a text that is forbidden. */
static void too_many_ways(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    uint32_t rule = qn_gx_rule_new(&f.b, QN_STR("s"));
    qn_gx s = qn_gx_rule_ref(&f.b, rule), a = rig_lit(&f.b, "a");
    qn_gx_rule_define(&f.b, rule, RIG_ALT(&f.b, RIG_CAT(&f.b, a, s, s), RIG_CAT(&f.b, a, s), a));
    f.b.root = rule;
    start(&f);
    qn_status status = QN_OK;
    size_t n_taken;
    int n = 0;
    for (; n < 3000 && status == QN_OK; n++) {
        status = qn_matcher_accept_bytes(f.m, "a", 1, &n_taken);
    }
    assert_int_equal(status, QN_EFULL);
    assert_non_null(strstr(qn_matcher_limit(f.m), "too many ways"));
    assert_true(n > 100);
    assert_int_equal(qn_matcher_accept_bytes(f.m, "b", 1, &n_taken), QN_EINVAL);
    assert_string_equal(qn_matcher_limit(f.m), "");
    assert_true(qn_matcher_may_end(f.m));
    status = qn_matcher_mask(f.m, f.bits);
    assert_true(status == QN_OK || status == QN_EFULL);
    end(&f);
}

/* The mask of a matcher has the tokens that it accepts, and is found without going through the same tokens again and
 * again. */
static void check_mask(fixture *f)
{
    assert_int_equal(qn_matcher_mask(f->m, f->bits), QN_OK);
    assert_true(f->m->engine->n_nodes < 2500);
    assert_true(f->m->engine->work < 40000);
    assert_true(n_stacks(f->m) < 12);
    for (int32_t id = RIG_TOOL + 1; id < (int32_t)f->g.n_vocab; id++) {
        qn_status status = qn_matcher_accept(f->m, id);
        assert_int_equal(status == QN_OK, rig_bit(f->bits, id));
        if (status == QN_OK) {
            assert_int_equal(qn_matcher_rollback(f->m, 1), QN_OK);
        }
    }
}

/* Loops that may begin again where they end. Where a letter is missing, no slice of the vocabulary that has letters is
 * taken as a whole. */
static void stars_within_stars(void **state)
{
    (void)state;
    static const char *const patterns[] = {
        "(.*)*", "(.*)*x", "(.+)+x", "(.*\\n?)*", "(.+\\n?)+", "(.*|.*x.*|.*y.*)*z", "(.{1,80}\\n?)+", "(.{2,9}\\n?)+",
        "(\\w*\\W*)*", "(\\S+\\s*)+", "([^\\n]*\\n?)*", "((.*)*\\n)*", "(.{0,30})*", "(\\w+\\s?)*x", "(\\s*\\w*)*x",
        "([^j]*)*", "([^j]+)+x", "([^j]*z?)*", "([^j]{1,80}z?)+", "([^j]*|[^j]*x.*)*z", "([^j]*[^k]*)*",
        ".*.*.*.*x", "(.*a.{3})*z", "(.+ )*(.+\\n)*(.*!)*", "(([a-z]+.)*[0-9]*)*", "\\S{1,30}( .{1,20})*",
    };
    static const char *const texts[] = {"", "a", "\xE4\xB8", "the quick ", "\xC3\xA9 1x", "world\n", "\n\n", "z"};
    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
        fixture f;
        qn_error err = {0};
        begin(&f);
        assert_int_equal(qn_front_regex(&f.b, qn_str_of(patterns[i]), &err), QN_OK);
        f.grammar = rig_compile(&f.b);
        for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]); k++) {
            size_t n_taken;
            f.m = rig_match(f.grammar, &f.g);
            if (qn_matcher_accept_bytes(f.m, texts[k], strlen(texts[k]), &n_taken) == QN_OK) {
                check_mask(&f);
            }
            qn_matcher_close(f.m);
        }
        f.m = NULL;
        end(&f);
    }
}

static qn_rx text_of(qn_rx_pool *p, const char *text)
{
    uint32_t first = p->text.n, n = (uint32_t)strlen(text);
    assert_true(qn_vec_room(p->budget, &p->status, &p->text, n, QN_RX_MAX_POOL, 1));
    memcpy((char *)p->text.items + first, text, n);
    p->text.n += n;
    return qn_rx_lit(p, first, n);
}

/* Alternatives share what they begin with: many literals, and sequences however few. */
static void beginnings_are_shared(void **state)
{
    (void)state;
    static const char *const words[] = {"value one", "value two", "value three", "value ten", "value six", "vast", "valve", "van"};
    for (uint32_t n = 7; n <= 8; n++) {
        qn_rx_pool p;
        assert_int_equal(qn_rx_open(&p, NULL), QN_OK);
        qn_rx kids[8];
        for (uint32_t i = 0; i < n; i++) {
            kids[i] = text_of(&p, words[i]);
        }
        qn_rx_node x = *qn_rx_at(&p, qn_rx_words(&p, kids, n));
        if (n == 7) {
            assert_int_equal(x.kind, QN_RX_K_ALT);
            assert_int_equal(x.b, 7);
        } else {
            assert_int_equal(x.kind, QN_RX_K_CAT);
            qn_rx_node begins = *qn_rx_at(&p, x.a), rest = *qn_rx_at(&p, x.b);
            assert_int_equal(begins.kind, QN_RX_K_LIT);
            assert_int_equal(begins.b, 2);
            assert_int_equal(rest.kind, QN_RX_K_ALT);
            assert_int_equal(rest.b, 3); /* l.., n, st */
        }
        for (uint32_t i = 0; i < n; i++) {
            qn_rx at = qn_rx_words(&p, kids, n);
            for (const char *c = words[i]; *c != '\0'; c++) {
                at = qn_rx_step(&p, at, (unsigned char)*c);
            }
            assert_true(qn_rx_at(&p, at)->is_null);
        }
        qn_rx first = qn_rx_rep(&p, text_of(&p, "ab"), 0, QN_GX_NO_MAX);
        qn_rx two[2] = {qn_rx_cat(&p, first, text_of(&p, "x")), qn_rx_cat(&p, first, text_of(&p, "y"))};
        x = *qn_rx_at(&p, qn_rx_words(&p, two, 2));
        assert_int_equal(x.kind, QN_RX_K_CAT);
        assert_int_equal(x.a, first);
        assert_int_equal(p.status, QN_OK);
        qn_rx_close(&p);
    }
}

/* A server that works with one grammar for long: states that no text needs any more are forgotten. */
static void states_are_forgotten(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    qn_gx letter = RIG_CLASS(&f.b, {'a', 'b'}), any[24];
    for (int i = 0; i < 24; i++) { /* a state for each set of places of an a among the last letters */
        any[i] = i == 0 ? rig_lit(&f.b, "a") : letter;
    }
    rig_root(&f.b, RIG_CAT(&f.b, qn_gx_repeat(&f.b, letter, 0, QN_GX_NO_MAX), qn_gx_cat(&f.b, any, 24), rig_lit(&f.b, ".")));
    start(&f);
    qn_matcher *other = rig_match(f.grammar, &f.g); /* that forgets all the time */
    other->engine->max_state_bytes = 4096;
    qn_random r;
    qn_random_seed(&r, 3);
    uint64_t bits[16] = {0};
    uint32_t most = 0;
    for (int i = 0; i < 600; i++) {
        const char *one = qn_random_below(&r, 2) == 0 ? "a" : "b";
        rig_feed(f.m, one);
        rig_feed(other, one);
        assert_int_equal(qn_matcher_mask(f.m, f.bits), QN_OK);
        assert_int_equal(qn_matcher_mask(other, bits), QN_OK);
        assert_memory_equal(bits, f.bits, sizeof(bits));
        most = other->engine->rx.nodes.n > most ? other->engine->rx.nodes.n : most;
    }
    assert_true(most * 4 < f.m->engine->rx.nodes.n);
    assert_int_equal(qn_matcher_rollback(other, 30), QN_OK);
    assert_int_equal(qn_matcher_rollback(f.m, 30), QN_OK);
    assert_int_equal(qn_matcher_mask(f.m, f.bits), QN_OK);
    assert_int_equal(qn_matcher_mask(other, bits), QN_OK);
    assert_memory_equal(bits, f.bits, sizeof(bits));
    qn_matcher_close(other);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(repeats_within_repeats), cmocka_unit_test(counters_that_include_others),
        cmocka_unit_test(too_many_ways),          cmocka_unit_test(beginnings_are_shared),
        cmocka_unit_test(states_are_forgotten),   cmocka_unit_test(stars_within_stars),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
