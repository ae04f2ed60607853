/* Maps of characters that lie: sizes, ends, indexes, trees that lead back into themselves.
 * SPDX-License-Identifier: MIT */
#include "test.h"

#include "base/random.h"
#include "small_charsmap.h"
#include "text/tokenizer_charsmap.h"

#define KEY "tokenizer.ggml.precompiled_charsmap"

/* Writes a file with the map and opens it; both are closed again, so the map is a copy. */
static qn_status open_bytes(const void *bytes, size_t n, qn_gguf_type type, qn_charsmap *m, qn_error *err)
{
    qn_gguf_writer *w = NULL;
    qn_gguf *g = NULL;
    uint8_t *file = NULL;
    size_t n_file;
    assert_int_equal(qn_gguf_writer_open(NULL, 32, &w, NULL), QN_OK);
    if (bytes != NULL) {
        qn_gguf_set_array(w, KEY, type, bytes, n);
    }
    assert_int_equal(qn_gguf_write_memory(w, &file, &n_file, NULL), QN_OK);
    qn_gguf_writer_close(w);
    assert_int_equal(qn_gguf_open_memory(file, n_file, NULL, &g, NULL), QN_OK);
    qn_status s = qn_charsmap_open(g, KEY, NULL, m, err);
    qn_gguf_close(g);
    qn_free(file);
    return s;
}

static void assert_match(const qn_charsmap *m, const char *text, size_t len, const char *to)
{
    qn_str found = {0};
    assert_int_equal(qn_charsmap_match(m, text, strlen(text), &found), len);
    assert_true(len == 0 || qn_str_is(found, to));
}

static void matches(void **state)
{
    (void)state;
    static const small_rule rules[] = {
        {"a", "x"}, {"abc", "yy"}, {"abd", ""}, {"b", "a long replacement"}, {"\xFF", "z"}};
    static small_charsmap small;
    qn_charsmap m;
    qn_small_charsmap(&small, rules, 5);
    static const qn_gguf_type types[] = {QN_GGUF_U8, QN_GGUF_I8};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(open_bytes(small.bytes, small.n, types[i], &m, NULL), QN_OK);
        assert_match(&m, "", 0, "");
        assert_match(&m, "a", 1, "x");
        assert_match(&m, "ab", 1, "x");
        assert_match(&m, "abc", 3, "yy");
        assert_match(&m, "abdc", 3, "");
        assert_match(&m, "bc", 1, "a long replacement");
        assert_match(&m, "c", 0, "");
        assert_match(&m, "\xFF", 1, "z");
        qn_str to;
        assert_int_equal(qn_charsmap_match(&m, "\0a", 2, &to), 0);
        qn_charsmap_free(&m);
    }
    assert_int_equal(open_bytes(NULL, 0, QN_GGUF_U8, &m, NULL), QN_OK);
    assert_match(&m, "a", 0, "");
    qn_charsmap_free(&m);
    assert_int_equal(open_bytes("", 0, QN_GGUF_U8, &m, NULL), QN_OK);
    assert_match(&m, "a", 0, "");
    qn_charsmap_free(&m);
}

static void refused(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
    } cases[] = {
        {"\4", 1},                       /* no size */
        {"\0\0\0\0a", 5},                /* no array */
        {"\4\0\0\0\0\0\0", 7},           /* the array is cut */
        {"\5\0\0\0\0\0\0\0\0\0", 10},    /* not a whole number of units */
        {"\xFC\xFF\xFF\xFF\0\0\0\0", 8}, /* larger than any file */
        {"\4\0\0\0\0\0\0\0abc", 11},     /* a replacement without an end */
    };
    qn_charsmap m;
    uint64_t live = qn_alloc_live();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        qn_error err = {0};
        assert_int_equal(open_bytes(cases[i].bytes, cases[i].n, QN_GGUF_U8, &m, &err), QN_EFORMAT);
        assert_non_null(strstr(err.what, KEY));
        assert_int_equal(qn_alloc_live(), live);
    }
    static const uint32_t numbers[] = {4, 0, 0};
    assert_int_equal(open_bytes(numbers, 3, QN_GGUF_U32, &m, NULL), QN_EFORMAT);
    static char long_one[8 + 2000];
    memset(long_one, 'a', sizeof(long_one) - 1);
    memcpy(long_one, "\4\0\0\0\0\0\0\0", 8);
    assert_int_equal(open_bytes(long_one, sizeof(long_one), QN_GGUF_U8, &m, NULL), QN_EFORMAT);
    assert_int_equal(qn_alloc_live(), live);
}

/* A node whose child by 'a' is itself: a look-up ends all the same. */
static void a_circle(void **state)
{
    (void)state;
    uint32_t units[256] = {0};
    units[0] = 'a' << 10; /* 'a' leads to 0 ^ 'a' ^ 'a' ... */
    units[0] |= 'a';
    units['a'] = (uint32_t)'a' | 'a' << 10;
    uint8_t bytes[4 + sizeof(units) + 1] = {0};
    uint32_t n_array = sizeof(units);
    memcpy(bytes, &n_array, 4);
    memcpy(bytes + 4, units, sizeof(units));
    qn_charsmap m;
    assert_int_equal(open_bytes(bytes, sizeof(bytes), QN_GGUF_U8, &m, NULL), QN_OK);
    static char text[1 << 20];
    memset(text, 'a', sizeof(text));
    qn_str to;
    for (size_t at = 0; at < sizeof(text); at++) { /* a walk to the end from each place would take hours */
        assert_int_equal(qn_charsmap_match(&m, text + at, sizeof(text) - at, &to), 0);
    }
    qn_charsmap_free(&m);
}

static void random_units(void **state)
{
    (void)state;
    qn_random r;
    qn_random_seed(&r, 5);
    for (int round = 0; round < 300; round++) {
        uint8_t bytes[4 + 4 * 64 + 8] = {0};
        uint32_t n_array = 4 * 64;
        memcpy(bytes, &n_array, 4);
        for (size_t i = 0; i < 64; i++) { /* small offsets, so that some lead into the array */
            uint32_t unit = (uint32_t)qn_random_below(&r, 64) << 10 | (uint32_t)qn_random_below(&r, 512);
            unit |= qn_random_below(&r, 8) == 0 ? UINT32_C(1) << 31 : 0;
            memcpy(bytes + 4 + 4 * i, &unit, 4);
        }
        memcpy(bytes + 4 + n_array, "ab\0cd\0e", 8);
        qn_charsmap m;
        assert_int_equal(open_bytes(bytes, sizeof(bytes), QN_GGUF_U8, &m, NULL), QN_OK);
        for (int k = 0; k < 100; k++) {
            char text[8];
            for (size_t i = 0; i < sizeof(text); i++) {
                text[i] = (char)qn_random_below(&r, 64);
            }
            qn_str to = {0};
            size_t len = qn_charsmap_match(&m, text, sizeof(text), &to);
            assert_true(len <= sizeof(text));
            assert_true(len == 0 || to.len <= 2);
        }
        qn_charsmap_free(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(matches), cmocka_unit_test(refused), cmocka_unit_test(a_circle),
                                       cmocka_unit_test(random_units)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
