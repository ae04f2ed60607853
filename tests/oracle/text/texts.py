"""Texts to encode: those with expected ids, lines of books, random Unicode, long runs, invalid UTF-8.

Random characters are such that the tables here and those of the judges agree about: known to the tables here
(Unicode 15), or never to be assigned at all.

SPDX-License-Identifier: MIT
"""
import os
import random

DATA = os.environ.get("QUERN_TEST_DATA") or os.path.join(os.path.dirname(__file__), "../../../../shared/data")

SCRIPTS = [  # first and last of the letters, marks and digits of some scripts
    (0x41, 0x7A), (0xC0, 0x24F), (0x250, 0x2AF), (0x1E00, 0x1EFF), (0x370, 0x3FF), (0x1F00, 0x1FFF), (0x400, 0x52F),
    (0x531, 0x586), (0x5D0, 0x5EA), (0x591, 0x5F4), (0x620, 0x6FF), (0x700, 0x74A), (0x780, 0x7B1), (0x7C0, 0x7FA),
    (0x900, 0x97F), (0x980, 0x9FE), (0xA01, 0xA76), (0xA81, 0xAFF), (0xB01, 0xB77), (0xB82, 0xBFA), (0xC00, 0xC7F),
    (0xC80, 0xCF3), (0xD00, 0xD7F), (0xD81, 0xDF4), (0xE01, 0xE5B), (0xE81, 0xEDF), (0xF00, 0xFDA), (0x1000, 0x109F),
    (0x10A0, 0x10FF), (0x1100, 0x11FF), (0x1200, 0x139F), (0x13A0, 0x13FD), (0x1401, 0x167F), (0x1780, 0x17F9),
    (0x1800, 0x18AA), (0x2C00, 0x2CFF), (0x2D00, 0x2D7F), (0x3041, 0x309F), (0x30A0, 0x30FF), (0x3105, 0x312F),
    (0x3131, 0x318E), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xA000, 0xA4C6), (0xAC00, 0xD7A3), (0xFB50, 0xFDFF),
    (0xFE70, 0xFEFC), (0xFF01, 0xFFEE), (0x10000, 0x100FA), (0x10400, 0x1044F), (0x12000, 0x12399), (0x13000, 0x1342E),
    (0x1D400, 0x1D7FF), (0x1E900, 0x1E959), (0x20000, 0x2A6DF),
]
SPACES = (" \t\n\v\f\r\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2000\u2003\u2009\u200a\u200b\u2028\u2029\u202f\u205f\u2060\u3000"
          "\ufeff")
ZEROS = [0x30, 0x660, 0x6F0, 0x7C0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xB66, 0xBE6, 0xC66, 0xCE6, 0xD66, 0xE50, 0xED0, 0xF20,
         0x1040, 0x17E0, 0x1810, 0xFF10, 0x104A0, 0x1D7CE, 0x1D7D8]
NUMBERS = ("\xb2\xb3\xb9\xbc\xbd\xbe\u0f33\u2070\u2160\u2161\u2170\u2183\u2460\u24ea\u2776\u3007\u3021\u3220\u3280"
           "\u4e00\u5341")
NEVER = [0x378, 0x5FF, 0xFDD0, 0xFFFE, 0xFFFF, 0x1FFFE, 0x5FFFF, 0xE0000, 0xE0080, 0xE0FFF, 0xAFFFF, 0x10FFFF]
PRIVATE = [0xE000, 0xF8FF, 0xF0000, 0x10FFFD]
EMOJI = [0x1F600, 0x1F680, 0x1F999, 0x1F9D1, 0x1F468, 0x1F469, 0x2764, 0x2705, 0x2620, 0x231A, 0x1F3F4, 0x1F32B,
         0x1F44D]
CONTRACTIONS = ["'s", "'t", "'re", "'ve", "'m", "'ll", "'d", "'S", "'T", "'RE", "'Ve", "'M", "'lL", "'D", "'\u017f",
                "'", "\u2019s", "\u2019T", "''s", "'sx", "'st", "'\u0130", "'\u212a"]
