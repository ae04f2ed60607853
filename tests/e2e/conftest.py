# What the end-to-end tests share: the program under test, its environment, shared data. SPDX-License-Identifier: MIT
import os
import pathlib
import subprocess

import pytest

import gguf_file

TIMEOUT = 120


class Quern:
    def __init__(self, path, home):
        self.path = path
        # Nothing of the caller's settings gets in, and no default model is there.
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("QUERN_")}
        self.env |= {"HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")}

    def __call__(self, *args, stdin=b"", env=None):
        return subprocess.run([self.path, *map(str, args)], input=stdin, capture_output=True, timeout=TIMEOUT,
                              env=self.env | (env or {}))

    def start(self, *args):
        return subprocess.Popen([self.path, *map(str, args)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, env=self.env)


@pytest.fixture
def quern(tmp_path):
    path = os.environ.get("QUERN_BIN")
    if not path:
        pytest.skip("QUERN_BIN does not name the program")
    return Quern(path, tmp_path)


@pytest.fixture
def shared():
    """The path of a file of the shared test data; the test is skipped when it is absent."""
    root = os.environ.get("QUERN_SHARED") or pathlib.Path(__file__).resolve().parents[3] / "shared"

    def find(relative):
        path = pathlib.Path(root) / "data" / relative
        if not path.is_file():
            pytest.skip(f"no shared data: {relative}")
        return path

    return find


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "tiny.gguf"
    path.write_bytes(gguf_file.tiny_llama().to_bytes())
    return path


def assert_fails(result, code, *words):
    """Exit code, nothing on standard output, and an error of one line (a second one may say where help is)."""
    assert result.returncode == code, result.stderr
    assert result.stdout == b""
    lines = result.stderr.decode().splitlines()
    assert len(lines) == (2 if code == 2 else 1), lines
    assert lines[0].startswith("quern")
    for word in words:
        assert word in lines[0], lines[0]
