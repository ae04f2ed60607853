/* Tests of tensor/kv_layout.h. SPDX-License-Identifier: MIT */
#include "test.h"

#include "tensor/kv_layout.h"

static void test_one_group(void **state)
{
    (void)state;
    qn_kv_layer layers[] = {
        {.n_heads = 2, .head_dim = 16, .v_dim = 16, .i_group = 9},
        {.n_heads = 2, .head_dim = 16, .v_dim = 16},
    };
    qn_kv_layout kv = {.type = QN_TYPE_F16, .page_tokens = 8, .n_layers = 2, .n_groups = 3, .layers = layers};
    assert_int_equal(qn_kv_layout_plan(&kv, NULL), QN_OK);
    assert_int_equal(kv.n_groups, 1);
    assert_int_equal(kv.groups[0].window, 0);
    assert_int_equal(kv.groups[0].page_bytes, 2 * 2 * (2 * 16 * 8 * 2));
    assert_int_equal(layers[0].i_group, 0);
    assert_int_equal(layers[0].k_offset, 0);
    assert_int_equal(layers[0].v_offset, 512);
    assert_int_equal(layers[1].k_offset, 1024);
    assert_int_equal(layers[1].v_offset, 1536);
    /* a plan may be made again */
    kv.type = QN_TYPE_F32;
    assert_int_equal(qn_kv_layout_plan(&kv, NULL), QN_OK);
    assert_int_equal(kv.groups[0].page_bytes, 2 * 2 * (2 * 16 * 8 * 4));
}

/* What a sequence keeps of its last tokens: every layer's part behind that of the one before. */
static void test_recent_tokens(void **state)
{
    (void)state;
    qn_kv_layer layers[] = {{.n_heads = 3, .head_dim = 5, .v_dim = 7}, {.n_heads = 1, .head_dim = 16, .v_dim = 8}};
    qn_kv_layout kv = {.type = QN_TYPE_F16, .bits = 4, .n_plain = 1, .page_tokens = 8, .n_layers = 2, .layers = layers};
    assert_int_equal(qn_kv_layout_plan(&kv, NULL), QN_OK);
    assert_int_equal(kv.recent_bytes, 0);
    kv.n_recent = 2;
    assert_int_equal(qn_kv_layout_plan(&kv, NULL), QN_OK);
    assert_int_equal(layers[0].recent_offset, 0);
    assert_int_equal(layers[1].recent_offset, 192); /* 3 heads of 2 tokens of 12 halves are 144 */
    assert_int_equal(kv.recent_bytes, 192 + 128);
}

/* Blocks of all heads and layers of a group in pages of the kind of i_page: inside the page, none over another. */
static void check_pages(const qn_kv_layout *kv, uint32_t i_page)
{
    uint64_t item = qn_kv_item_bytes(kv->type);
    for (uint32_t g = 0; g < kv->n_groups; g++) {
        bool is_plain = i_page < qn_kv_plain_pages(kv, kv->groups[g].window);
        uint64_t page_bytes = is_plain ? kv->groups[g].page_bytes : kv->groups[g].code_bytes;
        uint8_t *page = calloc(page_bytes, 1);
        assert_non_null(page);
        for (uint32_t i = 0; i < kv->n_layers; i++) {
            const qn_kv_layer *l = &kv->layers[i];
            assert_int_equal(l->window, kv->groups[l->i_group].window);
            if (l->i_group != g) {
                continue;
            }
            assert_int_equal(qn_kv_is_plain(kv, l, i_page), is_plain);
            assert_int_equal((qn_kv_k_block(kv, l, page, i_page, 0) - page) % 64, 0);
            assert_int_equal((qn_kv_v_block(kv, l, page, i_page, 0) - page) % 64, 0);
            for (uint32_t h = 0; h < l->n_heads; h++) {
                uint8_t *blocks[] = {qn_kv_k_block(kv, l, page, i_page, h), qn_kv_v_block(kv, l, page, i_page, h)};
                uint64_t bytes[] = {is_plain ? item * l->head_dim * kv->page_tokens
                                             : qn_kv_k_bytes(kv->bits, l->head_dim, kv->page_tokens),
                                    is_plain ? item * l->v_dim * kv->page_tokens
                                             : qn_kv_v_bytes(kv->bits, l->v_dim, kv->page_tokens)};
                for (int part = 0; part < 2; part++) {
                    assert_true(blocks[part] >= page && blocks[part] + bytes[part] <= page + page_bytes);
                    for (uint64_t at = 0; at < bytes[part]; at++) {
                        assert_int_equal(blocks[part][at], 0);
                        blocks[part][at] = 1;
                    }
                }
            }
        }
        free(page);
        assert_int_equal(page_bytes % 64, 0);
    }
}

