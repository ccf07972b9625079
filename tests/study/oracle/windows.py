"""visit_window's formula, once more (contracts.md, Commands)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

from tests.study.oracle import cells


@dataclass(frozen=True)
class Visit:
    """One planned visit of one subject; dates are days or None."""

    visit: str
    event: str
    state: str
    target: date | None = None
    open: date | None = None
    close: date | None = None
    actual: date | None = None
    days: int = 0
    planned: date | None = None
    form: str = "@visits"
    instance: int | None = None

    @property
    def row_key(self) -> tuple[str, str, int | None]:
        """What tells this visit from others and from rows of the export."""
        return self.visit, "@visits", None


def states(study, rows, today: date) -> list[Visit]:
    """All planned visits of the subject's arm."""
    plan = study.settings["plan"]
    arms = {str(row.get("redcap_event_name", "")).rpartition("_arm_")[2] for row in rows} - {""}
    arms |= {f"arm_{arm}" for arm in arms}
    found = []
    for spec in plan["visits"]:
        if spec.get("arm") and spec["arm"] not in arms:
            continue
        found.append(_one(study, plan, spec, rows, today, arms))
    return found


def _one(study, plan, spec, rows, today, arms) -> Visit:
    event = spec.get("event") or study.event_of_visit(spec, arms)
    anchor, _spans, _anchor_trouble = _day(rows, spec["anchor_field"], "")
    if anchor is None:
        actual = _day(rows, spec["date_field"], spec.get("event", ""))[0]
        return Visit(spec["visit"], event, "unknown", actual=_past(actual, today), planned=actual)
    day = spec["day"]
    offset = day - plan["anchor_is_day"] if day > 0 else day
    target = anchor + timedelta(days=offset)
    opens, closes = target - timedelta(days=spec["minus"]), target + timedelta(days=spec["plus"])
    actual, _span, trouble = _day(rows, spec["date_field"], spec.get("event", ""))
    done = _past(actual, today)
    out, (first, last), out_trouble = _day(rows, plan.get("withdraw_field") or "", "")
    if out is not None:
        first = last = out
    base = (spec["visit"], event)
    dates = {"target": target, "open": opens, "close": closes, "actual": done, "planned": actual}
    if first is not None and last < opens:
        return Visit(*base, "not_applicable", **dates)
    if (first is not None and first < opens) or (out_trouble and first is None):
        return Visit(*base, "unknown", **dates)
    if trouble:
        return Visit(*base, "unknown", **dates)
    if done is not None:
        if done < opens:
            return Visit(*base, "early", **dates, days=(opens - done).days)
        if done > closes:
            return Visit(*base, "late", **dates, days=(done - closes).days)
        return Visit(*base, "in_window", **dates)
    if today < opens:
        return Visit(*base, "not_due", **dates, days=(opens - today).days)
    if today > closes:
        return Visit(*base, "overdue", **dates, days=(today - closes).days)
    return Visit(*base, "due", **dates)


def _past(day: date | None, today: date) -> date | None:
    """A visit date after today is a plan, nothing that was done."""
    return day if day is not None and day <= today else None


def _day(rows, field: str, event: str):
    """(day, (first, last) of a partial date, whether something else stands there)."""
    if not field:
        return None, (None, None), False
    texts = set()
    for row in rows:
        if event and row.get("redcap_event_name") != event:
            continue
        if str(row.get(field, "")).strip():
            texts.add(str(row[field]).strip())
    if len(texts) > 1:
        return None, (None, None), True
    if not texts:
        return None, (None, None), False
    found = cells.moment(texts.pop(), cells.DATE)
    if found is None:
        return None, (None, None), True
    first, last = date.fromordinal(int(found.low)), date.fromordinal(int(found.high))
    if found.point:
        return first, (None, None), False
    return None, (first, last), True
