/* The tree of bytes against a plain list: every spelling is found, nothing else is.
 * SPDX-License-Identifier: MIT */
#include "test.h"

#include "base/random.h"
#include "text/tokenizer_trie.h"

#define MAX_ITEMS 3000

/* The id at the end of s[0, n), or -1; -2: no spelling begins so. */
static int32_t walk(const qn_trie *t, const char *s, size_t n)
{
    uint32_t node = 0;
    for (size_t i = 0; i < n; i++) {
        node = qn_trie_step(t, node, (uint8_t)s[i]);
        if (node == 0) {
            return -2;
        }
    }
    return t->nodes[node].id;
}

static void few_spellings(void **state)
{
    (void)state;
    qn_trie_item items[] = {{"abc", 3, 0}, {"ab", 2, 1},     {"", 0, 2},   {"b", 1, 3},
                            {"abc", 3, 4}, {"\0\xFF", 2, 5}, {"abd", 3, 6}};
    qn_trie t;
    assert_int_equal(qn_trie_open(items, 7, NULL, &t), QN_OK);
    assert_int_equal(walk(&t, "abc", 3), 0);
    assert_int_equal(walk(&t, "ab", 2), 1);
    assert_int_equal(walk(&t, "abd", 3), 6);
    assert_int_equal(walk(&t, "b", 1), 3);
    assert_int_equal(walk(&t, "\0\xFF", 2), 5);
    assert_int_equal(walk(&t, "a", 1), -1);
    assert_int_equal(walk(&t, "\0", 1), -1);
    assert_int_equal(walk(&t, "c", 1), -2);
    assert_int_equal(walk(&t, "abcd", 4), -2);
    qn_trie_free(&t);
    assert_int_equal(qn_trie_open(NULL, 0, NULL, &t), QN_OK);
    assert_int_equal(walk(&t, "a", 1), -2);
    qn_trie_free(&t);
}

static void random_spellings(void **state)
{
    (void)state;
    static char bytes[MAX_ITEMS][12];
    static qn_trie_item items[MAX_ITEMS], before[MAX_ITEMS];
    qn_random r;
    qn_random_seed(&r, 17);
    for (int round = 0; round < 30; round++) {
        size_t n = 1 + qn_random_below(&r, round < 20 ? 60 : MAX_ITEMS), n_letters = round % 3 == 0 ? 256 : 3;
        for (size_t i = 0; i < n; i++) {
            uint32_t len = 1 + (uint32_t)qn_random_below(&r, n_letters == 256 ? 4 : 12);
            for (uint32_t k = 0; k < len; k++) {
                bytes[i][k] = (char)qn_random_below(&r, n_letters);
            }
            items[i] = before[i] = (qn_trie_item){bytes[i], len, (int32_t)i};
        }
        qn_trie t;
        assert_int_equal(qn_trie_open(items, n, NULL, &t), QN_OK);
        for (size_t i = 0; i < n; i++) {
            int32_t found = walk(&t, before[i].spelling, before[i].len);
            assert_in_range(found, 0, (int32_t)i); /* the first of equal ones */
            assert_int_equal(before[found].len, before[i].len);
            assert_memory_equal(before[found].spelling, before[i].spelling, before[i].len);
        }
        for (int k = 0; k < 300; k++) { /* what is found is spelled so */
            char text[6];
            uint32_t len = 1 + (uint32_t)qn_random_below(&r, sizeof(text));
            for (uint32_t i = 0; i < len; i++) {
                text[i] = (char)qn_random_below(&r, n_letters);
            }
            int32_t found = walk(&t, text, len);
            if (found >= 0) {
                assert_int_equal(before[found].len, len);
                assert_memory_equal(before[found].spelling, text, len);
            }
        }
        qn_trie_free(&t);
    }
}

/* As many spellings as a byte has values below one node, and two long ones that differ in their last byte. */
static void wide_and_deep(void **state)
{
    (void)state;
    static char bytes[256], deep[2][60000];
    qn_trie_item items[258];
    for (size_t i = 0; i < 256; i++) {
        bytes[i] = (char)i;
        items[i] = (qn_trie_item){bytes + i, 1, (int32_t)i};
    }
    for (size_t i = 0; i < 2; i++) {
        memset(deep[i], 'd', sizeof(deep[i]));
        deep[i][sizeof(deep[i]) - 1] = (char)('x' + i);
        items[256 + i] = (qn_trie_item){deep[i], sizeof(deep[i]), 256 + (int32_t)i};
    }
    qn_trie t;
    assert_int_equal(qn_trie_open(items, 258, NULL, &t), QN_OK);
    for (size_t i = 0; i < 256; i++) {
        assert_int_equal(walk(&t, bytes + i, 1), i);
    }
    assert_int_equal(walk(&t, deep[0], sizeof(deep[0])), 256);
    assert_int_equal(walk(&t, deep[1], sizeof(deep[1])), 257);
    assert_int_equal(walk(&t, deep[1], sizeof(deep[1]) - 1), -1);
    qn_trie_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(few_spellings), cmocka_unit_test(random_spellings),
                                       cmocka_unit_test(wide_and_deep)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
