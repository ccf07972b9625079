"""What this app knows of setting a study up: the language model, asked a few invented questions."""

from __future__ import annotations

from statistics import median

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from core.house.stored_labels import name
from core.integrations.llm import LlmError
from core.llm import acceptance, standing
from core.llm.labels import ABILITIES, PROVIDERS
from core.llm.providers import LlmNotConfigured, client_for, provider_of
from core.privacy.outbound_policy import PrivacyError
from engines import llm_study
from engines.llm_check import Endpoint, reads
from engines.sop.checks import switch
from projects.endpoints import Purpose
from projects.models import Project
from study.setup.steps import Line, State, Step, refusal_lines

TRIED = 3


def _model(project: Project) -> tuple[State, str]:
    found = provider_of(project)
    if not found.preset:
        return State.OPTIONAL, _("Without a model answers are worded by the house.")
    is_off = [
        _("%(ability)s is off: %(met)d of 10 probes were right.")
        % {"ability": name(ABILITIES, ability), "met": met}
        for ability, met in standing.off(project).items()
    ]
    told = [name(PROVIDERS, found.preset), found.model, *is_off, *acceptance.why_plain(project)]
    return State.UNTESTED, " · ".join(filter(None, told))


def _test(project: Project) -> list[Line]:
    """A few questions to be read; `manage.py llm_check` asks many, of every ability."""
    cases = llm_study.ASKED[:TRIED]
    try:
        endpoint = Endpoint(client_for(project, standing.MODEL_OF[standing.ASK]), Purpose.SMALL)
        right = sum(reads(endpoint, one) for one in cases)
        if not any(row.ok for row in endpoint.rows):
            # What went wrong, for who sets the study up.
            endpoint.ask("json", "json", "check")
    except LlmNotConfigured:
        return [Line(False, _("No model is set up."))]
    except (LlmError, PrivacyError) as error:
        return refusal_lines(error)
    told = {
        "model": endpoint.client.model,
        "ms": median(row.duration for row in endpoint.rows if row.ok),
    }
    counts = {"right": right, "asked": TRIED}
    return [
        Line(True, _("%(model)s answered in %(ms)d ms.") % told),
        Line(right > 1, _("%(right)d of %(asked)d questions were read as meant.") % counts),
    ]


def _settings(project: Project) -> list[str]:
    found = provider_of(project)
    return [found.preset, found.base_url, found.model, found.key]


def _checks(project: Project) -> tuple[State, str]:
    checks, is_on = switch.saved_checks(project)
    if is_on:
        return State.DONE, _("%d standard checks are on.") % len(checks)
    if checks:
        return State.OPTIONAL, _("All are off.")
    # Of a study that runs already it is not said that it cannot.
    being_set_up = project.status == Project.Status.PLANNING
    state = State.MISSING if being_set_up else State.OPTIONAL
    return state, _("Not decided: nothing is checked by itself.")


STEPS = (
    Step(
        "checks",
        gettext_lazy("Standard checks"),
        gettext_lazy("Proposed with what they would find; they run at once, and on each change."),
        _checks,
        lambda project: f"{reverse('admin:engines_pendingaction_checks')}?project={project.pk}",
    ),
    Step(
        "model",
        gettext_lazy("Language model"),
        gettext_lazy("Words answers and judges texts; only de-identified text is sent."),
        _model,
        lambda project: reverse("admin:projects_project_change", args=[project.pk]),
        _test,
        _settings,
    ),
)
