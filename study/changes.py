"""`@changes`: what changed in the data, as a query of one reader may tell it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

from projects.models import Project
from study import registry, versions
from study.blinding.closure import columns_of, hidden_forms
from study.blinding.veil import Veil
from study.design import StudyDesign
from study.metadata import StudyMetadata
from study.versions import Change


def rows(
    project: Project, design: StudyDesign, veil: Veil, until: datetime | None = None
) -> registry.Rows:
    """{record id: [{"field", "from", "to", "at", "event", "instance"}]}, oldest first; choices by their labels.

    Without what the design hides from the reader, and what was read after `until`. Whose subjects they are is
    the caller's matter.
    """
    zone, metadata = ZoneInfo(project.timezone), design.metadata
    left_out = {*design.hidden, metadata.record_id_field}
    shown = {column for column, (name, _code) in metadata.columns.items() if name not in left_out}
    found = {}
    for record_id, changes in versions.of_project(project).items():
        known = [one for one in changes if until is None or one.at <= until]
        seen = _seen(known, metadata, veil, record_id)
        told = [_row(one, metadata, zone) for one in seen if one.column in shown]
        if told:
            found[record_id] = told
    return found


def _seen(
    changes: Sequence[Change], metadata: StudyMetadata, veil: Veil, record_id: str
) -> Iterator[Change]:
    """Those that the reader may learn of, with what would unblind masked in what people typed."""
    if veil.metadata is None or record_id in veil.opened:
        yield from changes
        return
    hidden, forms = columns_of(metadata, veil.fields), hidden_forms(metadata, veil.fields)
    told = {
        text for one in changes if one.column in veil.numbers for text in (one.before, one.after)
    }
    own = replace(veil, known=veil.known | (told - {""}))
    for one in changes:
        if one.column not in hidden and one.instrument not in forms:
            yield replace(one, before=own.text(one.before), after=own.text(one.after))


def _row(change: Change, metadata: StudyMetadata, zone: ZoneInfo) -> registry.WorkRow:
    at = change.at.astimezone(zone).replace(tzinfo=None)
    return {
        "field": change.column,
        "from": _label(metadata, change.column, change.before),
        "to": _label(metadata, change.column, change.after),
        "at": at.isoformat(timespec="seconds"),
        "event": change.event,
        "instance": change.instance or None,
    }


def _label(metadata: StudyMetadata, column: str, value: str) -> str:
    name, code = metadata.columns[column]
    return value if code else metadata.choices(name).get(value, value)
