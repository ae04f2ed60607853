/* What the tests of guides share: a tiny model, and texts that are made from random logits under a guide.
 * SPDX-License-Identifier: MIT */
#ifndef QN_TESTS_UNIT_ENGINE_GUIDE_RIG_H
#define QN_TESTS_UNIT_ENGINE_GUIDE_RIG_H

#include "support.h"

#include "base/os.h"
#include "engine/guide_int.h"

typedef struct place {
    qn_runtime *rt;
    qn_model *m;
    uint32_t n_vocab;
} place;

static inline place open_place(void)
{
    qn_tiny_spec spec = qn_tiny_spec_of("llama");
    place p = {.rt = open_runtime("ref", 1)};
    p.m = open_tiny(p.rt, &spec);
    p.n_vocab = spec.n_vocab;
    return p;
}

/* The tiny model with its vocabulary read as another kind of tokenizer would. */
static inline qn_model *open_as(qn_runtime *rt, const char *kind)
{
    static const char key[] = "tokenizer.ggml.model";
    qn_tiny_spec spec = qn_tiny_spec_of("llama");
    size_t n_bytes;
    uint8_t *bytes = qn_tiny_bytes(&spec, &n_bytes);
    qn_gguf *g = NULL;
    qn_model *m = NULL;
    qn_error err = {0};
    char path[4096];
    assert_int_equal(qn_gguf_open_memory(bytes, n_bytes, NULL, &g, NULL), QN_OK);
    qn_gguf_writer *w = qn_tiny_copy(g, key, NULL);
    qn_gguf_set_str(w, key, qn_str_of(kind));
    snprintf(path, sizeof(path), "%s", qn_test_temp("other.gguf"));
    expect_ok(qn_gguf_write(w, path, &err), &err);
    qn_status status = qn_model_open(rt, path, NULL, &m, &err);
    unlink(path);
    expect_ok(status, &err);
    qn_gguf_writer_close(w);
    qn_gguf_close(g);
    qn_free(bytes);
    return m;
}

static inline void close_place(place *p)
{
    qn_model_close(p->m);
    qn_runtime_close(p->rt);
}

static inline qn_guide *open_guide(const place *p, qn_format_kind kind, const char *source)
{
    qn_format *f = NULL;
    qn_guide *g = NULL;
    qn_error err = {0};
    expect_ok(qn_format_open(p->rt, kind, source, strlen(source), NULL, &f, &err), &err);
    expect_ok(qn_guide_open(p->m, f, &g, &err), &err);
    qn_format_close(f); /* the guide outlives it */
    return g;
}

static inline qn_sampler *open_sampler(const place *p, float temperature, uint64_t seed)
{
    qn_sampler_options o = {
        .temperature = temperature, .top_p = 1, .typical_p = 1, .repeat_penalty = 1.1f, .penalty_last_n = 16, .seed = seed};
    qn_sampler *s = NULL;
    qn_error err = {0};
    expect_ok(qn_sampler_open(p->m, &o, &s, &err), &err);
    return s;
}

static inline void fill_logits(qn_random *r, float *logits, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        logits[i] = 3 * qn_random_normal(r);
    }
}

typedef struct answer {
    char text[4096];
    size_t n_bytes;
    uint32_t n_tokens, n_jumped;
    bool is_whole;
} answer;

static inline void add_token(const place *p, answer *a, int32_t id)
{
    qn_buf b;
    qn_buf_init(&b, NULL, "test", sizeof(a->text));
    assert_int_equal(qn_tokenizer_decode_token(p->m->tokenizer, id, 0, false, &b, NULL), QN_OK);
    assert_true(a->n_bytes + b.len < sizeof(a->text));
    if (b.len != 0) {
        memcpy(a->text + a->n_bytes, b.data, b.len);
    }
    a->n_bytes += b.len;
    a->text[a->n_bytes] = '\0';
    a->n_tokens++;
    qn_buf_free(&b);
}

/* Goes on with the text to its end, or until n_left tokens are made (0: 2000). Logits are random. */
static inline answer generate(const place *p, qn_guide *g, qn_sampler *s, uint64_t seed, uint64_t n_left, bool jumps)
{
    answer a = {0};
    qn_random r;
    qn_error err = {0};
    float *logits = malloc(p->n_vocab * sizeof(*logits));
    assert_non_null(logits);
    qn_random_seed(&r, seed);
    uint64_t most = n_left == 0 ? 2000 : n_left;
    while (a.n_tokens < most && !a.is_whole) {
        int32_t ids[8], id;
        size_t n_ids = 0;
        if (jumps) {
            expect_ok(qn_guide_jump(g, s, n_left == 0 ? 0 : most - a.n_tokens, ids, 8, &n_ids, &err), &err);
        }
        for (size_t i = 0; i < n_ids; i++) {
            add_token(p, &a, ids[i]);
            a.n_jumped++;
        }
        if (n_ids != 0) {
            continue;
        }
        fill_logits(&r, logits, p->n_vocab);
        expect_ok(qn_guide_pick(g, s, logits, n_left == 0 ? 0 : most - a.n_tokens, &id, NULL, &err), &err);
        add_token(p, &a, id);
        a.is_whole = qn_token_is_end(p->m, id);
    }
    free(logits);
    return a;
}

#endif
