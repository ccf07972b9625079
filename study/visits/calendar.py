"""Where a subject stands in the visit plan: pure calendar arithmetic, no database.

Board, reminders, chat and commands all use it, so that "overdue" means one thing (contracts.md,
`visit_window`; oracle: reference/redcap_dify.md 5.4; edge cases E31 to E35).
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from enum import StrEnum
from typing import Annotated, NamedTuple, Self
from zoneinfo import ZoneInfo

from django.utils.translation import gettext as _
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator

from core.rules.values import Reason
from study.dates import Reading, read_date

FAR = 36_500
"""Days: a hundred years, so that a typing error cannot leave the calendar unnoticed."""


def _an_integer(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError("must be an integer")
    return value


Days = Annotated[int, BeforeValidator(_an_integer), Field(ge=-FAR, le=FAR)]
Span = Annotated[int, BeforeValidator(_an_integer), Field(ge=0, le=FAR)]
Name = Annotated[str, Field(min_length=1)]


class VisitSpec(BaseModel):
    """One planned visit: Day `day` counted from `anchor_field`, open `minus` before to `plus` after.

    `event` says where `date_field` is entered when it occurs in several events, `arm` for whom: a REDCap arm
    ("arm_2", or "2" where no field says the arm) or a code of the plan's `arm_field`. Where a visit is planned
    for an arm, that window holds for its subjects and the one without an arm for all others.
    """

    model_config = ConfigDict(frozen=True)

    visit: Name
    anchor_field: Name
    date_field: Name
    day: Days
    minus: Span
    plus: Span
    event: str = ""
    arm: str = ""


class VisitPlanSpec(BaseModel):
    """All planned visits of a study with the conventions they are counted by."""

    model_config = ConfigDict(frozen=True)

    timezone: str = "Asia/Shanghai"
    anchor_is_day: Annotated[int, BeforeValidator(_an_integer), Field(ge=0, le=1)] = 1
    withdraw_field: str | None = None
    arm_field: str | None = None
    arms: Mapping[str, str] = {}
    """Unique event name -> the number of its REDCap arm."""
    missing_codes: frozenset[str] = frozenset()
    """The study's codes for data that are missing: no date, and no arm."""
    is_blinded: bool = False
    """Whether fields may be hidden from who reads the states: none that is not there is named then."""
    visits: list[VisitSpec]

    @field_validator("timezone")
    @classmethod
    def _known_zone(cls, name: str) -> str:
        try:
            ZoneInfo(name)
        except (KeyError, OSError, ValueError) as error:
            raise ValueError(f"no such time zone: {name}") from error
        return name

    @model_validator(mode="after")
    def _no_day_zero(self) -> Self:
        """With the anchor as Day 1 the day before it is Day -1 (CDISC has no Day 0)."""
        zero = [visit.visit for visit in self.visits if visit.day == 0]
        if self.anchor_is_day == 1 and zero:
            raise ValueError(f"day 0 does not exist when anchor_is_day is 1: {', '.join(zero)}")
        return self


