"""From a message to the questions in it (design.md 5a.1)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import date

from engines.assistant.understand.apart import apart, numbers_apart
from engines.assistant.understand.build import queries
from engines.assistant.understand.clause import Clause, Setting, clauses, settle
from engines.assistant.understand.follow import followed
from engines.assistant.understand.joining import joined
from engines.assistant.understand.named_rows import named_rows
from engines.assistant.understand.nearest import nearest
from engines.assistant.understand.of_dictionary import of_collection
from engines.assistant.understand.read import Read, read
from engines.assistant.understand.scan import NO_VISIT, Scanner
from engines.assistant.understand.tokens import Kind, Token
from engines.assistant.understand.types import (
    Ambiguous,
    Asked,
    Shape,
    Slots,
    State,
    Topic,
    Understood,
)
from engines.assistant.understand.vocabulary import vocabulary
from language.periods import Calendar
from rules.context import Kind as ColumnKind
from study.design import StudyDesign

MOST_ASKED = 4
_PERSON = ("人", "病人", "患者", "受试者")
_PREDICATE = (
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
class _Found:
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
    rules: list[str] = field(default_factory=list)


def understand(
    text: str,
    *,
    design: StudyDesign,
    today: date,
    sites: Mapping[str, str] | None = None,
    own_site: str = "",
    subjects: Collection[str] = (),
    pattern: str | None = None,
    state: State | None = None,
    resolve: Callable[[str], str] | None = None,
    terms: Mapping[str, Collection[str]] | None = None,
) -> Understood:
    """The questions of a message as StudyQueries; offline, and nothing of the data is read.

    `subjects`: the ids that the reader may see, for 13号 → P013 (`resolve` in its place); others stay as typed.
    `sites`: code → label. `own_site`: the member's, for 我们中心. `pattern`: the study's record ids.
    `terms`: field → its values, of the free text that names rows (events, drugs), where they are at hand.
    """
    state = state or State()
    words = vocabulary(design, sites or {})
    calendar = Calendar(today, design.start)
    known = frozenset(subjects)
    scanner = Scanner(words, calendar, pattern, resolve or _resolver(known), known.__contains__)
    found = _Found(subjects=state.subjects)
    last = state.last
    for tokens in clauses(scanner.scan(text)):
        setting = Setting(
            design, words, calendar, own_site, State(last, found.subjects), terms or {}
        )
        _clause(Clause([*found.waiting, *tokens], setting), found)
        # What is asked of the dictionary goes on with nothing.
        of_data = [slots for slots in found.asked if slots.topic is not Topic.DICTIONARY]
        last = of_data[-1] if of_data else last
    return _understood(found, Setting(design, words, calendar, own_site, state, terms or {}), last)


def _understood(found: _Found, setting: Setting, last: Slots | None) -> Understood:
    if found.waiting and not found.asked and setting.state.last:
        found.left += [token.said for token in found.waiting if token.kind is Kind.LEFT]
    both = list(zip(found.asked, found.said, strict=True))[:MOST_ASKED]
    found.left += [said for slots, said in both if _takes_denials(slots, setting)]
    asked = tuple(
        Asked(queries(slots, setting), slots.shape, _about(slots), said, slots)
        for slots, said in both
        if not _takes_denials(slots, setting)
    )
    return Understood(
        asked=asked,
        unknown=tuple(dict.fromkeys(found.unknown)),
        ambiguous=tuple(found.ambiguous),
        withheld=tuple(dict.fromkeys(found.withheld)),
        unplanned=tuple(dict.fromkeys(found.unplanned)),
        left=tuple(found.left),
        rules=tuple(found.rules),
        state=State(last, found.subjects),
        goes_on=bool(asked) and found.followed >= len(asked) and setting.state.last is not None,
    )


def _about(slots: Slots) -> tuple[str, ...]:
    named = [str(c["field"]) for c in slots.where if "field" in c]
    return tuple(dict.fromkeys([*slots.select, *slots.named, *named]))


def _clause(clause: Clause, found: _Found) -> None:
    found.waiting = []
    clause = named_rows(clause)
    clause, unsure = settle(clause)
    named = tuple(dict.fromkeys(clause.values(Kind.SUBJECT)))
    found.subjects = named or found.subjects
    if clause.has(Kind.IDENTIFIER):
        found.withheld += [token.said for token in clause.all(Kind.IDENTIFIER)]
        return
    if clause.has(Kind.RULE) or of_collection(clause):
        found.rules += [token.said for token in clause.all(Kind.RULE)]
        return
    if nowhere := [t.said for t in clause.all(Kind.PLACE) if t.value == NO_VISIT]:
        found.unplanned += nowhere
        if len(nowhere) == len(clause.all(Kind.PLACE)):
            return
    if asked_who := _agent(clause):
        found.unknown.append(asked_who)
        return
    parts = apart(clause)
    for part in parts:
        _part(part, unsure, found, alone=len(parts) > 1)


def _agent(clause: Clause) -> str:
    """P003的SAE是谁报的: the study does not hold who did what is told. "" for others."""
    place = next((i for i, t in enumerate(clause.tokens) if t.kind is Kind.WHO), None)
    if place is None or not clause.has(Kind.SUBJECT) or clause.tokens[-1].said != "的":
        return ""
    deed = clause.tokens[place + 1 : -1]
    known = (Kind.FILL, Kind.LEFT, Kind.HAD)
    done = deed and all(t.kind in known for t in deed)
    return "".join(t.said for t in clause.tokens[place:]).removeprefix("是") if done else ""


def _part(clause: Clause, unsure: list[Ambiguous], found: _Found, *, alone: bool) -> None:
    """One question of a clause; `alone`: it is no part of the question before it."""
    read_ = read(clause)
    if read_.is_open or _picks_by_worry(clause):
        found.left.append(clause.said)
        return
    slots = _placed(read_, found)
    if slots is None:
        _nothing(clause, found)
        return
    if clause.has(Kind.ABSENT) and not (slots.select or slots.topic is not Topic.DATA):
        found.unknown += clause_words(clause, Kind.ABSENT)
        return
    if _says_nothing(slots, clause):
        found.left.append(clause.said)
        return
    if _not_whole(slots, clause):
        found.unknown += clause_words(clause, Kind.LEFT)[-1:]
        return
    found.ambiguous += unsure
    found.unknown += clause_words(clause, Kind.ABSENT)
    if slots.topic is Topic.DICTIONARY and not slots.select:
        found.unknown += clause_words(clause, Kind.LEFT) + clause_words(clause, Kind.TERM)
    elif slots.topic is not Topic.DICTIONARY:
        found.left += clause_words(clause, Kind.LEFT)
    _keep(slots, read_, found, alone=alone)


def _picks_by_worry(clause: Clause) -> bool:
    """最让人担心的那位入组日期: no data say who that is."""
    asked = (Kind.FIELD, Kind.FORM, Kind.ENROLLED, Kind.TERM, Kind.CHOICE, Kind.WHEN)
    return clause.has(Kind.TODO, value="watch") and clause.has(*asked)


def _takes_denials(slots: Slots, setting: Setting) -> bool:
    """Whether a filled free text would count as having what it may deny (过敏史: 无)."""
    if slots.topic is not Topic.DATA:
        return False
    named = [str(c.get("field")) for c in slots.where if c.get("op") == "filled"]
    named += () if slots.subjects or slots.where else slots.select
    return any(
        setting.column_kind(name) is ColumnKind.TEXT
        and not setting.repeats(setting.design.form_of(name))
        and not setting.is_date(name)
        for name in named
    )


def _says_nothing(slots: Slots, clause: Clause) -> bool:
    """P016那几个酶, 谁签的是老版: the only word that could say what or who is meant was not known."""
    if slots.topic is not Topic.DATA or slots.where or not clause.has(Kind.LEFT):
        return False
    if slots.aggregate == "count" and slots.subjects:
        return not slots.select
    narrowed = slots.site or slots.place or slots.period or slots.rows or slots.by or slots.order
    return slots.shape is Shape.LIST and not (slots.subjects or narrowed)


def _not_whole(slots: Slots, clause: Clause) -> bool:
    """An unknown word may be the very one that says who is meant: better asked back than all counted."""
    if slots.subjects or slots.topic is not Topic.DATA or not clause_words(clause, Kind.LEFT):
        return False
    enrolled = all(c.get("field") == "@enrolled" for c in slots.where)
    of_all = slots.aggregate and enrolled and not (slots.by or slots.site)
    of_one = not (slots.aggregate or slots.order or slots.by or clause.many)
    return bool(of_all or of_one)


def clause_words(clause: Clause, kind: Kind) -> list[str]:
    """What was said by the tokens of a kind."""
    return [token.said for token in clause.all(kind) if len(token.said) > 1]


def _nothing(clause: Clause, found: _Found) -> None:
    """A clause that asks nothing: what it names belongs to the next one, or is not collected."""
    absent = clause_words(clause, Kind.ABSENT)
    left = clause_words(clause, Kind.LEFT)
    asks = clause.has(Kind.WHO, Kind.COUNT, Kind.SUBJECT, Kind.PRONOUN)
    goes_on = clause.setting.state.last is not None and clause.has(Kind.WHAT, Kind.FOLLOW)
    if absent or (left and (goes_on or (asks and not found.asked))):
        words = absent or left[-1:]
        found.unknown += words
        found.ambiguous += [
            near for word in words if (near := nearest(word, clause.setting.vocabulary))
        ]
    elif not left:
        found.waiting = clause.tokens
    else:
        found.left += left


def _placed(read_: Read, found: _Found) -> Slots | None:
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
    return bool(listed) and not _own_scope(read_) and not read_.clause.has(*_PREDICATE)


def _spoken_of(read_: Read, found: _Found) -> bool:
    """ALT最高多少, said after P016 was spoken of."""
    clause = read_.clause
    whole = clause.has(*_PREDICATE, Kind.EVERYONE, Kind.FORM) or read_.slots.where
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
    whole = slots.aggregate or slots.order or slots.by or clause.has(*_PREDICATE)
    whole = whole or (slots.period is not None and slots.select == ("@enrolled",))
    return bool(about) and not whole


def _keep(slots: Slots, read_: Read, found: _Found, *, alone: bool) -> None:
    """One more question, or a part of the one before it."""
    before = found.asked[-1] if found.asked and not alone else None
    both = joined(before, slots, read_) if before is not None else None
    if both is not None:
        found.asked[-1] = both
        found.said[-1] += "," + read_.clause.said
        return
    for one in numbers_apart(slots):
        found.asked.append(one)
        found.said.append(read_.clause.said)


def _resolver(subjects: Collection[str]) -> Callable[[str], str]:
    """13 → P013 where one id alone ends so; an id of digits means itself (E10)."""
    ends: dict[int, list[str]] = {}
    for name in subjects:
        stem = name.rstrip("0123456789")
        if stem and stem != name:
            ends.setdefault(int(name.removeprefix(stem)), []).append(name)

    def resolve(said: str) -> str:
        digits = said.lstrip("Pp")
        same = ends.get(int(digits), []) if said not in subjects and digits.isdecimal() else []
        return same[0] if len(same) == 1 else said

    return resolve
