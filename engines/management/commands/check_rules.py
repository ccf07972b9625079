"""`manage.py check_rules`: rules against REDCap rows, one JSON answer per input line."""

from __future__ import annotations

import json
import sys
from datetime import date
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.translation import gettext as _

from core.house.jsonlines import answer_lines, unique_keys
from core.rules.context import StudyContext
from core.rules.limits import RuleError
from core.rules.rule import rule_list
from core.rules.ruleset import RuleSet, compile_rule_set
from engines.hard_rules import record_rows, resolve_today


class Command(BaseCommand):
    help = "Check REDCap rows (JSON lines on stdin) against rules, in clinical mode."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--rules", required=True, help="JSON list of rules, or {'rules': []}")
        parser.add_argument("--dictionary", help="REDCap metadata JSON")
        parser.add_argument("--project", help="project file (missing codes, time zone, events)")
        parser.add_argument("--today", help="a date, or an ISO datetime with offset")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            rule_set, today = _prepare(options)
        except (RuleError, RecursionError, OSError) as error:
            message = str(error) or type(error).__name__
            raise CommandError(message, returncode=2) from None
        answer_lines(sys.stdin, self.stdout, lambda line: _answer(rule_set, line, today))


def _prepare(options: dict[str, Any]) -> tuple[RuleSet, date]:
    dictionary = _read(options["dictionary"]) if options["dictionary"] else None
    project = _read(options["project"]) if options["project"] else None
    if dictionary is not None and not isinstance(dictionary, list):
        raise RuleError(_("The dictionary is a list of fields."))
    if project is not None and not isinstance(project, dict):
        raise RuleError(_("The project file is an object."))
    context = StudyContext.build(dictionary, project)
    rules = rule_list(_read(options["rules"], object_pairs_hook=unique_keys))
    return compile_rule_set(rules, context), resolve_today(options["today"], context)


def _read(path: str, **how: Any) -> Any:
    try:
        return json.loads(Path(path).read_text("utf-8-sig"), **how)
    except RuleError:
        raise
    except ValueError as error:
        raise RuleError(f"{path}: {error}") from None


def _answer(rule_set: RuleSet, line: dict[str, Any], today: date) -> dict[str, Any]:
    record_id, rows = record_rows(line, rule_set.context)
    results = rule_set.evaluate(record_id, rows, today)
    return {"record_id": record_id, "results": [result.as_dict() for result in results]}
