/* Chat templates of our own, and a reader of answers that writes down what it hears:
 *     C(content) R(reasoning) F(function) I(id) A(arguments) E
 * SPDX-License-Identifier: MIT */
#ifndef QN_TESTS_TEXT_SMALL_CHATS_H
#define QN_TESTS_TEXT_SMALL_CHATS_H

#include "test.h"
#include "text/chat/answer.h"

#define SMALL_HEAD                                                                 \
    "{%- for m in messages %}{%- if m.role == 'user' %}<user>{{ m.content }}<eot>" \
    "{%- elif m.role == 'tool' %}<tool>{{ m.content }}<eot>{%- else %}<bot>"
#define SMALL_THINK \
    "{%- if m.reasoning_content %}{{ '<think>\\n' + m.reasoning_content + '\\n</think>\\n\\n' }}{% endif %}"
#define SMALL_CONTENT "{%- if m.content %}{{ m.content }}{% endif %}"
#define SMALL_CALLS "{%- for c in m.tool_calls or [] %}{%- set f = c.function %}"
#define SMALL_TAIL "{%- endfor %}<eot>{%- endif %}{%- endfor %}{%- if add_generation_prompt %}<bot>{% endif %}"
#define SMALL_TOOLS "{%- if tools %}{{ tools | tojson }}{% endif %}"

/* \n<call>\n{"name": ..., "arguments": ...}\n</call> */
static const char *const small_objects QN_UNUSED = SMALL_TOOLS SMALL_HEAD SMALL_THINK SMALL_CONTENT SMALL_CALLS
    "{{ '\\n<call>\\n{\"name\": \"' + f.name + '\", \"arguments\": ' + f.arguments | tojson + '}\\n</call>' "
    "}}" SMALL_TAIL;
/* <go>NAME<args>{...} */
static const char *const small_named QN_UNUSED =
    SMALL_TOOLS SMALL_HEAD SMALL_CONTENT SMALL_CALLS "<go>{{ f.name }}<args>{{ f.arguments | tojson }}" SMALL_TAIL;
/* <call>\n<f=NAME>\n<p=KEY>\nVALUE\n</p>\n</f>\n</call> */
static const char *const small_tags QN_UNUSED = SMALL_TOOLS SMALL_HEAD SMALL_THINK SMALL_CONTENT SMALL_CALLS
    "{{ '\\n<call>\\n<f=' + f.name + '>\\n' }}{%- for k, v in f.arguments.items() %}{{ '<p=' + k + '>\\n' }}"
    "{{- v if v is string else v | tojson }}{{ '\\n</p>\\n' }}{%- endfor %}{{ '</f>\\n</call>' }}" SMALL_TAIL;
/* [NAME(KEY=VALUE, ...)] between <py> and </py> */
static const char *const small_python QN_UNUSED = SMALL_TOOLS SMALL_HEAD SMALL_CONTENT
    "{%- if m.tool_calls %}<py>[{% endif %}" SMALL_CALLS
    "{{ f.name + '(' }}{%- for k, v in f.arguments.items() %}{{ k + '=' }}"
    "{{ v | tojson }}{%- if not loop.last %}{{ ', ' }}{% endif %}{%- endfor %}{{ ')' }}"
    "{%- if loop.last %}]</py>{% else %}{{ ', ' }}{% endif %}" SMALL_TAIL;
/* {"name": ..., "parameters": ...} and nothing else */
static const char *const small_bare QN_UNUSED = SMALL_TOOLS SMALL_HEAD
    "{%- if not m.tool_calls %}{{ m.content }}{% endif %}" SMALL_CALLS
    "{{ '{\"name\": \"' + f.name + '\", \"parameters\": ' + f.arguments | tojson + '}' }}" SMALL_TAIL;
/* <|calls|><|call|>NAME<|args|>{...}<|done|><|end|> */
static const char *const small_tokens QN_UNUSED = SMALL_TOOLS SMALL_HEAD SMALL_CONTENT
    "{%- if m.tool_calls %}<|calls|>{% endif %}" SMALL_CALLS
    "<|call|>{{ f.name }}<|args|>{{ f.arguments | tojson }}<|done|>{%- if loop.last %}<|end|>{% endif %}" SMALL_TAIL;
/* Content, and nothing said about calls. */
static const char *const small_echo QN_UNUSED =
    SMALL_TOOLS "{%- for m in messages %}<{{ m.role }}>{{ m.content }}<eot>{%- endfor %}"
                "{%- if add_generation_prompt %}<assistant>{% endif %}";
/* <go>bot<ch>inner<say>...<end><go>bot<ch>outer<say>...<stop>, <ch>side to=fn.NAME<say>{...}<call> */
static const char *const small_headers QN_UNUSED =
    "{%- for m in messages %}{%- if m.role == 'user' %}<go>user<say>{{ m.content }}<end>"
    "{%- else %}{%- if m.thinking %}<go>bot<ch>inner<say>{{ m.thinking }}<end>{% endif %}" SMALL_CALLS
    "<go>bot<ch>side to=fn.{{ f.name }}<say>{{ f.arguments | tojson }}<{{ 'call' if loop.last else 'end' }}>{%- endfor "
    "%}"
    "{%- if not m.tool_calls %}<go>bot<ch>outer<say>{{ m.content }}<stop>{% endif %}"
    "{%- endif %}{%- endfor %}{%- if add_generation_prompt %}<go>bot{% endif %}";

