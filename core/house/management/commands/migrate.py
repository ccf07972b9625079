from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import connections

from core.house import earlier_layout


class Command(migrate.Command):
    help = (
        "Django's migrate. A database of the layout before November 2026's is brought to where these "
        "migrations begin; one that these migrations do not know is refused and left as it is."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        if not (options["plan"] or options["check_unapplied"]):
            try:
                earlier_layout.adopt(connections[options["database"]])
            except earlier_layout.UnknownMigrations as error:
                raise CommandError(str(error)) from error
        super().handle(*args, **options)
