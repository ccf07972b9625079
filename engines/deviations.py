"""The register of protocol deviations: proposed from findings, graded or rejected by a person."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.timezone import now
from django.utils.translation import gettext as _

from core.house.db import atomic
from engines.models import Deviation, PendingAction, RunEvent
from engines.sop.checks.kinds import Kind, kind_of
from engines.sop.checks.serious import RULE
from engines.sop.errors import SopError
from engines.sop.findings import VERDICT
from projects import audit
from projects.models import Role

AT_ONCE = 200
GRADERS = (Role.PI, Role.ADMIN, Role.CRC)
"""Roles that confirm, grade and reject deviations of the subjects they see."""
_KINDS = (Kind.VISIT_WINDOW, Kind.VISIT_ORDER, Kind.CONSENT, Kind.PROHIBITED)
State, Grade, Source = Deviation.State, Deviation.Grade, Deviation.Source
_WINDOW = {Kind.VISIT_WINDOW, Kind.VISIT_ORDER}


class Undecided(SopError):
    """The decision lacks its grade or reason, or somebody else decided meanwhile."""

    code = "undecided"


def candidates() -> QuerySet[PendingAction]:
    """Open findings that tell of a deviation and are in no register yet: of windows, rules and late reports.

    What is only wrong with a value, what could not be told and what a model judged is none. A late report is
    one deviation, however often its date comes and goes.
    """
    of_kind = Q(pk__in=[])
    for kind in _KINDS:
        of_kind |= Q(rule_key__startswith=f"std.{kind}.")
    of_study = Q(action_type=PendingAction.Kind.VIOLATION) & ~(
        Q(rule_key__startswith="std.") | Q(rule_key=VERDICT) | Q(skill_type="qc_process:redcap_dq")
    )
    place = ("project", "record_id", "rule_key", "event", "instrument", "instance")
    same = PendingAction.objects.filter(
        deviation__state__in=(State.PROPOSED, State.CONFIRMED),
        **{name: OuterRef(name) for name in place},
    )
    rows = PendingAction.objects.filter(of_kind | of_study, outcome="FAIL")
    rows = rows.exclude(Q(rule_key__startswith=RULE) & Exists(same))
    return rows.unclosed().filter(record_id__isnull=False, deviation__isnull=True)


def propose_missing() -> None:
    """Propose what no event proposed."""
    propose(candidates().order_by("created_at")[:AT_ONCE])


def findings_opened(event: RunEvent) -> None:
    """Propose what a run has just found."""
    about = event.payload or {}
    keys = [UUID(key) for key in about.get("findings", ())]
    propose(candidates().filter(pk__in=keys))


def propose(findings: Iterable[PendingAction]) -> None:
    """Put findings into the register, each once however often it is proposed."""
    rows = [
        Deviation(
            project_id=one.project_id,
            finding=one,
            record_id=one.record_id or "",
            source=source_of(one.rule_key),
            text=one.message,
            found_at=one.created_at,
            unblinds=one.unblinds,
        )
        for one in findings
    ]
    if rows:
        Deviation.objects.bulk_create(rows, ignore_conflicts=True)


def source_of(rule_key: str) -> str:
    """What kind of finding a deviation was proposed from."""
    if rule_key.startswith(RULE):
        return Source.SAFETY
    return Source.WINDOW if kind_of(rule_key) in _WINDOW else Source.RULE


def check_decision(state: str, grade: str, reason: str) -> None:
    """Raises Undecided where a decision lacks what it is, its grade or its reason."""
    if state not in State.values:
        raise Undecided(_("Please choose what is to be done."))
    if not reason.strip():
        raise Undecided(_("Please say why."))
    if state == State.CONFIRMED and grade not in Grade.values:
        raise Undecided(_("Please choose major or minor."))


def decide(
    *,
    deviation: Deviation,
    state: str,
    actor: object,
    seen: str,
    grade: str = "",
    reason: str = "",
    measure: str = "",
) -> Deviation:
    """Confirm with a grade, reject, grade anew, or take back to proposed; each says why.

    `seen`: the row's `mark` as the person saw it. Raises Undecided.
    """
    check_decision(state, grade, reason)
    values: dict[str, Any] = {
        "state": state,
        "grade": grade if state == State.CONFIRMED else "",
        "reason": reason.strip(),
        "measure": measure.strip(),
        "decided_by": audit.actor_name(actor),
        "decided_at": now(),
    }
    if state == State.PROPOSED:  # why it was taken back stands in the trail
        if deviation.decided_at is None:
            raise Undecided(_("Nothing was decided about it."))
        values |= {"reason": "", "measure": "", "decided_by": "", "decided_at": None}
    same = Deviation.objects.filter(
        pk=deviation.pk, state=deviation.state, decided_at=deviation.decided_at
    )
    old = {"state": deviation.state, "grade": deviation.grade}
    with atomic():
        if deviation.mark != seen or same.update(**values) != 1:
            raise Undecided(_("Somebody else decided meanwhile. Please look at it again."))
        audit.record(
            "deviation.decide",
            actor=actor,
            project=deviation.project,
            subject=deviation,
            record_id=deviation.record_id,
            old=old,
            new={"state": state, "grade": values["grade"]},
            reason=reason.strip(),
        )
    deviation.refresh_from_db()
    return deviation
