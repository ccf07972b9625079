"""What the page tells of a subject: StudyQueries of its reader, all from one read of the subject."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from engines.board.marks import Mark, mark
from engines.subject.chart import Chart, chart
from house import clock
from projects.access import member_in
from projects.models import Project
from projects.scoping import User
from study import door
from study.design import StudyDesign
from study.facts import Answer, Fact, Kind
from study.links import record_link
from study.visits import due

_WORK = {
    "@findings": ("status", "text", "opened", "age", "assignee"),
    "@reviews": ("question", "since"),
    "@runs": ("status", "final_state", "ended", "reason"),
    "@changes": ("field", "from", "to", "at"),
}


@dataclass(frozen=True)
class Form:
    """The rows of a form that repeats (adverse events, medication), a cell for each column."""

    label: str
    columns: list[str]
    rows: list[list[str]]


@dataclass(frozen=True)
class SubjectPage:
    """All of it; `work`: rows of findings, reviews, runs and changes, newest first; `link`: into REDCap."""

    visits: list[Mark]
    unscheduled: list[due.Unscheduled]
    site: str
    status: str
    labs: list[Chart]
    forms: list[Form]
    work: dict[str, list[dict[str, Fact]]]
    read_at: str
    link: str


def read(project: Project, user: User, record_id: str) -> SubjectPage | None:
    """What the user may see of the subject; None where REDCap has no such subject any more.

    Raises RedcapError or NotConfiguredError where it was never read, pydantic.ValidationError for a plan that
    nobody could follow.
    """
    asked = _Asked(record_id)
    member = member_in(user, project.pk)
    answers = iter(door.ask_all(project, member, asked, user=user))
    design, labs, forms = asked.design, asked.labs, asked.forms
    found = due.told(design, clock.today(project.timezone), [next(answers), next(answers)])
    if record_id not in found.sites:
        return None
    status = next(answers).facts if asked.status else ()
    return SubjectPage(
        visits=[mark(one, found.today) for one in found.visits],
        unscheduled=[*found.unscheduled],
        site=found.sites[record_id],
        status=next((fact.text for fact in status), ""),
        labs=[*filter(None, (_chart(design, name, next(answers)) for name in labs))],
        forms=[*filter(None, (_form(design, name, next(answers)) for name in forms))],
        work={kind.removeprefix("@"): _rows(next(answers).facts)[::-1] for kind in _WORK},
        read_at=found.read_on,
        link=record_link(project, design.metadata, record_id),
    )


class _Asked:
    """The page's queries, made of what its reader can know of the study."""

    design: StudyDesign
    labs: list[str]
    forms: list[str]
    status: list[list[str]]

    def __init__(self, record_id: str) -> None:
        self._record_id = record_id

    def __call__(self, design: StudyDesign) -> list[dict[str, Any]]:
        self.design, self.labs, self.forms = design, _labs(design), _forms(design)
        # A study without a field for it, or whose reader may not see it, has no status of subjects.
        shown = design.context.columns.keys() - design.hidden
        self.status = [["@status"]] if design.status_field in shown else []
        selected = [*self.status, *([name] for name in (*self.labs, *self.forms))]
        selected += [[f"{kind}.{name}" for name in columns] for kind, columns in _WORK.items()]
        subjects = [self._record_id]
        others = [{"subjects": subjects, "select": columns} for columns in selected]
        return [*due.questions(design, subjects), *others]


def _labs(design: StudyDesign) -> list[str]:
    """The fields that have limits, in the order of the dictionary."""
    shown = design.context.columns.keys() - design.hidden
    return [name for name in design.metadata.fields if name in design.ranges and name in shown]


def _forms(design: StudyDesign) -> list[str]:
    """The forms with several rows a subject that are filled in apart from visits."""
    return [form for form in design.shown_forms if form in design.repeating_forms]


def _chart(design: StudyDesign, name: str, answer: Answer) -> Chart | None:
    return chart(design.metadata.label(name), answer.facts)


def _form(design: StudyDesign, name: str, answer: Answer) -> Form | None:
    """The columns in which any row has something."""
    rows: dict[tuple[str, int | None], dict[str, str]] = {}
    for fact in answer.facts:
        if fact.kind is not Kind.BLANK and fact.text:
            rows.setdefault((fact.event, fact.instance), {})[fact.label] = _value(fact)
    columns = [*dict.fromkeys(fact.label for fact in answer.facts)]
    filled = [label for label in columns if any(label in row for row in rows.values())]
    if not rows:
        return None
    cells = [[row.get(label, "") for label in filled] for row in rows.values()]
    return Form(design.metadata.form_label(name), filled, cells)


def _value(fact: Fact) -> str:
    return f"{fact.text} {fact.unit}".strip()


def _rows(facts: Iterable[Fact]) -> list[dict[str, Fact]]:
    """Facts of work together by row: each row begins with the first of its columns."""
    rows: list[dict[str, Fact]] = []
    first = ""
    for fact in facts:
        first = first or fact.field
        if fact.field == first:
            rows.append({})
        rows[-1][fact.field.rpartition(".")[2]] = fact
    return rows