WORDS = ["the", "and", "Hello", "world", "don't", "I", "na\u00efve", "caf\u00e9", "cafe\u0301",
         "\u043f\u0440\u0438\u0432\u0435\u0442", "\u4e16\u754c", "\u4f60\u597d", "\u3053\u3093\u306b\u3061\u306f",
         "\u5b89\u4e30", "\uc548\ub155", "\u0645\u0631\u062d\u0628\u0627", "\u0928\u092e\u0938\u094d\u0924\u0947",
         "camelCase", "HTTPServer", "snake_case", "x1", "a.b", "e-mail", "McDonald", "ABC"]
CODE = ["if (x == 0) {\n", "    return f(a[i], &b);\n", "}\n\n", "\tfor i in range(10):\n", "#include <stdio.h>\r\n",
        "// fix it\n", "const char *s = \"\\n\";", "x = {'k': [1, 2.5e-10]}", "</div>\n",
        "SELECT * FROM t WHERE id=42;", "a->b.c::d<T>()", "\\\\path\\to", "0xDEADBEEF", "!==", "&&", "||", "...",
        "```python\n", "---\n", "\n\n\n", "  ", "        "]
PUNCTUATION = ("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~\u00a1\u00ab\u00bf\u2013\u2014\u2026\u3001\u3002\u300c\uff0c\uff01"
               "\u20ac\u00a3\u2192\u2200\u0964")


def data(*path):
    """The path of shared test data, or None."""
    joined = os.path.join(DATA, *path)
    return joined if os.path.exists(joined) else None


