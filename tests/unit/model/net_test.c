/* Tests of model/hparams.h, model/net.h and the architectures: what the keys of a file come to.
 * SPDX-License-Identifier: MIT */
#include "support.h"

/* The tiny model of a kind with one key set otherwise; how: what the writer does. */
typedef void set_fn(qn_gguf_writer *w, const char *key, const void *value);

static void set_u32(qn_gguf_writer *w, const char *key, const void *v) { qn_gguf_set_u32(w, key, *(const uint32_t *)v); }
static void set_f32(qn_gguf_writer *w, const char *key, const void *v) { qn_gguf_set_f32(w, key, *(const float *)v); }
static void set_str(qn_gguf_writer *w, const char *key, const void *v) { qn_gguf_set_str(w, key, qn_str_of(v)); }
static void no_key(qn_gguf_writer *w, const char *key, const void *v)
{
    (void)w;
    (void)key;
    (void)v;
}

typedef struct opened {
    uint8_t *bytes;
    qn_gguf *g;
    qn_net *net;
    qn_error err;
} opened;

static opened open_with(const qn_tiny_spec *spec, const char *name, set_fn *set, const void *value)
{
    opened o = {0};
    char key[128];
    size_t n_bytes;
    tiny t = open_tiny(spec);
    snprintf(key, sizeof(key), "%s.%s", spec->arch, name);
    qn_gguf_writer *w = qn_tiny_copy(t.g, key, NULL);
    set(w, key, value);
    assert_int_equal(qn_gguf_write_memory(w, &o.bytes, &n_bytes, NULL), QN_OK);
    qn_gguf_writer_close(w);
    close_tiny(&t);
    assert_int_equal(qn_gguf_open_memory(o.bytes, n_bytes, NULL, &o.g, NULL), QN_OK);
    qn_net_open(o.g, NULL, &o.net, &o.err);
    return o;
}

static void close_opened(opened *o)
{
    qn_net_close(o->net);
    qn_gguf_close(o->g);
    qn_free(o->bytes);
}

static opened open_plain(const char *kind)
{
    qn_tiny_spec spec = qn_tiny_spec_of(kind);
    return open_with(&spec, "no.such.key", no_key, NULL);
}

static void test_defaults(void **state)
{
    (void)state;
    qn_tiny_spec spec = qn_tiny_spec_of("llama");
    spec.n_kv_heads = spec.n_heads;
    tiny t = open_tiny(&spec);
    qn_hparams hp;
    qn_error err = {0};
    static const char *const dropped[] = {"llama.attention.head_count_kv", "llama.attention.key_length",
                                          "llama.attention.value_length", "llama.attention.layer_norm_rms_epsilon",
                                          "llama.rope.dimension_count", "llama.rope.freq_base"};
    qn_gguf_writer *w = NULL;
    assert_int_equal(qn_gguf_writer_open(NULL, 0, &w, NULL), QN_OK);
    for (size_t i = 0; i < qn_gguf_n_kv(t.g); i++) {
        bool keep = true;
        for (size_t k = 0; k < sizeof(dropped) / sizeof(dropped[0]); k++) {
            keep = keep && !qn_str_is(qn_gguf_kv_at(t.g, i)->key, dropped[k]);
        }
        if (keep) {
            qn_gguf_set_kv(w, qn_gguf_kv_at(t.g, i));
        }
    }
    uint8_t *bytes;
    size_t n_bytes;
    qn_gguf *g;
    assert_int_equal(qn_gguf_write_memory(w, &bytes, &n_bytes, NULL), QN_OK);
    assert_int_equal(qn_gguf_open_memory(bytes, n_bytes, NULL, &g, NULL), QN_OK);
    assert_int_equal(qn_hparams_read(g, &hp, &err), QN_OK);
    assert_string_equal(hp.arch, "llama");
    assert_int_equal(hp.n_kv_heads, 4);
    assert_int_equal(hp.head_dim, 8);
    assert_int_equal(hp.v_dim, 8);
    assert_int_equal(hp.n_rot, 8);
    assert_true(hp.freq_base == 10000.0f && hp.freq_base_local == 10000.0f && hp.norm_eps == 1e-5f);
    assert_int_equal(hp.scaling, QN_SCALING_NONE);
    assert_int_equal(hp.scaling_ctx, spec.n_ctx);
    assert_int_equal(hp.window, 0);
    assert_int_equal(hp.n_experts, 0);
    qn_gguf_close(g);
    qn_free(bytes);
    qn_gguf_writer_close(w);
    close_tiny(&t);
}

