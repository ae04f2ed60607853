/* Matchers: JSON of any depth, counters at their borders, what is forced, the way to the end, copies and steps back, end
 * and special tokens; grammars that are refused; and no memory at any moment.
 * SPDX-License-Identifier: MIT */
#include "grammar_fixture.h"

static bool allows(fixture *f, const char *text)
{
    assert_int_equal(qn_matcher_mask(f->m, f->bits), QN_OK);
    for (int32_t id = 0; id < (int32_t)f->g.n_vocab; id++) {
        if (qn_str_is(rig_bytes(&f->g, id), text)) {
            return rig_bit(f->bits, id);
        }
    }
    fail_msg("no token \"%s\"", text);
    return false;
}

static bool allows_end(fixture *f)
{
    assert_int_equal(qn_matcher_mask(f->m, f->bits), QN_OK);
    return rig_bit(f->bits, RIG_END);
}

static void json_of_any_depth(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    rig_json(&f.b);
    start(&f);
    for (int i = 0; i < 3000; i++) {
        rig_feed(f.m, i % 2 == 0 ? "[" : "{\"a\":");
    }
    assert_true(allows(&f, "true"));
    assert_false(allows(&f, "],"));
    rig_feed(f.m, "[1");
    assert_true(allows(&f, "],"));
    assert_true(allows(&f, "]"));
    assert_false(allows(&f, "]]")); /* an object is around the array */
    for (int i = 3000; i-- > 0;) {
        rig_feed(f.m, i == 2999 ? "]}" : i % 2 == 0 ? "]" : "}");
        assert_int_equal(qn_matcher_may_end(f.m), i == 0);
    }
    assert_true(qn_matcher_must_end(f.m));
    assert_true(allows_end(&f));
    for (int32_t id = 1; id < (int32_t)f.g.n_vocab; id++) {
        assert_false(rig_bit(f.bits, id));
    }
    end(&f);
}

static void strings_at_their_bounds(void **state)
{
    (void)state;
    static const uint32_t bounds[][2] = {{0, 3}, {2, 20}, {3, 1000000}, {0, 300}};
    for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++) {
        fixture f;
        begin(&f);
        uint32_t min = bounds[i][0], max = bounds[i][1];
        rig_root(&f.b, rig_string(&f.b, min, max));
        start(&f);
        rig_feed(f.m, "\"");
        for (uint32_t n = 0; n <= (max > 1000 ? 1000 : max); n++) {
            assert_int_equal(allows(&f, "\""), n >= min);
            assert_int_equal(allows(&f, "\xC3\xA9"), n + 1 <= max);
            assert_int_equal(allows(&f, "\xC3"), n + 1 <= max);
            assert_int_equal(allows(&f, "\\n"), n + 1 <= max);
            assert_int_equal(allows(&f, "\\"), n + 1 <= max);
            assert_int_equal(allows(&f, "abc"), n + 3 <= max);
            assert_int_equal(allows(&f, "the quick brown fox"), n + 19 <= max);
            assert_int_equal(allows(&f, "a\""), n + 1 >= min && n + 1 <= max);
            assert_false(allows(&f, "\","));
            assert_int_equal(qn_matcher_shortest_end(f.m), 1 + (n < min ? min - n : 0));
            if (n < max) {
                rig_feed(f.m, n % 3 == 0 ? "\xC3\xA9" : n % 3 == 1 ? "\\\"" : "x");
            }
        }
        end(&f);
    }
}

/* A list with few and many items: rounds that call rules are counted too. */
static void lists_at_their_bounds(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    rig_json(&f.b);
    qn_gx value = qn_gx_rule_ref(&f.b, f.b.root);
    qn_gx item = RIG_CAT(&f.b, value, rig_lit(&f.b, ","));
    rig_root(&f.b, qn_gx_repeat(&f.b, item, 99, 101));
    start(&f);
    for (int i = 0; i < 101; i++) {
        assert_int_equal(qn_matcher_may_end(f.m), i >= 99);
        rig_feed(f.m, i % 2 == 0 ? "12," : "[\"a\",{}],");
    }
    assert_true(qn_matcher_must_end(f.m));
    end(&f);
}

static void assert_forced(fixture *f, const char *expected)
{
    qn_buf out;
    qn_buf_init(&out, NULL, "test", 10000);
    assert_int_equal(qn_matcher_forced(f->m, &out), QN_OK);
    assert_true(qn_str_is(qn_buf_view(&out), expected));
    qn_buf_free(&out);
}

