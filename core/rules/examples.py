"""Smallest examples of a rule: one record that passes, one that fails, one that stays undecided.

Every verdict is the evaluator's own (`evaluation.judge`). What is found first is made smaller: a field without
which the verdict stays is left out. A field that was never exported is unknown to the evaluator, and what is
decided with an unknown is decided whatever stands there; so what is left out does not matter.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from core.rules import samples
from core.rules.context import Column, Kind, StudyContext
from core.rules.evaluation import Outcome, Verdict, judge
from core.rules.limits import is_late
from core.rules.record import Record
from core.rules.rule import Rule
from core.rules.samples import Slot, Value
from core.rules.values import Reason
from core.rules.visibility import logic_names

SHOWN = (Outcome.PASS, Outcome.FAIL, Outcome.UNKNOWN)
_DECIDED = frozenset({Outcome.PASS, Outcome.FAIL, Outcome.NOT_APPLICABLE})
_MOST_TRIES = 1000
_MOST_STEPS = 200_000
_FEW = 3
Held = dict[Slot, Value]
Place = tuple[str | None, str]
"""An event and a repeating form; "" is the event's one row."""


@dataclass(frozen=True, slots=True)
class Example:
    """A verdict and the fields that it rests on; of other fields that the rule reads any value does.

    `rows` is the record as REDCap exports it, the judged row first; what does not matter is blank there.
    """

    verdict: Verdict
    held: Mapping[Slot, Value]
    rows: list[dict[str, str]]


def examples(rule: Rule, context: StudyContext, today: date) -> dict[Outcome, Example]:
    """Of each kind in SHOWN one, where one was found before the time was up (`limits.within_seconds`)."""
    search = _Search(rule, context, today)
    return {kind: found for kind in SHOWN if (found := search.find(kind)) is not None}


def slots(rule: Rule, context: StudyContext) -> list[Slot]:
    """Fields that a verdict may rest on, at their events: what shows the rule's field, what its logic reads."""
    pairs: list[tuple[str, str | None]] = []
    todo, seen = [rule.column], set[str]()
    while todo:
        column = todo.pop()
        if column.field in seen or not column.branching:
            continue
        seen.add(column.field)
        # A hidden field that holds something fails whatever its rule says.
        pairs += [(column.name, None), *logic_names(column.branching)]
        todo += [c for name, _e in logic_names(column.branching) if (c := context.column(name))]
    # What hides the field decides most.
    pairs = [*reversed(pairs), *rule.reads]
    known = ((c.field, event) for name, event in pairs if (c := context.column(name)) is not None)
    return [*dict.fromkeys(known)]


