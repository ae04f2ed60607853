"""Answers as templates write them are read back: what was rendered from a message is that message again, however the text
is cut, and what is damaged loses nothing.

SPDX-License-Identifier: MIT
"""
import collections
import itertools
import json
import os
import random
import re
import subprocess

import pytest

pytest.importorskip("jinja2")
import jinja_env  # noqa: E402
from small_templates import SMALL  # noqa: E402

BIN = os.environ.get("QUERN_ORACLE_BIN")
if not BIN:
    pytest.skip("QUERN_ORACLE_BIN names no folder", allow_module_level=True)
FOLDER = jinja_env.SHARED / "data" / "templates"
TEMPLATES = {**SMALL, **{p.name: p.read_text() for p in sorted(FOLDER.glob("*.jinja"))}}

BOS, EOS = "<s>", "</s>"
USER = "What now?"
PROPERTIES = {
    "city": {"type": "string"}, "days": {"type": "integer"}, "deep": {"type": "object", "properties": {
        "a": {"type": "array", "items": {"type": "string"}}, "b": {"type": "boolean"}}},
    "flag": {"type": "boolean"}, "list": {"type": "array", "items": {"type": "integer"}},
    "note": {"type": "string"}, "ratio": {"type": "number"}}
TOOLS = [{"type": "function", "function": {"name": name, "description": "Does it.", "parameters": {
    "type": "object", "properties": PROPERTIES, "required": ["city"]}}} for name in ("get_weather", "ping.all-2")]
CONTENT = "Καλημέρα κόσμε 🐝, see <b>this</b>:\n\n- a {b} [c]\n- \"d\" <e"
REASON = "Думаю\nо {мире} <и> войне, \"да\""
FIRST = {"city": "Zürich \"x\" \\ 'y'\nline", "days": 3}
SECOND = {"city": "17", "deep": {"a": ["p", "q"], "b": True}, "flag": False, "list": [1, 2], "note": "a=b, c: {d} [e]",
          "ratio": 2.5}
IDS = ["abcDEF123", "xyzXYZ789"]


def call(i, name, arguments, long_ids):
    return {"id": f"functions.{name}:{i}" if long_ids else IDS[i], "type": "function", "function": {"name": name, "arguments": arguments}}


CASES = {
    "content": {"content": CONTENT},
    "reasoning": {"content": CONTENT, "reasoning": REASON},
    "call": {"calls": [("get_weather", FIRST)]},
    "two_calls": {"calls": [("ping.all-2", SECOND), ("get_weather", FIRST)]},
    "content_call": {"content": CONTENT, "calls": [("get_weather", FIRST)]},
    "reasoning_call": {"reasoning": REASON, "calls": [("get_weather", {"city": "ω"}), ("get_weather", SECOND)]},
    "no_arguments": {"calls": [("ping.all-2", {})]},
}
VARIANTS = [{}, {"enable_thinking": True, "thinking": True, "thinking_mode": "enabled"},
            {"enable_thinking": True, "thinking": True, "thinking_mode": "enabled", "reasoning_effort": "high"}]


class Tool:
    def __init__(self):
        self.process = subprocess.Popen([os.path.join(BIN, "answer_tool")], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)

    def ask(self, line):
        self.process.stdin.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, f"answer_tool died: {self.process.wait()}"
        return json.loads(line)


@pytest.fixture(scope="module")
def tool():
    t = Tool()
    yield t
    t.process.stdin.close()
    t.process.wait()


def message(case, string_arguments, content, long_ids):
    m = {"role": "assistant", "content": case.get("content", content)}
    if "reasoning" in case:
        m.update(reasoning_content=case["reasoning"], reasoning=case["reasoning"], thinking=case["reasoning"])
    if "calls" in case:
        m["tool_calls"] = [call(i, name, json.dumps(a) if string_arguments else a, long_ids)
                           for i, (name, a) in enumerate(case["calls"])]
    return m


def render(template, messages, variables, generate):
    """With tools when the template takes them."""
    for tools in ({"tools": TOOLS}, {}):
        kind, text = jinja_env.theirs(template, {"messages": messages, "add_generation_prompt": generate,
                                                 "bos_token": BOS, "eos_token": EOS, "functions": "[]",
                                                 "datetime": "now", **tools, **variables})
        if kind == "text":
            return text
    return None


