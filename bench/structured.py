#!/usr/bin/env python3
"""Holds `quern run --json-schema` against ten schemas of different shape, and measures what a schema costs while text
is made. bench/README.md tells how to use it.

Validity: every text must be JSON that its schema allows, judged by the Python package jsonschema, at temperature 0 and
at a high one with several seeds. Speed: each round makes a text with a schema and then one of as many tokens without;
who goes first alternates. What is compared is decode tokens a second, as the program reports them. Tokens that the
format gave without asking the model count as tokens of the text; the column `picked` leaves them out and keeps their
time, so that it is the lower bound.

SPDX-License-Identifier: MIT
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

try:
    import jsonschema
except ImportError as error:
    sys.exit(f"bench/structured.py: {error}; pip install 'jsonschema[format-nongpl]'")

HIGH = 1.5
MUST = 0.90


# ---- schemas ---------------------------------------------------------------------------------------------------------


def closed(properties, required=None):
    return {"type": "object", "properties": properties, "additionalProperties": False,
            "required": list(properties) if required is None else required}


STRING, INTEGER, BOOL = {"type": "string"}, {"type": "integer"}, {"type": "boolean"}

SCHEMAS = {
    "person": ("Invent a person.", closed({
        "name": STRING, "age": {"type": "integer", "minimum": 0, "maximum": 120},
        "email": {"type": "string", "format": "email"}, "married": BOOL})),
    "list": ("Name some rivers of Europe.", {"type": "array", "items": STRING, "minItems": 2, "maxItems": 8}),
    "enums": ("Judge this review: 'The soup was cold, the waiter was kind.'", closed({
        "sentiment": {"enum": ["positive", "negative", "mixed"]}, "stars": {"enum": [1, 2, 3, 4, 5]},
        "topics": {"type": "array", "items": {"enum": ["food", "service", "price", "place"]}, "maxItems": 4}})),
    "nested": ("Write an order of books.", closed({
        "customer": closed({"name": STRING, "address": closed({
            "street": STRING, "city": STRING, "zip": {"type": "string", "pattern": "^[0-9]{5}$"}})}),
        "lines": {"type": "array", "minItems": 1, "maxItems": 3, "items": closed({
            "title": {"type": "string", "maxLength": 40},
            "count": {"type": "integer", "minimum": 1, "maximum": 9}})}})),
    "numbers": ("Report the weather on a mountain.", closed({
        "temperature": {"type": "number", "minimum": -60, "maximum": 60},
        "humidity": {"type": "integer", "minimum": 0, "maximum": 100},
        "pressure": {"type": "number", "exclusiveMinimum": 300, "exclusiveMaximum": 1100},
        "step": {"type": "integer", "multipleOf": 5, "minimum": 5, "maximum": 60}})),
    "dates": ("Plan a meeting.", closed({
        "day": {"type": "string", "format": "date"}, "begin": {"type": "string", "format": "time"},
        "made": {"type": "string", "format": "date-time"}, "id": {"type": "string", "format": "uuid"}})),
    "patterns": ("Describe a spare part.", closed({
        "code": {"type": "string", "pattern": "^[A-Z]{3}-[0-9]{4}(-[a-z])?$"},
        "colour": {"type": "string", "pattern": "^#[0-9a-f]{6}$"},
        "note": {"type": "string", "minLength": 5, "maxLength": 60}})),
    "union": ("What did the user do?", {"anyOf": [
        closed({"event": {"const": "click"}, "x": INTEGER, "y": INTEGER}),
        closed({"event": {"const": "type"}, "text": {"type": "string", "maxLength": 30}}),
        closed({"event": {"const": "leave"}, "why": {"type": ["string", "null"]}})]}),
    "recursion": ("Show a tree of folders.", {
        "$defs": {"folder": closed({"name": {"type": "string", "maxLength": 20},
                                    "folders": {"type": "array", "items": {"$ref": "#/$defs/folder"}, "maxItems": 3}})},
        "$ref": "#/$defs/folder"}),
    "map": ("List the stock of a fruit shop.", {
        "type": "object", "patternProperties": {"^[a-z]{2,12}$": {"type": "integer", "minimum": 0, "maximum": 999}},
        "additionalProperties": False, "minProperties": 1, "maxProperties": 6}),
}


def many(schema, least):
    """A list of such values, so that there is enough text to measure, and room to end it."""
    items = {k: v for k, v in schema.items() if k != "$defs"}
    whole = {"type": "array", "items": items, "minItems": least}
    return whole | ({"$defs": schema["$defs"]} if "$defs" in schema else {})


# ---- runs ------------------------------------------------------------------------------------------------------------


class Runner:
    def __init__(self, options, folder):
        self.options = options
        self.folder = pathlib.Path(folder)

    def __call__(self, prompt, schema, n, *more):
        command = [self.options.quern, "run", "--json", "-m", self.options.model, "-p", prompt + "\n", "-n", n, *more]
        if self.options.threads:
            command += ["-t", self.options.threads]
        if schema is not None:
            path = self.folder / "schema.json"
            path.write_text(json.dumps(schema))
            command += ["--json-schema", f"@{path}", "--json-whitespace", self.options.whitespace]
        done = subprocess.run([str(c) for c in command], capture_output=True)
        if not done.stdout:
            sys.exit(f"bench/structured.py: {' '.join(map(str, command))}: {done.stderr.decode()}")
        return json.loads(done.stdout) | {"code": done.returncode}


def fault(out, schema):
    """Why the text is not what the schema allows; None: it is."""
    if out["code"] != 0 or not out["whole"]:
        return f"exit code {out['code']}, whole: {out['whole']}"
    try:
        value = json.loads(out["text"])
        jsonschema.Draft202012Validator(
            schema, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER).validate(value)
    except (ValueError, jsonschema.ValidationError) as error:
        return str(error).splitlines()[0]
    return None


def check_validity(run, options):
    n_runs = n_bad = 0
    for name, (prompt, schema) in SCHEMAS.items():
        runs = [(0, 1)] + [(HIGH, seed) for seed in range(1, options.seeds + 1)]
        n_tokens, shown = [], ""
        for temp, seed in runs:
            out = run(prompt, schema, options.tokens, "--temp", temp, "--seed", seed)
            why = fault(out, schema)
            n_runs += 1
            n_tokens.append(len(out["tokens"]))
            if why:
                n_bad += 1
                print(f"INVALID {name}, temperature {temp}, seed {seed}: {why}: {out['text']}")
            elif temp == 0:
                shown = out["text"]
        print(f"{name:10} {len(runs)} texts of {min(n_tokens)} to {max(n_tokens)} tokens; {shown[:90]}")
    print(f"validity: {n_runs} texts, {n_bad} invalid\n")
    return n_bad == 0


# ---- speed -----------------------------------------------------------------------------------------------------------


def measure(run, options, prompt, schema, seed):
    """Decode tokens a second with the schema, of them the picked ones alone, and without; the share that was jumped."""
    args = ["--temp", 0.8, "--seed", seed]

    def guided():
        out = run(prompt, schema, 2 * options.tokens, *args)
        made, t = len(out["tokens"]), out["timings"]
        picked = (made - t["jumped_tokens"]) * 1e3 / t["decode_ms"]
        return made, t["decode_tokens_per_second"], picked, t["jumped_tokens"]

    def free(n):
        return run(prompt, None, n, *args, "--ignore-eos")["timings"]["decode_tokens_per_second"]

    without = free(options.tokens) if seed % 2 else None  # then it is not known yet how many tokens there will be
    made, with_schema, picked, jumped = guided()
    return with_schema, picked, without or free(made), jumped / made


def compare_speed(run, options):
    print(f"{'schema':10} {'without':>9} {'with':>9} {'picked':>9}  jumped    ratio (smallest, largest)  picked")
    ratios = []
    for name, (prompt, schema) in SCHEMAS.items():
        wrapped = many(schema, 4)
        rounds = [measure(run, options, prompt, wrapped, seed) for seed in range(1, options.rounds + 1)]
        with_schema, picked, without, jumped = (statistics.median(column) for column in zip(*rounds))
        each = sorted(r[0] / r[2] for r in rounds)
        ratios.append(statistics.median(each))
        lower = statistics.median(r[1] / r[2] for r in rounds)
        print(f"{name:10} {without:9.2f} {with_schema:9.2f} {picked:9.2f} {100 * jumped:6.0f} %  {ratios[-1]:7.3f} "
              f"({each[0]:.3f}, {each[-1]:.3f})     {lower:7.3f}")
    print(f"speed: median of the ratios {statistics.median(ratios):.3f}, smallest {min(ratios):.3f}; "
          f"must be >= {MUST:.2f}")
    return min(ratios) >= MUST


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("model")
    p.add_argument("--quern", default="build/release/quern", help="the program (%(default)s)")
    p.add_argument("--tokens", type=int, default=200, help="of a text at most (%(default)s)")
    p.add_argument("--seeds", type=int, default=5, help="texts of each schema at the high temperature (%(default)s)")
    p.add_argument("--rounds", type=int, default=5, help="of the comparison of speeds; 0: none (%(default)s)")
    p.add_argument("--threads", type=int, default=0, help="0: as the program chooses")
    p.add_argument("--whitespace", type=int, default=0, help="blanks between two tokens of JSON (%(default)s)")
    options = p.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run = Runner(options, folder)
        ok = check_validity(run, options)
        if options.rounds:
            ok &= compare_speed(run, options)
    sys.exit(0 if ok else 1)


if __name__ == "__main__":
    main()
