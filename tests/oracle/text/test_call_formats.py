"""Formats of answers with calls: what a template writes itself is allowed; and whatever is made at random under a
format is read back as calls of tools of the list, with arguments that their schemas allow, and loses nothing.

SPDX-License-Identifier: MIT
"""
import json
import os
import re
import subprocess

import pytest

jsonschema = pytest.importorskip("jsonschema")
pytest.importorskip("jinja2")
import jinja_env  # noqa: E402
import test_answers as answers  # noqa: E402
from small_templates import SMALL  # noqa: E402

BIN = os.environ.get("QUERN_ORACLE_BIN")
FOLDER = jinja_env.SHARED / "data" / "templates"
VOCAB = jinja_env.SHARED / "data" / "vocab" / "ggml-vocab-llama-bpe.gguf"
TEMPLATES = answers.TEMPLATES

BLANKS = " \n\t\r"
NO_CALLS = "shows no calls"
# The shared templates whose calls are not enforced, and why.
REFUSED = {
    "HuggingFaceTB-SmolLM3-3B.jinja": NO_CALLS, "Kimi-K2-Thinking.jinja": NO_CALLS, "LFM2-8B-A1B.jinja": NO_CALLS,
    "LFM2.5-Instruct.jinja": NO_CALLS, "google-gemma-2-2b-it.jinja": NO_CALLS,
    "ibm-granite-granite-3.3-2B-Instruct.jinja": NO_CALLS, "microsoft-Phi-3.5-mini-instruct.jinja": NO_CALLS,
}
# What a template writes that is not allowed: (template, case).
NOT_AS_WRITTEN = {
    # Objects as Python shows them, in quotes that are none of JSON's.
    ("ByteDance-Seed-OSS.jinja", "two_calls"), ("ByteDance-Seed-OSS.jinja", "reasoning_call"),
    ("openbmb-MiniCPM5-1B.jinja", "two_calls"), ("openbmb-MiniCPM5-1B.jinja", "reasoning_call"),
    # Content behind the calls.
    ("google-gemma-4-31B-it-interleaved.jinja", "content_call"),
    # It leaves the mark that ends the section out behind a single call.
    ("deepseek-ai-DeepSeek-R1-Distill-Llama-8B.jinja", "call"),
    ("deepseek-ai-DeepSeek-R1-Distill-Llama-8B.jinja", "no_arguments"),
}

# Of our own: they write more than the marks that are found tell.
SMALL_NOT_AS_WRITTEN = {"fenced", "escape_quotes", "empty_plan",
                        "answer_marks"}

# The same tools, with nothing required: some cases have no arguments.
LOOSE = [{"type": "function", "function": {**t["function"], "parameters": {"type": "object",
                                                                          "properties": answers.PROPERTIES}}}
         for t in answers.TOOLS]
TOOLS = answers.TOOLS + [
    {"type": "function", "function": {"name": "now", "description": "No parameters."}},
    {"name": "pick", "parameters": {
        "type": "object", "additionalProperties": False, "required": ["color", "n"],
        "properties": {"color": {"enum": ["red", "dark blue", "</x>"]},
                       "n": {"type": "integer", "minimum": 1, "maximum": 99},
                       "when": {"type": "string", "format": "date"},
                       "code": {"type": "string", "pattern": "^[A-Z]{2}[0-9]+$"},
                       "short": {"type": "string", "minLength": 1, "maxLength": 5},
                       "maybe": {"type": ["string", "null"]}, "sizes": {"type": "array", "items": {"type": "number"},
                                                                        "maxItems": 3},
                       "inner": {"type": "object", "properties": {"p": {"type": "string"}, "q": {"type": "boolean"}},
                                 "required": ["p"], "additionalProperties": False}}}},
]
SCHEMAS = {(t.get("function") or t)["name"]: (t.get("function") or t).get("parameters", {"maxProperties": 0})
           for t in TOOLS}


