/* Building files byte by byte, the wrong ones too: nothing here checks anything.
 * SPDX-License-Identifier: MIT */
#ifndef QN_TESTS_GGUF_BYTES_H
#define QN_TESTS_GGUF_BYTES_H

#include "test.h"

#include "gguf/gguf.h"

/* The bytes of numbers, for string literals. */
#define B32(byte) byte "\0\0\0"
#define B64(byte) byte "\0\0\0\0\0\0\0"

typedef struct bytes {
    uint8_t *data;
    size_t len, cap;
} bytes;

static inline void put(bytes *b, const void *p, size_t n)
{
    if (b->data == NULL || n > b->cap - b->len) {
        b->cap = 2 * (b->len + n) + 64;
        b->data = realloc(b->data, b->cap);
        assert_non_null(b->data);
    }
    if (n > 0) {
        memcpy(b->data + b->len, p, n);
    }
    b->len += n;
}

static inline void put_u32(bytes *b, uint32_t v)
{
    put(b, &v, sizeof(v));
}

static inline void put_u64(bytes *b, uint64_t v)
{
    put(b, &v, sizeof(v));
}

static inline void put_text(bytes *b, const char *s)
{
    put_u64(b, strlen(s));
    put(b, s, strlen(s));
}

static inline void put_header(bytes *b, uint32_t version, uint64_t n_tensors, uint64_t n_kv)
{
    put(b, "GGUF", 4);
    put_u32(b, version);
    put_u64(b, n_tensors);
    put_u64(b, n_kv);
}

static inline void put_key(bytes *b, const char *key, uint32_t type)
{
    put_text(b, key);
    put_u32(b, type);
}

static inline void put_array(bytes *b, uint32_t item_type, uint64_t n)
{
    put_u32(b, item_type);
    put_u64(b, n);
}

static inline void put_tensor(bytes *b, const char *name, uint32_t n_dims, const uint64_t *ne, uint32_t type,
                              uint64_t offset)
{
    put_text(b, name);
    put_u32(b, n_dims);
    put(b, ne, n_dims * sizeof(*ne));
    put_u32(b, type);
    put_u64(b, offset);
}

static inline void put_padding(bytes *b, size_t alignment)
{
    while (b->len % alignment != 0) {
        put(b, "", 1);
    }
}

/* One key of every type, n_every_kv of them, the last ones arrays (of arrays). */
enum { n_every_kv = 12 + 12 + 3 };

static inline void put_every_kv(bytes *b)
{
    static const uint8_t sizes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    static const uint8_t value[24] = {1, 0, 1, 0, 0x80, 0x3f, 0, 1, 1, 1, 0, 0xf0, 0x3f, 2, 3, 4, 5, 6, 7, 8, 9};
    char key[32];
    for (uint32_t t = 0; t < sizeof(sizes); t++) {
        if (t == QN_GGUF_ARRAY) {
            continue;
        }
        snprintf(key, sizeof(key), "one.%u", t);
        put_key(b, key, t);
        if (t == QN_GGUF_STRING) {
            put_text(b, "a\xff\n\x01 string");
        }
        put(b, value, sizes[t]);

        snprintf(key, sizeof(key), "array.%u", t);
        put_key(b, key, QN_GGUF_ARRAY);
        put_array(b, t, 2);
        if (t == QN_GGUF_STRING) {
            put_text(b, "");
            put_text(b, "second");
        }
        put(b, t == QN_GGUF_BOOL ? (const uint8_t *)"\0\1" : value, 2u * sizes[t]);
    }
    put_key(b, "empty", QN_GGUF_ARRAY);
    put_array(b, QN_GGUF_STRING, 0);

    put_key(b, "nested", QN_GGUF_ARRAY);
    put_array(b, QN_GGUF_ARRAY, 2);
    put_array(b, QN_GGUF_STRING, 1);
    put_text(b, "inner");
    put_array(b, QN_GGUF_U16, 3);
    put(b, "\1\0\2\0\3\0", 6);

    put_key(b, "deepest", QN_GGUF_ARRAY);
    for (int depth = 1; depth < QN_GGUF_MAX_DEPTH; depth++) {
        put_array(b, QN_GGUF_ARRAY, 1);
    }
    put_array(b, QN_GGUF_U8, 1);
    put(b, "\7", 1);
}

#endif
