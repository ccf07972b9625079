"""The steps of setting a study up, in order; each app registers those that it knows (issue 18)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.db import models
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from projects.models import Project


class State(models.TextChoices):
    """How a step stands. What is optional is never missing."""

    DONE = "done", _("Done")
    MISSING = "missing", _("Missing")
    OPTIONAL = "optional", _("Optional")
    FAILED = "failed", _("Failed")

    @property
    def colour(self) -> str:
        """The tag's colour in the console."""
        return {"done": "success", "missing": "warning", "failed": "danger"}.get(self.value, "info")


@dataclass(frozen=True, slots=True)
class Line:
    """One thing that a test looked at, worded for the reader."""

    ok: bool
    text: str


Look = Callable[[Project], tuple[State, str]]
Link = Callable[[Project], str]
Test = Callable[[Project], Sequence[Line]]


@dataclass(frozen=True, slots=True)
class Step:
    """`look` reads only what is stored; `test` may ask outside systems and never raises for what they answer.

    `link` is the page where the step is done, for steps that the wizard has no form of its own for.
    """

    key: str
    title: Promise
    about: Promise
    look: Look
    link: Link
    test: Test | None = None

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
    "sites",
    "members",
    "plan",
    "mappings",
    "skills",
    "memory",
    "protocol",
    "dify",
    "model",
)
_steps: dict[str, Step] = {}


def register(*steps: Step) -> None:
    """Add steps; their keys stand in `ORDER`."""
    for step in steps:
        ORDER.index(step.key)
        _steps[step.key] = step


def checklist(project: Project) -> list[Item]:
    """Every step of a study with how it stands, in order."""
    found = []
    for step in sorted(_steps.values(), key=lambda one: ORDER.index(one.key)):
        state, said = step.look(project)
        found.append(Item(step, state, said, step.link(project)))
    return found


def missing(project: Project) -> list[Item]:
    """What is still to be done before the study works: missing steps and failed ones."""
    return [one for one in checklist(project) if one.state in (State.MISSING, State.FAILED)]


def test(project: Project, key: str) -> Sequence[Line]:
    """The test of one step; () for a step that has none or is none."""
    step = _steps.get(key)
    return step.test(project) if step and step.test else ()
