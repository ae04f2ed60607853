/* Tests of tensor/arena_plan.h. SPDX-License-Identifier: MIT */
#include "test.h"

#include "base/random.h"
#include "tensor/arena_plan.h"

static uint64_t plan(qn_block *blocks, uint32_t n)
{
    uint64_t total = UINT64_MAX;
    qn_error err = {0};
    assert_int_equal(qn_arena_plan(blocks, n, NULL, &total, &err), QN_OK);
    return total;
}

/* The most bytes that live at one time: no plan can do with less. */
static uint64_t peak_bytes(const qn_block *blocks, uint32_t n, uint32_t n_ops)
{
    uint64_t peak = 0;
    for (uint32_t op = 0; op < n_ops; op++) {
        uint64_t sum = 0;
        for (uint32_t i = 0; i < n; i++) {
            sum += blocks[i].first <= op && op <= blocks[i].last ? blocks[i].bytes : 0;
        }
        peak = sum > peak ? sum : peak;
    }
    return peak;
}

static void test_small_plans(void **state)
{
    (void)state;
    assert_int_equal(plan(NULL, 0), 0);

    qn_block one[] = {{.bytes = 1, .first = 3, .last = 3}};
    assert_int_equal(plan(one, 1), QN_ARENA_ALIGN);
    assert_int_equal(one[0].bytes, QN_ARENA_ALIGN);
    assert_int_equal(one[0].offset, 0);

    qn_block after[] = {{.bytes = 100, .first = 0, .last = 1}, {.bytes = 100, .first = 2, .last = 3}};
    assert_int_equal(plan(after, 2), 128);
    assert_int_equal(after[0].offset, after[1].offset);

    /* both ends of a life count: a value that op 1 reads and one that op 1 writes are there together */
    qn_block touching[] = {{.bytes = 64, .first = 0, .last = 1}, {.bytes = 64, .first = 1, .last = 2}};
    assert_int_equal(plan(touching, 2), 128);
    assert_int_not_equal(touching[0].offset, touching[1].offset);

    qn_block empty[] = {{.bytes = 0, .first = 0, .last = 9}, {.bytes = 64, .first = 0, .last = 9}};
    assert_int_equal(plan(empty, 2), 64);
    assert_true(qn_arena_plan_ok(empty, 2));
}

static void test_a_gap_is_used(void **state)
{
    (void)state;
    /* the big ones live one after the other, with a small one in the middle of time that fits beside either */
    qn_block b[] = {
        {.bytes = 1024, .first = 0, .last = 2},
        {.bytes = 640, .first = 3, .last = 5},
        {.bytes = 384, .first = 3, .last = 5},
        {.bytes = 64, .first = 2, .last = 3},
    };
    assert_int_equal(plan(b, 4), 1024 + 64);
    assert_true(qn_arena_plan_ok(b, 4));
    assert_int_equal(b[3].offset, 1024);
    assert_int_equal(b[1].offset, 0);
    assert_int_equal(b[2].offset, 640);
}

static void test_the_check_sees_overlaps(void **state)
{
    (void)state;
    qn_block b[] = {
        {.bytes = 128, .first = 0, .last = 4, .offset = 0},
        {.bytes = 64, .first = 4, .last = 5, .offset = 64},
    };
    assert_false(qn_arena_plan_ok(b, 2));
    b[1].offset = 128;
    assert_true(qn_arena_plan_ok(b, 2));
    b[1] = (qn_block){.bytes = 64, .first = 5, .last = 5, .offset = 64};
    assert_true(qn_arena_plan_ok(b, 2));
    b[1] = (qn_block){.bytes = 0, .first = 0, .last = 9, .offset = 64};
    assert_true(qn_arena_plan_ok(b, 2));
    b[1] = (qn_block){.bytes = 512, .first = 2, .last = 2, .offset = 0};
    assert_false(qn_arena_plan_ok(b, 2));
    assert_true(qn_arena_plan_ok(b, 1));
}

