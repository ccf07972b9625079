"""Which field, form, column or event a name means; what a reader must not learn of is no name at all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from core.rules.context import Column, Kind, StudyContext
from study.design import StudyDesign
from study.metadata import hidden_forms
from study.query.errors import NotSetError, QueryError, nearest, unknown
from study.query.tree import PROJECT, SUBJECT, VISITS, FormItem, Places, Source, Type
from study.visits.calendar import State

_TYPES = {
    Kind.NUMBER: Type.NUMBER,
    Kind.INTEGER: Type.NUMBER,
    Kind.DATE: Type.DATE,
    Kind.DATETIME: Type.DATE,
    Kind.TIME: Type.TIME,
    Kind.CODE: Type.CODE,
    Kind.FLAG: Type.CODE,
    Kind.TICK: Type.CODE,
    Kind.TICKS: Type.CODES,
    Kind.TEXT: Type.TEXT,
    Kind.RAW: Type.TEXT,
}
TEXT, DATE, NUMBER = Type.TEXT, Type.DATE, Type.NUMBER
COLUMNS: Mapping[str, Source] = {
    name: Source(name, name.partition(".")[0], kind, label=label)
    for name, kind, label in (
        (f"{VISITS}.visit", TEXT, gettext_lazy("visit")),
        (f"{VISITS}.open", DATE, gettext_lazy("window opens")),
        (f"{VISITS}.close", DATE, gettext_lazy("window closes")),
        (f"{VISITS}.target", DATE, gettext_lazy("target date")),
        (f"{VISITS}.actual", DATE, gettext_lazy("visit date")),
        (f"{VISITS}.days", NUMBER, gettext_lazy("days")),
        (f"{VISITS}.reason", TEXT, gettext_lazy("why it cannot be judged")),
        ("@findings.status", TEXT, gettext_lazy("Finding: status")),
        ("@findings.rule", TEXT, gettext_lazy("Finding: rule")),
        ("@findings.field", TEXT, gettext_lazy("Finding: field")),
        ("@findings.place", TEXT, gettext_lazy("Finding: place")),
        ("@findings.opened", DATE, gettext_lazy("Finding: opened")),
        ("@findings.age", NUMBER, gettext_lazy("Finding: days open")),
        ("@findings.text", TEXT, gettext_lazy("Finding")),
        ("@findings.assignee", TEXT, gettext_lazy("Finding: assignee")),
        ("@findings.reason", TEXT, gettext_lazy("Finding: why it was not evaluated")),
        ("@findings.mine", TEXT, gettext_lazy("Finding: the reader's own")),
        ("@reviews.question", TEXT, gettext_lazy("Review")),
        ("@reviews.waiting_for", TEXT, gettext_lazy("Review: waiting for")),
        ("@reviews.since", DATE, gettext_lazy("Review: waiting since")),
        ("@runs.status", TEXT, gettext_lazy("Check: status")),
        ("@runs.final_state", TEXT, gettext_lazy("Check: final state")),
        ("@runs.ended", DATE, gettext_lazy("Check: ended")),
        ("@runs.reason", TEXT, gettext_lazy("Check: reason")),
        ("@runs.skill", TEXT, gettext_lazy("Check: workflow")),
        ("@runs.newest", TEXT, gettext_lazy("Check: the newest of its workflow")),
        ("@changes.field", TEXT, gettext_lazy("Change: field")),
        ("@changes.from", TEXT, gettext_lazy("Change: before")),
        ("@changes.to", TEXT, gettext_lazy("Change: after")),
        ("@changes.at", DATE, gettext_lazy("Change: read")),
        (f"{PROJECT}.target", NUMBER, gettext_lazy("Planned subjects")),
        (f"{PROJECT}.start", DATE, gettext_lazy("Start of the study")),
        (f"{PROJECT}.sites", Type.CODES, gettext_lazy("Sites")),
    )
} | {
    f"{VISITS}.state": Source(
        f"{VISITS}.state",
        VISITS,
        Type.CODE,
        choices={state.value: state.value for state in State},
        label=gettext_lazy("state"),
    )
}
"""The columns that every study has."""


class Names:
    """The names of one study for one reader."""

    def __init__(self, design: StudyDesign, seen: Iterable[str] = ()) -> None:
        self.design = design
        self._seen = frozenset(seen)
        self._sources: dict[str, Source] = {}
        self._repeating: dict[str, bool] = {}
        self._unread: dict[tuple[str, ...], frozenset[str]] = {}

    @cached_property
    def sites(self) -> Mapping[str, str]:
        """The study's sites for a reader who sees more than one, else those seen: none is learned of here."""
        known = self.design.metadata.sites
        if len(self._seen) > 1:
            return {**known, **{site: site for site in sorted(self._seen - known.keys())}}
        return {site: known.get(site, site) for site in sorted(self._seen)}

    @cached_property
    def context(self) -> StudyContext:
        """The study without the columns that the reader must not learn of: nothing can read them."""
        context, hidden = self.design.context, self._hidden_forms
        columns = {
            name: column
            for name, column in context.columns.items()
            if column.field not in self.design.hidden
            and not (column.form in hidden and column.field != context.record_id_field)
        }
        return replace(context, columns=columns)

    @cached_property
    def _hidden_forms(self) -> frozenset[str]:
        return hidden_forms(self.design.metadata, self.design.hidden)

    def source(self, name: str, at: str) -> Source:
        """The column that `name` means. Raises QueryError: also for a form, and for what is hidden."""
        own = COLUMNS.get(name) or self._own_columns.get(name)
        found = own if name.startswith("@") else self._field(name)
        if found is None:
            if told := self._not_set(name):
                raise NotSetError(at, told)
            raise unknown(at, name, self._spellings)
        return found

    def _not_set(self, name: str) -> str:
        """That a setting is missing, or names a field that the dictionary lacks; "" where it is not that."""
        lacking = self.design.enrolment_field not in self.design.metadata.fields
        if name == "@enrolled" or (lacking and name == self.design.enrolment_field):
            return _(
                "The date of enrolment is not set: an administrator names its field in the study."
            )
        told = _(
            "The status of a subject is not set: an administrator names its field in the study."
        )
        return told if name == "@status" else ""

    def item(self, name: str, at: str) -> Source | FormItem:
        """What `select` may name: a column, or a form."""
        if name in self.context.columns or name not in self._forms:
            return self.source(name, at)
        return FormItem(name, self.form_sources(name))

    def form_sources(self, form: str) -> tuple[Source, ...]:
        """The fields that a selected form shows: not the record id, nor the form's own status."""
        left_out = {self.context.record_id_field, f"{form}_complete"}
        rows = self.design.metadata.fields.items()
        names = (name for name, row in rows if str(row["form_name"]) == form)
        columns = (self.context.columns.get(name) for name in names if name not in left_out)
        return tuple(self.source_of(column) for column in columns if column is not None)

    def unread(self, missing: tuple[str, ...]) -> frozenset[str]:
        """Fields with a column among those that REDCap does not show, and forms of which it shows no other.

        Also the columns of a subject that such a field gives.
        """
        known = self._unread.get(missing)
        if known is None and missing:
            columns, design = self.context.columns, self.design
            fields = {columns[name].field for name in missing if name in columns}
            # Of every form the status is shown, or nobody says whether it is.
            kept = {self.context.record_id_field, *(f"{c.form}_complete" for c in columns.values())}
            shown = {c.form for c in columns.values() if c.field not in fields | kept}
            forms = {columns[name].form for name in fields if name in columns} - shown
            own = {"@status": design.status_field, "@enrolled": design.enrolment_field}
            told = {name for name, field in own.items() if field in fields}
            known = self._unread[missing] = frozenset(fields | forms | told)
        return known or frozenset()

    def column_source(self, name: str) -> Source | None:
        """A setting's field where the study has it and the reader may see it."""
        known = self._sources.get(name)
        if known is None and name in self.context.columns:
            known = self._sources[name] = self.source_of(self.context.columns[name])
        return known

    def places(self, names: Iterable[str], at: str) -> Places:
        """Events by their unique names or labels, visits by theirs. Raises QueryError."""
        events: set[str] = set()
        visits: set[str] = set()
        for name in names:
            found = self._events_named(name)
            visit = self.visit_events.get(name)
            if not found and visit is None:
                told = _("There is no event or visit “%(name)s”.") % {"name": name}
                raise QueryError(at, told, nearest(name, self._place_names))
            events.update(found or visit or ())
            at_events = (v for v, there in self.visit_events.items() if {*found} & {*there})
            visits.update({name} if visit is not None else at_events)
        return Places(frozenset(events), frozenset(visits))

    @cached_property
    def visit_events(self) -> Mapping[str, tuple[str, ...]]:
        """Planned visit -> the events at which it is entered."""
        found: dict[str, tuple[str, ...]] = {}
        for visit in self.design.plan.visits:
            form = self.design.form_of(visit.date_field)
            events = (visit.event,) if visit.event else self.events_of(form)
            found[visit.visit] = tuple(dict.fromkeys((*found.get(visit.visit, ()), *events)))
        return found

    def is_expected(self, form: str, event: str) -> bool:
        """Whether a due visit there leaves a blank row of the form: not where it repeats."""
        return self.context.is_mapped(form, event) and not self.context.is_repeating(form, event)

    @cached_property
    def due_forms(self) -> frozenset[str]:
        """The forms that some planned visit expects."""
        planned = {event for events in self.visit_events.values() for event in events}
        forms = {column.form for column in self.context.columns.values()}
        return frozenset(f for f in forms if any(self.is_expected(f, event) for event in planned))

    def events_of(self, form: str) -> tuple[str, ...]:
        """The events at which a form can stand, in order."""
        mapping = self.context.forms_by_event
        return tuple(
            event for event in self.design.event_order if event and form in mapping.get(event, ())
        )

    def can_stand(self, form: str, place: Places) -> bool:
        """Whether `place` says anything about the rows of `form`."""
        if not form or form == VISITS:
            return True
        return any(event in place.events for event in self.events_of(form))

    def repeats(self, form: str) -> bool:
        """Whether a subject can have several rows of `form`."""
        known = self._repeating.get(form)
        if known is None:
            known = self._repeating[form] = self._can_repeat(form)
        return known

    def _can_repeat(self, form: str) -> bool:
        if form.startswith("@"):
            return form not in {SUBJECT, PROJECT}
        if form in self.design.repeating_forms:
            return True
        metadata, events = self.design.metadata, self.events_of(form)
        whole = {r.get("event_name") for r in metadata.repeating if not r.get("form_name")}
        numbers = [metadata.arms.get(event, "") for event in events]
        return len(set(numbers)) < len(numbers) or not whole.isdisjoint(events)

    def source_of(self, column: Column) -> Source:
        """A column of the dictionary as a query sees it."""
        choices: Mapping[str, str] = {}
        if column.kind is Kind.TICK:
            choices = {"1": _("Yes"), "0": _("No")}
        elif column.kind in {Kind.CODE, Kind.FLAG, Kind.TICKS}:
            choices = self.design.metadata.choices(column.name)
        return Source(column.name, column.form, _TYPES[column.kind], column, choices)

    # --- fields and columns -----------------------------------------------------------------------

    def _field(self, name: str) -> Source | None:
        column = self.context.columns.get(name)
        if column is None and name not in self.design.context.columns:
            column = self.context.columns.get(self.design.mapped.get(name, ""))
        return self.source_of(column) if column is not None else None

    @cached_property
    def _own_columns(self) -> Mapping[str, Source]:
        sites = self.design.metadata.sites
        found = {
            "@site": Source("@site", SUBJECT, Type.CODE, choices=sites, label=_("Site")),
            "@age": Source("@age", SUBJECT, NUMBER, label=_("Age at consent")),
        }
        status = self.column_source(self.design.status_field)
        if status is not None:
            label = self.design.metadata.label(self.design.status_field)
            found["@status"] = replace(status, name="@status", form=SUBJECT, label=label)
        if self.column_source(self.design.enrolment_field) is not None:
            label = _("Enrolment date")
            found["@enrolled"] = Source("@enrolled", SUBJECT, DATE, label=label)
        return found

    @cached_property
    def _forms(self) -> frozenset[str]:
        forms = (str(row["form_name"]) for row in self.design.metadata.fields.values())
        return frozenset(forms) - self._hidden_forms

    @cached_property
    def _spellings(self) -> Mapping[str, str]:
        """Names and labels of all that the reader may know -> the name."""
        metadata, shown = self.design.metadata, self.context.columns
        told = {metadata.label(name): name for name in metadata.fields if name in shown}
        told |= {metadata.form_label(form): form for form in self._forms}
        told |= {alias: alias for alias, name in self.design.mapped.items() if name in shown}
        return told | {name: name for name in (*COLUMNS, *self._own_columns, *self._forms, *shown)}

    # --- events -----------------------------------------------------------------------------------

    def _events_named(self, name: str) -> tuple[str, ...]:
        rows = self.design.metadata.events
        unique = tuple(str(r["unique_event_name"]) for r in rows)
        if name in unique:
            return (name,)
        labels = zip(unique, rows, strict=True)
        return tuple(event for event, row in labels if str(row.get("event_name")) == name)

    @property
    def _place_names(self) -> Mapping[str, str]:
        rows = self.design.metadata.events
        told = {str(r["event_name"]): str(r["unique_event_name"]) for r in rows}
        told |= {str(r["unique_event_name"]): str(r["unique_event_name"]) for r in rows}
        return told | {visit: visit for visit in self.visit_events}
