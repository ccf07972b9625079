"""What a query found of each subject, before it is told."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from rules.values import Reason, Unknown
from study.facts import Undecided
from study.query.cells import Holder, Line


@dataclass
class Hit:
    """A subject for whom the conditions hold, and the rows of each selected item."""

    subject: Holder
    rows: list[list[Line]]


@dataclass
class Doubts:
    """Of whom something could not be told, and the first reason why."""

    reasons: dict[str, str] = field(default_factory=dict)

    def add(self, subject: Holder, doubt: Unknown | None) -> None:
        """Note a doubt; None is none."""
        if doubt is not None:
            reason = doubt.reason.value if doubt.reason else "not_computable"
            self.reasons.setdefault(subject.id, reason)

    def told(self, subjects: Iterable[Holder]) -> tuple[Undecided, ...]:
        """In the order of the subjects."""
        ids = (subject.id for subject in subjects if subject.id in self.reasons)
        return tuple(Undecided(name, self.reasons[name]) for name in ids)


def is_missing(doubt: Unknown) -> bool:
    """Whether nothing was written, rather than something that cannot be used."""
    return doubt.reason in {Reason.MISSING, Reason.MISSING_CODE, Reason.APPLICABILITY_UNKNOWN}
