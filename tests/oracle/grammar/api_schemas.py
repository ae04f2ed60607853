"""Schemas in the words of the tools that write them: model libraries of Python and TypeScript, function and tool calls,
manifests, interface descriptions.

SPDX-License-Identifier: MIT
"""

STR, INT, NUM, BOOL, NULL = ({"type": t} for t in ("string", "integer", "number", "boolean", "null"))
DRAFT7 = "http://json-schema.org/draft-07/schema#"
DRAFT2020 = "https://json-schema.org/draft/2020-12/schema"


def titled(title, schema, **more):
    return {**schema, **more, "title": title}


def nullable(title, schema):
    """As Pydantic writes `X | None = None`."""
    return {"anyOf": [schema, NULL], "default": None, "title": title}


def closed(properties, optional=()):
    """As zod-to-json-schema writes z.object()."""
    return {
        "type": "object",
        "properties": properties,
        "required": [n for n in properties if n not in optional],
        "additionalProperties": False,
    }


PYDANTIC = {
    "$defs": {
        "Address": {
            "properties": {
                "street": titled("Street", STR, description="Street and number", maxLength=80, minLength=1),
                "zip": titled("Zip", STR, pattern="^\\d{5}$", examples=["12345"]),
                "geo": nullable(
                    "Geo", {"maxItems": 2, "minItems": 2, "prefixItems": [NUM, NUM], "type": "array"}
                ),
            },
            "required": ["street", "zip"],
            "title": "Address",
            "type": "object",
        },
        "Cat": {
            "properties": {
                "kind": {"const": "cat", "title": "Kind", "type": "string"},
                "lives": {"default": 9, "maximum": 9, "minimum": 0, "title": "Lives", "type": "integer"},
            },
            "required": ["kind"],
            "title": "Cat",
            "type": "object",
        },
        "Dog": {
            "properties": {
                "kind": {"const": "dog", "title": "Kind", "type": "string"},
                "good": {"default": True, "title": "Good", "type": "boolean"},
            },
            "required": ["kind"],
            "title": "Dog",
            "type": "object",
        },
        "Color": {"enum": ["red", "green"], "title": "Color", "type": "string"},
        "Level": {"enum": [1, 3], "title": "Level", "type": "integer"},
        "Node": {
            "properties": {
                "name": titled("Name", STR),
                "children": {"default": [], "items": {"$ref": "#/$defs/Node"}, "title": "Children", "type": "array"},
                "parent": {"anyOf": [{"$ref": "#/$defs/Node"}, NULL], "default": None},
            },
            "required": ["name"],
            "title": "Node",
            "type": "object",
        },
    },
    "additionalProperties": False,
    "properties": {
        "id": titled("Id", STR, format="uuid"),
        "created": titled("Created", STR, format="date-time"),
        "day": titled("Day", STR, format="date"),
        "at": nullable("At", {"format": "time", "type": "string"}),
        "took": nullable("Took", {"format": "duration", "type": "string"}),
        "price": {
            "anyOf": [
                {"minimum": 0.0, "type": "number"},
                {"pattern": "^[+-]?\\d+(?:\\.\\d{1,2})?$", "type": "string"},
            ],
            "title": "Price",
        },
        "color": {"$ref": "#/$defs/Color", "default": "red"},
        "level": {"$ref": "#/$defs/Level"},
        "pet": {
            "discriminator": {"mapping": {"cat": "#/$defs/Cat", "dog": "#/$defs/Dog"}, "propertyName": "kind"},
            "oneOf": [{"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Dog"}],
            "title": "Pet",
        },
        "pets": {
            "items": {"anyOf": [{"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Dog"}]},
            "maxItems": 3,
            "minItems": 1,
            "title": "Pets",
            "type": "array",
        },
        "tags": {
            "default": [],
            "items": {"enum": ["a", "b", "c"], "type": "string"},
            "title": "Tags",
            "type": "array",
            "uniqueItems": True,
        },
        "counts": {"additionalProperties": INT, "default": {}, "title": "Counts", "type": "object"},
        "rates": {"default": {}, "patternProperties": {"^[a-z]+$": NUM}, "title": "Rates", "type": "object"},
        "address": {"$ref": "#/$defs/Address"},
        "url": nullable("Url", {"format": "uri", "maxLength": 2083, "minLength": 1, "type": "string"}),
        "email": nullable("Email", {"format": "email", "type": "string"}),
        "host": nullable("Host", {"anyOf": [{"type": "string", "format": f} for f in ("ipv4", "ipv6")]}),
        "count": {"exclusiveMinimum": 0, "title": "Count", "type": "integer"},
        "share": {"default": 0.5, "exclusiveMaximum": 1, "exclusiveMinimum": 0, "title": "Share", "type": "number"},
        "step": {"default": 5, "maximum": 100, "minimum": 0, "multipleOf": 5, "title": "Step", "type": "integer"},
        "one_of": {"default": 1, "enum": [1, "x", None], "title": "One Of"},
        "raw": {"default": "", "format": "binary", "title": "Raw", "type": "string"},
        "secret": {"format": "password", "title": "Secret", "type": "string", "writeOnly": True},
        "file": nullable("File", {"format": "path", "type": "string"}),
        "triple": {
            "default": [1, "", True],
            "maxItems": 3,
            "minItems": 3,
            "prefixItems": [INT, STR, BOOL],
            "title": "Triple",
            "type": "array",
        },
        "anything": {"default": None, "title": "Anything"},
        "tree": {"$ref": "#/$defs/Node"},
    },
    "required": ["id", "created", "day", "price", "level", "pet", "pets", "address", "count", "secret", "tree"],
    "title": "Order",
    "type": "object",
}

