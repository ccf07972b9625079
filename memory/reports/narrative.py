"""Distilling a week's conversations part by part (seed 002, 3.3: the flow log is read for reports alone).

Each part is kept as a note, so that a large week fits under every limit, and an outage costs one part.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import IntegrityError

from house.db import atomic
from integrations import tokens
from memory.hot import similarity
from memory.log import flow_log
from memory.models import WeeklyNote
from memory.reports import checks, narrator
from memory.reports.checks import Entry
from memory.reports.narrator import (
    Brief,
    Line,
    NarratorDown,
    Said,
)
from memory.reports.weeks import Week, bounds
from projects.models import Project

PART_TOKENS = 6000
PART_ROWS = 400
MOST_PARTS = 60
# Characters of a row that a model is shown as one line.
_PIECE = 3000
# Entries of a section that a report carries; what was decided stays whole as long as a page can hold it.
_MOST = {"decision": 40, "progress": 15, "pitfall": 15, "todo": 15}


@dataclass(frozen=True)
class Narrative:
    """The entries of a week by section; `more`: how many each leaves out; `unread`: rows that nobody read."""

    entries: dict[str, list[Entry]]
    more: dict[str, int]
    unread: int = 0


def step(project: Project, week: Week) -> bool:
    """Distil the next part of a week; False when there is none. Raises NarratorDown.

    Two workers at the same part: the second one's work is dropped.
    """
    notes = _notes(project, week)
    rows = _next(project, week, notes)
    if not rows or len(notes) >= MOST_PARTS:
        return False
    brief = Brief(project, week, list(_lines(rows)))
    said = _asked(brief)
    last = rows[-1].cursor
    note = WeeklyNote(
        project=project,
        week_number=week.number,
        part=len(notes) + 1,
        rows=len(rows),
        until_at=last.at,
        until_id=last.id,
        entries=[entry.stored for entry in checks.sound(brief, said)],
    )
    try:
        with atomic():
            note.save()
            said.save()
    except IntegrityError:
        return True
    return True


def _asked(brief: Brief) -> Said:
    """What the narrator says; the usage of a failed call is written as well."""
    try:
        return narrator.ask(brief)
    except NarratorDown as error:
        with atomic():
            error.save()
        raise


def _notes(project: Project, week: Week) -> list[WeeklyNote]:
    rows = WeeklyNote.objects.filter(project=project, week_number=week.number)
    return list(rows.order_by("part"))


def _cursor(notes: Sequence[WeeklyNote]) -> flow_log.Cursor | None:
    return flow_log.Cursor(notes[-1].until_at, notes[-1].until_id) if notes else None


def _next(project: Project, week: Week, notes: Sequence[WeeklyNote]) -> list[flow_log.Said]:
    """The rows behind the last note, as many as one request holds; at least one."""
    since, until = bounds(project, week)
    found = flow_log.for_report(project, since, until, after=_cursor(notes), most=PART_ROWS)
    size = 0
    taken: list[flow_log.Said] = []
    for row in found:
        size += tokens.count(row.text) + 10
        if taken and size > PART_TOKENS:
            break
        taken.append(row)
    return taken


def _lines(rows: Sequence[flow_log.Said]) -> Iterator[Line]:
    """Question and answer of a turn in their order; a very long message in pieces, none left out."""
    for row in sorted(rows, key=lambda row: (row.cursor.at, row.user_id, not row.is_user)):
        for at in range(0, max(len(row.text), 1), _PIECE):
            piece = row.text[at : at + _PIECE]
            yield Line(
                str(row.cursor.id), row.user_id, row.is_user, piece, row.cursor.at, row.record_ids
            )


def whole(project: Project, week: Week) -> Narrative:
    """What all parts of a week came to: each thing once, in the order of time."""
    notes = _notes(project, week)
    found = [Entry.of(stored) for note in notes for stored in note.entries]
    since, until = bounds(project, week)
    kept: dict[str, list[Entry]] = {}
    more: dict[str, int] = {}
    for section in checks.SECTIONS:
        once = _once([entry for entry in found if entry.section == section])
        kept[section] = once[: _MOST[section]]
        more[section] = len(once) - len(kept[section])
    return Narrative(kept, more, flow_log.left(project, since, until, _cursor(notes)))


def _once(entries: Sequence[Entry]) -> list[Entry]:
    """Without what was said before by the same person on the same day, or word for word."""
    kept: list[Entry] = []
    for entry in entries:
        if not any(_same(entry, other) for other in kept):
            kept.append(entry)
    return kept


def _same(one: Entry, other: Entry) -> bool:
    if similarity.normal(one.text) == similarity.normal(other.text):
        return True
    near = (one.date, one.speaker) == (other.date, other.speaker)
    return near and similarity.repeats(
        similarity.pieces(one.text)[:1], similarity.pieces(other.text)[:1]
    )


def covered(project: Project, week: Week, at: datetime) -> bool:
    """Whether every row of a week that ended before `at` was read."""
    since, until = bounds(project, week)
    return at >= until and not flow_log.left(project, since, until, _cursor(_notes(project, week)))
