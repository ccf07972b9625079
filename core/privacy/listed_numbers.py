"""Numbers listed behind a masked one: 住院号1234567、1234568/1234569 is one cue word and three numbers."""

from __future__ import annotations

import re

from core.privacy.identifiers import (
    ACCOUNT,
    COMPACT_DAY,
    HOSPITAL,
    ID_CARD,
    PHONE,
    YEAR,
)

_NO_DATE = rf"(?!{YEAR}[-/.年]\d)"
_NO_MEASURE = (
    r"(?![\d.%])(?!\s?(?:[天日次周年月元例人岁×]|小时|mg|ml|IU|copies|拷贝|CFU|[A-Z]{0,2}/[A-Zμ]))"
)
_NUMBER = rf"{_NO_DATE}((?=[A-Z]{{0,4}}-?\d{{4}})[A-Z\d-]{{4,26}}+){_NO_MEASURE}"
# A comma, a stroke or a semicolon may begin something else: 住院号1234567,20240315入院.
_SIGNED = rf"[,/;]\s?(?!{COMPACT_DAY})(?=[A-Z\d-]{{5}})"
_NUMBERS = rf"\s?(?:[、和及与或]\s?|{_SIGNED}){_NUMBER}"
_JOINT = rf"\s?[、,/;和及与或]\s?{_NO_DATE}(?!{COMPACT_DAY})"

MORE = {
    kind: re.compile(regex, re.IGNORECASE)
    for kind, regex in (
        (HOSPITAL, _NUMBERS),
        (ID_CARD, _NUMBERS),
        (PHONE, rf"{_JOINT}(\d{{7,8}}){_NO_MEASURE}(?![A-Z])"),
        (ACCOUNT, rf"{_JOINT}((?=[A-Z-]{{0,19}}[\d_])[A-Z0-9][A-Z0-9_-]{{4,25}}+){_NO_MEASURE}"),
    )
}
"""By kind of the masked number: the next one of the list, group 1."""
