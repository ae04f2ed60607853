/* Chat templates of a file and of a caller, prompts as text and as tokens, answers in parts; and memory that runs out.
 * SPDX-License-Identifier: MIT */
#include "support.h"

#define PLAIN "{% for m in messages %}<s>{{ m.role }}:{{ m.content }}</s>{% endfor %}"

/* A tiny model with a template, and one named "rag". */
static qn_model *open_with_templates(qn_runtime *rt, const char *unnamed)
{
    qn_tiny_spec spec = qn_tiny_spec_of("llama");
    char path[4096];
    qn_gguf *g = NULL;
    qn_model *m = NULL;
    qn_error err = {0};
    qn_tiny_file(&spec, path);
    expect_ok(qn_gguf_open(path, NULL, &g, &err), &err);
    qn_gguf_writer *w = qn_tiny_copy(g, NULL, NULL);
    if (unnamed != NULL) {
        qn_gguf_set_str(w, "tokenizer.chat_template", qn_str_of(unnamed));
    }
    qn_gguf_set_str(w, "tokenizer.chat_template.rag", QN_STR("rag: {{ messages[0].content }}"));
    uint8_t *bytes;
    size_t n_bytes;
    expect_ok(qn_gguf_write_memory(w, &bytes, &n_bytes, &err), &err);
    qn_gguf_writer_close(w);
    qn_gguf_close(g);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n_bytes, f), n_bytes);
    fclose(f);
    qn_free(bytes);
    expect_ok(qn_model_open(rt, path, &(qn_model_options){.vocab_only = true}, &m, &err), &err);
    unlink(path);
    return m;
}

static void assert_renders(qn_runtime *rt, const qn_model *m, const qn_chat_options *o, const char *json,
                           const char *expected)
{
    qn_chat *c = NULL;
    qn_prompt *p = NULL;
    qn_error err = {0};
    size_t n;
    expect_ok(qn_chat_open(rt, m, o, &c, &err), &err);
    expect_ok(qn_chat_render(c, json, strlen(json), &p, &err), &err);
    assert_string_equal(qn_prompt_text(p, &n), expected);
    assert_int_equal(n, strlen(expected));
    qn_prompt_close(p);
    qn_chat_close(c);
}

static void assert_not_opened(qn_runtime *rt, const qn_model *m, const qn_chat_options *o, qn_status status,
                              const char *word)
{
    qn_chat *c = NULL;
    qn_error err = {0};
    assert_int_equal(qn_chat_open(rt, m, o, &c, &err), status);
    if (c != NULL || strstr(err.what, word) == NULL) {
        fail_msg("'%s' is not in '%s'", word, err.what);
    }
}

static void templates_are_found(void **state)
{
    (void)state;
    static const char json[] = "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}";
    static const char own[] = "{{ bos_token }}-{{ messages | length }}";
    qn_runtime *rt = open_runtime("ref", 1);
    qn_model *m = open_with_templates(rt, PLAIN), *bare = open_with_templates(rt, NULL);
    assert_renders(rt, m, NULL, json, "<s>user:a</s>");
    assert_renders(rt, m, &(qn_chat_options){.name = "rag"}, json, "rag: a");
    assert_renders(rt, m, &(qn_chat_options){.source = own, .source_bytes = strlen(own)}, json, "<s>-1");
    assert_renders(rt, NULL, &(qn_chat_options){.source = own, .source_bytes = strlen(own)}, json, "-1");
    assert_not_opened(rt, bare, NULL, QN_ENOTFOUND, "rag");
    assert_not_opened(rt, m, &(qn_chat_options){.name = "tool_use"}, QN_ENOTFOUND, "'tool_use'");
    assert_not_opened(rt, NULL, NULL, QN_EINVAL, "m: NULL");
    assert_not_opened(rt, m, &(qn_chat_options){.source = "\n{{", .source_bytes = 3}, QN_EFORMAT, "line 2");
    qn_model_close(bare);
    qn_model *broken = open_with_templates(rt, "{% endfor %}");
    assert_not_opened(rt, broken, NULL, QN_EFORMAT, "chat template: line 1");
    qn_model_close(broken);
    qn_model_close(m);
    qn_runtime_close(rt);
}

/* ---- tokens ----------------------------------------------------------------------------------------- */

