"""Random templates: each is grown from the language's grammar with a seed of its own.

They are well-formed most of the time; what they do with their values is left to chance, so many of them fail, and the
point is that both sides fail or both give the same text.

SPDX-License-Identifier: MIT
"""
import random

VARIABLES = {
    "i": 7, "z": 0, "neg": -3, "x": 2.5, "s": "Hello World", "t": " a,b,c\n", "e": "", "u": "\u00e9\u9f98\U0001f41d",
    "l": [3, 1, 2], "ls": ["b", "A", "c", "a"], "el": [], "n": None, "yes": True, "no": False,
    "d": {"a": 1, "b": [1, 2], "items": 5, "k y": "v"}, "ed": {},
    "m": [{"role": "user", "content": "Hi", "n": 1}, {"role": "assistant", "content": "Ho\n", "n": 2, "tools": []},
          {"role": "user", "content": "  x ", "n": 3}],
    "tree": [{"v": 1, "kids": [{"v": 2, "kids": []}, {"v": 3, "kids": [{"v": 4, "kids": []}]}]}, {"v": 5, "kids": []}],
    "p": [[1, "one"], [2, "two"]],
}
NAMES = list(VARIABLES) + ["missing"]
LOCALS = ["v", "w", "y", "q"]
STRINGS = ["''", "'a'", '"b c"', "'\\n'", "'x' 'y'", "'\u00e9'", "'%s-%s'", "'role'", "'l'", "','", "'Hello'", "'user'"]
NUMBERS = ["0", "1", "2", "3", "10", "1_000", "0x1F", "0b101", "0o17", "1.5", "2e3", "1.0", "3E-2"]
# Their results are made when they are walked; ours at once, so they are walked at once.
LAZY = ("map", "select", "reject", "selectattr", "rejectattr", "reverse", "unique", "batch", "slice", "items")
FILTERS = ["upper", "lower", "trim", "length", "first", "last", "list", "join", "join(', ')",
           "join('-', attribute='n')", "default('dflt')", "default('d', true)", "d(0)", "tojson", "tojson(indent=2)",
           "string", "int", "float", "abs", "reverse", "sort", "sort(reverse=true)", "unique", "map('upper')",
           "map(attribute='role')", "select", "reject", "selectattr('role', 'equalto', 'user')", "rejectattr('tools')",
           "select('odd')", "replace('l', 'L')", "title", "capitalize", "batch(2)", "slice(2)", "sum", "min", "max",
           "items", "dictsort", "indent(2)", "escape", "e", "safe", "count", "wordcount", "round", "round(1)",
           "center(9)", "truncate(5)", "groupby('role')", "format(1, 2)", "attr('a')", "striptags", "urlencode",
           "filesizeformat", "nofilter"]
FILTERS = [f + "|list" if f.split("(")[0] in LAZY else f for f in FILTERS]
TESTS = ["defined", "undefined", "none", "string", "number", "mapping", "iterable", "sequence", "boolean", "true",
         "false", "odd", "even", "integer", "float", "callable", "lower", "upper", "divisibleby 2", "divisibleby(3)",
         "in [1, 2]", "equalto 1", "eq 'a'", "ne none", "gt 1", "sameas none", "filter", "test", "notest"]
ATTRIBUTES = ["a", "b", "role", "content", "n", "items", "items()", "keys()", "values()", "upper()", "strip()",
              "split()", "split(',')", "get('a')", "get('zz', 1)", "startswith('H')", "endswith('d')",
              "replace('l', 'r')", "title()", "lower()", "join(ls)", "count('l')", "find('o')", "append(1)",
              "index(1)", "0", "1", "kids", "v", "format(1)", "lstrip()", "rstrip('d')", "splitlines()", "isdigit()",
              "nope", "nope()", "copy()", "rsplit('o', 1)"]