static void check_blocks(const qn_kv_layout *kv)
{
    for (uint32_t i_page = 0; i_page < 4; i_page++) {
        check_pages(kv, i_page);
    }
}

static void test_groups_and_odd_sizes(void **state)
{
    (void)state;
    qn_kv_layer layers[] = {
        {.window = 7, .n_heads = 1, .head_dim = 10, .v_dim = 3},  {.window = 0, .n_heads = 3, .head_dim = 5, .v_dim = 17},
        {.window = 7, .n_heads = 2, .head_dim = 1, .v_dim = 1},   {.window = 512, .n_heads = 1, .head_dim = 64, .v_dim = 8},
        {.window = 1, .n_heads = 1, .head_dim = 7, .v_dim = 300}, {.window = 0, .n_heads = 1, .head_dim = 6, .v_dim = 6},
    };
    for (uint32_t page_tokens = 8; page_tokens <= 40; page_tokens += 16) {
        qn_kv_layout kv = {.type = QN_TYPE_F16, .page_tokens = page_tokens, .n_layers = 6, .layers = layers};
        assert_int_equal(qn_kv_layout_plan(&kv, NULL), QN_OK);
        assert_int_equal(kv.n_groups, 4);
        assert_int_equal(layers[0].i_group, layers[2].i_group);
        assert_int_equal(layers[1].i_group, layers[5].i_group);
        assert_int_not_equal(layers[0].i_group, layers[1].i_group);
        check_blocks(&kv);
        kv.type = QN_TYPE_F32;
        assert_int_equal(qn_kv_layout_plan(&kv, NULL), QN_OK);
        check_blocks(&kv);
        assert_int_equal(kv.n_means, 0);
        for (uint32_t n_plain = 0; n_plain < 3; n_plain++) {
            kv.bits = 8;
            kv.n_plain = n_plain;
            assert_int_equal(qn_kv_layout_plan(&kv, NULL), QN_OK);
            check_blocks(&kv);
            kv.bits = 4;
            assert_int_equal(qn_kv_layout_plan(&kv, NULL), QN_OK);
            check_blocks(&kv);
            assert_int_equal(kv.n_means, 10 + 3 * 5 + 2 + 64 + 7 + 6);
        }
    }
}

static void test_limits(void **state)
{
    (void)state;
    qn_error err = {0};
    qn_kv_layer layers[QN_KV_MAX_GROUPS + 1];
    for (uint32_t i = 0; i <= QN_KV_MAX_GROUPS; i++) {
        layers[i] = (qn_kv_layer){.window = i, .n_heads = 1, .head_dim = 8, .v_dim = 8};
    }
    qn_kv_layout kv = {.type = QN_TYPE_F32, .page_tokens = 8, .n_layers = QN_KV_MAX_GROUPS + 1, .layers = layers};
    assert_int_equal(qn_kv_layout_plan(&kv, &err), QN_EUNSUPPORTED);
    assert_non_null(strstr(err.what, "windows"));

    /* the largest sizes that metadata may state, and what overflows 64 bits if nobody looks */
    const uint32_t heads[] = {2048, UINT32_MAX};
    for (size_t i = 0; i < 2; i++) {
        qn_kv_layer big = {.n_heads = heads[i], .head_dim = heads[i], .v_dim = heads[i]};
        kv = (qn_kv_layout){.type = QN_TYPE_F32, .page_tokens = 256, .n_layers = 1, .layers = &big};
        assert_int_equal(qn_kv_layout_plan(&kv, &err), QN_ERANGE);
        assert_non_null(strstr(err.what, "256 tokens"));
    }
    /* one layer fits, many together do not */
    qn_kv_layer many[64];
    for (uint32_t i = 0; i < 64; i++) {
        many[i] = (qn_kv_layer){.n_heads = 64, .head_dim = 128, .v_dim = 128};
    }
    kv = (qn_kv_layout){.type = QN_TYPE_F32, .page_tokens = 256, .n_layers = 64, .layers = many};
    assert_int_equal(qn_kv_layout_plan(&kv, &err), QN_ERANGE);
    kv.n_layers = 60;
    assert_int_equal(qn_kv_layout_plan(&kv, &err), QN_OK);
    assert_true(kv.groups[0].page_bytes < 1u << 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recent_tokens),
        cmocka_unit_test(test_one_group),
        cmocka_unit_test(test_groups_and_odd_sizes),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
