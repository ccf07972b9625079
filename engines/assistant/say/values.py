"""Values of subjects: single ones in one sentence, a series in the order of time, rows of forms that repeat."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.utils.translation import gettext as _

from engines.assistant.say import conditions, words
from engines.assistant.say.parts import UNIT, Part, comma, joined
from engines.assistant.say.reader import Reader
from engines.assistant.say.rows import Row
from study.facts import Fact, Flag

MOST = 6
"""So many facts of a row are told."""
_ISO = re.compile(r"\d{4}(-\d{2}){0,2}")
_YES_NO = ("yesno", "truefalse")


@dataclass(frozen=True)
class Asking:
    """What a question said of values: which rows (`rows` of StudyQuery), what is known from it (`settled`),
    what was asked for by name (`about`), what rows were chosen by (`chosen`)."""

    rows: object = None
    chosen: str = ""
    settled: Collection[str] = ()
    about: Collection[str] = ()

    @property
    def which(self) -> str:
        """最近 3 次, before what it is the latest of; "" for all."""
        if self.rows == "latest":
            return _("latest reading of")
        if self.rows == "first":
            return _("first reading of")
        if isinstance(self.rows, dict) and "latest" in self.rows:
            return _("latest %(count)s readings of") % {"count": self.rows["latest"]}
        if isinstance(self.rows, dict) and "first" in self.rows:
            return _("first %(count)s readings of") % {"count": self.rows["first"]}
        return ""


Marks = Callable[[Iterable[Fact]], tuple[str, ...]]


def word_values(facts: Sequence[Fact], reader: Reader, marks: Marks, asking: Asking) -> list[Part]:
    """A sentence for each subject and series, or one for all where each has one value of the same field."""
    of_all: dict[str, list[Fact]] = {}
    for fact in facts:
        of_all.setdefault(fact.subject, []).append(fact)
    singles = [own[0] for own in of_all.values() if len(own) == 1]
    if len(singles) == len(of_all) > 1 and len({series_key(f) for f in singles}) == 1:
        return [_across(singles, reader, marks)]
    return [part for own in of_all.values() for part in _of_one(own, reader, marks, asking)]


def series_key(fact: Fact) -> tuple[str, str]:
    """What is the same of all readings of one series."""
    return fact.field, fact.label


def _across(facts: Sequence[Fact], reader: Reader, marks: Marks) -> Part:
    """体重:P020 63.1 kg、P023 51.6 kg."""
    places = {"" if f.instance else words.place(f, reader, dated=False) for f in facts}
    where = places.pop() if len(places) == 1 else ""
    items = []
    for fact in facts:
        said = f"{fact.subject} {words.value(fact, reader)}"
        place = "" if where else _place(fact, reader)
        items.append((said + words.bracketed(place, words.beyond(fact)), said))
    head = " ".join(filter(None, [where, words.label(facts[0], reader)]))
    return Part(head, tuple(items), marks=marks(facts), noun="subject")


def _of_one(facts: list[Fact], reader: Reader, marks: Marks, asking: Asking) -> list[Part]:
    found: dict[tuple[str, str], list[Fact]] = {}
    for fact in facts:
        found.setdefault(series_key(fact), []).append(fact)
    once = [own[0] for own in found.values() if len(own) == 1]
    parts = [_sentence(once, reader, marks, asking)] if once else []
    several = [own for own in found.values() if len(own) > 1]
    spots = [[words.place(fact, reader, dated=False) for fact in own] for own in several]
    alike = len(several) > 1 and all(spots[0]) and all(own == spots[0] for own in spots)
    if alike and not any(fact.instance for own in several for fact in own):
        return [*parts, _side_by_side(several, spots[0], reader, marks)]
    return parts + [series(own, reader, marks, asking) for own in several]


def _side_by_side(
    several: Sequence[Sequence[Fact]], places: Sequence[str], reader: Reader, marks: Marks
) -> Part:
    """P016(基线/V2/V3):谷丙转氨酶ALT 31/185↑/28 U/L、谷草转氨酶AST 21/88↑/30 U/L."""
    items = []
    for facts in several:
        units = {fact.unit for fact in facts if not words.is_blank(fact)}
        unit = units.pop() if len(units) == 1 else ""
        said = (words.value(f, reader, bare=bool(unit)) + _arrow(f) for f in facts)
        values = words.with_unit("/".join(said), unit)
        items.append((f"{words.label(facts[0], reader)} {values}",))
    head = several[0][0].subject + words.bracketed("/".join(places))
    # What lies outside its limits tells most, then measurements, days least.
    ranks = [
        (any(map(_arrow, own)), any(isinstance(fact.value, Decimal | int) for fact in own), -at)
        for at, own in enumerate(several)
    ]
    weights = tuple(map(sorted(ranks).index, ranks))
    marked = marks(fact for own in several for fact in own)
    return Part(head, tuple(items), marks=marked, weights=weights)


def _arrow(fact: Fact) -> str:
    return "↑" if Flag.HIGH in fact.flags else "↓" if Flag.LOW in fact.flags else ""


def _sentence(facts: Sequence[Fact], reader: Reader, marks: Marks, asking: Asking) -> Part:
    """P006 身高 165 cm、体重 72.9 kg; the place once where it is the same."""
    places = {_place(fact, reader) for fact in facts}
    if len({(fact.event, fact.instrument, fact.instance) for fact in facts}) == 1:
        # The day of the row is no place of its own.
        places = {max(places, key=len)}
    one = places.pop() if len(places) == 1 else ""
    items = []
    for at, fact in enumerate(facts):
        which = asking.which if _place(fact, reader) else ""
        said = f"{joined(which, words.label(fact, reader))} {words.value(fact, reader)}"
        last = one if at == len(facts) - 1 else ""
        where = last or ("" if one else _place(fact, reader))
        short = words.place(fact, reader, dated=False) if where and fact.instance is None else ""
        brief = said + words.bracketed(short, words.beyond(fact))
        items.append((said + words.bracketed(where, words.beyond(fact)), brief))
    subject = facts[0].subject
    head = joined(subject, asking.chosen) if facts[0].instance is not None else subject
    weights = tuple(len(facts) * bool(_arrow(fact)) - at for at, fact in enumerate(facts))
    key = ("one", subject)
    return Part(head, tuple(items), (), (), marks(facts), weights, glue=" ", key=key)


def _place(fact: Fact, reader: Reader) -> str:
    """Of the one row of a repeating form that is told the number says nothing."""
    return "" if fact.instance is not None else words.place(fact, reader)


def series(facts: Sequence[Fact], reader: Reader, marks: Marks, asking: Asking) -> Part:
    """P016 最近 3 次 ALT:V2 185 U/L(上限 40 的 4.6 倍)、V3 28、V4 19."""
    first, known = facts[0], [fact for fact in facts if not words.is_blank(fact)]
    units = {fact.unit for fact in known if fact.value is not None}
    unit = words.with_unit("", units.pop()) if len(units) == 1 else ""
    once = unit.startswith(" ")
    items = []
    for fact in facts:
        is_number = once and isinstance(fact.value, Decimal | int) and not words.is_blank(fact)
        value = words.value(fact, reader, bare=is_number)
        place = words.place(fact, reader, dated=False)
        day = fact.date or "" if fact.date != fact.value else ""
        said = " ".join(filter(None, [place or day, value + (UNIT if is_number else "")]))
        beyond = words.beyond(fact)
        items.append((said + words.bracketed(beyond), said + _arrow(fact)))
    head = joined(first.subject, asking.which, words.label(first, reader))
    if not known:
        text = f"{head} {_('not filled in')}"
        return Part(text, marks=marks(facts), key=("series", first.subject, *series_key(first)))
    # In little room what lies outside its limits is told first, then the newest.
    weights = tuple(
        place + len(facts) * bool({Flag.HIGH, Flag.LOW} & fact.flags) - words.is_blank(fact) * 99
        for place, fact in enumerate(facts)
    )
    return Part(
        head,
        tuple(items),
        marks=marks(facts),
        weights=weights,
        noun="reading",
        unit=unit if once else "",
        key=("series", first.subject, *series_key(first)),
    )


# --- rows of forms that repeat --------------------------------------------------------------------


def listed(
    rows: Sequence[Row], reader: Reader, marks: Marks, asking: Asking, total: int | None, what: str
) -> Part:
    """P019 合并用药共 2 条:铝碳酸镁片(…)、酮康唑片(…); rows of one subject and form.

    `total`: how many there are, None where that is not proven; `what`: what they were chosen by.
    """
    first = rows[0].first
    form = what or reader.design.metadata.form_label(first.instrument)
    most = max(len(row.facts) for row in rows)
    # In however little room: what was asked for is told of each row that is.
    own = {fact.field for row in rows for fact in row.facts}
    known = {words.naming_field(first.instrument, reader), *asking.settled}
    least = min(1 + len(own & {*asking.about} - known), most)
    levels = range(max(most, least), least - 1, -1)
    items = tuple(tuple(entry(row, reader, asking, n) for n in levels) for row in rows)
    found = {item[0]: item for item in items}
    return Part(
        joined(first.subject, form) if len(rows) > 1 or total is not None else first.subject,
        tuple(found.values()) if len(found) == len(items) else items,
        marks=marks(fact for row in rows for fact in row.facts),
        noun="entry",
        counted=total is not None,
        left_out=max((total or 0) - len(rows), 0),
        glue=" " if len(rows) == 1 and total is None else None,
    )


def entry(row: Row, reader: Reader, asking: Asking, shown: int | None = None) -> str:
    """皮疹(2级,AE开始日期 2026-08-27): the row's name, then the `shown` − 1 most telling of its other facts."""
    naming = words.naming_field(row.first.instrument, reader)
    named = row.of(naming) if naming else None
    if named is not None and words.is_blank(named):
        named = None
    rest = [fact for fact in row.facts if fact is not named and _is_news(fact, asking, reader)]
    rest.sort(key=lambda fact: _rank(fact, asking.about, reader))
    rest = rest[: min(shown or MOST, max(MOST, len(asking.about))) - (1 if named else 0)]
    if named is None:
        details = (detail(fact, reader) for fact in rest if fact.text != row.first.date)
        where = asking.chosen or words.place(row.first, reader)
        return where + words.bracketed(*details) if where else comma().join(details)
    return words.value(named, reader) + words.bracketed(*(detail(f, reader) for f in rest))


