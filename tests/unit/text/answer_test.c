/* Answers in the ways that small templates show: what is read from them, whole, cut and damaged.
 * SPDX-License-Identifier: MIT */
#include "small_chats.h"

#define CHECK(template, prompt, g) small_check_all((template), (prompt), false, false, (g), sizeof(g) / sizeof((g)[0]))

static void objects_between_marks(void **state)
{
    (void)state;
    static const small_given g[] = {
        {"Hello", "C(Hello)", false},
        {"", "", false},
        /* an end of the turn is one when nothing follows */
        {"Hello<eot>", "C(Hello)", false},
        {"Hello<eot> \n<eot>\n", "C(Hello)", false},
        {"Hello<eot>and more", "C(Hello<eot>and more)", false},
        {"Hello<eot> <eot>\nand <eot>", "C(Hello<eot> <eot>\nand )", false},
        {"Hello<eot><eo", "C(Hello<eot><eo)", false},
        {"One\n\n<call>\n{\"name\": \"look\", \"arguments\": {\"s\": \"a}\\\"\"}}\n</call>",
         "C(One\n)F(look)A({\"s\": \"a}\\\"\"})E", false},
        {"<call>{\"name\":\"look\",\"arguments\":{}}</call>\n<call>\n{\"name\": \"other\", \"arguments\": "
         "{}}\n</call><eot>",
         "F(look)A({})EF(other)A({})E", false},
        /* members in any order, a string of JSON, a name alone, wrapped as in a request */
        {"<call>{\"arguments\": {\"i\": 1}, \"id\": \"x1\", \"name\": \"look\"}</call>", "F(look)I(x1)A({\"i\": 1})E",
         false},
        {"<call>{\"name\": \"look\", \"arguments\": {\"i\": 1}, \"id\": \"x1\"}</call>", "F(look)A({\"i\": 1})I(x1)E",
         false},
        {"<call>{\"name\": \"look\", \"arguments\": \"{\\\"s\\\": \\\"\\u00e9\\\"}\"}</call>",
         "F(look)A({\"s\": \"\xC3\xA9\"})E", false},
        {"<call>{\"name\": \"look\"}</call>", "F(look)A({})E", false},
        {"<call>{\"type\": \"function\", \"function\": {\"name\": \"look\", \"arguments\": {}}}</call>",
         "F(look)A({})E", false},
        {"<call>[{\"name\": \"look\", \"arguments\": {}}, {\"name\": \"look\", \"arguments\": {}}]</call>",
         "F(look)A({})EF(look)A({})E", false},
        /* an end that does not come, and text after a call */
        {"<call>\n{\"name\": \"look\", \"arguments\": {}}", "F(look)A({})E", false},
        {"<call>\n{\"name\": \"look\", \"arguments\": {}}\n</ca", "F(look)A({})E", false},
        {"<call>{\"name\": \"look\", \"arguments\": {}}</call>\nDone", "F(look)A({})EC(Done)", false},
        {"<call>{\"name\": \"look\", \"arguments\": {}} so", "F(look)A({})EC( so)", false},
    };
    CHECK(small_objects, "<user>x<eot><bot>", g);
}

