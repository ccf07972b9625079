"""A small honest model: it fills schemas with words of the request, and with nothing where it is not sure.

It compares words and reads no grammar. A choice is made where the words of one option stand in the question; of
listed conditions it says which sentence of the data names them. What it can't tell so stays empty.
"""

from __future__ import annotations

import json
import re
from difflib import SequenceMatcher
from typing import Any

from demo.simulators.llm.protocol import Chat, Json

GREETING = "您好！我可以查询研究数据、研究方案和随访安排。"
SENTENCE = re.compile(r"[^。；;！!？?\n]+")
LISTED = re.compile(r"[^，,。；;:：\n“”\"{}]*、[^，,。；;\n“”\"{}]*")
EXCLUDED = re.compile(r"(?:排除|exclud(?:e|ing) )([^，,。；;:：\n“”\"{}]+)", re.IGNORECASE)
NUMBERED = re.compile(r"^\[?(\d+)[\]:.]\s*(?:[^:：\s]{1,8}[:：]\s*)?(.+)$", re.MULTILINE)
NEGATION = re.compile(r"否认|没有|无|未|\bno\b|\bden(?:y|ies)\b|\bwithout\b", re.IGNORECASE)
SCHEMA = re.compile(r"\{.*\}", re.DOTALL)
COVERED, SHORTEST, SURE = 0.6, 3, 0.9
UNDETERMINED = {
    "reason": "提供的资料不足以作出判断。",
    "passed": False,
    "confidence": 0.0,
    "evidence": [],
}


def reply(chat: Chat) -> Json:
    """The assistant's message: an object of the schema, a call of the tool that is asked for, or a greeting."""
    # The tool that ends a conversation is offered last; the others are not called for nothing.
    last = next(reversed(chat.offered), "")
    is_due = chat.tool_choice == "required" or _is_verdict(chat.offered.get(last, {}))
    name = chat.forced or (last if is_due and chat.tool_choice != "none" else "")
    if name and chat.format == "text":
        written = json.dumps(fill(chat.offered[name], chat), ensure_ascii=False)
        function = {"name": name, "arguments": written}
        call = {"id": f"call_{len(chat.messages)}", "type": "function", "function": function}
        return {"role": "assistant", "content": None, "tool_calls": [call]}
    if chat.format == "text":
        # Who offers tools wants no small talk.
        return {"role": "assistant", "content": "" if chat.offered else GREETING}
    named = chat.response_format.json_schema if chat.response_format else None
    value = fill(named.form if named else _told(chat), chat)
    return {"role": "assistant", "content": json.dumps(value, ensure_ascii=False)}


def fill(schema: Json, chat: Chat) -> Any:
    """A value of the schema."""
    if _is_verdict(schema):
        found = _judged(chat)
        return {name: found.get(name, "") for name in schema["properties"]}
    said = next((m.text for m in reversed(chat.messages) if m.role == "user"), "")
    return _value(schema, schema, said, _nothing_chosen(schema, schema, said), chat)


def _value(part: Json, root: Json, said: str, is_empty: bool, chat: Chat) -> Any:
    part = _resolved(part, root)
    kind, options = (
        part.get("type", "object" if "properties" in part else "string"),
        part.get("enum"),
    )
    if kind == "object":
        within = part.get("properties", {})
        return {name: _value(one, root, said, is_empty, chat) for name, one in within.items()}
    if kind == "array":
        items = _resolved(part.get("items", {}), root)
        if "properties" in items:
            return _rows(items, root, chat)
        return [] if is_empty else _named(items.get("enum", ()), said)
    if options:
        return next(iter(_named(options, said)), _none_of(options))
    if isinstance(kind, list):
        return None
    return {"boolean": False, "integer": 0, "number": 0, "null": None}.get(kind, "")


def _resolved(part: Json, root: Json) -> Json:
    """Without references; of several forms the first."""
    while "$ref" in part or "anyOf" in part:
        if "anyOf" in part:
            part = {"enum": [None]} if {"type": "null"} in part["anyOf"] else part["anyOf"][0]
        else:
            part = root["$defs"][part["$ref"].rpartition("/")[2]]
    return {**part, "enum": [part["const"]]} if "const" in part else part


def _nothing_chosen(schema: Json, root: Json, said: str) -> bool:
    """Whether a choice that has to be made can't be told: then the whole object says nothing."""
    parts = [_resolved(one, root) for one in schema.get("properties", {}).values()]
    needed = [one["enum"] for one in parts if one.get("enum") and len(one["enum"]) > 1]
    return any(
        not _named(options, said) and _none_of(options) not in ("", None) for options in needed
    )


