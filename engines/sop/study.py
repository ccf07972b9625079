"""Compiled rules of a study, cached by what they depend on (design.md 8)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Any

from core.house import clock
from core.rules.context import StudyContext
from core.rules.ruleset import RuleSet, compile_rule_set
from engines.sop.snapshot import fingerprint
from projects.models import Project
from skills.mapping import actual_rules, aliases
from study import dictionary
from study.design import context_of
from study.metadata import StudyMetadata


@dataclass(frozen=True)
class Study:
    """What hard rules need besides the data; loaded before a transaction, never inside one."""

    project: Project
    metadata: StudyMetadata
    names: dict[str, str]

    @classmethod
    def load(cls, project: Project) -> Study:
        """Raises integrations.redcap.RedcapError when no dictionary was ever read."""
        return cls(project, dictionary.load(project), aliases(project))

    def compiled(self, rules: list[dict[str, Any]]) -> RuleSet:
        """The rule set with aliases resolved. Raises core.rules.limits.RuleError."""
        project = self.project
        mine = [rules, self.names, project.timezone, project.anchor_is_day, self.metadata.digest]
        return _compile(fingerprint(mine), Once((rules, self)))

    def context(self) -> StudyContext:
        """The rule engine's view of the dictionary."""
        return context_of(self.metadata, self.project.timezone, int(self.project.anchor_is_day))

    def today(self) -> date:
        """Today in the project's zone."""
        return clock.today(self.project.timezone)


class Once:
    """An argument that a cache does not compare: the key beside it stands for it."""

    def __init__(self, value: Any) -> None:
        """Keep the value for the one call that compiles."""
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Once)

    def __hash__(self) -> int:
        return 0


@lru_cache(maxsize=256)
def _compile(key: str, arguments: Once) -> RuleSet:
    rules, study = arguments.value
    arguments.value = None
    return compile_rule_set(actual_rules(rules, study.names), study.context())
