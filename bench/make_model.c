/* Writes a model with random weights, for measurements: the shape of a real one, without its download.
 *
 *     quern_make_model [--shape NAME] [--types NAME] [--seed N] OUT.gguf
 *
 * Only some rows of each kind are drawn and encoded; tensors are made of them in random order. So a gigabyte is a
 * matter of seconds, and the blocks are still such as an encoder makes of numbers that are spread like trained weights.
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "gguf/gguf.h"

typedef struct shape {
    const char *name;
    uint32_t n_layers, n_embd, n_ff, n_heads, n_kv_heads, head_dim, n_vocab, n_ctx;
    float rope_base;
} shape;

/* Widths are multiples of 256, the longest block. The embedding serves as the output, too. */
static const shape shapes[] = {
    {"llama-1b", 16, 2048, 8192, 32, 8, 64, 128256, 131072, 500000.0f}, /* as Llama 3.2 1B */
    {"tiny", 8, 256, 512, 4, 2, 64, 512, 4096, 10000.0f},
};

typedef struct mix {
    const char *name;
    uint32_t file_type;        /* general.file_type */
    qn_type matrix, embedding; /* of the layers; of the embedding */
    qn_type fine;              /* of attn_v and ffn_down in the layers that gets_more_bits() picks */
} mix;

static const mix mixes[] = {
    {"q4_k_m", 15, QN_TYPE_Q4_K, QN_TYPE_Q6_K, QN_TYPE_Q6_K},
    {"q5_k", 17, QN_TYPE_Q5_K, QN_TYPE_Q6_K, QN_TYPE_Q5_K},
    {"q6_k", 18, QN_TYPE_Q6_K, QN_TYPE_Q6_K, QN_TYPE_Q6_K},
    {"q4_0", 2, QN_TYPE_Q4_0, QN_TYPE_Q6_K, QN_TYPE_Q4_0},
    {"q8_0", 7, QN_TYPE_Q8_0, QN_TYPE_Q8_0, QN_TYPE_Q8_0},
    {"iq4_nl", 25, QN_TYPE_IQ4_NL, QN_TYPE_Q6_K, QN_TYPE_IQ4_NL},
    {"iq4_xs", 30, QN_TYPE_IQ4_XS, QN_TYPE_Q6_K, QN_TYPE_IQ4_XS},
    {"q2_k", 10, QN_TYPE_Q2_K, QN_TYPE_Q6_K, QN_TYPE_Q2_K},
    {"q3_k", 12, QN_TYPE_Q3_K, QN_TYPE_Q6_K, QN_TYPE_Q3_K},
    {"mxfp4", 38, QN_TYPE_MXFP4, QN_TYPE_Q6_K, QN_TYPE_MXFP4},
    {"iq3_s", 26, QN_TYPE_IQ3_S, QN_TYPE_Q6_K, QN_TYPE_IQ3_S},
    {"iq3_xxs", 23, QN_TYPE_IQ3_XXS, QN_TYPE_Q6_K, QN_TYPE_IQ3_XXS},
    {"iq2_s", 28, QN_TYPE_IQ2_S, QN_TYPE_Q6_K, QN_TYPE_IQ2_S},
    {"iq2_xs", 20, QN_TYPE_IQ2_XS, QN_TYPE_Q6_K, QN_TYPE_IQ2_XS},
    {"iq2_xxs", 19, QN_TYPE_IQ2_XXS, QN_TYPE_Q6_K, QN_TYPE_IQ2_XXS},
    {"iq1_m", 31, QN_TYPE_IQ1_M, QN_TYPE_Q6_K, QN_TYPE_IQ1_M},
    {"iq1_s", 24, QN_TYPE_IQ1_S, QN_TYPE_Q6_K, QN_TYPE_IQ1_S},
    {"tq1_0", 36, QN_TYPE_TQ1_0, QN_TYPE_Q6_K, QN_TYPE_TQ1_0},
    {"tq2_0", 37, QN_TYPE_TQ2_0, QN_TYPE_Q6_K, QN_TYPE_TQ2_0},
    {"f16", 1, QN_TYPE_F16, QN_TYPE_F16, QN_TYPE_F16},
};

