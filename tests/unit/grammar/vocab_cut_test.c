/* Texts spelled with the fewest tokens, against a search that knows nothing of trees.
 * SPDX-License-Identifier: MIT */
#include "grammar_rig.h"

static bool begins_with(qn_str s, qn_str beginning)
{
    return beginning.len != 0 && s.len >= beginning.len && memcmp(s.data, beginning.data, beginning.len) == 0;
}

/* The fewest tokens for s; UINT32_MAX: none spell it. */
static uint32_t fewest(const rig *r, qn_str s)
{
    uint32_t best[64];
    assert_true(s.len < 64);
    best[s.len] = 0;
    for (size_t i = s.len; i-- > 0;) {
        best[i] = UINT32_MAX;
        for (uint32_t id = 0; id < r->n_vocab; id++) {
            qn_str bytes = rig_bytes(r, (int32_t)id);
            if (begins_with((qn_str){s.data + i, s.len - i}, bytes) && best[i + bytes.len] != UINT32_MAX &&
                best[i + bytes.len] + 1 < best[i]) {
                best[i] = best[i + bytes.len] + 1;
            }
        }
    }
    return best[0];
}

static void test_fewest_tokens(void **state)
{
    (void)state;
    rig r;
    rig_open(&r);
    qn_random random;
    qn_random_seed(&random, 2);
    for (int i = 0; i < 60; i++) {
        char text[64];
        size_t n = 0;
        while (n < 30) {
            qn_str word = qn_str_of(rig_words[qn_random_below(&random, sizeof(rig_words) / sizeof(rig_words[0]))]);
            memcpy(text + n, word.data, word.len);
            n += word.len;
        }
        qn_str left = {text, n};
        int32_t first = -7;
        uint32_t n_tokens = 0, most = fewest(&r, left);
        assert_int_equal(qn_grammar_vocab_cut(r.vocab, left, &first, &n_tokens), QN_OK);
        assert_int_equal(n_tokens, most);
        for (; left.len != 0; n_tokens--) { /* behind its first token, a text needs one less */
            qn_str bytes = qn_grammar_vocab_bytes(r.vocab, first);
            assert_true(begins_with(left, bytes));
            left = (qn_str){left.data + bytes.len, left.len - bytes.len};
            uint32_t behind = 0;
            assert_int_equal(qn_grammar_vocab_cut(r.vocab, left, &first, &behind), QN_OK);
            assert_int_equal(behind, n_tokens - 1);
        }
        assert_int_equal(first, -1);
        assert_int_equal(n_tokens, 0);
    }
    rig_close(&r);
}

static void test_longer_tokens(void **state)
{
    (void)state;
    rig r;
    rig_open(&r);
    static const struct {
        const char *text;
        bool has;
    } cases[] = {{"the quick", true}, {"the quick brown fox", false}, {"hello", true}, {"hello w", true},
                 {"hello x", false},  {"aaa", true},                  {"\xE4", true},  {"xyz", false}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(qn_grammar_vocab_has_longer(r.vocab, qn_str_of(cases[i].text)), cases[i].has);
    }
    assert_true(qn_grammar_vocab_has_longer(r.vocab, QN_STR("")));
    assert_int_equal(qn_grammar_vocab_bytes(r.vocab, RIG_END).len, 0);
    rig_close(&r);
}

static void test_memory(void **state)
{
    (void)state;
    rig r;
    rig_open(&r);
    int32_t first = -7;
    uint32_t n_tokens = 9;
    qn_alloc_fail_at(1);
    assert_int_equal(qn_grammar_vocab_cut(r.vocab, QN_STR("abc"), &first, &n_tokens), QN_ENOMEM);
    qn_alloc_fail_at(0);
    assert_int_equal(first, -7);
    assert_int_equal(n_tokens, 9);
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fewest_tokens),
        cmocka_unit_test(test_longer_tokens),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
