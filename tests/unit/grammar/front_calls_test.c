/* Answers with calls: which texts each kind of template allows, which tools are refused, and special tokens in marks.
 * SPDX-License-Identifier: MIT */
#include "../text/small_chats.h"
#include "../text/small_vocab.h"
#include "front_rig.h"

#include "grammar/front_calls.h"
#include "grammar/grammar.h"

/* What the calls below are about; the source of a grammar is the list of tools. */
static struct {
    const char *chat, *prompt, *name;
    qn_calls_choice choice;
    bool one_call, strict;
    const qn_calls_special *specials;
    size_t n_specials;
} now;

static void set(const char *chat, const char *prompt, qn_calls_choice choice)
{
    memset(&now, 0, sizeof(now));
    now.chat = chat;
    now.prompt = prompt;
    now.choice = choice;
}

static qn_status build_with(qn_dialect *d, qn_gx_builder *b, qn_str source, qn_error *err)
{
    qn_dialect_view view;
    qn_json_doc *doc = NULL;
    qn_dialect_get_view(d, &view);
    qn_front_calls_options o = {.dialect = &view,
                                .choice = now.choice,
                                .one_call = now.one_call,
                                .strict = now.strict,
                                .name = now.name != NULL ? qn_str_of(now.name) : QN_STR(""),
                                .specials = now.specials,
                                .n_specials = now.n_specials};
    QN_TRY(qn_dialect_find_start(d, qn_str_of(now.prompt), NULL, &o.start, err));
    if (source.len > 0) {
        QN_TRY(qn_json_parse(NULL, source.data, source.len, 1u << 20, &doc, err));
        o.tools = qn_json_root(doc);
    }
    qn_status status = qn_front_calls(b, &o, err);
    qn_json_free(doc);
    return status;
}

static qn_status calls(qn_gx_builder *b, qn_str source, qn_error *err)
{
    qn_dialect *d = small_dialect(now.chat);
    qn_status status = build_with(d, b, source, err);
    qn_dialect_close(d);
    return status;
}

#define OBJECT(members) "\"parameters\":{\"type\":\"object\",\"additionalProperties\":false," members "}}"
static const char tools[] =
    "[{\"type\":\"function\",\"function\":{\"name\":\"look\"," OBJECT(
        "\"properties\":{\"s\":{\"type\":\"string\"},"
        "\"i\":{\"type\":\"integer\",\"maximum\":9},\"b\":{\"type\":\"boolean\"},\"u\":{\"type\":[\"string\",\"null\"]}"
        ","
        "\"e\":{\"enum\":[\"p "
        "q\",\"r\"]},\"d\":{\"type\":\"string\",\"format\":\"date\"},\"any\":{}},\"required\":[\"s\"]") "},{\"name\":"
                                                                                                        "\"now\"}]";

/* ---- shapes ---- */

static void objects(void **state)
{
    (void)state;
    set(small_objects, "<user>a<eot><bot>", QN_CALLS_AUTO);
    front_check(calls, tools, "+", "+plain text, <call a> and {\"name\": \"x\"}", "-a<eot>",
                "+\n<call>\n{\"name\": \"look\", \"arguments\": {\"s\": \"x\"}}\n</call>",
                "+text\n<call>\n{\"name\":\"look\",\"arguments\":{\"s\":\"</call>\",\"i\":-3}}\n</call>",
                "+\n<call>\n{\"name\": \"now\", \"arguments\": {}}\n</call>\n<call>\n{\"name\": \"now\", "
                "\"arguments\": {}}\n</call>",
                "+<think>\nhm\n</think>\n\ntext",
                "+<think>\nhm\n</think>\n\n\n<call>\n{\"name\": \"now\", \"arguments\": {}}\n</call>", "-<think>\nhm",
                "-\n<call>\n{\"name\": \"now\", \"arguments\": {}}", "-\n<call>\n", "-text <call> more",
                "-\n<call>\n{\"name\": \"now\", \"arguments\": {}}\n</call> text",
                "-\n<call>\n{\"name\": \"look\", \"arguments\": {}}\n</call>",
                "-\n<call>\n{\"name\": \"look\", \"arguments\": {\"s\": 1}}\n</call>",
                "-\n<call>\n{\"name\": \"look\", \"arguments\": {\"s\": \"x\", \"i\": 10}}\n</call>",
                "-\n<call>\n{\"name\": \"other\", \"arguments\": {}}\n</call>",
                "-\n<call>\n{\"name\": \"now\", \"arguments\": {\"a\": 1}}\n</call>",
                "-{\"name\": \"now\", \"arguments\": {}}", NULL);
    set(small_objects, "<user>a<eot><bot><think>\n", QN_CALLS_AUTO);
    front_check(calls, tools, "+hm\n</think>\n\ntext", "-text", "-hm\n</think>\n\n<think>a", NULL);
}

