"""Which lines of a text a reader may see (decisions.md, "hot memory and reports name subjects").

A line that names a record, its subject by name, or a site outside the reader's scope is left out with what is
indented below it, as if it did not exist. So it is with shared text, and with what the house tells somebody.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

from memory import mentions
from projects.models import Member, Project
from projects.scoping import is_blinded
from study.identities import NOBODY, Names, names_of
from study.models import Subject
from study.request_cache import Reader

_PLACE_NAME = re.compile(r"[\u4e00-\u9fff].+[\u4e00-\u9fff]")
# "01" and "B" stand in every text.
_TELLING = re.compile(r"[\u4e00-\u9fff]{2}|[A-Za-z]{3}")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:\s|$)")


@dataclass(frozen=True)
class Scope:
    """Records a reader may see; `everything` for members without a site.

    `site`: the reader's; `sites`: all of the study's that are known; `names`: what its subjects are called;
    `of_house`: the texts are the house's own, not what people wrote freely (memory.mentions).
    `blinded_since`: reports made before are not for this reader, who is blinded; None for all others.
    """

    everything: bool
    visible: frozenset[str]
    all: frozenset[str]
    site: str = ""
    sites: frozenset[str] = frozenset()
    names: Names = NOBODY
    of_house: bool = False
    blinded_since: datetime | None = None

    def allows(self, line: str) -> bool:
        """Whether every record that the line names is the reader's to see."""
        return self.everything or self.named(line) <= self.visible

    def shown(self, text: str) -> str:
        """A text without the lines about records that are not the reader's to see."""
        lines = text.split("\n")
        seen = self.seen(lines)
        return "\n".join(line for line, is_seen in zip(lines, seen, strict=True) if is_seen)

    def seen(self, lines: Sequence[str]) -> list[bool]:
        """For each line of a text whether the reader sees it.

        What stands indented below a hidden line, or under a hidden heading, goes on about its record.
        """
        if self.everything:
            return [True] * len(lines)
        found = []
        hidden, section = -1, 0
        for line in lines:
            heading = _HEADING.match(line)
            depth, level = len(line) - len(line.lstrip()), len(heading[1]) if heading else 0
            if line.strip() and depth <= hidden:
                hidden = -1
            if 0 < level <= section:
                section = 0
            if hidden < 0 and not section and not self._is_theirs(line):
                hidden, section = depth, level
            found.append(hidden < 0 and not section)
        return found

    def _is_theirs(self, line: str) -> bool:
        """Whether a line names neither another site nor a record of one."""
        away = mentions.other_site(self.site, self.sites, line)
        return not away and self.named(line) <= self.visible

    def named(self, line: str) -> frozenset[str]:
        """Record ids in a line, in any spelling or by name; a number that is nobody's of theirs as it is."""
        if not self.of_house:
            return mentions.named_by_people(self._ids, line)
        ids, numbers = mentions.named_by_house(self._ids, line)
        return ids | (numbers - self._tails)

    @cached_property
    def _ids(self) -> mentions.Ids:
        return mentions.ids_of(self.all, self.names)

    @cached_property
    def _tails(self) -> frozenset[str]:
        return frozenset(map(mentions.tail, self.visible))


def told_to(member: Member, text: str) -> str:
    """What the house tells a member, without the lines that are not theirs to read; blank where none is left.

    A record that does not exist reads as one of another site. Subjects that REDCap has no more stay theirs.
    """
    if not (member.is_active and member.site):
        return text if member.is_active else ""
    reader = Reader(member.project, member)
    mine = frozenset(item.upper() for item in reader.roster.mine)
    shown = replace(scope_of(member, reader), visible=mine, of_house=True).shown(text)
    return shown if shown.strip() or not text.strip() else ""


def concerns(member: Member, text: str) -> bool:
    """Whether anything of what the house tells is for them: a line about a subject of theirs, or about nobody.

    A line that ends in a colon only announces the lines below it. Who is of no site is told of all.
    """
    if not (member.is_active and member.site):
        return member.is_active
    reader = Reader(member.project, member)
    named = replace(scope_of(member, reader), of_house=True).named(text)
    known = {item.upper() for item in reader.roster.ids}
    mine = {item.upper() for item in reader.roster.mine}
    if not (named & known) or named & mine:
        return True
    left = (line.strip() for line in told_to(member, text).split("\n"))
    return any(line and not line.endswith((":", "：")) for line in left)


def may_know(member: Member, record_id: str) -> bool:
    """Whether a message about this subject, or about none (""), is for them."""
    subjects = Subject.objects.filter(record_id=record_id).for_member(member)
    return subjects.exists() if record_id else member.is_active


def scope_of(member: Member, reader: Reader | None = None) -> Scope:
    """The reader's scope, from the stored roster (`reader`: what was read for this request already)."""
    since = member.project.blinded_since if is_blinded(member) else None
    if not member.site:
        nobody: frozenset[str] = frozenset()
        return Scope(member.is_active, visible=nobody, all=nobody, blinded_since=since)
    reader = reader or Reader(member.project, member)
    roster = reader.roster
    return Scope(
        everything=False,
        visible=frozenset(item.upper() for item in roster.present),
        all=frozenset(item.upper() for item in roster.ids),
        site=member.site,
        sites=roster.sites | _labels(member.site, reader.sites),
        names=names_of(reader),
        blinded_since=since,
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
    lines = text.split("\n")
    seen = zip(*(scope.seen(lines) for scope in opened), strict=True)
    return "\n".join(line for line, by in zip(lines, seen, strict=True) if any(by))


def visible_ids(project: Project, member: Member) -> list[str]:
    """Present subjects of the member's scope, in order."""
    rows = Subject.objects.for_member(member).filter(project=project, is_present=True)
    return list(rows.order_by("record_id").values_list("record_id", flat=True))
