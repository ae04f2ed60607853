/* Guides in real vocabularies. For texts that a model wrote as its tokenizer cuts them, every token that a jump gives is the
 * one that stands there. However few tokens are left, as long as the shortest text fits, the text ends.
 * SPDX-License-Identifier: MIT */
#include "test.h"

#include "base/random.h"
#include "engine/guide_int.h"

static const char schema[] =
    "{\"type\":\"object\",\"properties\":{\"customer_name\":{\"type\":\"string\"},\"shipping_address\":{\"type\":\"object\","
    "\"properties\":{\"street\":{\"type\":\"string\"},\"zip_code\":{\"type\":\"string\"}},\"required\":[\"street\",\"zip_code\"],"
    "\"additionalProperties\":false},\"status\":{\"enum\":[\"delivered\",\"delayed\",\"on the way\"]},\"quantity\":"
    "{\"type\":\"integer\"},\"tags\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}},\"required\":[\"customer_name\","
    "\"shipping_address\",\"status\",\"quantity\",\"tags\"],\"additionalProperties\":false}";

static const struct {
    qn_format_kind kind;
    const char *source, *text;
} cases[] = {
    {QN_FORMAT_JSON_SCHEMA, schema,
     "{\"customer_name\":\"Ada Lovelace\",\"shipping_address\":{\"street\":\"12 St James's Square\",\"zip_code\":\"SW1Y 4JH\"},"
     "\"status\":\"delayed\",\"quantity\":1234567,\"tags\":[\"first\",\"\\u00fcber\",\"\"]}"},
    {QN_FORMAT_JSON_SCHEMA, schema,
     "{\"customer_name\":\"\xe5\x8c\x97\xe4\xba\xac \xf0\x9f\x98\x80\",\"shipping_address\":{\"street\":\"\",\"zip_code\":\"0\"},"
     "\"status\":\"on the way\",\"quantity\":-4,\"tags\":[]}"},
    {QN_FORMAT_REGEX, "The answer to (question|riddle) number [0-9]+ is: (yes|no), without any doubt\\.",
     "The answer to riddle number 42 is: no, without any doubt."},
    {QN_FORMAT_CHOICE, "[\"a very long choice, which is all there is   \\n\\n  - and blanks\"]",
     "a very long choice, which is all there is   \n\n  - and blanks"},
    {QN_FORMAT_GRAMMAR, "root ::= \"    if (\" [a-z]+ \" == NULL) {\\n        return -1;\\n    }\\n\"",
     "    if (name == NULL) {\n        return -1;\n    }\n"},
    {QN_FORMAT_GRAMMAR, "root ::= \"Z\xc3\xbcrich, \xd0\x9c\xd0\xbe\xd1\x81\xd0\xba\xd0\xb2\xd0\xb0: \" [0-9]+ \" \xe5\x8c\x97\xe4\xba\xac\"",
     "Z\xc3\xbcrich, \xd0\x9c\xd0\xbe\xd1\x81\xd0\xba\xd0\xb2\xd0\xb0: 17 \xe5\x8c\x97\xe4\xba\xac"},
};

typedef struct walk {
    qn_model *m;
    qn_guide *g;
    qn_sampler *s;
    float *logits;
    const int32_t *ids; /* of the text */
    size_t n_ids, at, n_jumped;
} walk;

/* Tokens of the text as they are behind a line's end; their bytes spell it. False: this tokenizer changes texts. */
static bool cut(const qn_model *m, const char *text, int32_t *ids, size_t cap, size_t *n_ids)
{
    char behind[512], spelled[512];
    int32_t line_end[8];
    size_t n_line_end, n_bytes;
    snprintf(behind, sizeof(behind), "\n%s", text);
    assert_int_equal(qn_tokenize(m, "\n", 1, 0, line_end, 8, &n_line_end, NULL), QN_OK);
    assert_int_equal(qn_tokenize(m, behind, strlen(behind), 0, ids, cap, n_ids, NULL), QN_OK);
    if (*n_ids < n_line_end || memcmp(ids, line_end, n_line_end * sizeof(*ids)) != 0) {
        return false;
    }
    assert_int_equal(qn_detokenize(m, ids, *n_ids, 0, spelled, sizeof(spelled), &n_bytes, NULL), QN_OK);
    if (n_bytes != strlen(behind) || memcmp(spelled, behind, n_bytes) != 0) {
        return false;
    }
    *n_ids -= n_line_end;
    memmove(ids, ids + n_line_end, *n_ids * sizeof(*ids));
    return true;
}

