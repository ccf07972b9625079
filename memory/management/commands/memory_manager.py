"""`manage.py memory_manager`: the Memory Manager's actions, a JSON line each (seed 004, 5)."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _
from pydantic import ValidationError

from memory.agent import actions, tools
from memory.agent.extraction import ExtractorDown
from memory.agent.schemas import current
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
            self.stdout.write(json.dumps(tools.definitions(current()), ensure_ascii=False))
            return
        member = _member(options["user"] or "", options["project"])
        for line in sys.stdin:
            self.stdout.write(json.dumps(_answer(member, line), ensure_ascii=False))
            self.stdout.flush()


def _member(userid: str, code: str | None) -> Member:
    found = Member.objects.active_of(userid)
    member: Member | None = (found.filter(project__code=code) if code else found).first()
    if member is None:
        raise CommandError(_("No such user in a study."), returncode=3)
    return member


def _answer(member: Member, line: str) -> dict[str, Any]:
    """The documented output, or {"error"}: a bad line does not end the others."""
    try:
        done = actions.invoke(member, json.loads(line))
    except ValidationError as error:
        return {"error": error.errors(include_url=False, include_input=False)[0]["msg"]}
    except (ValueError, ExtractorDown) as error:
        return {"error": str(error)}
    return done.model_dump(by_alias=True)
