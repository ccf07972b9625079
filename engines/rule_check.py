"""Rules of a skill are checked against the study's dictionary when it is saved (issue B, Rules)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engines.hard_rules import StudyContext, validate_rules
from engines.sop.study import Study
from projects.models import Project
from skills.mapping import actual_rules, aliases
from study.models import Dictionary


def problems(project: Project | None, rules: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """(path, message) of every rule that must not be saved.

    A study whose dictionary was never read is checked for form only: saving must not need REDCap.
    """
    if not rules:
        return
    names = aliases(project) if project else {}
    for problem in validate_rules(actual_rules(rules, names), _context(project)):
        yield problem.path, problem.message


def _context(project: Project | None) -> StudyContext:
    if project and Dictionary.objects.filter(project=project).exclude(digest="").exists():
        return Study.load(project).context()
    return StudyContext.build(None)
