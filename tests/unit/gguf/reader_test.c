/* Reading valid files: every type of value, the getters, the arrays, both versions, and what happens when memory or
 * the file itself runs out. SPDX-License-Identifier: MIT */
#include "bytes.h"

#include <math.h>
#include <unistd.h>

static qn_gguf *open_bytes(const bytes *b, qn_budget *budget)
{
    qn_gguf *g = NULL;
    qn_error err;
    if (qn_gguf_open_memory(b->data, b->len, budget, &g, &err) != QN_OK) {
        fail_msg("%s", err.what);
    }
    return g;
}

static const qn_gguf_loading reading = {.read = true};

static bytes numbers_file(uint32_t version)
{
    bytes b = {0};
    put_header(&b, version, 0, 14);
    put_key(&b, "u8", QN_GGUF_U8);
    put(&b, "\xff", 1);
    put_key(&b, "i8", QN_GGUF_I8);
    put(&b, "\xff", 1);
    put_key(&b, "u16", QN_GGUF_U16);
    put(&b, "\xfe\xff", 2);
    put_key(&b, "i16", QN_GGUF_I16);
    put(&b, "\xfe\xff", 2);
    put_key(&b, "u32", QN_GGUF_U32);
    put_u32(&b, UINT32_MAX);
    put_key(&b, "i32", QN_GGUF_I32);
    put_u32(&b, 0x80000000);
    put_key(&b, "u64", QN_GGUF_U64);
    put_u64(&b, UINT64_MAX);
    put_key(&b, "i64", QN_GGUF_I64);
    put_u64(&b, 1ull << 63);
    put_key(&b, "small.i64", QN_GGUF_I64);
    put_u64(&b, 7);
    put_key(&b, "f32", QN_GGUF_F32);
    put(&b, &(float){1.5f}, 4);
    put_key(&b, "f64", QN_GGUF_F64);
    put(&b, &(double){-0.1}, 8);
    put_key(&b, "huge.f64", QN_GGUF_F64);
    put(&b, &(double){1e300}, 8);
    put_key(&b, "bool", QN_GGUF_BOOL);
    put(&b, "\1", 1);
    put_key(&b, "text", QN_GGUF_STRING);
    put_text(&b, "caf\xc3\xa9");
    return b;
}

static void numbers_of_every_width(void **state)
{
    (void)state;
    static const struct {
        const char *key;
        bool fits_u32, fits_i32, fits_u64;
        uint64_t value; /* i32: sign extended */
    } cases[] = {
        {"u8", true, true, true, 255},           {"i8", false, true, false, (uint64_t)-1},
        {"u16", true, true, true, 65534},        {"i16", false, true, false, (uint64_t)-2},
        {"u32", true, false, true, UINT32_MAX},  {"i32", false, true, false, (uint64_t)INT32_MIN},
        {"u64", false, false, true, UINT64_MAX}, {"i64", false, false, false, 0},
        {"small.i64", true, true, true, 7},      {"f32", false, false, false, 0},
        {"bool", false, false, false, 0},        {"text", false, false, false, 0},
    };
    for (uint32_t version = 2; version <= 3; version++) {
        bytes b = numbers_file(version);
        qn_gguf *g = open_bytes(&b, NULL);
        assert_int_equal(qn_gguf_version(g), version);
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
            uint32_t u32 = 5;
            int32_t i32 = 5;
            uint64_t u64 = 5;
            qn_error err;
            assert_int_equal(qn_gguf_get_u32(g, cases[i].key, &u32, &err), cases[i].fits_u32 ? QN_OK : QN_EFORMAT);
            assert_int_equal(u32, cases[i].fits_u32 ? (uint32_t)cases[i].value : 5);
            assert_int_equal(qn_gguf_get_i32(g, cases[i].key, &i32, &err), cases[i].fits_i32 ? QN_OK : QN_EFORMAT);
            assert_int_equal(i32, cases[i].fits_i32 ? (int32_t)cases[i].value : 5);
            assert_int_equal(qn_gguf_get_u64(g, cases[i].key, &u64, &err), cases[i].fits_u64 ? QN_OK : QN_EFORMAT);
            assert_true(u64 == (cases[i].fits_u64 ? cases[i].value : 5));
        }
        qn_gguf_close(g);
        free(b.data);
    }
}

