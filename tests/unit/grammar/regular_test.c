/* AND and NOT, with and without lengths, against the judge: it tries every way to go on, since the texts are short.
 * SPDX-License-Identifier: MIT */
#include "grammar_rig.h"

static qn_gx letter(qn_gx_builder *b, qn_random *r)
{
    uint64_t k = qn_random_below(r, 3);
    return k == 0 ? rig_lit(b, "a") : k == 1 ? rig_lit(b, "b") : RIG_CLASS(b, {'a', 'b'});
}

static qn_gx random_regular(qn_gx_builder *b, qn_random *r, int depth)
{
    switch (qn_random_below(r, depth <= 0 ? 2 : 8)) {
    case 0:
    case 1:
        return letter(b, r);
    case 2:
        return qn_gx_repeat(b, random_regular(b, r, depth - 1), (uint32_t)qn_random_below(r, 3),
                            qn_random_below(r, 2) == 0 ? QN_GX_NO_MAX : 3);
    case 3:
        return qn_gx_not(b, random_regular(b, r, depth - 1));
    case 4:
        return qn_gx_and(b, random_regular(b, r, depth - 1), random_regular(b, r, depth - 1));
    case 5:
        return RIG_ALT(b, random_regular(b, r, depth - 1), random_regular(b, r, depth - 1));
    default:
        return RIG_CAT(b, random_regular(b, r, depth - 1), random_regular(b, r, depth - 1));
    }
}

/* "<text>" of a and b, of limited length, under one or two conditions. */
static void random_grammar(qn_gx_builder *b, qn_random *r, uint32_t *max)
{
    *max = 2 + (uint32_t)qn_random_below(r, 4);
    uint32_t min = (uint32_t)qn_random_below(r, 3);
    qn_gx length = qn_gx_repeat(b, RIG_CLASS(b, {'a', 'b'}), min, *max);
    if (qn_random_below(r, 3) == 0) {
        length = RIG_CAT(b, length, rig_lit(b, "")); /* so that it is no counter */
    }
    qn_gx x = qn_gx_and(b, random_regular(b, r, 3), length);
    if (qn_random_below(r, 2) == 0) {
        x = qn_gx_and(b, x, qn_gx_not(b, random_regular(b, r, 2)));
    }
    rig_root(b, RIG_CAT(b, rig_lit(b, "\""), x, rig_lit(b, "\"")));
}

/* Whether text[0, n) can be made to match by `left` more bytes at most. */
static bool can_match(judge *j, char *text, uint32_t n, uint32_t left)
{
    judge_text(j, text, n);
    if (judge_matches(j)) {
        return true;
    }
    for (const char *c = "ab\""; left != 0 && *c != '\0'; c++) {
        text[n] = *c;
        if (can_match(j, text, n + 1, left - 1)) {
            return true;
        }
    }
    return false;
}

static bool is_of_these(qn_str bytes)
{
    for (size_t i = 0; i < bytes.len; i++) {
        if (strchr("ab\"", bytes.data[i]) == NULL || bytes.data[i] == '\0') {
            return false;
        }
    }
    return bytes.len != 0;
}

static void compare_text(const rig *g, qn_matcher *m, judge *j, qn_random *r, uint32_t max)
{
    char text[JUDGE_MAX_TEXT + 1];
    uint32_t n = 0;
    uint64_t bits[16];
    for (;;) {
        assert_int_equal(qn_matcher_mask(m, bits), QN_OK);
        int32_t allowed[1024];
        uint32_t n_allowed = 0;
        for (int32_t id = 0; id < (int32_t)g->n_vocab; id++) {
            qn_str bytes = rig_bytes(g, id);
            judge_text(j, text, n);
            bool expected = id == RIG_END ? judge_matches(j) : false;
            if (is_of_these(bytes) && n + bytes.len <= max + 2) {
                memcpy(text + n, bytes.data, bytes.len);
                expected = can_match(j, text, n + (uint32_t)bytes.len, max + 2 - n - (uint32_t)bytes.len);
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
            assert_true(qn_matcher_must_end(m));
            return;
        }
        int32_t id = allowed[qn_random_below(r, n_allowed)];
        qn_str bytes = rig_bytes(g, id);
        memcpy(text + n, bytes.data, bytes.len);
        n += (uint32_t)bytes.len;
        assert_int_equal(qn_matcher_accept(m, id), QN_OK);
        text[n] = '\0';
    }
}

static void random_conditions(void **state)
{
    (void)state;
    rig g;
    rig_open(&g);
    qn_random r;
    qn_random_seed(&r, 7);
    int n_good = 0;
    for (int i = 0; i < 60; i++) {
        qn_gx_builder b;
        qn_gx_init(&b, NULL);
        uint32_t max;
        random_grammar(&b, &r, &max);
        judge j;
        judge_open(&j, &b);
        qn_grammar *made = NULL;
        qn_error err = {0};
        char text[JUDGE_MAX_TEXT + 1];
        bool is_possible = can_match(&j, text, 0, max + 2);
        qn_status s = qn_grammar_open(&b, NULL, &made, &err);
        assert_int_equal(s, is_possible ? QN_OK : QN_EFORMAT);
        for (int k = 0; k < 2 && s == QN_OK; k++) {
            qn_matcher *m = rig_match(made, &g);
            compare_text(&g, m, &j, &r, max);
            qn_matcher_close(m);
        }
        n_good += s == QN_OK;
        qn_grammar_close(made);
        judge_close(&j);
        qn_gx_free(&b);
    }
    assert_true(n_good > 20);
    rig_close(&g);
}

/* A pattern that fixes the length modulo three, with bounds far apart: the numbers of rounds come back. */
static void lengths_come_back(void **state)
{
    (void)state;
    rig g;
    rig_open(&g);
    qn_gx_builder b;
    qn_gx_init(&b, NULL);
    qn_gx any = RIG_CLASS(&b, {'a', 'z'});
    qn_gx threes = qn_gx_repeat(&b, RIG_CAT(&b, any, any, rig_lit(&b, "c")), 0, QN_GX_NO_MAX);
    rig_root(&b, qn_gx_and(&b, threes, qn_gx_repeat(&b, any, 100000, 100002)));
    qn_grammar *made = rig_compile(&b);
    qn_matcher *m = rig_match(made, &g);
    assert_int_equal(qn_matcher_shortest_end(m), 100002);
    rig_feed(m, "zz");
    uint64_t bits[16];
    assert_int_equal(qn_matcher_mask(m, bits), QN_OK);
    assert_true(rig_bit(bits, 2 + 'c'));
    assert_false(rig_bit(bits, 2 + 'b'));
    for (int i = 0; i < 33333; i++) {
        rig_feed(m, "cab");
    }
    assert_false(qn_matcher_may_end(m));
    rig_feed(m, "c");
    assert_true(qn_matcher_must_end(m));
    qn_matcher_close(m);
    qn_grammar_close(made);
    qn_gx_free(&b);

    qn_gx_init(&b, NULL); /* and bounds between which no multiple of three lies */
    any = RIG_CLASS(&b, {'a', 'z'});
    threes = qn_gx_repeat(&b, RIG_CAT(&b, any, any, rig_lit(&b, "c")), 0, QN_GX_NO_MAX);
    rig_root(&b, qn_gx_and(&b, threes, qn_gx_repeat(&b, any, 100000, 100001)));
    qn_error err = {0};
    assert_int_equal(qn_grammar_open(&b, NULL, &made, &err), QN_EFORMAT);
    assert_non_null(strstr(err.what, "matches nothing"));
    qn_gx_free(&b);
    rig_close(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_conditions), cmocka_unit_test(lengths_come_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
