"""`manage.py detect_intents [--project CODE]`: intents, subjects and how sure that is, a JSON line a line."""

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from core.house.jsonlines import answer_lines
from engines.assistant.read.offline import detect
from projects.models import Project


class Command(BaseCommand):
    """Offline: no network; no database except one read of the pattern with `--project`."""

    help = 'Read {"text"} lines, write {"intents", "record_ids", "confidence", "sure"} lines.'
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare `--project`."""
        parser.add_argument("--project", metavar="CODE", help="use this project's record ids")

    def handle(self, *, project: str | None = None, **options: Any) -> None:
        """Answer standard input until it ends."""
        pattern = _pattern_of(project) if project else None

        def answer(line: dict[str, Any]) -> dict[str, Any]:
            text = line.get("text")
            if not isinstance(text, str):
                raise ValueError('"text" must be a string')
            found = detect(text, pattern)
            return {
                "intents": found.intents,
                "record_ids": found.record_ids,
                "confidence": found.confidence,
                "sure": found.sure,
            }

        answer_lines(sys.stdin, self.stdout, answer)


def _pattern_of(code: str) -> str | None:
    patterns = Project.objects.filter(code=code).values_list("record_id_pattern", flat=True)
    found = list(patterns[:1])
    if not found:
        raise CommandError(f"No project has the code {code}.")
    return found[0] or None
