# bench/make_model.c and bench/compare.py on a tiny model, without any other program. SPDX-License-Identifier: MIT
import importlib.util
import json
import os
import pathlib
import stat
import subprocess
import sys

import pytest

COMPARE = pathlib.Path(__file__).resolve().parents[2] / "bench/compare.py"
PEER = """#!{python}
import json, sys
n_gen = int(sys.argv[sys.argv.index("-n") + 1])
print(json.dumps([{{"n_prompt": 0 if n_gen else 8, "n_gen": n_gen, "avg_ts": 0.5 if n_gen else 1.5}}]))
"""


@pytest.fixture(scope="module")
def make_model():
    path = pathlib.Path(os.environ.get("QUERN_BUILD", "")) / "bench/quern_make_model"
    if not path.is_file():
        pytest.skip("quern_make_model is not built")
    return lambda *args: subprocess.run([path, *map(str, args)], capture_output=True, timeout=120)


@pytest.fixture(scope="module")
def model(make_model, tmp_path_factory):
    path = tmp_path_factory.mktemp("bench") / "tiny.gguf"
    result = make_model("--shape", "tiny", "--types", "q4_k_m", path)
    assert result.returncode == 0, result.stderr
    return path


@pytest.fixture(scope="module")
def compare_module():
    sys.path.insert(0, str(COMPARE.parent))  # for its table
    spec = importlib.util.spec_from_file_location("compare", COMPARE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def compare(quern, model):
    def run(*args):
        return subprocess.run([sys.executable, COMPARE, "--quern", quern.path, "--model", model, "--threads", "1",
                               "--prompt", "8", "--gen", "2", "--rounds", "2", *map(str, args)],
                              capture_output=True, timeout=120, env=quern.env)

    return run


@pytest.fixture
def peer(tmp_path):
    path = tmp_path / "peer"
    path.write_text(PEER.format(python=sys.executable))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_model_has_its_shape_and_types(quern, model):
    found = json.loads(quern("inspect", model, "--json").stdout)
    assert found["metadata"]["general.architecture"] == "llama"
    assert found["metadata"]["llama.embedding_length"] == 256
    types = {t["name"]: t["type"] for t in found["tensors"]}
    assert types["token_embd.weight"] == "Q6_K" and "output.weight" not in types
    assert types["output_norm.weight"] == "F32" and types["blk.1.attn_q.weight"] == "Q4_K"
    for name in ("attn_v", "ffn_down"):
        assert [i for i in range(8) if types[f"blk.{i}.{name}.weight"] == "Q6_K"] == [0, 3, 6, 7]


@pytest.mark.parametrize("types", ["q4_0", "q8_0", "f16"])
def test_model_of_other_types_runs(quern, make_model, tmp_path, types):
    assert make_model("--shape", "tiny", "--types", types, tmp_path / "m.gguf").returncode == 0
    out = json.loads(quern("run", "-m", tmp_path / "m.gguf", "-p", "abc", "-n", 4, "--ignore-eos", "--json").stdout)
    assert len(out["tokens"]) == 4


def test_the_same_seed_makes_the_same_model(make_model, model, tmp_path):
    for seed, same in ((1, True), (2, False)):
        assert make_model("--shape", "tiny", "--seed", seed, tmp_path / "m.gguf").returncode == 0
        assert ((tmp_path / "m.gguf").read_bytes() == model.read_bytes()) == same


@pytest.mark.parametrize("args", [[], ["--shape", "huge", "x.gguf"], ["--types", "q4_k_m"], ["--seed", "x", "x.gguf"]])
def test_make_model_wrong_usage(make_model, args):
    result = make_model(*args)
    assert result.returncode == 2 and b"usage:" in result.stderr


def test_make_model_cannot_write(make_model, tmp_path):
    result = make_model("--shape", "tiny", tmp_path / "absent/m.gguf")
    assert result.returncode == 1 and len(result.stderr.splitlines()) == 1


def test_compare_alone(compare, tmp_path):
    result = compare("--json", tmp_path / "out.json")
    assert result.returncode == 0, result.stderr
    text = result.stdout.decode()
    for word in ("prefill tok/s", "decode tok/s", "first of 5 ms", "KV", "plain reading"):
        assert word in text
    record = json.loads((tmp_path / "out.json").read_text())["models"]["tiny.gguf"]
    assert len(record["speed"]) == len(record["first"]) == 2
    assert all(r["quern"]["prefill"] > 0 and r["quern"]["decode"] > 0 for r in record["speed"])
    memory = record["memory"]
    assert 0 < memory["kv_bytes"] < memory["quern"]  # a sanitizer takes more than the limit
    assert memory["limit_bytes"] == memory["file_bytes"] + memory["kv_bytes"] + (48 << 20)


def test_compare_goes_on_where_it_stopped(compare, tmp_path):
    out = tmp_path / "out.json"
    assert compare("--json", out, "--only", "speed", "--rounds", 1).returncode == 0
    before = json.loads(out.read_text())["models"]["tiny.gguf"]["speed"]
    assert compare("--json", out, "--only", "speed").returncode == 0
    after = json.loads(out.read_text())["models"]["tiny.gguf"]["speed"]
    assert len(before) == 1 and len(after) == 2 and after[0] == before[0]
    result = compare("--json", out, "--gen", 3)
    assert result.returncode == 1 and b"other settings" in result.stderr


def test_compare_with_a_peer(compare, peer, tmp_path):
    result = compare("--only", "speed", "--peer", f"other={peer}", "--json", tmp_path / "out.json")
    assert result.returncode == 0, result.stderr
    rounds = json.loads((tmp_path / "out.json").read_text())["models"]["tiny.gguf"]["speed"]
    assert [list(r) for r in rounds] == [["quern", "other"], ["other", "quern"]]
    assert all((r["other"]["prefill"], r["other"]["decode"]) == (1.5, 0.5) for r in rounds)
    assert b" 1.5 " in result.stdout and b"other" in result.stdout


def test_compare_with_itself_and_steps(compare, tmp_path):
    result = compare("--only", "speed,steps", "--self", "eight=--kv-type q8", "--depth", 16, "--sequences", "1,3",
                     "--rounds", 1, "--json", tmp_path / "out.json")
    assert result.returncode == 0, result.stderr
    record = json.loads((tmp_path / "out.json").read_text())["models"]["tiny.gguf"]
    assert record["speed"][0]["eight"]["decode"] > 0
    assert [step["n_seqs"] for step in record["steps"][0]["quern"]["steps"]] == [1, 3]
    assert b"step of   3 sequences" in result.stdout
    assert compare("--self", "quern=--kv-type q8").returncode == 2


def test_compare_with_a_failing_peer(compare):
    result = compare("--only", "speed", "--peer", "other=false")
    assert result.returncode == 1 and b"exit code 1" in result.stderr


def test_the_table_shows_the_median_of_ratios(compare_module):
    rounds = [{"quern": {"decode": q, "others": 0}, "peer": {"decode": p, "others": 0.25}}
              for q, p in ((10, 10), (30, 10), (20, 10), (8, 40), (100, 10))]
    first = [{"quern": {"seconds": 0.1, "others": 0}, "peer": {"seconds": 0.3, "others": 0}}]
    lines = list(compare_module.table({"models": {"m": {"speed": rounds, "first": first, "first_prompt_tokens": 5}}}))
    assert len(lines) == 3
    assert lines[1].split() == ["m", "decode", "tok/s", "20.0", "peer", "10.0", "2.00", "[0.20", "..", "10.00]", "5",
                                "rounds,", "others", "up", "to", "25", "%"]
    assert "3.00 [3.00 .. 3.00]" in lines[2]


def test_a_round_with_others_is_repeated(compare_module):
    args = compare_module.parse(["--quern", "q", "--model", "m", "--rounds", "2", "--max-others", "0.1"])
    others = iter([0.5, 0.05, 0.5, 0.5, 0.5])
    record = {}
    compare_module.Comparison(args, {}).rounds("speed", record, ["quern"], lambda who: {"others": next(others)})
    assert [r["quern"]["others"] for r in record["speed"]] == [0.05, 0.5]  # after three tries it is taken as it is
