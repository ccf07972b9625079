"""Labels and choices of REDCap's dictionary as people read them on its forms (redcap_dify.md 1.3)."""

from __future__ import annotations

import html
import re
from collections.abc import Container, Iterator

_TAG = re.compile(r"<(/?)([a-z][a-z0-9]*)\b[^<>]*>|<!--.*?-->", re.IGNORECASE | re.DOTALL)
_BREAKS = frozenset(
    {"br", "p", "div", "li", "ul", "ol", "tr", "td", "th", "table", "h1", "h2", "h3", "hr"}
)
_EMBEDDED = re.compile(r"\{([a-z][a-z0-9_]*)(?::icons)?\}")
_PIPED = re.compile(
    r"(?:\[[a-z0-9_-]+\])?\[([a-z][a-z0-9_]*)(?:\([^)\]]*\))?(?::[^\]]*)?\](?:\[[a-z0-9_-]+\])?"
)
_SMART = re.compile(r"\[[a-z]+(?:-[a-z]+)+(?::[^\]]*)?\]")
_HANGING = re.compile(r"(?:[\s:：,，、(（-]|\(\s*\)|（\s*）)+$")
_PADDED = re.compile(r"\s\||\|\s")
_SPLIT = re.compile(r"\s+\|\s*|\|\s+")
_NEXT = re.compile(r"\|(?=[A-Za-z0-9_.\-]{1,20}\s?,)")
_CODE = re.compile(r"[A-Za-z0-9_.<>=+-]{1,20}")
LEFT_OUT = "…"


def readable(text: str) -> str:
    """Without HTML, on one line; a sign that is no tag stays: `<24 h`."""
    bare = _TAG.sub(lambda tag: " " if (tag[2] or "br").lower() in _BREAKS else "", text)
    return " ".join(html.unescape(bare).split())


def label(text: str, fields: Container[str]) -> str:
    """As `readable`, without boxes that are embedded ({field}) and what is piped in ([field], [event-label]).

    What is piped in is a subject's value: … stands for it. Brackets that name none of `fields` are words.
    """
    shown = _EMBEDDED.sub(lambda hit: "" if hit[1] in fields else hit[0], readable(text))
    shown = _PIPED.sub(lambda hit: LEFT_OUT if hit[1] in fields else hit[0], shown)
    shown = _SMART.sub(LEFT_OUT, shown)
    return _HANGING.sub("", " ".join(shown.split())) if shown != readable(text) else shown


def choices(text: str) -> dict[str, str]:
    """`"1, Yes | 2, No, never | 3"` as code -> readable label, in order.

    A label may hold commas and pipes; a choice without comma is its own label.
    """
    found: dict[str, str] = {}
    is_bare = "," not in text
    code = ""
    for part in _parts(text):
        name, comma, told = (one.strip() for one in part.partition(","))
        if found and name and not comma and not is_bare and not _CODE.fullmatch(name):
            found[code] = f"{found[code]} | {readable(name)}"
        elif name:
            code = name
            found[code] = readable(told) or readable(code) or code
    return found


def _parts(text: str) -> Iterator[str]:
    """REDCap writes ` | ` between choices: a bare pipe beside those is a label's, unless a code follows."""
    if not _PADDED.search(text):
        yield from text.split("|")
        return
    for part in _SPLIT.split(text):
        yield from _NEXT.split(part)
