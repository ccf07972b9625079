"""A rule as a sentence for people: labels for fields, choices and events instead of codes.

What decides is the rule itself; the sentence is only read. An operator without words of its own is shown by its
name, so nothing of a rule is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from core.rules.operators import OPERATORS
from study.metadata import StudyMetadata

_OUTER, _INNER = 0, 1
_CHOOSING = ("if", "?:")


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
        known = OPERATORS.get(name)
        if name in ("and", "or"):
            return self._joined(name, arguments, depth)
        if name in _CHOOSING and depth != _OUTER:
            return f"({self.tell(logic, _OUTER)})"
        if known and known.sign and known.is_truth:
            return self._compared(known.sign, arguments)
        if known and known.sign and len(arguments) > 1:
            return "(" + f" {known.sign} ".join(map(self.tell, arguments)) + ")"
        try:
            told = _WORDS[name](self, arguments) if name in _WORDS else None
            if told is None and known and known.words:
                told = self._filled(known.words, arguments)
        except (IndexError, TypeError, ValueError):
            told = None
        return told or f"{name}({', '.join(map(self.tell, arguments))})"

    def _filled(self, words: str, arguments: Sequence[Any]) -> str:
        """An operator's words with its arguments in their places."""
        told = [self.tell(argument) for argument in arguments]
        return _(words).format(*told, all="、".join(told))

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
        if value is None:
            return _("blank")
        if value == "":
            return _("empty text")
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
        column = _column(argument)
        if column is None:
            return {}
        field, code = self.metadata.columns.get(column, (column, ""))
        if code:
            return {"1": _("ticked"), "0": _("not ticked")}
        return self.metadata.choices(field)

    def asked(self, inner: Any, *, is_so: bool) -> str | None:
        """`!!` of a column, and its opposite: of boxes and of yes or no they ask for the tick.

        None where `inner` is no column.
        """
        column = _column(inner)
        if column is None:
            return None
        field, code = self.metadata.columns.get(column, (column, ""))
        kind = self.metadata.fields.get(field, {}).get("field_type", "")
        told = self.tell(inner)
        if code or kind == "checkbox":
            return f"{told} = {_('ticked') if is_so else _('not ticked')}"
        if kind in ("yesno", "truefalse"):
            return f"{told} {'=' if is_so else '≠'} {self.metadata.choices(field)['1']}"
        return _("{0} is filled in").format(told) if is_so else _("{0} is blank").format(told)

    def _joined(self, name: str, arguments: Sequence[Any], depth: int) -> str:
        joint = _(", and ") if name == "and" else _(", or ")
        told = joint.join(map(self.tell, arguments))
        return told if depth == _OUTER or len(arguments) < 2 else f"({told})"

    def truth(self, inner: Any) -> str | None:
        """`!!`: of what is true or not by itself nothing is added."""
        return self.asked(inner, is_so=True) or (self.tell(inner) if _is_condition(inner) else None)

    def negated(self, inner: Any) -> str:
        if (told := self.asked(inner, is_so=False)) is not None:
            return told
        if isinstance(inner, Mapping) and len(inner) == 1:
            ((name, given),) = inner.items()
            arguments = [*given] if isinstance(given, list | tuple) else [given]
            if name == "!":
                return self.truth(arguments[0]) or self.tell(arguments[0])
            if name == "!!":
                return self.negated(arguments[0])
            if name in OPERATORS and OPERATORS[name].negated:
                return self._filled(OPERATORS[name].negated, arguments)
        return _("not (%(what)s)") % {"what": self.tell(inner, _OUTER)}


def _column(argument: Any) -> str | None:
    """The column that is read, at an event or not; None where it is no reading."""
    while isinstance(argument, Mapping) and "across_events" in argument:
        argument = argument["across_events"][-1]
    if not isinstance(argument, Mapping) or "var" not in argument:
        return None
    column = argument["var"]
    return str(column[0] if isinstance(column, list) and column else column)


def _is_condition(logic: Any) -> bool:
    """Whether it is true or not, rather than a number or a text."""
    if not (isinstance(logic, Mapping) and len(logic) == 1):
        return isinstance(logic, bool)
    ((name, given),) = logic.items()
    if name == "across_events" and isinstance(given, list) and given:
        return _is_condition(given[-1])
    if name in _CHOOSING and isinstance(given, list):
        return all(map(_is_condition, given[1::2]))
    return name in OPERATORS and OPERATORS[name].is_truth


_Words = Callable[[_Teller, Sequence[Any]], str | None]


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
    nothing = _("does not hold") if _is_condition(then) else _("blank")
    other = _alternatives(teller, rest) if rest else nothing
    return _("%(told)s, else %(other)s") % {"told": told, "other": other}


def _at_event(teller: _Teller, given: Sequence[Any]) -> str:
    """Brackets show how far the event reaches, but around a single column."""
    event, inner = given
    is_bare = isinstance(inner, Mapping) and [*inner] == ["var"]
    told = teller.tell(inner, _OUTER)
    what = told if is_bare else f"({told})"
    return _("%(what)s at %(event)s") % {"what": what, "event": teller.event(event)}


_WORDS: dict[str, _Words] = {
    "var": lambda teller, given: teller.name(given[0]),
    "!": lambda teller, given: teller.negated(given[0]),
    "!!": lambda teller, given: teller.truth(given[0]),
    "in": _membership,
    "if": _alternatives,
    "?:": _alternatives,
    "across_events": _at_event,
    "missing": lambda teller, given: _("one of %s is blank") % "、".join(map(teller.name, given)),
}
"""Operators whose words depend on what the dictionary says of their arguments."""
