"""What a decision rests on: each finding with its rule in words, the values it read, or what the model said."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.formats import localize

from engines import labels
from engines.models import PendingAction, TaskRun
from rules.rule import rule_key
from skills.rule_words import in_words
from study.metadata import StudyMetadata
from study.models import ProtocolDocument
from study.protocol import index
from study.protocol.excerpts import Excerpt

MOST_PASSAGES = 2
_DIGITS = 4
"""Of a value that was converted."""


@dataclass(frozen=True)
class ReadValue:
    """A value that a rule read; `doubt` says why it could not be used, "" where it could."""

    label: str
    place: str
    text: str
    doubt: str


@dataclass(frozen=True)
class Ground:
    """One finding as the desk shows it.

    `rule` is the rule in words, "" where a model judged; then `confidence` is 0 … 100 and `quotes` are the
    texts that the model rested on.
    """

    finding: PendingAction
    outcome: str
    doubt: str
    rule: str
    read: tuple[ReadValue, ...]
    confidence: int | None
    quotes: tuple[str, ...]


def grounds(
    run: TaskRun, findings: Iterable[PendingAction], metadata: StudyMetadata
) -> list[Ground]:
    """The open findings of a review, the gravest first."""
    rules = _rules(run)
    ranks = {severity: rank for rank, severity in enumerate(PendingAction.Severity.values)}
    ordered = sorted(
        findings, key=lambda row: (ranks.get(row.severity, len(ranks)), row.created_at)
    )
    return [_ground(row, rules.get((row.node, row.rule_key)), metadata) for row in ordered]


def fields_read(found: Iterable[Ground]) -> set[str]:
    """The dictionary fields that any of the findings hangs on."""
    return {
        name
        for ground in found
        for name in [ground.finding.field or "", *_columns(_detail(ground.finding))]
        if name
    }


def passages(run: TaskRun, found: Sequence[Ground]) -> list[Excerpt]:
    """What the study's own documents say of the gravest findings; none where none is stored.

    What a model judged is looked up by what it was asked: its reason may name nothing of the protocol.
    """
    if not ProtocolDocument.objects.filter(project=run.project).exists():
        return []
    nodes = run.config.get("nodes") or {}
    asked = [
        nodes.get(one.finding.node, {}).get("instruction") or one.finding.message
        for one in found[:MOST_PASSAGES]
    ]
    told = [index.excerpt(run.project, question) for question in asked]
    once = {(one.document, one.rule): one for one in told if one is not None}
    return [*once.values()]


def _rules(run: TaskRun) -> dict[tuple[str, str], Any]:
    """(node, rule key) -> logic, of the configuration that the run started with."""
    nodes = run.config.get("nodes") or {}
    return {
        (name, rule_key(rule)): rule.get("logic")
        for name, node in nodes.items()
        for rule in node.get("rules") or []
    }


def _detail(finding: PendingAction) -> Any:
    return json.loads(finding.detail) if finding.detail else None


def _columns(detail: Any) -> list[str]:
    return [str(one.get("var", "")) for one in detail] if isinstance(detail, list) else []


def _ground(finding: PendingAction, logic: Any, metadata: StudyMetadata) -> Ground:
    detail = _detail(finding)
    judged = detail if isinstance(detail, dict) else {}
    confidence = judged.get("confidence")
    return Ground(
        finding=finding,
        outcome=labels.name(labels.VERDICTS, finding.outcome),
        doubt=labels.name(labels.REASONS, finding.reason),
        rule=in_words(logic, metadata) if logic is not None else "",
        read=tuple(_read(one, metadata) for one in detail) if isinstance(detail, list) else (),
        confidence=round(100 * confidence) if isinstance(confidence, int | float) else None,
        quotes=tuple(judged.get("evidence") or ()),
    )


def _read(one: dict[str, Any], metadata: StudyMetadata) -> ReadValue:
    field, code = metadata.columns.get(one["var"], (one["var"], ""))
    name = metadata.label(field)
    if code:
        name = f"{name} [{metadata.choices(field).get(code, code)}]"
    place = metadata.event_label(one.get("event") or "")
    if one.get("instance"):
        place = (
            f"{place} {metadata.form_label(one.get('instrument') or '')} #{one['instance']}".strip()
        )
    text = one.get("label") or one.get("raw")
    unit = metadata.unit(field) if not one.get("label") else ""
    shown = "-" if text in (None, "") else f"{text} {unit}".strip()
    if (
        one.get("unit") and one.get("value") is not None
    ):  # compared in another unit than it was typed
        shown += f" = {localize(round(one['value'], _DIGITS))} {one['unit']}"
    return ReadValue(name, place, shown, labels.name(labels.REASONS, one.get("reason") or ""))