static void test_counts_per_layer(void **state)
{
    (void)state;
    qn_tiny_spec spec = qn_tiny_spec_of("llama");
    tiny t = open_tiny(&spec);
    const uint32_t same[] = {2, 2}, differ[] = {2, 4};
    for (int i = 0; i < 2; i++) {
        qn_gguf_writer *w = qn_tiny_copy(t.g, "llama.attention.head_count_kv", NULL);
        qn_gguf_set_array(w, "llama.attention.head_count_kv", QN_GGUF_U32, i == 0 ? same : differ, 2);
        uint8_t *bytes;
        size_t n_bytes;
        qn_gguf *g;
        qn_hparams hp;
        qn_error err = {0};
        assert_int_equal(qn_gguf_write_memory(w, &bytes, &n_bytes, NULL), QN_OK);
        assert_int_equal(qn_gguf_open_memory(bytes, n_bytes, NULL, &g, NULL), QN_OK);
        assert_int_equal(qn_hparams_read(g, &hp, &err), i == 0 ? QN_OK : QN_EUNSUPPORTED);
        if (i == 0) {
            assert_int_equal(hp.n_kv_heads, 2);
        } else {
            assert_string_equal(err.what, "llama.attention.head_count_kv: layers that differ, 2 and 4");
        }
        qn_gguf_close(g);
        qn_free(bytes);
        qn_gguf_writer_close(w);
    }
    close_tiny(&t);
}

static void check_freqs(const qn_rope *r, const double *want, double mscale)
{
    for (uint32_t i = 0; i < r->n_pairs; i++) {
        assert_true(fabs((double)r->inv_freq[i] / want[i] - 1.0) < 1e-5);
    }
    assert_true(fabs((double)r->mscale - mscale) < 1e-6);
}

static void test_rotary_frequencies(void **state)
{
    (void)state;
    enum { N_PAIRS = 8 };
    double plain[N_PAIRS], linear[N_PAIRS], yarn[N_PAIRS];
    qn_tiny_spec spec = qn_tiny_spec_of("qwen3");
    for (int i = 0; i < N_PAIRS; i++) {
        plain[i] = pow(10000.0, -2.0 * i / (2 * N_PAIRS));
        linear[i] = plain[i] / 4.0;
        /* Turns in the original 64 tokens: above 32 kept, below 1 stretched, between by a ramp over the pairs that the
         * bounds are rounded out to. */
        double low = floor(16.0 * log(64.0 / (32.0 * 2.0 * M_PI)) / (2.0 * log(10000.0)));
        double high = ceil(16.0 * log(64.0 / (1.0 * 2.0 * M_PI)) / (2.0 * log(10000.0)));
        low = low < 0.0 ? 0.0 : low;
        double ramp = (i - low) / (high - low);
        ramp = ramp < 0.0 ? 0.0 : ramp > 1.0 ? 1.0 : ramp;
        yarn[i] = plain[i] / 4.0 * ramp + plain[i] * (1.0 - ramp);
    }
    opened o = open_plain("qwen3");
    assert_int_equal(o.net->rope.n_pairs, N_PAIRS);
    assert_true(o.net->rope.neox);
    check_freqs(&o.net->rope, plain, 1.0);
    close_opened(&o);

    spec.scaling = "linear";
    spec.scaling_factor = 4.0f;
    o = open_with(&spec, "x", no_key, NULL);
    check_freqs(&o.net->rope, linear, 1.0);
    check_freqs(&o.net->rope_local, plain, 1.0);
    close_opened(&o);
    o = open_with(&spec, "rope.scaling.type", no_key, NULL); /* a factor alone means linear */
    check_freqs(&o.net->rope, linear, 1.0);
    close_opened(&o);
    o = open_with(&spec, "rope.scaling.type", set_str, "none");
    check_freqs(&o.net->rope, plain, 1.0);
    close_opened(&o);
    spec.scaling = NULL;
    float factor = 4.0f;
    o = open_with(&spec, "rope.scale_linear", set_f32, &factor);
    check_freqs(&o.net->rope, linear, 1.0);
    close_opened(&o);

    spec.scaling = "yarn";
    spec.scaling_ctx = 64;
    o = open_with(&spec, "x", no_key, NULL);
    check_freqs(&o.net->rope, yarn, 1.0 + 0.1 * log(4.0));
    close_opened(&o);
    float attn = 0.5f;
    o = open_with(&spec, "rope.scaling.attn_factor", set_f32, &attn);
    check_freqs(&o.net->rope, yarn, 0.5 * (1.0 + 0.1 * log(4.0)));
    close_opened(&o);
    o = open_with(&spec, "rope.scaling.type", set_str, "longrope");
    assert_null(o.net);
    assert_int_equal(o.err.code, QN_EUNSUPPORTED);
    assert_string_equal(o.err.what, "qwen3.rope.scaling.type: 'longrope' is not supported");
    close_opened(&o);
}

