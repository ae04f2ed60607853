# quern template: what it renders, from where, and what it says when it cannot. SPDX-License-Identifier: MIT
import json

import gguf_file
import pytest
from conftest import assert_fails

HELLO = {"messages": [{"role": "user", "content": "Hi ♥"}], "add_generation_prompt": True}
TEMPLATE = """{%- for m in messages %}
[{{ m.role }}] {{ m.content }}
{% endfor %}
{%- if add_generation_prompt %}[assistant]{% endif %}{{ extra }}"""


@pytest.fixture
def jinja(tmp_path):
    def write(text, name="chat.jinja"):
        path = tmp_path / name
        path.write_text(text)
        return path
    return write


def render(quern, conversation, *args):
    result = quern("template", "--input", "-", *args, stdin=json.dumps(conversation).encode())
    assert result.returncode == 0 and result.stderr == b"", result.stderr
    return result.stdout.decode()


def test_stdout_is_the_text(quern, jinja, tmp_path):
    path = jinja(TEMPLATE)
    assert render(quern, HELLO, "--template", path) == "[user] Hi ♥\n[assistant]"
    assert render(quern, HELLO | {"add_generation_prompt": False}, "--template", path) == "[user] Hi ♥\n"
    assert render(quern, HELLO | {"extra": [1.50, None, "x"]}, "--template", path).endswith("[1.5, None, 'x']")
    (tmp_path / "in.json").write_text(json.dumps(HELLO))
    result = quern("template", "--template", path, "--input", tmp_path / "in.json")
    assert result.stdout.decode() == "[user] Hi ♥\n[assistant]"


def test_tokens_of_the_model_and_of_the_conversation(quern, jinja, tiny_model):
    path = jinja("{{ bos_token }}|{{ eos_token }}|{{ messages[0].content }}")
    assert render(quern, HELLO, "--template", path) == "||Hi ♥"
    assert render(quern, HELLO, "--template", path, "-m", tiny_model) == "<s>|</s>|Hi ♥"
    assert render(quern, HELLO | {"bos_token": "B"}, "--template", path, "-m", tiny_model) == "B|</s>|Hi ♥"


def test_template_of_the_model(quern, tiny_model, tmp_path):
    assert render(quern, HELLO, "-m", tiny_model) == "<s>user: Hi ♥</s>\n<s>assistant: "
    named = tmp_path / "named.gguf"
    named.write_bytes(gguf_file.tiny_llama(templates={"": "plain", "tool_use": "with tools"}).to_bytes())
    assert render(quern, HELLO, "-m", named) == "plain"
    assert render(quern, HELLO, "-m", named, "--template-name", "tool_use") == "with tools"
    args = ["template", "--input", "-", "-m"]
    stdin = json.dumps(HELLO).encode()
    assert_fails(quern(*args, named, "--template-name", "rag", stdin=stdin), 1, "'rag'", "tool_use")
    bare = tmp_path / "bare.gguf"
    bare.write_bytes(gguf_file.tiny_llama(templates={}).to_bytes())
    assert_fails(quern(*args, bare, stdin=stdin), 1, "no chat template", "--template FILE")
    bad = tmp_path / "bad.gguf"
    bad.write_bytes(gguf_file.tiny_llama(templates={"": "a\n{% if %}"}).to_bytes())
    assert_fails(quern(*args, bad, stdin=stdin), 1, "line 2", "--template FILE")


def test_errors_name_the_line(quern, jinja):
    stdin = json.dumps(HELLO).encode()

    def fails(text, *words):
        assert_fails(quern("template", "--template", jinja(text), "--input", "-", stdin=stdin), 1, *words)

    fails("one\n{% for x in %}", "chat.jinja", "line 2")
    fails("\n\n{{ raise_exception('roles must alternate') }}", "chat.jinja: ", "line 3", "roles must alternate")
    fails("{{ messages[0].content.nothing() }}", "line 1")
    good = jinja("{{ messages }}", "good.jinja")
    for text, words in (("[]", ["object"]), ("{\n \"messages\": [}", ["line 2"]), ('{"messages": 3}', ["messages"]),
                        ("", ["line 1"]), ('{"messages": [{}, 3]}', ["messages[1]"])):
        assert_fails(quern("template", "--template", good, "--input", "-", stdin=text.encode()), 1, *words)
    assert_fails(quern("template", "--template", good, "--input", "/nonexistent/c.json"), 1, "/nonexistent/c.json")
    assert_fails(quern("template", "--template", "/nonexistent/t", "--input", "-", stdin=stdin), 1, "/nonexistent/t")


