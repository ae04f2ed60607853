"""Templates rendered by jinja2 in the environment that chat templates are written for, and by ours.

SPDX-License-Identifier: MIT
"""
import datetime
import functools
import json
import os
import pathlib
import subprocess

import jinja2
import jinja2.ext
import jinja2.sandbox

NOW = datetime.datetime(2024, 7, 26, 9, 5, 3)  # what strftime_now shows on both sides

TOOL = os.path.join(os.environ.get("QUERN_ORACLE_BIN", ""), "jinja_tool")
SHARED = pathlib.Path(os.environ.get("QUERN_SHARED", pathlib.Path(__file__).resolve().parents[4] / "shared"))


class Generation(jinja2.ext.Extension):
    """generation blocks: what they hold is rendered."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_render"), [], [], body).set_lineno(line)

    def _render(self, caller):
        return caller()


class Raised(jinja2.TemplateError):
    """raise_exception's own error."""


def _raise_exception(message):
    raise Raised(message)


def _to_json(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


class _Dict:
    def __call__(self, *args, **kwargs):
        return dict(*args, **kwargs)

    def fromkeys(self, *args, **kwargs):
        return dict.fromkeys(*args, **kwargs)


class _Namespace(jinja2.utils.Namespace):
    def __init__(*args, **kwargs):
        self, args = args[0], args[1:]
        attributes = dict(*args, **kwargs)
        for name in attributes:
            _Namespace._check(name)
        jinja2.utils.Namespace.__init__(self, attributes)

    def __setitem__(self, name, value):
        _Namespace._check(name)
        jinja2.utils.Namespace.__setitem__(self, name, value)

    @staticmethod
    def _check(name):
        if isinstance(name, str) and name.startswith("_"):
            raise jinja2.exceptions.SecurityError(f"underscore: {name!r}")


def environment():
    env = jinja2.sandbox.ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True,
                                                       extensions=[Generation, jinja2.ext.loopcontrols])
    env.filters["tojson"] = _to_json
    env.globals["raise_exception"] = _raise_exception
    env.globals["strftime_now"] = NOW.strftime
    env.globals["dict"] = _Dict()
    env.globals["namespace"] = _Namespace
    return env


ENV = environment()


@functools.lru_cache(maxsize=8)
def _compile(template):
    """The compiled template, or why there is none."""
    try:
        return ENV.from_string(template)
    except Exception as e:  # the code that jinja2 writes may itself be no Python
        return f"{type(e).__name__}: {e}"


def theirs(template, variables):
    """("text", TEXT), ("raised", MESSAGE), ("compile", MESSAGE) or ("render", MESSAGE)."""
    compiled = _compile(template)
    if isinstance(compiled, str):
        return "compile", compiled
    try:
        text = compiled.render(**variables)
        text.encode()
        return "text", text
    except Raised as e:
        return "raised", str(e)
    except Exception as e:
        return "render", f"{type(e).__name__}: {e}"


class Ours:
    """Our interpreter as a process that renders one case after the other."""

    def __init__(self):
        self.process = None

    def render(self, template, variables):
        """The result of jinja_tool, or {"died": code}."""
        if self.process is None:
            self.process = subprocess.Popen([TOOL], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            env={**os.environ, "TZ": "UTC"})
        now = int(NOW.replace(tzinfo=datetime.timezone.utc).timestamp())
        case = json.dumps({"template": template, "vars": variables, "now": now}, ensure_ascii=False)
        self.process.stdin.write(case.encode() + b"\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            code = self.process.wait()
            self.process = None
            return {"died": code}
        return json.loads(line)

    def close(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait()


def difference(theirs_result, ours_result):
    """None when both sides agree: the same text, or both fail, raise_exception with the same message."""
    kind, what = theirs_result
    if "died" in ours_result:
        return f"ours died: {ours_result['died']}"
    if kind == "text":
        if " at 0x" in what:
            return None  # an address, which no two renderings share
        return None if ours_result.get("text") == what else f"theirs {what!r}\nours   {ours_result}"
    if "text" in ours_result:
        return f"theirs failed: {kind} {what}\nours   {ours_result['text']!r}"
    if kind == "raised":
        return None if same_message(what, ours_result["what"]) else f"theirs raised {what!r}\nours   {ours_result}"
    return None


def same_message(theirs_message, ours_message):
    """Whether ours is "line N: " and the message as one line, which is cut when it is long."""
    number, _, said = ours_message.partition(": ")
    if not number.startswith("line "):
        return False
    wanted = "".join("?" if ord(c) < 32 or 127 <= ord(c) < 160 else c for c in theirs_message)
    return said == wanted or (len(ours_message.encode()) > 240 and wanted.startswith(said))
