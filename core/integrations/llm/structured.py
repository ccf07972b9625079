"""An object of a schema in the ways that endpoints offer: a strict schema, a strict tool, plain JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

NAME = "answer"


class Mode(StrEnum):
    """How an endpoint is held to a schema. Who asked checks the object in every mode."""

    JSON_SCHEMA = "json_schema"
    TOOLS = "tools"
    JSON_OBJECT = "json_object"


# What every strict endpoint takes of JSON Schema (DeepSeek, Tool Calls; OpenAI, Structured outputs).
_KEPT = frozenset({"type", "properties", "required", "items", "enum", "anyOf", "description"})
_DEEPEST = 24


def shape(mode: Mode, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The parts of a request that ask for an object of this schema."""
    if mode is Mode.JSON_SCHEMA:
        named = {"name": NAME, "schema": dict(schema), "strict": True}
        return {"response_format": {"type": "json_schema", "json_schema": named}}
    if mode is Mode.JSON_OBJECT:
        return {"response_format": {"type": "json_object"}}
    tool = {
        "name": NAME,
        "description": "Give the answer by calling this function once.",
        "strict": True,
        "parameters": strict(schema),
    }
    return {
        "tools": [{"type": "function", "function": tool}],
        "tool_choice": {"type": "function", "function": {"name": NAME}},
    }


def schema_prompt(schema: Mapping[str, Any]) -> str:
    """The schema as words of the prompt, where the endpoint is not held to it."""
    written = json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
    return f"只返回一个 JSON 对象,不加任何其他文字。它必须符合这个 JSON Schema:\n{written}"


def strict(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema as strict endpoints want it: closed, every property required, nothing they do not know.

    Bounds are dropped: who asked checks them. A reference is written out; one to itself becomes any object.
    """
    return _strict(schema, schema.get("$defs", {}), 0)


def _strict(part: Mapping[str, Any], defs: Mapping[str, Any], depth: int) -> dict[str, Any]:
    if depth > _DEEPEST:
        return {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    if "$ref" in part:
        return _strict(defs[str(part["$ref"]).rpartition("/")[2]], defs, depth + 1)
    if "const" in part:
        part = {**part, "enum": [part["const"]]}
    closed = {name: value for name, value in part.items() if name in _KEPT}
    if isinstance(kinds := closed.get("type"), list):
        others = {name: value for name, value in closed.items() if name != "type"}
        return {"anyOf": [_strict({**others, "type": kind}, defs, depth + 1) for kind in kinds]}
    if "anyOf" in closed:
        closed["anyOf"] = [_strict(one, defs, depth + 1) for one in closed["anyOf"]]
    if isinstance(closed.get("items"), Mapping):
        closed["items"] = _strict(closed["items"], defs, depth + 1)
    if closed.get("type") == "object" or "properties" in closed:
        within = closed.get("properties", {})
        closed["properties"] = {name: _strict(one, defs, depth + 1) for name, one in within.items()}
        closed |= {"type": "object", "required": list(within), "additionalProperties": False}
    return closed
