/* What models write that their templates do not: calls in another form, and calls with something missing or too much.
 * They are read where only one thing can be meant; the rest is content, and nothing is lost.
 * SPDX-License-Identifier: MIT */
#include "small_chats.h"

#define CHECK(template, prompt, g) small_check_all((template), (prompt), false, false, (g), sizeof(g) / sizeof((g)[0]))

/* A call that is the whole answer, where the template shows calls of another form. */
static void an_answer_that_is_one_object(void **state)
{
    (void)state;
    static const small_given g[] = {
        {"{\"name\": \"look\", \"arguments\": {\"s\": \"a\"}}", "F(look)A({\"s\": \"a\"})E", false},
        {"\n{\"type\": \"function\", \"name\": \"look\", \"parameters\": {\"s\": \"a\"}}\n<eot>\n",
         "C(\n)F(look)A({\"s\": \"a\"})E", false},
        {"{\"parameters\": {\"i\": [1, {}]}, \"name\": \"look\"}<eot>", "F(look)A({\"i\": [1, {}]})E", false},
        {"{\"name\": \"look\", \"arguments\": \"{\\\"i\\\": 1}\"}", "F(look)A({\"i\": 1})E", false},
        {"{\"name\": \"look\", \"arguments\": {\"i\": 1}<eot>", "F(look)A({\"i\": 1})E", false},
        {"{\"name\": \"look\", \"arguments\": {\"i\": 1,},}<eot>", "F(look)A({\"i\": 1})E", false},
        {"<|python_tag|>{\"name\": \"look\", \"parameters\": {\"i\": 1}}", "F(look)A({\"i\": 1})E", false},
        /* JSON that is no call */
        {"{\"name\": \"Ann\", \"arguments\": {}}", "C({\"name\": \"Ann\", \"arguments\": {}})", false},
        {"{\"arguments\": {}, \"name\": \"Ann\"}", "C({\"arguments\": {}, \"name\": \"Ann\"})", false},
        {"{\"name\": \"look\", \"arguments\": {}, \"age\": 3}",
         "C({\"name\": \"look\", \"arguments\": {}, \"age\": 3})", false},
        {"{\"name\": \"look\"}", "C({\"name\": \"look\"})", false},
        {"{\"name\": \"look\", \"arguments\": [1]}", "C({\"name\": \"look\", \"arguments\": [1]})", false},
        {"{\"name\": \"look\", \"arguments\": \"x\"}", "C({\"name\": \"look\", \"arguments\": \"x\"})", false},
        {"[{\"name\": \"look\", \"arguments\": {}}]", "C([{\"name\": \"look\", \"arguments\": {}}])", false},
        {"{\"a\": 1}<eot>", "C({\"a\": 1})", false},
        {"{}", "C({})", false},
        /* not all of the answer */
        {"{\"name\": \"look\", \"arguments\": {}} is it", "C({\"name\": \"look\", \"arguments\": {}} is it)", false},
        {"So {\"name\": \"look\", \"arguments\": {}}", "C(So {\"name\": \"look\", \"arguments\": {}})", false},
        {"{\"name\": \"look\", \"arguments\": {}}\n{}", "C({\"name\": \"look\", \"arguments\": {}}\n{})", false},
        {"{\"name\": \"look\", \"arguments\": {}}<eot>x", "F(look)A({})EC(<eot>x)", false},
        {"{\"name\": \"look\", \"arguments\": {\"i\": 1}", "C({\"name\": \"look\", \"arguments\": {\"i\": 1})", false},
        {"{\"name\": \"look\", \"arguments\": {\"s\": \"<eot>",
         "C({\"name\": \"look\", \"arguments\": {\"s\": \"<eot>)", false},
    };
    static const small_given reasons[] = {
        {"<think>\nhm\n</think>\n\n{\"name\": \"look\", \"arguments\": {}}", "R(hm)F(look)A({})E", false}};
    CHECK(small_tags, "<bot>", g);
    CHECK(small_objects, "<bot>", g);
    CHECK(small_named, "<bot>", g);
    CHECK(small_python, "<bot>", g);
    CHECK(small_tokens, "<bot>", g);
    CHECK(small_objects, "<bot>", reasons);
    small_check_all(
        small_python, "<bot>", true, false,
        &(small_given){"{\"name\": \"look\", \"arguments\": {}}", "C({\"name\": \"look\", \"arguments\": {}})", false},
        1);
}

static void without_tools_an_object_is_content(void **state)
{
    (void)state;
    qn_dialect *d = small_dialect(small_tags);
    qn_answer_options o = {.prompt = QN_STR("<bot>")};
    small_check(d, &o, "{\"name\": \"look\", \"arguments\": {}}", "C({\"name\": \"look\", \"arguments\": {}})", false);
    small_check(d, &o, "<f=look>\n</f>", "C(<f=look>\n</f>)", false);
    qn_dialect_close(d);
}

