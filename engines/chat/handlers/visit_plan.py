"""Questions about the visit plan itself, of nobody's visits (V2的窗口是几天)."""

from __future__ import annotations

import re

from engines.assistant.understand import Topic, Understood
from engines.chat.subjects import PRONOUN
from engines.intents import Part
from engines.tools import holding

PLAN = re.compile(r"窗口|时间窗|几天|前后|允许|超窗怎么|范围|多少天")


def asks_plan(part: Part, found: Understood) -> bool:
    """Whether some question is about when a visit is planned, whoever it is of."""
    if part.intent != "visit_window" or holding.asks_whom(part.text) or part.record_ids:
        return False
    of_visits = [one.slots for one in found.asked if one.slots.topic is Topic.VISITS]
    if any(one.subjects for one in of_visits):
        return bool(PLAN.search(part.text)) and not PRONOUN.search(part.text)
    return any(
        not one.aggregate and (one.where or one.place or PLAN.search(part.text))
        for one in of_visits
    )
