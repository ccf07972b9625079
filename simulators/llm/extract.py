"""Values that stand verbatim in what the user wrote, and choices among described options."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from simulators.llm.material import Material, blobs, question_index
from simulators.llm.protocol import Chat
from simulators.llm.schema import Schema
from simulators.llm.text import asked, is_question, score, sentences, terms, weights

SUBJECT_ID = re.compile(r"record|subject|patient|(?:^|_)ids?$|编号|受试者|患者|病例", re.I)
MYSELF = re.compile(r"我|本人|\bI\b|\bmy\b|\bme\b|以后|今后|记住|记得|偏好|喜欢|习惯")
OTHERS = re.compile(r"您|感谢|\byou\b|\byour\b", re.I)
CLAUSES = re.compile(r"[^，。；,;！!？?\n]+")
STATED = re.compile(
    r"^(?:请)?(?:记住|记得)?[:：]?\s*(?:我们?|本人)?的?(?P<field>[^是为叫]{1,8})(?:是|为|叫)(?P<value>.+)$"
)
AMOUNT = re.compile(r"\d+(?:\.\d+)?\s*(?:万元|个月|小时|[\u4e00-\u9fff%]|[A-Za-z/]+)?")
DESCRIBED = r"(?<![\w-]){name}[\"'`”]?(?:\s*[:：=—(（|]\s*|\s+-\s+|\s+)([^\n]{{1,120}})"


def user_text(chat: Chat) -> str:
    """The last message of the user, without JSON."""
    at = question_index(chat)
    text = chat.messages[at].content if at >= 0 else ""
    for start, end, _ in reversed(list(blobs(text))):
        text = text[:start] + "\n" + text[end:]
    return text


def facts(chat: Chat) -> list[dict[str, str]]:
    """Clauses in which users state something about themselves: quote, field and value."""
    found: list[dict[str, str]] = []
    for line in user_text(chat).splitlines():
        for sentence in sentences(line):
            if is_question(sentence) or OTHERS.search(sentence) or not MYSELF.search(sentence):
                continue
            found += [
                _fact(c.group().strip()) for c in CLAUSES.finditer(sentence) if c.group().strip()
            ]
    return found


def _fact(clause: str) -> dict[str, str]:
    clause = re.sub(r"^[\w\u4e00-\u9fff]{1,8}[:：]\s*(?=我)", "", clause)
    if stated := STATED.match(clause):
        return {"quote": clause, "field": stated["field"], "value": stated["value"]}
    amount = AMOUNT.search(clause)
    return {"quote": clause, "field": "", "value": amount.group() if amount else clause}


def field_value(name: str, schema: Schema, material: Material, chat: Chat) -> Any:
    """The value of a named field: from data under that label, else stated in the user's text."""
    described = str(schema.get("description") or schema.get("title") or "")
    label = re.split(r"[，,。;；(（:：\s]", described)[0]
    names = {word.lower() for word in (name, label) if word}
    for unit in reversed(material.of("tool", "data")):
        if unit.label.lower() in names and not isinstance(unit.value, (list, dict)):
            return unit.value
    text = user_text(chat)
    for word in (label, name):
        if len(word) < 2:
            continue
        pattern = rf"{re.escape(word)}\s*(?:是|为|:|：|=|is)?\s*([^，。；,;！!？?\s]+)"
        if (found := re.search(pattern, text, re.I)) and not is_question(found.group()):
            return found[1]
    return None


def options_about(options: list[Any], chat: Chat, question: str, least: float = 0.1) -> list[Any]:
    """The options whose name or description shares most words with the question, best first.

    `least`: the share of the question's words that must be among them, 0 to 1.
    """
    told = "\n".join(message.content for message in chat.messages if message.role != "tool")
    words = {}
    for option in options:
        words[option] = terms(f"{option} {_description(option, options, told)}")
    query, weight = asked(question), weights(list(words.values()))
    scored = sorted(
        ((score(query, words[o], weight), i) for i, o in enumerate(options)), key=_order
    )
    best = scored[0][0] if scored else 0.0
    return [options[i] for value, i in scored if value > least and value >= 0.8 * best]


def described(option: Any, options: Sequence[Any], chat: Chat) -> str:
    """What a request says about one of several options."""
    told = "\n".join(message.content for message in chat.messages if message.role != "tool")
    return _description(option, list(options), told)


def _description(option: Any, options: list[Any], told: str) -> str:
    """What a prompt says about an option on the line that names it and no other option."""
    others = [str(other) for other in options if other != option]
    for found in re.finditer(DESCRIBED.format(name=re.escape(str(option))), told):
        if not any(other in found[1] for other in others):
            return str(found[1])
    return ""


def _order(pair: tuple[float, int]) -> tuple[float, int]:
    return -pair[0], pair[1]
