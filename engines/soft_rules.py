"""Soft rules: the LLM judges a text, code checks the verdict (seed 001, 3; decisions.md, Engines).

A verdict counts only when it fits the schema, is sure enough and quotes what stands in the data. Anything
else is undetermined and goes to a person; it is never a pass.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from engines import prompts
from engines.llm import Llm, TokenCapReached
from engines.outgoing import gate_for
from integrations.llm import Completion, LlmError, LlmProtocolError, Message
from integrations.privacy import Gate, PrivacyError
from projects import dictionary
from projects.db import atomic
from projects.display import display_rows
from projects.models import Project

TRIES = 3
MAX_DATA = 24_000
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "reason": {"type": "string", "description": "判断理由"},
        "evidence": {"type": "array", "items": {"type": "string"}, "description": "原文"},
        "passed": {"type": "boolean"},
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
    },
    "required": ["reason", "evidence", "passed", "confidence"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class Verdict:
    """What came of an instruction; only a determined one may lead along on_pass or on_fail."""

    passed: bool = False
    reason: str = ""
    confidence: float = 0.0
    evidence: tuple[str, ...] = ()
    is_determined: bool = False
    prompt_version: str = ""
    problems: tuple[str, ...] = field(default=())

    def summary(self) -> dict[str, Any]:
        """For the journal."""
        return {
            "passed": self.passed,
            "determined": self.is_determined,
            "reason": self.reason,
            "confidence": self.confidence,
            "evidence": list(self.evidence),
            "prompt": self.prompt_version,
            "problems": list(self.problems),
        }


class Unsound(Exception):
    """A check that the verdict failed, worded for the model."""


def run_with_retry(
    *,
    project: Project,
    instruction: str,
    rows: Sequence[Mapping[str, Any]],
    threshold: float,
    user_id: str,
) -> Verdict:
    """Ask, check, and ask again with the failed check named, three times at most.

    No transaction may be open. A provider that is down leaves the verdict undetermined.
    """
    llm = Llm(project, user_id=user_id)
    prompt = prompts.load("soft", instruction=instruction)
    try:
        gate = gate_for(project)
        data = gate.text(data_text(project, rows, gate))
        messages = [Message("system", gate.text(prompt.text)), Message("user", data)]
        return _converse(llm, gate, messages, data, threshold, prompt.version)
    except (LlmError, PrivacyError) as error:
        reason = _("The language model could not be asked.")
        if isinstance(error, TokenCapReached):
            reason = _("The study's tokens of today are used up.")
        return Verdict(reason=reason, prompt_version=prompt.version)
    finally:
        with atomic():
            llm.save()


def data_text(project: Project, rows: Sequence[Mapping[str, Any]], gate: Gate) -> str:
    """The subject's values a line each, without identifiers and genome fields."""
    lines: list[str] = []
    for row in display_rows(dictionary.load(project), [dict(row) for row in rows]):
        place = " ".join(filter(None, [row.event_label, row.instrument_label]))
        place += f" #{row.instance}" if row.instance else ""
        for item in row.values:
            if not item.identifier and not gate.drops(item.field, item.label):
                lines.append(f"[{place}] {item.label}: {item.text}{item.unit}")
    return "\n".join(lines)[:MAX_DATA]


def _converse(
    llm: Llm, gate: Gate, messages: list[Message], data: str, threshold: float, version: str
) -> Verdict:
    problems: list[str] = []
    for _turn in range(TRIES):
        done = llm.ask(
            messages,
            purpose="soft_rule",
            version=version,
            schema=SCHEMA,
            temperature=0.0,
            top_p=1.0,
        )
        try:
            return check(done, data, threshold, version)
        except Unsound as problem:
            problems.append(str(problem))
            retry = prompts.load("soft_retry", problem=problem)
            answer = gate.text(done.content or "{}")
            messages += [Message("assistant", answer), Message("user", gate.text(retry.text))]
    return Verdict(
        reason=_("The verdict could not be validated."),
        prompt_version=version,
        problems=tuple(problems),
    )


def check(done: Completion, data: str, threshold: float, version: str) -> Verdict:
    """The verdict in an answer; undetermined when it is not sure enough. Raises Unsound."""
    try:
        said = done.json()
    except LlmProtocolError:
        raise Unsound("回答不是 JSON 对象") from None
    passed, confidence = said.get("passed"), said.get("confidence")
    reason, evidence = said.get("reason"), said.get("evidence")
    if not isinstance(passed, bool):
        raise Unsound("passed 必须是 true 或 false")
    if isinstance(confidence, bool) or not isinstance(confidence, int | float):
        raise Unsound("confidence 必须是数字")
    if not 0 <= confidence <= 1:
        raise Unsound("confidence 必须在 0 到 1 之间")
    if not isinstance(reason, str) or not reason.strip():
        raise Unsound("缺少 reason")
    quotes = [evidence] if isinstance(evidence, str) else evidence
    if not isinstance(quotes, list) or not all(isinstance(quote, str) for quote in quotes):
        raise Unsound("evidence 必须是字符串列表")
    quotes = [quote for quote in quotes if quote.strip()]
    _check_quotes(quotes, data)
    if passed and not quotes:
        raise Unsound("passed=true 必须有 evidence")
    return Verdict(
        passed=passed,
        reason=reason.strip(),
        confidence=float(confidence),
        evidence=tuple(quotes),
        is_determined=confidence >= threshold and bool(quotes),
        prompt_version=version,
    )


def _check_quotes(quotes: Sequence[str], data: str) -> None:
    text = _plain(data)
    for quote in quotes:
        if _plain(quote) not in text:
            raise Unsound(f"evidence 不在数据中: {quote[:80]}")


def _plain(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).split())
