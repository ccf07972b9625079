"""Rules of a skill, checked against the study's dictionary when it is saved (issue B, Rules)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from django.utils.translation import gettext as _

from core.rules.context import StudyContext
from core.rules.rule import compile_rule
from core.rules.second_opinion import Difference, first_difference
from projects.models import Project
from skills.mapping import actual_rules, aliases
from study import dictionary
from study.design import context_of


class Remark(NamedTuple):
    """What is said of a rule: where in it, what, and whether that keeps nothing from being saved."""

    path: str
    message: str
    is_hint: bool = False


def check_rules(project: Project | None, rules: list[dict[str, Any]]) -> Iterator[Remark]:
    """Why a rule must not be saved, and where another evaluator would read one that may be otherwise.

    A study whose dictionary was never read is checked for form only: saving must not need REDCap.
    """
    if not rules:
        return
    context = study_context(project)
    for at, rule in enumerate(actual_rules(rules, aliases(project) if project else {})):
        compiled, problems = compile_rule(rule, f"rules/{at}", context, is_saving=True)
        yield from (Remark(problem.path, problem.message) for problem in problems)
        difference = first_difference(compiled, context) if compiled else None
        if difference:
            yield Remark(f"rules/{at}/logic", _in_words(difference), is_hint=True)


def study_context(project: Project | None) -> StudyContext:
    """The rule engine's view of a study; without a dictionary that was read every name is a column."""
    if project and dictionary.stored(project):
        metadata = dictionary.load(project)
        return context_of(metadata, project.timezone, int(project.anchor_is_day))
    return StudyContext.build(None)


def _in_words(difference: Difference) -> str:
    example = ", ".join(f"{name} = {value!r}" for name, value in difference.example.items())
    verdicts = {True: _("holds"), False: _("does not hold")}
    return _(
        "A hint: where %(example)s, this rule %(ours)s here; json-logic-qubit says that it %(theirs)s."
    ) % {
        "example": example,
        "ours": verdicts[difference.ours],
        "theirs": verdicts[difference.theirs],
    }
