# quern inspect: good files, bad files, JSON. SPDX-License-Identifier: MIT
import json
import struct

import gguf_file as g
import pytest
from conftest import assert_fails


def test_table(quern, tiny_model):
    result = quern("inspect", tiny_model)
    assert result.returncode == 0 and result.stderr == b""
    text = result.stdout.decode()
    for word in ("general.architecture", '"llama"', "blk.0.ffn_down.weight", "64 x 32", "F32", "... 266 items"):
        assert word in text


def test_json(quern, tiny_model):
    out = json.loads(quern("inspect", "--json", "-c", 100, tiny_model).stdout)
    assert out["version"] == 3 and out["alignment"] == 32 and out["files"] == 1
    assert out["file_bytes"] == tiny_model.stat().st_size
    assert out["metadata"]["llama.block_count"] == 1
    assert out["metadata"]["llama.attention.layer_norm_rms_epsilon"] == 1e-5
    assert out["metadata"]["tokenizer.ggml.add_bos_token"] is True
    assert out["metadata"]["tokenizer.ggml.tokens"] == {"type": "array", "item": "string", "count": 266}
    tensors = {t["name"]: t for t in out["tensors"]}
    assert len(tensors) == 12
    assert tensors["blk.0.ffn_down.weight"] == {"name": "blk.0.ffn_down.weight", "type": "F32", "shape": [64, 32],
                                                "bytes": 64 * 32 * 4}
    assert out["parameters"] == sum(t["bytes"] for t in out["tensors"]) // 4
    assert out["types"]["F32"]["tensors"] == 12
    # One layer, two heads of 16, keys and values, two bytes each.
    peak = out["memory"].pop("peak")
    assert out["memory"] == {"weight_bytes": out["parameters"] * 4, "context": 100, "kv_bytes": 100 * 2 * 16 * 2 * 2}
    assert peak["bytes"] == sum(peak["parts"].values()) and peak["parts"]["model file"] == out["file_bytes"]
    assert peak["mapped"] is True and peak["sequences"] == 1 and peak["batch"] == 512


def test_full_arrays(quern, tiny_model):
    out = json.loads(quern("inspect", "--json", "--full", tiny_model).stdout)
    tokens = out["metadata"]["tokenizer.ggml.tokens"]
    assert len(tokens) == 266 and tokens[1] == "<s>" and tokens[-1] == "\u2581a"
    assert out["metadata"]["tokenizer.ggml.scores"][-1] == -6


def test_every_type_of_value(quern, tmp_path):
    kv = [("a.u8", g.U8, 255), ("a.i8", g.I8, -128), ("a.u16", g.U16, 65535), ("a.i16", g.I16, -32768),
          ("a.u32", g.U32, 2**32 - 1), ("a.i32", g.I32, -2**31), ("a.f32", g.F32, 0.1), ("a.bool", g.BOOL, 0),
          ("a.string", g.STRING, "x\ny\x1b[31m\\é"), ("a.u64", g.U64, 2**64 - 1), ("a.i64", g.I64, -2**63),
          ("a.f64", g.F64, 0.1), ("a.none", g.ARRAY, (g.U8, [])), ("a.some", g.ARRAY, (g.I16, [-1, 2])),
          ("a.real", g.ARRAY, (g.F64, [0.25, -1e300])), ("a.nan", g.F32, float("nan"))]
    path = tmp_path / "types.gguf"
    path.write_bytes(g.File(kv).to_bytes())
    want = {key: v[1] if kind == g.ARRAY else v for key, kind, v in kv}
    want |= {"a.bool": False, "a.nan": None}
    assert json.loads(quern("inspect", "--json", path).stdout)["metadata"] == want
    table = quern("inspect", path).stdout
    assert b"\x1b" not in table
    assert b"x\\ny\\x1b[31m\\\\\xc3\xa9" in table
    assert str(2**64 - 1).encode() in table and str(-2**63).encode() in table


