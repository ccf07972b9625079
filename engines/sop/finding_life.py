"""What people do with a finding: judge it, ask the site, answer, hand it over, take it up again (issue I).

A finding is never deleted and never doubled; each step compares the state that its person saw, is kept as an
event of the finding and stands in the audit trail.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.conf import settings
from django.db import IntegrityError
from django.utils import translation
from django.utils.timezone import now
from django.utils.translation import gettext as _

from core.house.db import atomic
from core.integrations.redcap.export import SITE
from engines import redcap_asks
from engines.models import PendingAction
from engines.sop import events, findings, run_events, snapshot
from engines.sop.checks.kinds import OF_OTHER_ROWS, kind_of
from engines.sop.errors import Fault, NoSuchSubject, SopError
from engines.sop.findings import key_of
from engines.sop.journal import audited, note_event
from projects import audit
from projects.access import sees, tells_arm
from projects.models import Member
from study import dictionary, sync
from study.records import RecordData
from study.roster import with_site

State = PendingAction.State
Placed = Mapping[tuple[object, ...], Mapping[str, Any]]
"""Rows of a subject by their places."""

_WAITING = frozenset({State.OPEN, State.CONFIRMED, State.QUERIED, State.ANSWERED})


class NoSuchStep(SopError):
    """The finding is in no state from which this step leads on (any more)."""

    code = "wrong_state"


class Unfit(SopError):
    """The step lacks its reason, or names somebody who may not see the finding."""


@dataclass(frozen=True)
class Step:
    """From which states a step leads where; `needs_reason`: it says why."""

    sources: frozenset[str]
    target: str
    needs_reason: bool = True


STEPS: Mapping[str, Step] = {
    "confirm": Step(frozenset({State.OPEN, State.ANSWERED}), State.CONFIRMED, needs_reason=False),
    "query": Step(frozenset({State.OPEN, State.CONFIRMED, State.ANSWERED}), State.QUERIED),
    "answer": Step(frozenset({State.QUERIED}), State.ANSWERED),
    "correct": Step(_WAITING, State.ANSWERED, needs_reason=False),
    "reject": Step(_WAITING | {State.DATA_CHANGED, State.GONE}, State.REJECTED),
    "accept": Step(frozenset({State.DATA_CHANGED, State.GONE}), State.CLOSED, needs_reason=False),
    "reopen": Step(frozenset({State.CLOSED, State.REJECTED, State.DATA_CHANGED}), State.OPEN),
}


def possible(finding: PendingAction) -> list[str]:
    """The steps that lead on from the state of a finding."""
    return [name for name, step in STEPS.items() if finding.state in step.sources]


def move(*, finding: PendingAction, step: str, actor: object, reason: str = "") -> PendingAction:
    """Take one step; an answer that says “corrected” is that step, looked at in REDCap and checked again after.

    Raises NoSuchStep where the state is another one by now, Unfit without a reason or a correction, and for a
    query about what REDCap asks itself.
    """
    if step == "answer" and _says_corrected(reason):
        step, reason = "correct", ""
    found, name = STEPS[step], audit.actor_name(actor)
    if found.needs_reason and not reason.strip():
        raise Unfit(_("Please say why."))
    before, read = finding.state, None
    if before not in found.sources:
        raise NoSuchStep(_wrong(finding))
    if step == "query" and (number := redcap_asks.number_of(finding)):
        raise Unfit(redcap_asks.told(number) + _("; nobody is asked twice"))
    if step == "correct":
        read, reason = _corrected(finding), reason.strip() or _("Corrected")
    values = _values(finding, found, name, reason)
    try:
        with atomic():
            same = PendingAction.objects.filter(pk=finding.pk, state=before)
            if same.update(**values) != 1:
                raise NoSuchStep(_wrong(finding))
            note_event(finding, step, by=name, note=reason)
            _announce(finding, found.target, before)
            told = {"old": {"state": before}, "new": {"state": found.target}}
            action = "finding.reject" if found.target == State.REJECTED else "finding.step"
            audited(action, finding, actor=actor, reason=reason, **told)
    except IntegrityError as error:  # a later run has found the same again
        raise NoSuchStep(_("The same is open as another finding.")) from error
    finding.refresh_from_db()
    if read:
        events.follow(finding.project, *read)
    return finding


def close(*, finding: PendingAction, actor: object, resolution: str) -> bool:
    """Close an open finding; False when somebody else did.

    “Corrected” closes nothing that stands unchanged in REDCap. Raises Unfit.
    """
    read = _corrected(finding) if finding.open_key and _says_corrected(resolution) else None
    with atomic():
        done = findings.close_finding(finding, actor=actor, resolution=resolution)
    if done and read:
        events.follow(finding.project, *read)
    return done


def _values(finding: PendingAction, step: Step, name: str, reason: str) -> dict[str, Any]:
    if step.target in {State.REJECTED, State.CLOSED}:
        is_gone = finding.state == State.GONE
        why = _("The record was deleted in REDCap.") if is_gone else _("The data were changed.")
        told = reason.strip() or why
        ended = {"resolved_by": name, "resolved_at": now(), "resolution": told}
        return {"state": step.target, "open_key": None, **ended}
    if step.target == State.OPEN:
        fresh = {"resolved_by": None, "resolved_at": None, "resolution": None, "review": None}
        return {"state": step.target, "open_key": key_of(finding), **fresh}
    return {"state": step.target}


def _announce(finding: PendingAction, target: str, before: str) -> None:
    """Tell the channels of a query that was sent, or that nobody has to answer any more."""
    if target == State.QUERIED:
        run_events.keep_queried(finding)
    elif before == State.QUERIED:
        run_events.keep_settled(finding)


def assign(
    *, finding: PendingAction, assignee: str, due_on: date | None, actor: object
) -> PendingAction:
    """Give a finding to a member (by identity; "" takes it back), to be done by a day. Raises Unfit."""
    if finding.open_key is None:
        raise NoSuchStep(_wrong(finding))
    if assignee and assignee not in {one.identity for one in who_sees(finding)}:
        raise Unfit(_("There is no such member, or they may not see this finding."))
    with atomic():
        same = PendingAction.objects.filter(pk=finding.pk, open_key__isnull=False)
        if same.update(assignee=assignee, due_on=due_on) != 1:
            raise NoSuchStep(_wrong(finding))
        told = f"{assignee or '-'} {due_on or ''}".strip()
        note_event(finding, "assign", by=audit.actor_name(actor), note=told)
        old, new = _task(finding.assignee, finding.due_on), _task(assignee, due_on)
        audited("finding.assign", finding, actor=actor, old=old, new=new)
    finding.refresh_from_db()
    return finding


def comment(*, finding: PendingAction, text: str, actor: object) -> None:
    """Say something about a finding, whatever its state. Raises Unfit for nothing."""
    if not text.strip():
        raise Unfit(_("Please write something."))
    with atomic():
        note_event(finding, "comment", by=audit.actor_name(actor), note=text)
        audited("finding.comment", finding, actor=actor, reason=text)


def who_sees(finding: PendingAction) -> list[Member]:
    """The active members of the study who see a finding, with their site's subject in mind; one statement."""
    people = Member.objects.filter(project=finding.project_id, is_active=True)
    found: list[Any] = [*with_site(people.select_related("person__user"), finding.record_id)]
    about: dict[str, Any] = {"record_id": finding.record_id, "unblinds": tells_arm(finding)}
    owner = finding.task_run.triggered_by
    return [one for one in found if sees(one, site=one.subject_site, owner=owner, **about)]