def answers(template, about, case):
    """(prompt, answer, ids) for each way the template agrees to show the case."""
    user = {"role": "user", "content": USER}
    start = about.get("turn_start", "")
    found = []
    for variables in VARIANTS:
        for long_ids, string_arguments, content in itertools.product((False, True), (False, True), ("", None)):
            asked = message(case, string_arguments, content, long_ids)
            prompt = render(template, [user], variables, True)
            text = render(template, [user, asked], variables, False)
            if prompt is None or text is None or USER not in text:
                continue
            rest = text[text.index(USER) + len(USER):]
            if "'city'" in rest or not is_shown(case, rest) or start.strip() not in rest:
                continue
            rest = rest[rest.index(start.strip()) + len(start.strip()):] if start.strip() else rest
            after = start[len(start.rstrip()):]
            rest = rest[len(os.path.commonprefix([rest, after])):]
            at = prompt.rindex(start) + len(start)
            tail = prompt[at:]
            if rest.startswith(tail):
                rest = rest[len(tail):]
            elif not ("reasoning" in case and case["reasoning"] in rest
                      and about.get("reasoning", {}).get("open", "\0") not in rest):
                prompt = prompt[:at]
            ids = [c["id"] for c in asked.get("tool_calls", [])]
            if (prompt, rest, ids) not in found:
                found.append((prompt, rest, ids))
            break
    return found


def is_shown(case, text):
    names = [name for name, _ in case.get("calls", [])]
    return all(text.count(n) >= names.count(n) for n in names)


def end_of_turn(text, case, ends):
    """After the first end that follows all that the case shows: the rest is the template's, not the model's."""
    last = 0
    for name, arguments in case.get("calls", []):
        for word in (name, *arguments):
            last = max(last, text.find(word, last))
    for word in (case.get("content"), case.get("reasoning")):
        last = max(last, text.find(word) + len(word)) if word else last
    return min((at + len(end) for end in ends if (at := text.find(end, last)) >= 0), default=len(text))


@pytest.mark.skipif(not FOLDER.is_dir(), reason="no shared data: templates")
def test_templates_of_models_are_there():
    assert len(TEMPLATES) > len(SMALL)


@pytest.mark.parametrize("name", TEMPLATES)
def test_what_is_rendered_is_read_back(tool, name):
    template = TEMPLATES[name]
    about = tool.ask({"template": template, "bos": BOS, "eos": EOS})
    n = n_calls = 0
    for label, case in CASES.items():
        for prompt, text, ids in answers(template, about, case):
            if "calls" in case and not (about.get("headers") or not about["calls"][0].get("whole")):
                continue
            text = text[:end_of_turn(text, case, about["end"])]
            got = tool.ask({"prompt": prompt, "answer": text, "tools": TOOLS, "cuts": "truncate"})
            where = f"{name} {label}\nprompt ...{prompt[-80:]!r}\nanswer {text!r}\nread {got}\n{about}"
            assert got["same"], where
            assert not got["cut"], where
            reasoning = REASON if case.get("reasoning") and REASON in text else ""
            content = CONTENT if case.get("content") and CONTENT in text else ""
            if content and got["reasoning"] == content and about.get("headers", {}).get("reasoning") and "calls" in case:
                reasoning, content = content, ""  # what is said before a call is said to oneself there
            assert (got["content"], got["reasoning"]) == (content, reasoning), where
            calls = [(c["name"], json.loads(c["arguments"])) for c in got["calls"]]
            assert calls == case.get("calls", []), where
            assert all(c["whole"] for c in got["calls"]), where
            if about["calls"] and about["calls"][0]["shape"] in ("object", "named") and all(i in text for i in ids):
                assert [c["id"] for c in got["calls"]] == ids, where
            n += 1
            n_calls += len(calls)
    assert n > 0 or name in ("typed_contents", "wants_results")
    assert n_calls > 0 or name not in SMALL or name in ("thinking_parts", "typed_contents", "wants_results")


def slips(about, text, name, arguments):
    """(what a model got wrong, the text with it) where one call still is all that can be meant."""
    syntax = about["calls"][0] if about["calls"] else {"shape": "none"}
    at = text.rfind("}")
    rest = text[at + 1:].lstrip()
    if syntax["shape"] in ("object", "keyed object", "named") and rest.startswith("<"):
        yield "a brace is missing", text[:at] + text[at + 1:]
        yield "a comma is too many", text[:at] + " ,\n" + text[at:]
        if rest.startswith(tuple(filter(None, (syntax.get(k, "").strip() for k in ("call_close", "section_close"))))):
            yield "two braces are too many", text[:at] + "}}" + text[at:]
    if syntax["shape"] == "named":
        tokens = re.compile("(<\\|[^<>]*\\|>|<\uff5c[^<>]*\uff5c>)")
        yield "blanks after tokens", tokens.sub(lambda m: m[0] + "\n ", text)
        yield "blanks around tokens", tokens.sub(lambda m: " " + m[0] + "\n", text)
    for known in about["calls"]:
        outer = syntax.get("call_open", "").strip().removesuffix(known.get("call_open", "").strip()).strip()
        if known.get("known") and outer and outer in text:
            without = text.replace(outer, "", 1)
            yield "the outer mark is missing", without.lstrip()
            yield "both outer marks are missing", without.replace(known["section_close"].strip(), "").strip()
    if any(c.get("whole") or c.get("bare") for c in about["calls"]):
        close = about.get("reasoning", {}).get("close", "\0")
        lead = text[:text.index(close) + len(close)] if close in text else ""
        yield "bare", lead + json.dumps({"name": name, "arguments": arguments})
        yield "bare, other words", lead + json.dumps({"type": "function", "name": name, "parameters": arguments}, indent=1)


