"""The steps of setting a study up, in order; each app registers those that it knows (issue 18)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from django.db import models
from django.utils.functional import Promise
from django.utils.timezone import localtime, now
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from core.house import key_ring
from core.privacy.outbound_policy import PrivacyError
from projects import endpoints
from projects.models import Project
from study.client import NotConfiguredError
from study.models import SetupTest


class State(models.TextChoices):
    """How a step stands. What is optional is never missing."""

    DONE = "done", _("Done")
    UNTESTED = "untested", _("Stored, not tested")
    MISSING = "missing", _("Missing")
    OPTIONAL = "optional", _("Optional")
    FAILED = "failed", _("Failed")

    @property
    def colour(self) -> str:
        """The tag's colour in the console."""
        return {
            "done": "success",
            "untested": "warning",
            "missing": "warning",
            "failed": "danger",
        }.get(self.value, "info")


@dataclass(frozen=True, slots=True)
class Line:
    """One thing that a test looked at, worded for the reader."""

    ok: bool
    text: str


Look = Callable[[Project], tuple[State, str]]
Link = Callable[[Project], str]
Test = Callable[[Project], Sequence[Line]]
Settings = Callable[[Project], Iterable[str]]
_SIGNED_AS = "settings of a set-up step"


@dataclass(frozen=True, slots=True)
class Step:
    """`look` reads only what is stored; `test` may ask outside systems and never raises for what they answer.

    `settings`: what the outcome of the test depends on. With it the last test is kept: one that failed on these
    settings makes the step FAILED, one that passed turns UNTESTED into DONE.
    `link` is the page where the step is done, for steps that the wizard has no form of its own for.
    """

    key: str
    title: Promise
    about: Promise
    look: Look
    link: Link
    test: Test | None = None
    settings: Settings | None = None

    @property
    def has_test(self) -> bool:
        """For templates, which would call `test` itself."""
        return self.test is not None


@dataclass(frozen=True, slots=True)
class Item:
    """How one step of a study stands: its state, what is said of it and where it is done."""

    step: Step
    state: State
    said: str
    url: str


ORDER = (
    "redcap",
    "reading",
    "identity",
    "sites",
    "members",
    "plan",
    "mappings",
    "skills",
    "checks",
    "memory",
    "protocol",
    "dify",
    "model",
)
_steps: dict[str, Step] = {}


def register_steps(*steps: Step) -> None:
    """Add steps; their keys stand in `ORDER`."""
    for step in steps:
        ORDER.index(step.key)
        _steps[step.key] = step


def checklist(project: Project) -> list[Item]:
    """Every step of a study with how it stands, in order."""
    kept = {row.step: row for row in SetupTest.objects.filter(project=project)}
    found = []
    for step in sorted(_steps.values(), key=lambda one: ORDER.index(one.key)):
        state, said = step.look(project)
        last = kept.get(step.key)
        # Whether the last test was of the settings that are stored now.
        is_tested = (
            last is not None
            and step.settings is not None
            and state is not State.MISSING
            and key_ring.is_signed(_SIGNED_AS, _as_bytes(step.settings(project)), last.settings)
        )
        if last and is_tested and not last.passed:
            failed = gettext("The test of %(time)s failed; test again to see why.")
            said = failed % {"time": f"{localtime(last.at):%Y-%m-%d %H:%M}"}
            state = State.FAILED
        elif is_tested and state is State.UNTESTED:
            state = State.DONE
        found.append(Item(step, state, said, step.link(project)))
    return found


def _as_bytes(settings: Iterable[str]) -> bytes:
    return json.dumps([*settings]).encode()


def missing_steps(project: Project) -> list[Item]:
    """What is still to be done before the study works: missing steps and failed ones."""
    return [one for one in checklist(project) if one.state in (State.MISSING, State.FAILED)]


def run_test(project: Project, key: str) -> Sequence[Line]:
    """Test one step and keep how it ended; () for a step that has no test or is none."""
    step = _steps.get(key)
    if step is None or step.test is None:
        return ()
    lines = step.test(project)
    if step.settings and lines:
        SetupTest.objects.update_or_create(
            project=project,
            step=key,
            defaults={
                "settings": key_ring.sign(_SIGNED_AS, _as_bytes(step.settings(project))),
                "passed": all(line.ok for line in lines),
                "at": now(),
            },
        )
    return lines


def refusal_lines(error: Exception) -> list[Line]:
    """Why an outside system could not be asked, worded by its status; never the exception's own text."""
    status = int(getattr(error, "status", 0))
    if isinstance(error, NotConfiguredError):
        told = str(error)
    elif isinstance(error, PrivacyError | ValueError):
        told = str(endpoints.NOT_ALLOWED)
    elif status in (401, 403):
        told = gettext("The address answers, but refuses the token or key (%d).") % status
    elif status == 404:
        told = gettext("Nothing of the kind is at this address (404).")
    elif not status:
        told = gettext("Nothing answers at this address, or not in time.")
    elif status < 400:
        told = gettext("What answers at this address is another system.")
    else:
        told = gettext("The system answers with an error (%d).") % status
    return [Line(False, told)]
