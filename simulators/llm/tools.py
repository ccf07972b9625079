"""Choosing a tool and its arguments by the words of its own schema."""

from __future__ import annotations

import json
import re
from typing import Any

from simulators.llm.extract import SUBJECT_ID
from simulators.llm.fill import QUOTE, fill, is_verdict
from simulators.llm.material import Material, blobs, question_index, records_given
from simulators.llm.protocol import Chat, Tool
from simulators.llm.schema import Schema, about, kind_of, nullable, resolve
from simulators.llm.text import DATE, STOP, asked, ids, score, similar, terms, weights

WHOLE_TEXT = re.compile(
    r"query|question|keyword|search|text|content|问题|检索|查询|关键词|内容|描述", re.I
)
MESSAGE = re.compile(r"消息内容|message (?:text|body)", re.I)
SENDING = re.compile(r"发送|通知|发出|\bsend\b|\bnotify\b", re.I)
DATED = re.compile(r"date|日期|时间", re.I)
NAMED_FIELD = re.compile(r"field|字段|指标|变量|项目", re.I)
PRONOUN = re.compile(
    r"他|她|它|其|该|这个|这位|那个|那位|呢\s*[?？]?$|\b(?:he|she|his|her|it|that|this)\b", re.I
)
ENOUGH, WITH_ID = 0.12, 0.4
MOST_CALLS = 5


def wants_tool(chat: Chat) -> bool:
    """Whether tools may be called now: offered, and no result since the question yet."""
    if not chat.tools or chat.tool_choice == "none":
        return False
    at = question_index(chat)
    return not any(message.role == "tool" for message in chat.messages[at + 1 :])


def choose(chat: Chat, material: Material) -> list[tuple[Tool, dict[str, Any]]]:
    """The calls to make, empty for none; tool_choice `required` and `=name` force one."""
    if chat.tool_choice.startswith("="):
        tool = chat.tool(chat.tool_choice[1:])
        return [(tool, forced(tool, chat, material))] if tool else []
    if not wants_tool(chat):
        return []
    scored = _scores(chat, material)
    best = max((value for value, _ in scored), default=0.0)
    if best < ENOUGH:
        if chat.tool_choice != "required":
            return []
        return [(chat.tools[0], forced(chat.tools[0], chat, material))]
    near = [tool for value, tool in scored if value >= 0.85 * best]
    calls = [call for tool in near for call in _calls(tool, chat, material)]
    return calls[: MOST_CALLS if chat.parallel else 1]


def forced(tool: Tool, chat: Chat, material: Material) -> dict[str, Any]:
    """Arguments of a tool that must be called; a verdict or extraction is filled as one."""
    properties = tool.parameters.get("properties") or {}
    nested = json.dumps(properties, ensure_ascii=False)
    if is_verdict(tool.parameters) or (QUOTE.search(nested) and "items" in nested):
        filled: dict[str, Any] = fill(tool.parameters, chat)
        return filled
    found = arguments(tool, chat, material, None)
    missing = [name for name in tool.parameters.get("required", []) if name not in found]
    empty = fill({**tool.parameters, "properties": {n: properties[n] for n in missing}}, chat)
    return {**found, **(empty if isinstance(empty, dict) else {})}


def _scores(chat: Chat, material: Material) -> list[tuple[float, Tool]]:
    query = material.query
    if len(query) < 2:
        # The task stands in the instructions, the question only hands over data.
        query = asked("\n".join(m.content for m in chat.messages if m.role == "system"))
    words = {tool.name: _words(tool) for tool in chat.tools}
    weight = weights(list(words.values()))
    named = bool(_subject_ids(chat, material))
    found = []
    for tool in chat.tools:
        value = score(query, words[tool.name], weight)
        if named and any(_takes_id(n, p) for n, p in _properties(tool)):
            value += WITH_ID
        if SENDING.search(material.question) and any(
            MESSAGE.search(about(n, p)) for n, p in _properties(tool)
        ):
            value += WITH_ID
        if arguments(tool, chat, material, None, complete=True) is None:
            value = 0.0
        found.append((value, tool))
    return found


def _properties(tool: Tool) -> list[tuple[str, Schema]]:
    properties = tool.parameters.get("properties") or {}
    return [(name, resolve(part, tool.parameters)) for name, part in properties.items()]


def _words(tool: Tool) -> set[str]:
    parts = [about(name, part) + str(part.get("enum", "")) for name, part in _properties(tool)]
    return terms(" ".join([tool.name, tool.description, *parts]))


def _takes_id(name: str, schema: Schema) -> bool:
    return bool(SUBJECT_ID.search(about(name, schema))) and not schema.get("enum")


