"""`manage.py llm_check`: what the configured endpoint can do of what the house needs (contracts.md)."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from datetime import date
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext_lazy as _

from engines.llm_check import PROBES, check
from llm.models import LlmUsage
from llm.providers import LlmNotConfigured
from privacy.outbound_policy import PrivacyError
from projects.models import Project

UNKNOWN_STUDY = 3
# Ability: what the house does where it is met, and where it is not.
FOLLOWS = {
    "cites": (
        _("chat answers in the model's words, each statement checked against the line it cites"),
        _("not enough citing: chat answers with the data alone"),
    ),
    "study_query": (
        _("a question that is not understood here is asked of the model"),
        _("a question that is not understood here is asked back"),
    ),
    "json_schema": (
        _("extraction and intents use the model"),
        _("what is not in form is left out: extraction keeps little, offline intents stand"),
    ),
    "tools": (
        _("questions in steps call tools"),
        _("questions in steps are answered with what was read"),
    ),
    "streaming": (
        _("could be streamed; answers are checked first and sent whole"),
        _("not needed: answers are sent whole"),
    ),
    "latency": (
        _("answers come within five seconds a call"),
        _("slow: people see the notice that their question is being looked up"),
    ),
    "usage": (
        _("tokens as the endpoint counts them"),
        _("tokens are counted here"),
    ),
}


class Command(BaseCommand):
    help = "Ten probes of what the house needs of its model, on invented data. Exit 1: no citing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", metavar="CODE")

    def handle(self, *args: Any, **options: Any) -> None:
        project = _project(options["project"])
        try:
            found, used = check(project)
        except (LlmNotConfigured, PrivacyError) as error:
            raise CommandError(f"LLM: {error}") from error
        if not project._state.adding:
            for row in used:
                row.project = project
            LlmUsage.objects.bulk_create(used)
        for one in found:
            follows = FOLLOWS[one.name][0 if one.is_met else 1]
            self.stdout.write(f"{one.name} {one.met}/{PROBES} {one.duration_ms} {follows}")
        if not next(one for one in found if one.name == "cites").is_met:
            sys.exit(1)


def _project(code: str | None) -> Project:
    """The study of this code, the only one, or the settings of the house alone."""
    if code:
        project: Project | None = Project.objects.filter(code=code).first()
        if project is None:
            raise CommandError("No such study.", returncode=UNKNOWN_STUDY)
        return project
    studies: list[Project] = list(Project.objects.all()[:2])
    return studies[0] if len(studies) == 1 else Project(start_date=date.min)
