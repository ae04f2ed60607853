/* Methods of strings, and text with fields.
 * SPDX-License-Identifier: MIT */
#include "jinja_render.h"
#include "jinja_vars.h"

static void case_and_questions(void **state)
{
    (void)state;
    static const qn_jinja_case cases[] = {
        {"{{ [s.upper(), s.lower(), s.swapcase(), s.title(), s.capitalize()] }}",
         "['HELLO, WORLD', 'hello, world', 'hELLO, wORLD', 'Hello, World', 'Hello, world']"},
        {"{{ ['straße ﬁn'.upper(), 'ŉ ǆ'.title(), 'ΑΣ ΑΣΑ Σ'.lower(), 'İI'.lower(), 'ẞßſ'.casefold(), "
         "\"they're\".title()] }}",
         "['STRASSE FIN', 'ʼN ǅ', 'ας ασα σ', 'i̇i', 'sssss', \"They'Re\"]"},
        {"{{ ['abc'.isalpha(), ''.isalpha(), 'é世'.isalpha(), 'a1'.isalnum(), '½'.isalnum()] }}",
         "[True, False, True, True, True]"},
        {"{{ ['²'.isdigit(), '²'.isdecimal(), '½'.isnumeric(), '一'.isnumeric(), '٣'.isdecimal()] }}",
         "[True, False, True, True, True]"},
        {"{{ ['AB1'.isupper(), '1'.isupper(), 'Ⓐ'.isupper(), 'ab'.islower(), 'ª'.islower(), 'Ab Cd'.istitle(), "
         "'AB'.istitle()] }}",
         "[True, False, True, True, True, True, False]"},
        {"{{ [' \\t\\n'.isspace(), ''.isspace(), 'a_1'.isidentifier(), '1a'.isidentifier(), "
         "'a\\n'.isprintable(), 'é'.isascii()] }}",
         "[True, False, True, False, False, False]"},
    };
    QN_JINJA_ALL_GIVE(cases, VARS);
}

static void searching(void **state)
{
    (void)state;
    static const qn_jinja_case cases[] = {
        {"{{ [s.find('o'), s.find('o', 5), s.find('zz'), s.find('', 12), s.find('', 13), s.find('o', -4)] }}",
         "[4, 8, -1, 12, -1, 8]"},
        {"{{ [s.rfind('o'), s.rfind('o', 0, 5), u.find('世'), u.rfind('界'), s.count('l'), s.count(''), "
         "'aaaa'.count('aa')] }}",
         "[8, 4, 7, 8, 3, 13, 2]"},
        {"{{ [s.startswith('He'), s.startswith(('x', 'He')), s.startswith('W', 7), s.endswith('ld'), "
         "s.endswith('lo', 0, 5)] }}",
         "[True, True, True, True, True]"},
        {"{{ [s.removeprefix('Hello'), s.removesuffix('World'), s.partition(', '), s.partition('zz'), "
         "s.rpartition('o')] }}",
         "[', World', 'Hello, ', ('Hello', ', ', 'World'), ('Hello, World', '', ''), ('Hello, W', 'o', 'rld')]"},
        {"{{ [s.replace('l', 'L'), s.replace('l', 'L', 2), s.replace('', '-', 3), ''.replace('', 'x'), "
         "u.replace('世界', 'x')] }}",
         "['HeLLo, WorLd', 'HeLLo, World', '-H-e-llo, World', 'x', 'Grüße, x 🎉']"},
    };
    QN_JINJA_ALL_GIVE(cases, VARS);
}

static void taking_apart(void **state)
{
    (void)state;
    static const qn_jinja_case cases[] = {
        {"{{ [s.split(), s.split(','), s.split('l', 1), ''.split(), ''.split(','), 'aXXXb'.split('XX'), "
         "'aXXXb'.rsplit('XX')] }}",
         "[['Hello,', 'World'], ['Hello', ' World'], ['He', 'lo, World'], [], [''], ['a', 'Xb'], ['aX', 'b']]"},
        {"{{ [sp.split(), sp.split(none, 1), sp.split(none, 0), sp.split(maxsplit=1), sp.rsplit(none, 1), "
         "s.rsplit('l', 1)] }}",
         "[['two', 'words', 'next'], ['two', 'words\\n next\\t'], ['two  words\\n next\\t'], ['two', 'words\\n "
         "next\\t'], ['  two  words', 'next'], ['Hello, Wor', 'd']]"},
        {"{{ ['a\\nb\\r\\nc\\rd\\n'.splitlines(), 'a\\n\\nb'.splitlines(true), ''.splitlines(), "
         "'\\n'.splitlines()] }}",
         "[['a', 'b', 'c', 'd'], ['a\\n', '\\n', 'b'], [], ['']]"},
        {"{{ [sp.strip(), sp.lstrip(), sp.rstrip(), 'xyaxy'.strip('yx'), 'éaé'.strip('é'), '世界a界'.rstrip('界')] }}",
         "['two  words\\n next', 'two  words\\n next\\t', '  two  words\\n next', 'a', 'a', '世界a']"},
        {"{{ [','.join(['a', 'b']), '-'.join('abc'), ', '.join(d)] }}", "['a,b', 'a-b-c', 'b, a, C']"},
        {"{{ ['ab'.center(5), 'ab'.center(7, '*'), 'ab'.ljust(4), 'é'.rjust(3), '-5'.zfill(4), "
         "'ab\\tc'.expandtabs(4)] }}",
         "['  ab ', '***ab**', 'ab  ', '  é', '-005', 'ab  c']"},
    };
    QN_JINJA_ALL_GIVE(cases, VARS);
}

