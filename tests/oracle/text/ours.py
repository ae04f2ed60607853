"""What is built here, reached through ids_tool.

SPDX-License-Identifier: MIT
"""
import os
import struct
import subprocess

import numpy as np

BIN = os.environ.get("QUERN_ORACLE_BIN")
PARSE_SPECIAL = 2  # QN_TEXT_PARSE_SPECIAL


def tool(*arguments, data=b""):
    done = subprocess.run([os.path.join(BIN, "ids_tool"), *map(str, arguments)], input=data, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def numbers(mode, what, texts, special=False):
    """For each text (a string or bytes) the numbers that the tool answers with."""
    parts = []
    for text in texts:
        data = text if isinstance(text, bytes) else text.encode()
        parts += [struct.pack("=II", len(data), PARSE_SPECIAL if special else 0), data]
    answer = np.frombuffer(tool(mode, what, data=b"".join(parts)), dtype=np.int32)
    found, at = [], 0
    for _ in texts:
        n = answer[at]
        found.append(answer[at + 1:at + 1 + n].tolist())
        at += 1 + n
    assert at == len(answer)
    return found


def assigned():
    return tool("assigned")


def kinds():
    """The rows of the table: lists of names."""
    return [line.split() for line in tool("kinds").decode().splitlines()]
