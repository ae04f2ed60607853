/* GBNF: what it matches, and where it says that it is wrong.
 * SPDX-License-Identifier: MIT */
#include "front_rig.h"

#define CHECK(source, ...) front_check(qn_front_gbnf, source, __VA_ARGS__, (const char *)NULL)
#define REFUSES(source, part) front_refuses(qn_front_gbnf, source, QN_EFORMAT, part)

static void literals_and_classes(void **state)
{
    (void)state;
    CHECK("root ::= \"a\\n\\\"\\x41\\u00e9\"", "+a\n\"A\xC3\xA9", "-a", "-");
    CHECK("root ::= [a-c\\]^-]+", "+abc", "+]", "+^-", "-d", "-");
    CHECK("root ::= [^a-c\\n]", "+d", "+\xF0\x9F\x98\x80", "-a", "-\n", "-dd");
    CHECK("root ::= .", "+a", "+\n", "+\xE4\xB8\xAD", "-ab", "-\xE4");
    CHECK("root ::= \"\"", "+", "-a");
    CHECK("root ::= [\\U0001F600-\\U0001F64F]", "+\xF0\x9F\x98\x80", "-a");
}

static void rules_and_groups(void **state)
{
    (void)state;
    CHECK("# a comment\nroot ::= (\"x\" | y)* # more\ny ::=\n  \"1\"\n  | \"2\" |\n  \"3\"\n", "+", "+x1x3", "+2", "-4",
          "-xy");
    CHECK("root ::= (\n  \"a\"\n  \"b\" # in a group lines mean nothing\n)\n", "+ab", "-a");
    CHECK("root ::= \"(\" root? \")\"", "+()", "+((()))", "-(()", "-");
    CHECK("root ::= a-b_2\r\na-b_2 ::= \"x\" | \"y\"\r\n", "+x", "+y", "-z");
    CHECK("root ::= \"a\" |\n", "+a", "+", "-b");
}

static void counts(void **state)
{
    (void)state;
    CHECK("root ::= \"a\"{2}", "+aa", "-a", "-aaa");
    CHECK("root ::= \"a\"{2,}", "+aa", "+aaaaa", "-a");
    CHECK("root ::= \"a\"{1,3} \"b\"?", "+a", "+aaab", "-aaaa", "-b");
    CHECK("root ::= \"a\"{,2}", "+", "+aa", "-aaa");
    CHECK("root ::= [ab]{0}", "+", "-a");
}

static void faults(void **state)
{
    (void)state;
    REFUSES("", "line 1, column 1");
    REFUSES("root ::= nothing", "line 1, column 10: no rule is called nothing");
    REFUSES("rot :;= \"a\"", "line 1, column 5");
    REFUSES("a ::= \"x\"", "no rule is called root");
    REFUSES("root ::= \"a\"\nroot ::= \"b\"", "line 2, column 1: a second definition of root");
    REFUSES("root ::= \"a", "line 1, column 10");
    REFUSES("root ::= [a", "closing bracket");
    REFUSES("root ::= [b-a]", "runs backwards");
    REFUSES("root ::= (\"a\"", "closing parenthesis");
    REFUSES("root ::= \"a\")", "line 1, column 13");
    REFUSES("root ::= \"\\q\"", "unknown escape");
    REFUSES("root ::= \"\\xZ1\"", "hexadecimal");
    REFUSES("root ::= \"\\uD800\"", "names no character");
    REFUSES("root ::= *", "line 1, column 10");
    REFUSES("root ::= \"a\"{3,1}", "run backwards");
    REFUSES("root ::= \"a\"{}", "without a count");
    REFUSES("root ::= \"\xFF\"", "UTF-8");
    REFUSES("root ::= \"a\"\n  \"b\"", "line 2, column 3");
    REFUSES("root ::= root \"a\"", "line 1, column 1: left recursion: this rule begins with itself: root");
    REFUSES("root ::= \"x\" a\na ::= \"y\"? (b | \"z\")\nb ::= \"\" a \"q\"", "line 2, column 1: left recursion");
    REFUSES("root ::= (\"\" | \"a\")* root", "left recursion");
}

static void bombs(void **state)
{
    (void)state;
    char text[4096] = "root ::= ";
    for (int i = 0; i < 1000; i++) {
        strcat(text, "(");
    }
    front_refuses(qn_front_gbnf, text, QN_EFULL, "nested too deep");
    front_refuses(qn_front_gbnf, "root ::= (\"a\"{1000}){1000}", QN_EFULL, "multiply");
    front_refuses(qn_front_gbnf, "root ::= \"a\"{1000}{1000}", QN_EFULL, "multiply");
    front_refuses(qn_front_gbnf, "root ::= \"a\"{1,4000000000}", QN_EFULL, "100000");
}

static void out_of_memory(void **state)
{
    (void)state;
    front_without_memory(qn_front_gbnf, "root ::= (\"x\\n\" | y)* [^a-c] .\ny ::= \"1\" | \"2\"{1,3} | \"3\" root");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(literals_and_classes),
        cmocka_unit_test(rules_and_groups),
        cmocka_unit_test(counts),
        cmocka_unit_test(faults),
        cmocka_unit_test(bombs),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
