"""What changed in a subject since a review asked: the versions of its readings, as the reader may know them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from engines.models import Review
from integrations.redcap import RedcapError
from projects.access import member_in
from projects.scoping import User
from study import door
from study.client import NotConfiguredError
from study.facts import Fact
from study.metadata import StudyMetadata

_COLUMNS = ("field", "from", "to", "at")


@dataclass(frozen=True)
class Changed:
    """One value that is another now; `at`: when it was read, in the project's zone."""

    label: str
    place: str
    before: str
    after: str
    at: datetime


def since_asked(review: Review, user: User, metadata: StudyMetadata) -> list[Changed]:
    """Newest first; none where nothing is read of the subject. REDCap is not asked: a decision does that."""
    if not review.record_id:
        return []
    project, zone = review.project, ZoneInfo(review.project.timezone)
    asked = review.created_at.astimezone(zone).replace(tzinfo=None, microsecond=0)
    query = {
        "subjects": [review.record_id],
        "select": [f"@changes.{name}" for name in _COLUMNS],
        "where": [{"field": "@changes.at", "op": ">=", "value": f"{asked:%Y-%m-%d}"}],
    }
    member = member_in(user, project.pk)
    try:
        (answer,) = door.ask_all(project, member, [query], user=user, fresh=False)
    except (RedcapError, NotConfiguredError):
        return []
    told = [_changed(row, metadata) for row in _rows(answer.facts)]
    return sorted((one for one in told if one.at >= asked), key=lambda one: one.at, reverse=True)


def _rows(facts: list[Fact] | tuple[Fact, ...]) -> Iterator[Mapping[str, Fact]]:
    """Each change's facts by column; they come in the order of the query."""
    named = [(fact.field.rpartition(".")[2], fact) for fact in facts if fact.field]
    for start in range(0, len(named) - len(_COLUMNS) + 1, len(_COLUMNS)):
        yield dict(named[start : start + len(_COLUMNS)])


def _changed(row: Mapping[str, Fact], metadata: StudyMetadata) -> Changed:
    column, fact = row["field"].text, row["field"]
    name, code = metadata.columns.get(column, (column, ""))
    label = metadata.label(name)
    event = metadata.event_label(fact.event) if fact.event else ""
    return Changed(
        label=f"{label} [{metadata.choices(name).get(code, code)}]" if code else label,
        place=f"{event} #{fact.instance}" if fact.instance else event,
        before=row["from"].text or "-",
        after=row["to"].text or "-",
        at=datetime.fromisoformat(str(row["at"].value or row["at"].text)),
    )
