/* Tests of backend/cpu/fuse.c: op lists made at random, fused and run in ragged steps, agree with a judge that walks the
 * list as it was built. SPDX-License-Identifier: MIT */
#include "graph_rig.h"

static const qn_type f32_only[] = {QN_TYPE_F32};
static const qn_type plain[] = {QN_TYPE_F32, QN_TYPE_F16, QN_TYPE_BF16};
static const qn_type mixed[] = {QN_TYPE_F32, QN_TYPE_Q8_0, QN_TYPE_Q4_0, QN_TYPE_Q5_1, QN_TYPE_F16, QN_TYPE_MXFP4};

static void play_random(const char *isa, uint32_t n_threads, bool poisoned, const qn_type *types, uint32_t n_types,
                        qn_type kv_type, bool experts, uint64_t seed, uint32_t n_graphs, double tolerance)
{
    machine m;
    open_machine(&m, isa, n_threads);
    if (poisoned) {
        poison_backend(m.be);
    }
    for (uint32_t i = 0; i < n_graphs; i++) {
        rig *r = malloc(sizeof(*r));
        open_rig(r, seed + i, types, n_types, kv_type);
        random_graph(r, experts);
        play(r, &m, 8, random_step, tolerance);
        close_rig(r);
        free(r);
    }
    close_machine(&m);
}

static void test_reference_kernels(void **state)
{
    (void)state;
    play_random("ref", 1, false, f32_only, 1, QN_TYPE_F32, true, 1, 25, 1e-5);
    play_random("ref", 3, false, mixed, 6, QN_TYPE_F32, true, 1000, 25, 1e-5);
    play_random("ref", 2, true, mixed, 6, QN_TYPE_F32, true, 2000, 25, 1e-5);
}

static void test_fast_kernels(void **state)
{
    (void)state;
    const char *isa;
    bool usable;
    for (size_t i = 1; qn_kernels_known(i, &isa, &usable); i++) {
        if (!usable) {
            printf("%s: not on this processor\n", isa);
            continue;
        }
        play_random(isa, 2, false, plain, 3, QN_TYPE_F32, true, 3000, 15, 1e-4);
        play_random(isa, 1, true, plain, 3, QN_TYPE_F32, true, 3500, 15, 1e-4);
        play_random(isa, 1, false, plain, 3, QN_TYPE_F16, true, 4000, 15, 1e-2);
        /* activations of quantised products have 8 bits; a wrong row gives far more than this */
        play_random(isa, 2, false, mixed, 6, QN_TYPE_F32, false, 5000, 15, 0.1);
        play_random(isa, 1, true, mixed, 6, QN_TYPE_F32, true, 6000, 15, 0.2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference_kernels),
        cmocka_unit_test(test_fast_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
