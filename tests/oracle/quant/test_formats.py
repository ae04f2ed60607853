"""Compares the reference codecs bit for bit with the gguf package.

Q8_1, Q8_K and Q1_0, which the package does not carry, are compared with the definitions below.

SPDX-License-Identifier: MIT
"""
import os
import subprocess

import pytest

np = pytest.importorskip("numpy")
gguf = pytest.importorskip("gguf")
quants = pytest.importorskip("gguf.quants")

BIN = os.environ.get("QUERN_ORACLE_BIN")
if not BIN:
    pytest.skip("QUERN_ORACLE_BIN names no folder", allow_module_level=True)
TOOL = os.path.join(BIN, "quant_tool")

Type = gguf.GGMLQuantizationType
SIZES = gguf.constants.GGML_QUANT_SIZES

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # overflow and NaN are what the ugly inputs are for


def tool(mode, name, data):
    return subprocess.run([TOOL, mode, name], input=data, stdout=subprocess.PIPE, check=True).stdout


def listing():
    lines = subprocess.run([TOOL, "list"], stdout=subprocess.PIPE, check=True, text=True).stdout.splitlines()
    rows = {}
    for line in lines:
        number, name, length, size, decodes, encodes = line.split()
        rows[name] = (int(number), int(length), int(size), decodes == "1", encodes == "1")
    return rows


TABLE = listing()
BLOCKS = [name for name, row in TABLE.items() if row[1] > 1]


def test_table_agrees_with_the_package():
    ours = {number: (name, length, size) for name, (number, length, size, _, _) in TABLE.items()}
    theirs = {int(t): (t.name, *SIZES[t]) for t in SIZES}
    assert {k: ours[k] for k in theirs if k in ours} == {k: v for k, v in theirs.items() if k in ours}
    assert len(ours) == 34


def test_everything_decodes_and_what_should_encodes():
    assert [name for name, row in TABLE.items() if not row[3]] == []
    silent = {name for name, row in TABLE.items() if not row[4]}
    assert silent == {name for name in TABLE if name[:3] in ("IQ1", "IQ2", "IQ3")} | {
        "I8", "I16", "I32", "I64", "F64", "NVFP4", "Q1_0"}


# ---- decoding


def q8_decode(raw, name):
    rows = raw.reshape(-1, TABLE[name][2])
    n = TABLE[name][1]
    at = {"Q8_1": 8, "Q8_K": 4}[name]
    return (rows[:, :4].copy().view(np.float32) * rows[:, at:at + n].view(np.int8).astype(np.float32)).ravel()


def q1_decode(raw):
    rows = raw.reshape(-1, 18)
    bits = np.unpackbits(rows[:, 2:], axis=1, bitorder="little")
    d = rows[:, :2].copy().view(np.float16).astype(np.float32)
    return np.where(bits == 1, d, -d).ravel()


def decode_expected(name, raw):
    if name in ("Q8_1", "Q8_K"):
        return q8_decode(raw, name)
    if name == "Q1_0":
        return q1_decode(raw)
    return quants.dequantize(raw.reshape(1, -1), Type[name]).astype(np.float32).ravel()


def same_floats(ours, theirs):
    nan = np.isnan(theirs)
    assert np.array_equal(nan, np.isnan(ours))
    wrong = np.flatnonzero((ours.view(np.uint32) != theirs.view(np.uint32)) & ~nan)
    assert wrong.size == 0, f"{wrong.size} differ, first at {wrong[0]}: {ours[wrong[0]]!r}, not {theirs[wrong[0]]!r}"


# offsets of the halves in a block, to plant scales that random bytes seldom give
HALVES = {"Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0], "Q2_K": [80, 82], "Q3_K": [108],
          "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208], "IQ1_S": [0], "IQ2_XXS": [0], "IQ2_XS": [0], "IQ2_S": [0],
          "IQ3_XXS": [0], "IQ3_S": [0], "IQ4_NL": [0], "IQ4_XS": [0], "TQ1_0": [52], "TQ2_0": [64], "Q1_0": [0]}
UGLY_HALVES = np.array([0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x0400, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x7c01,
                        0xfe00, 0x3c00, 0xbc00], dtype=np.uint16)


def random_blocks(name, n_blocks, seed):
    size = TABLE[name][2]
    return np.random.default_rng(seed).integers(0, 256, size=(n_blocks, size), dtype=np.uint8)


