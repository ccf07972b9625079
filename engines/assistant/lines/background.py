"""What is read beside a question, so that an answer can say what stands around the figure asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engines.assistant.understand.types import Query
from rules.context import Kind
from study.design import StudyDesign
from study.standing import ENROLLED, enrolled

MOST_NAMED = 3
"""Of so many subjects what stands around the question is listed, too."""

VISITS = ("visit", "state", "target", "open", "close", "actual", "days")
_OPEN = {"field": "@visits.state", "op": "in", "value": ["overdue", "due"]}
_TO_COME = {"field": "@visits.state", "op": "=", "value": "not_due"}


def of_subjects(subjects: Sequence[str], design: StudyDesign) -> Iterator[Query]:
    """How the subjects stand: the dates of the forms that are filled in once, visits open and to come."""
    if not 0 < len(subjects) <= MOST_NAMED:
        return
    dates = [*filter(None, [design.status_field]), *_dates(design)]
    yield {"subjects": [*subjects], "select": dates}
    select = [f"@visits.{name}" for name in VISITS]
    yield {"subjects": [*subjects], "where": [_OPEN], "select": select}
    # Of one subject the next visit is enough.
    next_one = {"limit": 1} if len(subjects) == 1 else {}
    yield {"subjects": [*subjects], "where": [_TO_COME], "select": select, **next_one}


def whole(subjects: Sequence[str], design: StudyDesign) -> Iterator[Query]:
    """Everything about subjects: forms filled in once, the rows of those that repeat."""
    metadata = design.metadata
    forms = list(dict.fromkeys(str(row["form_name"]) for row in metadata.fields.values()))
    once = [form for form in forms if _stands_once(form, design)]
    if 0 < len(subjects) <= MOST_NAMED:
        yield {"subjects": [*subjects], "select": once}
        for form in forms:
            if form in design.repeating_forms:
                yield {"subjects": [*subjects], "select": [form]}


def by_months() -> Iterator[Query]:
    """How many were enrolled in each month."""
    yield {"where": [ENROLLED], "aggregate": "count", "by": ["month:@enrolled"]}


def of_enrolment(design: StudyDesign, *, by_month: bool) -> Iterator[Query]:
    """How the study stands: enrolled in all and by site, its target, how many are of each status."""
    if by_month:
        yield from by_months()
    yield enrolled()
    yield {"select": ["@project.target"]}
    yield {"where": [ENROLLED], "aggregate": "count", "by": ["@site"]}
    if design.status_field:
        yield {"aggregate": "count", "by": ["@status"]}


def widened(query: Query, design: StudyDesign) -> Iterator[Query]:
    """The same of all places and rows: an answer may compare, and say what else there is.

    A field of a repeating form brings its whole rows: a grade alone does not say whose it is. One of a form
    that is filled in once brings what stands around it.
    """
    subjects = query.get("subjects") or ()
    if not 0 < len(subjects) <= MOST_NAMED:
        return
    named = [name for item in query.get("select") or () for name in _fields(item)]
    fields = [name for name in named if not name.startswith("@")]
    for name in dict.fromkeys(_form_or_field(name, design) for name in fields):
        yield {"subjects": [*subjects], "select": [name]}
    if len(fields) < len(named) and any(name.startswith("@visits.") for name in named):
        yield {"subjects": [*subjects], "select": [f"@visits.{name}" for name in VISITS]}


def _fields(item: object) -> list[str]:
    """The fields that a selected item reads."""
    if isinstance(item, str):
        return [item]
    if isinstance(item, dict):
        return [name for part in (item.get("field"), item.get("minus")) for name in _fields(part)]
    return []


def _form_or_field(name: str, design: StudyDesign) -> str:
    form = design.form_of(name)
    return form if form in design.repeating_forms or _stands_once(form, design) else name


def _stands_once(form: str, design: StudyDesign) -> bool:
    events = [event for event, held in design.context.forms_by_event.items() if form in held]
    return len(events) == 1 and form not in design.repeating_forms


def _dates(design: StudyDesign) -> list[str]:
    columns = design.context.columns
    visits = {visit.date_field for visit in design.plan.visits}
    return [
        name
        for name, row in design.metadata.fields.items()
        if name not in design.hidden | visits
        and name in columns
        and columns[name].kind in (Kind.DATE, Kind.DATETIME)
        and _stands_once(str(row["form_name"]), design)
    ]


def of_visits(subjects: Sequence[str]) -> Iterator[Query]:
    """All visits of some subjects."""
    if 0 < len(subjects) <= MOST_NAMED:
        yield {"subjects": [*subjects], "select": [f"@visits.{name}" for name in VISITS]}


def counts_people(query: Query, design: StudyDesign) -> bool:
    """Whether a query is about how the study stands: who is enrolled, of which status, the target."""
    about = {str(one.get("field")) for one in query.get("where") or ()}
    target = "@project.target" in (query.get("select") or ())
    figure = query.get("aggregate") in ("count", "share") and not query.get("subjects")
    standing = {"@enrolled", "@status", "@site", design.status_field, design.enrolment_field}
    return target or (figure and about <= standing)
