"""`manage.py query`: a StudyQuery a line in, its Answer a line out (contracts.md)."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from core.house.jsonlines import answer_lines
from core.integrations.redcap import RedcapError
from projects.models import Member, Person
from study import door
from study.client import NotConfiguredError
from study.query.errors import QueryError

UNKNOWN_USER = 3


class Command(BaseCommand):
    help = "Answer StudyQueries from standard input as a member. Exit 3: unknown user or study."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--user", required=True, metavar="USERID")
        parser.add_argument("--project", metavar="CODE")

    def handle(self, *args: Any, **options: Any) -> None:
        member = _member(options["user"], options["project"])
        if member is None:
            self.stderr.write("No such member of one study; name the study with --project.")
            sys.exit(UNKNOWN_USER)

        def handler(line: dict[str, Any]) -> dict[str, Any]:
            return _answer(member, line)

        answer_lines(sys.stdin, self.stdout, handler)


def _member(userid: str, code: str | None) -> Member | None:
    person = Person.objects.by_userid(userid)
    if person is None:
        return None
    rows = person.memberships.filter(is_active=True).select_related("project", "person__user")
    found = list(rows.filter(project__code=code) if code else rows)
    return found[0] if len(found) == 1 else None


def _answer(member: Member, line: dict[str, Any]) -> dict[str, Any]:
    try:
        return door.ask_one(member.project, member, line).as_json()
    except QueryError as error:
        return error.as_json()
    except (RedcapError, NotConfiguredError) as error:
        raise ValueError(str(error)) from error
