from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError

from core.integrations.redcap import RedcapError
from engines import sop
from engines.models import TaskRun
from engines.sop.findings import finding_line, open_now
from engines.sop.order_run import OnSchedule, check_order
from engines.sop.serializers import RecordId
from projects.models import Project
from skills.models import Skill
from study import records
from study.client import NotConfiguredError


class Command(BaseCommand):
    help = "Runs quality control on subjects; one line per run (contracts.md, Commands)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("records", nargs="*", metavar="RECORD")
        parser.add_argument("--all", action="store_true", help="every subject of the study")
        parser.add_argument("--project", default="")
        parser.add_argument("--skill", default="qc_process")
        parser.add_argument("--json", action="store_true", help="the default: a JSON line per run")

    def handle(self, *args: Any, **options: Any) -> None:
        if bool(options["records"]) == options["all"]:
            raise CommandError(_("Name subjects, or --all."))
        project = self._project(options["project"])
        skills = Skill.objects.filter(project=project, is_active=True)
        skill = skills.filter(skill_type=options["skill"]).first()
        if skill is None:
            raise CommandError(_("There is no workflow %s.") % options["skill"])
        try:
            check_order(skill)
        except OnSchedule as error:
            raise CommandError(str(error)) from error
        for record_id in options["records"]:
            _check(record_id)
        wanted = options["records"] or self._every(project)
        clean = True
        for record_id in wanted:
            run = self._run(project, skill, record_id)
            clean = self._report(run) and clean
        if not clean:
            raise SystemExit(1)

    def _project(self, code: str) -> Project:
        found = Project.objects.filter(code=code) if code else Project.objects.all()[:2]
        if len(found) != 1:
            raise CommandError(_("Name the study with --project CODE."))
        project: Project = found[0]
        return project

    def _every(self, project: Project) -> list[str]:
        try:
            return [ref.record_id for ref in records.list_records(project=project)]
        except (RedcapError, NotConfiguredError) as error:
            raise CommandError(_("REDCap could not be read: %s") % error, returncode=1) from error

    def _run(self, project: Project, skill: Skill, record_id: str) -> TaskRun:
        run = sop.start(
            project=project,
            skill=skill,
            record_id=record_id,
            triggered_by="command",
            wake=False,
        )
        sop.drive(run.pk)
        run.refresh_from_db()
        return run

    def _report(self, run: TaskRun) -> bool:
        line = {
            "record_id": run.record_id,
            "task_run_id": str(run.pk),
            "status": run.status,
            "final_state": run.final_state or run.current_node,
            "findings": [finding_line(row) for row in open_now(run)],
        }
        self.stdout.write(json.dumps(line, ensure_ascii=False))
        self.stdout.flush()
        # A run that could not read, or not everything, is never shown as clean (design.md 9.8).
        return run.status != TaskRun.Status.FAILED and run.is_complete


def _check(record_id: str) -> None:
    """Refuse what the API would refuse: a run about no subject finds faults in nobody. Raises CommandError."""
    try:
        RecordId().run_validation(record_id)
    except ValidationError as error:
        raise CommandError(_("%s is no subject's number.") % repr(record_id)) from error
