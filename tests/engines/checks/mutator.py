"""Plants errors of every kind into clean subjects, by the dictionary and the visit plan alone."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any

from study.design import StudyDesign
from study.records import RecordData
from study.visits.window import planned_states

EVENT, FORM, INSTANCE = "redcap_event_name", "redcap_repeat_instrument", "redcap_repeat_instance"
Row = dict[str, Any]
Place = tuple[str, str, str]


@dataclass(frozen=True)
class Error:
    """A subject with one error, and what should be said of it: (kind, field, place)."""

    kind: str
    field: str
    place: Place
    data: RecordData
    value: str


class Mutator:
    """`errors(n)` yields n errors, the kinds in turn."""

    def __init__(self, seed: int, design: StudyDesign, clean: Sequence[RecordData], today: date):
        self.random = random.Random(seed)
        self.design, self.clean, self.today = design, clean, today
        self.rows = design.metadata.fields
        self.makers: dict[str, Callable[[], Error | None]] = {
            "required": self.required,
            "range": self.range,
            "type": self.type,
            "choice": self.choice,
            "hidden": self.hidden,
            "calc": self.calc,
            "consent": self.consent,
            "lab_ae": self.lab_ae,
            "ae_medication": self.ae_medication,
            "prohibited": self.prohibited,
            "visit_window": self.visit_window,
            "visit_order": self.visit_order,
            "duplicate": self.duplicate,
        }

    def errors(self, number: int) -> Iterator[Error]:
        """Errors at places drawn by lot; where a draw leads nowhere another is tried."""
        for at in range(number):
            make = list(self.makers.values())[at % len(self.makers)]
            yield next(error for error in iter(make, 0) if error is not None)

    def _answer(self, is_meant: Callable[[str], bool]) -> tuple[RecordData, int, str]:
        """A filled field of a clean subject."""
        answers = [
            (data, number, name)
            for data in self.clean
            for number, row in enumerate(data.rows)
            for name in self.rows
            if str(row.get(name) or "") and is_meant(name)
        ]
        return self.random.choice(answers)

    def _with(
        self, kind: str, found: tuple[RecordData, int, str], value: str, place: Place | None = None
    ) -> Error:
        data, number, name = found
        rows: list[Row] = [dict(row) for row in data.rows]
        rows[number][name] = value
        where = place or tuple(str(rows[number].get(n) or "") for n in (EVENT, FORM, INSTANCE))
        return Error(kind, name, where, replace(data, rows=tuple(rows)), value)  # type: ignore[arg-type]

    def _validation(self, name: str) -> str:
        return str(self.rows[name]["text_validation_type_or_show_slider_number"] or "")

    def _is_date(self, name: str) -> bool:
        return self._validation(name).startswith("date")

    def required(self) -> Error | None:
        record_id = self.design.metadata.record_id_field
        found = self._answer(lambda n: self.rows[n]["required_field"] == "y" and n != record_id)
        return self._with("required", found, "")

    def range(self) -> Error | None:
        found = self._answer(lambda n: bool(self.rows[n]["text_validation_min"]))
        row, off = self.rows[found[2]], self.random.randint(1, 400)
        low, high = row["text_validation_min"], row["text_validation_max"]
        if self._is_date(found[2]):
            edges = (date.fromisoformat(low), date.fromisoformat(high))
            values = [str(edges[0] - timedelta(days=off)), str(edges[1] + timedelta(days=off))]
        else:
            values = [str(float(high) + off)] + ([str(float(low) - off)] if off else [])
            if self._validation(found[2]) == "integer":
                values = [str(int(float(value))) for value in values]
        return self._with("range", found, self.random.choice(values))

    def type(self) -> Error | None:
        found = self._answer(lambda n: bool(self._validation(n)))
        bad = (
            ["2026-02-30", "26/3/1", "不详"]
            if self._is_date(found[2])
            else ["1O", "正常", "ND?", "<"]
        )
        return self._with("type", found, self.random.choice(bad))

    def choice(self) -> Error | None:
        kinds = {"radio", "dropdown", "yesno"}
        found = self._answer(lambda n: self.rows[n]["field_type"] in kinds)
        return self._with("choice", found, self.random.choice(["77", "x", "-1", "1.5"]))

    def hidden(self) -> Error | None:
        """A field that this subject's answers hide; the demo's branching is by equality within the row."""
        name = self.random.choice([n for n in self.rows if self.rows[n]["branching_logic"]])
        data = self.random.choice(self.clean)
        logic = str(self.rows[name]["branching_logic"])
        parent, wanted = logic.split("]")[0].strip("["), logic.split('"')[1::2]
        rows = [
            i
            for i, row in enumerate(data.rows)
            if str(row.get(parent) or "") and row[parent] not in wanted and not row.get(name)
        ]
        if not rows:
            return None
        value = "2026-03-01" if self._is_date(name) else "0"
        return self._with("hidden", (data, self.random.choice(rows), name), value)

    def calc(self) -> Error | None:
        """A calculated field that is not what its formula gives."""
        found = self._answer(lambda n: self.rows[n]["field_type"] == "calc")
        data, number, name = found
        off = self.random.choice([-3, -1, 1, 7])
        stored = str(data.rows[number][name])
        value = f"{float(stored) + off / 10:.1f}" if "." in stored else str(int(stored) + off)
        return self._with("calc", found, value)

    def ae_medication(self) -> Error | None:
        """An adverse event names a medication that this subject does not take."""
        data, number, _term = self._answer(lambda n: n == "ae_term")
        taken = {str(row.get("cm_name") or "") for row in data.rows}
        name = self.random.choice(["甲氧氯普胺片", "碳酸钙D3片", "Loperamide 2mg", "蒙脱石散"])
        if any(name in one for one in taken):
            return None
        return self._with("ae_medication", (data, number, "ae_medication"), name)

    def _planned(self) -> list[tuple[RecordData, Any, Any]]:
        plan = self.design.plan
        found = [(d, v, s) for d in self.clean for v, s in planned_states(plan, d, self.today)]
        return [one for one in found if one[2].actual]

    def _at(self, data: RecordData, name: str) -> tuple[RecordData, int, str]:
        return data, next(i for i, row in enumerate(data.rows) if str(row.get(name) or "")), name

    def consent(self) -> Error | None:
        """One visit before the consent, or the consent after all."""
        data, visit, state = self.random.choice(self._planned())
        found = self._at(data, "icf_date")
        signed = date.fromisoformat(str(data.rows[found[1]]["icf_date"]))
        off = timedelta(days=self.random.randint(1, 30))
        if self.random.random() < 0.5:
            return self._with("consent", self._at(data, visit.date_field), str(signed - off))
        return self._with("consent", found, str(state.actual + off))

    def lab_ae(self) -> Error | None:
        found = self._answer(lambda n: n in {"alt", "ast", "tbil"})
        data, number, name = found
        if data.record_id == "P032" and name == "alt":  # its ALT is told as an adverse event
            return None
        limit = 40.0 if name != "tbil" else float(data.rows[number]["tbil_uln"])
        return self._with("lab_ae", found, f"{limit * self.random.uniform(3.1, 9):.1f}")

    def prohibited(self) -> Error | None:
        name = self.random.choice(["酮康唑片", "伊曲康唑胶囊", "注射用伏立康唑", "利福平"])
        return self._with("prohibited", self._answer(lambda n: n == "cm_name"), name)

    def visit_window(self) -> Error | None:
        data, visit, state = self.random.choice(self._planned())
        off = timedelta(days=self.random.randint(1, 5))
        day = self.random.choice([state.open - off, state.close + off])
        if day > self.today:
            return None
        return self._with("visit_window", self._at(data, visit.date_field), str(day))

    def visit_order(self) -> Error | None:
        data, visit, _state = self.random.choice(self._planned())
        mine = [s for d, _v, s in self._planned() if d.record_id == data.record_id]
        earlier = [s for s in mine if s.visit < visit.visit]
        if not earlier:
            return None
        day = max(s.actual for s in earlier) - timedelta(days=self.random.randint(1, 9))
        return self._with("visit_order", self._at(data, visit.date_field), str(day))

    def duplicate(self) -> Error | None:
        data, other = self.random.sample(list(self.clean), 2)
        name = self.random.choice(["id_card", "hospital_no"])
        found, theirs = self._at(data, name), self._at(other, name)
        value = str(other.rows[theirs[1]][name])
        shown = self.random.choice([value, f" {value[:6]}-{value[6:]}"])
        return self._with("duplicate", found, shown, ("", "", ""))
