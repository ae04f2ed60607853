#!/usr/bin/env python3
"""Measures token masks of JSON schemas beside llguidance and xgrammar: one thread, the same schemas, the same texts, Llama
3's vocabulary. bench/README.md tells how to use it.

Each contestant compiles each schema afresh in every round and goes through the texts token by token; every mask counts,
the first in a state too. What depends on the vocabulary alone is prepared before. quern's times are taken in its own
program, those of the others around their Python calls.

SPDX-License-Identifier: MIT
"""
import argparse
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

for name in ("RAYON_NUM_THREADS", "OMP_NUM_THREADS", "LLGUIDANCE_NUM_THREADS"):
    os.environ[name] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
HERE = pathlib.Path(__file__).resolve().parent
sys.path.remove(str(HERE))  # another file here has the name of a package that is needed
sys.path += [str(HERE.parent / "tests" / "oracle" / "text"), str(HERE)]

try:
    import llguidance
    import llguidance.hf
    import llguidance.numpy
    import numpy
    import transformers
    import xgrammar

    import grammar_corners
    import packages
    import vocab
except ImportError as error:
    sys.exit(f"bench/grammar.py: {error}; pip install llguidance xgrammar transformers gguf numpy")

WORDS = ("the a of quick brown fox jumps over lazy dog river mountain winter summer report meeting budget invoice "
         "Zürich café naïve über 東京 Москва price order client server request answer token model weight").split()


# ---- schemas, each with a maker of instances ----

def closed(properties):
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def text(r, low, high):
    return " ".join(r.choice(WORDS) for _ in range(r.randint(low, high)))


STRING, INTEGER, NUMBER, BOOL = ({"type": t} for t in ("string", "integer", "number", "boolean"))


def profile():
    schema = closed({
        "name": STRING, "age": INTEGER, "email": STRING, "active": BOOL,
        "address": closed({"street": STRING, "city": STRING, "zip": STRING}),
        "tags": {"type": "array", "items": STRING}, "score": NUMBER, "about": STRING})

    def make(r):
        return {"name": text(r, 2, 3), "age": r.randint(1, 99), "email": "someone@example.org", "active": r.random() < 0.5,
                "address": {"street": text(r, 2, 4) + " 12", "city": text(r, 1, 1), "zip": str(r.randint(1000, 99999))},
                "tags": [text(r, 1, 2) for _ in range(r.randint(0, 4))], "score": round(r.random() * 100, 2),
                "about": text(r, 10, 30) + ' "quoted" and\nbroken\tup'}
    return schema, make


def form():
    """50 fields in five sections."""
    kinds = [(STRING, lambda r: text(r, 1, 5)), (INTEGER, lambda r: r.randint(-5, 10 ** 6)), (BOOL, lambda r: True),
             (NUMBER, lambda r: round(r.random() * 1000, 3)),
             ({"enum": ["low", "medium", "high", "very high"]}, lambda r: r.choice(["low", "very high"]))]
    names = [[f"{WORDS[(7 * s + f) % 16]}_{s}{f}" for f in range(10)] for s in range(5)]
    schema = closed({f"section_{s}": closed({n: kinds[(s + f) % 5][0] for f, n in enumerate(names[s])}) for s in range(5)})

    def make(r):
        return {f"section_{s}": {n: kinds[(s + f) % 5][1](r) for f, n in enumerate(names[s])} for s in range(5)}
    return schema, make


def orders():
    schema = closed({"orders": {"type": "array", "minItems": 1, "maxItems": 50, "items": closed({
        "id": INTEGER, "state": {"enum": ["new", "paid", "sent", "returned", "lost"]},
        "lines": {"type": "array", "items": closed({"product": STRING, "count": INTEGER})}})}})

    def make(r):
        return {"orders": [{"id": r.randint(1, 10 ** 9), "state": r.choice(["new", "paid", "sent", "returned", "lost"]),
                            "lines": [{"product": text(r, 1, 3), "count": r.randint(1, 20)} for _ in range(r.randint(0, 4))]}
                           for _ in range(r.randint(1, 6))]}
    return schema, make


def strings():
    schema = closed({
        "code": {"type": "string", "pattern": "^[A-Z]{2,3}-[0-9]{4,6}$"},
        "title": {"type": "string", "minLength": 3, "maxLength": 60},
        "slug": {"type": "string", "pattern": "^[a-z0-9]+(-[a-z0-9]+)*$"},
        "summary": {"type": "string", "maxLength": 300},
        "nick": {"type": "string", "minLength": 2, "maxLength": 20}})

    def make(r):
        return {"code": f"AB-{r.randint(1000, 999999)}", "title": text(r, 3, 8)[:60],
                "slug": "-".join(r.choice(["river", "winter", "x1", "order", "2024"]) for _ in range(r.randint(1, 6))),
                "summary": text(r, 10, 40)[:300], "nick": text(r, 1, 2)[:20].ljust(2, "x")}
    return schema, make