static void other_getters(void **state)
{
    (void)state;
    bytes b = numbers_file(3);
    qn_gguf *g = open_bytes(&b, NULL);
    qn_error err;
    float f = 5;
    assert_int_equal(qn_gguf_get_f32(g, "f32", &f, &err), QN_OK);
    assert_true(f == 1.5f);
    assert_int_equal(qn_gguf_get_f32(g, "f64", &f, &err), QN_OK);
    assert_true(f == (float)-0.1);
    assert_int_equal(qn_gguf_get_f32(g, "huge.f64", &f, &err), QN_EFORMAT);
    assert_string_equal(err.what, "huge.f64: the value does not fit an f32");
    assert_int_equal(qn_gguf_get_f32(g, "u32", &f, &err), QN_EFORMAT);
    assert_string_equal(err.what, "u32: is a u32, not an f32 or f64");
    assert_true(f == (float)-0.1);

    bool yes = false;
    assert_int_equal(qn_gguf_get_bool(g, "bool", &yes, &err), QN_OK);
    assert_true(yes);
    assert_int_equal(qn_gguf_get_bool(g, "u8", &yes, &err), QN_EFORMAT);

    qn_str s;
    assert_int_equal(qn_gguf_get_str(g, "text", &s, &err), QN_OK);
    assert_true(qn_str_is(s, "caf\xc3\xa9"));
    assert_int_equal(qn_gguf_get_str(g, "f32", &s, &err), QN_EFORMAT);
    assert_string_equal(err.what, "f32: is an f32, not a string");

    uint32_t u;
    assert_int_equal(qn_gguf_get_u32(g, "llama.block_count", &u, &err), QN_ENOTFOUND);
    assert_string_equal(err.what, "llama.block_count: the file has no such key");
    assert_int_equal(qn_gguf_get_u32(g, "u64", &u, &err), QN_EFORMAT);
    assert_string_equal(err.what, "u64: 18446744073709551615 is not within 0 to 4294967295");
    assert_int_equal(qn_gguf_get_u32(g, "i8", &u, &err), QN_EFORMAT);
    assert_string_equal(err.what, "i8: -1 is not within 0 to 4294967295");
    assert_int_equal(qn_gguf_get_u32(g, "i8", &u, NULL), QN_EFORMAT);

    assert_null(qn_gguf_find(g, ""));
    assert_null(qn_gguf_find(g, "u"));
    assert_null(qn_gguf_find(g, "u88"));
    assert_int_equal(qn_gguf_n_tensors(g), 0);
    assert_null(qn_gguf_find_tensor(g, "u8"));
    assert_null(qn_gguf_tensor_at(g, 0));
    assert_null(qn_gguf_kv_at(g, qn_gguf_n_kv(g)));
    assert_int_equal(qn_gguf_n_shards(g), 1);
    assert_int_equal(qn_gguf_alignment(g), 32);
    assert_int_equal(qn_gguf_file_bytes(g), b.len);
    assert_false(qn_gguf_damaged(g));
    qn_gguf_close(g);
    qn_gguf_close(NULL);
    free(b.data);
}