enum { N_SHAPES = sizeof(shapes) / sizeof(shapes[0]), N_MIXES = sizeof(mixes) / sizeof(mixes[0]) };
enum { MAX_TENSORS = 256, MAX_STOCKS = 16, NAME_BYTES = 64 };
enum { DRAWN_ROWS = 64 };   /* encoded ones of a stock */
enum { SPARE_ROWS = 1024 }; /* of a stock, so that tensors begin at different rows */

static const float weight_deviation = 0.02f, norm_deviation = 0.05f;

static void die(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fputs("quern_make_model: ", stderr);
    vfprintf(stderr, fmt, args);
    fputc('\n', stderr);
    va_end(args);
    exit(1);
}

static void *need(size_t n, size_t size)
{
    void *p = calloc(n, size);
    if (p == NULL) {
        die("no memory for %zu times %zu bytes", n, size);
    }
    return p;
}

/* ---- metadata --------------------------------------------------------------------------------------- */

static void set_hparams(qn_gguf_writer *w, const shape *s, const mix *m)
{
    qn_gguf_set_str(w, "general.architecture", QN_STR("llama"));
    qn_gguf_set_str(w, "general.name", qn_str_of(s->name));
    qn_gguf_set_u32(w, "general.file_type", m->file_type);
    qn_gguf_set_u32(w, "general.quantization_version", 2);
    qn_gguf_set_u32(w, "llama.block_count", s->n_layers);
    qn_gguf_set_u32(w, "llama.context_length", s->n_ctx);
    qn_gguf_set_u32(w, "llama.embedding_length", s->n_embd);
    qn_gguf_set_u32(w, "llama.feed_forward_length", s->n_ff);
    qn_gguf_set_u32(w, "llama.attention.head_count", s->n_heads);
    qn_gguf_set_u32(w, "llama.attention.head_count_kv", s->n_kv_heads);
    qn_gguf_set_u32(w, "llama.attention.key_length", s->head_dim);
    qn_gguf_set_u32(w, "llama.attention.value_length", s->head_dim);
    qn_gguf_set_f32(w, "llama.attention.layer_norm_rms_epsilon", 1e-5f);
    qn_gguf_set_u32(w, "llama.rope.dimension_count", s->head_dim);
    qn_gguf_set_f32(w, "llama.rope.freq_base", s->rope_base);
    qn_gguf_set_u32(w, "llama.vocab_size", s->n_vocab);
}

/* a to z, aa to zz, aaa and so on; number 1 is a. */
static void spell(uint32_t number, char *out, size_t n_bytes)
{
    char reversed[16];
    size_t n = 0;
    for (; number > 0; number = (number - 1) / 26) {
        reversed[n++] = (char)('a' + (number - 1) % 26);
    }
    for (size_t i = 0; i < n && i + 1 < n_bytes; i++) {
        out[i] = reversed[n - 1 - i];
    }
}

