"""Risk by site as Good Statistical Monitoring counts it: pure figures, no database and no data of subjects.

An indicator has a numerator and a denominator by site: per exposure (events by days in the study) or as a
share (what is wrong of all that was looked at). With y = numerator / denominator n of a site and m of all
sites together, the score is (normal approximation)

    per exposure   z = (y - m) / sqrt(phi * m / n)
    share          z = (y - m) / sqrt(phi * m * (1 - m) / n)

phi is the mean of the squares of the scores with phi = 1: what the sites differ by more than chance would
have it (overdispersion). It is not let below 1, and is 1 below `LEAST_FOR_PHI` sites: with k sites no score
corrected by it can exceed sqrt(k), so that among few nobody could ever stand out.
A score from `AMBER` on is flagged 1, from `RED` on 2; where few is suspicious, too, also -1 and -2.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as default
from datetime import date, timedelta
from enum import StrEnum

AMBER, RED = 2.0, 3.0
LEAST_SUBJECTS, LEAST_DAYS = 3, 30
LEAST_FOR_PHI = 10
OUTLYING, LEAST_HITS = 3.0, 3
"""A subject whose own score against all sites is as high, with so many hits at least, is named."""
MONTHS = 6
SCALE = 100
"""Rates are shown in per cent, or for 100 days of exposure; limits are given so."""


class Indicator(StrEnum):
    """What is looked at."""

    ADVERSE = "adverse"
    MISSING = "missing"
    QUERY_AGE = "query_age"
    ENTRY_LAG = "entry_lag"
    SCREEN_FAILURE = "screen_failure"
    VISITS = "visits"
    DEVIATIONS = "deviations"

    @property
    def is_by_exposure(self) -> bool:
        """Whether the denominator is days in the study."""
        return self in (Indicator.ADVERSE, Indicator.DEVIATIONS)

    @property
    def ends_with_exposure(self) -> bool:
        """Whether what comes after a subject's last day counts no more: its day is the one it happened on."""
        return self is Indicator.ADVERSE

    @property
    def low_is_suspicious(self) -> bool:
        """Whether a low rate asks for a look: adverse events that nobody reports."""
        return self is Indicator.ADVERSE


@dataclass(frozen=True, slots=True)
class Unit:
    """Something that counts since a day (None: known today alone): `of` in the denominator, `hits` above it.

    `hit_on`: the day from which the hits count, None: as the rest. Per exposure `of` is 0.
    """

    site: str
    subject: str
    since: date | None
    of: int = 1
    hits: int = 0
    hit_on: date | None = None


@dataclass(frozen=True, slots=True)
class Span:
    """Days of a subject in the study, both ends counted."""

    site: str
    subject: str
    first: date
    last: date


@dataclass(slots=True)
class Tally:
    """Numerator, denominator and who is in it."""

    hits: int = 0
    of: int = 0
    subjects: set[str] = default(default_factory=set)

    @property
    def rate(self) -> float | None:
        """None where nothing was looked at."""
        return self.hits / self.of if self.of else None


@dataclass(frozen=True, slots=True)
class Outlier:
    """A subject that stands out in its site."""

    subject: str
    hits: int
    of: int
    score: float


@dataclass(frozen=True, slots=True)
class SiteRow:
    """A site's figures of one indicator; `score` None: nothing to compare with, or too few to say (`is_few`).

    `months`: for how many month ends in a row, today with them, it is flagged to the same side.
    """

    site: str
    hits: int
    of: int
    subjects: int
    score: float | None
    flag: int
    is_few: bool
    months: int
    outliers: tuple[Outlier, ...]

    @property
    def shown(self) -> float | None:
        """The rate by `SCALE`."""
        return SCALE * self.hits / self.of if self.of else None


@dataclass(frozen=True, slots=True)
class Assessment:
    """One indicator over all sites of a reader; `limit`: the study's quality tolerance limit, by `SCALE`.

    `left_out`: the hits that no exposure stands beside (`exposed`).
    """

    indicator: Indicator
    rows: tuple[SiteRow, ...]
    hits: int
    of: int
    phi: float
    limit: float | None = None
    left_out: int = 0

    @property
    def shown(self) -> float | None:
        """The rate of all sites together by `SCALE`."""
        return SCALE * self.hits / self.of if self.of else None

    @property
    def is_breached(self) -> bool:
        """Whether all sites together lie above the limit."""
        return self.limit is not None and self.shown is not None and self.shown > self.limit


def month_ends(today: date, count: int = MONTHS) -> list[date]:
    """The last days of the `count` months before, then today."""
    ends, first = [today], today.replace(day=1)
    for _n in range(count):
        ends.append(first - timedelta(days=1))
        first = ends[-1].replace(day=1)
    return ends[::-1]


def exposed(
    indicator: Indicator, units: Iterable[Unit], spans: Iterable[Span]
) -> tuple[list[Unit], int]:
    """The units of subjects with days in the study, none before the first; and how many hits that leaves out.

    What has no date counts, and what was found after the last day of a subject may have happened before.
    """
    days = {one.subject: one for one in spans if one.first <= one.last}
    kept, left_out = [], 0
    for unit in units:
        span = days.get(unit.subject)
        if span and (unit.since is None or _is_within(indicator, unit.since, span)):
            kept.append(unit)
        else:
            left_out += unit.hits
    return kept, left_out