def _task(assignee: str, due_on: date | None) -> dict[str, str]:
    return {"assignee": assignee, "due_on": due_on.isoformat() if due_on else ""}


def _wrong(finding: PendingAction) -> str:
    state = PendingAction.objects.get(pk=finding.pk).get_state_display()
    return _("This step is not possible: the finding is “%(state)s”.") % {"state": state}


def _says_corrected(text: str) -> bool:
    """Whether a text is the ready-made answer, in any language of the house."""
    told = text.strip().rstrip("。.!！").casefold()
    for code, _name in settings.LANGUAGES:
        with translation.override(code):
            if told == _("Corrected").casefold():
                return True
    return False


def _corrected(finding: PendingAction) -> tuple[RecordData, set[str]]:
    """The subject as it stands now, and which of the columns the finding rests on changed. Raises Unfit."""
    if not finding.record_id:
        raise Unfit(_("This finding is about no subject: please say what was done."))
    try:
        data = snapshot.read_subject(finding.project, finding.record_id)
    except NoSuchSubject as error:
        raise Unfit(str(error)) from error
    except Fault as error:
        text = _("REDCap could not be read, so nothing was noted as corrected. Please try again.")
        raise Unfit(text) from error
    columns = _changed(finding, snapshot.as_read_by(finding.task_run, data))
    if not columns:
        text = _("REDCap still shows what was found (%(value)s): it was not noted as corrected.")
        raise Unfit(text % {"value": _found(finding)})
    sync.keep_some(finding.project, [data])
    return data, columns