class _Search:
    def __init__(self, rule: Rule, context: StudyContext, today: date) -> None:
        self._rule = rule
        self._context = context
        self._today = today
        self._tries = 0
        self._own = True
        self.event = self._own_event()
        named = samples.named_in(rule.logic, context)
        self._options: dict[Slot, list[Value]] = {}
        for slot in slots(rule, context):
            column = context.columns.get(slot[0])
            if column is not None and self._place(column, slot[1]) is not None:
                about = named.get(slot[0], samples.Named())
                taken = rule.types.get(column.name)
                self._options[slot] = samples.values(column, about, today, taken)
        self._order = [*self._options]
        asked = {name for name, _event in self._order}
        forms = {f"{one.form}_complete" for one in context.columns.values() if one.form}
        self._saved = dict.fromkeys(sorted(forms - asked), "2")

    def find(self, wanted: Outcome) -> Example | None:
        """The smallest example of a kind that few tries find.

        Of what is undecided rather one where the rule is than one where its field may be hidden.
        """
        return self._found(wanted, is_own=True) or self._found(wanted, is_own=False)

    def _found(self, wanted: Outcome, *, is_own: bool) -> Example | None:
        if not is_own and wanted is not Outcome.UNKNOWN:
            return None
        self._own = is_own
        most = len(self._order)
        for filled in dict.fromkeys([0, 1, *([2] if most <= _FEW else []), most]):
            self._tries = max(50, min(_MOST_TRIES, _MOST_STEPS // max(1, self._rule.cost)))
            held = self._deepen(wanted, {}, 0, filled)
            if held is not None:
                return self._smallest(wanted, held)
        return None

    def _deepen(self, wanted: Outcome, held: Held, start: int, left: int) -> Held | None:
        """`held` with up to `left` more fields from `start` on; None where none of them leads there."""
        self._tries -= 1
        if self._tries < 0 or is_late():
            return None
        if self._is(wanted, self._judged(self._filled(held))):
            return held
        if left == 0 or self._judged(held).outcome in _DECIDED:
            return None
        # With as many as there are left no field is passed over: what is too much goes afterwards.
        rest = range(start, len(self._order))
        for at in rest[:1] if left >= len(rest) else rest:
            slot = self._order[at]
            blank: Value = () if self._is_ticks(slot) else ""
            first, *others = self._options[slot] or [blank]
            for value in dict.fromkeys([first, blank, *others]):
                found = self._deepen(wanted, {**held, slot: value}, at + 1, left - 1)
                if found is not None:
                    return found
        return None

    def _smallest(self, wanted: Outcome, held: Held) -> Example | None:
        """Without the fields that do not matter; of what is undecided all are shown.

        None where the time was up before the last judgement.
        """
        held = {slot: held.get(slot, () if self._is_ticks(slot) else "") for slot in self._order}
        for slot in reversed(self._order) if wanted is not Outcome.UNKNOWN else ():
            less = {one: value for one, value in held.items() if one != slot}
            if self._is(wanted, self._judged(less)):
                held = less
        rows = self._rows(self._filled(held))
        verdict = self._judge(rows)
        return Example(verdict, held, rows) if self._is(wanted, verdict) else None

    def _is(self, wanted: Outcome, verdict: Verdict) -> bool:
        """A value that should not be there fails any rule: that is no example of this one."""
        if wanted is not Outcome.UNKNOWN:
            return verdict.outcome is wanted and verdict.reason is None
        is_shown = verdict.reason is not Reason.APPLICABILITY_UNKNOWN
        return verdict.outcome is wanted and (is_shown or not self._own)

    def _filled(self, held: Held) -> Held:
        return {slot: held.get(slot, () if self._is_ticks(slot) else "") for slot in self._order}

    def _is_ticks(self, slot: Slot) -> bool:
        return self._context.columns[slot[0]].kind is Kind.TICKS

    def _judged(self, held: Held) -> Verdict:
        return self._judge(self._rows(held))

    def _judge(self, rows: list[dict[str, str]]) -> Verdict:
        row = Record(self._context, rows, self._today).rows[0]
        return judge(self._rule, row) or Verdict(Outcome.NOT_APPLICABLE)

    # --- where cells stand --------------------------------------------------------------------------

    def _own_event(self) -> str | None:
        """The first event of the study that has the form of the rule's field, with most of what it reads."""
        events = [*(self._context.arms or self._context.forms_by_event)]
        column = self._rule.column
        forms = {
            found.form
            for name, event in self._rule.reads
            if event is None and (found := self._context.column(name)) is not None
        }
        held = [one for one in events if self._context.is_mapped(column.form, one)]
        most = {one: sum(self._context.is_mapped(form, one) for form in forms) for one in held}
        return max(held, key=lambda one: most[one], default=None)

    def _place(self, column: Column, event: str | None) -> Place | None:
        """Event and repeating form of the row that holds a column; None where no row in reach does."""
        at = self.event if event is None else event
        if not self._context.is_mapped(column.form, at):
            return None
        if not self._context.is_repeating(column.form, at):
            return at, ""
        return (
            (at, column.form) if event is None and column.form == self._rule.column.form else None
        )

    def _rows(self, held: Held) -> list[dict[str, str]]:
        own = self._place(self._rule.column, None) or (self.event, "")
        rows = {own: self._empty(own)}
        for (name, event), value in held.items():
            column = self._context.columns[name]
            place = self._place(column, event) or own
            row = rows.setdefault(place, self._empty(place))
            row |= samples.cells(column, value)
        return [*rows.values()]

    def _empty(self, place: Place) -> dict[str, str]:
        """A row whose forms were saved: an unticked box of a form that was never opened says nothing."""
        event, form = place
        where = {"redcap_event_name": event or "", "redcap_repeat_instrument": form}
        return {**where, "redcap_repeat_instance": "1" if form else "", **self._saved}
