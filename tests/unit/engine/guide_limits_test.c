/* Guides near limits: those of the matcher, and on tokens where special ones must come.
 * SPDX-License-Identifier: MIT */
#include "guide_rig.h"

static int32_t token_of(const place *p, const char *piece)
{
    for (uint32_t id = 0; id < p->n_vocab; id++) {
        if (qn_str_eq(qn_tokenizer_piece(p->m->tokenizer, (int32_t)id), qn_str_of(piece))) {
            return (int32_t)id;
        }
    }
    fail_msg("no token '%s'", piece);
    return -1;
}

/* Logits that want x before all. */
static float *want_x(const place *p)
{
    float *logits = calloc(p->n_vocab, sizeof(*logits));
    assert_non_null(logits);
    logits[token_of(p, "x")] = 9;
    return logits;
}

/* Goes on with x until something else happens. Returns how many came. */
static uint32_t go_on_with_x(const place *p, qn_guide *g, qn_sampler *s, uint64_t n_left, int32_t *id,
                             qn_status *status, qn_error *err)
{
    float *logits = want_x(p);
    int32_t x = token_of(p, "x");
    uint32_t n = 0;
    for (;; n++) {
        assert_true(n < 500); /* where the matcher's limits are far, this shows nothing */
        *status = qn_guide_pick(g, s, logits, n_left == 0 ? 0 : n_left - n, id, NULL, err);
        if (*status != QN_OK || *id != x) {
            break;
        }
    }
    free(logits);
    return n;
}

/* A token behind which the matcher would hold too much is no reason to be stuck where the text may end. */
static void test_another_token_where_there_is_no_room(void **state)
{
    (void)state;
    place p = open_place();
    for (uint64_t n_left = 0; n_left <= 400; n_left += 200) {
        qn_guide *g = open_guide(&p, QN_FORMAT_GRAMMAR, "root ::= \"x\" root root root | \"x\" | \"\"");
        qn_sampler *s = open_sampler(&p, 0, 1);
        qn_error err = {0};
        qn_status status;
        int32_t id = -1;
        assert_true(go_on_with_x(&p, g, s, n_left, &id, &status, &err) >= 3);
        expect_ok(status, &err);
        assert_true(qn_token_is_end(p.m, id));
        qn_sampler_close(s);
        qn_guide_close(g);
    }
    close_place(&p);
}

/* The way to the end is gone where others have no room; and the text goes on along it. */
static void test_the_way_where_there_is_no_room(void **state)
{
    (void)state;
    place p = open_place();
    qn_guide *g = open_guide(&p, QN_FORMAT_GRAMMAR, "root ::= many \"ab\"\n"
                                                    "many ::= \"x\" many many many | \"x\" | \"\"");
    qn_sampler *s = open_sampler(&p, 0, 1);
    float *logits = want_x(&p);
    answer a = {0};
    qn_error err = {0};
    qn_status status;
    int32_t id = -1;
    go_on_with_x(&p, g, s, 0, &id, &status, &err);
    expect_ok(status, &err);
    add_token(&p, &a, id);
    expect_ok(qn_guide_pick(g, s, logits, 0, &id, NULL, &err), &err);
    add_token(&p, &a, id);
    assert_string_equal(a.text, "ab");
    assert_true(qn_guide_must_end(g));
    free(logits);
    qn_sampler_close(s);
    qn_guide_close(g);
    close_place(&p);
}

/* Where nothing else may come, the limit is told, the guide stays where it is, and a jump gives nothing. */
static void test_no_room_at_all(void **state)
{
    (void)state;
    place p = open_place();
    qn_guide *g = open_guide(&p, QN_FORMAT_GRAMMAR, "root ::= many \"y\"\n"
                                                    "many ::= \"x\" many many many | \"x\"{400}");
    qn_sampler *s = open_sampler(&p, 0, 1);
    qn_error err = {0};
    qn_status status;
    int32_t id = -1, ids[8];
    size_t n_ids = 9;
    go_on_with_x(&p, g, s, 0, &id, &status, &err);
    assert_int_equal(status, QN_EFULL);
    assert_int_equal(err.code, QN_EFULL);
    assert_non_null(strstr(err.what, "going on with the token that was picked"));
    assert_false(qn_guide_may_end(g));
    expect_ok(qn_guide_jump(g, s, 0, ids, 8, &n_ids, &err), &err);
    assert_int_equal(n_ids, 0);
    assert_int_equal(go_on_with_x(&p, g, s, 0, &id, &status, &err), 0);
    assert_int_equal(status, QN_EFULL);
    qn_sampler_close(s);
    qn_guide_close(g);
    close_place(&p);
}

/* ---- special tokens on the way ---- */

static void expect_in_time(const place *p, const char *source, uint64_t n_tokens)
{
    for (uint64_t seed = 0; seed < 24; seed++) {
        qn_guide *g = open_guide(p, QN_FORMAT_GRAMMAR, source);
        qn_sampler *s = open_sampler(p, 1, seed);
        answer a = generate(p, g, s, seed, n_tokens + seed % 4, seed % 2 == 0);
        if (!a.is_whole || a.n_tokens > n_tokens + seed % 4) {
            fail_msg("%s, seed %u: %u tokens of %u", source, (unsigned)seed, (unsigned)a.n_tokens,
                     (unsigned)(n_tokens + seed % 4));
        }
        qn_sampler_close(s);
        qn_guide_close(g);
    }
}

#define Z16 "zzzzzzzzzzzzzzzz"
#define Z127 Z16 Z16 Z16 Z16 Z16 Z16 Z16 "zzzzzzzzzzzzzzz" /* one token */

static void test_special_tokens_count_as_one(void **state)
{
    (void)state;
    place p = open_place();
    expect_in_time(&p, "root ::= [a-z]+ <s>", 3);
    expect_in_time(&p, "root ::= [a-c]* \"" Z127 "\" <s>", 3);
    expect_in_time(&p, "root ::= [a-c]* <s> \"" Z127 "\" [d-f]* <s> <s> \"" Z127 "\" ([a-c]+ <s>)*", 6);
    expect_in_time(&p, "root ::= [a-c]* \"" Z127 "\" </s>", 2); /* it is the end, too */
    close_place(&p);
    p = (place){.rt = open_runtime("ref", 1), .n_vocab = qn_tiny_spec_of("llama").n_vocab};
    p.m = open_as(p.rt, "bert"); /* no tokens of bytes */
    expect_in_time(&p, "root ::= [a-z]+ <s>", 3);
    expect_in_time(&p, "root ::= <s> [a-z]{2,} <s> [a-z]+ <s>", 7);
    close_place(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_another_token_where_there_is_no_room),
        cmocka_unit_test(test_the_way_where_there_is_no_room),
        cmocka_unit_test(test_no_room_at_all),
        cmocka_unit_test(test_special_tokens_count_as_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
