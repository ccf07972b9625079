"""What a form asks: nothing before somebody began it, and a field under a condition once that is decided.

A blank is of no wrong type, choice or range. Where the field of a condition is itself blank that field is told,
once, instead of all that depend on it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from functools import cached_property

from django.utils.translation import gettext as _

from core.rules import evaluation
from core.rules.context import Kind as Type
from core.rules.convert import Place, text_of
from core.rules.record import Record, Row
from core.rules.redcap.calculation import formula_of
from core.rules.values import Reason
from core.rules.visibility import logic_names, visibility
from engines.sop.checks.kinds import Checks, Kind, key, kind_of
from engines.sop.findings import GOOD, Observation
from engines.sop.snapshot import Rows, named
from engines.sop.study import Study

_MOST_NAMED = 5
_TELLING = (Kind.REQUIRED, Kind.HIDDEN, Kind.CALC)
"""The checks that rest on whether a field is asked; the first that is on tells what leaves it open."""


class Asked:
    """One record as its forms ask it."""

    def __init__(self, study: Study, rows: Rows, today: date) -> None:
        self.record = Record(study.context(), rows, today)
        self._columns = self.record.context.columns
        self._metadata = study.metadata
        self._begun: dict[tuple[Place, str], bool] = {}

    def is_begun(self, row: Row, form: str) -> bool:
        """Whether anything was entered there. A calculation is none: REDCap saves it from other forms, too.

        The status 0 is of a form that was saved without an entry, but an old REDCap exports it of all forms
        that were never opened (redcap_dify.md 1.2): it counts where the record has an entry anywhere.
        """
        known = self._begun.get((row.place, form))
        if known is None:
            is_saved = text_of(row.data.get(f"{form}_complete")) == "0"
            known = self._is_entered(row, form) or (is_saved and self._has_entry)
            self._begun[row.place, form] = known
        return known

    def _is_entered(self, row: Row, form: str) -> bool:
        columns = self._entries.get(form, ())
        return any(text_of(row.data.get(name)) not in nothing for name, nothing in columns)

    @cached_property
    def _has_entry(self) -> bool:
        return any(
            self._is_entered(row, form) for row in self.record.rows for form in self._entries
        )

    def settle(self, seen: Sequence[Observation], checks: Checks) -> list[Observation]:
        """The observations of the dictionary's checks, each about its own field, as they are told."""
        telling = next((kind for kind in _TELLING if kind in checks), None)
        open_to: defaultdict[tuple[str, Place], list[str]] = defaultdict(list)
        told: dict[tuple[str, str, str, str], Observation] = {}
        for one in seen:
            told[one.place()] = one
            row, column = self._rows.get(one.place()[1:]), self._columns.get(one.field)
            if row is None or column is None or one.outcome in GOOD:
                continue
            is_asked = self.is_begun(row, column.form)
            if is_asked and one.reason != Reason.APPLICABILITY_UNKNOWN:
                continue
            cause, event = visibility(row, one.field)[1]
            if not (is_asked and _rests_on_it(one, row)):
                told[one.place()] = replace(one, outcome="NOT_APPLICABLE", reason="", detail=None)
            elif cause != one.field:
                told[one.place()] = replace(one, outcome="NOT_APPLICABLE", reason="", detail=None)
                open_to[cause, evaluation.read_column(row, cause, event).place].append(one.field)
        for own in self._decisive(telling, open_to) if telling else ():
            if told.get(own.place(), own).outcome != "FAIL":
                told[own.place()] = own if own.outcome not in GOOD else told.get(own.place(), own)
        return [*told.values()]

    def _decisive(
        self, telling: Kind, open_to: dict[tuple[str, Place], list[str]]
    ) -> Iterator[Observation]:
        """Of each field that a condition reads whether it leaves something open: so a finding can close."""
        places: dict[tuple[str, Place], list[str]] = {
            (name, row.place): []
            for name in self._conditions
            for row in self.record.rows
            if row.holds(self._columns[name].form)
        }
        for (name, place), others in (places | open_to).items():
            labels = [self._metadata.label(one) for one in dict.fromkeys(others)]
            about = {
                "label": self._metadata.label(name),
                "others": "、".join(labels[:_MOST_NAMED]) + ("…" if labels[_MOST_NAMED:] else ""),
            }
            here = (row for row in self.record.rows if row.place == place)
            row = next(here, None) or Row(self.record, {"redcap_event_name": place.event})
            reading = evaluation.read_column(row, name, None) if others else None
            yield Observation(
                rule_key=key(telling, name),
                outcome="UNKNOWN" if others else "PASS",
                field=name,
                message=_("%(label)s leaves open whether these are asked: %(others)s") % about,
                reason=Reason.APPLICABILITY_UNKNOWN if others else "",
                value=reading.raw if reading else None,
                **named(place),
            )

    @cached_property
    def _conditions(self) -> list[str]:
        """The fields that the branching of others reads."""
        texts = {column.branching for column in self._columns.values() if column.branching}
        names = {name for text in texts for name, _event in logic_names(text)}
        found = (self._columns[name].field for name in sorted(names) if name in self._columns)
        return [*dict.fromkeys(name for name in found if name in self._metadata.fields)]

    @cached_property
    def _entries(self) -> dict[str, list[tuple[str, frozenset[str]]]]:
        """Form -> its columns that somebody fills in, each with what stands there when nobody did."""
        context = self.record.context
        fields = self._metadata.fields
        left_out = {context.record_id_field, *(n for n, row in fields.items() if formula_of(row))}
        found: defaultdict[str, list[tuple[str, frozenset[str]]]] = defaultdict(list)
        for name, column in self._columns.items():
            if column.kind is not Type.TICKS and column.field not in left_out:
                is_zero = column.kind is Type.TICK or name == f"{column.form}_complete"
                found[column.form].append((name, frozenset({"", "0"} if is_zero else {""})))
        return found

    @cached_property
    def _rows(self) -> dict[tuple[str, str, str], Row]:
        places = ((named(row.place), row) for row in self.record.rows)
        return {(at["event"], at["instrument"], at["instance"]): row for at, row in places}


def _rests_on_it(seen: Observation, row: Row) -> bool:
    """Whether it matters that the field may be hidden: one that is required and blank, or is filled."""
    is_filled = row.read(seen.field).is_blank is False
    kind = kind_of(seen.rule_key)
    return not is_filled if kind is Kind.REQUIRED else is_filled and kind in _TELLING
