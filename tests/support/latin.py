"""The Latin words that a Chinese page shows of its own: what people typed, codes and proper names are none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser

# What one reads as code or as a stored value, types oneself, or does not see.
UNREAD_TAGS = {"script", "style", "code", "pre", "textarea", "template", "kbd", "noscript"}
UNREAD_CLASSES = {"iit-code-word", "iit-json", "iit-stored", "material-symbols-outlined"}
SAID_TOO = ("title", "aria-label", "placeholder", "alt")
_BUTTONS = {"submit", "button", "reset"}
_VOID = {
    "area",
    "base",
    "br",
    "col",
    "hr",
    "img",
    "input",
    "link",
    "meta",
    "source",
    "track",
    "wbr",
}
# Keys, digests, addresses, e-mail, ids of subjects and rules, names of time zones, places of a canary.
_NO_WORD = re.compile(
    r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b(?=[a-f]*\d)[0-9a-f]{6,}\b…?"
    r"|https?://\S+|\S+@\S+|\b[A-Z]{1,4}-?\d+\b|\b[A-Z]\w+/[A-Z]\w+\b|\bv\d+\b"
    r"|\bQZ[A-Z]+\d*(?: \w+\.\w+)?(?: \d+)?"
)
_WORD = re.compile(r"[A-Za-zÀ-ž][A-Za-zÀ-ž0-9_'’:./-]*[A-Za-zÀ-ž0-9]")


class _Page(HTMLParser):
    """What a page shows, piece by piece; `in_choice`: of an option, which cannot mark a code as one."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[tuple[str, bool]] = []
        self._open: list[tuple[str, bool]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        unread = tag in UNREAD_TAGS or bool(UNREAD_CLASSES & {*given.get("class", "").split()})
        if not (unread or self._is_unread):
            said = [given[name] for name in SAID_TOO if given.get(name)]
            if tag == "input" and given.get("type") in _BUTTONS:
                said.append(given.get("value", ""))
            self.pieces += [(text, False) for text in said]
        if tag not in _VOID:
            self._open.append((tag, unread))

    def handle_endtag(self, tag: str) -> None:
        if any(name == tag for name, _unread in self._open):
            while self._open.pop()[0] != tag:
                pass

    def handle_data(self, data: str) -> None:
        if data.strip() and not self._is_unread:
            self.pieces.append((data, any(name == "option" for name, _unread in self._open)))

    @property
    def _is_unread(self) -> bool:
        return any(unread for _name, unread in self._open)


def shown(html: str) -> Iterator[tuple[str, bool]]:
    """The texts of a page with whether they stand in a choice."""
    page = _Page()
    page.feed(html)
    yield from page.pieces


def without_codes(text: str) -> str:
    """The text without keys, digests, addresses, ids and the like."""
    return _NO_WORD.sub(" ", text)


def words(text: str) -> list[str]:
    """The Latin words of a text."""
    return _WORD.findall(text)