static void format_fields(void **state)
{
    (void)state;
    static const qn_jinja_case cases[] = {
        {"{{ '{} {1} {}'.format(1, 2) if false else '{} {}'.format(1, 'a') }}", "1 a"},
        {"{{ '{0} {1} {0} {name} {{}}'.format('x', 'y', name='z') }}", "x y x z {}"},
        {"{{ '{0.name} {0[age]} {1[0]}'.format(users[0], l) }}", "Bob 31 3"},
        {"{{ '{!r} {!s} {!a}'.format('é', 'b', 'é') }}", "'é' b '\\xe9'"},
        {"{{ '{:5}|{:<5}|{:>5}|{:^5}|{:*^5}|{:.2}'.format('a', 'b', 'c', 'd', 'e', 'xyz') }}",
         "a    |b    |    c|  d  |**e**|xy"},
        {"{{ '{:5}|{:<5}|{:^5}|{:05}|{:+}|{: }|{:=+5}'.format(1, 2, 4, -5, 6, 7, 8) }}",
         "    1|2    |  4  |-0005|+6| 7|+   8"},
        {"{{ '{:.2f} {:8.3f} {:e} {:g} {:.3g} {:.1%} {:.3} {:}'.format(f, f, f, f, f, 0.256, 2.0, 1e16) }}",
         "3.14    3.142 3.141590e+00 3.14159 3.14 25.6% 2.0 1e+16"},
        {"{{ '{:b} {:#o} {:x} {:#X} {:c} {:,} {:_} {:010,} {:,.2f}'.format(10, 10, 255, 255, 65, 1234567, "
         "1234567, 1234, 1234.5) }}",
         "1010 0o12 ff 0XFF A 1,234,567 1_234_567 00,001,234 1,234.50"},
        {"{{ '{:{w}.{p}f}|{:{}}|'.format(f, 'a', 5, w=10, p=2) }}", "      3.14|a    |"},
        {"{{ '{:5}|{:d}|{:.0f}|{:z.1f}'.format(true, true, 2.5, -0.01) }}", "    1|1|2|0.0"},
    };
    QN_JINJA_ALL_GIVE(cases, VARS);
}

static void percent_formats(void **state)
{
    (void)state;
    static const qn_jinja_case cases[] = {
        {"{{ '%s %d %i %r %%' % ('a', 1, 2.9, 'é') }}", "a 1 2 'é' %"},
        {"{{ '%5d|%-5d|%05d|%+d|% d|%.3d' % (1, 2, 3, 4, 5, 6) }}", "    1|2    |00003|+4| 5|006"},
        {"{{ '%x %X %o %#x %c%c' % (255, 255, 8, 255, 65, 'b') }}", "ff FF 10 0xff Ab"},
        {"{{ '%f %.2f %e %g %G %5.1f' % (f, f, f, f, 1e-10, f) }}", "3.141590 3.14 3.141590e+00 3.14159 1E-10   3.1"},
        {"{{ '%(a)s %(b)d' % {'a': 'x', 'b': 2} }}", "x 2"},
        {"{{ '%*d|%-*d|%.*f' % (5, 1, 5, 2, 2, f) }}", "    1|2    |3.14"},
        {"{{ ['%.3s' % 'abcdef', '%s' % [1, 2], 'abc' % {}, '%s' % nothing, '%05s' % 'a'] }}",
         "['abc', '[1, 2]', 'abc', '', '    a']"},
    };
    QN_JINJA_ALL_GIVE(cases, VARS);
}

static void misused_methods(void **state)
{
    (void)state;
    static const qn_jinja_case cases[] = {
        {"{{ s.split('') }}", "line 1: empty separator"},
        {"{{ s.index('zz') }}", "line 1: substring not found"},
        {"{{ ','.join(l) }}", "line 1: sequence item 0: expected str instance, int found"},
        {"{{ s.upper(1) }}", "line 1: upper() takes at most 0 arguments (1 given)"},
        {"{{ s.upper(x=1) }}", "line 1: upper() got an unexpected keyword argument 'x'"},
        {"{{ s.replace('l') }}", "line 1: replace() missing required argument: 'new'"},
        {"{{ s.split(',', sep=',') }}", "line 1: split() got multiple values for argument 'sep'"},
        {"{{ s.center(9, 'xy') }}", "line 1: The fill character must be exactly one character long"},
        {"{{ s.find(1) }}", "line 1: find: expected a string, not int"},
        {"{{ '%s %s' % 1 }}", "line 1: not enough arguments for format string"},
        {"{{ 'a' % 1 }}", "line 1: not all arguments converted during string formatting"},
        {"{{ '%d' % 'a' }}", "line 1: %d format: an integer or real number is required, not str"},
        {"{{ '%q' % 1 }}", "line 1: unsupported format character 'q'"},
        {"{{ '{x}'.format(1) }}", "line 1: format: there is no argument 'x'"},
        {"{{ '{1}'.format(1) }}", "line 1: Replacement index 1 out of range for positional args tuple"},
        {"{{ '{'.format(1) }}", "line 1: Single '{' encountered in format string"},
        {"{{ '{:d}'.format('a') }}", "line 1: Unknown format code 'd' for object of type 'str'"},
        {"{{ '{:5}'.format(none) }}", "line 1: unsupported format string passed to NoneType.__format__"},
    };
    QN_JINJA_ALL_FAIL(cases, VARS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(case_and_questions), cmocka_unit_test(searching),       cmocka_unit_test(taking_apart),
        cmocka_unit_test(format_fields),      cmocka_unit_test(percent_formats), cmocka_unit_test(misused_methods),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
