"""Standard checks of a study, on and off: a workflow of their own, so that each change is a version.

And what a run looked at, told with its result: a pass says nothing of what was not checked.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from core.house.db import atomic
from engines.models import TaskRun
from engines.sop.batches import start_batch
from engines.sop.checks.kinds import GROUPS, Checks, Kind, kind_of
from engines.sop.dry import walk
from engines.sop.findings import GOOD, Observation
from projects.models import Project
from skills.models import Skill
from skills.services import SkillChanged, save_skill
from study.metadata import StudyMetadata
from study.models import Subject
from study.records import RecordData

TYPE, NODE = "qc_process:standard", "standard"


@dataclass(frozen=True)
class Previewed:
    """What the checks would find in one subject: each with the subject's id."""

    record_id: str
    seen: Observation

    @property
    def kind(self) -> Kind | None:
        """The check."""
        return kind_of(self.seen.rule_key)


def _skill_of(project: Project) -> Skill | None:
    return Skill.objects.filter(project=project, skill_type=TYPE).first()


def saved_checks(project: Project) -> tuple[dict[str, dict[str, Any]], bool]:
    """The checks as they were last saved, with what they are told; and whether they run."""
    skill = _skill_of(project)
    nodes = (skill.config.get("nodes") or {}) if skill else {}
    return {**(nodes.get(NODE) or {}).get("checks", {})}, bool(skill and skill.is_active)


def as_read(project: Project) -> str:
    """What a person reads who looks at the checks: sent back with what is switched (`switch`)."""
    return _stamp(_skill_of(project))


def _stamp(skill: Skill | None) -> str:
    return f"{skill.version} {skill.updated_at.isoformat()}" if skill else ""


def running(project: Project) -> frozenset[str]:
    """The kinds of standard checks that are on."""
    checks, is_on = saved_checks(project)
    return frozenset(checks) if is_on else frozenset()


def config_of(checks: Checks) -> dict[str, Any]:
    """The workflow that runs the checks when a record has changed."""
    node = {
        "type": "hard_rule",
        "checks": {kind: {**told} for kind, told in checks.items()},
        "on_pass": "end_success",
        "on_fail": "end_with_violation",
    }
    name = _("Standard checks")
    return {"name": name, "event": "record_changed", "start_node": NODE, "nodes": {NODE: node}}


def switch(
    *, project: Project, checks: Checks, actor: object, read: str | None = None
) -> Skill | None:
    """Let exactly these checks run from now on, and at once on everybody; none: the workflow rests.

    What else the workflow holds (rules, nodes, its trigger) stays; with rules of its own it goes on. Findings
    stay as they are: what a check found is closed by a person. `read`: what the sender had read (`as_read`).
    Raises ValidationError, SkillChanged.
    """
    before = saved_checks(project)
    skill = _skill_of(project)
    if read is not None and read != _stamp(skill):
        raise SkillChanged
    if skill is None and not checks:
        return None
    seen = {"updated_at": skill.updated_at} if skill else None
    if skill is None:
        skill = Skill(project=project, skill_type=TYPE, name=_("Standard checks"))
        skill.trigger_type, skill.config = Skill.Trigger.EVENT, config_of(checks)
    else:
        config = _with_checks(skill.config, checks)
        is_left = skill.is_active and config is not None
        skill.is_active = is_left or not {*checks}.isdisjoint(Kind.values)
        skill.config = config or skill.config
    with atomic():
        save_skill(skill=skill, actor=actor, read=seen)
        present = Subject.objects.filter(project=project, is_present=True).order_by("record_id")
        everybody = [*present.values_list("record_id", flat=True)]
        if checks and everybody and before != saved_checks(project):
            # What changes later is checked when it changes.
            start_batch(project=project, skill=skill, record_ids=everybody, actor=actor)
    return skill


def _with_checks(config: dict[str, Any], checks: Checks) -> dict[str, Any] | None:
    """The stored workflow with exactly these checks; None where its node would have nothing left to do.

    Raises ValidationError where the node is gone: another writer's workflow is not replaced.
    """
    nodes = config.get("nodes") or {}
    node = nodes.get(NODE) or {}
    if node.get("type") != "hard_rule":
        told = _("The workflow of the standard checks has no node “%s” any more: change it there.")
        raise ValidationError(told % NODE)
    other = {name: value for name, value in node.items() if name != "checks"}
    if not (checks or other.get("rules")):
        return None
    own = {"checks": {kind: {**told} for kind, told in checks.items()}} if checks else {}
    return {**config, "nodes": {**nodes, NODE: {**other, **own}}}


def preview(
    *, project: Project, checks: Checks, records: Iterable[RecordData], metadata: StudyMetadata
) -> list[Previewed]:
    """What the checks would find; nothing is stored. Raises RedcapError without a dictionary."""
    config = config_of(checks)
    found = [
        Previewed(data.record_id, seen)
        for data in records
        for seen in walk(project=project, config=config, data=data).observations
        if seen.outcome not in GOOD
    ]
    hidden = metadata.identifier_fields
    return [
        replace(one, seen=replace(one.seen, value=None)) if one.seen.field in hidden else one
        for one in found
    ]


def coverage(run: TaskRun, standing: Collection[str]) -> str:
    """The rules and checks of a run's hard-rule nodes, and which kinds of checks the study runs nowhere.

    `standing`: the standard checks that are on in the study. "" where the run has looked at nothing.
    """
    looked_at = [*_looked_at(run)]
    rules = sum(one.get("rules", 0) for one in looked_at)
    own = {kind for one in looked_at for kind in one.get("checks", ())}
    if not (rules or own):
        return ""
    told = []
    if rules and not any(one.get("findings") for one in looked_at):
        told.append(ngettext("%d rule passed", "%d rules passed", rules) % rules)
    elif rules:
        told.append(ngettext("%d rule checked", "%d rules checked", rules) % rules)
    if own:
        told.append(
            ngettext("%d standard check ran", "%d standard checks ran", len(own)) % len(own)
        )
    off = [str(label) for label, kinds in GROUPS if kinds.isdisjoint({*own, *standing})]
    if off:
        told.append(_("not switched on: %(checks)s") % {"checks": "、".join(off)})
    return _(";").join(told)


def _looked_at(run: TaskRun) -> Iterator[Mapping[str, Any]]:
    for step in run.trace or ():
        detail = step["result"].get("detail")
        if isinstance(detail, dict) and "findings" in detail:
            yield detail
