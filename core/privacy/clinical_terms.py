"""Drugs, genes, enzymes, codes and measures: what holds digits and letters and is no subject.

Many look like record ids (P450, S-100, 3级). The shipped list names them as they stand in protocols and notes;
ranges and figures with a unit are told by rule. A study whose ids look like a whole term keeps its ids:
then the term is masked, as the shape of its ids says.
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache
from pathlib import Path

from core.privacy.fold_text import normalise, simplified
from core.privacy.identifiers import DASHES

LIST = Path(__file__).with_name("clinical_terms.v1.txt")
_LATIN_UNIT = (
    r"(?:[mμunk]?g|[mμ]?l|[mckμ]m|[mμn]?mol|dl|IU|U|h|min|s|d|w|bpm|mmHg|kPa|Gy|mSv|Hz|HU|copies|CFU|ULN|LLN)"
    r"\d?(?![A-Za-z\d])(?:/[\w.]{1,9}){0,3}"
)
# What goes on as another word is no unit: 级别, 度过, 片状影, 粒细胞.
_HAN_UNIT = r"(?:周?岁|级(?!别)|度(?!过)|[例人名位个天日周次月年元倍秒]|小时|分钟|[毫微]克|毫升|片(?!状)|拷贝)"
_UNIT = rf"\s?(?:%|‰|℃|°C|[×*]|{_HAN_UNIT}|{_LATIN_UNIT})"
_FIGURE = r"\d{1,9}(?:\.\d{1,6})?"
_MEASURE = (
    rf"(?<![\dA-Za-z.])(?:(?:{_FIGURE}\s?[/±至到{DASHES}]\s?)?{_FIGURE}{_UNIT}|10\^\d{{1,2}})"
)


def spans(text: str) -> list[tuple[int, int]]:
    """Where a plain text names a clinical term or a measure, in order."""
    return [found.span() for found in _pattern().finditer(text)]


@cache
def terms() -> tuple[str, ...]:
    """The shipped list."""
    return tuple(filter(None, LIST.read_text(encoding="utf-8").splitlines()))


@cache
def _pattern() -> re.Pattern[str]:
    """The longest term first; behind its first sign, so that a place asks few of them."""
    by_sign = defaultdict(list)
    for plain in (simplified(normalise(term)) for term in terms()):
        by_sign[plain[0].lower()].append(_term(plain))
    listed = (
        f"(?={re.escape(sign)})(?:{'|'.join(sorted(those, key=len, reverse=True))})"
        for sign, those in by_sign.items()
    )
    return re.compile("|".join([*listed, _MEASURE]), re.IGNORECASE)


def _term(plain: str) -> str:
    blanks = r"[\s-]?".join(re.escape(part) for part in re.split(r"[\s-]", plain))
    before = r"(?<![\dA-Za-z])" if _is_latin(plain[0]) else ""
    return before + blanks + (r"(?![\dA-Za-z])" if _is_latin(plain[-1]) else "")


def _is_latin(char: str) -> bool:
    return char.isascii() and char.isalnum()
