from __future__ import annotations

import sys
from argparse import ArgumentParser
from datetime import datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.timezone import make_aware

from projects import audit
from projects.models import AuditEntry


class Command(BaseCommand):
    help = "`audit verify`: walks the hash chains of the audit trail; exit 1 and a line for every break."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("action", choices=["verify"])
        parser.add_argument("--since", help="date or time: check from the first entry after it on")

    def handle(self, *args: Any, **options: Any) -> None:
        found = False
        for gap in audit.verify(_moment(options["since"])):
            found = True
            self.stdout.write(f"{gap.chain} {gap.number} {gap.what}")
        if found:
            sys.exit(1)
        self.stdout.write(f"ok {AuditEntry.objects.count()} entries")


def _moment(text: str | None) -> datetime | None:
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise CommandError(f"--since: not a time: {text}") from error
    return moment if moment.tzinfo else make_aware(moment)
