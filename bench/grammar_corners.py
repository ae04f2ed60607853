"""Grammars that are not average: one for each way in which masks may turn out to be slow. Each is a pair of what is
compiled, {"schema": ...}, {"gbnf": ...} or {"regex": ...}, and texts that it allows.

SPDX-License-Identifier: MIT
"""
import json
import random

R = random.Random(11)


def compact(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def closed(properties, required=None, **more):
    return {"type": "object", "properties": properties, "additionalProperties": False,
            "required": list(properties) if required is None else required, **more}


def of_value(schema, *values):
    return {"schema": schema}, [compact(v) for v in values]


def of_string(keywords, *values):
    """A member of an object: what may follow a string is known, as in most schemas."""
    return of_value(closed({"id": {"type": "integer"}, "value": {"type": "string", **keywords}}),
                    *({"id": 7, "value": v} for v in values))


def of_number(keywords, *values):
    return of_value(closed({"value": {"type": "number", **keywords}, "next": {"type": "boolean"}}),
                    *({"value": v, "next": True} for v in values))


# ---- strings ----

FORMATS = {
    "date": ["2024-02-29", "1999-12-31", "2023-07-04"],
    "time": ["12:34:56Z", "23:59:60Z", "01:02:03.456789+02:00"],
    "date-time": ["2024-02-29T12:34:56Z", "1999-12-31t23:59:59.123-08:00"],
    "email": ["someone@example.org", "first.last+tag@mail.example.co.uk", "x_y-z99@sub-domain.example.com"],
    "uuid": ["123e4567-e89b-12d3-a456-426614174000", "FFFFFFFF-0000-4abc-8def-0123456789AB"],
    "ipv4": ["192.168.1.1", "8.8.8.8", "255.255.255.255"],
    "ipv6": ["2001:db8::1", "fe80::1ff:fe23:4567:890a", "::ffff:192.0.2.128", "1:2:3:4:5:6:7:8"],
    "uri": ["https://example.org/a/b?c=d#e", "mailto:someone@example.org", "http://[2001:db8::7]:8080/x%20y"],
    "uri-reference": ["../images/logo.png?size=2", "https://example.org/path", "#fragment"],
    "hostname": ["host.example.org", "localhost", "a-very-long-name-indeed.x9.example.com"],
    "json-pointer": ["/a/b/0/c~1d", ""],
    "duration": ["P1Y2M10DT2H30M", "PT15M", "P2W"],
}

PATTERNS = {
    "country": ("^[A-Z]{2}$", "DE", "US"),
    "currency": ("^[A-Z]{3}$", "EUR", "JPY"),
    "code": ("^[A-Z]{2,3}-[0-9]{4,6}$", "AB-1234", "XYZ-123456"),
    "phone": ("^\\+[1-9]\\d{1,14}$", "+14155552671", "+493012345678"),
    "local phone": ("^(\\([0-9]{3}\\))?[0-9]{3}-[0-9]{4}$", "555-1212", "(888)555-1212"),
    "zip": ("^[0-9]{5}(-[0-9]{4})?$", "94105", "10001-1234"),
    "color": ("^#([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$", "#fff", "#00AAff"),
    "semver": ("^(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\\.(0|[1-9]\\d*)(-[0-9A-Za-z-]+(\\.[0-9A-Za-z-]+)*)?$", "1.2.3",
               "10.20.30-alpha.1"),
    "sha256": ("^[a-f0-9]{64}$", "".join(R.choice("0123456789abcdef") for _ in range(64))),
    "base64": ("^[A-Za-z0-9+/]*={0,2}$", "aGVsbG8gd29ybGQ=", "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo="),
    "identifier": ("^[A-Za-z_][A-Za-z0-9_]{0,63}$", "snake_case_name", "CamelCase9"),
    "slug": ("^[a-z0-9]+(?:-[a-z0-9]+)*$", "the-quick-brown-fox", "x1"),
    "money": ("^-?\\d{1,9}(\\.\\d{2})?$", "123456.78", "-5"),
    "iban": ("^[A-Z]{2}\\d{2}[A-Z0-9]{11,30}$", "DE89370400440532013000"),
    "names": ("^\\p{L}+([ '-]\\p{L}+)*$", "Jean-Luc Picard", "Zoë O'Neill", "Владимир"),
    "no blanks": ("^\\S+$", "token_without_blanks", "x"),
    "free": ("needle", "hay needle hay", "needle"),
    "words": ("^\\w+(\\s\\w+){0,4}$", "the quick brown", "one"),
    "path": ("^(/[^/\\x00]+)+/?$", "/usr/local/share/file.txt", "/x/"),
    "version or tag": ("^(v\\d+(\\.\\d+){0,2}|latest|stable|nightly)$", "v1.2.3", "latest"),
    "arn": ("^arn:aws[a-z-]*:[a-z0-9-]+:[a-z0-9-]*:[0-9]{12}:.{1,128}$", "arn:aws:s3:us-east-1:123456789012:bucket/key"),
    "handle": ("^@[A-Za-z0-9_]{1,15}$", "@someone", "@a"),
    "cron": ("^(\\*|[0-5]?\\d)( (\\*|[0-5]?\\d)){4}$", "5 4 * * *", "0 12 1 1 0"),
    "licence plate": ("^[A-ZÄÖÜ]{1,3}-[A-Z]{1,2} [1-9][0-9]{0,3}$", "MÜ-AB 123", "B-X 1"),
}

BOUNDED_PATTERNS = {
    "slug of 3 to 60": ({"pattern": "^[a-z0-9]+(-[a-z0-9]+)*$", "minLength": 3, "maxLength": 60}, "the-quick-brown-fox"),
    "words up to 100": ({"pattern": "^[a-z ]+$", "minLength": 5, "maxLength": 100}, "the quick brown fox jumps over"),
    "needle in 200": ({"pattern": "needle", "maxLength": 200}, "it has a needle in it", "needle"),
    "phone up to 100": ({"pattern": "^\\d{3}-\\d{4}$", "maxLength": 100}, "123-4567"),
    "name up to 80": ({"pattern": "^\\S+( \\S+)*$", "minLength": 1, "maxLength": 80}, "Jean-Luc Picard", "Владимир"),
    "title up to 120": ({"pattern": "^[^\\n\\r\\t]*\\S[^\\n\\r\\t]*$", "maxLength": 120}, "A title of some words"),
    "login of 8 to 30": ({"pattern": "^[A-Za-z][A-Za-z0-9._-]*$", "minLength": 8, "maxLength": 30}, "some.user-name_1"),
    "email up to 254": ({"format": "email", "maxLength": 254}, "someone@example.org"),
    "uri up to 2000": ({"format": "uri", "maxLength": 2000}, "https://example.org/a/b?c=d"),
    "hostname up to 100": ({"format": "hostname", "maxLength": 100}, "host.example.org"),
    "no digits in 500": ({"pattern": "^[^0-9]*$", "maxLength": 500}, "a text without any of these, long enough to matter"),
    "two patterns": ({"allOf": [{"pattern": "[A-Z]"}, {"pattern": "[0-9]"}], "minLength": 8, "maxLength": 64},
                     "Password123"),
    "not empty": ({"pattern": "\\S", "maxLength": 1000}, "  something of a text"),
}


# ---- values ----

def enum_1000():
    kinds = "bolt nut screw washer bracket hinge spring gasket valve hose".split()
    words = sorted({f"{R.choice(kinds)} {R.choice(['steel', 'brass', 'zinc', 'nylon'])} M{R.randint(2, 40)}x{n}"
                    for n in range(1000)})
    return of_value(closed({"part": {"enum": words}, "count": {"type": "integer"}}),
                    *({"part": R.choice(words), "count": 3} for _ in range(3)))


def enum_250():
    parts = "ba du fi go ka le mi no pu ra se ti va wo xe yu za".split()
    words = sorted({"".join(R.choice(parts) for _ in range(R.randint(2, 5))).capitalize() for _ in range(260)})
    return of_value(closed({"country": {"enum": words}}), *({"country": R.choice(words)} for _ in range(3)))


def codes():
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    words = sorted({R.choice(letters) + R.choice(letters) + R.choice(letters) for _ in range(400)})
    return of_value({"type": "array", "items": {"enum": words}, "maxItems": 20}, [R.choice(words) for _ in range(12)])


def integers():
    return of_value(closed({
        "percent": {"type": "integer", "minimum": 0, "maximum": 100}, "latitude": {"type": "integer", "minimum": -90, "maximum": 90},
        "year": {"type": "integer", "minimum": 1900, "maximum": 2100}, "port": {"type": "integer", "minimum": 1, "maximum": 65535},
        "big": {"type": "integer", "minimum": -2147483648, "maximum": 2147483647},
        "positive": {"type": "integer", "exclusiveMinimum": 0}, "fives": {"type": "integer", "multipleOf": 5},
        "sevens": {"type": "integer", "multipleOf": 7, "minimum": 0, "maximum": 10000}}),
        {"percent": 42, "latitude": -77, "year": 1984, "port": 8080, "big": -123456789, "positive": 12345, "fives": 1235,
         "sevens": 777})


def decimals():
    return of_value(closed({
        "share": {"type": "number", "minimum": 0, "maximum": 1}, "longitude": {"type": "number", "minimum": -180, "maximum": 180},
        "price": {"type": "number", "minimum": 0, "multipleOf": 0.01}, "warm": {"type": "number", "exclusiveMinimum": -273.15},
        "tenth": {"type": "number", "multipleOf": 0.1, "maximum": 100}}),
        {"share": 0.125, "longitude": -122.4194, "price": 19.99, "warm": 36.6, "tenth": 12.7})


def optional_200():
    kinds = [{"type": "string"}, {"type": "integer"}, {"type": "boolean"}, {"type": "string", "maxLength": 40},
             {"enum": ["low", "medium", "high"]}]
    values = ["some text", 12, True, "short text", "high"]
    schema = closed({f"{'input output filter option limit'.split()[i % 5]}_{i}": kinds[i % 5] for i in range(200)}, [])
    names = list(schema["properties"])
    return of_value(schema, *({n: values[i % 5] for i, n in enumerate(names) if R.random() < 0.2} for _ in range(3)), {})


def any_of_30():
    ways = [closed({"type": {"const": f"{'click scroll open close resize focus'.split()[i % 6]}_{i}"},
                    "at": {"type": "number"}, f"detail_{i}": {"type": "string"}}) for i in range(30)]
    make = lambda i: {"type": ways[i]["properties"]["type"]["const"], "at": 1.5, f"detail_{i}": "some text"}
    return of_value({"type": "array", "items": {"anyOf": ways}}, [make(i) for i in (0, 7, 18, 29)])


def late_discriminator():
    ways = [closed({"name": {"type": "string"}, "args": closed({f"a{i}": {"type": "string", "maxLength": 20 + i}}),
                    "kind": {"const": f"kind {i}"}}) for i in range(20)]
    return of_value({"anyOf": ways}, {"name": "call of something", "args": {"a7": "value"}, "kind": "kind 7"})


def pattern_properties():
    return of_value({"type": "object", "patternProperties": {"^x-[a-z-]+$": {"type": "string"}, "^[0-9]{3}$": {"type": "integer"}},
                     "properties": {"default": {"type": "boolean"}}, "additionalProperties": False},
                    {"default": True, "x-trace-id": "abc", "404": 12})


def typed_map():
    return of_value({"type": "object", "additionalProperties": {"type": "integer"}, "maxProperties": 50},
                    {"first": 1, "the second one": 22, "третий": 3})


def property_names():
    return of_value({"type": "object", "propertyNames": {"pattern": "^[a-z_]{1,30}$"}, "additionalProperties": {"type": "string"}},
                    {"some_name": "value", "other": "text"})


def matrix():
    number = {"type": "number"}
    return of_value({"type": "array", "items": {"type": "array", "minItems": 3, "maxItems": 3, "items":
                     {"type": "array", "items": number, "minItems": 1, "maxItems": 16}}},
                    [[[1, 2.5, -3], [4], [5.25, 6e3]], [[7], [8], [9, 10]]])


def deep():
    value = {"op": "and", "args": []}
    for i in range(60):
        value = {"op": "or" if i % 2 else "and", "args": [value]}
    return of_value({"$ref": "#/$defs/e", "$defs": {"e": closed({"op": {"enum": ["and", "or", "not"]}, "args":
                     {"type": "array", "items": {"$ref": "#/$defs/e"}}})}}, value)


def deep_arrays():
    value = []
    for _ in range(100):
        value = [value, 1]
    return of_value({"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"type": "integer"}, {"type": "array", "items":
                     {"$ref": "#/$defs/a"}}]}}}, value)