ZOD = {
    "$schema": DRAFT7,
    "$ref": "#/definitions/Order",
    "definitions": {
        "Order": closed(
            {
                "id": {"type": "string", "format": "uuid"},
                "customer": {"type": "string", "format": "email"},
                "site": {"type": "string", "format": "uri"},
                "placed": {"type": "string", "format": "date-time"},
                "status": {"type": "string", "enum": ["open", "paid", "sent"]},
                "note": {"type": ["string", "null"], "maxLength": 40},
                "lines": {
                    "type": "array",
                    "items": closed(
                        {
                            "sku": {"type": "string", "pattern": "^[A-Z]{3}-\\d{4}$"},
                            "n": {"type": "integer", "exclusiveMinimum": 0, "maximum": 99},
                            "price": {"type": "number", "minimum": 0},
                            "same": {"$ref": "#/definitions/Order/properties/lines/items/properties/sku"},
                        },
                        ["same"],
                    ),
                    "minItems": 1,
                    "maxItems": 4,
                },
                "pair": {
                    "type": "array",
                    "minItems": 2,
                    "maxItems": 2,
                    "items": [{"type": "string"}, {"type": "number"}],
                },
                "rest": {
                    "type": "array",
                    "minItems": 1,
                    "items": [{"type": "string"}],
                    "additionalItems": {"type": "boolean"},
                },
                "by_name": {"type": "object", "additionalProperties": {"type": "number"}},
                "by_key": {
                    "type": "object",
                    "additionalProperties": {"type": "string"},
                    "propertyNames": {"enum": ["left", "right"]},
                },
                "way": {
                    "anyOf": [
                        closed({"by": {"type": "string", "const": "post"}, "box": {"type": "integer"}}),
                        closed({"by": {"type": "string", "const": "air"}, "gate": {"type": "string"}}),
                    ]
                },
                "both": {
                    "allOf": [
                        {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
                        {"type": "object", "properties": {"b": {"type": "number"}}, "required": ["b"]},
                    ]
                },
                "days": {"type": "array", "items": {"type": "string", "enum": ["mo", "tu", "we"]}, "uniqueItems": True},
                "never": {"not": {}},
                "any": {},
                "default_on": {"type": "boolean", "default": True},
            },
            ["note", "by_key", "rest", "never", "any", "default_on"],
        )
    },
}

ZOD4 = {
    "$schema": DRAFT2020,
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 20},
        "age": {"type": "integer", "minimum": -9007199254740991, "maximum": 9007199254740991},
        "kind": {"anyOf": [{"type": "string", "const": "a"}, {"type": "number", "const": 2}, {"type": "null"}]},
        "when": {"type": "string", "format": "date-time", "pattern": "^\\d{4}-\\d{2}-\\d{2}T[\\d:]+Z$"},
        "bits": {"type": "string", "format": "base64", "contentEncoding": "base64"},
        "pair": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "number"}]},
        "map": {
            "type": "object",
            "propertyNames": {"type": "string", "pattern": "^[a-z]{1,5}$"},
            "additionalProperties": {"type": "boolean"},
        },
        "self": {"$ref": "#"},
    },
    "required": ["name", "age", "kind", "pair"],
    "additionalProperties": False,
}

