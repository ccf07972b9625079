"""The clocks of serious events of a study: its settings, keeping the clocks in step with what was read.

The settings are a workflow of their own, as those of the standard checks: each change is a version. The sweep
finds all it needs in the database, so that an outage puts off and loses nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

from django.core.cache import cache
from django.db import IntegrityError
from django.db.models import Q
from django.utils.translation import gettext as _

from core.house import clock
from core.house.alone import alone, each
from core.house.db import atomic, is_new
from engines import deviations
from engines.models import ClockStage, PendingAction, SafetyClock, TaskRun
from engines.models.safety import ClockQuerySet
from engines.sop.batches import start_batch
from engines.sop.checks import serious
from engines.sop.checks.serious import CHECK, RULE, Reporting, Ticking
from engines.sop.findings import found_over
from engines.sop.runs import start
from projects import audit
from projects.models import Project
from skills.mapping import aliases
from skills.models import Skill
from skills.services import save_skill
from study import dictionary, readings, versions
from study.blinding.mask import names_blinded
from study.metadata import StudyMetadata
from study.models import ReadingState

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


def serious_of(project: Project) -> tuple[str, str]:
    """The field that says that an event is serious and its code for it, as they were saved; "" for none."""
    told = saved(project)[0]
    name = told.get("serious", "")
    return (aliases(project).get(name, name), told["code"]) if name else ("", "")


def _told(skill: Skill) -> dict[str, Any]:
    nodes = skill.config.get("nodes") or {}
    return dict(((nodes.get(NODE) or {}).get("checks") or {}).get(CHECK) or {})


def switch(*, project: Project, told: Mapping[str, Any], actor: object) -> Skill | None:
    """Let the clocks run as `told` from now on; nothing told: none runs. Raises ValidationError.

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
        if not told:
            _withdraw(SafetyClock.objects.filter(project=project).running())
    return skill


def _config(project: Project, told: Mapping[str, Any]) -> dict[str, Any]:
    node = {
        "type": "hard_rule",
        "checks": {CHECK: dict(told)},
        "on_pass": "end_success",
        "on_fail": "end_with_violation",
    }
    form = _form(dictionary.load(project), _reporting(project, told).fields)
    about = {"name": _("Reports of serious events"), "event": "record_changed"}
    about |= {"event_form": form} if form else {}
    return {**about, "start_node": NODE, "nodes": {NODE: node}}


def _form(metadata: StudyMetadata, names: Iterable[str]) -> str:
    """The form that all fields stand on, so that no other change starts anything; "" for several."""
    forms = {metadata.form_of(name) for name in names}
    return forms.pop() if len(forms) == 1 else ""


def _reporting(project: Project, told: Mapping[str, Any]) -> Reporting:
    return Reporting.of(told, aliases(project), project.timezone)


def sweep() -> None:
    """Bring the clocks of all studies in step, note what is to be told, and have overdue reports checked.

    Where they are switched off, or the study is closed, no clock runs on.
    """
    rows = Skill.objects.filter(skill_type=TYPE, is_active=True).select_related("project")
    skills = [*rows.exclude(project__status=Project.Status.CLOSED)]
    each("safety clocks", skills, keep_clocks)
    for skill in skills:
        running = SafetyClock.objects.filter(project=skill.project_id).running()
        for one in running.prefetch_related("stages"):
            alone("safety stages", partial(_advance, skill, one), one.pk)
    kept = [skill.project_id for skill in skills]
    resting = SafetyClock.objects.running().exclude(project__in=kept)
    alone("safety clocks at rest", partial(_withdraw, resting))


def keep_clocks(skill: Skill) -> None:
    """Work out the clocks of a study from its readings, where these or the settings changed.

    Where REDCap does not show a field that they rest on they stay as they are: it has not become blank.
    """
    project = skill.project
    states = ReadingState.objects.filter(project=project, read_at__isnull=False)
    version = states.values_list("version", flat=True).first()
    mark = f"{version}:{skill.version}"
    if version is None or cache.get(_mark_of(project.pk)) == mark:
        return
    reporting = _reporting(project, _told(skill))
    rows = readings.current_rows(project, dictionary.load(project))
    if not reporting.is_shown(row for told in rows.values() for row in told):
        return
    found = {
        (record_id, *serious.place(row)): row
        for record_id, told in rows.items()
        for row in told
        if reporting.is_serious(row)
    }
    with atomic():
        _keep(skill, reporting, found)
        _propose_late(skill, reporting)
        _look_again(skill, mark)
    cache.set(_mark_of(project.pk), mark, RESCAN_S)