def ugly_blocks(name):
    size = TABLE[name][2]
    blocks = [np.full((1, size), fill, dtype=np.uint8) for fill in (0, 255, 0x7f, 0x80, 0x55, 0xaa)]
    for offset in HALVES.get(name, []):
        some = random_blocks(name, len(UGLY_HALVES) * 3, offset)
        some[:, offset:offset + 2] = np.tile(UGLY_HALVES, 3).view(np.uint8).reshape(-1, 2)
        blocks.append(some)
    if name == "MXFP4":
        some = random_blocks(name, 256, 1)
        some[:, 0] = np.arange(256)
        blocks.append(some)
    if name == "NVFP4":
        some = random_blocks(name, 64, 1)
        some[:, :4] = np.arange(256).reshape(64, 4)
        blocks.append(some)
    if name == "IQ1_M":  # the half is spread over the top of four words
        some = random_blocks(name, len(UGLY_HALVES), 1)
        for k in range(4):
            some[:, 49 + 2 * k] = (some[:, 49 + 2 * k] & 15) | ((UGLY_HALVES >> (4 * k)) & 15).astype(np.uint8) << 4
        blocks.append(some)
    return np.concatenate(blocks)


@pytest.mark.parametrize("name", BLOCKS)
@pytest.mark.parametrize("kind", ["random", "ugly"])
def test_decode(name, kind):
    blocks = random_blocks(name, 3000, 7) if kind == "random" else ugly_blocks(name)
    ours = np.frombuffer(tool("decode", name, blocks.tobytes()), dtype=np.float32)
    same_floats(ours, decode_expected(name, blocks.ravel()))


def test_decode_every_half_and_bfloat16():
    raw = np.arange(65536, dtype=np.uint16)
    for name in ("F16", "BF16"):
        ours = np.frombuffer(tool("decode", name, raw.tobytes()), dtype=np.float32)
        same_floats(ours, decode_expected(name, raw.view(np.uint8)))


@pytest.mark.parametrize("name,dtype", [("I8", np.int8), ("I16", np.int16), ("I32", np.int32), ("I64", np.int64),
                                        ("F64", np.float64)])
def test_decode_plain_numbers(name, dtype):
    raw = np.random.default_rng(3).integers(0, 256, size=80000, dtype=np.uint8).view(dtype)
    if dtype is np.float64:
        raw = np.concatenate([raw, [0.0, -0.0, 1e308, -1e308, np.inf, np.nan, 5e-324, 1e-42, 1 + 2**-25]])
    ours = np.frombuffer(tool("decode", name, raw.tobytes()), dtype=np.float32)
    same_floats(ours, raw.astype(np.float32))


# ---- encoding


def random_rows(seed):
    rng = np.random.default_rng(seed)
    shape = (40, 256)
    rows = [rng.normal(size=shape), rng.uniform(-1, 1, size=shape), rng.standard_t(2, size=shape),
            rng.normal(size=shape) * 1e-3 + 0.5, np.round(rng.normal(size=shape) * 3), rng.normal(size=shape) * 1e-7,
            np.abs(rng.normal(size=shape)), -np.abs(rng.normal(size=shape))]
    return np.concatenate(rows).astype(np.float32)


def ugly_rows():
    rng = np.random.default_rng(5)
    rows = []
    for value in (0.0, -0.0, 1.0, -1.0, 0.1, 1e30, -1e30, 1e-30, 1e-40, -1e-40, 1e-45, 65504.0, 65520.0, 3.4e38):
        rows.append(np.full(256, value))
    for outlier in (1e30, -1e30, 3e38, 1e4, 1e-39, 1e-45):
        row = np.zeros(256)
        row[77] = outlier
        rows.append(row)
        rows.append(np.full(256, outlier * 1e-3))
        row = rng.normal(size=256)
        row[200] = outlier
        rows.append(row)
    for scale in (1e-37, 1e-38, 1e-39, 1e-40, 1e-42, 1e30, 1e36):
        rows.append(rng.uniform(-1, 1, size=256) * scale)
    for k in (-149, -140, -128, -127, -126, -125, -20, -1, 0, 1, 20, 120):  # around powers of two
        power = np.float32(2.0) ** np.float32(k)
        for edge in (np.nextafter(power, np.float32(0)), power, np.nextafter(power, np.float32(np.inf))):
            row = rng.uniform(-1, 1, size=256).astype(np.float32) * power * np.float32(0.9)
            row[3::32] = edge
            rows.append(row)
    return np.array(rows).astype(np.float32)