FUNCTION = {  # the parameters of a function, in strict mode
    "type": "object",
    "properties": {
        "query": {"type": "string", "description": "What to look for"},
        "filters": {
            "type": ["array", "null"],
            "description": "All must hold",
            "items": {
                "type": "object",
                "properties": {
                    "column": {"type": "string", "enum": ["title", "year", "author"]},
                    "operator": {"type": "string", "enum": ["=", ">", "<", "contains"]},
                    "value": {
                        "anyOf": [
                            {"type": "string"},
                            {"type": "number"},
                            {
                                "type": "object",
                                "properties": {"column_name": {"type": "string"}},
                                "required": ["column_name"],
                                "additionalProperties": False,
                            },
                        ]
                    },
                },
                "required": ["column", "operator", "value"],
                "additionalProperties": False,
            },
        },
        "order": {"type": "string", "enum": ["asc", "desc"]},
        "limit": {"type": ["integer", "null"]},
    },
    "required": ["query", "filters", "order", "limit"],
    "additionalProperties": False,
}

LINKED = {  # recursion in strict mode
    "type": "object",
    "properties": {"list": {"$ref": "#/$defs/node"}},
    "$defs": {
        "node": {
            "type": "object",
            "properties": {"value": NUM, "next": {"anyOf": [{"$ref": "#/$defs/node"}, NULL]}},
            "required": ["value", "next"],
            "additionalProperties": False,
        }
    },
    "required": ["list"],
    "additionalProperties": False,
}

MCP = {
    "$schema": DRAFT7,
    "type": "object",
    "properties": {
        "path": {"type": "string", "description": "File to change"},
        "edits": {
            "type": "array",
            "items": closed(
                {"oldText": {"type": "string", "description": "Text as it is"}, "newText": {"type": "string"}}
            ),
        },
        "dryRun": {"type": "boolean", "default": False},
        "head": {"type": "number", "description": "Only the first lines"},
        "encoding": {"type": "string", "enum": ["utf-8", "latin-1"], "default": "utf-8"},
        "env": {"type": "object", "additionalProperties": {"type": "string"}, "default": {}},
    },
    "required": ["path", "edits"],
    "additionalProperties": False,
}

MCP_RESULT = {
    "type": "object",
    "properties": {
        "_meta": {"type": "object", "additionalProperties": {}},
        "content": {
            "type": "array",
            "maxItems": 3,
            "items": {
                "anyOf": [
                    {
                        "type": "object",
                        "properties": {"type": {"const": "text"}, "text": STR},
                        "required": ["text", "type"],
                    },
                    {
                        "type": "object",
                        "properties": {
                            "type": {"const": "image"},
                            "data": {"type": "string", "format": "byte"},
                            "mimeType": STR,
                        },
                        "required": ["data", "mimeType", "type"],
                    },
                    {
                        "type": "object",
                        "properties": {
                            "type": {"const": "resource"},
                            "resource": {
                                "type": "object",
                                "properties": {"uri": {"type": "string", "format": "uri"}, "text": STR},
                                "required": ["uri"],
                            },
                        },
                        "required": ["resource", "type"],
                    },
                ]
            },
        },
        "isError": BOOL,
    },
    "required": ["content"],
}


