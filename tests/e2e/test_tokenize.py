# quern tokenize: ids, text, JSON, reference ids. SPDX-License-Identifier: MIT
import json

from conftest import assert_fails


def ids_of(result):
    assert result.returncode == 0, result.stderr
    return [int(word) for word in result.stdout.split()]


def test_text_to_ids_and_back(quern, tiny_model):
    ids = ids_of(quern("tokenize", "-m", tiny_model, "-p", "ab"))
    assert ids[0] == 1 and len(ids) >= 2
    result = quern("tokenize", "-m", tiny_model, "--no-special", "--ids", ",".join(map(str, ids)))
    assert result.returncode == 0 and result.stdout == b"ab"
    text = "Grüße 🙂\n\x00x".encode()
    bare = ids_of(quern("tokenize", "-m", tiny_model, "--no-special", "-f", "-", stdin=text))
    assert 1 not in bare
    back = quern("tokenize", "-m", tiny_model, "--no-special", "--detokenize", " ".join(map(str, bare)))
    assert back.stdout == text


def test_special_tokens_in_the_text(quern, tiny_model):
    assert ids_of(quern("tokenize", "-m", tiny_model, "</s>"))[-1] == 2
    assert 2 not in ids_of(quern("tokenize", "-m", tiny_model, "--no-special", "</s>"))


def test_json(quern, tiny_model):
    ids = ids_of(quern("tokenize", "-m", tiny_model, "ab c"))
    assert json.loads(quern("tokenize", "-m", tiny_model, "--json", "ab c").stdout) == {"tokens": ids}
    back = quern("tokenize", "-m", tiny_model, "--json", "--no-special", "--ids", " ".join(map(str, ids)))
    assert json.loads(back.stdout) == {"text": "ab c"}


def test_json_with_pieces(quern, tiny_model):
    args = ["tokenize", "-m", tiny_model, "--json", "--pieces"]
    out = json.loads(quern(*args, "--no-special", "-p", "a\n").stdout)
    assert list(out) == ["tokens", "pieces"]
    assert len(out["pieces"]) == len(out["tokens"]) and "".join(out["pieces"]) == "a\n"
    back = json.loads(quern(*args, "--no-special", "--ids", " ".join(map(str, out["tokens"]))).stdout)
    assert back == {"text": "a\n", "pieces": out["pieces"]}


def test_pieces_are_escaped(quern, tiny_model):
    result = quern("tokenize", "-m", tiny_model, "--pieces", "--no-special", "-p", "a\n\x1b")
    assert result.returncode == 0 and b"\x1b" not in result.stdout
    assert b"'\\n'" in result.stdout and b"'\\x1b'" in result.stdout


def test_bad_ids(quern, tiny_model):
    for bad in ("-1", "266", "2147483647"):
        assert_fails(quern("tokenize", "-m", tiny_model, "--ids", bad), 1, bad)
    assert_fails(quern("tokenize", "-m", tiny_model, "--ids", "2147483648"), 2, "2147483648")
    assert quern("tokenize", "-m", tiny_model, "--ids", "").stdout == b""


def test_reference_ids(quern, shared):
    """A vocabulary without tensors, and the ids that its reference tokenizer gives."""
    model = shared("vocab/ggml-vocab-llama-spm.gguf")
    separator = "\n__ggml_vocab_test__\n"
    texts = shared("vocab/ggml-vocab-llama-spm.gguf.inp").read_bytes().decode().split(separator)
    lines = shared("vocab/ggml-vocab-llama-spm.gguf.out").read_text().splitlines()
    checked = 0
    for text, line in zip(texts, lines):
        got = quern("tokenize", "-m", model, "--no-special", "-f", "-", stdin=text.encode())
        assert ids_of(got) == [int(word) for word in line.split()], repr(text)
        checked += 1
    assert checked > 30