def bad_files():
    good = g.tiny_llama().to_bytes()
    duplicate = g.File([("k.a", g.U32, 1), ("k.a", g.U32, 2)])
    alignment = g.File([("general.alignment", g.U32, 3)])
    yield "empty", b"", []
    yield "html", b"<!DOCTYPE html><html><body>404</body></html>" * 10, []
    yield "magic", b"GGUX" + good[4:], []
    yield "version", good[:4] + struct.pack("<I", 99) + good[8:], ["version", "99"]
    yield "cut", good[:len(good) * 6 // 10], []
    yield "header", good[:20], []
    yield "duplicate", duplicate.to_bytes(), ["k.a"]
    yield "alignment", alignment.to_bytes(), ["general.alignment"]
    yield "many", good[:16] + struct.pack("<Q", 2**63) + good[24:], []


@pytest.mark.parametrize("name,data,words", list(bad_files()), ids=lambda v: v if isinstance(v, str) else "")
def test_bad_files(quern, tmp_path, name, data, words):
    path = tmp_path / f"{name}.gguf"
    path.write_bytes(data)
    assert_fails(quern("inspect", path), 1, *words)
    assert_fails(quern("inspect", "--json", path), 1, *words)
    assert_fails(quern("run", "-m", path, "x"), 1, *words)


def changed(key, kind=None, value=None, drop_tensors=False):
    """The tiny model with another value of a key, or without the key."""
    file = g.tiny_llama()
    file.kv = [kv for kv in file.kv if kv[0] != key] + ([(key, kind, value)] if kind is not None else [])
    file.tensors = [] if drop_tensors else file.tensors
    return file.to_bytes()


@pytest.mark.parametrize("data,result,word", [
    (changed("llama.block_count"), "broken", "llama.block_count"),
    (changed("llama.attention.head_count", g.U32, 3), "broken", "head_count"),
    (changed("llama.embedding_length", g.U32, 64), "broken", "token_embd.weight"),
    (changed("tokenizer.ggml.bos_token_id", g.U32, 999), "broken", "bos_token_id"),
    (changed("tokenizer.ggml.scores"), "broken", "tokenizer.ggml.scores"),
    (changed("general.architecture", g.STRING, "abacus"), "unsupported", "known: llama, qwen2"),
    (changed("tokenizer.ggml.model", g.STRING, "runes"), "unsupported", "runes"),
    (changed("general.architecture"), "unsupported", "general.architecture"),
    (changed("none", drop_tensors=True), "vocabulary", None),
], ids=lambda v: v if isinstance(v, str) else "")
def test_inspect_judges_as_run_does(quern, tmp_path, data, result, word):
    path = tmp_path / "model.gguf"
    path.write_bytes(data)
    ran = quern("run", "-m", path, "-n", 1, "x")
    table, as_json = quern("inspect", path), quern("inspect", "--json", path)
    check = json.loads(as_json.stdout)["check"]
    assert check["result"] == result and ran.returncode == 1
    if result == "vocabulary":
        assert check["why"] is None
    else:
        assert word in check["why"] and check["why"] in table.stdout.decode()
        assert word in ran.stderr.decode()
    for done in (table, as_json):
        assert done.returncode == (1 if result == "broken" else 0)
        assert (check["why"] or "-") in done.stderr.decode() if result == "broken" else done.stderr == b""


def test_good_file(quern, tiny_model):
    assert json.loads(quern("inspect", "--json", tiny_model).stdout)["check"] == {"result": "good", "why": None}
    assert "CHECK\ngood" in quern("inspect", tiny_model).stdout.decode()


def test_plan(quern, tiny_model):
    text = quern("inspect", "--plan", tiny_model, "-c", 100)
    out = json.loads(quern("inspect", "--plan", "--json", tiny_model, "-c", 100).stdout)
    assert text.returncode == 0 and out["context"] == 100 and out["batch"] == 100
    assert "\n".join(out["plan"]) + "\n" == text.stdout.decode()
    assert any("arena" in line for line in out["plan"])


def test_not_a_file(quern, tmp_path):
    assert_fails(quern("inspect", tmp_path), 1)
    assert_fails(quern("inspect", tmp_path / "absent.gguf"), 1, "absent.gguf")


def test_shared_files(quern, shared):
    out = json.loads(quern("inspect", "--json", shared("models/stories260K.gguf")).stdout)
    assert out["parameters"] == 292800 and len(out["tensors"]) == 48
    assert out["memory"]["context"] == 2048 and out["memory"]["kv_bytes"] == 5 * 2048 * 4 * 8 * 2 * 2
    out = json.loads(quern("inspect", "--json", shared("vocab/ggml-vocab-llama-spm.gguf")).stdout)
    assert out["tensors"] == [] and out["metadata"]["tokenizer.ggml.tokens"]["count"] == 32000