static void go(walk *w, const char *vocab, size_t i_case)
{
    int32_t ids[16], id;
    size_t n;
    qn_error err = {0};
    while (w->at < w->n_ids) {
        size_t cap = 1 + (w->at * 7 + i_case) % 16;
        assert_int_equal(qn_guide_jump(w->g, w->s, 0, ids, cap, &n, &err), QN_OK);
        for (size_t i = 0; i < n; i++) {
            if (w->at == w->n_ids || ids[i] != w->ids[w->at]) {
                fail_msg("%s, case %zu: token %zu is %d, a jump gave %d", vocab, i_case, w->at,
                         w->at < w->n_ids ? (int)w->ids[w->at] : -1, (int)ids[i]);
            }
            w->at++;
        }
        w->n_jumped += n;
        if (n != 0) {
            continue;
        }
        w->logits[w->ids[w->at]] = 50;
        assert_int_equal(qn_guide_pick(w->g, w->s, w->logits, 0, &id, NULL, &err), QN_OK);
        w->logits[w->ids[w->at]] = 0;
        if (id != w->ids[w->at]) {
            fail_msg("%s, case %zu: token %zu is not allowed", vocab, i_case, w->at);
        }
        w->at++;
    }
    assert_true(qn_guide_may_end(w->g));
}

static size_t run_case(qn_runtime *rt, qn_model *m, const char *vocab, size_t i, size_t *n_tokens)
{
    int32_t ids[512];
    qn_error err = {0};
    qn_model_info info;
    qn_model_get_info(m, &info);
    walk w = {.m = m, .ids = ids, .logits = calloc(info.n_vocab, sizeof(float))};
    const qn_sampler_options greedy = {.top_p = 1, .typical_p = 1, .repeat_penalty = 1};
    qn_format *f = NULL;
    assert_non_null(w.logits);
    if (cut(m, cases[i].text, ids, 512, &w.n_ids)) {
        assert_int_equal(qn_format_open(rt, cases[i].kind, cases[i].source, strlen(cases[i].source), NULL, &f, &err), QN_OK);
        assert_int_equal(qn_guide_open(m, f, &w.g, &err), QN_OK);
        assert_int_equal(qn_sampler_open(m, &greedy, &w.s, &err), QN_OK);
        go(&w, vocab, i);
        *n_tokens += w.n_ids;
    }
    qn_guide_close(w.g);
    qn_sampler_close(w.s);
    qn_format_close(f);
    free(w.logits);
    return w.n_jumped;
}

static void test_jumps_are_what_the_tokenizer_cuts(void **state)
{
    (void)state;
    static const char *const names[] = {"llama-bpe", "qwen2", "gpt-2", "llama-spm", "phi-3", "command-r", "falcon", "mpt",
                                        "deepseek-coder", "bert-bge"};
    QN_TEST_NEED(any, "vocab/ggml-vocab-gpt-2.gguf");
    (void)any;
    qn_runtime *rt = NULL;
    qn_error err = {0};
    assert_int_equal(qn_runtime_open(&(qn_runtime_options){.n_threads = 1, .isa = "ref"}, &rt, &err), QN_OK);
    for (size_t v = 0; v < sizeof(names) / sizeof(names[0]); v++) {
        char relative[128];
        snprintf(relative, sizeof(relative), "vocab/ggml-vocab-%s.gguf", names[v]);
        qn_model *m = NULL;
        size_t n_tokens = 0, n_jumped = 0;
        assert_int_equal(qn_model_open(rt, qn_test_data(relative), &(qn_model_options){.vocab_only = true}, &m, &err), QN_OK);
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
            n_jumped += run_case(rt, m, names[v], i, &n_tokens);
        }
        print_message("%s: %zu of %zu tokens without the model\n", names[v], n_jumped, n_tokens);
        assert_true(n_jumped >= n_tokens / 4 && n_jumped <= n_tokens);
        qn_model_close(m);
    }
    qn_runtime_close(rt);
}

