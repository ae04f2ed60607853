/* Hyper-parameters out of bounds, and lists of another length than the layers: refused with the key and the value.
 * SPDX-License-Identifier: MIT */
#include "support.h"

static machine the_machine;

static void expect_refused(qn_gguf_writer *w, const char *key, const char *value)
{
    qn_error err = {0};
    qn_status status = try_file(&the_machine, w, NULL, &err);
    if (status != QN_EFORMAT || strstr(err.what, key) == NULL || strstr(err.what, value) == NULL) {
        fail_msg("%s = %s: %s '%s'", key, value, qn_status_name(status), err.what);
    }
}

static void test_numbers_out_of_bounds(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        float values[6];
    } keys[] = {
        {"rope.scaling.factor", {0.0f, -1.0f, NAN, INFINITY, 1e-38f, 1e38f}},
        {"rope.scale_linear", {0.0f, -4.0f, NAN, INFINITY, 1e-20f, 1e20f}},
        {"rope.freq_base", {0.0f, -1.0f, NAN, INFINITY, 1e-30f, 1.0f}},
        {"rope.freq_base_swa", {0.0f, -1.0f, NAN, INFINITY, 1e30f, 1.0f}},
        {"rope.scaling.attn_factor", {0.0f, -1.0f, NAN, INFINITY, 1e38f, 1e-38f}},
        {"rope.scaling.yarn_attn_factor", {0.0f, -1.0f, NAN, INFINITY, 1e38f, 1e-38f}},
        {"rope.scaling.yarn_beta_fast", {0.0f, -1.0f, NAN, INFINITY, 1e38f, 1e-38f}},
        {"rope.scaling.yarn_beta_slow", {0.0f, -1.0f, NAN, INFINITY, 1e38f, 1e-38f}},
        {"attention.layer_norm_rms_epsilon", {-1.0f, -1e-9f, NAN, INFINITY, 1.0f, 3e38f}},
        {"attention.scale", {-1.0f, -1e-9f, NAN, INFINITY, 1e38f, -INFINITY}},
        {"attn_logit_softcapping", {-1.0f, -1e-9f, NAN, INFINITY, 1e38f, -INFINITY}},
        {"final_logit_softcapping", {-1.0f, -1e-9f, NAN, INFINITY, 1e38f, -INFINITY}},
    };
    qn_tiny_spec spec = qn_tiny_spec_of("gemma3"); /* it reads them all */
    tiny t = open_tiny(&spec);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        for (size_t k = 0; k < 6; k++) {
            char key[128], value[32];
            snprintf(key, sizeof(key), "%s.%s", spec.arch, keys[i].name);
            snprintf(value, sizeof(value), "%s: %g", keys[i].name, (double)keys[i].values[k]);
            qn_gguf_writer *w = qn_tiny_copy(t.g, key, NULL);
            qn_gguf_set_f32(w, key, keys[i].values[k]);
            expect_refused(w, key, value);
        }
    }
    close_tiny(&t);
}

static void test_counts_out_of_bounds(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t value;
    } keys[] = {
        {"rope.dimension_count", 0},     {"rope.dimension_count", 7},      {"rope.dimension_count", 10},
        {"attention.head_count_kv", 0},  {"attention.head_count_kv", 3},   {"attention.head_count_kv", 64},
        {"attention.key_length", 0},     {"attention.key_length", 4096},   {"attention.value_length", 0},
        {"expert_count", 2000},          {"expert_used_count", 5},         {"expert_used_count", 0},
        {"rope.scaling.original_context_length", 0},
    };
    qn_tiny_spec spec = qn_tiny_spec_of("llama-moe");
    tiny t = open_tiny(&spec);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        char key[128], value[64];
        snprintf(key, sizeof(key), "%s.%s", spec.arch, keys[i].name);
        snprintf(value, sizeof(value), "%s: %u", keys[i].name, keys[i].value);
        qn_gguf_writer *w = qn_tiny_copy(t.g, key, NULL);
        qn_gguf_set_u32(w, key, keys[i].value);
        expect_refused(w, key, value);
    }
    close_tiny(&t);
}

/* A model of three layers: lists of three are counts, others name both lengths. */
static void test_lists_for_layers(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t value;
    } keys[] = {{"attention.head_count", 4}, {"attention.head_count_kv", 1}, {"feed_forward_length", 64}};
    qn_tiny_spec spec = qn_tiny_spec_of("gemma3");
    tiny t = open_tiny(&spec);
    assert_int_equal(spec.n_layers, 3);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        for (uint32_t n = 0; n < 6; n++) {
            const uint32_t v = keys[i].value, items[6] = {v, v, v, v, v, v};
            char key[128], lengths[64];
            snprintf(key, sizeof(key), "%s.%s", spec.arch, keys[i].name);
            snprintf(lengths, sizeof(lengths), "a list of %u for 3 layers", n);
            qn_gguf_writer *w = qn_tiny_copy(t.g, key, NULL);
            qn_gguf_set_array(w, key, QN_GGUF_U32, items, n);
            if (n == 3) {
                assert_int_equal(try_file(&the_machine, w, NULL, NULL), QN_OK);
            } else {
                expect_refused(w, key, lengths);
            }
        }
    }
    qn_gguf_writer *w = qn_tiny_copy(t.g, "gemma3.block_count", NULL);
    qn_gguf_set_array(w, "gemma3.block_count", QN_GGUF_U32, (const uint32_t[]){3, 3, 3}, 3);
    expect_refused(w, "gemma3.block_count", "list");

    w = qn_tiny_copy(t.g, "gemma3.attention.sliding_window_pattern", NULL);
    qn_gguf_set_array(w, "gemma3.attention.sliding_window_pattern", QN_GGUF_BOOL, "\1\1\0", 3);
    assert_int_equal(try_file(&the_machine, w, NULL, NULL), QN_OK);
    for (uint32_t n = 0; n < 7; n = n == 2 ? 4 : n + 1) {
        char lengths[64];
        snprintf(lengths, sizeof(lengths), "a list of %u for 3 layers", n);
        w = qn_tiny_copy(t.g, "gemma3.attention.sliding_window_pattern", NULL);
        qn_gguf_set_array(w, "gemma3.attention.sliding_window_pattern", QN_GGUF_BOOL, "\1\1\0\1\1\0", n);
        expect_refused(w, "gemma3.attention.sliding_window_pattern", lengths);
    }
    close_tiny(&t);
}

static int set_up(void **state)
{
    (void)state;
    open_machine(&the_machine, "ref");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    close_machine(&the_machine);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_out_of_bounds),
        cmocka_unit_test(test_counts_out_of_bounds),
        cmocka_unit_test(test_lists_for_layers),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
