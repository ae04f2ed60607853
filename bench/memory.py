#!/usr/bin/env python3
"""Holds what `quern inspect` predicts against the peak of resident memory of a run that fills its context, for several
models, contexts, types of keys and values, numbers of threads, and ways to load the file. Prints a table; the exit code
is 1 when a prediction is further off than --mib and --percent allow, or the peak is above the file, the keys and values
and --allowance.

SPDX-License-Identifier: MIT
"""
import argparse
import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile

MIB = 1 << 20


class Failure(Exception):
    pass


def output_of(*command):
    done = subprocess.run([str(c) for c in command], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if done.returncode != 0:
        words = done.stderr.decode(errors="replace").strip().splitlines() or ["no message"]
        raise Failure(f"{' '.join(map(str, command))}: exit code {done.returncode}: {words[-1]}")
    return json.loads(done.stdout)


class Prompts:
    """Texts that nearly fill a context; how many tokens a word makes depends on the model."""

    def __init__(self, quern, folder):
        self.quern, self.folder, self.units = quern, pathlib.Path(folder), {}

    def count(self, model, text):
        path = self.folder / "count.txt"
        path.write_text(text)
        return len(output_of(self.quern, "tokenize", "-m", model, "-f", path, "--json")["tokens"])

    def of(self, model, n_tokens):
        if model not in self.units:
            few, many = (self.count(model, " the" * n) for n in (10, 110))
            self.units[model] = (many - few) / 100
        path = self.folder / "prompt.txt"
        path.write_text(" the" * int((n_tokens - 4) / self.units[model]))
        return path


def peak_of(command):
    """As the program itself reports it, so that this Python's own memory is no part of it."""
    out = output_of(*command)
    return out["timings"]["peak_memory_bytes"], out["prompt_tokens"]


def measure(args, prompts, model, n_ctx, kv_type, n_threads, no_mmap):
    same = ["-c", n_ctx, "-b", args.batch, "--kv-type", kv_type, "-t", n_threads, *(["--no-mmap"] if no_mmap else [])]
    need = output_of(args.quern, "inspect", "--json", *same, model)
    found = {"model": os.path.basename(model), "context": n_ctx, "kv_type": kv_type, "threads": n_threads,
             "no_mmap": no_mmap, "file_bytes": need["file_bytes"], "parts": need["memory"]["peak"]["parts"],
             "predicted": need["memory"]["peak"]["bytes"]}
    found["peak"], found["tokens"] = peak_of([args.quern, "run", "-m", model, "-n", 1, "--temp", 0, "--json", "-f",
                                              prompts.of(model, n_ctx), *same])
    off = abs(found["peak"] - found["predicted"])
    found["limit"] = found["file_bytes"] + found["parts"]["kv"] + args.allowance * MIB
    found["good"] = off <= max(args.mib * MIB, args.percent / 100 * found["peak"]) and found["peak"] <= found["limit"]
    return found


def print_row(f):
    kv = f["parts"]["kv"]
    beside = f["peak"] - f["file_bytes"] - kv
    off = (f["predicted"] / f["peak"] - 1) * 100
    print(f"| {f['model'][:28]:28} | {f['context']:6} | {f['kv_type']:5} | {f['threads']:2} |"
          f" {'read' if f['no_mmap'] else 'map':4} | {f['file_bytes'] / MIB:8.1f} | {kv / MIB:8.1f} |"
          f" {beside / MIB:7.1f} | {f['peak'] / MIB:8.1f} | {f['predicted'] / MIB:8.1f} | {off:+6.2f} % |"
          f" {'' if f['good'] else 'BAD'}", flush=True)


def numbers(text):
    return [int(n) for n in text.split(",")]


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    p.add_argument("--quern", default="build/release/quern")
    p.add_argument("--model", action="append", required=True, help="GGUF file; may be given several times")
    p.add_argument("--contexts", type=numbers, default=[512, 8192])
    p.add_argument("--kv-types", type=lambda s: s.split(","), default=["f16", "q8"])
    p.add_argument("--threads", type=numbers, default=[1, 2])
    p.add_argument("--batch", type=int, default=512)
    p.add_argument("--only-mapped", action="store_true", help="leave out runs with --no-mmap")
    p.add_argument("--mib", type=float, default=8, help="how far off a prediction may be, or --percent if that is more")
    p.add_argument("--percent", type=float, default=2)
    p.add_argument("--allowance", type=float, default=48, help="MiB beside the file and the keys and values")
    p.add_argument("--json", type=pathlib.Path)
    args = p.parse_args()
    print("| model                        | tokens | kv    | -t | file |     file |       kv |  beside |     peak |"
          "  inspect |      off |\n|---|---|---|---|---|---|---|---|---|---|---|")
    found = []
    with tempfile.TemporaryDirectory() as folder:
        prompts = Prompts(args.quern, folder)
        ways = [False] if args.only_mapped else [False, True]
        for case in itertools.product(args.model, args.contexts, args.kv_types, args.threads, ways):
            found.append(measure(args, prompts, *case))
            print_row(found[-1])
    if args.json:
        args.json.write_text(json.dumps(found, indent=1))
    return 0 if all(f["good"] for f in found) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        sys.exit(f"memory.py: {failure}")