static void choices(void **state)
{
    (void)state;
    set(small_objects, "<user>a<eot><bot>", QN_CALLS_REQUIRED);
    front_check(calls, tools, "-", "-text", "-text\n<call>\n{\"name\": \"now\", \"arguments\": {}}\n</call>",
                "+\n<call>\n{\"name\": \"now\", \"arguments\": {}}\n</call>",
                "+<call>{\"name\":\"now\",\"arguments\":{}}</call>",
                "+<think>a</think>\n<call>\n{\"name\": \"now\", \"arguments\": {}}\n</call>", NULL);
    now.name = "look";
    front_check(calls, tools, "-<call>{\"name\":\"now\",\"arguments\":{}}</call>",
                "+<call>{\"name\":\"look\",\"arguments\":{\"s\":\"\"}}</call>", NULL);
    now.name = NULL;
    now.one_call = true;
    front_check(calls, tools, "+<call>{\"name\":\"now\",\"arguments\":{}}</call>",
                "-<call>{\"name\":\"now\",\"arguments\":{}}</call>\n<call>{\"name\":\"now\",\"arguments\":{}}</call>",
                NULL);
    set(small_objects, "<user>a<eot><bot>", QN_CALLS_NONE);
    front_check(calls, "", "+", "+text <cal", "-<call>{\"name\":\"now\",\"arguments\":{}}</call>", NULL);
}

static void names_between_marks(void **state)
{
    (void)state;
    set(small_named, "<user>a<eot><bot>", QN_CALLS_AUTO);
    front_check(calls, tools, "+go <go", "+<go>now<args>{}", "+a<go>look<args>{\"s\": \"<go>\"}<go>now<args>{}",
                "-<go>now<args>{", "-<go>nov<args>{}", "-<go>", "-<go>now<args>{}a", NULL);
    set(small_tokens, "<user>a<eot><bot>", QN_CALLS_AUTO);
    front_check(calls, tools, "+<|calls|><|call|>now<|args|>{}<|done|><|call|>now<|args|>{}<|done|><|end|>",
                "-<|calls|><|end|>", "-<|calls|><|call|>now<|args|>{}<|done|>", NULL);
    set(small_headers, "<go>user<say>a<end><go>bot", QN_CALLS_AUTO);
    front_check(calls, tools, "+<ch>outer<say>text", "+<ch>inner<say>hm<end><go>bot<ch>outer<say>text",
                "+<ch>side to=fn.now<say>{}", "+<ch>inner<say>hm<end><go>bot<ch>side to=fn.look<say>{\"s\": \"\"}",
                "+<ch>side to=fn.now<say>{}<end><go>bot<ch>side to=fn.now<say>{}", "-<ch>side to=fn.nov<say>{}",
                "-<ch>inner<say>hm", "-text", "-<ch>side to=fn.look<say>{}", NULL);
    set(small_bare, "<user>a<eot><bot>", QN_CALLS_AUTO);
    front_check(calls, tools, "+text", "+{\"name\": \"now\", \"parameters\": {}}", "+{\"name\": \"Bob\"}",
                "-{\"name\": \"look\", \"parameters\": {}}", "-{\"na\\u006de\": 1}", "+{\"a\": 1}",
                "-text {\"name\": \"now\", \"parameters\": {}}<eot>", NULL);
}

