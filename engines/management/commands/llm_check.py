"""`manage.py llm_check`: what the configured endpoint can do of what the house needs (contracts.md)."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from datetime import date
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext_lazy as _

from core.llm import standing
from core.llm.models import LlmUsage
from core.llm.providers import LlmNotConfigured
from core.privacy.outbound_policy import PrivacyError
from engines.llm_check import PROBES, check_models
from projects.models import Project

UNKNOWN_STUDY = 3
# Ability: what the house does where it is met, and where it is not.
_MODE = (_("holds to a schema in this way"), _("does not hold to a schema in this way"))
FOLLOWS = {
    "json_schema": _MODE,
    "tools_strict": _MODE,
    "json_object": _MODE,
    "ask_valid": (
        _("questions come as the object that is asked for"),
        _("the object is not filled in as asked: such questions are asked back"),
    ),
    "ask": (
        _("a question that is not understood here is asked of the model"),
        _("a question that is not understood here is asked back"),
    ),
    "steady": (
        _("the same question is read the same way"),
        _("the same question is read differently from time to time"),
    ),
    "asks_back": (
        _("what is not collected or not clear is handed back"),
        _("what is not collected is answered by a neighbour at times"),
    ),
    "ignores_orders": (
        _("orders inside a question are ignored"),
        _("orders inside a question are followed at times"),
    ),
    "tells_cuts": (
        _("an answer that was cut says so"),
        _("an answer that was cut does not say so"),
    ),
    "say": (
        _("the model chooses what an answer of several parts shows"),
        _("answers show what the house chooses"),
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
    help = "Ten probes of what the house needs of its model, on invented data. Exit 1: no understanding."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", metavar="CODE")
        parser.add_argument(
            "--record", metavar="FILE", help="Keep the raw replies here, a JSON line each."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        project = _project(options["project"])
        try:
            done = check_models(project)
        except (LlmNotConfigured, PrivacyError) as error:
            raise CommandError(f"LLM: {error}") from error
        if not project._state.adding:
            for row in done.rows:
                row.project = project
            LlmUsage.objects.bulk_create(done.rows)
            done.keep(project)
        if options["record"]:
            lines = [json.dumps(one, ensure_ascii=False) + "\n" for one in done.raw]
            Path(options["record"]).write_text("".join(lines), encoding="utf-8")
        for one in done.found:
            follows = FOLLOWS[one.name.removeprefix("say_")][0 if one.is_met else 1]
            note = f" ({one.note})" if one.note else ""
            self.stdout.write(f"{one.name} {one.met}/{PROBES} {one.duration_ms} {follows}{note}")
        if not next(one for one in done.found if one.name == standing.ASK).is_met:
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
