"""The console's own colours: each that a page, style or script names is there, in both themes."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = [*(ROOT / "static/iit").glob("*.js")]
FILES = [*SCRIPTS, *(ROOT / "static/iit").glob("*.css"), *(ROOT / "templates").rglob("*.html")]
NAME = r"--iit-[a-z0-9-]+"


def test_each_colour_that_is_named_is_there_in_both_themes() -> None:
    text = "\n".join(one.read_text("utf-8") for one in FILES)
    given = {*re.findall(rf"({NAME})\s*:", text)}
    assert {*re.findall(rf"var\(({NAME})", text)} - given == set()
    style = (ROOT / "static/iit/console.css").read_text("utf-8")
    light, dark = (
        {*re.findall(rf"({NAME}):", block)}
        for block in re.findall(r"^(?::root|html\.dark) {(.*?)^}", style, re.M | re.S)
    )
    assert light == dark
    scripts = "\n".join(one.read_text("utf-8") for one in SCRIPTS)
    assert {*re.findall(rf"\"({NAME})\"", scripts)} - light == set()
