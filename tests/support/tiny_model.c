/* Making tiny models. SPDX-License-Identifier: MIT */
#include "tiny_model.h"

#include "test.h"

#include "base/random.h"

#include <math.h>

#define MAX_TENSORS 512

const char *const qn_tiny_kinds[] = {"llama", "llama-moe", "llama-rope", "mistral",
                                     "qwen2", "qwen3",     "gemma2",     "gemma3"};

_Static_assert(sizeof(qn_tiny_kinds) / sizeof(qn_tiny_kinds[0]) == QN_TINY_N_KINDS, "as the header says");

static bool starts(const char *s, const char *with) { return strncmp(s, with, strlen(with)) == 0; }

qn_tiny_spec qn_tiny_spec_of(const char *kind)
{
    qn_tiny_spec s = {.arch = kind, .n_layers = 2, .n_embd = 32, .n_heads = 4, .n_kv_heads = 2, .head_dim = 8,
                      .v_dim = 8, .n_ff = 64, .n_vocab = QN_TINY_MIN_VOCAB, .n_ctx = 256, .n_rot = 8,
                      .type = QN_TYPE_F32, .embd_type = QN_TYPE_F32, .seed = 1};
    if (starts(kind, "llama") || strcmp(kind, "mistral") == 0) {
        s.arch = "llama";
        s.n_experts = strcmp(kind, "llama-moe") == 0 ? 4 : 0;
        s.n_experts_used = s.n_experts / 2;
        s.rope_factors = strcmp(kind, "llama-rope") == 0;
        s.window = strcmp(kind, "mistral") == 0 ? 20 : 0;
        s.n_rot = s.rope_factors ? 6 : 8;
    } else if (strcmp(kind, "qwen2") == 0) {
        s.q_biases = s.tied = true;
        s.scaling = "yarn";
        s.scaling_factor = 4.0f;
        s.scaling_ctx = 64;
    } else if (strcmp(kind, "qwen3") == 0) {
        s.head_norms = true;
        s.head_dim = s.v_dim = s.n_rot = 16;
    } else {
        assert_true(starts(kind, "gemma"));
        s.tied = s.post_norms = true;
        s.head_norms = strcmp(kind, "gemma3") == 0;
        s.n_layers = s.head_norms ? 3 : 2;
        s.window_pattern = s.head_norms ? 3 : 0;
        s.window = s.head_norms ? 12 : 24;
        s.attn_softcap = s.head_norms ? 0.0f : 50.0f;
        s.final_softcap = s.head_norms ? 0.0f : 30.0f;
        s.scaling = s.head_norms ? "linear" : NULL;
        s.scaling_factor = 8.0f;
        s.n_kv_heads = 1;
        s.head_dim = s.v_dim = s.n_rot = 16;
    }
    return s;
}

/* ---- metadata --------------------------------------------------------------------------------------- */

static const char *key_of(char key[128], const qn_tiny_spec *s, const char *name)
{
    snprintf(key, 128, "%s.%s", s->arch, name);
    return key;
}

static void set_u32(qn_gguf_writer *w, const qn_tiny_spec *s, const char *name, uint32_t v)
{
    char key[128];
    qn_gguf_set_u32(w, key_of(key, s, name), v);
}

static void set_f32(qn_gguf_writer *w, const qn_tiny_spec *s, const char *name, float v)
{
    char key[128];
    qn_gguf_set_f32(w, key_of(key, s, name), v);
}

