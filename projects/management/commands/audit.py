from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from datetime import datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.timezone import make_aware

from projects import audit_watch
from projects.models import AuditEntry


class Command(BaseCommand):
    help = (
        "`audit verify`: walks the hash chains of the audit trail, compares them with the anchors and looks "
        "for the triggers; a JSON line for each fault, and exit 1 where there is one."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("action", choices=["verify"])
        parser.add_argument("--since", help="date or time: check from the first entry after it on")

    def handle(self, *args: Any, **options: Any) -> None:
        found = False
        for gap in audit_watch.verify(_moment(options["since"])):
            found = True
            fault = {"chain": gap.chain, "seq": gap.number, "fault": gap.what}
            self.stdout.write(json.dumps(fault, ensure_ascii=False))
        if found:
            sys.exit(1)
        # On stdout stand faults only: whoever reads them line by line meets nothing else.
        self.stderr.write(f"ok {AuditEntry.objects.count()} entries", self.style.SUCCESS)


def _moment(text: str | None) -> datetime | None:
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise CommandError(f"--since: not a time: {text}") from error
    return moment if moment.tzinfo else make_aware(moment)
