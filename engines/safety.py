"""The clocks of serious events of a study: its settings, keeping the clocks in step with what was read.

The settings are a workflow of their own, as those of the standard checks: each change is a version. The sweep
finds all it needs in the database, so that an outage puts off and loses nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.core.cache import cache
from django.db import IntegrityError
from django.utils.translation import gettext as _

from core.house import clock
from core.house.alone import alone, each
from core.house.db import atomic
from engines.models import ClockStage, PendingAction, SafetyClock
from engines.sop.batches import start_batch
from engines.sop.checks import serious
from engines.sop.checks.serious import CHECK, Place, Reporting, Ticking
from engines.sop.runs import start
from projects import audit
from projects.models import Project
from skills.mapping import aliases
from skills.models import Skill
from skills.services import save_skill
from study import dictionary, readings
from study.blinding.mask import names_blinded
from study.metadata import StudyMetadata
from study.models import Reading, ReadingState

TYPE, NODE, ACTOR = "qc_process:sae_clock", "reports", "system_clock"
WARNED = 4
"""Told again when less than this part of the hours is left."""
RESCAN_S = 3600
"""Unchanged readings are looked at again after so long: a report date may have come by then."""
State, Stage = SafetyClock.State, ClockStage.Stage
Key = tuple[str, str, str, str, str]
_KEPT = (
    *("hours", "started_at", "started_from", "due_at", "state"),
    *("reported_on", "is_unreadable", "unblinds"),
)
_ACTIONS = {State.REPORTED: "safety.report", State.WITHDRAWN: "safety.withdraw"}


def saved(project: Project) -> tuple[dict[str, Any], bool]:
    """What is set of a study's serious events; and whether the clocks run."""
    skill = Skill.objects.filter(project=project, skill_type=TYPE).first()
    return (_told(skill), skill.is_active) if skill else ({}, False)


def _told(skill: Skill) -> dict[str, Any]:
    nodes = skill.config.get("nodes") or {}
    return dict(((nodes.get(NODE) or {}).get("checks") or {}).get(CHECK) or {})


def switch(*, project: Project, told: Mapping[str, Any], actor: object) -> Skill | None:
    """Let the clocks run as `told` from now on; nothing told: they rest. Raises ValidationError.

    Subjects with open findings of late reports are looked at again.
    """
    skill = Skill.objects.filter(project=project, skill_type=TYPE).first()
    if skill is None and not told:
        return None
    skill = skill or Skill(project=project, skill_type=TYPE, name=_("Reports of serious events"))
    if told:
        skill.config = _config(project, told)
    skill.trigger_type, skill.is_active = Skill.Trigger.EVENT, bool(told)
    with atomic():
        save_skill(skill=skill, actor=actor)
        late = PendingAction.objects.filter(project=project, skill_type=TYPE).unclosed()
        subjects = sorted({row.record_id for row in late if row.record_id})
        if told and subjects:
            start_batch(project=project, skill=skill, record_ids=subjects, actor=actor)
    return skill


def _config(project: Project, told: Mapping[str, Any]) -> dict[str, Any]:
    node = {
        "type": "hard_rule",
        "checks": {CHECK: dict(told)},
        "on_pass": "end_success",
        "on_fail": "end_with_violation",
    }
    form = _form(dictionary.load(project), _reporting(project, told))
    about = {"name": _("Reports of serious events"), "event": "record_changed"}
    about |= {"event_form": form} if form else {}
    return {**about, "start_node": NODE, "nodes": {NODE: node}}


def _form(metadata: StudyMetadata, reporting: Reporting) -> str:
    """The form that all fields stand on, so that no other change starts anything; "" for several."""
    reported = (field for field, _hours in reporting.reports.values())
    names = filter(None, (reporting.serious, reporting.known, *reported))
    forms = {metadata.form_of(name) for name in names}
    return forms.pop() if len(forms) == 1 else ""


def _reporting(project: Project, told: Mapping[str, Any]) -> Reporting:
    return Reporting.of(told, aliases(project), project.timezone)


def sweep() -> None:
    """Bring the clocks of all studies in step, note what is to be told, and have overdue reports checked."""
    rows = Skill.objects.filter(skill_type=TYPE, is_active=True).select_related("project")
    skills = [*rows.exclude(project__status=Project.Status.CLOSED)]
    each("safety clocks", skills, keep_clocks)
    for skill in skills:
        running = SafetyClock.objects.filter(project=skill.project_id).running()
        for one in running.prefetch_related("stages"):
            alone("safety stages", partial(_advance, skill, one), one.pk)


def keep_clocks(skill: Skill) -> None:
    """Work out the clocks of a study from its readings, where these or the settings changed."""
    project = skill.project
    versions = ReadingState.objects.filter(project=project, read_at__isnull=False)
    version = versions.values_list("version", flat=True).first()
    mark = f"safety:{project.pk}:{version}:{skill.version}"
    if version is None or cache.get(mark):
        return
    reporting = _reporting(project, _told(skill))
    rows = readings.current_rows(project, dictionary.load(project))
    found = {
        (record_id, *serious.place(row)): row
        for record_id, told in rows.items()
        for row in told
        if reporting.is_serious(row)
    }
    with atomic():
        _keep(skill, reporting, found)
    cache.set(mark, 1, RESCAN_S)


