"""What this app knows of setting a study up: the language model, asked a few invented questions."""

from __future__ import annotations

from statistics import median

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from engines.llm_check import Endpoint, Invented, cites
from house.stored_labels import name
from integrations.llm import LlmError
from llm import prompts
from llm.labels import PROVIDERS
from llm.providers import client_for, provider_of
from privacy.outbound_policy import PrivacyError
from projects.endpoints import Purpose
from projects.models import Project
from study.setup.steps import Line, State, Step

TRIED = 3


def _model(project: Project) -> tuple[State, str]:
    found = provider_of(project)
    if not found.preset:
        return State.OPTIONAL, _("Without a model answers are worded by the house.")
    return State.DONE, " · ".join(filter(None, [name(PROVIDERS, found.preset), found.model]))


def _test(project: Project) -> list[Line]:
    """A few answers with their sources marked; `manage.py llm_check` asks many, of every ability."""
    cases = [Invented.number(n) for n in range(TRIED)]
    try:
        endpoint = Endpoint(Purpose.CHAT, client_for(project))
        done = [
            endpoint.ask(prompts.load("check_cite", lines="\n".join(one.lines)), one.question)
            for one in cases
        ]
    except (LlmError, PrivacyError) as error:
        return [Line(False, str(error) or type(error).__name__)]
    told = {"model": endpoint.client.model, "ms": median(one.duration_ms for one in done)}
    cited = sum(map(cites, done, cases))
    counts = {"cited": cited, "asked": TRIED}
    return [
        Line(True, _("%(model)s answered in %(ms)d ms.") % told),
        Line(cited > 1, _("%(cited)d of %(asked)d answers cite their source as asked.") % counts),
    ]


STEPS = (
    Step(
        "model",
        gettext_lazy("Language model"),
        gettext_lazy("Words answers and judges texts; only de-identified text is sent."),
        _model,
        lambda project: reverse("admin:projects_project_change", args=[project.pk]),
        _test,
    ),
)
