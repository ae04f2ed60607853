"""The other implementations, each with encode(texts, special) and encode_bytes(broken texts).

Text that is not UTF-8 has no meaning to them. Here a byte that is no part of a character is cut as U+FFFD would be and
encoded as the byte that it is; what the judges make of that is put together from their parts.

SPDX-License-Identifier: MIT
"""
import json
import re
import unicodedata

import tokenizers

from vocab import CONTROL, NORMAL, UNUSED, USER, spell

STAND_IN = "\U0010abcd"  # a character that is no token and is in no text


def as_text(data):
    """The characters of data, one U+FFFD for each byte that is no part of one, and for each character its bytes."""
    text = data.decode("utf-8", "surrogateescape")
    pieces = [c.encode("utf-8", "surrogateescape") for c in text]
    return "".join("\ufffd" if "\udc80" <= c <= "\udcff" else c for c in text), pieces


def normal(text, pieces, normalize):
    """The same after normalize, or with None at once. U+FFFD stays what and where it is."""
    if normalize is None:
        return text, pieces
    broken = iter([p for c, p in zip(text, pieces) if c == "\ufffd"])
    text = normalize(text)
    return text, [next(broken) if c == "\ufffd" else c.encode() for c in text]


class HuggingFace:
    """tokenizers."""

    def __init__(self, tokenizer, fallback=False):
        self.tokenizer = tokenizer
        self.fallback = fallback
        added = [t.content for t in tokenizer.get_added_tokens_decoder().values() if not t.special]
        self.in_every_text = re.compile("|".join(map(re.escape, sorted(added, key=len, reverse=True))) or "(?!)")

    @classmethod
    def of_json(cls, published):
        """With a tokenizer.json (vocab.read_json)."""
        return cls(tokenizers.Tokenizer.from_str(json.dumps(published)), published["model"].get("byte_fallback", False))

    @classmethod
    def of_vocabulary(cls, made, pre_tokenizer, normalizer=None):
        """Put together from a byte-level vocabulary."""
        n_own = max(i for i, kind in enumerate(made.types) if kind == NORMAL) + 1  # the others were added to them
        ids = {t: i for i, t in enumerate(made.tokens[:n_own])}
        merges = [tuple(m.split(" ", 1)) for m in made.merges]
        known = [m for m in merges if m[0] in ids and m[1] in ids and m[0] + m[1] in ids]
        tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=ids, merges=known))
        tokenizer.pre_tokenizer = pre_tokenizer
        if normalizer is not None:
            tokenizer.normalizer = normalizer
        tokenizer.add_tokens([tokenizers.AddedToken(t, normalized=False, special=kind == CONTROL)
                              for t, kind in zip(made.tokens, made.types) if kind in (CONTROL, USER)])
        assert all(tokenizer.token_to_id(t) == i for i, t in enumerate(made.tokens) if made.types[i] != UNUSED)
        return cls(tokenizer)

    def misplaced_marks(self):
        """Marks that the judge's normaliser does not put in the order of Unicode 14, its tables being older; and those
        that this Python does not know."""
        normalizer = self.tokenizer.normalizer
        if normalizer is None or normalizer.normalize_str("e\u0301") != "\xe9":
            return ()
        normal = normalizer.normalize_str
        around = ["a%s\u0334", "a\u035d%s", "a%s\u0316", "a\u0316%s"]  # marks of three other classes
        marks = (chr(cp) for cp in range(0x300, 0x1F000) if unicodedata.category(chr(cp))[0] in "MC")
        return tuple(c for c in marks if not "\ud800" <= c <= "\udfff" and any(
            normal(a % c) != unicodedata.normalize("NFC", a % c) for a in around))

    def encode(self, texts, special):
        self.tokenizer.encode_special_tokens = not special
        return [e.ids for e in self.tokenizer.encode_batch_fast(texts, add_special_tokens=False)]

    def encode_bytes(self, datas):
        return [self._encode_characters(data) if self.fallback else self._encode_words(data) for data in datas]

    def _encode_words(self, data):
        text, pieces = as_text(data)
        ids, begin = [], 0
        for found in self.in_every_text.finditer(text):
            ids += self._encode_part(text[begin:found.start()], pieces[begin:found.start()])
            ids.append(self.tokenizer.token_to_id(found[0]))
            begin = found.end()
        return ids + self._encode_part(text[begin:], pieces[begin:])

    def _encode_part(self, text, pieces):
        if self.tokenizer.normalizer is not None:
            text, pieces = normal(text, pieces, self.tokenizer.normalizer.normalize_str)
        ids = []
        for _, (begin, end) in self.tokenizer.pre_tokenizer.pre_tokenize_str(text):
            ids += [token.id for token in self.tokenizer.model.tokenize(spell(b"".join(pieces[begin:end])))]
        return ids

    def _encode_characters(self, data):
        """A character without a token stands for the byte, and its byte tokens for the byte's."""
        text, pieces = as_text(data)
        ids = self.encode([text.replace("\ufffd", STAND_IN)], False)[0]
        byte_id = [self.tokenizer.token_to_id(f"<0x{b:02X}>") for b in range(256)]
        return replace_bytes(ids, [byte_id[b] for b in STAND_IN.encode()],
                             [byte_id[p[0]] for c, p in zip(text, pieces) if c == "\ufffd"])


def replace_bytes(ids, pattern, replacements):
    out, replacements = [], iter(replacements)
    while ids:
        if ids[:len(pattern)] == pattern:
            out.append(next(replacements))
            ids = ids[len(pattern):]
        else:
            out.append(ids[0])
            ids = ids[1:]
    return out


class Tiktoken:
    """tiktoken; ranks: bytes -> id, special: text -> id. Its patterns are run by tokenizers for texts that are no
    UTF-8."""

    def __init__(self, ranks, pattern, special, normalizer=None):
        import tiktoken
        self.words = tokenizers.pre_tokenizers.Split(tokenizers.Regex(pattern), "isolated")
        self.normalizer = normalizer
        self.encoding = tiktoken.Encoding("judge", pat_str=pattern, mergeable_ranks=ranks, special_tokens=special)

    def encode(self, texts, special):
        if self.normalizer is not None:
            texts = [self.normalizer(text) for text in texts]
        if not special:
            return self.encoding.encode_ordinary_batch(texts, num_threads=2)
        return self.encoding.encode_batch(texts, num_threads=2, allowed_special="all")


    def encode_bytes(self, datas):
        out = []
        for data in datas:
            text, pieces = normal(*as_text(data), self.normalizer)
            ids = []
            for _, (begin, end) in self.words.pre_tokenize_str(text):
                ids += self.encoding._encode_single_piece(b"".join(pieces[begin:end]))
            out.append(ids)
        return out


class SentencePiece:
    def __init__(self, processor):
        self.processor = processor

    def encode(self, texts, special):
        assert not special
        return self.processor.encode(texts, out_type=int, num_threads=2)

    def encode_bytes(self, datas):
        byte_id = [self.processor.piece_to_id(f"<0x{b:02X}>") for b in range(256)]
        out = []
        for data in datas:
            text, pieces = as_text(data)
            ids = self.processor.encode(text.replace("\ufffd", STAND_IN), out_type=int)
            out.append(replace_bytes(ids, [byte_id[b] for b in STAND_IN.encode()],
                                     [byte_id[p[0]] for c, p in zip(text, pieces) if c == "\ufffd"]))
        return out