LOOP = ["loop.index", "loop.index0", "loop.first", "loop.last", "loop.length", "loop.revindex", "loop.revindex0",
        "loop.previtem", "loop.nextitem", "loop.cycle('a', 'b')", "loop.changed(v)", "loop.depth", "loop.depth0",
        "loop"]
BINARY = ["+", "-", "*", "/", "//", "%", "~", "==", "!=", "<", "<=", ">", ">=", "in", "not in", "and", "or", "+", "~"]
TEXT = ["text", " ", "\n", "\n  ", "a\nb\n", "\u00e9", "  ", "{ ", "}", "%", "#", "word", "<b>&", "\n\n", "x\r\ny",
        "\t"]


STRING_METHODS = ["upper()", "lower()", "strip()", "lstrip('H')", "rstrip()", "replace('l', 'L')",
                  "replace('l', '', 1)", "title()", "capitalize()", "split('l')[0]", "split()|join('+')",
                  "rsplit('o', 1)[-1]", "startswith('H')", "endswith(('d', 'b'))", "find('o')", "count('l')",
                  "zfill(4)", "center(7, '*')", "ljust(6)", "splitlines()", "isdigit()", "isalpha()", "join(ls)",
                  "format(1)", "partition('l')", "removeprefix('H')", "swapcase()", "isspace()", "islower()",
                  "rfind('l')", "casefold()", "expandtabs()"]
STRING_FILTERS = ["upper", "lower", "trim", "trim('H')", "title", "capitalize", "replace('l', 'L')", "replace('', '.')",
                  "default('x')", "indent", "indent(2, true)", "indent(first=true)", "center(12)", "length", "list",
                  "first", "last", "reverse", "string", "escape", "e", "safe", "striptags", "urlencode", "wordcount",
                  "truncate(5)", "truncate(5, true, '')", "int", "float", "tojson", "list|join('|')", "sort",
                  "unique|list", "batch(2)|list", "forceescape", "count", "join('.')", "default('', true)"]
NUMBER_LIST_FILTERS = ["sort", "sort(reverse=true)", "reverse|list", "select('odd')|list", "reject('odd')|list",
                       "map('string')|list", "sum", "min", "max", "first", "last", "batch(2)|list", "slice(2)|list",
                       "unique|list", "join('-')", "map('abs')|list", "select('gt', 1)|list", "list", "tojson",
                       "batch(2, 'x')|list", "sum(start=5)", "select|list", "select('in', [1, 2])|list"]
STRING_LIST_FILTERS = ["sort", "sort(case_sensitive=true)", "map('upper')|list", "map('replace', 'a', 'o')|list",
                       "join", "unique|list", "min", "max", "reject('eq', 'a')|list", "select('upper')|join(' ')",
                       "join(', ')", "length", "map('length')|sum", "sort(true)", "unique(true)|list",
                       "map('default', 'x')|list", "batch(3, s)|list", "first|upper"]
DICT_LIST_FILTERS = ["map(attribute='role')|list", "selectattr('role', 'equalto', 'user')|list",
                     "rejectattr('tools')|list", "selectattr('tools', 'defined')|list",
                     "map(attribute='zz', default='d')|list", "sum('n')", "groupby('role')|list",
                     "sort(attribute='content')", "sort(attribute='role,n')|map(attribute='n')|list",
                     "max(attribute='n')", "first", "last", "map(attribute='content')|map('trim')|join('|')", "tojson",
                     "unique(attribute='role')|list", "groupby('zz', default=1)|list", "rejectattr('n', '>', 1)|list",
                     "selectattr('n', 'in', [1, 3])|map(attribute='role')|join", "map('items')|map('list')|list"]
COMPARISONS = ["==", "!=", "<", "<=", ">", ">="]
SAFE_TESTS = [t for t in TESTS if t not in ("odd", "even", "notest", "gt 1", "divisibleby 2", "divisibleby(3)")]


