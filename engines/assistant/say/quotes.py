"""What people wrote, as lines, and how it is quoted: documents, weekly reports, memory, the running talk.

A quote is whole, as it stands, with where it stands; of a list that is not whole it says so.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from itertools import groupby
from math import log

from django.utils.translation import gettext as _

from engines.assistant.say.parts import Part
from engines.assistant.say.sheet import Line, Source
from engines.assistant.say.words import bracketed
from study.protocol.terms import terms
from study.protocol.units import Unit

SAME = 0.3
"""Share of an older line's weight (rare terms count more) that a newer one on the same matter has, too."""

# A line of a day begins with it: 2026-03-26: …, 日期:2026-03-26;…
_DATED = re.compile(r"(?:日期\s*[:：]\s*)?(\d{4}-\d\d-\d\d)\s*[:：;；]\s*")
_OPEN, _CLOSE = "(（[《“「", ")）]》”」"
# 10:30 and 1,000 are figures.
_CLAUSES = re.compile(rf"[{re.escape(_OPEN + _CLOSE)}]|[,:](?!\d)|(?<!\d)[,:]|[，：;；。]")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def documents(units: Iterable[Unit]) -> Iterator[Line]:
    """`研究方案 §6.7 SAE报告: …`: a sentence, a list item with what introduces it, or a row; each a line.

    What only introduces a list is no line beside the items of the list.
    """
    given = list(units)
    leads = {unit.lead for unit in given} - {""}
    for unit in given:
        if unit.text in leads:
            continue
        title = unit.title.removeprefix(unit.document).strip() if not unit.number else unit.title
        place = (
            f"{unit.document} §{unit.number}" if unit.number else f"{unit.document} {title}".strip()
        )
        head = f"{place} {title}".strip() if unit.number else place
        yield Line(
            "",
            Source.DOCUMENT,
            f"{head}: {unit.lead}{unit.text}",
            section=place,
            day=_day(unit.text),
            lead=unit.lead,
            listed=unit.listed,
        )


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
        elif said and items and items[-1][0] == title and not _stands_alone(name, said):
            items[-1] = (title, f"{items[-1][1]}; {said}")
        elif said:
            items.append((title, said))
    return [
        Line(
            mark, Source.REPORT, f"{title}: {said}" if title else said, section=name, day=_day(said)
        )
        for mark, (title, said) in zip(_marks_of(name, items), items, strict=True)
        if mark
    ]


def _stands_alone(name: str, said: str) -> bool:
    """Whether this is a line of its own: what has a day, and all that the digest of a year has."""
    return name.startswith("Y") or _day(said) is not None


def _marks_of(name: str, items: Sequence[tuple[str, str]]) -> list[str]:
    """W12a, W12b; of the digest of a year weeks that no study has: W1012 for what it tells of week 12.

    "" for a line that there is no letter for.
    """
    if name.startswith("Y"):
        weeks = (_of_week(said)[0] for _title, said in items)
        stems = [f"W{1000 + week if week else 2000 + int(name[1:])}" for week in weeks]
    else:
        stems = [name] * len(items)
    seen, marks = Counter[str](), list[str]()
    for stem in stems:
        letter = _LETTERS[seen[stem] : seen[stem] + 1]
        marks.append(stem if stems.count(stem) == 1 else letter and stem + letter)
        seen[stem] += 1
    return marks


def _of_week(said: str) -> tuple[int, str]:
    """第 3 周 2026-01-20: … as the digest of a year writes it: the week, 0 for none, and the rest."""
    head, _mark, rest = said.partition(" 周 ")
    number = head.removeprefix("第 ")
    return (int(number), rest) if rest and number.isdecimal() else (0, said)


def memory(text: str, heading: str = "") -> Iterator[Line]:
    """Items of hot memory, or of what the reader told of themselves; `section`: the heading above."""
    for raw in text.splitlines():
        line = raw.strip()
        if line.startswith("#"):
            heading = line.strip("# ")
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
            asked = said


