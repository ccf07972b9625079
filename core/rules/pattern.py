"""A regular expression that can't hang: matching time is linear in the text.

`matches` lets a rule's author write a pattern that then runs over patients' data. Python's matcher
backtracks, so `(a+)+$` would stop a worker; with `regex` and its time-out a verdict would hang on how busy
the machine is. This one simulates the automaton (Thompson 1968) and knows: literals, `.`, classes,
`\\d \\w \\s` and their opposites, `\\uXXXX \\xXX`, groups, `|`,
`* + ? {m,n}`, `^ $`.
Look-around, back references and word boundaries are refused when the rule is saved. `\\d` is ASCII
only (a full-width digit in an identifier is a typing error), `\\w` includes Chinese.
"""

from __future__ import annotations

import functools
import re
import string
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from core.rules.limits import RuleError
from core.rules.text import translate as _

_MAX_PATTERN, _MAX_STATES, _MAX_REPEAT, _MAX_NESTING = 1_000, 2_500, 1_000, 30
_MAX_REMEMBERED, _MAX_WORK = 200_000, 2_000_000

Test: TypeAlias = Callable[[str], bool]
_COUNT = re.compile("[0-9]{1,4}")
_HEX_DIGITS = {"x": 2, "u": 4}
_CONTROL = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v"}
_CLASSES: dict[str, Test] = {
    "d": lambda c: "0" <= c <= "9",
    "w": lambda c: c.isalnum() or c == "_",
    "s": lambda c: c.isspace(),
}
_MATCH, _SPLIT, _START, _END, _CHAR = range(5)


@dataclass(slots=True)
class _State:
    kind: int
    test: Test | None = None
    nexts: list[int] = field(default_factory=list)


@functools.lru_cache(maxsize=512)
def compile_pattern(pattern: str) -> Pattern:
    """A matcher for the whole value; RuleError when the pattern is wrong or outside the subset."""
    return Pattern(_Parser(pattern).parse())


class Pattern:
    """An automaton with the transitions seen so far."""

    def __init__(self, build: _Build) -> None:
        self._states: list[_State] = [_State(_MATCH)]
        start = build(self._add, 0)
        self._first = self._closure({start}, at_start=True)
        self._seen: dict[tuple[frozenset[int], str], frozenset[int]] = {}
        self._remembered = 0

    @property
    def states(self) -> int:
        """How many states one character may have to be tried in."""
        return len(self._states)

    def fullmatch(self, text: str) -> bool:
        """Whether the whole of `text` matches; RuleError when it would take seconds to tell."""
        current, seen, work = self._first, self._seen, 0
        for character in text:
            following = seen.get((current, character))
            if following is None:
                work += len(current)
                if work > _MAX_WORK:
                    raise RuleError(_("The text is too long for this pattern."))
                following = self._step(current, character)
            current = following
            if not current:
                return False
        return 0 in self._closure(current, at_start=not text, at_end=True)

    def _add(self, state: _State) -> int:
        if len(self._states) >= _MAX_STATES:
            raise RuleError(_("The pattern is too large."))
        self._states.append(state)
        return len(self._states) - 1

    def _step(self, current: frozenset[int], character: str) -> frozenset[int]:
        targets: set[int] = set()
        for index in current:
            state = self._states[index]
            if state.test is not None and state.test(character):
                targets.update(state.nexts)
        following = self._closure(targets)
        self._remembered += len(following) + 1
        if self._remembered > _MAX_REMEMBERED:  # in states: that is what takes the memory
            self._seen.clear()
            self._remembered = 0
        self._seen[current, character] = following
        return following

    def _closure(
        self, indices: set[int] | frozenset[int], *, at_start: bool = False, at_end: bool = False
    ) -> frozenset[int]:
        reached, stack = set(indices), list(indices)
        while stack:
            state = self._states[stack.pop()]
            is_open = (
                state.kind == _SPLIT
                or (state.kind == _START and at_start)
                or (state.kind == _END and at_end)
            )
            for index in state.nexts if is_open else ():
                if index not in reached:
                    reached.add(index)
                    stack.append(index)
        return frozenset(reached)


_Build: TypeAlias = Callable[[Callable[[_State], int], int], int]


def _atom(test: Test) -> _Build:
    return lambda add, after: add(_State(_CHAR, test, [after]))


def _assertion(kind: int) -> _Build:
    return lambda add, after: add(_State(kind, None, [after]))


def _sequence(parts: list[_Build]) -> _Build:
    def build(add: Callable[[_State], int], after: int) -> int:
        for part in reversed(parts):
            after = part(add, after)
        return after

    return build


def _alternatives(parts: list[_Build]) -> _Build:
    if len(parts) == 1:
        return parts[0]
    return lambda add, after: add(_State(_SPLIT, None, [part(add, after) for part in parts]))


