"""Papers of a study for one reader: reports of a week, month and year, lists of subjects and findings."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.utils.timezone import now
from django.utils.translation import get_language, pgettext
from django.utils.translation import gettext as _

from core.house import clock
from core.house.paper.value import PRODUCER, Figure, Paper, Section, Table, ai_mark
from core.privacy.gate import Gate
from engines.assistant.say.conditions import name_of
from engines.assistant.say.reader import Reader
from engines.labels import AI_GENERATED, place_of_finding
from engines.models import Deviation, PendingAction
from engines.papers.events import Events, Pick
from engines.papers.figures import Measure, Measures, Query, Span, figure, rows_of
from engines.site_figures import NEVER_CHECKED, checked_sites
from engines.sop.findings import VERDICT
from memory.console import scopes
from memory.models import WeeklyReport
from memory.reports.text import sections, shown_to
from memory.reports.weeks import week_of
from projects.access import reads_as
from projects.models import Project
from projects.scoping import User
from study import door, proposals
from study.admin.export import known_of
from study.client import NeverReadError
from study.design import StudyDesign
from study.dictionary import load
from study.facts import Answer
from study.identities import unnamed
from study.models import Subject

_RULE = "@findings.rule"
WEEK, MONTH, ETHICS, SUBJECTS, FINDINGS = "week", "month", "ethics", "subjects", "findings"


@dataclass(frozen=True)
class Wish:
    """Which paper is asked for: its kind, the days it is about, and for lists the site ("" for all)."""

    kind: str
    span: Span
    site: str = ""


@dataclass(frozen=True)
class _Part:
    """A section before its answers are there: measures, or a list of the rows that it `picks`."""

    title: str
    measures: Sequence[Measure] = ()
    listed: Query | None = None
    columns: Sequence[tuple[str, str]] = ()
    empty: str = ""
    of_subjects: bool = False
    picks: Pick | None = None

    @property
    def queries(self) -> list[Query]:
        """What is to be asked, in the order of the measures, the list last."""
        asked = [one.query for one in self.measures if one.query is not None]
        return [*asked, *([self.listed] if self.listed else [])]


@dataclass(frozen=True)
class Made:
    """A paper, its number, the site that it is of ("" for all), and the subjects that its lists name."""

    paper: Paper
    number: str
    site: str
    subjects: Sequence[str]


def make(project: Project, user: User, wish: Wish) -> Made:
    """The paper from what is stored: REDCap is not asked. A site is chosen by who reads all of them.

    Raises RedcapError, NotConfiguredError or NeverReadError where the study was never read, and
    pydantic.ValidationError for a visit plan that nobody could follow.
    """
    member = reads_as(user, project.pk)
    own_site = member.site if member else ""
    if own_site or wish.site not in load(project).sites:
        wish = replace(wish, site="")
    parts: list[_Part] = []
    designs: list[StudyDesign] = []
    is_checked = _is_checked(project, user, wish)

    def questions(design: StudyDesign) -> list[Query]:
        designs.append(design)
        measures = Measures(design, wish.span, wish.site, is_checked=is_checked)
        asking = _Asking(wish, measures, own_site)
        parts.extend(asking.parts())
        # Where nothing can be counted the time of the readings is still to be told.
        by_site = {"aggregate": "count", "by": ["@site"]}
        return [by_site, *(query for part in parts for query in part.queries)]

    first, *found = door.ask_all(project, member, questions, fresh=False, user=user)
    if not first.read_at:
        raise NeverReadError(project.code)
    reader = Reader(
        design=designs[0],
        now=clock.now(),
        sites=designs[0].metadata.sites,
        own_site=own_site,
        language=get_language() or "zh-hans",
    )
    gate = Gate(known_of(project))
    answers = iter(found)
    at_site = {str(one.by[0]): one.count for one in first.groups}
    subjects: list[str] = []
    made = [_section(part, answers, reader, subjects, at_site) for part in parts]
    if wish.kind == WEEK:
        made += _told(project, user, wish)
    if wish.kind in (WEEK, MONTH, ETHICS):
        made += _deviations(project, user, wish, reader, is_checked=is_checked)
    cleaned = tuple(_cleaned(one, lambda text: unnamed(text, gate)) for one in made)
    count = at_site.get(wish.site, 0) if wish.site else first.basis.subjects
    return _bound(project, user, wish, reader, (first.read_at, count), cleaned, subjects)


def _is_checked(project: Project, user: User, wish: Wish) -> bool:
    """Whether quality control ever looked at a subject that the paper is about."""
    subjects = Subject.objects.for_user(user).filter(project=project)
    sites = dict(subjects.values_list("record_id", "site"))
    checked = checked_sites(project, None, user, sites)
    return wish.site in checked if wish.site else bool(checked)


class _Asking:
    """What a paper asks of the study."""

    def __init__(self, wish: Wish, measures: Measures, own_site: str) -> None:
        self.wish, self.measures, self.own_site = wish, measures, own_site
        self.design = measures.design

    def parts(self) -> list[_Part]:
        """The sections of the paper that rest on queries."""
        kinds: dict[str, Callable[[], Iterator[_Part]]] = {
            WEEK: self._report,
            MONTH: self._report,
            ETHICS: self._ethics,
            SUBJECTS: self._subjects,
            FINDINGS: self._findings,
        }
        return [*kinds[self.wish.kind]()]

    def _report(self) -> Iterator[_Part]:
        count = self.measures
        yield _Part(_("Enrolment"), [*count.planned(), *count.enrolled(), *count.withdrawn()])
        yield from self._by_site()
        yield _Part(_("Safety"), [*count.events()])
        yield _Part(_("Visits and data"), [*count.visits(), *count.findings()])

    def _ethics(self) -> Iterator[_Part]:
        count = self.measures
        subjects = [*count.planned(), *count.enrolled(), *count.completed(), *count.withdrawn()]
        yield _Part(_("Subjects"), subjects)
        yield from self._by_site()
        yield _Part(_("Safety"), [*count.events()])
        yield from self._serious()
        yield from self._withdrawn()

    def _by_site(self) -> Iterator[_Part]:
        sites = self.design.metadata.sites
        if not self.own_site and len(sites) > 1:
            one_by_one = (self.measures.enrolled(*site) for site in sites.items())
            yield _Part(_("Enrolment by site"), [one for both in one_by_one for one in both])

    def _serious(self) -> Iterator[_Part]:
        start, end, term = proposals.event_fields(self.design.metadata)
        name, yes = self.design.serious
        if self.measures.shows(start) and self.measures.shows(name):
            where = [{"field": name, "op": "=", "value": yes}, self.measures.span.of_field(start)]
            shown = [one for one in (term, start, end) if self.measures.shows(one)]
            title = _("Serious adverse events in the period")
            yield self._listed(title, where, shown, of_subjects=False)
        span = self.measures.span
        known = Events(self.design, (span.first, span.last), self.measures.shows)
        if known.columns:
            title = _("Adverse events to be completed")
            listed = self._listed(title, [], known.columns, of_subjects=False)
            yield replace(listed, picks=known.is_open)

    def _withdrawn(self) -> Iterator[_Part]:
        left = self.measures.left
        if self.measures.shows(left):
            where = [self.measures.span.of_field(left)]
            yield self._listed(_("Withdrawn in the period"), where, ["@site", "@enrolled", left])

    def _subjects(self) -> Iterator[_Part]:
        status = ["@status"] if self.measures.shows(self.design.status_field) else []
        left = [self.measures.left] if self.measures.shows(self.measures.left) else []
        columns = ["@site", *status, "@enrolled", "@age", *left]
        yield self._listed(_("Subjects"), self.measures.of_site, columns)

    def _findings(self) -> Iterator[_Part]:
        yield _Part(_("Findings"), [*self.measures.findings()])
        waiting = {"field": "@findings.status", "op": "in", "value": ["open", "data_changed"]}
        names = {
            "text": _("Finding"),
            "place": _("Place"),
            "opened": _("Found on"),
            "age": _("Days open"),
            "status": _("Status"),
            "assignee": _("Assignee"),
        }
        columns = [(f"@findings.{name}", said) for name, said in names.items()]
        yield _Part(
            _("Findings that wait for the site"),
            listed={
                "where": [waiting, *self.measures.of_site],
                "select": [*(name for name, _said in columns), _RULE],
            },
            columns=columns,
            empty=_("No finding is open.") if self.measures.is_checked else str(NEVER_CHECKED),
        )

    def _listed(
        self,
        title: str,
        where: Sequence[dict[str, Any]],
        columns: Sequence[str],
        *,
        of_subjects: bool = True,
    ) -> _Part:
        reader = Reader(design=self.design, now=clock.now(), sites=self.design.metadata.sites)
        return _Part(
            title,
            listed={"where": [*where], "select": [*columns]},
            columns=[(name, name_of(name, reader)) for name in columns],
            empty=_("None."),
            of_subjects=of_subjects,
        )


def _section(
    part: _Part,
    answers: Iterator[Answer],
    reader: Reader,
    subjects: list[str],
    at_site: Mapping[str, int],
) -> Section:
    figures = tuple(
        figure(one, next(answers) if one.query is not None else None, reader, at_site)
        for one in part.measures
    )
    table, label = None, ""
    if part.listed:
        rows = rows_of(next(answers), of_subjects=part.of_subjects, picks=part.picks)
        subjects += [row[""] for row in rows]
        by_model = [row for row in rows if row.get(_RULE) == VERDICT]
        for row in by_model:
            row["@findings.text"] += f" [{AI_GENERATED}]"
        if by_model:
            label = _("A language model wrote the texts marked “%(mark)s”.") % {
                "mark": AI_GENERATED
            }
        table = Table(
            (_("Subject"), *(said for _name, said in part.columns)),
            tuple(
                (row[""], *(_cell(name, row.get(name, "")) for name, _said in part.columns))
                for row in rows
            ),
            part.empty,
        )
    return Section(part.title, figures=figures, table=table, label=label)


def _cell(name: str, text: str) -> str:
    return str(PendingAction.State(text).label) if name == "@findings.status" and text else text


def _deviations(
    project: Project, user: User, wish: Wish, reader: Reader, *, is_checked: bool
) -> Iterator[Section]:
    """What the register holds of the period, for those subjects that the reader sees."""
    zone = ZoneInfo(project.timezone)
    since = datetime.combine(wish.span.first, time.min, zone)
    until = datetime.combine(wish.span.last + timedelta(days=1), time.min, zone)
    rows = Deviation.objects.for_user(user).filter(
        project=project, found_at__gte=since, found_at__lt=until
    )
    graded = rows.filter(state=Deviation.State.CONFIRMED).select_related("finding")
    confirmed = [*graded.order_by("found_at", "pk")]
    grades = {grade.value: 0 for grade in Deviation.Grade}
    for one in confirmed:
        grades[one.grade] = grades.get(one.grade, 0) + 1
    counts = [
        (_("Confirmed deviations: %(grade)s") % {"grade": grade.label}, grades[grade.value])
        for grade in Deviation.Grade
    ]
    waiting = rows.filter(state=Deviation.State.PROPOSED).count()
    counts.append((_("Deviations not decided yet"), waiting))
    scope = reader.sites.get(reader.own_site, reader.own_site) or _("all sites")
    told = _("Rows of the register of deviations found from %(first)s to %(last)s, %(scope)s") % {
        "first": wish.span.first,
        "last": wish.span.last,
        "scope": scope,
    }
    unit = pgettext("unit", "findings")
    table = Table(
        (
            *(_("Subject"), _("Place"), _("Found on")),
            *(_("Grade"), _("What happened"), _("Corrective action")),
        ),
        tuple(
            (
                one.record_id,
                place_of_finding(one.finding, reader.design.metadata),
                f"{one.found_at.astimezone(zone):%Y-%m-%d}",
                one.get_grade_display(),
                one.text,
                one.measure,
            )
            for one in confirmed
        ),
        _("No deviation was confirmed in this period.") if is_checked else str(NEVER_CHECKED),
    )
    figures = tuple(
        Figure(label, f"{count} {unit}", told)
        if is_checked or count
        else Figure(label, _("not computed"), str(NEVER_CHECKED), is_known=False)
        for label, count in counts
    )
    yield Section(_("Protocol deviations"), figures=figures, table=table)


def _told(project: Project, user: User, wish: Wish) -> Iterator[Section]:
    """The week's stored report as its reader may see it, with a label where a model summed it up."""
    week = week_of(project, wish.span.first)
    rows = WeeklyReport.objects.for_user(user).filter(project=project)
    report = rows.filter(week_number=week.number).first() if week else None
    title = _("Report of the history book")
    if report is None:
        yield Section(title, (_("There is no report of this week yet."),))
        return
    zone = ZoneInfo(project.timezone)
    label = _("A model summed up this week's conversations; people may have edited it.")
    yield Section(
        title,
        (
            _("As it stands since %(at)s; its figures are those known then.")
            % {"at": f"{report.updated_at.astimezone(zone):%Y-%m-%d %H:%M}"},
        ),
    )
    shown = shown_to(report.summary, scopes(user, project.pk))
    for head, body in sections(shown).items():
        lines = tuple(line.strip().lstrip("->").strip() for line in body.split("\n"))
        lines = tuple(line for line in lines if line)
        if head.startswith("###") and lines:
            said = label if report.narrated_at else ""
            yield Section(head.lstrip("# ").partition("\0")[0], lines, label=said)


