"""What a reviewer is shown (design.md 9.9): each finding with its rule, the values read, what a model said."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.formats import localize
from django.utils.translation import gettext as _

from core.house.encrypted_fields import json_in
from core.rules.rule import rule_key
from engines import labels, redcap_asks
from engines.models import PendingAction, Review, TaskRun
from engines.sop.asking import waiting_for
from engines.sop.brief import SeenFinding, SeenPassage, SeenValue, Verbs, brief_of, overrides, verbs
from engines.sop.findings import LISTED
from engines.sop.nodes.soft_instruction import UNDECIDED
from skills.rule_words import in_words
from study import dictionary
from study.display import display_rows
from study.metadata import StudyMetadata

_DIGITS = 4
"""Of a value that was converted."""


@dataclass(frozen=True)
class ReadValue:
    """A value that a rule read or a model judged; `doubt` says why it could not be used, "" where it could.

    `day` is the date of its row; `before`: what stood there when it was read, "" where it still does.
    """

    label: str
    place: str
    day: str
    text: str
    doubt: str
    before: str

    def __str__(self) -> str:
        """`V2 2026-09-03 ALT 185 U/L`."""
        was = _("(was %(before)s)") % {"before": self.before} if self.before else ""
        return " ".join(
            filter(None, [self.place, self.day, self.label, self.text, was, self.doubt])
        )


@dataclass(frozen=True)
class Ground:
    """One finding as it is shown.

    `rule` is the rule in words, "" where a model judged; then `confidence` is 0 … 100 and `quotes` are the
    texts that the model rested on. `is_open`: nobody has closed it since it was first shown. `asked`: that
    REDCap asks about the same place itself, "" where it does not.
    """

    finding: SeenFinding
    outcome: str
    doubt: str
    rule: str
    read: Sequence[ReadValue]
    confidence: int | None
    quotes: Sequence[str]
    is_open: bool
    asked: str = ""

    @property
    def told(self) -> str:
        """What was found; of a model that could not judge why: that it could not, the question says."""
        message = self.finding.message
        if self.finding.is_undecided_model:
            return message.removeprefix(UNDECIDED).lstrip(": ") or message
        return f"{self.outcome}: {message}" if self.outcome else message


@dataclass(frozen=True)
class Evidence:
    """What every door shows of a review: findings, passages of the protocol, and what each button does.

    `is_complete`: REDCap showed all data of the subject.
    """

    grounds: Sequence[Ground]
    passages: Sequence[SeenPassage]
    verbs: Verbs
    is_complete: bool

    def lines(self) -> list[str]:
        """As a message tells it, without the values."""
        told = [] if self.is_complete else [_("REDCap did not show all data of the subject.")]
        for one in self.grounds:
            told.append(one.told)
            if one.rule:
                told.append(f"{_('The rule wants')}: {one.rule}")
            told += [f"{_('Why it could not be met')}: {one.doubt}"] if one.doubt else []
            told += [one.asked] if one.asked else []
            told += [f"“{quote}”" for quote in one.quotes if quote not in one.finding.message]
        return told

    def values(self) -> list[str]:
        """Each value with its place and date, once."""
        return [*dict.fromkeys(str(value) for one in self.grounds for value in one.read)]

    def protocol(self) -> list[str]:
        """`研究方案 §4.2: …`"""
        return [
            line
            for one in self.passages
            for line in f"{one.document} {one.place}: {one.text}".splitlines()
        ]


def evidence(review: Review) -> Evidence:
    """The evidence of a review, in the reader's language."""
    brief, found = brief_of(review), list[Ground]()
    if brief.findings:
        keys = [one.id for one in brief.findings]
        rows = PendingAction.objects.filter(pk__in=keys, open_key__isnull=False)
        numbered = redcap_asks.with_numbers(rows).values_list("pk", "redcap_query")
        still = {str(key): number for key, number in numbered}
        metadata = dictionary.load(review.project)
        found = grounds(review.task_run, brief.findings, metadata, still)
    return Evidence(found, brief.passages, verbs(review, brief), review.is_complete)


def grounds(
    run: TaskRun,
    findings: Iterable[SeenFinding],
    metadata: StudyMetadata,
    still: Mapping[str, int | None],
) -> list[Ground]:
    """Findings in words, by the run's configuration; `still`: the ids of those that are open.

    Each with the number of REDCap's own query, None where it asks nothing.
    """
    rules = {
        (name, rule_key(rule)): rule["logic"]
        for name, node in (run.config.get("nodes") or {}).items()
        for rule in node.get("rules") or []
    }
    return [
        Ground(
            finding=_unnamed(one, metadata),
            outcome=labels.name(labels.VERDICTS, one.outcome),
            doubt=labels.name(labels.REASONS, one.reason),
            rule=in_words(rules[place], metadata)
            if (place := (one.node, one.rule_key)) in rules
            else "",
            read=[_read(value, metadata) for value in one.read],
            confidence=None if one.confidence is None else round(100 * one.confidence),
            quotes=one.quotes,
            is_open=one.id in still,
            asked=redcap_asks.told(number) if (number := still.get(one.id)) else "",
        )
        for one in findings
    ]


