"""Larger schemas: what is made at random, compact and with blanks, validates; and what Python writes is accepted.

SPDX-License-Identifier: MIT
"""

import json
import os
import re
import time

import pytest

pytest.importorskip("jsonschema")
pytest.importorskip("regex")
if not os.environ.get("QUERN_ORACLE_BIN"):
    pytest.skip("QUERN_ORACLE_BIN names no folder", allow_module_level=True)

import api_schemas  # noqa: E402
import judge  # noqa: E402
import own_schemas  # noqa: E402
import suite  # noqa: E402

SCHEMAS = {**own_schemas.SCHEMAS, **api_schemas.SCHEMAS}
TEXTS = int(os.environ.get("QUERN_TEXTS", "20")) * 2


@pytest.fixture(scope="module")
def tool():
    t = suite.Tool()
    yield t
    t.close()


@pytest.mark.parametrize("name", api_schemas.STRICT)
def test_strict(tool, name):
    assert tool.ask("schema", SCHEMAS[name], strict=True)["status"] == "QN_OK"


@pytest.mark.parametrize("name", SCHEMAS)
def test_own(tool, name):
    schema = SCHEMAS[name]
    validator = judge.validator(schema)
    for blanks, plain in ((0, False), (3, False), (1, True)):
        answer = tool.ask("schema", schema, generate=TEXTS, seed=blanks, blanks=blanks, plain=plain)
        assert answer["status"] == "QN_OK", answer["what"]
        for text in answer["made"]:
            assert text is not None, "no end came"
            why = judge.fault(validator, text)
            assert why is None, f"{text}: {why}"
        if blanks == 0:
            again = [
                text
                for made in answer["made"]
                for text in suite.spellings(suite.in_order(schema, [schema], json.loads(made)))
            ]
            again = [
                text for text in again if not re.search(r"\d[eE][+-]?\d|Infinity|NaN", text)
            ]  # Python's way to write large floats
            assert tool.ask("schema", schema, again)["accepts"] == [True] * len(again), again


BOMBS = {
    "deep": {"type": "array"},
    "repeats": {"type": "string", "pattern": "((((a{1,100}){1,100}){1,100}){1,100})"},
    "long counter": {"type": "string", "pattern": "^[a-z]{50,90000}$", "maxLength": 80000},
    "classes": {"type": "string", "pattern": "(" + "|".join(f"[^{chr(97 + i)}]*x" for i in range(26)) + "){20}"},
    "behind": {"type": "string", "pattern": "(a|b)*a(a|b){200}$"},
    "many patterns": {"type": "string", "allOf": [{"pattern": f"{chr(97 + i)}.{{20}}"} for i in range(12)]},
    "choices": {"allOf": [{"anyOf": [{"minLength": i}, {"pattern": f"a{i}"}]} for i in range(40)]},
    "doubling": {
        "$ref": "#/$defs/d0",
        "$defs": {
            **{f"d{i}": {"anyOf": [{"$ref": f"#/$defs/d{i + 1}"}] * 2} for i in range(50)},
            "d50": {"type": "null"},
        },
    },
    "doubling objects": {
        "$ref": "#/$defs/d0",
        "$defs": {
            **{
                f"d{i}": {
                    "type": "object",
                    "properties": {"a": {"$ref": f"#/$defs/d{i + 1}"}, "b": {"$ref": f"#/$defs/d{i + 1}"}},
                }
                for i in range(60)
            },
            "d60": {"type": "null"},
        },
    },
    "nested oneOf": {"oneOf": [{"oneOf": [{"required": [f"{i}{k}"]} for k in range(8)]} for i in range(8)]},
    "wide": {"type": "object", "properties": {f"p{i}": {"type": "string"} for i in range(3000)}},
    "ref cycle": {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
    "big enum": {"enum": [f"value {i * 7919 % 20000}" for i in range(20000)]},
    "digits": {"type": "number", "minimum": 0.1**300, "maximum": 10**300},
    "items": {"type": "array", "items": {"type": "string"}, "minItems": 10**9},
    "names": {
        "type": "object",
        "propertyNames": {"pattern": "(a|b)*a(a|b){100}$"},
        "additionalProperties": {"type": "string"},
    },
}
for _ in range(100):
    BOMBS["deep"] = {"type": "array", "items": BOMBS["deep"]}


@pytest.mark.parametrize("name", BOMBS)
def test_bomb(tool, name):
    """It ends soon, with an error or without, and so does a text of it."""
    start = time.monotonic()
    answer = tool.ask("schema", BOMBS[name])
    took = time.monotonic() - start
    print(name, answer["status"], answer["what"], f"{took:.2f} s")
    assert took < 5, f"{took:.1f} s"  # a second is the promise; machines that run tests are busy