static void set_hparams(qn_gguf_writer *w, const qn_tiny_spec *s)
{
    char key[128];
    qn_gguf_set_str(w, "general.architecture", qn_str_of(s->arch));
    qn_gguf_set_str(w, "general.name", QN_STR("tiny"));
    set_u32(w, s, "block_count", s->n_layers);
    set_u32(w, s, "context_length", s->n_ctx);
    set_u32(w, s, "embedding_length", s->n_embd);
    set_u32(w, s, "feed_forward_length", s->n_ff);
    set_u32(w, s, "attention.head_count", s->n_heads);
    set_u32(w, s, "attention.head_count_kv", s->n_kv_heads);
    set_u32(w, s, "attention.key_length", s->head_dim);
    set_u32(w, s, "attention.value_length", s->v_dim);
    set_f32(w, s, "attention.layer_norm_rms_epsilon", 1e-6f);
    set_u32(w, s, "rope.dimension_count", s->n_rot);
    set_f32(w, s, "rope.freq_base", 10000.0f);
    if (s->n_experts != 0) {
        set_u32(w, s, "expert_count", s->n_experts);
        set_u32(w, s, "expert_used_count", s->n_experts_used);
    }
    if (s->window != 0) {
        set_u32(w, s, "attention.sliding_window", s->window);
    }
    if (s->window_pattern != 0) {
        set_u32(w, s, "attention.sliding_window_pattern", s->window_pattern);
        set_f32(w, s, "rope.freq_base_swa", 5000.0f);
    }
    if (s->attn_softcap != 0.0f) {
        set_f32(w, s, "attn_logit_softcapping", s->attn_softcap);
    }
    if (s->final_softcap != 0.0f) {
        set_f32(w, s, "final_logit_softcapping", s->final_softcap);
    }
    if (s->scaling != NULL) {
        qn_gguf_set_str(w, key_of(key, s, "rope.scaling.type"), qn_str_of(s->scaling));
        set_f32(w, s, "rope.scaling.factor", s->scaling_factor);
    }
    if (s->scaling_ctx != 0) {
        set_u32(w, s, "rope.scaling.original_context_length", s->scaling_ctx);
    }
}

static void set_vocabulary(qn_gguf_writer *w, const qn_tiny_spec *s)
{
    enum { UNK, BOS, EOS, FIRST_BYTE, SPACE = FIRST_BYTE + 256, FIRST_LETTER, FIRST_FILLER = FIRST_LETTER + 26 };
    enum { TEXT_BYTES = 128 };
    assert_true(s->n_vocab >= QN_TINY_MIN_VOCAB);
    char *text = calloc(s->n_vocab, TEXT_BYTES);
    qn_str *tokens = calloc(s->n_vocab, sizeof(*tokens));
    float *scores = calloc(s->n_vocab, sizeof(*scores));
    int32_t *kinds = calloc(s->n_vocab, sizeof(*kinds));
    assert_true(text != NULL && tokens != NULL && scores != NULL && kinds != NULL);
    for (uint32_t i = 0; i < s->n_vocab; i++) {
        char *t = text + (size_t)i * TEXT_BYTES;
        kinds[i] = i == UNK ? 2 : i < FIRST_BYTE ? 3 : i < SPACE ? 6 : 1;
        if (i < FIRST_BYTE) {
            snprintf(t, TEXT_BYTES, "%s", i == UNK ? "<unk>" : i == BOS ? "<s>" : "</s>");
        } else if (i < SPACE) {
            snprintf(t, TEXT_BYTES, "<0x%02X>", (unsigned)(i - FIRST_BYTE));
        } else if (i == SPACE) {
            snprintf(t, TEXT_BYTES, "\xE2\x96\x81");
        } else if (i < FIRST_FILLER) {
            snprintf(t, TEXT_BYTES, "%c", (char)('a' + (i - FIRST_LETTER)));
        } else {
            snprintf(t, TEXT_BYTES, "#%u", (unsigned)i);
        }
        if (i == s->n_vocab - 1) { /* one token is much longer than the others */
            memset(t, 'z', TEXT_BYTES - 1);
        }
        tokens[i] = qn_str_of(t);
        scores[i] = i < SPACE ? 0.0f : -(float)i;
    }
    qn_gguf_set_str(w, "tokenizer.ggml.model", QN_STR("llama"));
    qn_gguf_set_strs(w, "tokenizer.ggml.tokens", tokens, s->n_vocab);
    qn_gguf_set_array(w, "tokenizer.ggml.scores", QN_GGUF_F32, scores, s->n_vocab);
    qn_gguf_set_array(w, "tokenizer.ggml.token_type", QN_GGUF_I32, kinds, s->n_vocab);
    qn_gguf_set_u32(w, "tokenizer.ggml.bos_token_id", BOS);
    qn_gguf_set_u32(w, "tokenizer.ggml.eos_token_id", EOS);
    qn_gguf_set_u32(w, "tokenizer.ggml.unknown_token_id", UNK);
    free(text);
    free(tokens);
    free(scores);
    free(kinds);
}

/* ---- tensors ---------------------------------------------------------------------------------------- */

/* What a writer borrows until it has written. */
typedef struct tensors {
    qn_gguf_writer *writer;
    qn_random random;
    int32_t i_layer;
    uint64_t n_distinct; /* rows that are made and encoded at most */
    void *data[MAX_TENSORS];
    size_t n;
} tensors;

