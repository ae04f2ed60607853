"""Small schemas of one to four keywords, and values near their borders, all at random from a seed.

SPDX-License-Identifier: MIT
"""

import decimal
import itertools
import json
import random

NAMES = ["a", "b", "ab", "x1", "é", ""]
WORDS = ["", "a", "b", "ab", "abc", "aab", "x1", "é", "😀", "a\n", '"', "A", "10", "2024-02-29", "1.2.3.4", "null"]
PATTERNS = ["a", "^a", "b$", "^a*$", "^[a-c]{1,2}$", "^(a|bc)+$", "\\d", "^\\w?$", "^[^a]", "^$", "^x[0-9]$", "é|a"]
FORMATS = ["date", "ipv4", "uuid", "time", "date-time", "uri", "ipv6"]
NUMBERS = "0 1 2 3 5 7 10 12 -1 -3 -10 0.5 1.5 -0.5 2.25 -2.5 0.1 100 99 1.0 10.5 1000 -12 25".split()
TYPES = ["null", "boolean", "string", "integer", "number", "array", "object"]
REFS = ["#/$defs/p", "#/$defs/q/anyOf/0", "#/$defs/a~1b", "#r", "#"]


class Number(float):
    """A float that json writes as it was spelled."""

    def __new__(cls, text):
        self = super().__new__(cls, text)
        self.text = text
        return self

    def __repr__(self):
        return self.text


def number(rng):
    text = rng.choice(NUMBERS)
    return int(text) if text.lstrip("-").isdigit() else Number(text)


def count(rng):
    return rng.choice([0, 0, 1, 1, 2, 2, 3, 4])


def scalar(rng):
    return rng.choice([lambda: None, lambda: True, lambda: False, lambda: rng.choice(WORDS), lambda: number(rng)])()


def value(rng, depth=2):
    kind = rng.random()
    if depth == 0 or kind < 0.6:
        return scalar(rng)
    if kind < 0.8:
        return [value(rng, depth - 1) for _ in range(rng.choice([0, 1, 1, 2, 2, 3, 4]))]
    return {rng.choice(NAMES): value(rng, depth - 1) for _ in range(rng.choice([0, 1, 1, 2, 3, 4]))}


def names(rng, most=3):
    return rng.sample(NAMES, rng.randint(0, most))


def some(rng, depth, least=1, most=3):
    return [schema(rng, depth - 1) for _ in range(rng.randint(least, most))]


def properties(rng, depth):
    return {n: schema(rng, depth - 1) for n in rng.sample(NAMES, rng.randint(1, 3))}


KEYWORDS = {
    "type": lambda r, d: r.choice(TYPES) if r.random() < 0.7 else r.sample(TYPES, r.randint(1, 3)),
    "enum": lambda r, d: [value(r) for _ in range(r.randint(1, 4))],
    "const": lambda r, d: value(r),
    "properties": properties,
    "required": lambda r, d: names(r, 2),
    "additionalProperties": lambda r, d: False if r.random() < 0.4 else schema(r, d - 1),
    "patternProperties": lambda r, d: {r.choice(PATTERNS): schema(r, d - 1) for _ in range(r.randint(1, 2))},
    "minProperties": lambda r, d: count(r),
    "maxProperties": lambda r, d: count(r),
    "items": lambda r, d: schema(r, d - 1),
    "prefixItems": lambda r, d: some(r, d),
    "minItems": lambda r, d: count(r),
    "maxItems": lambda r, d: count(r),
    "uniqueItems": lambda r, d: r.random() < 0.8,
    "minLength": lambda r, d: count(r),
    "maxLength": lambda r, d: count(r),
    "pattern": lambda r, d: r.choice(PATTERNS),
    "format": lambda r, d: r.choice(FORMATS),
    "minimum": lambda r, d: number(r),
    "maximum": lambda r, d: number(r),
    "exclusiveMinimum": lambda r, d: number(r),
    "exclusiveMaximum": lambda r, d: number(r),
    "multipleOf": lambda r, d: r.choice([1, 2, 3, 5, 7, 10, 12]),
    "allOf": lambda r, d: some(r, d),
    "anyOf": lambda r, d: some(r, d),
    "oneOf": lambda r, d: some(r, d),
    "$ref": lambda r, d: r.choice(REFS),
    "not": lambda r, d: schema(r, d - 1),
    "if": lambda r, d: schema(r, d - 1),
    "then": lambda r, d: schema(r, d - 1),
    "else": lambda r, d: schema(r, d - 1),
    "contains": lambda r, d: schema(r, d - 1),
    "minContains": lambda r, d: count(r),
    "maxContains": lambda r, d: count(r),
    "propertyNames": lambda r, d: schema(r, d - 1),
    "dependentRequired": lambda r, d: {r.choice(NAMES): names(r, 2)},
    "dependentSchemas": lambda r, d: {r.choice(NAMES): schema(r, d - 1)},
}
GROUPS = [
    ["properties", "required", "additionalProperties", "patternProperties", "minProperties", "maxProperties"],
    ["items", "prefixItems", "minItems", "maxItems", "uniqueItems"],
    ["minLength", "maxLength", "pattern", "format"],
    ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
    ["allOf", "anyOf", "oneOf", "$ref", "enum", "const", "type"],
]
UNLISTED = [
    ["not", "if", "then", "else"],
    ["contains", "minContains", "maxContains", "items", "prefixItems"],
    ["propertyNames", "dependentRequired", "dependentSchemas", "properties"],
]
TYPE_GROUPS = [
    ("object", GROUPS[0] + UNLISTED[2]),
    ("array", GROUPS[1] + UNLISTED[1]),
    ("string", GROUPS[2]),
    ("number", GROUPS[3]),
    ("integer", GROUPS[3]),
]
SHALLOW = [k for g in GROUPS[2:4] for k in g]
SHALLOW += ["type", "enum", "const", "required", "minItems", "maxProperties", "$ref"]