def anything():
    return of_value({}, {"a": [1, {"b": "text here", "c": [[], {}]}], "é": "ü\n\t\"q\"", "deep": {"x": {"y": {"z": [1.5e-7, None]}}}},
                    "only a text", [[[]]])


def open_object():
    kinds = [{"type": "string"}, {"type": "integer"}, {"type": "array", "items": {"type": "string"}}]
    values = ["some text", 12, ["a", "b c"]]
    return of_value({"type": "object", "properties": {f"field_{i}": kinds[i % 3] for i in range(30)}, "required": ["field_3", "field_7"]},
                    {"field_1": 1, "field_3": "x", "field_7": 3, "extra": {"k": 1}})


def tools():
    """An array of calls of 12 tools, the name first, as tool calling asks for it."""
    kinds = [{"type": "string", "maxLength": 500}, {"type": "integer", "minimum": 1, "maximum": 100},
             {"type": "string", "format": "date"}, {"enum": ["asc", "desc"]}]
    values = ["a question of some words", 10, "2024-05-06", "desc"]
    names = [f"{v}_{n}" for v in ("get", "list", "search") for n in ("weather", "orders", "files", "people")]
    ways = [closed({"name": {"const": name}, "arguments": closed({f"p{k}": kinds[(i + k) % 4] for k in range(4)}, [])})
            for i, name in enumerate(names)]
    return of_value({"type": "array", "minItems": 1, "items": {"anyOf": ways}},
                    [{"name": names[i], "arguments": {f"p{k}": values[(i + k) % 4] for k in range(4)}} for i in (0, 5, 11)])


