"""`manage.py memory_manager`: the Memory Manager's actions, a JSON line each (seed 004, 5)."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

from core.house.jsonlines import answer_lines
from core.llm.job_llm import ModelDown
from memory.people import actions
from memory.people.schemas import current
from projects.models import Member


class Command(BaseCommand):
    help = "Reads inputs of load_context, save_info and summarize, a JSON line each; writes their outputs."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--user", metavar="USERID")
        parser.add_argument("--project", metavar="CODE")
        parser.add_argument("--tools", action="store_true", help="Print the tools and end.")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["tools"]:
            self.stdout.write(json.dumps(actions.tool_definitions(current()), ensure_ascii=False))
            return
        member = _member(options["user"] or "", options["project"])
        answer_lines(sys.stdin, self.stdout, lambda given: _answer(member, given))


def _member(userid: str, code: str | None) -> Member:
    found = Member.objects.active_of(userid)
    member: Member | None = (found.filter(project__code=code) if code else found).first()
    if member is None:
        raise CommandError(_("No such user in a study."), returncode=3)
    return member


def _answer(member: Member, given: dict[str, Any]) -> dict[str, Any]:
    """The documented output, or {"error"} where no model answers. Raises pydantic.ValidationError."""
    try:
        return actions.invoke(member, given).model_dump(by_alias=True)
    except ModelDown as error:
        return {"error": str(error)}