def newest(lines: Sequence[Line]) -> list[Line]:
    """The lines in their order, those that a newer dated one on the same matter has overtaken known as such."""
    words = [frozenset(_matter(line.text)) if line.day else frozenset[str]() for line in lines]
    held = Counter(term for own in words for term in own)
    dated = sum(bool(own) for own in words)
    weight = {term: log((dated + 1) / count) for term, count in held.items()}
    return [
        replace(line, is_newest=not _is_overtaken(at, lines, words, weight))
        for at, line in enumerate(lines)
    ]


def _matter(text: str) -> list[str]:
    """What a line speaks of: its terms, without figures."""
    return [term for term in terms(text) if not any(map(str.isdigit, term))]


def _is_overtaken(
    at: int, lines: Sequence[Line], words: Sequence[frozenset[str]], weight: Mapping[str, float]
) -> bool:
    day, own = lines[at].day, sum(weight[term] for term in words[at])
    return day is not None and any(
        other.day is not None
        and other.day > day
        and sum(weight[term] for term in words[at] & words[later]) >= SAME * own
        for later, other in enumerate(lines)
    )


def _day(text: str) -> date | None:
    found = _DATED.match(_of_week(text)[1])
    try:
        return date.fromisoformat(found[1]) if found else None
    except ValueError:
        return None


# --- quoting --------------------------------------------------------------------------------------


def quoted(lines: Sequence[Line]) -> list[Part]:
    """A sentence for each place that is quoted, in the order of the lines; facts are not quoted."""
    prose = [line for line in lines if line.source is not Source.FACT]
    made: list[Part] = []
    for (source, section, lead), group in groupby(
        prose, key=lambda x: (x.source, x.section, x.lead)
    ):
        own = list(group)
        if source is Source.DOCUMENT:
            made.append(_document(section, lead, own))
        elif source is Source.REPORT:
            made += [_report(section, line) for line in own]
        else:
            head = _("from memory") if source is Source.MEMORY else _("said before")
            items = tuple((_said(line.text.removeprefix("AI: ")),) for line in own)
            made.append(Part(head, items, marks=_marks(own)))
    return made


def _document(section: str, lead: str, lines: Sequence[Line]) -> Part:
    """One rule with what introduces it; items of a list behind what introduces them all, counted."""
    bodies = [line.text.partition(": ")[2] or line.text for line in lines]
    whole = lines[0].listed
    if len(lines) == 1 or not lead or not all(body.startswith(lead) for body in bodies):
        return Part(section, tuple((_said(body),) for body in bodies), marks=_marks(lines))
    items = tuple((_said(body.removeprefix(lead)),) for body in bodies)
    # A list is called by the title of its section, too: §4.2 排除标准.
    head = f"{lines[0].text.partition(': ')[0]}{_said(lead)}"
    return Part(
        head,
        items,
        marks=_marks(lines),
        noun="entry",
        counted=True,
        left_out=max(0, whole - len(items)),
    )


def _report(week: str, line: Line) -> Part:
    """A line of a report with its week and day; a measure, where room is short, by its first clause and …"""
    title, _mark, rest = line.text.partition(": ")
    body = rest if rest and not _DATED.match(line.text) else line.text
    body = _DATED.sub("", body, count=1) if line.day else body
    head = _("weekly report %(week)s") % {"week": week}
    head += bracketed(line.day.isoformat()) if line.day else bracketed(title) if rest else ""
    later = "" if line.is_newest else bracketed(_("decided otherwise later"))
    texts = (body, _first_clause(body)) if line.is_measure else (body,)
    wordings = dict.fromkeys(_said(text) + later for text in texts)
    return Part(head, (tuple(wordings),), marks=(line.mark,))


def _first_clause(text: str) -> str:
    """A text up to its first mark outside brackets that ends a clause, with "…" for the rest."""
    depth = 0
    for hit in _CLAUSES.finditer(text):
        if hit[0] in _OPEN:
            depth += 1
        elif hit[0] in _CLOSE:
            depth -= 1
        elif depth <= 0 and text[: hit.start()].strip() and text[hit.end() :].strip():
            return f"{text[: hit.start()]}…"
    return text


def _said(text: str) -> str:
    return _("“%(text)s”") % {"text": text.strip().rstrip("。;；:：")}


def _marks(lines: Sequence[Line]) -> tuple[str, ...]:
    return tuple(line.mark for line in lines)