static void what_is_forced(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    qn_gx colour = RIG_ALT(&f.b, rig_lit(&f.b, "\"green\""), rig_lit(&f.b, "\"grey\""));
    rig_root(&f.b, RIG_CAT(&f.b, rig_lit(&f.b, "{\"colour\":"), colour, rig_lit(&f.b, ",\"n\":"),
                           qn_gx_repeat(&f.b, RIG_CLASS(&f.b, {'0', '9'}), 2, 2), rig_lit(&f.b, "}")));
    start(&f);
    assert_int_equal(qn_matcher_shortest_end(f.m), 10 + 6 + 5 + 2 + 1);
    assert_forced(&f, "{\"colour\":\"gre");
    rig_feed(f.m, "{\"colour\":\"gree");
    assert_forced(&f, "n\",\"n\":");
    rig_feed(f.m, "n\",\"n\":1");
    assert_forced(&f, "");
    rig_feed(f.m, "2");
    assert_forced(&f, "}");
    rig_feed(f.m, "}");
    assert_forced(&f, "");
    assert_true(qn_matcher_must_end(f.m));
    assert_int_equal(qn_matcher_accept(f.m, RIG_END), QN_OK);
    assert_int_equal(qn_matcher_accept(f.m, 2 + 'a'), QN_EINVAL);
    assert_true(allows_end(&f));
    end(&f);
}

static void back_and_copies(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    rig_json(&f.b);
    start(&f);
    const char *steps[] = {"[", "{\"", "a", "\":", "[1", "]", "}", "]"};
    uint64_t before[9][16];
    for (int i = 0; i < 8; i++) {
        assert_int_equal(qn_matcher_mask(f.m, before[i]), QN_OK);
        rig_feed(f.m, steps[i]);
    }
    for (int i = 8; i-- > 0;) {
        assert_int_equal(qn_matcher_rollback(f.m, 1), QN_OK);
        assert_int_equal(qn_matcher_mask(f.m, f.bits), QN_OK);
        assert_memory_equal(f.bits, before[i], (f.g.n_vocab + 63) / 64 * 8);
        qn_matcher *copy;
        qn_error err = {0};
        assert_int_equal(qn_matcher_copy(f.m, &copy, &err), QN_OK);
        for (int k = i; k < 8; k++) {
            assert_int_equal(qn_matcher_mask(copy, f.bits), QN_OK);
            assert_memory_equal(f.bits, before[k], (f.g.n_vocab + 63) / 64 * 8);
            rig_feed(copy, steps[k]);
        }
        assert_int_equal(qn_matcher_rollback(copy, 8), QN_OK);
        qn_matcher_close(copy);
    }
    assert_int_equal(qn_matcher_rollback(f.m, 1), QN_ERANGE);
    rig_feed(f.m, "[");
    size_t n_taken;
    assert_int_equal(qn_matcher_accept_bytes(f.m, "12x3", 4, &n_taken), QN_EINVAL);
    assert_int_equal(n_taken, 2);
    for (int i = 0; i < 100; i++) {
        rig_feed(f.m, "1,");
    }
    assert_int_equal(qn_matcher_rollback(f.m, 65), QN_ERANGE);
    assert_int_equal(qn_matcher_rollback(f.m, 64), QN_OK);
    rig_feed(f.m, "1]");
    end(&f);
}

static void special_tokens(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    qn_gx any = qn_gx_repeat(&f.b, RIG_CLASS(&f.b, {0, 0x10ffff}), 0, QN_GX_NO_MAX);
    rig_root(&f.b, RIG_CAT(&f.b, any, qn_gx_special(&f.b, QN_STR("<|end|>")), rig_lit(&f.b, "ab")));
    start(&f);
    assert_true(allows(&f, "<tool>")); /* free text may hold it */
    assert_true(rig_bit(f.bits, RIG_END));
    assert_int_equal(qn_matcher_accept(f.m, RIG_TOOL), QN_OK);
    rig_feed(f.m, "<|end|>"); /* as ordinary text this is no special token */
    assert_false(qn_matcher_must_end(f.m));
    assert_true(allows(&f, "xyz"));
    assert_int_equal(qn_matcher_accept(f.m, RIG_END), QN_OK);
    assert_false(allows(&f, "xyz"));
    assert_true(allows(&f, "ab"));
    assert_false(rig_bit(f.bits, RIG_END));
    rig_feed(f.m, "ab");
    assert_true(qn_matcher_must_end(f.m));
    end(&f);

    begin(&f);
    rig_root(&f.b, qn_gx_special(&f.b, QN_STR("<|nowhere|>")));
    f.grammar = rig_compile(&f.b);
    qn_error err = {0};
    assert_int_equal(qn_matcher_open(f.grammar, f.g.vocab, NULL, &f.m, &err), QN_ENOTFOUND);
    assert_non_null(strstr(err.what, "<|nowhere|>"));
    end(&f);
}

