"""Standard checks of a study, on and off: a workflow of their own, so that each change is a version.

And what a run looked at, told with its result: a pass says nothing of what was not checked.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

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
from skills.services import save_skill
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


def saved_checks(project: Project) -> tuple[dict[str, dict[str, Any]], bool]:
    """The checks as they were last saved, with what they are told; and whether they run."""
    skill = Skill.objects.filter(project=project, skill_type=TYPE).first()
    nodes = (skill.config.get("nodes") or {}) if skill else {}
    return {**(nodes.get(NODE) or {}).get("checks", {})}, bool(skill and skill.is_active)


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


def switch(*, project: Project, checks: Checks, actor: object) -> Skill | None:
    """Let exactly these checks run from now on, and at once on everybody; none: the workflow rests.

    Findings stay as they are: what a check found is closed by a person. Raises ValidationError.
    """
    before = saved_checks(project)
    skill = Skill.objects.filter(project=project, skill_type=TYPE).first()
    if skill is None and not checks:
        return None
    skill = skill or Skill(project=project, skill_type=TYPE, name=_("Standard checks"))
    if checks:
        skill.config = config_of(checks)
    skill.trigger_type, skill.is_active = Skill.Trigger.EVENT, bool(checks)
    with atomic():
        save_skill(skill=skill, actor=actor)
        present = Subject.objects.filter(project=project, is_present=True).order_by("record_id")
        everybody = [*present.values_list("record_id", flat=True)]
        if checks and everybody and before != saved_checks(project):
            # What changes later is checked when it changes.
            start_batch(project=project, skill=skill, record_ids=everybody, actor=actor)
    return skill


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
