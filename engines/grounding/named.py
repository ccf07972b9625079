"""Where names stand in a text."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Protocol

from engines.grounding.values import Token

_SPACE = re.compile(r"\s+")
_LOOSE = re.compile(r"\s+|(?<=[^\W\d_])(?=\d)")


class _Span(Protocol):
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...


def spans(text: str, names: Collection[str]) -> list[tuple[int, int, str]]:
    """(start, end, name) of folded names in their order; longer names first, each character once.

    A space inside a name, or before a number in it, may stand or not: `Visit 1`, `Visit1`.
    """
    folded, taken = text.casefold(), [False] * len(text)
    bare, found = _SPACE.sub("", folded), []
    near = [name for name in names if name and _SPACE.sub("", name) in bare]
    for name in sorted(near, key=lambda name: (-len(name), name)):
        for hit in re.finditer(_pattern(name), folded):
            if not any(taken[hit.start() : hit.end()]):
                taken[hit.start() : hit.end()] = [True] * len(hit[0])
                found.append((*hit.span(), name))
    return sorted(found)


def is_inside(token: Token, span: _Span) -> bool:
    """Whether a value is part of a name."""
    return span.start <= token.start and token.start + len(token.text) <= span.end


def _pattern(name: str) -> str:
    """A name that is not part of a longer word or number."""
    before = r"(?<![a-z0-9])" if re.match("[a-z]", name) else r"(?<![\d.])" * name[0].isdigit()
    behind = r"(?![a-z0-9])" * name[-1].isdigit() + r"(?![a-z])" * bool(re.match("[a-z]", name[-1]))
    return before + r"\s*".join(map(re.escape, _LOOSE.split(name))) + behind
