/* Opening the small vocabularies in tests, and asserting what they make of texts.
 * SPDX-License-Identifier: MIT */
#ifndef QN_TESTS_SMALL_OPEN_H
#define QN_TESTS_SMALL_OPEN_H

#include "test.h"

#include "small_vocab.h"
#include "text/tokenizer_int.h"

typedef struct small_opened {
    uint8_t *bytes;
    qn_gguf *g;
    qn_tokenizer *t;
} small_opened;

static inline void qn_small_close(small_opened o)
{
    qn_tokenizer_close(o.t);
    qn_gguf_close(o.g);
    qn_free(o.bytes);
}

static inline small_opened qn_small_open(const small_vocab *v)
{
    small_opened o = {0};
    size_t n;
    qn_error err = {0};
    o.bytes = qn_small_write(v, &n);
    assert_int_equal(qn_gguf_open_memory(o.bytes, n, NULL, &o.g, NULL), QN_OK);
    qn_status s = qn_tokenizer_open(o.g, NULL, &o.t, &err);
    if (s != QN_OK) {
        print_message("%s\n", err.what);
    }
    assert_int_equal(s, QN_OK);
    return o;
}

/* The vocabulary is refused with an error that names `key`, and nothing is left behind. */
static inline void qn_small_refuse(const small_vocab *v, qn_status expected, const char *key)
{
    uint64_t live = qn_alloc_live();
    small_opened o = {0};
    size_t n;
    qn_error err = {0};
    o.bytes = qn_small_write(v, &n);
    assert_int_equal(qn_gguf_open_memory(o.bytes, n, NULL, &o.g, NULL), QN_OK);
    assert_int_equal(qn_tokenizer_open(o.g, NULL, &o.t, &err), expected);
    assert_null(o.t);
    assert_non_null(strstr(err.what, key));
    qn_small_close(o);
    assert_int_equal(qn_alloc_live(), live);
}

/* expected: spellings with spaces between. */
static inline void qn_small_assert_pieces(const qn_tokenizer *t, const char *text, size_t n, unsigned flags,
                                          const char *expected)
{
    int32_t ids[512];
    size_t n_ids, n_counted;
    assert_int_equal(qn_tokenizer_encode(t, text, n, flags, ids, 512, &n_ids, NULL), QN_OK);
    assert_int_equal(qn_tokenizer_encode(t, text, n, flags, NULL, 0, &n_counted, NULL), n_ids == 0 ? QN_OK : QN_ERANGE);
    assert_int_equal(n_ids, n_counted);
    qn_buf found;
    qn_buf_init(&found, NULL, "test", 1 << 16);
    for (size_t i = 0; i < n_ids; i++) {
        qn_str piece = qn_tokenizer_piece(t, ids[i]);
        qn_buf_add(&found, " ", i > 0);
        qn_buf_add(&found, piece.data, piece.len);
    }
    qn_buf_add(&found, "", 1);
    if (strcmp(found.data, expected) != 0) {
        print_message("\"%s\": \"%s\", expected \"%s\"\n", text, found.data, expected);
    }
    assert_string_equal(found.data, expected);
    qn_buf_free(&found);
}

/* What comes back from the ids of a text. */
static inline void qn_small_assert_returns(const qn_tokenizer *t, const char *text, size_t n, unsigned flags,
                                           const char *expected, size_t n_expected)
{
    int32_t ids[512];
    size_t n_ids;
    assert_int_equal(qn_tokenizer_encode(t, text, n, flags, ids, 512, &n_ids, NULL), QN_OK);
    qn_buf out;
    qn_buf_init(&out, NULL, "test", 1 << 16);
    assert_int_equal(qn_tokenizer_decode(t, ids, n_ids, flags, &out, NULL), QN_OK);
    assert_int_equal(out.len, n_expected);
    assert_true(n_expected == 0 || memcmp(out.data, expected, n_expected) == 0);
    qn_buf_free(&out);
}

/* Opens v and encodes a text with every allocation failing in turn; nothing is left behind. */
static inline void qn_small_fail_memory(const small_vocab *v, const char *text, uint64_t at_least)
{
    small_opened o = {0};
    size_t n, n_ids;
    int32_t ids[512];
    o.bytes = qn_small_write(v, &n);
    assert_int_equal(qn_gguf_open_memory(o.bytes, n, NULL, &o.g, NULL), QN_OK);
    uint64_t live = qn_alloc_live(), failed = 0;
    for (qn_status s = QN_ENOMEM; s != QN_OK; failed++) {
        qn_tokenizer *t = NULL;
        qn_error err = {0};
        qn_alloc_fail_at(failed + 1);
        s = qn_tokenizer_open(o.g, NULL, &t, &err);
        if (s == QN_OK) {
            s = qn_tokenizer_encode(t, text, strlen(text), 0, ids, 512, &n_ids, &err);
        }
        qn_alloc_fail_at(0);
        assert_true(s == QN_OK || s == QN_ENOMEM);
        qn_tokenizer_close(t);
        assert_int_equal(qn_alloc_live(), live);
    }
    assert_true(failed >= at_least);
    qn_small_close(o);
}

#endif
