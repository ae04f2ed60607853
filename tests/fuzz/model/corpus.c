/* Writes the seeds of net_fuzz into a folder: model_corpus FOLDER. One model of every architecture, as small as they go.
 * SPDX-License-Identifier: MIT */
#include "gguf/gguf.h"

#include <stdio.h>
#include <stdlib.h>

enum { N_EMBD = 8, N_FF = 8, N_VOCAB = 5, HEAD = 4, N_HEADS = 2, N_EXPERTS = 2 };

static float weights[N_EMBD * N_FF * N_EXPERTS * 4];

typedef struct seed {
    const char *file, *arch;
    bool experts, head_norms, post_norms, biases, yarn, factors, window;
    qn_type type;
} seed;

static const seed seeds[] = {
    {.file = "llama", .arch = "llama", .factors = true},
    {.file = "mixtral", .arch = "llama", .experts = true, .window = true},
    {.file = "qwen2", .arch = "qwen2", .biases = true, .yarn = true},
    {.file = "qwen3", .arch = "qwen3", .head_norms = true, .type = QN_TYPE_F16},
    {.file = "gemma2", .arch = "gemma2", .post_norms = true, .window = true},
    {.file = "gemma3", .arch = "gemma3", .post_norms = true, .head_norms = true, .window = true},
};

static void check(qn_status status, const qn_error *err)
{
    if (status != QN_OK) {
        fprintf(stderr, "%s: %s\n", qn_status_name(status), err->what);
        exit(1);
    }
}

static void set_u32(qn_gguf_writer *w, const seed *s, const char *name, uint32_t v)
{
    char key[64];
    snprintf(key, sizeof(key), "%s.%s", s->arch, name);
    qn_gguf_set_u32(w, key, v);
}

static void set_f32(qn_gguf_writer *w, const seed *s, const char *name, float v)
{
    char key[64];
    snprintf(key, sizeof(key), "%s.%s", s->arch, name);
    qn_gguf_set_f32(w, key, v);
}

static void set_keys(qn_gguf_writer *w, const seed *s)
{
    char key[64];
    qn_gguf_set_str(w, "general.architecture", qn_str_of(s->arch));
    set_u32(w, s, "block_count", 1);
    set_u32(w, s, "context_length", 16);
    set_u32(w, s, "embedding_length", N_EMBD);
    set_u32(w, s, "feed_forward_length", N_FF);
    set_u32(w, s, "attention.head_count", N_HEADS);
    set_u32(w, s, "attention.head_count_kv", 1);
    set_u32(w, s, "attention.key_length", HEAD);
    set_u32(w, s, "attention.value_length", HEAD);
    set_u32(w, s, "rope.dimension_count", HEAD);
    set_f32(w, s, "rope.freq_base", 100.0f);
    set_f32(w, s, "attention.layer_norm_rms_epsilon", 1e-6f);
    if (s->experts) {
        set_u32(w, s, "expert_count", N_EXPERTS);
        set_u32(w, s, "expert_used_count", 1);
    }
    if (s->window) {
        set_u32(w, s, "attention.sliding_window", 2);
    }
    if (s->post_norms) {
        set_f32(w, s, "attn_logit_softcapping", 50.0f);
        set_f32(w, s, "final_logit_softcapping", 30.0f);
        snprintf(key, sizeof(key), "%s.attention.sliding_window_pattern", s->arch);
        qn_gguf_set_array(w, key, QN_GGUF_BOOL, "\1", 1);
    }
    if (s->post_norms && s->head_norms) {
        set_f32(w, s, "rope.freq_base_swa", 50.0f);
    }
    if (s->yarn) {
        snprintf(key, sizeof(key), "%s.rope.scaling.type", s->arch);
        qn_gguf_set_str(w, key, QN_STR("yarn"));
        set_f32(w, s, "rope.scaling.factor", 2.0f);
        set_u32(w, s, "rope.scaling.original_context_length", 8);
    }
}