def _is_within(indicator: Indicator, day: date, span: Span) -> bool:
    return span.first <= day and not (indicator.ends_with_exposure and day > span.last)


def tally(units: Iterable[Unit], spans: Iterable[Span], at: date, today: date) -> dict[str, Tally]:
    """Site -> what had come together by the end of a day; what has no date counts today alone."""
    found: defaultdict[str, Tally] = defaultdict(Tally)
    for span in spans:
        days = (min(span.last, at) - span.first).days + 1
        if days > 0:
            own = found[span.site]
            own.of += days
            own.subjects.add(span.subject)
    for unit in units:
        since = unit.since or today
        if since > at:
            continue
        own = found[unit.site]
        own.of += unit.of
        own.subjects.add(unit.subject)
        if (unit.hit_on or since) <= at:
            own.hits += unit.hits
    return dict(found)


def assess(
    indicator: Indicator,
    units: Sequence[Unit],
    spans: Sequence[Span],
    *,
    today: date,
    limit: float | None = None,
) -> Assessment:
    """Rates, scores and flags of each site as of today, and since when they are flagged."""
    days: Sequence[Span] = ()
    left_out = 0
    if indicator.is_by_exposure:
        days = spans
        units, left_out = exposed(indicator, units, spans)
    tallies = [tally(units, days, at, today) for at in month_ends(today)]
    now = tallies[-1]
    scored = [scores(indicator, one) for one in tallies]
    flags = [{site: flag_of(indicator, z) for site, z in found.items()} for found, _ in scored]
    whole = _sum(now.values())
    outliers = _outliers(indicator, units, days, whole, today)
    rows = tuple(
        SiteRow(
            site=site,
            hits=own.hits,
            of=own.of,
            subjects=len(own.subjects),
            score=scored[-1][0].get(site),
            flag=flags[-1].get(site, 0),
            is_few=is_few(indicator, own),
            months=_in_a_row([one.get(site, 0) for one in flags]),
            outliers=tuple(outliers.get(site, ())),
        )
        for site, own in sorted(now.items())
    )
    return Assessment(indicator, rows, whole.hits, whole.of, scored[-1][1], limit, left_out)


def is_few(indicator: Indicator, own: Tally) -> bool:
    """Whether a site is too small to be compared."""
    return len(own.subjects) < LEAST_SUBJECTS or (indicator.is_by_exposure and own.of < LEAST_DAYS)


def scores(indicator: Indicator, tallies: Mapping[str, Tally]) -> tuple[dict[str, float], float]:
    """The scores of the sites that are large enough, and phi; none where there is no second one."""
    whole = _sum(tallies.values())
    told = {s: one for s, one in tallies.items() if one.of and not is_few(indicator, one)}
    if len(told) < 2:
        return {}, 1.0
    raw = {site: _score(indicator, one.hits, one.of, whole) for site, one in told.items()}
    phi = 1.0
    if len(raw) >= LEAST_FOR_PHI:
        phi = max(1.0, sum(z * z for z in raw.values()) / len(raw))
    return {site: z / math.sqrt(phi) for site, z in raw.items()}, phi


def flag_of(indicator: Indicator, score: float) -> int:
    """-2 to 2; below 0 only where a low rate is suspicious."""
    size = 2 if abs(score) >= RED else 1 if abs(score) >= AMBER else 0
    if score < 0:
        return -size if indicator.low_is_suspicious else 0
    return size


def _score(indicator: Indicator, hits: int, of: int, whole: Tally) -> float:
    mean = whole.hits / whole.of
    spread = mean if indicator.is_by_exposure else mean * (1 - mean)
    return (hits / of - mean) / math.sqrt(spread / of) if spread > 0 else 0.0


def _sum(tallies: Iterable[Tally]) -> Tally:
    found = Tally()
    for one in tallies:
        found.hits += one.hits
        found.of += one.of
        found.subjects |= one.subjects
    return found


def _in_a_row(flags: Sequence[int]) -> int:
    """How many of the last flags stand on the side of the last one."""
    count = 0
    for flag in reversed(flags):
        if flag * flags[-1] <= 0:
            break
        count += 1
    return count


def _outliers(
    indicator: Indicator, units: Iterable[Unit], spans: Iterable[Span], whole: Tally, today: date
) -> dict[str, list[Outlier]]:
    """Site -> its subjects that stand out, the most outlying first."""
    place = {unit.subject: unit.site for unit in units}
    by_subject = tally(
        (Unit(u.subject, u.subject, u.since, u.of, u.hits, u.hit_on) for u in units),
        (Span(s.subject, s.subject, s.first, s.last) for s in spans),
        today,
        today,
    )
    found: defaultdict[str, list[Outlier]] = defaultdict(list)
    for subject, own in by_subject.items():
        if own.of and own.hits >= LEAST_HITS:
            score = _score(indicator, own.hits, own.of, whole)
            if score >= OUTLYING:
                found[place[subject]].append(Outlier(subject, own.hits, own.of, score))
    for rows in found.values():
        rows.sort(key=lambda one: (-one.score, one.subject))
    return dict(found)
