"""What workflows listen to: the columns of changed data, and adverse events that were added to a subject."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from core.house import clock
from core.rules.redcap.calculation import formula_of
from engines.models import TaskRun
from engines.sop import snapshot
from engines.sop.snapshot import Rows
from projects.models import Project
from skills.graph import AE_FORM, Graph
from study import versions
from study.metadata import StudyMetadata
from study.readings import Key
from study.records import RecordData


def is_watched(graph: Graph, column: str, metadata: StudyMetadata) -> bool:
    """Whether a workflow listens to this export column."""
    name = metadata.columns.get(column, (column, ""))[0]
    form = metadata.fields.get(name, {}).get("form_name", "")
    return graph.event_field in {"", name} and graph.event_form in {"", form} and bool(form)


def new_events(
    project: Project, graph: Graph, data: RecordData, metadata: StudyMetadata, last: TaskRun | None
) -> Rows:
    """The places of adverse events that came after the workflow's `last` run on the subject, and since when.

    A place holds one where a field of the form is filled in, whether the form repeats, its event does, or
    neither. One that was deleted meanwhile and entered anew in its place is another one. Where the workflow has
    not run on the subject, what was followed up without it is old.
    """
    holds = partial(_holds, _nothing(graph, data, metadata))
    before = {_key(data, row) for row in snapshot.rows(last) if holds(row)} if last else set()
    read_at = clock.to_study_clock(last.read_at) if last and last.read_at else None
    found: Rows = []
    for row in filter(holds, data.rows):
        key = _key(data, row)
        since = read_at if last else versions.followed_since(project, key, holds)
        is_known = key in before if last else since is not None
        came = versions.came_back(project, key, holds)
        if not is_known or (came and since and came > since):
            found.append({**snapshot.place_of(row), "came": came.isoformat() if came else ""})
    return found


def _nothing(graph: Graph, data: RecordData, metadata: StudyMetadata) -> dict[str, str]:
    """The columns that somebody fills in for an event, each with what it holds besides "" where nobody did.

    A calculation tells nothing: REDCap saves it from other forms, too.
    """
    if not (graph.event_form or graph.event_field):
        graph = graph.model_copy(update={"event_form": AE_FORM})
    found: dict[str, str] = {}
    for column in {column: None for row in data.rows for column in row}:
        name, code = metadata.columns.get(column, (column, ""))
        is_entered = name != metadata.record_id_field and is_watched(graph, column, metadata)
        if is_entered and not formula_of(metadata.fields[name]):
            found[column] = "0" if code else ""
    return found


def _holds(nothing: Mapping[str, str], row: Mapping[str, Any]) -> bool:
    values = ((str(row.get(column) or "").strip(), none) for column, none in nothing.items())
    return any(value not in {"", none} for value, none in values)


def _key(data: RecordData, row: Mapping[str, Any]) -> Key:
    place = snapshot.place_of(row)
    return data.record_id, place["event"], place["instrument"], int(place["instance"] or 0)
