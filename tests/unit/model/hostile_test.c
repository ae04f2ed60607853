/* Files whose metadata lies: every key and every tensor of every kind of model, changed in every way. A file is refused
 * with an error that names a key or tensor, or it runs; nothing crashes and nothing is left behind.
 * SPDX-License-Identifier: MIT */
#include "support.h"

#include "base/log.h"

typedef void change_fn(qn_gguf_writer *w, const char *key);

#define CHANGE(name, call)                                                                                             \
    static void name(qn_gguf_writer *w, const char *key) { call; }

CHANGE(drop, (void)w; (void)key)
CHANGE(u32_zero, qn_gguf_set_u32(w, key, 0))
CHANGE(u32_one, qn_gguf_set_u32(w, key, 1))
CHANGE(u32_three, qn_gguf_set_u32(w, key, 3))
CHANGE(u32_odd, qn_gguf_set_u32(w, key, 1023))
CHANGE(u32_large, qn_gguf_set_u32(w, key, 1u << 18))
CHANGE(u32_half, qn_gguf_set_u32(w, key, INT32_MAX))
CHANGE(u32_most, qn_gguf_set_u32(w, key, UINT32_MAX))
CHANGE(u64_most, qn_gguf_set_u64(w, key, UINT64_MAX))
CHANGE(u64_wraps, qn_gguf_set_u64(w, key, (UINT64_C(1) << 32) + 2))
CHANGE(i32_negative, qn_gguf_set_i32(w, key, -1))
CHANGE(f32_zero, qn_gguf_set_f32(w, key, 0.0f))
CHANGE(f32_negative, qn_gguf_set_f32(w, key, -1.0f))
CHANGE(f32_nan, qn_gguf_set_f32(w, key, NAN))
CHANGE(f32_infinite, qn_gguf_set_f32(w, key, INFINITY))
CHANGE(f32_tiny, qn_gguf_set_f32(w, key, 1e-38f))
CHANGE(f32_huge, qn_gguf_set_f32(w, key, 3e38f))
CHANGE(boolean, qn_gguf_set_bool(w, key, true))
CHANGE(text, qn_gguf_set_str(w, key, QN_STR("yarn \x1b[31m\xff")))
CHANGE(text_empty, qn_gguf_set_str(w, key, QN_STR("")))
CHANGE(array_empty, qn_gguf_set_array(w, key, QN_GGUF_U32, "", 0))
CHANGE(array_same, qn_gguf_set_array(w, key, QN_GGUF_U32, (const uint32_t[]){2, 2, 2}, 3))
CHANGE(array_differs, qn_gguf_set_array(w, key, QN_GGUF_U32, (const uint32_t[]){2, 2, 4}, 3))
CHANGE(array_negative, qn_gguf_set_array(w, key, QN_GGUF_I32, (const int32_t[]){-2, -2}, 2))
CHANGE(array_of_u64, qn_gguf_set_array(w, key, QN_GGUF_U64, (const uint64_t[]){UINT64_MAX}, 1))
CHANGE(array_of_f32, qn_gguf_set_array(w, key, QN_GGUF_F32, (const float[]){1.0f, NAN}, 2))
CHANGE(array_of_flags, qn_gguf_set_array(w, key, QN_GGUF_BOOL, "\1\1\0\1\0", 5))
CHANGE(array_of_texts, qn_gguf_set_strs(w, key, (const qn_str[]){{"a", 1}, {"b", 1}}, 2))

static change_fn *const changes[] = {
    drop,        u32_zero,     u32_one,       u32_three,      u32_odd,      u32_large,    u32_half,
    u32_most,    u64_most,     u64_wraps,     i32_negative,   f32_zero,     f32_negative, f32_nan,
    f32_infinite, f32_tiny,    f32_huge,      boolean,        text,         text_empty,   array_empty,
    array_same,  array_differs, array_negative, array_of_u64, array_of_f32, array_of_flags, array_of_texts,
};

enum { N_CHANGES = sizeof(changes) / sizeof(changes[0]) };

/* Keys that our tiny files leave out, each read by some architecture. */
static const char *const other_keys[] = {
    "attention.scale",     "attention.sliding_window",  "attention.sliding_window_pattern", "attn_logit_softcapping",
    "expert_count",        "expert_used_count",         "final_logit_softcapping",          "rope.freq_base_swa",
    "rope.scale_linear",   "rope.scaling.attn_factor",  "rope.scaling.factor",              "rope.scaling.type",
    "rope.scaling.original_context_length", "rope.scaling.yarn_attn_factor", "rope.scaling.yarn_beta_fast",
    "rope.scaling.yarn_beta_slow",
};

