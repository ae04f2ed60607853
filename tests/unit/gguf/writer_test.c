/* Writing: what is written reads back the same, what the reader would refuse is not written, and a write that fails
 * leaves the folder as it was. SPDX-License-Identifier: MIT */
#include "bytes.h"

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

static qn_gguf_writer *open_writer(uint32_t alignment)
{
    qn_gguf_writer *w;
    assert_int_equal(qn_gguf_writer_open(NULL, alignment, &w, NULL), QN_OK);
    return w;
}

/* The file of w in memory, for free(); w is closed. */
static bytes written(qn_gguf_writer *w)
{
    uint8_t *data;
    bytes b = {0};
    size_t n;
    qn_error err;
    if (qn_gguf_write_memory(w, &data, &n, &err) != QN_OK) {
        fail_msg("%s", err.what);
    }
    put(&b, data, n);
    qn_free(data);
    qn_gguf_writer_close(w);
    return b;
}

static qn_gguf *read_back(const bytes *b)
{
    qn_gguf *g = NULL;
    qn_error err;
    if (qn_gguf_open_memory(b->data, b->len, NULL, &g, &err) != QN_OK) {
        fail_msg("%s", err.what);
    }
    return g;
}

static void copy_all(const qn_gguf *g, qn_gguf_writer *w)
{
    for (size_t i = 0; i < qn_gguf_n_kv(g); i++) {
        qn_gguf_set_kv(w, qn_gguf_kv_at(g, i));
    }
    for (size_t i = 0; i < qn_gguf_n_tensors(g); i++) {
        const qn_gguf_tensor *t = qn_gguf_tensor_at(g, i);
        char name[QN_GGUF_MAX_NAME + 1];
        snprintf(name, sizeof(name), "%.*s", (int)t->name.len, t->name.data);
        qn_gguf_add_tensor(w, name, t->type, t->n_dims, t->ne, t->data);
    }
}

/* Every type of value, every type of tensor, every alignment: a copy of the file is the same file. */
static void copies_are_identical(void **state)
{
    (void)state;
    static const uint8_t data[2048] = {1, 2, 3};
    for (uint32_t alignment = QN_GGUF_MIN_ALIGNMENT; alignment <= QN_GGUF_MAX_ALIGNMENT; alignment *= 2) {
        bytes b = {0};
        uint64_t offset = 0, n_tensors = 0;
        bytes infos = {0};
        for (uint32_t type = 0; type < QN_TYPE_COUNT; type++) {
            const qn_type_info *info = qn_type_find(type);
            if (info == NULL) {
                continue;
            }
            put_tensor(&infos, info->name, 1 + type % 4, (uint64_t[]){info->block_len, 3, 1, 2}, type, offset);
            uint64_t n = (uint64_t)info->block_bytes * (type % 4 == 0 ? 1 : type % 4 == 3 ? 6 : 3);
            offset += (n + alignment - 1) / alignment * alignment;
            n_tensors++;
        }
        put_header(&b, 3, n_tensors, n_every_kv + 1);
        put_every_kv(&b);
        put_key(&b, "general.alignment", QN_GGUF_U32);
        put_u32(&b, alignment);
        put(&b, infos.data, infos.len);
        put_padding(&b, alignment);
        for (uint64_t i = 0; i < offset; i += 8) {
            put(&b, data, 8);
        }
        assert_true(n_tensors > 30);
        qn_gguf *g = read_back(&b);
        qn_gguf_writer *w = open_writer(alignment);
        copy_all(g, w);
        bytes copy = written(w);
        qn_gguf_close(g);
        assert_int_equal(copy.len, b.len);
        /* Padding inside the data section is zero in the copy. */
        size_t data_start = b.len - offset;
        assert_memory_equal(copy.data, b.data, data_start);
        qn_gguf *first = read_back(&b), *second = read_back(&copy);
        for (size_t i = 0; i < n_tensors; i++) {
            const qn_gguf_tensor *t = qn_gguf_tensor_at(first, i), *u = qn_gguf_tensor_at(second, i);
            assert_true(qn_str_eq(t->name, u->name) && t->bytes == u->bytes && t->type == u->type);
            assert_memory_equal(t->data, u->data, t->bytes);
        }
        qn_gguf_close(first);
        qn_gguf_close(second);
        free(copy.data);
        free(infos.data);
        free(b.data);
    }
}

