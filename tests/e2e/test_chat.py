# quern chat and quern run --chat: turns, commands, files, endings; through pipes and at a terminal.
# SPDX-License-Identifier: MIT
import json
import os
import re
import signal
import subprocess

import gguf_file
import pytest
from conftest import assert_fails
from terminal import Terminal

A, ESC, BELL = 260, 3 + 0x1B, 3 + 0x07  # tokens of the tiny model: "a", and bytes


def answers(token=A, n=3):
    """Options that make every answer n times the token."""
    return ["--logit-bias", f"{token}=100", "-n", n]


def chat(quern, model, lines, *args, code=0):
    result = quern("chat", "-m", model, *args, stdin="".join(line + "\n" for line in lines).encode())
    assert result.returncode == code, result.stderr
    return result.stdout.decode(), result.stderr.decode()


def run_chat(quern, model, *args, **kwargs):
    result = quern("run", "--chat", "--json", "-m", model, *args, **kwargs)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


# ---- through a pipe ---------------------------------------------------------------------------------------------


def test_piped_lines_get_answers(quern, tiny_model):
    out, err = chat(quern, tiny_model, ["b", "", "  ", "c"], *answers())
    assert out == "aaa\naaa\n"
    assert "\x1b" not in err and ">" not in err


def test_one_json_object_for_each_answer(quern, tiny_model):
    out, _ = chat(quern, tiny_model, ["b", "/help", "c"], *answers(), "--json")
    objects = [json.loads(line) for line in out.splitlines()]
    assert [o["text"] for o in objects] == ["aaa", "aaa"] and objects[1]["prompt_tokens"] > objects[0]["prompt_tokens"]


def test_last_line_needs_no_newline(quern, tiny_model):
    result = quern("chat", "-m", tiny_model, *answers(), stdin=b"b")
    assert result.returncode == 0 and result.stdout == b"aaa\n"
    assert quern("chat", "-m", tiny_model, *answers(), stdin=b"").stdout == b""


def test_saved_messages(quern, tiny_model, tmp_path):
    path = tmp_path / "talk.json"
    chat(quern, tiny_model, ["b ♥", f"/save {path}"], *answers(), "--system", "be \"kind\"")
    saved = json.loads(path.read_text())
    assert saved == {"messages": [{"role": "system", "content": 'be "kind"'}, {"role": "user", "content": "b ♥"},
                                  {"role": "assistant", "content": "aaa"}]}
    shown = quern("template", "-m", tiny_model, "--input", path).stdout.decode()
    assert shown == '<s>system: be "kind"</s>\n<s>user: b ♥</s>\n<s>assistant: aaa</s>\n'


def saved_after(quern, model, tmp_path, lines, *args, **kwargs):
    path = tmp_path / "after.json"
    _, err = chat(quern, model, [*lines, f"/save {path}"], *answers(), *args, **kwargs)
    return [(m["role"], m["content"]) for m in json.loads(path.read_text())["messages"]], err


def test_commands_change_the_conversation(quern, tiny_model, tmp_path):
    turn = [("user", "b"), ("assistant", "aaa")]
    assert saved_after(quern, tiny_model, tmp_path, ["b", "/reset"])[0] == []
    assert saved_after(quern, tiny_model, tmp_path, ["b", "/system S", "b"])[0] == [("system", "S"), *turn, *turn]
    assert saved_after(quern, tiny_model, tmp_path, ["b", "/system T", "/reset"], "--system", "S")[0] == [("system", "T")]
    assert saved_after(quern, tiny_model, tmp_path, ["/system", "b"], "--system", "S")[0] == turn


def test_quit_ends(quern, tiny_model):
    assert chat(quern, tiny_model, ["b", "/quit", "b"], *answers())[0] == "aaa\n"


def test_a_message_without_an_answer_is_taken_back(quern, tiny_model, tmp_path):
    path = tmp_path / "talk.json"
    _, err = chat(quern, tiny_model, ["b", f"/save {path}"], "-n", 0)
    assert "taken back" in err and json.loads(path.read_text()) == {"messages": []}
    chat(quern, tiny_model, ["b", f"/save {path}"], *answers(token=2))  # EOS at once: an answer, which is empty
    assert json.loads(path.read_text())["messages"] == [{"role": "user", "content": "b"},
                                                         {"role": "assistant", "content": ""}]


def test_one_message_is_no_messages(quern, tiny_model, tmp_path):
    path = tmp_path / "one.json"
    path.write_text('{"messages": [{"role": "user", "content": "b"}]}')
    assert "1 message loaded" in chat(quern, tiny_model, [f"/load {path}"])[1]


