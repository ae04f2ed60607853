/* Files that must be refused: each with the field named, within the memory that the contract allows, and without a
 * leak. SPDX-License-Identifier: MIT */
#include "bytes.h"

#define KEY_A B64("\1") "a"
#define ALIGNMENT_KEY B64("\x11") "general.alignment"
#define BYTES(literal) .kvs = (literal), .kvs_bytes = sizeof(literal) - 1

typedef struct info {
    const char *name;
    size_t name_bytes; /* 0: as strlen() says */
    uint32_t n_dims;
    uint64_t ne[9];
    uint32_t type;
    uint64_t offset;
} info;

/* What is left out is as in a valid file of two tensors of 8 F32, "t" and "u", and no metadata. */
typedef struct recipe {
    const char *expected; /* a part of the error's text */
    qn_status code;       /* 0: QN_EFORMAT */
    const char *magic;
    uint32_t version;
    uint64_t n_kv, n_tensors; /* 0: as many as there are */
    const char *kvs;
    size_t kvs_bytes;
    info t, u;
    size_t cut; /* bytes taken off the end */
} recipe;

static void put_info(bytes *b, const info *t, const char *name, uint64_t offset)
{
    size_t n = t->name == NULL ? strlen(name) : t->name_bytes != 0 ? t->name_bytes : strlen(t->name);
    bool is_plain = t->n_dims == 0 && t->ne[0] == 0;
    uint32_t n_dims = is_plain ? 1 : t->n_dims;
    uint64_t eight = 8;
    put_u64(b, n);
    put(b, t->name != NULL ? t->name : name, n);
    put_u32(b, n_dims);
    put(b, is_plain ? &eight : t->ne, (n_dims < 9 ? n_dims : 9) * sizeof(uint64_t));
    put_u32(b, t->type);
    put_u64(b, t->offset != 0 ? t->offset : offset);
}

static bytes build(const recipe *r)
{
    bytes b = {0};
    put(&b, r->magic != NULL ? r->magic : "GGUF", 4);
    put_u32(&b, r->version != 0 ? r->version : 3);
    put_u64(&b, r->n_tensors != 0 ? r->n_tensors : 2);
    put_u64(&b, r->n_kv != 0 ? r->n_kv : r->kvs != NULL);
    put(&b, r->kvs, r->kvs_bytes);
    put_info(&b, &r->t, "t", 0);
    put_info(&b, &r->u, "u", 32);
    put_padding(&b, 32);
    static const uint8_t data[64];
    put(&b, data, sizeof(data));
    b.len -= r->cut;
    return b;
}

/* Opens in a buffer of just that size, so that the address sanitizer sees a read past the end. */
static qn_status open_exact(const bytes *b, qn_gguf **g, qn_error *err)
{
    qn_budget *budget;
    assert_int_equal(qn_budget_open(0, &budget), QN_OK);
    uint64_t n_live = qn_alloc_live();
    uint8_t *data = malloc(b->len > 0 ? b->len : 1);
    assert_non_null(data);
    memcpy(data, b->data, b->len);
    memset(err, 0, sizeof(*err));
    qn_status status = qn_gguf_open_memory(data, b->len, budget, g, err);
    assert_true(qn_budget_peak(budget) <= (16u << 20) + 2 * b->len);
    if (status == QN_OK) {
        qn_gguf_close(*g);
    } else {
        assert_int_equal(err->code, status);
        assert_true(strlen(err->what) > 0);
    }
    assert_int_equal(qn_alloc_live(), n_live);
    qn_budget_close(budget);
    free(data);
    return status;
}

static void expect_refused(const bytes *b, qn_status code, const char *expected)
{
    qn_gguf *g;
    qn_error err;
    qn_status status = open_exact(b, &g, &err);
    if (status != code || strstr(err.what, expected) == NULL) {
        fail_msg("expected %s '%s', got %s '%s'", qn_status_name(code), expected, qn_status_name(status), err.what);
    }
}