/* SentencePiece with byte tokens and all short words: any program that reads GGUF has it, and it needs no merges. */
static void set_vocabulary(qn_gguf_writer *w, uint32_t n_vocab)
{
    enum { UNK, BOS, EOS, FIRST_BYTE, SPACE = FIRST_BYTE + 256, FIRST_WORD, TEXT_BYTES = 16 };
    enum { KIND_NORMAL = 1, KIND_UNKNOWN = 2, KIND_CONTROL = 3, KIND_BYTE = 6 };
    static const char *const first[] = {"<unk>", "<s>", "</s>"};
    char(*text)[TEXT_BYTES] = need(n_vocab, sizeof(*text));
    qn_str *tokens = need(n_vocab, sizeof(*tokens));
    float *scores = need(n_vocab, sizeof(*scores));
    int32_t *kinds = need(n_vocab, sizeof(*kinds));
    for (uint32_t i = 0; i < n_vocab; i++) {
        kinds[i] = i == UNK ? KIND_UNKNOWN : i < FIRST_BYTE ? KIND_CONTROL : i < SPACE ? KIND_BYTE : KIND_NORMAL;
        if (i < FIRST_BYTE) {
            snprintf(text[i], TEXT_BYTES, "%s", first[i]);
        } else if (i < SPACE) {
            snprintf(text[i], TEXT_BYTES, "<0x%02X>", (unsigned)(i - FIRST_BYTE));
        } else if (i == SPACE) {
            snprintf(text[i], TEXT_BYTES, "\xE2\x96\x81");
        } else {
            spell(i - FIRST_WORD + 1, text[i], TEXT_BYTES);
        }
        tokens[i] = qn_str_of(text[i]);
        scores[i] = i < SPACE ? 0.0f : -(float)i;
    }
    qn_gguf_set_str(w, "tokenizer.ggml.model", QN_STR("llama"));
    qn_gguf_set_str(w, "tokenizer.ggml.pre", QN_STR("default"));
    qn_gguf_set_strs(w, "tokenizer.ggml.tokens", tokens, n_vocab);
    qn_gguf_set_array(w, "tokenizer.ggml.scores", QN_GGUF_F32, scores, n_vocab);
    qn_gguf_set_array(w, "tokenizer.ggml.token_type", QN_GGUF_I32, kinds, n_vocab);
    qn_gguf_set_u32(w, "tokenizer.ggml.bos_token_id", BOS);
    qn_gguf_set_u32(w, "tokenizer.ggml.eos_token_id", EOS);
    qn_gguf_set_u32(w, "tokenizer.ggml.unknown_token_id", UNK);
    qn_gguf_set_bool(w, "tokenizer.ggml.add_bos_token", true);
    free(text);
    free(tokens);
    free(scores);
    free(kinds);
}

/* ---- the list of tensors ---------------------------------------------------------------------------- */

typedef struct tensor {
    char name[NAME_BYTES];
    qn_type type;
    bool is_norm;
    uint32_t n_in;
    uint64_t n_rows;
} tensor;

typedef struct tensor_list {
    tensor items[MAX_TENSORS];
    size_t n;
} tensor_list;

static void list(tensor_list *l, int i_layer, const char *name, tensor what)
{
    if (l->n == MAX_TENSORS) {
        die("more than %d tensors", MAX_TENSORS);
    }
    if (i_layer < 0) {
        snprintf(what.name, NAME_BYTES, "%s", name);
    } else {
        snprintf(what.name, NAME_BYTES, "blk.%d.%s", i_layer, name);
    }
    l->items[l->n++] = what;
}

static void list_norm(tensor_list *l, int i_layer, const char *name, uint32_t n)
{
    list(l, i_layer, name, (tensor){.type = QN_TYPE_F32, .is_norm = true, .n_in = n, .n_rows = 1});
}

static void list_matrix(tensor_list *l, int i_layer, const char *name, qn_type type, uint32_t n_in, uint32_t n_out)
{
    list(l, i_layer, name, (tensor){.type = type, .n_in = n_in, .n_rows = n_out});
}

/* The layers that the Q4_K_M recipe of GGUF quantisers favours: the first and the last eighth, and every third of those
 * between. */
static bool gets_more_bits(uint32_t i_layer, uint32_t n_layers)
{
    uint32_t eighth = n_layers / 8;
    return i_layer < eighth || i_layer >= 7 * n_layers / 8 || (i_layer - eighth) % 3 == 2;
}