def tree():
    schema = {"$ref": "#/$defs/node", "$defs": {"node": closed({
        "label": STRING, "children": {"type": "array", "items": {"$ref": "#/$defs/node"}}})}}

    def make(r, depth=4):
        n = 0 if depth == 0 else r.randint(0, 3)
        return {"label": text(r, 1, 3), "children": [make(r, depth - 1) for _ in range(n)]}
    return schema, make


def numbers():
    schema = closed({"rows": {"type": "array", "items": {"type": "array", "items": NUMBER}},
                     "percent": {"type": "integer", "minimum": 0, "maximum": 100}})

    def make(r):
        return {"rows": [[round(r.uniform(-1e4, 1e4), r.randint(1, 6)) for _ in range(8)] for _ in range(6)],
                "percent": r.randint(0, 100)}
    return schema, make


CASES = {f.__name__: f for f in (profile, form, orders, strings, tree, numbers)}
CORNERS = grammar_corners.corners()


# ---- contestants: compile_us, and the times of all masks ----

class Llguidance:
    name = "llguidance"

    def __init__(self, tokenizer):
        self.tokenizer = llguidance.hf.from_tokenizer(tokenizer)
        self.mask = llguidance.numpy.allocate_token_bitmask(1, self.tokenizer.vocab_size)

    def compile(self, schema):
        compact = {"whitespace_flexible": False, "item_separator": ",", "key_separator": ":"}
        self.grammar = llguidance.LLMatcher.grammar_from_json_schema(schema, overrides=compact)
        self.first = llguidance.LLMatcher(self.tokenizer, self.grammar)

    def open(self):
        return self.first.deep_copy()

    def fill(self, matcher):
        llguidance.numpy.fill_next_token_bitmask(matcher, self.mask, 0)

    def accept(self, matcher, token):
        return matcher.consume_token(token)

    def bits(self):
        return self.mask[0]


class Xgrammar:
    name = "xgrammar"

    def __init__(self, tokenizer):
        info = xgrammar.TokenizerInfo.from_huggingface(tokenizer, vocab_size=len(tokenizer))
        self.compiler = xgrammar.GrammarCompiler(info, max_threads=1, cache_enabled=False)
        self.mask = xgrammar.allocate_token_bitmask(1, info.vocab_size)

    def compile(self, schema):
        self.compiled = self.compiler.compile_json_schema(json.dumps(schema), any_whitespace=False, separators=(",", ":"))

    def open(self):
        return xgrammar.GrammarMatcher(self.compiled)

    def fill(self, matcher):
        matcher.fill_next_token_bitmask(self.mask)

    def accept(self, matcher, token):
        return matcher.accept_token(token)

    def bits(self):
        return self.mask[0].numpy()


