"""Which records and sites a line names: what people wrote freely is read more widely than our own texts.

In hot memory whatever looks like any id counts, also one the roster does not know. A text that leaves is full
of visits, drugs and values, so there only what looks like an id of this study counts; whether there is such a
subject makes no difference (privacy.strangers).

A site is named by its data access group, or as people say it (A中心, 医院B). What has the shape of a
site's name and is not the reader's own counts as another one, also where no group is called so: whose it is
cannot be told.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from core.privacy.fold_text import normalise, simplified
from core.privacy.strangers import Strangers
from study.identities import Names

_SHAPE = re.compile(r"(?<![A-Z0-9])(?:[A-Z]{1,4}-?\d{3,6}|[A-Z]{1,4}-\d{1,3}-\d{1,6})(?![A-Z0-9])")
_NUMBER = re.compile(
    r"(?:受试者|患者|病人|记录|ID|编号|SUBJECT|RECORD)\s*[:：#]?\s*(\d{1,6})(?!\d)|(?<!\d)(\d{1,6})\s*号"
)
_PERSON = "受试者|患者|病人|病例|SUBJECT|PATIENT"
# In every study 8号患者 is a subject, in those that number their subjects 受试者 8 and 8号, too.
_CALLED = re.compile(
    rf"(?<![\dA-Z./-])(\d{{1,6}})\s?号\s?的?\s?(?:{_PERSON})"
    rf"|(?:{_PERSON})\s?(?:ID|编号)?\s?[:#]?\s?(\d{{1,6}})\s?号"
)
_BARE = re.compile(
    rf"(?:{_PERSON}|记录|ID|编号|RECORD)\s?[:#]?\s?(\d{{1,6}})(?![\d.%]|\s?[例名人个位次天岁])"
    r"|(?<![\d月./-])(\d{1,6})\s?号"
)
_HAN_DIGITS = str.maketrans("零〇一二三四五六七八九", "00123456789")
_SPOKEN = re.compile(r"(?<=[A-Z])\s?([零〇一二三四五六七八九]{2,6})")
_TAIL = re.compile(r"\d+$")
_PLACE = r"分?中心|院区|医院|分院"
_MANY = r"(?!均|都|研究|共|合|协作|临床|的?例会)"
_SITE_CALLED = re.compile(
    rf"(?<![A-Z0-9./-])([A-Z]|\d{{1,3}})\s?号?\s?(?:{_PLACE}){_MANY}"
    rf"|(?:{_PLACE}|SITE|CENT(?:ER|RE))\s?[-_#:]?\s?(?:编号|代码)?\s?([A-Z]|\d{{1,3}})(?![A-Z0-9]|\s?[超型级类组])"
    rf"|第?([一二三四五六七八九十]{{1,2}})号?分?中心{_MANY}"
)
_HAN = {char: str(number) for number, char in enumerate("一二三四五六七八九十", 1)}
_SEPARATED = re.compile(r"[^A-Z0-9\u4e00-\u9fff]+")


@dataclass(frozen=True, eq=False)
class Ids:
    """A study's record ids made ready for being found in text; says nothing about who may see them.

    `spelled`: an id without what people put between its characters -> the id; `lengths`: of bare numbers.
    """

    all: frozenset[str]
    spelled: Mapping[str, str]
    known: re.Pattern[str] | None
    strangers: Strangers
    lengths: frozenset[int]
    names: Names


@lru_cache(maxsize=16)
def ids_of(ids: frozenset[str], names: Names) -> Ids:
    """From the ids in capitals and what the subjects are called."""
    with_letters = [item for item in ids if not item.isdigit()]
    words = (r"[\s-]*".join(re.escape(char) for char in _plain(item)) for item in with_letters)
    either = "|".join(sorted(words, key=len, reverse=True))
    known = re.compile(rf"(?<![A-Z0-9])(?:{either})(?![A-Z0-9])") if either else None
    spelled = {_plain(item): item for item in ids}
    lengths = frozenset(len(item) for item in ids if item.isdigit())
    return Ids(ids, spelled, known, Strangers.of(ids, ()), lengths, names)


@lru_cache(maxsize=8192)
def named_by_people(ids: Ids, line: str) -> frozenset[str]:
    """Record ids in a line: known ones in any spelling or by name, and whatever has the shape of one.

    The same lines come with every message: what they name is remembered, never who may see it.
    """
    text = _spoken(unicodedata.normalize("NFKC", line).upper())
    known = {_plain(hit) for hit in ids.known.findall(text)} if ids.known else set()
    shaped = {_plain(hit) for hit in _SHAPE.findall(text)}
    numbers = {left or right for left, right in _NUMBER.findall(text)}
    spelled = {ids.spelled.get(item, item) for item in known | shaped}
    return frozenset(spelled | (numbers & ids.all) | _people(ids, line))


@lru_cache(maxsize=8192)
def named_by_house(ids: Ids, line: str) -> tuple[frozenset[str], frozenset[str]]:
    """What a line of a text of the house names: (what looks like this study's ids or is a name, numbers).

    A number that is no id is given without leading zeros: it means every id that ends with it.
    """
    text = _spoken(simplified(normalise(line)).upper())
    shaped = {ids.spelled.get(item, item) for item in map(str.upper, ids.strangers.named(text))}
    numbers = {*_numbers(ids, text)}
    others = {str(int(number)) for number in numbers - ids.all}
    return frozenset(shaped | (numbers & ids.all) | _people(ids, line)), frozenset(others)


def tail(record_id: str) -> str:
    """The number an id ends with, without leading zeros; blank where it ends with none."""
    found = _TAIL.search(record_id)
    return str(int(found[0])) if found else ""


def _numbers(ids: Ids, text: str) -> Iterator[str]:
    """Numbers that are called subjects; by less telling words only those as long as one that is an id."""
    yield from (left or right for left, right in _CALLED.findall(text))
    for left, right in _BARE.findall(text) if ids.lengths else ():
        if len(left or right) in ids.lengths:
            yield left or right


def _people(ids: Ids, line: str) -> set[str]:
    return {item.upper() for item in ids.names.named(line)}


def _spoken(text: str) -> str:
    return _SPOKEN.sub(lambda found: found[1].translate(_HAN_DIGITS), text)


def _plain(item: str) -> str:
    return re.sub(r"[\s-]", "", item)


@lru_cache(maxsize=8192)
def other_site(own: str, sites: frozenset[str], line: str) -> bool:
    """Whether a line names a site that is not `own`; `sites`: all of the study's."""
    said = unicodedata.normalize("NFKC", line).upper()
    groups = _groups(own, sites)
    if groups and groups.search(said):
        return True
    called = {_short(next(filter(None, found))) for found in _SITE_CALLED.findall(said)}
    # What the reader's site may be called for short: the letter or number in its group's name.
    return not called <= {_short(w) for w in _words(own) if re.fullmatch(r"[A-Z]|\d{1,3}", w)}


@lru_cache(maxsize=64)
def _groups(own: str, sites: frozenset[str]) -> re.Pattern[str] | None:
    """The names of the other data access groups, however their words are joined."""
    names = (_words(site) for site in sites if _words(site) != _words(own))
    either = "|".join(r"[\W_]*".join(map(re.escape, words)) for words in names if words)
    return re.compile(rf"(?<![A-Z0-9])(?:{either})(?![A-Z0-9])") if either else None


def _words(site: str) -> list[str]:
    folded = unicodedata.normalize("NFKC", site).upper()
    return [word for word in _SEPARATED.split(folded) if word]


def _short(name: str) -> str:
    """`02` and `二` are `2`."""
    plain = _HAN.get(name, name)
    return str(int(plain)) if plain.isdigit() else plain