/* The same without reasoning, and with one call: no turn shows two messages. */
static const char *const small_single QN_UNUSED =
    SMALL_TOOLS "{%- for m in messages %}{%- if m.role == 'user' %}<go>user<say>{{ m.content }}<end>"
                "{%- elif m.role == 'tool' %}<go>tool<say>{{ m.content }}<end>"
                "{%- elif m.tool_calls %}{%- set f = m.tool_calls[0].function %}"
                "<go>bot to=fn.{{ f.name }}<ch>side json<say>{{ f.arguments | tojson }}<call>"
                "{%- else %}<go>bot<ch>outer<say>{{ m.content }}{{ '<stop>' if loop.last else '<end>' }}"
                "{%- endif %}{%- endfor %}{%- if add_generation_prompt %}<go>bot{% endif %}";

static const char *const small_tools QN_UNUSED =
    "[{\"type\": \"function\", \"function\": {\"name\": \"look\", \"parameters\": {\"type\": \"object\", "
    "\"properties\": {"
    "\"s\": {\"type\": \"string\"}, \"i\": {\"type\": \"integer\"}, \"b\": {\"type\": \"boolean\"}, "
    "\"o\": {\"type\": \"object\"}, \"u\": {\"type\": [\"string\", \"null\"]}, \"any\": {}}}}}]";

static qn_dialect *QN_UNUSED small_dialect(const char *source)
{
    qn_jinja *j = NULL;
    qn_dialect *d = NULL;
    qn_error err = {0};
    assert_int_equal(qn_jinja_open(qn_str_of(source), NULL, &j, &err), QN_OK);
    assert_int_equal(qn_dialect_open(j, QN_STR("<s>"), QN_STR("<eot>"), NULL, &d, &err), QN_OK);
    qn_jinja_close(j);
    return d;
}

typedef struct small_heard {
    qn_buf text;
    int last; /* the part that text ends with and that may go on; -1: none */
} small_heard;

static qn_status QN_UNUSED small_hear(void *ctx, qn_part part, uint32_t i_call, qn_str text)
{
    (void)i_call;
    small_heard *h = ctx;
    if (h->last == (int)part && h->text.len > 0) {
        h->text.len--;
    } else if (part == QN_PART_CALL_END) {
        qn_buf_add_str(&h->text, "E");
        h->last = -1;
        return h->text.status;
    } else {
        qn_buf_add_char(&h->text, "CRFIA"[part]);
        qn_buf_add_char(&h->text, '(');
    }
    qn_buf_add(&h->text, text.data, text.len);
    qn_buf_add_char(&h->text, ')');
    h->last = part == QN_PART_CALL || part == QN_PART_CALL_ID ? -1 : (int)part;
    return h->text.status;
}

/* Reads the answer cut after `cut` bytes (SIZE_MAX: after every byte). For qn_buf_free(). */
static qn_buf QN_UNUSED small_read(const qn_dialect *d, const qn_answer_options *o, const char *answer, size_t cut,
                                   bool *was_cut)
{
    small_heard h = {.last = -1};
    qn_answer *a = NULL;
    qn_error err = {0};
    size_t n = strlen(answer), at = 0;
    qn_buf_init(&h.text, NULL, "test", 1u << 24);
    assert_int_equal(qn_answer_open(d, o, NULL, &a, &err), QN_OK);
    while (at < n) {
        size_t step = cut == SIZE_MAX ? 1 : at == 0 && cut > 0 && cut < n ? cut : n - at;
        assert_int_equal(qn_answer_push(a, answer + at, step, small_hear, &h, &err), QN_OK);
        at += step;
    }
    assert_int_equal(qn_answer_finish(a, small_hear, &h, was_cut, &err), QN_OK);
    qn_answer_close(a);
    return h.text;
}

/* The answer is read as `wanted`, wherever it is cut. */
static void QN_UNUSED small_check(const qn_dialect *d, const qn_answer_options *o, const char *answer,
                                  const char *wanted, bool wanted_cut)
{
    for (size_t cut = 0; cut <= strlen(answer); cut++) {
        bool was_cut = false;
        qn_buf heard = small_read(d, o, answer, cut == strlen(answer) ? SIZE_MAX : cut, &was_cut);
        assert_string_equal(heard.len > 0 ? heard.data : "", wanted);
        assert_int_equal(was_cut, wanted_cut);
        qn_buf_free(&heard);
    }
}

typedef struct small_given {
    const char *answer, *wanted;
    bool cut;
} small_given;

/* Each answer with the tools, after the prompt. */
static void QN_UNUSED small_check_all(const char *template, const char *prompt, bool no_calls, bool keep_reasoning,
                                      const small_given *g, size_t n)
{
    qn_dialect *d = small_dialect(template);
    qn_json_doc *tools = NULL;
    qn_error err = {0};
    assert_int_equal(qn_json_parse(NULL, small_tools, strlen(small_tools), 1000, &tools, &err), QN_OK);
    qn_answer_options o = {.prompt = qn_str_of(prompt),
                           .tools = qn_json_root(tools),
                           .no_calls = no_calls,
                           .keep_reasoning = keep_reasoning};
    for (size_t i = 0; i < n; i++) {
        small_check(d, &o, g[i].answer, g[i].wanted, g[i].cut);
    }
    qn_json_free(tools);
    qn_dialect_close(d);
}

#endif
