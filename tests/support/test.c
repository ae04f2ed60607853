/* SPDX-License-Identifier: MIT */
#include "test.h"

#include <unistd.h>

const char *qn_test_data(const char *relative)
{
    static char path[4096];
    const char *root = getenv("QUERN_SHARED");
    snprintf(path, sizeof(path), "%s/data/%s", root != NULL ? root : QN_TEST_SHARED_DIR, relative);
    return access(path, R_OK) == 0 ? path : NULL;
}

char *qn_test_read_file(const char *path, size_t *n_bytes)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    long size = ftell(f);
    assert_true(size >= 0);
    rewind(f);
    char *data = malloc((size_t)size + 1);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, (size_t)size, f), (size_t)size);
    data[size] = '\0';
    *n_bytes = (size_t)size;
    fclose(f);
    return data;
}

const char *qn_test_temp(const char *name)
{
    static char path[4096];
    static unsigned counter;
    const char *dir = getenv("TMPDIR");
    snprintf(path, sizeof(path), "%s/quern-test-%ld-%u-%s", dir != NULL ? dir : "/tmp", (long)getpid(), counter++, name);
    return path;
}