def _named(options: Any, said: str) -> list[Any]:
    """Options that stand in the question as they are."""
    told = said.casefold()
    return [
        one for one in options if isinstance(one, str) and len(one) > 1 and one.casefold() in told
    ]


def _none_of(options: list[Any]) -> Any:
    return next(
        (one for one in (None, "", "none", "unclear", "other") if one in options), options[0]
    )


def _rows(items: Json, root: Json, chat: Chat) -> list[Json]:
    """A row for each line of the request that holds the words by which one option is described."""
    parts = {name: _resolved(one, root) for name, one in items["properties"].items()}
    listed = [name for name, one in parts.items() if one.get("enum")]
    texts = [
        name for name, one in parts.items() if one.get("type") == "string" and name not in listed
    ]
    if len(listed) != 1 or not texts or "quote" not in texts:
        return []
    asked = "\n".join(message.text for message in chat.messages if message.role != "assistant")
    counts = [name for name, one in parts.items() if one.get("type") == "integer"]
    flags = [name for name, one in parts.items() if one.get("type") == "boolean"]
    lines = NUMBERED.findall(asked) if counts else [("0", one) for one in _sentences(chat)]
    told = {option: _described(option, asked) for option in parts[listed[0]]["enum"]}
    found = []
    for number, line in lines:
        fitting = [(one, word) for one, words in told.items() for word in words if word in line]
        if len({one for one, _word in fitting}) == 1:
            option, word = fitting[0]
            rest = line.partition(word)[2].lstrip("是为:： =")
            row = {**dict.fromkeys(texts, line.strip()), **dict.fromkeys(counts, int(number))}
            row |= dict.fromkeys(flags, True)
            found.append({**row, listed[0]: option} | ({"value": rest} if "value" in row else {}))
    return found


def _described(option: str, asked: str) -> list[str]:
    """The words with which a request explains an option, where it names it first."""
    found = re.search(rf"(?<![\w-]){re.escape(option)}\s*[:：]?\s*([^;；。\n(]{{2,40}})", asked)
    return (
        [word for word in re.split(r"[\s、,，或和的]", found[1]) if len(word) > 1] if found else []
    )


def _sentences(chat: Chat) -> list[str]:
    said = next((m.text for m in reversed(chat.messages) if m.role == "user"), "")
    return [one.strip() for one in SENTENCE.findall(said) if one.strip()]


def _told(chat: Chat) -> Json:
    """The schema that stands in the prompt, where the endpoint is not held to it."""
    for message in chat.messages:
        for start in (found.start() for found in re.finditer(r'\{"', message.text)):
            try:
                value, _end = json.JSONDecoder().raw_decode(message.text[start:])
            except ValueError:
                continue
            if isinstance(value, dict) and isinstance(value.get("properties"), dict):
                return value
    return {"type": "object", "properties": {}}


def _is_verdict(schema: Json) -> bool:
    return {"passed", "confidence", "evidence"} <= set(schema.get("properties", {}))


def _judged(chat: Chat) -> Json:
    """Whether the data deny every condition that is listed; undetermined where one is not spoken of."""
    ordered = "\n".join(m.text for m in chat.messages if m.role in ("system", "developer"))
    # What is said to be excluded goes before any other list of the order, as of people or topics.
    told = EXCLUDED.findall(ordered) or LISTED.findall(ordered)
    listed = max(told, key=lambda one: one.count("、"), default="")
    data = [
        line
        for m in chat.messages
        if m.role in ("user", "tool")
        for line in SENTENCE.findall(m.text)
    ]
    found = [_found(data, one) for one in filter(None, listed.split("、"))]
    if not found or not all(sentence for sentence, _name in found):
        return UNDETERMINED
    present = [one for one in found if not NEGATION.search(one[0])]
    shown = present or found
    names = "、".join(dict.fromkeys(name for _one, name in shown))
    return {
        "reason": f"资料中提到{names}。" if present else f"资料否认{names}。",
        "passed": not present,
        "confidence": SURE,
        "evidence": list(dict.fromkeys(one for one, _name in shown)),
    }


def _found(data: list[str], condition: str) -> tuple[str, str]:
    """The first sentence that holds most of a condition in one piece, and that piece; "" for none.

    Of several sentences the one that holds more of it: 肺炎 is no 间质性肺炎 that is spoken of elsewhere.
    """
    best, piece = "", ""
    for sentence in data:
        match = SequenceMatcher(None, sentence, condition, autojunk=False).find_longest_match()
        enough = match.size >= max(SHORTEST, COVERED * len(condition))
        if enough and match.size > len(piece):
            best, piece = sentence.strip(), condition[match.b : match.b + match.size]
    return best, piece
