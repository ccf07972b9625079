"""The data a run works on: read once, kept with the run, compared again before a decision."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from django.utils.translation import gettext as _

from engines.models import Review, TaskRun
from engines.sop.errors import Fault, NoSuchSubject
from integrations.redcap import RedcapError, RedcapUnavailable
from projects.models import Project
from study import dictionary, records
from study.blinding import veil
from study.client import NotConfiguredError, redcap_client
from study.records import RecordData

Rows = list[dict[str, Any]]


def read(project: Project, record_id: str) -> RecordData:
    """The subject as REDCap holds it now. Raises Fault, NoSuchSubject."""
    try:
        redcap_client(project)  # before anything is read for a study that has none
        dictionary.ensure_fresh(project)
        data = records.read_record(project=project, record_id=record_id)
    except (RedcapError, NotConfiguredError) as error:
        message = _("REDCap could not be read: %(error)s") % {"error": error}
        raise Fault(message, transient=isinstance(error, RedcapUnavailable)) from error
    if data is None:
        raise NoSuchSubject(_("REDCap shows no such subject."), transient=False)
    return data


def keep(run: TaskRun, data: RecordData) -> None:
    """Put the data into the run (not saved), without what is blinded unless its workflow reads that."""
    data = as_read_by(run, data)
    run.data = json.dumps([dict(row) for row in data.rows], ensure_ascii=False)
    run.read_at = data.read_at
    run.is_complete = data.complete


def as_read_by(row: TaskRun | Review, data: RecordData) -> RecordData:
    """The subject as a run works on it, or as a review shows it."""
    return data if row.unblinds else veil.of_all(row.project).record(data)


def rows(run: TaskRun) -> Rows:
    """The rows the run started with; empty for a run about no subject."""
    content: Rows = json.loads(run.data) if run.data else []
    return content


def digest(run: TaskRun) -> str:
    """Hash of the run's data: the same where nothing of the subject has changed."""
    return fingerprint(rows(run))


def fingerprint(content: object) -> str:
    """Hash of anything JSON, independent of the order of keys."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
