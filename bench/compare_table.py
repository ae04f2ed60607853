"""The table of compare.py: what its rounds say, as lines of text.

SPDX-License-Identifier: MIT
"""
import statistics

MIB = 1 << 20
ALLOWANCE_MIB = 48  # what a process may hold beside the file and the keys and values


def spread(values, form):
    return f"{form(statistics.median(values))} [{form(min(values))} .. {form(max(values))}]"


def values_of(rounds, who, key):
    return [r[who][key] for r in rounds if key in r.get(who, {})]


def line(name, test, quern, peer, speed, ratio, rest=""):
    return f"{name:34} {test:16} {quern:>10}  {peer:12} {speed:>10}  {ratio:24} {rest}".rstrip()


def lines_of_rounds(name, test, rounds, key, form, faster_is_less):
    quern = values_of(rounds, "quern", key)
    if not quern:
        return
    peers = [who for who in rounds[0] if who != "quern"]
    for who in peers or [""]:
        peer, ratio = values_of(rounds, who, key), ""
        if len(peer) == len(quern):
            ratio = spread([p / q if faster_is_less else q / p for q, p in zip(quern, peer)], "{:.2f}".format)
        others = max(values_of(rounds, "quern", "others") + values_of(rounds, who, "others"))
        yield line(name, test, form(statistics.median(quern)), who, form(statistics.median(peer)) if peer else "-", ratio,
                   f"{len(quern)} rounds, others up to {others * 100:.0f} %")


def lines_of_limits(name, rounds):
    read = values_of(rounds, "quern", "read_bytes_per_second")
    if read:
        shares = [r["quern"]["read_bytes_per_second"] / r["quern"]["memory_bytes_per_second"] for r in rounds]
        memory = values_of(rounds, "quern", "memory_bytes_per_second")
        yield (f"{name:34} decode reads {statistics.median(read) / 1e9:.2f} GB/s of weights,"
               f" {statistics.median(shares) * 100:.0f} % of what plain reading reached in the same round"
               f" (median {statistics.median(memory) / 1e9:.2f}, best {max(memory) / 1e9:.2f} GB/s)")
    peak = values_of(rounds, "quern", "peak_share")
    if peak:
        yield (f"{name:34} prefill reaches {statistics.median(peak) * 100:.0f} % of the multiply-adds that the processor"
               " can do")


READ_SHARE, PEAK_SHARE = 0.75, 0.60  # of the limits, that a step of several sequences may be expected to reach


def lines_of_steps(name, rounds):
    """A step beside the larger of the times for reading the weights and for multiplying, at those shares."""
    for i, first in enumerate(rounds[0]["quern"]["steps"] if rounds else []):
        times, ratios = [], []
        for r in rounds:
            step = r["quern"]["steps"][i]
            read = step["read_bytes"] / r["quern"]["memory_bytes_per_second"] / READ_SHARE
            multiply = step["mul_adds"] / step["peak"] / PEAK_SHARE if "peak" in step else 0
            times.append(step["ms"])
            ratios.append(step["ms"] / 1e3 / max(read, multiply))
        yield (f"{name:34} step of {first['n_seqs']:3} sequences: {statistics.median(times):.1f} ms,"
               f" {spread(ratios, '{:.2f}'.format)} times the larger of bytes / ({READ_SHARE:.0%} of the bandwidth) and"
               f" multiply-adds / ({PEAK_SHARE:.0%} of the peak)")


def lines_of_memory(name, found):
    peer = f"{found['peer'] / MIB:.1f}" if "peer" in found else "-"
    verdict = "within" if found["quern"] <= found["limit_bytes"] else "ABOVE"
    yield line(name, "memory MiB", f"{found['quern'] / MIB:.1f}", "peer", peer, "",
               f"{verdict} {found['limit_bytes'] / MIB:.1f}: file {found['file_bytes'] / MIB:.1f} + KV"
               f" {found['kv_bytes'] / MIB:.1f} of {found['context']} tokens + {ALLOWANCE_MIB}")


def table(results):
    yield line("model", "test", "quern", "peer", "", "quern is faster by")
    for name, record in results["models"].items():
        speed = record.get("speed", [])
        for test in ("prefill", "decode"):
            yield from lines_of_rounds(name, f"{test} tok/s", speed, test, "{:.1f}".format, False)
        yield from lines_of_rounds(name, f"first of {record.get('first_prompt_tokens')} ms", record.get("first", []),
                                   "seconds", lambda s: f"{s * 1e3:.1f}", True)
        if "memory" in record:
            yield from lines_of_memory(name, record["memory"])
        yield from lines_of_limits(name, speed)
        yield from lines_of_steps(name, record.get("steps", []))
