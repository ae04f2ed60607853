# quern bench: the tests it runs and the shapes it prints; no speed is judged. SPDX-License-Identifier: MIT
import json

from conftest import assert_fails

QUICK = ["-r", 2, "-t", 1]


def bench(quern, model, *args):
    result = quern("bench", "-m", model, "--json", *QUICK, *args)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def test_json(quern, tiny_model):
    out = bench(quern, tiny_model, "-p", 32, "-n", 8)
    assert out["architecture"] == "llama" and out["repetitions"] == 2 and out["weight_bytes"] > 0
    prefill, decode = out["results"]
    assert (prefill["test"], prefill["n_prompt"], prefill["n_gen"], prefill["threads"]) == ("prefill", 32, 0, 1)
    assert (decode["test"], decode["n_prompt"], decode["n_gen"], decode["depth"]) == ("decode", 0, 8, 0)
    for result in out["results"]:
        speed = result["tokens_per_second"]
        assert 0 < speed["min"] <= speed["median"] <= speed["max"]
    assert decode["weight_bytes_per_second"] > 0 and decode["memory_share"] > 0


def test_lists_make_every_pair(quern, tiny_model):
    out = bench(quern, tiny_model, "-p", "8,16", "-n", "4", "-d", "0,24")
    assert [(r["test"], r["n_prompt"], r["depth"]) for r in out["results"]] == [
        ("prefill", 8, 0), ("prefill", 16, 0), ("decode", 0, 0),
        ("prefill", 8, 24), ("prefill", 16, 24), ("decode", 0, 24)]


def test_zero_leaves_a_test_out(quern, tiny_model):
    assert [r["test"] for r in bench(quern, tiny_model, "-p", 0, "-n", 4)["results"]] == ["decode"]
    assert [r["test"] for r in bench(quern, tiny_model, "-p", 4, "-n", 0)["results"]] == ["prefill"]
    assert bench(quern, tiny_model, "-p", 0, "-n", 0)["results"] == []


def test_mixed(quern, tiny_model):
    out = bench(quern, tiny_model, "-p", 40, "-n", 0, "--mixed", 3, "-b", 13)
    mixed = out["results"][-1]
    # Steps of 10 prompt tokens: four of them, each with one token of three sequences.
    assert (mixed["test"], mixed["n_seqs"], mixed["n_prompt"], mixed["n_gen"]) == ("mixed", 3, 40, 12)
    out = bench(quern, tiny_model, "-p", 8, "-n", 0, "--mixed", 1)
    assert [r["test"] for r in out["results"]] == ["prefill", "mixed"]
    assert_fails(quern("bench", "-m", tiny_model, "--mixed", 8, "-b", 8), 2, "--mixed")


def test_sequences(quern, tiny_model):
    out = bench(quern, tiny_model, "-p", 0, "-n", 3, "--sequences", "1,4")
    assert [(r["test"], r["n_seqs"], r["n_gen"]) for r in out["results"]] == [("decode", 1, 3), ("decode", 4, 3)]
    assert_fails(quern("bench", "-m", tiny_model, "--sequences", 9, "-b", 8), 2, "--sequences")


def test_limits(quern, tiny_model):
    limits = bench(quern, tiny_model, "-p", 8, "-n", 2)["limits"]
    assert [each["threads"] for each in limits] == [1] and limits[0]["read_bytes_per_second"] > 0
    for peaks in limits[0]["mul_adds_per_second"].values():
        assert peaks and all(per_second > 1e6 for per_second in peaks.values())


def test_profile(quern, tiny_model):
    out = bench(quern, tiny_model, "-p", 40, "-n", 0, "--profile")
    info = {entry["op"]: entry for entry in out["results"][0]["profile"]}
    products = [entry for op, entry in info.items() if op.startswith("product ")]
    assert "attention" in info and "wait" in info and products
    assert all(entry["ns"] > 0 and entry["bytes"] > 0 and entry["mul_adds"] > 0 for entry in products)
    assert "profile" not in bench(quern, tiny_model, "-p", 40, "-n", 0)["results"][0]
    table = quern("bench", "-m", tiny_model, *QUICK, "-p", 8, "-n", 2, "--profile").stdout.decode()
    assert "attention" in table and "share" in table


def test_table_and_csv(quern, tiny_model):
    table = quern("bench", "-m", tiny_model, *QUICK, "-p", 8, "-n", 2).stdout.decode()
    assert "prefill" in table and "decode" in table and "tok/s" in table
    csv = quern("bench", "-m", tiny_model, *QUICK, "-p", 8, "-n", 2, "--csv").stdout.decode().splitlines()
    assert len(csv) == 3
    assert all(len(line.split(",")) == len(csv[0].split(",")) for line in csv)