static void objects_among_pythons_marks(void **state)
{
    (void)state;
    static const small_given g[] = {
        {"<py>[{\"name\": \"look\", \"arguments\": {}}, look(i=1)]</py>", "F(look)A({})EF(look)A({\"i\": 1})E", false},
        {"<py>{\"name\": \"look\", \"parameters\": {}}</py>a", "F(look)A({})EC(a)", false},
        {"<py>{\"nam\": \"look\"}</py>", "C(<py>{\"nam\": \"look\"}</py>)", false},
    };
    CHECK(small_python, "<bot>", g);
}

static void braces_that_are_missing(void **state)
{
    (void)state;
    static const small_given g[] = {
        {"<call>{\"name\": \"look\", \"arguments\": {\"i\": 1}</call>", "F(look)A({\"i\": 1})E", false},
        {"<call>\n{\"name\": \"look\", \"arguments\": {\"i\": 1}\n</call>\n<call>{\"name\": \"look\", \"arguments\": "
         "{}}"
         "</call>",
         "F(look)A({\"i\": 1})EF(look)A({})E", false},
        {"<call>{\"name\": \"look\", \"arguments\": {\"o\": {\"a\": 12</call>\nx",
         "F(look)A({\"o\": {\"a\": 12}})EC(x)", false},
        {"<call>{\"name\": \"look\", \"arguments\": {\"i\": 1}, \"id\": \"x1\"<eot>", "F(look)A({\"i\": 1})I(x1)E",
         false},
        {"<call>{\"name\": \"look\"</call>", "F(look)A({})E", false},
        {"<call>[{\"name\": \"look\", \"arguments\": {}}, {\"name\": \"look\", \"arguments\": {\"i\": 1}\n]</call>",
         "F(look)A({})EF(look)A({\"i\": 1})E", false},
        {"<call>{\"name\": \"look\", \"arguments\": {\"i\": 1}]</call>", "F(look)A({\"i\": 1})C(]</call>)", false},
        {"<call>{\"name\": \"look\", \"arguments\": \"{}\"</call>", "F(look)A({})E", false},
        /* a mark in a string is none, and a bracket or half a value is more than a brace */
        {"<call>{\"name\": \"look\", \"arguments\": {\"s\": \"</call>\"}</call>", "F(look)A({\"s\": \"</call>\"})E",
         false},
        {"<call>{\"name\": \"look\", \"arguments\": {\"s\": \"a</call>", "F(look)A({\"s\": \"a</call>)", true},
        {"<call>{\"name\": \"look\", \"arguments\": {\"any\": [1</call>", "F(look)A({\"any\": [1)C(</call>)", false},
        {"<call>{\"name\": \"look\", \"arguments\": {\"b\": tru</call>", "F(look)A({\"b\": tru)C(</call>)", false},
        {"<call>{\"name\": \"look\", \"arguments\": {\"b\":</call>", "F(look)A({\"b\":)C(</call>)", false},
        {"<call>{\"name\": \"look\", \"arguments\":</call>", "C(<call>{\"name\": \"look\", \"arguments\":</call>)",
         false},
        {"<call>{\"arguments\": {\"i\": 1}</call>", "C(<call>{\"arguments\": {\"i\": 1}</call>)", false},
        {"<call>{\"name\": \"look\", \"arguments\": {\"i\": 1}", "F(look)A({\"i\": 1})E", false},
        {"<call>{\"name\": \"look\", \"arguments\": {\"i\": 1}\n</ca", "F(look)A({\"i\": 1})E", false},
        {"<call>{\"name\": \"look\", \"arguments\": {\"i\": 1}, ", "F(look)A({\"i\": 1})C(, )", true},
        {"<call>{\"name\": \"look\", \"arguments\": {\"i\": 1", "F(look)A({\"i\": 1)", true},
        {"<call>{\"name\": \"look\", \"arguments\": \"{}\"", "F(look)A({})E", false},
    };
    static const small_given named[] = {
        {"<|calls|><|call|>look<|args|>{\"i\": 1<|done|><|end|>", "F(look)A({\"i\": 1})E", false},
        {"<|calls|><|call|>look<|args|>{\"o\": {}<|done|><|call|>look<|args|>{}<|done|><|end|>",
         "F(look)A({\"o\": {}})EF(look)A({})E", false},
    };
    static const small_given bare[] = {
        {"{\"name\": \"look\", \"parameters\": {\"i\": 1}<eot>", "F(look)A({\"i\": 1})E", false},
        {"{\"name\": \"look\", \"parameters\": {\"i\": 1}", "F(look)A({\"i\": 1})E", false}};
    static const small_given headers[] = {{"<ch>side to=fn.look<say>{\"i\": 1<call>", "F(look)A({\"i\": 1})E", false}};
    CHECK(small_objects, "<bot>", g);
    CHECK(small_tokens, "<bot>", named);
    CHECK(small_bare, "<bot>", bare);
    CHECK(small_headers, "<go>user<say>x<end><go>bot", headers);
}