static void array_items(void **state)
{
    (void)state;
    bytes b = {0};
    put_header(&b, 3, 0, 6);
    put_key(&b, "i16", QN_GGUF_ARRAY);
    put_array(&b, QN_GGUF_I16, 3);
    put(&b, "\1\0\xff\xff\0\x80", 6);
    put_key(&b, "u64", QN_GGUF_ARRAY);
    put_array(&b, QN_GGUF_U64, 2);
    put_u64(&b, UINT64_MAX);
    put_u64(&b, 1);
    put_key(&b, "bools", QN_GGUF_ARRAY);
    put_array(&b, QN_GGUF_BOOL, 2);
    put(&b, "\0\1", 2);
    put_key(&b, "f64", QN_GGUF_ARRAY);
    put_array(&b, QN_GGUF_F64, 3);
    put(&b, (double[]){2.5, 1e300, INFINITY}, 24);
    put_key(&b, "texts", QN_GGUF_ARRAY);
    put_array(&b, QN_GGUF_STRING, 3);
    put_text(&b, "a");
    put_text(&b, "");
    put_text(&b, "\xff\n");
    put_key(&b, "one", QN_GGUF_U32);
    put_u32(&b, 1);
    qn_gguf *g = open_bytes(&b, NULL);

    int64_t i64 = 0;
    uint64_t u64 = 0;
    float f = 0;
    const qn_gguf_kv *kv = qn_gguf_find(g, "i16");
    assert_int_equal(kv->n_items, 3);
    assert_true(qn_gguf_item_i64(kv, 1, &i64) && i64 == -1);
    assert_true(qn_gguf_item_i64(kv, 2, &i64) && i64 == INT16_MIN);
    assert_false(qn_gguf_item_i64(kv, 3, &i64));
    assert_false(qn_gguf_item_i64(kv, UINT64_MAX, &i64));
    assert_true(qn_gguf_item_u64(kv, 0, &u64) && u64 == 1);
    assert_false(qn_gguf_item_u64(kv, 1, &u64));
    assert_false(qn_gguf_item_f32(kv, 0, &f));

    kv = qn_gguf_find(g, "u64");
    assert_true(qn_gguf_item_u64(kv, 0, &u64) && u64 == UINT64_MAX);
    assert_false(qn_gguf_item_i64(kv, 0, &i64));
    assert_true(qn_gguf_item_i64(kv, 1, &i64) && i64 == 1);

    kv = qn_gguf_find(g, "bools");
    assert_true(qn_gguf_item_u64(kv, 0, &u64) && u64 == 0);
    assert_true(qn_gguf_item_u64(kv, 1, &u64) && u64 == 1);
    assert_true(qn_gguf_item_i64(kv, 1, &i64) && i64 == 1);

    kv = qn_gguf_find(g, "f64");
    assert_true(qn_gguf_item_f32(kv, 0, &f) && f == 2.5f);
    assert_false(qn_gguf_item_f32(kv, 1, &f));
    assert_true(qn_gguf_item_f32(kv, 2, &f) && isinf(f));
    assert_false(qn_gguf_item_u64(kv, 0, &u64));

    kv = qn_gguf_find(g, "texts");
    qn_gguf_iter it = {0};
    qn_str s;
    assert_true(qn_gguf_next_str(kv, &it, &s) && qn_str_is(s, "a"));
    assert_true(qn_gguf_next_str(kv, &it, &s) && s.len == 0);
    assert_true(qn_gguf_next_str(kv, &it, &s) && qn_str_is(s, "\xff\n"));
    assert_false(qn_gguf_next_str(kv, &it, &s));
    assert_false(qn_gguf_item_u64(kv, 0, &u64));

    kv = qn_gguf_find(g, "one");
    it = (qn_gguf_iter){0};
    assert_false(qn_gguf_item_u64(kv, 0, &u64));
    assert_false(qn_gguf_next_str(kv, &it, &s));
    assert_false(qn_gguf_item_u64(NULL, 0, &u64));
    assert_false(qn_gguf_next_str(NULL, &it, &s));
    qn_gguf_close(g);
    free(b.data);
}

/* The file may change under the map after it was checked: iteration stays inside the entry. */
static void strings_changed_after_opening(void **state)
{
    (void)state;
    bytes b = {0};
    put_header(&b, 3, 0, 1);
    put_key(&b, "texts", QN_GGUF_ARRAY);
    put_array(&b, QN_GGUF_STRING, 2);
    size_t first = b.len;
    put_text(&b, "abc");
    put_text(&b, "def");
    qn_gguf *g = open_bytes(&b, NULL);
    const qn_gguf_kv *kv = qn_gguf_find(g, "texts");
    static const uint64_t lengths[] = {UINT64_MAX, UINT64_MAX - 7, 1000, 15, 14, 4};
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        memcpy(b.data + first, &lengths[i], 8);
        qn_gguf_iter it = {0};
        qn_str s;
        while (qn_gguf_next_str(kv, &it, &s)) {
            assert_true((const uint8_t *)s.data + s.len <= b.data + b.len);
        }
        assert_true(it.i < 2);
    }
    qn_gguf_close(g);
    free(b.data);
}

