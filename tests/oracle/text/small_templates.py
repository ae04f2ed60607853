"""Chat templates of our own, each with one way to write reasoning and calls: ways that real templates have.

SPDX-License-Identifier: MIT
"""

HEAD = ("{%- if tools %}<sys>{{ tools | tojson }}</sys>{% endif %}"
        "{%- for m in messages %}{%- if m.role == 'user' %}<user>{{ m.content }}<eot>"
        "{%- elif m.role == 'tool' %}<tool>{{ m.content }}<eot>{%- else %}<bot>")
TAIL = "{%- endif %}{%- endfor %}{%- if add_generation_prompt %}<bot>{% endif %}"
CONTENT = "{%- if m.content %}{{ m.content }}{% endif %}"
CALLS = "{%- for c in m.tool_calls or [] %}{%- set f = c.function %}"
JSON = "{{ f.arguments | tojson }}"


def turn(calls, before="", after="", content=CONTENT, reasoning="", end="<eot>"):
    calls = "{%- if m.tool_calls %}" + before + CALLS + calls + "{%- endfor %}" + after + "{%- endif %}"
    return HEAD + reasoning + content + calls + "{{ '" + end + "' }}" + TAIL


def comma(text=", "):
    return "{%- if not loop.last %}{{ '" + text + "' }}{% endif %}"


THINK = "{%- if m.reasoning_content %}{{ '<think>\\n' + m.reasoning_content + '\\n</think>\\n' }}{% endif %}"

