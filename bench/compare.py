#!/usr/bin/env python3
"""Measures quern, alone or side by side with peers, and prints a table. bench/README.md tells how to use it.

A round runs each program once, the one right after the other, and gives a ratio for each peer; who goes first alternates. What is
reported is the median of the rounds' ratios, with the smallest and the largest: a machine that slows down for a minute
slows both halves of a round.

SPDX-License-Identifier: MIT
"""
import argparse
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import time

from compare_table import ALLOWANCE_MIB, MIB, table

PARTS = ("speed", "steps", "first", "memory")
TEXT = "The capital of France is Paris, and the capital of Italy is Rome. "
FIRST_TOKENS, FIRST_CONTEXT = 5, 512
MEMORY_TOKENS, MEMORY_GEN = 512, 8


class Failure(Exception):
    pass


# ---- processes -------------------------------------------------------------------------------------------------------


def processors_busy():
    """Seconds that the processors have worked since the machine started, or were taken away from it."""
    user, nice, system, _idle, _iowait, irq, softirq, steal = map(
        int, pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


class Finished:
    """A process that ran: its output, wall time, peak of resident memory, and the share of the processors that others
    had meanwhile. The peak is never below that of this Python, from which it was started."""

    def __init__(self, command, env=None):
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as log:
            busy, begin = processors_busy(), time.monotonic()
            process = subprocess.Popen([str(c) for c in command], stdin=subprocess.DEVNULL, stdout=out, stderr=log,
                                       env=os.environ | (env or {}))
            _, status, usage = os.wait4(process.pid, 0)
            self.seconds = time.monotonic() - begin
            process.returncode = os.waitstatus_to_exitcode(status)  # so that Popen does not wait for it again
            busy = processors_busy() - busy - usage.ru_utime - usage.ru_stime
            self.others = max(0.0, busy / (self.seconds * os.cpu_count()))
            self.peak_bytes = usage.ru_maxrss * 1024
            out.seek(0)
            self.output = out.read()
            if process.returncode != 0:
                log.seek(0)
                words = log.read().decode(errors="replace").strip().splitlines() or ["no message"]
                raise Failure(f"{' '.join(map(str, command))}: exit code {process.returncode}: {words[-1]}")

    def json(self):
        return json.loads(self.output)


class Peer:
    """Another program with llama-bench's options and JSON, or quern itself with other options."""

    def __init__(self, name, program, flags, is_quern):
        self.name, self.program, self.flags, self.is_quern = name, program, flags, is_quern

    def decode_options(self, depth, gen):
        if depth == 0:
            return ["-n", gen, "-p", 0]
        # Where generation at a depth has no option of its own, there is a test of prompt and generation.
        if b"--n-depth" in Finished([self.program, "--help"]).output:
            return ["-n", gen, "-p", 0, "-d", depth]
        return ["-n", 0, "-p", 0, "-gp", f"{depth},{gen}"]


class Programs:
    def __init__(self, args):
        self.args = args
        self.quern_env = {"QUERN_ISA": args.isa} if args.isa else {}
        self.peers = {p.name: p for p in args.peers}

    def quern(self, *args):
        return Finished([self.args.quern, *args], self.quern_env)

    def quern_bench(self, model, flags, *tests):
        run = self.quern("bench", "-m", model, *tests, "-t", self.args.threads, "-r", 1, "--json", *flags)
        out = run.json()
        found = {"isa": out["isa"], "others": run.others}
        for limits in out["limits"]:
            found["memory_bytes_per_second"] = limits["read_bytes_per_second"]
        return found, out["results"]

    def speeds_of_quern(self, model, flags):
        a, found = self.args, {}
        for tests in (["-p", a.prompt, "-n", 0], ["-p", 0, "-n", a.gen, "-d", a.depth]):
            if tests[1] + tests[3] == 0:
                continue
            more, results = self.quern_bench(model, flags, *tests)
            found |= more | {"others": max(found.get("others", 0), more["others"])}
            for r in results:
                found[r["test"]] = r["tokens_per_second"]["median"]
                if r["test"] == "decode" and r.get("weight_bytes_per_second"):
                    found["read_bytes_per_second"] = r["weight_bytes_per_second"]
                if r["test"] == "prefill" and r.get("peak_share"):
                    found["peak_share"] = r["peak_share"]
        return found

    def bench(self, who, model):
        """Speeds of one run: tests by name, in tokens a second, and what quern says of the machine."""
        a = self.args
        if who == "quern":
            return self.speeds_of_quern(model, [])
        peer = self.peers[who]
        if peer.is_quern:
            return self.speeds_of_quern(model, peer.flags)
        same = [peer.program, "-m", model, "-t", a.threads, "-r", 1, "-o", "json", *peer.flags]
        found = {"others": 0}
        for test, flags in (("prefill", ["-p", a.prompt, "-n", 0]),
                            ("decode", peer.decode_options(a.depth, a.gen))):
            if (a.prompt if test == "prefill" else a.gen) > 0:
                run = Finished([*same, *flags])
                found[test] = run.json()[-1]["avg_ts"]
                found["others"] = max(found["others"], run.others)
        return found

    def steps(self, model):
        """Milliseconds of a step that adds a token to each of so many sequences, and its limits."""
        found, results = self.quern_bench(model, [], "-p", 0, "-n", self.args.gen, "--sequences", self.args.sequences)
        found["steps"] = []
        for r in results:
            seconds = r["n_seqs"] / r["tokens_per_second"]["median"]
            step = {"n_seqs": r["n_seqs"], "ms": seconds * 1e3,
                    "read_bytes": r["weight_bytes_per_second"] * seconds, "mul_adds": r["mul_adds_per_second"] * seconds}
            if r.get("peak_share"):
                step["peak"] = r["mul_adds_per_second"] / r["peak_share"]
            found["steps"].append(step)
        return found

    def generate(self, who, model, prompt_file, n_ctx, n_gen):
        a = self.args
        same = ["-m", model, "-f", prompt_file, "-n", n_gen, "-c", n_ctx, "-t", a.threads, "--temp", 0]
        if who == "quern":
            return self.quern("run", *same, "--ignore-eos")
        return Finished([a.peer_run, *same, "--ignore-eos", "-no-cnv", "--no-warmup"])

    def tokens(self, model, text, *more):
        return self.quern("tokenize", "-m", model, "-p", text, "--json", *more).json()["tokens"]

    def prompt_of(self, model, n_tokens):
        """A text of n_tokens tokens (for some vocabularies a few more or fewer), and their number."""
        text = TEXT * (1 + n_tokens // 8)
        plain = self.tokens(model, text, "--no-special")
        n_special = len(self.tokens(model, text)) - len(plain)
        ids = " ".join(map(str, plain[:n_tokens - n_special]))
        text = self.quern("tokenize", "-m", model, "--ids", ids, "--json").json()["text"]
        return text, len(self.tokens(model, text))


# ---- measurements ----------------------------------------------------------------------------------------------------


def order(i_round, programs):
    """Who runs when: the one that goes first alternates."""
    return programs if i_round % 2 == 0 else programs[::-1]


def read_through(path):
    """So that every run finds the file in memory."""
    with open(path, "rb", buffering=0) as f:
        while f.read(MIB):
            pass


class Comparison:
    """Fills results, which is written after every round, so that a run that was stopped can go on later."""

    def __init__(self, args, results):
        self.args, self.results = args, results
        self.programs = Programs(args)
        self.end = time.monotonic() + args.stop_after if args.stop_after else None

    def time_is_up(self):
        return self.end is not None and time.monotonic() >= self.end

    def save(self):
        if self.args.json:
            partial = self.args.json.with_suffix(".partial")
            partial.write_text(json.dumps(self.results, indent=1) + "\n")
            os.replace(partial, self.args.json)

    def rounds(self, part, record, programs, measure):
        """Adds rounds until there are enough. A round is left out and repeated, up to three times in all, when others
        had more of the processors than --max-others."""
        done = record.setdefault(part, [])
        while len(done) < self.args.rounds:
            for attempt in range(3):
                if self.time_is_up():
                    return
                round_ = {who: measure(who) for who in order(len(done), programs)}
                if max(r["others"] for r in round_.values()) <= self.args.max_others:
                    break
            done.append(round_)
            self.save()

    def speed(self, model, record):
        who = ["quern", *self.programs.peers]
        self.rounds("speed", record, who, lambda w: self.programs.bench(w, model))

    def steps(self, model, record):
        if self.args.sequences:
            self.rounds("steps", record, ["quern"], lambda _: self.programs.steps(model))

    def first(self, model, record):
        text, n_tokens = self.programs.prompt_of(model, FIRST_TOKENS)
        record["first_prompt_tokens"] = n_tokens
        with tempfile.NamedTemporaryFile(suffix=".txt") as prompt:
            pathlib.Path(prompt.name).write_text(text)

            def measure(who):
                run = self.programs.generate(who, model, prompt.name, FIRST_CONTEXT, 1)
                return {"seconds": run.seconds, "others": run.others}

            self.rounds("first", record, ["quern", "peer"] if self.args.peer_run else ["quern"], measure)

    def memory(self, model, record):
        """One run is enough: memory does not depend on how busy the machine is."""
        if "memory" in record or self.time_is_up():
            return
        text, n_tokens = self.programs.prompt_of(model, MEMORY_TOKENS)
        n_ctx = n_tokens + MEMORY_GEN + 1  # a peer may want room for the token that it does not evaluate
        need = self.programs.quern("inspect", model, "-c", n_ctx, "--json").json()
        found = {"context": n_ctx, "file_bytes": need["file_bytes"], "kv_bytes": need["memory"]["kv_bytes"]}
        found["limit_bytes"] = found["file_bytes"] + found["kv_bytes"] + ALLOWANCE_MIB * MIB
        with tempfile.NamedTemporaryFile(suffix=".txt") as prompt:
            pathlib.Path(prompt.name).write_text(text)
            for who in ["quern", "peer"] if self.args.peer_run else ["quern"]:
                found[who] = self.programs.generate(who, model, prompt.name, n_ctx, MEMORY_GEN).peak_bytes
        record["memory"] = found
        self.save()

    def run(self):
        for model in self.args.model:
            record = self.results["models"].setdefault(pathlib.Path(model).name, {})
            read_through(model)
            for part in self.args.only:
                getattr(self, part)(model, record)


# ---- command line ----------------------------------------------------------------------------------------------------


def parse(argv):
    p = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    p.add_argument("--quern", required=True, help="the program")
    p.add_argument("--peer", action="append", default=[], metavar="NAME=COMMAND",
                   help="llama-bench, or what has its options and its JSON, with further options; may be given many times")
    p.add_argument("--self", action="append", default=[], metavar="NAME=OPTIONS", dest="selves",
                   help="quern bench with further options as one more peer: q8='--kv-type q8'")
    p.add_argument("--peer-run", help="llama-completion, for the first token and the memory")
    p.add_argument("--model", action="append", required=True, help="GGUF file; may be given many times")
    p.add_argument("--threads", type=int, default=os.cpu_count())
    p.add_argument("--prompt", type=int, default=512, help="tokens of the prefill test; 0: none [512]")
    p.add_argument("--gen", type=int, default=64, help="tokens of the decode test; 0: none [64]")
    p.add_argument("--depth", type=int, default=0, help="tokens that stand in the context before the decode test [0]")
    p.add_argument("--sequences", metavar="N,...", help="steps that add a token to each of N sequences [none]")
    p.add_argument("--rounds", type=int, default=9)
    p.add_argument("--isa", help="kernels that quern shall use, as QUERN_ISA")
    p.add_argument("--only", default=",".join(PARTS), help="some of speed, first and memory, by commas")
    p.add_argument("--max-others", type=float, default=1.0, metavar="SHARE",
                   help="repeat a round in which other processes had more of the processors than this [1: never]")
    p.add_argument("--stop-after", type=float, metavar="SECONDS",
                   help="begin no round later than this; the same command with the same --json goes on")
    p.add_argument("--json", type=pathlib.Path, metavar="FILE", help="all rounds; what it holds is not repeated")
    args = p.parse_args(argv)
    args.only = args.only.split(",")
    if not set(args.only) <= set(PARTS):
        p.error(f"--only: not all of {', '.join(args.only)} are among {', '.join(PARTS)}")
    args.peers = []
    for text, is_quern in [(t, False) for t in args.peer] + [(t, True) for t in args.selves]:
        name, equals, command = text.partition("=")
        words = shlex.split(command)
        if not name or not equals or not words or name == "quern" or name in [p.name for p in args.peers]:
            p.error(f"{text}: not NAME=..., or a name twice")
        args.peers.append(Peer(name, args.quern, words, True) if is_quern else Peer(name, words[0], words[1:], False))
    return args


def processor():
    for text in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if text.startswith("model name"):
            return text.partition(":")[2].strip()
    return "unknown"


def open_results(args):
    settings = {k: getattr(args, k) for k in ("threads", "prompt", "gen", "depth", "sequences", "isa")}
    settings |= {"peers": {p.name: shlex.join(p.flags) for p in args.peers}, "processor": processor()}
    if args.json and args.json.exists():
        results = json.loads(args.json.read_text())
        if results["settings"] != settings:
            raise Failure(f"{args.json}: holds results of other settings: {results['settings']}")
        return results
    return {"settings": settings, "date": time.strftime("%Y-%m-%d"), "models": {}}


def main(argv):
    args = parse(argv)
    try:
        results = open_results(args)
        Comparison(args, results).run()
    except (Failure, OSError, ValueError, KeyError) as error:
        print(f"compare: {error}", file=sys.stderr)
        return 1
    peers = ", ".join(f"{name} {flags}".strip() for name, flags in results["settings"]["peers"].items())
    print(f"{results['date']}, {results['settings']['processor']}, {args.threads} threads; peers: {peers or 'none'}")
    print("\n".join(table(results)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