static void list_tensors(tensor_list *l, const shape *s, const mix *m)
{
    list_matrix(l, -1, "token_embd.weight", m->embedding, s->n_embd, s->n_vocab);
    list_norm(l, -1, "output_norm.weight", s->n_embd);
    uint32_t n_q = s->n_heads * s->head_dim, n_kv = s->n_kv_heads * s->head_dim;
    for (uint32_t i = 0; i < s->n_layers; i++) {
        int layer = (int)i;
        qn_type fine = gets_more_bits(i, s->n_layers) ? m->fine : m->matrix;
        list_norm(l, layer, "attn_norm.weight", s->n_embd);
        list_matrix(l, layer, "attn_q.weight", m->matrix, s->n_embd, n_q);
        list_matrix(l, layer, "attn_k.weight", m->matrix, s->n_embd, n_kv);
        list_matrix(l, layer, "attn_v.weight", fine, s->n_embd, n_kv);
        list_matrix(l, layer, "attn_output.weight", m->matrix, n_q, s->n_embd);
        list_norm(l, layer, "ffn_norm.weight", s->n_embd);
        list_matrix(l, layer, "ffn_gate.weight", m->matrix, s->n_embd, s->n_ff);
        list_matrix(l, layer, "ffn_up.weight", m->matrix, s->n_embd, s->n_ff);
        list_matrix(l, layer, "ffn_down.weight", fine, s->n_ff, s->n_embd);
    }
}

/* ---- rows ------------------------------------------------------------------------------------------- */

/* Encoded rows in random order, of which every tensor of that type and width is a part. */
typedef struct stock {
    qn_type type;
    bool is_norm;
    uint32_t n_in;
    uint64_t n_rows; /* of the largest tensor, the spare ones not counted */
    uint64_t row_bytes;
    uint8_t *rows;
} stock;

typedef struct warehouse {
    stock items[MAX_STOCKS];
    size_t n;
} warehouse;

static stock *stock_of(warehouse *h, const tensor *t)
{
    for (size_t i = 0; i < h->n; i++) {
        stock *k = &h->items[i];
        if (k->type == t->type && k->is_norm == t->is_norm && k->n_in == t->n_in) {
            return k;
        }
    }
    if (h->n == MAX_STOCKS) {
        die("more than %d kinds of rows", MAX_STOCKS);
    }
    h->items[h->n] = (stock){.type = t->type, .is_norm = t->is_norm, .n_in = t->n_in};
    return &h->items[h->n++];
}

/* Blocks of a type that has no encoder: random bytes, drawn again until they are weights of a common size. */
static void draw_blocks(qn_type type, qn_random *r, uint8_t *row, size_t n_bytes)
{
    const qn_type_info *info = qn_type_find(type);
    float w[256];
    for (uint8_t *b = row; b < row + n_bytes; b += info->block_bytes) {
        float max = 0.0f;
        bool sane = false;
        while (!sane || max < weight_deviation || max > 4.0f * weight_deviation) {
            for (uint32_t i = 0; i < info->block_bytes; i++) {
                b[i] = (uint8_t)qn_random_below(r, 256);
            }
            info->decode(b, w, info->block_len);
            sane = true;
            max = 0.0f;
            for (uint32_t i = 0; i < info->block_len; i++) {
                sane = sane && isfinite(w[i]);
                max = fmaxf(max, fabsf(w[i]));
            }
        }
    }
}

static void fill_stock(stock *k, qn_random *r)
{
    qn_error err;
    if (!qn_type_row_bytes(k->type, k->n_in, &k->row_bytes)) {
        die("a row of %" PRIu32 " is no whole number of blocks of %s", k->n_in, qn_type_name(k->type));
    }
    float mean = k->is_norm ? 1.0f : 0.0f, deviation = k->is_norm ? norm_deviation : weight_deviation;
    float *row = need(k->n_in, sizeof(*row));
    uint8_t *drawn = need(DRAWN_ROWS, k->row_bytes);
    for (size_t i = 0; i < DRAWN_ROWS; i++) {
        if (qn_type_find(k->type)->encode == NULL) {
            draw_blocks(k->type, r, drawn + i * k->row_bytes, k->row_bytes);
            continue;
        }
        for (uint32_t j = 0; j < k->n_in; j++) {
            row[j] = mean + deviation * qn_random_normal(r);
        }
        if (qn_encode_row(k->type, row, drawn + i * k->row_bytes, k->n_in, NULL, &err) != QN_OK) {
            die("%s", err.what);
        }
    }
    k->rows = need(k->n_rows + SPARE_ROWS, k->row_bytes);
    for (uint64_t i = 0; i < k->n_rows + SPARE_ROWS; i++) {
        memcpy(k->rows + i * k->row_bytes, drawn + qn_random_below(r, DRAWN_ROWS) * k->row_bytes, k->row_bytes);
    }
    free(row);
    free(drawn);
}

