"""From the files that models publish (tokenizer.json, tekken.json, ranks, SentencePiece models) to a GGUF file that
holds a vocabulary and nothing else, in the way converters do it.

SPDX-License-Identifier: MIT
"""
import base64
import dataclasses
import json
import struct

import gguf

NORMAL, UNKNOWN, CONTROL, USER, UNUSED, BYTE = 1, 2, 3, 4, 5, 6


def byte_alphabet():
    """The characters that byte-level vocabularies spell the 256 bytes with."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = iter(range(0x100, 0x200))
    return [chr(b) if b in printable else chr(next(others)) for b in range(256)]


ALPHABET = byte_alphabet()


def spell(data):
    return "".join(ALPHABET[b] for b in data)


@dataclasses.dataclass
class Vocabulary:
    model: str  # tokenizer.ggml.model
    pre: str | None
    tokens: list
    types: list
    scores: list | None = None
    merges: list | None = None
    numbers: dict = dataclasses.field(default_factory=dict)  # bos, eos, unknown, ...: the id
    flags: dict = dataclasses.field(default_factory=dict)  # add_bos_token, add_space_prefix, ...
    charsmap: bytes = b""

    def write(self, path):
        w = gguf.GGUFWriter(path, "llama")
        w.add_tokenizer_model(self.model)
        if self.pre is not None:
            w.add_tokenizer_pre(self.pre)
        w.add_token_list(self.tokens)
        w.add_token_types(self.types)
        if self.scores is not None:
            w.add_token_scores(self.scores)
        if self.merges is not None:
            w.add_token_merges(self.merges)
        if self.charsmap:
            w.add_precompiled_charsmap(self.charsmap)
        for name, value in self.numbers.items():
            w.add_uint32(f"tokenizer.ggml.{name}_token_id", value)
        for name, value in self.flags.items():
            w.add_bool(f"tokenizer.ggml.{name}", value)
        w.write_header_to_file()
        w.write_kv_data_to_file()
        w.close()


def looks_special(token):
    """Converters make control tokens of these although their models do not call them special."""
    return token in ("<pad>", "<mask>", "<2mass>", "[@BOS@]") or (token.startswith("<|") and token.endswith("|>")) or \
        (token.startswith("<\uff5c") and token.endswith("\uff5c>")) or token.startswith("<unused")


def read_json(path):
    """A published tokenizer.json, with the converters' idea of what is special."""
    with open(path, encoding="utf-8") as f:
        published = json.load(f)
    for added in published["added_tokens"]:
        added["special"] |= looks_special(added["content"])
    return published


def _pieces(published, with_spaces=True):
    """tokens and types by id; ids that nothing has become unused ones. with_spaces: tokens that are found in every text
    are spelled as there."""
    by_id = {i: (token, NORMAL) for token, i in published["model"]["vocab"].items()}
    for added in published["added_tokens"]:
        replace = with_spaces and not added["special"]
        token = added["content"].replace("\u2581", " ") if replace else added["content"]
        by_id[added["id"]] = (token, CONTROL if added["special"] else USER)
    n = max(by_id) + 1
    entries = [by_id.get(i, (f"[PAD{i}]", UNUSED)) for i in range(n)]
    return [e[0] for e in entries], [e[1] for e in entries]


def _merges(published):
    pairs = (m if isinstance(m, list) else m.split(" ", 1) for m in published["model"]["merges"])
    return [" ".join(part.replace(" ", "\u0120") for part in pair) for pair in pairs]


def from_json(published, pre):
    """Byte-level BPE."""
    tokens, types = _pieces(published)
    return Vocabulary("gpt2", pre, tokens, types, merges=_merges(published))


def from_json_as_gemma4(published):
    """BPE over characters."""
    tokens, types = _pieces(published, with_spaces=False)
    types = [BYTE if t == NORMAL and is_byte(s) else t for s, t in zip(tokens, types)]
    return Vocabulary("gemma4", None, tokens, types, merges=_merges(published), flags={"add_space_prefix": False})


def from_json_as_gemma4_kind(published):
    """The same as converters of other models write it: as model "gpt2", byte tokens as ordinary ones."""
    tokens, types = _pieces(published)
    return Vocabulary("gpt2", "gemma4", tokens, types, merges=_merges(published))


def is_byte(token):
    return len(token) == 6 and token.startswith("<0x") and token.endswith(">")


def from_json_as_spm(published, **flags):
    """SentencePiece BPE out of the tokenizer.json that was made from it: there, pieces stand in the order of their
    scores, and where merges make the same piece in several ways the scores know only one of them."""
    tokens, types = _pieces(published)
    types = [BYTE if t == NORMAL and is_byte(s) else t for s, t in zip(tokens, types)]
    scores = [-float(i) if t == NORMAL else 0.0 for i, t in enumerate(types)]
    unknown = published["model"]["unk_token"]
    types[tokens.index(unknown)] = UNKNOWN
    return Vocabulary("llama", None, tokens, types, scores=scores, numbers={"unknown": tokens.index(unknown)},
                      flags=flags)


def read_ranks(path):
    """bytes -> rank, from lines "base64 rank"."""
    with open(path, "rb") as f:
        return {base64.b64decode(token): int(rank) for token, rank in (line.split() for line in f if line.strip())}


