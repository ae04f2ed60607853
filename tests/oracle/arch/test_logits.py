"""Compares the logits of random checkpoints with those of transformers, for one token, a few and many, at once and with
the KV of earlier calls.

SPDX-License-Identifier: MIT
"""
import os
import subprocess

import pytest

np = pytest.importorskip("numpy")
pytest.importorskip("gguf")
pytest.importorskip("torch")
pytest.importorskip("transformers")

BIN = os.environ.get("QUERN_ORACLE_BIN")
if not BIN:
    pytest.skip("QUERN_ORACLE_BIN names no folder", allow_module_level=True)
TOOL = os.path.join(BIN, "logits_tool")

import checkpoints  # noqa: E402 (needs what was looked for above)
import convert  # noqa: E402

LIMITS = {"f32": 1e-4, "f16": 5e-3}  # of the standard deviation of the logits; the KV's type decides
RUNS = [(1, 0), (7, 0), (7, 1), (300, 0), (300, 7)]  # tokens, tokens a call (0: all)


class Checkpoint:
    def __init__(self, name, folder):
        self.name = name
        self.path = str(folder / f"{name}.gguf")
        model, self.ids, self.expected = checkpoints.make(name)
        convert.write_gguf(model, self.path)

    def largest_ratio(self, n, kv, chunk, isa=None):
        env = {**os.environ, **({"QUERN_ISA": isa} if isa else {})}
        run = subprocess.run([TOOL, self.path, kv, str(chunk)], input=self.ids[:n].tobytes(), stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, env=env)
        if isa and b"instruction set" in run.stderr:
            pytest.skip(f"this processor has no {isa}")
        assert run.returncode == 0, run.stderr.decode()
        expected = self.expected[:n]
        got = np.frombuffer(run.stdout, dtype=np.float32).reshape(expected.shape)
        ratio = np.abs(got - expected).max() / expected.std()
        print(f"{self.name} kv={kv} tokens={n} chunk={chunk} isa={isa or 'best'}: {ratio:.2e}")
        return ratio


@pytest.fixture(scope="module", params=list(checkpoints.CHECKPOINTS))
def checkpoint(request, tmp_path_factory):
    return Checkpoint(request.param, tmp_path_factory.mktemp("checkpoints"))


@pytest.mark.parametrize("kv", LIMITS)
@pytest.mark.parametrize("n,chunk", RUNS)
def test_logits(checkpoint, n, chunk, kv):
    assert checkpoint.largest_ratio(n, kv, chunk) <= LIMITS[kv]


@pytest.mark.parametrize("isa", ["ref", "avx2"])
def test_logits_of_other_kernels(checkpoint, isa):
    assert checkpoint.largest_ratio(checkpoints.N_TOKENS, "f32", 0, isa) <= LIMITS["f32"]