SMALL = {
    "call_id_in_marks": turn("[CALLS]{{ f.name }}[CALL_ID]{{ c.id }}[ARGS]" + JSON),
    "id_first": turn("<|begin|>{{ c.id }}<|name|>{{ f.name }}<|args|>" + JSON + "<|end|>", "<|calls|>", "<|/calls|>"),
    "id_around_name": turn("<|call|>{{ c.id }}<|args|>" + JSON + "<|/call|>", "<|calls|>", "<|/calls|>"),
    "index_around_name": turn("<|call|>functions.{{ f.name }}:{{ loop.index0 }}<|args|>" + JSON + "<|/call|>",
                              "<|calls|>", "<|/calls|>", reasoning=THINK),
    "keyed": turn("{{ '{\"' + f.name + '\": ' }}" + JSON + "{{ '}' }}" + comma(), "<|pre|>[", "]<|post|>"),
    "openai_objects": turn("", "<calls>{{ m.tool_calls | tojson }}", "</calls>", reasoning=THINK),
    "actions": turn("{{ '{\"tool_call_id\": \"' + loop.index0 | string + '\", \"tool_name\": \"' + f.name + "
                    "'\", \"parameters\": ' }}" + JSON + "{{ '}' }}" + comma(",\\n"), "<|ACT|>[\n    ", "\n]<|/ACT|>",
                    content="{%- if m.content %}<|SAY|>{{ m.content }}<|/SAY|>{% endif %}", reasoning=THINK),
    "toolcall_list": turn("{{ '{\"name\": \"' + f.name + '\", \"arguments\": ' }}" + JSON + "{{ '}' }}" + comma(),
                          "<TOOLCALL>[", "]</TOOLCALL>"),
    "bare_list": turn("{{ '{\"name\": \"' + f.name + '\", \"arguments\": ' }}" + JSON + "{{ '}' }}" + comma(), "[", "]",
                      content="{%- if not m.tool_calls %}{{ m.content }}{% endif %}"),
    "fenced": turn("{{ '<call>' + f.name + '\\n```json\\n' }}" + JSON + "{{ '\\n```\\n</call>\\n' }}", "<calls>\n",
                   "</calls>"),
    "function_equals": turn("{{ '<function=' + f.name + '>' }}" + JSON + "</function>"),
    "python": turn("{{ f.name + '(' }}{%- for k, v in f.arguments.items() %}{{ k + '=' }}{{ v | tojson }}" + comma() +
                   "{%- endfor %}{{ ')' }}" + comma(), "<|py|>[", "]<|/py|>"),
    "python_lines": turn("{{ f.name + '(' }}{%- for k, v in f.arguments.items() %}{{ k + '=' }}{{ v | tojson }}" +
                         comma() + "{%- endfor %}{{ ')' }}" + comma("\\n"), "<fn>", "</fn>"),
    "escape_quotes": turn("<go>call:{{ f.name }}{{ '{' }}{%- for k, v in f.arguments.items() %}{{ k + ':' }}"
                          "{%- if v is string %}<esc>{{ v }}<esc>{% else %}{{ v | tojson }}{% endif %}" + comma(",") +
                          "{%- endfor %}{{ '}' }}<stop>"),
    "invoke": turn("{{ '<invoke name=\"' + f.name + '\">\\n' }}{%- for k, v in f.arguments.items() %}"
                   "{{ '<parameter name=\"' + k + '\">' }}{{ v if v is string else v | tojson }}</parameter>{{ '\\n' }}"
                   "{%- endfor %}{{ '</invoke>\\n' }}", "{{ '\\n<m:call>\\n' }}", "</m:call>", reasoning=THINK),
    "quoted_values": turn("<call>{{ f.name }}{%- for k, v in f.arguments.items() %}<k>{{ k }}</k><v>{{ v | tojson }}</v>"
                          "{%- endfor %}</call>"),
    "thinking_parts": HEAD + "{%- if m.content is string %}{{ m.content }}{% else %}{%- for p in m.content %}"
                             "{%- if p.type == 'thinking' %}[THINK]{{ p.thinking }}[/THINK]{% else %}{{ p.text }}"
                             "{% endif %}{%- endfor %}{% endif %}<eot>" + TAIL,
    "headers": "{%- for m in messages %}{%- if m.role == 'user' %}<|start|>user<|say|>{{ m.content }}<|end|>"
               "{%- else %}{%- if m.thinking %}<|start|>bot<|ch|>inner<|say|>{{ m.thinking }}<|end|>{% endif %}"
               "{%- for c in m.tool_calls or [] %}{%- set f = c.function %}<|start|>bot<|ch|>side to=fn.{{ f.name }} json"
               "<|say|>" + JSON + "<|{{ 'call' if loop.last else 'end' }}|>{%- endfor %}"
               "{%- if not m.tool_calls %}<|start|>bot<|ch|>outer<|say|>{{ m.content }}<|stop|>{% endif %}"
               "{% endif %}{%- endfor %}{%- if add_generation_prompt %}<|start|>bot{% endif %}",
    "empty_plan": turn("{{ '{\"tool_name\": \"' + f.name + '\", \"parameters\": ' }}" + JSON + "{{ '}' }}" + comma(),
                       "<|START_PLAN|>{{ m.tool_plan }}<|END_PLAN|><|START_ACT|>[", "]<|END_ACT|>",
                       content="{%- if m.content %}<|START_SAY|>{{ m.content }}<|END_SAY|>{% endif %}"),
    "indexed_objects": turn("{{ '<call>{\"index\": ' + loop.index0 | string + ', \"name\": \"' + f.name + "
                            "'\", \"arguments\": ' }}" + JSON + "{{ '}</call>' }}"),
    "wants_results": turn("{{ '<call>{\"name\": \"' + f.name + '\", \"arguments\": ' }}" + JSON + "{{ '}</call>' }}",
                          "{%- if loop.last %}{{ raise_exception('where are the results?') }}{% endif %}"),
    "typed_contents": HEAD.replace("{{ m.content }}<eot>", "{{ m.content[0].text }}<eot>", 1)
                      + "{%- for p in m.content %}{{ p.text }}{%- endfor %}<eot>" + TAIL,
    "answer_marks": turn("{{ '\\n<call>' + f.name + '\\n' }}" + JSON + "{{ '\\n</call>' }}",
                         content="{%- if m.content %}{{ '<answer>\\n' + m.content + '\\n</answer>' }}{% endif %}",
                         reasoning="{{ '<think>\\n' + (m.reasoning_content or '') + '\\n</think>\\n' }}"),
    "message_marks": HEAD.replace("<bot>", "") + "{%- if m.reasoning_content %}<bot><|think|>{{ m.reasoning_content }}<end>"
                     "{% endif %}{%- if m.content %}<bot><|say|>{{ m.content }}<end>{% endif %}"
                     "{%- if m.tool_calls %}<bot><|calls|>{% endif %}" + CALLS + "<|call|>{{ c.id }}<|name|>{{ f.name }}"
                     "<|args|>" + JSON + "<|done|>{%- endfor %}{%- if m.tool_calls %}<|stop|>{% endif %}" + TAIL,
}
