/* Guides: whatever the logits say, the text is what the format allows, and it ends in time.
 * SPDX-License-Identifier: MIT */
#include "guide_rig.h"

#include "base/regex.h"

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

/* A limit that cannot be kept is no reason to fail: the text goes on as it would. */
static void test_too_few_tokens(void **state)
{
    (void)state;
    place p = open_place();
    for (uint64_t n_left = 1; n_left < 4; n_left++) {
        qn_guide *g = open_guide(&p, QN_FORMAT_REGEX, "abcd[0-9]*");
        qn_sampler *s = open_sampler(&p, 1, n_left);
        answer a = generate(&p, g, s, n_left, n_left, n_left == 2);
        assert_false(a.is_whole);
        assert_int_equal(strncmp("abcd", a.text, a.n_bytes), 0);
        qn_sampler_close(s);
        qn_guide_close(g);
    }
    close_place(&p);
}

/* The end token alone is left: it comes wherever the text is whole, and nothing that would need more. */
static void test_the_last_token(void **state)
{
    (void)state;
    place p = open_place();
    for (uint64_t seed = 0; seed < 20; seed++) {
        qn_guide *g = open_guide(&p, QN_FORMAT_REGEX, "[a-z ]*");
        qn_sampler *s = open_sampler(&p, 2, seed);
        answer a = generate(&p, g, s, seed, 1, false);
        assert_true(a.is_whole && a.n_bytes == 0);
        qn_sampler_close(s);
        qn_guide_close(g);
    }
    close_place(&p);
}

/* Bias that bans the only way to the end is kept; the limit then cannot be. */
static void test_banned_end(void **state)
{
    (void)state;
    place p = open_place();
    qn_logit_bias bias = {.bias = -100};
    for (bias.id = 0; bias.id < (int32_t)p.n_vocab && qn_tokenizer_piece(p.m->tokenizer, bias.id).data[0] != 'x'; bias.id++) {
    }
    qn_sampler_options o = {.temperature = 1, .top_p = 1, .typical_p = 1, .repeat_penalty = 1, .bias = &bias, .n_bias = 1};
    qn_sampler *s = NULL;
    qn_error err = {0};
    int32_t ids[2];
    size_t n;
    /* As a byte and as a letter: where one is banned the other is taken. */
    expect_ok(qn_tokenize(p.m, "x", 1, 0, ids, 2, &n, &err), &err);
    assert_int_equal(ids[n - 1], bias.id);
    expect_ok(qn_sampler_open(p.m, &o, &s, &err), &err);
    qn_guide *g = open_guide(&p, QN_FORMAT_REGEX, "[ab]+x");
    answer a = generate(&p, g, s, 1, 12, false);
    assert_int_equal(strspn(a.text, "ab"), a.is_whole ? a.n_bytes - 1 : a.n_bytes);
    assert_true(a.n_tokens == 12 || a.is_whole);
    qn_guide_close(g);
    qn_sampler_close(s);
    close_place(&p);
}

static void test_copies_go_their_own_way(void **state)
{
    (void)state;
    place p = open_place();
    qn_error err = {0};
    for (size_t i = 0; i < N_FORMATS; i++) {
        qn_guide *g = open_guide(&p, formats[i].kind, formats[i].source), *copy = NULL;
        qn_sampler *s = open_sampler(&p, 1, 3), *t = open_sampler(&p, 1, 3);
        answer begun = generate(&p, g, s, i, 2, false);
        assert_int_equal(qn_guide_copy(g, &copy, &err), QN_OK);
        if (begun.is_whole) {
            assert_true(qn_guide_must_end(copy));
        } else {
            answer a = generate(&p, g, s, 5, 60, true);
            qn_guide_close(g);
            g = NULL;
            qn_sampler_close(t); /* with the state of s as it was */
            t = open_sampler(&p, 1, 3);
            generate(&p, copy, t, 7, 60, true);
            assert_true(qn_guide_must_end(copy) && a.n_tokens > 0);
        }
        qn_guide_close(g);
        qn_guide_close(copy);
        qn_sampler_close(s);
        qn_sampler_close(t);
    }
    close_place(&p);
}

/* Special tokens that the format names come by themselves, in time too; text that only looks like one does not count. */
static void test_special_tokens(void **state)
{
    (void)state;
    place p = open_place();
    for (uint64_t seed = 0; seed < 24; seed++) {
        qn_guide *g = open_guide(&p, QN_FORMAT_GRAMMAR, "root ::= [a-c]* <s> [d-f]{2,9} (<s> \"x\")?");
        qn_sampler *s = open_sampler(&p, 1, seed);
        answer a = generate(&p, g, s, seed, 4 + seed / 2, seed % 2 == 0);
        assert_true(a.is_whole && matches("[a-c]*[d-f]{2,9}x?", &a)); /* special tokens have no bytes */
        uint32_t n_special = a.text[a.n_bytes - 1] == 'x' ? 2 : 1;
        assert_int_equal(a.n_tokens, a.n_bytes + n_special + 1);
        qn_sampler_close(s);
        qn_guide_close(g);
    }
    close_place(&p);
}

