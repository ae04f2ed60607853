/* Formats of answers with calls: they hold whatever the logits say, they are shared, and what is wrong is named.
 * SPDX-License-Identifier: MIT */
#include "support.h"

static const char hermes[] =
    "{%- if tools %}<|s|>system\n{% for t in tools %}{{ t | tojson }}\n{% endfor %}<|e|>\n{% endif %}"
    "{%- for m in messages %}<|s|>{{ m.role }}\n{{ m.content or '' }}{%- for c in m.tool_calls or [] %}"
    "{{ '\n<tool_call>\n' }}{\"name\": \"{{ c.function.name }}\", \"arguments\": {{ c.function.arguments | tojson }}}"
    "{{ '\n</tool_call>' }}{%- endfor %}<|e|>\n{% endfor %}{%- if add_generation_prompt %}<|s|>assistant\n{% endif %}";

static const char tools[] =
    "[{\"type\":\"function\",\"function\":{\"name\":\"add\",\"parameters\":{\"type\":\"object\",\"properties\":{\"a\":"
    "{\"type\":\"integer\",\"minimum\":0,\"maximum\":99},\"b\":{\"enum\":[\"x\",\"yy\"]}},\"required\":[\"a\",\"b\"],"
    "\"additionalProperties\":false}}},{\"type\":\"function\",\"function\":{\"name\":\"now\"}}]";

typedef struct place {
    qn_runtime *rt;
    qn_model *m;
    qn_chat *c;
    qn_prompt *p;
} place;

static place open_place(const char *source)
{
    static const char json[] = "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}],\"add_generation_prompt\":true}";
    qn_tiny_spec spec = qn_tiny_spec_of("llama");
    qn_error err = {0};
    place p = {.rt = open_runtime("ref", 1)};
    p.m = open_tiny(p.rt, &spec);
    const qn_chat_options o = {.source = source, .source_bytes = strlen(source)};
    expect_ok(qn_chat_open(p.rt, p.m, &o, &p.c, &err), &err);
    expect_ok(qn_chat_render(p.c, json, strlen(json), &p.p, &err), &err);
    return p;
}

static void close_place(place *p)
{
    qn_prompt_close(p->p);
    qn_chat_close(p->c);
    qn_model_close(p->m);
    qn_runtime_close(p->rt);
}

static qn_call_format_options options(qn_tool_choice choice)
{
    qn_call_format_options o;
    qn_call_format_options_init(&o);
    o.tools = tools;
    o.tools_bytes = strlen(tools);
    o.choice = choice;
    return o;
}

/* ---- what is made ---- */

typedef struct heard {
    char text[8192]; /* NAME(ARGUMENTS). for each call; content and ids are left out */
} heard;

static int hear(void *ctx, qn_answer_part part, uint32_t i_call, const char *text, size_t n_bytes)
{
    heard *h = ctx;
    (void)i_call;
    if (part == QN_ANSWER_CONTENT || part == QN_ANSWER_CALL_ID) {
        return 0;
    }
    size_t n = strlen(h->text);
    const char *mark = part == QN_ANSWER_CALL ? "(" : part == QN_ANSWER_CALL_END ? ")." : "";
    assert_true(n + n_bytes + 4 < sizeof(h->text));
    if (n_bytes > 0) {
        memcpy(h->text + n, text, n_bytes);
    }
    strcpy(h->text + n + n_bytes, mark);
    return 0;
}

static void make(const place *p, qn_format *f, uint64_t seed, uint64_t n_left, qn_buf *text)
{
    qn_guide *g = NULL;
    qn_sampler *s = NULL;
    qn_error err = {0};
    qn_random r;
    qn_model_info info;
    const qn_sampler_options o = {.temperature = 1, .top_p = 1, .typical_p = 1, .repeat_penalty = 1, .seed = seed};
    qn_model_get_info(p->m, &info);
    float *logits = malloc(info.n_vocab * sizeof(*logits));
    assert_non_null(logits);
    qn_random_seed(&r, seed);
    expect_ok(qn_guide_open(p->m, f, &g, &err), &err);
    expect_ok(qn_sampler_open(p->m, &o, &s, &err), &err);
    for (uint64_t n = 0; n < n_left; n++) {
        int32_t id;
        for (uint32_t i = 0; i < info.n_vocab; i++) {
            logits[i] = 3 * qn_random_normal(&r);
        }
        expect_ok(qn_guide_pick(g, s, logits, n_left - n, &id, NULL, &err), &err);
        if (qn_token_is_end(p->m, id)) {
            break;
        }
        expect_ok(qn_tokenizer_decode_token(p->m->tokenizer, id, 0, false, text, &err), &err);
    }
    assert_true(qn_guide_may_end(g));
    qn_sampler_close(s);
    qn_guide_close(g);
    free(logits);
}

