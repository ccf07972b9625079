"""Risk by site against plain counting, day by day, on twenty generated sites."""

from __future__ import annotations

import random
import statistics
from datetime import date, timedelta

import pytest

from study.site_risk import Indicator, Span, Unit, assess

TODAY = date(2026, 3, 17)
START = date(2025, 6, 1)
ENDS = [date(2025, m, d) for m, d in ((9, 30), (10, 31), (11, 30), (12, 31))] + [
    date(2026, 1, 31), date(2026, 2, 28), TODAY,
]  # fmt: skip


def generated(seed: int, by_exposure: bool) -> tuple[list[Unit], list[Span]]:
    """Twenty sites of 1 to 15 subjects; some sites report far more or far less than others.

    By exposure, some events lie before or after their subject's days, or are of one who was never enrolled.
    """
    chance = random.Random(seed)
    units, spans = [], []
    for number in range(20):
        site, rate = f"site_{number:02}", chance.choice([0.002, 0.02, 0.02, 0.02, 0.08])
        for place in range(chance.randint(1, 15)):
            subject = f"P{number:02}{place:02}"
            first = START + timedelta(days=chance.randint(0, 280))
            last = min(TODAY, first + timedelta(days=chance.randint(5, 250)))
            if by_exposure:
                spans.append(Span(site, subject, first, last))
                for day in range((last - first).days + 1):
                    if chance.random() < rate:
                        since = first + timedelta(days=day)
                        units.append(Unit(site, subject, since, of=0, hits=1))
                for day in (first - timedelta(days=3), last + timedelta(days=3), None):
                    who = chance.choice([subject, f"screened {subject}"])
                    if chance.random() < 0.3:
                        units.append(Unit(site, who, day, of=0, hits=1))
                continue
            for _n in range(chance.randint(0, 12)):
                since = chance.choice([None, first + timedelta(days=chance.randint(0, 90))])
                wrong = chance.random() < rate * 6
                later = since + timedelta(days=9) if since and chance.random() < 0.5 else None
                units.append(Unit(site, subject, since, hits=int(wrong), hit_on=later))
    return units, spans


def belongs(unit: Unit, spans: list[Span], indicator: Indicator) -> bool:
    """Whether an event lies where its subject's days are counted; what was found afterwards counts, too."""
    if indicator not in (Indicator.ADVERSE, Indicator.DEVIATIONS):
        return True
    for span in spans:
        if span.subject == unit.subject:
            days = [
                span.first + timedelta(days=n) for n in range((span.last - span.first).days + 1)
            ]
            if indicator is Indicator.DEVIATIONS:
                days += [days[-1] + timedelta(days=n) for n in range(400)]
            return unit.since is None or unit.since in days
    return False


def counted(
    units: list[Unit], spans: list[Span], by_exposure: bool, at: date
) -> dict[str, tuple[int, int, int]]:
    """Site -> hits, denominator, subjects; by walking over every day."""
    found = {}
    for site in {one.site for one in [*units, *spans]}:
        hits = of = 0
        who = set()
        for span in spans if by_exposure else []:
            day = span.first
            while span.site == site and day <= span.last and day <= at:
                of, day = of + 1, day + timedelta(days=1)
                who.add(span.subject)
        for unit in units:
            known = (unit.since is None and at == TODAY) or (unit.since and unit.since <= at)
            if unit.site != site or not known:
                continue
            who.add(unit.subject)
            of += unit.of
            hits += unit.hits if unit.hit_on is None or unit.hit_on <= at else 0
        if who:
            found[site] = (hits, of, len(who))
    return found


def judged(
    found: dict[str, tuple[int, int, int]], by_exposure: bool
) -> tuple[dict[str, float], float]:
    """Scores by observed less expected over the root of the variance of what is expected."""
    mean = sum(h for h, _, _ in found.values()) / sum(n for _, n, _ in found.values())
    large = {
        site: (hits, of)
        for site, (hits, of, who) in found.items()
        if who >= 3 and of > 0 and (of >= 30 or not by_exposure)
    }
    if len(large) < 2:
        return {}, 1.0
    raw = {}
    for site, (hits, of) in large.items():
        variance = of * mean if by_exposure else of * mean * (1 - mean)
        raw[site] = (hits - of * mean) / variance**0.5 if variance else 0.0
    phi = max(1.0, statistics.fmean([z**2 for z in raw.values()])) if len(raw) >= 10 else 1.0
    return {site: z / phi**0.5 for site, z in raw.items()}, phi


