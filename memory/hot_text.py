"""Hot memory's Markdown as a structure and back without loss (seed 002, 3.4: its documented sections)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

RULES = ("系统禁令", "Rules")
PROFILES = ("用户画像", "User Profiles")
FAQ = ("常见问题", "FAQ")
CURRENT = ("当前状态", "Active Context")
_PROFILE = re.compile(r"^##\s+.*\(\s*user_id\s*[:：]\s*([^\s)]+)\s*\)", re.IGNORECASE)


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

    @property
    def kind(self) -> Kind:
        """Which of the documented sections it stands in."""
        return kind_of(self.section)

    @property
    def is_content(self) -> bool:
        """Whether it says something: no heading and not blank."""
        return bool(self.text.strip()) and not self.text.startswith("#")


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
        blocks = [block for section in self.sections for block in section.blocks]
        return {block.user_id: block.lines for block in blocks if block.user_id}


def kind_of(section: str) -> Kind:
    """The documented section that a heading names, in Chinese or English."""
    named = (kind for kind, names in _NAMES.items() if any(name in section for name in names))
    return next(named, Kind.OTHER)


def parse(content: str) -> Document:
    """Any text as a document; unknown sections and blank lines are kept."""
    sections = [Section(None, [Block(None)])]
    for text in content.split("\n"):
        if text.startswith("# "):
            sections.append(Section(text, [Block(None)]))
        elif text.startswith("## "):
            found = _PROFILE.match(text)
            sections[-1].blocks.append(Block(text, found[1].casefold() if found else ""))
        else:
            sections[-1].blocks[-1].lines.append(text)
    return Document(sections)


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
        name = (section.heading or "")[2:].strip()
        if section.heading is not None:
            parsed.append(Line(section.heading, name, ""))
        for block in section.blocks:
            parsed += [Line(text, name, block.user_id) for text in block.text]
    return parsed
