#!/usr/bin/env python3
"""Measures how near quern and a peer come to the exact result, and whether they write the same text. bench/README.md
tells how to use it.

Exact is what the reference kernels give: weights dequantised, float32 arithmetic, float32 keys and values. Both
programs round more than that, quern no worse than --ratio times as much as the peer: that is the first check. The
second is greedy text: equal, or first different where the peer's own two best tokens were nearly as probable.

SPDX-License-Identifier: MIT
"""
import argparse
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

PARTS = ("kl", "greedy")
CHUNK = 512
ROWS = slice(CHUNK // 2, CHUNK - 1)  # positions that count: those with context, and with a next token in the chunk
SHOWN = 40  # characters of a prompt in a line of the report


class Failure(Exception):
    pass


def run(command, env=None, **files):
    done = subprocess.run([str(c) for c in command], env=os.environ | (env or {}), stderr=subprocess.PIPE, **files)
    if done.returncode != 0:
        raise Failure(f"{command[0]} failed: {done.stderr.decode(errors='replace').strip()[-400:]}")
    return done.stdout


# ---- the two programs ------------------------------------------------------------------------------------------------


class Quern:
    def __init__(self, args, folder):
        self.program, self.logits_tool, self.folder = args.quern, args.logits_tool, folder
        self.env = {"QUERN_ISA": args.isa} if args.isa else {}

    def _json(self, *command, text):
        path = self.folder / "text"
        path.write_bytes(text)
        return json.loads(run([self.program, *command, "-f", path, "--json"], self.env, stdout=subprocess.PIPE))

    def tokenize(self, model, text, special=True):
        extra = [] if special else ["--no-special"]
        return np.array(self._json("tokenize", "-m", model, *extra, text=text)["tokens"], dtype=np.int32)

    def bos(self, model):
        """The token that the model puts before every text, or None."""
        ids, plain = (self.tokenize(model, b"a", special) for special in (True, False))
        return int(ids[0]) if ids[0] != plain[0] else None

    def logits(self, model, ids, exact=False):
        path, out = self.folder / "ids", self.folder / "quern.f32"
        ids.tofile(path)
        env = {"QUERN_ISA": "ref"} if exact else self.env
        with path.open("rb") as source, out.open("wb") as target:
            run([self.logits_tool, model, "f32" if exact else "f16", 0], env, stdin=source, stdout=target)
        return np.memmap(out, dtype=np.float32, mode="r").reshape(len(ids), -1)

    def greedy(self, model, text, n):
        return self._json("run", "-m", model, "-n", n, "--temp", 0, "--ignore-eos", text=text)["tokens"][-n:]


class Peer:
    def __init__(self, program, folder, *options):
        self.program, self.folder, self.options = program, folder, options

    def logits(self, model, ids):
        path, out = self.folder / "ids", self.folder / "peer.f32"
        ids.tofile(path)
        run([self.program, "logits", model, path, out, *self.options])
        return np.memmap(out, dtype=np.float32, mode="r").reshape(len(ids), -1)

    def greedy(self, model, ids, n):
        """Per step the id, and the two best ids with their log-probabilities."""
        path, out = self.folder / "ids", self.folder / "peer.jsonl"
        ids.tofile(path)
        run([self.program, "greedy", model, path, n, out, *self.options])
        return [json.loads(line) for line in out.read_text().splitlines()]


# ---- distance to the exact result ------------------------------------------------------------------------------------


def log_softmax(row):
    row = row.astype(np.float64)
    row -= row.max()
    return row - np.log(np.exp(row).sum())


def exact_rows(quern, model, ids, cache):
    """The exact logits of the rows that count. The cache knows models by name and size: after a change of the
    reference kernels it has to be emptied by hand."""
    if cache is None:
        return quern.logits(model, ids, exact=True)[ROWS]
    key = hashlib.sha256(f"{model.name} {model.stat().st_size} ".encode() + ids.tobytes()).hexdigest()[:16]
    path = cache / f"exact-{key}.npy"
    if not path.exists():
        cache.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part.npy")
        np.save(part, quern.logits(model, ids, exact=True)[ROWS])
        part.rename(path)
    return np.load(path, mmap_mode="r")


class Distance:
    """Divergences and negative log-likelihoods, one of each a row."""

    def __init__(self):
        self.kl, self.nll = [], []

    def add(self, exact, other, target):
        self.kl.append((np.exp(exact) * (exact - other)).sum())
        self.nll.append(-other[target])

    def row(self, name):
        kl, ppl = np.array(self.kl), np.exp(np.mean(self.nll))
        return f"  {name:<6} {kl.mean():12.4e} {np.median(kl):12.4e} {kl.max():12.4e} {ppl:12.4f}"


def measure_kl(args, quern, peer, model):
    if args.text is None:
        raise Failure("--text is missing")
    ids, bos = quern.tokenize(model, args.text.read_bytes()), quern.bos(model)
    if len(ids) < args.chunks * CHUNK:
        raise Failure(f"{args.text} has {len(ids)} tokens; {args.chunks} chunks need {args.chunks * CHUNK}")
    distances = {"exact": Distance(), "quern": Distance(), "peer": Distance()}
    for i_chunk in range(args.chunks):
        chunk = ids[i_chunk * CHUNK:(i_chunk + 1) * CHUNK].copy()
        if bos is not None:
            chunk[0] = bos
        exact = exact_rows(quern, model, chunk, args.cache)
        results = {"exact": exact, "quern": quern.logits(model, chunk)[ROWS], "peer": peer.logits(model, chunk)[ROWS]}
        for i in range(len(exact)):
            truth = log_softmax(exact[i])
            target = chunk[ROWS.start + i + 1]
            for name, distance in distances.items():
                distance.add(truth, truth if name == "exact" else log_softmax(results[name][i]), target)
    ratio = np.mean(distances["quern"].kl) / np.mean(distances["peer"].kl)
    print(f"  {'':<6} {'KL mean':>12} {'median':>12} {'largest':>12} {'perplexity':>12}")
    for name, distance in distances.items():
        print(distance.row(name))
    good = bool(ratio <= args.ratio)
    verdict = "good" if good else "TOO FAR"
    print(f"  KL of quern / KL of the peer: {ratio:.3f} (limit {args.ratio}): {verdict}\n", flush=True)
    return good


# ---- greedy text -----------------------------------------------------------------------------------------------------


def read_prompts(path):
    """One prompt a line; \\n stands for a line feed."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line.replace("\\n", "\n") for line in lines if line != ""]


class Agreement:
    """How texts compare with those of the peer, whose runner-up tells how near a tie each step was."""

    def __init__(self, name, limit):
        self.name, self.limit, self.equal, self.near, self.far, self.lines = name, limit, 0, 0, 0, []

    def add(self, prompt, steps, ids):
        at = next((i for i, step in enumerate(steps) if i >= len(ids) or ids[i] != step["id"]), None)
        if at is None:
            self.equal += 1
            return
        (_, best), (second, runner_up) = steps[at]["top"]
        gap, took = best - runner_up, ids[at] if at < len(ids) else None
        self.near, self.far = (self.near + 1, self.far) if gap < self.limit else (self.near, self.far + 1)
        shown = repr(prompt if len(prompt) <= SHOWN else prompt[:SHOWN - 3] + "...")
        took = "the second best" if took == second else took
        self.lines.append(f"    token {at + 1}, gap {gap:.4f}, took {took}: {shown}")

    def show(self):
        print(f"  {self.name}: {self.equal} equal, {self.near} first different at a gap below {self.limit}, "
              f"{self.far} above")
        print("".join(line + "\n" for line in self.lines), end="", flush=True)


def measure_greedy(args, quern, peer, model):
    judged = Agreement("quern and the peer", args.gap)
    others, n_steps, n_ties = {}, 0, 0
    if args.peers:
        others[Agreement("the peer without and with flash attention", args.gap)] = Peer(args.peer, peer.folder, "fa", 0)
    if args.other_peer:
        others[Agreement("the peer's other build and the peer", args.gap)] = Peer(args.other_peer, peer.folder)
    for prompt in read_prompts(args.prompts):
        text = prompt.encode()
        ids = quern.tokenize(model, text)
        steps = peer.greedy(model, ids, args.gen)
        n_steps += len(steps)
        n_ties += sum(best[1] - second[1] < args.gap for best, second in (step["top"] for step in steps))
        judged.add(prompt, steps, quern.greedy(model, text, args.gen))
        for agreement, other in others.items():
            agreement.add(prompt, steps, [step["id"] for step in other.greedy(model, ids, args.gen)])
    print(f"  the peer's two best less than {args.gap} apart: {n_ties} of {n_steps} tokens")
    for agreement in (judged, *others):
        agreement.show()
    print()
    return judged.far == 0


# ---- command line ----------------------------------------------------------------------------------------------------


def program(text):
    return pathlib.Path(text).absolute()  # a bare name would be looked for among the installed programs


def parse_args():
    here = pathlib.Path(__file__).parent
    p = argparse.ArgumentParser(description="Compares quern and a peer with the exact result, and their greedy texts.")
    p.add_argument("--quern", type=program, required=True, help="the program quern")
    p.add_argument("--logits-tool", type=program, required=True, help="the build's oracle/logits_tool")
    p.add_argument("--peer", type=program, required=True, help="peer_logits, linked to llama.cpp")
    p.add_argument("--model", type=pathlib.Path, action="append", required=True, help="GGUF file; may be repeated")
    p.add_argument("--text", type=pathlib.Path, help="text for the KL divergence, read byte for byte")
    p.add_argument("--chunks", type=int, default=4, help=f"chunks of {CHUNK} tokens [4]")
    p.add_argument("--ratio", type=float, default=1.05, help="KL of quern may be this many times the peer's [1.05]")
    p.add_argument("--cache", type=pathlib.Path, help="folder that keeps exact logits (0.27 GB a chunk for Gemma 3)")
    p.add_argument("--prompts", type=pathlib.Path, default=here / "prompts.txt", help="one a line, \\n for a line feed")
    p.add_argument("--gen", type=int, default=48, help="tokens of each text [48]")
    p.add_argument("--gap", type=float, default=0.1, help="difference of log-probabilities that is no tie [0.1]")
    p.add_argument("--peers", action="store_true", help="compare the peer with itself without flash attention too")
    p.add_argument("--other-peer", type=program, help="peer_logits of another build to compare the peer with")
    p.add_argument("--isa", help="kernel set of quern [QUERN_ISA, else its best]")
    p.add_argument("--only", default=",".join(PARTS), help=f"parts, of {','.join(PARTS)} [all]")
    args = p.parse_args()
    args.only = args.only.split(",")
    if not set(args.only) <= set(PARTS):
        p.error(f"--only takes {','.join(PARTS)}")
    return args


def main():
    args, good = parse_args(), True
    measures = {"kl": measure_kl, "greedy": measure_greedy}
    try:
        with tempfile.TemporaryDirectory() as folder:
            quern, peer = Quern(args, pathlib.Path(folder)), Peer(args.peer, pathlib.Path(folder))
            for model in args.model:
                print(model.name, flush=True)
                for part in args.only:
                    good = measures[part](args, quern, peer, model) and good
    except (Failure, OSError) as e:
        print(f"quality.py: {e}", file=sys.stderr)
        return 2
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
