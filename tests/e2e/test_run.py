# quern run: counts, endings, streams, stops, limits, interrupts. SPDX-License-Identifier: MIT
import json
import os
import signal
import subprocess
import time

import pytest
from conftest import TIMEOUT, assert_fails

ENDLESS = ["--ignore-eos", "-n", "-1", "-c", "300000", "--seed", "1", "-t", "1"]


def run_json(quern, *args, **kwargs):
    result = quern("run", "--json", *args, **kwargs)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def test_json_shape(quern, tiny_model):
    out = run_json(quern, "-m", tiny_model, "-n", 5, "--ignore-eos", "--seed", 3, "ab")
    assert set(out) == {"text", "tokens", "finish_reason", "whole", "prompt_tokens", "seed", "timings"}
    assert len(out["tokens"]) == 5 and out["finish_reason"] == "length" and out["seed"] == 3
    assert out["prompt_tokens"] >= 2
    assert out["timings"]["prefill_tokens"] == out["prompt_tokens"] and out["timings"]["decode_tokens"] == 4
    for key in ("load_ms", "prefill_ms", "prefill_tokens_per_second", "first_token_ms", "decode_tokens_per_second",
                "peak_memory_bytes"):
        assert out["timings"][key] > 0


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_exact_counts(quern, tiny_model, n):
    out = run_json(quern, "-m", tiny_model, "-n", n, "--ignore-eos", "-p", "b")
    assert len(out["tokens"]) == n and out["finish_reason"] == "length"
    assert out["timings"]["prefill_tokens"] == out["prompt_tokens"] > 0
    if n == 0:
        assert out["text"] == "" and out["timings"]["first_token_ms"] is None


def test_no_tokens_print_nothing(quern, tiny_model):
    result = quern("run", "-m", tiny_model, "-n", 0, "ab")
    assert result.returncode == 0 and result.stdout == b""
    assert b"prefill" in result.stderr


def test_stdout_is_the_text(quern, tiny_model):
    args = ["-m", tiny_model, "-n", 20, "--ignore-eos", "--temp", 0, "-p", "ab c"]
    text = run_json(quern, *args)["text"].encode()
    bare = quern("run", *args, "--no-display-prompt")
    assert bare.stdout == text
    for word in (b"load", b"prefill", b"first token", b"decode", b"tok/s", b"peak memory"):
        assert word in bare.stderr
    assert quern("run", *args).stdout == b"ab c" + text


