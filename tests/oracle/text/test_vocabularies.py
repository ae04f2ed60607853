"""Token ids of real vocabularies against the tokenizers that they were made for.

QUERN_ORACLE_FULL=1 takes all vocabularies instead of one of each kind, every line of the books and every token's
spelling, and runs of 1 MiB instead of 64 KiB.

SPDX-License-Identifier: MIT
"""
import os
import unicodedata

import pytest

pytest.importorskip("numpy")
pytest.importorskip("gguf")
pytest.importorskip("tokenizers")

import ours  # noqa: E402 (needs what was looked for above)

if not ours.BIN:
    pytest.skip("QUERN_ORACLE_BIN names no folder", allow_module_level=True)

from tokenizers.normalizers import NFC  # noqa: E402

import judges  # noqa: E402
import packages  # noqa: E402
import published  # noqa: E402
import texts  # noqa: E402
import vocab  # noqa: E402

FULL = os.environ.get("QUERN_ORACLE_FULL") == "1"
N_RANDOM = 10000
LONG_RUN = 1 << (20 if FULL else 16)  # bytes


class Real:
    """A vocabulary and its judge."""

    def __init__(self, made, judge, **options):
        self.made = made
        self.path = options.get("path")  # where it is a GGUF file already
        self.judge = judge
        self.spellings = options.get("spellings") or [t for t, kind in zip(made.tokens, made.types)
                                                      if kind in (vocab.CONTROL, vocab.USER)]
        self.parses = options.get("parses", True)  # the judge finds special tokens in a text
        self.unmerged = options.get("unmerged", 0)  # see test_own_spellings
        self.avoids = options.get("avoids", ())  # what a text must not hold: a known difference

    def own_spellings(self):
        """The texts that the ordinary tokens stand for."""
        made = self.made
        ordinary = [t for t, kind in zip(made.tokens, made.types) if kind == vocab.NORMAL]
        if made.model != "gpt2" or made.pre == "gemma4":
            return [t.replace("\u2581", " ") for t in ordinary]
        byte_of = {c: b for b, c in enumerate(vocab.ALPHABET)}
        datas = (bytes(byte_of[c] for c in t) for t in ordinary if all(c in byte_of for c in t))
        return [d.decode() for d in datas if d.decode(errors="ignore").encode() == d]


def hugging_face(name, pre):
    def make():
        file = vocab.read_json(packages.get(name))
        judge = judges.HuggingFace.of_json(file)
        return Real(vocab.from_json(file, pre), judge, avoids=judge.misplaced_marks())
    return make


def tiktoken(ranks, pattern, special, normalizer=None):
    pytest.importorskip("tiktoken")
    return judges.Tiktoken(ranks, pattern, special, normalizer)


def nfc(text):
    return unicodedata.normalize("NFC", text)


def hugging_face_by_tiktoken(name, ranks, pre, normalizer=None):
    """The vocabulary of a tokenizer.json with the judge that belongs to its first form."""
    def make():
        file = vocab.read_json(packages.get(name))
        made = vocab.from_json(file, pre)
        special = {t: i for i, (t, kind) in enumerate(zip(made.tokens, made.types))
                   if kind in (vocab.CONTROL, vocab.USER)}
        pattern = file["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"]
        control = [t for t, kind in zip(made.tokens, made.types) if kind == vocab.CONTROL]
        judge = tiktoken(vocab.read_ranks(packages.get(ranks)), pattern, special, normalizer)
        return Real(made, judge, spellings=control)
    return make


def qwen35():
    """Its package holds ranks and, as code, the pattern and the special tokens."""
    ranks = vocab.read_ranks(packages.get("qwen3.5-ranks"))
    names = ("<|endoftext|> <|im_start|> <|im_end|> <|object_ref_start|> <|object_ref_end|> <|box_start|> <|box_end|> "
             "<|quad_start|> <|quad_end|> <|vision_start|> <|vision_end|> <|vision_pad|> <|image_pad|> <|video_pad|> "
             "<tool_call> </tool_call> <|fim_prefix|> <|fim_middle|> <|fim_suffix|> <|fim_pad|> <|repo_name|> "
             "<|file_sep|> <tool_response> </tool_response> <think> </think>").split()
    special = {name: len(ranks) + i for i, name in enumerate(names)}
    pattern = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*"
               r"|\s*[\r\n]+|\s+(?!\S)|\s+")
    return Real(vocab.from_ranks(ranks, special, "qwen35"), tiktoken(ranks, pattern, special, nfc), unmerged=201)


def tekken(name):
    def make():
        file = vocab.read_tekken(packages.get(name))
        ranks = {token: rank + file.n_special for token, rank in file.ranks.items()}
        return Real(vocab.from_tekken(file), tiktoken(ranks, file.pattern, file.special))
    return make


