"""The words of answers by what must be shown for them: claims.v1.json, read once.

One word may be of several classes; "small" words claim nothing. All are folded (NFKC, lower case).
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

_TABLE: dict[str, Any] = json.loads(
    Path(__file__).with_name("claims.v1.json").read_text(encoding="utf-8")
)


def _compiled() -> dict[str, frozenset[str]]:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for claim, words in (*_TABLE["classes"].items(), ("small", " ".join(_TABLE["small"]))):
        for word in words.split():
            found[word] |= {claim, "limit"} if word.endswith(("上限", "下限")) else {claim}
    return {word: frozenset(claims) for word, claims in found.items()}


CLAIMS = _compiled()
LONGEST = max(map(len, CLAIMS))
STATES = {claim: frozenset(states) for claim, states in _TABLE["states"].items()}
"""Class of words -> the states of a visit they may be said of (study.visits.calendar.State)."""
ROLES = {claim: tuple(words) for claim, words in _TABLE["roles"].items()}
"""Class of words for a date -> roles of facts, and words of the labels of date fields."""
COUNTERS = frozenset(_TABLE["counters"].split())
HIGHER_IS_BETTER: tuple[str, ...] = tuple(_TABLE["higher_is_better"])
COPULAS: tuple[str, ...] = tuple(_TABLE["copulas"].split())
PARTS = re.compile("|".join((*COPULAS, r"、|和|或|与|\s{2,}")))
"""Where what is listed or said to be something falls into parts."""
OPPOSITES = [tuple(pair.split()) for pair in _TABLE["opposites"]]
"""Words of which one is told where the other stands."""
SAME: dict[str, str] = _TABLE["same"]
"""Ways of saying one thing in prose -> how they are compared."""