static void what_is_no_call_is_content(void **state)
{
    (void)state;
    static const small_given g[] = {
        {"Use <call> for it", "C(Use <call> for it)", false},
        {"<cal", "C(<cal)", false},
        {"<<call>x", "C(<<call>x)", false},
        {"<call></call>", "C(<call></call>)", false},
        {"<call>{\"name\": \"look\", \"arguments\": \"abc\"}</call>",
         "C(<call>{\"name\": \"look\", \"arguments\": \"abc\"}</call>)", false},
        {"<call>{\"name\": \"look\", \"arguments\": \"\"}</call>",
         "C(<call>{\"name\": \"look\", \"arguments\": \"\"}</call>)", false},
        {"<call>{\"name\": 5}</call>", "C(<call>{\"name\": 5}</call>)", false},
        {"<call>{\"name\": \"look\", \"arguments\": [1]}</call>",
         "C(<call>{\"name\": \"look\", \"arguments\": [1]}</call>)", false},
        {"<call>{\"nam\": \"look\", \"arguments\": {}}</call>",
         "C(<call>{\"nam\": \"look\", \"arguments\": {}}</call>)", false},
        {"<call>{\"arguments\": {\"i\": 1}, \"x\": 1}</call>", "C(<call>{\"arguments\": {\"i\": 1}, \"x\": 1}</call>)",
         false},
        {"<call>oh <call>{\"name\": \"look\", \"arguments\": {}}</call>", "C(<call>oh )F(look)A({})E", false},
        /* wrong after it was announced: no end, and the rest is content */
        {"<call>{\"name\": \"look\", \"arguments\": {\"i\": 1 2}}</call>", "F(look)A({\"i\": 1 )C(2}}</call>)", false},
        {"<call>{\"name\": \"look\", \"arguments\": {\"s\": \"\\ud800\"}}</call>",
         "F(look)A({\"s\": \"\\ud800)C(\"}}</call>)", false},
        {"<call>{\"name\": \"look\", \"arguments\": {}, \"x\": 1}</call>", "F(look)A({})C(, \"x\": 1}</call>)", false},
    };
    CHECK(small_objects, "<bot>", g);
}

static void half_a_call_is_said_to_be_cut(void **state)
{
    (void)state;
    static const small_given g[] = {
        {"a\n<call>", "C(a\n<call>)", true},
        {"<call>\n{\"name\": \"lo", "C(<call>\n{\"name\": \"lo)", true},
        {"<call>\n{\"name\": \"look\", \"arg", "C(<call>\n{\"name\": \"look\", \"arg)", true},
        {"<call>\n{\"name\": \"look\", \"arguments\": {\"s\": \"a", "F(look)A({\"s\": \"a)", true},
        {"<think>\nhm", "R(hm)", true},
        {"<think>\nhm\n</thi", "R(hm\n</thi)", true},
    };
    CHECK(small_objects, "<bot>", g);
}

static void reasoning(void **state)
{
    (void)state;
    static const small_given g[] = {
        {"<think>\nhm\n\n</think>\n\nyes", "R(hm\n)C(yes)", false},
        {"<think>hm</think>yes", "R(hm)C(yes)", false},
        {"<think>\n\n</think>\n\n\nyes", "C(\nyes)", false},
        {"</think>yes", "C(yes)", false},
        {"a <think> b </think>", "C(a <think> b </think>)", false},
        {"<think>\na <call>{\n</think>\n\n<call>{\"name\": \"look\", \"arguments\": {}}</call>",
         "R(a <call>{)F(look)A({})E", false},
    };
    static const small_given opened[] = {
        {"hm\n</think>\n\nyes", "R(hm)C(yes)", false},
        {"\nhm\n</think>\n\nyes", "R(\nhm)C(yes)", false},
        {"hm", "R(hm)", true},
    };
    static const small_given closed[] = {{"yes</think>", "C(yes</think>)", false}, {"\nyes", "C(\nyes)", false}};
    static const small_given kept[] = {{"<think>\nhm\n</think>\n\nyes", "C(<think>\nhm\n</think>\n\nyes)", false}};
    CHECK(small_objects, "<user>x<eot><bot>", g);
    CHECK(small_objects, "<user>x<eot><bot><think>\n", opened);
    CHECK(small_objects, "<user><think><bot></think>x<eot><bot><think>\n\n</think>\n\n", closed);
    small_check_all(small_objects, "<bot>", false, true, kept, 1);
}

static void without_calls_all_is_content(void **state)
{
    (void)state;
    static const small_given g[] = {{"<call>{\"name\": \"look\", \"arguments\": {}}</call>",
                                     "C(<call>{\"name\": \"look\", \"arguments\": {}}</call>)", false}};
    small_check_all(small_objects, "<bot>", true, false, g, 1);
}