def test_text_and_timings_share_no_line(quern, tiny_model):
    args = [quern.path, "run", "-m", tiny_model, "-n", "2", "--logit-bias"]
    for bias, last in (("260=100", "aa"), ("13=100", "\n\n")):
        both = subprocess.run([*args, bias, "ab"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=quern.env)
        assert both.stdout.decode().startswith("ab" + last + ("" if last[-1] == "\n" else "\n") + "load ")


def test_same_seed_same_text(quern, tiny_model):
    args = ["-m", tiny_model, "-n", 40, "--ignore-eos", "ab"]
    texts = {t: run_json(quern, *args, "--seed", 5, "-t", t)["tokens"] for t in (1, 2)}
    assert texts[1] == texts[2]
    assert run_json(quern, *args, "--seed", 6)["tokens"] != texts[1]
    free = run_json(quern, *args)
    assert run_json(quern, *args, "--seed", free["seed"])["tokens"] == free["tokens"]


def test_prompt_from_everywhere(quern, tiny_model, tmp_path):
    path = tmp_path / "prompt.txt"
    path.write_text("ab\n")
    args = ["-m", tiny_model, "-n", 8, "--temp", 0, "--ignore-eos"]
    want = run_json(quern, *args, "-p", "ab\n")
    assert run_json(quern, *args, "-f", path)["tokens"] == want["tokens"]
    assert run_json(quern, *args, "-f", "-", stdin=b"ab\n")["tokens"] == want["tokens"]
    assert run_json(quern, *args, "--", "ab\n")["tokens"] == want["tokens"]
    assert_fails(quern("run", *args, "-f", tmp_path / "absent"), 1, "absent")


def test_empty_prompt_is_bos(quern, tiny_model):
    assert run_json(quern, "-m", tiny_model, "-n", 1, "")["prompt_tokens"] == 1


def test_prompt_longer_than_the_context(quern, tiny_model):
    result = quern("run", "-m", tiny_model, "-c", 10, "-p", "c" * 50)
    assert_fails(result, 1, "10", "--ctx-size")
    n = int(result.stderr.split(b"prompt has ")[1].split()[0])
    assert n >= 50
    exact = run_json(quern, "-m", tiny_model, "-c", n, "--ignore-eos", "-p", "c" * 50)
    assert exact["prompt_tokens"] == n and exact["finish_reason"] == "context" and len(exact["tokens"]) == 1


def test_context_ends_the_text(quern, tiny_model):
    args = ["-m", tiny_model, "-c", 16, "-n", -1, "--ignore-eos", "ab"]
    out = run_json(quern, *args)
    assert out["finish_reason"] == "context"
    told = quern("run", *args).stderr.decode()
    assert "context is full" in told and "16 tokens" in told and "--ctx-size" in told
    assert "context is full" not in quern("run", "-m", tiny_model, "-n", 2, "ab").stderr.decode()
    assert out["prompt_tokens"] + len(out["tokens"]) == 17  # the last one needs no room


def test_bans_and_forces(quern, tiny_model):
    forced = run_json(quern, "-m", tiny_model, "-n", 4, "--logit-bias", "260=100", "ab")
    assert forced["tokens"] == [260] * 4 and forced["text"] == "aaaa"
    args = ["-m", tiny_model, "-n", 6, "--temp", 0, "--ignore-eos", "ab"]
    first = run_json(quern, *args)["tokens"][0]
    assert first not in run_json(quern, *args, "--logit-bias", f"{first}=-100")["tokens"]
    ended = run_json(quern, "-m", tiny_model, "--logit-bias", "2=100", "ab")
    assert ended["finish_reason"] == "stop" and ended["tokens"] == [] and ended["text"] == ""
    for bad in ("266=1", "999999999=5"):
        assert_fails(quern("run", "-m", tiny_model, "--logit-bias", bad, "ab"), 2, "--logit-bias", bad.split("=")[0])


def test_stop_strings_across_tokens(quern, tiny_model):
    # "a" alternates with nothing else, so that the stop lies across token borders.
    args = ["-m", tiny_model, "-n", 9, "--logit-bias", "260=100", "ab"]
    out = run_json(quern, *args, "--stop", "aaaab", "--stop", "aaa")
    assert out["finish_reason"] == "stop" and out["text"] == "" and len(out["tokens"]) == 3
    out = run_json(quern, *args, "--stop", "aab")
    assert out["finish_reason"] == "length" and out["text"] == "a" * 9
    streamed = quern("run", *args, "--stop", "aab", "--no-display-prompt")
    assert streamed.stdout == b"a" * 9


def test_output_is_valid_utf8(quern, tiny_model):
    # Bytes of a bee, cut in the middle: byte token b has id b + 3.
    result = quern("run", "-m", tiny_model, "-n", 30, "--ignore-eos", "--temp", 2, "--top-k", 0, "--seed", 9,
                   "--no-display-prompt", "-f", "-", stdin="🐝".encode() * 3)
    assert result.returncode == 0
    result.stdout.decode()


def test_time_limit(quern, tiny_model):
    begin = time.monotonic()
    out = run_json(quern, "-m", tiny_model, *ENDLESS, "--time-limit", 0.5, "ab")
    assert out["finish_reason"] == "time" and len(out["tokens"]) > 0
    assert 0.5 <= time.monotonic() - begin < 30


def wait_for_text(process):
    """The first bytes, so that generation is known to run."""
    assert process.stdout.read(1) != b""


def test_interrupt(quern, tiny_model):
    process = quern.start("run", "-m", tiny_model, *ENDLESS, "ab")
    wait_for_text(process)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 130
    assert b"decode" in stderr and b"tok/s" in stderr


def test_interrupt_in_json(quern, tiny_model):
    process = quern.start("run", "-m", tiny_model, *ENDLESS, "--json", "ab")
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    stdout, _ = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 130
    if stdout:  # it was quick enough to have begun
        assert json.loads(stdout)["finish_reason"] == "interrupted"


def test_closed_pipe_ends_quietly(quern, tiny_model):
    process = quern.start("run", "-m", tiny_model, *ENDLESS, "ab")
    wait_for_text(process)
    process.stdout.close()
    assert process.wait(timeout=TIMEOUT) == 1
    assert process.stderr.read() == b""
    process.stderr.close()


def test_text_appears_as_it_is_made(quern, tiny_model):
    process = quern.start("run", "-m", tiny_model, *ENDLESS, "ab")
    try:
        assert os.read(process.stdout.fileno(), 65536).startswith(b"ab")
        assert os.read(process.stdout.fileno(), 65536) != b""
        assert process.poll() is None
    finally:
        process.kill()
        process.communicate()


def test_terminal_gets_a_last_newline(quern, tiny_model):
    import pty
    main, other = pty.openpty()
    args = [quern.path, "run", "-m", str(tiny_model), "-n", "2", "--logit-bias", "260=100", "-p", "ab"]
    process = subprocess.Popen(args, stdin=subprocess.DEVNULL, stdout=other, stderr=subprocess.PIPE, env=quern.env)
    os.close(other)
    process.communicate(timeout=TIMEOUT)
    assert os.read(main, 1000) == b"abaa\r\n"
    os.close(main)


STORY = ("there was a little girl named Lily. She loved to play outside in the park. One day, she saw a big, red ball. "
         "She wanted to play with it, but it was too high")


def test_known_text(quern, shared):
    model = shared("models/stories260K.gguf")
    out = run_json(quern, "-m", model, "--temp", 0, "-n", 60, "-p", "")
    assert STORY in out["text"]
    plain = quern("run", "-m", model, "--temp", 0, "-n", 60, "--no-display-prompt", "-p", "")
    assert plain.stdout.decode() == out["text"]
    wide = run_json(quern, "-m", model, "--temp", 0, "-n", 60, "-p", "", "--kv-type", "f32", "-t", 1, "-b", 1)
    assert STORY in wide["text"]


def test_known_text_stops(quern, shared):
    model = shared("models/stories260K.gguf")
    out = run_json(quern, "-m", model, "--temp", 0, "-n", 200, "-p", "", "--stop", "red ball", "--stop", "Bob says:")
    assert out["finish_reason"] == "stop" and out["text"].endswith("she saw a big, ")


def test_prompt_of_many_batches(quern, shared):
    model = shared("models/stories260K.gguf")
    args = ["-m", model, "--temp", 0, "-n", 10, "-p", "Once upon a time, there was a boy. " * 20]
    want = run_json(quern, *args)
    assert want["prompt_tokens"] > 200
    assert run_json(quern, *args, "-b", 7)["tokens"] == want["tokens"]
