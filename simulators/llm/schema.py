"""JSON Schema, read far enough to fill one, and the schema that a prompt sketches in words."""

from __future__ import annotations

import re
from typing import Any

from simulators.llm.material import blobs
from simulators.llm.protocol import Chat

Schema = dict[str, Any]
NEAR = re.compile(r"json|schema|格式|返回|输出|respond|return|format", re.I)
TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"][^,{}\[\]\n"]*)')


def resolve(schema: Schema, root: Schema) -> Schema:
    """Follow `$ref` and take the first branch that is not null of anyOf, oneOf or allOf."""
    for _ in range(16):
        if "$ref" in schema:
            node: Any = root
            for part in str(schema["$ref"]).lstrip("#/").split("/"):
                node = node.get(part, {}) if isinstance(node, dict) else {}
            schema = {**node, **{k: v for k, v in schema.items() if k != "$ref"}}
            continue
        branches = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf")
        if not branches:
            break
        chosen: Schema = next((b for b in branches if b.get("type") != "null"), {})
        rest = {k: v for k, v in schema.items() if k not in ("anyOf", "oneOf", "allOf")}
        schema = {**chosen, **rest}
    return schema


def nullable(schema: Schema) -> bool:
    """Whether null is a value of it."""
    branches = schema.get("anyOf") or schema.get("oneOf") or []
    kind = schema.get("type")
    listed = isinstance(kind, list) and "null" in kind
    return listed or kind == "null" or any(branch.get("type") == "null" for branch in branches)


def kind_of(schema: Schema) -> str:
    """Its type; inferred from enum, properties or items where it is not written."""
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((name for name in kind if name != "null"), "null")
    if kind:
        return str(kind)
    if "properties" in schema:
        return "object"
    return "array" if "items" in schema else "string"


def about(name: str, schema: Schema) -> str:
    """Everything that says what a property means."""
    return f"{name} {schema.get('title', '')} {schema.get('description', '')}"


def sketched(chat: Chat) -> Schema | None:
    """The schema a prompt gives for json_object: a JSON Schema, or an example with placeholders."""
    for message in chat.messages:
        if message.role in ("assistant", "tool"):
            continue
        for _, _, value in blobs(message.content):
            if isinstance(value, dict) and isinstance(value.get("properties"), dict):
                return value
    for message in chat.messages:
        if message.role in ("system", "developer", "user"):
            for found in re.finditer(r"\{", message.content):
                around = message.content[max(0, found.start() - 60) : found.start()]
                if NEAR.search(around) and (schema := _sketch(message.content[found.start() :])):
                    return schema
    return None


def _sketch(text: str) -> Schema | None:
    tokens = [match[1].strip() for match in TOKEN.finditer(text[:8000])]
    try:
        schema = _Sketch(tokens).value()
    except (IndexError, ValueError):
        return None
    return schema if schema.get("properties") else None


class _Sketch:
    """Reads `{"passed": true/false, "confidence": 0.0-1.0, "items": [...]}` and the like."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens, self._at = tokens, 0

    def _next(self) -> str:
        self._at += 1
        return self._tokens[self._at - 1]

    def value(self) -> Schema:
        piece = self._next()
        if piece == "{":
            return self._object()
        if piece == "[":
            return self._array()
        return _placeholder(piece)

    def _object(self) -> Schema:
        properties: dict[str, Schema] = {}
        while (piece := self._next()) != "}":
            if piece == ",":
                continue
            if not piece.startswith('"') or self._next() != ":":
                raise ValueError("no object")
            properties[piece.strip('"')] = self.value()
            # Words after a value ("A" | "B", or a comment) belong to it.
            while self._tokens[self._at] not in (",", "}"):
                self._at += 1
        return {"type": "object", "properties": properties, "required": list(properties)}

    def _array(self) -> Schema:
        items: Schema = {"type": "string"}
        first = True
        while self._tokens[self._at] != "]":
            if self._tokens[self._at] == ",":
                self._at += 1
            elif first:
                items, first = self.value(), False
            else:
                self._at += 1
        self._at += 1
        return {"type": "array", "items": items}


def _placeholder(piece: str) -> Schema:
    if not piece.startswith('"'):
        bare = piece.lower()
        if bare.startswith(("true", "false", "bool")):
            return {"type": "boolean"}
        if bare.startswith(("null", "none")):
            return {"type": ["string", "null"]}
        if re.match(r"-?\d|number|float|int", bare):
            whole = re.fullmatch(r"-?\d+|int\w*", bare)
            return {"type": "integer" if whole else "number"}
        return {"type": "string"}
    text = piece.strip('"')
    names = [part.strip() for part in text.split("|")]
    if len(names) > 1 and all(re.fullmatch(r"[\w-]+", name) for name in names):
        if "null" in names:
            return {"type": ["string", "null"]}
        return {"type": "string", "enum": names}
    return {"type": "string", "description": text}
