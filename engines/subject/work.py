"""Findings, reviews and runs of a subject as lines of the page; texts are the query's, words the console's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from engines import labels
from engines.models import TaskRun
from study.facts import Fact

_STATES: Mapping[str, tuple[Any, str]] = {
    "open": (gettext_lazy("Open"), "danger"),
    "data_changed": (gettext_lazy("Resolved by data change"), "warning"),
    "closed": (gettext_lazy("Closed"), "success"),
}


@dataclass(frozen=True)
class Line:
    """One row: a tag with its colour, what it says, and when."""

    tag: str
    colour: str
    text: str
    when: str


@dataclass(frozen=True)
class Section:
    """One kind of work; `address`: where all of it is worked on, `empty`: what is said where there is none."""

    name: str
    title: str
    lines: list[Line]
    address: str
    empty: str


def sections(work: Mapping[str, Sequence[Mapping[str, Fact]]], record_id: str) -> list[Section]:
    """The kinds of work and the changes of the data, the newest line first."""
    search = urlencode({"q": record_id})

    def page(model: str) -> str:
        return f"{reverse(f'admin:engines_{model}_changelist')}?{search}"

    return [
        Section(
            "findings",
            _("Findings"),
            [_finding(row) for row in work["findings"]],
            page("pendingaction"),
            _("There is no finding on this subject."),
        ),
        Section(
            "reviews",
            _("Reviews waiting"),
            [Line("", "", _text(row, "question"), _text(row, "since")) for row in work["reviews"]],
            reverse("admin:engines_review_desk"),
            _("No review waits for a decision."),
        ),
        Section(
            "runs",
            _("Runs"),
            [_run(row) for row in work["runs"]],
            page("taskrun"),
            _("Nothing has run on this subject."),
        ),
        Section(
            "changes",
            _("What changed"),
            [_change(row) for row in work["changes"]],
            "",
            _("No change has been read since the readings began."),
        ),
    ]


def _finding(row: Mapping[str, Fact]) -> Line:
    label, colour = _STATES.get(_text(row, "status"), ("", ""))
    return Line(str(label), colour, _text(row, "text"), _text(row, "opened"))


def _run(row: Mapping[str, Fact]) -> Line:
    status = _text(row, "status")
    known = TaskRun.Status(status) if status in TaskRun.Status.values else None
    label = known.label if known else status
    end = labels.name(labels.ENDS, _text(row, "final_state"))
    told = " · ".join(filter(None, [end, _text(row, "reason")]))
    return Line(
        str(label), (TaskRun.COLOURS[known] if known else "") or "", told, _text(row, "ended")
    )


def _change(row: Mapping[str, Fact]) -> Line:
    told = f"{_text(row, 'from') or '-'} → {_text(row, 'to') or '-'}"
    return Line(_text(row, "field"), "", told, _text(row, "at"))


def _text(row: Mapping[str, Fact], name: str) -> str:
    return row[name].text if name in row else ""
