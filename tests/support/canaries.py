"""A house with two studies and a row of every table wherever one can be, each marked by where it is.

What a column's text holds follows from the tables themselves: a new one is filled without being named
here, unless a page of it cannot show any text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from datetime import UTC, date, datetime
from itertools import count
from typing import Any
from uuid import uuid4

from django.apps import apps
from django.contrib.auth.models import User
from django.db import IntegrityError, models, transaction
from django.db.models import Model

from projects.models import Member, Person, Project
from study.metadata import StudyMetadata
from study.models import Subject
from tests.skills.graphs import graph, human

Kind = type[Model]
STUDY, BETA, SITE_A, SITE_B, HOUSE = "QZSTUDY", "QZBETA", "QZSITEA", "QZSITEB", "QZHOUSE"
# Tables that hold no row of ours, or rows that the fixtures make.
GIVEN = (User, Person, Project, Member, Subject)
APART = {"contenttypes", "sessions"}
PERSONAL = {"user_id", "to_user", "from_user"}
OF_RECORDS = {"record_id", "record_ids"}
# Far from every other number on a page.
FIRST_KEY = 8_700_001
SMALL = 32_000
"""Keys of a small column stay below it."""


@dataclass(frozen=True)
class Place:
    """Where a row is: in a study, about a subject, of a person."""

    token: str
    project: Project
    record_id: str
    site: str
    member: Member


@dataclass
class Canaries:
    """The rows of each table by the mark of their place."""

    places: dict[str, Place]
    rows: dict[Kind, dict[str, Any]] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=lambda: count(FIRST_KEY))

    def fill(self) -> None:
        """Every table, those that others point at first."""
        for model in ordered(self.rows):
            self.rows[model] = {token: self._row(model, token) for token in self._tokens(model)}

    def more(self, times: int) -> None:
        """So many rows beside each, where the table takes more than one at a place."""
        for model in self.rows:
            if model in GIVEN:
                continue
            for token in [*self.rows[model]]:
                for _time in range(times):
                    self._saved(model, token)

    def at(self, model: Kind, token: str) -> Any:
        """The row at a place, else one of the same study, else any."""
        rows = self.rows[model]
        if token in rows or HOUSE in rows:
            return rows.get(token) or rows[HOUSE]
        near = [t for t in rows if (t == BETA) == (token == BETA)]
        return rows[near[0]] if near else None

    def _tokens(self, model: Kind) -> list[str]:
        names = {one.name for one in model._meta.concrete_fields}
        if "project" in names:
            own = [token for token in self.places if token not in (STUDY, SITE_A, SITE_B)]
            if names & PERSONAL:
                return own
            return [*((SITE_A, SITE_B) if names & OF_RECORDS else (STUDY,)), BETA]
        above: list[Any] = [
            one.related_model
            for one in model._meta.concrete_fields
            if one.many_to_one or one.one_to_one
        ]
        placed = [self.rows[one] for one in above if HOUSE not in self.rows.get(one, {HOUSE})]
        return [*placed[0]] if placed else [HOUSE]

    def _row(self, model: Kind, token: str) -> Any:
        row, is_new = self._saved(model, token)
        if not is_new:  # the study has its one row already
            named = {"project", *PERSONAL} & {one.name for one in model._meta.concrete_fields}
            return model._base_manager.get(**{one: getattr(row, one) for one in named})
        return model._base_manager.get(pk=row.pk)

    def _saved(self, model: Kind, token: str) -> tuple[Any, bool]:
        """A row for a place, and whether there was room for it."""
        row = model()
        for column in model._meta.concrete_fields:
            setattr(row, column.attname, self._value(model, column, token))
        try:
            with transaction.atomic():
                row.save_base(raw=True, force_insert=True)
        except IntegrityError:
            return row, False
        return row, True

    def _value(self, model: Kind, column: Any, token: str) -> Any:
        shaped = SHAPES.get(f"{model.__name__}.{column.name}")
        if shaped is not None:
            return shaped(token)
        if column.is_relation:
            return self._related(column, token)
        place = self.places.get(token)
        if place and column.name in PERSONAL:
            return place.member.identity
        if place and column.name in OF_RECORDS:
            return place.record_id if column.name == "record_id" else [place.record_id]
        return self._plain(column, f"{token} {model.__name__}.{column.name}", token)

    def _related(self, column: Any, token: str) -> Any:
        kind, place = column.related_model, self.places.get(token)
        if kind is column.model:
            return None
        if place and kind is Project:
            return place.project.pk
        if place and kind is Person:
            return place.member.person_id
        found = self.at(kind, token) if kind in self.rows else kind._base_manager.first()
        return found.pk if found else None

    def _plain(self, column: Any, text: str, token: str) -> Any:
        if column.name == "trace":
            return [{"thought": text}]
        if isinstance(column, models.JSONField):
            return [text] if column.default is list else {"note": text}
        if isinstance(column, models.UUIDField):
            return uuid4()
        if column.primary_key and isinstance(column, models.IntegerField):
            small = isinstance(column, models.SmallIntegerField)
            return next(self.numbers) % SMALL if small else next(self.numbers)
        if column.choices or isinstance(column, (models.BooleanField, models.URLField)):
            known = [value for value, _label in column.flatchoices] or [True]
            return column.get_default() if column.has_default() else known[0]
        if isinstance(column, (models.CharField, models.TextField)):
            whole = f"{text} {next(self.numbers)}" if column.unique else text
            short = f"{token}{next(self.numbers)}" if column.unique else token
            fits = column.max_length is None or len(whole) <= column.max_length
            return whole if fits else short[: column.max_length]
        return _other(column, next(self.numbers))


def _other(column: Any, number: int) -> Any:
    if isinstance(column, models.DateTimeField):
        return None if column.null else datetime(2026, 7, 1, tzinfo=UTC)
    if isinstance(column, models.DateField):
        return date(2026, 7, 1)
    if isinstance(column, models.GenericIPAddressField):
        return "127.0.0.1"
    if column.has_default():
        return column.get_default()
    figures = (models.IntegerField, models.DecimalField, models.FloatField)
    return number % 1000 if isinstance(column, figures) else None


def ordered(done: dict[Kind, Any]) -> list[Kind]:
    """The tables that are not there yet, those that others point at first."""
    found = [model for model in apps.get_models() if model._meta.app_label not in APART]
    todo, order = [model for model in found if model not in done], []
    while todo:
        for model in todo:
            needs = {one.related_model for one in model._meta.concrete_fields} - {model}
            if not needs & {*todo}:
                order.append(model)
                todo.remove(model)
                break
        else:
            raise AssertionError(f"tables in a ring: {todo}")
    return order


def _noted(token: str) -> str:
    return json.dumps({"note": token})


def _dictionary(token: str) -> Any:
    empty: dict[str, Any] = {one.name: [] for one in fields(StudyMetadata) if one.name != "answers"}
    project = {"project_title": token, "is_longitudinal": 0}
    column = {"field_name": token, "field_type": "text", "form_name": token, "field_label": token}
    return empty | {"project": project, "metadata": [column]}


def _workflow(token: str) -> Any:
    return graph(
        a=human(on_approve="end_success", on_reject="end_rejected") | {"description": token}
    )


# Rows on which something can still be done, and columns whose pages cannot show any text.
SHAPES: dict[str, Any] = {
    "Skill.config": _workflow,
    "SkillVersion.config": _workflow,
    "SkillDraft.config": _workflow,
    "SkillDraft.effective_on": lambda token: date(
        2099, 1, 1
    ),  # a day that has passed refuses every save
    "ModelAcceptance.endpoints": lambda token: {
        "ask": {"preset": "local", "model": f"{token} model", "address": "http://127.0.0.1/v1"}
    },
    "ModelAcceptance.cases": lambda token: [],
    "Skill.cron_schedule": lambda token: "",
    "VisitPlanEntry.anchor_field": lambda token: token,
    "VisitPlanEntry.date_field": lambda token: token,
    "FieldRole.field": lambda token: token,
    "FieldRole.of": lambda token: "",
    "ReferenceLimit.field": lambda token: token,
    "ReferenceLimit.low_field": lambda token: "",
    "ReferenceLimit.high_field": lambda token: "",
    "Synonym.meaning": lambda token: token,
    "TaskRun.config": _workflow,
    "TaskRun.trace": lambda token: [{"node": "a", "timestamp": "", "result": {"note": token}}],
    "TaskRun.status": lambda token: "CANCELLED" if token == SITE_B else "SUSPENDED",
    "TaskRun.question_key": lambda token: token,
    "Review.question_key": lambda token: token,
    "TaskRun.current_node": lambda token: "a",
    "TaskRun.final_state": lambda token: "",
    "TaskRun.data": lambda token: json.dumps([{"note": token}]),
    "Reading.values": _noted,
    "ProtocolUpload.warnings": lambda token: [["no_text", 1]],
    "Review.values": lambda token: "[]",
    "Review.brief": lambda token: json.dumps(
        {"passages": [{"document": token, "place": "", "text": token}]}
    ),
    "Review.node": lambda token: "a",
    "Review.reviewers": lambda token: [],
    "PendingAction.detail": _noted,
    "UserMemory.details": lambda token: {},
    "WeeklyReportVersion.version": lambda token: 1,
    "MemoryProposal.evidence": lambda token: [],
    "AgentTrace.replaced": lambda token: [],
    "AgentTrace.is_open": lambda token: True,
    "AgentTrace.trace": lambda token: [{"thought": token, "observation": token}],
    "LlmUsage.replaced": lambda token: [],
    "Dictionary.content": _dictionary,
    "Dictionary.answers": lambda token: {},
    "OutboxMessage.status": lambda token: "dead",
    "OutboxMessage.payload": _noted,
    "Card.content": _noted,
}