class State(StrEnum):
    """Where a planned visit stands; the values are part of the contract."""

    UNKNOWN = "unknown"
    NOT_APPLICABLE = "not_applicable"
    NOT_DUE = "not_due"
    DUE = "due"
    OVERDUE = "overdue"
    EARLY = "early"
    IN_WINDOW = "in_window"
    LATE = "late"


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What decides whether a visit is still to be done: its window, the day in the future that was made out
    (`planned`), and the first day on which the subject may have withdrawn (`left`).
    """

    state: State
    open: date | None = None
    close: date | None = None
    planned: date | None = None
    left: date | None = None


_BLANK = Reading()


@dataclass(frozen=True, slots=True)
class Readings:
    """The three dates one visit depends on."""

    anchor: Reading = _BLANK
    actual: Reading = _BLANK
    withdrawal: Reading = _BLANK


@dataclass(frozen=True, slots=True, kw_only=True)
class VisitState(Standing):
    """One planned visit of one subject; `days` >= 0, `reason` for unknown and not_applicable.

    A visit date after today is `planned` and not `actual`: nothing was done yet, and the window alone
    tells the state; the reason names the planned day. `given`: the dates as they were read; `doubt`: why the
    state is unknown as the rules name it, where they do.
    """

    visit: str
    anchor_field: str
    anchor: date | None
    anchor_is_day: int
    target: date | None
    actual: date | None
    days: int = 0
    reason: str | None = None
    doubt: Reason | None = None
    given: Readings = Readings()

    @property
    def is_doubtful(self) -> bool:
        """Whether what is there, or not shown, leaves the state open: without an anchor nothing is due."""
        return self.state is State.UNKNOWN and self.doubt is not Reason.MISSING

    def as_json(self, record_id: str) -> dict[str, object]:
        """The line of `manage.py visit_window`, keys in the order of the contract."""
        values = {name: getattr(self, name) for name in _KEYS}
        told = {n: v.isoformat() if isinstance(v, date) else v for n, v in values.items()}
        return {"record_id": record_id} | told | {"state": self.state.value}


_KEYS = (
    *("visit", "anchor_field", "anchor", "anchor_is_day", "target", "open", "close"),
    *("actual", "state", "days", "reason"),
)


def is_to_do(visit: Standing, today: date) -> bool:
    """Whether somebody still has to do it: not done, and the subject has not withdrawn."""
    has_left = visit.left is not None and visit.left <= today
    return visit.state in OPEN_STATES and not has_left


def is_due_within(visit: Standing, first: date, last: date, today: date) -> bool:
    """Whether it is to be done on one of these days (inclusive): its planned day, else its window."""
    if not is_to_do(visit, today) or visit.open is None or visit.close is None:
        return False
    if visit.planned is not None:
        return first <= visit.planned <= last
    leaves = visit.left - timedelta(days=1) if visit.left else visit.close
    return visit.open <= last and min(visit.close, leaves) >= first


def plan_windows(
    plan: VisitPlanSpec, values: Mapping[str, str | None], *, today: date
) -> list[VisitState]:
    """The states of all planned visits from one subject's values by field name.

    A field that is absent counts as blank; the anchor is never replaced by another field (E35).
    """
    zone = ZoneInfo(plan.timezone)
    return states_of(
        plan.visits, plan, lambda field, _event: read_date(field, values.get(field), zone), today
    )


def states_of(
    visits: Iterable[VisitSpec],
    plan: VisitPlanSpec,
    read: Callable[[str, str], Reading],
    today: date,
    doubt: Callable[[VisitSpec], Reading | None] = lambda _visit: None,
) -> list[VisitState]:
    """The states of visits; `read` gives the date of a field, in an event where one is named.

    `doubt`: what leaves open whether a visit is planned so for the subject; None where nothing does.
    """
    withdrawal = read(plan.withdraw_field or "", "")
    found = []
    for visit in visits:
        why = doubt(visit)
        anchor = why or read(visit.anchor_field, "")
        actual = why or read(visit.date_field, visit.event)
        found.append(_state(visit, Readings(anchor, actual, withdrawal), plan.anchor_is_day, today))
    return found


def _state(visit: VisitSpec, readings: Readings, anchor_is_day: int, today: date) -> VisitState:
    """One visit: its window from the anchor, then its state from the visit date or today."""
    given = readings
    planned = readings.actual.day if (readings.actual.day or date.min) > today else None
    if planned:
        readings = replace(readings, actual=Reading())
    anchor = readings.anchor.day
    window = _window(visit, anchor, anchor_is_day) if anchor else None
    target, opens, closes = window or (None, None, None)
    state, days, reason, doubt = _judge(visit, readings, window, today)
    if planned and reason is None:
        reason = _("planned for %(day)s") % {"day": planned}
    return VisitState(
        visit=visit.visit,
        anchor_field=visit.anchor_field,
        anchor=anchor,
        anchor_is_day=anchor_is_day,
        target=target,
        open=opens,
        close=closes,
        actual=readings.actual.day,
        state=state,
        days=days,
        reason=reason,
        doubt=doubt,
        given=given,
        planned=planned,
        left=(readings.withdrawal.span or (readings.withdrawal.day,))[0],
    )


Window = tuple[date, date, date]


class Verdict(NamedTuple):
    """A state with what `VisitState` tells beside it."""

    state: State
    days: int = 0
    reason: str | None = None
    doubt: Reason | None = None


def _window(visit: VisitSpec, anchor: date, anchor_is_day: int) -> Window | None:
    """Target, first and last day; None when they leave the calendar."""
    # Without a Day 0 the days before the anchor are counted from the anchor itself.
    offset = visit.day - anchor_is_day if visit.day > 0 else visit.day
    try:
        target = anchor + timedelta(days=offset)
        return target, target - timedelta(days=visit.minus), target + timedelta(days=visit.plus)
    except OverflowError:
        return None


def _judge(visit: VisitSpec, given: Readings, window: Window | None, today: date) -> Verdict:
    if given.anchor.day is None:
        if given.anchor.problem:
            return _undecided(given.anchor)
        missing = _("the anchor date %(field)s is missing") % {"field": visit.anchor_field}
        return Verdict(State.UNKNOWN, reason=missing, doubt=Reason.MISSING)
    if window is None:
        outside = _("the window counted from %(field)s leaves the calendar")
        return Verdict(State.UNKNOWN, reason=outside % {"field": visit.anchor_field})
    _target, opens, closes = window
    left = _withdrawn(given.withdrawal, opens)
    if left is not None:
        return left
    if given.actual.problem:
        return _undecided(given.actual)
    if given.actual.day is not None:
        return Verdict(*_compare(given.actual.day, opens, closes, _DONE))
    return Verdict(*_compare(today, opens, closes, _OPEN))


def _undecided(reading: Reading) -> Verdict:
    return Verdict(State.UNKNOWN, reason=reading.problem, doubt=reading.reason)


def _withdrawn(withdrawal: Reading, opens: date) -> Verdict | None:
    """What a withdrawal makes of the visit; None where it leaves the state as it is.

    A partial date decides when all its days lie on one side of the opening day.
    """
    if withdrawal.problem and withdrawal.span is None:
        return _undecided(withdrawal)
    first, last = withdrawal.span or (withdrawal.day, withdrawal.day)
    if first is None or last is None or first >= opens:
        return None
    if last >= opens:
        return _undecided(withdrawal)
    # A day, month or year as it was entered.
    size = 10 if first == last else 7 if first.month == last.month else 4
    left = _("withdrawn on %(day)s, before the window opens")
    return Verdict(State.NOT_APPLICABLE, reason=left % {"day": first.isoformat()[:size]})


_DONE = (State.EARLY, State.IN_WINDOW, State.LATE)
_OPEN = (State.NOT_DUE, State.DUE, State.OVERDUE)
OPEN_STATES = frozenset(_OPEN)
"""Of a visit that nobody has done."""


def _compare(
    day: date, opens: date, closes: date, names: tuple[State, State, State]
) -> tuple[State, int]:
    """Before, within or after the window, both ends inclusive, and by how many days."""
    before, within, after = names
    if day < opens:
        return before, (opens - day).days
    if day > closes:
        return after, (day - closes).days
    return within, 0