static void parameters_between_marks(void **state)
{
    (void)state;
#define CALL(p) "\n<call>\n<f=look>\n" p "</f>\n</call>"
#define S "<p=s>\nx\n</p>\n"
    set(small_tags, "<user>a<eot><bot>", QN_CALLS_AUTO);
    front_check(calls, tools, "+" CALL(S), "+text" CALL("<p=s>\n\"</p\n</p>\n"), "-" CALL(""),
                "-" CALL("<p=s>\na</p>b\n</p>\n"), "+" CALL(S "<p=i>\n9\n</p>\n"), "-" CALL(S "<p=i>\n10\n</p>\n"),
                "-" CALL(S "<p=i>\nx\n</p>\n"), "+" CALL(S "<p=b>\ntrue\n</p>\n"), "+" CALL(S "<p=b>\nTrue\n</p>\n"),
                "-" CALL(S "<p=b>\nyes\n</p>\n"), "+" CALL(S "<p=u>\nnull\n</p>\n"), "+" CALL(S "<p=u>\n12\n</p>\n"),
                "+" CALL(S "<p=e>\np q\n</p>\n"), "-" CALL(S "<p=e>\n\"r\"\n</p>\n"),
                "+" CALL(S "<p=d>\n2024-02-29\n</p>\n"), "-" CALL(S "<p=d>\n2024-02-30\n</p>\n"),
                "+" CALL(S "<p=any>\n[1, \"a\"]\n</p>\n"), "+" CALL(S "<p=any>\nwords\n</p>\n"),
                "-" CALL(S "<p=any>\n[1, \n</p>\n"), "-" CALL(S "<p=z>\n1\n</p>\n"), "-" CALL(S S),
                "-" CALL(S "<p=any>\n[\"</p>\"]\n</p>\n"), "+\n<call>\n<f=now>\n</f>\n</call>", NULL);
}

static void tags_in_tags(void **state)
{
    (void)state;
    static const char chat[] = SMALL_TOOLS SMALL_HEAD SMALL_CONTENT
        "{%- macro put(v) %}{%- if v is mapping %}{%- for k, x in v.items() %}#<{{ k }}>{{ put(x) }}#</{{ k }}>{%- "
        "endfor %}"
        "{%- elif v is string %}{{ v }}{%- else %}{{ v | tojson }}{%- endif %}{%- endmacro %}" SMALL_CALLS
        "#[go {{ f.name }}]{{ put(f.arguments) }}#[/go]" SMALL_TAIL;
    static const char list[] =
        "[{\"name\":\"f\",\"parameters\":{\"type\":\"object\",\"required\":[\"a\"],\"properties\":{\"a\":{\"type\":"
        "\"string\"},"
        "\"o\":{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"},\"b\":{\"type\":\"boolean\"}}},"
        "\"l\":{\"type\":\"array\",\"items\":{\"type\":\"integer\"},\"minItems\":1,\"maxItems\":2}}}}]";
    set(chat, "<user>a<eot><bot>", QN_CALLS_AUTO);
    front_check(calls, list, "+text", "+#[go f]#<a>x#</a>#[/go]", "-#[go f]#[/go]", "-#[go f]#<a>x#</o>#[/go]",
                "+#[go f]#<a>x#</a>#<o>#<n>1#</n>#<b>true#</b>#</o>#[/go]", "+#[go f]#<a>x#</a>#<o>{}#</o>#[/go]",
                "-#[go f]#<a>x#</a>#<o>#<n>a#</n>#</o>#[/go]",
                "+#[go f]#<a>x#</a>#<l>#<item>1#</item>#<item>2#</item>#</l>#[/go]",
                "-#[go f]#<a>x#</a>#<l>[]#</l>#[/go]", "-#[go f]#<a>x#<y#</a>#[/go]", NULL);
    front_refuses(calls, "[{\"name\":\"f\",\"parameters\":{\"anyOf\":[{}]}}]", QN_EUNSUPPORTED, "\"anyOf\"");
}

static void python_and_braces(void **state)
{
    (void)state;
    static const char braces[] = SMALL_TOOLS SMALL_HEAD SMALL_CONTENT SMALL_CALLS
        "<go>{{ f.name }}{{ '{' }}{%- for k, v in f.arguments.items() %}{{ k + ':' }}"
        "{%- if v is string %}<q>{{ v }}<q>{% else %}{{ v | tojson }}{% endif %}{%- if not loop.last %},{% endif %}"
        "{%- endfor %}{{ '}' }}<stop>" SMALL_TAIL;
    set(small_python, "<user>a<eot><bot>", QN_CALLS_AUTO);
    front_check(calls, tools, "+<py>[now()]</py>", "+<py>[look(s=\"a\"), look(s=\"\", i=3, b=True)]</py>",
                "-<py>[look()]</py>", "-<py>[look(s=a)]</py>", "-<py>[now()</py>", "-<py>[]</py>", NULL);
    set(braces, "<user>a<eot><bot>", QN_CALLS_AUTO);
    front_check(calls, tools, "+<go>now{}<stop>", "+<go>look{s:<q>\"a\" \\ \n<q>,i:3,e:<q>r<q>}<stop>",
                "-<go>look{}<stop>", "-<go>look{s:\"a\"}<stop>", "-<go>look{s:<q>a<q>b<q>}<stop>",
                "-<go>look{s:<q>a<q>,i:x}<stop>", "+<go>look{s:<q><q>,any:{k:[1,<q>v<q>]}}<stop>", NULL);
}

