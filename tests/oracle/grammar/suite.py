"""The public JSON schema test suite, and instances written as a grammar writes them: members in the schema's order.

SPDX-License-Identifier: MIT
"""

import json
import os
import pathlib
import subprocess
import urllib.parse

SHARED = pathlib.Path(os.environ.get("QUERN_SHARED", pathlib.Path(__file__).resolve().parents[3].parent / "shared"))
SUITE = SHARED / "data/jsonschema"
TOOL = pathlib.Path(os.environ.get("QUERN_ORACLE_BIN", "")) / "schema_tool"
DRAFT7 = "http://json-schema.org/draft-07/schema#"

# Keywords that are enforced in every combination; the others where they can be. definitions, additionalItems and
# items as a list are draft 7's names of $defs, items and prefixItems.
LISTED = set(
    """
    type enum const properties required additionalProperties patternProperties minProperties maxProperties
    items prefixItems additionalItems minItems maxItems uniqueItems minLength maxLength pattern format
    minimum maximum exclusiveMinimum exclusiveMaximum multipleOf allOf anyOf oneOf
    $ref $defs definitions $anchor $id $schema
    $comment title description default examples deprecated readOnly writeOnly
    contentEncoding contentMediaType contentSchema
    """.split()
)
KNOWN = LISTED | set(
    """
    not if then else contains minContains maxContains propertyNames dependencies dependentRequired dependentSchemas
    unevaluatedItems unevaluatedProperties $dynamicRef $dynamicAnchor $recursiveRef $recursiveAnchor $vocabulary
    """.split()
)


MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies")


class Tool:
    def __init__(self):
        self.process = subprocess.Popen([TOOL], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, kind, source, texts=(), **more):
        self.process.stdin.write(json.dumps({"kind": kind, "source": source, "texts": list(texts), **more}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, f"schema_tool died on {kind} {source!r}"
        return json.loads(line)

    def close(self):
        self.process.stdin.close()
        assert self.process.wait() == 0


def is_empty(answer):
    """Whether a schema is refused because it allows no value: that is the right answer then."""
    says_so = "matches nothing" in answer["what"] or "no value satisfies" in answer["what"]
    return answer["status"] == "QN_EFORMAT" and says_so


def groups(draft, folder=""):
    """(file, description, schema with its dialect, tests) of the draft's files."""
    for path in sorted((SUITE / draft / folder).glob("*.json")):
        for group in json.loads(path.read_text()):
            schema = group["schema"]
            if draft == "draft7" and isinstance(schema, dict):
                schema = {"$schema": DRAFT7, **schema}
            yield path.stem, group["description"], schema, group["tests"]


def keywords(schema):
    """All keywords of a schema and those below it; names that are none are not looked into."""
    used = set()
    if isinstance(schema, dict):
        for key, value in schema.items():
            if key not in KNOWN:
                continue
            used.add(key)
            if key in MAPS and isinstance(value, dict):
                for sub in value.values():
                    used |= keywords(sub)
            elif key not in ("enum", "const", "default", "examples"):
                used |= keywords(value)
    elif isinstance(schema, list):
        for sub in schema:
            used |= keywords(sub)
    return used


def _walk(node, base=""):
    """(schema, its base URI) of everything in a document."""
    if isinstance(node, dict):
        if isinstance(node.get("$id"), str):
            base = urllib.parse.urljoin(base, node["$id"])
        yield node, base
        for value in node.values():
            yield from _walk(value, base)
    elif isinstance(node, list):
        for value in node:
            yield from _walk(value, base)


def _resolve(root, schema):
    base = next((b for n, b in _walk(root) if n is schema), "")
    uri, _, fragment = urllib.parse.urljoin(base, schema["$ref"]).partition("#")
    fragment = urllib.parse.unquote(fragment)
    homes = [n for n, b in _walk(root) if b.partition("#")[0] == uri and (n is root or "$id" in n)]
    for home in homes:
        if fragment and not fragment.startswith("/"):
            return next(
                (n for n, b in _walk(home) if n.get("$anchor") == fragment or n.get("$id") == "#" + fragment), None
            )
        try:
            for step in fragment.split("/")[1:]:
                step = step.replace("~1", "/").replace("~0", "~")
                home = home[int(step)] if isinstance(home, list) else home[step]
            return home
        except (KeyError, IndexError, ValueError):
            continue
    return None


def _parts(root, schema, seen):
    """A schema and all that holds beside it, in the order in which properties are taken from them."""
    if not isinstance(schema, dict) or id(schema) in seen:
        return
    seen = seen | {id(schema)}
    yield schema
    if isinstance(schema.get("$ref"), str):
        yield from _parts(root, _resolve(root, schema), seen)
    for key in ("allOf", "anyOf", "oneOf"):
        for sub in schema.get(key, []) if isinstance(schema.get(key), list) else []:
            yield from _parts(root, sub, seen)
    for key in ("not", "if", "then", "else"):
        yield from _parts(root, schema.get(key), seen)
    for key in ("dependencies", "dependentSchemas"):
        for sub in schema.get(key, {}).values() if isinstance(schema.get(key), dict) else []:
            yield from _parts(root, sub, seen)


def in_order(root, schemas, value):
    """The value with its members as a grammar of the schemas writes them."""
    parts = [p for s in schemas for p in _parts(root, s, frozenset())]
    if isinstance(value, list):

        def item(i):
            for p in parts:
                first = p["items"] if isinstance(p.get("items"), list) else p.get("prefixItems", [])
                rest = p.get("additionalItems") if isinstance(p.get("items"), list) else p.get("items")
                yield first[i] if i < len(first) else rest
                yield p.get("contains")

        return [in_order(root, list(item(i)), v) for i, v in enumerate(value)]
    if not isinstance(value, dict):
        return value
    names = [n for p in parts if isinstance(p.get("properties"), dict) for n in p["properties"]]
    for p in parts:
        names += p["required"] if isinstance(p.get("required"), list) else []
        for d in ("dependencies", "dependentRequired", "dependentSchemas"):
            for n, more in p[d].items() if isinstance(p.get(d), dict) else []:
                names += [n] + (more if isinstance(more, list) else [])
    for p in parts:
        for q in _parts(root, p.get("propertyNames"), frozenset()):
            names += [n for n in [q.get("const"), *(q.get("enum") or [])] if isinstance(n, str)]
    listed = [
        c
        for p in parts
        for c in [p.get("const")] + (p["enum"] if isinstance(p.get("enum"), list) else [])
        if isinstance(c, dict)
    ]
    names = [n for c in listed if c.keys() == value.keys() for n in c] + names
    ordered = list(dict.fromkeys(n for n in names if n in value)) + [n for n in value if n not in names]

    def member(name):
        for p in parts:
            if isinstance(p.get("properties"), dict) and name in p["properties"]:
                yield p["properties"][name]
            else:
                yield p.get("additionalProperties")
            yield from p["patternProperties"].values() if isinstance(p.get("patternProperties"), dict) else []

    return {n: in_order(root, list(member(n)), value[n]) for n in ordered}


def spellings(value):
    """The compact texts of a value, raw and in ASCII."""
    return list(dict.fromkeys(json.dumps(value, separators=(",", ":"), ensure_ascii=a) for a in (False, True)))
