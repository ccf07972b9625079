"""How long a subject is counted as in the study: until withdrawal, or the end of its plan, or of the study."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import pytest

from engines.site_figures import spans_of
from study.facts import Answer, Fact, Kind
from study.site_risk import Indicator, Unit, assess
from study.visits.calendar import State, VisitPlanSpec
from study.visits.due import Schedule, SubjectVisit
from tests.study.query.studies import small, text

TODAY = date(2026, 11, 23)
DESIGN = small([text("record_id"), text("left_on", kind="date_ymd")], {}).design
DESIGN = replace(DESIGN, plan=VisitPlanSpec(withdraw_field="left_on", visits=[]))


def visit(who: str, site: str, first: date, day: int, done: int | None) -> SubjectVisit:
    """The visit of Day `day` with a week on either side; done that many days after the first, or not at all."""
    target = first + timedelta(days=day)
    return SubjectVisit(
        subject=who,
        site=site,
        visit=f"D{day}",
        event="",
        state=State.OVERDUE if done is None else State.IN_WINDOW,
        open=target - timedelta(days=7),
        close=target + timedelta(days=7),
        target=target,
        actual=None if done is None else first + timedelta(days=done),
    )


def last_day(
    *visits: SubjectVisit, left: str = "", ended: bool = False, first: date = date(2026, 1, 1)
) -> date:
    facts = [Fact("", Kind.VALUE, "P", "left_on", value=left, text=left)] if left else []
    schedule = Schedule(TODAY, {"P": "a"}, visits, (), None)
    told = spans_of({"P": first}, Answer(tuple(facts)), DESIGN, schedule, {"P"} if ended else ())
    (one,) = told
    assert one.first == first
    return one.last


def test_exposure_ends_with_the_plan() -> None:
    first = date(2026, 1, 1)
    v1 = visit("P", "a", first, 28, 29)
    assert last_day() == TODAY
    assert last_day(v1, visit("P", "a", first, 84, 85)) == date(2026, 3, 27)
    missed = visit("P", "a", first, 84, None)
    assert last_day(v1, missed) == date(2026, 4, 2), "the window closed"
    assert last_day(v1, missed, left="2026-02-10") == date(2026, 2, 10)
    assert last_day(v1, missed, ended=True) == date(2026, 1, 30), "the last visit that was done"
    assert last_day(v1, visit("P", "a", first, 400, None), ended=False) == TODAY
    unknown = replace(missed, open=None, close=None, target=None, state=State.UNKNOWN)
    assert last_day(v1, unknown) == TODAY, "its window may be still to come"


@pytest.mark.parametrize("indicator", [Indicator.ADVERSE, Indicator.DEVIATIONS])
def test_a_site_that_completed_a_year_ago_is_like_one_that_treats_now(indicator: Indicator) -> None:
    """Twelve subjects each, 84 days of treatment, an event every 21 days."""
    enrolled, visits, units, sites = {}, [], [], {}
    for site, first in (("past", TODAY - timedelta(days=449)), ("now", TODAY - timedelta(days=84))):
        for number in range(12):
            who = f"{site}{number}"
            enrolled[who], sites[who] = first, site
            visits.append(visit(who, site, first, 84, 84))
            units += [
                Unit(site, who, first + timedelta(days=day), of=0, hits=1)
                for day in (20, 41, 62, 83)
            ]
    schedule = Schedule(TODAY, sites, tuple(visits), (), None)
    spans = spans_of(enrolled, Answer(), DESIGN, schedule, ())
    told = assess(indicator, units, spans, today=TODAY)
    assert [(one.of, one.flag) for one in told.rows] == [(12 * 85, 0)] * 2
    assert told.left_out == 0