def colour(score: float, low_counts: bool) -> int:
    steps = (score >= 2) + (score >= 3)
    return steps - ((score <= -2) + (score <= -3)) if low_counts else steps


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("indicator", [*Indicator])
def test_figures_of_twenty_sites_equal_plain_counting(indicator: Indicator, seed: int) -> None:
    by_exposure = indicator in (Indicator.ADVERSE, Indicator.DEVIATIONS)
    units, spans = generated(seed, by_exposure)
    told = assess(indicator, units, spans, today=TODAY)
    apart = [one for one in units if not belongs(one, spans, indicator)]
    assert told.left_out == sum(one.hits for one in apart)
    assert bool(apart) is by_exposure
    units = [one for one in units if one not in apart]
    low_counts = indicator is Indicator.ADVERSE
    months = [judged(counted(units, spans, by_exposure, at), by_exposure) for at in ENDS]
    found = counted(units, spans, by_exposure, TODAY)
    now, phi = months[-1]
    assert [(r.site, r.hits, r.of, r.subjects) for r in told.rows] == [
        (site, *found[site]) for site in sorted(found)
    ]
    assert told.phi == pytest.approx(phi)
    assert phi > 1  # else the correction would not be seen
    for row in told.rows:
        assert (row.score is None) == (row.site not in now)
        if row.score is not None:
            assert row.score == pytest.approx(now[row.site])
        flags = [colour(z.get(row.site, 0), low_counts) for z, _ in months]
        assert row.flag == flags[-1]
        run = 0
        while run < len(flags) and flags[-1] and flags[-1 - run] * flags[-1] > 0:
            run += 1
        assert row.months == run
    few = {site for site, (_, of, who) in found.items() if who < 3 or (by_exposure and of < 30)}
    assert {row.site for row in told.rows if row.is_few} == few
    assert few
    assert all(row.flag == 0 and row.score is None for row in told.rows if row.is_few)


def site_of(name: str, subjects: int, days: int, events: int) -> tuple[list[Unit], list[Span]]:
    """A site whose subjects have been in for so many days, the events all of its first subject."""
    first = TODAY - timedelta(days=days - 1)
    who = [f"{name}-{n}" for n in range(subjects)]
    spans = [Span(name, one, first, TODAY) for one in who]
    return [Unit(name, who[0], TODAY, of=0, hits=1) for _ in range(events)], spans


@pytest.mark.parametrize(
    ("subjects", "days", "is_few"), [(2, 400, True), (3, 9, True), (3, 10, False), (4, 100, False)]
)
def test_a_small_site_is_too_few_to_say(subjects: int, days: int, is_few: bool) -> None:
    parts = [site_of("a", 10, 100, 10), site_of("b", 10, 100, 10), site_of("c", subjects, days, 90)]
    units, spans = ([one for part in parts for one in part[n]] for n in (0, 1))
    row = assess(Indicator.ADVERSE, units, spans, today=TODAY).rows[-1]
    assert (row.is_few, row.score is None, row.flag == 0) == (is_few, is_few, is_few)


@pytest.mark.parametrize("indicator", [Indicator.ADVERSE, Indicator.DEVIATIONS])
def test_events_of_who_was_never_enrolled_make_no_site_large_enough(indicator: Indicator) -> None:
    """One subject with 40 days, and two screen failures with an event each; then one before enrolment."""
    parts = [site_of("a", 10, 100, 10), site_of("b", 10, 100, 10), site_of("c", 1, 40, 0)]
    units, spans = ([one for part in parts for one in part[n]] for n in (0, 1))
    day = TODAY - timedelta(days=5)
    units += [Unit("c", f"failed {n}", day, of=0, hits=1) for n in range(2)]
    units.append(Unit("c", "c-0", TODAY - timedelta(days=40), of=0, hits=1))
    told = assess(indicator, units, spans, today=TODAY)
    row = told.rows[-1]
    assert (row.site, row.hits, row.of, row.subjects, row.is_few) == ("c", 0, 40, 1, True)
    assert (told.hits, told.left_out) == (20, 3)


def test_too_few_events_are_flagged_where_they_are_suspicious_alone() -> None:
    parts = [site_of(name, 10, 100, 40) for name in "abd"] + [site_of("e", 10, 100, 2)]
    units, spans = ([one for part in parts for one in part[n]] for n in (0, 1))
    rows = assess(Indicator.ADVERSE, units, spans, today=TODAY).rows
    assert [row.flag for row in rows] == [0, 0, 0, -2]
    others = assess(Indicator.DEVIATIONS, units, spans, today=TODAY).rows
    assert [row.flag for row in others] == [0, 0, 0, 0]


def test_a_subject_that_stands_out_is_named_with_its_figures() -> None:
    units, spans = site_of("a", 10, 100, 12)
    others = site_of("b", 10, 100, 2)
    told = assess(Indicator.ADVERSE, [*units, *others[0]], [*spans, *others[1]], today=TODAY)
    (one,) = told.rows[0].outliers
    assert (one.subject, one.hits, one.of) == ("a-0", 12, 100)
    assert told.rows[1].outliers == ()


def test_a_limit_is_breached_above_it_alone() -> None:
    units, spans = site_of("a", 10, 100, 5)
    for limit, is_breached in ((0.49, True), (0.5, False), (None, False)):
        told = assess(Indicator.ADVERSE, units, spans, today=TODAY, limit=limit)
        assert told.shown == pytest.approx(0.5)
        assert told.is_breached is is_breached