static qn_status expect_named(qn_status status, const qn_error *err, const char *arch, const char *key, size_t i_change)
{
    if (status == QN_OK) {
        return QN_OK;
    }
    char prefix[40];
    snprintf(prefix, sizeof(prefix), "%s.", arch);
    bool named = strstr(err->what, key) != NULL || strstr(err->what, "tensor '") != NULL ||
                 strstr(err->what, prefix) != NULL || strstr(err->what, "KV") != NULL;
    if (!named || err->code != status || strchr(err->what, '\x1b') != NULL) {
        fail_msg("%s, change %u of %s: %s '%s'", arch, (unsigned)i_change, key, qn_status_name(status), err->what);
    }
    assert_true(status == QN_EFORMAT || status == QN_ENOTFOUND || status == QN_EUNSUPPORTED || status == QN_ERANGE ||
                status == QN_ENOMEM || status == QN_EINVAL);
    return status;
}

static void test_every_key(void **state)
{
    (void)state;
    machine m;
    open_machine(&m, "ref");
    uint32_t n_refused = 0, n_run = 0;
    for (size_t kind = 0; kind < QN_TINY_N_KINDS; kind++) {
        qn_tiny_spec spec = qn_tiny_spec_of(qn_tiny_kinds[kind]);
        tiny t = open_tiny(&spec);
        size_t n_kv = qn_gguf_n_kv(t.g), n_others = sizeof(other_keys) / sizeof(other_keys[0]);
        for (size_t i = 0; i < n_kv + n_others; i++) {
            char key[128];
            if (i < n_kv) {
                qn_str k = qn_gguf_kv_at(t.g, i)->key;
                snprintf(key, sizeof(key), "%.*s", (int)k.len, k.data);
            } else {
                snprintf(key, sizeof(key), "%s.%s", spec.arch, other_keys[i - n_kv]);
            }
            if (strncmp(key, "tokenizer.", 10) == 0 && strcmp(key, "tokenizer.ggml.tokens") != 0) {
                continue; /* not read here */
            }
            for (size_t c = 0; c < N_CHANGES; c++) {
                qn_error err = {0};
                qn_gguf_writer *w = qn_tiny_copy(t.g, key, NULL);
                changes[c](w, key);
                qn_status status = expect_named(try_file(&m, w, NULL, &err), &err, spec.arch, key, c);
                n_refused += status != QN_OK;
                n_run += status == QN_OK;
            }
        }
        close_tiny(&t);
    }
    assert_true(n_refused > 2000 && n_run > 300);
    close_machine(&m);
}

/* Zeros enough for any tensor below. */
static uint8_t no_data[1 << 20];

