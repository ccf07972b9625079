"""Figures by group: 男 15 例、女 12 例."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from decimal import Decimal

from django.utils.translation import gettext as _

from engines.assistant.answer import conditions, words
from engines.assistant.answer.counts import period, places
from engines.assistant.answer.fitting import Told, colon
from engines.assistant.answer.reader import Reader
from engines.assistant.understand.types import Asked
from study.facts import Answer, Fact, Group, plain


def told(asked: Asked, answer: Answer, reader: Reader) -> list[Told]:
    """One short line in the order of the groups."""
    pairs = list(zip(answer.groups, answer.facts, strict=True))
    entries = tuple(
        f"{_name(asked, group, fact, reader)} {_figure(asked, group, fact, reader)}"
        for group, fact in pairs
    ) + _without(asked, answer, reader)
    what = conditions.described(asked, reader)
    if asked.slots.aggregate not in ("", "count", "share") and answer.facts:
        what = words.label(answer.facts[0], reader)
    when = "" if _tells_days(asked) else period(asked)
    what = " ".join(filter(None, [when, places(asked, reader), what]))
    head = what + colon() if what else ""
    notes = _apart(asked, answer, reader)
    # Of the groups in their order only the first were asked for: the others are not left out.
    left_out = 0 if asked.slots.order else answer.left_out
    line = Told(head, entries or (_("nothing to count"),), notes, left_out=left_out)
    if not _tells_days(asked):
        return [line]
    filled = [e for e, (group, _fact) in zip(entries, pairs, strict=True) if group.rows]
    if not filled:
        return [line]
    notes = (_("none in the others"),) if len(filled) < len(entries) else ()
    # Of periods the newest tell most.
    newest = tuple(range(len(filled)))
    brief = Told(head, tuple(filled), notes, left_out=left_out, weights=newest)
    return [replace(line, shorter=brief, weights=tuple(range(len(entries))))]


def _tells_days(asked: Asked) -> bool:
    """Whether the groups are periods themselves."""
    return any(key.startswith(("month:", "week:", "quarter:")) for key in asked.slots.by)


def _apart(asked: Asked, answer: Answer, reader: Reader) -> tuple[str, ...]:
    """男的平均体重比女的重多少: how far two groups lie apart, where that is asked."""
    values = [plain(group.value) for group in answer.groups if group.value is not None]
    if asked.slots.aspect != "difference" or len(values) != 2 or asked.slots.aggregate == "share":
        return ()
    apart = abs(Decimal(str(values[0])) - Decimal(str(values[1])))
    told = words.with_unit(words.rounded(apart, 1), answer.facts[0].unit)
    return (_("apart by %(value)s") % {"value": told},)


def _without(asked: Asked, answer: Answer, reader: Reader) -> tuple[str, ...]:
    """Sites that were asked for, or all that the reader may see, in which nothing is counted."""
    if asked.slots.by != ("@site",) or asked.slots.aggregate not in ("", "count"):
        return ()
    there = {str(group.by[0]) for group in answer.groups}
    codes = [code for code in asked.slots.site or reader.sites if code not in there]
    return tuple(f"{words.site_name(code, reader)} {words.people(0)}" for code in codes)


def tally(_asked: Asked, answer: Answer, reader: Reader) -> list[Told]:
    """腹泻 4 条、乏力 4 条: what free text calls the rows, the commonest first, as it is written."""
    rows = Counter(words.value(fact, reader) for fact in answer.facts if not words.is_blank(fact))
    entries = tuple(
        f"{name} " + _("%(count)s entries") % {"count": number}
        for name, number in rows.most_common()
    )
    return [Told("", entries or (_("nothing to count"),), left_out=answer.left_out)]


def _name(asked: Asked, group: Group, fact: Fact, reader: Reader) -> str:
    """The labels of a group; the fact has them behind what is measured."""
    labels = fact.label.split(" · ")[-len(group.by) :]
    return " ".join(
        _("not filled in")
        if code is None
        else words.site_name(str(code), reader)
        if key == "@site"
        else words.event_name(str(code), reader)
        if key == "event"
        else label
        for key, code, label in zip(asked.slots.by, group.by, labels, strict=True)
    )


def _figure(asked: Asked, group: Group, fact: Fact, reader: Reader) -> str:
    if asked.slots.aggregate not in ("", "count"):
        told = words.value(fact, reader) if group.value is not None else _("no value")
        if asked.slots.aggregate == "share" and isinstance(fact.value, Decimal | int):
            told = f"{words.rounded(Decimal(fact.value) * 100, 1)}%"
        return told + words.bracketed(words.people(group.count))
    if "@subject" in asked.slots.by or group.rows != group.count:
        rows = _("%(count)s entries") % {"count": group.rows}
        return (
            rows
            if "@subject" in asked.slots.by
            else rows + words.bracketed(words.people(group.count))
        )
    return words.people(int(plain(group.value) or 0))