/* Special tokens of the ids in their order: s for BOS, e for EOS; * for any others. */
static void assert_specials(const qn_model *m, const qn_prompt *p, unsigned flags, const char *expected)
{
    int32_t ids[256], none;
    size_t n, n_needed;
    char got[64] = "";
    qn_model_info info;
    qn_error err = {0};
    qn_model_get_info(m, &info);
    expect_ok(qn_prompt_tokenize(p, m, flags, ids, 256, &n, &err), &err);
    for (size_t i = 0; i < n; i++) {
        const char *sort = ids[i] == info.bos ? "s" : ids[i] == info.eos ? "e" : "*";
        size_t len = strlen(got);
        if (*sort != '*' || len == 0 || got[len - 1] != '*') {
            strcat(got, sort);
        }
    }
    assert_string_equal(got, expected);
    assert_int_equal(qn_prompt_tokenize(p, m, flags, &none, 0, &n_needed, &err), n == 0 ? QN_OK : QN_ERANGE);
    assert_int_equal(n_needed, n);
    for (size_t cap = 1; cap < n; cap++) {
        assert_int_equal(qn_prompt_tokenize(p, m, flags, ids, cap, &n_needed, &err), QN_ERANGE);
        assert_int_equal(n_needed, n);
    }
}

static void assert_prompt(qn_runtime *rt, const qn_model *m, const char *source, const char *content, const char *plain,
                          const char *with_bos, const char *parsed)
{
    char json[256];
    qn_chat *c = NULL;
    qn_prompt *p = NULL;
    qn_error err = {0};
    snprintf(json, sizeof(json), "{\"messages\":[{\"role\":\"user\",\"content\":\"%s\"}]}", content);
    expect_ok(qn_chat_open(rt, m, &(qn_chat_options){.source = source, .source_bytes = strlen(source)}, &c, &err),
              &err);
    expect_ok(qn_chat_render(c, json, strlen(json), &p, &err), &err);
    assert_specials(m, p, 0, plain);
    assert_specials(m, p, QN_TEXT_ADD_SPECIAL, with_bos);
    assert_specials(m, p, QN_TEXT_ADD_SPECIAL | QN_TEXT_PARSE_SPECIAL, parsed);
    qn_prompt_close(p);
    qn_chat_close(c);
}

static void one_bos_and_no_foreign_tokens(void **state)
{
    (void)state;
    qn_runtime *rt = open_runtime("ref", 1);
    qn_model *m = open_with_templates(rt, PLAIN);
    qn_model_info info;
    qn_model_get_info(m, &info);
    assert_true(info.adds_bos);
    assert_prompt(rt, m, PLAIN, "a", "s*e", "s*e", "s*e");
    assert_prompt(rt, m, PLAIN, "<s></s>", "s*e", "s*e", "s*see");
    assert_prompt(rt, m, "{{ messages[0].content }}", "a", "*", "s*", "s*");
    assert_prompt(rt, m, "{{ messages[0].content }}", "<s>a", "*", "s*", "s*");
    assert_prompt(rt, m, "{{ bos_token + messages[0].content }}", "<s>a", "s*", "s*", "ss*");
    assert_prompt(rt, m, "{{ bos_token }}{{ messages[0].content }}{{ eos_token }}", "a</s>", "s*e", "s*e", "s*ee");
    assert_prompt(rt, m, "{{ messages[0].content | upper }}", "<S>", "*", "s*", "s*");
    assert_prompt(rt, m, "<{{ messages[0].content }}", "s>", "*", "s*", "s");
    assert_prompt(rt, m, "", "a", "", "s", "s");
    qn_model_close(m);
    qn_runtime_close(rt);
}

/* ---- answers ---------------------------------------------------------------------------------------- */

static int gather(void *ctx, qn_answer_part part, uint32_t i_call, const char *text, size_t n)
{
    char *got = ctx;
    static const char marks[] = "crnia.";
    size_t len = strlen(got);
    snprintf(got + len, 256 - len, "%c%u[%.*s]", marks[part], (unsigned)i_call, (int)n, n > 0 ? text : "");
    return strstr(got, "stop") != NULL;
}

#define THINKING                                                                                                  \
    "{% for m in messages %}<s>{{ m.role }}:{% if m.reasoning_content %}<think>{{ m.reasoning_content }}</think>" \
    "{% endif %}{{ m.content }}</s>{% endfor %}{% if add_generation_prompt %}<s>assistant:{% endif %}"