def test_slash_twice_is_a_message(quern, tiny_model, tmp_path):
    assert saved_after(quern, tiny_model, tmp_path, ["//b"])[0] == [("user", "/b"), ("assistant", "aaa")]


def test_lines_that_go_on(quern, tiny_model, tmp_path):
    lines = ["one\\", " two\\", "three", '"""', "four", 'five"""', '"""six"""']
    users = [text for role, text in saved_after(quern, tiny_model, tmp_path, lines)[0] if role == "user"]
    assert users == ["one\n two\nthree", "\nfour\nfive", "six"]


def test_wrong_commands(quern, tiny_model):
    for line, word in (("/sav x", "did you mean /save?"), ("/xyzzy", "/help"), ("/save", "FILE"), ("/reset now", "/reset"),
                       ("/", "/help"), ("/save /nonexistent/x", "/nonexistent")):
        out, err = chat(quern, tiny_model, [line, "b"], *answers(), code=1)
        assert word in err and out == "aaa\n"  # it goes on
    assert "/system [TEXT]" in chat(quern, tiny_model, ["/help"])[1]


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"messages": {}}', '{"messages": [{"content": "x"}]}',
                                  '{"messages": [{"role": "user", "content": 5}]}', '{"messages": ["x"]}'])
def test_bad_file_leaves_the_history(quern, tiny_model, tmp_path, text):
    path = tmp_path / "bad.json"
    path.write_text(text)
    messages, err = saved_after(quern, tiny_model, tmp_path, ["b", f"/load {path}"], "--system", "S", code=1)
    assert messages == [("system", "S"), ("user", "b"), ("assistant", "aaa")]
    assert "quern chat: " in err and "bad.json" in err
    assert "absent.json" in saved_after(quern, tiny_model, tmp_path, ["/load absent.json"], code=1)[1]


def test_loaded_conversation_goes_on(quern, tiny_model, tmp_path):
    args = ["--temp", 0, "--ignore-eos", "-n", 12]
    path = tmp_path / "talk.json"
    straight, _ = chat(quern, tiny_model, ["a b", "c", f"/save {path}", "ab"], *args)
    loaded, _ = chat(quern, tiny_model, ["other", f"/load {path}", "ab"], *args)
    last = straight[len(chat(quern, tiny_model, ["a b", "c"], *args)[0]):]
    assert last and loaded.endswith(last)  # what the memory held before makes no difference


def test_other_members_of_a_file_are_kept(quern, tiny_model, tmp_path):
    path = tmp_path / "in.json"
    path.write_text('{"mood": {"x": 1.50}, "tools": [], "messages": [], "add_generation_prompt": true}')
    out = tmp_path / "out.json"
    chat(quern, tiny_model, [f"/load {path}", f"/save {out}"])
    assert json.loads(out.read_text()) == {"messages": [], "tools": [], "mood": {"x": 1.5}}
    assert "1.50" in out.read_text()


def test_common_beginning_is_not_read_again(quern, tiny_model):
    _, err = chat(quern, tiny_model, ["b" * 50, "c", "/stats"], *answers())
    made, read, found = map(int, re.search(r"(\d+) tokens made, (\d+) read, (\d+) found", err).groups())
    assert made == 6 and found > 50 and read < 2 * 50 + 60
    assert re.search(r"context +\d+ of 8192 tokens, 4 messages", err)


def test_full_context_is_said(quern, tiny_model, tmp_path):
    long = "c" * 100
    messages, err = saved_after(quern, tiny_model, tmp_path, ["b", long, "b"], "-c", 90, code=1)
    assert re.search(r"the conversation has 1\d\d tokens, the context holds 90", err)
    assert "/reset" in err and "-c" in err
    assert messages == [("user", "b"), ("assistant", "aaa")] * 2  # the message that did not fit is gone
    out, err = chat(quern, tiny_model, ["b"], "--logit-bias", f"{A}=100", "-c", 40, code=1)
    assert re.search(r"answer is cut: the conversation has 41 tokens, the context holds 40", err) and "/reset" in err
    assert re.fullmatch("a+\n", out)