static void setters_read_back(void **state)
{
    (void)state;
    qn_gguf_writer *w = open_writer(0);
    qn_gguf_set_u32(w, "u32", UINT32_MAX);
    qn_gguf_set_i32(w, "i32", INT32_MIN);
    qn_gguf_set_u64(w, "u64", UINT64_MAX);
    qn_gguf_set_f32(w, "f32", 0.25f);
    qn_gguf_set_bool(w, "bool", true);
    qn_gguf_set_str(w, "str", QN_STR("a\0b"));
    qn_gguf_set_array(w, "array", QN_GGUF_I32, (int32_t[]){-1, 2}, 2);
    qn_gguf_set_array(w, "none", QN_GGUF_F64, NULL, 0);
    qn_gguf_set_strs(w, "strs", (qn_str[]){QN_STR("x"), QN_STR(""), QN_STR("yz")}, 3);
    qn_gguf_add_tensor(w, "t", QN_TYPE_F32, 2, (uint64_t[]){1, 3}, (float[]){1, 2, 3});
    bytes b = written(w);
    qn_gguf *g = read_back(&b);
    assert_int_equal(qn_gguf_version(g), 3);
    assert_int_equal(qn_gguf_n_kv(g), 9);
    assert_int_equal(qn_gguf_alignment(g), 32);
    uint32_t u32;
    int32_t i32;
    uint64_t u64;
    int64_t i64;
    float f;
    bool yes;
    qn_str s;
    qn_gguf_iter it = {0};
    assert_true(qn_gguf_get_u32(g, "u32", &u32, NULL) == QN_OK && u32 == UINT32_MAX);
    assert_true(qn_gguf_get_i32(g, "i32", &i32, NULL) == QN_OK && i32 == INT32_MIN);
    assert_true(qn_gguf_get_u64(g, "u64", &u64, NULL) == QN_OK && u64 == UINT64_MAX);
    assert_true(qn_gguf_get_f32(g, "f32", &f, NULL) == QN_OK && f == 0.25f);
    assert_true(qn_gguf_get_bool(g, "bool", &yes, NULL) == QN_OK && yes);
    assert_true(qn_gguf_get_str(g, "str", &s, NULL) == QN_OK && qn_str_eq(s, QN_STR("a\0b")));
    assert_true(qn_gguf_item_i64(qn_gguf_find(g, "array"), 0, &i64) && i64 == -1);
    assert_int_equal(qn_gguf_find(g, "none")->n_items, 0);
    assert_true(qn_gguf_next_str(qn_gguf_find(g, "strs"), &it, &s) && qn_str_is(s, "x"));
    assert_memory_equal(qn_gguf_find_tensor(g, "t")->data, ((float[]){1, 2, 3}), 12);
    qn_gguf_close(g);
    free(b.data);
}

static void alignment_is_written_once(void **state)
{
    (void)state;
    qn_gguf_writer *w = open_writer(64);
    qn_gguf_set_bool(w, "first", false);
    uint8_t *data;
    size_t n, again;
    assert_int_equal(qn_gguf_write_memory(w, &data, &n, NULL), QN_OK);
    qn_free(data);
    assert_int_equal(qn_gguf_write_memory(w, &data, &again, NULL), QN_OK);
    assert_int_equal(n, again);
    qn_gguf *g;
    assert_int_equal(qn_gguf_open_memory(data, n, NULL, &g, NULL), QN_OK);
    assert_int_equal(qn_gguf_alignment(g), 64);
    assert_int_equal(qn_gguf_n_kv(g), 2);
    qn_gguf_close(g);
    qn_free(data);
    qn_gguf_writer_close(w);

    static const uint32_t bad[] = {1, 3, 4, 48, QN_GGUF_MAX_ALIGNMENT * 2, UINT32_MAX};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        qn_error err;
        assert_int_equal(qn_gguf_writer_open(NULL, bad[i], &w, &err), QN_EINVAL);
    }
}

