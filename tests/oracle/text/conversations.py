"""Conversations for chat templates: each feature that templates know, alone and together.

SPDX-License-Identifier: MIT
"""

WEATHER = {"type": "function", "function": {
    "name": "get_weather", "description": "Get the weather of a place <now> & later.",
    "parameters": {"type": "object", "properties": {
        "location": {"type": "string", "description": "City, e.g. \"Z\u00fcrich\""},
        "unit": {"type": "string", "enum": ["celsius", "fahrenheit"], "default": "celsius"},
        "days": {"type": "integer", "minimum": 1}}, "required": ["location"]}}}
NESTED = {"type": "function", "function": {
    "name": "book", "description": "", "parameters": {"type": "object", "properties": {
        "guests": {"type": "array", "items": {"type": "object", "properties": {
            "name": {"type": ["string", "null"]}, "age": {"type": "number"},
            "tags": {"type": "array", "items": {"type": "string"}}}, "required": ["name"]}, "description": "Who"},
        "when": {"type": "object", "properties": {"day": {"type": "string"}, "hour": {"type": "integer"}},
                 "additionalProperties": False},
        "either": {"anyOf": [{"type": "string"}, {"type": "integer"}]}, "flag": {"type": "boolean"}},
        "required": ["guests", "when"]}, "return": {"type": "string"}, "strict": True}}
PLAIN = {"type": "function", "function": {"name": "ping", "description": "Ping.",
                                          "parameters": {"type": "object", "properties": {}}}}


def call(name, arguments, id=None):
    c = {"type": "function", "function": {"name": name, "arguments": arguments}}
    if id is not None:
        c = {"id": id, **c}
    return c


def user(content):
    return {"role": "user", "content": content}


def assistant(content, **more):
    return {"role": "assistant", "content": content, **more}


SYSTEM = {"role": "system", "content": "You are helpful.\n Stay brief.  "}
UNICODE = "Gr\u00fc\u00dfe \u2014 \u9f98 \U0001f41d e\u0301 \u00a0\u2028x <|im_end|> {{ x }} {% if %}"

OBJECT_CALL = call("get_weather", {"location": "Z\u00fcrich", "days": 3, "deep": {"a": [1, 2.5, None, True, "x"]}},
                   "call_1234")
STRING_CALL = call("get_weather", "{\"location\": \"Paris\"}", "abcdefghi")
RESULT = {"role": "tool", "name": "get_weather", "tool_call_id": "call_1234", "content": "{\"temp\": 21}"}

