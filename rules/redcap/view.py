"""What logic is evaluated over: a view answers references, from the place where the logic stands."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import date
from typing import Protocol, TypeAlias

from rules.operands import Operand

HERE = "event-name"
"""The smart variable that names the event itself."""


@dataclass(frozen=True, slots=True)
class Ref:
    """`[event][name(code)][instance]`; a part that is not written is "" and means the place itself.

    `name` is a field or a smart variable, `event` a unique event name or a smart variable, `instance` a
    number or a smart variable.
    """

    name: str
    code: str = ""
    event: str = ""
    instance: str = ""


class View(Protocol):
    """Answers references. `today` None: the day of the evaluation is not known."""

    @property
    def today(self) -> date | None:
        """The day of the evaluation in the project's zone."""

    @property
    def codes(self) -> Collection[str]:
        """The study's missing data codes."""

    def read(self, ref: Ref) -> Operand:
        """What stands there."""


Node: TypeAlias = Callable[[View], Operand]