def conditions():
    return of_value({**closed({"kind": {"enum": ["card", "bank"]}, "number": {"type": "string"}, "iban": {"type": "string"}}, ["kind"]),
                     "if": {"properties": {"kind": {"const": "card"}}}, "then": {"required": ["number"]},
                     "else": {"required": ["iban"]}},
                    {"kind": "card", "number": "1234"}, {"kind": "bank", "iban": "DE12"})


def contains():
    return of_value({"type": "array", "items": {"type": "string", "maxLength": 20}, "contains": {"const": "needle"}},
                    ["hay", "needle", "more hay"])


def long_texts():
    return of_value(closed({"summary": {"type": "string", "maxLength": 2000}, "body": {"type": "string", "minLength": 100},
                            "note": {"type": "string", "minLength": 1, "maxLength": 1}}),
                    {"summary": "Some words in a row. " * 8, "body": "The quick brown fox jumps over the dog. " * 5, "note": "x"})


def not_these():
    return of_value(closed({"name": {"type": "string", "not": {"enum": ["admin", "root", "system"]}},
                            "other": {"type": "string", "not": {"pattern": "^(http|ftp)"}, "maxLength": 50}}),
                    {"name": "administrator", "other": "hello there"})


VALUES = [enum_1000, enum_250, codes, integers, decimals, optional_200, any_of_30, late_discriminator, pattern_properties,
          typed_map, property_names, matrix, deep, deep_arrays, anything, open_object, tools, conditions, contains,
          long_texts, not_these]

