# Memory: what inspect predicts is what a run then holds; a file that is read, locked, or cut short.
# SPDX-License-Identifier: MIT
import json
import os
import pty
import resource
import shutil
import subprocess
import tempfile

import pytest
from conftest import TIMEOUT, assert_fails

MIB = 1 << 20


def tokens_in(quern, model, text):
    return len(json.loads(quern("tokenize", "-m", model, "--json", text).stdout)["tokens"])


def prompt_of(quern, model, n_tokens):
    """A text of nearly so many tokens."""
    unit = " the" if tokens_in(quern, model, " the" * 9) < 15 else "a"
    n_ten, n_twenty = (tokens_in(quern, model, unit * n) for n in (10, 20))
    return unit * int((n_tokens - 4) / ((n_twenty - n_ten) / 10))


def predicted(quern, model, *args):
    return json.loads(quern("inspect", "--json", *args, model).stdout)["memory"]["peak"]["bytes"]


def peak(quern, model, n_ctx, *args):
    """Of a run that fills its context."""
    result = quern("run", "-m", model, "-c", n_ctx, "-n", 1, "--temp", 0, "--json", "-f", "-", *args,
                   stdin=prompt_of(quern, model, n_ctx).encode())
    out = json.loads(result.stdout)
    assert out["prompt_tokens"] > n_ctx * 0.9, result.stderr
    return out["timings"]["peak_memory_bytes"]


def assert_near(measured, expected):
    assert abs(measured - expected) <= max(8 * MIB, expected * 0.02), (measured / MIB, expected / MIB)


def skip_sanitized(quern):
    with open(quern.path, "rb") as f:
        program = f.read()
    if b"__asan_init" in program or b"__tsan_init" in program:
        pytest.skip("sanitizers take many times the memory, and lock none")


@pytest.mark.parametrize("options", [(), ("--no-mmap",), ("--kv-type", "q8", "-b", 32)])
def test_peak_of_a_tiny_model(quern, tiny_model, options):
    skip_sanitized(quern)
    assert_near(peak(quern, tiny_model, 128, "-t", 1, *options),
                predicted(quern, tiny_model, "-c", 128, "-t", 1, *options))


@pytest.mark.parametrize("options", [("-c", 512), ("-c", 512, "--no-mmap", "-t", 1), ("-c", 1024, "--kv-type", "q8"),
                                     ("-c", 256, "--kv-type", "mixed", "-b", 64)])
def test_peak_of_real_models(quern, shared, options):
    """QUERN_MEMORY_MODELS names more of them."""
    skip_sanitized(quern)
    models = [p for p in os.environ.get("QUERN_MEMORY_MODELS", "").split(":") if p]
    for model in models or [shared("models/stories260K.gguf")]:
        n_ctx = options[1]
        assert_near(peak(quern, model, n_ctx, *options[2:]), predicted(quern, model, *options))


def test_more_takes_more(quern, tiny_model):
    def parts(*args):
        return json.loads(quern("inspect", "--json", *args, tiny_model).stdout)["memory"]["peak"]["parts"]
    base = parts("-c", 256, "-t", 1)
    assert parts("-c", 512, "-t", 1)["kv"] > base["kv"]
    assert parts("-c", 256, "-t", 1, "--kv-type", "f32")["kv"] > base["kv"]
    assert parts("-c", 256, "-t", 1, "--n-seqs", 3)["kv"] > 2.9 * base["kv"]
    assert parts("-c", 256, "-t", 1, "-b", 8)["arena"] < base["arena"]
    assert parts("-c", 256, "-t", 3)["thread scratch"] > base["thread scratch"]
    assert parts("-c", 256, "-t", 1, "--no-mmap")["model file"] == base["model file"]


def test_table_of_memory(quern, tiny_model):
    text = quern("inspect", "-c", 256, "-t", 1, "--n-seqs", 2, "--kv-type", "q8", tiny_model).stdout.decode()
    memory = text[text.index("\nMEMORY\n"):text.index("\nCHECK\n")]
    for word in ("model file", "mapped", "2 sequences of 256 tokens in q8", "program", "together"):
        assert word in memory
    assert "read into memory" in quern("inspect", "--no-mmap", tiny_model).stdout.decode()


def test_same_text_without_mmap(quern, tiny_model):
    texts = [json.loads(quern("run", "-m", tiny_model, "-n", 20, "--temp", 0, "--json", "a", *args, env=env).stdout)
             for args, env in (((), {}), (("--no-mmap",), {}), ((), {"QUERN_NO_MMAP": "1"}), (("--mlock",), {}))]
    assert len({tuple(t["tokens"]) for t in texts}) == 1


def test_progress_on_a_terminal_only(quern, tiny_model):
    assert b"reading" not in quern("run", "-m", tiny_model, "--no-mmap", "-n", 1, "a").stderr
    main, other = pty.openpty()
    with os.fdopen(main, "rb", buffering=0) as terminal:
        p = subprocess.Popen([quern.path, "run", "-m", tiny_model, "--no-mmap", "-n", "1", "a"], env=quern.env,
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=other)
        os.close(other)
        assert p.wait(TIMEOUT) == 0
        shown = terminal.read(4096)
    assert shown.startswith(b"\r    ")  # what would stand there is gone before anything else is said


def test_cut_file_is_an_error_without_mmap(quern, tiny_model, tmp_path):
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(tiny_model.read_bytes()[:-100])
    for args in ((), ("--no-mmap",)):
        assert_fails(quern("run", "-m", cut, "-n", 1, "a", *args), 1, "cut.gguf", "cut short")


def test_mlock_beyond_the_limit(quern, tiny_model):
    skip_sanitized(quern)

    def lower():
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (0, 0))
        if os.geteuid() == 0:
            os.setgroups([])
            os.setuid(65534)
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        model = shutil.copy(tiny_model, folder)
        try:
            result = subprocess.run([quern.path, "run", "-m", model, "--mlock", "-n", "1", "a"], capture_output=True,
                                    env=quern.env, timeout=TIMEOUT, preexec_fn=lower)
        except PermissionError:
            pytest.skip("another user cannot reach the program here")
    assert_fails(result, 1, "tiny.gguf", "mlock", "RLIMIT_MEMLOCK")
