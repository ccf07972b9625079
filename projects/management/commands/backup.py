from __future__ import annotations

import os
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from projects import backup


class Command(BaseCommand):
    help = (
        "Writes database, audit anchors and checksums of one moment into one file, while the house runs. The "
        "keys are not in it: --keys FILE writes them apart; keep that file where the backups are not."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "archive", type=Path, help="the file to write, e.g. iit-2026-11-29.tar.gz"
        )
        parser.add_argument("--keys", type=Path, metavar="FILE", help="write the keys to this file")

    def handle(self, *args: Any, **options: Any) -> None:
        archive: Path = options["archive"].resolve()
        keys: Path | None = options["keys"] and options["keys"].resolve()
        if keys and keys.parent == archive.parent:
            raise CommandError("The keys are kept in another folder than the archive.")
        if keys and (keys.exists() or not keys.parent.is_dir()):
            raise CommandError(f"{keys} is there already, or its folder is not")
        try:
            made = backup.back_up(archive)
            if keys:
                handle = os.open(keys, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
                with os.fdopen(handle, "w", encoding="utf-8") as file:
                    file.write(backup.keys_text())
        except (backup.BackupError, OSError) as error:
            raise CommandError(str(error)) from error
        rows, size = sum(made.tables.values()), archive.stat().st_size
        self.stdout.write(
            f"{archive}: {len(made.tables)} tables, {rows} rows, {size} bytes, as of {made.made_at}"
        )
        if not keys:
            self.stdout.write(
                "The keys are not in it: FIELD_ENCRYPTION_KEYS must be kept elsewhere."
            )