def _cleaned(section: Section, plain: Callable[[str], str]) -> Section:
    """Without anything that identifies a person in what was typed by people."""
    table = section.table
    if table:
        rows = tuple(tuple(plain(cell) for cell in row) for row in table.rows)
        table = Table(table.header, rows, table.empty)
    lines = tuple(map(plain, section.lines))
    return Section(section.title, lines, section.figures, table, section.label)


def _bound(
    project: Project,
    user: User,
    wish: Wish,
    reader: Reader,
    read: tuple[str, int],
    parts: tuple[Section, ...],
    subjects: Sequence[str],
) -> Made:
    """The paper with who, when, as of when and for which sites, and its label; `read`: when, and how many."""
    zone, at = ZoneInfo(project.timezone), now()
    number = secrets.token_hex(8)
    read_at, count = datetime.fromisoformat(read[0]), read[1]
    site = wish.site or reader.own_site
    scope = reader.sites.get(site, site) if site else _("all sites")
    about = [
        (_("Study"), f"{project.code} {project.name}"),
        (_("Made by"), user.get_username()),
        (_("Made at"), f"{at.astimezone(zone):%Y-%m-%d %H:%M} ({project.timezone})"),
        (_("Data as of"), f"{read_at.astimezone(zone):%Y-%m-%d %H:%M}"),
        (
            _("Scope"),
            _("%(scope)s; %(count)d subjects") % {"scope": scope, "count": count},
        ),
        (_("Number"), number),
    ]
    if wish.kind in (WEEK, MONTH, ETHICS):
        about.insert(1, (_("Period"), f"{wish.span.first} ~ {wish.span.last}"))
    is_by_model = any(part.label for part in parts)
    paper = Paper(
        title=str(titles()[wish.kind]),
        study=project.code,
        author=user.get_username(),
        made_at=at.astimezone(zone).isoformat(timespec="seconds"),
        language=reader.language,
        heads=(_("Figure"), _("Value"), _("How it was counted")),
        about=tuple(about),
        sections=parts,
        label=_("This file holds content generated by artificial intelligence.")
        if is_by_model
        else "",
        mark=ai_mark(PRODUCER, number) if is_by_model else "",
    )
    return Made(paper, number, site, list(dict.fromkeys(subjects)))


def titles() -> dict[str, str]:
    """Kind -> its name, in the order of the page."""
    return {
        WEEK: _("Weekly report"),
        MONTH: _("Monthly report"),
        ETHICS: _("Annual report to the ethics committee"),
        SUBJECTS: _("Subject listing"),
        FINDINGS: _("List of findings"),
    }