static void names_and_arguments(void **state)
{
    (void)state;
    static const small_given g[] = {
        {"a<go>look<args>{\"i\": 1}<go>look<args>{}", "C(a)F(look)A({\"i\": 1})EF(look)A({})E", false},
        {"<go>look<args> {\"i\": 1}\nb", "F(look)A({\"i\": 1})EC(\nb)", false},
        {"<go>lo ok<args>{}", "C(<go>lo ok<args>{})", false},
        {"<go><args>{}", "C(<go><args>{})", false},
        {"<go>look<args>[]", "C(<go>look<args>[])", false},
        {"<go>look<arg", "C(<go>look<arg)", true},
        {"<go>look<args>{\"i\": tru}", "F(look)A({\"i\": tru)C(})", false},
    };
    CHECK(small_named, "<bot>", g);
}

static void parameters_one_by_one(void **state)
{
    (void)state;
    static const small_given g[] = {
        {"a\n<call>\n<f=look>\n<p=s>\n17\n</p>\n<p=i>\n17\n</p>\n</f>\n</call>",
         "C(a)F(look)A({\"s\": \"17\", \"i\": 17})E", false},
        {"<call><f=look></f></call>", "F(look)A({})E", false},
        {"<call><f=look><p=b>True</p><p=o>{'a': None, \"b\": (1, 'x')}</p></f></call>",
         "F(look)A({\"b\": true, \"o\": {\"a\": null, \"b\": [1, \"x\"]}})E", false},
        {"<call><f=look><p=u>null</p><p=any>[1]</p><p=new>x\"\n</p></f></call>",
         "F(look)A({\"u\": null, \"any\": [1], \"new\": \"x\\\"\"})E", false},
        {"<call><f=look><p=u>5</p><p=i>five</p></f></call>", "F(look)A({\"u\": \"5\", \"i\": \"five\"})E", false},
        {"<call><f=look><p=s>a</p\n</p></f></call>", "F(look)A({\"s\": \"a</p\"})E", false},
        {"<call><f=lo<ok></f></call>", "C(<call><f=lo<ok></f></call>)", false},
        {"<call><f=look>oh</f></call>", "C(<call><f=look>oh</f></call>)", false},
        {"<call><f=look><p=s>a</p> oh</f></call>", "F(look)A({\"s\": \"a\")C( oh</f></call>)", false},
        {"<call><f=look><p=s>a</p><p=i\n>1</p></f></call>", "F(look)A({\"s\": \"a\")C(<p=i\n>1</p></f></call>)", false},
        {"<call><f=look><p=s>a\n</", "F(look)A({\"s\": \"a\\n</)", true},
        {"<call><f=look><p=i>12", "F(look)A({\"i\": 12)", true},
        {"<call><f=look><p=s>a</p>\n</f", "F(look)A({\"s\": \"a\")", true},
        {"<call><f=look><p=s>a</p><p=i", "F(look)A({\"s\": \"a\"\"i)", true},
    };
    CHECK(small_tags, "<bot>", g);
}

static void python_calls(void **state)
{
    (void)state;
    static const small_given g[] = {
        {"<py>[look(s=\"a\", i=1), look()]</py>", "F(look)A({\"s\": \"a\", \"i\": 1})EF(look)A({})E", false},
        {"<py>[look(s='it\\'s \\x41\\n', b=True, o={'k': [None, 2.5]})]</py>",
         "F(look)A({\"s\": \"it's \\u0041\\n\", \"b\": true, \"o\": {\"k\": [null, 2.5]}})E", false},
        {"<py>[look(1)]</py>", "F(look)A({)C(1)]</py>)", false},
        {"<py>[look(i=1,,", "F(look)A({\"i\": 1)C(,,)", false},
        {"<py>[look(i=12", "F(look)A({\"i\": 12)", true},
        {"<py>nothing</py>", "C(<py>nothing</py>)", false},
        {"<py>[look(s=\"a", "F(look)A({\"s\": \"a)", true},
    };
    CHECK(small_python, "<bot>", g);
}