/* Elements of deviation `spread` around `mean`, encoded as type. */
static void add(tensors *t, const char *name, qn_type type, const uint64_t ne[3], uint32_t n_dims, float mean,
                float spread)
{
    char full[64];
    uint64_t row_bytes;
    uint64_t n_rows = ne[1] * ne[2], n_made = n_rows < t->n_distinct ? n_rows : t->n_distinct;
    size_t n = (size_t)(ne[0] * n_made);
    if (!qn_type_row_bytes(type, ne[0], &row_bytes)) {
        fail_msg("%s: rows of %u are no whole blocks of %s", name, (unsigned)ne[0], qn_type_name(type));
    }
    float *x = malloc(n * sizeof(*x));
    uint8_t *encoded = malloc((size_t)(row_bytes * n_rows));
    assert_true(x != NULL && encoded != NULL && t->n < MAX_TENSORS);
    for (size_t i = 0; i < n; i++) {
        x[i] = mean + spread * qn_random_normal(&t->random);
    }
    assert_int_equal(qn_encode_row(type, x, encoded, n, NULL, NULL), QN_OK);
    for (uint64_t row = n_made; row < n_rows; row++) {
        memcpy(encoded + row * row_bytes, encoded + (row - n_made) * row_bytes, (size_t)row_bytes);
    }
    free(x);
    if (t->i_layer < 0) {
        snprintf(full, sizeof(full), "%s", name);
    } else {
        snprintf(full, sizeof(full), "blk.%d.%s", t->i_layer, name);
    }
    qn_gguf_add_tensor(t->writer, full, type, n_dims, ne, encoded);
    t->data[t->n++] = encoded;
}

static void add_matrix(tensors *t, const char *name, qn_type type, uint32_t n_in, uint32_t n_out)
{
    const uint64_t ne[3] = {n_in, n_out, 1};
    add(t, name, type, ne, 2, 0.0f, 1.5f / sqrtf((float)n_in));
}

static void add_matrices(tensors *t, const char *name, qn_type type, uint32_t n_in, uint32_t n_out, uint32_t n)
{
    const uint64_t ne[3] = {n_in, n_out, n};
    add(t, name, type, ne, 3, 0.0f, 1.5f / sqrtf((float)n_in));
}

static void add_vector(tensors *t, const char *name, uint32_t n, float mean)
{
    const uint64_t ne[3] = {n, 1, 1};
    add(t, name, QN_TYPE_F32, ne, 1, mean, 0.2f);
}

static void add_layer(tensors *t, const qn_tiny_spec *s)
{
    add_vector(t, "attn_norm.weight", s->n_embd, 1.0f);
    add_matrix(t, "attn_q.weight", s->type, s->n_embd, s->n_heads * s->head_dim);
    add_matrix(t, "attn_k.weight", s->type, s->n_embd, s->n_kv_heads * s->head_dim);
    add_matrix(t, "attn_v.weight", s->type, s->n_embd, s->n_kv_heads * s->v_dim);
    add_matrix(t, "attn_output.weight", s->type, s->n_heads * s->v_dim, s->n_embd);
    if (s->q_biases) {
        add_vector(t, "attn_q.bias", s->n_heads * s->head_dim, 0.0f);
        add_vector(t, "attn_k.bias", s->n_kv_heads * s->head_dim, 0.0f);
        add_vector(t, "attn_v.bias", s->n_kv_heads * s->v_dim, 0.0f);
    }
    if (s->o_biases) {
        add_vector(t, "attn_output.bias", s->n_embd, 0.0f);
        add_vector(t, "ffn_gate.bias", s->n_ff, 0.0f);
        add_vector(t, "ffn_up.bias", s->n_ff, 0.0f);
        add_vector(t, "ffn_down.bias", s->n_embd, 0.0f);
    }
    if (s->head_norms) {
        add_vector(t, "attn_q_norm.weight", s->head_dim, 1.0f);
        add_vector(t, "attn_k_norm.weight", s->head_dim, 1.0f);
    }
    if (s->post_norms) {
        add_vector(t, "post_attention_norm.weight", s->n_embd, 1.0f);
        add_vector(t, "post_ffw_norm.weight", s->n_embd, 1.0f);
    }
    add_vector(t, "ffn_norm.weight", s->n_embd, 1.0f);
    if (s->n_experts != 0) {
        add_matrix(t, "ffn_gate_inp.weight", QN_TYPE_F32, s->n_embd, s->n_experts);
        add_matrices(t, "ffn_gate_exps.weight", s->type, s->n_embd, s->n_ff, s->n_experts);
        add_matrices(t, "ffn_up_exps.weight", s->type, s->n_embd, s->n_ff, s->n_experts);
        add_matrices(t, "ffn_down_exps.weight", s->type, s->n_ff, s->n_embd, s->n_experts);
    } else {
        add_matrix(t, "ffn_gate.weight", s->type, s->n_embd, s->n_ff);
        add_matrix(t, "ffn_up.weight", s->type, s->n_embd, s->n_ff);
        add_matrix(t, "ffn_down.weight", s->type, s->n_ff, s->n_embd);
    }
}

