"""Which site a line of shared text names: by its data access group, or as people say it (A中心, 医院B).

What has the shape of a site's name and is not the reader's own counts as another one, also where no data
access group is called so: whose it is cannot be told then.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_PLACE = r"分?中心|院区|医院|分院"
_MANY = r"(?!均|都|研究|共|合|协作|临床|的?例会)"
_CALLED = re.compile(
    rf"(?<![A-Z0-9./-])([A-Z]|\d{{1,3}})\s?号?\s?(?:{_PLACE}){_MANY}"
    rf"|(?:{_PLACE}|SITE|CENT(?:ER|RE))\s?[-_#:]?\s?(?:编号|代码)?\s?([A-Z]|\d{{1,3}})(?![A-Z0-9]|\s?[超型级类组])"
    rf"|第?([一二三四五六七八九十]{{1,2}})号?分?中心{_MANY}"
)
_HAN = {char: str(number) for number, char in enumerate("一二三四五六七八九十", 1)}
_SEPARATED = re.compile(r"[^A-Z0-9\u4e00-\u9fff]+")


@lru_cache(maxsize=256)
def elsewhere(own: str, sites: frozenset[str], text: str) -> tuple[bool, ...]:
    """For each line of a text whether it names a site that is not `own`; `sites`: all of the study's."""
    return tuple(_elsewhere(own, sites, line) for line in text.split("\n"))


@lru_cache(maxsize=8192)
def _elsewhere(own: str, sites: frozenset[str], line: str) -> bool:
    """The same lines come with every message."""
    said = unicodedata.normalize("NFKC", line).upper()
    groups = _groups(own, sites)
    if groups and groups.search(said):
        return True
    called = {_short(next(filter(None, found))) for found in _CALLED.findall(said)}
    return not called <= _own_names(own)


@lru_cache(maxsize=64)
def _groups(own: str, sites: frozenset[str]) -> re.Pattern[str] | None:
    """The names of the other data access groups, however their words are joined."""
    names = (_words(site) for site in sites if _words(site) != _words(own))
    either = "|".join(r"[\W_]*".join(map(re.escape, words)) for words in names if words)
    return re.compile(rf"(?<![A-Z0-9])(?:{either})(?![A-Z0-9])") if either else None


def _words(site: str) -> list[str]:
    folded = unicodedata.normalize("NFKC", site).upper()
    return [word for word in _SEPARATED.split(folded) if word]


@lru_cache(maxsize=64)
def _own_names(own: str) -> frozenset[str]:
    """What the reader's site may be called for short: the letter or number in its group's name."""
    return frozenset(_short(word) for word in _words(own) if re.fullmatch(r"[A-Z]|\d{1,3}", word))


def _short(name: str) -> str:
    """`02` and `二` are `2`."""
    plain = _HAN.get(name, name)
    return str(int(plain)) if plain.isdigit() else plain