static void tensors(void **state)
{
    (void)state;
    bytes b = {0};
    put_header(&b, 3, 3, 1);
    put_key(&b, "general.alignment", QN_GGUF_U32);
    put_u32(&b, 64);
    /* Out of order, with a hole between. */
    put_tensor(&b, "last", 3, (uint64_t[]){32, 2, 3}, QN_TYPE_Q4_0, 192);
    put_tensor(&b, "first", 1, (uint64_t[]){3}, QN_TYPE_F32, 0);
    put_tensor(&b, "\xe4\xb8\xad", 4, (uint64_t[]){2, 1, 1, 2}, QN_TYPE_BF16, 64);
    put_padding(&b, 64);
    size_t start = b.len;
    for (unsigned i = 0; i < 192 + 108; i++) {
        put(&b, &(uint8_t){(uint8_t)i}, 1);
    }
    put(&b, "trailing bytes are nobody's business", 36);

    qn_gguf *g = open_bytes(&b, NULL);
    assert_int_equal(qn_gguf_alignment(g), 64);
    assert_int_equal(qn_gguf_n_tensors(g), 3);
    const qn_gguf_tensor *t = qn_gguf_find_tensor(g, "last");
    assert_ptr_equal(t, qn_gguf_tensor_at(g, 0));
    assert_int_equal(t->type, QN_TYPE_Q4_0);
    assert_int_equal(t->n_dims, 3);
    assert_int_equal(t->row_bytes, 18);
    assert_int_equal(t->bytes, 108);
    assert_int_equal(t->ne[3], 1);
    assert_int_equal(t->offset, start + 192);
    assert_ptr_equal(t->data, b.data + start + 192);
    t = qn_gguf_find_tensor(g, "\xe4\xb8\xad");
    assert_int_equal(t->bytes, 8);
    assert_int_equal(t->data[0], 64);
    assert_null(qn_gguf_find_tensor(g, "firs"));
    qn_gguf_close(g);
    free(b.data);
}

static bytes rich_file(void)
{
    bytes b = {0};
    put_header(&b, 3, 2, n_every_kv);
    put_every_kv(&b);
    put_tensor(&b, "a", 1, (uint64_t[]){8}, QN_TYPE_F32, 32);
    put_tensor(&b, "b", 1, (uint64_t[]){8}, QN_TYPE_F32, 0);
    put_padding(&b, 32);
    static const uint8_t data[64];
    put(&b, data, sizeof(data));
    return b;
}

static void write_bytes(const char *path, const bytes *b)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_true(b->len == 0 || fwrite(b->data, 1, b->len, f) == b->len);
    assert_int_equal(fclose(f), 0);
}

static void every_allocation_fails_once(void **state)
{
    (void)state;
    bytes b = rich_file();
    const char *path = qn_test_temp("oom.gguf");
    write_bytes(path, &b);
    qn_budget *budget;
    assert_int_equal(qn_budget_open(0, &budget), QN_OK);
    uint64_t n_live = qn_alloc_live();
    enum { FROM_MEMORY, MAPPED, READ, N_WAYS };
    for (int way = 0; way < N_WAYS; way++) {
        qn_status status = QN_ENOMEM;
        uint64_t n = 0;
        while (status != QN_OK) {
            qn_gguf *g = NULL;
            qn_error err = {0};
            qn_alloc_fail_at(++n);
            status = way == FROM_MEMORY ? qn_gguf_open_memory(b.data, b.len, budget, &g, &err)
                     : way == MAPPED    ? qn_gguf_open(path, budget, &g, &err)
                                        : qn_gguf_load(path, &reading, budget, &g, &err);
            qn_alloc_fail_at(0);
            if (status == QN_OK) {
                qn_gguf_close(g);
            } else {
                assert_int_equal(status, QN_ENOMEM);
                assert_null(g);
                assert_true(strlen(err.what) > 0);
            }
            assert_int_equal(qn_alloc_live(), n_live);
            assert_int_equal(qn_budget_used(budget), 0);
        }
        assert_true(n > 5);
    }
    qn_budget_close(budget);
    unlink(path);
    free(b.data);
}

