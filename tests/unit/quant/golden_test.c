/* Stored blocks and rows: the codecs give the same bits on every machine, without Python at hand.
 * SPDX-License-Identifier: MIT */
#include "test.h"

#include <math.h>

#include "quant/quant.h"

#include "golden_vectors.h"

static uint64_t fnv1a(const void *data, size_t n)
{
    const uint8_t *p = data;
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < n; i++) {
        h = (h ^ p[i]) * UINT64_C(0x100000001b3);
    }
    return h;
}

static size_t from_hex(const char *hex, uint8_t *out)
{
    size_t n = strlen(hex) / 2;
    for (size_t i = 0; i < n; i++) {
        unsigned byte;
        assert_int_equal(sscanf(hex + 2 * i, "%2x", &byte), 1);
        out[i] = (uint8_t)byte;
    }
    return n;
}

static void stored_blocks_decode_to_stored_floats(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof golden_decode / sizeof golden_decode[0]; i++) {
        const struct golden_decode *g = &golden_decode[i];
        const qn_type_info *t = qn_type_find(g->type);
        uint8_t block[512];
        float x[256];
        size_t n_bytes = from_hex(g->block, block);
        assert_int_equal(n_bytes % t->block_bytes, 0);
        size_t n = n_bytes / t->block_bytes * t->block_len;
        assert_int_equal(qn_decode_row(g->type, block, x, n, NULL), QN_OK);
        for (size_t k = 0; k < 8; k++) {
            if (x[k * (n / 8)] != g->some[k]) {
                fail_msg("%s: element %zu is %a, not %a", t->name, k * (n / 8), (double)x[k * (n / 8)],
                         (double)g->some[k]);
            }
        }
        if (fnv1a(x, n * sizeof x[0]) != g->hash) {
            fail_msg("%s: some element differs", t->name);
        }
    }
}

static void a_stored_row_encodes_to_stored_blocks(void **state)
{
    (void)state;
    float x[256];
    for (int i = 0; i < 256; i++) {
        x[i] = (float)((37 * i + 11) % 101 - 50) * 0x1p-5f + (float)(i % 7) * 0x1p-10f;
    }
    for (size_t i = 0; i < sizeof golden_encode / sizeof golden_encode[0]; i++) {
        const struct golden_encode *g = &golden_encode[i];
        uint8_t some[64];
        uint8_t blocks[1024];
        uint64_t n_bytes;
        assert_true(qn_type_row_bytes(g->type, 256, &n_bytes));
        assert_int_equal(qn_encode_row(g->type, x, blocks, 256, NULL, NULL), QN_OK);
        assert_memory_equal(blocks, some, from_hex(g->some, some));
        if (fnv1a(blocks, n_bytes) != g->hash) {
            fail_msg("%s: some byte differs", qn_type_name(g->type));
        }
    }
}

/* Types that no package knows, worked out by hand. */
static void other_types_follow_their_definition(void **state)
{
    (void)state;
    float x[256], back[256];
    uint8_t block[292];
    for (int i = 0; i < 256; i++) {
        x[i] = (float)(i % 255 - 127) * 0.5f;
    }
    assert_int_equal(qn_encode_row(QN_TYPE_Q8_K, x, block, 256, NULL, NULL), QN_OK);
    float d;
    memcpy(&d, block, sizeof d);
    assert_true(d == 0.5f);
    assert_int_equal((int8_t)block[4], -127);
    int16_t sum;
    memcpy(&sum, block + 4 + 256, sizeof sum);
    assert_int_equal(sum, -(127 + 112) * 8);
    assert_int_equal(qn_decode_row(QN_TYPE_Q8_K, block, back, 256, NULL), QN_OK);
    assert_memory_equal(x, back, sizeof x);

    for (int i = 0; i < 32; i++) {
        x[i] = (float)(i == 5 ? -127 : i) * 2.0f;
    }
    float s;
    assert_int_equal(qn_encode_row(QN_TYPE_Q8_1, x, block, 32, NULL, NULL), QN_OK);
    memcpy(&d, block, sizeof d);
    memcpy(&s, block + 4, sizeof s);
    assert_true(d == 2.0f && s == 2.0f * (float)(31 * 16 - 5 - 127));
    assert_int_equal(qn_decode_row(QN_TYPE_Q8_1, block, back, 32, NULL), QN_OK);
    assert_memory_equal(x, back, 32 * sizeof x[0]);

    memset(block, 0, 18);
    block[1] = 0x3c; /* d = 1 */
    block[2] = 0x05;
    block[17] = 0x80;
    assert_int_equal(qn_decode_row(QN_TYPE_Q1_0, block, back, 128, NULL), QN_OK);
    for (int i = 0; i < 128; i++) {
        assert_true(back[i] == (i == 0 || i == 2 || i == 127 ? 1.0f : -1.0f));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stored_blocks_decode_to_stored_floats),
        cmocka_unit_test(a_stored_row_encodes_to_stored_blocks),
        cmocka_unit_test(other_types_follow_their_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
