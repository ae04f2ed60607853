"""Token ids of a WordPiece vocabulary (MiniLM's, which is BERT's) against the tokenizers package.

Its tables of punctuation, marks and format characters are older than those here; characters that it takes for something
else than Unicode 14 does are left out.

SPDX-License-Identifier: MIT
"""
import json
import unicodedata

import pytest

pytest.importorskip("numpy")
pytest.importorskip("gguf")
tokenizers = pytest.importorskip("tokenizers")

import ours  # noqa: E402 (needs what was looked for above)

if not ours.BIN:
    pytest.skip("QUERN_ORACLE_BIN names no folder", allow_module_level=True)

import judges  # noqa: E402
import packages  # noqa: E402
import texts  # noqa: E402
import vocab  # noqa: E402

N_RANDOM = 10000
LONG_RUN = 1 << 19  # bytes


def respelled(token):
    """As converters write a piece: the mark is on those that begin a word."""
    if token.startswith("[") and token.endswith("]"):
        return token
    return token[2:] if token.startswith("##") else "\u2581" + token


def from_json(published, **flags):
    pieces = sorted(published["model"]["vocab"].items(), key=lambda piece: piece[1])
    special = {added["id"] for added in published["added_tokens"]}
    ids = {token: i for token, i in pieces}
    return vocab.Vocabulary("bert", None, [respelled(token) for token, _ in pieces],
                            [vocab.CONTROL if i in special else vocab.NORMAL for _, i in pieces], flags=flags,
                            numbers={"cls": ids["[CLS]"], "seperator": ids["[SEP]"], "unknown": ids["[UNK]"]})


def agrees(c):
    """Whether the judge takes c for what Python's tables say it is."""
    category = unicodedata.category(c)
    cleaned = tokenizers.normalizers.BertNormalizer(True, False, False, False).normalize_str(f"a{c}b")
    stripped = tokenizers.normalizers.BertNormalizer(False, False, True, False).normalize_str(f"a{c}b")
    lower = tokenizers.normalizers.BertNormalizer(False, False, False, True).normalize_str(c)
    cut = [piece for piece, _ in tokenizers.pre_tokenizers.BertPreTokenizer().pre_tokenize_str(f"a{c}b")]
    is_cut = cut == ["a", c, "b"]
    decomposed = "".join(d for d in unicodedata.normalize("NFD", f"a{c}b") if unicodedata.category(d) != "Mn")
    return category != "Cn" and stripped == decomposed and lower == c.lower() and \
        (is_cut == (category[0] == "P") or ord(c) < 0x80) and (cleaned == "ab") == (category in ("Cc", "Cf", "Co") or
                                                                                    c == "\ufffd")


@pytest.fixture(scope="module")
def source():
    assigned = bytearray(ours.assigned())
    disputed = [cp for cp, known in enumerate(assigned) if known and not agrees(chr(cp))]
    print(len(disputed), "characters are left out")
    for cp in disputed:
        assigned[cp] = 0
    return texts.Source(30, assigned)


FORMS = {"uncased": (True, None), "cased": (False, None), "with accents": (True, False), "cased without accents":
         (False, True)}


@pytest.fixture(scope="module", params=list(FORMS))
def real(request, tmp_path_factory):
    try:
        with open(packages.get("minilm"), encoding="utf-8") as f:
            published = json.load(f)
    except packages.Unavailable as reason:
        pytest.skip(str(reason))
    lower, strip = FORMS[request.param]
    published["normalizer"].update(lowercase=lower, strip_accents=strip)
    published["padding"] = published["truncation"] = None
    flags = {} if request.param == "uncased" else {"normalizer.lowercase": lower}
    if strip is not None:
        flags["normalizer.strip_accents"] = strip
    path = tmp_path_factory.mktemp("wordpiece") / "vocabulary.gguf"
    from_json(published, **flags).write(str(path))
    return judges.HuggingFace.of_json(published), path


def compare(real, lines):
    judge, path = real
    expected = judge.encode([line if isinstance(line, str) else judges.as_text(line)[0] for line in lines], False)
    found = ours.numbers("ids", path, lines)
    different = [(line, e, f) for line, e, f in zip(lines, expected, found) if e != f]
    for line, e, f in different[:5]:
        print(ascii(line[:200]), "expected", e[:40], "found", f[:40], sep="\n  ")
    assert not different, f"{len(different)} of {len(lines)} texts differ"


def test_texts_with_expected_ids(real):
    compare(real, texts.expected_texts())


def test_books(real):
    compare(real, texts.book_lines(20))


def test_random_unicode(real, source):
    compare(real, [source.line() for _ in range(N_RANDOM)])


def test_decomposed(real, source):
    compare(real, [unicodedata.normalize("NFD", source.line()) for _ in range(N_RANDOM // 10)])


def test_special_tokens_in_text(real, source):
    judge, path = real
    lines = [source.special_line(["[CLS]", "[SEP]", "[MASK]", "[UNK]", "[PAD]"]) for _ in range(N_RANDOM // 10)]
    compare(real, lines)
    assert judge.encode(lines, True) == ours.numbers("ids", path, lines, special=True)


def test_invalid_utf8(real, source):
    compare(real, [source.broken() for _ in range(N_RANDOM // 10)])


def test_long_runs(real):
    compare(real, [*texts.long_runs(LONG_RUN), *("a" * n for n in range(95, 106)), "\u00e9" * 100, "\u00e9" * 101,
                   "a\u0301" * 100, "a\u0301" * 101, "\u0130" * 100])
