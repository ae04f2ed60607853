#!/usr/bin/env python3
"""Measures what busy neighbours cost: the share of its quiet speed that a program keeps beside them.

Neighbours are loops that do nothing but run: one that is pinned to the last core ("pinned"), or several that the system
puts where it likes ("free"). A round runs each program quiet and beside each kind of neighbours, one right after the
other, and gives one ratio for each kind; who goes first alternates. What is reported is the median of the rounds'
ratios, with the smallest and the largest. Nothing else may run meanwhile; the last column tells how much of the
processors others had in the worst quiet run.

    bench/contention.py --quern build/release/quern --peer peer/bin/llama-bench --model model.gguf

SPDX-License-Identifier: MIT
"""
import argparse
import contextlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

from compare import Failure, processors_busy

LOOP = "while True:\n    pass\n"
SETTLE_S = 0.2  # until the system has moved the neighbours to where they stay


@contextlib.contextmanager
def neighbours(kind, args, cores):
    """Busy loops as long as the block lasts."""
    n = {"quiet": 0, "pinned": 1, "free": args.free}[kind]
    pin = (lambda: os.sched_setaffinity(0, {cores[-1]})) if kind == "pinned" else None
    loops = [subprocess.Popen([sys.executable, "-c", LOOP], preexec_fn=pin) for _ in range(n)]
    try:
        time.sleep(SETTLE_S)
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def command_of(who, test, args):
    prompt, gen = (args.prompt, 0) if test == "prefill" else (0, args.gen)
    common = ["-m", args.model, "-p", prompt, "-n", gen, "-t", args.threads, "-r", args.repeat]
    return [args.quern, "bench", *common, "--json"] if who == "quern" else [args.peer, *common, "-o", "json"]


def speed(who, test, args):
    """Tokens a second, and the share of the processors that others had."""
    command = [str(c) for c in command_of(who, test, args)]
    busy, begin = processors_busy(), time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        out, log = process.communicate()
        usage = os.times()
    seconds = time.monotonic() - begin
    if process.returncode != 0:
        words = log.decode(errors="replace").strip().splitlines() or ["no message"]
        raise Failure(f"{' '.join(command)}: exit code {process.returncode}: {words[-1]}")
    own = usage.children_user + usage.children_system - speed.children
    speed.children += own
    others = max(0.0, (processors_busy() - busy - own) / (seconds * os.cpu_count()))
    parsed = json.loads(out)
    if who == "quern":
        speeds = [r["tokens_per_second"]["median"] for r in parsed["results"] if r["test"] == test]
    else:
        speeds = [r["avg_ts"] for r in parsed if (r["n_prompt"] > 0) == (test == "prefill")]
    return speeds[0], others


speed.children = 0.0


def run_round(i_round, args, cores, records):
    programs = ["quern", "peer"] if args.peer else ["quern"]
    for test in args.tests:
        for who in programs if i_round % 2 == 0 else programs[::-1]:
            record = {}
            for kind in ("quiet", *args.kinds):
                with neighbours(kind, args, cores):
                    record[kind], others = speed(who, test, args)
                if kind == "quiet":
                    record["others"] = others
                usage = os.times()  # the loops were children too
                speed.children = usage.children_user + usage.children_system
            records.setdefault(f"{who} {test}", []).append(record)
            print(f"round {i_round + 1}: {who} {test}: " +
                  ", ".join(f"{k} {record[k]:.1f}" for k in ("quiet", *args.kinds)), file=sys.stderr)


def table(args, records):
    lines = ["| | quiet tok/s | " + " | ".join(f"{k}: keeps (min - max)" for k in args.kinds) + " | others |",
             "|---|---" + "|---" * (len(args.kinds) + 1) + "|"]
    for name, rounds in records.items():
        cells = [f"{statistics.median(r['quiet'] for r in rounds):.1f}"]
        for kind in args.kinds:
            kept = [r[kind] / r["quiet"] for r in rounds]
            cells.append(f"{statistics.median(kept):.0%} ({min(kept):.0%} - {max(kept):.0%})")
        cells.append(f"{max(r['others'] for r in rounds):.0%}")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main():
    cores = sorted(os.sched_getaffinity(0))
    p = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    p.add_argument("--quern", type=pathlib.Path, required=True)
    p.add_argument("--peer", type=pathlib.Path, help="a llama-bench")
    p.add_argument("--model", type=pathlib.Path, required=True)
    p.add_argument("--threads", type=int, default=len(cores))
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--repeat", type=int, default=3, help="runs inside one measurement")
    p.add_argument("--prompt", type=int, default=512)
    p.add_argument("--gen", type=int, default=64)
    p.add_argument("--free", type=int, default=4, help="number of neighbours that are not pinned")
    p.add_argument("--tests", type=lambda s: s.split(","), default=["decode", "prefill"])
    p.add_argument("--kinds", type=lambda s: s.split(","), default=["pinned", "free"])
    p.add_argument("--json", type=pathlib.Path, help="where to write all figures")
    args = p.parse_args()
    records = {}
    try:
        for i in range(args.rounds):
            run_round(i, args, cores, records)
    except Failure as failure:
        sys.exit(f"contention.py: {failure}")
    print(f"{args.model.name}, {args.threads} threads, {len(cores)} cores, {args.rounds} rounds, "
          f"{args.free} free neighbours\n\n{table(args, records)}")
    if args.json:
        args.json.write_text(json.dumps({"threads": args.threads, "free": args.free, "records": records}, indent=1) + "\n")


if __name__ == "__main__":
    main()
