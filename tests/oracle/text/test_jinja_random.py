"""Random calls of every filter, method, test and operator with odd but well-typed arguments, judged by jinja2.

SPDX-License-Identifier: MIT
"""
import os
import random
import re

import pytest

pytest.importorskip("jinja2")

if not os.environ.get("QUERN_ORACLE_BIN"):
    pytest.skip("QUERN_ORACLE_BIN names no folder", allow_module_level=True)

from jinja_env import Ours, difference, theirs
from test_jinja_conformance import VARIABLES

SEEDS = range(8)
CASES = 700

STRINGS = ["''", "'a'", "'abc'", "' '", "','", "'l'", "'Hello'", "'%s'", "'{}'", "'-'", "'12'", "'-5'", "'1.5'",
           "' x '", "'é'", "'🎉'", "'\\n'", "'a b'", "'AbC dEf'", "'ß'", "'ΑΣ'", "'a\\tb'", "'0x1f'", "'²'", "u", "s",
           "sp", "html", "e", "('<i>'|safe)", "(html|e)", "'a,b,,c'", "'aXbX'", "'foo-bar baz'", "'http://a.com/x'",
           "'x@y.org'"]
NUMBERS = ["0", "1", "2", "-1", "3", "-3", "5", "10", "100", "-7", "2.5", "-2.5", "0.1", "1e16", "1e-7", "true",
           "false", "n", "f", "1e308", "7.0", "123456", "-0.0"]
LISTS = ["[]", "[1]", "l", "ls", "[1, 2, 3]", "['a', 'b']", "(1, 2)", "('x',)", "()", "[none]", "['b', 'a', 'B']",
         "[[1, 2], [0]]", "users", "msgs", "range(4)", "[1.5, 2]", "[true, false]", "d.items()", "d.keys()",
         "['a', 1]", "[nothing]", "[[]]", "[{'a': 1}, {'a': 2}, {'b': 0}]", "['<', ('>'|safe)]"]
DICTS = ["{}", "d", "nested", "{'a': 1}", "{1: 2}", "{'b': 2, 'a': 1}", "{'x': [1, {'y': 'z'}]}", "users[0]",
         "{none: 1}", "{'name': 'q', 'k': none}"]
OTHERS = ["none", "nothing", "d.zz"]

# What may stand for a letter in the parameters below; v, T and M are made.
ARGUMENTS = {
    "i": ["0", "1", "2", "3", "5", "8", "-1", "20"], "L": ["3", "5", "10", "4", "0"], "b": ["true", "false"],
    "s": STRINGS, "k": ["'key'", "'value'", "'x'"], "m": ["'common'", "'floor'", "'ceil'", "'x'"],
    "B": ["10", "16", "8", "2", "0", "36", "1", "37"], "w": ["0", "2", "4", "none", "'--'", "-1", "true"],
    "x": ["none", "(',', ':')", "[', ', ': ']", "('a',)"],
    "a": ["'a'", "'name'", "'age'", "0", "1", "'a.b'", "'name,age'", "none", "'city'", "'tags.0'", "'role'", "''"],
}
FILTERS = {
    "abs": "", "batch": "i linecount,v fill_with", "capitalize": "", "center": "i width", "count": "",
    "default": "v default_value,b boolean", "dictsort": "b case_sensitive,k by,b reverse", "e": "", "escape": "",
    "filesizeformat": "b binary", "first": "", "float": "v default", "forceescape": "", "format": "v,v",
    "groupby": "a attribute,v default,b case_sensitive", "indent": "w width,b first,b blank", "int": "v default,B base",
    "items": "", "join": "s d,a attribute", "last": "", "length": "", "list": "", "lower": "", "map": "M",
    "max": "b case_sensitive,a attribute", "min": "b case_sensitive,a attribute", "pprint": "", "reject": "T",
    "rejectattr": "a,T", "replace": "s old,s new,i count", "reverse": "", "round": "i precision,m method", "safe": "",
    "select": "T", "selectattr": "a,T", "slice": "i slices,v fill_with",
    "sort": "b reverse,b case_sensitive,a attribute", "string": "", "striptags": "", "sum": "a attribute,v start",
    "title": "", "tojson": "b ensure_ascii,w indent,x separators,b sort_keys", "trim": "s chars",
    "truncate": "L length,b killwords,s end,i leeway", "unique": "b case_sensitive,a attribute", "upper": "",
    "urlencode": "", "urlize": "i trim_url_limit,b nofollow,s target,s rel", "wordcount": "",
    "wordwrap": "i width,b break_long_words,s wrapstring,b break_on_hyphens", "xmlattr": "b autospace",
}
LAZY = {"batch", "items", "map", "reject", "rejectattr", "reverse", "select", "selectattr", "slice", "unique"}
METHODS = {
    "split": "si", "rsplit": "si", "splitlines": "b", "strip": "s", "lstrip": "s", "rstrip": "s", "startswith": "sii",
    "endswith": "sii", "replace": "ssi", "find": "sii", "rfind": "sii", "index": "sii", "rindex": "sii", "count": "sii",
    "join": "v", "lower": "", "upper": "", "title": "", "capitalize": "", "swapcase": "", "casefold": "", "isdigit": "",
    "isalpha": "", "isalnum": "", "isspace": "", "isupper": "", "islower": "", "isnumeric": "", "isdecimal": "",
    "istitle": "", "isidentifier": "", "isascii": "", "isprintable": "", "zfill": "i", "center": "is", "ljust": "is",
    "rjust": "is", "partition": "s", "rpartition": "s", "removeprefix": "s", "removesuffix": "s", "expandtabs": "i",
}
LIST_METHODS = {"index": "vii", "count": "v", "copy": "", "append": "v", "pop": "i", "sort": ""}
DICT_METHODS = {"get": "vv", "items": "", "keys": "", "values": "", "copy": "", "update": "v", "pop": "v"}
TESTS = ["boolean", "callable", "defined", "escaped", "even", "false", "filter", "float", "integer", "iterable",
         "lower", "mapping", "none", "number", "odd", "sequence", "string", "test", "true", "undefined", "upper"]
