"""The data a run works on: read once, kept with the run, compared again before a decision."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from django.utils.translation import gettext as _

from core.house.encrypted_fields import json_in
from core.integrations.redcap import PASSING, RedcapError
from core.rules.convert import Place
from engines.models import PendingAction, Review, TaskRun
from engines.sop.errors import Fault, NoSuchSubject
from projects.models import Project
from study import dictionary, records
from study.blinding import mask
from study.client import NotConfiguredError, redcap_client
from study.design import StudyDesign, design_of
from study.records import RecordData

Rows = list[dict[str, Any]]
PLACE = ("redcap_event_name", "redcap_repeat_instrument", "redcap_repeat_instance")


class Where(TypedDict):
    """Where a value stands, as findings name it: "" for none."""

    event: str
    instrument: str
    instance: str


def place_of(row: Mapping[str, Any]) -> Where:
    """Where a row of an export stands."""
    event, instrument, instance = (str(row.get(name) or "").strip() for name in PLACE)
    return {"event": event, "instrument": instrument, "instance": instance}


def named(place: Place) -> Where:
    """The same of a place as the rule engine knows it."""
    instance = "" if place.instance is None else str(place.instance)
    return {
        "event": place.event or "",
        "instrument": place.instrument or "",
        "instance": instance,
    }


def read_subject(project: Project, record_id: str) -> RecordData:
    """The subject as REDCap holds it now. Raises Fault, NoSuchSubject."""
    data = next(iter(read_subjects(project, [record_id])), None)
    if data is None:
        raise NoSuchSubject(_("REDCap shows no such subject."), transient=False)
    return data


def read_subjects(project: Project, record_ids: Sequence[str]) -> list[RecordData]:
    """Those of the subjects that REDCap has, as it holds them now, by one read. Raises Fault."""
    try:
        redcap_client(project)  # before anything is read for a study that has none
        dictionary.ensure_fresh(project)
        return records.read_records(project=project, record_ids=record_ids)
    except (RedcapError, NotConfiguredError) as error:
        message = _("REDCap could not be read: %(error)s") % {"error": error}
        raise Fault(message, transient=isinstance(error, PASSING)) from error


def keep_in_run(run: TaskRun, data: RecordData) -> None:
    """Put the data into the run (not saved), without what is blinded unless its workflow reads that."""
    data = as_read_by(run, data)
    run.data = json.dumps([dict(row) for row in data.rows], ensure_ascii=False)
    run.read_at = data.read_at
    run.is_complete = data.complete


def as_read_by(row: TaskRun | Review, data: RecordData) -> RecordData:
    """The subject as a run works on it, or as a review shows it."""
    return data if row.unblinds else mask.mask_for_all(row.project).record(data)


def hidden_from(row: TaskRun | Review | PendingAction) -> frozenset[str]:
    """The blinded fields that a run, review or finding does not know of."""
    return frozenset() if row.unblinds else frozenset(mask.mask_for_all(row.project).fields)


def design_for(row: TaskRun | Review | PendingAction) -> StudyDesign:
    """The design of the study as a run, review or finding knows it."""
    return design_of(row.project, hidden_from(row))


def rows(run: TaskRun) -> Rows:
    """The rows the run started with; empty for a run about no subject."""
    content: Rows = json_in(run.data) if run.data else []
    return content


def data_digest(run: TaskRun) -> str:
    """Hash of the run's data: the same where nothing of the subject has changed."""
    return fingerprint(rows(run))


def fingerprint(content: object) -> str:
    """Hash of anything JSON, independent of the order of keys."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