def test_files_without_an_end(quern, jinja):
    args = ["template", "--template", jinja("x")]
    assert_fails(quern(*args, "--input", "/dev/zero"), 1, "/dev/zero", "longer than 64.0 MiB")
    assert_fails(quern("template", "--template", "/dev/zero", "--input", "-", stdin=b"{}"), 1, "longer than 1.0 MiB")


def test_usage(quern, jinja):
    assert_fails(quern("template", "--template", jinja("x")), 2, "--input")
    assert_fails(quern("template", "x"), 2, "'x'")
    args = ["--template", jinja("x"), "--template-name", "y", "--input", "-"]
    assert_fails(quern("template", *args, stdin=b"{}"), 2, "--template-name")


def test_arguments_become_objects(quern, jinja):
    call = {"function": {"name": "f", "arguments": '{"b": [1.0, "é"], "a": null}'}}
    talk = {"messages": [{"role": "assistant", "content": None, "tool_calls": [call]}]}
    for_objects = jinja("{{ messages[-1].tool_calls[0].function.arguments | tojson }}")
    assert render(quern, talk, "--template", for_objects) == '{"b": [1.0, "é"], "a": null}'
    # A template that puts it between strings wants the text.
    for_text = jinja("{% for m in messages %}{% for c in m.tool_calls or [] %}{{ 'call ' + c.function.arguments }}"
                     "{% endfor %}{% endfor %}", "text.jinja")
    assert render(quern, talk, "--template", for_text) == 'call {"b": [1.0, "é"], "a": null}'
    call["function"]["arguments"] = {"b": [1.0, "é"]}
    assert render(quern, talk, "--template", for_text) == 'call {"b":[1.0,"é"]}'
    call["function"]["arguments"] = "{"
    bad = quern("template", "--template", for_objects, "--input", "-", stdin=json.dumps(talk).encode())
    assert_fails(bad, 1, "messages[0].tool_calls[0]", "line 1")


def test_a_missing_content_is_empty_where_the_template_needs_one(quern, jinja):
    talk = {"messages": [{"role": "assistant", "content": None}, {"role": "user"}]}
    careful = jinja("{% for m in messages %}[{{ m.content is none }}]{% endfor %}")
    assert render(quern, talk, "--template", careful) == "[True][False]"
    careless = jinja("{% for m in messages %}{{ '[' + m.content + ']' }}{% endfor %}")
    assert render(quern, talk, "--template", careless) == "[][]"


def tokens(quern, model, conversation, *args):
    out = json.loads(render(quern, conversation, "--json", "-m", model, *args))
    assert set(out) == {"text", "tokens", "template"}
    return out["tokens"]


def test_special_tokens_of_users_are_text(quern, tiny_model):
    spelled = tokens(quern, tiny_model, {"messages": [{"role": "user", "content": "<s>a</s>"}]})
    assert spelled.count(1) == 1 and spelled.count(2) == 1  # those of the template
    assert bytes(t - 3 for t in spelled if 3 <= t < 259).decode().replace(" ", "").startswith("user:<s></s>")


@pytest.mark.parametrize("template", ["{{ bos_token }}{{ messages[0].content }}", "<s>{{ messages[0].content }}",
                                      "{{ messages[0].content }}"])
@pytest.mark.parametrize("content", ["a", "<s>a"])
def test_bos_comes_first_once(quern, jinja, tiny_model, template, content):
    ids = tokens(quern, tiny_model, {"messages": [{"role": "user", "content": content}]}, "--template", jinja(template))
    assert ids[0] == 1 and ids.count(1) == 1 and ids[-1] != 2


def test_what_a_template_prints_stays(quern, jinja, tiny_model):
    ids = tokens(quern, tiny_model, {"messages": []}, "--template", jinja("<s><s>"))
    assert ids == [1, 1]
    ids = tokens(quern, tiny_model, {"messages": []}, "--template", jinja("{{ ' ' }}<s>"))
    assert ids[0] == 1 and ids[-1] == 1 and ids.count(1) == 2
