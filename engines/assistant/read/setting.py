"""What a message is read in: the study as its reader may know it, its words, the calendar."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import date

from core.language.periods import Calendar
from core.rules.context import Kind as ColumnKind
from engines.assistant.read.vocabulary import Vocabulary, vocabulary
from study.design import StudyDesign


@dataclass(frozen=True, slots=True)
class Setting:
    """A study and its reader.

    `subjects`: the ids that the reader may see. `sites`: code to label. `own_site`: the member's, for 我们中心.
    `pattern`: of the study's ids. `terms`: field to its values, of the free text that names rows (events,
    drugs). `reviewed`: when the last review was decided, an ISO time in the study's zone, "" for never.
    """

    design: StudyDesign
    vocabulary: Vocabulary
    calendar: Calendar
    subjects: frozenset[str]
    sites: Mapping[str, str]
    own_site: str
    pattern: str | None
    terms: Mapping[str, Collection[str]]
    reviewed: Callable[[], str]

    def column_kind(self, name: str) -> ColumnKind | None:
        """The type of a field; None for columns and unknown names."""
        column = self.design.context.columns.get(name)
        return column.kind if column else None

    def is_number(self, name: str) -> bool:
        """Whether a field is a measurement."""
        return self.column_kind(name) in (ColumnKind.NUMBER, ColumnKind.INTEGER)

    def is_date(self, name: str) -> bool:
        """Whether a field holds days; a text field does whose label says so (partial dates)."""
        kind = self.column_kind(name)
        told = kind is ColumnKind.TEXT and self.design.metadata.label(name).endswith(
            ("日期", "date")
        )
        return name == "@enrolled" or kind in (ColumnKind.DATE, ColumnKind.DATETIME) or told

    def is_free_text(self, name: str) -> bool:
        """Whether a field of a form that is filled in once takes any text."""
        is_text = self.column_kind(name) is ColumnKind.TEXT
        return is_text and not self.repeats(self.design.form_of(name)) and not self.is_date(name)

    def repeats(self, form: str) -> bool:
        """Whether a form has rows of its own."""
        return form in self.design.repeating_forms

    def day_of(self, form: str) -> str:
        """The field that dates a form; "" for none."""
        dated = (name for name in self.fields_of(form) if self.is_date(name))
        return self.design.form_dates.get(form) or next(dated, "")

    def naming_field(self, form: str) -> str:
        """The field that says what a row of a form is: the one of its REDCap label, else its first text."""
        for row in self.design.metadata.repeating:
            label = str(row.get("custom_form_label") or "")
            if row.get("form_name") == form and "[" in label:
                return label.partition("[")[2].partition("]")[0]
        fields = self.fields_of(form)
        texts = (name for name in fields if self.column_kind(name) is ColumnKind.TEXT)
        return next(texts, fields[0] if fields else "")

    def numbers_of(self, form: str) -> list[str]:
        """The measurements of a form."""
        return [name for name in self.fields_of(form) if self.is_number(name)]

    @property
    def status_reason(self) -> str:
        """The field that says why somebody is where they are: of the form of the status; "" for none."""
        names = self.fields_of(self.design.form_of(self.design.status_field))
        labels = ((name, self.design.metadata.label(name).casefold()) for name in names)
        return next((name for name, label in labels if "原因" in label or "reason" in label), "")

    def fields_of(self, form: str) -> list[str]:
        """The fields of a form that the reader may know of."""
        hidden = self.design.hidden | self.design.metadata.identifier_fields
        rows = self.design.metadata.fields.items()
        return [name for name, row in rows if row["form_name"] == form and name not in hidden]

    def events_at(self, place: str) -> tuple[str, ...]:
        """The unique events of a planned visit, or of an event itself."""
        if place in self.design.event_order:
            return (place,)
        found: list[str] = []
        for visit in self.design.plan.visits:
            if visit.visit == place:
                forms, form = (
                    self.design.context.forms_by_event,
                    self.design.form_of(visit.date_field),
                )
                dated = [e for e in self.design.event_order if form in forms.get(e, ())]
                found += [visit.event] if visit.event else dated
        return tuple(dict.fromkeys(found))

    def stands(self, name: str, place: str) -> bool:
        """Whether a field or a form can be filled in at a place."""
        form = self.design.form_of(name) or name
        forms = self.design.context.forms_by_event
        return any(form in forms.get(event, ()) for event in self.events_at(place))

    def between(self, first: str, last: str) -> tuple[str, ...]:
        """从基线到V4: the places from one to another in the order of the study, visits by their names."""
        order = self.design.event_order
        begin = [order[event] for event in self.events_at(first)]
        end = [order[event] for event in self.events_at(last)]
        if not begin or not end or min(begin) > max(end):
            return first, last
        visits = {e: v.visit for v in self.design.plan.visits for e in self.events_at(v.visit)}
        inside = (event for event, at in order.items() if min(begin) <= at <= max(end))
        return tuple(dict.fromkeys(visits.get(event, event) for event in inside))


def setting_of(
    *,
    design: StudyDesign,
    today: date,
    sites: Mapping[str, str] | None = None,
    own_site: str = "",
    subjects: Collection[str] = (),
    pattern: str | None = None,
    terms: Mapping[str, Collection[str]] | None = None,
    reviewed: Callable[[], str] = str,
) -> Setting:
    """The setting of a study for one reader; its words are compiled once for each design."""
    words = vocabulary(design, sites or {})
    calendar = Calendar(today, design.start)
    known = frozenset(subjects)
    return Setting(
        design, words, calendar, known, sites or {}, own_site, pattern, terms or {}, reviewed
    )
