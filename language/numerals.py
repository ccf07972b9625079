"""Numbers as people write and say them: 12, 3.5, 十二, 两, 百分之八十."""

from __future__ import annotations

from decimal import Decimal

DIGITS = {c: n for n, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "俩": 2}
_TENS = {"十": 10, "百": 100, "千": 1000}
HAN = "".join([*DIGITS, *_TENS, "半"])
"""The characters of a numeral in words."""


def number(said: str) -> Decimal | None:
    """The value of a numeral in digits or words below 10,000; None for what is none."""
    text = said.strip().replace(",", "")
    if text.replace(".", "", 1).isdecimal() and text.isascii():
        return Decimal(text)
    if text == "半":
        return Decimal("0.5")
    return _words(text) if text and set(text) <= {*DIGITS, *_TENS} else None


def _words(text: str) -> Decimal:
    if not set(text) & set(_TENS):
        return Decimal("".join(str(DIGITS[c]) for c in text))
    total, digit = 0, 0
    for char in text:
        if char in _TENS:
            total += (digit or 1) * _TENS[char]
            digit = 0
        else:
            digit = DIGITS[char]
    return Decimal(total + digit)
