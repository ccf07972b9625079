"""Figures of a paper, each with the query that counts it and what that query says in words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from core.house import clock
from core.house.paper.value import Figure
from engines.assistant.say import conditions
from engines.assistant.say.reader import Reader
from engines.papers.events import Events, Pick
from engines.site_figures import NEVER_CHECKED
from study.design import StudyDesign
from study.facts import Answer, Fact, json_value
from study.visits.calendar import VisitPlanSpec

Query = dict[str, Any]
_COUNT: dict[str, Any] = {"aggregate": "count"}
_VISITS: dict[str, Any] = {"select": ["@visits.visit"], **_COUNT}
_FINDINGS: dict[str, Any] = {"select": ["@findings.text"], **_COUNT}


@dataclass(frozen=True, slots=True)
class Measure:
    """What is to be counted: subjects, or where `of` says so, their events, visits or findings.

    `query` None: it cannot be counted, `why` says the reason. `picks`: which rows of the answer are counted
    where no query can say it, `said` does.
    """

    label: str
    query: Query | None
    of: str = ""
    why: str = ""
    picks: Pick | None = None
    said: str = ""


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

    def __init__(
        self, design: StudyDesign, span: Span, site: str = "", *, is_checked: bool
    ) -> None:
        """`site`: that a list is limited to, "" for all that the reader sees.

        `is_checked`: whether quality control ever ran; else what it finds is not known.
        """
        self.design, self.span, self.is_checked = design, span, is_checked
        self.left = design.plan.withdraw_field or ""
        self.of_site = [{"field": "@site", "op": "=", "value": site}] if site else []
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
        """By the codes that say so, else by the last visit of the plan."""
        label, design = _("Completed the study"), self.design
        told = [
            {"field": _named(name, design), "op": "in", "value": sorted(codes)}
            for name, codes in design.completed.items()
            if self.shows(name)
        ]
        if told:
            where = told if len(told) == 1 else [{"any": told}]
            yield Measure(label, {"where": where, **_COUNT})
        elif visit := _last_visit(design.plan):
            done = {"field": "@visits.actual", "op": "<=", "value": self.span.ends[1]}
            where = [{"field": "@visits.visit", "op": "=", "value": visit}, done, *self._is_in()]
            said = _(
                "%(visit)s, the last visit of the plan, done by %(day)s and not withdrawn, as no code says "
                "who completed the study"
            ) % {"visit": visit, "day": self.span.last}
            yield Measure(label, {"where": where, **_COUNT}, said=said)
        else:
            why = _(
                "Neither a code of a field nor one last visit for all says who completed the study."
            )
            yield Measure(label, None, why=why)

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
        """Adverse and serious events that began in the span, serious ones in all, and what no figure holds."""
        known = Events(self.design, (self.span.first, self.span.last), self.shows)
        start, name, yes = known.start, *self.design.serious
        form = self.design.form_of(start)
        why = _("The dictionary has no such form or field, or you may not see it.")
        within = self.span.of_field(start)
        serious = {"field": name, "op": "=", "value": yes}
        dated, judged = known.tells_start, known.tells_serious
        unjudgeable = _(
            "It is not known which events are serious: nothing tells it, or you may not see it."
        )
        untold = unjudgeable if dated else why
        for label, is_known, where in (
            (_("Adverse events in the period"), dated, [within]),
            (_("Serious adverse events in the period"), dated and judged, [serious, within]),
            (_("Serious adverse events in all"), judged, [serious]),
        ):
            query = {"where": where, "select": [form], **_COUNT} if is_known else None
            yield Measure(label, query, "events", untold)
        undated = _(
            "onset blank or no whole day, so that it may lie in %(first)s–%(last)s or not; "
            "counted in no figure of the period"
        ) % {"first": self.span.first, "last": self.span.last}
        unjudged = _("seriousness not filled in; counted in no figure of serious events")
        for label, is_known, picks, said in (
            (_("Adverse events without a whole onset date"), dated, known.is_undated, undated),
            (
                _("Serious adverse events without a whole onset date"),
                dated and judged,
                known.is_undated_serious,
                undated,
            ),
            (_("Adverse events of unknown seriousness"), judged, known.is_unjudged, unjudged),
        ):
            yield Measure(label, known.query if is_known else None, "events", untold, picks, said)

    def visits(self) -> Iterator[Measure]:
        """Done within the span; beyond their window, as it stands."""
        known = bool(self.design.plan.visits)
        why = _("The study has no visit plan.")
        beyond = {"field": "@visits.state", "op": "in", "value": ["early", "late", "overdue"]}
        overdue = {"field": "@visits.state", "op": "=", "value": "overdue"}
        for label, where in (
            (_("Visits done in the period"), [self.span.of_field("@visits.actual")]),
            (_("Visits overdue now"), [overdue, *self._is_in()]),
            (_("Visits outside their window so far"), [beyond]),
        ):
            yield Measure(label, {"where": where, **_VISITS} if known else None, "visits", why)

    def _is_in(self) -> list[dict[str, Any]]:
        """That a subject has not left until today: nothing is to be done any more of who has (`is_to_do`)."""
        if not self.shows(self.left):
            return []
        today = clock.today(self.design.plan.timezone).isoformat()
        stays = {"field": self.left, "op": ">", "value": today}
        return [{"any": [{"none": [{"field": self.left, "op": "filled"}]}, stays]}]

    def findings(self) -> Iterator[Measure]:
        """Found in the span; those that still wait."""
        opened = self.span.of_field("@findings.opened")
        waiting = {"field": "@findings.status", "op": "in", "value": ["open", "data_changed"]}
        for label, said in (
            (_("Findings in the period"), opened),
            (_("Findings open now"), waiting),
        ):
            where = [said, *self.of_site]
            query = {"where": where, **_FINDINGS} if self.is_checked else None
            yield Measure(label, query, "findings", str(NEVER_CHECKED))


def _named(name: str, design: StudyDesign) -> str:
    return "@status" if name == design.status_field else name


def _last_visit(plan: VisitPlanSpec) -> str:
    """The visit that the plan ends with; "" for none, or where arms end with different ones."""
    arms = {one.arm for one in plan.visits}
    lasts = {[one for one in plan.visits if one.arm in (arm, "")][-1].visit for arm in arms}
    return lasts.pop() if len(lasts) == 1 else ""


def figure(
    measure: Measure, answer: Answer | None, reader: Reader, at_site: Mapping[str, int]
) -> Figure:
    """The figure with its definition; what cannot be computed says so and why, never 0.

    `at_site`: how many subjects of each site the reader sees.
    """
    if measure.query is None or answer is None:
        return Figure(measure.label, _("not computed"), measure.why, is_known=False)
    said = _defined(measure, answer, reader, at_site)
    if measure.picks:
        count = len(rows_of(answer, of_subjects=False, picks=measure.picks))
        return Figure(measure.label, f"{count} {_counted(measure)[1]}", said)
    query = json.dumps(measure.query, ensure_ascii=False)
    if not answer.facts:
        return Figure(measure.label, _("not computed"), said, is_known=False, query=query)
    value = answer.basis.rows if measure.of else json_value(answer.facts[0].value)
    unit = _counted(measure)[1]
    return Figure(measure.label, f"{value} {unit}", said, query=query)


def _defined(measure: Measure, answer: Answer, reader: Reader, at_site: Mapping[str, int]) -> str:
    """What is counted, by which conditions, over whom, and of whom it could not be told."""
    query = measure.query or {}
    if "aggregate" not in query and not measure.picks:
        return _("The target set for the study.")
    told = [_("Counted: %(what)s") % {"what": _counted(measure)[0]}]
    if said := measure.said or conditions.described(query, reader):
        told.append(_("condition: %(what)s") % {"what": said})
    if days := conditions.period(query, reader):
        told.append(_("days: %(what)s") % {"what": days})
    over = conditions.scope(query, reader) or _("all sites")
    sites = conditions.sites_of(query)
    count = sum(at_site.get(one, 0) for one in sites) if sites else answer.basis.subjects
    told.append(_("of %(count)d subjects read, %(scope)s") % {"count": count, "scope": over})
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


def rows_of(
    answer: Answer, *, of_subjects: bool, picks: Pick | None = None
) -> list[dict[str, str]]:
    """The rows that an answer tells: {"": subject, column: text}, in their order; those alone that `picks`.

    `of_subjects`: what stands at several events of a subject is one row, as long as no column comes again.
    """
    rows: list[tuple[str, dict[str, Fact]]] = []
    key: tuple[str, str, int | None] | None = None
    for one in answer.facts:
        own = (one.subject, "", None) if of_subjects else (one.subject, one.event, one.instance)
        if own != key or one.field in rows[-1][1]:
            rows.append((one.subject, {}))
            key = own
        rows[-1][1][one.field] = one
    return [
        {"": subject} | {name: _text(one) for name, one in row.items()}
        for subject, row in rows
        if picks is None or picks(row)
    ]


def _text(one: Fact) -> str:
    return one.text or ("" if one.value is None else str(json_value(one.value)))