/* With a session, as a program does it: temperature, log-probabilities, a limit. */
static void test_with_a_model(void **state)
{
    (void)state;
    place p = open_place();
    qn_session *session = open_session(p.m, &(qn_session_options){.n_ctx = 128});
    qn_seq *q = open_seq(session);
    qn_error err = {0};
    qn_sampler *s = open_sampler(&p, 1.5f, 9);
    qn_guide *g = open_guide(&p, formats[3].kind, formats[3].source);
    answer a = {0};
    int32_t next[16] = {1};
    size_t n = 1;
    while (!a.is_whole && a.n_tokens < 60) {
        const float *logits;
        float logprob = 1;
        expect_ok(qn_seq_eval(q, next, n, &logits, &err), &err);
        expect_ok(qn_guide_pick(g, s, logits, 60 - a.n_tokens, &next[0], &logprob, &err), &err);
        assert_true(logprob <= 0);
        add_token(&p, &a, next[0]);
        a.is_whole = qn_token_is_end(p.m, next[0]);
        expect_ok(qn_guide_jump(g, s, 60 - a.n_tokens, next + 1, 15, &n, &err), &err);
        for (size_t i = 1; i <= n; i++) {
            add_token(&p, &a, next[i]);
        }
        n++;
    }
    check(&a, 3, 9, 60);
    qn_guide_close(g);
    qn_sampler_close(s);
    qn_session_close(session);
    close_place(&p);
}

/* A format outlives the models that it was used with, and what it found out for one is not taken for another's. */
static void test_models_come_and_go(void **state)
{
    (void)state;
    place p = open_place();
    qn_format *f = NULL;
    qn_error err = {0};
    expect_ok(qn_format_open(p.rt, formats[3].kind, formats[3].source, strlen(formats[3].source), NULL, &f, &err), &err);
    for (uint32_t i = 0; i < 3; i++) {
        qn_tiny_spec spec = qn_tiny_spec_of("llama");
        spec.n_vocab += i * 64;
        place q = {.rt = p.rt, .m = open_tiny(p.rt, &spec), .n_vocab = spec.n_vocab};
        for (uint64_t seed = 0; seed < 3; seed++) {
            qn_guide *g = NULL;
            qn_sampler *s = open_sampler(&q, 1, seed);
            expect_ok(qn_guide_open(q.m, f, &g, &err), &err);
            answer a = generate(&q, g, s, seed, 70, seed == 1);
            check(&a, 3, seed, 70);
            qn_guide_close(g);
            qn_sampler_close(s);
        }
        qn_model_close(q.m);
    }
    qn_format_close(f);
    close_place(&p);
}

/* ---- threads ---- */

typedef struct worker {
    const place *p;
    qn_format *f;
    uint64_t seed;
    bool is_good;
} worker;

static void *generate_some(void *ctx)
{
    worker *w = ctx;
    w->is_good = true;
    for (uint64_t i = 0; i < 6 && w->is_good; i++) {
        qn_guide *g = NULL;
        w->is_good = qn_guide_open(w->p->m, w->f, &g, NULL) == QN_OK;
        if (w->is_good) {
            qn_sampler *s = open_sampler(w->p, 1, w->seed + i);
            answer a = generate(w->p, g, s, w->seed + i, 60, i % 2 == 0);
            w->is_good = a.is_whole;
            qn_sampler_close(s);
        }
        qn_guide_close(g);
    }
    return NULL;
}

/* The vocabulary is prepared by one of them, the format shared by all. */
static void test_threads(void **state)
{
    (void)state;
    enum { N_THREADS = 4 };
    place p = open_place();
    qn_format *f = NULL;
    qn_error err = {0};
    expect_ok(qn_format_open(p.rt, formats[3].kind, formats[3].source, strlen(formats[3].source), NULL, &f, &err), &err);
    qn_os_thread threads[N_THREADS];
    worker workers[N_THREADS];
    for (uint64_t i = 0; i < N_THREADS; i++) {
        workers[i] = (worker){.p = &p, .f = f, .seed = i * 100};
        assert_true(qn_os_thread_start(&threads[i], generate_some, &workers[i]));
    }
    for (int i = 0; i < N_THREADS; i++) {
        qn_os_thread_join(threads[i]);
        assert_true(workers[i].is_good);
    }
    qn_format_close(f);
    close_place(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts_fit),
        cmocka_unit_test(test_too_few_tokens),
        cmocka_unit_test(test_the_last_token),
        cmocka_unit_test(test_banned_end),
        cmocka_unit_test(test_copies_go_their_own_way),
        cmocka_unit_test(test_special_tokens),
        cmocka_unit_test(test_with_a_model),
        cmocka_unit_test(test_models_come_and_go),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
