"""What a review puts before the person who decides: the same evidence in every door (design.md 9.9).

It is worked out when a version of the review is first shown, kept with it, and changed by nobody: what the
record calls shown is this, and in console and API the values of the subject beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _
from pydantic import BaseModel

from core.house.encrypted_fields import json_in
from engines.models import PendingAction, Review
from engines.sop import snapshot
from engines.sop.findings import VERDICT, value_words, witnesses_of
from engines.sop.snapshot import place_of
from skills.graph import Node
from study import dictionary
from study.design import StudyDesign
from study.metadata import StudyMetadata
from study.protocol import index
from study.protocol.rules import rule_lines

Rows = Sequence[Mapping[str, Any]]
Verbs = tuple[str, str]
"""The words of the two buttons."""
MOST_PASSAGES = 3


class SeenValue(BaseModel):
    """A value that a finding rests on: `day` of its row; `before`: what stood there when the rule read it."""

    var: str
    event: str = ""
    instrument: str = ""
    instance: str = ""
    raw: str = ""
    label: str = ""
    value: Any = None
    unit: str = ""
    reason: str = ""
    day: str = ""
    before: str | None = None


class SeenFinding(BaseModel):
    """A finding as it stood when the review was shown; `confidence` and `quotes` of a model's verdict."""

    id: str
    action_type: str
    severity: str
    message: str
    node: str
    rule_key: str
    field: str = ""
    event: str = ""
    instrument: str = ""
    instance: str = ""
    outcome: str = ""
    reason: str = ""
    value: str = ""
    read: list[SeenValue] = []
    confidence: float | None = None
    quotes: list[str] = []

    @property
    def is_undecided_model(self) -> bool:
        """Whether a model could not judge."""
        return self.rule_key == VERDICT and self.outcome != "FAIL"


class SeenPassage(BaseModel):
    """Lines of a document, whole, with the place where they stand."""

    document: str
    place: str
    text: str


class Brief(BaseModel):
    """The evidence of one version of a review."""

    findings: list[SeenFinding] = []
    passages: list[SeenPassage] = []


def kept_brief(review: Review) -> Brief | None:
    """The evidence as it was shown; None where this version was shown to nobody yet."""
    return Brief.model_validate(json_in(review.brief)) if review.brief else None


def brief_of(review: Review) -> Brief:
    """The evidence that a review shows; worked out and kept where it is shown for the first time."""
    if found := kept_brief(review):
        return found
    made = _made(review)
    if review.status != Review.Status.OPEN:
        return made
    text = made.model_dump_json()
    same = Review.objects.filter(pk=review.pk, version=review.version, brief__isnull=True)
    if same.update(brief=text) != 1:
        stored = Review.objects.filter(pk=review.pk, version=review.version)
        text = stored.values_list("brief", flat=True).first() or text
    review.brief = text
    return Brief.model_validate_json(text)


def prepare(run: UUID) -> None:
    """Work out what the open reviews of a run show before somebody is told of them.

    Outside of any transaction: the first question of a study reads its documents, which takes a while.
    """
    waiting = Review.objects.filter(task_run=run, status=Review.Status.OPEN, brief__isnull=True)
    for review in waiting.select_related("project", "task_run"):
        brief_of(review)


def verbs(review: Review, brief: Brief) -> Verbs:
    """What each button does, in the node's own words where it has some."""
    node = Node.model_validate(review.task_run.config["nodes"][review.node])
    failed = any(one.outcome == "FAIL" for one in brief.findings)
    if failed:
        default = _("Let it pass (override)"), _("Uphold the violation")
    elif brief.findings and all(one.is_undecided_model for one in brief.findings):
        default = _("Judge: criterion met"), _("Judge: criterion not met")
    elif brief.findings:
        default = _("Let it pass"), _("Do not let it pass")
    else:
        default = _("Approve"), _("Reject")
    return node.approve_label or default[0], node.reject_label or default[1]


def overrides(review: Review) -> bool:
    """Whether an approval goes over something that was found: a FAIL, or what a rule could not see to be met.

    Where a model could not judge nothing is overridden: the person judges. What a data change has resolved is
    no longer so.
    """
    rows = PendingAction.objects.filter(open_key__in=review.open_keys).exclude(
        state=PendingAction.State.DATA_CHANGED
    )
    told = rows.values_list("outcome", "rule_key")
    return any(outcome == "FAIL" or rule != VERDICT for outcome, rule in told)


