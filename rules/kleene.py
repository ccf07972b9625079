"""Kleene logic over the states of conditions (`verdict.STATES`), as source: `and`, `or`, `!`, `if`.

A state is 1 true, 0 false, above that undecided for a reason. Of several undecided parts the first
one gives the reason, and an undecided condition leaves only what both ways agree on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence


class Writer:
    """Writes connectives as assignments; the same one of several rules is computed once."""

    def __init__(self) -> None:
        self._assigned: dict[str, str] = {}

    def lines(self) -> Iterable[str]:
        """The assignments, in order."""
        return (f"{name} = {code}" for code, name in self._assigned.items())

    def name(self, operator: str, parts: Sequence[str]) -> str:
        """What holds the state of a connective over `parts`, names or digits."""
        if operator in {"if", "?:"}:
            return self._chosen(parts if len(parts) % 2 else [*parts, "0"])
        if operator == "!":
            return self._assign(f"{parts[0]} if {parts[0]} > 1 else 1 - {parts[0]}")
        if len(parts) == 1:
            return parts[0]
        return self._assign(_and(parts) if operator == "and" else _or(parts))

    def _assign(self, code: str) -> str:
        return self._assigned.setdefault(code, f"t{len(self._assigned)}")

    def _chosen(self, parts: Sequence[str]) -> str:
        result = parts[-1]
        for condition, value in reversed(list(zip(parts[:-1:2], parts[1::2], strict=True))):
            decided = f"({value} if {condition} else {result})"
            agreed = f"{result} if {value} == {result} < 2 else {condition}"
            result = self._assign(f"{decided} if {condition} < 2 else {agreed}")
        return result


def _and(parts: Sequence[str]) -> str:
    undecided = "".join(f"{part} if {part} > 1 else " for part in parts[:-1])
    return f"{' and '.join(parts)} and ({undecided}{parts[-1]})"


def _or(parts: Sequence[str]) -> str:
    return f"1 if {' or '.join(f'{part} == 1' for part in parts)} else {' or '.join(parts)}"