def open_sentencepiece(name):
    return pytest.importorskip("sentencepiece").SentencePieceProcessor(model_file=str(packages.get(name)))


def sentencepiece(name):
    def make():
        processor = open_sentencepiece(name)
        return Real(vocab.from_sentencepiece(processor), judges.SentencePiece(processor), parses=False,
                    spellings=["<s>", "</s>", "<unk>"], avoids=SPELLED_SPACE)
    return make


def mistral_by_hugging_face():
    """Pieces and scores of the model, judged with its tokenizer.json."""
    return Real(vocab.from_sentencepiece(open_sentencepiece("mistral-spm-v1")),
                judges.HuggingFace.of_json(vocab.read_json(packages.get("mistral-v1"))), avoids=SPELLED_SPACE)


def spelled(name, convert):
    """As converters write vocabularies that are BPE over characters."""
    def make():
        file = vocab.read_json(packages.get(name))
        return Real(convert(file), judges.HuggingFace.of_json(file), avoids=SPELLED_SPACE)
    return make


def gemma(name, avoids=()):
    """As the SentencePiece model that its tokenizer.json was made from."""
    def make():
        file = vocab.read_json(packages.get(name))
        return Real(vocab.from_json_as_spm(file, add_space_prefix=False), judges.HuggingFace.of_json(file),
                    avoids=(*SPELLED_SPACE, *avoids))
    return make


def in_file(path, reason, kind, normalizer=None, avoids=tuple):
    """The vocabulary of a GGUF file, with a judge put together from what is published about its kind."""
    def make():
        if path is None or not os.path.exists(path):
            raise packages.Unavailable(reason)
        made = vocab.read_gguf(path)
        judge = judges.HuggingFace.of_vocabulary(made, published.pipeline(kind), normalizer)
        return Real(made, judge, path=path, avoids=(*judge.misplaced_marks(), *avoids()))
    return make


def shared(name, kind, **options):
    return in_file(texts.data("vocab", f"ggml-vocab-{name}.gguf"), "no shared data: vocab", kind, **options)


def shared_sentencepiece(name):
    """A vocabulary of the shared data with scores, as the SentencePiece model that it was."""
    def make():
        path = texts.data("vocab", f"ggml-vocab-{name}.gguf")
        if path is None:
            raise packages.Unavailable("no shared data: vocab")
        made = vocab.read_gguf(path)
        module = pytest.importorskip("sentencepiece")
        processor = module.SentencePieceProcessor(model_proto=vocab.sentencepiece_model(made))
        return Real(made, judges.SentencePiece(processor), path=path, parses=False, spellings=["<s>", "<unk>"],
                    avoids=SPELLED_SPACE)
    return make


# docs/tokenizers.md: here a U+2581 in a text is not taken for a space.
SPELLED_SPACE = ("\u2581",)
# The longest run of blanks that is a piece: SentencePiece cuts longer ones from the left, merging ends elsewhere.
LONGEST_BLANK = 31

VOCABULARIES = {
    "llama3": hugging_face("llama3", "llama-bpe"),
    "qwen3": hugging_face("qwen3", "qwen2"),
    "qwen3.5": qwen35,
    "deepseek-v4": hugging_face("deepseek-v4", "deepseek-v3"),
    "gpt-4o": hugging_face("gpt-4o", "gpt-4o"),
    "tekken-v3": tekken("tekken-v3"),
    "mistral-spm-v3": sentencepiece("mistral-spm-v3"),
    "gemma3 as Gemma 4's": spelled("gemma3", vocab.from_json_as_gemma4),
    "gpt-2": shared("gpt-2", "gpt-2"),
    "falcon": shared("falcon", "falcon", avoids=published.unknown_punctuation),
    "command-r": shared("command-r", "starcoder", normalizer=NFC()),
    "deepseek-coder": shared("deepseek-coder", "deepseek-coder"),
    "llama2": shared_sentencepiece("llama-spm"),
    "smollm2": in_file(packages.default_model(), "no default model; scripts/fetch-default-model gets it", "starcoder"),
}
if FULL:
    VOCABULARIES.update({
        "phi-3": shared_sentencepiece("phi-3"),
        "mpt": shared("mpt", "gpt-2", normalizer=NFC()),
        "gemma3": gemma("gemma3"),
        "gemma3 as kind gemma4": spelled("gemma3", vocab.from_json_as_gemma4_kind),
        "gemma2 as Gemma 4's": spelled("gemma2", vocab.from_json_as_gemma4),
        "llama3 by tiktoken": hugging_face_by_tiktoken("llama3", "llama3-ranks", "llama-bpe"),
        "llama3.1": hugging_face("llama3.1", "llama-bpe"),
        "qwen3 by tiktoken": hugging_face_by_tiktoken("qwen3", "qwen2-ranks", "qwen2", nfc),
        "deepseek-v4": hugging_face("deepseek-v4", "deepseek-v3"),
        "gpt-4": hugging_face("gpt-4", "dbrx"),
        "gpt-oss": hugging_face("gpt-oss", "gpt-4o"),
        "tekken-v7": tekken("tekken-v7"),
        "mistral-spm-v1": sentencepiece("mistral-spm-v1"),
        "mistral-v1": mistral_by_hugging_face,
        "gemma2": gemma("gemma2", [" " * (LONGEST_BLANK + 1), "\n" * (LONGEST_BLANK + 1)]),
    })


