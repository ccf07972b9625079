"""The conditions a clinical rule is made of, as small numbers that can be remembered and combined.

A condition is a leaf: true, false, undecided for one of the reasons, or a case for the closures
(an impossible value, a computation without a result). Kleene logic over the leaves of a rule then
gives its verdict (`kleene`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from rules.bounds import Truth
from rules.context import Column
from rules.results import Outcome
from rules.values import Reason, Unknown

if TYPE_CHECKING:
    from rules.record import Row

Verdict: TypeAlias = tuple[Outcome, Reason | None]
Decide: TypeAlias = Callable[[Mapping[str, Any]], Verdict | None]
Tree: TypeAlias = "int | bool | tuple[str, tuple[Tree, ...]]"

MAX_CACHED = 20_000
ASK: Final = 255
_FIRST_REASON: Final = 2
_REASONS: Final = tuple(Reason)


class _Absent:
    """The cell of a column that is not in the row."""


ABSENT: Final = _Absent()
_WHOLE: Final = _Absent()


class Memo(dict[Any, Any]):
    """key → `answer(key)`, remembered within bounds."""

    def __init__(self, answer: Callable[[Any], Any]) -> None:
        super().__init__()
        self._answer = answer

    def __missing__(self, key: Any) -> Any:
        answer = self._answer(key)
        if len(self) >= MAX_CACHED:
            self.clear()
        self[key] = answer
        return answer


def row_of(names: Sequence[str], key: Any) -> dict[str, Any]:
    """A row that holds nothing but the cells of `key` (a lone cell where there is one name)."""
    cells = key if len(names) > 1 else (key,)
    return {n: cell for n, cell in zip(names, cells, strict=True) if cell is not ABSENT}


def state_of(verdict: Verdict | None) -> int:
    """A verdict as a leaf's state; what is neither true, false nor undecided is for the closures."""
    if verdict is None:
        return ASK
    outcome, reason = verdict
    if outcome == "UNKNOWN" and reason is not None:
        return _FIRST_REASON + _REASONS.index(reason)
    return {"PASS": 1, "FAIL": 0}.get(outcome, ASK) if reason is None else ASK


@dataclass(frozen=True)
class Single:
    """A leaf over the cells of a few columns; `truth` tells it from a complete value (`bounds`)."""

    names: tuple[str, ...]
    state: Callable[[Row], int]
    truth: Truth | None


@dataclass(frozen=True)
class Pair:
    """A comparison of two numbers or two dates; `values` give what is compared, None if it isn't
    complete, and `open_state` what the closures say then."""

    first: Column
    second: Column
    operator: str
    open_state: OpenPairs


class OpenPairs:
    """States of pairs in which a value is blank, coded missing, censored, partial or absent.

    Where one side is unknown altogether, it decides alone: the other one, if complete, may be any.
    """

    def __init__(self, names: tuple[str, str], decide: Decide, is_unknown: Callable[..., bool]):
        self._names = names
        self._is_unknown = is_unknown
        self._exact = Memo(lambda key: state_of(decide(row_of(names, key))))
        self._known: dict[Any, int] = {}

    def __call__(self, a_cell: Any, a: Any, b_cell: Any, b: Any) -> int:
        """The state for two cells and their values (None: not complete)."""
        key = (a_cell if a is None else _WHOLE, b_cell if b is None else _WHOLE)
        state = self._known.get(key)
        if state is not None:
            return state
        state = int(self._exact[a_cell, b_cell])
        decides_alone = self._is_unknown(0, key[0]) or self._is_unknown(1, key[1])
        if decides_alone and len(self._known) < MAX_CACHED:
            self._known[key] = state
        return state


def is_whole(cell: Any) -> bool:
    """Whether a key of `OpenPairs` stands for any complete value."""
    return cell is _WHOLE


VERDICTS: Final[tuple[Verdict, ...]] = (
    (Outcome.FAIL, None),
    (Outcome.PASS, None),
    *((Outcome.UNKNOWN, reason) for reason in _REASONS),
)


def is_unknown(value: Any) -> bool:
    """Whether a typed value is unknown altogether and not impossible."""
    impossible = {Reason.TYPE_MISMATCH, Reason.INVALID_CHOICE}
    return isinstance(value, Unknown) and value.reason not in impossible