def _position():
    return {"type": "array", "minItems": 2, "maxItems": 3, "items": NUM}


def _geometry(kind, coordinates):
    return {
        "type": "object",
        "required": ["type", "coordinates"],
        "properties": {
            "type": {"type": "string", "enum": [kind]},
            "coordinates": coordinates,
            "bbox": {"type": "array", "minItems": 4, "items": NUM},
        },
    }


def _list(items, least=0):
    return {"type": "array", "items": items, "minItems": least, "maxItems": least + 1}


GEOJSON = {
    "$schema": DRAFT7,
    "$id": "https://example.com/features.json",
    "type": "object",
    "required": ["type", "features"],
    "properties": {
        "type": {"const": "FeatureCollection"},
        "features": {
            "type": "array",
            "maxItems": 2,
            "items": {
                "type": "object",
                "required": ["type", "properties", "geometry"],
                "properties": {
                    "type": {"const": "Feature"},
                    "id": {"oneOf": [{"type": "number"}, {"type": "string"}]},
                    "properties": {"oneOf": [{"type": "null"}, {"type": "object"}]},
                    "geometry": {
                        "oneOf": [
                            {"type": "null"},
                            _geometry("Point", _position()),
                            _geometry("LineString", _list(_position(), 2)),
                            _geometry("Polygon", _list(_list(_position(), 4))),
                            _geometry("MultiPolygon", _list(_list(_list(_position(), 4)))),
                            {
                                "type": "object",
                                "required": ["type", "geometries"],
                                "properties": {
                                    "type": {"enum": ["GeometryCollection"]},
                                    "geometries": _list({"$ref": "#/properties/features/items/properties/geometry"}),
                                },
                            },
                        ]
                    },
                },
            },
        },
    },
}

PACKAGE = {
    "$schema": DRAFT7,
    "definitions": {
        "person": {
            "type": ["object", "string"],
            "required": ["name"],
            "properties": {
                "name": STR,
                "url": {"type": "string", "format": "uri"},
                "email": {"type": "string", "format": "email"},
            },
        },
        "dependency": {"type": "object", "additionalProperties": {"type": "string"}},
        "scripts": {
            "type": "object",
            "properties": {"test": STR, "build": STR, "start": {"type": "string", "default": "node server.js"}},
            "additionalProperties": {"type": "string"},
        },
        "exports": {
            "anyOf": [
                {"type": ["string", "null"], "maxLength": 12},
                {
                    "type": "object",
                    "properties": {n: {"$ref": "#/definitions/exports"} for n in ("import", "require")},
                    "patternProperties": {"^\\./": {"$ref": "#/definitions/exports"}},
                    "additionalProperties": False,
                },
            ]
        },
    },
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 214, "minLength": 1, "pattern": "^(?:@[a-z0-9-~]+/)?[a-z0-9-~]+$"},
        "version": {"type": "string", "pattern": "^\\d+\\.\\d+\\.\\d+(?:-[0-9A-Za-z.-]+)?$"},
        "keywords": {"type": "array", "items": {"type": "string"}},
        "license": {"anyOf": [{"type": "string"}, {"enum": ["MIT", "Apache-2.0"]}]},
        "author": {"$ref": "#/definitions/person"},
        "contributors": {"type": "array", "items": {"$ref": "#/definitions/person"}, "maxItems": 2},
        "bin": {"type": ["string", "object"], "additionalProperties": {"type": "string"}},
        "scripts": {"$ref": "#/definitions/scripts"},
        "dependencies": {"$ref": "#/definitions/dependency"},
        "devDependencies": {"$ref": "#/definitions/dependency"},
        "engines": {"type": "object", "properties": {"node": STR}, "additionalProperties": {"type": "string"}},
        "exports": {"$ref": "#/definitions/exports"},
        "private": {"anyOf": [{"type": "boolean"}, {"enum": ["false", "true"]}]},
        "type": {"type": "string", "default": "commonjs", "enum": ["commonjs", "module"]},
    },
    "required": ["name", "version"],
    "additionalProperties": False,
}