def _made(review: Review) -> Brief:
    rows: Rows = json_in(review.values) or []
    found = PendingAction.objects.filter(open_key__in=review.open_keys).order_by("created_at")
    ranks = {severity: rank for rank, severity in enumerate(PendingAction.Severity.values)}
    ordered = sorted(found, key=lambda row: ranks.get(row.severity, len(ranks)))
    if not ordered:
        return Brief()
    metadata = dictionary.load(review.project)
    reader = _Reader(metadata, snapshot.design_for(review), rows)
    skill = review.task_run.skill.skill_type
    findings = [_finding(row, reader, skill) for row in ordered]
    return Brief(findings=findings, passages=_passages(review, findings))


def seen_alone(row: PendingAction) -> SeenFinding:
    """A finding by itself, with the values as its run read them."""
    design = snapshot.design_for(row)
    return _finding(row, _Reader(design.metadata, design, snapshot.rows(row.task_run)))


def _finding(row: PendingAction, reader: _Reader, skill: str = "") -> SeenFinding:
    """As its first rule told it; the rule that is cited is that of the workflow that asks, where it has one."""
    detail = json_in(row.detail) if row.detail else None
    judged = detail if isinstance(detail, dict) else {}
    read = detail if isinstance(detail, list) else judged.get("read", [])
    if not read and row.field and row.value:
        where = {"event": row.event, "instrument": row.instrument, "instance": row.instance}
        read = [{"var": row.field, "raw": row.value, **where}]
    names = SeenFinding.model_fields.keys() - {"id", "read", "confidence", "quotes"}
    about = {name: getattr(row, name) or "" for name in names}
    if mine := next((one for one in witnesses_of(row) if one[0] == skill), None):
        about |= {"node": mine[1], "rule_key": mine[2]}
    return SeenFinding(
        id=str(row.pk),
        **about,
        read=[one for said in read if (one := reader.value(said))],
        confidence=judged.get("confidence"),
        quotes=judged.get("evidence") or [],
    )


def _passages(review: Review, findings: Sequence[SeenFinding]) -> list[SeenPassage]:
    """What the protocol says of each criterion: of the section that rule or node cites, where it cites one."""
    nodes = review.task_run.config.get("nodes") or {}
    found: dict[tuple[str, str, str], SeenPassage] = {}
    for one in findings[:MOST_PASSAGES]:
        node = nodes.get(one.node, {})
        rules = {str(rule.get("id", "")): rule for rule in node.get("rules") or []}
        section = rules.get(one.rule_key, node).get("section", "")
        asked = [*([] if one.is_undecided_model else [one.message]), node.get("instruction", "")]
        if not section:  # the reason of a model may name nothing of the protocol
            asked.reverse()
        told = index.criterion(review.project, [text for text in asked if text], section)
        if told:
            passage = SeenPassage(
                document=told[0].document, place=told[0].place, text="\n".join(rule_lines(told))
            )
            found.setdefault((passage.document, passage.place, passage.text), passage)
    return [*found.values()]


class _Reader:
    """The values of a reading, found by their places."""

    def __init__(self, metadata: StudyMetadata, design: StudyDesign, rows: Rows) -> None:
        self.metadata, self.design = metadata, design
        self.rows = {tuple(place_of(row).values()): row for row in rows}

    def value(self, said: Mapping[str, Any]) -> SeenValue | None:
        """What was read, and what stands there now; None of a field that identifies somebody."""
        var = str(said["var"])
        field, box = self.metadata.columns.get(var, (var, ""))
        if field in self.metadata.identifier_fields:
            return None
        names = ("event", "instrument", "instance", "raw", "label", "unit", "reason")
        told = {name: value_words(said.get(name)) for name in names}
        if box:  # the label is the box's: only the value says whether it is ticked
            told["label"] = ""
        place = told["event"], told["instrument"], told["instance"]
        seen = SeenValue(var=var, value=said.get("value"), day=self._day(field, place), **told)
        row = self.rows.get(place)
        if (
            row is not None
            and var in row
            and value_words(row[var]) != seen.raw
            and "," not in seen.raw
        ):
            seen.before, seen.raw = seen.label or seen.raw, value_words(row[var])
            seen.label = "" if box else self.metadata.choices(field).get(seen.raw, "")
            seen.value, seen.unit, seen.reason = None, "", ""
        return seen

    def _day(self, field: str, place: tuple[str, str, str]) -> str:
        """The date of the row: of the field's form, else of the visit at this event; "" of a date itself."""
        form = self.design.form_of(field)
        own = self.design.form_dates.get(form, "")
        visits = [one.date_field for one in self.design.plan.visits]
        row = self.rows.get(place, {})
        if field == own or field in visits:
            return ""
        if day := value_words(row.get(own)) if own else "":
            return day
        base = self.rows.get((place[0], "", ""), {})
        return next((day for name in visits if (day := value_words(base.get(name)))), "")