static void answers_come_in_parts(void **state)
{
    (void)state;
    static const char json[] = "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}],\"add_generation_prompt\":true}";
    static const char answer[] = "<think>hm</think>yes";
    qn_runtime *rt = open_runtime("ref", 1);
    qn_chat *c = NULL;
    qn_prompt *p = NULL;
    qn_answer_reader *a = NULL;
    qn_error err = {0};
    char got[256] = "";
    bool cut = true;
    expect_ok(
        qn_chat_open(rt, NULL, &(qn_chat_options){.source = THINKING, .source_bytes = strlen(THINKING)}, &c, &err),
        &err);
    assert_non_null(strstr(qn_chat_describe(c), "think"));
    expect_ok(qn_chat_render(c, json, strlen(json), &p, &err), &err);
    expect_ok(qn_answer_reader_open(c, p, NULL, &a, &err), &err);
    expect_ok(qn_answer_reader_push(a, answer, strlen(answer), gather, got, &err), &err);
    assert_false(qn_answer_reader_is_over(a));
    expect_ok(qn_answer_reader_finish(a, gather, got, &cut, &err), &err);
    assert_string_equal(got, "r0[hm]c0[yes]");
    assert_false(cut);
    qn_answer_reader_close(a);
    const qn_answer_reader_options o = {.tools = "[", .tools_bytes = 1};
    assert_int_equal(qn_answer_reader_open(c, p, &o, &a, &err), QN_EFORMAT);
    assert_non_null(strstr(err.what, "tools: line 1"));
    expect_ok(qn_answer_reader_open(c, p, NULL, &a, &err), &err);
    qn_status status = qn_answer_reader_push(a, "please stop here", 16, gather, got, &err);
    if (status == QN_OK) { /* it may hold back what could become a mark */
        status = qn_answer_reader_finish(a, gather, got, &cut, &err);
    }
    assert_int_equal(status, QN_EABORTED);
    assert_int_equal(err.code, QN_EABORTED);
    qn_answer_reader_close(a);
    qn_prompt_close(p);
    qn_chat_close(c);
    qn_runtime_close(rt);
}

/* ---- memory ----------------------------------------------------------------------------------------- */

static qn_status talk(qn_runtime *rt, const qn_model *m, qn_error *err)
{
    static const char json[] =
        "{\"messages\":[{\"role\":\"user\",\"content\":\"a<s>\"}],\"add_generation_prompt\":true}";
    const qn_chat_options co = {.source = THINKING, .source_bytes = strlen(THINKING)};
    const qn_answer_reader_options ao = {.tools = "[{\"function\":{\"name\":\"f\"}}]", .tools_bytes = 27};
    qn_chat *c = NULL;
    qn_prompt *p = NULL;
    qn_answer_reader *a = NULL;
    char got[256] = "";
    int32_t ids[128];
    size_t n;
    bool cut;
    qn_status status = qn_chat_open(rt, m, &co, &c, err);
    if (status == QN_OK) {
        status = qn_chat_render(c, json, strlen(json), &p, err);
    }
    if (status == QN_OK) {
        status = qn_prompt_tokenize(p, m, QN_TEXT_ADD_SPECIAL, ids, 128, &n, err);
    }
    if (status == QN_OK) {
        status = qn_answer_reader_open(c, p, &ao, &a, err);
    }
    if (status == QN_OK) {
        status = qn_answer_reader_push(a, "<think>x</think>y", 17, gather, got, err);
    }
    if (status == QN_OK) {
        status = qn_answer_reader_finish(a, gather, got, &cut, err);
    }
    qn_answer_reader_close(a);
    qn_prompt_close(p);
    qn_chat_close(c);
    return status;
}

/* An allocation that fails at the n-th try: all n where they are few, later a growing number of them. */
static void memory_runs_out(void **state)
{
    (void)state;
    qn_runtime *rt = open_runtime("ref", 1);
    qn_model *m = open_with_templates(rt, PLAIN);
    qn_error err = {0};
    expect_ok(talk(rt, m, &err), &err);
    uint64_t used = qn_runtime_memory_used(rt);
    uint32_t n_failed = 0;
    for (uint64_t n = 1;; n += 1 + n / 64) {
        err = (qn_error){0};
        qn_alloc_fail_at(n);
        qn_status status = talk(rt, m, &err);
        qn_alloc_fail_at(0);
        assert_int_equal(qn_runtime_memory_used(rt), used);
        if (status == QN_OK && n > 1000) {
            break;
        }
        n_failed += status != QN_OK;
        if (status != QN_OK) {
            assert_int_equal(status, QN_ENOMEM);
            assert_int_equal(err.code, QN_ENOMEM);
        }
    }
    assert_true(n_failed > 50);
    qn_model_close(m);
    qn_runtime_close(rt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(templates_are_found),
        cmocka_unit_test(one_bos_and_no_foreign_tokens),
        cmocka_unit_test(answers_come_in_parts),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
