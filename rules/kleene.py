"""Kleene logic over the states of leaves (`leaves`), as source: what `and`, `or`, `!`, `if` mean.

A state is 1 true, 0 false, above that undecided for a reason. Of several undecided parts the first
one gives the reason, and an undecided condition leaves only what both ways agree on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from rules.leaves import Tree


class Writer:
    """Writes trees as assignments; the same part of several rules is computed once."""

    def __init__(self) -> None:
        self._assigned: dict[str, str] = {}

    def lines(self) -> Iterable[str]:
        """The assignments, in order."""
        return (f"{name} = {code}" for code, name in self._assigned.items())

    def name(self, tree: Tree, leaves: Sequence[str]) -> str:
        """What holds the state of `tree`, whose numbers are places in `leaves`."""
        if isinstance(tree, bool):
            return str(int(tree))
        if isinstance(tree, int):
            return leaves[tree]
        operator, parts = tree
        names = [self.name(part, leaves) for part in parts]
        return (
            names[0] if operator in {"and", "or"} and len(names) == 1 else self._of(operator, names)
        )

    def _of(self, operator: str, parts: list[str]) -> str:
        if operator == "if":
            return self._chosen(parts)
        return self._assign(_SOURCE[operator](parts))

    def _assign(self, code: str) -> str:
        return self._assigned.setdefault(code, f"t{len(self._assigned)}")

    def _chosen(self, parts: list[str]) -> str:
        result = parts[-1]
        for condition, value in reversed(list(zip(parts[:-1:2], parts[1::2], strict=True))):
            decided = f"({value} if {condition} else {result})"
            agreed = f"{result} if {value} == {result} < 2 else {condition}"
            result = self._assign(f"{decided} if {condition} < 2 else {agreed}")
        return result


def _and(parts: list[str]) -> str:
    undecided = "".join(f"{part} if {part} > 1 else " for part in parts[:-1])
    return f"{' and '.join(parts)} and ({undecided}{parts[-1]})"


def _or(parts: list[str]) -> str:
    return f"1 if {' or '.join(f'{part} == 1' for part in parts)} else {' or '.join(parts)}"


def _not(parts: list[str]) -> str:
    return f"{parts[0]} if {parts[0]} > 1 else 1 - {parts[0]}"


_SOURCE: dict[str, Callable[[list[str]], str]] = {"and": _and, "or": _or, "!": _not}