def test_interrupt_ends_what_no_person_watches(quern, tiny_model):
    args = ["-m", str(tiny_model), "--ignore-eos", "-n", "-1", "-c", "300000", "-t", "1"]
    for verb in (["run", "--chat", "b"], ["chat"]):
        process = subprocess.Popen([quern.path, *verb, *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env=quern.env)
        process.stdin.write(b"b\nb\n")
        process.stdin.flush()
        assert process.stdout.read(1) != b""
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        assert process.returncode == 130


# ---- run --chat -------------------------------------------------------------------------------------------------


def test_run_chat(quern, tiny_model):
    out = run_chat(quern, tiny_model, *answers(), "b")
    assert set(out) == {"text", "reasoning", "tool_calls", "cut", "tokens", "finish_reason", "whole", "prompt_tokens", "seed",
                        "timings"}
    assert (out["text"], out["reasoning"], out["tool_calls"], out["cut"]) == ("aaa", None, [], False)
    assert out["tokens"] == [A] * 3 and out["finish_reason"] == "length"
    with_system = run_chat(quern, tiny_model, *answers(), "--system", "S", "b")
    assert with_system["prompt_tokens"] > out["prompt_tokens"]
    plain = quern("run", "--chat", "-m", tiny_model, *answers(), "-p", "b")
    assert plain.stdout == b"aaa" and b"\nload " in plain.stderr
    assert run_chat(quern, tiny_model, *answers(), "-f", "-", stdin=b"b")["prompt_tokens"] == out["prompt_tokens"]


def test_run_chat_templates(quern, tiny_model, tmp_path):
    bare = tmp_path / "bare.gguf"
    bare.write_bytes(gguf_file.tiny_llama(templates={}).to_bytes())
    assert_fails(quern("run", "--chat", "-m", bare, "b"), 1, "no chat template", "--template FILE")
    bad = tmp_path / "bad.gguf"
    bad.write_bytes(gguf_file.tiny_llama(templates={"": "{% for %}"}).to_bytes())
    assert_fails(quern("chat", "-m", bad), 1, "line 1", "--template FILE")
    other = tmp_path / "other.jinja"
    other.write_text("{{ messages[0].content }}")
    assert run_chat(quern, bare, "--template", other, *answers(), "ccc")["prompt_tokens"] == 5  # BOS, a space, 3 x c
    other.write_text("{{ raise_exception('no') }}")
    assert_fails(quern("run", "--chat", "-m", tiny_model, "--template", other, "b"), 1, "other.jinja: ", "line 1", "no")
    bad.write_bytes(gguf_file.tiny_llama(templates={"": other.read_text()}).to_bytes())
    assert_fails(quern("run", "--chat", "-m", bad, "b"), 1, "the model's chat template: line 1")
    other.write_text("")
    assert_fails(quern("run", "--chat", "-m", tiny_model, "--template", other, "b"), 1, "template")


def test_run_chat_usage(quern):
    for option in ("--system", "--template", "--template-name", "--tools"):
        assert_fails(quern("run", "x", option, "y"), 2, option, "--chat")
    assert_fails(quern("run", "--chat"), 2, "one text")
    assert_fails(quern("chat", "hello"), 2, "'hello'")
    assert_fails(quern("chat", "--stop", ""), 2, "--stop")
    assert_fails(quern("chat"), 1, "scripts/fetch-default-model")


def test_run_chat_prompt_too_long(quern, tiny_model):
    assert_fails(quern("run", "--chat", "-m", tiny_model, "-c", 20, "c" * 50), 1, "the context holds 20", "--ctx-size")


# ---- reasoning and tool calls -----------------------------------------------------------------------------------

# The prompt ends inside reasoning, so that all the tiny model says is reasoning, until a newline (byte 10).
THINKING = ("{% for m in messages %}<s>{{ m.role }}:{% if m.reasoning_content %}<think>\n{{ m.reasoning_content }}\n"
            "</think>\n\n{% endif %}{{ m.content }}</s>{% endfor %}"
            "{% if add_generation_prompt %}<s>assistant:<think>\n{% endif %}")


@pytest.fixture
def thinking(tmp_path):
    path = tmp_path / "thinking.jinja"
    path.write_text(THINKING)
    return path


def test_reasoning_is_kept_apart(quern, tiny_model, thinking, tmp_path):
    out = run_chat(quern, tiny_model, "--template", thinking, *answers(), "b")
    assert (out["text"], out["reasoning"], out["cut"]) == ("", "aaa", True)
    plain = quern("run", "--chat", "-m", tiny_model, "--template", thinking, *answers(), "b")
    assert plain.stdout == b"" and plain.stderr.startswith(b"aaa\n")
    path = tmp_path / "talk.json"
    out, err = chat(quern, tiny_model, ["b", f"/save {path}"], "--template", thinking, *answers())
    assert out == "" and "aaa" in err
    assert json.loads(path.read_text())["messages"][1] == {"role": "assistant", "reasoning_content": "aaa", "content": ""}


def test_reasoning_is_dim_at_a_terminal(terminal, thinking):
    t = terminal("--template", thinking, *answers())
    t.prompt()
    t.line("b")
    t.expect(re.escape("\x1b[2maaa\x1b[0m"))
    t.prompt()
    t.send("\x04")
    assert t.close() == 0


def test_tools_reach_the_template(quern, tiny_model, tmp_path):
    template = tmp_path / "tools.jinja"
    template.write_text("{{ tools | map(attribute='function.name') | join('+') if tools else 'no tools at all' }}")
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps([{"type": "function", "function": {"name": n, "parameters": {}}} for n in "abc"]))
    args = ["--template", template, *answers(), "b"]
    without, with_tools = (run_chat(quern, tiny_model, *args, *more) for more in ([], ["--tools", tools]))
    assert with_tools["prompt_tokens"] != without["prompt_tokens"]
    assert b"shows no tools" not in quern("run", "--chat", "-m", tiny_model, *args, "--tools", tools).stderr
    result = quern("chat", "-m", tiny_model, *answers(), "--tools", tools, stdin=b"b\nc\n")
    assert result.returncode == 0 and result.stderr.count(b"the chat template shows no tools") == 1
    for text, word in (("{", "line 1"), ("3", "no list"), ('{"x": 1}', "no list")):
        tools.write_text(text)
        assert_fails(quern("run", "--chat", "-m", tiny_model, *args, "--tools", tools), 2, "tools.json", word)


