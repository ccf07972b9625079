"""Changing single lines of a hot memory; every other line stays as it is."""

from __future__ import annotations

from memory.hot.text import (
    CURRENT,
    FAQ,
    PROFILES,
    RULES,
    Block,
    Document,
    Kind,
    Line,
    Section,
    render,
)
from memory.hot.text import parse as parsed

_HEADINGS = {
    Kind.PROFILES: PROFILES,
    Kind.CURRENT: CURRENT,
    Kind.FAQ: FAQ,
    Kind.RULES: RULES,
}


class LineGone(LookupError):
    """The line that was to be changed does not stand there any more."""


def add(content: str, *, kind: Kind, line: str, user_id: str = "", name: str = "") -> str:
    """The text with `line` at the end of its section or profile, which is made where it is missing."""
    document = parsed(content)
    block = document.block(kind, user_id) or _made(document, kind, user_id, name or user_id)
    _append(block, line)
    return render(document)


def _append(block: Block, line: str) -> None:
    """Behind its last line, before the blank ones."""
    at = len(block.lines)
    while at and not block.lines[at - 1].strip():
        at -= 1
    block.lines.insert(at, line)


def _made(document: Document, kind: Kind, user_id: str, name: str) -> Block:
    section = next((s for s in document.sections if s.kind is kind), None)
    if section is None:
        chinese, english = _HEADINGS.get(kind, _HEADINGS[Kind.CURRENT])
        section = Section(f"# {chinese} ({english})", [Block(None)])
        document.sections.append(section)
    if not user_id:
        return section.blocks[0]
    block = Block(f"## {name} (user_id: {user_id})", user_id.casefold())
    section.blocks.append(block)
    return block


def put_back(content: str, line: Line, *, name: str = "") -> str:
    """The text with a removed line where it stood: its section by its heading, else one of its kind."""
    document = parsed(content)
    for section in document.sections:
        heading = (section.heading or "").strip().lstrip("#").strip()
        for block in section.blocks:
            if heading == line.section and block.user_id == line.profile:
                _append(block, line.text)
                return render(document)
    return add(content, kind=line.kind, line=line.text, user_id=line.profile, name=name)


def remove(content: str, *, line: str, kind: Kind, user_id: str = "") -> str:
    """The text without the first such line of a section or profile. Raises LineGone."""
    return _replaced(content, line, [], kind, user_id)


def change(content: str, *, old: str, new: str, kind: Kind, user_id: str = "") -> str:
    """The text with `new` where `old` stood. Raises LineGone."""
    return _replaced(content, old, [new], kind, user_id)


def _replaced(content: str, old: str, new: list[str], kind: Kind, user_id: str) -> str:
    document = parsed(content)
    for section in document.sections:
        for block in section.blocks:
            in_place = section.kind is kind and block.user_id == user_id.casefold()
            if in_place and old in block.lines:
                at = block.lines.index(old)
                block.lines[at : at + 1] = new
                return render(document)
    raise LineGone(old)