static void test_every_tensor(void **state)
{
    (void)state;
    static const qn_type types[] = {QN_TYPE_F16, QN_TYPE_Q8_0, QN_TYPE_I32, QN_TYPE_F64, QN_TYPE_IQ2_XXS, QN_TYPE_TQ1_0};
    machine m;
    open_machine(&m, "ref");
    for (size_t kind = 0; kind < QN_TINY_N_KINDS; kind++) {
        qn_tiny_spec spec = qn_tiny_spec_of(qn_tiny_kinds[kind]);
        tiny t = open_tiny(&spec);
        for (size_t i = 0; i < qn_gguf_n_tensors(t.g); i++) {
            const qn_gguf_tensor *x = qn_gguf_tensor_at(t.g, i);
            char name[128];
            snprintf(name, sizeof(name), "%.*s", (int)x->name.len, x->name.data);
            const uint64_t *ne = x->ne;
            const struct {
                uint32_t n_dims;
                uint64_t ne[4];
            } shapes[] = {
                {x->n_dims, {ne[0] + 1, ne[1], ne[2], 1}}, {x->n_dims, {ne[0] * 2, ne[1], ne[2], 1}},
                {2, {ne[0], ne[1] + 1, 1, 1}},             {2, {ne[1], ne[0], 1, 1}},
                {3, {ne[0], ne[1], ne[2] + 1, 1}},         {4, {ne[0], ne[1], ne[2], 2}},
                {1, {ne[0] * ne[1] * ne[2], 1, 1, 1}},     {1, {1, 1, 1, 1}},
                {2, {ne[0], ne[1] > 1 ? ne[1] - 1 : 2, 1, 1}},
            };
            qn_error err = {0};
            qn_status status = try_file(&m, qn_tiny_copy(t.g, NULL, name), NULL, &err);
            expect_named(status, &err, "tensor '", name, 0); /* missing: fine for biases and the like */
            assert_true(status == QN_OK || strstr(err.what, name) != NULL);
            for (size_t s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++) {
                qn_gguf_writer *w = qn_tiny_copy(t.g, NULL, name);
                qn_gguf_add_tensor(w, name, QN_TYPE_F32, shapes[s].n_dims, shapes[s].ne, no_data);
                assert_true(shapes[s].ne[0] * shapes[s].ne[1] * shapes[s].ne[2] * shapes[s].ne[3] * 4 < sizeof(no_data));
                status = try_file(&m, w, NULL, &err);
                bool is_vocab = strcmp(name, "token_embd.weight") == 0; /* its rows are the vocabulary */
                if (memcmp(shapes[s].ne, ne, sizeof(shapes[s].ne)) != 0 && !is_vocab) {
                    assert_int_equal(status, QN_EFORMAT);
                    assert_non_null(strstr(err.what, name));
                }
            }
            for (size_t k = 0; k < sizeof(types) / sizeof(types[0]); k++) {
                qn_gguf_writer *w = qn_tiny_copy(t.g, NULL, name);
                qn_gguf_add_tensor(w, name, types[k], x->n_dims, ne, no_data);
                status = try_file(&m, w, NULL, &err);
                /* rows that are no whole blocks are refused by the writer already */
                assert_true(status == QN_OK || status == QN_EUNSUPPORTED || status == QN_EFORMAT || status == QN_EINVAL);
                assert_true(status == QN_OK || strstr(err.what, name) != NULL);
                assert_true(status != QN_OK || x->n_dims > 1); /* vectors are floats */
            }
        }
        qn_error err = {0};
        qn_gguf_writer *w = qn_tiny_copy(t.g, NULL, NULL);
        qn_gguf_add_tensor(w, "blk.0.attn_sinks.weight", QN_TYPE_F32, 1, (const uint64_t[]){4}, no_data);
        assert_int_equal(try_file(&m, w, NULL, &err), QN_EUNSUPPORTED);
        assert_non_null(strstr(err.what, "blk.0.attn_sinks.weight"));
        close_tiny(&t);
    }
    close_machine(&m);
}

/* Weights of any value: logits may be NaN, memory stays sound. */
static void test_ugly_weights(void **state)
{
    (void)state;
    const float values[] = {NAN, INFINITY, -INFINITY, 3e38f, -3e38f, 1e-42f, 0.0f};
    machine m;
    open_machine(&m, NULL);
    for (size_t kind = 0; kind < QN_TINY_N_KINDS; kind++) {
        qn_tiny_spec spec = qn_tiny_spec_of(qn_tiny_kinds[kind]);
        tiny t = open_tiny(&spec);
        for (size_t i = 0; i < qn_gguf_n_tensors(t.g); i++) {
            const qn_gguf_tensor *x = qn_gguf_tensor_at(t.g, i);
            char name[128];
            snprintf(name, sizeof(name), "%.*s", (int)x->name.len, x->name.data);
            float *data = malloc(x->bytes);
            assert_true(data != NULL && x->type == QN_TYPE_F32);
            for (size_t v = 0; v < sizeof(values) / sizeof(values[0]); v++) {
                qn_error err = {0};
                for (size_t k = 0; k < x->bytes / sizeof(float); k++) {
                    data[k] = values[v];
                }
                qn_gguf_writer *w = qn_tiny_copy(t.g, NULL, name);
                qn_gguf_add_tensor(w, name, QN_TYPE_F32, x->n_dims, x->ne, data);
                assert_int_equal(try_file(&m, w, NULL, &err), QN_OK);
            }
            free(data);
        }
        close_tiny(&t);
    }
    close_machine(&m);
}

static void test_unknown_architectures(void **state)
{
    (void)state;
    machine m;
    open_machine(&m, "ref");
    qn_tiny_spec spec = qn_tiny_spec_of("llama");
    static const char *const names[] = {"", "lama", "llama ", "LLAMA", "an-architecture-with-a-name-longer-than-any"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        qn_error err = {0};
        spec.arch = names[i];
        tiny t = open_tiny(&spec);
        assert_int_equal(try_file(&m, qn_tiny_copy(t.g, NULL, NULL), NULL, &err), QN_EUNSUPPORTED);
        assert_non_null(strstr(err.what, "general.architecture"));
        assert_non_null(strstr(err.what, names[i]));
        close_tiny(&t);
    }
    close_machine(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_key),
        cmocka_unit_test(test_every_tensor),
        cmocka_unit_test(test_ugly_weights),
        cmocka_unit_test(test_unknown_architectures),
    };
    qn_log_set_level(QN_LOG_ERROR); /* hundreds of warnings about odd files say nothing here */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
