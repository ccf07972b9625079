"""Hot memory's Markdown as a structure and back without loss (seed 002, 3.4: its documented sections)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

RULES = ("系统禁令", "Rules")
PROFILES = ("用户画像", "User Profiles")
FAQ = ("常见问题", "FAQ")
CURRENT = ("当前状态", "Active Context")
_PROFILE = re.compile(r"^##\s+.*[(（]\s*user_id\s*[:：]\s*([^\s)）]+)\s*[)）]", re.IGNORECASE)
_HEADING = re.compile(r"^ {0,3}(#{1,6})(?!#)\s*(.*)")
_TITLE = re.compile(r"^#{1,6}(?:\s|$)")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")


class Kind(StrEnum):
    """The documented sections; OTHER is whatever else a person wrote."""

    PROFILES = "profiles"
    CURRENT = "current"
    FAQ = "faq"
    RULES = "rules"
    OTHER = "other"


_NAMES = {Kind.RULES: RULES, Kind.PROFILES: PROFILES, Kind.FAQ: FAQ, Kind.CURRENT: CURRENT}


@dataclass(frozen=True)
class Line:
    """One line with the section (`#`) and the profile (`##`, a user id) it stands in."""

    text: str
    section: str
    profile: str
    is_heading: bool = False

    @property
    def kind(self) -> Kind:
        """Which of the documented sections it stands in."""
        return kind_of(self.section)

    @property
    def is_content(self) -> bool:
        """Whether it says something: no heading and not blank."""
        return bool(self.text.strip()) and not self.is_heading


@dataclass
class Block:
    """A heading with the lines below it: a part of a section, or a profile (`user_id` set)."""

    heading: str | None
    user_id: str = ""
    lines: list[str] = field(default_factory=list)

    @property
    def text(self) -> list[str]:
        """Heading and lines."""
        return self.lines if self.heading is None else [self.heading, *self.lines]


@dataclass
class Section:
    """A `#` heading (None: text above the first one), what stands below it, and its `##` blocks."""

    heading: str | None
    blocks: list[Block]

    @property
    def kind(self) -> Kind:
        """Which of the documented sections it is."""
        return kind_of(self.heading or "")


@dataclass
class Document:
    """A whole hot memory; `render(parse(text)) == text` for every text."""

    sections: list[Section]

    def block(self, kind: Kind, user_id: str = "") -> Block | None:
        """The first block of a section that new lines go to, or the profile of a user."""
        found = (s for s in self.sections if s.kind is kind)
        for section in found:
            for block in section.blocks:
                if block.user_id == user_id.casefold():
                    return block
        return None

    @property
    def profiles(self) -> dict[str, list[str]]:
        """The lines of every profile by user id."""
        found: dict[str, list[str]] = {}
        for section in self.sections:
            for block in section.blocks:
                if block.user_id:
                    found.setdefault(block.user_id, []).extend(block.lines)
        return found


def kind_of(section: str) -> Kind:
    """The documented section that a heading names, in Chinese or English."""
    said = _plain(section)
    named = (kind for kind, names in _NAMES.items() if any(_plain(name) in said for name in names))
    return next(named, Kind.OTHER)


def _plain(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())


def parse(content: str) -> Document:
    """Any text as a document; unknown sections and blank lines are kept.

    A documented section counts as one however its heading is written (`## 系统禁令`, `#系统禁令`); what stands
    in a code fence is no heading.
    """
    sections = [Section(None, [Block(None)])]
    texts = content.split("\n")
    fenced = _fenced(texts)
    level = 0
    for at, text in enumerate(texts):
        heading = None if at in fenced else _HEADING.match(text)
        if heading and _opens_section(text, heading, sections[-1].kind, level):
            sections.append(Section(text, [Block(None)]))
            level = len(heading[1])
        elif heading and text.startswith("## "):
            found = _PROFILE.match(text)
            sections[-1].blocks.append(Block(text, found[1].casefold() if found else ""))
        else:
            sections[-1].blocks[-1].lines.append(text)
    return Document(sections)


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
    kind = _named(heading[2])
    if kind is Kind.OTHER or _PROFILE.match(text):
        return False
    return kind is Kind.RULES or within is not Kind.RULES or len(heading[1]) <= level


def _named(name: str) -> Kind:
    """The documented section that a heading names and nothing else: `系统禁令 (Rules)`, `3. FAQ`."""
    said = re.sub(r"^[\W\d_]+|[(（].*|[\W_]+$", "", unicodedata.normalize("NFKC", name).strip())
    kinds = (
        kind for kind, names in _NAMES.items() if _plain(said) in (_plain(one) for one in names)
    )
    return next(kinds, Kind.OTHER)


def render(document: Document) -> str:
    """The text of a document."""
    return "\n".join(_texts(document.sections))


def _texts(sections: Sequence[Section]) -> Iterator[str]:
    for section in sections:
        if section.heading is not None:
            yield section.heading
        for block in section.blocks:
            yield from block.text


def lines(content: str) -> list[Line]:
    """The lines in order with their place; joined by newlines they give the content again."""
    parsed = []
    for section in parse(content).sections:
        name = (section.heading or "").strip().lstrip("#").strip()
        if section.heading is not None:
            parsed.append(Line(section.heading, name, "", is_heading=True))
        for block in section.blocks:
            if block.heading is not None:
                parsed.append(Line(block.heading, name, block.user_id, is_heading=True))
            fenced = _fenced(block.lines)
            parsed += [
                Line(text, name, block.user_id, at not in fenced and bool(_TITLE.match(text)))
                for at, text in enumerate(block.lines)
            ]
    return parsed
