"""One spelling of what people and documents write, for comparing."""

from __future__ import annotations

import re
import unicodedata

_BLANK = re.compile(r"(?<=[一-鿿])[ \t]+|[ \t]+(?=[一-鿿])")
_POWER = re.compile(r"[×x*]\s?10\^?9(?=/)")
_SITES = re.compile(r"(?<![a-z0-9])([a-z])([、和与及])([a-z])两?个?中心")
_SAME_MONTH = re.compile(
    r"(?<!\d)(\d{1,2})月\d{1,2}[日号]?\s*(?:至|到|~|—|–|-)\s*(?=\d{1,2}[日号])"
)


def folded(text: str) -> str:
    """One spelling for comparing, without the blanks around Chinese; 12月8日至22日 names the month twice."""
    found = _POWER.sub("×109", unicodedata.normalize("NFKC", text).casefold())
    found = _SAME_MONTH.sub(r"\g<0>\1月", found)
    return _SITES.sub(r"\1中心\2\3中心", _BLANK.sub("", found))
