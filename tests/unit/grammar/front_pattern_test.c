/* Patterns, and lists of choices: what they match, and what is refused by name.
 * SPDX-License-Identifier: MIT */
#include "front_rig.h"

#define WHOLE(source, ...) front_check(qn_front_regex, source, __VA_ARGS__, (const char *)NULL)
#define FINDS(source, ...) front_check(front_search, source, __VA_ARGS__, (const char *)NULL)
#define INSIDE(source, ...) front_check(in_json, source, __VA_ARGS__, (const char *)NULL)
#define REFUSES(source, code, part) front_refuses(qn_front_regex, source, code, part)

static qn_status in_json(qn_gx_builder *b, qn_str source, qn_error *err)
{
    qn_gx x;
    QN_TRY(qn_front_pattern(b, source, false, true, &x, err));
    b->root = qn_gx_rule_new(b, QN_STR("root"));
    qn_gx_rule_define(b, b->root, x);
    return QN_OK;
}

static void characters(void **state)
{
    (void)state;
    WHOLE("a.c", "+abc",
          "+a\xC3\xA9"
          "c",
          "-a\nc", "-ac");
    WHOLE("\\d\\w\\s", "+1_ ", "+9Z\t",
          "-\xD9\xA1"
          "a ",
          "-1- ");
    WHOLE("[\\D]", "+a", "+\xD9\xA1", "-5");
    WHOLE("[^\\d-]", "+a", "-5", "--");
    WHOLE("[a\\-z]", "+-", "-b");
    WHOLE("[\\w-.]", "+-", "+.", "+a", "-!");
    WHOLE("\\u0041\\x42\\u{1F600}\\uD83D\\uDE00\\cJ\\0?", "+AB\xF0\x9F\x98\x80\xF0\x9F\x98\x80\n");
    WHOLE("\\p{Lu}\\P{L}\\pL", "+A1b", "+\xC3\x84-\xC3\xA4", "-a1b");
    WHOLE("\\/\\.\\$\\{\\-", "+/.${-", "-/a${-");
    WHOLE("a{,2}|x{", "+a{,2}", "+x{", "-aa");
    WHOLE("[]|a", "+a", "-", "-]");
}

static void repeats_and_groups(void **state)
{
    (void)state;
    WHOLE("(?:ab)*?c+", "+c", "+ababcc", "-ab");
    WHOLE("(?<year>\\d{4})-(?P<m>\\d{2,})", "+2024-05", "+2024-123", "-2024-5");
    WHOLE("a|bc|", "+a", "+bc", "+", "-b");
    WHOLE("(a{2}){1,2}", "+aa", "+aaaa", "-aaa");
}

static void anchors(void **state)
{
    (void)state;
    FINDS("b", "+abc", "+b", "-ac", "-");
    FINDS("^b", "+bc", "-ab");
    FINDS("b$", "+ab", "-bc");
    FINDS("^a$|^b$", "+a", "+b", "-ab", "-aa");
    FINDS("^a|b$", "+ax", "+xb", "-ba");
    FINDS("(^|,)x(,|$)", "+x", "+a,x", "+x,a", "+a,x,b", "-ax", "-xa");
    FINDS("^$", "+", "-a");
    FINDS("^(a$)?", "+a", "+b", "+");
    FINDS("a^b", "-ab", "-a");
    FINDS("a*^b", "+b", "+bc", "-ab");
    WHOLE("^ab$", "+ab", "-abc");
    WHOLE("^^a$$", "+a");
}

static void inside_json(void **state)
{
    (void)state;
    INSIDE("a\"\\\\\\n\xC3\xA9", "+a\\\"\\\\\\n\xC3\xA9", "+a\\u0022\\u005C\\u000a\\u00E9", "-a\"\\\n\xC3\xA9",
           "-\\u0061\\\"\\\\\\n\xC3\xA9");
    INSIDE("[\\u{1F600}-\\u{1F64F}]", "+\xF0\x9F\x98\x80", "+\\uD83D\\ude4f", "-\\uD83D\\ude50", "-\\uD83D");
    INSIDE("[^a]", "+b", "+\\n", "+\\u0000", "+\\uFFFF", "-\n", "-a", "-\\", "-\\uD800");
    INSIDE("\\u{FFFE}", "+\\ufffe", "-\\ufffd");
    INSIDE("[\\u0123-\\u4567]", "+\\u0123", "+\\u0fff", "+\\u1000", "+\\u4567", "-\\u0122", "-\\u4568", "-\\u5000");
}

