"""Figures of a paper, each with the query that counts it and what that query says in words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from core.house.paper.value import Figure
from engines.assistant.say import conditions
from engines.assistant.say.reader import Reader
from study import proposals
from study.design import StudyDesign
from study.facts import Answer, Fact, json_value

Query = dict[str, Any]
_COUNT: dict[str, Any] = {"aggregate": "count"}
_VISITS: dict[str, Any] = {"select": ["@visits.visit"], **_COUNT}
_FINDINGS: dict[str, Any] = {"select": ["@findings.text"], **_COUNT}
_COMPLETED = "完成"


@dataclass(frozen=True, slots=True)
class Measure:
    """What is to be counted: subjects, or where `of` says so, their events, visits or findings.

    `query` None: it cannot be counted, `why` says the reason.
    """

    label: str
    query: Query | None
    of: str = ""
    why: str = ""


@dataclass(frozen=True)
class Span:
    """The days that a paper is about, both included."""

    first: date
    last: date

    @property
    def ends(self) -> list[str]:
        """As a query takes them."""
        return [self.first.isoformat(), self.last.isoformat()]

    def of_field(self, name: str) -> dict[str, Any]:
        """That a date lies in it."""
        return {"field": name, "op": "between", "value": self.ends}


class Measures:
    """The measures of a study, from what a reader can know of it."""

    def __init__(self, design: StudyDesign, withdraw_field: str, span: Span) -> None:
        """`withdraw_field`: the date a subject left, "" where the study names none."""
        self.design, self.span, self.left = design, span, withdraw_field
        self._shown = design.context.columns.keys() - design.hidden

    def shows(self, name: str) -> bool:
        """Whether there is such a field, and the reader may learn of it."""
        return bool(name) and name in self._shown

    def planned(self) -> Iterator[Measure]:
        """The target."""
        query = {"select": ["@project.target"]} if self.design.target else None
        yield Measure(_("Planned to enrol"), query, why=_("The study has no target set."))

    def enrolled(self, site: str = "", site_name: str = "") -> Iterator[Measure]:
        """By the end of the span, and within it; of one site where it is given."""
        last = {"field": "@enrolled", "op": "<=", "value": self.span.ends[1]}
        where = [{"field": "@site", "op": "=", "value": site}] if site else []
        known = self.shows(self.design.enrolment_field)
        why = _("The study has no field for the date of enrolment, or you may not see it.")
        labels = _("Enrolled in all"), _("Enrolled in the period")
        for label, said in zip(labels, (last, self.span.of_field("@enrolled")), strict=True):
            told = f"{label} · {site_name}" if site else label
            yield Measure(told, {"where": [said, *where], **_COUNT} if known else None, why=why)

    def completed(self) -> Iterator[Measure]:
        """By the status that says so, else by the last visit of the plan."""
        design, query = self.design, None
        codes = [
            code
            for code, label in design.metadata.choices(design.status_field).items()
            if label.startswith(_COMPLETED)
        ]
        if codes and self.shows(design.status_field):
            query = {"where": [{"field": "@status", "op": "in", "value": codes}], **_COUNT}
        why = _("No status of a subject says that the study was completed.")
        yield Measure(_("Completed the study"), query, why=why)

    def withdrawn(self) -> Iterator[Measure]:
        """By the end of the span, and within it."""
        known = self.shows(self.left)
        why = _("The study has no field for the date of withdrawal, or you may not see it.")
        last = {"field": self.left, "op": "<=", "value": self.span.ends[1]}
        for label, said in (
            (_("Withdrawn in all"), last),
            (_("Withdrawn in the period"), self.span.of_field(self.left)),
        ):
            yield Measure(label, {"where": [said], **_COUNT} if known else None, why=why)

    def events(self) -> Iterator[Measure]:
        """Adverse and serious events that began in the span, and serious ones in all."""
        start = proposals.event_fields(self.design.metadata)[0]
        name, yes = proposals.serious_field(self.design.metadata)
        form = self.design.form_of(start)
        why = _("The dictionary has no such form or field, or you may not see it.")
        within = self.span.of_field(start)
        serious = {"field": name, "op": "=", "value": yes}
        query = {"where": [within], "select": [form], **_COUNT} if self.shows(start) else None
        yield Measure(_("Adverse events in the period"), query, "events", why)
        both = self.shows(start) and self.shows(name)
        query = {"where": [serious, within], "select": [form], **_COUNT} if both else None
        yield Measure(_("Serious adverse events in the period"), query, "events", why)
        query = {"where": [serious], "select": [form], **_COUNT} if self.shows(name) else None
        yield Measure(_("Serious adverse events in all"), query, "events", why)

    def visits(self) -> Iterator[Measure]:
        """Done within the span; beyond their window, as it stands."""
        known = bool(self.design.plan.visits)
        why = _("The study has no visit plan.")
        beyond = {"field": "@visits.state", "op": "in", "value": ["early", "late", "overdue"]}
        overdue = {"field": "@visits.state", "op": "=", "value": "overdue"}
        for label, said in (
            (_("Visits done in the period"), self.span.of_field("@visits.actual")),
            (_("Visits overdue now"), overdue),
            (_("Visits outside their window so far"), beyond),
        ):
            yield Measure(label, {"where": [said], **_VISITS} if known else None, "visits", why)

    def findings(self) -> Iterator[Measure]:
        """Found in the span; those that still wait."""
        opened = self.span.of_field("@findings.opened")
        waiting = {"field": "@findings.status", "op": "in", "value": ["open", "data_changed"]}
        for label, said in (
            (_("Findings in the period"), opened),
            (_("Findings open now"), waiting),
        ):
            yield Measure(label, {"where": [said], **_FINDINGS}, "findings")


def figure(measure: Measure, answer: Answer | None, reader: Reader) -> Figure:
    """The figure with its definition; what cannot be computed says so and why, never 0."""
    if measure.query is None or answer is None:
        return Figure(measure.label, _("not computed"), measure.why, is_known=False)
    said = _defined(measure, answer, reader)
    query = json.dumps(measure.query, ensure_ascii=False)
    if not answer.facts:
        return Figure(measure.label, _("not computed"), said, is_known=False, query=query)
    value = answer.basis.rows if measure.of else json_value(answer.facts[0].value)
    unit = _counted(measure)[1]
    return Figure(measure.label, f"{value} {unit}", said, query=query)


def _defined(measure: Measure, answer: Answer, reader: Reader) -> str:
    """What is counted, by which conditions, over whom, and of whom it could not be told."""
    query = measure.query or {}
    if "aggregate" not in query:
        return _("The target set for the study.")
    told = [_("Counted: %(what)s") % {"what": _counted(measure)[0]}]
    if said := conditions.described(query, reader):
        told.append(_("condition: %(what)s") % {"what": said})
    if days := conditions.period(query):
        told.append(_("days: %(what)s") % {"what": days})
    over = conditions.scope(query, reader) or _("all sites")
    told.append(
        _("of %(count)d subjects read, %(scope)s") % {"count": answer.basis.subjects, "scope": over}
    )
    if undecided := len(answer.undecided):
        told.append(
            ngettext(
                "of %(count)d subject it could not be told (data missing or unclear)",
                "of %(count)d subjects it could not be told (data missing or unclear)",
                undecided,
            )
            % {"count": undecided}
        )
    return "；".join(told) if reader.language.startswith("zh") else "; ".join(told)


def _counted(measure: Measure) -> tuple[str, str]:
    """What is counted, and its unit behind a number."""
    return {
        "": (_("subjects"), pgettext("unit", "subjects")),
        "events": (_("adverse events"), pgettext("unit", "events")),
        "visits": (_("visits"), pgettext("unit", "visits")),
        "findings": (_("findings"), pgettext("unit", "findings")),
    }[measure.of]


def rows_of(answer: Answer, *, of_subjects: bool) -> list[dict[str, str]]:
    """The rows that an answer tells: {"": subject, column: text}, in their order.

    `of_subjects`: what stands at several events of a subject is one row, as long as no column comes again.
    """
    rows: list[dict[str, str]] = []
    key: tuple[str, str, int | None] | None = None
    for one in answer.facts:
        own = (one.subject, "", None) if of_subjects else (one.subject, one.event, one.instance)
        if own != key or one.field in rows[-1]:
            rows.append({"": one.subject})
            key = own
        rows[-1][one.field] = _text(one)
    return rows


def _text(one: Fact) -> str:
    return one.text or ("" if one.value is None else str(json_value(one.value)))