# ---- GBNF ----

C_LIKE = r'''
root ::= statement+
statement ::= type ws ident ws ("=" ws expr)? ";" nl | ident ws assign ws expr ";" nl | "return" (sp expr)? ";" nl
            | "if" ws "(" expr ")" ws block | "while" ws "(" expr ")" ws block | call ";" nl
block ::= "{" nl statement* "}" nl
type ::= ("int" | "float" | "char" | "double" | "bool") sp
assign ::= "=" | "+=" | "-=" | "*=" | "/="
expr ::= term (ws binary ws term)*
binary ::= "+" | "-" | "*" | "/" | "%" | "<" | ">" | "<=" | ">=" | "==" | "!=" | "&&" | "||"
term ::= ident | number | string | call | "(" expr ")" | ("-" | "!") term
call ::= ident "(" (expr ("," ws expr)*)? ")"
ident ::= [a-zA-Z_] [a-zA-Z0-9_]*
number ::= [0-9]+ ("." [0-9]+)?
string ::= "\"" ([^"\\\n] | "\\" ["\\nt])* "\""
sp ::= " "+
ws ::= " "*
nl ::= "\n" " "*
'''

SQL = r'''
root ::= select ";"
select ::= "SELECT " columns " FROM " table (" WHERE " condition)? (" GROUP BY " names)? (" ORDER BY " order)? (" LIMIT " int)?
columns ::= "*" | column (", " column)*
column ::= value (" AS " name)?
value ::= name ("." name)? | func "(" ("*" | value) ")" | int | text
func ::= "COUNT" | "SUM" | "AVG" | "MIN" | "MAX"
table ::= name (" " name)? ((" JOIN " | " LEFT JOIN ") name (" " name)? " ON " condition)*
condition ::= test ((" AND " | " OR ") test)*
test ::= value (" = " | " <> " | " < " | " > " | " LIKE ") value | value " IN (" value (", " value)* ")" | value " IS NULL" | "(" condition ")"
order ::= value (" ASC" | " DESC")? (", " value (" ASC" | " DESC")?)*
names ::= name (", " name)*
name ::= [a-z_] [a-z0-9_]{0,30}
int ::= "0" | [1-9] [0-9]{0,8}
text ::= "'" ([^'\n] | "''"){0,100} "'"
'''