def _all_splits(ranks):
    """Every way to make each token of two others, the earliest token first."""
    found = []
    for token, rank in ranks.items():
        for i in range(1, len(token)):
            left, right = ranks.get(token[:i]), ranks.get(token[i:])
            if left is not None and right is not None:
                found.append((rank, left, right, token[:i], token[i:]))
    found.sort(key=lambda m: m[:3])
    return [f"{spell(left)} {spell(right)}" for _, _, _, left, right in found]


def from_ranks(ranks, special, pre):
    """ranks: bytes -> id; special: text -> id."""
    n = max([*ranks.values(), *special.values()]) + 1
    tokens, types = [f"[PAD{i}]" for i in range(n)], [UNUSED] * n
    for token, i in ranks.items():
        tokens[i], types[i] = spell(token), NORMAL
    for token, i in special.items():
        tokens[i], types[i] = token, CONTROL
    return Vocabulary("gpt2", pre, tokens, types, merges=_all_splits(ranks))


@dataclasses.dataclass
class Tekken:
    pattern: str
    ranks: dict  # bytes -> rank; the id is n_special higher
    n_special: int
    special: dict  # text -> id


def read_tekken(path):
    with open(path, encoding="utf-8") as f:
        published = json.load(f)
    config = published["config"]
    n_special = config["default_num_special_tokens"]
    n_ranks = config["default_vocab_size"] - n_special
    ranks = {base64.b64decode(t["token_bytes"]): t["rank"] for t in published["vocab"][:n_ranks]}
    special = {t["token_str"]: t["rank"] for t in published.get("special_tokens") or []}
    for i in set(range(n_special)) - set(special.values()):
        special[f"<SPECIAL_{i}>"] = i
    return Tekken(config["pattern"], ranks, n_special, special)


def from_tekken(tekken):
    return from_ranks({t: r + tekken.n_special for t, r in tekken.ranks.items()}, tekken.special, "tekken")


def from_sentencepiece(processor):
    """A SentencePieceProcessor's pieces. Pieces that its model's user defined have no score; the configuration beside
    the models here calls them special."""
    n = processor.get_piece_size()
    tokens, scores, types = [], [], []
    for i in range(n):
        tokens.append(processor.id_to_piece(i))
        scores.append(processor.get_score(i))
        types.append(UNKNOWN if processor.is_unknown(i) else CONTROL if processor.is_control(i) else
                     UNUSED if processor.is_unused(i) else BYTE if processor.is_byte(i) else
                     CONTROL if scores[i] == 0 else NORMAL)
    return Vocabulary("llama", None, tokens, types, scores=scores,
                      numbers={"bos": processor.bos_id(), "eos": processor.eos_id(), "unknown": processor.unk_id()})


def _read_strings(f, n):
    found = []
    for _ in range(n):
        found.append(f.read(int.from_bytes(f.read(8), "little")).decode())
    return found


SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}


def _read_value(f, kind):
    if kind == 8:
        return _read_strings(f, 1)[0]
    if kind != 9:
        return struct.unpack("<" + SCALARS[kind], f.read(struct.calcsize(SCALARS[kind])))[0]
    kind, n = struct.unpack("<IQ", f.read(12))
    if kind == 8:
        return _read_strings(f, n)
    return list(struct.unpack(f"<{n}{SCALARS[kind]}", f.read(n * struct.calcsize(SCALARS[kind]))))


def read_gguf(path):
    """The vocabulary of a GGUF file. The gguf package takes half a minute for the larger ones."""
    keys = {}
    with open(path, "rb") as f:
        magic, _, _, n_keys = struct.unpack("<4sIQQ", f.read(24))
        assert magic == b"GGUF"
        for _ in range(n_keys):
            key = _read_strings(f, 1)[0]
            keys[key] = _read_value(f, struct.unpack("<I", f.read(4))[0])
    return Vocabulary(keys["tokenizer.ggml.model"], keys.get("tokenizer.ggml.pre"), keys["tokenizer.ggml.tokens"],
                      keys["tokenizer.ggml.token_type"], keys.get("tokenizer.ggml.scores"),
                      keys.get("tokenizer.ggml.merges"))


def _field(number, value):
    """One field of a protocol buffer: a number, a float or bytes."""
    def varint(n):
        out = bytearray()
        while n > 127:
            out.append(n & 127 | 128)
            n >>= 7
        return bytes(out) + bytes([n])
    if isinstance(value, bytes):
        return varint(number << 3 | 2) + varint(len(value)) + value
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    return varint(number << 3) + varint(value)


def sentencepiece_model(made):
    """The model that a vocabulary with scores came from, as SentencePiece stores it: BPE with byte tokens, a space
    before the text, nothing normalised. GGUF files number the types of pieces as SentencePiece does."""
    types = [UNUSED if kind == UNKNOWN and i > 0 else kind for i, kind in enumerate(made.types)]  # one is enough
    pieces = b"".join(_field(1, _field(1, token.encode()) + _field(2, float(score)) + _field(3, kind))
                      for token, score, kind in zip(made.tokens, made.scores, types))
    trainer = _field(3, 2) + _field(4, len(made.tokens)) + _field(35, 1)
    normalizer = _field(1, b"identity") + _field(3, 1) + _field(4, 0) + _field(5, 1)
    return pieces + _field(2, trainer) + _field(3, normalizer)