def _is_news(fact: Fact, asking: Asking, reader: Reader) -> bool:
    """Whether the question does not say it already; a no is none unless it was asked for."""
    if fact.field in asking.settled:
        return False
    if fact.field in asking.about:
        return True
    row = reader.design.metadata.fields.get(fact.field, {})
    if words.is_blank(fact):
        # No end is said of what goes on; other blanks are no part of what happened.
        return str(row.get("text_validation_type_or_show_slider_number") or "").startswith("date")
    return row.get("field_type") not in _YES_NO or fact.value == "1"


def _rank(fact: Fact, about: Collection[str], reader: Reader) -> int:
    """What was asked by name first, then the row's own day, what was judged, other days; yes and no, and
    blanks, last."""
    if fact.field in about:
        return 0
    if words.is_blank(fact):
        return 5
    if _ISO.fullmatch(fact.text) and not conditions.choices(fact.field, reader):
        return 1 if fact.text == fact.date else 3
    kind = reader.design.metadata.fields.get(fact.field, {}).get("field_type")
    return 4 if kind in _YES_NO else 2


def detail(fact: Fact, reader: Reader) -> str:
    """A choice speaks for itself; a day, a number, yes and no, and a blank need their label."""
    kind = reader.design.metadata.fields.get(fact.field, {}).get("field_type")
    speaks = kind in ("radio", "dropdown", "checkbox") or (kind == "text" and not fact.unit)
    if speaks and not words.is_blank(fact) and not _ISO.fullmatch(fact.text):
        return words.value(fact, reader)
    return f"{words.label(fact, reader)} {words.value(fact, reader)}"