static void test_rotary_factors(void **state)
{
    (void)state;
    opened o = open_plain("llama-rope");
    assert_int_equal(o.net->rope.n_pairs, 3);
    assert_false(o.net->rope.neox);
    for (uint32_t i = 0; i < 3; i++) {
        float factor;
        memcpy(&factor, o.net->rope_factors->data + i * sizeof(float), sizeof(factor));
        assert_true(fabs((double)(o.net->rope.inv_freq[i] * factor) / pow(10000.0, -2.0 * i / 6.0) - 1.0) < 1e-5);
    }
    close_opened(&o);
}

static void check_windows(const opened *o, const uint32_t *windows)
{
    if (o->net == NULL) {
        fail_msg("%s", o->err.what);
    }
    for (uint32_t i = 0; i < o->net->hp.n_layers; i++) {
        assert_int_equal(o->net->layers[i].window, windows[i]);
    }
}

static void set_flags(qn_gguf_writer *w, const char *key, const void *flags)
{
    qn_gguf_set_array(w, key, QN_GGUF_BOOL, flags, strlen(flags));
}

static void set_flags_i32(qn_gguf_writer *w, const char *key, const void *flags)
{
    qn_gguf_set_array(w, key, QN_GGUF_I32, flags, 6);
}

static void test_windows(void **state)
{
    (void)state;
    opened o = open_plain("mistral");
    check_windows(&o, (uint32_t[]){20, 20});
    close_opened(&o);
    uint32_t window = 9, pattern = 0;
    static const char *const ignored[] = {"qwen2", "qwen3"};
    for (int i = 0; i < 2; i++) {
        qn_tiny_spec qwen = qn_tiny_spec_of(ignored[i]);
        o = open_with(&qwen, "attention.sliding_window", set_u32, &window);
        check_windows(&o, (uint32_t[]){0, 0});
        close_opened(&o);
    }
    qn_tiny_spec spec = qn_tiny_spec_of("gemma2");
    spec.n_layers = 4;
    o = open_with(&spec, "x", no_key, NULL);
    check_windows(&o, (uint32_t[]){24, 0, 24, 0});
    close_opened(&o);
    spec.window = 0; /* not in the file, as the soft caps: the published values hold */
    spec.attn_softcap = spec.final_softcap = 0.0f;
    o = open_with(&spec, "x", no_key, NULL);
    check_windows(&o, (uint32_t[]){4096, 0, 4096, 0});
    assert_true(o.net->hp.attn_softcap == 50.0f && o.net->hp.final_softcap == 30.0f);
    close_opened(&o);
    spec = qn_tiny_spec_of("gemma3");
    spec.n_layers = 7;
    o = open_with(&spec, "attention.sliding_window_pattern", no_key, NULL);
    check_windows(&o, (uint32_t[]){12, 12, 12, 12, 12, 0, 12});
    assert_ptr_equal(o.net->layers[0].rope, &o.net->rope_local);
    assert_ptr_equal(o.net->layers[5].rope, &o.net->rope);
    close_opened(&o);
    spec.n_layers = 6;
    o = open_with(&spec, "attention.sliding_window_pattern", set_flags_i32, (const int32_t[]){1, 1, 0, 1, 1, 0});
    check_windows(&o, (uint32_t[]){12, 12, 0, 12, 12, 0});
    close_opened(&o);
    o = open_with(&spec, "attention.sliding_window_pattern", set_flags, "\1\1\1\1\1\1");
    check_windows(&o, (uint32_t[]){12, 12, 12, 12, 12, 12});
    close_opened(&o);
    o = open_with(&spec, "attention.sliding_window_pattern", set_u32, &pattern);
    check_windows(&o, (uint32_t[]){12, 12, 12, 12, 12, 12});
    close_opened(&o);
    o = open_with(&spec, "attention.sliding_window_pattern", set_flags_i32, (const int32_t[]){1, 0, 1, 1, 0, 1});
    assert_null(o.net);
    assert_int_equal(o.err.code, QN_EUNSUPPORTED);
    assert_non_null(strstr(o.err.what, "layer 3 breaks the period of 2"));
    close_opened(&o);
    o = open_with(&spec, "rope.freq_base_swa", no_key, NULL);
    assert_true(o.net->hp.freq_base_local == 10000.0f);
    close_opened(&o);
}