def measure(contestant, schema, texts, rounds):
    compile_us, masks = [], []
    for _ in range(rounds):
        begin = time.perf_counter()
        contestant.compile(schema)
        compile_us.append((time.perf_counter() - begin) * 1e6)
        for ids in texts:
            begin = time.perf_counter()
            matcher = contestant.open()
            opening = time.perf_counter() - begin
            for token in [*ids, None]:
                begin = time.perf_counter()
                contestant.fill(matcher)
                masks.append((time.perf_counter() - begin + opening) * 1e6)
                opening = 0
                if token is None:
                    continue
                is_allowed = int(contestant.bits()[token // 32]) >> (token % 32) & 1
                if not is_allowed or not contestant.accept(matcher, token):
                    sys.exit(f"{contestant.name}: a text is refused")
    return statistics.mean(compile_us), masks


def measure_quern(program, gguf, cases, rounds, steps, folder):
    path = folder / "cases.json"
    path.write_text(json.dumps(cases), encoding="utf-8")
    out = subprocess.run([program, "-r", str(rounds), "-w", str(steps), gguf, path], check=True, stdout=subprocess.PIPE).stdout
    return {case["name"]: case for case in map(json.loads, out.decode("utf-8", "replace").splitlines())}


# ---- report ----

def percentile(times, p):
    return sorted(times)[min(len(times) - 1, int(len(times) * p))]


def figures(times):
    return statistics.mean(times), percentile(times, 0.5), percentile(times, 0.99)


def row(case, name, compile_us, times):
    mean, p50, p99 = figures(times)
    print(f"| {case} | {name} | {compile_us * 1e-3:.2f} | {len(times)} | {mean:.1f} | {p50:.1f} | {p99:.1f} | {max(times):.0f} |")


def report(cases, found):
    print("| schema | | compile, ms | masks | mean, us | p50 | p99 | max |\n|---|---|---|---|---|---|---|---|")
    for case in cases:
        for name, results in found.items():
            row(case["name"], name, *results[case["name"]])
    everything = {name: [t for case in cases for t in results[case["name"]][1]] for name, results in found.items()}
    for name, times in everything.items():
        row("all", name, statistics.mean(c for c, _ in found[name].values()), times)
    ours = figures(everything["quern"])
    peers = [figures(times) for name, times in everything.items() if name != "quern"]
    if peers:
        print(f"\nthe better of the others / quern: mean {min(p[0] for p in peers) / ours[0]:.1f}, "
              f"p99 {min(p[2] for p in peers) / ours[2]:.1f}")
    for case in cases:
        mine = figures(found["quern"][case["name"]][1])
        theirs = [figures(results[case["name"]][1]) for name, results in found.items() if name != "quern"]
        if theirs:
            print(f"  {case['name']}: mean {min(p[0] for p in theirs) / mine[0]:.1f}, "
                  f"p99 {min(p[2] for p in theirs) / mine[2]:.1f}")


def report_corners(measured):
    """quern alone: the worst first, with the text before the slowest mask. Each mask counts as in its fastest round."""
    print("| case | compile, ms | masks | mean, us | p99 | max | behind |\n|---|---|---|---|---|---|---|")
    for case in sorted(measured.values(), key=lambda c: -c["slowest"][0][0]):
        mean, _, p99 = figures(case["best_us"])
        tail = json.dumps(case["slowest"][0][1][-40:], ensure_ascii=False).replace("|", "\\|")
        print(f"| {case['name']} | {case['compile_us'] * 1e-3:.2f} | {len(case['best_us'])} | {mean:.1f} | {p99:.0f} | "
              f"{case['slowest'][0][0]:.0f} | {tail} |")
    everything = [t for case in measured.values() for t in case["best_us"]]
    mean, _, p99 = figures(everything)
    print(f"| all | | {len(everything)} | {mean:.1f} | {p99:.0f} | {max(everything):.0f} | |")


def encode_all(tokenizer, texts):
    return [tokenizer.encode(t, add_special_tokens=False) for t in texts]


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    p.add_argument("--program", type=pathlib.Path, required=True, help="quern_grammar_bench")
    p.add_argument("--case", action="append", choices=CASES, help="may be given many times [all]")
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--texts", type=int, default=8, help="of each schema")
    p.add_argument("--alone", action="store_true", help="quern only")
    p.add_argument("--corners", nargs="?", const="", metavar="PART", help="quern only, and the cases of grammar_corners.py: "
                   "those with PART in their names [all]")
    p.add_argument("--steps", type=int, default=0, help="corners: tokens of each of four texts drawn from the masks")
    p.add_argument("--keep", type=pathlib.Path, help="a folder for the files that quern_grammar_bench gets")
    args = p.parse_args()
    published = packages.get("llama3.1")
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_file=str(published), eos_token="<|eot_id|>")
    r = random.Random(20)
    cases = []
    if args.corners is not None:
        cases = [{"name": name, **source, "texts": encode_all(tokenizer, texts)} for name, (source, texts) in CORNERS.items()
                 if args.corners in name]
    else:
        for name in args.case or CASES:
            schema, make = CASES[name]()
            texts = [json.dumps(make(r), separators=(",", ":"), ensure_ascii=False) for _ in range(args.texts)]
            cases.append({"name": name, "schema": schema, "texts": encode_all(tokenizer, texts)})
    with tempfile.TemporaryDirectory() as folder:
        folder = args.keep or pathlib.Path(folder)
        gguf = folder / "llama3.gguf"
        vocab.from_json(vocab.read_json(published), "llama-bpe").write(gguf)
        measured = measure_quern(args.program, gguf, cases, args.rounds, args.steps, folder)
    if args.corners is not None:
        report_corners(measured)
        return
    found = {"quern": {name: (case["compile_us"], case["mask_us"]) for name, case in measured.items()}}
    for make_contestant in [] if args.alone else [Llguidance, Xgrammar]:
        contestant = make_contestant(tokenizer)
        found[contestant.name] = {case["name"]: measure(contestant, case["schema"], case["texts"], args.rounds)
                                  for case in cases}
    report(cases, found)


if __name__ == "__main__":
    main()