def round_away(x):
    a = np.abs(x)
    whole = np.floor(a)
    return np.sign(x) * (whole + np.floor(2 * (a - whole)))


def q8_encode(x, name):
    n = TABLE[name][1]
    x = x.reshape(-1, n)
    d = np.abs(x).max(axis=1, keepdims=True) / np.float32(127)
    inverse = np.where(d == 0, np.float32(0), np.float32(1) / d)
    q = round_away(x * inverse).astype(np.int8)
    if name == "Q8_1":
        s = d * q.sum(axis=1, keepdims=True).astype(np.float32)
        return np.concatenate([d.view(np.uint8), s.view(np.uint8), q.view(np.uint8)], axis=1).ravel()
    sums = q.reshape(-1, 16, 16).sum(axis=2).astype(np.int16)
    return np.concatenate([d.view(np.uint8), q.view(np.uint8), sums.view(np.uint8)], axis=1).ravel()


def encode_expected(name, x):
    if name in ("Q8_1", "Q8_K"):
        return q8_encode(x, name)
    return np.ascontiguousarray(quants.quantize(x, Type[name])).view(np.uint8).ravel()


@pytest.mark.parametrize("name", ["F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q8_1", "Q8_K", "TQ1_0",
                                  "TQ2_0", "MXFP4"])
@pytest.mark.parametrize("kind", ["random", "ugly"])
def test_encode(name, kind):
    rows = random_rows(11) if kind == "random" else ugly_rows()
    ours = np.frombuffer(tool("encode", name, rows.tobytes()), dtype=np.uint8)
    theirs = encode_expected(name, rows)
    wrong = np.flatnonzero(ours != theirs)
    size = TABLE[name][2]
    assert wrong.size == 0, f"{wrong.size} bytes differ, first in block {wrong[0] // size} at {wrong[0] % size}"


@pytest.mark.parametrize("name", ["F16", "BF16"])
def test_encode_around_every_half(name):
    halves = np.arange(65536, dtype=np.uint16)
    if name == "F16":
        centre = halves.view(np.float16).astype(np.float32)
        centre = centre[np.isfinite(centre)]
    else:
        centre = (halves.astype(np.uint32) << 16).view(np.float32)
        centre = centre[np.isfinite(centre)]
    bits = centre.view(np.uint32).astype(np.int64)
    ulp = 1 << (13 if name == "F16" else 16)
    steps = np.concatenate([bits + k for k in (0, 1, -1, ulp // 2 - 1, ulp // 2, ulp // 2 + 1)])
    values = (steps & 0xffffffff).astype(np.uint32).view(np.float32)
    values = np.concatenate([values, np.array([np.inf, -np.inf], np.float32)])
    values = values[~np.isnan(values)]
    ours = np.frombuffer(tool("encode", name, values.tobytes()), dtype=np.uint16)
    if name == "F16":
        theirs = values.astype(np.float16).view(np.uint16)
    else:
        theirs = quants.quantize(values.reshape(-1, 1), Type.BF16).view(np.uint16).ravel()
    assert np.array_equal(ours, theirs)


@pytest.mark.parametrize("name", ["F16", "BF16"])
def test_encode_random_floats(name):
    bits = np.random.default_rng(9).integers(0, 2**32, size=2_000_000, dtype=np.uint32)
    if name == "F16":  # most floats are out of a half's range: move half of them in, subnormals included
        bits[::2] = (bits[::2] & 0x807fffff) | np.random.default_rng(8).integers(100, 145, bits[::2].size).astype(
            np.uint32) << 23
    values = bits.view(np.float32)
    ours = np.frombuffer(tool("encode", name, values.tobytes()), dtype=np.uint16)
    theirs = values.astype(np.float16).view(np.uint16) if name == "F16" else quants.quantize(
        values.reshape(-1, 64), Type.BF16).view(np.uint16).ravel()
    nan = np.isnan(values)
    assert np.array_equal(ours[~nan], theirs[~nan])
    back = np.frombuffer(tool("decode", name, ours.tobytes()), dtype=np.float32)
    assert np.isnan(back[nan]).all() and not np.isnan(back[~nan]).any()
