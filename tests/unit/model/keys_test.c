/* Keys that change the maths and that nobody reads: refused by name and value, unless the value has no effect.
 * SPDX-License-Identifier: MIT */
#include "support.h"

#include "base/log.h"

/* A copy of the tiny model of a kind, for keys to be set in. */
typedef struct trial {
    machine m;
    tiny t;
    qn_tiny_spec spec;
    char key[128];
} trial;

static void begin(trial *x, const char *kind)
{
    open_machine(&x->m, "ref");
    x->spec = qn_tiny_spec_of(kind);
    x->t = open_tiny(&x->spec);
}

static void end(trial *x)
{
    close_tiny(&x->t);
    close_machine(&x->m);
}

/* A writer without that key, which x->key then names in full. */
static qn_gguf_writer *without(trial *x, const char *name)
{
    snprintf(x->key, sizeof(x->key), "%s.%s", x->spec.arch, name);
    return qn_tiny_copy(x->t.g, x->key, NULL);
}

static void expect(trial *x, qn_gguf_writer *w, qn_status expected, const char *value)
{
    qn_error err = {0};
    qn_status status = try_file(&x->m, w, NULL, &err);
    if (status != expected) {
        fail_msg("%s = %s: %s '%s'", x->key, value, qn_status_name(status), err.what);
    }
    if (status != QN_OK && (strstr(err.what, x->key) == NULL || strstr(err.what, value) == NULL)) {
        fail_msg("%s = %s: '%s' names neither", x->key, value, err.what);
    }
}

static void expect_f32(trial *x, const char *name, float v, qn_status expected)
{
    char value[32];
    qn_gguf_writer *w = without(x, name);
    snprintf(value, sizeof(value), "%g", (double)v);
    qn_gguf_set_f32(w, x->key, v);
    expect(x, w, expected, value);
}

static void expect_u32(trial *x, const char *name, uint32_t v, qn_status expected)
{
    char value[32];
    qn_gguf_writer *w = without(x, name);
    snprintf(value, sizeof(value), "%u", v);
    qn_gguf_set_u32(w, x->key, v);
    expect(x, w, expected, value);
}

static void expect_flag(trial *x, const char *name, bool v, qn_status expected)
{
    qn_gguf_writer *w = without(x, name);
    qn_gguf_set_bool(w, x->key, v);
    expect(x, w, expected, v ? "1" : "0");
}

static void test_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        float neutral, other;
    } keys[] = {
        {"logit_scale", 1.0f, 0.5f},
        {"residual_scale", 1.0f, 2.0f},
        {"embedding_scale", 0.0f, 2.0f},
        {"attention.clamp_kqv", 0.0f, 1.0f},
        {"attention.max_alibi_bias", 0.0f, 8.0f},
        {"attention.temperature_scale", 0.0f, 0.1f},
        {"attention.output_scale", 1.0f, 0.25f},
        {"expert_weights_scale", 1.0f, 2.5f},
        {"router_logit_softcapping", 0.0f, 30.0f},
        {"rope.scaling.yarn_log_multiplier", 0.0f, 0.1f},
        {"rope.scaling.alpha", 0.0f, 1000.0f},
        {"rope.scaling.attn_factor", 1.0f, 2.0f},
        {"rope.scaling.yarn_ext_factor", 0.0f, 1.0f},
        {"logit_scale", 0.0f, NAN},
    };
    trial x;
    begin(&x, "llama");
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        expect_f32(&x, keys[i].name, keys[i].neutral, QN_OK);
        expect_f32(&x, keys[i].name, keys[i].other, QN_EUNSUPPORTED);
    }
    end(&x);
}

static void test_counts(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t neutral, other;
    } keys[] = {
        {"nextn_predict_layers", 0, 1},
        {"expert_shared_count", 0, 1},
        {"expert_gating_func", 1, 2},
        {"expert_group_count", 1, 8},
        {"expert_feed_forward_length", 64, 48}, /* 64: n_ff of the tiny model */
        {"leading_dense_block_count", 0, 1},
        {"attention.temperature_length", 0, 8192},
        {"attention.key_length_mla", 0, 192},
        {"attention.kv_lora_rank", 0, 512},
        {"attention.indexer.top_k", 0, 2048},
        {"attention.shared_kv_layers", 0, 1},
        {"embedding_length_out", 32, 16}, /* 32: n_embd */
        {"ssm.state_size", 0, 16},
    };
    trial x;
    begin(&x, "llama");
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        expect_u32(&x, keys[i].name, keys[i].neutral, QN_OK);
        expect_u32(&x, keys[i].name, keys[i].other, QN_EUNSUPPORTED);
    }
    expect_u32(&x, "vocab_size", 10, QN_OK);
    expect_u32(&x, "pooling_type", 1, QN_OK);
    end(&x);
}

