"""Open data queries of REDCap, read so that nobody is asked twice (reference/redcap_dify.md 1.12).

Optional: a study switches it on where REDCap has the external module. Nothing is written back, and whatever
goes wrong leaves the queries as they were; the study's sync state tells since when.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.db.models import Q
from django.utils.timezone import localtime, now
from django.utils.translation import gettext as _

from core.house.db import atomic
from core.house.encrypted_fields import json_in
from core.integrations.redcap import RedcapError
from core.integrations.redcap.export import JsonRow
from core.privacy.gate import Gate
from core.privacy.outbound_policy import PrivacyError
from projects.models import Member, Project
from study import dictionary
from study.blinding.mask import columns_of, mask_for_all
from study.client import NotConfiguredError, redcap_client
from study.identifier_filter import IdentifierFilter
from study.identities import gate_for, unnamed
from study.metadata import StudyMetadata
from study.models import RedcapQuery, Subject, SyncState
from study.records import cause_of
from study.request_cache import Reader

log = logging.getLogger(__name__)

State = RedcapQuery.State
_READ = (
    *("record_id", "event", "instrument", "instance", "field", "state", "text", "opened_by"),
    *("assigned", "opened_at", "last_at", "read_at", "closed_at", "unblinds"),
)


def read_queries(project: Project) -> bool:
    """Read the study's open queries; False where REDCap did not tell them, which its sync state tells."""
    at = now()
    state, _new = SyncState.objects.get_or_create(project=project)
    try:
        metadata = dictionary.load(project)
        client = redcap_client(project, metadata.shape)
        told = client.open_queries(str(metadata.project.get("project_id") or ""))
        rows = _rows(project, metadata, told, at)
    except (RedcapError, NotConfiguredError) as error:
        log.warning("queries of %s were not read: %s", project.code, error)
        SyncState.objects.filter(pk=state.pk).update(queries_cause=cause_of(error))
        return False
    with atomic():
        # Of two that read at a time the one that began later knows more: the other writes nothing.
        fresher = SyncState.objects.filter(Q(queries_at=None) | Q(queries_at__lte=at), pk=state.pk)
        if not fresher.update(queries_at=at, queries_cause=""):
            return True
        RedcapQuery.objects.bulk_create(
            rows,
            update_conflicts=True,
            unique_fields=["project", "status_id"],
            update_fields=_READ,
        )
        left = RedcapQuery.objects.filter(project=project, read_at__lt=at)
        left.exclude(state=State.CLOSED).update(state=State.CLOSED, closed_at=at)
    return True


def as_of(state: SyncState | None) -> str:
    """Until when REDCap's queries are known (study's zone), and why no further, in the reader's language."""
    told = _("REDCap's queries were not read yet")
    if state and state.queries_at:
        at = localtime(state.queries_at, ZoneInfo(state.project.timezone))
        told = _("REDCap's queries as of %s") % f"{at:%Y-%m-%d %H:%M}"
    if state and state.queries_cause:
        told += "; " + _("not read since: %s") % state.get_queries_cause_display()
    return told


def _rows(
    project: Project, metadata: StudyMetadata, told: Sequence[JsonRow], at: datetime
) -> list[RedcapQuery]:
    safe, zone = _safe(project, metadata), ZoneInfo(project.timezone)
    mask = mask_for_all(project)
    hidden = columns_of(metadata, mask.fields) if mask.metadata else frozenset()
    events = {number: name for name, number in metadata.event_ids.items()}
    found = []
    for one in told:
        replies = one["resolutions"]
        times = [_moment(reply.get("ts"), zone, at) for reply in replies] or [at]
        comments = [text for reply in replies if (text := _text(reply.get("comment")))]
        field = _text(one.get("field_name"))
        event = events.get(_text(one.get("event_id")), "") if metadata.longitudinal else ""
        is_answered = bool(replies and _text(replies[-1].get("response")))
        row = RedcapQuery(
            project=project,
            status_id=int(one["status_id"]),
            record_id=_text(one["record"])[:100],
            event=event,
            field=field[:100],
            state=State.ANSWERED if is_answered else State.OPEN,
            opened_by=_text(replies[0].get("username"))[:150] if replies else "",
            assigned=_text(one.get("assigned_username"))[:150],
            opened_at=times[0],
            last_at=times[-1],
            read_at=at,
            # Of a rule's query nobody knows which fields it is about.
            unblinds=mask.metadata is not None and (not field or field in hidden),
        )
        row.instrument, row.instance = _repeat(metadata, row, _text(one.get("instance")))
        row.text = mask.text(safe(row.record_id, comments[-1])) if comments else ""
        found.append(row)
    return found


def _repeat(metadata: StudyMetadata, row: RedcapQuery, instance: str) -> tuple[str, str]:
    """Form and instance as an exported row has them: the module tells instance 1 also of what does not repeat.

    Nor is the form to be relied on, which the module does not keep of queries that it wrote (1.12).
    """
    form = metadata.form_of(row.field) if row.field else ""
    for one in metadata.repeating:
        event, repeats = _text(one.get("event_name")), _text(one.get("form_name"))
        if (event or row.event) == row.event and repeats in ("", form):
            return repeats, instance or "1"
    return "", ""


def _safe(project: Project, metadata: StudyMetadata) -> Callable[[str, str], str]:
    """What makes a comment on a subject safe: as notes are, then as what a reader of its site sends out.

    Such a reader must not learn of subjects of other sites either.
    """
    known = {one.record_id: one for one in Subject.objects.filter(project=project)}
    notes, gates = IdentifierFilter(project, metadata), dict[str, Gate]()

    def gate_of(site: str) -> Gate:
        if site not in gates:
            of_site = Member(project=project, site=site) if site else None
            gates[site] = gate_for(Reader(project, of_site))
        return gates[site]

    def safe(record_id: str, text: str) -> str:
        subject = known.get(record_id)
        own: dict[str, str] = json_in(subject.identifiers) if subject else {}
        try:
            return unnamed(notes.text(text, own), gate_of(subject.site if subject else ""))
        except PrivacyError:
            return ""

    return safe


def _moment(told: Any, zone: ZoneInfo, otherwise: datetime) -> datetime:
    """A time of REDCap's server, which is taken to be in the study's zone."""
    try:
        found = datetime.fromisoformat(_text(told))
    except ValueError:
        return otherwise
    return found if found.tzinfo else found.replace(tzinfo=zone)


def _text(told: Any) -> str:
    return str(told if told is not None else "").strip()