static void read_back(const place *p, const qn_buf *text, heard *h)
{
    qn_answer_reader *a = NULL;
    qn_error err = {0};
    bool cut = true;
    const qn_answer_reader_options o = {.tools = tools, .tools_bytes = strlen(tools)};
    *h = (heard){.text = ""};
    expect_ok(qn_answer_reader_open(p->c, p->p, &o, &a, &err), &err);
    expect_ok(qn_answer_reader_push(a, text->data != NULL ? text->data : "", text->len, hear, h, &err), &err);
    expect_ok(qn_answer_reader_finish(a, hear, h, &cut, &err), &err);
    qn_answer_reader_close(a);
    assert_false(cut);
}

/* One call of the list: now({}), or add({"a": N, "b": "x"}) with a space at most behind each comma and colon. */
static const char *after_call(const char *s)
{
    char compact[256];
    size_t n = 0;
    const char *end = strstr(s, ").");
    assert_non_null(end);
    for (; s < end; s++) {
        if (*s == ' ' && s[-1] != ',' && s[-1] != ':') {
            fail_msg("a blank that no template writes: %s", s);
        }
        if (*s != ' ' && n + 1 < sizeof(compact)) {
            compact[n++] = *s;
        }
    }
    compact[n] = '\0';
    int a = -1, used = 0;
    char b[4];
    bool is_now = strcmp(compact, "now({}") == 0;
    bool is_add = sscanf(compact, "add({\"a\":%d", &a) == 1 && strstr(compact, ",\"b\":\"") != NULL;
    is_add = is_add && sscanf(strstr(compact, ",\"b\":\""), ",\"b\":\"%2[xy]\"}%n", b, &used) == 1;
    if (!is_now && !(is_add && a >= 0 && a <= 99 && (strcmp(b, "x") == 0 || strcmp(b, "yy") == 0))) {
        fail_msg("a call that is none of the list: %s", compact);
    }
    return end + 2;
}

static void calls_are_of_the_list(void **state)
{
    (void)state;
    place p = open_place(hermes);
    qn_error err = {0};
    for (int choice = QN_TOOLS_AUTO; choice <= QN_TOOLS_NONE; choice++) {
        qn_format *f = NULL;
        qn_call_format_options o = options((qn_tool_choice)choice);
        expect_ok(qn_call_format_open(p.c, p.p, &o, &f, &err), &err);
        for (uint64_t seed = 0; seed < 20; seed++) {
            qn_buf text;
            heard h;
            qn_buf_init(&text, NULL, "test", 1u << 16);
            make(&p, f, seed, 400, &text);
            read_back(&p, &text, &h);
            assert_true(choice != QN_TOOLS_REQUIRED || h.text[0] != '\0');
            assert_true(choice != QN_TOOLS_NONE || h.text[0] == '\0');
            for (const char *s = h.text; *s != '\0';) {
                s = after_call(s);
            }
            qn_buf_free(&text);
        }
        qn_format_close(f);
    }
    close_place(&p);
}

/* A mark that the model has as a special token is that token; without a model it is text. */
static void marks_are_the_models_tokens(void **state)
{
    (void)state;
    static const char marked[] =
        "{%- if tools %}{{ tools | tojson }}{% endif %}{%- for m in messages %}[{{ m.role }}]{{ m.content or '' }}"
        "{%- for c in m.tool_calls or [] %}{{ '<s>go ' }}{\"name\": \"{{ c.function.name }}\", \"arguments\": "
        "{{ c.function.arguments | tojson }}}{{ '<stop>' }}{%- endfor %}[e]{% endfor %}"
        "{%- if add_generation_prompt %}[assistant]{% endif %}";
    for (int has_model = 0; has_model < 2; has_model++) {
        place p = open_place(marked);
        qn_error err = {0};
        qn_format *f = NULL;
        qn_guide *g = NULL;
        qn_model_info info;
        int32_t id = -1;
        qn_call_format_options o = options(QN_TOOLS_REQUIRED);
        const qn_chat_options co = {.source = marked, .source_bytes = strlen(marked)};
        qn_chat_close(p.c);
        expect_ok(qn_chat_open(p.rt, has_model ? p.m : NULL, &co, &p.c, &err), &err);
        expect_ok(qn_call_format_open(p.c, p.p, &o, &f, &err), &err);
        expect_ok(qn_guide_open(p.m, f, &g, &err), &err);
        qn_model_get_info(p.m, &info);
        float *logits = calloc(info.n_vocab, sizeof(*logits));
        qn_sampler *s = NULL;
        const qn_sampler_options so = {.temperature = 0, .top_p = 1, .typical_p = 1, .repeat_penalty = 1};
        assert_non_null(logits);
        expect_ok(qn_sampler_open(p.m, &so, &s, &err), &err);
        expect_ok(qn_guide_pick(g, s, logits, 0, &id, NULL, &err), &err);
        assert_int_equal(id == info.bos, has_model);
        free(logits);
        qn_sampler_close(s);
        qn_guide_close(g);
        qn_format_close(f);
        close_place(&p);
    }
}

/* ---- sharing, and what is refused ---- */