@pytest.mark.parametrize("name", TEMPLATES)
def test_slips_are_read(tool, name):
    about = tool.ask({"template": TEMPLATES[name], "bos": BOS, "eos": EOS})
    function, arguments = "get_weather", {"city": "a ω {b}, ]", "list": [1, 2], "deep": {"b": True}}
    for prompt, text, _ in answers(TEMPLATES[name], about, {"calls": [(function, arguments)]}):
        text = text[:end_of_turn(text, {"calls": [(function, arguments)]}, about["end"])]
        for what, wrong in slips(about, text, function, arguments):
            got = tool.ask({"prompt": prompt, "answer": wrong, "tools": TOOLS, "cuts": "all"})
            where = f"{name}: {what}\nprompt ...{prompt[-80:]!r}\nanswer {wrong!r}\nread {got}\n{about}"
            assert got["same"] and not got["cut"], where
            assert [(c["name"], json.loads(c["arguments"]), c["whole"]) for c in got["calls"]] == [
                (function, arguments, True)], where
            assert (got["content"].strip(), got["reasoning"]) == ("", ""), where


NO_CALLS = [{"name": "nobody", "arguments": {}}, {"name": "get_weather"}, {"name": "get_weather", "arguments": [1]},
            {"name": "get_weather", "arguments": {"city": "ω"}, "age": 3},
            {"age": 3, "name": "get_weather", "arguments": {}}, {"weather": {"name": "get_weather", "arguments": {}}},
            {"arguments": {"city": "ω"}, "name": "nobody"}]


@pytest.mark.parametrize("name", TEMPLATES)
def test_objects_that_are_no_calls_are_content(tool, name):
    about = tool.ask({"template": TEMPLATES[name], "bos": BOS, "eos": EOS})
    if about["calls"] and about["calls"][0].get("bare") and not about["calls"][0].get("whole"):
        pytest.skip("its calls are bare objects")
    headers = about.get("headers", {})
    prompt = about.get("turn_start", "") + headers.get("content", "") + headers.get("end", "")
    for no_call in NO_CALLS:
        for text in (json.dumps(no_call, ensure_ascii=False), json.dumps(no_call, ensure_ascii=False, indent=2)):
            got = tool.ask({"prompt": prompt, "answer": text, "tools": TOOLS, "cuts": "truncate"})
            where = f"{name}\nprompt ...{prompt[-80:]!r}\nanswer {text!r}\nread {got}\n{about}"
            assert got["same"] and got["calls"] == [] and got["content"] + got["reasoning"] == text, where


def letters(text):
    """How often each letter occurs that only content, reasoning and values have."""
    return collections.Counter(c for c in text if "\u0370" <= c < "\u0500")


def damage(rng, text):
    """text with a few pieces lost, doubled, moved or changed."""
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(text))
        end = min(len(text), at + rng.choice([1, 1, 2, 5, 20]))
        piece = text[at:end]
        what = rng.randrange(5)
        if what == 0:
            text = text[:at] + text[end:]
        elif what == 1:
            text = text[:end] + piece + text[end:]
        elif what == 2:
            text = text[:at] + rng.choice("<>{}[]\"'\\,:=\n x|/") + text[at:]
        elif what == 3:
            to = rng.randrange(len(text))
            text = text[:to] + piece + text[to:]
        else:
            text = text[:at] + text[rng.randrange(len(text)):][:10] + text[end:]
        text = text or "x"
    return text


@pytest.mark.parametrize("name", TEMPLATES)
def test_what_is_damaged_loses_nothing(tool, name):
    template = TEMPLATES[name]
    about = tool.ask({"template": template, "bos": BOS, "eos": EOS})
    rng = random.Random(name)
    for label, case in CASES.items():
        for prompt, text, _ in answers(template, about, case)[:2]:
            for end in about["end"]:
                text = text if about.get("headers") else text.split(end)[0]
            for _ in range(8 if text else 0):
                damaged = damage(rng, text)
                got = tool.ask({"prompt": prompt, "answer": damaged, "tools": TOOLS, "cuts": "all"})
                where = f"{name} {label}\nprompt ...{prompt[-80:]!r}\nanswer {damaged!r}\nread {got}\n{about}"
                assert got["same"], where
                said = got["content"] + got["reasoning"] + "".join(c["name"] + c["id"] + c["arguments"]
                                                                   for c in got["calls"])
                assert letters(said) == letters(damaged), where