def _found(finding: PendingAction) -> str:
    """The value found; of one that identifies a person only what it is."""
    metadata, name = dictionary.load(finding.project), finding.field or ""
    if name in metadata.identifier_fields:
        return metadata.label(name)
    return finding.value or _("blank")


def _changed(finding: PendingAction, data: RecordData) -> set[str]:
    """Which columns are others than the finding's last run read them. Raises Unfit where that is not known."""
    metadata = dictionary.load(finding.project)
    before, live = _placed(snapshot.rows(findings.last_run_of(finding))), _placed(data.rows)
    if not finding.field or kind_of(finding.rule_key) in OF_OTHER_ROWS:
        names = _names(before) & _names(live) - {*snapshot.PLACE, SITE, metadata.record_id_field}
        if not names:
            raise _unread()
        return {
            name
            for place in {*live, *before}
            for name in names
            if _text(live.get(place, {}).get(name)) != _text(before.get(place, {}).get(name))
        }
    return {
        one["var"]
        for one in _read(finding, metadata.identifier_fields)
        if _cell(live, one, metadata.columns)
        != (_text(one["raw"]) if "raw" in one else _cell(before, one, metadata.columns))
    }


def _read(finding: PendingAction, hidden: Collection[str]) -> list[dict[str, Any]]:
    """The values that it rests on, as they were found; without what identifies somebody (`hidden`)."""
    detail = json.loads(finding.detail) if finding.detail else None
    read = (detail.get("read") if isinstance(detail, dict) else detail) or []
    where = {name: getattr(finding, name) for name in ("event", "instrument", "instance")}
    own = {"var": finding.field, **where}
    if finding.field in hidden and not finding.value:
        return [own, *read]
    return read or [own | {"raw": finding.value}]


def _placed(rows: Iterable[Mapping[str, Any]]) -> Placed:
    return {tuple(snapshot.place_of(row).values()): row for row in rows}


def _names(rows: Placed) -> set[str]:
    return {name for row in rows.values() for name in row}


def _cell(rows: Placed, one: Mapping[str, Any], columns: Mapping[str, tuple[str, str]]) -> str:
    """What stands there; of a checkbox the ticked codes, as kept. Raises Unfit for what is not shown."""
    var = one["var"]
    boxes = {column: code for column, (field, code) in columns.items() if field == var and code}
    if not {*(boxes or [var])} <= _names(rows):
        raise _unread()
    row = rows.get(tuple(_text(one.get(name)) for name in ("event", "instrument", "instance")), {})
    if not boxes:
        return _text(row.get(var))
    return _text([code for column, code in boxes.items() if _text(row.get(column)) == "1"])


def _unread() -> Unfit:
    return Unfit(_("What this finding rests on cannot be read any more: please say what was done."))


def _text(value: Any) -> str:
    return findings.value_words(value).strip()
