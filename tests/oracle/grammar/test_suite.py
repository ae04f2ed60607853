"""JSON schemas by the public test suite: what is supported answers as the suite says, by the expressions and by the
automaton, and what is generated at random validates.

Set apart, with their reasons, are the few instances where enforcing while generating differs from validating:
  format      2020-12's main files take a format as an annotation; the listed ones are enforced here.
  content     contentEncoding and contentMediaType are annotations, in draft 7's optional files they are not.
  hostname    labels that begin with xn-- are left out: they would have to be decoded.
  exponents   where numbers have bounds, or must be integers, they are written out: 1e308 is not accepted.

SPDX-License-Identifier: MIT
"""

import collections
import os

import pytest

pytest.importorskip("jsonschema")
pytest.importorskip("regex")
if not os.environ.get("QUERN_ORACLE_BIN"):
    pytest.skip("QUERN_ORACLE_BIN names no folder", allow_module_level=True)

import judge  # noqa: E402
import suite  # noqa: E402

FOLDERS = ["", "optional", "optional/format"]
DRAFTS = ["draft7", "draft2020-12"]
LEAST = {"draft7": 0.85, "draft2020-12": 0.60}  # of the main files' schemas
TEXTS = int(os.environ.get("QUERN_TEXTS", "20"))  # made of each schema

needs_suite = pytest.mark.skipif(not suite.SUITE.is_dir(), reason="no shared data: data/jsonschema")


@pytest.fixture(scope="module")
def tool():
    t = suite.Tool()
    yield t
    t.close()


def set_apart(draft, folder, file, description, instance):
    if file == "format" and draft == "draft2020-12":
        return "only an annotation" in instance
    if file in ("content", "float-overflow"):
        return True
    return file in ("hostname", "idn-hostname") and "A-label" in description


def look_at(tool, draft, folder):
    """(schemas, supported ones, [(why, how many refused)], faults) of a folder."""
    n = n_supported = n_made = 0
    refused, faults = collections.Counter(), []
    for file, description, schema, tests in suite.groups(draft, folder):
        n += 1
        cases = [
            (t["valid"], text, t["description"])
            for t in tests
            for text in suite.spellings(suite.in_order(schema, [schema], t["data"]))
        ]
        answer = tool.ask("schema", schema, [text for _, text, _ in cases], generate=TEXTS, seed=n)
        where = f"{draft}/{folder or 'main'}: {file}, {description}"
        if suite.is_empty(answer) and not any(t["valid"] for t in tests):
            n_supported += 1  # it allows no value at all, and that is what is said
            continue
        if answer["status"] != "QN_OK":
            if answer["status"] == "QN_EUNSUPPORTED":
                assert answer["what"].startswith("schema, at #"), f"{where}: {answer['what']}"
            else:
                faults.append(f"{where}: {answer['status']} {answer['what']}")
            refused[answer["what"].split(": ")[0].rsplit("/", 1)[-1]] += 1
            continue
        n_supported += 1
        for (valid, text, instance), matches, accepts in zip(cases, answer["matches"], answer["accepts"]):
            if matches != accepts:
                faults.append(f"{where}: the automaton says {accepts}, the expression {matches}: {text}")
            if matches != valid and not set_apart(draft, folder, file, description, instance):
                faults.append(f"{where}, {instance}: {'valid' if valid else 'invalid'}, but {matches}: {text}")
        validator = judge.validator(schema)
        plain = tool.ask("schema", schema, generate=TEXTS, seed=n, plain=True)
        if plain["status"] != "QN_OK":
            faults.append(f"{where}: plainly, {plain['status']} {plain['what']}")
            continue
        for text in answer["made"] + plain["made"]:
            n_made += 1
            why = "no end came" if text is None else judge.fault(validator, text)
            if why:
                faults.append(f"{where}: made {text!r}: {why}")
    print(
        f"\n{draft}/{folder or 'main'}: {n_supported} of {n} schemas supported, {n_made} texts made; refused: "
        + ", ".join(f"{k} {c}" for k, c in refused.most_common())
    )
    return n, n_supported, faults


@needs_suite
@pytest.mark.parametrize("draft", DRAFTS)
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda f: f or "main")
def test_suite(tool, draft, folder):
    n, n_supported, faults = look_at(tool, draft, folder)
    assert not faults, f"{len(faults)} faults, the first ones:\n" + "\n".join(faults[:10])
    if folder == "":
        assert n_supported >= LEAST[draft] * n


# Why a schema of listed keywords alone may be refused, by what its error says.
EXCEPTIONS = {
    "$ref: leads out of the document": "a remote schema, which is not fetched",
    "format: this format is not enforced": "a format that is not one of those listed",
    "multipleOf: only whole numbers": "a fraction that goes into no power of ten",
    "uniqueItems: only enforced where": "values that are not listed cannot be told apart by an automaton",
    "minProperties: above 1": "names that are free could repeat, which cannot be told by an automaton",
    "$schema: this dialect is not known": "a dialect of its own may mean anything",
}


@needs_suite
@pytest.mark.parametrize("draft", DRAFTS)
def test_listed_keywords(tool, draft):
    """Prints why schemas are refused; one of listed keywords alone only for a reason that is known."""
    rows, unexplained = collections.Counter(), []
    n = n_listed = n_refused = 0
    for file, description, schema, tests in suite.groups(draft):
        n += 1
        others = suite.keywords(schema) - suite.LISTED
        n_listed += not others
        answer = tool.ask("schema", schema)
        if answer["status"] == "QN_OK" or suite.is_empty(answer):
            continue
        n_refused += 1
        if others:
            rows["uses " + " ".join(sorted(others))] += 1
            continue
        reason = next((why for part, why in EXCEPTIONS.items() if part in answer["what"]), None)
        rows[reason] += 1
        if reason is None or answer["status"] != "QN_EUNSUPPORTED":
            unexplained.append(f"{file}, {description}: {answer['what']}")
    print(f"\n{draft}: {n} schemas, {n_listed} of listed keywords alone; {n_refused} refused:")
    for why, count in rows.most_common():
        print(f"{count:5}  {why}")
    assert not unexplained, "\n".join(unexplained)
