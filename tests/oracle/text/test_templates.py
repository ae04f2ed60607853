"""Chat templates come out as jinja2 renders them: real ones over a matrix of conversations, and random ones.

SPDX-License-Identifier: MIT
"""
import os

import pytest

pytest.importorskip("jinja2")
if not os.environ.get("QUERN_ORACLE_BIN"):
    pytest.skip("QUERN_ORACLE_BIN names no folder", allow_module_level=True)

import conversations  # noqa: E402
import jinja_env  # noqa: E402
import random_scopes  # noqa: E402
import random_templates  # noqa: E402

RANDOM_TEMPLATES = 4000  # each with a seed of its own, so that a difference can be looked at again
FILES = sorted((jinja_env.SHARED / "data/templates").glob("*.jinja"))

# Templates that need no shared data: each is a habit of real ones.
OWN = {
    "chatml": "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>' + '\n' }}"
              "{% endfor %}"
              "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}",
    "reversed": "{%- for m in messages[::-1] -%}\n{{ loop.revindex0 }}{{ m['role'][:3] }}"
                "{{ m.content.split('e')[-1] }}\n"
                "{%- endfor %}",
    "namespace": "{%- set ns = namespace(found=false, n=0) %}\n{%- for m in messages %}\n"
                 "    {%- if m.role == 'user' %}\n"
                 "        {%- set ns.found = true %}{% set ns.n = ns.n + 1 %}\n    {%- endif %}\n{%- endfor %}\n"
                 "{{- ns.found ~ ns.n }}",
    "macro": "{% macro show(m, tail='') %}[{{ m.role|upper }}: {{ caller() if caller else m.content|trim }}]{{ tail }}"
             "{% endmacro %}{% for m in messages %}{{ show(m, tail=loop.index) }}{% call show(m) %}c{% endcall %}"
             "{% endfor %}",
    "tools": "{% if tools is defined and tools %}{{ tools | tojson(indent=4) }}\n{% for t in tools %}{{ t | tojson }}"
             "{% for k, v in t.function.parameters.properties.items() %}{{ k }}={{ v.type }}{{ ',' if not loop.last }}"
             "{% endfor %}{% endfor %}{% endif %}",
    "raises": "{% if messages[0].role != 'user' %}{{ raise_exception('no user: ' ~ messages[0].role) }}{% endif %}ok",
    "generation": "{% for m in messages %}{% if m.role == 'assistant' %}{% generation %}{{ m.content }}"
                  "{% endgeneration %}"
                  "{% else %}{{ m.content }}{% endif %}{% endfor %}",
    "date": "{{ strftime_now('%d %B %Y %H:%M:%S %j %A %y') }}{{ date_string | default('none') }}",
}


@pytest.fixture(scope="module")
def ours():
    o = jinja_env.Ours()
    yield o
    o.close()


def compare(ours, template):
    differences, rendered = [], 0
    for name, variables in conversations.cases():
        expected = jinja_env.theirs(template, variables)
        rendered += expected[0] == "text"
        found = jinja_env.difference(expected, ours.render(template, variables))
        if found:
            differences.append(f"{name}: {found}")
    assert not differences, f"{len(differences)} of the matrix differ, the first ones:\n" + "\n".join(differences[:3])
    return rendered


@pytest.mark.parametrize("name", OWN)
def test_own(ours, name):
    assert compare(ours, OWN[name]) > 0


NO_FILES = [pytest.param(None, marks=pytest.mark.skip("no shared data: data/templates"))]


@pytest.mark.parametrize("path", FILES or NO_FILES, ids=lambda p: p.stem if p else "none")
def test_shared(ours, path):
    compare(ours, path.read_text())


@pytest.mark.parametrize("grow, variables", [(random_templates.template, random_templates.VARIABLES),
                                             (random_scopes.scoping, random_scopes.Scoping.VARIABLES)],
                         ids=["language", "scopes"])
def test_random(ours, grow, variables):
    differences, texts = [], 0
    for seed in range(RANDOM_TEMPLATES):
        template = grow(seed)
        expected = jinja_env.theirs(template, variables)
        texts += expected[0] == "text"
        found = jinja_env.difference(expected, ours.render(template, variables))
        if found:
            differences.append(f"seed {seed}: {template!r}\n{found}")
    assert not differences, f"{len(differences)} differ, the first ones:\n" + "\n\n".join(differences[:5])
    assert texts > RANDOM_TEMPLATES // 2
