"""Which lines of shared text a reader may see (decisions.md, "hot memory and reports name subjects").

A line that names a record, its subject by name, or a site outside the reader's scope is left out with what is
indented below it, as if it did not exist.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from memory.sites import elsewhere
from projects.identities import names_of
from projects.models import Member, Project, Subject
from projects.named import NOBODY, Names
from projects.reader import Reader

# Whatever looks like an id counts for readers with a site, also one the roster does not know.
_SHAPE = re.compile(r"(?<![A-Z0-9])(?:[A-Z]{1,4}-?\d{3,6}|[A-Z]{1,4}-\d{1,3}-\d{1,6})(?![A-Z0-9])")
_NUMBER = re.compile(
    r"(?:受试者|患者|病人|记录|ID|编号|SUBJECT|RECORD)\s*[:：#]?\s*(\d{1,6})(?!\d)|(?<!\d)(\d{1,6})\s*号"
)
_PLACE_NAME = re.compile(r"[\u4e00-\u9fff].+[\u4e00-\u9fff]")
# "01" and "B" stand in every text.
_TELLING = re.compile(r"[\u4e00-\u9fff]{2}|[A-Za-z]{3}")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:\s|$)")
_HAN_DIGITS = str.maketrans("零〇一二三四五六七八九", "00123456789")
_SPOKEN = re.compile(r"(?<=[A-Z])\s?([零〇一二三四五六七八九]{2,6})")


@dataclass(frozen=True)
class Scope:
    """Records a reader may see; `everything` for members without a site.

    `site`: the reader's; `sites`: all of the study's that are known; `names`: what its subjects are called.
    """

    everything: bool
    visible: frozenset[str]
    all: frozenset[str]
    site: str = ""
    sites: frozenset[str] = frozenset()
    names: Names = NOBODY

    def allows(self, line: str) -> bool:
        """Whether every record that the line names is the reader's to see."""
        return self.everything or self.named(line) <= self.visible

    def shown(self, text: str) -> str:
        """A text without the lines about records that are not the reader's to see."""
        if self.everything:
            return text
        lines = _lines(self._ids, text)
        seen = self._seen(lines, self._elsewhere(text))
        return "\n".join(line for (line, _named), shown in zip(lines, seen, strict=True) if shown)

    def seen(self, lines: Sequence[str]) -> list[bool]:
        """For each line of a text whether the reader sees it."""
        if self.everything:
            return [True] * len(lines)
        named = [(line, self.named(line)) for line in lines]
        return list(self._seen(named, [any(self._elsewhere(line)) for line in lines]))

    def _elsewhere(self, text: str) -> tuple[bool, ...]:
        """For each line whether it names another site."""
        return elsewhere(self.site, self.sites, text)

    def _seen(
        self, lines: Sequence[tuple[str, frozenset[str]]], away: Sequence[bool]
    ) -> Iterator[bool]:
        """What stands indented below a hidden line, or under a hidden heading, goes on about its record."""
        hidden, section = -1, 0
        for (line, named), other_site in zip(lines, away, strict=True):
            depth, level = len(line) - len(line.lstrip()), _level(line)
            if line.strip() and depth <= hidden:
                hidden = -1
            if 0 < level <= section:
                section = 0
            if hidden < 0 and not section and (other_site or not named <= self.visible):
                hidden, section = depth, level
            yield hidden < 0 and not section

    def named(self, line: str) -> frozenset[str]:
        """Record ids in a line: known ones in any spelling or by name, and whatever has the shape of one."""
        return _named(self._ids, line)

    @cached_property
    def _ids(self) -> _Ids:
        return _ids_of(self.all, self.names)


@dataclass(frozen=True, eq=False)
class _Ids:
    """Record ids made ready for being found in text; says nothing about who may see them."""

    all: frozenset[str]
    spelled: Mapping[str, str]
    known: re.Pattern[str] | None
    names: Names


@lru_cache(maxsize=16)
def _ids_of(ids: frozenset[str], names: Names) -> _Ids:
    with_letters = [item for item in ids if not item.isdigit()]
    words = (r"[\s-]*".join(re.escape(char) for char in _plain(item)) for item in with_letters)
    either = "|".join(sorted(words, key=len, reverse=True))
    known = re.compile(rf"(?<![A-Z0-9])(?:{either})(?![A-Z0-9])") if either else None
    return _Ids(ids, {_plain(item): item for item in ids}, known, names)


@lru_cache(maxsize=8192)
def _named(ids: _Ids, line: str) -> frozenset[str]:
    """The same lines come with every message: what they name is remembered, never who may see it."""
    text = unicodedata.normalize("NFKC", line).upper()
    text = _SPOKEN.sub(lambda found: found[1].translate(_HAN_DIGITS), text)
    known = {_plain(hit) for hit in ids.known.findall(text)} if ids.known else set()
    shaped = {_plain(hit) for hit in _SHAPE.findall(text)}
    numbers = {left or right for left, right in _NUMBER.findall(text)}
    people = {item.upper() for item in ids.names.named(line)}
    spelled = {ids.spelled.get(item, item) for item in known | shaped}
    return frozenset(spelled | (numbers & ids.all) | people)


@lru_cache(maxsize=256)
def _lines(ids: _Ids, text: str) -> tuple[tuple[str, frozenset[str]], ...]:
    """The same for a whole text, such as a weekly report: its lines with what each names."""
    return tuple((line, _named(ids, line)) for line in text.split("\n"))


def _level(line: str) -> int:
    """Of a Markdown heading; 0 for every other line."""
    found = _HEADING.match(line)
    return len(found[1]) if found else 0


def _plain(item: str) -> str:
    return re.sub(r"[\s-]", "", item)


def scope_of(member: Member, reader: Reader | None = None) -> Scope:
    """The reader's scope, from the stored roster (`reader`: what was read for this request already)."""
    if not member.site:
        return Scope(everything=member.is_active, visible=frozenset(), all=frozenset())
    reader = reader or Reader(member.project, member)
    roster = reader.roster
    return Scope(
        everything=False,
        visible=frozenset(item.upper() for item in roster.present),
        all=frozenset(item.upper() for item in roster.ids),
        site=member.site,
        sites=roster.sites | _labels(member.site, reader.sites),
        names=names_of(reader),
    )


def _labels(own: str, sites: Mapping[str, str]) -> frozenset[str]:
    """What people call the other sites: "02 示例医院" and 示例医院.

    What the label of one's own holds too tells no other.
    """
    others = [label for site, label in sites.items() if site != own and _TELLING.search(label)]
    names = {part for label in others for part in (label, *_PLACE_NAME.findall(label))}
    return frozenset(name for name in names if name not in sites.get(own, ""))


def whole(opened: Sequence[Scope]) -> bool:
    """Whether a reader with these scopes sees everything; none at all are a superuser's."""
    return not opened or any(scope.everything for scope in opened)


def visible(text: str, opened: Sequence[Scope]) -> str:
    """The lines that any of the scopes allows."""
    if whole(opened):
        return text
    if len(opened) == 1:
        return opened[0].shown(text)
    lines = text.split("\n")
    seen = zip(*(scope.seen(lines) for scope in opened), strict=True)
    return "\n".join(line for line, by in zip(lines, seen, strict=True) if any(by))


def visible_ids(project: Project, member: Member) -> list[str]:
    """Present subjects of the member's scope, in order."""
    rows = Subject.objects.for_member(member).filter(project=project, is_present=True)
    return list(rows.order_by("record_id").values_list("record_id", flat=True))
