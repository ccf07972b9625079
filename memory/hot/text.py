"""Hot memory's Markdown: lines with their place, and changes of single lines (seed 002, 3.4).

The lines joined by newlines are the text again, whatever it is; a change leaves every other line as it is.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

_PROFILE = re.compile(r"^##\s+.*[(（]\s*user_id\s*[:：]\s*([^\s)）]+)\s*[)）]", re.IGNORECASE)
_HEADING = re.compile(r"^ {0,3}(#{1,6})(?!#)\s*(.*)")
_TITLE = re.compile(r"^#{1,6}(?:\s|$)")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")


class LineGone(LookupError):
    """The line that was to be changed does not stand there any more."""


class MemoryTooLarge(ValueError):
    """A section is larger than every prompt could carry."""


class Kind(StrEnum):
    """The documented sections; OTHER is whatever else a person wrote."""

    PROFILES = "profiles"
    CURRENT = "current"
    FAQ = "faq"
    RULES = "rules"
    OTHER = "other"


NAMES = {
    Kind.PROFILES: ("用户画像", "User Profiles"),
    Kind.CURRENT: ("当前状态", "Active Context"),
    Kind.FAQ: ("常见问题", "FAQ"),
    Kind.RULES: ("系统禁令", "Rules"),
}
HEADINGS = {str(kind): f"{chinese} ({english})" for kind, (chinese, english) in NAMES.items()}


@dataclass(frozen=True)
class Line:
    """One line with the section (`#`) and the profile (`##`, a user id) it stands in.

    `part`: the number of the heading above it that opened a section, a profile or another `##` part.
    """

    text: str
    section: str
    profile: str
    is_heading: bool = False
    part: int = 0

    @property
    def kind(self) -> Kind:
        """Which of the documented sections it stands in."""
        return kind_of(self.section)

    @property
    def is_content(self) -> bool:
        """Whether it says something: no heading and not blank."""
        return bool(self.text.strip()) and not self.is_heading

    def is_at(self, kind: Kind, profile: str) -> bool:
        """Whether it says something in this section and profile."""
        return self.is_content and self.kind is kind and self.profile == profile.casefold()


def kind_of(section: str) -> Kind:
    """The documented section that a heading names, in Chinese or English."""
    said = _plain(section)
    named = (kind for kind, names in NAMES.items() if any(_plain(name) in said for name in names))
    return next(named, Kind.OTHER)


def _plain(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())


def lines(content: str) -> list[Line]:
    """The lines in order with their place; unknown sections and blank lines are kept.

    A documented section counts as one however its heading is written (`## 系统禁令`, `#系统禁令`); what stands
    in a code fence is no heading.
    """
    found: list[Line] = []
    texts = content.split("\n")
    fenced = _fenced(texts)
    section = profile = ""
    level = part = 0
    for at, text in enumerate(texts):
        heading = None if at in fenced else _HEADING.match(text)
        if heading and _opens_section(text, heading, kind_of(section), level):
            section, profile = text.strip().lstrip("#").strip(), ""
            level, part = len(heading[1]), part + 1
        elif heading and text.startswith("## "):
            named = _PROFILE.match(text)
            profile, part = named[1].casefold() if named else "", part + 1
        else:
            is_title = at not in fenced and bool(_TITLE.match(text))
            found.append(Line(text, section, profile, is_title, part))
            continue
        found.append(Line(text, section, profile, True, part))
    return found


def _fenced(texts: Sequence[str]) -> frozenset[int]:
    """The lines of code fences; one that is never closed is none, or it would swallow the rules."""
    inside: set[int] = set()
    opened: tuple[int, str] | None = None
    for at, text in enumerate(texts):
        mark = _FENCE.match(text)
        if opened is None:
            opened = (at, mark[1]) if mark else None
        elif mark and mark[1].startswith(opened[1]) and not text.strip().strip(mark[1][0]):
            inside.update(range(opened[0], at + 1))
            opened = None
    return frozenset(inside)


def _opens_section(text: str, heading: re.Match[str], within: Kind, level: int) -> bool:
    """A `#` heading does; another one where it names a documented section, but not to cut the rules short."""
    if text.startswith("# "):
        return True
    name = unicodedata.normalize("NFKC", heading[2]).strip()
    said = _plain(re.sub(r"^[\W\d_]+|[(（].*|[\W_]+$", "", name))
    kinds = (kind for kind, names in NAMES.items() if said in map(_plain, names))
    kind = next(kinds, Kind.OTHER)
    if kind is Kind.OTHER or _PROFILE.match(text):
        return False
    return kind is Kind.RULES or within is not Kind.RULES or len(heading[1]) <= level


def profiles(content: str) -> dict[str, list[str]]:
    """The lines of every profile by user id."""
    found: dict[str, list[str]] = {}
    for line in lines(content):
        if line.profile:
            below = found.setdefault(line.profile, [])
            below += [] if _PROFILE.match(line.text) else [line.text]
    return found


def add_line(content: str, *, kind: Kind, line: str, user_id: str = "", name: str = "") -> str:
    """The text with `line` at the end of its section or profile, which is made where it is missing."""
    there, profile = lines(content), user_id.casefold()
    part = next((one.part for one in there if one.kind is kind and one.profile == profile), None)
    # Above the first heading nothing is of a documented section.
    if part is not None:
        return _inserted(there, part, line)
    new = [f"## {name or user_id} (user_id: {user_id})", line] if user_id else [line]
    mine = [at for at, one in enumerate(there) if one.kind is kind]
    if not mine:
        heading = f"# {HEADINGS.get(kind, HEADINGS[Kind.CURRENT])}"
        return "\n".join([*(one.text for one in there), heading, *new])
    first = there[mine[0]].section
    end = next((at for at in range(mine[0], len(there)) if there[at].section != first), len(there))
    texts = [one.text for one in there]
    return "\n".join([*texts[:end], *new, *texts[end:]])


def _inserted(there: Sequence[Line], part: int, line: str) -> str:
    """The text with a line at the end of a part, before its blank lines."""
    texts = [one.text for one in there]
    places = [at for at, one in enumerate(there) if one.part == part]
    at = places[-1] + 1
    while at > places[0] and not texts[at - 1].strip():
        at -= 1
    return "\n".join([*texts[:at], line, *texts[at:]])


def put_back(content: str, line: Line, *, name: str = "") -> str:
    """The text with a removed line where it stood: its section by its heading, else one of its kind."""
    there = lines(content)
    for one in there:
        if one.section == line.section and one.profile == line.profile:
            return _inserted(there, one.part, line.text)
    return add_line(content, kind=line.kind, line=line.text, user_id=line.profile, name=name)


def remove_line(content: str, *, line: str, kind: Kind, user_id: str = "") -> str:
    """The text without the first such line of a section or profile. Raises LineGone."""
    return _replaced(content, line, [], kind, user_id)


def change_line(content: str, *, old: str, new: str, kind: Kind, user_id: str = "") -> str:
    """The text with `new` where `old` stood. Raises LineGone."""
    return _replaced(content, old, [new], kind, user_id)


def _replaced(content: str, old: str, new: list[str], kind: Kind, user_id: str) -> str:
    texts = content.split("\n")
    for at, line in enumerate(lines(content)):
        if line.text == old and line.kind is kind and line.profile == user_id.casefold():
            return "\n".join([*texts[:at], *new, *texts[at + 1 :]])
    raise LineGone(old)
