# Verbs, options, exit codes, help. Needs no model. SPDX-License-Identifier: MIT
import json
import re

import pytest
from conftest import assert_fails

VERBS = ["run", "chat", "inspect", "tokenize", "template", "grammar", "bench", "eval"]


def test_version(quern):
    for arg in ("version", "--version"):
        result = quern(arg)
        assert result.returncode == 0
        assert re.fullmatch(rb"quern \d+\.\d+\.\d+\n", result.stdout)


def test_version_as_json(quern):
    out = json.loads(quern("version", "--json").stdout)
    assert quern("version").stdout.decode() == f"quern {out['version']}\n" and list(out) == ["version"]
    assert quern("--version", "--json").stdout == quern("version", "--json").stdout
    assert_fails(quern("version", "now"), 2, "'now'")


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


def test_help_takes_what_a_verb_is_told_to_do(quern):
    want = quern("help", "eval")
    for args in (["help", "eval", "perplexity"], ["eval", "perplexity", "--help"], ["eval", "perplexity", "-h"],
                 ["eval", "--help", "perplexity"], ["eval", "--help"]):
        result = quern(*args)
        assert result.returncode == 0 and result.stdout == want.stdout and result.stderr == b""
    assert_fails(quern("help", "eval", "speed"), 2, "'speed'")
    assert_fails(quern("help", "run", "perplexity"), 2, "'perplexity'")


def test_help_as_json(quern):
    out = json.loads(quern("help", "--json").stdout)
    assert [v["verb"] for v in out["verbs"]] == VERBS and out["version"]
    for verb in out["verbs"]:
        one = json.loads(quern("help", verb["verb"], "--json").stdout)
        assert one == verb == json.loads(quern(verb["verb"], "--help", "--json").stdout)
        text = quern("help", verb["verb"]).stdout.decode()
        assert all(f"--{o['name']}" in text for o in verb["options"])
        assert len(verb["options"]) == len(re.findall(r"^  (?:-.,|   ) --", text, re.M))
    options = {o["name"]: o for o in out["verbs"][0]["options"]}
    assert options["ctx-size"]["short"] == "c" and options["ctx-size"]["max"] == 2**24
    assert options["top-p"]["max"] == 1 and options["seed"]["max"] == 2**63 - 1
    assert options["json"]["kind"] == "flag" and options["json"]["value"] is None


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
    ["-c", str(2**24 + 1)], ["--stop", "x" * 4097], ["--stop", "x"] * 65,
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


def test_wrong_kernel_set_is_wrong_usage(quern, tiny_model):
    env = {"QUERN_ISA": "mmx"}
    for verb in (["run", "-m", tiny_model, "x"], ["bench", "-m", tiny_model], ["inspect", tiny_model],
                 ["tokenize", "-m", tiny_model, "x"], ["inspect", "--plan", tiny_model]):
        assert_fails(quern(*verb, env=env), 2, "QUERN_ISA", "'mmx'", "ref")
    assert quern("tokenize", "-m", tiny_model, "x", env={"QUERN_ISA": ""}).returncode == 0


def test_context_of_a_variable(quern):
    assert_fails(quern("run", "x", env={"QUERN_CTX_SIZE": "16777217"}), 2, "QUERN_CTX_SIZE", "16777216")
    assert_fails(quern("eval", "perplexity", "-f", "x", "-c", 2**24 + 1), 2, "--ctx-size")
    assert_fails(quern("inspect", "x", "-c", 2**24 + 1), 2, "--ctx-size")
    assert_fails(quern("bench", "-d", 2**24, "-p", 1), 2, "--depth", "--n-prompt")


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