static void bare_objects(void **state)
{
    (void)state;
    static const small_given g[] = {
        {"{\"name\": \"look\", \"parameters\": {\"s\": \"a\"}}", "F(look)A({\"s\": \"a\"})E", false},
        {"{\"name\": \"look\", \"parameters\": {}}; {\"name\": \"look\", \"parameters\": {}}",
         "F(look)A({})EF(look)A({})E", false},
        {"{\"name\": \"Ann\", \"parameters\": {}}", "C({\"name\": \"Ann\", \"parameters\": {}})", false},
        {"{\"name\": \"look\", \"age\": 3}", "C({\"name\": \"look\", \"age\": 3})", false},
        {"So: {\"name\": \"look\", \"parameters\": {}}", "C(So: {\"name\": \"look\", \"parameters\": {}})", false},
        {"<|python_tag|>{\"name\": \"look\", \"parameters\": {}}<|eom_id|>", "F(look)A({})E", false},
        {"{\"na", "C({\"na)", false},
    };
    CHECK(small_bare, "<bot>", g);
}

static void templates_that_show_no_calls(void **state)
{
    (void)state;
    static const small_given g[] = {
        {"{\"name\": \"look\", \"arguments\": {\"s\": \"a\"}}\n", "F(look)A({\"s\": \"a\"})E", false},
        {"{\"name\": \"look\", \"arguments\": {}} or so", "C({\"name\": \"look\", \"arguments\": {}} or so)", false},
        {"{\"name\": \"other\", \"arguments\": {}}", "C({\"name\": \"other\", \"arguments\": {}})", false},
        {"{\"a\": 1}", "C({\"a\": 1})", false},
        {"<|tool_call_start|>[look(i=1)]<|tool_call_end|>", "F(look)A({\"i\": 1})E", false},
        {"<tool_call>\n{\"name\": \"look\", \"arguments\": {}}\n</tool_call>", "F(look)A({})E", false},
        {"<|tool_calls_section_begin|><|tool_call_begin|>functions.look:12<|tool_call_argument_begin|>{}<|tool_call_"
         "end|>"
         "<|tool_calls_section_end|>",
         "F(look)I(functions.look:12)A({})E", false},
    };
    CHECK(small_echo, "<user>x<eot><assistant>", g);
}

static void messages_with_headers(void **state)
{
    (void)state;
    static const small_given g[] = {
        {"<ch>inner<say>hm<end><go>bot<ch>outer<say>yes<stop>", "R(hm)C(yes)", false},
        {"<ch>side to=fn.look<say>{\"i\": 1}<end><go>bot<ch>side to=fn.look json<say>{}<call>",
         "F(look)A({\"i\": 1})EF(look)A({})E", false},
        {" to=fn.look<ch>side<say>{}<call>", "F(look)A({})E", false},
        {"<ch>side<say>a word first<end><go>bot<ch>side to=fn.look<say>{}<call>", "C(a word first)F(look)A({})E",
         false},
        {"no header\nat all", "C(no header\nat all)", false},
        {"<ch>side to=fn.look<say>no JSON<call>", "C(<ch>side to=fn.look<say>no JSON)", false},
        {"<ch>inner<say>hm", "R(hm)", true},
        {"<ch>inn", "C(<ch>inn)", true},
    };
    static const small_given inside[] = {{"hm<end><go>bot<ch>outer<say>yes<stop>", "R(hm)C(yes)", false}};
    CHECK(small_headers, "<go>user<say>x<end><go>bot", g);
    CHECK(small_headers, "<go>user<say>x<end><go>bot<ch>inner<say>", inside);
}