@pytest.fixture(scope="module")
def source_of():
    assigned = ours.assigned()
    return lambda seed: texts.Source(seed, assigned)


@pytest.fixture(scope="module")
def random_lines(source_of):
    source = source_of(1)
    return [source.line() for _ in range(N_RANDOM)]


@pytest.fixture(scope="module", params=list(VOCABULARIES))
def real(request, tmp_path_factory):
    try:
        found = VOCABULARIES[request.param]()
    except packages.Unavailable as reason:
        pytest.skip(str(reason))
    found.name = request.param
    if found.path is None:
        found.path = str(tmp_path_factory.mktemp("vocab") / f"{request.param}.gguf")
        found.made.write(found.path)
    return found


def show(text):
    return ascii(text) if len(text) < 200 else f"{ascii(text[:100])}... ({len(text)} long)"


def compare(real, corpus, inputs, special, expected):
    got = ours.numbers("ids", real.path, inputs, special)
    different = [i for i, (a, b) in enumerate(zip(got, expected)) if a != b]
    print(f"{real.name} {corpus}: {len(inputs)} texts, {sum(map(len, expected))} ids, {len(different)} different")
    for i in different[:10]:
        at = next(k for k, (a, b) in enumerate(zip(got[i] + [-1], expected[i] + [-1])) if a != b)
        print(f"  {show(inputs[i])}")
        print(f"    from number {at} on: here {got[i][at:at + 12]}, there {expected[i][at:at + 12]}")
    assert not different


def compare_texts(real, corpus, inputs, special=False):
    inputs = [text for text in inputs if not any(part in text for part in real.avoids)]
    if not inputs:
        return
    compare(real, corpus, inputs, special, real.judge.encode(inputs, special))


def test_expected_texts(real):
    found = texts.expected_texts()
    if not found:
        pytest.skip("no shared data: vocab")
    compare_texts(real, "expected texts", found)


def test_own_spellings(real):
    """Some vocabularies have tokens that no merge makes: Qwen 3.5 has 201, as many as its list of merges falls short.
    Tiktoken takes a word that is a token without asking; here only kinds that say so do."""
    found = real.own_spellings()
    found = found if FULL else found[::10]
    if real.unmerged > 0:
        pairs = zip(found, ours.numbers("ids", real.path, found), real.judge.encode(found, False))
        merged = [text for text, here, there in pairs if not (len(there) == 1 and len(here) > 1)]
        assert len(found) - len(merged) <= real.unmerged
        found = merged
    compare_texts(real, "spellings of tokens", found)


def test_books(real):
    found = texts.book_lines(1 if FULL else 40)
    if not found:
        pytest.skip("no shared data: text")
    compare_texts(real, "books", found)


def test_random_unicode(real, random_lines):
    compare_texts(real, "random Unicode", random_lines)


@pytest.mark.parametrize("special", [False, True])
def test_special_tokens(real, source_of, special):
    if special and not real.parses:
        pytest.skip("the judge finds no special tokens in a text")
    source = source_of(2)
    lines = [source.special_line(real.spellings) for _ in range(2000)]
    compare_texts(real, f"special tokens {'parsed' if special else 'as text'}", lines, special)


def test_long_runs(real):
    runs = [text for text in texts.long_runs(LONG_RUN) if not any(part in text for part in real.avoids)]
    if isinstance(real.judge, judges.Tiktoken):
        expected = real.judge.encode_bytes([text.encode() for text in runs])  # its own patterns overflow the stack
    else:
        expected = real.judge.encode(runs, False)
    compare(real, f"runs of {LONG_RUN} bytes", runs, False, expected)


def test_invalid_utf8(real, source_of):
    source = source_of(3)
    datas = [source.broken() for _ in range(1000)]
    compare(real, "invalid UTF-8", datas, False, real.judge.encode_bytes(datas))