def _unnamed(one: SeenFinding, metadata: StudyMetadata) -> SeenFinding:
    is_named = one.field in metadata.identifier_fields
    return one.model_copy(update={"value": ""}) if is_named else one


def fields_read(found: Sequence[Ground], metadata: StudyMetadata) -> set[str]:
    """The dictionary fields that any of the findings hangs on."""
    columns = {value.var for one in found for value in one.finding.read}
    fields = {metadata.columns.get(name, (name, ""))[0] for name in columns}
    return fields | {one.finding.field for one in found if one.finding.field}


def column_named(metadata: StudyMetadata, column: str) -> tuple[str, str, str]:
    """Of an export column its field, the code of its box ("" of no checkbox) and what people call it."""
    field, code = metadata.columns.get(column, (column, ""))
    name = metadata.label(field)
    choice = metadata.choices(field).get(code, code) if code else ""
    return field, code, f"{name} [{choice}]" if code else name


def place_of(metadata: StudyMetadata, event: str, instrument: str, instance: object) -> str:
    """`V2 Adverse events #3`: event, form of a repeat and its number."""
    form = metadata.form_label(instrument) if instrument else ""
    repeat = f"{form} #{instance}" if instance else ""
    return f"{metadata.event_label(event) if event else ''} {repeat.strip()}".strip()


def _read(one: SeenValue, metadata: StudyMetadata) -> ReadValue:
    field, code, name = column_named(metadata, one.var)
    place = place_of(metadata, one.event, one.instrument, one.instance)
    doubt = labels.name(labels.REASONS, one.reason)
    if field in metadata.identifier_fields:
        return ReadValue(name, place, "", "-", doubt, "")
    ticked = {"1": _("Yes"), "0": _("No")} if code else {}
    text = one.label or ticked.get(one.raw, one.raw)
    unit = metadata.unit(field) if not one.label else ""
    shown = f"{text} {unit}".strip() if text else "-"
    if one.unit and isinstance(
        one.value, int | float
    ):  # compared in another unit than it was typed
        shown += f" = {localize(round(one.value, _DIGITS))} {one.unit}"
    before = "" if one.before is None else ticked.get(one.before, one.before) or "-"
    return ReadValue(name, place, one.day, shown, doubt, before)


def review_view(review: Review) -> dict[str, Any]:
    """JSON of a review as the API shows it: its evidence, and the values of the subject beside it."""
    shown = evidence(review)
    return {
        "id": review.pk,
        "version": review.version,
        "status": review.status,
        "seen": review.seen,
        "node": review.node,
        "question": review.question,
        "reviewers": review.reviewers,
        "record_id": review.record_id,
        "values": values(review),
        "runs": [str(run.pk) for run in waiting_for(review)],
        "is_complete": shown.is_complete,
        "findings": [_finding(one) for one in shown.grounds],
        "passages": [one.model_dump() for one in shown.passages],
        "verbs": dict(zip(("approve", "reject"), shown.verbs, strict=True)),
        "reason_required": {"approve": overrides(review), "reject": True},
        "asked_at": review.created_at.isoformat(),
        "decided_by": review.decided_by or None,
        "decided_at": review.decided_at.isoformat() if review.decided_at else None,
        "reason": review.reason or None,
    }


def _finding(one: Ground) -> dict[str, Any]:
    seen = one.finding
    return {
        "id": seen.id,
        "action_type": seen.action_type,
        "rule": seen.rule_key,
        "rule_text": one.rule,
        **{name: getattr(seen, name) for name in LISTED},
        "read": [str(value) for value in one.read],
        "quotes": list(one.quotes),
        "confidence": seen.confidence,
        "open": one.is_open,
    }


def values(review: Review) -> list[dict[str, Any]]:
    """The non-blank values of the subject, identifiers left out: the decision does not need them."""
    rows = json_in(review.values)
    if not rows:
        return []
    return [
        {
            "event": row.event,
            "event_label": row.event_label,
            "instrument": row.instrument,
            "instance": row.instance,
            "field": item.field,
            "label": item.label,
            "value": item.raw,
            "text": item.text,
            "unit": item.unit,
        }
        for row in display_rows(dictionary.load(review.project), rows)
        for item in row.values
        if not item.identifier
    ]