static void test_flags_texts_and_lists(void **state)
{
    (void)state;
    trial x;
    begin(&x, "qwen3");
    expect_flag(&x, "attention.causal", true, QN_OK);
    expect_flag(&x, "attention.causal", false, QN_EUNSUPPORTED);
    expect_flag(&x, "use_parallel_residual", false, QN_OK);
    expect_flag(&x, "use_parallel_residual", true, QN_EUNSUPPORTED);
    expect_flag(&x, "expert_weights_norm", true, QN_OK);
    expect_flag(&x, "expert_weights_norm", false, QN_EUNSUPPORTED);

    qn_gguf_writer *w = without(&x, "rope.dimension_sections");
    qn_gguf_set_array(w, x.key, QN_GGUF_I32, (const int32_t[]){0, 0, 0, 0}, 4);
    expect(&x, w, QN_OK, "");
    w = without(&x, "rope.dimension_sections");
    qn_gguf_set_array(w, x.key, QN_GGUF_I32, (const int32_t[]){0, 24, 20, 0}, 4);
    expect(&x, w, QN_EUNSUPPORTED, "24");
    w = without(&x, "logit_scale");
    qn_gguf_set_str(w, x.key, QN_STR("1"));
    expect(&x, w, QN_EUNSUPPORTED, "");
    w = without(&x, "classifier.output_labels");
    qn_gguf_set_strs(w, x.key, (const qn_str[]){{"yes", 3}}, 1);
    expect(&x, w, QN_EUNSUPPORTED, "");
    end(&x);
}

/* What only concerns windowed layers is free where there are none, and where the architecture reads it. */
static void test_keys_of_windows(void **state)
{
    (void)state;
    static const char *const kinds[] = {"llama", "mistral", "qwen2", "gemma2", "gemma3"};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        trial x;
        begin(&x, kinds[i]);
        bool is_mistral = strcmp(kinds[i], "mistral") == 0;
        bool has_windows = is_mistral || strncmp(kinds[i], "gemma", 5) == 0;
        expect_u32(&x, "attention.sliding_window_pattern", 2, is_mistral ? QN_EUNSUPPORTED : QN_OK);
        expect_u32(&x, "attention.key_length_swa", 4, has_windows ? QN_EUNSUPPORTED : QN_OK);
        expect_u32(&x, "attention.key_length_swa", x.spec.head_dim, QN_OK);
        expect_f32(&x, "rope.freq_base_swa", 10000.0f, QN_OK); /* the same as rope.freq_base */
        bool has_one_base = is_mistral || strcmp(kinds[i], "gemma2") == 0;
        expect_f32(&x, "rope.freq_base_swa", 5000.0f, has_one_base ? QN_EUNSUPPORTED : QN_OK);
        end(&x);
    }
}

typedef struct lines {
    uint32_t n;
    qn_log_level level;
    char first[512];
} lines;

static void remember(void *ctx, qn_log_level level, const char *line)
{
    lines *l = ctx;
    if (l->n++ == 0) {
        l->level = level;
        snprintf(l->first, sizeof(l->first), "%s", line);
    }
}

static void test_unknown_keys_are_told_once(void **state)
{
    (void)state;
    lines seen = {0};
    trial x;
    begin(&x, "llama");
    qn_log_set_sink(remember, &seen);
    expect(&x, qn_tiny_copy(x.t.g, NULL, NULL), QN_OK, "");
    expect_u32(&x, "vocab_size", 288, QN_OK);
    assert_int_equal(seen.n, 0); /* what usual files hold is no news */

    qn_gguf_writer *w = without(&x, "something_new");
    for (uint32_t i = 0; i < 100; i++) {
        char more[64];
        snprintf(more, sizeof(more), "llama.something.else_%u", i);
        qn_gguf_set_u32(w, more, i);
    }
    qn_gguf_set_u32(w, "llamas.logit_scale", 7); /* of another architecture */
    qn_gguf_set_u32(w, "general.something", 7);
    expect(&x, w, QN_OK, "");
    assert_int_equal(seen.n, 1);
    assert_int_equal(seen.level, QN_LOG_WARN);
    assert_non_null(strstr(seen.first, "llama.something.else_0"));
    assert_non_null(strstr(seen.first, "100"));
    qn_log_set_sink(NULL, NULL);
    end(&x);
}

/* Nothing that the tiny models of any kind hold is refused or unknown. */
static void test_usual_files_are_quiet(void **state)
{
    (void)state;
    lines seen = {0};
    qn_log_set_sink(remember, &seen);
    for (size_t i = 0; i < QN_TINY_N_KINDS; i++) {
        trial x;
        begin(&x, qn_tiny_kinds[i]);
        expect(&x, qn_tiny_copy(x.t.g, NULL, NULL), QN_OK, "");
        end(&x);
    }
    qn_log_set_sink(NULL, NULL);
    assert_int_equal(seen.n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_flags_texts_and_lists),
        cmocka_unit_test(test_keys_of_windows),
        cmocka_unit_test(test_unknown_keys_are_told_once),
        cmocka_unit_test(test_usual_files_are_quiet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