def _subject_ids(chat: Chat, material: Material) -> list[str]:
    if material.ids:
        return list(material.ids)
    if owners := records_given(chat):
        return owners
    if not PRONOUN.search(material.question):
        return []
    for message in reversed(chat.messages[: question_index(chat)]):
        if message.role in ("user", "assistant") and (found := ids(message.content)):
            return found[:1]
    return []


def _calls(tool: Tool, chat: Chat, material: Material) -> list[tuple[Tool, dict[str, Any]]]:
    single = any(_takes_id(n, p) and kind_of(p) != "array" for n, p in _properties(tool))
    named = _subject_ids(chat, material)
    if not single or len(named) < 2:
        return [(tool, arguments(tool, chat, material, None))]
    return [(tool, arguments(tool, chat, material, name)) for name in named]


def arguments(
    tool: Tool, chat: Chat, material: Material, record: str | None, *, complete: bool = False
) -> Any:
    """Arguments from the question; with `complete`, None when a required one can't be found."""
    named = [record] if record else _subject_ids(chat, material)
    found: dict[str, Any] = {}
    required = tool.parameters.get("required") or []
    for name, schema in _properties(tool):
        value = _argument(name, schema, material.question, named, wanted=name in required)
        if name in required:
            value = _told(name, schema, chat) or value
        if value is not None:
            found[name] = value
        elif complete and name in required and not nullable(schema):
            return None
    return found


def _told(name: str, schema: Schema, chat: Chat) -> Any:
    """What only the whole request tells: the text of a message, and whom it is for."""
    kind = kind_of(schema)
    if kind == "string" and MESSAGE.search(about(name, schema)):
        return composed(chat)
    options = (schema.get("items") or {}).get("enum") if kind == "array" else None
    if not options:
        return None
    text = "\n".join(message.content for message in chat.messages if message.role == "user")
    parts = re.split(r"[,，;；、\n:：]", str(schema.get("description") or ""))
    described = {option: " ".join(p for p in parts if str(option) in p) for option in options}
    named = [option for option in options if re.search(rf"(?<!\w){option}(?!\w)", text)]
    best = max(options, key=lambda option: similar(described[option], text))
    return named or ([best] if similar(described[best], text) else None)


def composed(chat: Chat) -> str:
    """The lines of the last list among the data that the user hands over."""
    for message in reversed(chat.messages[: question_index(chat) + 1]):
        for _start, _end, value in blobs(message.content):
            lists = [*value.values()] if isinstance(value, dict) else [value]
            for rows in (part for part in lists if isinstance(part, list)):
                if rows and all(isinstance(row, str) for row in rows):
                    return "\n".join(f"- {row}" for row in rows)
    return ""


def _argument(name: str, schema: Schema, question: str, named: list[str], *, wanted: bool) -> Any:
    kind = kind_of(schema)
    if kind == "array":
        items = schema.get("items") or {}
        if items.get("enum"):
            return _options(items["enum"], items, question) or None
        return named if named and _takes_id(name, schema) else None
    if schema.get("enum"):
        options = _options(schema["enum"], schema, question)
        return options[0] if options else (schema.get("default") if not wanted else None)
    if _takes_id(name, schema):
        return _as(kind, named[0]) if named else None
    if kind in ("integer", "number"):
        rest = DATE.sub(" ", re.sub("|".join(map(re.escape, named)) or r"(?!)", " ", question))
        number = re.search(r"\d+(?:\.\d+)?", rest)
        return _as(kind, number.group()) if number else schema.get("default")
    if kind == "string":
        return _text_argument(about(name, schema), question, named, wanted=wanted)
    return False if wanted and kind == "boolean" else None


def _options(options: list[Any], schema: Schema, question: str) -> list[Any]:
    said = [option for option in options if str(option).lower() in question.lower()]
    if said:
        return said
    parts = re.split(r"[,，;；、\n]", str(schema.get("description") or ""))
    described = {option: " ".join(p for p in parts if str(option) in p) for option in options}
    return [
        option for option in options if similar(described[option], STOP.sub(" ", question)) > 0.3
    ]


def _text_argument(text: str, question: str, named: list[str], *, wanted: bool) -> Any:
    if DATED.search(text):
        found = DATE.search(question)
        return found.group() if found else None
    if WHOLE_TEXT.search(text):
        return question
    if NAMED_FIELD.search(text):
        rest = re.sub("|".join(map(re.escape, named)) or r"(?!)", " ", question)
        return " ".join(STOP.sub(" ", rest).strip(" ?？。").split()) or None
    return question if wanted else None


def _as(kind: str, value: str) -> Any:
    if kind == "string":
        return value
    try:
        return int(value) if kind == "integer" else float(value)
    except ValueError:
        return None