static void memory_has_its_owner(void **state)
{
    (void)state;
    bytes b = rich_file();
    qn_budget *budget;
    assert_int_equal(qn_budget_open(0, &budget), QN_OK);
    qn_gguf *g = open_bytes(&b, budget);
    const char *name;
    uint64_t n_bytes;
    assert_true(qn_budget_owner(budget, 0, &name, &n_bytes));
    assert_string_equal(name, "gguf");
    assert_int_equal(n_bytes, qn_budget_used(budget));
    assert_true(n_bytes > 0);
    assert_false(qn_budget_owner(budget, 1, &name, &n_bytes));
    qn_gguf_close(g);
    qn_budget_close(budget);

    assert_int_equal(qn_budget_open(1000, &budget), QN_OK);
    qn_error err;
    assert_int_equal(qn_gguf_open_memory(b.data, b.len, budget, &g, &err), QN_ENOMEM);
    assert_int_equal(qn_budget_used(budget), 0);
    qn_budget_close(budget);
    free(b.data);
}

static void file_cut_while_open(void **state)
{
    (void)state;
    enum { n_bytes = 1 << 20 };
    bytes b = {0};
    put_header(&b, 3, 1, 0);
    put_tensor(&b, "weights", 1, (uint64_t[]){n_bytes}, QN_TYPE_I8, 0);
    put_padding(&b, 32);
    for (size_t i = 0; i < n_bytes; i++) {
        put(&b, "\7", 1);
    }

    const char *path = qn_test_temp("cut.gguf");
    write_bytes(path, &b);
    qn_gguf *g;
    qn_error err;
    assert_int_equal(qn_gguf_open(path, NULL, &g, &err), QN_OK);
    const qn_gguf_tensor *t = qn_gguf_find_tensor(g, "weights");
    assert_int_equal(t->data[n_bytes - 1], 7);
    assert_false(qn_gguf_damaged(g));
    assert_int_equal(truncate(path, 4096), 0);
    assert_int_equal(*(const volatile uint8_t *)&t->data[n_bytes - 1], 0);
    assert_true(qn_gguf_damaged(g));
    qn_gguf_close(g);

    /* What was read into memory does not depend on the file any more. */
    write_bytes(path, &b);
    assert_int_equal(qn_gguf_load(path, &reading, NULL, &g, &err), QN_OK);
    assert_int_equal(truncate(path, 4096), 0);
    t = qn_gguf_find_tensor(g, "weights");
    assert_int_equal((uintptr_t)t->data % 32, 0);
    assert_int_equal(t->data[n_bytes - 1], 7);
    assert_false(qn_gguf_damaged(g));
    assert_int_equal(qn_gguf_lock(g, &err), QN_OK);
    qn_gguf_close(g);

    assert_int_equal(qn_gguf_open(path, NULL, &g, &err), QN_EFORMAT);
    char expected[QN_ERROR_TEXT];
    snprintf(expected, sizeof(expected),
             "%s: tensor 'weights': the file is cut short: at least 1048640 bytes expected, 4096 found",
             strrchr(path, '/') + 1);
    assert_string_equal(err.what, expected);
    assert_int_equal(qn_gguf_load(path, &reading, NULL, &g, &err), QN_EFORMAT);
    assert_string_equal(err.what, expected);
    unlink(path);
    free(b.data);
}

static int stop_at_once(void *ctx, uint64_t n_done, uint64_t n_bytes)
{
    *(uint64_t *)ctx += n_done + n_bytes;
    return 1;
}