def schema(rng, depth=2, unlisted=False):
    """Keywords of one group mostly, so that they meet; deeper down only plain ones."""
    if depth <= 0 and rng.random() < 0.15:
        return rng.random() < 0.7
    made = {}
    groups = GROUPS + (UNLISTED if unlisted else [])
    group = rng.choice(groups) if depth > 0 else SHALLOW
    for _ in range(rng.randint(1, 4)):
        other = rng.choice(groups) if depth > 0 else SHALLOW
        keyword = rng.choice(group if rng.random() < 0.75 else other)
        made[keyword] = KEYWORDS[keyword](rng, depth)
    return made


def consists_of_itself(root, node, above=()):
    """Whether a schema holds for a value only if it holds for that value, which the judge would ask for ever."""
    if not isinstance(node, dict):
        return False
    if any(node is a for a in above):
        return True
    below = [s for k in ("allOf", "anyOf", "oneOf") for s in node.get(k, [])]
    below += [node[k] for k in ("not", "if", "then", "else") if k in node]
    below += list(node.get("dependentSchemas", {}).values())
    if "$ref" in node:
        defs = root.get("$defs", {})
        targets = [defs["p"], defs["q"]["anyOf"][0], defs["a/b"], defs["r"], root]
        below.append(targets[REFS.index(node["$ref"])])
    return any(consists_of_itself(root, s, (*above, node)) for s in below)


def parts(node):
    """All schemas and other nodes of a document."""
    yield node
    for sub in node.values() if isinstance(node, dict) else node if isinstance(node, list) else []:
        yield from parts(sub)


def document(rng, unlisted=False, two=None):
    """A schema with its $defs, none of which consists of itself."""
    while True:
        made = drawn(rng, unlisted, two)
        if any(consists_of_itself(made, p) for p in parts(made)):
            continue
        if rng.random() < 0.25:
            return {"$schema": "http://json-schema.org/draft-07/schema#", **in_draft7(made)}
        return made


def pairs(rng):
    """Documents of each two keywords and a type that both speak of, over and over, in an order of their own."""
    while True:
        every = list(itertools.combinations_with_replacement(KEYWORDS, 2))
        rng.shuffle(every)
        for two in every:
            yield document(rng, two=two)


def of_two(rng, two):
    made = {k: KEYWORDS[k](rng, 2) for k in two}
    if two[0] == two[1]:  # one keyword in two schemas that both hold
        made = {**made, "allOf": [{two[0]: KEYWORDS[two[0]](rng, 1)}]}
    kinds = [t for t, group in TYPE_GROUPS if any(k in group for k in two)]
    if "type" not in made and rng.random() < 0.7:
        made["type"] = rng.choice(kinds or TYPES)
    return made


def drawn(rng, unlisted, two):
    made = of_two(rng, two) if two else schema(rng, rng.choice([1, 1, 2, 2, 3]), unlisted)
    if "#" in json.dumps(made):
        made["$defs"] = {
            "p": schema(rng, rng.choice([0, 1])),
            "q": {"anyOf": [schema(rng, 0)]},
            "a/b": schema(rng, 1),
            "r": {"$anchor": "r", "type": rng.choice(TYPES)},
        }
    return made