/* ---- what is refused ---- */

static void tools_are_checked(void **state)
{
    (void)state;
    set(small_objects, "<user>a<eot><bot>", QN_CALLS_AUTO);
    front_refuses(calls, "{}", QN_EFORMAT, "not a list");
    front_refuses(calls, "[1]", QN_EFORMAT, "item 0");
    front_refuses(calls, "[{\"name\":\"a\"},{\"type\":\"function\",\"function\":{}}]", QN_EFORMAT, "item 1");
    front_refuses(calls, "[{\"name\":\"a b\"}]", QN_EUNSUPPORTED, "\"a b\"");
    front_refuses(calls, "[{\"name\":\"\"}]", QN_EUNSUPPORTED, "name");
    front_refuses(calls, "[{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":\"a\"}]", QN_EFORMAT, "two functions");
    front_refuses(calls, "[{\"name\":\"a\",\"parameters\":[]}]", QN_EFORMAT, "tool \"a\"");
    front_refuses(calls,
                  "[{\"name\":\"a\",\"parameters\":{\"type\":\"object\",\"properties\":{\"k\":{\"format\":\"w\"}}}}]",
                  QN_EUNSUPPORTED, "tool \"a\": schema");
    front_refuses(calls, "[{\"type\":\"web_search\",\"function\":{\"name\":\"a\"}}]", QN_EUNSUPPORTED, "no function");
    front_refuses(calls,
                  "[{\"name\":\"a\",\"strict\":true,\"parameters\":{\"type\":\"object\",\"properties\":{\"k\":{}}}}]",
                  QN_EUNSUPPORTED, "tool \"a\"");
    set(small_tags, "<user>a<eot><bot>", QN_CALLS_AUTO);
    front_refuses(calls, "[{\"name\":\"a\",\"parameters\":{\"properties\":{\"k<\":{}}}}]", QN_EUNSUPPORTED, "\"k<\"");
    front_refuses(calls, "[{\"name\":\"a\",\"parameters\":{\"properties\":{\"k\":{\"enum\":[\"a</p>\"]}}}}]",
                  QN_EUNSUPPORTED, "\"a</p>\"");
    set(small_echo, "<user>a<eot><assistant>", QN_CALLS_AUTO);
    front_refuses(calls, tools, QN_EUNSUPPORTED, "no calls");
    set(small_objects, "<user>a<eot><bot>", QN_CALLS_REQUIRED);
    front_refuses(calls, "[]", QN_EFORMAT, "no tools");
    now.name = "other";
    front_refuses(calls, tools, QN_ENOTFOUND, "\"other\"");
}

static void many_tools(void **state)
{
    (void)state;
    set(small_objects, "<user>a<eot><bot>", QN_CALLS_REQUIRED);
    for (unsigned n = QN_CALLS_MAX_TOOLS; n <= QN_CALLS_MAX_TOOLS + 1; n++) {
        qn_buf list;
        qn_buf_init(&list, NULL, "test", 1u << 20);
        for (unsigned i = 0; i < n; i++) {
            qn_buf_printf(&list,
                          "%c{\"name\":\"tool_%u\",\"parameters\":{\"type\":\"object\",\"properties\":{\"a\":{\"type\":"
                          "\"string\"}}}}",
                          i == 0 ? '[' : ',', i);
        }
        qn_buf_printf(&list, "]%c", '\0');
        if (n > QN_CALLS_MAX_TOOLS) {
            front_refuses(calls, list.data, QN_EFULL, "at most 1024");
        } else {
            front_check(calls, list.data, "+<call>{\"name\":\"tool_1023\",\"arguments\":{\"a\":\"\"}}</call>",
                        "-<call>{\"name\":\"tool_1024\",\"arguments\":{}}</call>", NULL);
        }
        qn_buf_free(&list);
    }
}

/* ---- special tokens ---- */