QUANTITY = {
    "anyOf": [{"type": "integer"}, {"type": "string"}],
    "pattern": "^[+-]?[0-9]+(\\.[0-9]+)?([KMGTPE]i?|m)?$",
    "x-kubernetes-int-or-string": True,
}
LABELS = {
    "type": "object",
    "maxProperties": 3,
    "additionalProperties": {"type": "string", "maxLength": 63, "pattern": "^(\\w([-\\w.]*\\w)?)?$"},
}

DEPLOYMENT = {
    "type": "object",
    "required": ["apiVersion", "kind", "metadata", "spec"],
    "properties": {
        "apiVersion": {"type": "string", "enum": ["apps/v1"]},
        "kind": {"const": "Deployment"},
        "metadata": {
            "type": "object",
            "required": ["name"],
            "properties": {
                "name": {"type": "string", "maxLength": 63, "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"},
                "namespace": {"type": ["string", "null"]},
                "labels": LABELS,
            },
            "additionalProperties": False,
        },
        "spec": {
            "type": "object",
            "required": ["selector", "template"],
            "properties": {
                "replicas": {"type": ["integer", "null"], "format": "int32", "minimum": 0},
                "selector": {"type": "object", "properties": {"matchLabels": LABELS}, "additionalProperties": False},
                "strategy": {
                    "type": "object",
                    "properties": {
                        "type": {"enum": ["Recreate", "RollingUpdate"]},
                        "rollingUpdate": {
                            "type": "object",
                            "properties": {"maxSurge": {"oneOf": [{"type": "string"}, {"type": "integer"}]}},
                        },
                    },
                    "additionalProperties": False,
                },
                "template": {
                    "type": "object",
                    "required": ["containers"],
                    "properties": {
                        "containers": {
                            "type": "array",
                            "minItems": 1,
                            "maxItems": 2,
                            "items": {
                                "type": "object",
                                "required": ["name", "image"],
                                "properties": {
                                    "name": {"type": "string", "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"},
                                    "image": {"type": "string", "minLength": 1},
                                    "ports": {
                                        "type": "array",
                                        "maxItems": 2,
                                        "items": {
                                            "type": "object",
                                            "required": ["containerPort"],
                                            "properties": {
                                                "containerPort": {
                                                    "type": "integer",
                                                    "format": "int32",
                                                    "minimum": 1,
                                                    "maximum": 65535,
                                                },
                                                "protocol": {"enum": ["TCP", "UDP"], "default": "TCP"},
                                            },
                                            "additionalProperties": False,
                                        },
                                    },
                                    "resources": {
                                        "type": "object",
                                        "properties": {
                                            n: {"type": "object", "additionalProperties": QUANTITY, "maxProperties": 2}
                                            for n in ("limits", "requests")
                                        },
                                        "additionalProperties": False,
                                    },
                                    "env": {
                                        "type": "array",
                                        "maxItems": 2,
                                        "items": {
                                            "type": "object",
                                            "required": ["name"],
                                            "properties": {
                                                "name": {"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$"},
                                                "value": STR,
                                            },
                                            "additionalProperties": False,
                                        },
                                    },
                                },
                                "additionalProperties": False,
                            },
                        }
                    },
                    "additionalProperties": False,
                },
            },
            "additionalProperties": False,
        },
    },
    "additionalProperties": False,
}

OPENAPI = {
    "$ref": "#/components/schemas/Pet",
    "components": {
        "schemas": {
            "Pet": {
                "type": "object",
                "required": ["petType", "id"],
                "properties": {
                    "id": {"type": "integer", "format": "int64", "example": 7, "readOnly": True},
                    "petType": {"type": "string"},
                    "price": {"type": "number", "format": "double", "exclusiveMinimum": 0},
                    "photo": {"type": "string", "format": "binary"},
                    "status": {"type": "string", "enum": ["available", "sold"], "deprecated": True},
                    "owner": {"$ref": "#/components/schemas/Owner"},
                },
                "discriminator": {"propertyName": "petType"},
                "oneOf": [{"$ref": "#/components/schemas/Cat"}, {"$ref": "#/components/schemas/Dog"}],
            },
            "Cat": {
                "type": "object",
                "properties": {"petType": {"const": "Cat"}, "hunts": {"type": "boolean"}},
                "required": ["petType"],
            },
            "Dog": {
                "type": "object",
                "properties": {
                    "petType": {"const": "Dog"},
                    "size": {"type": "integer", "format": "int32", "minimum": 0, "default": 0},
                },
                "required": ["petType", "size"],
            },
            "Owner": {
                "allOf": [
                    {"$ref": "#/components/schemas/Named"},
                    {"type": "object", "properties": {"since": {"type": "string", "format": "date"}}},
                ],
                "externalDocs": {"url": "https://example.com"},
            },
            "Named": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}},
        }
    },
}

