"""`manage.py qualify`: IQ of this house and OQ of its code, as a report to sign (issue 27, O.6)."""

from __future__ import annotations

import base64
import getpass
import json
import os
import platform
import secrets
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.utils import translation
from django.utils.timezone import localtime

from core.house.paper.typesetting import TypesetError
from engines.qualification import installed, operational, release
from engines.qualification.report import Report
from engines.qualification.steps import Outcome

_SECONDS = 600


class Command(BaseCommand):
    help = (
        "Qualifies the installation (versions, packages, release files, settings, migrations, clock, proxy) "
        "and the operation (a scripted set on an empty database of its own). Reads nothing of the studies. "
        "Exit 1 where a step failed."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        todo = parser.add_mutually_exclusive_group(required=True)
        todo.add_argument(
            "--report", type=Path, metavar="FILE", help="write FILE.html, .pdf, .json"
        )
        todo.add_argument(
            "--write-manifest", action="store_true", help="by who makes a release: keep its digests"
        )
        todo.add_argument("--operational", type=Path, help="used by --report itself")
        parser.add_argument("--who", default="", help="who carries it out (default: the account)")
        parser.add_argument("--language", default=settings.LANGUAGE_CODE)

    def handle(self, *args: Any, **options: Any) -> None:
        if options["write_manifest"]:
            self.stdout.write(str(release.write(Path(settings.BASE_DIR))))
            return
        with translation.override(options["language"]):
            if options["operational"]:
                self._operational(options["operational"])
            else:
                self._report(options["report"], options["who"] or getpass.getuser())

    def _operational(self, folder: Path) -> None:
        try:
            operational.require_own(folder)
            call_command("migrate", verbosity=0, interactive=False)
            call_command("createcachetable", verbosity=0)
            found = operational.outcomes(folder)
        except operational.NotItsOwn as error:
            raise CommandError(f"not an empty database of its own: {error}") from error
        self.stdout.write(json.dumps([asdict(one) for one in found]))

    def _report(self, file: Path, who: str) -> None:
        made = Report(
            who=who,
            made_at=localtime().isoformat(timespec="seconds"),
            machine=platform.node(),
            version=settings.VERSION,
            installation=tuple(installed.outcomes()),
            operation=tuple(_apart()),
        )
        for one in (*made.installation, *made.operation):
            self.stdout.write(f"{'ok  ' if one.passed else 'FAIL'} {one.title}: {one.seen}")
        try:
            written = made.save(file)
        except (OSError, TypesetError) as error:
            raise CommandError(str(error) or type(error).__name__) from error
        self.stdout.write(" ".join(map(str, written)))
        if not made.passed:
            sys.exit(1)


def _apart() -> list[Outcome]:
    """The operational steps in a process with a database, a folder and keys of its own, gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="iit-qualify-") as folder:
        own = {
            "VAR_DIR": folder,
            "DATABASE_URL": "",
            "REDIS_URL": "",
            "DEBUG": "1",
            "SECRET_KEY": secrets.token_hex(32),
            "FIELD_ENCRYPTION_KEYS": base64.b64encode(secrets.token_bytes(32)).decode(),
            # Neither the house's file of anchors nor its settings from a file.
            "AUDIT_ANCHORS": "",
            "ENV_FILE": os.devnull,
        }
        kept = {name: value for name, value in os.environ.items() if not name.endswith("_FILE")}
        command = [sys.executable, str(Path(settings.BASE_DIR) / "manage.py"), "qualify"]
        command += ["--operational", folder, "--language", translation.get_language() or "en"]
        try:
            done = subprocess.run(  # noqa: S603 - our own command, nothing of it was typed by anybody
                command, env=kept | own, capture_output=True, timeout=_SECONDS, check=True
            )
            return [Outcome(**one) for one in json.loads(done.stdout.splitlines()[-1])]
        except (subprocess.SubprocessError, ValueError, IndexError) as error:
            return [Outcome("operation", "OQ", passed=False, seen=type(error).__name__)]