static void refuse(qn_gx_builder *b, qn_status code, const char *word)
{
    uint64_t live = qn_alloc_live();
    qn_grammar *g = NULL;
    qn_error err = {0};
    assert_int_equal(qn_grammar_open(b, NULL, &g, &err), code);
    assert_null(g);
    assert_non_null(strstr(err.what, word));
    assert_int_equal(qn_alloc_live(), live);
    qn_gx_free(b);
}

static void grammars_refused(void **state)
{
    (void)state;
    qn_gx_builder b;
    qn_gx_init(&b, NULL); /* expr ::= expr "a" | "a" */
    b.root = qn_gx_rule_new(&b, QN_STR("expr"));
    qn_gx_rule_define(&b, b.root, RIG_ALT(&b, RIG_CAT(&b, qn_gx_rule_ref(&b, b.root), rig_lit(&b, "a")), rig_lit(&b, "a")));
    refuse(&b, QN_EFORMAT, "\"expr\"");

    qn_gx_init(&b, NULL); /* through another rule, behind something that may be empty */
    b.root = qn_gx_rule_new(&b, QN_STR("one"));
    uint32_t two = qn_gx_rule_new(&b, QN_STR("two"));
    qn_gx maybe = qn_gx_repeat(&b, rig_lit(&b, "x"), 0, QN_GX_NO_MAX);
    qn_gx_rule_define(&b, b.root, RIG_ALT(&b, rig_lit(&b, "a"), RIG_CAT(&b, maybe, qn_gx_rule_ref(&b, two))));
    qn_gx_rule_define(&b, two, RIG_CAT(&b, maybe, qn_gx_repeat(&b, qn_gx_rule_ref(&b, b.root), 0, 500), rig_lit(&b, "b")));
    refuse(&b, QN_EFORMAT, "left recursion");

    qn_gx_init(&b, NULL);
    b.root = qn_gx_rule_new(&b, QN_STR("root"));
    qn_gx_rule_define(&b, b.root, qn_gx_rule_ref(&b, qn_gx_rule_new(&b, QN_STR("missing"))));
    refuse(&b, QN_EFORMAT, "\"missing\" is not defined");

    qn_gx_init(&b, NULL); /* no end in sight */
    b.root = qn_gx_rule_new(&b, QN_STR("root"));
    qn_gx_rule_define(&b, b.root, RIG_CAT(&b, rig_lit(&b, "a"), qn_gx_rule_ref(&b, b.root)));
    refuse(&b, QN_EFORMAT, "matches nothing");

    qn_gx_init(&b, NULL);
    b.root = qn_gx_rule_new(&b, QN_STR("deep"));
    qn_gx_rule_define(&b, b.root, RIG_ALT(&b, rig_lit(&b, "a"),
                                          RIG_CAT(&b, rig_lit(&b, "["), qn_gx_not(&b, qn_gx_rule_ref(&b, b.root)))));
    refuse(&b, QN_EUNSUPPORTED, "\"deep\"");

    qn_gx_init(&b, NULL); /* an automaton that doubles with each letter */
    qn_gx letter = RIG_CLASS(&b, {'a', 'b'});
    rig_root(&b, qn_gx_not(&b, RIG_CAT(&b, qn_gx_repeat(&b, letter, 0, QN_GX_NO_MAX), rig_lit(&b, "a"),
                                       qn_gx_repeat(&b, letter, 40, 40))));
    refuse(&b, QN_EFULL, "rule \"root\" is too large: an intersection or a complement");
}

/* What is large must be quick all the same, and what is too much must say so. */
static void large_ones(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    qn_gx x = RIG_CLASS(&f.b, {'a', 'z'});
    for (int i = 0; i < 6; i++) {
        x = qn_gx_repeat(&f.b, RIG_CAT(&f.b, x, rig_lit(&f.b, ",")), 0, 1000000);
    }
    rig_root(&f.b, x);
    start(&f);
    rig_feed(f.m, "a,b,,,,,a,b,c,,,,");
    assert_int_equal(qn_matcher_mask(f.m, f.bits), QN_OK);
    end(&f);
}

