"""Whether a fact stands in a reply: both sides in one form of spaces, widths, dates and numerals."""

from __future__ import annotations

import re
import unicodedata

_JOINT = "\x1c"
_NUMERAL = "零一二三四五六七八九"
_COUNTED = "例人个位名次条周天级分项种岁倍年片月点小时日类"
_TENS = re.compile(
    rf"(?<![第{_NUMERAL}十百])([一二三四五六七八九]?)(十)([一二三四五六七八九]?)(?=个?[{_COUNTED}])"
    rf"|(?<![第{_NUMERAL}十百])([两{_NUMERAL}])(?=个?[{_COUNTED}])"
)
_LIST_NUMBER = re.compile(r"^[ \t]*[(（]?\d{1,2}[.、)）](?!\d)[ \t]*", re.MULTILINE)
_DATES = (
    re.compile(r"(?<!\d)20\d\d[-/.年](\d{1,2})[-/.月](\d{1,2})(?!\d)[日号]?"),
    re.compile(r"(?<!\d)(\d{1,2})月(\d{1,2})[日号]"),
    re.compile(r"(?<![\d.\-])(\d{2})-(\d{2})(?![\d.\-%])"),
)
_SLASHED = re.compile(r"(?<![\d/])(\d{1,2})/(\d{1,2})(?![\d/])")
CLOCK = re.compile(r"(?<![A-Za-z\d])\d{1,2}:\d{2}(?::\d{2})?(?!\d)")
_LEFT_OUT = re.compile(r"[另还]有\d+[项个例条]未")


def normal(text: str, *, slashes: bool = False) -> str:
    """The form that both sides are compared in; `slashes`: 3/4 is a date."""
    text = unicodedata.normalize("NFKC", text)
    text = _LIST_NUMBER.sub("", text).replace("−", "-").replace("〜", "~")
    text = re.sub(r"(?<=[A-Za-z0-9.%])\s+(?=[A-Za-z0-9])", _JOINT, text)
    text = re.sub(rf"[^\S{_JOINT}]+", "", text)
    for pattern in (*_DATES, *([_SLASHED] if slashes else [])):
        text = pattern.sub(_day, text)
    text = re.sub(r"(?<![\d.])(\d{1,3}),(?=\d{3}(?![\d,]))", r"\1", text)
    text = re.sub(r"(?<![vV\d.])(\d+)(?:\.0+|(\.\d*[1-9])0+)(?![\d.])", r"\1\2", text)
    return _TENS.sub(_numeral, text).lower()


def stands(wanted: str, reply: str) -> bool:
    """Whether a text stands in a reply; a bare figure not inside a longer one, a subject number or a date."""
    text = normal(wanted)
    return any(_inside(text, normal(reply, slashes=slashes)) for slashes in (False, True))


def _inside(wanted: str, text: str) -> bool:
    if re.fullmatch(r"\d+(?:\.\d+)?%?", wanted):
        plain = _LEFT_OUT.sub("", CLOCK.sub("", text))
        return any(_alone(hit, plain) for hit in re.finditer(re.escape(wanted), plain))
    pattern = f"{_JOINT}?".join(re.escape(char) for char in wanted.replace(_JOINT, ""))
    if wanted[0].isdigit():
        pattern = rf"(?<![\d.]){pattern}"
    return bool(re.search(pattern + (r"(?!\d|\.\d)" if wanted[-1].isdigit() else ""), text))


def _alone(hit: re.Match[str], text: str) -> bool:
    before, after = text[: hit.start()], text[hit.end() :]
    if re.search(r"[\d#第]$|\d\.$|(?<![a-z])[pvw]$", before):
        return False
    return not re.match(r"\d|\.\d*[1-9]", after)


def _day(found: re.Match[str]) -> str:
    month, day = int(found[1]), int(found[2])
    is_day = 1 <= month <= 12 and 1 <= day <= 31
    return chr(0xE000 + month) + chr(0xE100 + day) if is_day else found[0]


def _numeral(found: re.Match[str]) -> str:
    if found[2]:
        tens = _NUMERAL.index(found[1]) if found[1] else 1
        return str(10 * tens + (_NUMERAL.index(found[3]) if found[3] else 0))
    return "2" if found[4] == "两" else str(_NUMERAL.index(found[4]))
