/* Guides: whatever the logits say, the text is what the format allows, and it ends in time.
 * SPDX-License-Identifier: MIT */
#include "support.h"

#include "base/regex.h"

typedef struct place {
    qn_runtime *rt;
    qn_model *m;
    uint32_t n_vocab;
} place;

static place open_place(void)
{
    qn_tiny_spec spec = qn_tiny_spec_of("llama");
    place p = {.rt = open_runtime("ref", 1)};
    p.m = open_tiny(p.rt, &spec);
    p.n_vocab = spec.n_vocab;
    return p;
}

static void close_place(place *p)
{
    qn_model_close(p->m);
    qn_runtime_close(p->rt);
}

static qn_guide *open_guide(const place *p, qn_format_kind kind, const char *source)
{
    qn_format *f = NULL;
    qn_guide *g = NULL;
    qn_error err = {0};
    expect_ok(qn_format_open(p->rt, kind, source, strlen(source), NULL, &f, &err), &err);
    expect_ok(qn_guide_open(p->m, f, &g, &err), &err);
    qn_format_close(f); /* the guide outlives it */
    return g;
}

static qn_sampler *open_sampler(const place *p, float temperature, uint64_t seed)
{
    qn_sampler_options o = {
        .temperature = temperature, .top_p = 1, .typical_p = 1, .repeat_penalty = 1.1f, .penalty_last_n = 16, .seed = seed};
    qn_sampler *s = NULL;
    qn_error err = {0};
    expect_ok(qn_sampler_open(p->m, &o, &s, &err), &err);
    return s;
}

static void fill_logits(qn_random *r, float *logits, uint32_t n)
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

static void add_token(const place *p, answer *a, int32_t id)
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
static answer generate(const place *p, qn_guide *g, qn_sampler *s, uint64_t seed, uint64_t n_left, bool jumps)
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

static bool matches(const char *pattern, const answer *a)
{
    qn_regex *re = NULL;
    size_t end = 0;
    assert_int_equal(qn_regex_open(qn_str_of(pattern), NULL, &re, NULL), QN_OK);
    bool is_match = qn_regex_match(re, a->text, a->n_bytes, 0, &end) && end == a->n_bytes;
    qn_regex_close(re);
    return is_match;
}

static const struct {
    qn_format_kind kind;
    const char *source, *pattern;
    uint64_t shortest; /* tokens, the end's too, in a vocabulary of bytes */
} formats[] = {
    {QN_FORMAT_CHOICE, "[\"yes\", \"no\", \"perhaps so\"]", "yes|no|perhaps so", 3},
    {QN_FORMAT_REGEX, "(ab|cd){2,6}[0-9]+", "(?:ab|cd){2,6}[0-9]+", 6},
    {QN_FORMAT_GRAMMAR, "root ::= \"<\" item* \">\"\nitem ::= [a-d]+ \",\" | \"<\" item \">\"", "<[a-d,<>]*>", 3},
    {QN_FORMAT_JSON_SCHEMA,
     "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\",\"pattern\":\"^[a-z]*$\"},\"n\":{\"type\":\"integer\"},"
     "\"tags\":{\"type\":\"array\",\"items\":{\"enum\":[\"x\",\"yy\"]}}},\"required\":[\"name\",\"n\",\"tags\"],"
     "\"additionalProperties\":false}",
     "\\{\"name\":\"[a-z]*\",\"n\":[-+0-9.eE]+,\"tags\":\\[(?:\"(?:x|yy)\"(?:,\"(?:x|yy)\")*)?\\]\\}", 29},
};
enum { N_FORMATS = sizeof(formats) / sizeof(formats[0]) };

static void check(const answer *a, size_t i, uint64_t seed, uint64_t n_left)
{
    if (!a->is_whole || !matches(formats[i].pattern, a)) {
        fail_msg("format %zu, seed %u, %u tokens at most: %u tokens, %s: '%s'", i, (unsigned)seed, (unsigned)n_left,
                 (unsigned)a->n_tokens, a->is_whole ? "whole" : "cut", a->text);
    }
}

/* Text that is whole fits its format; jumping or not. With a limit, it is always whole. */
static void test_texts_fit(void **state)
{
    (void)state;
    place p = open_place();
    for (size_t i = 0; i < N_FORMATS; i++) {
        for (uint64_t seed = 0; seed < 24; seed++) {
            qn_guide *g = open_guide(&p, formats[i].kind, formats[i].source);
            qn_sampler *s = open_sampler(&p, seed % 3 == 0 ? 0 : 1.5f, seed);
            uint64_t n_left = seed % 2 == 0 ? 200 : formats[i].shortest + seed / 2;
            answer a = generate(&p, g, s, seed, n_left, seed % 4 < 2);
            check(&a, i, seed, n_left);
            assert_true(qn_guide_must_end(g));
            qn_sampler_close(s);
            qn_guide_close(g);
        }
    }
    close_place(&p);
}

