"""Files written by the gguf package are read here with the same contents, and files written here are read there.

SPDX-License-Identifier: MIT
"""
import os
import subprocess

import pytest

np = pytest.importorskip("numpy")
gguf = pytest.importorskip("gguf")

BIN = os.environ.get("QUERN_ORACLE_BIN")
if not BIN:
    pytest.skip("QUERN_ORACLE_BIN names no folder", allow_module_level=True)
TOOL = os.path.join(BIN, "gguf_tool")

ALIGNMENTS = [8, 32, 64, 4096]
SCALARS = [("uint8", "<u1", 200), ("int8", "<i1", -100), ("uint16", "<u2", 60000), ("int16", "<i2", -30000),
           ("uint32", "<u4", 1 << 31), ("int32", "<i4", -1 << 31), ("float32", "<f4", 0.1), ("bool", "?", True),
           ("uint64", "<u8", 1 << 63), ("int64", "<i8", -1 << 63), ("float64", "<f8", 0.1)]
TEXT = "caf\u00e9 \U0001f41d\n"
TYPES = [t for t in gguf.GGML_QUANT_SIZES if t.name != "Q8_1"]  # the package states a size of its own for that one


def tool(*arguments):
    done = subprocess.run([TOOL, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def write(path, alignment, types):
    """The file, and what a dump of it must say: key -> hex, name -> (type, ne, hex)."""
    rng = np.random.default_rng(alignment)
    w = gguf.GGUFWriter(path, "llama")
    w.add_custom_alignment(alignment)
    keys = {"general.architecture": (5).to_bytes(8, "little") + b"llama",
            "general.alignment": np.array(alignment, "<u4").tobytes()}
    for name, dtype, value in SCALARS:
        getattr(w, "add_" + name)("one." + name, value)
        keys["one." + name] = np.array(value, dtype).tobytes()
    w.add_string("text", TEXT)
    keys["text"] = len(TEXT.encode()).to_bytes(8, "little") + TEXT.encode()
    w.add_array("integers", [1, -2, 3])
    keys["integers"] = np.array([1, -2, 3], "<i4").tobytes()
    w.add_array("floats", [0.5, -2.0])
    keys["floats"] = np.array([0.5, -2.0], "<f4").tobytes()
    w.add_array("texts", ["a", "", TEXT])
    keys["texts"] = b"".join(len(s.encode()).to_bytes(8, "little") + s.encode() for s in ["a", "", TEXT])
    tensors = {}
    for t in types:
        elements, size = gguf.GGML_QUANT_SIZES[t]
        data = rng.integers(0, 256, (3, 2 * size), np.uint8)
        w.add_tensor(t.name, data, raw_shape=(3, 2 * size), raw_dtype=t)
        tensors[t.name] = (int(t), [2 * elements, 3], data.tobytes())
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()
    return keys, tensors


def dumped(path):
    keys, tensors = {}, {}
    for line in tool("dump", path).splitlines():
        kind, *rest = line.split(" ")
        if kind == "kv":
            keys[rest[0]] = bytes.fromhex(rest[4])
        elif kind == "tensor":
            tensors[rest[0]] = (int(rest[1]), [int(n) for n in rest[3:-1]], bytes.fromhex(rest[-1]))
    return keys, tensors


def read(path):
    """What the package reads: key -> value, name -> (type, shape, offset, data)."""
    r = gguf.GGUFReader(path)
    keys = {k: (f.types, f.contents()) for k, f in r.fields.items()}
    return keys, {t.name: (t.tensor_type, list(t.shape), t.data_offset, t.data.tobytes()) for t in r.tensors}


@pytest.mark.parametrize("alignment", ALIGNMENTS)
def test_we_read_what_the_package_writes(tmp_path, alignment):
    path = tmp_path / "theirs.gguf"
    expected = write(path, alignment, TYPES)
    assert dumped(path) == expected


@pytest.mark.parametrize("alignment", ALIGNMENTS)
def test_the_package_reads_what_we_write(tmp_path, alignment):
    theirs, ours = tmp_path / "theirs.gguf", tmp_path / "ours.gguf"
    write(theirs, alignment, TYPES)
    tool("copy", theirs, ours)
    assert read(ours) == read(theirs)
    assert [p.name for p in tmp_path.iterdir() if "tmp" in p.name] == []


def test_without_tensors(tmp_path):
    theirs, ours = tmp_path / "theirs.gguf", tmp_path / "ours.gguf"
    expected = write(theirs, 32, [])
    assert dumped(theirs) == expected
    tool("copy", theirs, ours)
    assert read(ours) == read(theirs)


def test_a_big_endian_file_is_refused_by_name(tmp_path):
    path = tmp_path / "big.gguf"
    w = gguf.GGUFWriter(path, "llama", endianess=gguf.GGUFEndian.BIG)
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.close()
    done = subprocess.run([TOOL, "dump", path], stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1 and "big-endian" in done.stderr