/* clang-format off */
static const recipe recipes[] = {
    {.expected = "magic: the file begins with 'GGML", .magic = "GGML"},
    {.expected = "version: 1,", .version = 1, .code = QN_EUNSUPPORTED},
    {.expected = "version: 4 ", .version = 4, .code = QN_EUNSUPPORTED},
    {.expected = "big-endian", .version = 0x03000000, .code = QN_EUNSUPPORTED},
    {.expected = "big-endian", .version = 0x02000000, .code = QN_EUNSUPPORTED},

    /* counts */
    {.expected = "n_tensors: 131072: the file is cut short", .n_tensors = QN_GGUF_MAX_TENSORS},
    {.expected = "n_tensors: 131073 is more than 131072", .n_tensors = QN_GGUF_MAX_TENSORS + 1},
    {.expected = "n_tensors: 18446744073709551615 is more than", .n_tensors = UINT64_MAX},
    {.expected = "n_kv: 65536: the file is cut short", .n_kv = QN_GGUF_MAX_KV},
    {.expected = "n_kv: 65537 is more than 65536", .n_kv = QN_GGUF_MAX_KV + 1},
    {.expected = "n_kv: 9223372036854775808 is more than", .n_kv = 1ull << 63},
    {.expected = "tensor 2: the name is empty", .n_tensors = 3},

    /* keys */
    {.expected = "metadata key 0: the name is empty", BYTES(B64("\0") B32("\0") "\1")},
    {.expected = "metadata key 0: the name has 1025 bytes", BYTES("\1\4\0\0\0\0\0\0" "a")},
    {.expected = "metadata key 0: the name has 18446744073709551615 bytes",
     BYTES("\xff\xff\xff\xff\xff\xff\xff\xff" "abcde")},
    {.expected = "metadata key 0: the file is cut short", BYTES("\0\4\0\0\0\0\0\0" "abcde")},
    {.expected = "metadata key 0: the name 'a?b' is not plain", BYTES(B64("\3") "a\nb" B32("\0") "\1")},
    {.expected = "metadata key 0: the name 'a' is not plain", BYTES(B64("\3") "a\0b" B32("\0") "\1")},
    {.expected = "metadata key 0: the name 'a?b' is not plain", BYTES(B64("\3") "a\x7f" "b" B32("\0") "\1")},
    {.expected = "metadata key 0: the name 'a?b' is not plain", BYTES(B64("\3") "a\xff" "b" B32("\0") "\1")},
    {.expected = "metadata key 0: the name 'a?' is not plain", BYTES(B64("\3") "a\xc2\x85" B32("\0") "\1")},
    {.expected = "metadata key 0: the name 'a?", BYTES(B64("\4") "a\xed\xa0\x80" B32("\0") "\1")},
    {.expected = "metadata key 0: the name 'a?", BYTES(B64("\3") "a\xc0\xaf" B32("\0") "\1")},
    {.expected = "metadata key 0: the name 'a?", BYTES(B64("\3") "a\xe2\x82" B32("\0") "\1")},
    {.expected = "a: the key stands twice", .n_kv = 2, BYTES(KEY_A B32("\0") "\1" KEY_A B32("\7") "\1")},

    /* values */
    {.expected = "a: unknown value type 13", BYTES(KEY_A B32("\x0d") B64("\0"))},
    {.expected = "a: unknown value type 4294967295", BYTES(KEY_A "\xff\xff\xff\xff" B64("\0"))},
    {.expected = "a: a bool is neither 0 nor 1", BYTES(KEY_A B32("\7") "\2")},
    {.expected = "a: string 0: the file is cut short: at least 18446744073709551615 bytes",
     BYTES(KEY_A B32("\x08") "\xff\xff\xff\xff\xff\xff\xff\xff")},
    {.expected = "a: string 0: the file is cut short", BYTES(KEY_A B32("\x08") "\0\1\0\0\0\0\0\0")},
    {.expected = "a: unknown item type 13", BYTES(KEY_A B32("\x09") B32("\x0d") B64("\1") "\1")},
    {.expected = "a: unknown item type 255", BYTES(KEY_A B32("\x09") B32("\xff") B64("\0"))},
    {.expected = "a: array of 256 items: the file is cut short", BYTES(KEY_A B32("\x09") B32("\6") "\0\1\0\0\0\0\0\0")},
    {.expected = "a: array of 16777216 items: the file is cut short",
     BYTES(KEY_A B32("\x09") B32("\x08") "\0\0\0\1\0\0\0\0")},
    {.expected = "a: an array of 16777217 items, more than 16777216",
     BYTES(KEY_A B32("\x09") B32("\0") "\1\0\0\1\0\0\0\0")},
    {.expected = "a: an array of 9223372036854775808 items",
     BYTES(KEY_A B32("\x09") B32("\4") "\0\0\0\0\0\0\0\x80")},
    {.expected = "a: string 1: the file is cut short",
     BYTES(KEY_A B32("\x09") B32("\x08") B64("\2") B64("\1") "x" "\0\1\0\0\0\0\0\0")},
    {.expected = "a: a bool is neither 0 nor 1", BYTES(KEY_A B32("\x09") B32("\7") B64("\3") "\1\1\xff")},
    {.expected = "a: arrays are nested deeper than 4",
     BYTES(KEY_A B32("\x09") B32("\x09") B64("\1") B32("\x09") B64("\1") B32("\x09") B64("\1") B32("\x09") B64("\1")
               B32("\0") B64("\1") "\1")},
    {.expected = "a: unknown item type 77", BYTES(KEY_A B32("\x09") B32("\x09") B64("\1") B32("\x4d") B64("\1") "\1")},

    /* general.alignment */
    {.expected = "general.alignment: 0 is not a power of two", BYTES(ALIGNMENT_KEY B32("\4") B32("\0"))},
    {.expected = "general.alignment: 3 is not a power of two", BYTES(ALIGNMENT_KEY B32("\4") B32("\3"))},
    {.expected = "general.alignment: 4 is not within 8 to 65536", BYTES(ALIGNMENT_KEY B32("\4") B32("\4"))},
    {.expected = "general.alignment: 1073741824 is not within", BYTES(ALIGNMENT_KEY B32("\4") "\0\0\0\x40")},
    {.expected = "general.alignment: is an i32, not a u32", BYTES(ALIGNMENT_KEY B32("\5") B32("\x20"))},
    {.expected = "general.alignment: is a u64, not a u32", BYTES(ALIGNMENT_KEY B32("\x0a") B64("\x20"))},
    {.expected = "general.alignment: is a string, not a u32", BYTES(ALIGNMENT_KEY B32("\x08") B64("\2") "32")},
    {.expected = "general.alignment: is an array", BYTES(ALIGNMENT_KEY B32("\x09") B32("\4") B64("\1") B32("\x20"))},

    /* names of tensors */
    {.expected = "tensor 't': the name stands twice", .u.name = "t"},
    {.expected = "tensor 0: the name 'a?' is not plain", .t.name = "a\x1b"},
    {.expected = "tensor 1: the name 'a' is not plain", .u = {.name = "a\0b", .name_bytes = 3}},
    {.expected = "tensor 0: the name 'a?' is not plain", .t.name = "a\x80"},
    {.expected = "tensor 0: the name has 281474976710656 bytes, more than 256",
     BYTES(KEY_A B32("\0") "\1" "\0\0\0\0\0\0\1\0")},

    /* shapes */
    {.expected = "tensor 't': has 0 dimensions", .t = {.n_dims = 0, .ne = {1}}},
    {.expected = "tensor 't': has 5 dimensions", .t = {.n_dims = 5, .ne = {1, 1, 1, 1, 1}}},
    {.expected = "tensor 't': has 9 dimensions", .t = {.n_dims = 9, .ne = {1, 1, 1, 1, 1, 1, 1, 1, 1}}},
    {.expected = "tensor 'u': has 4294967295 dimensions", .u = {.n_dims = UINT32_MAX, .ne = {1}}},
    {.expected = "tensor 't': dimension 0 is 0", .t = {.n_dims = 1}},
    {.expected = "tensor 't': dimension 3 is 0", .t = {.n_dims = 4, .ne = {1, 1, 1, 0}}},
    {.expected = "tensor 't': dimension 0 is 9223372036854775808, too many",
     .t = {.n_dims = 1, .ne = {1ull << 63}}},
    {.expected = "tensor 't': dimension 1 is 4294967296, too many",
     .t = {.n_dims = 2, .ne = {1ull << 32, 1ull << 32}}},
    {.expected = "tensor 't': dimension 3 is 4, too many",
     .t = {.n_dims = 4, .ne = {1ull << 20, 1ull << 21, 1ull << 20, 4}}},
    {.expected = "tensor 't': its size overflows", .t = {.n_dims = 1, .ne = {INT64_MAX}}},
    {.expected = "tensor 't': its size overflows",
     .t = {.n_dims = 2, .ne = {1ull << 31, 1ull << 31}, .type = QN_TYPE_F32}},

    /* types */
    {.expected = "tensor 't': unknown type 255", .t.type = 255, .code = QN_EUNSUPPORTED},
    {.expected = "tensor 't': unknown type 2147483648", .t.type = 1u << 31, .code = QN_EUNSUPPORTED},
    {.expected = "tensor 'u': unknown type 4", .u.type = 4, .code = QN_EUNSUPPORTED},
    {.expected = "tensor 'u': unknown type 42", .u.type = QN_TYPE_COUNT, .code = QN_EUNSUPPORTED},
    {.expected = "tensor 't': rows of 8 are not whole Q4_0 blocks of 32", .t.type = QN_TYPE_Q4_0},
    {.expected = "tensor 't': rows of 255 are not whole Q4_K blocks of 256",
     .t = {.n_dims = 1, .ne = {255}, .type = QN_TYPE_Q4_K}},

    /* places */
    {.expected = "tensor 'u': offset 123 is not a multiple of 32", .u.offset = 123},
    {.expected = "tensor 't': offset 18446744073709551615 is not a multiple", .t.offset = UINT64_MAX},
    {.expected = "tensor 't': its offset overflows", .t.offset = UINT64_MAX - 31},
    {.expected = "tensor 't': its offset overflows", .t.offset = UINT64_MAX - 127},
    {.expected = "tensor 'u': the file is cut short: at least 192 bytes expected, 160 found", .u.offset = 64},
    {.expected = "tensor 'u': the file is cut short", .u.offset = 1ull << 40},
    {.expected = "tensor 'u': the file is cut short", .u = {.n_dims = 1, .ne = {1ull << 40}}},
    {.expected = "tensor 'u': its data overlap those of 't'", .t = {.n_dims = 1, .ne = {9}}},
    {.expected = "tensor 'u': its data overlap those of 't'", .t.offset = 32},
    {.expected = "'u': the file is cut short: at least 160 bytes expected, 159 found", .cut = 1},
};
/* clang-format on */