static void add_tensors(qn_gguf_writer *w, const tensor_list *l, warehouse *h, qn_random *r)
{
    for (size_t i = 0; i < l->n; i++) {
        stock *k = stock_of(h, &l->items[i]);
        k->n_rows = k->n_rows < l->items[i].n_rows ? l->items[i].n_rows : k->n_rows;
    }
    for (size_t i = 0; i < h->n; i++) {
        fill_stock(&h->items[i], r);
    }
    for (size_t i = 0; i < l->n; i++) {
        const tensor *t = &l->items[i];
        const stock *k = stock_of(h, t);
        const uint64_t ne[2] = {t->n_in, t->n_rows};
        qn_gguf_add_tensor(w, t->name, t->type, t->is_norm ? 1 : 2, ne,
                           k->rows + qn_random_below(r, SPARE_ROWS) * k->row_bytes);
    }
}

static void write_model(const shape *s, const mix *m, uint64_t seed, const char *path)
{
    static tensor_list tensors;
    static warehouse rows;
    qn_error err;
    qn_gguf_writer *w;
    qn_random r;
    qn_random_seed(&r, seed);
    if (qn_gguf_writer_open(NULL, 0, &w, &err) != QN_OK) {
        die("%s", err.what);
    }
    set_hparams(w, s, m);
    set_vocabulary(w, s->n_vocab);
    list_tensors(&tensors, s, m);
    add_tensors(w, &tensors, &rows, &r);
    if (qn_gguf_write(w, path, &err) != QN_OK) {
        die("%s", err.what);
    }
    qn_gguf_writer_close(w);
    for (size_t i = 0; i < rows.n; i++) {
        free(rows.items[i].rows);
    }
}

/* ---- command line ----------------------------------------------------------------------------------- */

static int usage(void)
{
    fputs("usage: quern_make_model [--shape NAME] [--types NAME] [--seed N] OUT.gguf\n  shapes:", stderr);
    for (size_t i = 0; i < N_SHAPES; i++) {
        fprintf(stderr, " %s", shapes[i].name);
    }
    fputs("\n  types: ", stderr);
    for (size_t i = 0; i < N_MIXES; i++) {
        fprintf(stderr, " %s", mixes[i].name);
    }
    fputc('\n', stderr);
    return 2;
}

int main(int argc, char **argv)
{
    const shape *s = &shapes[0];
    const mix *m = &mixes[0];
    uint64_t seed = 1;
    int i = 1;
    for (; i + 1 < argc && strncmp(argv[i], "--", 2) == 0; i += 2) {
        const char *value = argv[i + 1];
        bool found = false;
        if (strcmp(argv[i], "--shape") == 0) {
            for (size_t k = 0; k < N_SHAPES; k++) {
                if (strcmp(shapes[k].name, value) == 0) {
                    s = &shapes[k];
                    found = true;
                }
            }
        } else if (strcmp(argv[i], "--types") == 0) {
            for (size_t k = 0; k < N_MIXES; k++) {
                if (strcmp(mixes[k].name, value) == 0) {
                    m = &mixes[k];
                    found = true;
                }
            }
        } else if (strcmp(argv[i], "--seed") == 0) {
            char *end;
            seed = strtoull(value, &end, 10);
            found = *end == '\0' && end != value;
        }
        if (!found) {
            return usage();
        }
    }
    if (i + 1 != argc || argv[i][0] == '-') {
        return usage();
    }
    write_model(s, m, seed, argv[i]);
    return 0;
}
