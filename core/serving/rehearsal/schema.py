"""JSON schemas of structured outputs: what the API refuses, the smallest instance, and making a reply fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import orjson

Schema = Mapping[str, Any]

UNSUPPORTED = {
    "integer": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "string": ("minLength", "maxLength"),
    "array": ("maxItems", "uniqueItems", "contains"),
    "object": ("minProperties", "maxProperties", "patternProperties"),
}
"""Keywords that the API answers with 400, by type."""

DEEPEST = 32
"""Levels after which a schema is taken to be recursive, which the API refuses."""

_FORMATS = {
    "date-time": "2026-01-01T00:00:00Z", "date": "2026-01-01", "time": "00:00:00Z", "duration": "PT0S",
    "email": "rehearsal@example.com", "hostname": "example.com", "uri": "https://example.com",
    "ipv4": "127.0.0.1", "ipv6": "::1", "uuid": "00000000-0000-0000-0000-000000000000",
}  # fmt: skip
_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,), "integer": (int,), "number": (int, float), "boolean": (bool,), "null": (type(None),),
    "object": (Mapping,), "array": (list,),
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Shape:
    """A schema that was looked at. Compared by identity: `shape` gives one object for one schema."""

    schema: Schema
    refusal: str | None
    """Why the API would not take the schema, in its words; None when it would."""


@lru_cache(maxsize=256)
def shape(written: bytes) -> Shape:
    """Look at a schema, written as JSON. Cached: every request of one kind brings the same."""
    schema = orjson.loads(written)
    return Shape(schema, next(_refusals(schema, schema, 0), None))


def _refusals(schema: Schema, root: Schema, depth: int) -> Iterator[str]:
    if depth > DEEPEST:
        yield "Recursive schemas are not supported"
        return
    if "$ref" in schema and _resolve(schema, root) is schema:
        yield f"'$ref' {schema['$ref']!r} is not in this schema's '$defs'"
        return
    schema = _resolve(schema, root)
    kind = _kind(schema)
    if kind == "object" and schema.get("additionalProperties") is not False:
        yield "For 'object' type, 'additionalProperties' must be explicitly set to false"
    if kind == "array" and schema.get("minItems", 0) not in (0, 1):
        yield "For 'array' type, 'minItems' values other than 0 or 1 are not supported"
    for keyword in UNSUPPORTED.get(kind, ()):
        if keyword in schema:
            yield f"For '{kind}' type, property '{keyword}' is not supported"
    for child in _children(schema):
        yield from _refusals(child, root, depth + 1)


def _children(schema: Schema) -> list[Schema]:
    inside = [*schema.get("properties", {}).values(), schema.get("items")]
    inside += [option for key in ("anyOf", "oneOf", "allOf") for option in schema.get(key, ())]
    return [child for child in inside if isinstance(child, Mapping)]


def minimal(schema: Schema, root: Schema | None = None) -> Any:
    """The smallest value that satisfies a schema which is not refused."""
    root = schema if root is None else root
    schema = _resolve(schema, root)
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return schema["enum"][0]
    for key in ("anyOf", "oneOf", "allOf"):
        if schema.get(key):
            return minimal(schema[key][0], root)
    return _minimal_of_kind(schema, root)


def _minimal_of_kind(schema: Schema, root: Schema) -> Any:
    match _kind(schema):
        case "object":
            return {name: minimal(_property(schema, name), root) for name in schema.get("required", ())}
        case "array":
            return [minimal(schema.get("items", {}), root)] * int(schema.get("minItems", 0))
        case "string":
            return _FORMATS.get(schema.get("format", ""), "")
        case "integer" | "number":
            return 0
        case "boolean":
            return False
    return None


def shaped(value: Any, schema: Schema, root: Schema | None = None) -> Any:
    """`value` made to fit `schema`: properties it does not know dropped, required ones it lacks filled in."""
    root = schema if root is None else root
    schema = _resolve(schema, root)
    kind = _kind(schema)
    if kind == "object" and isinstance(value, Mapping):
        return _shaped_object(value, schema, root)
    if kind == "array" and isinstance(value, list):
        return [shaped(item, schema.get("items", {}), root) for item in value]
    return value if _fits(value, schema, kind) else minimal(schema, root)


def _shaped_object(value: Mapping[str, Any], schema: Schema, root: Schema) -> dict[str, Any]:
    known = schema.get("properties", {})
    kept = {name: shaped(item, known[name], root) for name, item in value.items() if name in known}
    missing = {name: minimal(_property(schema, name), root) for name in schema.get("required", ()) if name not in kept}
    return kept | missing


def _fits(value: Any, schema: Schema, kind: str) -> bool:
    if schema.get("enum") and value not in schema["enum"]:
        return False
    return kind not in _TYPES or isinstance(value, _TYPES[kind])


def _kind(schema: Schema) -> str:
    kind = schema.get("type", "object" if "properties" in schema else "")
    return str(kind[0] if isinstance(kind, list) and kind else kind)


def _property(schema: Schema, name: str) -> Schema:
    found: Schema = schema.get("properties", {}).get(name, {})
    return found


def _resolve(schema: Schema, root: Schema) -> Schema:
    if "$ref" not in schema:
        return schema
    name = str(schema["$ref"]).removeprefix("#/$defs/")
    found: Schema = root.get("$defs", {}).get(name, schema) if name else schema
    return found
