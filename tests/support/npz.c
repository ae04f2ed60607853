/* Reading .npz files. SPDX-License-Identifier: MIT */
#include "npz.h"

#include "test.h"

qn_npz qn_npz_open(const char *path)
{
    qn_npz z;
    z.file = qn_test_read_file(path, &z.n_bytes);
    return z;
}

void qn_npz_close(qn_npz *z)
{
    free(z->file);
    z->file = NULL;
}

static uint32_t u16_at(const qn_npz *z, size_t at)
{
    assert_true(at + 2 <= z->n_bytes);
    const uint8_t *p = (const uint8_t *)z->file + at;
    return p[0] | (uint32_t)p[1] << 8;
}

static uint32_t u32_at(const qn_npz *z, size_t at) { return u16_at(z, at) | u16_at(z, at + 2) << 16; }

/* Where the bytes of entry `name` begin; their number comes from the directory at the archive's end, as the entry's own
 * header may leave it out. */
static size_t find_entry(const qn_npz *z, const char *name, size_t *n_bytes)
{
    size_t end = z->n_bytes - 22;
    while (end > 0 && u32_at(z, end) != 0x06054b50) {
        end--;
    }
    size_t at = u32_at(z, end + 16), n_entries = u16_at(z, end + 10);
    for (size_t i = 0; i < n_entries; i++) {
        assert_int_equal(u32_at(z, at), 0x02014b50);
        size_t name_bytes = u16_at(z, at + 28);
        assert_true(at + 46 + name_bytes <= z->n_bytes);
        if (name_bytes == strlen(name) && memcmp(z->file + at + 46, name, name_bytes) == 0) {
            assert_int_equal(u16_at(z, at + 10), 0); /* stored */
            *n_bytes = u32_at(z, at + 24);
            size_t local = u32_at(z, at + 42);
            assert_int_equal(u32_at(z, local), 0x04034b50);
            return local + 30 + u16_at(z, local + 26) + u16_at(z, local + 28);
        }
        at += 46 + name_bytes + u16_at(z, at + 30) + u16_at(z, at + 32);
    }
    fail_msg("no array %s", name);
    return 0;
}

const void *qn_npz_array(const qn_npz *z, const char *name, const char *descr, size_t shape[2])
{
    char entry[64], header[256], wanted[64];
    size_t n_bytes = 0;
    snprintf(entry, sizeof(entry), "%s.npy", name);
    size_t at = find_entry(z, entry, &n_bytes);
    assert_true(at + n_bytes <= z->n_bytes && n_bytes > 10);
    assert_memory_equal(z->file + at, "\x93NUMPY\x01", 7);
    size_t header_bytes = u16_at(z, at + 8);
    assert_true(header_bytes < sizeof(header) && 10 + header_bytes <= n_bytes);
    memcpy(header, z->file + at + 10, header_bytes);
    header[header_bytes] = '\0';
    snprintf(wanted, sizeof(wanted), "'descr': '%s'", descr);
    assert_non_null(strstr(header, wanted));
    assert_non_null(strstr(header, "'fortran_order': False"));
    const char *dims = strstr(header, "'shape': (");
    assert_non_null(dims);
    shape[1] = 1;
    assert_true(sscanf(dims, "'shape': (%zu, %zu", &shape[0], &shape[1]) >= 1);
    size_t item_bytes = (size_t)(descr[2] - '0');
    assert_int_equal(10 + header_bytes + shape[0] * shape[1] * item_bytes, n_bytes);
    return z->file + at + 10 + header_bytes;
}
