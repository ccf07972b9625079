"""What a decision rests on, in words: each finding with its rule, the values read, what the model said."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.formats import localize
from django.utils.translation import gettext as _

from core.rules.rule import rule_key
from engines import labels
from engines.models import PendingAction, Review, TaskRun
from engines.sop.brief import Brief, SeenFinding, SeenPassage, SeenValue, Verbs, brief_of, verbs
from engines.sop.nodes.soft_instruction import UNDECIDED
from skills.rule_words import in_words
from study import dictionary
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
    texts that the model rested on. `is_open`: nobody has closed it since it was first shown.
    """

    finding: SeenFinding
    outcome: str
    doubt: str
    rule: str
    read: tuple[ReadValue, ...]
    confidence: int | None
    quotes: tuple[str, ...]
    is_open: bool = True

    @property
    def told(self) -> str:
        """What was found; of a model that could not judge why: that it could not, the question says."""
        message = self.finding.message
        if self.finding.is_undecided_model:
            return message.removeprefix(UNDECIDED).lstrip(": ") or message
        return f"{self.outcome}: {message}" if self.outcome else message


@dataclass(frozen=True)
class Evidence:
    """What every door shows of a review: findings, passages of the protocol, and what each button does."""

    grounds: tuple[Ground, ...]
    passages: tuple[SeenPassage, ...]
    verbs: Verbs

    def lines(self) -> list[str]:
        """As a message tells it, without the values."""
        told: list[str] = []
        for one in self.grounds:
            told.append(one.told)
            if one.rule:
                told.append(f"{_('The rule wants')}: {one.rule}")
            told += [f"{_('Why it could not be met')}: {one.doubt}"] if one.doubt else []
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
    brief = brief_of(review)
    found = _of_brief(review, brief) if brief.findings else ()
    return Evidence(found, tuple(brief.passages), verbs(review, brief))


def _of_brief(review: Review, brief: Brief) -> tuple[Ground, ...]:
    keys = [one.id for one in brief.findings]
    rows = PendingAction.objects.filter(pk__in=keys, open_key__isnull=False)
    still = {str(key) for key in rows.values_list("pk", flat=True)}
    metadata = dictionary.load(review.project)
    return tuple(grounds(review.task_run, brief.findings, metadata, still))


def grounds(
    run: TaskRun, findings: Iterable[SeenFinding], metadata: StudyMetadata, still: Iterable[str]
) -> list[Ground]:
    """Findings in words; `still`: the ids of those that are open."""
    rules, still = _rules(run), {*still}
    return [
        _ground(one, rules.get((one.node, one.rule_key)), metadata, one.id in still)
        for one in findings
    ]


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


def _rules(run: TaskRun) -> dict[tuple[str, str], Any]:
    """(node, rule key) -> logic, of the configuration that the run started with."""
    nodes = run.config.get("nodes") or {}
    return {
        (name, rule_key(rule)): rule.get("logic")
        for name, node in nodes.items()
        for rule in node.get("rules") or []
    }


def _ground(seen: SeenFinding, logic: Any, metadata: StudyMetadata, is_open: bool) -> Ground:
    return Ground(
        finding=seen,
        outcome=labels.name(labels.VERDICTS, seen.outcome),
        doubt=labels.name(labels.REASONS, seen.reason),
        rule=in_words(logic, metadata) if logic is not None else "",
        read=tuple(_read(one, metadata) for one in seen.read),
        confidence=None if seen.confidence is None else round(100 * seen.confidence),
        quotes=tuple(seen.quotes),
        is_open=is_open,
    )


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
