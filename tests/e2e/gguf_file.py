# Writes small GGUF files for the tests: valid ones, and ones with a chosen fault. SPDX-License-Identifier: MIT
import random
import struct

U8, I8, U16, I16, U32, I32, F32, BOOL, STRING, ARRAY, U64, I64, F64 = range(13)
FORMATS = {U8: "<B", I8: "<b", U16: "<H", I16: "<h", U32: "<I", I32: "<i", F32: "<f", BOOL: "<B", U64: "<Q", I64: "<q",
           F64: "<d"}


def string(text):
    data = text if isinstance(text, bytes) else text.encode()
    return struct.pack("<Q", len(data)) + data


def value(kind, v):
    return string(v) if kind == STRING else struct.pack(FORMATS[kind], v)


class File:
    """kv: list of (key, type, value), arrays as (key, ARRAY, (item type, items)); tensors: list of
    (name, dims, floats)."""

    def __init__(self, kv=(), tensors=()):
        self.kv, self.tensors = list(kv), list(tensors)

    def to_bytes(self):
        out = b"GGUF" + struct.pack("<IQQ", 3, len(self.tensors), len(self.kv))
        for key, kind, v in self.kv:
            out += string(key) + struct.pack("<I", kind)
            if kind == ARRAY:
                item, items = v
                out += struct.pack("<IQ", item, len(items)) + b"".join(value(item, i) for i in items)
            else:
                out += value(kind, v)
        data = b""
        for name, dims, numbers in self.tensors:
            out += string(name) + struct.pack("<I", len(dims)) + struct.pack(f"<{len(dims)}Q", *dims)
            out += struct.pack("<IQ", 0, len(data))
            data += struct.pack(f"<{len(numbers)}f", *numbers)
            data += b"\0" * (-len(data) % 32)
        return out + b"\0" * (-len(out) % 32) + data


def vocabulary():
    """SentencePiece style: <unk>, <s>, </s>, 256 bytes, and a few words."""
    tokens = ["<unk>", "<s>", "</s>"] + [f"<0x{i:02X}>" for i in range(256)]
    words = ["\u2581", "a", "b", "c", "ab", "\u2581ab", "\u2581a"]
    kinds = [2, 3, 3] + [6] * 256 + [1] * len(words)
    scores = [0.0] * 259 + [-float(i) for i in range(len(words))]
    return [
        ("tokenizer.ggml.model", STRING, "llama"),
        ("tokenizer.ggml.tokens", ARRAY, (STRING, tokens + words)),
        ("tokenizer.ggml.scores", ARRAY, (F32, scores)),
        ("tokenizer.ggml.token_type", ARRAY, (I32, kinds)),
        ("tokenizer.ggml.bos_token_id", U32, 1),
        ("tokenizer.ggml.eos_token_id", U32, 2),
        ("tokenizer.ggml.add_bos_token", BOOL, 1),
    ]


CHAT_TEMPLATE = ("{% for m in messages %}<s>{{ m.role }}: {{ m.content }}</s>\n{% endfor %}"
                 "{% if add_generation_prompt %}<s>assistant: {% endif %}")


def tiny_llama(n_ctx=1 << 20, templates=None):
    """A llama of one layer with random weights: it talks nonsense, but always the same. templates: chat templates by
    name, "" for the one without."""
    n_vocab, n_embd, n_ff, n_heads = 266, 32, 64, 2
    rng = random.Random(7)

    def matrix(rows, columns, deviation=0.3):
        return [rng.gauss(0, deviation) for _ in range(rows * columns)]

    kv = [
        ("general.architecture", STRING, "llama"),
        ("general.name", STRING, "tiny"),
        ("llama.context_length", U32, n_ctx),
        ("llama.embedding_length", U32, n_embd),
        ("llama.feed_forward_length", U32, n_ff),
        ("llama.block_count", U32, 1),
        ("llama.attention.head_count", U32, n_heads),
        ("llama.attention.head_count_kv", U32, n_heads),
        ("llama.rope.dimension_count", U32, n_embd // n_heads),
        ("llama.attention.layer_norm_rms_epsilon", F32, 1e-5),
    ] + vocabulary()
    for name, text in ({"": CHAT_TEMPLATE} if templates is None else templates).items():
        kv.append(("tokenizer.chat_template" + ("." + name if name else ""), STRING, text))
    tensors = [
        ("token_embd.weight", [n_embd, n_vocab], matrix(n_vocab, n_embd, 1)),
        ("output_norm.weight", [n_embd], [1.0] * n_embd),
        ("output.weight", [n_embd, n_vocab], matrix(n_vocab, n_embd)),
        ("blk.0.attn_norm.weight", [n_embd], [1.0] * n_embd),
        ("blk.0.attn_q.weight", [n_embd, n_embd], matrix(n_embd, n_embd)),
        ("blk.0.attn_k.weight", [n_embd, n_embd], matrix(n_embd, n_embd)),
        ("blk.0.attn_v.weight", [n_embd, n_embd], matrix(n_embd, n_embd)),
        ("blk.0.attn_output.weight", [n_embd, n_embd], matrix(n_embd, n_embd)),
        ("blk.0.ffn_norm.weight", [n_embd], [1.0] * n_embd),
        ("blk.0.ffn_gate.weight", [n_embd, n_ff], matrix(n_ff, n_embd)),
        ("blk.0.ffn_up.weight", [n_embd, n_ff], matrix(n_ff, n_embd)),
        ("blk.0.ffn_down.weight", [n_ff, n_embd], matrix(n_embd, n_ff)),
    ]
    return File(kv, tensors)