JSON_OF_USERS = r'''
root   ::= object
value  ::= object | array | string | number | ("true" | "false" | "null") ws
object ::= "{" ws ( string ":" ws value ("," ws string ":" ws value)* )? "}" ws
array  ::= "[" ws ( value ("," ws value)* )? "]" ws
string ::= "\"" ( [^"\\\x7F\x00-\x1F] | "\\" (["\\bfnrt] | "u" [0-9a-fA-F]{4}) )* "\"" ws
number ::= ("-"? ([0-9] | [1-9] [0-9]{0,15})) ("." [0-9]+)? ([eE] [-+]? [0-9] [1-9]{0,15})? ws
ws ::= | " " | "\n" [ \t]{0,20}
'''

MARKDOWN = r'''
root ::= heading (paragraph | list | code)+
heading ::= "#"{1,6} " " line
paragraph ::= text "\n" "\n"
list ::= item+ "\n"
item ::= "  "{0,3} ("- " | [1-9] [0-9]? ". ") line
code ::= "```" [a-z]{0,10} "\n" line* "```\n"
line ::= [^\n]* "\n"
text ::= [A-Za-z*_] [^\n]*
'''

ARITHMETIC = r'''
root ::= (expr "=" ws term "\n")+
expr ::= term ([-+*/] term)*
term ::= ident | num | "(" ws expr ")" ws
ident ::= [a-z] [a-z0-9_]* ws
num ::= [0-9]+ ws
ws ::= [ \t\n]*
'''

CHESS = r'''
root ::= "1. " move " " move "\n" ([1-9] [0-9]? ". " move " " move "\n")+
move ::= (pawn | nonpawn | castle) [+#]?
nonpawn ::= [NBKQR] [a-h]? [1-8]? "x"? [a-h] [1-8]
pawn ::= ([a-h] "x")? [a-h] [1-8] ("=" [NBKQR])?
castle ::= "O-O" "-O"?
'''

THINKING = r'''
root ::= "<think>" ([^<] | "<" [^/])* "</think>\n" answer
answer ::= "yes" | "no" | "maybe, because " [^\n]{10,200} "\n"
'''

CSV = r'''
root ::= header row{1,100}
header ::= "name,amount,date\n"
row ::= field "," [0-9]{1,8} "." [0-9]{2} "," [0-9]{4} "-" [0-9]{2} "-" [0-9]{2} "\n"
field ::= [^,"\n]{1,40} | "\"" ([^"] | "\"\"")* "\""
'''

GBNF = {
    "C": (C_LIKE, 'int x = 5;\nif (x >= foo(1, "a\\n") && !done) {\n    x += (y * 3) - 1.5;\n    return x;\n}\nprint(x, y);\n'),
    "SQL": (SQL, "SELECT o.id, COUNT(*) AS n FROM orders o LEFT JOIN lines l ON o.id = l.order_id WHERE l.state = 'sent' AND "
                 "(o.total > 100 OR o.name LIKE 'A%') GROUP BY id ORDER BY n DESC LIMIT 10;", "SELECT * FROM users;"),
    "JSON of users": (JSON_OF_USERS, '{"a": [1, 2.5e3, "text of it\\n"],\n  "b": {"c": null, "d": true}}'),
    "markdown": (MARKDOWN, "# A title\nSome *text* here.\n\n- one\n  - two\n1. three\n\n```python\nprint(1)\n```\n"),
    "arithmetic": (ARITHMETIC, "(a +12)*b3 = c\n1+1=2\n"),
    "chess": (CHESS, "1. e4 e5\n2. Nf3 Nc6\n3. Bb5 a6\n4. Bxc6 dxc6\n5. O-O f6\n"),
    "thinking": (THINKING, "<think>let me think <about> it, x < y.</think>\nmaybe, because it is so hard to say.\n"),
    "CSV": (CSV, 'name,amount,date\nJohn Smith,12.50,2024-01-02\n"Smith, ""J""",999.99,2023-12-31\n'),
}

