"""What models publish about cutting words, kind by kind, as it stands in their files; built with tokenizers.

SPDX-License-Identifier: MIT
"""
from tokenizers import Regex, pre_tokenizers

BYTES = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)  # one character for each byte
GPT2 = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
DIGITS = pre_tokenizers.Digits(individual_digits=True)


def split(pattern):
    return pre_tokenizers.Split(Regex(pattern), "isolated")


CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"
CL100K = CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|%s| ?[^\s\p{L}\p{N}]+[\r\n]*|" + SPACES
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
O200K = (rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+%(tail)s|[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*%(tail)s|%(digits)s"
         rf"| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{SPACES}")
GPT4O = O200K % {"tail": CONTRACTIONS + "?", "digits": r"\p{N}{1,3}"}
DEEPSEEK_V3 = (r"[!\"#$%%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
               r"| ?[\p{P}\p{S}]+%s")
IDEOGRAPHS = "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+"
BLOOM = " ?[^(\\s|.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c)]+"
KIMI_UPPER, KIMI_LOWER = (r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]")
DEEPSEEK_LLM_LETTERS = (
    "A-Za-z\xb5\xc0-\xd6\xd8-\xf6\xf8-\u01ba\u01bc-\u01bf\u01c4-\u0293\u0295-\u02af\u0370-\u0373\u0376\u0377\u037b-"
    "\u037d\u037f\u0386\u0388-\u038a\u038c\u038e-\u03a1\u03a3-\u03f5\u03f7-\u0481\u048a-\u052f\u0531-\u0556\u10a0-"
    "\u10c5\u13a0-\u13f5\u13f8-\u13fd\u1c90-\u1cba\u1cbd-\u1cbf\u1d00-\u1d2b\u1d6b-\u1d77\u1d79-\u1d9a\u1e00-\u1f15"
    "\u1f18-\u1f1d\u1f20-\u1f45\u1f48-\u1f4d\u1f50-\u1f57\u1f59\u1f5b\u1f5d\u1f5f-\u1f7d\u1f80-\u1fb4\u1fb6-\u1fbc"
    "\u1fbe\u1fc2-\u1fc4\u1fc6-\u1fcc\u1fd0-\u1fd3\u1fd6-\u1fdb\u1fe0-\u1fec\u1ff2-\u1ff4\u1ff6-\u1ffc\u2102\u2107"
    "\u210a-\u2113\u2115\u2119-\u211d\u2124\u2126\u2128\u212a-\u212d\u212f-\u2134\u2139\u213c-\u213f\u2145-\u2149"
    "\u214e\u2183\u2184\u2c00-\u2c7b\u2c7e-\u2ce4\u2ceb-\u2cee\u2cf2\u2cf3\ua640-\ua66d\ua680-\ua69b\ua722-\ua76f"
    "\ua771-\ua787\ua78b-\ua78e\uab70-\uabbf\ufb00-\ufb06\ufb13-\ufb17\uff21-\uff3a\uff41-\uff5a\U00010400-\U0001044f"
    "\U000104b0-\U000104d3\U000104d8-\U000104fb\U00010c80-\U00010cb2\U00010cc0-\U00010cf2\U000118a0-\U000118df"
    "\U0001e900-\U0001e943")

KINDS = {  # the first name of each row of the table
    # No model publishes this one: it is what programs do with files of old converters.
    "default": [split(r"[\p{P}\$\+<=>\^~\|]+"),
                split(r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"),
                split(r"\p{N}+"), split("[0-9][0-9][0-9]")],
    "gpt-2": [GPT2],
    "starcoder": [DIGITS, GPT2],
    "qwen2": [split(CL100K % r"\p{N}")],
    "llama-bpe": [split(CL100K % r"\p{N}{1,3}")],
    "glm4": [split(CL100K % r"\p{N}{1,3}")],
    "dbrx": [split(CL100K % r"\p{N}{1,3}")],
    "minicpm5": [split(r"\p{N}{1,3}"), split(CL100K % r"\p{N}+")],
    "jais-2": [split(CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
                     r"|\s{512}(?!\S)|\s{256}(?!\S)|\s{128}(?!\S)|\s{64}(?!\S)|\s{32}(?!\S)|\s{16}(?!\S)|\s{8}(?!\S)"
                     r"|\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1}")],
    "laguna": [split(r"[^\n]+|[\n]+"), split(CL100K % r"\p{N}")],
    "ufakzeka": [split(r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|" + SPACES)],
    "qwen35": [split(CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|" +
                     SPACES)],
    "seed-coder": [split(CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+|" + SPACES)],
    "exaone-moe": [split(CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}"
                         r"| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+")],
    "bailingmoe": [split(r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]"
                         r"|\s+(?!\S)|\s+")],
    "tekken": [split(O200K % {"tail": "", "digits": r"\p{N}"})],
    "gpt-4o": [split(GPT4O)],
    "kanana2": [split(GPT4O)],
    "tiny_aya": [split(r"\d{1,3}(?=(?:\d{3})*\b)"), split(GPT4O)],
    "youtu": [split("[\uac00-\ud7a3\u3131-\u318e]+|[\uff01\u2026\u201c\u201d\u2018\u2019\u2014\uff1a\uff1b\uff0c"
                    "\u3001-\u303f\ufe30-\ufe4f]+|[\u3105-\u312f]+|" + IDEOGRAPHS),
              split(O200K % {"tail": CONTRACTIONS + "?", "digits": r"\p{N}"})],
    "kimi-k2": [split(rf"[\p{{Han}}]+|[^\r\n\p{{L}}\p{{N}}]?{KIMI_UPPER}*{KIMI_LOWER}+{CONTRACTIONS}?"
                      rf"|[^\r\n\p{{L}}\p{{N}}]?{KIMI_UPPER}+{KIMI_LOWER}*{CONTRACTIONS}?"
                      rf"|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{SPACES}")],
    # Published with Digits before the last part, which sees bytes as characters there: it cuts within characters, where
    # the vocabulary has no merges anyway.
    "falcon": [pre_tokenizers.Punctuation("contiguous"), GPT2, split("[0-9][0-9][0-9]")],
    "deepseek-coder": [split("[\r\n]"), split(r"\s?\p{L}+"), split(r"\s?\p{P}+"),
                       split("[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+"), DIGITS],
    "deepseek-llm": [split("[\r\n]"), split(rf"\s?[{DEEPSEEK_LLM_LETTERS}]+"),
                     split("\\s?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]+"), split(r"\s+$"),
                     split("[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+"), DIGITS],
    "deepseek-v3": [split(r"\p{N}{1,3}"), split(IDEOGRAPHS), split(DEEPSEEK_V3 % (r"[\r\n]*|" + SPACES))],
    "spark2_5": [split(r"\p{N}{1,3}"), split(IDEOGRAPHS), split(DEEPSEEK_V3 % r"|[\r\n]|\s+(?!\S)|\s+"),
                 split(r"\p{N}")],
    # Its file is not at hand: the digits are grouped as other programs group them.
    "afmoe": [split(r"\p{N}+"), split(r"(?=(?:\p{N}{3})+(?!\p{N}))"),
              split("[\u4e00-\u9fff\u3400-\u4dbf\uf900-\ufaff\u3040-\u309f\u30a0-\u30ff\uff65-\uff9f\u2f00-\u2fdf"
                    "\u0e40-\u0e7f\u0e80-\u0eff\u1780-\u17ff\u1000-\u109f\uaa60-\uaa7f\ua9e0-\ua9ff"
                    "\uac00-\ud7af\u1100-\u11ff]+"),
              split(DEEPSEEK_V3 % (r"[\r\n]*|" + SPACES))],
    "superbpe": [split(r"\p{N}+"), split(r"(?=(\d{3})+(?!\d))")],
    "chameleon": [split("<sentinel:[0-9]+>"), split("(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z"), split(r"([\t\n]|    |  )"),
                  DIGITS, pre_tokenizers.Punctuation("isolated"), GPT2],
    "bloom": [split(BLOOM)],
    "viking": [split(BLOOM), split(r"\p{N}")],
}


def pipeline(kind):
    """Cuts, and makes one character of each byte."""
    parts = KINDS[kind]
    return pre_tokenizers.Sequence(parts if GPT2 in parts else [*parts, BYTES])


def cut_off(part):
    """Characters that become words of their own behind a letter. Above U+20000 there are no punctuation and numbers."""
    characters = "".join("a" + chr(cp) for cp in range(0x20000) if not 0xD800 <= cp <= 0xDFFF)
    words = part.pre_tokenize_str(characters)
    return {word for word, (begin, end) in words if end - begin == 1 and begin % 2 == 1}


def unknown_punctuation():
    """What the judge's Punctuation, which is older than its patterns, does not take for it."""
    return cut_off(split(r"\p{P}")) - cut_off(pre_tokenizers.Punctuation("isolated"))