def _keep(
    skill: Skill, reporting: Reporting, found: Mapping[tuple[str, str, str, str], Any]
) -> None:
    project = skill.project
    known: dict[Key, SafetyClock] = {
        (one.record_id, one.event, one.instrument, one.instance, one.recipient): one
        for one in SafetyClock.objects.filter(project=project)
    }
    first = {key[:4]: one.first_read_at for key, one in known.items()}
    unblinds = names_blinded(project, skill.config)
    seen: set[Key] = set()
    for where, row in found.items():
        record_id, event, instrument, instance = where
        read_at = first.get(where) or _first_read(project, record_id, (event, instrument, instance))
        for told in serious.ticking(reporting, row, read_at):
            key = (record_id, event, instrument, instance, told.recipient)
            seen.add(key)
            fresh = SafetyClock(
                project=project,
                record_id=record_id,
                event=event,
                instrument=instrument,
                instance=instance,
                recipient=told.recipient,
                first_read_at=read_at,
                **_values(told, unblinds),
            )
            _store(known.get(key), fresh)
    gone = [one for key, one in known.items() if key not in seen and one.state != State.WITHDRAWN]
    for one in gone:
        _change(one, {"state": State.WITHDRAWN})


def _values(told: Ticking, unblinds: bool) -> dict[str, Any]:
    return {
        "hours": told.hours,
        "started_at": told.started_at,
        "started_from": told.started_from,
        "due_at": told.due_at,
        "state": State.REPORTED if told.reported_on else State.RUNNING,
        "reported_on": told.reported_on,
        "is_unreadable": told.is_unreadable,
        "unblinds": unblinds,
    }


def _first_read(project: Project, record_id: str, place: Place) -> datetime:
    event, instrument, instance = place
    row = Reading.objects.filter(
        project=project,
        record_id=record_id,
        event=event,
        instrument=instrument,
        instance=int(instance or 0),
        is_current=True,
    )
    return row.values_list("first_seen", flat=True).first() or clock.now()


def _store(known: SafetyClock | None, fresh: SafetyClock) -> None:
    """Insert a clock, or bring the one that is there in step; the trail tells what came of it."""
    if known is None:
        try:
            with atomic():
                fresh.save(force_insert=True)
        except IntegrityError:  # another sweep inserted it in between and tells of it
            return
        _audited("safety.start", fresh)
        if fresh.state != State.RUNNING:
            _audited(_ACTIONS[State(fresh.state)], fresh)
        return
    values = {name: getattr(fresh, name) for name in _KEPT}
    changed = {name: one for name, one in values.items() if getattr(known, name) != one}
    if changed:
        _change(known, changed)


def _change(one: SafetyClock, changed: Mapping[str, Any]) -> None:
    SafetyClock.objects.filter(pk=one.pk).update(**changed)
    before = one.state
    for name, value in changed.items():
        setattr(one, name, value)
    if one.state != before:
        _audited(_ACTIONS.get(State(one.state), "safety.start"), one)


def _audited(action: str, one: SafetyClock) -> None:
    told = {
        "recipient": one.recipient,
        "instance": one.instance,
        "due": one.due_at.isoformat(),
        "reported": one.reported_on.isoformat() if one.reported_on else "",
    }
    audit.record(action, actor=ACTOR, project=one.project, record_id=one.record_id, new=told)


def stage_of(one: SafetyClock, at: datetime) -> str:
    """Which point a running clock has come to."""
    if one.due_at <= at:
        return Stage.OVERDUE
    soon = one.due_at - timedelta(hours=one.hours) / WARNED
    return Stage.SOON if soon <= at else Stage.STARTED


def _advance(skill: Skill, one: SafetyClock) -> None:
    """Note the point that a clock has come to, once; an overdue one is checked, which makes the finding.

    What a later point makes pointless is not told any more.
    """
    stage = stage_of(one, clock.now())
    noted = {(row.stage, row.due_at) for row in one.stages.all()}
    if (stage, one.due_at) in noted or (stage == Stage.STARTED and noted):
        return
    with atomic():
        row, is_new = ClockStage.objects.get_or_create(clock=one, stage=stage, due_at=one.due_at)
        if is_new and row.stage == Stage.OVERDUE:
            start(
                project=skill.project,
                skill=skill,
                record_id=one.record_id,
                triggered_by=ACTOR,
                cause=f"{CHECK}:{one.pk}:{one.due_at.isoformat()}",
            )


def untold(most: int) -> list[list[ClockStage]]:
    """Stages that nobody was told of, those of one event at one point together, the oldest first."""
    rows = ClockStage.objects.filter(told_at__isnull=True).select_related("clock__project")
    groups: dict[tuple[object, ...], list[ClockStage]] = {}
    for row in rows.order_by("pk")[:most]:
        one = row.clock
        event = (one.project_id, one.record_id, one.event, one.instrument, one.instance)
        groups.setdefault((*event, row.stage), []).append(row)
    return [*groups.values()]


def settle(stages: Iterable[ClockStage]) -> None:
    """Note in the caller's transaction that people were told."""
    keys = [row.pk for row in stages]
    ClockStage.objects.filter(pk__in=keys, told_at__isnull=True).update(told_at=clock.now())
