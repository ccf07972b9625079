from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from core.house import rekeying


class Command(BaseCommand):
    help = (
        "Seals every encrypted cell anew with the first of FIELD_ENCRYPTION_KEYS, a line for each table. Run "
        "it when all processes have the new list; cut short, it goes on where it was. Then the keys behind "
        "the first may leave the list. Exit 1 where a cell cannot be opened by any key: it stays as it is; "
        "also where others wrote so much meanwhile that it must be run again."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--batch", type=int, default=500, help="rows of one transaction")

    def handle(self, *args: Any, **options: Any) -> None:
        unopened = missed = 0
        for table in rekeying.rekey(options["batch"]):
            self.stdout.write(
                f"{table.name}: {table.rows} rows, {table.sealed} cells sealed anew"
                + (f", {table.unopened} cannot be opened" if table.unopened else "")
            )
            self.stdout.flush()
            unopened += table.unopened
            missed += table.missed
        if unopened:
            raise CommandError(
                f"{unopened} cells cannot be opened by any key: they stay as they are"
            )
        if missed:
            raise CommandError(f"{missed} cells were written again and again meanwhile: run again")
        self.stdout.write("every cell is sealed with the first key; the others may leave the list")