static void test_random_plans_hold_and_stay_near_the_bound(void **state)
{
    (void)state;
    enum { N_OPS = 64, MAX_BLOCKS = 200 };
    qn_random rnd;
    qn_random_seed(&rnd, 7);
    for (int round = 0; round < 200; round++) {
        qn_block b[MAX_BLOCKS], again[MAX_BLOCKS];
        uint32_t n = 1 + (uint32_t)qn_random_below(&rnd, MAX_BLOCKS);
        uint64_t sum = 0;
        for (uint32_t i = 0; i < n; i++) {
            uint32_t first = (uint32_t)qn_random_below(&rnd, N_OPS), life = (uint32_t)qn_random_below(&rnd, 6);
            b[i] = (qn_block){.bytes = qn_random_below(&rnd, 5000), .first = first, .last = first + life};
        }
        memcpy(again, b, sizeof(b));
        uint64_t total = plan(b, n), peak = peak_bytes(b, n, 2 * N_OPS);
        assert_true(qn_arena_plan_ok(b, n));
        for (uint32_t i = 0; i < n; i++) {
            sum += b[i].bytes;
            assert_int_equal(b[i].offset % QN_ARENA_ALIGN, 0);
            assert_true(b[i].offset + b[i].bytes <= total);
        }
        assert_true(total >= peak && total <= sum);
        assert_true(total <= peak + peak / 2);
        assert_int_equal(plan(again, n), total);
        assert_memory_equal(again, b, n * sizeof(b[0]));
    }
}

/* Two long values that pass from layer to layer, wide short ones between: the shape that models have. */
static void test_a_model_shaped_plan_is_tight(void **state)
{
    (void)state;
    enum { N_LAYERS = 40, PER_LAYER = 5 };
    qn_block b[N_LAYERS * PER_LAYER];
    for (uint32_t i = 0; i < N_LAYERS; i++) {
        uint32_t op = 6 * i;
        qn_block *l = b + PER_LAYER * i;
        l[0] = (qn_block){.bytes = 4096, .first = op, .last = op + 7};  /* the residual stream */
        l[1] = (qn_block){.bytes = 12288, .first = op + 1, .last = op + 2};
        l[2] = (qn_block){.bytes = 4096, .first = op + 2, .last = op + 3};
        l[3] = (qn_block){.bytes = 16384, .first = op + 4, .last = op + 5};
        l[4] = (qn_block){.bytes = 4096, .first = op + 5, .last = op + 6};
    }
    uint64_t total = plan(b, N_LAYERS * PER_LAYER), peak = peak_bytes(b, N_LAYERS * PER_LAYER, 6 * N_LAYERS + 8);
    assert_true(qn_arena_plan_ok(b, N_LAYERS * PER_LAYER));
    assert_true(total <= peak + 4096); /* at a change of layers three narrow values live, beside no wide one */
}

static void test_sizes_that_do_not_fit(void **state)
{
    (void)state;
    uint64_t total = 5;
    qn_error err = {0};
    qn_block round[] = {{.bytes = UINT64_MAX - 3}};
    assert_int_equal(qn_arena_plan(round, 1, NULL, &total, &err), QN_ERANGE);
    qn_block sum[] = {{.bytes = UINT64_MAX / 2}, {.bytes = UINT64_MAX / 2 + 64}};
    assert_int_equal(qn_arena_plan(sum, 2, NULL, &total, &err), QN_ERANGE);
    assert_string_equal(err.what, "the working memory does not fit in 64 bits");
    assert_int_equal(total, 5);
}

static void test_no_memory(void **state)
{
    (void)state;
    uint64_t live = qn_alloc_live(), total;
    qn_block b[] = {{.bytes = 64}, {.bytes = 64}};
    int n_failed = 0;
    for (uint64_t n = 1;; n++) {
        qn_error err = {0};
        qn_alloc_fail_at(n);
        qn_status status = qn_arena_plan(b, 2, NULL, &total, &err);
        qn_alloc_fail_at(0);
        assert_int_equal(qn_alloc_live(), live);
        if (status == QN_OK) {
            break;
        }
        assert_int_equal(status, QN_ENOMEM);
        assert_int_equal(err.code, QN_ENOMEM);
        n_failed++;
    }
    assert_true(n_failed > 0);
    assert_true(qn_arena_plan_ok(b, 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_plans),
        cmocka_unit_test(test_a_gap_is_used),
        cmocka_unit_test(test_the_check_sees_overlaps),
        cmocka_unit_test(test_random_plans_hold_and_stay_near_the_bound),
        cmocka_unit_test(test_a_model_shaped_plan_is_tight),
        cmocka_unit_test(test_sizes_that_do_not_fit),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
