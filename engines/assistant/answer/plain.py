"""The plain answer to a question, and to a message of several (design.md 5a.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from django.utils import translation
from django.utils.translation import gettext as _

from engines.assistant.answer import (
    blanks,
    changes,
    conditions,
    counts,
    data_changes,
    dictionary,
    extremes,
    fitting,
    groups,
    lists,
    notes,
    ordinal,
    overview,
    target,
    values,
    visits,
    work,
)
from engines.assistant.answer.fitting import Told
from engines.assistant.answer.reader import Reader
from engines.assistant.tools.texts import withheld
from engines.assistant.understand.types import Asked, Shape, Topic, Understood
from study.facts import Answer

_OF_ONE = {
    Shape.EXTREME: extremes.told,
    Shape.COUNT: counts.told,
    Shape.COUNT_ROWS: counts.told,
    Shape.SHARE: counts.told,
    Shape.AGGREGATE: counts.told,
    Shape.GROUPS: groups.told,
    Shape.TALLY: groups.tally,
    Shape.LIST: lists.told,
    Shape.DIFFERENCE: changes.difference,
    Shape.CHANGE: changes.change,
    Shape.LASTED: changes.lasted,
    Shape.RATIO_TO_LIMIT: changes.ratio,
    Shape.OVERVIEW: overview.told,
    Shape.BLANKS: blanks.told,
    Shape.REVIEWS: work.reviews,
    Shape.RUNS: work.runs,
    Shape.CHANGES: data_changes.told,
}
_OF_ALL = {
    Shape.TARGET: target.told,
    Shape.TARGET_LEFT: target.told,
    Shape.TARGET_RATE: target.told,
    Shape.TARGET_PACE: target.pace,
    Shape.YES_NO: lists.yes_or_no,
    Shape.FINDINGS: work.findings,
    Shape.TODO: work.todo,
    Shape.WATCH: work.watch,
}
_COUNTED = (Topic.FINDINGS, Topic.REVIEWS, Topic.RUNS)


def reply(understood: Understood, answers: Sequence[Sequence[Answer]], reader: Reader) -> str:
    """All questions of a message in their order; words with several readings, not collected, never shown.

    `answers`: for each question those of its queries, in order. "" where nothing was understood.
    """
    return cut(told_of(understood, answers, reader), reader)


def cut(lines: Sequence[Told], reader: Reader, limit: int | None = None) -> str:
    """Lines in the most detail that fits into `limit` characters (None: the reader's)."""
    with translation.override(reader.language):
        return fitting.fitted(lines, reader.limit if limit is None else limit)


def leaves_out(lines: Sequence[Told], reader: Reader) -> bool:
    """Whether things are missing in the room of the reader."""
    with translation.override(reader.language):
        return fitting.leaves_out(lines, reader.limit)


def told_of(
    understood: Understood, answers: Sequence[Sequence[Answer]], reader: Reader
) -> list[Told]:
    """The lines of a reply, whole."""
    with translation.override(reader.language):
        lines = [
            _lines(asked, own, reader) for asked, own in zip(understood.asked, answers, strict=True)
        ]
        words = _asked_back(understood, reader)
        asked_back = {item.word for item in understood.ambiguous}
        words += [
            _("This study does not collect %(word)s.") % {"word": word}
            for word in understood.unknown
            if word not in asked_back
        ]
        words += [_unplanned(word, reader) for word in understood.unplanned]
        words += [withheld(word) for word in understood.withheld]
        every = [line for own in lines for line in own]
        return [*every, *map(Told, words)]


def _asked_back(understood: Understood, reader: Reader) -> list[str]:
    """您说的“结束日期”是指 AE结束日期 还是 用药结束日期?"""
    text = _("By “%(word)s”, do you mean %(readings)s?")
    return [
        text
        % {
            "word": item.word,
            "readings": _(" or rather ").join(
                conditions.name_of(name, reader) for name in item.readings
            ),
        }
        for item in understood.ambiguous
    ]


def _unplanned(word: str, reader: Reader) -> str:
    """访视计划中没有 V9(计划:V1、V2)。"""
    planned = fitting.joint().join(dict.fromkeys(v.visit for v in reader.design.plan.visits))
    text = _("The visit plan has no %(word)s (planned: %(visits)s).")
    return text % {"word": word.upper(), "visits": planned}


def told(asked: Asked, answers: Sequence[Answer], reader: Reader) -> str:
    """One question answered from the answers of its queries, in order."""
    with translation.override(reader.language):
        return fitting.fitted(_lines(asked, answers, reader), reader.limit)


def _lines(asked: Asked, answers: Sequence[Answer], reader: Reader) -> list[Told]:
    if asked.slots.topic is Topic.DICTIONARY:
        return dictionary.told(asked, reader)
    if refusal := notes.refused(asked, answers, reader):
        return [Told(refusal)]
    return fitting.noted(_rendered(asked, answers, reader), notes.beside(asked, answers, reader))


def _rendered(asked: Asked, answers: Sequence[Answer], reader: Reader) -> list[Told]:
    if asked.shape in _OF_ALL and not (asked.slots.aggregate and asked.slots.topic in _COUNTED):
        return _OF_ALL[asked.shape](asked, answers, reader)
    return [
        line
        for query, answer in zip(asked.queries, answers, strict=True)
        for line in _of_one(replace(asked, queries=(query,)), answer, reader)
    ]


def _of_one(asked: Asked, answer: Answer, reader: Reader) -> list[Told]:
    if asked.slots.aggregate:
        render = groups.told if asked.slots.by else counts.told
        return render(asked, answer, reader)
    if asked.slots.topic is Topic.VISITS:
        return visits.told(asked, answer, reader)
    if asked.slots.nth:
        return ordinal.told(asked, answer, reader)
    return _OF_ONE.get(asked.shape, values.told)(asked, answer, reader)