static void a_fault(qn_gguf_writer *w, int i)
{
    static const uint64_t eight = 8, none = 0, most = UINT64_MAX;
    static const float data[8];
    /* clang-format off */
    switch (i) {
    case 0: qn_gguf_set_u32(w, "", 1); break;
    case 1: qn_gguf_set_bool(w, "a", true); qn_gguf_set_u32(w, "a", 1); break;
    case 2: qn_gguf_set_str(w, "a\nb", QN_STR("")); break;
    case 3: qn_gguf_set_u32(w, "general.alignment", 64); break;
    case 4: qn_gguf_set_i32(w, "general.alignment", 32); break;
    case 5: qn_gguf_set_array(w, "a", QN_GGUF_ARRAY, &eight, 1); break;
    case 6: qn_gguf_set_array(w, "a", (qn_gguf_type)77, &eight, 1); break;
    case 7: qn_gguf_set_array(w, "a", QN_GGUF_BOOL, "\2", 1); break;
    case 8: qn_gguf_set_array(w, "a", QN_GGUF_U8, "", UINT64_MAX); break;
    case 9: qn_gguf_add_tensor(w, "t", QN_TYPE_F32, 0, &eight, data); break;
    case 10: qn_gguf_add_tensor(w, "t", QN_TYPE_F32, 5, &eight, data); break;
    case 11: qn_gguf_add_tensor(w, "t", QN_TYPE_F32, 1, &eight, NULL); break;
    case 12: qn_gguf_add_tensor(w, "t", QN_TYPE_Q4_0, 1, &eight, data); break;
    case 13: qn_gguf_add_tensor(w, "t", (qn_type)5, 1, &eight, data); break;
    case 14: qn_gguf_add_tensor(w, "t", QN_TYPE_F32, 1, &none, data); break;
    case 15: qn_gguf_add_tensor(w, "t", QN_TYPE_F32, 1, &most, data); break;
    case 16: qn_gguf_add_tensor(w, "", QN_TYPE_F32, 1, &eight, data); break;
    case 17:
        qn_gguf_add_tensor(w, "t", QN_TYPE_F32, 1, &eight, data);
        qn_gguf_add_tensor(w, "t", QN_TYPE_F32, 1, &eight, data);
        break;
    case 18: {
        qn_gguf_kv kv = {QN_STR("a"), QN_GGUF_STRING, .raw = (const uint8_t *)B64("\x10") "ab", .raw_bytes = 10};
        qn_gguf_set_kv(w, &kv);
        break;
    }
    case 19: {
        qn_gguf_kv kv = {QN_STR("a"), QN_GGUF_U8, .raw = (const uint8_t *)"ab", .raw_bytes = 2};
        qn_gguf_set_kv(w, &kv);
        break;
    }
    default: fail();
    }
    /* clang-format on */
}

static void faults_come_back_when_writing(void **state)
{
    (void)state;
    static const char *const expected[] = {
        "metadata key 1: the name is empty",
        "a: the key stands twice",
        "metadata key 1: the name 'a?b' is not plain UTF-8 text",
        "general.alignment: 64, but the writer was opened with 32",
        "general.alignment: is an i32, not a u32",
        "a: an array of 1 items of type 9 cannot be written",
        "a: an array of 1 items of type 77 cannot be written",
        "a: a bool is neither 0 nor 1",
        "a: an array of 18446744073709551615 items",
        "tensor 't': its dimensions are not 1 to 4",
        "tensor 't': its dimensions are not 1 to 4",
        "tensor 't': no data",
        "tensor 't': a row of 8 does not suit the type Q4_0",
        "tensor 't': a row of 8 does not suit the type ?",
        "tensor 't': dimension 0 is 0",
        "tensor 't': a row of 18446744073709551615 does not suit",
        "tensor 0: the name is empty",
        "tensor 't': the name stands twice",
        "a: the bytes are not those of a value of its type",
        "a: the bytes are not those of a value of its type",
    };
    for (int i = 0; i < (int)(sizeof(expected) / sizeof(expected[0])); i++) {
        uint64_t n_live = qn_alloc_live();
        qn_gguf_writer *w = open_writer(32);
        qn_gguf_set_u32(w, "before", 1);
        a_fault(w, i);
        qn_gguf_set_u32(w, "after", 1);
        for (int k = 0; k < 2; k++) {
            qn_error err = {0};
            uint8_t *data = NULL;
            size_t n = 0;
            qn_status status = qn_gguf_write_memory(w, &data, &n, &err);
            if (status != QN_EINVAL || strstr(err.what, expected[i]) == NULL) {
                fail_msg("fault %d: expected '%s', got %s '%s'", i, expected[i], qn_status_name(status), err.what);
            }
            assert_null(data);
        }
        const char *path = qn_test_temp("refused.gguf");
        assert_int_equal(qn_gguf_write(w, path, NULL), QN_EINVAL);
        assert_int_not_equal(access(path, F_OK), 0);
        qn_gguf_writer_close(w);
        assert_int_equal(qn_alloc_live(), n_live);
    }
}

