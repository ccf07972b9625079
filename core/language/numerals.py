"""Numbers as people write and say them: 12, 3.5, 十二, 两, 百分之八十."""

from __future__ import annotations

from decimal import Decimal

DIGITS = {c: n for n, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "俩": 2}
SIZES = {"十": 10, "百": 100, "千": 1000}
HAN = "".join([*DIGITS, *SIZES, "半"])
"""The characters of a numeral in words."""


def numeral_value(said: str) -> Decimal | None:
    """The value of a numeral in digits or words below 10,000; None for what is none."""
    text = said.strip().replace(",", "")
    if text.replace(".", "", 1).isdecimal() and text.isascii():
        return Decimal(text)
    if text == "半":
        return Decimal("0.5")
    value = whole(text) if text and {*text} <= {*DIGITS, *SIZES} else None
    return None if value is None else Decimal(value)


def whole(words: str) -> int | None:
    """The value of a numeral in words: 三十二, 一百零五, 一百五 (150), 二〇二六; None where it is none."""
    if not {*words} & {*SIZES}:
        return int("".join(str(DIGITS[char]) for char in words))
    total, digit, last = 0, None, 10_000
    for char in words:
        if char in DIGITS:
            if digit:
                return None
            digit = DIGITS[char]
        else:
            size = SIZES[char]
            if size >= last:
                return None
            total += (1 if digit is None else digit) * size
            digit, last = None, size
    # A digit right behind 百 or 千 counts the next smaller size.
    if digit and words[-2] in SIZES and last > 10:
        return total + digit * last // 10
    return total + (digit or 0)