static void faults(void **state)
{
    (void)state;
    front_refuses(front_search, "^+[a-f]$", QN_EFORMAT, "byte 1: nothing to repeat");
    front_refuses(front_search, "^{2}x$", QN_EFORMAT, "byte 1");
    front_refuses(front_search, "^(?<=k)*z$", QN_EUNSUPPORTED, "byte 1: look-behind");
    front_refuses(front_search, "^[a-", QN_EFORMAT, "byte 1");
    front_refuses(front_search, "^\\", QN_EFORMAT, "byte 1");
    REFUSES("(?=a)", QN_EUNSUPPORTED, "look-ahead");
    REFUSES("(?i)a", QN_EUNSUPPORTED, "flags");
    REFUSES("(?>a)", QN_EUNSUPPORTED, "atomic");
    REFUSES("a\\b", QN_EUNSUPPORTED, "\\b");
    REFUSES("(a)\\1", QN_EUNSUPPORTED, "back reference");
    REFUSES("a++", QN_EUNSUPPORTED, "possessive");
    REFUSES("a**", QN_EFORMAT, "byte 2");
    REFUSES("(a", QN_EFORMAT, "byte 0");
    REFUSES("a)", QN_EFORMAT, "byte 1");
    REFUSES("[b-a]", QN_EFORMAT, "backwards");
    REFUSES("a{3,1}", QN_EFORMAT, "backwards");
    REFUSES("\\q", QN_EFORMAT, "unknown escape");
    REFUSES("\\p{Nonsense}", QN_EUNSUPPORTED, "property");
    REFUSES("\\uD800", QN_EFORMAT, "names no character");
    REFUSES("(^a)*", QN_EUNSUPPORTED, "anchor inside a repeat");
    REFUSES("\xFF", QN_EFORMAT, "UTF-8");
    REFUSES("(a{1000}){1000}", QN_EFULL, "multiply");
    REFUSES("a{100001}", QN_EFULL, "100000");
    char deep[2001];
    memset(deep, '(', 2000);
    deep[2000] = '\0';
    REFUSES(deep, QN_EFULL, "nested too deep");
}

static void choices(void **state)
{
    (void)state;
    qn_gx_builder b;
    qn_error err;
    qn_gx_init(&b, NULL);
    const qn_str two[] = {QN_STR("yes"), QN_STR("no \"way\"")};
    bool matches;
    assert_int_equal(qn_front_choice(&b, two, 2, &err), QN_OK);
    assert_int_equal(qn_front_match(&b, qn_gx_rule_ref(&b, b.root), QN_STR("no \"way\""), &matches), QN_OK);
    assert_true(matches);
    assert_int_equal(qn_front_match(&b, qn_gx_rule_ref(&b, b.root), QN_STR("no"), &matches), QN_OK);
    assert_false(matches);
    assert_int_equal(qn_front_choice(&b, two, 0, &err), QN_EFORMAT);
    assert_int_equal(qn_front_choice(&b, (qn_str[]){QN_STR("\xFF")}, 1, &err), QN_EFORMAT);
    qn_gx_free(&b);
}

static void out_of_memory(void **state)
{
    (void)state;
    front_without_memory(front_search, "(^|[^a-c\\d])(?:x|yz){2,3}\\p{Lu}.$");
    front_without_memory(in_json, "[^a]\xC3\xA9");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(characters),    cmocka_unit_test(repeats_and_groups),
        cmocka_unit_test(anchors),       cmocka_unit_test(inside_json),
        cmocka_unit_test(faults),        cmocka_unit_test(choices),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
