"""Where each kind of pre-tokenizer cuts a text, against the pre-tokenizers that its models publish, run by tokenizers.

What is published (published.py) is written in another language than the table's; the meaning must be the same.

SPDX-License-Identifier: MIT
"""
import pytest

pytest.importorskip("numpy")
pytest.importorskip("gguf")
pytest.importorskip("tokenizers")

import ours  # noqa: E402 (needs what was looked for above)

if not ours.BIN:
    pytest.skip("QUERN_ORACLE_BIN names no folder", allow_module_level=True)

import published  # noqa: E402
import texts  # noqa: E402

N_RANDOM = 1500


def cuts(kind, inputs):
    """Where words end, in bytes."""
    pipeline = published.pipeline(kind)
    found = []
    for text in inputs:
        ends, at = [], 0
        for word, _ in pipeline.pre_tokenize_str(text):
            at += len(word)
            ends.append(at)
        found.append(ends)
    return found


AVOIDED = {  # what a text must not hold, and why
    "falcon": published.unknown_punctuation,
    "chameleon": published.unknown_punctuation,
    # Digits behind a number that is no digit, in one run: the table cannot say which of them belong together.
    "superbpe": lambda: published.cut_off(published.split(r"[\p{Nl}\p{No}]")),
}


def test_every_row_is_compared():
    assert [row[0] for row in ours.kinds()] == list(published.KINDS)


@pytest.fixture(scope="module")
def inputs():
    source = texts.Source(4, ours.assigned())
    extra = ["1234567 12 1234a \u0663\u0664\u0665\u0666 12\xb2345 1234\xb2 \xb21234 1234_ 1234\u24d0 123456\u0301",
             " " * 1100 + "x" + "\t" * 600, "x" + " " * 513 + "\n",
             "<sentinel:12>IMGIMGABCDZ  IMGIMGZ <sentinel:> IMGIMGABCDEZ"]
    return extra + texts.expected_texts() + [source.line() for _ in range(N_RANDOM)]


@pytest.mark.parametrize("kind", list(published.KINDS))
def test_cuts(kind, inputs):
    if kind in AVOIDED:
        avoided = AVOIDED[kind]()
        inputs = [text for text in inputs if avoided.isdisjoint(text)]
    expected = cuts(kind, inputs)
    got = ours.numbers("cuts", kind, inputs)
    different = [i for i, (a, b) in enumerate(zip(got, expected)) if a != b]
    print(f"{kind}: {len(inputs)} texts, {sum(map(len, expected))} words, {len(different)} different")
    for i in different[:10]:
        data = inputs[i].encode()
        at = min(set(got[i]) ^ set(expected[i]))
        print(f"  {data[max(0, at - 40):at]} | {data[at:at + 40]}: {'here' if at in got[i] else 'there'} only")
    assert not different
