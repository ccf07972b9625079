"""Distilling a week's conversations part by part (seed 002, 3.3: the flow log is read for reports alone).

Each part is kept as a note, so that a large week fits under every limit, and an outage costs one part.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import IntegrityError

from core.house.db import atomic
from core.integrations import tokens
from core.llm.job_llm import ModelDown
from memory.hot import similarity
from memory.log import flow_log
from memory.models import WeeklyNote
from memory.reports import narrator
from memory.reports.narrator import SECTIONS, Entry, Line
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
    """Distil the next part of a week; False when there is none. Raises ModelDown, its usage written.

    Two workers at the same part: the second one's work is dropped.
    """
    notes = _notes(project, week)
    rows = _next(project, week, notes)
    if not rows or len(notes) >= MOST_PARTS:
        return False
    lines = list(_lines(rows))
    try:
        said = narrator.narrate(project, lines)
    except ModelDown as error:
        with atomic():
            error.save()
        raise
    entries = narrator.sound(project, lines, said)
    note = WeeklyNote(
        project=project,
        week_number=week.number,
        part=len(notes) + 1,
        rows=len(rows),
        until_at=rows[-1].created_at,
        until_id=rows[-1].pk,
        entries=[entry.model_dump(mode="json") for entry in entries],
    )
    try:
        with atomic():
            note.save()
            said.save()
    except IntegrityError:
        return True
    return True


def _notes(project: Project, week: Week) -> list[WeeklyNote]:
    rows = WeeklyNote.objects.filter(project=project, week_number=week.number)
    return list(rows.order_by("part"))


def _next(project: Project, week: Week, notes: Sequence[WeeklyNote]) -> list[flow_log.Row]:
    """The rows behind the last note, as many as one request holds; at least one."""
    since, until = bounds(project, week)
    found = flow_log.for_report(
        project, since, until, after=notes[-1] if notes else None, most=PART_ROWS
    )
    size = 0
    taken: list[flow_log.Row] = []
    for row in found:
        size += tokens.count(row.content) + 10
        if taken and size > PART_TOKENS:
            break
        taken.append(row)
    return taken


def _lines(rows: Sequence[flow_log.Row]) -> Iterator[Line]:
    """Question and answer of a turn in their order; a very long message in pieces, none left out."""
    for row in sorted(rows, key=lambda row: (row.created_at, row.user_id, row.role == "assistant")):
        entities = row.entities if isinstance(row.entities, dict) else {}
        named = [row.record_id, *(entities.get("record_ids") or [])]
        for at in range(0, max(len(row.content), 1), _PIECE):
            yield Line(
                id=str(row.pk),
                user_id=row.user_id,
                is_user=row.role == "user",
                text=row.content[at : at + _PIECE],
                at=row.created_at,
                record_ids=tuple(dict.fromkeys(str(found) for found in named if found)),
            )


def all_parts(project: Project, week: Week) -> Narrative:
    """What all parts of a week came to: each thing once, in the order of time."""
    notes = _notes(project, week)
    found = [Entry.model_validate(stored) for note in notes for stored in note.entries]
    once: dict[str, list[Entry]] = {section: [] for section in SECTIONS}
    for entry in found:
        kept = once.get(entry.section, [])
        if not any(_same(entry, other) for other in kept):
            kept.append(entry)
    return Narrative(
        entries={section: kept[: _MOST[section]] for section, kept in once.items()},
        more={section: max(0, len(kept) - _MOST[section]) for section, kept in once.items()},
        unread=_unread(project, week, notes),
    )


def _same(one: Entry, other: Entry) -> bool:
    """Whether both say it word for word, or the same person says it on the same day in other words."""
    if similarity.normal(one.text) == similarity.normal(other.text):
        return True
    near = (one.date, one.speaker) == (other.date, other.speaker)
    return near and similarity.repeats(
        similarity.pieces(one.text)[:1], similarity.pieces(other.text)[:1]
    )


def _unread(project: Project, week: Week, notes: Sequence[WeeklyNote]) -> int:
    since, until = bounds(project, week)
    return flow_log.left(project, since, until, notes[-1] if notes else None)


def covered(project: Project, week: Week, at: datetime) -> bool:
    """Whether every row of a week that ended before `at` was read."""
    over = at >= bounds(project, week)[1]
    return over and not _unread(project, week, _notes(project, week))
