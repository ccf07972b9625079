"""Repeating forms (adverse events, medication): every instance, counted, as facts and in few words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from django.utils.translation import gettext as _

from engines.tools.fields import occurs
from engines.tools.reading import Pair, Reading, named_by
from engines.tools.results import Entry, Fact, Flag, Group
from integrations.redcap import Row
from projects.metadata import StudyMetadata

COUNT = "count:"
_BRACKETS = re.compile(r"[(（][^)）]*[)）]")
_ASKS = re.compile(r"^是否(?:存在|有)?")
_DAY = re.compile(r"\d{4}-\d{2}(?:-\d{2})?$")
_LATIN = re.compile(r"[A-Za-z]{2,}")
_YES_NO = ("yesno", "truefalse")
# A choice that says nothing without its question.
_VAGUE = re.compile(r"其他|未知|不详|不适用|未做|unknown|other|yes|no|是|否", re.IGNORECASE)


def groups_of(reading: Reading, wanted: Collection[str]) -> list[Group]:
    """The instances of every repeating form that something was asked of, where there are any."""
    found = []
    for form, naming in named_by(reading.context.metadata).items():
        fields = reading.names.form_fields(form)
        asked = [name for name in fields if name in wanted]
        own = [pair for pair in reading.by_row if pair[0].get("redcap_repeat_instrument") == form]
        if asked and own:
            flags = _named_flags(reading, fields)
            columns = [n for n in fields if n in (*asked, *flags) and n != naming]
            whole = set(fields) <= set(wanted)
            found.append(_group(reading, form, naming, columns, own, whole=whole))
    return found


def _group(
    reading: Reading,
    form: str,
    naming: str,
    columns: Sequence[str],
    rows: Sequence[tuple[Row, list[Pair]]],
    *,
    whole: bool,
) -> Group:
    metadata = reading.context.metadata
    return Group(
        reading.data.record_id,
        form,
        metadata.form_label(form),
        tuple(_entry(reading, row, pairs, naming, columns) for row, pairs in rows),
        columns=tuple((name, _short(metadata, form, name)) for name in columns),
        whole=whole,
        flags=tuple(_flags(reading, [row for row, _pairs in rows], columns)),
    )


def _entry(
    reading: Reading, row: Row, pairs: Sequence[Pair], naming: str, columns: Sequence[str]
) -> Entry:
    facts = tuple(
        reading.fact(place, value)
        for place, value in pairs
        if value.field in columns or value.field == naming
    )
    called = next((fact.value for fact in facts if fact.field == naming), "")
    event = reading.context.metadata.event_label(str(row.get("redcap_event_name", "")))
    return Entry(int(row.get("redcap_repeat_instance") or 1), called, facts, event)


def _named_flags(reading: Reading, fields: Sequence[str]) -> list[str]:
    """The yes-or-no fields that the question names: SAE of `是否严重不良事件（SAE）`."""
    metadata, text = reading.context.metadata, reading.context.question.casefold()
    found = []
    for name in fields:
        field = metadata.fields[name]
        label = metadata.label(name)
        words = {_core(label).casefold(), *(w.casefold() for w in _LATIN.findall(label))}
        if field["field_type"] in _YES_NO and any(
            occurs(word, text) for word in words - {str(field["form_name"])}
        ):
            found.append(name)
    return found


def _flags(reading: Reading, rows: Sequence[Row], fields: Sequence[str]) -> Iterator[Flag]:
    """How many instances say yes to what the question names."""
    for name in _named_flags(reading, fields):
        said = sum(str(row.get(name, "")).strip() == "1" for row in rows)
        yield Flag(name, _core(reading.context.metadata.label(name)), said)


def counted(group: Group) -> Fact:
    """How many instances there are, as a fact."""
    names = (group.label, "条数")
    return Fact(group.record_id, f"{COUNT}{group.form}", names, str(len(group.entries)))


def _core(label: str) -> str:
    return _ASKS.sub("", _BRACKETS.sub("", label)).strip() or label


def _short(metadata: StudyMetadata, form: str, name: str) -> str:
    """What a column is called beside the name of its form: 开始 of `AE开始日期`."""
    core = _core(metadata.label(name))
    short = re.sub(rf"^{re.escape(form)}(?=[^A-Za-z0-9])", "", core, flags=re.IGNORECASE)
    return short.removesuffix("日期") or core


def told(groups: Sequence[Group], limit: int) -> str:
    """All instances with as many columns as have room, coded ones first; what is left out is said."""
    facts = [fact for group in groups for entry in group.entries for fact in entry.facts]
    coded = {fact.field for fact in facts if fact.others}
    filled = Counter(fact.field for fact in facts)
    columns = dict.fromkeys(name for group in groups for name, _label in group.columns)
    ranked = sorted(columns, key=lambda name: (name not in coded, -filled[name]))
    for most in range(len(ranked), -1, -1):
        shown = set(ranked[:most])
        left = _("(other fields are in REDCap)") if most < len(ranked) else ""
        text = "\n".join(_told(group, shown, len(group.entries)) for group in groups) + left
        if len(text) <= limit:
            return text
    return _shortest(groups, limit)


def _shortest(groups: Sequence[Group], limit: int) -> str:
    """Names only, of as many instances as have room, in turn; the counts stay."""
    note = _("(not all are listed)")
    shown = [0] * len(groups)
    best = _listed(groups, shown) + note
    for turn in range(max(len(group.entries) for group in groups)):
        for at, group in enumerate(groups):
            more = [*shown[:at], min(turn + 1, len(group.entries)), *shown[at + 1 :]]
            text = _listed(groups, more) + note
            if len(text) <= limit:
                best, shown = text, more
    return best


def _listed(groups: Sequence[Group], shown: Sequence[int]) -> str:
    pairs = zip(groups, shown, strict=True)
    return "\n".join(_told(group, frozenset(), number) for group, number in pairs)


def _head(group: Group) -> str:
    head = _("%(subject)s %(form)s: %(number)d in all") % {
        "subject": group.record_id,
        "form": group.label,
        "number": len(group.entries),
    }
    parts = [
        _("%(what)s: %(number)d") % {"what": flag.label, "number": flag.number}
        for flag in group.flags
    ]
    return ", ".join([head, *parts]) if parts else head


def _told(group: Group, shown: Collection[str], most: int) -> str:
    places = {entry.where for entry in group.entries}
    pieces = [_piece(group, entry, shown, len(places) > 1) for entry in group.entries[:most]]
    return f"{_head(group)}:{';'.join(pieces)}" if pieces else _head(group)


def _denies(group: Group, facts: Mapping[str, Fact]) -> bool:
    """Whether an instance is none of those that the question names: its blanks mean nothing."""
    said = (facts[flag.field].value for flag in group.flags if flag.field in facts)
    return any(value == _("No") for value in said)


def _piece(group: Group, entry: Entry, shown: Collection[str], placed: bool) -> str:
    by_field = {fact.field: fact for fact in entry.facts}
    parts = []
    for name, label in group.columns:
        if name not in shown:
            continue
        fact = by_field.get(name)
        if fact:
            bare = bool(fact.others) and not _VAGUE.match(fact.value)
            parts.append(
                fact.value
                if bare
                else f"{label}{'' if _DAY.match(fact.value) else ':'}{fact.value}"
            )
        elif not group.whole and not _denies(group, by_field):
            parts.append(_("%(label)s is not filled in") % {"label": label})
    place = f"{entry.where.split(' ')[0]} " if placed else ""
    name = entry.name or _("(name not filled in)")
    return ",".join([f"{place}#{entry.number} {name}", *parts])