static void every_allocation_fails_once(void **state)
{
    (void)state;
    static const uint64_t ne = 8;
    static const float data[8];
    char path[512];
    snprintf(path, sizeof(path), "%s", qn_test_temp("oom.gguf"));
    uint64_t n_live = qn_alloc_live();
    for (int to_file = 0; to_file < 2; to_file++) {
        qn_status status = QN_ENOMEM;
        for (uint64_t n = 1; status != QN_OK; n++) {
            uint8_t *out = NULL;
            size_t n_bytes;
            qn_error err = {0};
            qn_gguf_writer *w = NULL;
            qn_alloc_fail_at(n);
            status = qn_gguf_writer_open(NULL, 64, &w, &err);
            if (status == QN_OK) {
                char key[32];
                for (int i = 0; i < 100; i++) {
                    snprintf(key, sizeof(key), "key.%d", i);
                    qn_gguf_set_str(w, key, QN_STR("some text that is long enough to make the buffer grow"));
                    qn_gguf_add_tensor(w, key, QN_TYPE_F32, 1, &ne, data);
                }
                status = to_file ? qn_gguf_write(w, path, &err) : qn_gguf_write_memory(w, &out, &n_bytes, &err);
            }
            qn_alloc_fail_at(0);
            assert_true(status == QN_OK || (status == QN_ENOMEM && strlen(err.what) > 0));
            assert_true(!to_file || (access(path, F_OK) == 0) == (status == QN_OK));
            qn_free(out);
            qn_gguf_writer_close(w);
            assert_int_equal(qn_alloc_live(), n_live);
        }
    }
    unlink(path);
}

/* Files of the folder whose names begin as the path's name does. */
static int count_beside(const char *path)
{
    char folder[512];
    snprintf(folder, sizeof(folder), "%s", path);
    char *name = strrchr(folder, '/');
    assert_non_null(name);
    *name++ = '\0';
    DIR *d = opendir(folder);
    assert_non_null(d);
    int n = 0;
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        n += strncmp(e->d_name, name, strlen(name)) == 0;
    }
    closedir(d);
    return n;
}

static void a_full_disk_leaves_the_old_file(void **state)
{
    (void)state;
    char path[512];
    snprintf(path, sizeof(path), "%s", qn_test_temp("full.gguf"));
    qn_gguf_writer *w = open_writer(32);
    qn_gguf_set_str(w, "general.name", QN_STR("old"));
    assert_int_equal(qn_gguf_write(w, path, NULL), QN_OK);
    assert_int_equal(count_beside(path), 1);
    static uint8_t data[1 << 16];
    qn_gguf_add_tensor(w, "large", QN_TYPE_I8, 1, (uint64_t[]){sizeof(data)}, data);

    struct rlimit kept, low;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &kept), 0);
    low = (struct rlimit){4096, kept.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
    qn_error err = {0};
    qn_status status = qn_gguf_write(w, path, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &kept), 0);
    assert_int_equal(status, QN_EIO);
    assert_non_null(strstr(err.what, path));
    assert_non_null(strstr(err.what, "4096 bytes written"));
    assert_int_equal(count_beside(path), 1);

    qn_gguf *g;
    qn_str name;
    assert_int_equal(qn_gguf_open(path, NULL, &g, NULL), QN_OK);
    assert_true(qn_gguf_get_str(g, "general.name", &name, NULL) == QN_OK && qn_str_is(name, "old"));
    assert_int_equal(qn_gguf_n_tensors(g), 0);
    qn_gguf_close(g);

    assert_int_equal(qn_gguf_write(w, path, NULL), QN_OK);
    assert_int_equal(count_beside(path), 1);
    assert_int_equal(qn_gguf_open(path, NULL, &g, NULL), QN_OK);
    assert_int_equal(qn_gguf_n_tensors(g), 1);
    qn_gguf_close(g);
    qn_gguf_writer_close(w);
    unlink(path);
}

static void a_folder_that_is_not_there(void **state)
{
    (void)state;
    char path[600];
    snprintf(path, sizeof(path), "%s/x.gguf", qn_test_temp("no-such-folder"));
    qn_gguf_writer *w = open_writer(32);
    qn_error err = {0};
    assert_int_equal(qn_gguf_write(w, path, &err), QN_EIO);
    assert_non_null(strstr(err.what, "no-such-folder/x.gguf"));
    qn_gguf_writer_close(w);
    qn_gguf_writer_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_are_identical),        cmocka_unit_test(setters_read_back),
        cmocka_unit_test(alignment_is_written_once),   cmocka_unit_test(faults_come_back_when_writing),
        cmocka_unit_test(every_allocation_fails_once), cmocka_unit_test(a_full_disk_leaves_the_old_file),
        cmocka_unit_test(a_folder_that_is_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
