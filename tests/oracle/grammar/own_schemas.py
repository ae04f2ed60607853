"""Larger schemas, as tools, interfaces and configuration files have them.

SPDX-License-Identifier: MIT
"""


def obj(properties, required=None, **more):
    """A closed object; all members are required unless some are named."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties) if required is None else required,
        "additionalProperties": False,
        **more,
    }


def arr(items, **more):
    return {"type": "array", "items": items, **more}


def enum(*values):
    return {"enum": list(values)}


def ref(name):
    return {"$ref": f"#/$defs/{name}"}


STR = {"type": "string"}
INT = {"type": "integer"}
NUM = {"type": "number"}
BOOL = {"type": "boolean"}
NULL = {"type": "null"}


def text(most, least=0):
    return {"type": "string", "minLength": least, "maxLength": most}


def maybe(schema):
    return {"anyOf": [schema, NULL]}


ADDRESS = obj(
    {
        "street": text(60, 1),
        "city": text(40, 1),
        "zip": {"type": "string", "pattern": "^[0-9]{5}(-[0-9]{4})?$"},
        "country": {"type": "string", "pattern": "^[A-Z]{2}$"},
    },
    ["street", "city"],
)
MONEY = obj({"amount": {"type": "number", "minimum": 0, "multipleOf": 0.01}, "currency": enum("USD", "EUR", "JPY")})
POINT = arr({"type": "number", "minimum": -180, "maximum": 180}, minItems=2, maxItems=2)

SCHEMAS = {
    "weather": obj(
        {
            "location": text(50, 2),
            "unit": enum("celsius", "fahrenheit"),
            "days": {"type": "integer", "minimum": 1, "maximum": 14},
        },
        ["location"],
    ),
    "person": obj(
        {
            "name": text(40, 1),
            "age": {"type": "integer", "minimum": 0, "maximum": 130},
            "email": {"type": "string", "format": "email"},
            "address": ADDRESS,
            "tags": arr(text(12), maxItems=5),
        },
        ["name", "age"],
    ),
    "calendar": obj(
        {
            "title": text(80, 1),
            "start": {"type": "string", "format": "date-time"},
            "end": {"type": "string", "format": "date-time"},
            "attendees": arr({"type": "string", "format": "email"}, maxItems=4),
            "remind": arr({"type": "integer", "minimum": 0}, maxItems=3),
            "repeat": maybe(
                obj({"every": enum("day", "week", "month"), "times": {"type": "integer", "exclusiveMinimum": 0}})
            ),
        },
        ["title", "start"],
    ),
    "invoice": obj(
        {
            "number": {"type": "string", "pattern": "^INV-\\d{4}-\\d{3,6}$"},
            "issued": {"type": "string", "format": "date"},
            "lines": arr(
                obj({"item": text(30), "count": {"type": "integer", "minimum": 1}, "price": MONEY}),
                minItems=1,
                maxItems=4,
            ),
            "total": MONEY,
            "paid": BOOL,
            "to": ADDRESS,
        }
    ),
    "issue": obj(
        {
            "id": INT,
            "title": STR,
            "state": enum("open", "closed"),
            "labels": arr(obj({"name": STR, "color": {"type": "string", "pattern": "^[0-9a-f]{6}$"}})),
            "assignee": maybe(obj({"login": {"type": "string", "pattern": "^[a-zA-Z0-9-]{1,39}$"}, "id": INT})),
            "body": maybe(STR),
            "comments": {"type": "integer", "minimum": 0},
        },
        ["id", "title", "state"],
    ),
    "charge": {
        "type": "object",
        "properties": {
            "amount": {"type": "integer", "minimum": 50, "maximum": 99999999},
            "currency": {"type": "string", "minLength": 3, "maxLength": 3},
            "source": {
                "oneOf": [
                    obj(
                        {
                            "kind": {"const": "card"},
                            "number": {"type": "string", "pattern": "^\\d{13,19}$"},
                            "cvc": {"type": "string", "pattern": "^\\d{3,4}$"},
                        }
                    ),
                    obj(
                        {
                            "kind": {"const": "bank"},
                            "iban": {"type": "string", "pattern": "^[A-Z]{2}\\d{2}[A-Z0-9]{11,30}$"},
                        }
                    ),
                    obj({"kind": {"const": "token"}, "token": STR}),
                ]
            },
            "metadata": {"type": "object", "additionalProperties": STR, "maxProperties": 3},
        },
        "required": ["amount", "currency", "source"],
        "additionalProperties": False,
    },
    "rpc": {
        "oneOf": [
            obj({"jsonrpc": {"const": "2.0"}, "id": {"type": ["integer", "string"]}, "result": True}),
            obj(
                {
                    "jsonrpc": {"const": "2.0"},
                    "id": {"type": ["integer", "string", "null"]},
                    "error": obj({"code": INT, "message": STR, "data": True}, ["code", "message"]),
                }
            ),
        ]
    },
    "package": {
        "type": "object",
        "properties": {
            "name": {"type": "string", "pattern": "^(?:@[a-z0-9-]+/)?[a-z0-9-]+$", "maxLength": 50},
            "version": {"type": "string", "pattern": "^(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\\.(0|[1-9]\\d*)$"},
            "private": BOOL,
            "scripts": {"type": "object", "additionalProperties": STR},
            "dependencies": {
                "type": "object",
                "additionalProperties": {"type": "string", "pattern": "^[~^]?\\d+\\.\\d+\\.\\d+$"},
            },
            "keywords": arr(STR, maxItems=4),
        },
        "required": ["name", "version"],
    },
    "tree": {
        "$ref": "#/$defs/node",
        "$defs": {"node": obj({"value": INT, "left": maybe(ref("node")), "right": maybe(ref("node"))}, ["value"])},
    },
    "list": {"$defs": {"list": {"anyOf": [NULL, obj({"head": NUM, "tail": ref("list")})]}}, "$ref": "#/$defs/list"},
    "expression": {
        "$ref": "#/$defs/e",
        "$defs": {
            "e": {
                "anyOf": [
                    NUM,
                    {"type": "string", "pattern": "^[a-z]$"},
                    obj({"op": enum("+", "-", "*", "/"), "args": arr(ref("e"), minItems=2, maxItems=2)}),
                ]
            }
        },
    },
    "menu": {
        "$defs": {
            "item": obj(
                {"label": text(20, 1), "action": maybe(STR), "children": arr({"$ref": "#/$defs/item"}, maxItems=3)},
                ["label"],
            )
        },
        **arr({"$ref": "#/$defs/item"}, minItems=1, maxItems=3),
    },
    "geojson": obj(
        {
            "type": {"const": "Feature"},
            "geometry": {
                "anyOf": [
                    obj({"type": {"const": "Point"}, "coordinates": POINT}),
                    obj({"type": {"const": "LineString"}, "coordinates": arr(POINT, minItems=2, maxItems=4)}),
                    obj(
                        {
                            "type": {"const": "Polygon"},
                            "coordinates": arr(arr(POINT, minItems=4, maxItems=4), maxItems=1),
                        }
                    ),
                ]
            },
            "properties": {"type": ["object", "null"]},
        }
    ),
    "search": obj(
        {
            "query": text(100, 1),
            "filters": arr(
                obj(
                    {
                        "field": enum("author", "year", "title"),
                        "op": enum("eq", "lt", "gt", "in"),
                        "value": {"anyOf": [STR, NUM, arr(STR, maxItems=3)]},
                    }
                ),
                maxItems=3,
            ),
            "sort": arr(enum("date", "score", "title"), uniqueItems=True),
            "page": {"type": "integer", "minimum": 1},
            "size": {"type": "integer", "minimum": 10, "maximum": 100, "multipleOf": 10},
        },
        ["query"],
    ),
    "sql": obj(
        {
            "select": arr(STR, minItems=1, maxItems=5),
            "from": STR,
            "where": maybe(
                obj(
                    {
                        "column": STR,
                        "op": enum("=", "<", ">", "<=", ">=", "<>"),
                        "value": {"type": ["string", "number", "boolean", "null"]},
                    }
                )
            ),
            "limit": {"type": "integer", "minimum": 1, "maximum": 1000},
        },
        ["select", "from"],
    ),
    "email": obj(
        {
            "to": arr({"type": "string", "format": "email"}, minItems=1, maxItems=3),
            "cc": arr({"type": "string", "format": "email"}, maxItems=2),
            "subject": text(78),
            "body": STR,
            "priority": enum("low", "normal", "high"),
        },
        ["to", "subject", "body"],
    ),
    "color": {
        "oneOf": [
            {"type": "string", "pattern": "^#[0-9a-fA-F]{6}$"},
            obj({c: {"type": "integer", "minimum": 0, "maximum": 255} for c in "rgb"}),
            arr({"type": "number", "minimum": 0, "maximum": 1}, minItems=3, maxItems=4),
        ]
    },
    "host": obj(
        {
            "name": {"type": "string", "format": "hostname"},
            "v4": {"type": "string", "format": "ipv4"},
            "v6": {"type": "string", "format": "ipv6"},
            "port": {"type": "integer", "minimum": 1, "maximum": 65535},
            "url": {"type": "string", "format": "uri"},
        },
        ["name"],
    ),
    "times": obj(
        {
            "day": {"type": "string", "format": "date"},
            "at": {"type": "string", "format": "time"},
            "id": {"type": "string", "format": "uuid"},
        }
    ),
    "environment": {
        "type": "object",
        "patternProperties": {"^[A-Z_][A-Z0-9_]*$": {"type": ["string", "number", "boolean"]}},
        "additionalProperties": False,
    },
    "headers": {
        "type": "object",
        "patternProperties": {"^x-": STR, "-count$": {"type": "integer", "minimum": 0}},
        "additionalProperties": {"type": "string", "maxLength": 5},
        "propertyNames": {"maxLength": 12},
    },
    "inheritance": {
        "$defs": {"base": {"type": "object", "properties": {"id": INT, "name": STR}, "required": ["id"]}},
        "allOf": [
            ref("base"),
            {"properties": {"size": {"type": "number", "minimum": 0}, "name": {"maxLength": 4}}, "required": ["size"]},
        ],
    },
    "shape": {
        "oneOf": [
            obj({"kind": {"const": k}, **{f: {"type": "number", "exclusiveMinimum": 0} for f in fields}})
            for k, fields in [
                ("circle", ["radius"]),
                ("square", ["side"]),
                ("rectangle", ["width", "height"]),
                ("triangle", ["a", "b", "c"]),
            ]
        ]
    },
    "event": {
        "type": "object",
        "properties": {"name": {"enum": ["click", "scroll", "key"]}},
        "required": ["name"],
        "oneOf": [
            {"properties": {"name": {"const": "click"}, "x": INT, "y": INT}, "required": ["x", "y"]},
            {"properties": {"name": {"const": "scroll"}, "by": INT}, "required": ["by"]},
            {
                "properties": {"name": {"const": "key"}, "code": {"type": "string", "maxLength": 8}},
                "required": ["code"],
            },
        ],
    },
    "optional20": obj({f"field_{i}": [STR, INT, BOOL, NULL, NUM][i % 5] for i in range(20)}, []),
    "half20": obj(
        {f"field_{i}": [INT, BOOL, text(5)][i % 3] for i in range(20)}, [f"field_{i}" for i in range(0, 20, 2)]
    ),
    "fifty": obj(
        {
            f"group_{g}": obj(
                {
                    f"value_{v}": [text(8), INT, BOOL, {"type": "number", "minimum": 0, "maximum": 1}, enum("a", "b")][
                        v
                    ]
                    for v in range(5)
                },
                [f"value_{g % 5}"],
            )
            for g in range(10)
        }
    ),
    "deep": obj(
        {"a": obj({"b": obj({"c": obj({"d": obj({"e": arr(arr(arr(INT, maxItems=2), maxItems=2), maxItems=2)})})})})}
    ),
    "tuple": {
        "type": "array",
        "prefixItems": [STR, INT, enum(True, None)],
        "items": {"type": "number", "minimum": 5},
        "minItems": 2,
        "maxItems": 5,
    },
    "tuple7": {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "array",
        "items": [STR, INT],
        "additionalItems": False,
        "minItems": 1,
    },
    "unique": obj(
        {
            "days": arr(enum("mon", "tue", "wed", "thu", "fri", "sat", "sun"), uniqueItems=True, minItems=1),
            "flags": arr(BOOL, uniqueItems=True),
        }
    ),
    "counts": {
        "type": "object",
        "properties": {k: INT for k in "abcdef"},
        "additionalProperties": False,
        "minProperties": 2,
        "maxProperties": 4,
    },
    "depends": {
        "type": "object",
        "properties": {"card": STR, "expires": {"type": "string", "format": "date"}, "name": STR},
        "dependentRequired": {"card": ["expires"], "expires": ["card"]},
        "additionalProperties": False,
    },
    "conditional": {
        "type": "object",
        "properties": {"country": {"enum": ["US", "DE"]}, "zip": STR},
        "required": ["country", "zip"],
        "if": {"properties": {"country": {"const": "US"}}},
        "then": {"properties": {"zip": {"pattern": "^\\d{5}$"}}},
        "else": {"properties": {"zip": {"pattern": "^[A-Z]-\\d{5}$"}}},
    },
    "not": {
        "type": "object",
        "properties": {
            "name": {"type": "string", "maxLength": 8, "not": {"enum": ["root", "admin"]}},
            "n": {"type": "integer", "not": {"minimum": 10}},
        },
        "required": ["name", "n"],
    },
    "numbers": obj(
        {
            "a": {"type": "number", "minimum": -0.5, "maximum": 0.5},
            "b": {"type": "integer", "exclusiveMinimum": -1000, "exclusiveMaximum": 1000},
            "c": {"type": "number", "exclusiveMinimum": 3.14159},
            "d": {"type": "integer", "multipleOf": 7},
            "e": {"type": "number", "maximum": -273.15},
            "f": {"type": "integer", "multipleOf": 12, "minimum": 0},
            "g": {"multipleOf": 25, "minimum": -100, "maximum": 100, "type": "number"},
        }
    ),
    "strings": obj(
        {
            "slug": {"type": "string", "pattern": "^[a-z0-9]+(?:-[a-z0-9]+)*$", "minLength": 3, "maxLength": 20},
            "phone": {"type": "string", "pattern": "^\\+[1-9]\\d{1,14}$"},
            "hex": {"type": "string", "pattern": "^(0x)?[0-9a-f]+$", "maxLength": 10},
            "word": {"type": "string", "pattern": "\\w", "maxLength": 6},
            "path": {"type": "string", "pattern": "^(/[^/\\0]+)+$"},
            "quote": {"type": "string", "pattern": '^"[^"]*"$'},
            "money": {"type": "string", "pattern": "^\\$\\d+(\\.\\d{2})?$"},
        }
    ),
    "keys": obj(
        {
            "with space": INT,
            'quote"d': INT,
            "back\\slash": INT,
            "é": INT,
            "日本": INT,
            "tab\t": INT,
            "": INT,
            "😀": INT,
        },
        ["é", "😀"],
    ),
    "closed_any": {
        "type": "object",
        "properties": {"data": True, "meta": {}},
        "required": ["data"],
        "additionalProperties": False,
    },
    "open": {"type": "object", "properties": {"id": INT, "ids": STR, "i": BOOL}, "required": ["id"]},
    "open_typed": {
        "type": "object",
        "properties": {"type": {"const": "x"}, "typed": BOOL},
        "required": ["type"],
        "additionalProperties": arr(INT, maxItems=2),
    },
    "nullable": obj(
        {k: {"type": [t, "null"]} for k, t in [("a", "string"), ("b", "integer"), ("c", "object"), ("d", "array")]},
        ["a", "b"],
    ),
    "anchors": {
        "type": "object",
        "properties": {"a": {"$ref": "#money"}, "b": {"$ref": "#money"}},
        "required": ["a"],
        "$defs": {"m": {"$anchor": "money", **MONEY}},
    },
    "draft7_definitions": {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {"a": {"$ref": "#/definitions/a%20b"}},
        "required": ["a"],
        "definitions": {"a b": {"type": "string", "maxLength": 3}},
    },
    "enum_mixed": enum("a", 1, 2.5, True, None, [1, {"x": []}], {"k": "v", "n": [None]}, 'é\n"', -0.001, 1e3),
    "contains": arr(
        {"type": "integer", "minimum": 0, "maximum": 9}, contains={"minimum": 8}, minContains=1, maxContains=2
    ),
    "matrix": arr(arr({"type": "number", "minimum": -1, "maximum": 1}, minItems=3, maxItems=3), minItems=3, maxItems=3),
    "state_machine": obj(
        {
            "initial": {"type": "string", "pattern": "^[a-z_]+$"},
            "states": {
                "type": "object",
                "additionalProperties": obj({"on": {"type": "object", "additionalProperties": STR}, "final": BOOL}, []),
            },
        }
    ),
    "tools": arr(
        {
            "anyOf": [
                obj({"name": {"const": "get_weather"}, "arguments": obj({"city": STR})}),
                obj(
                    {
                        "name": {"const": "send_mail"},
                        "arguments": obj({"to": {"type": "string", "format": "email"}, "body": STR}, ["to"]),
                    }
                ),
                obj({"name": {"const": "add"}, "arguments": obj({"a": NUM, "b": NUM})}),
            ]
        },
        minItems=1,
        maxItems=3,
    ),
    "resume": obj(
        {
            "name": text(30, 1),
            "links": arr({"type": "string", "format": "uri"}, maxItems=2),
            "jobs": arr(
                obj(
                    {
                        "company": STR,
                        "from": {"type": "string", "pattern": "^(19|20)\\d{2}-(0[1-9]|1[0-2])$"},
                        "to": maybe({"type": "string", "pattern": "^(19|20)\\d{2}-(0[1-9]|1[0-2])$"}),
                        "skills": arr(text(10), maxItems=3),
                    },
                    ["company", "from"],
                ),
                maxItems=2,
            ),
            "level": {"type": "integer", "enum": [1, 2, 3, 4, 5]},
        },
        ["name", "jobs"],
    ),
}
