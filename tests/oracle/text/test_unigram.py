"""Token ids of unigram vocabularies against SentencePiece, which trains them here on the books of the shared data.

SPDX-License-Identifier: MIT
"""
import dataclasses
import io
import unicodedata

import pytest

pytest.importorskip("numpy")
pytest.importorskip("gguf")
pytest.importorskip("tokenizers")
sentencepiece = pytest.importorskip("sentencepiece")

import ours  # noqa: E402 (needs what was looked for above)

if not ours.BIN:
    pytest.skip("QUERN_ORACLE_BIN names no folder", allow_module_level=True)

import texts  # noqa: E402
import vocab  # noqa: E402

N_RANDOM = 10000
LONG_RUN = 1 << 19  # bytes
TRAINED_ON = ("en_pud.txt", "zh_pud.txt", "zh_gsdsimp_dev_test.txt")

MODELS = {  # how each differs from SentencePiece's defaults
    "nmt_nfkc": {},
    "nmt_nfkc bytes": {"byte_fallback": True, "character_coverage": 0.99},
    "nmt_nfkc_cf": {"normalization_rule_name": "nmt_nfkc_cf", "character_coverage": 0.98},
    "identity": {"normalization_rule_name": "identity", "remove_extra_whitespaces": False},
    "identity bytes": {"normalization_rule_name": "identity", "byte_fallback": True, "add_dummy_prefix": False,
                       "remove_extra_whitespaces": False, "character_coverage": 0.98},
    "nfkc squeezing": {"normalization_rule_name": "nfkc", "add_dummy_prefix": False},
    "across words": {"split_by_whitespace": False, "character_coverage": 0.99},
    "symbols": {"user_defined_symbols": ["<tool>", "<sep>"], "character_coverage": 0.99},
    "ids of T5": {"pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1},
    "ids of XLM-R": {},
}


def fields(data):
    """(number, value) of each field of a protocol buffer message: an integer, or bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        else:
            n = {1: 8, 5: 4}.get(key & 7) or varint()
            yield key >> 3, data[at:at + n]
            at += n


def normalizer_of(model):
    """The map, add_dummy_prefix and remove_extra_whitespaces of a model file."""
    spec = dict(fields(dict(fields(model))[3]))
    return spec.get(2, b""), bool(spec.get(3, 1)), bool(spec.get(4, 1))


def train(options):
    """The bytes of a model file, or None: there are no books."""
    lines = [line for name in TRAINED_ON if texts.data("text", name)
             for line in open(texts.data("text", name), encoding="utf-8")]
    if not lines:
        return None
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(lines), model_writer=model, minloglevel=2,
                                             num_threads=1, **{"model_type": "unigram", "vocab_size": 4000, **options})
    return model.getvalue()


class Shifted:
    """A model with the ids that XLM-R gives its pieces: four special tokens, then the pieces after the first three."""

    def __init__(self, processor):
        self.processor = processor

    def encode(self, text):
        return [i + 1 if i > 0 else 3 for i in self.processor.encode(text)]

    @staticmethod
    def shift(made):
        special = [vocab.CONTROL, vocab.CONTROL, vocab.CONTROL, vocab.UNKNOWN]
        return dataclasses.replace(made, tokens=["<s>", "<pad>", "</s>", "<unk>", *made.tokens[3:]],
                                   scores=[0.0, 0.0, 0.0, 0.0, *made.scores[3:]], types=special + made.types[3:],
                                   numbers={"bos": 0, "eos": 2, "unknown": 3})


@pytest.fixture(scope="module", params=list(MODELS))
def trained(request, tmp_path_factory):
    """(judge, path of the GGUF file)"""
    model = train(MODELS[request.param])
    if model is None:
        pytest.skip("no shared data: text")
    judge = sentencepiece.SentencePieceProcessor(model_proto=model)
    charsmap, prefix, squeezes = normalizer_of(model)
    symbols = MODELS[request.param].get("user_defined_symbols", [])
    made = vocab.from_sentencepiece(judge)
    made = dataclasses.replace(
        made, model="t5", charsmap=charsmap, flags={"add_space_prefix": prefix, "remove_extra_whitespaces": squeezes},
        types=[vocab.USER if token in symbols else kind for token, kind in zip(made.tokens, made.types)],
        numbers={name: i for name, i in made.numbers.items() if i >= 0})
    if request.param == "ids of XLM-R":
        judge, made = Shifted(judge), Shifted.shift(made)
    path = tmp_path_factory.mktemp("unigram") / "vocabulary.gguf"
    made.write(str(path))
    return judge, path, symbols


@pytest.fixture(scope="session")
def source():
    return texts.Source(20, ours.assigned())


def compare(trained, lines, by=list):
    judge, path, _ = trained
    expected = [judge.encode(line) for line in lines]
    found = ours.numbers("ids", path, lines)
    different = [(line, e, f) for line, e, f in zip(lines, expected, found) if by(e) != by(f)]
    for line, e, f in different[:5]:
        print(repr(line[:200]), "expected", e[:40], "found", f[:40], sep="\n  ")
    assert not different, f"{len(different)} of {len(lines)} texts differ"


def test_texts_with_expected_ids(trained):
    compare(trained, texts.expected_texts())


def test_books(trained):
    compare(trained, texts.book_lines(20))


def test_random_unicode(trained, source):
    compare(trained, [source.line() for _ in range(N_RANDOM)])


def test_decomposed(trained, source):
    compare(trained, [unicodedata.normalize("NFD", source.line()) for _ in range(N_RANDOM // 10)])


def test_symbols(trained, source):
    """Here symbols are cut out first. So a text that begins with one has no space before it, and of ways to spell a
    part that differ in nothing but the order of their pieces rounding may take another."""
    _, _, symbols = trained
    if not symbols:
        pytest.skip("a model without user-defined symbols")
    compare(trained, ["a" + source.special_line(symbols) for _ in range(N_RANDOM // 10)], sorted)


def test_invalid_utf8(trained, source):
    compare(trained, [source.broken() for _ in range(N_RANDOM // 10)])


def test_long_runs(trained):
    compare(trained, texts.long_runs(LONG_RUN))