# ---- patterns of a whole text ----

LONG_CHOICE = "|".join(sorted({"".join(R.choice(["an", "be", "co", "di", "en", "fo", "ga"]) for _ in range(R.randint(3, 6)))
                              for _ in range(300)}))
REGEX = {
    "letters": (r"\p{L}+( \p{L}+)*", "Größe und Maß", "мир и война"),
    "up to 200": (r".{0,200}", "some text of no great length, in one line"),
    "letters up to 100": (r"\p{Lu}[\p{L}\p{N} ]{1,100}\.", "The quick brown fox jumps over 12 lazy dogs."),
    "words 3 to 10": (r"(\w+\s){3,10}\w+\.", "one two three four five six."),
    "numbered": (r"(\d{1,3}\. [^\n]{1,80}\n){1,20}", "1. first of all\n2. second\n10. tenth\n"),
    "choice of 300": (f"({LONG_CHOICE})(, ({LONG_CHOICE}))*", ", ".join(LONG_CHOICE.split("|")[i] for i in (5, 70, 200))),
    "log": (r"\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2} (DEBUG|INFO|WARN|ERROR) \[[\w.-]+\] [^\n]{1,200}", "2024-01-02 03:04:05 WARN "
            "[net.http] connection reset by peer"),
    "URL": (r"https?://[\w.-]+(:\d{1,5})?(/[\w./%-]*)?(\?[\w=&%-]*)?", "https://example.org:8080/a/b.html?q=1&r=2"),
    "email": (r"[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}", "first.last@mail.example.org"),
    "any of 500": (r"[\s\S]{1,500}", "Line one\nline two\n\tand three"),
    "quoted list": (r'\["[^"]{0,30}"(, "[^"]{0,30}"){0,9}\]', '["one", "two of them", "three"]'),
    "thousands": (r"-?\d{1,3}(,\d{3})*(\.\d+)?", "-1,234,567.89", "12"),
    "answer": (r"(?:Yes|No|Maybe)(?:, because [a-z ,']{5,150})?\.", "No, because it isn't so, as they say."),
}

# Loops that may begin again where they end: each text can be read in very many ways.
LINES = "A first line of it\nand — as dashes go — a second\n", "x"
NESTED = {r: [t + end for t in LINES] for r, end in (
    (r"(.*\n?)*", ""), (r"(.+\n?)+", ""), (r"(.{1,80}\n?)+", ""), (r"(\w*\W*)*", ""), (r"([^\n]*\n?)*", ""),
    (r"(.|\n)*(.+\n?)*z", "z"))} | {r: [t + end for t in ("One line, größer than “most”", "x")] for r, end in (
    (r"(.*)*", ""), (r"(.*)*x", "x"), (r"(.+)+x", "x"), (r"(.*|.*x.*|.*y.*)*z", "z"), (r"(\S+\s*)+", ""))}


def corners():
    """Name to what is compiled and its texts."""
    found = {f"format {n}": of_string({"format": n}, *v) for n, v in FORMATS.items()}
    found |= {f"pattern {n}": of_string({"pattern": p}, *v) for n, (p, *v) in PATTERNS.items()}
    found |= {f"pattern and length, {n}": of_string(k, *v) for n, (k, *v) in BOUNDED_PATTERNS.items()}
    found |= {f.__name__: f() for f in VALUES}
    found |= {f"GBNF {n}": ({"gbnf": source}, texts) for n, (source, *texts) in GBNF.items()}
    found |= {f"regex {n}": ({"regex": source}, texts) for n, (source, *texts) in REGEX.items()}
    found |= {f"nested {r}".replace("\\", "/"): ({"regex": r}, texts) for r, texts in NESTED.items()}
    found |= {f"nested in a string, {r[:4]}": of_string({"pattern": r}, *LINES) for r in (r"^(.+\n?)+$", r"^(.*\n?)*$")}
    found["GBNF nested"] = {"gbnf": r'root ::= ([^\n\r\u2028\u2029]* "\n"?)*'}, LINES
    return found
