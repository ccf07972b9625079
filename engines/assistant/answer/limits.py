"""How far a value lies beyond its limits."""

from __future__ import annotations

from decimal import Decimal

from django.utils.translation import gettext as _

from engines.assistant.answer import words
from study.facts import Fact, Flag, plain


def times_over(fact: Fact) -> str:
    """,为正常上限 40 的 4.63 倍; "" within the limits."""
    if fact.limit is None or not isinstance(fact.value, Decimal):
        return ""
    high, low = fact.limit.high, fact.limit.low
    if Flag.HIGH in fact.flags and high:
        times = words.rounded(fact.value / high, 2)
        return _(", %(times)s times the upper limit %(limit)s") % {
            "times": times,
            "limit": plain(high),
        }
    if Flag.LOW in fact.flags and low is not None:
        return _(", below the lower limit %(limit)s") % {"limit": plain(low)}
    return ""
