/* Split files, made with the writer: the parts found, joined and held against each other.
 * SPDX-License-Identifier: MIT */
#include "bytes.h"

#include <unistd.h>

enum { n_parts = 3, floats = 16 };

typedef struct part {
    uint32_t no, count, n_tensors; /* UINT32_MAX: the key is left out */
    const char *tensor;            /* NULL: none */
} part;

static const part good[n_parts] = {{0, 3, 2, NULL}, {1, 3, 2, "second"}, {2, 3, 2, "third"}};

static char prefix[256];

static const char *path_of(uint32_t i)
{
    static char path[512];
    snprintf(path, sizeof(path), "%s-%05u-of-%05u.gguf", prefix, i + 1, (unsigned)n_parts);
    return path;
}

static void write_part(const char *path, const part *p, uint32_t i)
{
    float data[floats];
    for (int k = 0; k < floats; k++) {
        data[k] = (float)i * 100 + (float)k;
    }
    qn_gguf_writer *w;
    qn_error err;
    assert_int_equal(qn_gguf_writer_open(NULL, i == 1 ? 64 : 32, &w, &err), QN_OK);
    if (p->no != UINT32_MAX) {
        qn_gguf_set_u32(w, "split.no", p->no);
    }
    if (p->count != UINT32_MAX) {
        qn_gguf_set_u32(w, "split.count", p->count);
    }
    if (p->n_tensors != UINT32_MAX) {
        qn_gguf_set_i32(w, "split.tensors.count", (int32_t)p->n_tensors);
    }
    qn_gguf_set_u32(w, "part", i);
    if (p->tensor != NULL) {
        qn_gguf_add_tensor(w, p->tensor, QN_TYPE_F32, 2, (uint64_t[]){floats / 2, 2}, data);
    }
    if (qn_gguf_write(w, path, &err) != QN_OK) {
        fail_msg("%s", err.what);
    }
    qn_gguf_writer_close(w);
}

static void write_parts(const part *parts)
{
    for (uint32_t i = 0; i < n_parts; i++) {
        write_part(path_of(i), &parts[i], i);
    }
}

static int set_up(void **state)
{
    (void)state;
    snprintf(prefix, sizeof(prefix), "%s", qn_test_temp("split"));
    write_parts(good);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < n_parts; i++) {
        unlink(path_of(i));
    }
    return 0;
}

static void expect_joined(const qn_gguf_loading *how)
{
    qn_gguf *g;
    qn_error err;
    qn_status status = qn_gguf_load(path_of(0), how, NULL, &g, &err);
    if (status != QN_OK) {
        fail_msg("%s", err.what);
    }
    assert_int_equal(qn_gguf_n_shards(g), n_parts);
    assert_int_equal(qn_gguf_n_tensors(g), 2);
    uint32_t i = 9;
    assert_int_equal(qn_gguf_get_u32(g, "part", &i, &err), QN_OK);
    assert_int_equal(i, 0);
    const qn_gguf_tensor *t = qn_gguf_find_tensor(g, "third");
    assert_int_equal(t->i_shard, 2);
    float last;
    memcpy(&last, t->data + t->bytes - sizeof(last), sizeof(last));
    assert_true(last == 200 + floats - 1);
    t = qn_gguf_find_tensor(g, "second");
    assert_int_equal(t->i_shard, 1);
    assert_int_equal(t->offset % 64, 0);
    memcpy(&last, t->data, sizeof(last));
    assert_true(last == 100);
    uint64_t n_bytes = 0;
    for (i = 0; i < n_parts; i++) {
        size_t n;
        free(qn_test_read_file(path_of(i), &n));
        n_bytes += n;
    }
    assert_int_equal(qn_gguf_file_bytes(g), n_bytes);
    assert_false(qn_gguf_damaged(g));
    qn_gguf_close(g);
}

static void parts_are_joined(void **state)
{
    (void)state;
    expect_joined(&(qn_gguf_loading){.read = false});
    expect_joined(&(qn_gguf_loading){.fetch = true});
    expect_joined(&(qn_gguf_loading){.read = true});
}

static void expect_refused(const char *path, qn_status code, const char *expected)
{
    uint64_t n_live = qn_alloc_live();
    qn_gguf *g;
    qn_error err = {0};
    qn_status status = qn_gguf_open(path, NULL, &g, &err);
    if (status != code || strstr(err.what, expected) == NULL) {
        fail_msg("expected %s '%s', got %s '%s'", qn_status_name(code), expected, qn_status_name(status), err.what);
    }
    assert_int_equal(qn_alloc_live(), n_live);
}

static void not_the_first_part(void **state)
{
    (void)state;
    char expected[512];
    const char *slash = strrchr(prefix, '/');
    snprintf(expected, sizeof(expected), "split.no: this is part 2 of 3; open the first, '%s-00001-of-00003.gguf'",
             slash != NULL ? slash + 1 : prefix);
    expect_refused(path_of(1), QN_EINVAL, expected);
    char renamed[512];
    snprintf(renamed, sizeof(renamed), "%s", qn_test_temp("other.gguf"));
    write_part(renamed, &good[2], 2);
    expect_refused(renamed, QN_EINVAL, "this is part 3 of 3; open the first, '...-00001-of-00003.gguf'");
    write_part(renamed, &good[0], 0);
    expect_refused(renamed, QN_EINVAL,
                   "split.count: the name of the first of 3 parts must end in '-00001-of-00003.gguf'");
    unlink(renamed);
}