static void formats_are_shared(void **state)
{
    (void)state;
    place p = open_place(hermes);
    qn_error err = {0};
    qn_format *a = NULL, *b = NULL, *c = NULL;
    qn_call_format_options o = options(QN_TOOLS_AUTO);
    expect_ok(qn_call_format_open(p.c, p.p, &o, &a, &err), &err);
    expect_ok(qn_call_format_open(p.c, p.p, &o, &b, &err), &err);
    o.one_call = true;
    expect_ok(qn_call_format_open(p.c, p.p, &o, &c, &err), &err);
    assert_ptr_equal(a, b);
    assert_ptr_not_equal(a, c);
    qn_format_close(a);
    qn_format_close(b);
    qn_format_close(c);
    close_place(&p);
}

static void refuses(const place *p, const qn_call_format_options *o, qn_status status, const char *word)
{
    qn_format *f = NULL;
    qn_error err = {0};
    assert_int_equal(qn_call_format_open(p->c, p->p, o, &f, &err), status);
    assert_null(f);
    if (strstr(err.what, word) == NULL) {
        fail_msg("'%s' is not in '%s'", word, err.what);
    }
}

static void what_is_wrong_is_named(void **state)
{
    (void)state;
    static const char bad[] =
        "[{\"name\":\"f\",\"parameters\":{\"type\":\"object\",\"properties\":{\"k\":{\"format\":\"what\"}}}}]";
    place p = open_place(hermes), none = open_place("{% for m in messages %}{{ m.content }}{% endfor %}");
    qn_call_format_options o = options(QN_TOOLS_REQUIRED);
    refuses(&none, &o, QN_EUNSUPPORTED, "no calls");
    o.name = "other";
    refuses(&p, &o, QN_ENOTFOUND, "\"other\"");
    o = options((qn_tool_choice)7);
    refuses(&p, &o, QN_EINVAL, "choice");
    o = options(QN_TOOLS_AUTO);
    o.tools = "[{]";
    o.tools_bytes = 3;
    refuses(&p, &o, QN_EFORMAT, "tools: ");
    o.tools = bad;
    o.tools_bytes = strlen(bad);
    refuses(&p, &o, QN_EUNSUPPORTED, "tool \"f\"");
    refuses(&p, &o, QN_EUNSUPPORTED, "format");
    static const char *const nothing[] = {
        "[{\"name\":\"g\"},{\"name\":\"f\",\"parameters\":{\"properties\":{\"k\":false},\"required\":[\"k\"]}},"
        "{\"name\":\"h\",\"parameters\":{}}]",
        "[{\"name\":\"f\",\"parameters\":{\"type\":\"array\"}}]",
        "[{\"name\":\"f\",\"parameters\":{\"required\":[\"k\"],\"properties\":{\"k\":{\"type\":\"string\",\"allOf\":"
        "[{\"pattern\":\"^a\"},{\"pattern\":\"^b\"}]}}}},{\"name\":\"g\"}]",
    };
    for (size_t i = 0; i < 3; i++) {
        qn_call_format_options of = options(i < 2 ? QN_TOOLS_AUTO : QN_TOOLS_REQUIRED);
        of.name = i < 2 ? NULL : "f";
        of.tools = nothing[i];
        of.tools_bytes = strlen(nothing[i]);
        refuses(&p, &of, QN_EFORMAT, "tool \"f\": no object satisfies its parameters");
    }
    o.tools_bytes = (size_t)2 << 20;
    refuses(&p, &o, QN_EFULL, "bytes");
    qn_error err = {0};
    qn_format *f = NULL;
    assert_int_equal(qn_call_format_open(NULL, p.p, &o, &f, &err), QN_EINVAL);
    assert_int_equal(qn_call_format_open(p.c, NULL, &o, &f, &err), QN_EINVAL);
    assert_int_equal(qn_call_format_open(p.c, p.p, NULL, &f, &err), QN_EINVAL);
    assert_int_equal(qn_call_format_open(p.c, p.p, &o, NULL, &err), QN_EINVAL);
    close_place(&none);
    close_place(&p);
}

static void memory_runs_out(void **state)
{
    (void)state;
    place p = open_place(hermes);
    qn_call_format_options o = options(QN_TOOLS_AUTO);
    uint64_t n = 1;
    for (qn_status status = QN_ENOMEM; status != QN_OK; n += n / 8 + 1) {
        qn_format *f = NULL;
        qn_error err = {0};
        uint64_t live = qn_alloc_live();
        qn_alloc_fail_at(n);
        status = qn_call_format_open(p.c, p.p, &o, &f, &err);
        qn_alloc_fail_at(0);
        assert_true(status == QN_OK || status == QN_ENOMEM);
        assert_true(status == QN_OK || qn_alloc_live() == live);
        qn_format_close(f);
    }
    assert_true(n > 100);
    close_place(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_are_of_the_list), cmocka_unit_test(marks_are_the_models_tokens),
        cmocka_unit_test(formats_are_shared),    cmocka_unit_test(what_is_wrong_is_named),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
