"""`manage.py accept_model`: the frozen set three times, by a study's models on the demo study."""

from __future__ import annotations

import getpass
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import close_old_connections, connection
from django.utils.timezone import now
from django.utils.translation import gettext as _

from core.integrations.llm import LlmError
from core.llm import acceptance
from core.llm.models import ModelAcceptance
from core.llm.providers import LlmNotConfigured, client_for
from core.llm.standing import MODEL_OF
from core.privacy.outbound_policy import PrivacyError
from demo import accepting
from engines.llm_check import Endpoint
from projects.models import Project

UNKNOWN_STUDY = 3
OUTSIDE_DOWN = 4
HOUSE_DOWN = 5


class Command(BaseCommand):
    help = (
        "Put a study's models to the frozen set on the demo study and keep the report for its signature. "
        "Exit 0; 1 not passed; 3 unknown study; 4 a model does not answer; "
        "5 the demo house did not run."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", metavar="CODE", required=True)
        parser.add_argument("--by", metavar="NAME", default="", help="who runs it, for the report")

    def handle(self, *args: Any, **options: Any) -> None:
        project = Project.objects.filter(code=options["project"]).first()
        if project is None:
            raise CommandError("No such study.", returncode=UNKNOWN_STUDY)
        endpoints, model = _endpoints(project)
        by = options["by"] or getpass.getuser()
        asked, started = accepting.cases(), now()
        try:
            done = accepting.play(model, asked, self._tell)
        except (SystemExit, ValueError) as error:
            told = f"The demo house did not run: {str(error)[-2000:]}"
            raise CommandError(told, returncode=HOUSE_DOWN) from error
        # It takes long, and a server ends a connection that is not used; a caller's transaction keeps its own.
        if not connection.in_atomic_block:
            close_old_connections()
        passed, wrong = accepting.figures(done)
        project.refresh_from_db()
        if endpoints != acceptance.endpoints_of(project):
            raise CommandError(_("The study's models were changed meanwhile: nothing is kept."))
        row = ModelAcceptance(
            project=project,
            fingerprint=acceptance.fingerprint(endpoints),
            endpoints=endpoints,
            prompts=acceptance.versions(),
            cases=done,
            total=len(done),
            passed=passed,
            wrong=wrong,
            least=accepting.LEAST,
            most_wrong=accepting.MOST_WRONG,
            started_at=started,
            ended_at=now(),
            by=by,
        )
        acceptance.keep(row, "command")
        self.stdout.write(_summary(row))
        if not row.is_passed:
            sys.exit(1)

    def _tell(self, case: dict[str, Any]) -> None:
        self.stdout.write(f"{case['id']} {', '.join(case['verdicts'])}  {case['text']}")
        self.stdout.flush()


def _endpoints(project: Project) -> tuple[dict[str, dict[str, str]], dict[str, str]]:
    """The models with their settings, after each gave a sign of life. Raises CommandError."""
    try:
        for purpose in MODEL_OF.values():
            Endpoint(client_for(project, purpose), purpose).ask("json", "json", "check")
        return acceptance.endpoints_of(project), accepting.model_of(project)
    except LlmNotConfigured as error:
        raise CommandError(f"LLM: {error}") from error
    except (LlmError, PrivacyError) as error:
        raise CommandError(f"LLM: {error}", returncode=OUTSIDE_DOWN) from error


def _summary(row: ModelAcceptance) -> str:
    told = {"passed": row.passed, "total": row.total, "wrong": row.wrong, "digest": row.digest}
    counts = _("%(passed)d of %(total)d cases passed three times, %(wrong)d replies wrong.") % told
    result = (
        _("Passed. It counts once the PI or a study administrator has signed it in the console.")
        if row.is_passed
        else _("Not passed: answers stay plain.")
    )
    return f"{counts} {result}\nSHA-256 {row.digest}"