# ---- at a terminal ----------------------------------------------------------------------------------------------


@pytest.fixture
def terminal(quern, tiny_model):
    opened = []

    def start(*args, env=None, columns=80):
        env = quern.env | {"TERM": "xterm", "LANG": "C.UTF-8"} | (env or {})
        env = {k: v for k, v in env.items() if v is not None}
        opened.append(Terminal([quern.path, "chat", "-m", str(tiny_model), *map(str, args)], env, columns))
        return opened[-1]

    yield start
    for t in opened:
        if t.process.poll() is None:
            t.process.kill()
            t.process.wait()


ENDLESS = ["--logit-bias", f"{A}=100", "-c", 300000, "-t", 1]


def test_turns_at_a_terminal(terminal, tmp_path):
    t = terminal(*answers())
    assert "Ctrl-D ends" in t.expect("> ")
    t.line("b")
    t.expect(r"aaa\r\n")
    t.prompt()
    path = tmp_path / "talk.json"
    t.line(f"/save {path}")
    t.expect("2 messages saved")
    t.prompt()
    t.send("\x04")
    assert t.close() == 0
    assert json.loads(path.read_text())["messages"][0] == {"role": "user", "content": "b"}


def test_ctrl_c_stops_the_answer_alone(terminal, tmp_path):
    t = terminal(*ENDLESS)
    t.prompt()
    t.line("b")
    t.expect("aaaaaaaaaa")
    t.send("\x03")
    t.expect(r"\[stopped\]")
    t.prompt()
    t.send("half a line\x03")
    t.expect("Ctrl-D or /quit ends")
    t.prompt()
    path = tmp_path / "talk.json"
    t.line(f"/save {path}")
    t.expect("2 messages saved")
    t.prompt()
    t.line("/quit")
    assert t.close() == 0
    user, answer = json.loads(path.read_text())["messages"]
    assert user["content"] == "b" and re.fullmatch("a{10,}", answer["content"])  # what came before stays


def test_ctrl_c_pressed_twice_spoils_no_later_answer(terminal):
    t = terminal(*ENDLESS)
    for _ in range(3):
        t.prompt()
        t.line("b")
        t.expect("aaaaaaaaaa")
        t.send("\x03\x03")
        t.expect(r"\[stopped\]")
    t.prompt()
    t.send("\x04")
    assert t.close() == 0
    assert "quern chat:" not in t.text