static void refused_with_the_field_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(recipes) / sizeof(recipes[0]); i++) {
        bytes b = build(&recipes[i]);
        expect_refused(&b, recipes[i].code != QN_OK ? recipes[i].code : QN_EFORMAT, recipes[i].expected);
        free(b.data);
    }
}

/* The table stands on this: the same bytes without a fault are accepted. */
static void accepted_without_a_fault(void **state)
{
    (void)state;
    const recipe good[] = {
        {0},
        {.version = 2},
        {.u.offset = 32, .t.type = QN_TYPE_I8},
        {BYTES(KEY_A B32("\7") "\1")},
        {BYTES(B64("\3") "\xe2\x82\xac" B32("\0") "\1")},
        {BYTES(ALIGNMENT_KEY B32("\4") B32("\x08"))},
        {BYTES(KEY_A B32("\x09") B32("\x09") B64("\0"))},
    };
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        bytes b = build(&good[i]);
        qn_gguf *g;
        qn_error err;
        if (open_exact(&b, &g, &err) != QN_OK) {
            fail_msg("good file %zu: %s", i, err.what);
        }
        free(b.data);
    }
}

static bytes rich_file(void)
{
    bytes b = {0};
    put_header(&b, 3, 2, n_every_kv);
    put_every_kv(&b);
    put_tensor(&b, "blk.0.attn_q.weight", 2, (uint64_t[]){32, 2}, QN_TYPE_Q8_0, 0);
    put_tensor(&b, "output", 4, (uint64_t[]){2, 2, 2, 2}, QN_TYPE_F16, 96);
    put_padding(&b, 32);
    static const uint8_t data[96 + 32];
    put(&b, data, sizeof(data));
    return b;
}

