"""A study as the oracle knows it: raw exports with a few look-ups, every cell read once."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from tests.study.oracle import branching, cells, windows
from tests.study.oracle.cells import Cell

EVENT, INSTRUMENT, INSTANCE = (
    "redcap_event_name",
    "redcap_repeat_instrument",
    "redcap_repeat_instance",
)
SITE = "redcap_data_access_group"


@dataclass(eq=False)
class Line:
    """A form in one row of one subject; `data` None: the row of a due visit that does not exist."""

    subject: Any
    form: str
    event: str
    instance: int | None
    data: dict[str, str] | None
    cells: dict[str, Cell] = field(default_factory=dict)
    dates: list[Cell | None] = field(default_factory=list)

    @property
    def row_key(self) -> tuple[str, str, int | None]:
        """The export row it is a part of: event, repeating form, instance."""
        return self.event, self.form if self.instance is not None else "", self.instance


@dataclass(eq=False)
class Subject:
    """One record with its rows."""

    id: str
    site: str
    rows: list[dict[str, str]]
    number: int = 0
    visits: list[windows.Visit] = field(default_factory=list)
    lines: dict[str, list[Line]] = field(default_factory=dict)
    due: dict[str, list[Line]] = field(default_factory=dict)


class Study:
    """Raw REDCap JSON, settings and rows of all subjects that the reader may see."""

    def __init__(
        self, files: dict[str, Any], rows: list[dict[str, str]], today: date, hidden: set[str]
    ) -> None:
        self.settings = files["settings"]
        self.today = today
        self.fields = {row["field_name"]: row for row in files["metadata"]}
        self.hidden = set(hidden) | {
            n for n, row in self.fields.items() if row.get("identifier") == "y"
        }
        self.record_id = files["metadata"][0]["field_name"]
        self.forms = list(dict.fromkeys(row["form_name"] for row in files["metadata"]))
        self.events = [row["unique_event_name"] for row in files["events"]]
        self.event_labels = {row["unique_event_name"]: row["event_name"] for row in files["events"]}
        self.missing = cells.split_choices(files["project"]["missing_data_codes"])
        self.mapped = {(row["unique_event_name"], row["form"]) for row in files["mapping"]}
        self.repeating = {(row["event_name"], row["form_name"]) for row in files["repeating"]}
        self.sites = [row["unique_group_name"] for row in files["dags"]]
        self.repeated = {form for _event, form in self.repeating}
        self.many = {form for form in self.forms if self._is_many(form)}
        for form in self.forms:
            name = f"{form}_complete"
            self.fields.setdefault(
                name,
                {
                    "field_name": name,
                    "form_name": form,
                    "field_type": "dropdown",
                    "identifier": "",
                    "select_choices_or_calculations": "0, Incomplete | 1, Unverified | 2, Complete",
                    "branching_logic": "",
                    "field_note": "",
                    "field_label": name,
                },
            )
        self.subjects = self._subjects(rows)

    def _subjects(self, rows: list[dict[str, str]]) -> list[Subject]:
        grouped: dict[str, list[dict[str, str]]] = {}
        for row in rows:
            grouped.setdefault(row[self.record_id], []).append(row)
        found: list[Subject] = []
        for name, own in sorted(grouped.items(), key=lambda pair: natural(pair[0])):
            own = sorted(
                own, key=lambda row: (self.event_place(row[EVENT]), int(row[INSTANCE] or 0))
            )
            subject = Subject(name, own[0][SITE], own)
            subject.visits = windows.states(self, own, self.today)
            subject.number = len(found)
            for form in self.forms:
                self._place(subject, form)
            found.append(subject)
        return found

    def _place(self, subject: Subject, form: str) -> None:
        """The lines of one form, and those that a due visit still owes."""
        lines = []
        for row in subject.rows:
            here = (row[EVENT], form)
            if row[INSTRUMENT] == form:
                lines.append(Line(subject, form, row[EVENT], int(row[INSTANCE]), row))
            elif not row[INSTRUMENT] and here in self.mapped and here not in self.repeating:
                lines.append(Line(subject, form, row[EVENT], None, row))
        subject.lines[form] = lines
        subject.due[form] = []
        present = {row[EVENT] for row in subject.rows if not row[INSTRUMENT]}
        for visit in subject.visits:
            here = (visit.event, form)
            is_owed = visit.state in ("due", "overdue") and visit.event not in present
            if is_owed and here in self.mapped and here not in self.repeating:
                subject.due[form].append(Line(subject, form, visit.event, None, None))

    def event_place(self, event: str) -> int:
        """Where an event stands in the order of the study."""
        return self.events.index(event)

    def event_of_visit(self, spec: dict[str, Any], arms: set[str]) -> str:
        """The event at which a visit's date is entered."""
        form = self.fields[spec["date_field"]]["form_name"]
        events = [event for event in self.events if (event, form) in self.mapped]
        own = [event for event in events if event.rpartition("_arm_")[2] in arms]
        return (own or events)[0]

    def can_stand(self, form: str, event: str) -> bool:
        """Whether the form is designated to the event."""
        return (event, form) in self.mapped

    def has_many(self, form: str) -> bool:
        """Whether one subject can have several rows of the form."""
        return form in self.many

    def repeats(self, form: str) -> bool:
        """Whether the form repeats as such."""
        return form in self.repeated

    def _is_many(self, form: str) -> bool:
        if form in self.repeated:
            return True
        arms = [event.rpartition("_arm_")[2] for event, name in self.mapped if name == form]
        return len(arms) > len(set(arms))

    def type_of(self, name: str) -> str:
        """The type of a field."""
        return cells.type_of(self.fields[name])

    # --- cells ---------------------------------------------------------------------------------

    def cell(self, line: Line, name: str) -> Cell:
        """The cell of one of the line's own fields."""
        found = line.cells.get(name)
        if found is None:
            found = line.cells[name] = self._cell(line, name)
        return found

    def _cell(self, line: Line, name: str) -> Cell:
        row = self.fields[name]
        if line.data is None:
            found = cells.blank(cells.type_of(row))
        elif row["field_type"] == "checkbox":
            found = cells.read_ticks(row, line.data, self.missing)
        elif name not in line.data:
            return cells.absent()
        else:
            found = cells.read(row, line.data[name], self.missing)
        if found.state != "blank":
            return self._with_unit(line, name, found)
        visible = self.shown(line, name)
        if visible is False:
            return Cell("hidden", found.type, why="missing")
        if visible is None:
            return Cell("maybe", found.type, why="applicability_unknown")
        return found

    def _with_unit(self, line: Line, name: str, found: Cell) -> Cell:
        """A lab with a unit field carries that unit; "" is a unit nobody wrote down."""
        holder = self.settings["unit_fields"].get(name)
        if holder is None or line.data is None:
            return found
        unit = line.data.get(holder, "").strip()
        return Cell(**{**found.__dict__, "unit": unit or "?"})

    def shown(self, line: Line, name: str) -> bool | None:
        """Whether the field is shown in this line."""
        logic = self.fields[name].get("branching_logic") or ""

        def look(event: str | None, other: str, box: str | None) -> str | None:
            return self._look(line, event, other, box)

        return branching.shown(logic, look)

    def _look(self, line: Line, event: str | None, name: str, box: str | None) -> str | None:
        data = line.data
        if event is not None:
            data = next(
                (r for r in line.subject.rows if r[EVENT] == event and not r[INSTRUMENT]), None
            )
        if data is None:
            return None
        if box is not None:
            text = data.get(cells.column(name, box), "")
            if (
                text != "1"
                and cells.read_ticks(self.fields[name], data, self.missing).state == "code"
            ):
                return None
            if text != "1" and not data.get(f"{self.fields[name]['form_name']}_complete", ""):
                return None
            return text or "0"
        found = cells.read(self.fields[name], data.get(name, ""), self.missing)
        if found.state in ("code", "bad"):
            return None
        if found.state == "blank":
            here = Line(
                line.subject, self.fields[name]["form_name"], line.event, line.instance, data
            )
            return "" if self.shown(here, name) is False else None
        return found.raw


def natural(name: str) -> tuple[tuple[int, int, str], ...]:
    """P9 before P10, what reads alike by its letters."""
    parts = re.split(r"(\d+)", name)
    found = [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in parts]
    return (*found, (2, 0, name))
