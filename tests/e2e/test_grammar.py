# Structured output: --grammar, --json-schema, --regex, --choice and `quern grammar check`, with a model that would say
# anything else. SPDX-License-Identifier: MIT
import json
import re
import signal
import time

import gguf_file
import pytest
from conftest import TIMEOUT, assert_fails

try:
    import jsonschema
except ImportError:  # then each case's own function judges alone
    jsonschema = None

BYTE = {c: 3 + ord(c) for c in map(chr, range(128))}  # tokens of the tiny model
SPACE, A = 259, 260


def obj(required=None, **properties):
    return {"type": "object", "properties": properties, "additionalProperties": False,
            "required": list(properties) if required is None else required}


def run(quern, model, *args, **kwargs):
    return quern("run", "--json", "-m", model, "-p", "ab", *args, **kwargs)


def run_json(quern, model, *args, **kwargs):
    result = run(quern, model, *args, **kwargs)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def text_of(quern, model, *args, **kwargs):
    out = run_json(quern, model, *args, **kwargs)
    assert out["whole"] is True
    return out["text"]


def schema_text(quern, model, schema, *args):
    return text_of(quern, model, "--json-schema", json.dumps(schema), *args)


# ---- schemas ----------------------------------------------------------------------------------------------------

STRING = {"type": "string"}
TREE = {"$ref": "#/$defs/node", "$defs": {"node": obj(["v"], v={"type": "integer"}, next={"$ref": "#/$defs/node"})}}