/* A counted list: each item lies on frames of its own, which are more than what may be kept. */
static void engines_forget(void **state)
{
    (void)state;
    fixture f;
    begin(&f);
    rig_json(&f.b);
    qn_gx item = RIG_CAT(&f.b, qn_gx_rule_ref(&f.b, f.b.root), rig_lit(&f.b, ","));
    rig_root(&f.b, RIG_CAT(&f.b, rig_lit(&f.b, "("), qn_gx_repeat(&f.b, item, 0, 1000000), rig_lit(&f.b, ")")));
    start(&f);
    rig_feed(f.m, "(");
    char text[64];
    for (int i = 0; i < 200000; i++) {
        snprintf(text, sizeof(text), "[%d,{\"\":1}],", i);
        rig_feed(f.m, text);
        if (i % 1000 == 0) {
            assert_true(allows(&f, "[1"));
            assert_false(allows(&f, "xyz"));
        }
    }
    assert_int_equal(qn_matcher_rollback(f.m, 60), QN_OK);
    rig_feed(f.m, "1,)");
    assert_true(qn_matcher_must_end(f.m));
    end(&f);
}

static qn_status use(const rig *g, const qn_gx_builder *b)
{
    qn_grammar *grammar = NULL;
    qn_matcher *m = NULL, *copy = NULL;
    qn_error err = {0};
    uint64_t bits[16];
    size_t n_taken;
    qn_status s = qn_grammar_open(b, NULL, &grammar, &err);
    s = s != QN_OK ? s : qn_matcher_open(grammar, g->vocab, NULL, &m, &err);
    const char *texts[] = {"{\"", "ab", "\":[", "12,", "true"};
    for (int i = 0; i < 5 && s == QN_OK; i++) {
        s = qn_matcher_mask(m, bits);
        s = s != QN_OK ? s : qn_matcher_accept_bytes(m, texts[i], strlen(texts[i]), &n_taken);
    }
    s = s != QN_OK ? s : qn_matcher_copy(m, &copy, &err);
    s = s != QN_OK ? s : qn_matcher_mask(copy, bits);
    qn_buf way;
    qn_buf_init(&way, NULL, "test", 1000);
    s = s != QN_OK ? s : qn_matcher_shortest_text(copy, &way);
    qn_buf_free(&way);
    qn_matcher_close(copy);
    qn_matcher_close(m);
    qn_grammar_close(grammar);
    return s;
}

static void no_memory_at_any_moment(void **state)
{
    (void)state;
    rig g;
    rig_open(&g);
    qn_gx_builder b;
    qn_gx_init(&b, NULL);
    rig_json(&b);
    qn_gx key = qn_gx_and(&b, qn_gx_repeat(&b, rig_json_char(&b), 1, 9), qn_gx_not(&b, rig_lit(&b, "id")));
    qn_gx value = qn_gx_rule_ref(&b, b.root);
    rig_root(&b, RIG_CAT(&b, rig_lit(&b, "{\""), key, rig_lit(&b, "\":"), value, rig_lit(&b, "}")));
    uint64_t live = qn_alloc_live(), n = 0;
    for (qn_status s = QN_ENOMEM; s != QN_OK; n++) {
        qn_alloc_fail_at(n + 1);
        s = use(&g, &b);
        qn_alloc_fail_at(0);
        assert_true(s == QN_OK || s == QN_ENOMEM);
        assert_int_equal(qn_alloc_live(), live);
    }
    assert_true(n > 100);
    qn_gx_free(&b);
    live = qn_alloc_live();
    qn_grammar_vocab *v = NULL;
    n = 0;
    for (qn_status s = QN_ENOMEM; s != QN_OK; n++) {
        qn_error err = {0};
        qn_alloc_fail_at(n + 1);
        s = qn_grammar_vocab_open(g.opened.t, NULL, &v, &err);
        qn_alloc_fail_at(0);
        assert_true(s == QN_OK || s == QN_ENOMEM);
        assert_true(s == QN_OK || qn_alloc_live() == live);
    }
    qn_grammar_vocab_close(v);
    rig_close(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_of_any_depth), cmocka_unit_test(strings_at_their_bounds),
        cmocka_unit_test(lists_at_their_bounds), cmocka_unit_test(what_is_forced), cmocka_unit_test(back_and_copies),
        cmocka_unit_test(special_tokens), cmocka_unit_test(grammars_refused), cmocka_unit_test(large_ones),
        cmocka_unit_test(engines_forget), cmocka_unit_test(no_memory_at_any_moment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
