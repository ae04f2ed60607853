#!/usr/bin/env python3
"""Measures the tokenizer beside those of other projects: one thread, line by line. bench/README.md tells how to use it.

A round lets each encode the whole text once, one right after the other; who begins goes round. What is reported is the
median of the rounds, and of the ratios that each round gives, with the smallest and the largest. Before that the ids of
all are compared.

SPDX-License-Identifier: MIT
"""
import argparse
import array
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

os.environ["RAYON_NUM_THREADS"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
HERE = pathlib.Path(__file__).resolve().parent
sys.path = [p for p in sys.path if pathlib.Path(p or ".").resolve() != HERE]  # a package has this file's name
sys.path.append(str(HERE.parent / "tests" / "oracle" / "text"))

try:
    import tiktoken
    import tokenizers

    import packages
    import vocab
except ImportError as error:
    sys.exit(f"bench/tokenizers.py: {error}; pip install -r tests/oracle/requirements.txt")

VOCABULARIES = {  # name: (file, pre-tokenizer; None: SentencePiece, ranks for tiktoken)
    "llama3": ("llama3.1", "llama-bpe", "llama3-ranks"),
    "qwen3": ("qwen3", "qwen2", None),
    "gemma3": ("gemma3", None, None),
    "deepseek-v3": ("deepseek-v3", "deepseek-v3", None),
}
LLAMA3_PATTERN = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
                  r"|\s*[\r\n]+|\s+(?!\S)|\s+")


class Quern:
    def __init__(self, program, gguf, text, fresh):
        self.command = [str(program), *(["-f"] if fresh else []), "-s", str(gguf), str(text)]
        self.ids_command = [str(program), "-i", "{}", str(gguf), str(text)]
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)

    def ids(self):
        with tempfile.NamedTemporaryFile() as out:
            command = [out.name if c == "{}" else c for c in self.ids_command]
            subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
            ids = array.array("i")
            ids.frombytes(pathlib.Path(out.name).read_bytes())
            return ids.tolist()

    def seconds(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class InPython:
    """encode(lines) returns what there is to return; ids_of() makes lists of ids of it; forget() empties caches."""

    def __init__(self, lines, encode, ids_of, forget=None):
        self.lines, self.encode, self.ids_of, self.forget = lines, encode, ids_of, forget

    def ids(self):
        return [i for ids in self.ids_of(self.encode(self.lines)) for i in ids]

    def seconds(self):
        if self.forget:
            self.forget()
        begin = time.perf_counter()
        result = self.encode(self.lines)
        end = time.perf_counter()
        del result
        return end - begin

    def close(self):
        pass


def contestants(args, published, ranks, gguf, text, lines):
    tokenizer = tokenizers.Tokenizer.from_str(published)
    forget = getattr(tokenizer.model, "_clear_cache", None) if args.fresh else None
    if args.fresh and forget is None:
        sys.exit("--fresh: this version of tokenizers cannot empty its cache")
    batch = getattr(tokenizer, "encode_batch_fast", tokenizer.encode_batch)
    found = {
        "quern": Quern(args.program, gguf, text, args.fresh),
        "tokenizers, line": InPython(lines, lambda ls: [tokenizer.encode(s, add_special_tokens=False) for s in ls],
                                     lambda es: [e.ids for e in es], forget),
        "tokenizers, batch": InPython(lines, lambda ls: batch(ls, add_special_tokens=False),
                                      lambda es: [e.ids for e in es], forget),
    }
    if ranks:
        encoding = tiktoken.Encoding("llama3", pat_str=LLAMA3_PATTERN, mergeable_ranks=ranks, special_tokens={})
        found["tiktoken"] = InPython(lines, lambda ls: [encoding.encode_ordinary(s) for s in ls], lambda ids: ids)
    return found


def compare_ids(found):
    expected = found["quern"].ids()
    for name, one in found.items():
        got = one.ids() if name != "quern" else expected
        if got != expected:
            i = next((i for i, (a, b) in enumerate(zip(got, expected)) if a != b), min(len(got), len(expected)))
            sys.exit(f"{name}: other ids than quern's from number {i} on: {got[i:i + 5]}, quern {expected[i:i + 5]}")
    return len(expected)


def measure(found, rounds):
    names = list(found)
    seconds = {name: [] for name in names}
    for name in names:
        found[name].seconds()  # warm-up
    for i in range(rounds):
        for name in names[i % len(names):] + names[:i % len(names)]:
            seconds[name].append(found[name].seconds())
    return seconds


def report(vocabulary, text, n_bytes, n_ids, seconds):
    speed = {name: n_bytes / statistics.median(s) * 1e-6 for name, s in seconds.items()}
    print(f"| {vocabulary} | {text} | {n_ids} | " +
          ", ".join(f"{name} {mb:.1f}" for name, mb in speed.items()) + " | " +
          "; ".join(ratio(seconds, peers) for peers in peers_of(seconds)) + " |", flush=True)


def peers_of(seconds):
    yield [name for name in seconds if name.startswith("tokenizers")]
    if "tiktoken" in seconds:
        yield ["tiktoken"]


def ratio(seconds, peers):
    """To the better of the peers, the one with the better median."""
    best = min(peers, key=lambda name: statistics.median(seconds[name]))
    ratios = [theirs / ours for theirs, ours in zip(seconds[best], seconds["quern"])]
    return f"{best}: {statistics.median(ratios):.1f} ({min(ratios):.1f} to {max(ratios):.1f})"


def run(args, name, folder):
    file, pre, ranks_file = VOCABULARIES[name]
    published = packages.get(file)
    made = vocab.read_json(published)
    gguf = folder / f"{name}.gguf"
    (vocab.from_json_as_spm(made, add_space_prefix=False) if pre is None else vocab.from_json(made, pre)).write(gguf)
    ranks = vocab.read_ranks(packages.get(ranks_file)) if ranks_file else None
    for text in args.text:
        lines = text.read_bytes().decode().split("\n")
        lines = [line + "\n" for line in lines[:-1]] + [line for line in lines[-1:] if line]
        found = contestants(args, published.read_text(encoding="utf-8"), ranks, gguf, text, lines)
        n_ids = compare_ids(found)
        report(name, text.name, text.stat().st_size, n_ids, measure(found, args.rounds))
        for one in found.values():
            one.close()


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    p.add_argument("--program", type=pathlib.Path, required=True, help="quern_tok_bench")
    p.add_argument("--vocab", action="append", choices=VOCABULARIES, help="may be given many times [all]")
    p.add_argument("--rounds", type=int, default=7)
    p.add_argument("--fresh", action="store_true", help="each round with empty caches, on both sides")
    p.add_argument("text", type=pathlib.Path, nargs="+")
    args = p.parse_args()
    print("| vocabulary | text | tokens | MB/s, medians | times as fast as (smallest to largest) |")
    print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name in args.vocab or VOCABULARIES:
            try:
                run(args, name, pathlib.Path(folder))
            except packages.Unavailable as error:
                sys.exit(f"{name}: {error}")


if __name__ == "__main__":
    main()
