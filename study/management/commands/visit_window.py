"""`manage.py visit_window` (contracts.md, Commands)."""

import sys
from argparse import ArgumentParser
from collections.abc import Iterable
from datetime import date, datetime
from pathlib import Path
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from django.core.management.base import BaseCommand, CommandError
from pydantic import BaseModel, BeforeValidator, StrictBool, StrictStr, ValidationError

from core.house import clock
from core.house.jsonlines import answer_lines, explain
from core.integrations.redcap import RedcapError
from projects.models import Project
from study.client import NotConfiguredError
from study.dictionary import load
from study.identifier_filter import IdentifierFilter
from study.records import read_record
from study.visits.calendar import VisitPlanSpec, plan_windows
from study.visits.window import plan_of, visit_states

BAD_INPUT = 2
NOT_FOUND = 3
OUTSIDE_DOWN = 4


def _as_text(value: object) -> object:
    """A number as the text it prints as; a bool is none."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return str(value) if is_number else value


Text = Annotated[StrictStr, BeforeValidator(_as_text)]


class Line(BaseModel):
    """One subject on stdin: values as REDCap exports them, null for blank."""

    record_id: Text
    values: dict[StrictStr, Text | StrictBool | None]

    def texts(self) -> dict[str, str | None]:
        """The values; a true or false is none of a date."""
        return {n: str(v) if isinstance(v, bool) else v for n, v in self.values.items()}


class Command(BaseCommand):
    help = "Show where subjects stand in the visit plan, one JSON line per planned visit."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", help="code of the study")
        parser.add_argument("--record", help="subject, exactly as in REDCap")
        parser.add_argument("--plan", type=Path, help="plan file; subjects come on stdin")
        parser.add_argument("--today", help="YYYY-MM-DD, or an ISO time with offset")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["plan"] and not (options["project"] or options["record"]):
            self._offline(options["plan"], options["today"])
        elif options["project"] and options["record"] and not options["plan"]:
            self._subject(options["project"], options["record"], options["today"])
        else:
            raise CommandError("give --project and --record, or --plan", returncode=BAD_INPUT)

    def _offline(self, path: Path, day: str | None) -> None:
        plan = _read_plan(path)
        today = _today(day, plan.timezone)

        def answer(row: dict[str, Any]) -> Iterable[dict[str, object]]:
            line = Line.model_validate(row)
            return [
                state.as_json(line.record_id)
                for state in plan_windows(plan, line.texts(), today=today)
            ]

        answer_lines(sys.stdin, self.stdout, answer)

    def _subject(self, code: str, record_id: str, day: str | None) -> None:
        project = Project.objects.filter(code=code).first()
        if project is None:
            raise CommandError(f"no such project: {code}", returncode=NOT_FOUND)
        try:
            plan = plan_of(project)
            today = _today(day, plan.timezone)
            record = read_record(project=project, record_id=record_id)
        except ValidationError as error:
            raise CommandError(explain(error), returncode=BAD_INPUT) from error
        except NotConfiguredError as error:
            raise CommandError(str(error), returncode=BAD_INPUT) from error
        except RedcapError as error:
            raise CommandError(
                f"REDCap could not be read: {error}", returncode=OUTSIDE_DOWN
            ) from error
        if record is None:
            raise CommandError(f"no such record: {record_id}", returncode=NOT_FOUND)
        told = IdentifierFilter(project, load(project)).record(record)
        states = visit_states(project, told, today, plan)
        answer_lines(["{}"], self.stdout, lambda _: [s.as_json(record_id) for s in states])


def _read_plan(path: Path) -> VisitPlanSpec:
    try:
        return VisitPlanSpec.model_validate_json(path.read_text("utf-8-sig"))
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}", returncode=BAD_INPUT) from error
    except (UnicodeDecodeError, ValidationError) as error:
        why = explain(error) if isinstance(error, ValidationError) else error
        raise CommandError(f"{path}: {why}", returncode=BAD_INPUT) from error


def _today(text: str | None, zone: str) -> date:
    """`--today`: a date, or a moment that is moved to the study's zone; default now."""
    if text is None:
        return clock.today(zone)
    try:
        if len(text) == len("2024-01-01"):
            return date.fromisoformat(text)
        moment = datetime.fromisoformat(text)
        return (moment.astimezone(ZoneInfo(zone)) if moment.tzinfo else moment).date()
    except (ValueError, OverflowError) as error:  # the second: not in the calendar of that zone
        raise CommandError(f"--today is not a date: {text}", returncode=BAD_INPUT) from error