static void braces_that_are_too_many(void **state)
{
    (void)state;
    static const small_given g[] = {
        {"<call>{\"name\": \"look\", \"arguments\": {\"i\": 1}}}</call>", "F(look)A({\"i\": 1})E", false},
        {"<call>\n{\"name\": \"look\", \"arguments\": {\"i\": 1}}}\n}\n</call>\nx", "F(look)A({\"i\": 1})EC(x)", false},
        {"<call>{\"name\": \"look\", \"arguments\": {}}}<eot>", "F(look)A({})E", false},
        {"<call>{\"name\": \"look\", \"arguments\": {}}} or", "F(look)A({})EC(} or)", false},
        {"<call>}</call>", "C(<call>}</call>)", false},
    };
    static const small_given named[] = {
        {"<|calls|><|call|>look<|args|>{}}<|done|><|call|>look<|args|>{\"i\": 1}}}<|done|><|end|>",
         "F(look)A({})EF(look)A({\"i\": 1})E", false}};
    static const small_given headers[] = {
        {"<ch>side to=fn.look<say>{\"i\": 1}}\n<call>", "F(look)A({\"i\": 1})E", false},
        {"<ch>side to=fn.look<say>{}} or<call>", "F(look)A({})EC(} or)", false},
        {"<ch>outer<say>yes<end>}", "C(yes<end>})", false},
    };
    CHECK(small_objects, "<bot>", g);
    CHECK(small_tokens, "<bot>", named);
    CHECK(small_headers, "<go>user<say>x<end><go>bot", headers);
}

static void commas_that_are_too_many(void **state)
{
    (void)state;
    static const small_given g[] = {
        {"<call>{\"name\": \"look\", \"arguments\": {\"any\": [1, 2,], \"i\": 1,\n},\n}</call>",
         "F(look)A({\"any\": [1, 2], \"i\": 1\n})E", false},
        {"<call>{\"arguments\": {\"i\": 1, }, \"name\": \"look\", }</call>", "F(look)A({\"i\": 1 })E", false},
        {"<call>{\"name\": \"look\", \"arguments\": {\"i\": 1,</call>", "F(look)A({\"i\": 1})E", false},
        {"<call>{\"name\": \"look\", \"arguments\": {\"s\": \",}\"}}</call>", "F(look)A({\"s\": \",}\"})E", false},
        {"<call>{\"name\": \"look\", \"arguments\": {\"i\": 1,,}}</call>", "F(look)A({\"i\": 1,)C(,}}</call>)", false},
        {"<call>{\"name\": \"look\", \"arguments\": {,}}</call>", "F(look)A({)C(,}}</call>)", false},
        {"<call>{\"name\": \"look\", \"arguments\": {\"i\": 1,]}}</call>", "F(look)A({\"i\": 1,)C(]}}</call>)", false},
        {"<call>{\"name\": \"look\", \"arguments\": {\"i\": 1, ", "F(look)A({\"i\": 1, )", true},
    };
    static const small_given named[] = {{"<go>look<args>{\"any\": [{},],}", "F(look)A({\"any\": [{}]})E", false}};
    CHECK(small_objects, "<bot>", g);
    CHECK(small_named, "<bot>", named);
}

static void blanks_around_tokens(void **state)
{
    (void)state;
    static const small_given g[] = {
        {"a<|calls|>\n<|call|> look\n<|args|>\n{\"i\": 1}\n<|done|>\n<|end|>\nb", "C(a)F(look)A({\"i\": 1})EC(\nb)",
         false},
        {"<|calls|><|call|>look\t \r\n<|args|>{}\n\n<|done|>\n<|call|>\nlook<|args|>{} <|done|> <|end|>",
         "F(look)A({})EF(look)A({})E", false},
        {"<|calls|><|call|>look it<|args|>{}<|done|><|end|>", "C(<|calls|><|call|>look it<|args|>{}<|done|><|end|>)",
         false},
    };
    static const small_given common[] = {
        {"<|tool_calls_section_begin|>\n<|tool_call_begin|> functions.look:12\n<|tool_call_argument_begin|> {}\n"
         "<|tool_call_end|>\n<|tool_calls_section_end|>",
         "F(look)I(functions.look:12)A({})E", false},
        {"<|tool_calls_section_begin|><|tool_call_begin|>functions. look:1<|tool_call_argument_begin|>{}",
         "F(look)I(functions.look:1)A({})E", false},
        {"<|tool_calls_section_begin|><|tool_call_begin|>functions.look: 1<|tool_call_argument_begin|>{}",
         "C(<|tool_calls_section_begin|><|tool_call_begin|>functions.look: 1<|tool_call_argument_begin|>{})", false},
    };
    CHECK(small_tokens, "<bot>", g);
    CHECK(small_echo, "<user>x<eot><assistant>", common);
}

