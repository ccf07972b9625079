"""What holds for every plan, anchor and day."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from study.records import RecordData
from study.visits.calendar import (
    OPEN_STATES,
    State,
    VisitPlanSpec,
    VisitSpec,
    VisitState,
    is_due_within,
    is_to_do,
    plan_windows,
)
from study.visits.window import planned_states

dates = st.dates(date(2000, 1, 1), date(2100, 1, 1))
spans = st.integers(0, 60)
conventions = st.sampled_from([0, 1])
days = st.integers(-400, 400).filter(bool)


def states(
    convention: int, day: int, minus: int, plus: int, values: dict[str, str | None], today: date
) -> VisitState:
    visit = VisitSpec(visit="V", anchor_field="a", date_field="d", day=day, minus=minus, plus=plus)
    plan = VisitPlanSpec(anchor_is_day=convention, withdraw_field="w", visits=[visit])
    return plan_windows(plan, values, today=today)[0]


@given(conventions, days, spans, spans, dates, dates)
def test_the_window_lies_around_the_target(
    convention: int, day: int, minus: int, plus: int, anchor: date, today: date
) -> None:
    found = states(convention, day, minus, plus, {"a": anchor.isoformat()}, today)

    assert found.target is not None
    assert found.open == found.target - timedelta(days=minus)
    assert found.close == found.target + timedelta(days=plus)
    expected = day - convention if day > 0 else day
    assert (found.target - anchor).days == expected


@given(conventions, days, spans, spans, dates, dates, st.none() | dates)
def test_state_and_days_agree(
    convention: int,
    day: int,
    minus: int,
    plus: int,
    anchor: date,
    today: date,
    actual: date | None,
) -> None:
    values = {"a": anchor.isoformat(), "d": actual.isoformat() if actual else ""}
    found = states(convention, day, minus, plus, dict(values), today)
    assert found.open is not None
    assert found.close is not None

    actual = actual if actual and actual <= today else None
    assert found.actual == actual
    judged = actual or today
    before, within, after = (
        (State.EARLY, State.IN_WINDOW, State.LATE)
        if actual
        else (State.NOT_DUE, State.DUE, State.OVERDUE)
    )
    if judged < found.open:
        assert (found.state, found.days) == (before, (found.open - judged).days)
    elif judged > found.close:
        assert (found.state, found.days) == (after, (judged - found.close).days)
    else:
        assert (found.state, found.days) == (within, 0)


@given(days, spans, spans, dates, dates)
def test_the_two_conventions_differ_by_one_day_after_the_anchor_only(
    day: int, minus: int, plus: int, anchor: date, today: date
) -> None:
    values: dict[str, str | None] = {"a": anchor.isoformat()}
    zero = states(0, day, minus, plus, values, today).target
    one = states(1, day, minus, plus, values, today).target
    assert zero is not None
    assert one is not None

    assert (zero - one).days == (1 if day > 0 else 0)


@given(conventions, days, spans, spans, dates, dates, dates)
def test_a_withdrawal_only_ever_cancels_what_has_not_opened(
    convention: int, day: int, minus: int, plus: int, anchor: date, today: date, left: date
) -> None:
    values: dict[str, str | None] = {"a": anchor.isoformat()}
    staying = states(convention, day, minus, plus, values, today)
    leaving = states(convention, day, minus, plus, values | {"w": left.isoformat()}, today)
    assert staying.open is not None

    if left < staying.open:
        assert (leaving.state, leaving.days) == (State.NOT_APPLICABLE, 0)
        assert leaving.reason
    else:
        assert replace(leaving, left=None, given=staying.given) == staying
    assert not is_to_do(leaving, max(today, left))


@given(st.text(max_size=12), dates)
def test_any_text_is_either_a_day_or_a_reason(text: str, today: date) -> None:
    found = states(1, 28, 7, 7, {"a": text}, today)

    assert (found.anchor is None) == (found.state is State.UNKNOWN and found.open is None)
    assert found.anchor is not None or found.reason


@given(days, spans, spans, dates, dates, st.none() | dates, st.none() | dates, dates, spans)
def test_what_is_due_can_be_done_on_one_of_the_days(
    day: int,
    minus: int,
    plus: int,
    anchor: date,
    today: date,
    actual: date | None,
    left: date | None,
    first: date,
    length: int,
) -> None:
    values = {name: d.isoformat() for name, d in (("a", anchor), ("d", actual), ("w", left)) if d}
    found = states(1, day, minus, plus, dict(values), today)
    assert found.open is not None
    assert found.close is not None
    last = first + timedelta(days=length)

    asked = [first + timedelta(days=n) for n in range(length + 1)]
    stays = [d for d in asked if left is None or d < left]
    fits = (
        found.planned in asked
        if found.planned
        else any(found.open <= d <= found.close for d in stays)
    )
    is_open = found.state in OPEN_STATES and not (left and left <= today)
    assert is_due_within(found, first, last, today) == (is_open and fits)
    if actual and actual <= today:
        assert not is_to_do(found, today)


@given(st.lists(st.tuples(st.sampled_from(["V1", "V2"]), st.sampled_from(["", "A", "B"])), unique=True),
       st.sampled_from(["", "A", "B"]))  # fmt: skip
def test_each_visit_has_one_window_that_of_the_arm_if_there_is_one(
    planned: list[tuple[str, str]], arm: str
) -> None:
    visits = [
        VisitSpec(visit=v, arm=a, anchor_field="a", date_field="d", day=n + 1, minus=0, plus=0)
        for n, (v, a) in enumerate(planned)
    ]
    plan = VisitPlanSpec(arm_field="arm", visits=visits)
    row = {"a": "2024-03-01", "arm": arm}
    record = RecordData("P1", "", (row,), datetime.now(UTC), (), complete=True)

    own = [spec for spec, _state in planned_states(plan, record, date(2024, 3, 1))]

    for name in ("V1", "V2"):
        here = {spec.arm for spec in visits if spec.visit == name}
        expected = [arm] if arm in here else [""] if "" in here else []
        assert [spec.arm for spec in own if spec.visit == name] == expected