LATER = ("minContains", "maxContains", "dependentRequired", "dependentSchemas")


def in_draft7(node):
    """The schema in draft 7's words, without what draft 7 does not know."""
    if isinstance(node, list):
        return [in_draft7(n) for n in node]
    if not isinstance(node, dict):
        return node
    out = {}
    for key, sub in node.items():
        if key in ("enum", "const", "required"):
            out[key] = sub
        elif key in ("properties", "patternProperties", "$defs"):
            out[key.replace("$defs", "definitions")] = {k: in_draft7(v) for k, v in sub.items()}
        elif key == "prefixItems":
            out["items"] = in_draft7(sub)
        elif key == "items" and "prefixItems" in node:
            out["additionalItems"] = in_draft7(sub)
        elif key == "$ref":
            out[key] = sub.replace("$defs", "definitions")
        elif key == "$anchor":
            out["$id"] = "#" + sub
        elif key not in LATER:
            out[key] = in_draft7(sub)
    wanted, schemas = node.get("dependentRequired", {}), node.get("dependentSchemas", {})
    if wanted or schemas:
        out["dependencies"] = {**wanted, **{k: in_draft7(v) for k, v in schemas.items()}}
    return out


def literals(node):
    """Values that a schema speaks of, and their neighbours."""
    if isinstance(node, dict):
        for key, sub in node.items():
            if key == "const":
                yield sub
            elif key == "enum":
                yield from sub
            elif key in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"):
                yield sub
            elif key in ("minLength", "maxLength") and isinstance(sub, int):
                yield "a" * sub
            yield from literals(sub)
    elif isinstance(node, list):
        for sub in node:
            yield from literals(sub)


def step(rng, x):
    d = decimal.Decimal(repr(x)) + decimal.Decimal(rng.choice(["1", "-1", "0.1", "-0.1", "10", "0.01"]))
    text = format(d, "f")
    return int(d) if d == d.to_integral_value() and rng.random() < 0.8 else Number(text if "." in text else text + ".0")


def mutated(rng, x, pool):
    """The value with one thing changed."""
    if rng.random() < 0.1:
        return rng.choice(pool)
    if isinstance(x, bool) or x is None:
        return rng.choice([None, True, False])
    if isinstance(x, (int, float)):
        return step(rng, x)
    if isinstance(x, str):
        at = rng.randint(0, len(x))
        return x[:at] + rng.choice(["a", "b", "1", "é", ""]) + x[at + rng.choice([0, 1]) :]
    if isinstance(x, list):
        out = list(x)
        at = rng.randint(0, len(out))
        how = rng.random()
        if how < 0.3 or not out:
            out.insert(at, rng.choice(pool))
        elif how < 0.5:
            del out[at - 1]
        elif how < 0.6:
            out.append(rng.choice(out))
        else:
            out[at - 1] = mutated(rng, out[at - 1], pool)
        return out
    out = dict(x)
    name = rng.choice(list(out) + NAMES)
    how = rng.random()
    if name not in out or how < 0.2:
        out[name] = rng.choice(pool)
    elif how < 0.5:
        del out[name]
    else:
        out[name] = mutated(rng, out[name], pool)
    return out


def plain(x):
    """With decimals as json writes them; None: a number that Python would not write so."""
    if isinstance(x, dict):
        return {k: plain(v) for k, v in x.items()}
    if isinstance(x, list):
        return [plain(v) for v in x]
    return Number(str(x)) if isinstance(x, decimal.Decimal) else x


def instances(rng, made_schema, made, n):
    """n values: some of the schema's own and their like, some at random, some changed from texts that were made."""
    pool = list(literals(made_schema)) + [value(rng) for _ in range(6)]
    out = []
    for _ in range(n):
        x = rng.choice(made) if made and rng.random() < 0.6 else rng.choice(pool)
        for _ in range(rng.choice([0, 1, 1, 1, 2, 3])):
            x = mutated(rng, x, pool)
        out.append(x)
    return out


def shuffled(rng, x):
    if isinstance(x, list):
        return [shuffled(rng, v) for v in x]
    if isinstance(x, dict):
        return {k: shuffled(rng, x[k]) for k in rng.sample(list(x), len(x))}
    return x


def orders(x, most=400):
    """The value with its members in other orders: its own first, then all at random."""
    rng = random.Random(1)
    if isinstance(x, dict):
        yield from ({k: x[k] for k in keys} for keys in itertools.islice(itertools.permutations(x), most))
    yield from (shuffled(rng, x) for _ in range(most))