/* <call> is left out, and </call> comes or does not. */
static void marks_that_are_left_out(void **state)
{
    (void)state;
    static const small_given g[] = {
        {"<f=look>\n<p=s>\nx\n</p>\n</f>\n</call>", "F(look)A({\"s\": \"x\"})E", false},
        {"a\n<f=look>\n<p=i>\n5\n</p>\n</f>\n", "C(a)F(look)A({\"i\": 5})E", false},
        {"<f=look></f><f=look>\n</f>\n</call>\nb", "F(look)A({})EF(look)A({})EC(b)", false},
        {"<f=look></f>\n<call>\n<f=look></f>\n</call>", "F(look)A({})EF(look)A({})E", false},
        {"<f=look></f>\n</call><eot>", "F(look)A({})E", false},
        {"<f=look></f>b", "F(look)A({})EC(b)", false},
        {"<f=look></f>\n</ca", "F(look)A({})E", false},
        {"<f=other></f>\n</call>", "C(<f=other></f>\n</call>)", false},
        {"<f=look>word</f>", "C(<f=look>word</f>)", false},
        {"<f=look", "C(<f=look)", true},
        {"<f=look>\n<p=s>\nx", "F(look)A({\"s\": \"x)", true},
    };
    static const small_given bare[] = {
        {"<function=look>{\"i\": 1}</function>", "F(look)A({\"i\": 1})E", false},
        {"So:\n<function=look>{\"i\": 1}</function>\nok", "C(So:\n)F(look)A({\"i\": 1})EC(\nok)", false},
        {"<function=look>{\"i\": 1}<eot>", "F(look)A({\"i\": 1})E", false},
        {"<function=Ann>{}</function>", "C(<function=Ann>{}</function>)", false},
    };
    CHECK(small_tags, "<bot>", g);
    CHECK(small_bare, "<bot>", bare);
    CHECK(small_echo, "<user>x<eot><assistant>", bare);
}

/* Both have come out by the time the second is known: readers of JSON take the last, as models' own readers do. */
static void parameters_that_stand_twice(void **state)
{
    (void)state;
    static const small_given g[] = {{"<call><f=look><p=s>a</p><p=i>1</p><p=s>b</p></f></call>",
                                     "F(look)A({\"s\": \"a\", \"i\": 1, \"s\": \"b\"})E", false}};
    CHECK(small_tags, "<bot>", g);
    qn_json_doc *doc = NULL;
    qn_error err;
    static const char text[] = "{\"s\": \"a\", \"i\": 1, \"s\": \"b\"}";
    assert_int_equal(qn_json_parse(NULL, text, sizeof(text) - 1, 100, &doc, &err), QN_OK);
    assert_true(qn_str_is(qn_json_as_str(qn_json_find(qn_json_root(doc), "s")), "b"));
    qn_json_free(doc);
}

/* Values of tagged parameters are no deeper than other arguments may be: more is a string. */
static void values_are_only_so_deep(void **state)
{
    (void)state;
    for (size_t depth = 63; depth <= 64; depth++) {
        char answer[400], wanted[400];
        char value[200];
        memset(value, '[', depth);
        memset(value + depth, ']', depth);
        value[2 * depth] = '\0';
        const char *quote = depth == 64 ? "\"" : "";
        snprintf(answer, sizeof(answer), "<call><f=look><p=any>%s</p></f></call>", value);
        snprintf(wanted, sizeof(wanted), "F(look)A({\"any\": %s%s%s})E", quote, value, quote);
        small_given g = {answer, wanted, false};
        small_check_all(small_tags, "<bot>", false, false, &g, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_that_is_one_object), cmocka_unit_test(without_tools_an_object_is_content),
        cmocka_unit_test(objects_among_pythons_marks),  cmocka_unit_test(braces_that_are_missing),
        cmocka_unit_test(braces_that_are_too_many),     cmocka_unit_test(commas_that_are_too_many),
        cmocka_unit_test(blanks_around_tokens),         cmocka_unit_test(marks_that_are_left_out),
        cmocka_unit_test(parameters_that_stand_twice),  cmocka_unit_test(values_are_only_so_deep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