def _repeat(part: _Build, least: int, most: int | None) -> _Build:
    def build(add: Callable[[_State], int], after: int) -> int:
        if most is None:
            loop = _State(_SPLIT)
            index = add(loop)
            loop.nexts.extend([part(add, index), after])
            after = index
        for _optional in range((most or least) - least):
            after = add(_State(_SPLIT, None, [part(add, after), after]))
        for _required in range(least):
            before, after = after, part(add, after)
            if before == after:  # an empty group: repeating it 200 ** 30 times changes nothing
                break
        return after

    return build


class _Parser:
    def __init__(self, pattern: str) -> None:
        if len(pattern) > _MAX_PATTERN:
            raise RuleError(_("The pattern is too large."))
        self._text = pattern
        self._at = 0
        self._nesting = 0

    def parse(self) -> _Build:
        build = self._alternation()
        if self._at < len(self._text):
            raise self._error()
        return build

    def _error(self) -> RuleError:
        message = _("The pattern is not supported at position %(at)d: %(pattern)s")
        return RuleError(message % {"at": self._at, "pattern": self._text})

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _take(self) -> str:
        character = self._peek()
        if not character:
            raise self._error()
        self._at += 1
        return character

    def _alternation(self) -> _Build:
        parts = [self._concatenation()]
        while self._peek() == "|":
            self._take()
            parts.append(self._concatenation())
        return _alternatives(parts)

    def _concatenation(self) -> _Build:
        parts: list[_Build] = []
        while self._peek() not in {"", "|", ")"}:
            parts.append(self._quantified(self._primary()))
        return _sequence(parts)

    def _primary(self) -> _Build:
        character = self._take()
        if character == "(":
            return self._group()
        if character == "[":
            return _atom(self._class())
        if character in "*+?{":
            raise self._error()
        if character in "^$":
            return _assertion(_START if character == "^" else _END)
        if character == ".":
            return _atom(lambda c: c != "\n")
        return _atom(self._escape() if character == "\\" else _is(character))

    def _group(self) -> _Build:
        self._nesting += 1
        if self._nesting > _MAX_NESTING:
            raise self._error()
        if self._text.startswith("?:", self._at):
            self._at += 2
        elif self._peek() == "?":
            raise self._error()
        build = self._alternation()
        if self._take() != ")":
            raise self._error()
        self._nesting -= 1
        return build

    def _quantified(self, part: _Build) -> _Build:
        bounds = self._bounds()
        if bounds is None:
            return part
        if self._peek() == "?":  # lazy: the same set of whole matches
            self._take()
        if self._peek() in {"*", "+", "?", "{"}:
            raise self._error()
        return _repeat(part, *bounds)

    def _bounds(self) -> tuple[int, int | None] | None:
        simple: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
        if self._peek() in simple:
            return simple[self._take()]
        if self._peek() != "{":
            return None
        end = self._text.find("}", self._at)
        low, comma, high = self._text[self._at + 1 : max(end, 0)].partition(",")
        numbers = [int(part) for part in (low, high) if _COUNT.fullmatch(part)]
        is_valid = low != "" and len(numbers) == (2 if high else 1)
        if end < 0 or not is_valid or max(numbers) > _MAX_REPEAT or numbers[0] > numbers[-1]:
            raise self._error()
        self._at = end + 1
        return numbers[0], numbers[-1] if high or not comma else None

    def _escape(self) -> Test:
        character = self._take()
        if character.lower() in _CLASSES:
            test = _CLASSES[character.lower()]
            return test if character.islower() else lambda c: not test(c)
        return _is(self._literal(character))

    def _literal(self, character: str) -> str:
        """What an escaped character stands for."""
        if character in _HEX_DIGITS:
            digits = "".join(self._take() for _digit in range(_HEX_DIGITS[character]))
            if not set(digits) <= set(string.hexdigits):
                raise self._error()
            return chr(int(digits, 16))
        if character.isalnum() and character not in _CONTROL:
            raise self._error()
        return _CONTROL.get(character, character)

    def _class(self) -> Test:
        negated = self._peek() == "^"
        if negated:
            self._take()
        tests: list[Test] = []
        while self._peek() != "]" or not tests:
            tests.append(self._class_item())
        self._take()
        return lambda c: any(test(c) for test in tests) != negated

    def _class_item(self) -> Test:
        first = self._take()
        if first == "\\":
            if self._peek().lower() in _CLASSES:
                return self._escape()
            first = self._literal(self._take())
        if self._peek() != "-" or self._text[self._at + 1 : self._at + 2] in {"]", ""}:
            return _is(first)
        self._take()
        last = self._take()
        last = self._literal(self._take()) if last == "\\" else last
        if last < first:
            raise self._error()
        return lambda c: first <= c <= last


def _is(character: str) -> Test:
    return lambda c: c == character
