# A program outside the tree builds against the installed library and generates text. SPDX-License-Identifier: MIT
import json
import os
import pathlib
import shutil
import subprocess

import pytest

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"


def run(*command, **settings):
    result = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=120,
                            stdin=subprocess.DEVNULL, **settings)
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """Where the build is installed; moved afterwards, since an installed tree may be."""
    build = os.environ.get("QUERN_BUILD")
    if not build:
        pytest.skip("QUERN_BUILD does not name the build folder")
    folder = tmp_path_factory.mktemp("prefix") / "usr"
    run("cmake", "--install", build, "--prefix", folder)
    moved = folder.with_name("moved")
    folder.rename(moved)
    return moved


@pytest.fixture(scope="module")
def examples(prefix, tmp_path_factory):
    """The folder of the examples, built as their Makefile does it."""
    for tool in ("make", "pkg-config"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    folder = tmp_path_factory.mktemp("example")
    for file in ("generate.c", "structured.c", "Makefile"):
        shutil.copy(EXAMPLES / file, folder)
    found = [p.parent for p in prefix.rglob("quern.pc")]
    assert len(found) == 1
    run("make", "-C", folder, "generate", "structured", env=os.environ | {"PKG_CONFIG_PATH": str(found[0])})
    return folder


def test_what_is_installed(prefix):
    files = {p.relative_to(prefix).name for p in prefix.rglob("*") if p.is_file()}
    assert files == {"quern", "libquern.a", "quern.h", "quern.pc"}
    assert run(prefix / "bin/quern", "version").startswith("quern ")


def test_header_is_enough_alone_for_c_and_cpp(prefix, tmp_path):
    for name, compiler, standard in (("a.c", "cc", "c99"), ("a.cc", "c++", "c++17")):
        if shutil.which(compiler) is None:
            pytest.skip(f"{compiler} is not installed")
        (tmp_path / name).write_text("#include <quern/quern.h>\nint main(void) { return (int)(qn_version() == 0); }\n")
        run(compiler, f"-std={standard}", "-pedantic-errors", "-Wall", "-Wextra", "-Werror", "-c",
            f"-I{prefix}/include", tmp_path / name, "-o", tmp_path / "a.o")


def test_example_generates_from_a_tiny_model(examples, tiny_model):
    assert run(examples / "generate", tiny_model, "a") != ""


def test_example_writes_json_whatever_the_model(examples, tiny_model):
    person = json.loads(run(examples / "structured", tiny_model, "a"))
    assert list(person) == ["name", "age", "mood"]
    assert len(person["name"]) <= 40 and 0 <= person["age"] <= 120 and person["mood"] in ("merry", "calm", "grim")


def test_example_generates_a_story(examples, shared):
    text = run(examples / "generate", shared("models/stories260K.gguf"), "Once upon a time")
    assert len(text) > 60 and sum(c.isalpha() or c.isspace() for c in text) > 0.9 * len(text)


def test_example_names_a_bad_file(examples, tmp_path):
    (tmp_path / "page.gguf").write_text("<html>")
    result = subprocess.run([examples / "generate", tmp_path / "page.gguf", "a"], capture_output=True, text=True,
                            timeout=60)
    assert result.returncode == 1 and result.stderr.startswith("QN_EFORMAT: ")
