"""The verdict of a soft rule: its schema, and the checks it has to stand (decisions.md, Engines)."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.integrations.llm import Completion, LlmProtocolError, ToolCall
from core.language.values import plain, tokens, values
from projects.models import Project
from study import dictionary
from study.design import genes
from study.display import display_rows
from study.metadata import StudyMetadata

NAME = "give_verdict"
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "reason": {"type": "string", "description": "判断理由"},
        "evidence": {"type": "array", "items": {"type": "string"}, "description": "原文"},
        "passed": {"type": "boolean"},
        "confidence": {
            "type": "number",
            "minimum": 0,
            "maximum": 1,
            "description": "对 passed 这个结论的把握,不论结论是 true 还是 false",
        },
    },
    "required": ["reason", "evidence", "passed", "confidence"],
    "additionalProperties": False,
}
GIVE_VERDICT: dict[str, Any] = {
    "type": "function",
    "function": {"name": NAME, "description": "提交判断结论。", "parameters": SCHEMA},
}
SHORTEST_QUOTE = 2
LONGEST_TEXT = 2000


MOST = 12
"""More texts than this are not put beside one verdict; what it quotes comes first."""


@dataclass(frozen=True)
class Verdict:
    """What came of an instruction; only a determined one may lead along on_pass or on_fail.

    `read`: what the tools of a task about no single subject told, for the next node.
    """

    passed: bool = False
    reason: str = ""
    confidence: float = 0.0
    evidence: tuple[str, ...] = ()
    is_determined: bool = False
    prompt_version: str = ""
    tools: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    read: tuple[str, ...] = ()

    def summary(self) -> dict[str, Any]:
        """For the journal."""
        told = {"read": [storable(text) for text in self.read]} if self.read else {}
        return told | {
            "passed": self.passed,
            "determined": self.is_determined,
            "reason": self.reason,
            "confidence": self.confidence,
            "evidence": list(self.evidence),
            "prompt": self.prompt_version,
            "tools": [storable(name) for name in self.tools],
            "problems": list(self.problems),
        }


class Unsound(Exception):
    """A check that the verdict failed, worded for the model."""


def parsed(done: Completion, call: ToolCall | None) -> dict[str, Any]:
    """The object in an answer, or in a call of the verdict's tool. Raises Unsound."""
    if call is None and not done.content.strip():
        raise Unsound("回答是空的")
    try:
        return call.parsed() if call else done.json()
    except (LlmProtocolError, ValueError):
        raise Unsound("回答不是 JSON 对象") from None


def check(
    said: Mapping[str, Any], sources: Sequence[str], threshold: float, task: str = "", **about: Any
) -> Verdict:
    """The verdict that was said; undetermined when it is not sure enough or quotes nothing.

    `sources` are the texts that evidence may quote; a reason may name what stands in the `task`, too.
    Where it gives other values, the quotes stand in for it (design.md 9.4). Raises Unsound.
    """
    if missing := [name for name in SCHEMA["required"] if said.get(name) in (None, "")]:
        raise Unsound(f"缺少 {'、'.join(missing)}")
    passed, confidence, reason = said["passed"], said["confidence"], said["reason"]
    if not isinstance(passed, bool):
        raise Unsound("passed 必须是 true 或 false")
    if isinstance(confidence, bool) or not isinstance(confidence, int | float):
        raise Unsound("confidence 必须是数字")
    if not 0 <= confidence <= 1:
        raise Unsound("confidence 必须在 0 到 1 之间")
    if not isinstance(reason, str) or not reason.strip():
        raise Unsound("reason 必须是一段文字")
    quotes = _quotes(said["evidence"], sources)
    if passed and not quotes:
        raise Unsound("passed=true 必须有 evidence")
    held = [values(source) for source in [*sources, task]]
    if not all(any(one.holds(token) for one in held) for token in tokens(plain(reason))):
        reason = "; ".join(quotes)
    return Verdict(
        passed=passed,
        reason=storable(reason.strip())[:LONGEST_TEXT],
        confidence=float(confidence),
        evidence=tuple(storable(quote) for quote in quotes),
        is_determined=confidence >= threshold and bool(quotes),
        **about,
    )


def _quotes(evidence: Any, sources: Sequence[str]) -> list[str]:
    given = [evidence] if isinstance(evidence, str) else evidence
    if not isinstance(given, list) or not all(isinstance(quote, str) for quote in given):
        raise Unsound("evidence 必须是字符串列表")
    lines = [line for source in sources for line in _lines(source)]
    quotes = [quote for quote in given if quote.strip()]
    for quote in quotes:
        if not stands_in(quote, lines):
            raise Unsound(f"evidence 不在数据中: {storable(quote)[:80]}")
    return quotes


def stands_in(quote: str, lines: Sequence[str]) -> bool:
    """Whether every line of the quote stands within one line of the data: nothing is stitched together."""
    parts = [part for part in map(plain_text, quote.splitlines()) if part]
    if sum(char.isalnum() for part in parts for char in part) < SHORTEST_QUOTE:
        return False
    return all(any(part in line for line in lines) for part in parts)


def _lines(source: str) -> Iterator[str]:
    """Lines of a text, and the texts inside a JSON object as a reader sees them."""
    yield from map(plain_text, source.splitlines())
    try:
        value = json.loads(source)
    except (ValueError, RecursionError):
        return
    for text in _leaves(value):
        yield from map(plain_text, text.splitlines())


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(item, dict | list):
                yield f"{key}: {item}"
            yield from _leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item)
    else:
        yield str(value)


def plain_text(text: str) -> str:
    """Half width and without blanks, as quotes are compared."""
    return "".join(unicodedata.normalize("NFKC", text).split())


def storable(text: str) -> str:
    """Text that every database takes: no NUL, no lone surrogate."""
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")


def judged_texts(
    project: Project, rows: Sequence[Mapping[str, Any]], instruction: str, quotes: Sequence[str]
) -> list[dict[str, Any]]:
    """The values that hold a quote, and the free texts that the instruction names by their labels.

    All free texts where it names none and nothing is quoted. Each as the details of a rule name a value
    (`var`, `raw`, `label`, `event`, `instrument`, `instance`), with `quoted`. No identifiers, no genome fields.
    """
    metadata = dictionary.load(project)
    closed, asked = genes(metadata), plain_text(instruction)
    found: list[dict[str, Any]] = []
    for row in display_rows(metadata, [dict(row) for row in rows]):
        for item in row.values:
            if item.identifier or item.field in closed:
                continue
            line = [plain_text(f"{item.label}: {item.text}{item.unit}")]
            found.append(
                {
                    "var": item.field,
                    "raw": item.raw,
                    "label": item.text if item.text != item.raw else None,
                    "event": row.event,
                    "instrument": row.instrument,
                    "instance": "" if row.instance is None else str(row.instance),
                    "quoted": any(stands_in(quote, line) for quote in quotes),
                    "named": plain_text(item.label) in asked,
                }
            )
    texts = [one for one in found if _is_free(metadata, one["var"])]
    chosen = [one for one in found if one["quoted"]]
    chosen += [one for one in texts if one["named"] and not one["quoted"]]
    chosen = chosen or texts
    return [{name: one[name] for name in one if name != "named"} for one in chosen[:MOST]]


def _is_free(metadata: StudyMetadata, name: str) -> bool:
    row = metadata.fields.get(name, {})
    kind, form = row.get("field_type"), row.get("text_validation_type_or_show_slider_number")
    return kind == "notes" or (kind == "text" and not form)
