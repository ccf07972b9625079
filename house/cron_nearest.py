"""What somebody may have meant who typed no cron expression; `house.cron` says which of it is right."""

from __future__ import annotations

from collections.abc import Iterator

USUAL = ("0 9 * * *", "0 9 * * 1", "0 9 1 * *")
"""Every day, every Monday, every first of a month."""
SPANS = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 6))
"""Least and most of minute, hour, day of the month, month, weekday."""
_SECONDS_FIRST = (6, 7)  # Quartz and others: seconds before the five, a year behind them


def candidates(expression: str) -> Iterator[str]:
    """Expressions near a wrong one, the nearest first; not all of them are right."""
    parts = expression.replace("?", "*").split()
    if len(parts) in _SECONDS_FIRST:
        parts = parts[1:6]
    if len(parts) == 1 and ":" in parts[0]:
        hour, _colon, minute = parts[0].partition(":")
        parts = [minute, hour, "*", "*", "*"]
    if 0 < len(parts) < len(SPANS):
        parts += ["*"] * (len(SPANS) - len(parts))
    yield " ".join(map(_within, parts, SPANS))
    yield from USUAL


def _within(part: str, span: tuple[int, int]) -> str:
    """A number beyond its span as the last one in it, a Sunday written 7 as 0; the rest as it stands."""
    least, most = span
    if not (part.isascii() and part.isdecimal()) or len(part) > 4:
        return part
    number = int(part)
    if (most, number) == (6, 7):
        return "0"
    return str(min(max(number, least), most))
