# Verbs, options, exit codes, help. Needs no model. SPDX-License-Identifier: MIT
import re

import pytest
from conftest import assert_fails

VERBS = ["run", "inspect", "tokenize", "bench", "eval"]


def test_version(quern):
    for arg in ("version", "--version"):
        result = quern(arg)
        assert result.returncode == 0
        assert re.fullmatch(rb"quern \d+\.\d+\.\d+\n", result.stdout)


def test_help_lists_the_verbs(quern):
    for arg in ("help", "--help", "-h"):
        result = quern(arg)
        assert result.returncode == 0 and result.stderr == b""
        for verb in VERBS:
            assert verb.encode() in result.stdout


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_a_verb(quern, verb):
    results = [quern("help", verb), quern(verb, "--help"), quern(verb, "-h")]
    assert all(r.returncode == 0 and r.stdout == results[0].stdout for r in results)
    text = results[0].stdout.decode()
    assert f"usage: quern {verb}" in text and "examples:" in text and "--model FILE" in text
    assert max(len(line) for line in text.splitlines()) <= 100
    assert not any(line.endswith(" ") for line in text.splitlines())


def test_no_verb_and_unknown_verb(quern):
    assert_fails(quern(), 2, "say what to do")
    assert_fails(quern("rnu"), 2, "'rnu'", "'run'")
    assert_fails(quern("xyzzy"), 2, "'xyzzy'")
    assert_fails(quern("help", "inspct"), 2, "inspect")


def test_unknown_option_suggests(quern):
    assert_fails(quern("run", "--tmp", "1"), 2, "--tmp", "did you mean --temp?")
    assert_fails(quern("run", "--threds=3", "x"), 2, "did you mean --threads?")
    assert_fails(quern("inspect", "--temp", "1"), 2, "unknown option --temp")
    assert_fails(quern("run", "-Z"), 2, "-Z")


@pytest.mark.parametrize("args", [
    ["-n", "12abc"], ["-n", ""], ["-n", " 5"], ["-n", "-2"], ["-n", "1e3"], ["-n", "99999999999999999999"],
    ["-t", "513"], ["-t", "-1"], ["-c", "x"], ["-b", "0"],
    ["--temp", "nan"], ["--temp", "inf"], ["--temp", "-1"], ["--temp", "0x1"], ["--temp", "1e999"], ["--temp", "1,5"],
    ["--top-p", "2"], ["--min-p", "-0.1"], ["--typical", "1.01"], ["--repeat-penalty", "0"],
    ["--seed", str(2**70)], ["--seed", "-2"], ["--kv-type", "f64"], ["--kv-type", "f1"], ["--time-limit", "-1"],
    ["--logit-bias", "5"], ["--logit-bias", "a=1"], ["--logit-bias", "5=nan"], ["--logit-bias", "5=1e39"],
    ["--logit-bias", "-3=1"], ["--logit-bias", "5="], ["--stop", ""], ["--ignore-eos=maybe"],
])
def test_bad_values_are_named(quern, args):
    assert_fails(quern("run", "-p", "x", *args), 2, qualified(args[0]))


def qualified(flag):
    short = {"-n": "--n-predict", "-t": "--threads", "-c": "--ctx-size", "-b": "--batch-size"}
    return short.get(flag, flag.split("=")[0])


def test_lists_are_strict(quern):
    for value in ("1,", ",1", "1,,2", "1;2", "1,x", ",".join(["1"] * 65)):
        assert_fails(quern("bench", "-p", value), 2, "--n-prompt")


def test_missing_and_double(quern):
    assert_fails(quern("run", "-p"), 2, "--prompt needs a value")
    assert_fails(quern("run", "-n", "1", "-n", "2", "x"), 2, "--n-predict is given twice")
    assert_fails(quern("run", "one", "two"), 2, "'two'")
    assert_fails(quern("run"), 2, "one text")
    assert_fails(quern("run", "x", "-p", "y"), 2, "one text")
    assert_fails(quern("inspect"), 2, "file")
    assert_fails(quern("eval", "-f", "x"), 2, "perplexity")
    assert_fails(quern("eval", "perplexity"), 2, "--file")
    assert_fails(quern("tokenize", "x", "--ids", "1"), 2, "not both")
    assert_fails(quern("tokenize", "--ids", "1 b"), 2, "'b'")


def test_environment(quern):
    bad = {"QUERN_TEMP": "hot"}
    assert_fails(quern("run", "x", env=bad), 2, "QUERN_TEMP", "'hot'")
    # A flag hides the variable; then the missing model is the error.
    assert_fails(quern("run", "x", "--temp", "0", env=bad), 1, "scripts/fetch-default-model")
    assert_fails(quern("run", "x", env={"QUERN_MODEL": "/nonexistent/m.gguf"}), 1, "/nonexistent/m.gguf")
    assert_fails(quern("run", "x", "-m", "/nonexistent/flag", env={"QUERN_MODEL": "/nonexistent/env"}), 1, "flag")
    assert_fails(quern("run", "x", env={"QUERN_TEMP": ""}), 1, "no model")
    assert_fails(quern("inspect", "/nonexistent/m.gguf", env=bad), 1, "/nonexistent")


def test_default_model_is_looked_for_in_the_cache(quern):
    for verb in (["run", "x"], ["tokenize", "x"], ["bench"]):
        assert_fails(quern(*verb), 1, "scripts/fetch-default-model",
                     "cache/quern/SmolLM2-135M-Instruct.Q4_1.gguf")


def test_hostile_arguments_do_not_reach_the_terminal(quern):
    result = quern("run", "--\x1b[31mred", "x")
    assert result.returncode == 2
    assert b"\x1b" not in result.stderr


def test_full_disk_is_an_error(quern):
    import subprocess
    with open("/dev/full", "wb") as full:
        result = subprocess.run([quern.path, "help"], stdout=full, stderr=subprocess.PIPE, env=quern.env, timeout=60)
    assert result.returncode == 1 and b"standard output" in result.stderr