class Tool(answers.Tool):
    def __init__(self, *arguments):
        self.process = subprocess.Popen([os.path.join(BIN, "calls_tool"), *map(str, arguments)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)


def opened(*arguments):
    t = Tool(*arguments)
    yield t
    t.process.stdin.close()
    t.process.wait()


@pytest.fixture(scope="module")
def tool():
    yield from opened()


@pytest.fixture(scope="module")
def reader():
    t = answers.Tool()
    yield t
    t.process.stdin.close()
    t.process.wait()


def load(tool, name):
    return tool.ask({"template": TEMPLATES[name], "bos": answers.BOS, "eos": answers.EOS})


def prompts(name):
    user = {"role": "user", "content": answers.USER}
    found = [answers.render(TEMPLATES[name], [user], v, True) for v in answers.VARIANTS]
    return [p for i, p in enumerate(found) if p is not None and p not in found[:i]]


def without_end(text, about):
    """What the model says before the token that ends its turn."""
    for end in about["end"]:
        if text.rstrip(BLANKS).endswith(end):
            return text.rstrip(BLANKS)[:-len(end)]
    return text


def marks(about):
    own = about["calls"][0] if about["calls"] else {}
    found = [own.get("section_open") or own.get("call_open", "")]
    thinking = about.get("reasoning", {})
    return [m.strip(BLANKS) for m in found + [thinking.get("open", ""), thinking.get("close", "")] if m.strip(BLANKS)]


def specials(about):
    """Marks that look like tokens of their own."""
    text = json.dumps([v for k, v in about.items() if k != "notes"], ensure_ascii=False).replace('\\"', '"')
    return sorted({t for t in re.findall(r"<[|\uff5c][^<>\s\"]+[|\uff5c]>|</?think>|</?tool_call>|\[[A-Z_]+\]", text)})


@pytest.mark.parametrize("name", TEMPLATES)
def test_calls_of_templates_are_enforced(tool, name):
    load(tool, name)
    for prompt in prompts(name):
        got = tool.ask({"prompt": prompt, "tools": TOOLS, "choice": "auto"})
        if name in REFUSED:
            assert got["status"] == "QN_EUNSUPPORTED" and REFUSED[name] in got["what"], got
        elif name not in SMALL:
            assert got["status"] == "QN_OK", got


@pytest.mark.parametrize("name", [n for n in TEMPLATES if n not in REFUSED])
def test_what_a_template_writes_is_allowed(tool, name):
    about = load(tool, name)
    n_calls = 0
    for label, case in answers.CASES.items():
        for prompt, text, _ in answers.answers(TEMPLATES[name], about, case):
            text = without_end(text[:answers.end_of_turn(text, case, about["end"])], about)
            got = tool.ask({"prompt": prompt, "tools": LOOSE, "choice": "auto", "texts": [text]})
            if got["status"] == "QN_EUNSUPPORTED" and name in SMALL:
                continue
            assert got["status"] == "QN_OK", got
            taken = got["accepts"][0]
            is_exception = (name, label) in NOT_AS_WRITTEN
            if taken != -1 and name in SMALL_NOT_AS_WRITTEN:
                continue
            assert (taken != -1) == is_exception, f"{label}: {text!r} up to {text.encode()[:taken]!r}"
            n_calls += len(case.get("calls", []))
    assert n_calls > 0 or name in SMALL


def spoken(text, about, prompt):
    """The content of a text, by its marks; None: told by headers."""
    if about.get("headers"):
        return None
    thinking = about.get("reasoning")
    if thinking:
        opening, close = thinking["open"].strip(BLANKS), thinking["close"].strip(BLANKS)
        is_inside = prompt.rstrip(BLANKS).endswith(opening)
        if is_inside or text.lstrip(BLANKS).startswith(opening):
            text = text.split(close, 1)[1]
        elif text.lstrip(BLANKS).startswith(close):
            text = text.lstrip(BLANKS)[len(close):]
    for mark in (about.get("content_open", "").strip(BLANKS), about.get("content_close", "").strip(BLANKS)):
        text = text.replace(mark, "", 1) if mark else text
    own = about["calls"][0]
    mark = (own.get("section_open") or own.get("call_open", "")).strip(BLANKS)
    if own.get("bare"):
        return ""
    return text.split(mark, 1)[0]


def check(made, got, about, prompt, choice, one_call):
    where = f"prompt ...{prompt[-60:]!r}\nmade {made!r}\nread {got}"
    assert got["same"] and not got["cut"], where
    for c in got["calls"]:
        assert c["whole"] and c["name"] in SCHEMAS, where
        jsonschema.Draft202012Validator(SCHEMAS[c["name"]], format_checker=jsonschema.FormatChecker()).validate(
            json.loads(c["arguments"]))
    if choice == "required":
        assert got["calls"], where
    if choice == "none":
        assert not got["calls"], where
    assert len(got["calls"]) <= 1 or not one_call, where
    content = spoken(made, about, prompt)
    if content is not None and not (about["calls"][0].get("bare") and not got["calls"]):
        assert got["content"].strip(BLANKS) == content.strip(BLANKS), where


CHOICES = [("auto", False), ("required", False), ("required", True), ("none", False)]


@pytest.mark.parametrize("special", [False, True])
@pytest.mark.parametrize("name", [n for n in TEMPLATES if n not in REFUSED])
def test_what_is_made_is_read(tool, reader, name, special):
    about = load(tool, name)
    load(reader, name)
    n_made = n_calls = 0
    for seed, prompt in enumerate(prompts(name)):
        for choice, one_call in CHOICES:
            got = tool.ask({"prompt": prompt, "tools": TOOLS, "choice": choice, "one_call": one_call, "generate": 12,
                            "seed": seed, "steer": marks(about), "specials": specials(about) if special else []})
            if got["status"] == "QN_EUNSUPPORTED" and name in SMALL:
                continue
            assert got["status"] == "QN_OK", got
            for made in got["made"]:
                assert made is not None
                read = reader.ask({"prompt": prompt, "answer": made, "tools": TOOLS, "cuts": "none"})
                check(made, read, about, prompt, choice, one_call)
                n_made += 1
                n_calls += len(read["calls"])
    assert (n_made > 0 and n_calls > 0) or name in SMALL


# Templates that show tools and no calls: what their models write is told by the tokens that their vocabularies have.
BY_VOCABULARY = {
    "Kimi-K2-Thinking.jinja": ["<|tool_calls_section_begin|>", "<|tool_calls_section_end|>", "<|tool_call_begin|>",
                               "<|tool_call_argument_begin|>", "<|tool_call_end|>"],
    "LFM2-8B-A1B.jinja": ["<|tool_call_start|>", "<|tool_call_end|>"],
    "ibm-granite-granite-3.3-2B-Instruct.jinja": ["<|tool_call|>"],
}


@pytest.mark.skipif(not FOLDER.is_dir(), reason="no shared data: templates")
@pytest.mark.parametrize("name", BY_VOCABULARY)
def test_what_a_vocabulary_tells_of_calls_is_enforced(tool, reader, name):
    load(tool, name)
    load(reader, name)
    for choice, one_call in CHOICES[:3]:
        prompt = prompts(name)[0]
        got = tool.ask({"prompt": prompt, "tools": TOOLS, "choice": choice, "one_call": one_call, "generate": 20,
                        "seed": 3, "steer": BY_VOCABULARY[name][:1], "specials": BY_VOCABULARY[name]})
        assert got["status"] == "QN_OK", got
        n_calls = 0
        for made in got["made"]:
            read = reader.ask({"prompt": prompt, "answer": made, "tools": TOOLS, "cuts": "none"})
            check(made, read, {"headers": True}, prompt, choice, one_call)
            n_calls += len(read["calls"])
        assert n_calls > 0


@pytest.fixture(scope="module")
def real_tool():
    yield from opened(VOCAB)


REAL = ["Qwen-Qwen3-0.6B.jinja", "Qwen3.5-4B.jinja", "google-gemma-4-31B-it-interleaved.jinja", "MiniMax-M3.jinja",
        "mistralai-Mistral-Nemo-Instruct-2407.jinja", "llm-jp-llm-jp-4.1-8b-thinking.jinja"]


@pytest.mark.skipif(not VOCAB.exists() or not FOLDER.is_dir(), reason="no shared data: templates, vocabularies")
@pytest.mark.parametrize("name", REAL)
def test_what_is_made_with_a_vocabulary_of_128_thousand_is_read(real_tool, reader, name):
    about = load(real_tool, name)
    load(reader, name)
    for choice, one_call in CHOICES:
        prompt = prompts(name)[0]
        got = real_tool.ask({"prompt": prompt, "tools": TOOLS, "choice": choice, "one_call": one_call, "generate": 6,
                             "seed": 7, "steer": marks(about)})
        assert got["status"] == "QN_OK", got
        for made in got["made"]:
            read = reader.ask({"prompt": prompt, "answer": made, "tools": TOOLS, "cuts": "none"})
            check(made, read, about, prompt, choice, one_call)
