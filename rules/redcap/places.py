"""Which event and which instance a reference means (smart variables; redcap_dify.md 1.14).

Relative events are those of the place's own arm, in the order of the form-event mapping; before a field,
those that hold the field's form.
"""

from __future__ import annotations

import re

from rules.record import Record, Row
from rules.redcap.view import HERE

_ARM = re.compile(r"_arm_([0-9]+)$")
RELATIVE_EVENTS = frozenset(
    {"first-event-name", "last-event-name", "previous-event-name", "next-event-name"}
)
INSTANCES = frozenset(
    {"current-instance", "previous-instance", "next-instance", "first-instance", "last-instance"}
)


def arm(event: str | None) -> str:
    """The number of an event's arm by its unique name; "" where that tells none."""
    found = _ARM.search(event or "")
    return found[1] if found else ""


def event_of(row: Row, said: str, form: str = "") -> str | None:
    """The event that is meant, "" where there is none there; None where the order of events is not known."""
    here = row.place.event
    if said in {"", HERE}:
        return here or ""
    if said not in RELATIVE_EVENTS:
        return said
    mapping = row.record.context.forms_by_event
    if not mapping or here is None or here not in mapping:
        return None
    of_arm = [event for event in mapping if arm(event) == arm(here)]
    at = of_arm.index(here)
    candidates = {
        "first-event-name": of_arm,
        "last-event-name": of_arm[::-1],
        "previous-event-name": of_arm[:at][::-1],
        "next-event-name": of_arm[at + 1 :],
    }[said]
    holding = (event for event in candidates if not form or form in mapping[event])
    return next(holding, "")


def instance_of(row: Row, said: str, event: str | None, form: str) -> int | None:
    """The number of the instance that is meant; 0 where there is none, None where it can't be told."""
    if said.isdigit():
        return int(said)
    if said in {"first-instance", "last-instance"}:
        there = instances(row.record, event, form)
        return 0 if not there else min(there) if said == "first-instance" else max(there)
    step = {"current-instance": 0, "previous-instance": -1, "next-instance": 1}.get(said)
    here = row.place.instance
    return None if step is None or here is None else here + step


def instances(record: Record, event: str | None, form: str) -> dict[int, Row]:
    """The repeated rows of a form (else of the whole event) by number."""
    is_form = record.is_repeating(form, event)
    return {
        row.place.instance: row
        for row in record.rows
        if row.place.event == event
        and row.place.instance is not None
        and row.place.instrument == (form if is_form else None)
    }