static void add_tensors(tensors *t, const qn_tiny_spec *s)
{
    t->i_layer = -1;
    add_matrix(t, "token_embd.weight", s->embd_type, s->n_embd, s->n_vocab);
    add_vector(t, "output_norm.weight", s->n_embd, 1.0f);
    if (!s->tied) {
        add_matrix(t, "output.weight", s->type, s->n_embd, s->n_vocab);
    }
    if (s->rope_factors) {
        add_vector(t, "rope_freqs.weight", s->n_rot / 2, 2.0f);
    }
    for (uint32_t i = 0; i < s->n_layers; i++) {
        t->i_layer = (int32_t)i;
        add_layer(t, s);
    }
}

/* ---- files ------------------------------------------------------------------------------------------ */

static void begin(tensors *t, const qn_tiny_spec *s)
{
    *t = (tensors){.n_distinct = s->n_distinct != 0 ? s->n_distinct : UINT64_MAX};
    qn_random_seed(&t->random, s->seed);
    assert_int_equal(qn_gguf_writer_open(NULL, 0, &t->writer, NULL), QN_OK);
    set_hparams(t->writer, s);
    set_vocabulary(t->writer, s);
    add_tensors(t, s);
}

static void end(tensors *t, qn_status status, const qn_error *err)
{
    if (status != QN_OK) {
        fail_msg("a tiny model cannot be written: %s", err->what);
    }
    qn_gguf_writer_close(t->writer);
    for (size_t i = 0; i < t->n; i++) {
        free(t->data[i]);
    }
}

uint8_t *qn_tiny_bytes(const qn_tiny_spec *spec, size_t *n_bytes)
{
    tensors t;
    qn_error err = {0};
    uint8_t *bytes = NULL;
    begin(&t, spec);
    end(&t, qn_gguf_write_memory(t.writer, &bytes, n_bytes, &err), &err);
    return bytes;
}

void qn_tiny_file(const qn_tiny_spec *spec, char *path)
{
    tensors t;
    qn_error err = {0};
    snprintf(path, 4096, "%s", qn_test_temp("tiny.gguf"));
    begin(&t, spec);
    end(&t, qn_gguf_write(t.writer, path, &err), &err);
}

qn_gguf_writer *qn_tiny_copy_but(const qn_gguf *g, const char *const *but_keys, const char *but_tensor)
{
    qn_gguf_writer *w = NULL;
    assert_int_equal(qn_gguf_writer_open(NULL, 0, &w, NULL), QN_OK);
    for (size_t i = 0; i < qn_gguf_n_kv(g); i++) {
        const qn_gguf_kv *kv = qn_gguf_kv_at(g, i);
        size_t k = 0;
        while (but_keys[k] != NULL && !qn_str_is(kv->key, but_keys[k])) {
            k++;
        }
        if (but_keys[k] == NULL) {
            qn_gguf_set_kv(w, kv);
        }
    }
    for (size_t i = 0; i < qn_gguf_n_tensors(g); i++) {
        const qn_gguf_tensor *t = qn_gguf_tensor_at(g, i);
        if (but_tensor == NULL || !qn_str_is(t->name, but_tensor)) {
            char name[QN_GGUF_MAX_NAME + 1];
            snprintf(name, sizeof(name), "%.*s", (int)t->name.len, t->name.data);
            qn_gguf_add_tensor(w, name, t->type, t->n_dims, t->ne, t->data);
        }
    }
    return w;
}

qn_gguf_writer *qn_tiny_copy(const qn_gguf *g, const char *but_key, const char *but_tensor)
{
    return qn_tiny_copy_but(g, (const char *const[]){but_key, NULL}, but_tensor);
}