static void reading_is_stopped_and_bounded(void **state)
{
    (void)state;
    bytes b = rich_file();
    const char *path = qn_test_temp("stop.gguf");
    write_bytes(path, &b);
    qn_gguf *g = NULL;
    qn_error err;
    uint64_t told = 0;
    const qn_gguf_loading stopping = {.read = true, .progress = stop_at_once, .ctx = &told};
    assert_int_equal(qn_gguf_load(path, &stopping, NULL, &g, &err), QN_EABORTED);
    assert_int_equal(told, 2 * b.len);
    assert_non_null(strstr(err.what, "stop.gguf: "));
    qn_budget *budget;
    assert_int_equal(qn_budget_open(b.len, &budget), QN_OK); /* enough for a map, not for the file */
    assert_int_equal(qn_gguf_load(path, &reading, budget, &g, &err), QN_EBUDGET);
    assert_int_equal(qn_budget_used(budget), 0);
    qn_budget_close(budget);
    assert_int_equal(qn_budget_open(0, &budget), QN_OK);
    assert_int_equal(qn_gguf_load(path, &reading, budget, &g, &err), QN_OK);
    const char *owner;
    uint64_t n_held = 0, n_owned;
    for (size_t i = 0; qn_budget_owner(budget, i, &owner, &n_owned); i++) {
        n_held += strcmp(owner, "model file") == 0 ? n_owned : 0;
    }
    assert_in_range(n_held, b.len, b.len + 256);
    qn_gguf_close(g);
    qn_budget_close(budget);
    /* A file that is none is not read. */
    memcpy(b.data, "none", 4);
    write_bytes(path, &b);
    told = 0;
    assert_int_equal(qn_gguf_load(path, &stopping, NULL, &g, &err), QN_EFORMAT);
    assert_int_equal(told, 0);
    unlink(path);
    free(b.data);
}

static void paths_that_are_no_files(void **state)
{
    (void)state;
    qn_gguf *g;
    qn_error err;
    const char *path = qn_test_temp("absent.gguf");
    assert_int_equal(qn_gguf_open(path, NULL, &g, &err), QN_EIO);
    assert_non_null(strstr(err.what, "absent.gguf"));
    assert_int_equal(qn_gguf_open("/", NULL, &g, &err), QN_EFORMAT);
    bytes empty = {0};
    write_bytes(path, &empty);
    assert_int_equal(qn_gguf_open(path, NULL, &g, &err), QN_EFORMAT);
    unlink(path);
}

static void errors_name_the_file(void **state)
{
    (void)state;
    static const char fault[] = "llama.block_count: missing";
    char path[400] = "/folder/", end[200];
    qn_error err;
    qn_fail(&err, QN_ENOTFOUND, "%s", fault);
    assert_int_equal(qn_gguf_name_file("/folder/sub/a.gguf", QN_ENOTFOUND, &err), QN_ENOTFOUND);
    assert_string_equal(err.what, "a.gguf: llama.block_count: missing");
    assert_int_equal(err.code, QN_ENOTFOUND);
    assert_int_equal(qn_gguf_name_file("a.gguf", QN_ENOMEM, NULL), QN_ENOMEM);

    /* A name as long as names get leaves room for the fault. */
    memset(path + 8, 'x', 250);
    strcpy(path + 8 + 250, ".gguf");
    qn_fail(&err, QN_ENOTFOUND, "%s", fault);
    qn_gguf_name_file(path, QN_ENOTFOUND, &err);
    snprintf(end, sizeof(end), "xxx.gguf: %s", fault);
    assert_memory_equal(err.what, "...xxx", 6);
    assert_string_equal(err.what + strlen(err.what) - strlen(end), end);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_every_width),
        cmocka_unit_test(other_getters),
        cmocka_unit_test(array_items),
        cmocka_unit_test(strings_changed_after_opening),
        cmocka_unit_test(tensors),
        cmocka_unit_test(every_allocation_fails_once),
        cmocka_unit_test(memory_has_its_owner),
        cmocka_unit_test(file_cut_while_open),
        cmocka_unit_test(reading_is_stopped_and_bounded),
        cmocka_unit_test(paths_that_are_no_files),
        cmocka_unit_test(errors_name_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
