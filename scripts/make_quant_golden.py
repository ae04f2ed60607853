#!/usr/bin/env python3
"""Writes tests/unit/quant/golden_vectors.h: blocks and what they decode to, rows and what they encode to, as the gguf
package has it.

usage: scripts/make_quant_golden.py > tests/unit/quant/golden_vectors.h

SPDX-License-Identifier: MIT
"""
import numpy as np
import gguf
from gguf import quants

Type = gguf.GGMLQuantizationType
SIZES = gguf.constants.GGML_QUANT_SIZES

DECODED = ["F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ1_S",
           "IQ1_M", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S", "IQ4_NL", "IQ4_XS", "TQ1_0", "TQ2_0", "MXFP4",
           "NVFP4"]
ENCODED = ["F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "TQ1_0", "TQ2_0", "MXFP4"]
HALVES = {"Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0], "Q2_K": [80, 82], "Q3_K": [108],
          "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208], "IQ1_S": [0], "IQ2_XXS": [0], "IQ2_XS": [0], "IQ2_S": [0],
          "IQ3_XXS": [0], "IQ3_S": [0], "IQ4_NL": [0], "IQ4_XS": [0], "TQ1_0": [52], "TQ2_0": [64]}


def fnv1a(data):
    h = 0xcbf29ce484222325
    for byte in data:
        h = (h ^ byte) * 0x100000001b3 % 2**64
    return h


def c_string(data):
    text = data.hex()
    lines = [text[i:i + 108] for i in range(0, len(text), 108)]
    return "\n".join(f'     "{line}"' for line in lines)


def block_of(name, rng):
    size = max(SIZES[Type[name]][1], 16)
    block = rng.integers(0, 256, size=size, dtype=np.uint8)
    for offset in HALVES.get(name, []):
        block[offset:offset + 2] = np.array([rng.uniform(0.01, 2)], np.float16).view(np.uint8)
    if name == "MXFP4":
        block = block[:17]
        block[0] = 125
    if name == "NVFP4":
        block[:4] = rng.integers(0, 128, size=4)
    if name == "IQ1_M":
        half = np.float16(0.37).view(np.uint16)
        for k in range(4):
            block[49 + 2 * k] = (block[49 + 2 * k] & 15) | ((half >> (4 * k)) & 15) << 4
    if name in ("F16", "BF16"):
        block[1::2] = (block[1::2] & 0x83) | 0x38
    return block


def main():
    rng = np.random.default_rng(2024)
    print("/* Blocks with what they decode to, and what a row encodes to; written by scripts/make_quant_golden.py,")
    print(" * not by hand. SPDX-License-Identifier: MIT */")
    print("static const struct golden_decode {")
    print("    qn_type type;")
    print("    const char *block;  /* hex */")
    print("    float some[8];      /* elements 0, n / 8, 2 n / 8, ... */")
    print("    uint64_t hash;      /* FNV-1a of the bytes of all n floats */")
    print("} golden_decode[] = {")
    for name in DECODED:
        block = block_of(name, rng)
        floats = np.ascontiguousarray(quants.dequantize(block.reshape(1, -1), Type[name])).astype(np.float32).ravel()
        some = floats[::len(floats) // 8][:8]
        assert np.isfinite(floats).all()
        print(f"    {{QN_TYPE_{name},\n{c_string(block.tobytes())},")
        print("     {" + ", ".join(float(v).hex() + "f" for v in some[:4]) + ",")
        print("      " + ", ".join(float(v).hex() + "f" for v in some[4:]) + "},")
        print(f"     0x{fnv1a(floats.tobytes()):016x}}},")
    print("};\n")
    # exact in float and without ties; a test makes the same row
    row = (((np.arange(256) * 37 + 11) % 101 - 50).astype(np.float32) * np.float32(0.03125) +
           (np.arange(256) % 7).astype(np.float32) * np.float32(0.0009765625)).astype(np.float32).reshape(1, -1)
    print("/* All of 256 elements ((37 i + 11) % 101 - 50) / 32 + (i % 7) / 1024. */")
    print("static const struct golden_encode {")
    print("    qn_type type;")
    print("    const char *some; /* hex: the first bytes */")
    print("    uint64_t hash;    /* of all bytes */")
    print("} golden_encode[] = {")
    for name in ENCODED:
        data = np.ascontiguousarray(quants.quantize(row, Type[name])).view(np.uint8).tobytes()
        print(f'    {{QN_TYPE_{name}, "{data[:24].hex()}", 0x{fnv1a(data):016x}}},')
    print("};")


main()
