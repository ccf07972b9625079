"""How full hot memory is while somebody writes it: tokens by our own counter beside what each part may hold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.translation import gettext as _

from integrations import tokens
from memory.hot import injection, save
from memory.hot.text import Kind, lines, parse

_NEARLY = 0.9


@dataclass(frozen=True)
class Gauge:
    """One part of the text: its tokens, and how many it may have."""

    label: str
    count: int
    limit: int

    @property
    def nearly(self) -> int:
        """From here on it is coloured as full."""
        return int(self.limit * _NEARLY)

    @property
    def over(self) -> int:
        """By how many tokens it is too long; 0 where it fits."""
        return max(0, self.count - self.limit)


def gauges(content: str) -> list[Gauge]:
    """The whole, the rules, and each profile that is nearly full (decisions.md, "sizes")."""
    return list(_gauges(content))


def _gauges(content: str) -> Iterator[Gauge]:
    parsed = lines(content)
    yield Gauge(_("in all"), tokens.count(content), injection.LIMIT)
    rules = "\n".join(line.text for line in parsed if line.kind is Kind.RULES)
    yield Gauge(_("rules"), tokens.count(rules), save.RULES_LIMIT)
    for profile in parse(content).profiles:
        text = "\n".join(line.text for line in parsed if line.profile == profile)
        gauge = Gauge(profile, tokens.count(text), save.PROFILE_LIMIT)
        if gauge.count >= gauge.nearly:
            yield gauge