BINARY_TESTS = ["divisibleby", "eq", "==", "equalto", "ge", "gt", "in", "le", "lt", "ne"]
OPERATORS = ["+", "-", "*", "/", "//", "%", "~", "==", "!=", "<", "<=", ">", ">=", "in", "not in", "and", "or"]
SPECS = ["", "s", "d", "5", ">5", "<5", "^5", "*^7", "05", "+", ".2f", "8.3f", "e", "g", ".3", ".0f", "x", "#x", "b",
         "o", "c", ",", "_", "010,", "%", ".1%", "=+6", "x<3", "10.3", "n", "X", "z.1f", " d", "G", ".10g", "#g",
         "-<8", "06.1f", ",d", ",.2f", "_x", "#_b"]


class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def pick(self, choices):
        return self.random.choice(choices)

    def often(self, chance):
        return self.random.random() < chance

    def value(self, depth):
        if depth > 0 and self.often(0.12):
            return "(" + self.expression(depth - 1) + ")"
        return self.pick(self.random.choices([STRINGS, NUMBERS, LISTS, DICTS, OTHERS], [45, 20, 18, 10, 7])[0])

    def argument(self, letter):
        if letter == "v":
            return self.value(0)
        return self.pick(ARGUMENTS[letter])

    def test(self):
        if self.often(0.4):
            return [f"'{self.pick(BINARY_TESTS)}'", self.value(0)]
        return [f"'{self.pick(TESTS)}'"]

    def mapped(self):
        if self.often(0.3):
            return ["attribute=" + self.argument("a")] + (["default=" + self.value(0)] if self.often(0.4) else [])
        name = self.pick([f for f in FILTERS if FILTERS[f] not in ("M", "T", "a,T")])
        return [f"'{name}'"] + self.arguments(FILTERS[name], False)

    def arguments(self, parameters, by_name):
        out, named = [], False
        for parameter in parameters.split(",") if parameters else []:
            letter, _, name = parameter.partition(" ")
            if self.often(0.35):
                break
            if letter in "TM":
                out += self.test() if letter == "T" else self.mapped()
                continue
            named = by_name and name != "" and (named or self.often(0.15))
            out.append((name + "=" if named else "") + self.argument(letter))
        return out

    def filtered(self, depth):
        name, value = self.pick(list(FILTERS)), self.value(depth)
        arguments = ", ".join(self.arguments(FILTERS[name], True))
        whole = f"({value})|{name}" + (f"({arguments})" if arguments else "")
        return whole + ("|list" if name in LAZY else "")

    def method(self):
        table, values = self.random.choices([(METHODS, STRINGS), (LIST_METHODS, LISTS), (DICT_METHODS, DICTS)],
                                            [6, 1, 1])[0]
        name, arguments = self.pick(list(table)), []
        for letter in table[name]:
            if self.often(0.3):
                break
            arguments.append(self.value(0) if self.often(0.08) else self.argument(letter))
        return f"{self.pick(values)}.{name}({', '.join(arguments)})"

    def formatted(self):
        if self.often(0.5):
            return f"'{{{self.pick(['', '!r', '!s'])}:{self.pick(SPECS)}}}'.format({self.value(0)})"
        conversion = "".join(self.pick("-+ #0") for _ in range(self.pick([0, 0, 1, 2])))
        conversion += self.pick(["", "", "5", "10", "1"]) + self.pick(["", "", ".0", ".2", ".5", "."])
        return f"'%{conversion}{self.pick('sdrxofegEGcXiu')}' % ({self.value(0)},)"

    def sliced(self):
        bounds = ["", "1", "-1", "2", "-2", "0", "5", "-5", "none"]
        step = self.pick(["", ":1", ":-1", ":2", ":-2", ":3", ":-3"])
        what = self.pick(["s", "u", "sp", "l", "ls", "html", "range(9)", "msgs", "e"])
        return f"{what}[{self.pick(bounds)}:{self.pick(bounds)}{step}]"

    def expression(self, depth):
        kind = self.random.random()
        if kind < 0.5:
            return self.filtered(depth)
        if kind < 0.75:
            return self.method()
        if kind < 0.83:
            return self.formatted()
        if kind < 0.93:
            return f"({self.value(depth)}) {self.pick(OPERATORS)} ({self.value(depth)})"
        if kind < 0.97:
            return self.sliced()
        test = self.pick(TESTS) if self.often(0.7) else f"{self.pick(BINARY_TESTS[:2])}({self.value(0)})"
        return f"({self.value(depth)}) is {test}"


# What shows where an object lies, or how Python names its kind.
UNSPEAKABLE = re.compile(r"(?i)0x[0-9a-f]{8}|generator|method|function|object at")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", SEEDS)
def test_random(seed):
    maker, ours, problems, texts = Maker(seed), Ours(), [], 0
    for _ in range(CASES):
        template = "{{ " + maker.expression(2) + " }}"
        wanted = theirs(template, VARIABLES)
        if UNSPEAKABLE.search(wanted[1]):
            continue
        texts += wanted[0] == "text"
        problem = difference(wanted, ours.render(template, VARIABLES))
        if problem:
            problems.append(f"{template}\n{problem}")
    ours.close()
    assert texts > CASES / 3
    assert not problems, f"{len(problems)} differ:\n" + "\n".join(problems[:20])
