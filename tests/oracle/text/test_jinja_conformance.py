"""The template language, case by case (jinja_conformance.txt): jinja2 says what each must give.

SPDX-License-Identifier: MIT
"""
import os
import pathlib

import pytest

pytest.importorskip("jinja2")

if not os.environ.get("QUERN_ORACLE_BIN"):
    pytest.skip("QUERN_ORACLE_BIN names no folder", allow_module_level=True)

from jinja_env import Ours, difference, theirs

VARIABLES = {
    "s": "Hello, World", "u": "Grüße, 世界 🎉", "e": "", "sp": "  two  words\n next\t",
    "html": "<b>\"x\" & 'y'</b>", "n": 42, "f": 3.14159, "big": 123456789012345678901234567890, "t": True, "no": None,
    "l": [3, 1, 2], "ls": ["b", "A", "c", "B", "a"], "d": {"b": 1, "a": [1, 2.5, "x"], "C": None},
    "users": [{"name": "Bob", "age": 31, "city": "Rome", "admin": True, "tags": ["x", "y"]},
              {"name": "alice", "age": 25, "city": "Oslo", "admin": False, "tags": []},
              {"name": "Carl", "age": 40, "city": "Rome"}],
    "nested": {"a": {"b": [{"c": 1}]}},
    "msgs": [{"role": "system", "content": "Be brief. "}, {"role": "user", "content": " Hi <b>there</b>"},
             {"role": "assistant", "content": "<think>\nhm\n</think>\n\nHello"}, {"role": "user", "content": "2+2?"}],
}


def cases():
    for number, line in enumerate(pathlib.Path(__file__).with_name("jinja_conformance.txt").read_text("utf-8")
                                  .split("\n"), 1):
        if line.startswith("= "):
            yield number, "{{ " + line[2:] + " }}"
        elif line.startswith("| "):
            yield number, line[2:].replace("⏎", "\n")
        else:
            assert not line or line.startswith("#"), f"line {number}: neither case nor comment"


CASES = list(cases())


@pytest.fixture(scope="module")
def ours():
    process = Ours()
    yield process
    process.close()


def test_there_are_many_cases():
    assert len(CASES) >= 900


@pytest.mark.parametrize("number,template", CASES, ids=[str(number) for number, _ in CASES])
def test_case(ours, number, template):
    problem = difference(theirs(template, VARIABLES), ours.render(template, VARIABLES))
    assert problem is None, f"line {number}: {template!r}\n{problem}"
