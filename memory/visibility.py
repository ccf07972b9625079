"""Which lines of shared text a reader may see (decisions.md, "hot memory and reports name subjects").

A line that names a record outside the reader's scope is left out, as if it did not exist.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property

from projects.models import Member, Project, Subject

# Whatever looks like an id counts for readers with a site, also one the roster does not know.
_SHAPE = re.compile(r"(?<![A-Z0-9])(?:[A-Z]{1,4}-?\d{3,6}|[A-Z]{1,4}-\d{1,3}-\d{1,6})(?![A-Z0-9])")
_NUMBER = re.compile(
    r"(?:受试者|患者|病人|记录|ID|编号|SUBJECT|RECORD)\s*[:：#]?\s*(\d{1,6})(?!\d)|(?<!\d)(\d{1,6})\s*号"
)
_HAN_DIGITS = str.maketrans("零〇一二三四五六七八九", "00123456789")
_SPOKEN = re.compile(r"(?<=[A-Z])\s?([零〇一二三四五六七八九]{2,6})")


@dataclass(frozen=True)
class Scope:
    """Records a reader may see; `everything` for members without a site."""

    everything: bool
    visible: frozenset[str]
    all: frozenset[str]

    def allows(self, line: str) -> bool:
        """Whether every record that the line names is the reader's to see."""
        return self.everything or not (self.named(line) - self.visible)

    def named(self, line: str) -> set[str]:
        """Record ids in a line: known ones in any spelling, and whatever has the shape of one."""
        text = unicodedata.normalize("NFKC", line).upper()
        text = _SPOKEN.sub(lambda found: found[1].translate(_HAN_DIGITS), text)
        known = {_plain(hit) for hit in self._known.findall(text)} if self._known else set()
        shaped = {_plain(hit) for hit in _SHAPE.findall(text)}
        numbers = {left or right for left, right in _NUMBER.findall(text)}
        return {self._names.get(item, item) for item in known | shaped} | (numbers & self.all)

    @cached_property
    def _names(self) -> dict[str, str]:
        return {_plain(item): item for item in self.all}

    @cached_property
    def _known(self) -> re.Pattern[str] | None:
        with_letters = [item for item in self.all if not item.isdigit()]
        words = (r"[\s-]*".join(re.escape(char) for char in _plain(item)) for item in with_letters)
        either = "|".join(sorted(words, key=len, reverse=True))
        return re.compile(rf"(?<![A-Z0-9])(?:{either})(?![A-Z0-9])") if either else None


def _plain(item: str) -> str:
    return re.sub(r"[\s-]", "", item)


def scope_of(member: Member) -> Scope:
    """The reader's scope, from the stored roster."""
    subjects = Subject.objects.filter(project_id=member.project_id)
    if not member.site:
        return Scope(everything=member.is_active, visible=frozenset(), all=frozenset())
    known = frozenset(item.upper() for item in subjects.values_list("record_id", flat=True))
    visible = Subject.objects.for_member(member).filter(is_present=True)
    own = frozenset(item.upper() for item in visible.values_list("record_id", flat=True))
    return Scope(everything=False, visible=own, all=known)


def visible_ids(project: Project, member: Member) -> list[str]:
    """Present subjects of the member's scope, in order."""
    rows = Subject.objects.for_member(member).filter(project=project, is_present=True)
    return list(rows.order_by("record_id").values_list("record_id", flat=True))