@pytest.mark.parametrize("env,has_colours", [({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True),
                                             ({"TERM": "dumb"}, False)])
def test_colours(terminal, env, has_colours):
    t = terminal(*answers(), env=env)
    t.prompt()
    t.line("b")
    t.expect("aaa")
    t.prompt()
    t.send("\x04")
    assert t.close() == 0
    assert ("\x1b[1m" in t.text) == has_colours


def test_answers_cannot_steer_the_terminal(quern, tiny_model, terminal):
    t = terminal(*answers(ESC, 2))
    t.prompt()
    t.line("b")
    t.expect(re.escape("\\x1b\\x1b"))
    t.prompt()
    t.send("\x04")
    assert t.close() == 0
    assert chat(quern, tiny_model, ["b"], *answers(BELL, 2))[0] == "\a\a\n"  # a pipe gets what was made


@pytest.mark.parametrize("columns", [80, 20])
def test_odd_characters_come_through(terminal, tmp_path, columns):
    text = "漢字 e\u0301 👩‍👩‍👧 Ünïcödé ёлка 한국어 عربى"
    t = terminal(*answers(), columns=columns)
    t.prompt()
    t.line(text)
    t.expect("aaa")
    t.prompt()
    path = tmp_path / "talk.json"
    t.line(f"/save {path}")
    t.expect("saved")
    t.prompt()
    t.send("\x04")
    assert t.close() == 0
    assert json.loads(path.read_text())["messages"][0]["content"] == text


def test_editing_and_history(quern, terminal, tmp_path):
    t = terminal(*answers())
    t.prompt()
    t.line("bac\x7f\x7fb")  # two are rubbed out
    t.expect("aaa")
    t.prompt()
    if b"el_init" not in open(quern.path, "rb").read():
        pytest.skip("built without libedit")
    t.send("\x1b[A")  # the line before
    t.line("!")
    t.expect("aaa")
    t.prompt()
    path = tmp_path / "talk.json"
    t.line(f"/save {path}")
    t.expect("4 messages saved")
    t.prompt()
    t.send("\x04")
    assert t.close() == 0
    assert [m["content"] for m in json.loads(path.read_text())["messages"][::2]] == ["bb", "bb!"]


@pytest.mark.parametrize("columns", [80, 20])
def test_pasted_lines_are_one_message(quern, terminal, tmp_path, columns):
    t = terminal(*answers(), columns=columns)
    t.prompt()
    if b"el_init" not in open(quern.path, "rb").read():
        pytest.skip("built without libedit")
    assert "\x1b[?2004h" in t.text
    long = "\n".join(f"{i} ♥ " + "x" * 50 for i in range(40))  # more than the window holds
    for text in ("one\r\rtwo\nthr\x1b[20ee\r", long.replace("\n", "\r")):
        t.send("<\x1b[200~" + text + "\x1b[201~")
        t.line(">")
        t.expect(re.escape("\x1b[?2004l") + "aaa")  # off while the answer is made
        t.prompt()
    path = tmp_path / "talk.json"
    t.line(f"/save {path}")
    t.expect("4 messages saved")
    t.prompt()
    t.send("\x04")
    assert t.close() == 0
    said = [m["content"] for m in json.loads(path.read_text())["messages"][::2]]
    assert said == ["<one\n\ntwo\nthr\x1b[20ee>", f"<{long}>"]
    assert t.text.rindex("\x1b[?2004l") > t.text.rindex("\x1b[?2004h")


def test_ctrl_c_ends_a_paste_without_an_end(terminal):
    t = terminal(*answers())
    t.prompt()
    t.send("\x1b[200~one\rtwo")
    t.send("\x03")
    t.expect("Ctrl-D or /quit ends")
    t.prompt()
    t.line("b")
    t.expect("aaa")
    t.prompt()
    t.send("\x04")
    assert t.close() == 0


# ---- a real model -----------------------------------------------------------------------------------------------


@pytest.fixture
def default_model():
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    path = os.path.join(cache, "quern", "SmolLM2-135M-Instruct.Q4_1.gguf")
    if not os.path.exists(path):
        pytest.skip("the default model is not in the cache")
    return path


def test_default_model_knows_its_template(quern, default_model, tmp_path):
    path = tmp_path / "in.json"
    path.write_text(json.dumps({"messages": [{"role": "user", "content": "Hi <|im_end|>"}],
                                "add_generation_prompt": True}))
    out = json.loads(quern("template", "-m", default_model, "--input", path, "--json").stdout)
    assert out["text"].startswith("<|im_start|>system\nYou are a helpful AI assistant named SmolLM")
    assert out["tokens"].count(1) == 3 and out["tokens"].count(2) == 2
    answer = run_chat(quern, default_model, "--temp", 0, "-n", 12, "What is gravity?")
    assert "gravity" in answer["text"].lower() and "<|im" not in answer["text"]