static void cut_at_every_byte(void **state)
{
    (void)state;
    bytes whole = rich_file();
    qn_gguf *g;
    qn_error err;
    assert_int_equal(open_exact(&whole, &g, &err), QN_OK);
    for (size_t n = 0; n < whole.len; n++) {
        bytes b = {.data = whole.data, .len = n};
        char found[32];
        snprintf(found, sizeof(found), " %zu found", n);
        expect_refused(&b, QN_EFORMAT, n < 4 ? "magic" : found);
    }
    free(whole.data);
}

/* Whatever a byte becomes, the file is refused or is safe to walk. */
static void every_byte_changed(void **state)
{
    (void)state;
    bytes b = rich_file();
    for (size_t i = 0; i < b.len; i++) {
        uint8_t kept = b.data[i];
        static const uint8_t changes[] = {0x01, 0x80, 0xff, 0x20};
        for (size_t k = 0; k < sizeof(changes); k++) {
            qn_gguf *g;
            qn_error err;
            b.data[i] = kept ^ changes[k];
            qn_status status = open_exact(&b, &g, &err);
            assert_true(status == QN_OK || status == QN_EFORMAT || status == QN_EUNSUPPORTED);
        }
        b.data[i] = kept;
    }
    free(b.data);
}

static void other_kinds_of_files(void **state)
{
    (void)state;
    static const struct {
        const char *text, *expected;
    } files[] = {
        {"", "magic: the file begins with '', not with 'GGUF'"},
        {"GG", "'GG'"},
        {"<!DOCTYPE html>\n<html><body>Not found</body></html>", "begins with '<!DOCTYPE html>.<html><b'"},
        {"version https://git-lfs.github.com/spec/v1\n", "begins with 'version https://git-lfs.'"},
        {"\x1b[2J\x1b[31m", "begins with '.[2J.[31m'"},
    };
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        bytes b = {.data = (uint8_t *)(uintptr_t)files[i].text, .len = strlen(files[i].text)};
        expect_refused(&b, QN_EFORMAT, files[i].expected);
    }
}