/* ---- ends ---- */

static const char shortest[] = "{\"customer_name\":\"\",\"shipping_address\":{\"street\":\"\",\"zip_code\":\"\"},"
                               "\"status\":\"delayed\",\"quantity\":0,\"tags\":[]}";

/* The tokens made, the end token counted; 0: the text was not ended. */
static uint64_t generate(qn_model *m, qn_format *f, uint64_t seed, uint64_t most)
{
    qn_random r;
    qn_guide *g = NULL;
    qn_sampler *s = NULL;
    qn_error err = {0};
    qn_model_info info;
    const qn_sampler_options o = {.temperature = 1.5f, .top_p = 1, .typical_p = 1, .repeat_penalty = 1, .seed = seed};
    qn_model_get_info(m, &info);
    float *logits = malloc(info.n_vocab * sizeof(*logits));
    assert_non_null(logits);
    assert_int_equal(qn_guide_open(m, f, &g, &err), QN_OK);
    assert_int_equal(qn_sampler_open(m, &o, &s, &err), QN_OK);
    qn_random_seed(&r, seed);
    uint64_t n_made = 0;
    int32_t ids[8] = {-1};
    while (n_made < most && !(n_made > 0 && qn_token_is_end(m, ids[0]))) {
        size_t n = 0;
        if (seed % 2 == 0) {
            assert_int_equal(qn_guide_jump(g, s, most - n_made, ids, 8, &n, &err), QN_OK);
        }
        if (n == 0) {
            for (uint32_t i = 0; i < info.n_vocab; i++) {
                logits[i] = (float)(qn_random_u64(&r) >> 58);
            }
            assert_int_equal(qn_guide_pick(g, s, logits, most - n_made, ids, NULL, &err), QN_OK);
            n = 1;
        }
        n_made += n;
    }
    bool has_ended = qn_guide_must_end(g) && qn_token_is_end(m, ids[0]);
    qn_guide_close(g);
    qn_sampler_close(s);
    free(logits);
    return has_ended ? n_made : 0;
}

static void test_ends_in_time(void **state)
{
    (void)state;
    static const char *const names[] = {"llama-bpe", "gpt-2", "llama-spm"};
    QN_TEST_NEED(any, "vocab/ggml-vocab-gpt-2.gguf");
    (void)any;
    qn_runtime *rt = NULL;
    qn_error err = {0};
    assert_int_equal(qn_runtime_open(&(qn_runtime_options){.n_threads = 1, .isa = "ref"}, &rt, &err), QN_OK);
    for (size_t v = 0; v < sizeof(names) / sizeof(names[0]); v++) {
        char relative[128];
        snprintf(relative, sizeof(relative), "vocab/ggml-vocab-%s.gguf", names[v]);
        qn_model *m = NULL;
        qn_format *f = NULL;
        int32_t first;
        uint32_t n_tokens;
        assert_int_equal(qn_model_open(rt, qn_test_data(relative), &(qn_model_options){.vocab_only = true}, &m, &err), QN_OK);
        assert_int_equal(qn_format_open(rt, QN_FORMAT_JSON_SCHEMA, schema, strlen(schema), NULL, &f, &err), QN_OK);
        assert_int_equal(qn_guide_vocab_need(m, &err), QN_OK);
        assert_int_equal(qn_grammar_vocab_cut(m->guide_vocab->grammar, QN_STR(shortest), &first, &n_tokens), QN_OK);
        for (uint64_t i = 0; i < 12; i++) {
            uint64_t most = n_tokens + 1 + (i < 4 ? 0 : i < 8 ? i : i * 8), n_made = generate(m, f, i, most);
            if (n_made == 0 || n_made > most) {
                fail_msg("%s: not ended with %u tokens, where %u are enough", names[v], (unsigned)most, n_tokens + 1);
            }
        }
        assert_int_equal(generate(m, f, 1, n_tokens), 0); /* and with one less it cannot be */
        qn_format_close(f);
        qn_model_close(m);
    }
    qn_runtime_close(rt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_jumps_are_what_the_tokenizer_cuts),
        cmocka_unit_test(test_ends_in_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