ID = {"type": ["string", "integer", "null"]}
JSON_RPC = {
    "$schema": DRAFT2020,
    "oneOf": [{"$ref": "#/$defs/request"}, {"$ref": "#/$defs/result"}, {"$ref": "#/$defs/failure"}],
    "$defs": {
        "request": closed(
            {
                "jsonrpc": {"const": "2.0"},
                "id": {"$ref": "#/$defs/id"},
                "method": {"type": "string", "not": {"pattern": "^rpc\\."}},
                "params": {"type": ["array", "object"]},
            },
            ["params", "id"],
        ),
        "result": closed({"jsonrpc": {"const": "2.0"}, "id": {"$ref": "#/$defs/id"}, "result": True}),
        "failure": closed(
            {"jsonrpc": {"const": "2.0"}, "id": {"$ref": "#/$defs/id"}, "error": {"$ref": "#/$defs/error"}}
        ),
        "error": {
            "type": "object",
            "properties": {
                "code": {"type": "integer", "minimum": -32768, "maximum": -32000},
                "message": STR,
                "data": {},
            },
            "required": ["code", "message"],
            "additionalProperties": False,
        },
        "id": ID,
    },
}

WORKFLOW = {
    "$schema": DRAFT7,
    "type": "object",
    "required": ["on", "jobs"],
    "properties": {
        "name": STR,
        "on": {
            "oneOf": [
                {"type": "string", "enum": ["push", "pull_request"]},
                {"type": "array", "items": {"enum": ["push", "pull_request"]}, "minItems": 1, "uniqueItems": True},
            ]
        },
        "jobs": {
            "type": "object",
            "minProperties": 1,
            "maxProperties": 2,
            "patternProperties": {
                "^[_a-zA-Z][a-zA-Z0-9_-]*$": {
                    "type": "object",
                    "required": ["runs-on", "steps"],
                    "properties": {
                        "runs-on": {"type": "string"},
                        "timeout-minutes": {"type": "number", "default": 360, "exclusiveMinimum": 0},
                        "steps": {
                            "type": "array",
                            "minItems": 1,
                            "maxItems": 2,
                            "items": {
                                "type": "object",
                                "oneOf": [{"required": ["uses"]}, {"required": ["run"]}],
                                "properties": {
                                    "name": STR,
                                    "uses": {"type": "string", "pattern": "^[^@]+@[^@]+$"},
                                    "run": STR,
                                    "with": {"type": "object", "additionalProperties": {"type": ["string", "number"]}},
                                },
                                "additionalProperties": False,
                                "dependencies": {"with": ["uses"]},
                            },
                        },
                    },
                    "additionalProperties": False,
                }
            },
            "additionalProperties": False,
        },
    },
    "additionalProperties": False,
}

SCHEMAS = {
    "pydantic": PYDANTIC,
    "zod": ZOD,
    "zod4": ZOD4,
    "function": FUNCTION,
    "linked": LINKED,
    "mcp": MCP,
    "mcp_result": MCP_RESULT,
    "geojson_full": GEOJSON,
    "package_full": PACKAGE,
    "deployment": DEPLOYMENT,
    "openapi": OPENAPI,
    "json_rpc": JSON_RPC,
    "workflow": WORKFLOW,
}
STRICT = ["function", "linked"]  # hold to strict mode too