class Grower:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.macros = []
        self.in_loop = 0

    def pick(self, items):
        return self.r.choice(items)

    def chance(self, p):
        return self.r.random() < p

    # ---- expressions

    def args(self, depth):
        given = [self.expr(depth) for _ in range(self.r.randrange(3))]
        if self.chance(0.2):
            given.append(f"{self.pick(LOCALS)}={self.expr(depth)}")
        if self.chance(0.05):
            given.append(f"*{self.pick(['l', 'ls', 'p', 's'])}")
        if self.chance(0.05):
            given.append(f"**{self.pick(['d', 'ed', 'dict(v=1)'])}")
        return ", ".join(given)

    def atom(self, depth):
        kind = self.r.randrange(12)
        if kind < 5:
            return self.pick(NAMES + LOCALS)
        if kind == 5:
            return self.pick(STRINGS)
        if kind == 6:
            return self.pick(NUMBERS)
        if kind == 7:
            return self.pick(["true", "false", "none", "True", "None"])
        if kind == 8 and self.in_loop:
            return self.pick(LOOP)
        if kind == 9:
            return "[" + ", ".join(self.expr(depth - 1) for _ in range(self.r.randrange(4))) + "]"
        if kind == 10:
            items = [self.expr(depth - 1) for _ in range(self.r.randrange(4))]
            return "(" + ", ".join(items) + ("," if len(items) == 1 and self.chance(0.7) else "") + ")"
        return "{" + ", ".join(f"{self.pick(STRINGS + ['1', 'i', 'none'])}: {self.expr(depth - 1)}"
                               for _ in range(self.r.randrange(3))) + "}"

    def bound(self):
        return self.pick(["", "", "0", "1", "-1", "2", "i", "none", "10"])

    def expr(self, depth=3):
        """Any expression; most are of one type, so that they have a value."""
        if self.chance(0.08):
            return self.wild(depth)
        text = self.pick([self.number, self.string, self.string, self.sequence, self.truth, self.mapping])(depth)
        return self.pick([text, text, text, text, f"({text})",
                          f"{text} if {self.truth(depth - 1)} else {self.string(1)}",
                          f"{text} if {self.truth(depth - 1)}"]) if depth > 1 else text

    def number(self, depth):
        kind = self.r.randrange(12) if depth > 0 else self.r.randrange(4)
        if kind < 2:
            return self.pick(["i", "neg", "x", "z", "yes"])
        if kind < 4:
            return self.pick(NUMBERS + LOOP[:2] if self.in_loop else NUMBERS)
        if kind < 6:
            return f"{self.number(depth - 1)} {self.pick(['+', '-', '*'])} {self.number(depth - 1)}"
        if kind == 6:
            return f"{self.number(depth - 1)} {self.pick(['//', '%', '/'])} {self.pick(['2', '3', '-2', '1.5', 'i'])}"
        if kind == 7:
            return f"({self.string(depth - 1)})|length"
        if kind == 8:
            return f"{self.pick(['-', '+'])}{self.pick(['i', 'x', '2', '(3 - 5)', 'neg|abs', '2 ** 2'])}"
        if kind == 9:
            filters = self.pick(["int", "float", "abs", "round", "round(1)", "string|int", "default(1)"])
            return f"({self.number(depth - 1)})|{filters}"
        if kind == 10:
            return f"{self.pick(['2', 'i', 'neg', 'x'])} ** {self.pick(['2', '0', '3 ** 1', '-1'])}"
        return f"({self.sequence(depth - 1)})|{self.pick(['length', 'count'])}"

    def string(self, depth):
        kind = self.r.randrange(14) if depth > 0 else self.r.randrange(4)
        if kind < 2:
            return self.pick(["s", "t", "e", "u", "m[0].role", "m[1]['content']", "ls[0]"])
        if kind < 4:
            return self.pick(STRINGS)
        if kind < 6:
            return f"{self.string(depth - 1)} ~ ({self.expr(depth - 1)})"
        if kind == 6:
            return f"{self.string(0)} + {self.string(0)}"
        if kind == 7:
            return f"({self.string(depth - 1)}).{self.pick(STRING_METHODS)}"
        if kind == 8:
            step = self.pick(["", ":" + self.bound().replace("0", ""), ":-1", ":2"])
            return f"({self.string(depth - 1)}|string)[{self.bound()}:{self.bound()}{step}]"
        if kind < 11:
            return f"({self.string(depth - 1)})|{self.pick(STRING_FILTERS)}"
        if kind == 11:
            return f"({self.sequence(depth - 1)})|join({self.pick(STRINGS)})"
        if kind == 12 and self.macros:
            return f"{self.pick(self.macros)}({self.args(depth - 1)})"
        filters = self.pick(["tojson", "string", "tojson(indent=2)", "default(s)", "tojson(sort_keys=true)"])
        return f"({self.expr(depth - 1)})|{filters}"

    def sequence(self, depth):
        kind = self.r.randrange(10) if depth > 0 else 0
        if kind < 2:
            return self.pick(["l", "ls", "m", "el", "p", "s.split()", "t.strip().split(',')", "range(4)", "d.keys()",
                              "d.items()"])
        if kind == 2:
            return "[" + ", ".join(self.expr(depth - 1) for _ in range(self.r.randrange(4))) + "]"
        if kind == 3:
            items = [self.expr(depth - 1) for _ in range(self.r.randrange(1, 4))]
            return "(" + ", ".join(items) + ",)"
        if kind == 4:
            step = self.pick(["", ":-1", ":2", ":-2"])
            items = self.pick(["l", "ls", "m", "p", "[1, 2, 3, 4]", "(1, 2, 3)"])
            return f"({items})[{self.bound()}:{self.bound()}{step}]"
        if kind == 5:
            return f"{self.pick(['l', 'ls', 'el', '[1]'])} + {self.pick(['l', 'p', '[none]', 'ls * 2'])}"
        if kind == 6:
            return f"l|{self.pick(NUMBER_LIST_FILTERS)}"
        if kind == 7:
            return f"ls|{self.pick(STRING_LIST_FILTERS)}"
        return f"m|{self.pick(DICT_LIST_FILTERS)}"

    def truth(self, depth):
        kind = self.r.randrange(12) if depth > 0 else 0
        if kind == 0:
            return self.pick(["yes", "no", "true", "false", "missing", "n", "s", "el", "i", "z", "ns.v"])
        if kind < 3:
            return f"{self.number(depth - 1)} {self.pick(COMPARISONS)} {self.number(depth - 1)}"
        if kind == 3:
            return f"{self.string(0)} {self.pick(COMPARISONS)} {self.string(0)}"
        if kind == 4:
            return f"({self.expr(depth - 1)}) {self.pick(['==', '!='])} ({self.expr(depth - 1)})"
        if kind == 5:
            return f"({self.expr(depth - 1)}) {self.pick(['in', 'not in'])} ({self.sequence(depth - 1)})"
        if kind == 6:
            return f"(not {self.truth(depth - 1)})"
        if kind < 9:
            return f"(({self.expr(depth - 1)}) is {self.pick(['', '', 'not '])}{self.pick(SAFE_TESTS)})"
        if kind == 9:
            first, second = self.pick(COMPARISONS), self.pick(COMPARISONS)
            return f"{self.number(0)} {first} {self.number(0)} {second} {self.number(0)}"
        return f"{self.truth(depth - 1)} {self.pick(['and', 'or'])} {self.truth(depth - 1)}"

    def mapping(self, depth):
        if depth <= 0 or self.chance(0.5):
            return self.pick(["d", "ed", "m[0]", "m[-1]", "tree[0]", "dict(a=1, b=s)"])
        return "{" + ", ".join(f"{self.pick(STRINGS + ['1', 'i', 'none', '(1, 2)'])}: {self.expr(depth - 1)}"
                               for _ in range(self.r.randrange(3))) + "}"

    def wild(self, depth=3):
        """Operators and values that need not go together."""
        if depth <= 0:
            return self.pick(NAMES + LOCALS + STRINGS + NUMBERS)
        kind = self.r.randrange(16)
        if kind < 3:
            return self.atom(depth)
        if kind < 5:
            return f"{self.wild(depth - 1)} {self.pick(BINARY)} {self.wild(depth - 1)}"
        if kind == 5:
            return f"{self.pick(['not ', '-', '+'])}{self.wild(depth - 1)}"
        if kind < 8:
            return f"({self.wild(depth - 1)})|{self.pick(FILTERS)}"
        if kind == 8:
            return f"({self.wild(depth - 1)}) is {self.pick(['', '', 'not '])}{self.pick(TESTS)}"
        if kind < 11:
            return f"{self.pick(NAMES + LOCALS)}.{self.pick(ATTRIBUTES)}"
        if kind == 11:
            return f"{self.pick(NAMES)}[{self.wild(depth - 1)}]"
        if kind == 12:
            return f"range({self.pick(['3', 'i', '1, 5', '5, 0, -2', '0', 'x'])}){self.pick(['', '|list', '|sum'])}"
        if kind == 13:
            return f"({self.atom(depth)}).{self.pick(ATTRIBUTES)}|{self.pick(FILTERS)}"
        return self.pick(["namespace(v=1)", "dict(a=1)", "joiner(',')()", "cycler(1, 2).next()", "ns.v", "ns.w", "ns",
                          "dict([(1, 2)])", "s.__class__", "l.__class__.x", "caller()", "varargs", "kwargs",
                          "raise_exception('no')", "2 ** 3 ** 2"])

    # ---- statements

    def tag(self, inside):
        left = self.pick(["{%", "{%", "{%", "{%-", "{%-", "{%+"])
        right = self.pick(["%}", "%}", "%}", "-%}", "-%}", "+%}"])
        return f"{left} {inside} {right}"

    def print(self, depth):
        return f"{self.pick(['{{', '{{', '{{-'])} {self.expr(depth)} {self.pick(['}}', '}}', '-}}'])}"

    def target(self):
        kind = self.r.randrange(8)
        if kind < 4:
            return self.pick(LOCALS)
        if kind == 4:
            return self.pick(LOCALS + NAMES)
        if kind == 5 and self.chance(0.2):
            return self.pair()
        return self.pick(LOCALS)

    def pair(self):
        return self.pick(["v, w", "(v, w)", "y, q", "v, v", "w, i"])

    def body(self, depth, n=3):
        return "".join(self.statement(depth) for _ in range(self.r.randrange(n + 1)))

    def loop_body(self, depth, n=3):
        self.in_loop += 1
        text = self.body(depth, n)
        self.in_loop -= 1
        return text

    def function_body(self, depth):
        outer, self.in_loop = self.in_loop, 0
        text = self.body(depth)
        self.in_loop = outer
        return text

    def for_loop(self, depth):
        if self.chance(0.12):
            inner = self.tag("if v.kids") + "({{ loop(v.kids) }})" + self.tag("endif")
            return (self.tag("for v in tree recursive") + self.print(1) + "{{ v.v }}" + inner +
                    self.loop_body(depth - 2, 2) + self.tag("endfor"))
        walked = self.pick(["l", "ls", "m", "d", "d.items()", "p", "s", "range(3)", "el", "missing", "m[::-1]", "n",
                            "u", "l|map('string')", "ed", self.sequence(1)])
        target = self.pair() if walked in ("p", "d.items()") and self.chance(0.8) else self.target()
        test = f" if {self.truth(2)}" if self.chance(0.3) else ""
        other = self.tag("else") + self.body(depth - 1) if self.chance(0.3) else ""
        return (self.tag(f"for {target} in {walked}{test}") + self.loop_body(depth - 1) + other +
                self.tag(self.pick(["endfor", "endfor", "endfor"])))

    def statement(self, depth=3):
        kind = self.r.randrange(24) if depth > 0 else self.r.randrange(9)
        if kind < 4:
            return self.pick(TEXT)
        if kind < 8:
            return self.print(depth)
        if kind == 8:
            return self.pick(["{# c #}", "{#- c -#}\n", "{# a\nb #}\n", "{% raw %} {{ x }} {% endraw %}",
                              "{%- raw -%} {% if %} {%- endraw -%}\n "])
        if kind < 12:
            return self.for_loop(depth)
        if kind < 14:
            branches = self.tag(f"if {self.truth(2)}") + self.body(depth - 1)
            if self.chance(0.3):
                branches += self.tag(f"elif {self.truth(2)}") + self.body(depth - 1)
            if self.chance(0.4):
                branches += self.tag("else") + self.body(depth - 1)
            return branches + self.tag("endif")
        if kind < 17:
            value = self.expr(2)
            if self.chance(0.15):
                target = self.pick(["v, w", "ns.v, w", "(y, q)", "v", "s, v"])
                return self.tag(f"set {target} = {value}, {self.expr(1)}")
            return self.tag(f"set {self.pick([self.target(), self.target(), 'ns.v', 'ns.w'])} = {value}")
        if kind == 17:
            filters = self.pick(["", "", f" | {self.pick(STRING_FILTERS)}"])
            return self.tag(f"set {self.pick(LOCALS)}{filters}") + self.body(depth - 1) + self.tag("endset")
        if kind == 18:
            name = self.pick(["f", "g", "h"])
            params = self.pick(["", "v", "v, w", "v, w=1", "v='d', w=v", "caller=none", "v, kwargs", "w=missing"])
            text = self.tag(f"macro {name}({params})") + self.function_body(depth - 1) + self.tag("endmacro")
            self.macros.append(name)
            return text
        if kind == 19 and self.macros:
            params = self.pick(["", "", "(v)", "(v, w=2)"])
            return (self.tag(f"call{params} {self.pick(self.macros)}({self.args(1)})") + self.function_body(depth - 1) +
                    self.tag("endcall"))
        if kind == 20:
            return self.tag(f"filter {self.pick(STRING_FILTERS)}") + self.body(depth - 1) + self.tag("endfilter")
        if kind == 21:
            given = self.pick([f"v = {self.expr(1)}", f"v = 1, w = {self.expr(1)}", "w = 3", ""])
            return self.tag(f"with {given}") + self.body(depth - 1) + self.tag("endwith")
        if kind == 22 and self.in_loop:
            jump = self.tag(self.pick(["break", "continue"]))
            return self.tag(f"if {self.truth(1)}") + jump + self.tag("endif") if self.chance(0.7) else jump
        if kind == 23:
            return self.pick([self.tag("generation") + self.function_body(depth - 1) + self.tag("endgeneration"),
                              self.tag(f"print {self.expr(1)}, {self.expr(1)}"),
                              self.tag("block b" + str(self.r.randrange(9**6)) + self.pick(["", " scoped"])) +
                              self.function_body(depth - 1) + self.tag("endblock")])
        return self.print(depth)

    def template(self):
        start = self.tag("set ns = namespace(v=0)") if self.chance(0.95) else ""
        return start + "".join(self.statement(3) for _ in range(self.r.randrange(1, 6)))


def damaged(template, seed):
    """The template with a character or two lost, doubled or out of place."""
    r = random.Random(seed)
    for _ in range(r.randrange(1, 3)):
        at = r.randrange(len(template) + 1)
        template = template[:at] + r.choice(["", "%", "}", "{", "'", "(", "]", " ", "-", "|", ".",
                                             ","]) + template[at + r.randrange(2):]
    return template


def template(seed):
    text = Grower(seed).template()
    return damaged(text, seed) if seed % 7 == 0 else text