def _mark_of(project: Any) -> str:
    return f"safety:{project}"


def _withdraw(running: ClockQuerySet) -> None:
    """Nobody asks for these reports any more; where somebody does again the next sweep starts the clocks."""
    with atomic():
        for one in running.select_related("project"):
            _change(one, {"state": State.WITHDRAWN})
            cache.delete(_mark_of(one.project_id))


def is_late(one: SafetyClock) -> bool:
    """Whether the report was made on a day after the one it was due."""
    due = one.due_at.astimezone(ZoneInfo(one.project.timezone)).date()
    is_reported = one.state == State.REPORTED
    return bool(is_reported and one.reported_on and one.reported_on > due)


def _propose_late(skill: Skill, reporting: Reporting) -> None:
    """Put late reports into the register that were never found overdue: they were entered with their date.

    What has a finding that is, or is about to be, in the register is left to it.
    """
    project = skill.project
    known = Q(deviation__isnull=False) | Q(outcome="FAIL", open_key__isnull=False)
    findings = PendingAction.objects.filter(known, project=project, skill_type=TYPE)
    place = ("record_id", "event", "instrument", "instance", "rule_key")
    told = {*findings.values_list(*place)}
    reported = SafetyClock.objects.filter(project=project, state=State.REPORTED)
    for one in reported.select_related("project"):
        key = (one.record_id, one.event, one.instrument, one.instance, f"{RULE}{one.recipient}")
        if one.recipient not in reporting.reports or key in told or not is_late(one):
            continue
        field = reporting.reports[one.recipient][0]
        seen, ended = serious.reported_late(one, field, reporting.zone)
        run = _checked(skill, one.record_id, f"late:{one.pk}:{one.due_at.isoformat()}")
        deviations.propose([found_over(run, NODE, seen, actor=ACTOR, resolution=ended)])


def _look_again(skill: Skill, mark: str) -> None:
    """Have what could not be told while REDCap did not show a field checked, now that it does."""
    unknown = PendingAction.objects.filter(project=skill.project, skill_type=TYPE).unclosed()
    rows = unknown.filter(reason=serious.NOT_SHOWN).order_by().values_list("record_id", flat=True)
    for record_id in rows.distinct():
        _checked(skill, record_id or "", f"shown:{mark}:{record_id}")


def _checked(skill: Skill, record_id: str, why: str) -> TaskRun:
    """The run that checks a subject's reports for one reason; started once."""
    return start(
        project=skill.project,
        skill=skill,
        record_id=record_id,
        triggered_by=ACTOR,
        cause=f"{CHECK}:{why}",
    )


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
        row_key = (record_id, event, instrument, int(instance or 0))
        read_at = first.get(where) or versions.held_since(project, row_key, reporting.is_serious)
        read_at = read_at or clock.now()
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
    for key, one in known.items():
        if key not in seen and one.state == State.RUNNING:  # what was reported stays so
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
        if one.state == State.RUNNING:  # its cards were closed: all is told anew
            one.stages.all().delete()
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
        row = ClockStage(clock=one, stage=stage, due_at=one.due_at)
        if is_new(row) and stage == Stage.OVERDUE:
            # Told anew, it is checked anew, too.
            _checked(skill, one.record_id, f"{one.pk}:{one.due_at.isoformat()}:{row.pk}")


def untold(most: int) -> list[list[ClockStage]]:
    """Stages that nobody was told of, those of one event at one point together, the oldest first."""
    rows = ClockStage.objects.filter(told_at__isnull=True).select_related("clock__project")
    groups: dict[tuple[object, ...], list[ClockStage]] = {}
    for row in rows.order_by("pk")[:most]:
        one = row.clock
        event = (one.project_id, one.record_id, one.event, one.instrument, one.instance)
        groups.setdefault((*event, row.stage), []).append(row)
    return [*groups.values()]


def settle_stages(stages: Iterable[ClockStage]) -> int:
    """Note in the caller's transaction that people were told; of how many stages nobody did so before."""
    keys = [row.pk for row in stages]
    untold = ClockStage.objects.filter(pk__in=keys, told_at__isnull=True)
    return untold.update(told_at=clock.now())
