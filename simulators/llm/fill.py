"""Structured output: fill a schema with what the request grounds, and with nothing else."""

from __future__ import annotations

import re
from typing import Any

from simulators.llm import answers, extraction, verdict
from simulators.llm.extract import SUBJECT_ID, facts, field_value, options_about
from simulators.llm.material import Material, read
from simulators.llm.protocol import Chat
from simulators.llm.schema import Schema, about, kind_of, nullable, resolve
from simulators.llm.text import ids, similar

QUOTE = re.compile(r"quote|evidence|verbatim|source_text|original|原文|引用|证据|依据|出处", re.I)
REASON = re.compile(r"reason|rationale|explan|why|理由|原因|说明", re.I)
CONFIDENCE = re.compile(r"confidence|probability|置信|把握", re.I)
PROSE = re.compile(
    r"answer|reply|summary|report|narrative|content|text|回答|回复|答复|总结|摘要|报告|概述|建议",
    re.I,
)
# FACT, PREFERENCE, INTENT and the like are kinds; a longer list names fields.
MOST_KINDS = 4
UNSURE = re.compile(r"unsure|uncertain|不确定", re.I)
SURE = 0.5
"""Share of a question's words by which a choice is sure where unsure may be said."""
OTHER = re.compile(r"other|unknown|general|none|uncertain|其他|未知|不确定", re.I)


def fill(schema: Schema, chat: Chat) -> Any:
    """A value of `schema`: a verdict, an extraction, or properties looked up one by one."""
    filler = _Filler(schema, chat)
    return filler.value("", schema)


def is_verdict(schema: Schema) -> bool:
    """Whether a schema asks for a judgement: a boolean with a reason and a confidence."""
    properties = resolve(schema, schema).get("properties") or {}
    kinds = {name: kind_of(resolve(part, schema)) for name, part in properties.items()}
    texts = [name for name in properties if REASON.search(about(name, properties[name]))]
    sure = [name for name in properties if CONFIDENCE.search(about(name, properties[name]))]
    return "boolean" in kinds.values() and bool(texts) and bool(sure)


