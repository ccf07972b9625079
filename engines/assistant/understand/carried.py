"""What a clause takes from the clauses and the talk before it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from engines.assistant.understand.clause import Clause
from engines.assistant.understand.follow import followed
from engines.assistant.understand.read import Read
from engines.assistant.understand.tokens import Kind, Token
from engines.assistant.understand.types import Ambiguous, Shape, Slots, Topic

_PERSON = ("人", "病人", "患者", "受试者")
PREDICATE = (
    Kind.WHO,
    Kind.COUNT,
    Kind.COUNT_ROWS,
    Kind.SHARE,
    Kind.EACH_SITE,
    Kind.AGGREGATE,
    Kind.SITE,
    Kind.OWN_SITE,
)


@dataclass
class Gathered:
    """What the clauses of a message gave so far."""

    asked: list[Slots] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    withheld: list[str] = field(default_factory=list)
    unplanned: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    ambiguous: list[Ambiguous] = field(default_factory=list)
    waiting: list[Token] = field(default_factory=list)
    subjects: tuple[str, ...] = ()
    followed: int = 0
    is_asked: bool = False
    asks_who: bool = False
    asks_any: bool = False
    rules: list[str] = field(default_factory=list)


def carried(read_: Read, found: Gathered) -> Slots | None:
    """The slots of a clause in its conversation; None where it asks for nothing."""
    clause = read_.clause
    inside = bool(found.asked)
    if clause.has(Kind.ABSENT) and not read_.asks:
        return None
    slots = followed(read_, clause.setting.state.last, inside=inside)
    if slots is not None:
        found.followed += 1
        return slots
    if not read_.asks:
        return None
    slots = read_.slots
    if inside and slots.aggregate and not _own_scope(read_):
        before = found.asked[-1]
        scoped = replace(slots, where=before.where, site=before.site, period=before.period)
        slots = scoped if before.aggregate == "count" and before.topic is Topic.DATA else slots
    asks = clause.has(Kind.YES_NO) or (clause.tokens and clause.tokens[-1].kind is Kind.NOT)
    if inside and asks and _of_those(read_, found.asked[-1]):
        slots = replace(slots, where=found.asked[-1].where, site=found.asked[-1].site)
    if inside and slots.topic is Topic.VISITS and slots.aggregate and not slots.place:
        before = found.asked[-1]
        slots = replace(slots, place=before.place, site=slots.site or before.site)
    if slots.rows in ("highest", "lowest") and slots.order and _spoken_of(read_, found):
        slots = replace(slots, subjects=found.subjects, order="", limit=None)
    last = clause.setting.state.last
    if not inside and last and _is_of_some(last) and _narrowed(read_, last):
        slots = replace(slots, where=last.where, site=last.site, period=last.period)
    if clause.has(Kind.PRONOUN) and not slots.subjects and last and last.shape is Shape.LIST:
        slots = replace(slots, where=(*last.where, *slots.where), site=slots.site or last.site)
    rows = clause.has(Kind.TERM) and not clause.many and not _somebody(clause)
    heir = inside or rows or clause.has(Kind.PRONOUN, Kind.FOLLOW) or not slots.where
    spotted = slots.change in ("", "days") or slots.place or slots.subjects
    if last and not spotted:
        slots = replace(slots, place=last.place)
    if not slots.subjects and found.subjects and heir and _of_one(read_):
        slots = replace(slots, subjects=found.subjects)
    return slots


def _somebody(clause: Clause) -> bool:
    """那个急性胆囊炎的病人: who is meant is whoever has it, and not who was spoken of."""
    following = zip(clause.tokens, clause.tokens[1:], clause.tokens[2:], strict=False)
    return any(
        a.kind is Kind.TERM and b.said == "的" and c.said in _PERSON for a, b, c in following
    )


def _of_those(read_: Read, before: Slots) -> bool:
    """ALT超过3倍上限的有谁,记AE没: asked of those who were listed."""
    listed = before.shape is Shape.LIST and before.where and before.topic is Topic.DATA
    return bool(listed) and not _own_scope(read_) and not read_.clause.has(*PREDICATE)


def _spoken_of(read_: Read, found: Gathered) -> bool:
    """ALT最高多少, said after P016 was spoken of."""
    clause = read_.clause
    whole = clause.has(*PREDICATE, Kind.EVERYONE, Kind.FORM) or read_.slots.where
    return len(found.subjects) == 1 and not read_.slots.subjects and not whole


def _narrowed(read_: Read, last: Slots) -> bool:
    """入组几例 → 平均年龄: a figure over those who were counted, where nothing else is said of whom."""
    figure = read_.slots.aggregate and read_.clause.has(Kind.AGGREGATE)
    whole = _own_scope(read_) or read_.clause.has(Kind.EVERYONE)
    return bool(figure) and not whole and last.topic is Topic.DATA and not last.by


def _is_of_some(last: Slots) -> bool:
    """Whether the last question counted or listed those of whom something holds."""
    listed = last.shape is Shape.LIST and last.where and not last.subjects
    return last.aggregate == "count" or bool(listed)


def _own_scope(read_: Read) -> bool:
    """Whether a question says itself of whom it speaks."""
    slots = read_.slots
    return bool(
        slots.where or slots.site or slots.period or slots.subjects or slots.topic is not Topic.DATA
    )


def _of_one(read_: Read) -> bool:
    """Whether a question without a subject is about the one last spoken of."""
    clause, slots = read_.clause, read_.slots
    about = slots.select or slots.topic in (Topic.VISITS, Topic.FINDINGS, Topic.RUNS)
    whole = slots.aggregate or slots.order or slots.by or clause.has(*PREDICATE)
    whole = whole or slots.shape is Shape.TALLY
    whole = whole or (slots.period is not None and slots.select == ("@enrolled",))
    return bool(about) and not whole
