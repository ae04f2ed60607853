#!/usr/bin/env python3
"""Measures quern, alone or side by side with a peer, and prints a table. bench/README.md tells how to use it.

A round runs each program once, the one right after the other, and gives one ratio; who goes first alternates. What is
reported is the median of the rounds' ratios, with the smallest and the largest: a machine that slows down for a minute
slows both halves of a round.

SPDX-License-Identifier: MIT
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

PARTS = ("speed", "first", "memory")
TEXT = "The capital of France is Paris, and the capital of Italy is Rome. "
MIB = 1 << 20
ALLOWANCE_MIB = 64  # what a process may hold beside the file and the keys and values
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


class Programs:
    def __init__(self, args):
        self.args = args
        self.quern_env = {"QUERN_ISA": args.isa} if args.isa else {}

    def quern(self, *args):
        return Finished([self.args.quern, *args], self.quern_env)

    def bench(self, who, model):
        """Speeds of one run: tests by name, in tokens a second, and what quern says of the machine."""
        a = self.args
        if who == "quern":
            run = self.quern("bench", "-m", model, "-p", a.prompt, "-n", a.gen, "-t", a.threads, "-r", 1, "--json")
            out = run.json()
            speeds = {r["test"]: r["tokens_per_second"]["median"] for r in out["results"]}
            for r in out["results"]:
                if r.get("memory_share"):
                    speeds["read_bytes_per_second"] = r["weight_bytes_per_second"]
                    speeds["memory_bytes_per_second"] = r["weight_bytes_per_second"] / r["memory_share"]
                if r.get("peak_share"):
                    speeds["peak_share"] = r["peak_share"]
            speeds["isa"] = out["isa"]
        else:
            run = Finished([a.peer, "-m", model, "-p", a.prompt, "-n", a.gen, "-t", a.threads, "-r", 1, "-o", "json"])
            speeds = {"prefill" if r["n_prompt"] > 0 else "decode": r["avg_ts"] for r in run.json()}
        return speeds | {"others": run.others}

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
        who = ["quern", "peer"] if self.args.peer else ["quern"]
        self.rounds("speed", record, who, lambda w: self.programs.bench(w, model))

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


# ---- the table -------------------------------------------------------------------------------------------------------


def spread(values, form):
    return f"{form(statistics.median(values))} [{form(min(values))} .. {form(max(values))}]"


def values_of(rounds, who, key):
    return [r[who][key] for r in rounds if key in r.get(who, {})]


def line(name, test, quern, peer, ratio, rest=""):
    return f"{name:34} {test:12} {quern:>10} {peer:>10}  {ratio:24} {rest}".rstrip()


def lines_of_rounds(name, test, rounds, key, form, faster_is_less):
    quern, peer = values_of(rounds, "quern", key), values_of(rounds, "peer", key)
    if not quern:
        return
    ratio = ""
    if len(peer) == len(quern):
        ratio = spread([p / q if faster_is_less else q / p for q, p in zip(quern, peer)], "{:.2f}".format)
    peer_text = form(statistics.median(peer)) if peer else "-"
    others = max(values_of(rounds, "quern", "others") + values_of(rounds, "peer", "others"))
    yield line(name, test, form(statistics.median(quern)), peer_text, ratio,
               f"{len(quern)} rounds, others up to {others * 100:.0f} %")


def lines_of_limits(name, rounds):
    memory = values_of(rounds, "quern", "memory_bytes_per_second")
    if memory:
        read = values_of(rounds, "quern", "read_bytes_per_second")
        yield (f"{name:34} decode reads {statistics.median(read) / 1e9:.2f} GB/s of weights,"
               f" {statistics.median(read) / max(memory) * 100:.0f} % of the {max(memory) / 1e9:.2f} GB/s"
               " that plain reading reached")
    peak = values_of(rounds, "quern", "peak_share")
    if peak:
        yield f"{name:34} prefill reaches {statistics.median(peak) * 100:.0f} % of the multiply-adds that the processor can do"


def lines_of_memory(name, found):
    peer = f"{found['peer'] / MIB:.1f}" if "peer" in found else "-"
    verdict = "within" if found["quern"] <= found["limit_bytes"] else "ABOVE"
    yield line(name, "memory MiB", f"{found['quern'] / MIB:.1f}", peer, "",
               f"{verdict} {found['limit_bytes'] / MIB:.1f}: file {found['file_bytes'] / MIB:.1f} + KV"
               f" {found['kv_bytes'] / MIB:.1f} of {found['context']} tokens + {ALLOWANCE_MIB}")


def table(results):
    yield line("model", "test", "quern", "peer", "quern is faster by")
    for name, record in results["models"].items():
        speed = record.get("speed", [])
        for test in ("prefill", "decode"):
            yield from lines_of_rounds(name, f"{test} tok/s", speed, test, "{:.1f}".format, False)
        yield from lines_of_rounds(name, f"first of {record.get('first_prompt_tokens')} ms", record.get("first", []),
                                   "seconds", lambda s: f"{s * 1e3:.1f}", True)
        if "memory" in record:
            yield from lines_of_memory(name, record["memory"])
        yield from lines_of_limits(name, speed)


# ---- command line ----------------------------------------------------------------------------------------------------


def parse(argv):
    p = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    p.add_argument("--quern", required=True, help="the program")
    p.add_argument("--peer", help="llama-bench, or what has its options and its JSON")
    p.add_argument("--peer-run", help="llama-completion, for the first token and the memory")
    p.add_argument("--model", action="append", required=True, help="GGUF file; may be given many times")
    p.add_argument("--threads", type=int, default=os.cpu_count())
    p.add_argument("--prompt", type=int, default=512, help="tokens of the prefill test; 0: none [512]")
    p.add_argument("--gen", type=int, default=64, help="tokens of the decode test; 0: none [64]")
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
    return args


def open_results(args):
    settings = {k: getattr(args, k) for k in ("threads", "prompt", "gen", "isa")}
    if args.json and args.json.exists():
        results = json.loads(args.json.read_text())
        if results["settings"] != settings:
            raise Failure(f"{args.json}: holds results of other settings: {results['settings']}")
        return results
    return {"settings": settings, "models": {}}


def main(argv):
    args = parse(argv)
    try:
        results = open_results(args)
        Comparison(args, results).run()
    except (Failure, OSError, ValueError, KeyError) as error:
        print(f"compare: {error}", file=sys.stderr)
        return 1
    print("\n".join(table(results)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