/* Strings and inner arrays are walked one by one; those of all arrays count together. */
static void too_many_strings(void **state)
{
    (void)state;
    bytes b = {0};
    put_header(&b, 3, 0, 2);
    put_key(&b, "first", QN_GGUF_ARRAY);
    put_array(&b, QN_GGUF_STRING, QN_GGUF_MAX_STRINGS);
    for (uint32_t i = 0; i < QN_GGUF_MAX_STRINGS; i++) {
        put_u64(&b, 0);
    }
    size_t second = b.len;
    put_key(&b, "second", QN_GGUF_ARRAY);
    put_array(&b, QN_GGUF_ARRAY, 0);
    qn_gguf *g;
    qn_error err;
    assert_int_equal(open_exact(&b, &g, &err), QN_OK);
    b.len = second;
    put_key(&b, "second", QN_GGUF_ARRAY);
    put_array(&b, QN_GGUF_ARRAY, 1);
    put_array(&b, QN_GGUF_U8, 0);
    expect_refused(&b, QN_EFORMAT, "second: more than 4194304 strings and inner arrays");
    free(b.data);
}

/* As many tensors as may be, in an order and with names that cost the most, and a fault only at the end. */
static void the_largest_counts(void **state)
{
    (void)state;
    const uint64_t n = QN_GGUF_MAX_TENSORS, one = 1;
    bytes b = {0};
    put_header(&b, 3, n, 0);
    for (uint64_t i = 0; i < n; i++) {
        char name[8];
        snprintf(name, sizeof(name), "%06x", (unsigned)i);
        /* All different but the last. */
        put_tensor(&b, name, 1, &one, QN_TYPE_I8, i == n - 1 ? 32 : (i * 7919 % n) * 32);
    }
    expect_refused(&b, QN_EFORMAT, "the file is cut short");
    for (uint64_t i = 0; i < 32 * n + 64; i++) {
        put(&b, "", 1);
    }
    expect_refused(&b, QN_EFORMAT, "its data overlap");
    free(b.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refused_with_the_field_named),
        cmocka_unit_test(accepted_without_a_fault),
        cmocka_unit_test(cut_at_every_byte),
        cmocka_unit_test(every_byte_changed),
        cmocka_unit_test(other_kinds_of_files),
        cmocka_unit_test(too_many_strings),

        cmocka_unit_test(the_largest_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
