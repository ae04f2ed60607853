#!/usr/bin/env python3
"""Writes the code books of the IQ1, IQ2 and IQ3 formats, as the gguf package carries them.

usage: scripts/make_iq_grids.py > src/quant/iq_grids.c
       scripts/make_iq_grids.py kernels > src/backend/cpu/mm_iq_books.c

SPDX-License-Identifier: MIT
"""
import sys

import gguf.quants

# class, C name, bits of an element, what the formats share
GRIDS = [
    (gguf.quants.IQ1_S, "qn_iq1_grid", 2, "IQ1_S and IQ1_M: -1, 0, 1"),
    (gguf.quants.IQ2_XXS, "qn_iq2_xxs_grid", 2, "8, 25, 43"),
    (gguf.quants.IQ2_XS, "qn_iq2_xs_grid", 2, "8, 25, 43"),
    (gguf.quants.IQ2_S, "qn_iq2_s_grid", 2, "8, 25, 43"),
    (gguf.quants.IQ3_XXS, "qn_iq3_xxs_grid", 4, "4, 12, 20, 28, 36, 44, 52, 62"),
    (gguf.quants.IQ3_S, "qn_iq3_s_grid", 4, "1, 3, 5, 7, 9, 11, 13, 15"),
]


def entries(cls, bits):
    cls.init_grid()
    rows = cls.grid.reshape(cls.grid_shape)
    for row in rows:
        word = 0
        for i, value in enumerate(row):
            word |= cls.grid_map.index(int(value)) << (bits * i)
        yield word


# class, C name, bits of an entry, the byte that stands for an element
BOOKS = [
    (gguf.quants.IQ1_S, "qn_iq1_book", 64, lambda v: v + 1),
    (gguf.quants.IQ2_XXS, "qn_iq2_xxs_book", 64, lambda v: v + 64),
    (gguf.quants.IQ2_XS, "qn_iq2_xs_book", 64, lambda v: v + 64),
    (gguf.quants.IQ2_S, "qn_iq2_s_book", 64, lambda v: v + 64),
    (gguf.quants.IQ3_XXS, "qn_iq3_xxs_book", 32, lambda v: v + 64),
    (gguf.quants.IQ3_S, "qn_iq3_s_book", 32, lambda v: v // 2 + 8),
]


def books():
    print("/* The code books of the IQ1, IQ2 and IQ3 formats as bytes; written by scripts/make_iq_grids.py, not by hand.")
    print(" * SPDX-License-Identifier: MIT */")
    print('#include "backend/cpu/mm_int.h"')
    for cls, name, bits, byte in BOOKS:
        cls.init_grid()
        rows = cls.grid.reshape(cls.grid_shape)
        words = [sum(byte(int(v)) << (8 * i) for i, v in enumerate(row)) for row in rows]
        print(f"\nconst uint{bits}_t {name}[{len(words)}] = {{")
        per_line = 5 if bits == 64 else 9
        for i in range(0, len(words), per_line):
            print("    " + " ".join(f"0x{w:0{bits // 4}x}," for w in words[i:i + per_line]))
        print("};")


def main():
    print("/* The code books of the IQ1, IQ2 and IQ3 formats; written by scripts/make_iq_grids.py, not by hand.")
    print(" * An entry packs the indices of its elements, the first in the low bits; the comment lists what they stand")
    print(" * for. SPDX-License-Identifier: MIT */")
    print('#include "quant/quant_int.h"')
    for cls, name, bits, what in GRIDS:
        words = list(entries(cls, bits))
        print(f"\n/* {what} */\nconst uint16_t {name}[{len(words)}] = {{")
        for i in range(0, len(words), 14):
            print("    " + " ".join(f"0x{w:04x}," for w in words[i:i + 14]))
        print("};")


if sys.argv[1:] == ["kernels"]:
    books()
else:
    main()
