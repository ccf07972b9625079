"""Templates keep the layers as imports do: an app names no template and no tags of one that stands above it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RANKS = {
    "core": 0,
    "projects": 1,
    "study": 2,
    "skills": 3,
    "memory": 3,
    "engines": 4,
    "wechat": 5,
    "iit_manager": 6,
}


def libraries() -> dict[str, str]:
    """Tag libraries with their apps."""
    found = [one for app in RANKS for one in (ROOT / app).rglob("templatetags/*.py")]
    return {one.stem: one.relative_to(ROOT).parts[0] for one in found}


def named() -> Iterator[tuple[Path, str, str]]:
    """(file, its app, the app of what it names)."""
    tags = libraries()
    for file in (ROOT / "templates").rglob("*.html"):
        own, text = file.relative_to(ROOT / "templates").parts[0], file.read_text("utf-8")
        loaded = " ".join(re.findall(r"{%-?\s*load ([^%]*)%}", text)).split()
        named = re.findall(r"{%-?\s*(?:extends|include) [\"'](\w+)/", text)
        for other in [*named, *(tags[one] for one in loaded if one in tags)]:
            yield file, own, other
    for app in RANKS:
        for file in (ROOT / app).rglob("*.py"):
            for other in re.findall(r"\"(\w+)/[\w/]+\.html\"", file.read_text("utf-8")):
                yield file, app, other


def test_no_template_is_named_from_below() -> None:
    found = [(file, RANKS[own], RANKS[to]) for file, own, to in named() if {own, to} <= {*RANKS}]
    assert len(found) > 50
    assert [str(file.relative_to(ROOT)) for file, own, to in found if own < to] == []
