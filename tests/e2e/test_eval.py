# quern eval perplexity. SPDX-License-Identifier: MIT
import json
import math

import gguf_file
import pytest
from conftest import assert_fails


def perplexity(quern, *args):
    result = quern("eval", "perplexity", "--json", *args)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def test_counts(quern, tiny_model, tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("c" * 100)
    out = perplexity(quern, "-m", tiny_model, "-f", text, "-c", 16)
    # 100 letters, BOS and the space in front make 102 tokens at most: 6 chunks, 7 scored tokens in each.
    assert out["chunks"] == 6 and out["tokens"] == 6 * 7 and out["context"] == 16
    assert out["perplexity"] > 1 and math.isclose(math.exp(out["mean_nll"]), out["perplexity"])
    assert perplexity(quern, "-m", tiny_model, "-f", text, "-c", 16, "--chunks", 2)["tokens"] == 14
    odd = perplexity(quern, "-m", tiny_model, "-f", text, "-c", 17, "--chunks", 1)
    assert odd["tokens"] == 17 - 17 // 2 - 1


def test_batches_do_not_matter(quern, tiny_model, tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("ab c a b " * 20)
    args = ["-m", tiny_model, "-f", text, "-c", 32]
    want = perplexity(quern, *args)["perplexity"]
    for batch in (1, 5, 16):
        assert math.isclose(perplexity(quern, *args, "-b", batch)["perplexity"], want, rel_tol=1e-3)


def test_two_types_side_by_side(quern, tiny_model, tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("ab c a b " * 60)
    args = ["-m", tiny_model, "-f", text, "-c", 128, "--chunks", 2]
    plain = perplexity(quern, *args)
    same = perplexity(quern, *args, "--kl-against", "f16")
    assert same["perplexity"] == plain["perplexity"] and "against" not in plain
    assert same["against"] == {"kv_type": "f16", "perplexity": plain["perplexity"], "loss": 0, "loss_error": 0,
                               "kl": 0, "kl_error": 0, "kl_largest": 0, "same_best": 1}
    for name in ("q8", "q4"):
        alone, beside = perplexity(quern, *args, "--kv-type", name), perplexity(
            quern, *args, "--kv-type", name, "--kl-against", "f16", "-b", 7)
        base = beside["against"]
        assert math.isclose(alone["perplexity"], beside["perplexity"], rel_tol=1e-3)
        assert math.isclose(base["perplexity"], plain["perplexity"], rel_tol=1e-3)
        assert math.isclose(beside["perplexity"] / base["perplexity"] - 1, base["loss"], abs_tol=1e-9)
        assert 0 < base["kl"] <= base["kl_largest"] < 0.1 and base["kl_error"] > 0 and base["same_best"] <= 1
    result = quern("eval", "perplexity", *args, "--kv-type", "q4", "--kl-against", "f16")
    assert b"\nagainst f16: perplexity " in result.stdout and b"KL divergence" in result.stdout


def test_first_tokens_of_mixed(quern, tiny_model, tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("ab c a b " * 60)
    args = ["-m", tiny_model, "-f", text, "-c", 128, "--chunks", 1, "--kv-type", "mixed", "--kl-against", "mixed"]
    q8 = perplexity(quern, *args, "--kv-mixed-tokens", 32)
    q4 = perplexity(quern, *args, "--kv-mixed-tokens", 32, "--kv-mixed-rest", "q4")
    assert len({x["perplexity"] for x in (perplexity(quern, *args), q8, q4)}) == 3
    assert_fails(quern("eval", "perplexity", *args, "--kv-mixed-tokens", 33), 1, "kv_mixed_tokens", "33", "32")


def test_text_output(quern, tiny_model, tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("c" * 40)
    result = quern("eval", "perplexity", "-m", tiny_model, "-f", text, "-c", 16, "--verbose")
    assert result.returncode == 0 and result.stdout.startswith(b"perplexity ")
    assert b"1/2" in result.stderr and b"2/2" in result.stderr


def test_too_short(quern, tiny_model, tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("c")
    assert_fails(quern("eval", "perplexity", "-m", tiny_model, "-f", text, "-c", 16), 1, "16")
    assert_fails(quern("eval", "perplexity", "-m", tiny_model, "-f", tmp_path / "absent"), 1, "absent")


@pytest.mark.parametrize("name,value", [("output.weight", math.nan), ("output_norm.weight", math.inf)])
def test_a_result_that_is_no_number_is_a_failure(quern, tmp_path, name, value):
    model, text = tmp_path / "broken.gguf", tmp_path / "text.txt"
    file = gguf_file.tiny_llama()
    file.tensors = [(n, dims, [value] * len(numbers) if n == name else numbers) for n, dims, numbers in file.tensors]
    model.write_bytes(file.to_bytes())
    text.write_text("ab c a b " * 20)
    for args in ([], ["--json"]):
        result = quern("eval", "perplexity", "-m", model, "-f", text, "-c", 16, *args)
        assert_fails(result, 1, "perplexity", "not a finite number")


def test_a_result_beyond_all_numbers_is_a_failure(quern, tmp_path):
    model, text = tmp_path / "sure.gguf", tmp_path / "text.txt"
    file = gguf_file.tiny_llama()
    # Whatever the last layer says, one of two tokens that are not in the text gets all the probability.
    file.tensors = [(n, dims, [1e4 if i // 32 == 50 else -1e4 if i // 32 == 51 else x for i, x in enumerate(numbers)]
                     if n == "output.weight" else numbers) for n, dims, numbers in file.tensors]
    model.write_bytes(file.to_bytes())
    text.write_text("c" * 40)
    assert_fails(quern("eval", "perplexity", "-m", model, "-f", text, "-c", 16), 1, "not a finite number")


def test_a_trained_model_knows_stories(quern, shared, tmp_path):
    model = shared("models/stories260K.gguf")
    story, noise = tmp_path / "story.txt", tmp_path / "noise.txt"
    words = "Once upon a time, there was a little girl named Lily. She loved to play outside in the park. "
    story.write_text(words * 4)
    noise.write_text(" ".join(sorted(words.split(), key=lambda word: word[::-1])) * 4)
    args = ["-m", model, "-c", 32, "-f"]
    assert perplexity(quern, *args, story)["perplexity"] * 3 < perplexity(quern, *args, noise)["perplexity"]
