"""“Corrected” as an answer to a finding: looked at in REDCap before it is noted, and checked again after.

Every door of the steps of a finding comes through here: card, console and API.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.utils import translation
from django.utils.translation import gettext as _

from core.house.db import atomic
from engines.models import PendingAction
from engines.sop import events, finding_life, findings, snapshot
from engines.sop.checks.kinds import Kind, kind_of
from engines.sop.errors import Fault, NoSuchSubject
from engines.sop.finding_life import Unfit
from study import dictionary, sync
from study.records import RecordData

_ELSEWHERE = {Kind.LAB_AE, Kind.AE_MEDICATION, Kind.DUPLICATE}
"""Checks that an entry in another row can put right."""


def move(*, finding: PendingAction, step: str, actor: object, reason: str = "") -> PendingAction:
    """As `finding_life.move`; an answer that says “corrected” is that step. Raises NoSuchStep, Unfit."""
    if step == "answer" and says_corrected(reason):
        step, reason = "correct", ""
    if step != "correct":
        return finding_life.move(finding=finding, step=step, actor=actor, reason=reason)
    if finding.state not in finding_life.STEPS[step].sources:
        return finding_life.move(finding=finding, step=step, actor=actor)
    data, columns = _corrected(finding)
    note = reason.strip() or _("Corrected")
    done = finding_life.move(finding=finding, step=step, actor=actor, reason=note)
    events.follow(finding.project, data, columns)
    return done


def close(*, finding: PendingAction, actor: object, resolution: str) -> bool:
    """As `findings.close_finding`; “corrected” closes nothing that stands unchanged in REDCap. Raises Unfit."""
    read = _corrected(finding) if finding.open_key and says_corrected(resolution) else None
    with atomic():
        done = findings.close_finding(finding, actor=actor, resolution=resolution)
    if done and read:
        events.follow(finding.project, *read)
    return done


def says_corrected(text: str) -> bool:
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
        raise Unfit(text % {"value": finding.value or _("blank")})
    sync.keep_some(finding.project, [data])
    return data, columns


def _changed(finding: PendingAction, data: RecordData) -> set[str]:
    rows = {tuple(snapshot.place_of(row).values()): row for row in data.rows}
    if not finding.field or kind_of(finding.rule_key) in _ELSEWHERE:
        read = snapshot.rows(finding.task_run)
        before = {tuple(snapshot.place_of(row).values()): row for row in read}
        return {
            name
            for place in {*rows, *before}
            for name in {*rows.get(place, {}), *before.get(place, {})}
            if _text(rows.get(place, {}).get(name)) != _text(before.get(place, {}).get(name))
        }
    return {
        one["var"]
        for one in _read(finding)
        if _now(rows, one, dictionary.load(finding.project).columns) != _text(one.get("raw"))
    }


def _read(finding: PendingAction) -> list[dict[str, Any]]:
    """The values that it rests on, as they were found."""
    detail = json.loads(finding.detail) if finding.detail else None
    read = detail.get("read") if isinstance(detail, dict) else detail
    where = {name: getattr(finding, name) for name in ("event", "instrument", "instance")}
    return read or [{"var": finding.field, "raw": finding.value, **where}]


def _now(
    rows: Mapping[tuple[object, ...], Mapping[str, Any]],
    one: Mapping[str, Any],
    columns: Mapping[str, tuple[str, str]],
) -> str:
    """What stands there now; of a checkbox the ticked codes, as they were kept."""
    row = rows.get(tuple(_text(one.get(name)) for name in ("event", "instrument", "instance")), {})
    if one["var"] in row:
        return _text(row[one["var"]])
    ticked = [
        code
        for column, (field, code) in columns.items()
        if field == one["var"] and code and _text(row.get(column)) == "1"
    ]
    return _text(ticked)


def _text(value: Any) -> str:
    return findings.value_words(value).strip()
