"""Random templates about names: each scope of the language inside each other one.

SPDX-License-Identifier: MIT
"""
import random


class Scoping:
    """Templates that do little but set and show few names everywhere, so that each scope meets each other one."""

    NAMES = ["a", "b", "c", "k", "loop", "f", "g", "caller"]
    VARIABLES = {"a": "A", "k": [1, 2], "p": [[1, 2], [3, 4]]}

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.n = 0

    def name(self):
        return self.r.choice(["a", "b", "c", "a", "b", "d"])

    def value(self):
        kind = self.r.randrange(8)
        if kind < 3:
            self.n += 1
            return str(self.n)
        if kind < 6:
            return f"({self.name()}|string ~ '{self.r.choice('xyz')}')"
        if kind == 6:
            return f"({self.name()} is defined)"
        return self.r.choice(["f()", "g(1)", "f(2, b=3)", "ns.v", "loop.index", "self.blk()", "caller()", "varargs",
                              "f", "ns.m()"])

    def show(self):
        kind = self.r.randrange(7)
        if kind < 4:
            return "{{ %s }}," % self.name()
        if kind == 4:
            return "{{ %s is defined }}," % self.r.choice(self.NAMES)
        return "{{ %s }}," % self.value()

    def params(self):
        return self.r.choice(["", "a", "a, b=a", "b=c", "a, d=b", "c=1, a=c"])

    def body(self, depth):
        return "".join(self.statement(depth) for _ in range(self.r.randrange(1, 4)))

    def statement(self, depth):
        kind = self.r.randrange(20)
        if kind < 5 or depth == 0:
            return self.show()
        if kind < 9:
            if self.r.random() < 0.2:
                return "{% set a, b = p[0] %}"
            return "{%% set %s = %s %%}" % (self.r.choice([self.name(), self.name(), "ns.v"]), self.value())
        inner = self.body(depth - 1)
        if kind < 11:
            other = "{% else %}" + self.body(depth - 1) if self.r.random() < 0.5 else ""
            other = "{% elif b %}" + self.body(depth - 1) + other if self.r.random() < 0.3 else other
            return "{%% if %s %%}%s%s{%% endif %%}" % (self.r.choice([
                "a", "b", "k", "c is defined", "false", "loop"]), inner, other)
        if kind < 14:
            target, walked = self.r.choice([(self.name(), "k"), (self.name(), "[]"), ("a, b", "p"), ("(c, a)", "p"),
                                            (self.name(), "[7]")])
            test = self.r.choice(["", "", f" if {self.name()}", f" if {self.name()} is defined and {self.value()}"])
            other = "{% else %}" + self.body(depth - 1) if self.r.random() < 0.4 else ""
            jump = self.r.choice(["", "", "", "{% if b %}{% break %}{% endif %}", "{% continue %}"])
            return "{%% for %s in %s%s %%}%s%s%s{%% endfor %%}" % (target, walked, test, inner, jump, other)
        if kind == 14:
            keep = self.r.choice(["", "{% set ns.m = f %}"])
            return "{%% macro %s(%s) %%}%s{%% endmacro %%}%s" % (self.r.choice("fg"), self.params(), inner, keep)
        if kind == 15:
            given = self.r.choice(["a = 1", "b = a", "a = b, b = a", f"c = {self.value()}", "", "a, b = p[1]"])
            return "{%% with %s %%}%s{%% endwith %%}" % (given, inner)
        if kind == 16:
            return "{%% set %s %%}%s{%% endset %%}" % (self.r.choice([self.name(), "ns.v"]), inner)
        if kind == 17:
            called = self.r.choice(["g(a)", "g(1)", "g()", "g(b)", "g(c)", "f()"])
            return "{%% call%s %s %%}%s{%% endcall %%}" % (self.r.choice(["", "(a)", "(b=a)"]), called, inner)
        if kind == 18:
            self.n += 1
            name = self.r.choice(["blk", f"b{self.n}", f"b{self.n}"])
            return "{%% block %s %s %%}%s{%% endblock %%}" % (name, self.r.choice(["", "scoped"]), inner)
        return self.r.choice(["{%% filter upper %%}%s{%% endfilter %%}", "{%% generation %%}%s{%% endgeneration %%}",
                              "{%% autoescape false %%}%s{%% endautoescape %%}"]) % inner

    def template(self):
        start = ("{% set ns = namespace(v=0) %}{% macro f(a, b=1) %}<{{ a }}{{ b }}{{ c }}>{% endmacro %}"
                 "{% macro g(x) %}{{ x }}{{ a }}{{ caller() if caller }}{% endmacro %}")
        return start + "".join(self.statement(3) for _ in range(self.r.randrange(2, 6)))


def scoping(seed):
    return Scoping(seed).template()
