"""What people wrote, as lines: documents, weekly reports, memory, the running talk."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from itertools import groupby

from engines.assistant.lines.types import Line, Source
from study.protocol.excerpts import Unit

SHORT_LIST = 400
"""Characters up to which a list is one line: its items are read together."""

# A line of a day begins with it: 2026-03-26: …, 日期:2026-03-26;…
_DATED = re.compile(r"(?:日期\s*[:：]\s*)?(\d{4}-\d\d-\d\d)\s*[:：;；]")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def documents(units: Iterable[Unit]) -> Iterator[Line]:
    """`方案 §6.7 SAE报告: …`: a sentence, a list item with what introduces it, a row; a short list whole."""
    given = list(units)
    leads = {unit.lead for unit in given} - {""}
    told = (unit for unit in given if unit.text not in leads)
    for _key, group in groupby(told, key=lambda unit: (unit.document, unit.section, unit.lead)):
        own = list(group)
        listed = f"{own[0].lead}{' '.join(unit.text for unit in own)}"
        short = bool(own[0].lead) and len(listed) <= SHORT_LIST
        texts = [listed] if short else [f"{unit.lead}{unit.text}" for unit in own]
        section = f"§{own[0].number}" if own[0].number else own[0].title
        place = " ".join(filter(None, [section, own[0].title if own[0].number else ""]))
        head = f"{own[0].document} {place}".strip()
        for text in texts:
            yield Line("", Source.DOCUMENT, f"{head}: {text}", section=section, day=_day(text))


def reports(pages: Mapping[str, str]) -> Iterator[Line]:
    """Name of a week (W12) → its report: `[W12a] 关键决策: 2026-03-26: …`; each decision a line, what has no
    day of its own a line for each part of the report."""
    for name, text in pages.items():
        yield from _week(name, text)


def _week(name: str, text: str) -> list[Line]:
    items, title = list[tuple[str, str]](), ""
    for raw in text.splitlines():
        line = raw.strip()
        said = line.lstrip("-* ")
        if line.startswith("#"):
            title = line.strip("# ")
        elif said and items and items[-1][0] == title and not _day(said):
            items[-1] = (title, f"{items[-1][1]}; {said}")
        elif said:
            items.append((title, said))
    # The digest of a year (Y1) is marked like a week that no study reaches.
    first = f"W{1000 + int(name[1:])}" if name.startswith("Y") else name
    marks = [f"{first}{letter}" for letter in _LETTERS] if len(items) > 1 else [first]
    return [
        Line(
            mark,
            Source.REPORT,
            f"{title}: {said}" if title else said,
            section=name,
            day=_day(said),
        )
        for mark, (title, said) in zip(marks, items, strict=False)
    ]


def _day(text: str) -> date | None:
    found = _DATED.match(text)
    return date.fromisoformat(found[1]) if found else None


def memory(text: str, heading: str = "") -> Iterator[Line]:
    """Items of hot memory, or of what the reader told of themselves; `section`: the heading above."""
    for raw in text.splitlines():
        line = raw.strip()
        if line.startswith("#"):
            heading = line
        elif line.strip("-* "):
            yield Line("", Source.MEMORY, line.lstrip("-* ").replace("**", ""), section=heading)


def session(messages: Sequence[Mapping[str, str]]) -> Iterator[Line]:
    """The rounds of the talk: what was answered is a source; `section`: what was asked, which is none."""
    asked = ""
    for message in messages:
        said = " ".join(message["content"].split())
        if message["role"] == "assistant":
            yield Line("", Source.SESSION, f"AI: {said}", section=asked)
        else:
            asked = f"用户: {said}"


def today(day: date) -> Line:
    """The day that 今天, 明天 and 还有几天 count from."""
    name = "一二三四五六日"[day.weekday()]
    return replace(Line("", Source.FACT, f"今天是 {day.isoformat()} (星期{name})"), day=day)