/* Arguments of that depth make a call, one level more does not end it, and no byte is lost. */
static void arguments_are_only_so_deep(void **state)
{
    (void)state;
    static const char head[] = "<call>{\"name\": \"look\", \"arguments\": ", tail[] = "}</call>";
    qn_dialect *d = small_dialect(small_objects);
    qn_answer_options o = {.prompt = QN_STR("<bot>")};
    for (size_t depth = 64; depth <= 65; depth++) {
        char answer[1000];
        size_t n = sizeof(head) - 1;
        memcpy(answer, head, n);
        for (size_t i = 0; i < 2 * depth - 1; i++) {
            const char *piece = i < depth - 1 ? "{\"a\":" : i == depth - 1 ? "{}" : "}";
            memcpy(answer + n, piece, strlen(piece));
            n += strlen(piece);
        }
        memcpy(answer + n, tail, sizeof(tail));
        bool cut;
        qn_buf heard = small_read(d, &o, answer, 0, &cut);
        bool ended = heard.data[heard.len - 1] == 'E';
        assert_int_equal(ended, depth == 64);
        assert_true(ended || strstr(heard.data, "C({}}") != NULL);
        qn_buf_free(&heard);
    }
    qn_dialect_close(d);
}

/* Two messages that the template never shows in one turn. */
static void headers_that_no_turn_shows_twice(void **state)
{
    (void)state;
    static const small_given g[] = {
        {"<ch>inner<say>hm<end><go>bot<ch>outer<say>yes<stop>", "C(hmyes)", false},
        {"<ch>inner<say>hm<end><go>bot to=fn.look<ch>side json<say>{\"i\": 1}<call>", "C(hm)F(look)A({\"i\": 1})E",
         false},
        {"<ch>outer<say>yes<stop> oh", "C(yes<stop> oh)", false},
        {"<ch>outer<say>yes<end>\noh", "C(yes<end>\noh)", false},
    };
    CHECK(small_single, "<go>user<say>x<end><go>bot", g);
}

/* Arguments that come before the name wait for it, but not for ever: then all of it is content. */
static void what_is_too_long_is_content(void **state)
{
    (void)state;
    static const char head[] = "<call>{\"arguments\": {\"s\": \"", tail[] = "\"}, \"name\": \"look\"}</call>";
    qn_dialect *d = small_dialect(small_objects);
    qn_answer_options o = {.prompt = QN_STR("<bot>")};
    for (size_t n = 1000; n <= 300000; n += 299000) {
        size_t len = sizeof(head) - 1 + n + sizeof(tail) - 1;
        char *answer = malloc(len + 1);
        assert_non_null(answer);
        memcpy(answer, head, sizeof(head) - 1);
        memset(answer + sizeof(head) - 1, 'x', n);
        memcpy(answer + sizeof(head) - 1 + n, tail, sizeof(tail));
        bool cut;
        qn_buf heard = small_read(d, &o, answer, 0, &cut);
        if (n < 2000) {
            assert_memory_equal(heard.data, "F(look)A({\"s\": \"xxx", 19);
        } else {
            assert_int_equal(heard.len, len + 3);
            assert_memory_equal(heard.data + 2, answer, len);
        }
        qn_buf_free(&heard);
        free(answer);
    }
    qn_dialect_close(d);
}

static qn_status refuse(void *ctx, qn_part part, uint32_t i_call, qn_str text)
{
    (void)part;
    (void)i_call;
    (void)text;
    ++*(int *)ctx;
    return QN_EABORTED;
}

static void a_listener_may_stop_it(void **state)
{
    (void)state;
    qn_dialect *d = small_dialect(small_objects);
    qn_answer_options o = {.prompt = QN_STR("<bot>")};
    qn_answer *a = NULL;
    qn_error err = {0};
    int n_heard = 0;
    assert_int_equal(qn_answer_open(d, &o, NULL, &a, &err), QN_OK);
    assert_int_equal(qn_answer_push(a, "abc", 3, refuse, &n_heard, &err), QN_EABORTED);
    assert_int_equal(qn_answer_push(a, "abc", 3, refuse, &n_heard, &err), QN_EABORTED);
    assert_int_equal(n_heard, 1);
    qn_answer_close(a);
    qn_dialect_close(d);
}