SCHEMAS = {
    "person": (obj(name=STRING, age={"type": "integer", "minimum": 0, "maximum": 150}),
               lambda v: isinstance(v["name"], str) and 0 <= v["age"] <= 150 and len(v) == 2),
    "list of enums": ({"type": "array", "items": {"enum": ["red", "green", 3, None]}, "minItems": 1, "maxItems": 4},
                      lambda v: 1 <= len(v) <= 4 and all(i in ("red", "green", 3, None) for i in v)),
    "nested": (obj(a=obj(b=obj(c={"type": "boolean"}))), lambda v: v["a"]["b"]["c"] in (True, False)),
    "numbers": (obj(x={"type": "number", "minimum": -1.5, "exclusiveMaximum": 2},
                    n={"type": "integer", "multipleOf": 7}),
                lambda v: -1.5 <= v["x"] < 2 and v["n"] % 7 == 0),
    "date": (obj(day={"type": "string", "format": "date"}), lambda v: time.strptime(v["day"], "%Y-%m-%d")),
    "pattern": (obj(code={"type": "string", "pattern": "^[A-Z]{2}-[0-9]{3}$"}),
                lambda v: re.fullmatch("[A-Z]{2}-[0-9]{3}", v["code"])),
    "union": ({"anyOf": [obj(kind={"const": "cat"}, lives={"type": "integer", "minimum": 1, "maximum": 9}),
                         obj(kind={"const": "dog"}, name={"type": "string", "maxLength": 5}), {"type": "null"}]},
              lambda v: v is None or v["kind"] in ("cat", "dog")),
    "recursion": (TREE, lambda v: isinstance(v["v"], int)),
    "lengths": ({"type": "array", "minItems": 2, "maxItems": 2,
                 "items": {"type": "string", "minLength": 2, "maxLength": 4}},
                lambda v: len(v) == 2 and all(2 <= len(s) <= 4 for s in v)),
    "optional and tuple": (obj(["p"], o=STRING, p={"type": "array", "prefixItems": [STRING, {"type": "integer"}],
                                                  "items": False, "minItems": 2}, q={"type": "null"}),
                           lambda v: isinstance(v["p"][0], str) and isinstance(v["p"][1], int) and len(v["p"]) == 2),
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_always_what_the_schema_allows(quern, tiny_model, name):
    schema, holds = SCHEMAS[name]
    for seed in range(4):
        for temp in (0, 1.5):
            value = json.loads(schema_text(quern, tiny_model, schema, "--temp", temp, "--seed", seed, "-n", 90))
            assert holds(value) is not False, value
            if jsonschema:
                jsonschema.validate(value, schema)


def test_closed_in_time(quern, tiny_model):
    """Whatever the number of tokens, as long as the shortest text fits."""
    schema = obj(list={"type": "array", "items": STRING}, name=STRING)
    shortest = len('{"list":[],"name":""}')
    for n in range(shortest, shortest + 12):
        for seed in range(3):
            value = json.loads(schema_text(quern, tiny_model, schema, "--temp", 1.5, "--seed", seed, "-n", n))
            assert set(value) == {"list", "name"}


def test_the_context_is_a_limit_too(quern, tiny_model):
    schema = {"type": "array", "items": STRING}
    for n_ctx in range(12, 20):
        out = run_json(quern, tiny_model, "--json-schema", json.dumps(schema), "--temp", 1.5, "--seed", 2, "-n", -1,
                       "-c", n_ctx)
        assert out["whole"] and isinstance(json.loads(out["text"]), list)
        assert out["prompt_tokens"] + len(out["tokens"]) <= n_ctx + 1


def test_too_few_tokens_are_told(quern, tiny_model):
    schema = json.dumps(obj(name=STRING))
    result = run(quern, tiny_model, "--json-schema", schema, "-n", 5)
    out = json.loads(result.stdout)
    assert result.returncode == 1 and out["whole"] is False and out["finish_reason"] == "length"
    assert '{"name":""}'.startswith(out["text"]) and len(out["tokens"]) <= 5
    assert b"not whole" in result.stderr and b"--n-predict" in result.stderr
    plain = quern("run", "-m", tiny_model, "--no-display-prompt", "--json-schema", schema, "-n", 5, "ab")
    assert plain.returncode == 1 and plain.stdout.decode() == out["text"] and b"not whole" in plain.stderr
    # An endless pattern, too: some text can be ended in time, but none of this one.
    assert run(quern, tiny_model, "--regex", "a{40}", "-n", 20).returncode == 1
    # Nothing is asked of a text that is not to be made.
    assert run(quern, tiny_model, "--json-schema", schema, "-n", 0).returncode == 0
    assert run_json(quern, tiny_model, "-n", 3)["whole"] is None


@pytest.mark.parametrize("blank", [SPACE, BYTE[" "], BYTE["\n"], BYTE["\t"]])
def test_blanks_have_an_end(quern, tiny_model, blank):
    """A model that wants nothing but blanks, where JSON would allow them."""
    schema = obj(rating={"type": "number"})
    args = ["-n", 512, "--temp", 0, "--logit-bias", f"{blank}=100"]
    assert re.fullmatch(r'\{"rating":-?[0-9.eE+-]+\}', schema_text(quern, tiny_model, schema, *args))
    spaced = schema_text(quern, tiny_model, schema, *args, "--json-whitespace", 3)
    assert json.loads(spaced).keys() == {"rating"} and len(max(re.findall(r"\s*", spaced))) <= 3
    assert re.search(r"\s", spaced) and spaced == spaced.rstrip() and len(spaced) < 512
    by_variable = run_json(quern, tiny_model, "--json-schema", json.dumps(schema), *args,
                           env={"QUERN_JSON_WHITESPACE": "3"})
    assert by_variable["text"] == spaced


def test_nothing_follows_the_last_brace(quern, tiny_model):
    schema = obj(a={"const": "b"})
    for more in ([], ["--ignore-eos"], ["--logit-bias", f"{A}=100"], ["--logit-bias", "2=-100"]):
        out = run_json(quern, tiny_model, "--json-schema", json.dumps(schema), "-n", 200, *more)
        assert out["text"] == '{"a":"b"}' and out["finish_reason"] == "stop" and out["whole"]


# ---- inputs that broke other programs ---------------------------------------------------------------------------


@pytest.mark.parametrize("schema, allowed", [
    (obj(tags={"type": "array", "items": STRING, "maxItems": 0}), ['{"tags":[]}']),
    (obj(tags={"type": "array", "items": {"type": "object"}, "minItems": 0, "maxItems": 0}), ['{"tags":[]}']),
    ({"type": "array", "prefixItems": [STRING], "maxItems": 0}, ["[]"]),
    (obj(s={"type": "string", "maxLength": 0}), ['{"s":""}']),
    (obj(s={"type": "string", "minLength": 0, "maxLength": 0, "pattern": "^x*$"}), ['{"s":""}']),
    ({"type": "object", "maxProperties": 0}, ["{}"]),
    ({"type": "object", "additionalProperties": False}, ["{}"]),
    ({"type": "integer", "minimum": 4, "maximum": 4}, ["4"]),
])
def test_counts_of_zero(quern, tiny_model, schema, allowed):
    for seed in range(4):
        value = json.loads(schema_text(quern, tiny_model, schema, "--temp", 1.5, "--seed", seed, "-n", 60))
        assert value in [json.loads(t) for t in allowed]


@pytest.mark.parametrize("schema", [
    {"type": "array", "minItems": 1, "maxItems": 2, "items": {"$ref": "#/$defs/Mood"},
     "$defs": {"Mood": {"enum": ["calm", "cross"]}}},
    {"type": "array", "minItems": 1, "maxItems": 2, "items": {"$ref": "#/definitions/a~1b%20c"},
     "definitions": {"a/b c": {"enum": ["calm", "cross"]}}},
    {"type": "array", "minItems": 1, "maxItems": 2, "items": {"$ref": "#mood"},
     "$defs": {"x": {"$anchor": "mood", "enum": ["calm", "cross"]}}},
    {"type": "array", "minItems": 1, "maxItems": 2, "items": {"$ref": "#/$defs/list/anyOf/1"},
     "$defs": {"list": {"anyOf": [{"type": "null"}, {"anyOf": [{"const": "calm"}, {"const": "cross"}]}]}}},
    {"type": "array", "minItems": 1, "maxItems": 2, "items": {"$ref": "#/$defs/A"},
     "$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"allOf": [{"enum": ["calm", "cross", 1]}, STRING]}}},
])
def test_enums_behind_references(quern, tiny_model, schema):
    for seed in range(4):
        value = json.loads(schema_text(quern, tiny_model, schema, "--temp", 1.5, "--seed", seed, "-n", 60))
        assert 1 <= len(value) <= 2 and set(value) <= {"calm", "cross"}


@pytest.mark.parametrize("pattern", ["^+[a-f]$", "^{2}x$", "^(?<=k)*z$", "^[a-", "^\\", "*", "(", "a{3,1}", "(?=x)y",
                                     "[z-a]", "(?P<n", "\\1", "x{99999999999}"])
def test_broken_patterns(quern, pattern):
    """Found without a model: there is none here."""
    assert_fails(quern("run", "--regex", pattern, "x"), 2, "--regex")
    in_schema = json.dumps(obj(s={"type": "string", "pattern": pattern}))
    assert_fails(quern("run", "--json-schema", in_schema, "x"), 2, "--json-schema", "properties/s", "pattern")
    assert_fails(quern("grammar", "check", "--regex", pattern), 2, "--regex")


@pytest.mark.parametrize("grammar, words", [
    ('rot :;= "a"', ["line 1", "column"]), ("", ["--grammar"]), ('root ::= missing', ["missing"]),
    ('root ::= root "a"', ["root"]), ('root ::= x\nx ::= y "b"\ny ::= x | "c"', ["x"]), ('rot ::= "a"', ["root"]),
    ('root ::= "a', ["line 1"]), ('root ::= [a', ["line 1"]), ('root ::= ("a"', ["line"]),
    ('root ::= "a"\n\nx ::= )', ["line 3"]),
    ('root ::= *', ["line 1"]), ('root ::= "a"{5,2}', ["line 1"]), ("\0", ["--grammar"]), ("(" * 5000, ["line 1"]),
])
def test_broken_grammars(quern, tmp_path, grammar, words):
    if "\0" not in grammar:
        assert_fails(quern("run", "--grammar", grammar, "x"), 2, "--grammar", *words)
    path = tmp_path / "g.gbnf"
    path.write_text(grammar)
    assert_fails(quern("run", "--grammar", f"@{path}", "x"), 2, "--grammar: ", "g.gbnf")
    assert_fails(quern("grammar", "check", path), 2, "g.gbnf: ")


@pytest.mark.parametrize("schema, words", [
    ("{", ["line 1"]), ('{\n "type": }', ["line 2"]), ("[]", []), ("3", []), ('{"type": "strange"}', ["type"]),
    ('{"$ref": "#/nowhere"}', ["#/$ref"]), ('{"$ref": "https://example.com/x.json"}', ["$ref"]),
    ('{"properties": {"a": {"items": {"type": "array", "uniqueItems": true}}}}', ["properties/a/items/uniqueItems"]),
    ('{"properties": {"a b": {"type": "string", "format": "idn-email"}}}', ["properties/a b/format"]),
    ("false", []), ('{"type": "string", "minLength": 3, "maxLength": 2}', []), ('{"enum": []}', []),
    ('{"a":' * 400 + "1" + "}" * 400, []),
])
def test_broken_schemas(quern, schema, words):
    assert_fails(quern("run", "--json-schema", schema, "x"), 2, "--json-schema", *words)
    assert_fails(quern("grammar", "check", "--json-schema", schema), 2, "--json-schema", *words)


def test_bombs_end_soon(quern):
    deep = '{"$ref":"#/$defs/a0","$defs":{' + ",".join(
        f'"a{i}":{{"anyOf":[{{"$ref":"#/$defs/a{i + 1}"}},{{"$ref":"#/$defs/a{i + 1}"}}]}}' for i in range(60)
    ) + ',"a60":{"type":"null"}}}'
    products = json.dumps({"allOf": [{"anyOf": [{"minLength": i * 10 + k} for i in range(10)]} for k in range(12)]})
    for args in (["--json-schema", deep], ["--json-schema", products], ["--regex", "(" * 60000],
                 ["--regex", "((((a{1000}){1000}){1000}){1000})"],
                 ["--grammar", 'root ::= (("a"{99999}){99999}){99999}'],
                 ["--json-schema", json.dumps({"type": "string", "minLength": 10**9})]):
        begin = time.monotonic()
        assert quern("grammar", "check", *args).returncode in (0, 2)
        assert time.monotonic() - begin < 20  # a second, with much to spare for slow machines


# ---- the other formats ------------------------------------------------------------------------------------------


def test_grammars(quern, tiny_model):
    grammar = 'root ::= item ("," item)* "."\nitem ::= [a-c] [0-9]{2}'
    for seed in range(4):
        text = text_of(quern, tiny_model, "--grammar", grammar, "--temp", 1.5, "--seed", seed, "-n", 40)
        assert re.fullmatch(r"[a-c][0-9]{2}(,[a-c][0-9]{2})*\.", text)


def test_patterns(quern, tiny_model):
    for seed in range(4):
        assert re.fullmatch(r"20[0-9]{2}-(0[1-9]|1[0-2])", text_of(
            quern, tiny_model, "--regex", "20[0-9]{2}-(0[1-9]|1[0-2])", "--temp", 1.5, "--seed", seed))
    assert text_of(quern, tiny_model, "--regex", "@@b") == "@b"


def test_choices(quern, tiny_model, tmp_path):
    texts = {text_of(quern, tiny_model, "--choice", "yes ♥", "--choice", "no", "--choice", "@@home", "--temp", 1.5,
                     "--seed", seed) for seed in range(12)}
    assert len(texts) > 1 and texts <= {"yes ♥", "no", "@home"}
    path = tmp_path / "list.json"
    path.write_text('["left", "right"]')
    assert text_of(quern, tiny_model, "--choice", f"@{path}") in ("left", "right")
    assert text_of(quern, tiny_model, "--choice", '["up", "down"]') in ("up", "down")
    assert text_of(quern, tiny_model, "--choice", "[a]", "--choice", "[b]") in ("[a]", "[b]")
    for bad, word in (("[]", "choice"), ('["a", 3]', "choice"), ("[", "line 1")):
        assert_fails(quern("run", "--choice", bad, "x"), 2, "--choice", word)
    assert_fails(quern("run", "--choice", "a", "--choice", f"@{path}", "x"), 2, "--choice", "list.json")
    assert_fails(quern("run", "--choice", "a", "--choice", b"\xff".decode("utf-8", "surrogateescape"), "x"), 2, "UTF-8")


def test_what_follows_alone_is_not_asked_for(quern, tiny_model):
    """Text without a choice is made without the model, in one step with the token before."""
    want = '{"the first name":"ab","the second name":[true]}'
    schema = {"const": json.loads(want)}
    out = run_json(quern, tiny_model, "--json-schema", json.dumps(schema), "-n", 200)
    assert out["text"] == want and out["finish_reason"] == "stop"
    assert out["timings"]["jumped_tokens"] > len(out["tokens"]) // 2
    assert out["timings"]["decode_tokens"] <= len(out["tokens"])
    exact = run_json(quern, tiny_model, "--json-schema", json.dumps(schema), "-n", len(out["tokens"]))
    assert exact["tokens"] == out["tokens"] and exact["finish_reason"] == "stop"
    told = quern("run", "-m", tiny_model, "--json-schema", json.dumps(schema), "-n", 200, "ab").stderr.decode()
    assert re.search(r"^jumped +%d tokens" % out["timings"]["jumped_tokens"], told, re.M)
    assert "jumped" not in quern("run", "-m", tiny_model, "-n", 2, "ab").stderr.decode()


# ---- with other options -----------------------------------------------------------------------------------------


def test_same_seed_same_text(quern, tiny_model):
    schema = json.dumps(SCHEMAS["person"][0])
    args = ["--json-schema", schema, "--temp", 1.2, "--seed", 5, "-n", 60]
    first = run_json(quern, tiny_model, *args, "-t", 1)
    assert run_json(quern, tiny_model, *args, "-t", 2)["tokens"] == first["tokens"]
    assert run_json(quern, tiny_model, *args, "-b", 1)["tokens"] == first["tokens"]


def test_bans_hold_in_a_format(quern, tiny_model):
    for seed in range(4):
        text = text_of(quern, tiny_model, "--regex", "[abc]{8}", "--temp", 1.5, "--seed", seed, "--logit-bias",
                       f"{BYTE['b']}=-100", "--logit-bias", "261=-100", "--logit-bias", "263=-100")
        assert re.fullmatch("[ac]{8}", text)
    # A token that is forced but does not fit gives way.
    assert re.fullmatch("[bc]{4}", text_of(quern, tiny_model, "--regex", "[bc]{4}", "--logit-bias", f"{A}=100"))


def test_a_stop_string_cuts(quern, tiny_model):
    result = run(quern, tiny_model, "--regex", "ab?c{3}", "--stop", "cc")
    out = json.loads(result.stdout)
    assert result.returncode == 1 and not out["whole"] and out["text"] in ("a", "ab")
    assert b"stop string" in result.stderr
    assert run_json(quern, tiny_model, "--regex", "ab?c{3}", "--stop", "d")["whole"]


def test_ignore_eos_goes_on_only_where_it_can(quern, tiny_model):
    out = run_json(quern, tiny_model, "--regex", "a*", "--ignore-eos", "-n", 30)
    assert out["finish_reason"] == "length" and set(out["text"]) == {"a"} and out["whole"]
    out = run_json(quern, tiny_model, "--regex", "a{2,5}", "--ignore-eos", "-n", 30)
    assert out["finish_reason"] == "stop" and out["text"] == "aaaaa"


def test_interrupt_and_time_limit(quern, tiny_model):
    endless = ["-m", tiny_model, "--regex", "(ab?)*", "--ignore-eos", "-n", -1, "-c", 300000, "-t", 1]
    process = quern.start("run", *endless, "x")
    assert process.stdout.read(1) != b""
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 130 and b"not whole" not in stderr and b"decode" in stderr
    out = run_json(quern, tiny_model, *endless[2:], "--time-limit", 0.4)
    assert out["finish_reason"] == "time" and re.fullmatch("(ab?)*", out["text"])
    result = run(quern, tiny_model, "--regex", "a{90000}b", "-n", -1, "-c", 300000, "--time-limit", 0.2)
    assert result.returncode == 1 and b"--time-limit" in result.stderr


def test_only_one_format(quern):
    assert_fails(quern("run", "--regex", "a", "--grammar", 'root ::= "a"', "x"), 2, "--grammar", "--regex", "not both")
    assert_fails(quern("chat", "--choice", "a", "--json-schema", "{}"), 2, "--choice", "--json-schema")
    assert_fails(quern("grammar", "check", "x.json", "--regex", "a"), 2, "--regex", "not both")
    assert_fails(quern("run", "--regex", "a", "--regex", "b", "x"), 2, "--regex is given twice")
    assert_fails(quern("run", "--json-whitespace", 65, "x"), 2, "--json-whitespace")
    assert_fails(quern("bench", "--regex", "a"), 2, "unknown option --regex")


def test_strict(quern, tiny_model):
    loose = json.dumps({"type": "object", "properties": {"a": STRING}})
    assert quern("grammar", "check", "--json-schema", loose).returncode == 0
    assert_fails(quern("grammar", "check", "--json-schema", loose, "--strict-schema"), 2, "--json-schema")
    assert_fails(quern("run", "--json-schema", loose, "x", env={"QUERN_STRICT_SCHEMA": "1"}), 2, "--json-schema")
    assert quern("grammar", "check", "--strict-schema", "--json-schema", json.dumps(obj(a=STRING))).returncode == 0


# ---- files ------------------------------------------------------------------------------------------------------


def test_files(quern, tiny_model, tmp_path):
    path = tmp_path / "s.json"
    path.write_text('{"const": "♥"}\n')
    assert json.loads(text_of(quern, tiny_model, "--json-schema", f"@{path}")) == "♥"
    assert json.loads(text_of(quern, tiny_model, "--json-schema", "@-", stdin=path.read_bytes())) == "♥"
    for flag in ("--grammar", "--json-schema", "--regex", "--choice"):
        assert_fails(quern("run", flag, "@/nonexistent/x", "x"), 1, flag, "/nonexistent/x")
        assert_fails(quern("run", flag, f"@{tmp_path}", "x"), 1, flag, str(tmp_path))
        assert_fails(quern("run", flag, "@/dev/zero", "x"), 2, flag, "/dev/zero", "longer than 1.0 MiB")
        assert_fails(quern("run", flag, "@", "x"), 2, flag, "file's name")
    (tmp_path / "empty").write_text("")
    for flag in ("--grammar", "--json-schema", "--choice"):
        assert_fails(quern("run", flag, f"@{tmp_path}/empty", "x"), 2, flag, "empty")
    assert_fails(quern("run", "--json-schema", "@-", "-f", "-"), 2, "standard input", "--file")
    assert_fails(quern("run", "--chat", "--json-schema", "@-", "--tools", "-", "x"), 2, "standard input", "--tools")
    assert_fails(quern("chat", "--json-schema", "@-"), 2, "standard input")
    mark = b"\xef\xbb\xbf"
    for flag, text, wanted in (("--json-schema", b'{"const": "7"}', '"7"'), ("--grammar", b'root ::= "ab"\n', "ab"),
                               ("--choice", b'["b a"]', "b a"), ("--regex", b"a b", "a b"), ("--regex", b"a\n", "a"),
                               ("--regex", b"a\r\n", "a"), ("--regex", b"a\n\n", "a\n"), ("--regex", b"a\r", "a\r")):
        path.write_bytes(mark + text)
        assert text_of(quern, tiny_model, flag, f"@{path}") == wanted
    path.write_text('{"type":\n "string"')
    assert_fails(quern("run", "--json-schema", f"@{path}", "x"), 2, "--json-schema: ", "s.json: ", "line 2")


# ---- conversations ----------------------------------------------------------------------------------------------


def test_every_answer_of_a_chat(quern, tiny_model):
    schema = json.dumps(obj(n={"type": "integer", "maximum": 99, "minimum": -99}))
    result = quern("chat", "-m", tiny_model, "--json-schema", schema, "--temp", 1.5, "--seed", 4, "-n", 30,
                   stdin=b"a\nb\nc\n")
    assert result.returncode == 0, result.stderr
    values = [json.loads(line) for line in result.stdout.splitlines()]
    assert len(values) == 3 and all(-99 <= v["n"] <= 99 for v in values)
    out = [json.loads(line) for line in quern("chat", "-m", tiny_model, "--choice", "a", "--choice", "b", "--json",
                                              stdin=b"a\nb\n").stdout.splitlines()]
    assert all(o["whole"] and o["text"] in "ab" for o in out) and len(out) == 2


def test_one_answer(quern, tiny_model):
    result = quern("run", "--chat", "-m", tiny_model, "--choice", "ab", "b")
    assert result.returncode == 0 and result.stdout == b"ab"
    result = quern("run", "--chat", "-m", tiny_model, "--regex", "a{20}", "-n", 8, "b")
    assert result.returncode == 1 and b"not whole" in result.stderr
    result = quern("chat", "-m", tiny_model, "--regex", "a{20}", "-n", 8, stdin=b"b\n")
    assert result.returncode == 1 and b"not whole" in result.stderr


# The prompt ends inside reasoning.
THINKING = ("{% for m in messages %}<s>{{ m.role }}:{% if m.reasoning_content %}<think>\n{{ m.reasoning_content }}\n"
            "</think>\n\n{% endif %}{{ m.content }}</s>{% endfor %}"
            "{% if add_generation_prompt %}<s>assistant:<think>\n{% endif %}")


def thinking_model(path):
    """A tiny model with a token that closes reasoning."""
    model = gguf_file.tiny_llama(templates={"": THINKING})
    for i, (key, kind, value) in enumerate(model.kv):
        if key.endswith(".tokens"):
            model.kv[i] = (key, kind, (value[0], ["</think>" if t == "\u2581a" else t for t in value[1]]))
        if key.endswith(".token_type"):
            model.kv[i] = (key, kind, (value[0], value[1][:-1] + [3]))
    path.write_bytes(model.to_bytes())
    return path


def test_a_format_begins_behind_reasoning(quern, tmp_path):
    model = thinking_model(tmp_path / "thinking.gguf")
    args = ["run", "--chat", "--json", "-m", model, "--choice", "left", "--choice", "right"]
    seen = set()
    for seed in range(6):
        result = quern(*args, "--seed", seed, "--temp", 1.5, "-n", 4000, "--logit-bias", "265=3", "b")
        out = json.loads(result.stdout)
        if result.returncode == 0:
            assert out["text"] in ("left", "right") and out["whole"]
            seen.add(bool(out["reasoning"]))
    assert True in seen
    # Reasoning that never ends is no answer.
    result = quern(*args, "-n", 20, "--logit-bias", f"{A}=100", "b")
    out = json.loads(result.stdout)
    assert result.returncode == 1 and out["text"] == "" and out["reasoning"] == "a" * 20 and not out["whole"]
    assert b"not whole" in result.stderr


def test_a_mark_in_pieces(quern, tiny_model, tmp_path):
    """A mark without a token of its own comes in several; here in three that the model is made to say."""
    template = tmp_path / "t.jinja"
    template.write_text(THINKING.replace("<think>", "[a").replace("</think>", "aaa"))
    result = quern("run", "--chat", "--json", "-m", tiny_model, "--template", template, "--logit-bias", f"{A}=100",
                   "--regex", "[xyz]{3}", "-n", 30, "b")
    out = json.loads(result.stdout)
    assert result.returncode == 0 and re.fullmatch("[xyz]{3}", out["text"]) and out["tokens"][:3] == [A] * 3


def test_messages_with_headers_are_refused(quern, tiny_model, tmp_path):
    """A format from the first token on would leave no room for the header."""
    template = tmp_path / "t.jinja"
    template.write_text(
        "{% for m in messages %}<|start|>{% if m.tool_calls %}{% for c in m.tool_calls %}assistant to=functions."
        "{{ c.function.name }}<|channel|>commentary<|message|>{{ c.function.arguments | tojson }}<|call|><|start|>"
        "{% endfor %}{% endif %}{{ m.role }}{% if m.role == 'assistant' %}<|channel|>final{% endif %}<|message|>"
        "{{ m.content }}<|end|>{% endfor %}{% if add_generation_prompt %}<|start|>assistant{% endif %}")
    shown = json.loads(quern("template", "--template", template, "--input", "-", "--json",
                             stdin=b'{"messages": []}').stdout)
    assert "headers" in shown["template"]
    args = ["-m", tiny_model, "--template", template, "--regex", "a"]
    assert_fails(quern("run", "--chat", *args, "b"), 2, "headers")
    assert_fails(quern("chat", *args), 2, "headers")


# ---- calls of tools ---------------------------------------------------------------------------------------------

CALLING = """{% if tools %}<s>tools
{% for t in tools %}{{ t | tojson }}
{% endfor %}</s>{% endif %}{% for m in messages %}<s>{{ m.role }}
{{ m.content or '' }}{% for c in m.tool_calls or [] %}
<tool_call>
{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}
</tool_call>{% endfor %}</s>{% endfor %}{% if add_generation_prompt %}<s>assistant
{% endif %}"""


def tool(name, **properties):
    return {"type": "function", "function": {"name": name, "parameters": obj(**properties)}}


TOOLS = [tool("clock", zone={"enum": ["UTC", "CET"]}),
         tool("add", a={"type": "integer", "maximum": 9}, b={"type": "boolean"})]


@pytest.fixture
def calling(tmp_path):
    """Options for a template that shows calls, and tools."""
    (tmp_path / "calling.jinja").write_text(CALLING)
    (tmp_path / "tools.json").write_text(json.dumps(TOOLS))
    return ["--template", tmp_path / "calling.jinja", "--tools", tmp_path / "tools.json", "--temp", 1.5, "-n", 300]


def assert_calls(out, names):
    assert out["whole"] and not out["cut"] and out["tool_calls"]
    for call in out["tool_calls"]:
        arguments = json.loads(call["function"]["arguments"])
        assert call["function"]["name"] in names
        if call["function"]["name"] == "clock":
            assert arguments in ({"zone": "UTC"}, {"zone": "CET"})
        else:
            assert set(arguments) == {"a", "b"} and arguments["a"] <= 9 and arguments["b"] in (True, False)


def test_tool_choice(quern, tiny_model, calling):
    def answer(*args):
        result = quern("run", "--chat", "--json", "-m", tiny_model, *calling, *args, "b")
        assert result.returncode == 0, result.stderr
        return json.loads(result.stdout)

    for seed in range(3):
        assert_calls(answer("--tool-choice", "required", "--seed", seed), ("clock", "add"))
        assert_calls(answer("--tool-choice", "add", "--seed", seed), ("add",))
        assert_calls(answer("--tool-choice", "clock", "--seed", seed), ("clock",))
        assert answer("--tool-choice", "none", "--seed", seed)["tool_calls"] == []
    # An answer may have a format where the tools are only shown.
    assert answer("--tool-choice", "none", "--choice", "aa", "--choice", "bb")["text"] in ("aa", "bb")
    result = quern("chat", "--json", "-m", tiny_model, *calling, "--tool-choice", "clock", stdin=b"b\nc\n")
    assert result.returncode == 0
    for line in result.stdout.splitlines():
        assert_calls(json.loads(line), ("clock",))


def test_a_call_that_does_not_fit_is_told(quern, tiny_model, calling):
    result = quern("run", "--chat", "--json", "-m", tiny_model, *calling[:-1], 8, "--tool-choice", "clock", "b")
    assert result.returncode == 1 and not json.loads(result.stdout)["whole"] and b"not whole" in result.stderr


def test_calls_that_cannot_be_held(quern, tiny_model, tmp_path, calling):
    """Said once where calls are possible, refused where they were demanded."""
    args = ["-m", tiny_model, "--tools", tmp_path / "tools.json"]  # the model's own template shows no calls
    result = quern("chat", *args, "-n", 3, stdin=b"b\nc\n")
    assert result.returncode == 0 and result.stderr.count(b"not checked") == 1
    for choice in ("required", "clock"):
        result = quern("run", "--chat", *args, "--tool-choice", choice, "b")
        assert result.returncode == 2 and b"--tools: the chat template shows no calls" in result.stderr
    bad = [TOOLS[0], tool("hard", x={"type": "array", "uniqueItems": True})]
    (tmp_path / "tools.json").write_text(json.dumps(bad))
    result = quern("run", "--chat", "-m", tiny_model, *calling[:-1], 3, "b")
    assert b"not checked" in result.stderr and b"hard" in result.stderr
    result = quern("run", "--chat", *args, "-n", 3, "--tool-choice", "none", "b")
    assert result.returncode == 0 and b"not checked" not in result.stderr
    assert quern("run", "--chat", "-m", tiny_model, *calling, "--tool-choice", "required", "b").returncode == 2


def test_broken_tools(quern, tiny_model, tmp_path, calling):
    """Wrong usage that names the flag, and the tool where there is one."""
    path, run = tmp_path / "tools.json", ("run", "--chat", "-m", tiny_model, *calling)
    a = {"type": "object", "required": ["x"]}
    for tools, *words in (
            ([tool("bad", x={"type": "string", "pattern": "(a"})], '"bad"', "pattern"),
            ([tool("bad", x={"type": "strin"})], '"bad"', "type"),
            ([tool("ok"), tool("bad", x=False)], '"bad"', "no object satisfies"),
            ([tool("bad", x={"type": "string", "maxLength": 1, "minLength": 2})], '"bad"', "no object satisfies"),
            ([{"name": "bad", "parameters": {"type": "string"}}], '"bad"', "no object satisfies"),
            ([{"name": "bad", "parameters": {**a, "properties": {"x": {"allOf": [{"pattern": "^a", "type": "string"},
                                                                               {"pattern": "^b"}]}}}}], "satisf"),
            ([{"name": "bad", "parameters": 3}], '"bad"', "parameters"),
            ([tool("bad"), tool("bad")], '"bad"', "two functions"),
            ([tool("")], "item 1", "name"), ([tool("a"), 1], "item 2", "no object"), ([{"type": "function"}], "name")):
        path.write_text(json.dumps(tools))
        for choice in ("auto", "required"):
            if words != ["satisf"] or choice == "required":
                assert_fails(quern(*run, "--tool-choice", choice, "b"), 2, "--tools: ", *words)
    for text in ("[", "{}", "3"):
        path.write_text(text)
        assert_fails(quern(*run, "b"), 2, "--tools: ", "tools.json")
    path.unlink()
    assert_fails(quern(*run, "b"), 1, "--tools: ", "tools.json")


def test_blanks_of_calls(quern, tiny_model, tmp_path, calling):
    """A call has no more of them than the template writes, whatever the model prefers."""
    path = tmp_path / "tools.json"
    blanks = [x for t in (3 + 9, 3 + 10, 3 + 32, SPACE) for x in ("--logit-bias", f"{t}=+20")]
    for tools, most in ([{"name": "now"}], 0), (TOOLS[1:], 3):
        path.write_text(json.dumps(tools))
        result = quern("run", "--chat", "--json", "-m", tiny_model, *calling, "--tool-choice", "required", *blanks, "b")
        assert result.returncode == 0, result.stderr
        for call in json.loads(result.stdout)["tool_calls"]:
            text = call["function"]["arguments"]
            assert text.count(" ") <= most and not re.search(r"[\n\t\r]|  ", text)
            assert most > 0 or text == "{}"


def test_tool_choice_usage(quern, calling):
    assert_fails(quern("run", "--chat", *calling, "--tool-choice", "clok", "b"), 2, "'clok'", "auto, required, none")
    assert_fails(quern("run", "--chat", "--tool-choice", "required", "b"), 2, "--tools")
    assert_fails(quern("run", "--chat", "--tool-choice", "clock", "b"), 2, "'clock'", "--tools")
    assert_fails(quern("run", "--chat", *calling, "--regex", "a", "b"), 2, "--tools", "--tool-choice none")
    assert_fails(quern("run", "--tool-choice", "required", "b"), 2, "--tool-choice needs --chat")


# ---- quern grammar check ----------------------------------------------------------------------------------------


def test_check_tells_the_size(quern, tmp_path):
    path = tmp_path / "s.json"
    path.write_text(json.dumps(SCHEMAS["person"][0]))
    result = quern("grammar", "check", path)
    assert result.returncode == 0 and result.stderr == b""
    lines = result.stdout.decode().splitlines()
    assert lines[0] == "JSON schema: supported"
    assert [line.split()[0] for line in lines[1:]] == ["rules", "states", "edges", "memory", "compile"]
    out = json.loads(quern("grammar", "check", path, "--json").stdout)
    assert out["supported"] is True and out["error"] is None and out["kind"] == "JSON schema"
    assert out["rules"] > 0 and out["states"] > 0 and out["edges"] > 0 and out["bytes"] > 0 and out["compile_ms"] > 0
    larger = json.loads(quern("grammar", "check", "--json", "--json-schema", json.dumps(
        obj(**{f"field_{i}": SCHEMAS["person"][0] for i in range(20)}))).stdout)
    assert larger["states"] > out["states"] and larger["bytes"] > out["bytes"]


def test_check_of_each_kind(quern, tmp_path):
    (tmp_path / "g.gbnf").write_text('root ::= "a"')
    for args, kind in (([tmp_path / "g.gbnf"], "grammar"), (["--grammar", 'root ::= "a"'], "grammar"),
                       (["--regex", "a+"], "regular expression"), (["--choice", "a", "--choice", "b"], "choice"),
                       (["--json-schema", "{}"], "JSON schema")):
        assert quern("grammar", "check", *args).stdout.decode().startswith(f"{kind}: supported\n")
    assert quern("grammar", "check", "--json-schema", "@-", stdin=b"{}").returncode == 0


def test_check_says_what_is_refused(quern, tmp_path):
    schema = '{"properties": {"a": {"type": "array", "uniqueItems": true}}}'
    result = quern("grammar", "check", "--json-schema", schema, "--json")
    out = json.loads(result.stdout)
    assert result.returncode == 2 and out["supported"] is False and "properties/a/uniqueItems" in out["error"]
    assert_fails(quern("grammar", "check", "--json-schema", schema), 2, "properties/a/uniqueItems")
    (tmp_path / "x.txt").write_text("a")
    assert_fails(quern("grammar", "check", tmp_path / "x.txt"), 2, "x.txt", ".gbnf")
    assert_fails(quern("grammar", "check", "/nonexistent/x.json"), 1, "/nonexistent/x.json")


def test_check_with_a_model(quern, tiny_model):
    args = ["grammar", "check", "-m", tiny_model]
    assert "vocabulary" in quern(*args, "--regex", "a").stdout.decode()
    assert json.loads(quern(*args, "--regex", "a", "--json").stdout)["vocabulary_ms"] >= 0
    assert_fails(quern("grammar", "check", "-m", "/nonexistent/m", "--regex", "a"), 1, "/nonexistent/m")


def test_special_tokens_of_grammars(quern, tiny_model):
    args = ["-m", tiny_model, "--grammar"]
    assert run_json(quern, tiny_model, "--grammar", 'root ::= "a" <s> "b"')["tokens"][1] == 1
    for verb in (["grammar", "check"], ["run", "x"], ["run", "--chat", "x"], ["chat"]):
        assert_fails(quern(*verb, *args, 'root ::= "a" <|im_end|>'), 2, "--grammar" if verb[0] != "grammar" else "",
                     "<|im_end|>")


def test_check_usage(quern):
    assert_fails(quern("grammar"), 2, "check")
    assert_fails(quern("grammar", "chekc"), 2, "'chekc'", "did you mean 'check'?")
    assert_fails(quern("grammar", "schema.json"), 2, "quern grammar check schema.json")
    assert_fails(quern("grammar", "check"), 2, "--json-schema")
    assert_fails(quern("grammar", "check", "a.json", "b.json"), 2, "'b.json'")
    assert quern("help", "grammar", "check").stdout == quern("grammar", "--help").stdout != b""