static void vector(qn_gguf_writer *w, const char *name, uint64_t n)
{
    qn_gguf_add_tensor(w, name, QN_TYPE_F32, 1, &n, weights);
}

static void matrix(qn_gguf_writer *w, const seed *s, const char *name, uint64_t n_in, uint64_t n_out)
{
    qn_gguf_add_tensor(w, name, s->type, 2, (const uint64_t[]){n_in, n_out}, weights);
}

static void matrices(qn_gguf_writer *w, const seed *s, const char *name, uint64_t n_in, uint64_t n_out)
{
    qn_gguf_add_tensor(w, name, s->type, 3, (const uint64_t[]){n_in, n_out, N_EXPERTS}, weights);
}

static void add_tensors(qn_gguf_writer *w, const seed *s)
{
    matrix(w, s, "token_embd.weight", N_EMBD, N_VOCAB);
    vector(w, "output_norm.weight", N_EMBD);
    vector(w, "blk.0.attn_norm.weight", N_EMBD);
    matrix(w, s, "blk.0.attn_q.weight", N_EMBD, N_HEADS * HEAD);
    matrix(w, s, "blk.0.attn_k.weight", N_EMBD, HEAD);
    matrix(w, s, "blk.0.attn_v.weight", N_EMBD, HEAD);
    matrix(w, s, "blk.0.attn_output.weight", N_HEADS * HEAD, N_EMBD);
    vector(w, "blk.0.ffn_norm.weight", N_EMBD);
    if (s->experts) {
        matrix(w, s, "blk.0.ffn_gate_inp.weight", N_EMBD, N_EXPERTS);
        matrices(w, s, "blk.0.ffn_gate_exps.weight", N_EMBD, N_FF);
        matrices(w, s, "blk.0.ffn_up_exps.weight", N_EMBD, N_FF);
        matrices(w, s, "blk.0.ffn_down_exps.weight", N_FF, N_EMBD);
    } else {
        matrix(w, s, "blk.0.ffn_gate.weight", N_EMBD, N_FF);
        matrix(w, s, "blk.0.ffn_up.weight", N_EMBD, N_FF);
        matrix(w, s, "blk.0.ffn_down.weight", N_FF, N_EMBD);
    }
    if (s->biases) {
        vector(w, "blk.0.attn_q.bias", N_HEADS * HEAD);
        vector(w, "blk.0.attn_k.bias", HEAD);
        vector(w, "blk.0.attn_v.bias", HEAD);
    }
    if (s->head_norms) {
        vector(w, "blk.0.attn_q_norm.weight", HEAD);
        vector(w, "blk.0.attn_k_norm.weight", HEAD);
    }
    if (s->post_norms) {
        vector(w, "blk.0.post_attention_norm.weight", N_EMBD);
        vector(w, "blk.0.post_ffw_norm.weight", N_EMBD);
    }
    if (s->factors) {
        vector(w, "rope_freqs.weight", HEAD / 2);
    }
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: model_corpus FOLDER\n");
        return 2;
    }
    for (size_t i = 0; i < sizeof(weights) / sizeof(weights[0]); i++) {
        weights[i] = (float)(i * 7 % 11) / 8.0f - 0.5f;
    }
    for (size_t i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++) {
        char path[4096];
        uint8_t *data;
        size_t n_bytes;
        qn_error err;
        qn_gguf_writer *w;
        check(qn_gguf_writer_open(NULL, 8, &w, &err), &err);
        set_keys(w, &seeds[i]);
        add_tensors(w, &seeds[i]);
        check(qn_gguf_write_memory(w, &data, &n_bytes, &err), &err);
        qn_gguf_writer_close(w);
        snprintf(path, sizeof(path), "%s/%s.gguf", argv[1], seeds[i].file);
        FILE *f = fopen(path, "wb");
        if (f == NULL || fwrite(data, 1, n_bytes, f) != n_bytes || fclose(f) != 0) {
            fprintf(stderr, "cannot write %s\n", path);
            return 1;
        }
        qn_free(data);
    }
    return 0;
}