static void a_part_is_missing_or_cut(void **state)
{
    (void)state;
    char expected[600];
    snprintf(expected, sizeof(expected), "%s", path_of(2));
    assert_int_equal(unlink(path_of(2)), 0);
    expect_refused(path_of(0), QN_EIO, expected);
    expect_refused(path_of(0), QN_EIO, "part 3 of 3: ");

    write_part(path_of(2), &good[2], 2);
    assert_int_equal(truncate(path_of(2), 230), 0);
    expect_refused(path_of(0), QN_EFORMAT, "part 3 of 3: tensor 'third': the file is cut short");
    assert_int_equal(truncate(path_of(2), 50), 0);
    expect_refused(path_of(0), QN_EFORMAT, "part 3 of 3: ");
}

static void parts_that_disagree(void **state)
{
    (void)state;
    static const struct {
        part parts[n_parts];
        const char *expected;
    } cases[] = {
        {{{0, 3, 2, NULL}, {1, 3, 2, "a"}, {2, 4, 2, "b"}}, "part 3 of 3: split.count: 4 here, 3 in the first part"},
        {{{0, 3, 2, NULL}, {1, UINT32_MAX, 2, "a"}, {2, 3, 2, "b"}}, "part 2 of 3: split.count: 1 here"},
        {{{0, 3, 2, NULL}, {2, 3, 2, "a"}, {1, 3, 2, "b"}}, "part 2 of 3: split.no: 2, though the file's name says 1"},
        {{{0, 3, 2, NULL}, {3, 3, 2, "a"}, {2, 3, 2, "b"}}, "part 2 of 3: split.no: 3 of 3 parts"},
        {{{0, 3, 2, NULL}, {1, 3, 5, "a"}, {2, 3, 2, "b"}}, "part 2 of 3: split.tensors.count: differs"},
        {{{0, 3, 5, NULL}, {1, 3, 5, "a"}, {2, 3, 5, "b"}}, "split.tensors.count: 5, but the parts have 2"},
        {{{0, 3, 2, NULL}, {1, 3, 2, "a"}, {2, 3, 2, "a"}}, "part 3 of 3: tensor 'a': the name stands twice"},
        {{{0, 2000, 2, NULL}, {1, 3, 2, "a"}, {2, 3, 2, "b"}}, "split.count: 2000 is not within 0 to 1024"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        write_parts(cases[i].parts);
        expect_refused(path_of(0), QN_EFORMAT, cases[i].expected);
    }
}

static void tensor_count_may_be_left_out(void **state)
{
    (void)state;
    const part parts[n_parts] = {
        {UINT32_MAX, 3, UINT32_MAX, "first"}, {1, 3, UINT32_MAX, NULL}, {2, 3, UINT32_MAX, "third"}};
    write_parts(parts);
    qn_gguf *g;
    assert_int_equal(qn_gguf_open(path_of(0), NULL, &g, NULL), QN_OK);
    assert_int_equal(qn_gguf_n_tensors(g), 2);
    qn_gguf_close(g);
}

static void one_part_is_no_split_file(void **state)
{
    (void)state;
    write_part(path_of(0), &(part){0, 1, 1, "only"}, 0);
    qn_gguf *g;
    assert_int_equal(qn_gguf_open(path_of(0), NULL, &g, NULL), QN_OK);
    assert_int_equal(qn_gguf_n_shards(g), 1);
    qn_gguf_close(g);
}

static void split_file_in_memory(void **state)
{
    (void)state;
    size_t n;
    char *data = qn_test_read_file(path_of(0), &n);
    qn_gguf *g;
    qn_error err;
    assert_int_equal(qn_gguf_open_memory(data, n, NULL, &g, &err), QN_EUNSUPPORTED);
    assert_non_null(strstr(err.what, "split.count"));
    free(data);
}

static void every_allocation_fails_once(void **state)
{
    (void)state;
    uint64_t n_live = qn_alloc_live(), n = 0;
    qn_status status = QN_ENOMEM;
    while (status != QN_OK) {
        qn_gguf *g = NULL;
        qn_error err = {0};
        qn_alloc_fail_at(++n);
        status = qn_gguf_open(path_of(0), NULL, &g, &err);
        qn_alloc_fail_at(0);
        assert_true(status == QN_OK || (status == QN_ENOMEM && strlen(err.what) > 0));
        qn_gguf_close(g);
        assert_int_equal(qn_alloc_live(), n_live);
    }
    assert_true(n > 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(parts_are_joined, set_up, tear_down),
        cmocka_unit_test_setup_teardown(not_the_first_part, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_part_is_missing_or_cut, set_up, tear_down),
        cmocka_unit_test_setup_teardown(parts_that_disagree, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tensor_count_may_be_left_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_part_is_no_split_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(split_file_in_memory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_allocation_fails_once, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
