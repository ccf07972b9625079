from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

from demo import seed
from demo.planted import CHECKS, CLEAN, PLANTED, Planted
from engines.sop.checks.kinds import Kind, kind_of
from engines.sop.dry import DryRun, walk
from engines.sop.findings import GOOD, Observation
from projects.models import Project
from skills.models import Skill
from study import records
from study.records import RecordData

STANDARD = "standard"


class Command(BaseCommand):
    help = "Runs the standard checks and the workflows over the demo study. Exit 1: planted errors are missed."

    def handle(self, *args: Any, **options: Any) -> None:
        project = seed.existing()
        if project is None:
            raise CommandError(_("There is no demo study."))
        found = _look(project)
        rows = [(planted, _who_found(planted, found[planted.subject])) for planted in PLANTED]
        for planted, by in rows:
            self.stdout.write(f"{planted.subject}  {planted.what}  {'、'.join(by) or '✗'}")
        alarms = {one: _bad(found[one]) for one in CLEAN}
        for subject, seen in alarms.items():
            for _skill, one in seen:
                self.stdout.write(f"{subject}  ! {one.rule_key} {one.message}")
        self._kinds(found)
        hit, false = sum(bool(by) for _planted, by in rows), sum(map(len, alarms.values()))
        told = {"hit": hit, "planted": len(rows), "false": false, "clean": len(CLEAN)}
        self.stdout.write(
            _(
                "%(hit)d of %(planted)d planted errors found; %(false)d on the %(clean)d clean subjects"
            )
            % told
        )
        if hit < len(rows) or false:
            raise SystemExit(1)

    def _kinds(self, found: dict[str, dict[str, DryRun]]) -> None:
        """How much each kind of check, and each workflow, found."""
        counts = Counter[str]()
        for seen in found.values():
            for skill, one in _bad(seen):
                kind = kind_of(one.rule_key)
                counts[str(kind.label) if kind else f"{skill} {one.rule_key}"] += 1
        names = [str(kind.label) for kind in Kind]
        for name in [*names, *sorted(counts.keys() - set(names))]:
            self.stdout.write(f"{counts[name]:5d}  {name}")


def _look(project: Project) -> dict[str, dict[str, DryRun]]:
    """{subject: {workflow: what it would do}}; nothing is stored, the model is asked."""
    standard = {
        "start_node": STANDARD,
        "nodes": {STANDARD: {"type": "hard_rule", "checks": CHECKS}},
    }
    skills = Skill.objects.filter(project=project, trigger_type=Skill.Trigger.WEBHOOK)
    graphs = {skill.skill_type: skill.config for skill in skills} | {STANDARD: standard}
    found: defaultdict[str, dict[str, DryRun]] = defaultdict(dict)
    for data in records.read_records(project=project):
        for name, config in graphs.items():
            found[data.record_id][name] = _walked(project, config, data)
    return found


def _walked(project: Project, config: dict[str, Any], data: RecordData) -> DryRun:
    return walk(project=project, config=config, data=data, ask_llm=True)


def _bad(seen: dict[str, DryRun]) -> list[tuple[str, Observation]]:
    return [
        (skill, one)
        for skill, run in seen.items()
        for one in run.observations
        if one.outcome not in GOOD
    ]


def _who_found(planted: Planted, seen: dict[str, DryRun]) -> list[str]:
    """The rules that found it; a soft node has its own key."""
    bad = _bad(seen)
    rules = [
        one.rule_key
        for skill, one in bad
        if skill == planted.skill and planted.rule in {one.rule_key, ""}
    ]
    checks = [one.rule_key for skill, one in bad if skill == STANDARD]
    return rules + [key for key in checks if key == planted.check]