class _Filler:
    def __init__(self, root: Schema, chat: Chat) -> None:
        self._root, self._chat = root, chat
        self._material: Material = read(chat)
        self._verdict = verdict.judge(chat) if is_verdict(root) else None

    def value(self, name: str, schema: Schema) -> Any:
        empty = nullable(schema)
        schema = resolve(schema, self._root)
        if "const" in schema:
            return schema["const"]
        kind = kind_of(schema)
        if self._verdict is not None and kind != "object":
            found = self._judged(name, schema, kind)
            if found is not None:
                return found
        if kind == "object":
            return self._object(schema)
        if kind == "array":
            return self._array(name, schema)
        found = self._scalar(name, schema, kind)
        return found if found is not None else (None if empty else _nothing(schema, kind))

    def _object(self, schema: Schema) -> dict[str, Any]:
        properties = schema.get("properties") or {}
        return {name: self.value(name, part) for name, part in properties.items()}

    def _judged(self, name: str, schema: Schema, kind: str) -> Any:
        """Properties of a verdict; None for one that has nothing to do with it."""
        assert self._verdict is not None  # noqa: S101
        text, quotes = about(name, schema), list(self._verdict.quotes)
        if kind == "boolean":
            return self._verdict.passed
        if kind in ("number", "integer") and CONFIDENCE.search(text):
            top = schema.get("maximum", 1)
            confidence = self._verdict.confidence * top
            return round(confidence) if kind == "integer" else round(confidence, 4)
        if kind == "array" and QUOTE.search(text):
            items = resolve(schema.get("items") or {}, self._root)
            if kind_of(items) != "object":
                return quotes
            return [self._evidence(items, quote) for quote in quotes]
        if kind == "string" and QUOTE.search(name):
            return quotes[0] if quotes else ("" if not nullable(schema) else None)
        if kind == "string" and REASON.search(text):
            return self._verdict.reason
        return None

    def _evidence(self, schema: Schema, quote: str) -> dict[str, Any]:
        """An evidence object: the quote verbatim, and the key of the data it stands under."""
        row: dict[str, Any] = {}
        unit = next(
            (u for u in self._material.units if quote in u.text or quote in str(u.value)), None
        )
        properties = schema.get("properties") or {}
        quoted = next((n for n in properties if QUOTE.search(n)), None) or next(
            iter(properties), ""
        )
        for name, part in properties.items():
            part = resolve(part, self._root)
            if name == quoted or PROSE.search(name):
                row[name] = quote
            elif kind_of(part) == "string" and not part.get("enum"):
                owner = unit.owner if unit and SUBJECT_ID.search(name) else ""
                row[name] = owner or ((unit.label or unit.context) if unit else "")
            else:
                row[name] = _nothing(part, kind_of(part))
        return row

    def _array(self, name: str, schema: Schema) -> list[Any]:
        items = resolve(schema.get("items") or {}, self._root)
        text = about(name, schema)
        most = schema.get("maxItems", 20)
        if kind_of(items) == "object":
            properties = items.get("properties") or {}
            if any(QUOTE.search(n) or PROSE.search(n) for n in properties):
                return [row for fact in facts(self._chat) for row in self._facts(items, fact)][
                    :most
                ]
            return []
        if options := items.get("enum"):
            unsure = [option for option in options if UNSURE.search(str(option))]
            least = SURE if unsure else 0.1
            found = options_about(options, self._chat, self._material.question, least)
            return (found or unsure)[:most]
        if SUBJECT_ID.search(text):
            return list(ids(self._material.question))[:most]
        if answers.SUMMARY.search(text):
            return [unit.text for unit in answers.choose(self._material)][:most]
        return []

    def _facts(self, schema: Schema, fact: dict[str, str]) -> list[dict[str, Any]]:
        """A row a fact; where the rows name one of many fields, one for each field that the fact fills."""
        listed = [
            name
            for name, part in (schema.get("properties") or {}).items()
            if len(resolve(part, self._root).get("enum") or []) > MOST_KINDS
        ]
        if not listed:
            return [self._fact(schema, fact)]
        options = resolve(schema["properties"][listed[0]], self._root)["enum"]
        return [
            {**self._fact(schema, {**fact, "value": value}), listed[0]: option}
            for option, value in extraction.fields(options, self._chat, fact["quote"])
        ]

    def _fact(self, schema: Schema, fact: dict[str, str]) -> dict[str, Any]:
        row: dict[str, Any] = {}
        for name, raw in (schema.get("properties") or {}).items():
            part = resolve(raw, self._root)
            kind = kind_of(part)
            if QUOTE.search(name) or re.search(r"content|text|fact|内容", name, re.I):
                row[name] = fact["quote"]
            elif part.get("enum"):
                row[name] = _fact_kind(part, fact["quote"])
            elif kind == "string":
                is_value = re.search(r"value|val|值", name, re.I)
                row[name] = fact["value"] if is_value else fact["field"]
            elif kind in ("integer", "number"):
                row[name] = _middle(part, kind)
            else:
                row[name] = None if nullable(raw) else _nothing(part, kind)
        return row

    def _scalar(self, name: str, schema: Schema, kind: str) -> Any:
        question = self._material.question
        if schema.get("enum"):
            found = options_about(schema["enum"], self._chat, question)
            return found[0] if found else None
        looked_up = field_value(name, schema, self._material, self._chat)
        if looked_up is not None:
            return _typed(looked_up, kind)
        if kind != "string":
            return None
        text = about(name, schema)
        if SUBJECT_ID.search(name):
            return next(iter(ids(question)), None)
        if PROSE.search(text) or REASON.search(text):
            return answers.answer(self._chat, self._material)
        return None


def _fact_kind(schema: Schema, clause: str) -> Any:
    """FACT, PREFERENCE or INTENT and the like, told by the words people use for them."""
    hints = (
        (r"偏好|喜欢|希望|更想|习惯|以后|不要|别|prefer|like|want", r"prefer|偏好"),
        (r"打算|计划|准备|将要|想要|明年|下周|plan|going to|intend", r"intent|plan|意图|计划"),
    )
    for said, meant in hints:
        found = [v for v in schema["enum"] if re.search(meant, str(v), re.I)]
        if found and re.search(said, clause, re.I):
            return found[0]
    facts_first = [v for v in schema["enum"] if re.search(r"fact|事实", str(v), re.I)]
    best = max(schema["enum"], key=lambda v: similar(str(v), clause))
    return facts_first[0] if facts_first else best


def _middle(schema: Schema, kind: str) -> float | int:
    low, high = schema.get("minimum", 0), schema.get("maximum", 1 if kind == "number" else 100)
    value = float(low + (high - low) * 0.7)
    return round(value) if kind == "integer" else round(value, 2)


def _typed(value: Any, kind: str) -> Any:
    if kind in ("integer", "number"):
        found = re.search(r"-?\d+(?:\.\d+)?", str(value))
        if not found:
            return None
        number = float(found.group())
        return int(number) if kind == "integer" else number
    if kind == "boolean":
        return value if isinstance(value, bool) else None
    return value if isinstance(value, str) else str(value)


def _nothing(schema: Schema, kind: str) -> Any:
    """The emptiest valid value of a required property."""
    if "default" in schema:
        return schema["default"]
    if schema.get("enum"):
        values = schema["enum"]
        return next((value for value in values if OTHER.search(str(value))), values[0])
    if kind in ("integer", "number"):
        return schema.get("minimum", 0)
    return {"boolean": False, "array": [], "object": {}, "null": None}.get(kind, "")
