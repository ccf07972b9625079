from __future__ import annotations

import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import OperationalError, connection


class Command(BaseCommand):
    help = (
        "Waits until the database answers: after a power cut its machine may be up later than this one. "
        "Exit 1 where it does not within --seconds."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--seconds", type=int, default=600, help="how long (default: 600)")

    def handle(self, *args: Any, **options: Any) -> None:
        end, is_told = time.monotonic() + options["seconds"], False
        while True:
            try:
                connection.ensure_connection()
                return
            except OperationalError as error:
                if time.monotonic() >= end:
                    raise CommandError(f"The database does not answer: {error}") from error
                if not is_told:
                    self.stderr.write(f"Waiting for the database: {error}")
                    is_told = True
            time.sleep(1)
