"""Where words stand in the rules of documents, and so how far each rule speaks of a thing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

TEXT, HEADING, LEAD, ABOVE, NEAR = 1.0, 0.85, 0.6, 0.4, 0.2
"""What a word counts by where it stands; `NEAR`: elsewhere in the section."""

TITLED = 0.2
"""What a word counts more that stands in the heading, wherever else it does."""

WEIGHTS = (TEXT, HEADING, LEAD, ABOVE, NEAR)
TITLE = 1
TITLE_ONLY = (0.0, HEADING, 0.0, 0.0, 0.0)

Fields = tuple[frozenset[str], frozenset[str], frozenset[str], frozenset[str], frozenset[str]]
"""The terms of one rule, in the order of `WEIGHTS`."""

Names = Sequence[tuple[frozenset[str], float]]
"""Sets of terms that each name a thing, with what they count."""

# How many terms of a name stand in each of the fields is added up in one number: this many bits for each.
_BITS = 16
_COUNT = (1 << _BITS) - 1
_EXACT = _BITS * len(WEIGHTS)


class Standing:
    """Where each term stands, of all rules at once."""

    def __init__(self, rules: Sequence[Fields]) -> None:
        self._places: defaultdict[str, defaultdict[int, int]] = defaultdict(
            lambda: defaultdict(int)
        )
        for at, fields in enumerate(rules):
            for number, held in enumerate(fields):
                for term in held:
                    self._places[term][at] |= 1 << _BITS * number

    def told(self, names: Names, weights: Sequence[float] = WEIGHTS) -> Mapping[int, float]:
        """Rules that hold a word of a thing -> how far they speak of it, 0..1 and more for the heading:
        by the best of its names at its best place.
        """
        best: defaultdict[int, float] = defaultdict(float)
        titled: defaultdict[int, float] = defaultdict(float)
        for terms, counts in names:
            exact = sum(term.isascii() for term in terms)
            known: dict[int, tuple[float, float]] = {}
            for at, held in self._held(terms).items():
                if held not in known:
                    shares = _shares(held, len(terms), exact)
                    places = zip(weights, shares, strict=True)
                    place = max(weight * counts * share for weight, share in places)
                    known[held] = place, TITLED * counts * shares[TITLE]
                place, title = known[held]
                best[at] = max(best[at], place)
                titled[at] = max(titled[at], title)
        return {at: told + titled[at] for at, told in best.items()}

    def _held(self, terms: frozenset[str]) -> Mapping[int, int]:
        """Rules that hold some of the terms -> how many by field; figures and Latin letters once more above."""
        held: defaultdict[int, int] = defaultdict(int)
        for term in terms:
            once = 1 | 1 << _EXACT if term.isascii() else 1
            for at, places in self._places.get(term, {}).items():
                held[at] += places * once
        return held


def _shares(held: int, size: int, exact: int) -> list[float]:
    """The share of a name's terms by field; none where its figures or Latin letters do not all stand."""
    shares = []
    for number in range(len(WEIGHTS)):
        here = held >> _BITS * number
        found, exactly = here & _COUNT, here >> _EXACT & _COUNT
        shares.append(found / size if exactly == exact else 0.0)
    return shares