class Source:
    def __init__(self, seed, assigned):
        self.rng = random.Random(seed)
        self.assigned = [cp for cp in range(0x110000) if assigned[cp] and cp not in (0x2581,)]
        self.scripts = [[cp for cp in range(first, last + 1) if assigned[cp]] for first, last in SCRIPTS]
        self.marks = [*range(0x300, 0x370), 0x483, 0x5B0, 0x64B, 0x93C, 0x94D, 0xE31, 0x20D0, 0x3099, 0xFE0F]

    def pick(self, of, most):
        return "".join(self.rng.choice(of) for _ in range(self.rng.randint(1, most)))

    def word(self, most=8):
        script = self.rng.choice(self.scripts)
        return "".join(chr(self.rng.choice(script)) for _ in range(self.rng.randint(1, most)))

    def latin(self):
        word = self.rng.choice(WORDS)
        return self.rng.choice([word, word.upper(), word.capitalize(), word.lower(), word])

    def script_words(self):
        return self.pick(" ", 2).join(self.word() for _ in range(self.rng.randint(1, 8)))

    def emoji(self):
        r, e = self.rng, chr(self.rng.choice(EMOJI))
        return r.choice([e, e + "\ufe0f", e + chr(r.randint(0x1F3FB, 0x1F3FF)), e + "\u200d" + chr(r.choice(EMOJI)),
                         e + "\u200d" + chr(r.choice(EMOJI)) + "\ufe0f\u200d" + chr(r.choice(EMOJI)),
                         "1\ufe0f\u20e3", "#\u20e3",
                         chr(r.randint(0x1F1E6, 0x1F1FF)) + chr(r.randint(0x1F1E6, 0x1F1FF)),
                         e * r.randint(1, 5), "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"])

    def marked(self):
        return "".join(chr(self.rng.choice(self.rng.choice(self.scripts))) +
                       "".join(chr(self.rng.choice(self.marks)) for _ in range(self.rng.randint(0, 3)))
                       for _ in range(self.rng.randint(1, 6)))

    def digits(self):
        zero = self.rng.choice(ZEROS + [0x30] * 10)
        run = "".join(chr(zero + self.rng.randint(0, 9)) for _ in range(self.rng.randint(1, 12)))
        return run + self.rng.choice(["", "", "", self.pick(NUMBERS, 2), ".", ",", "%", "e", "_", "st"])

    def spaces(self):
        return self.pick(self.rng.choice([SPACES, " ", " \n", "\r\n", "\n", "\t ", " \xa0\u3000"]), 6)

    def contraction(self):
        return self.latin() + self.rng.choice(CONTRACTIONS) + self.rng.choice(["", " ", self.latin()])

    def any(self):
        return "".join(chr(self.rng.choice(self.assigned)) for _ in range(self.rng.randint(1, 10)))

    def unassigned(self):
        return self.rng.choice(["", " ", "a"]) + self.pick([chr(cp) for cp in NEVER + PRIVATE], 3)

    def repeated(self):
        parts = [self.word(1), self.latin(), self.pick(PUNCTUATION, 2), "\n", "ab"]
        return self.rng.choice(parts) * self.rng.randint(2, 20)

    def controls(self):
        return self.pick([chr(cp) for cp in [*range(1, 32), 127, *range(128, 160), 0xAD]], 3)

    def cjk(self):
        pools = [(0x4E00, 0x9FFF), (0x3041, 0x3096), (0x30A1, 0x30FA), (0xAC00, 0xD7A3), (0x3001, 0x3011), (0x61, 0x7A),
                 (0x30, 0x39)]
        return "".join("".join(chr(self.rng.randint(*pool)) for _ in range(self.rng.randint(1, 4)))
                       for pool in self.rng.choices(pools, k=self.rng.randint(2, 6)))

    def line(self):
        """One line: parts of one kind or of several, with and without spaces between."""
        r = self.rng
        kinds = [self.script_words, self.emoji, self.marked, self.digits, self.spaces, self.contraction, self.any,
                 self.unassigned, self.repeated, self.controls, self.cjk, self.latin, lambda: r.choice(CODE),
                 lambda: self.pick(PUNCTUATION, 8), self.word]
        chosen = [r.choice(kinds)] if r.random() < 0.3 else r.sample(kinds, r.randint(2, 5))
        return r.choice(["", "", " "]).join(r.choice(chosen)() for _ in range(r.randint(1, 8)))

    def special_line(self, spellings):
        """Text with special tokens in it, whole, cut short, doubled and glued to other text."""
        r = self.rng
        parts = []
        for _ in range(r.randint(2, 6)):
            token = r.choice(spellings)
            begin, end = token[:r.randint(1, len(token))], token[r.randint(0, len(token) - 1):]
            parts.append(r.choice([token, token, begin, end, token + token, self.latin(), " ", "\n", self.digits(),
                                   self.line()]))
        return "".join(parts)

    def broken(self):
        """Bytes that are not UTF-8, between text that is."""
        r = self.rng
        bad = [b"\xff", b"\x80", b"\xc3", b"\xe2\x82", b"\xf0\x9f\x98", b"\xc0\xaf", b"\xed\xa0\x80",
               b"\xf5\x80\x80\x80", b"\xf4\x90\x80\x80", b"\xe0\x80\xaf", b"\xfe", b"\x80" * 4,
               b"\xf8\x88\x80\x80\x80"]
        out = b""
        for _ in range(r.randint(1, 5)):
            out += r.choice([self.latin(), self.digits(), self.spaces(), self.word(), self.emoji(), " ", ""]).encode()
            out += r.choice(bad + [bytes(r.randrange(256) for _ in range(3))])
        return out + self.latin().encode()


def expected_texts():
    """The texts of the files with expected ids, each once."""
    folder = data("vocab")
    found = {}
    for name in sorted(os.listdir(folder)) if folder else []:
        if name.endswith(".inp"):
            with open(os.path.join(folder, name), encoding="utf-8", newline="") as f:
                for text in f.read().split("\n__ggml_vocab_test__\n"):
                    found[text] = True
    return list(found)


def book_lines(every):
    """Every so many lines of each book of the shared data, and one piece of several lines from each."""
    folder = data("text")
    lines = []
    for name in sorted(os.listdir(folder)) if folder else []:
        with open(os.path.join(folder, name), encoding="utf-8", newline="") as f:
            text = f.read()
        lines += [line for line in text.splitlines(keepends=True)[::every] if line.strip()]
        lines.append(text[len(text) // 3:len(text) // 3 + 20000])
    return lines


def long_runs(n):
    """Runs of n bytes or so."""
    return ["a" * n, " " * n, "\n" * n, "\t" * n, "1234567890" * (n // 10), "\U0001f999" * (n // 4), " " * n + "x",
            "lorem ipsum " * (n // 12), "=-" * (n // 2), "\u4e2d\u6587" * (n // 6), "\r\n \n" * (n // 4)]
