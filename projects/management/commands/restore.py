from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from projects import audit_watch, backup, restoring


class Command(BaseCommand):
    help = (
        "Puts database and audit anchors of an archive of `backup` in place; the house must be stopped. Checks "
        "checksums and keys before anything is changed, then the audit chain; exit 1 where it is broken."
    )
    # A house whose database is lost or was written with other keys fails its checks; this mends it.
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("archive", type=Path)
        parser.add_argument(
            "--check",
            action="store_true",
            help="only read the archive, try its keys and compare its checksums",
        )
        parser.add_argument(
            "--replace", action="store_true", help="write over a database that is not empty"
        )
        parser.add_argument(
            "--moved",
            action="store_true",
            help="the house was stopped for this archive and has not run since: send what waited",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            if options["check"]:
                made = backup.check_archive(options["archive"])
            else:
                made = restoring.restore(
                    options["archive"], replace=options["replace"], moved=options["moved"]
                )
        except backup.BackupError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(
            f"{len(made.tables)} tables, {sum(made.tables.values())} rows, as of {made.made_at}"
        )
        if options["check"]:
            return
        faults = [*audit_watch.verify()]
        for fault in faults:
            self.stderr.write(f"audit: {fault.chain} {fault.number}: {fault.what}")
        if faults:
            sys.exit(1)
        self.stdout.write("The audit chain holds. Next: migrate, then start the processes.")