static void test_types_in_use(void **state)
{
    (void)state;
    bool used[QN_TYPE_COUNT];
    qn_tiny_spec spec = qn_tiny_spec_of("llama-moe");
    spec.type = QN_TYPE_Q8_0;
    spec.embd_type = QN_TYPE_BF16;
    opened o = open_with(&spec, "x", no_key, NULL);
    qn_net_types(o.net, used);
    for (uint32_t t = 0; t < QN_TYPE_COUNT; t++) {
        bool wanted = t == QN_TYPE_Q8_0 || t == QN_TYPE_BF16 || t == QN_TYPE_F32 /* the router */;
        assert_int_equal(used[t], wanted);
    }
    close_opened(&o);
}

static void test_the_vocabulary_fits(void **state)
{
    (void)state;
    qn_tiny_spec spec = qn_tiny_spec_of("llama");
    tiny t = open_tiny(&spec);
    machine m;
    open_machine(&m, "ref");
    qn_error err = {0};
    static float rows[300 * 32];
    for (uint64_t n = 287; n <= 290; n++) { /* 288 tokens: more rows are padding, fewer an error */
        qn_gguf_writer *w = qn_tiny_copy(t.g, NULL, "token_embd.weight");
        qn_gguf_add_tensor(w, "token_embd.weight", QN_TYPE_F32, 2, (const uint64_t[]){32, n}, rows);
        qn_status status = try_file(&m, w, NULL, &err);
        assert_int_equal(status, n == 288 ? QN_OK : QN_EFORMAT);
        assert_non_null(n == 288 ? "" : strstr(err.what, n < 288 ? "288 tokens" : "output.weight"));
    }
    close_machine(&m);
    close_tiny(&t);
}

static void test_the_list(void **state)
{
    (void)state;
    static const char *const names[] = {"llama", "qwen2", "qwen3", "gemma2", "gemma3"};
    const qn_arch *const *list = qn_arch_list();
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const qn_arch *arch = qn_arch_find(qn_str_of(names[i]));
        assert_non_null(arch);
        bool listed = false;
        for (size_t k = 0; list[k] != NULL; k++) {
            listed = listed || list[k] == arch;
        }
        assert_true(listed);
    }
    assert_null(qn_arch_find(QN_STR("gpt2")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_counts_per_layer),
        cmocka_unit_test(test_rotary_frequencies),
        cmocka_unit_test(test_rotary_factors),
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_types_in_use),
        cmocka_unit_test(test_the_vocabulary_fits),
        cmocka_unit_test(test_the_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