MESSAGES = {
    "one": [user("Hello")],
    "system": [SYSTEM, user("Hello")],
    "turns": [user("Hi"), assistant("Hello!"), user(" How are you? \n")],
    "system_turns": [SYSTEM, user("Hi"), assistant("Hello!"), user("And?"), assistant("Fine.\n"), user("Ok")],
    "ends_with_answer": [SYSTEM, user("Hi"), assistant("Hello!")],
    "unicode": [SYSTEM, user(UNICODE), assistant(UNICODE), user("\n\n \t")],
    "empty": [],
    "only_system": [SYSTEM],
    "empty_contents": [user(""), assistant(""), user("x")],
    "developer": [{"role": "developer", "content": "Dev."}, user("Hi")],
    "two_systems": [SYSTEM, user("a"), SYSTEM, user("b")],
    "two_users": [user("a"), user("b")],
    "assistant_first": [assistant("I begin."), user("b")],
    "odd_role": [user("a"), {"role": "critic", "content": "c"}, user("d")],
    "think_in_content": [user("a"), assistant("<think>\nhm\n</think>\n\nyes"), user("b"),
                         assistant("<think>x</think>y")],
    "reasoning": [user("a"), assistant("yes", reasoning_content="Let me think.\n"), user("b")],
    "reasoning_names": [user("a"), assistant("yes", reasoning="R", thinking="T", reasoning_content="C"), user("b")],
    "reasoning_last": [user("a"), assistant("yes", reasoning_content="Deep")],
    "reasoning_and_call": [user("a"), assistant("", reasoning_content="Must call", tool_calls=[OBJECT_CALL]), RESULT],
    "call": [SYSTEM, user("Weather?"), assistant("", tool_calls=[OBJECT_CALL]), RESULT],
    "call_null": [user("Weather?"), assistant(None, tool_calls=[OBJECT_CALL]), RESULT, assistant("21 degrees."),
                  user("Thanks")],
    "call_text": [user("Weather?"), assistant("I look.", tool_calls=[OBJECT_CALL]), RESULT, user("So?")],
    "call_string": [user("Weather?"), assistant("", tool_calls=[STRING_CALL]),
                    {"role": "tool", "tool_call_id": "abcdefghi", "content": "sunny"}],
    "call_nine": [user("Weather?"), assistant("", tool_calls=[call("get_weather", {"location": "P"}, "abc123XYZ")]),
                  {"role": "tool", "name": "get_weather", "tool_call_id": "abc123XYZ", "content": "sunny"}],
    "calls": [user("Both?"), assistant("", tool_calls=[OBJECT_CALL, call("ping", {}, "call_2")]), RESULT,
              {"role": "tool", "name": "ping", "tool_call_id": "call_2", "content": "pong"}, assistant("Done."),
              user("ok")],
    "call_no_id": [user("x"), assistant("", tool_calls=[call("ping", {})]), {"role": "tool", "content": "pong"}],
    "call_no_content": [user("x"), {"role": "assistant", "tool_calls": [OBJECT_CALL]}, RESULT],
    "call_flat": [user("x"), assistant("", tool_calls=[{"name": "ping", "arguments": {"a": "b"}}]),
                  {"role": "tool", "content": {"k": [1, 2]}}],
    "ipython": [user("x"), assistant("", tool_calls=[OBJECT_CALL]), {"role": "ipython", "content": {"output": 1}}],
    "result_parts": [user("x"), assistant("", tool_calls=[OBJECT_CALL]),
                     {**RESULT, "content": [{"type": "text", "text": "part one"}, {"type": "text", "text": "two"}]}],
    "parts": [user([{"type": "text", "text": "Look: "}, {"type": "image", "image": "u"},
                    {"type": "text", "text": "!"}])],
    "parts_text": [{"role": "system", "content": [{"type": "text", "text": "Sys"}]},
                   user([{"type": "text", "text": "Hi"}]), assistant([{"type": "text", "text": "Ho"}]), user("x")],
    "parts_urls": [user([{"type": "image_url", "image_url": {"url": "http://x/y.png"}}, {"type": "text", "text": "?"},
                         {"type": "video", "video": "v"}, {"type": "audio", "audio": "a"}])],
    "null_content": [user(None), assistant(None), user("x")],
    "no_content": [{"role": "user"}],
    "numbers": [user(12), user(1.5)],
    "tool_plan": [user("x"), assistant("c", tool_plan="I will look", tool_calls=[OBJECT_CALL]), RESULT],
    "documents_role": [{"role": "document", "content": "A text.", "title": "T"}, user("x")],
    "long": [SYSTEM] + [m for i in range(6) for m in (user(f"q{i}"), assistant(f"a{i}", reasoning_content=f"r{i}"))] +
            [user("last")],
    "call_twice": [user("x"), assistant("", tool_calls=[OBJECT_CALL]), RESULT,
                   assistant("mid", tool_calls=[STRING_CALL]),
                   {"role": "tool", "tool_call_id": "abcdefghi", "content": ""}, assistant("end"), user("y")],
}

TOOLS = {
    "no_tools": {},
    "null_tools": {"tools": None},
    "tools": {"tools": [WEATHER]},
    "more_tools": {"tools": [WEATHER, NESTED, PLAIN]},
}

EXTRAS = {
    "plain": {},
    "thinking": {"enable_thinking": True, "thinking": True, "date_string": "26 Jul 2024"},
    "no_thinking": {"enable_thinking": False, "thinking": False, "reasoning_effort": "low"},
    "high": {"reasoning_effort": "high", "model_identity": "You are X.",
             "builtin_tools": ["code_interpreter", "browser"],
             "keep_past_thinking": True, "preserve_thinking": True, "add_vision_id": True, "thinking_budget": 512},
    "documents": {"documents": [{"title": "A", "text": "Alpha \u00e9", "doc_id": 1}, {"title": "B", "text": "Beta"}],
                  "controls": {"citations": True, "hallucinations": True, "length": "short"}, "thinking": True,
                  "available_tools": [WEATHER]},
    "functions": {"functions": [WEATHER["function"]], "custom_tools": [WEATHER], "tools_in_user_message": False,
                  "datetime": "now", "response_format": {"type": "json_object"}, "thinking_budget": 0,
                  "clear_thinking": False},
}

TOKENS = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}


def cases():
    """(name, variables) of the matrix."""
    for name, messages in MESSAGES.items():
        for tools_name, tools in TOOLS.items():
            for extras_name, extras in EXTRAS.items():
                if tools_name in ("null_tools", "more_tools") and extras_name not in ("plain", "high"):
                    continue
                for prompt in (True, False):
                    yield (f"{name}/{tools_name}/{extras_name}/{prompt}",
                           {"messages": messages, "add_generation_prompt": prompt, **TOKENS, **tools, **extras})
    yield "no_tokens", {"messages": MESSAGES["turns"], "add_generation_prompt": True}
    yield "nothing", {}