static void parts_are_cut_between_characters(void **state)
{
    (void)state;
    qn_dialect *d = small_dialect(small_objects);
    qn_answer_options o = {.prompt = QN_STR("<bot>")};
    qn_answer *a = NULL;
    qn_error err = {0};
    bool cut;
    small_heard h = {.last = -1};
    qn_buf_init(&h.text, NULL, "test", 100);
    assert_int_equal(qn_answer_open(d, &o, NULL, &a, &err), QN_OK);
    assert_int_equal(qn_answer_push(a, "a\xF0\x9F\x90", 4, small_hear, &h, &err), QN_OK);
    assert_string_equal(h.text.data, "C(a)");
    assert_int_equal(qn_answer_push(a, "\x9D", 1, small_hear, &h, &err), QN_OK);
    assert_string_equal(h.text.data, "C(a\xF0\x9F\x90\x9D)");
    assert_int_equal(qn_answer_push(a, "\xC3", 1, small_hear, &h, &err), QN_OK);
    assert_int_equal(qn_answer_finish(a, small_hear, &h, &cut, &err), QN_OK);
    assert_string_equal(h.text.data, "C(a\xF0\x9F\x90\x9D\xC3)");
    qn_buf_free(&h.text);
    qn_answer_close(a);
    qn_dialect_close(d);
}

/* Every allocation fails once: an error, and nothing is left behind. */
static void without_memory(void **state)
{
    (void)state;
    static const char answer[] = "<think>\nx\n</think>\n\n<call>\n<f=look>\n<p=o>\n{'a': 1}\n</p>\n</f>\n</call>";
    qn_dialect *d = small_dialect(small_tags);
    qn_json_doc *tools = NULL;
    qn_error err = {0};
    assert_int_equal(qn_json_parse(NULL, small_tools, strlen(small_tools), 1000, &tools, &err), QN_OK);
    qn_answer_options o = {.prompt = QN_STR("<bot>"), .tools = qn_json_root(tools)};
    small_heard h = {.last = -1};
    qn_buf_init(&h.text, NULL, "test", 1000);
    qn_buf_printf(&h.text, "%500s", "");
    uint64_t live = qn_alloc_live();
    qn_status status = QN_ENOMEM;
    int n = 0;
    while (status == QN_ENOMEM) {
        qn_answer *a = NULL;
        bool cut;
        qn_buf_clear(&h.text);
        h.last = -1;
        qn_alloc_fail_at((uint64_t)++n);
        status = qn_answer_open(d, &o, NULL, &a, &err);
        status = status == QN_OK ? qn_answer_push(a, answer, sizeof(answer) - 1, small_hear, &h, &err) : status;
        status = status == QN_OK ? qn_answer_finish(a, small_hear, &h, &cut, &err) : status;
        qn_alloc_fail_at(0);
        qn_answer_close(a);
        assert_int_equal(qn_alloc_live(), live);
    }
    assert_int_equal(status, QN_OK);
    assert_true(n > 4);
    assert_string_equal(h.text.data, "R(x)F(look)A({\"o\": {\"a\": 1}})E");
    qn_buf_free(&h.text);
    qn_json_free(tools);
    qn_dialect_close(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_between_marks),
        cmocka_unit_test(what_is_no_call_is_content),
        cmocka_unit_test(half_a_call_is_said_to_be_cut),
        cmocka_unit_test(reasoning),
        cmocka_unit_test(without_calls_all_is_content),
        cmocka_unit_test(names_and_arguments),
        cmocka_unit_test(parameters_one_by_one),
        cmocka_unit_test(python_calls),
        cmocka_unit_test(bare_objects),
        cmocka_unit_test(templates_that_show_no_calls),
        cmocka_unit_test(messages_with_headers),
        cmocka_unit_test(arguments_are_only_so_deep),
        cmocka_unit_test(headers_that_no_turn_shows_twice),
        cmocka_unit_test(a_listener_may_stop_it),
        cmocka_unit_test(what_is_too_long_is_content),
        cmocka_unit_test(parts_are_cut_between_characters),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
