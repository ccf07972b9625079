"""A rule as a sentence for people: labels for fields, choices and events instead of codes.

What decides is the rule itself; the sentence is only read. An operator without words of its own is shown by its
name, so nothing of a rule is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from study.metadata import StudyMetadata

_SIGNS = {"==": "=", "===": "=", "!=": "≠", "!==": "≠", ">": ">", ">=": "≥", "<": "<", "<=": "≤"}
_ARITHMETIC = {"+": "+", "-": "−", "*": "×", "/": "÷", "%": "mod"}
_OUTER, _INNER = 0, 1


def in_words(logic: Any, metadata: StudyMetadata) -> str:
    """`logic` (JSON Logic of seed 001 with contracts.md's operators) in the reader's language."""
    return _Teller(metadata).tell(logic, _OUTER)


class _Teller:
    def __init__(self, metadata: StudyMetadata) -> None:
        self.metadata = metadata

    def tell(self, logic: Any, depth: int = _INNER) -> str:
        if not (isinstance(logic, Mapping) and len(logic) == 1):
            return self._literal(logic)
        ((name, given),) = logic.items()
        arguments = [*given] if isinstance(given, list | tuple) else [given]
        if name in _SIGNS:
            return self._compared(_SIGNS[name], arguments)
        if name in ("and", "or"):
            return self._joined(name, arguments, depth)
        if name in _ARITHMETIC and len(arguments) > 1:
            return "(" + f" {_ARITHMETIC[name]} ".join(map(self.tell, arguments)) + ")"
        words = _WORDS.get(name)
        try:
            told = words(self, arguments) if words else None
        except (IndexError, TypeError, ValueError):
            told = None
        return told or f"{name}({', '.join(map(self.tell, arguments))})"

    def name(self, column: Any) -> str:
        """A column as its label; a box of a checkbox with the label of its choice."""
        field, code = self.metadata.columns.get(str(column), (str(column), ""))
        label = self.metadata.label(field)
        return f"{label} [{self.metadata.choices(field).get(code, code)}]" if code else label

    def event(self, unique_name: Any) -> str:
        return self.metadata.event_label(str(unique_name))

    def _literal(self, value: Any) -> str:
        if isinstance(value, list | tuple):
            return "、".join(map(self._literal, value))
        if value is None or value == "":
            return _("blank")
        if isinstance(value, bool):
            return _("yes") if value else _("no")
        return str(value)

    def _compared(self, sign: str, arguments: Sequence[Any]) -> str:
        labels = next(filter(None, map(self._labels, arguments)), {})
        shown = [
            labels.get(str(one), str(one))
            if labels and isinstance(one, str | int) and not isinstance(one, bool) and one != ""
            else self.tell(one)
            for one in arguments
        ]
        return f" {sign} ".join(shown)

    def _labels(self, argument: Any) -> Mapping[str, str]:
        """Code -> label, where `argument` reads a coded field or a box."""
        while isinstance(argument, Mapping) and "across_events" in argument:
            argument = argument["across_events"][-1]
        if not isinstance(argument, Mapping) or "var" not in argument:
            return {}
        column = argument["var"]
        column = str(column[0] if isinstance(column, list) and column else column)
        field, code = self.metadata.columns.get(column, (column, ""))
        if code:
            return {"1": _("ticked"), "0": _("not ticked")}
        return self.metadata.choices(field)

    def _joined(self, name: str, arguments: Sequence[Any], depth: int) -> str:
        joint = _(", and ") if name == "and" else _(", or ")
        told = joint.join(map(self.tell, arguments))
        return told if depth == _OUTER or len(arguments) < 2 else f"({told})"

    def negated(self, inner: Any) -> str:
        if isinstance(inner, Mapping) and len(inner) == 1:
            ((name, given),) = inner.items()
            arguments = [*given] if isinstance(given, list | tuple) else [given]
            if name in _NEGATED:
                return _NEGATED[name](self, arguments)
        return _("not (%(what)s)") % {"what": self.tell(inner, _OUTER)}


_Words = Callable[[_Teller, Sequence[Any]], str]


def _of(template: Callable[[], str]) -> _Words:
    """Words with a place {0}, {1}, … for each argument."""
    return lambda teller, given: template().format(*map(teller.tell, given))


def _membership(teller: _Teller, given: Sequence[Any]) -> str:
    needle, choices = given
    labels = teller._labels(needle)
    if isinstance(choices, list):
        shown = "、".join(labels.get(str(one), str(one)) for one in choices)
        return _("%(what)s is one of %(choices)s") % {"what": teller.tell(needle), "choices": shown}
    ticked = teller._labels(choices).get(str(needle), teller.tell(needle))
    return _("%(what)s contains %(part)s") % {"what": teller.tell(choices), "part": ticked}


def _alternatives(teller: _Teller, given: Sequence[Any]) -> str:
    if len(given) < 2:
        return teller.tell(given[0])
    condition, then, *rest = given
    told = _("if %(condition)s, then %(then)s") % {
        "condition": teller.tell(condition),
        "then": teller.tell(then),
    }
    return (
        _("%(told)s, else %(other)s") % {"told": told, "other": _alternatives(teller, rest)}
        if rest
        else told
    )


def _window(teller: _Teller, given: Sequence[Any]) -> str:
    date, anchor, day, minus, plus = map(teller.tell, given)
    return _(
        "%(date)s lies in the window of day %(day)s after %(anchor)s (−%(minus)s/+%(plus)s days)"
    ) % {
        "date": date,
        "day": day,
        "anchor": anchor,
        "minus": minus,
        "plus": plus,
    }


def _at_event(teller: _Teller, given: Sequence[Any]) -> str:
    event, inner = given
    return _("%(what)s at %(event)s") % {"what": teller.tell(inner), "event": teller.event(event)}


_WORDS: dict[str, _Words] = {
    "var": lambda teller, given: teller.name(given[0]),
    "!": lambda teller, given: teller.negated(given[0]),
    "!!": _of(lambda: _("{0} is filled in")),
    "is_blank": _of(lambda: _("{0} is blank")),
    "before": _of(lambda: _("{0} is before {1}")),
    "after": _of(lambda: _("{0} is after {1}")),
    "days_between": _of(lambda: _("days from {0} to {1}")),
    "age_at": _of(lambda: _("age at {1}")),
    "today": lambda _teller, _given: _("today"),
    "in": _membership,
    "if": _alternatives,
    "?:": _alternatives,
    "in_window": _window,
    "across_events": _at_event,
    "matches": _of(lambda: _("{0} has the form {1}")),
    "to_unit": _of(lambda: _("{0} in {2}")),
    "round_half_up": _of(lambda: _("{0} rounded to {1} digits")),
    "min": lambda teller, given: _("the lowest of %s") % "、".join(map(teller.tell, given)),
    "max": lambda teller, given: _("the highest of %s") % "、".join(map(teller.tell, given)),
    "missing": lambda teller, given: _("one of %s is blank") % "、".join(map(teller.name, given)),
}
_NEGATED: dict[str, _Words] = {
    "is_blank": _of(lambda: _("{0} is filled in")),
    "!!": _of(lambda: _("{0} is blank")),
    "!": lambda teller, given: teller.tell(given[0]),
    "before": _of(lambda: _("{0} is not before {1}")),
    "after": _of(lambda: _("{0} is not after {1}")),
    "in": lambda teller, given: _("not (%(what)s)") % {"what": _membership(teller, given)},
}