static void test_errors(void **state)
{
    (void)state;
    place p = open_place();
    qn_format *f = NULL;
    qn_guide *g = NULL, *copy = NULL;
    qn_error err = {0};
    int32_t id = -7, ids[4];
    size_t n_ids;
    float *logits = calloc(p.n_vocab, sizeof(*logits));
    assert_non_null(logits);
    expect_ok(qn_format_open(p.rt, QN_FORMAT_CHOICE, "[\"a\"]", 5, NULL, &f, &err), &err);
    assert_int_equal(qn_guide_open(NULL, f, &g, &err), QN_EINVAL);
    assert_int_equal(qn_guide_open(p.m, NULL, &g, &err), QN_EINVAL);
    assert_int_equal(qn_guide_open(p.m, f, NULL, &err), QN_EINVAL);
    expect_ok(qn_guide_open(p.m, f, &g, &err), &err);
    qn_sampler *s = open_sampler(&p, 0, 1);
    assert_int_equal(qn_guide_copy(NULL, &copy, &err), QN_EINVAL);
    assert_int_equal(qn_guide_copy(g, NULL, &err), QN_EINVAL);
    assert_int_equal(qn_guide_pick(NULL, s, logits, 0, &id, NULL, &err), QN_EINVAL);
    assert_int_equal(qn_guide_pick(g, NULL, logits, 0, &id, NULL, &err), QN_EINVAL);
    assert_int_equal(qn_guide_pick(g, s, NULL, 0, &id, NULL, &err), QN_EINVAL);
    assert_int_equal(qn_guide_pick(g, s, logits, 0, NULL, NULL, &err), QN_EINVAL);
    assert_int_equal(qn_guide_jump(NULL, s, 0, ids, 4, &n_ids, &err), QN_EINVAL);
    assert_int_equal(qn_guide_jump(g, s, 0, NULL, 4, &n_ids, &err), QN_EINVAL);
    assert_int_equal(qn_guide_jump(g, s, 0, ids, 4, NULL, &err), QN_EINVAL);
    assert_int_equal(id, -7);

    for (uint32_t i = 0; i < p.n_vocab; i++) {
        logits[i] = -INFINITY;
    }
    assert_int_equal(qn_guide_pick(g, s, logits, 0, &id, NULL, &err), QN_EINVAL);
    assert_non_null(strstr(err.what, "may come next are banned or have no finite logit"));
    for (uint32_t i = 0; i < p.n_vocab; i++) {
        logits[i] = 0;
    }
    expect_ok(qn_guide_pick(g, s, logits, 0, &id, NULL, &err), &err); /* the guide is where it was */
    assert_true(qn_guide_may_end(g) && qn_guide_must_end(g));
    expect_ok(qn_guide_pick(g, s, logits, 0, &id, NULL, &err), &err);
    assert_true(qn_token_is_end(p.m, id));
    assert_int_equal(qn_guide_pick(g, s, logits, 0, &id, NULL, &err), QN_EINVAL);
    assert_non_null(strstr(err.what, "has ended"));
    n_ids = 9;
    expect_ok(qn_guide_jump(g, s, 0, ids, 4, &n_ids, &err), &err);
    assert_int_equal(n_ids, 0);
    qn_guide_close(g);
    qn_guide_close(NULL);
    qn_format_close(f);

    /* A special token that the model lacks; a sampler of another vocabulary. */
    static const char grammar[] = "root ::= <|call|> \"a\"";
    if (qn_format_open(p.rt, QN_FORMAT_GRAMMAR, grammar, strlen(grammar), NULL, &f, &err) == QN_OK) {
        assert_int_equal(qn_guide_open(p.m, f, &g, &err), QN_ENOTFOUND);
        assert_int_equal(err.code, QN_ENOTFOUND);
        assert_non_null(strstr(err.what, "<|call|>"));
        qn_format_close(f);
    }
    qn_tiny_spec spec = qn_tiny_spec_of("llama");
    spec.n_vocab += 16;
    qn_model *larger = open_tiny(p.rt, &spec);
    qn_sampler *odd = NULL;
    expect_ok(qn_sampler_open(larger, NULL, &odd, &err), &err);
    g = open_guide(&p, QN_FORMAT_CHOICE, "[\"a\"]");
    assert_int_equal(qn_guide_pick(g, odd, logits, 0, &id, NULL, &err), QN_EINVAL);
    assert_non_null(strstr(err.what, "sampler"));
    qn_guide_close(g);
    qn_sampler_close(odd);
    qn_model_close(larger);
    qn_sampler_close(s);
    free(logits);
    close_place(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts_fit),
        cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
