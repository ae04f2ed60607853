"""Small schemas at random, and values near their borders: what the automaton accepts is what PyPI jsonschema does, and
what is made under the mask validates. QUERN_SECONDS and QUERN_SEED ask for longer runs and other schemas.

Not judged are -0 and exponents, which bounded numbers are not written with; leap seconds, of which the judge knows no
hour; and the order of members: a value is refused only when it is in all of them.

SPDX-License-Identifier: MIT
"""

import json
import os
import random
import re
import time

import pytest

pytest.importorskip("jsonschema")
pytest.importorskip("regex")
if not os.environ.get("QUERN_ORACLE_BIN"):
    pytest.skip("QUERN_ORACLE_BIN names no folder", allow_module_level=True)

import judge  # noqa: E402
import random_schemas  # noqa: E402
import suite  # noqa: E402

SECONDS = float(os.environ.get("QUERN_SECONDS", "5"))
SEED = int(os.environ.get("QUERN_SEED", "1"))
LEAST = 150  # schemas that a run must have judged, however busy the machine
UNWRITTEN = re.compile(r"\d[eE][+-]?\d|-0(\.0*)?(?![\d.])|:60")


def dump(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def faults_of(tool, rng, schema, answer):
    """What the tool and the judge do not agree on."""
    validator = judge.validator(schema)
    made = []
    for text in answer.get("made", []):
        why = "no end came" if text is None else judge.fault(validator, text)
        if why:
            yield f"made {text}: {why}"
        elif text and len(text) < 300 and not UNWRITTEN.search(text):
            made.append(random_schemas.plain(judge.read(text)))
    values = random_schemas.instances(rng, schema, made, 14)
    cases = [(v, dump(suite.in_order(schema, [schema], v))) for v in values]
    cases = [(v, text) for v, text in cases if not UNWRITTEN.search(text)]
    if answer["status"] != "QN_OK":  # it is said to allow nothing
        yield from (f"empty, but valid: {text}" for _, text in cases if judge.fault(validator, text) is None)
        return
    again = tool.ask("schema", schema, [text for _, text in cases])
    for (value, text), matches, accepts in zip(cases, again["matches"], again["accepts"]):
        why = judge.fault(validator, text)
        if matches is not None and matches != accepts:
            yield f"the automaton says {accepts}, the expression {matches}: {text}"
        if accepts and why:
            yield f"accepted: {text}: {why}"
        if not accepts and not why:
            orders = [dump(o) for o in random_schemas.orders(value)]
            if not any(tool.ask("schema", schema, orders)["accepts"]):
                yield f"refused: {text}"


def documents(rng, kind):
    if kind == "pairs":
        return random_schemas.pairs(rng)
    return iter(lambda: random_schemas.document(rng, kind == "all"), None)


@pytest.mark.parametrize("kind", ["listed", "all", "pairs"])
def test_differential(kind):
    tool = suite.Tool()
    rng = random.Random(SEED)
    drawn = documents(rng, kind)
    end = time.monotonic() + SECONDS
    n_judged = n_refused = 0
    faults = []
    while (time.monotonic() < end or n_judged < LEAST) and len(faults) < 20:
        schema = next(drawn)
        answer = tool.ask("schema", schema, generate=3, seed=n_judged)
        if answer["status"] != "QN_OK" and not suite.is_empty(answer):
            assert answer["what"].startswith("schema"), answer["what"]
            n_refused += 1
            continue
        n_judged += 1
        faults += [f"{dump(schema)}\n    {f}" for f in faults_of(tool, rng, schema, answer)]
    tool.close()
    print(f"\n{n_judged} schemas judged, {n_refused} refused")
    assert not faults, "\n".join(faults)
