/* Jumps ahead: what they give, and what they leave.
 * SPDX-License-Identifier: MIT */
#include "guide_rig.h"

/* Where all is forced, a greedy text is the same with jumps and without, and jumps give all of it but the end. */
static void test_jumps_change_nothing(void **state)
{
    (void)state;
    static const char *const sources[] = {"[\"all of this is forced\"]", "[\" a blank in front\"]", "[\"{\\\"a\\\":\\n[1,2]}\"]",
                                          "[\"Z\u00fcrich \u5317\u4eac\"]"};
    place p = open_place();
    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
        answer all[2];
        for (int jumps = 0; jumps < 2; jumps++) {
            qn_guide *g = open_guide(&p, QN_FORMAT_CHOICE, sources[i]);
            qn_sampler *s = open_sampler(&p, 0, 1);
            all[jumps] = generate(&p, g, s, 1, 0, jumps);
            assert_true(all[jumps].is_whole);
            qn_sampler_close(s);
            qn_guide_close(g);
        }
        assert_string_equal(all[0].text, all[1].text);
        assert_int_equal(all[0].n_jumped, 0);
        assert_int_equal(all[1].n_jumped, all[1].n_tokens - 1);
    }
    close_place(&p);
}

/* Jumps leave room for the end, and the penalties see what they gave. */
static void test_jumps_and_limits(void **state)
{
    (void)state;
    place p = open_place();
    qn_error err = {0};
    int32_t ids[32], id;
    size_t n = 0;
    float *logits = calloc(p.n_vocab, sizeof(*logits));
    assert_non_null(logits);
    for (uint64_t n_left = 1; n_left < 12; n_left++) {
        qn_guide *g = open_guide(&p, QN_FORMAT_REGEX, "abcdefgh[xy]");
        expect_ok(qn_guide_jump(g, NULL, n_left, ids, 32, &n, &err), &err);
        assert_int_equal(n, n_left >= 10 ? 8 : 0); /* eight letters, one of two, the end */
        qn_guide_close(g);
    }
    qn_sampler_options o = {.top_p = 1, .typical_p = 1, .repeat_penalty = 1, .presence_penalty = 5, .penalty_last_n = 8};
    qn_sampler *s = NULL;
    expect_ok(qn_sampler_open(p.m, &o, &s, &err), &err);
    qn_guide *g = open_guide(&p, QN_FORMAT_REGEX, "ax[xy]");
    expect_ok(qn_guide_jump(g, s, 0, ids, 32, &n, &err), &err);
    assert_int_equal(n, 2);
    logits[ids[1]] = 3;
    expect_ok(qn_guide_pick(g, s, logits, 0, &id, NULL, &err), &err);
    assert_int_not_equal(id, ids[1]);
    qn_guide_close(g);
    qn_sampler_close(s);
    free(logits);
    close_place(&p);
}

/* Whatever a tokenizer does to a text, a jump gives nothing but what is forced: no blank in front, no other spelling. */
static void test_other_tokenizers(void **state)
{
    (void)state;
    static const struct {
        const char *kind, *source, *text;
        bool jumps;
    } cases[] = {
        {"t5", "[\"abc def\"]", "abc def", true},       {"t5", "[\" abc  def \"]", " abc  def ", false},
        {"bert", "[\"abc\"]", "abc", false},            {"llama", "[\" abc  def \"]", " abc  def ", true},
        {"llama", "[\"\\u0000\\t\"]", NULL, true},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        place p = {.rt = open_runtime("ref", 1), .n_vocab = qn_tiny_spec_of("llama").n_vocab};
        p.m = open_as(p.rt, cases[i].kind);
        for (uint64_t seed = 0; seed < 4; seed++) {
            qn_guide *g = open_guide(&p, QN_FORMAT_CHOICE, cases[i].source);
            qn_sampler *s = open_sampler(&p, 1, seed);
            answer a = generate(&p, g, s, seed, 0, true);
            assert_true(a.is_whole);
            assert_true(cases[i].text == NULL || strcmp(a.text, cases[i].text) == 0);
            assert_true(!cases[i].jumps || a.n_jumped > 0);
            qn_sampler_close(s);
            qn_guide_close(g);
        }
        close_place(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_jumps_change_nothing),
        cmocka_unit_test(test_jumps_and_limits),
        cmocka_unit_test(test_other_tokenizers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