static void end_key(qn_gguf_writer *w, void *ctx)
{
    (void)ctx;
    qn_gguf_set_u32(w, "tokenizer.ggml.eos_token_id", 0);
}

static bool takes(qn_grammar *g, const qn_grammar_vocab *v, const qn_tokenizer *t, const char *text, unsigned flags)
{
    int32_t ids[256];
    size_t n = 0;
    qn_matcher *m = NULL;
    assert_int_equal(qn_tokenizer_encode(t, text, strlen(text), flags, ids, 256, &n, NULL), QN_OK);
    assert_int_equal(qn_matcher_open(g, v, NULL, &m, NULL), QN_OK);
    size_t i = 0;
    while (i < n && qn_matcher_accept(m, ids[i]) == QN_OK) {
        i++;
    }
    bool all = i == n && qn_matcher_may_end(m);
    qn_matcher_close(m);
    return all;
}

/* Marks are those tokens, and never their spelling. */
static void special_tokens(void **state)
{
    (void)state;
    static const char answer[] = "a<|calls|><|call|>now<|args|>{}<|done|><|end|>";
    static const qn_calls_special specials[] = {{QN_STR("<|calls|>"), false}, {QN_STR("<|done|>"), false}};
    static small_vocab small;
    qn_small_bpe(&small);
    small.edit = end_key;
    small.tokens[0] = QN_STR("<|small-end|>");
    qn_small_add(&small, "<|calls|>", QN_TOKEN_CONTROL, 0);
    qn_small_add(&small, "<|done|>", QN_TOKEN_CONTROL, 0);
    qn_gguf *gguf = NULL;
    qn_tokenizer *t = NULL;
    qn_grammar_vocab *v = NULL;
    qn_grammar *g = NULL;
    qn_gx_builder b;
    qn_error err = {0};
    size_t n;
    uint8_t *file = qn_small_write(&small, &n);
    assert_int_equal(qn_gguf_open_memory(file, n, NULL, &gguf, &err), QN_OK);
    assert_int_equal(qn_tokenizer_open(gguf, NULL, &t, &err), QN_OK);
    assert_int_equal(qn_grammar_vocab_open(t, NULL, &v, &err), QN_OK);
    set(small_tokens, "<user>a<eot><bot>", QN_CALLS_AUTO);
    now.specials = specials;
    now.n_specials = 2;
    qn_gx_init(&b, NULL);
    assert_int_equal(calls(&b, qn_str_of(tools), &err), QN_OK);
    assert_int_equal(qn_grammar_open(&b, NULL, &g, &err), QN_OK);
    qn_gx_free(&b);
    assert_true(takes(g, v, t, answer, QN_TEXT_PARSE_SPECIAL));
    assert_false(takes(g, v, t, answer, 0));
    assert_true(takes(g, v, t, "plain", 0));
    qn_grammar_close(g);
    qn_grammar_vocab_close(v);
    qn_tokenizer_close(t);
    qn_gguf_close(gguf);
    qn_free(file);
    static const qn_calls_special ends[] = {{QN_STR("<|call|>"), true}};
    now.specials = ends;
    now.n_specials = 1;
    front_refuses(calls, tools, QN_EUNSUPPORTED, "ends an answer");
}

/* ---- memory ---- */

static qn_dialect *held;

static qn_status with_held(qn_gx_builder *b, qn_str source, qn_error *err)
{
    return build_with(held, b, source, err);
}

static void out_of_memory(void **state)
{
    (void)state;
    const char *const chats[] = {small_objects, small_tags, small_headers, small_python};
    for (size_t i = 0; i < sizeof(chats) / sizeof(chats[0]); i++) {
        set(chats[i], i == 2 ? "<go>user<say>a<end><go>bot" : "<user>a<eot><bot>", QN_CALLS_AUTO);
        held = small_dialect(now.chat);
        front_without_memory(with_held,
                             "[{\"name\":\"f\",\"parameters\":{\"properties\":{\"a\":{\"type\":\"string\"}}}}]");
        qn_dialect_close(held);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects),
        cmocka_unit_test(choices),
        cmocka_unit_test(names_between_marks),
        cmocka_unit_test(parameters_between_marks),
        cmocka_unit_test(tags_in_tags),
        cmocka_unit_test(python_and_braces),
        cmocka_unit_test(tools_are_checked),
        cmocka_unit_test(many_tools),
        cmocka_unit_test(special_tokens),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
