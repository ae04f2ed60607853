"""PyPI jsonschema as the judge of generated texts, with exact numbers and with patterns as ECMAScript reads them.

SPDX-License-Identifier: MIT
"""

import decimal
import json

import jsonschema
import regex

decimal.getcontext().prec = 2000  # no number that a text of ours holds is rounded
CLASSES = {"d": "0-9", "w": "A-Za-z0-9_", "s": r"\t-\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"}


def ecma(pattern):
    """The pattern for the regex module: \\d, \\w, \\s, \\cX and . spelled out."""
    out, i, in_class = "", 0, False
    while i < len(pattern):
        two = pattern[i : i + 2]
        members = CLASSES.get(two[1:].lower()) if two[0] == "\\" else None
        if members and not (in_class and two[1].isupper()):
            out += members if in_class else f"[{'^' if two[1].isupper() else ''}{members}]"
            i += 2
        elif two == "\\c" and i + 2 < len(pattern):
            out += f"\\x{ord(pattern[i + 2]) & 31:02x}"
            i += 3
        elif two[0] == "\\":
            out += {"\\A": "A", "\\Z": "Z"}.get(two, two)
            i += 2
        else:
            in_class = two[0] == "[" or (in_class and two[0] != "]")
            out += two[0] if in_class else {"$": r"(?!\n)\Z", ".": r"[^\n\r\u2028\u2029]"}.get(two[0], two[0])
            i += 1
    return regex.compile(out, regex.V0)


def _pattern(validator, pattern, instance, schema):
    if isinstance(instance, str) and not ecma(pattern).search(instance):
        yield jsonschema.ValidationError(f"{instance!r} does not match {pattern!r}")


def _pattern_properties(validator, patterns, instance, schema):
    for pattern, sub in patterns.items() if isinstance(instance, dict) else []:
        for name, value in instance.items():
            if ecma(pattern).search(name):
                yield from validator.descend(value, sub, path=name, schema_path=pattern)


def _additional(validator, additional, instance, schema):
    for name in list(instance) if isinstance(instance, dict) else []:
        known = name in schema.get("properties", {}) or any(
            ecma(p).search(name) for p in schema.get("patternProperties", {})
        )
        if not known:
            yield from validator.descend(instance[name], additional, path=name)


def _integer(checker, value):
    return not isinstance(value, bool) and (
        isinstance(value, int) or (isinstance(value, decimal.Decimal) and value == value.to_integral_value())
    )


def _number(checker, value):
    return not isinstance(value, bool) and isinstance(value, (int, decimal.Decimal))


def _formats(base):
    """The library's checks; but it knows no leap seconds, which the suite asks for: :60 is looked at as :59."""
    checker = jsonschema.FormatChecker(())
    newest = jsonschema.Draft202012Validator.FORMAT_CHECKER.checkers  # draft 7 names no uuid, but it is enforced
    checker.checkers = {**newest, **base.FORMAT_CHECKER.checkers}
    for name in ("time", "date-time"):
        check, raises = checker.checkers[name]
        checker.checkers[name] = (
            lambda v, check=check: check(v.replace(":60", ":59", 1) if isinstance(v, str) else v),
            raises,
        )
    return checker


def validator(schema):
    """For a schema that names draft 7, or 2020-12. Formats are enforced."""
    base = (
        jsonschema.Draft7Validator
        if "draft-07" in str(isinstance(schema, dict) and schema.get("$schema"))
        else jsonschema.Draft202012Validator
    )
    checker = base.TYPE_CHECKER.redefine_many({"integer": _integer, "number": _number})
    ours = jsonschema.validators.extend(
        base,
        {"pattern": _pattern, "patternProperties": _pattern_properties, "additionalProperties": _additional},
        type_checker=checker,
    )
    return ours(read(json.dumps(schema)), format_checker=_formats(base))


def read(text):
    """A text with its numbers as they are written."""
    return json.loads(text, parse_float=decimal.Decimal)


def fault(schema_validator, text):
    """Why the text is no instance; None: it is one."""
    try:
        error = next(schema_validator.iter_errors(read(text)), None)
    except ValueError as e:
        return f"not JSON: {e}"
    return None if error is None else error.message
