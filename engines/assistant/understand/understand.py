"""From a message to the questions in it (design.md 5a.1)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from datetime import date

from engines.assistant.understand.apart import apart, numbers_apart
from engines.assistant.understand.build import queries
from engines.assistant.understand.carried import PREDICATE, Gathered, carried
from engines.assistant.understand.clause import Clause, Setting, clauses
from engines.assistant.understand.joining import grouped, joined, listed
from engines.assistant.understand.named_rows import named_rows
from engines.assistant.understand.nearest import nearest
from engines.assistant.understand.of_dictionary import of_collection
from engines.assistant.understand.read import Read, read
from engines.assistant.understand.scan import NO_VISIT, Scanner
from engines.assistant.understand.settle import settle
from engines.assistant.understand.study_words import vocabulary
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
from language.periods import Calendar
from study.design import StudyDesign

MOST_ASKED = 4
_MODAL = ("要", "能", "该", "会", "得")


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
    reviewed: Callable[[], str] = str,
) -> Understood:
    """The questions of a message as StudyQueries; offline, and nothing of the data is read.

    `subjects`: the ids that the reader may see, for 13号 → P013 (`resolve` in its place); others stay as typed.
    `sites`: code → label. `own_site`: the member's, for 我们中心. `pattern`: the study's record ids.
    `reviewed`: when the last review was decided, an ISO time in the study's zone, "" for never.
    `terms`: field → its values, of the free text that names rows (events, drugs), where they are at hand.
    """
    state = state or State()
    words = vocabulary(design, sites or {})
    calendar = Calendar(today, design.start)
    known = frozenset(subjects)
    scanner = Scanner(words, calendar, pattern, resolve or _resolver(known), known.__contains__)
    found = Gathered(subjects=state.subjects)
    last = state.last
    scanned = clauses(scanner.scan(text))
    meant = [tokens for tokens in scanned if not _is_denied(tokens)]
    contrasts = len(meant) in range(1, len(scanned))
    for tokens in meant if contrasts else scanned:
        talk = State(last, found.subjects)
        setting = Setting(design, words, calendar, own_site, talk, terms or {}, reviewed)
        _clause(Clause([*found.waiting, *tokens], setting), found)
        # What is asked of the dictionary goes on with nothing.
        of_data = [slots for slots in found.asked if slots.topic is not Topic.DICTIONARY]
        last = of_data[-1] if of_data else last
    setting = Setting(design, words, calendar, own_site, state, terms or {}, reviewed)
    return replace(_understood(found, setting, last), contrasts=contrasts)


def _is_denied(tokens: list[Token]) -> bool:
    """我不是问P002一个人: what is not meant is no part of the question beside it."""
    said = [t for t in tokens if t.kind is not Kind.FILL]
    denied = bool(said) and said[0].said == "不是"
    return denied and not any(t.kind in (*PREDICATE, Kind.WHAT, Kind.YES_NO) for t in said)


def _understood(found: Gathered, setting: Setting, last: Slots | None) -> Understood:
    if found.waiting and not found.asked and setting.state.last:
        found.left += [token.said for token in found.waiting if token.kind is Kind.LEFT]
    both = [
        (_of_free_text(slots, setting), said)
        for slots, said in list(zip(found.asked, found.said, strict=True))[:MOST_ASKED]
    ]
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
        is_asked=found.is_asked,
        asks_who=found.asks_who,
        asks_any=found.asks_any,
        goes_on=bool(asked) and found.followed >= len(asked) and setting.state.last is not None,
    )


def _about(slots: Slots) -> tuple[str, ...]:
    named = [str(c["field"]) for c in slots.where if "field" in c]
    return tuple(dict.fromkeys([*slots.select, *slots.named, *named]))


def _clause(clause: Clause, found: Gathered) -> None:
    found.waiting = []
    found.is_asked |= clause.asks
    found.asks_who |= any("谁" in token.said for token in clause.all(Kind.WHO))
    found.asks_any |= clause.has(Kind.YES_NO, value="any")
    clause = named_rows(clause)
    clause, unsure = settle(clause)
    named = tuple(dict.fromkeys(clause.values(Kind.SUBJECT)))
    found.subjects = named or found.subjects
    if clause.has(Kind.IDENTIFIER):
        found.withheld += [token.said for token in clause.all(Kind.IDENTIFIER)]
        if not clause.has(Kind.FIELD, Kind.FORM, Kind.ENROLLED):
            return
        # P003的入组日期和电话: the one is told, the other is not.
        rest = [token for token in clause.tokens if token.kind is not Kind.IDENTIFIER]
        clause = Clause(rest, clause.setting)
    if clause.has(Kind.RULE) or of_collection(clause) or _asks_what_to_do(clause):
        found.rules += [token.said for token in clause.tokens if _is_of_rule(token)]
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


def _asks_what_to_do(clause: Clause) -> bool:
    """超窗了要怎么登记, ALT升高到150要停药吗: how and whether something is to be done, of nobody, is a rule."""
    if clause.has(Kind.SUBJECT, Kind.PRONOUN) or clause.many:
        return False
    if clause.has(Kind.WHAT, value="how"):
        return True
    compared = clause.places(Kind.COMPARE, Kind.LIMIT)
    modal = [i for i in clause.places(Kind.FILL) if clause.tokens[i].said in _MODAL]
    asks = bool(clause.tokens) and clause.tokens[-1].kind is Kind.YES_NO
    return asks and bool(compared and modal and compared[0] < modal[-1] < len(clause.tokens) - 2)


def _is_of_rule(token: Token) -> bool:
    return token.kind is Kind.RULE or token.value == "how" or token.said in _MODAL


def _agent(clause: Clause) -> str:
    """P003的SAE是谁报的: the study does not hold who did what is told. "" for others."""
    place = next((i for i, t in enumerate(clause.tokens) if t.kind is Kind.WHO), None)
    if place is None or not clause.has(Kind.SUBJECT) or clause.tokens[-1].said != "的":
        return ""
    deed = clause.tokens[place + 1 : -1]
    known = (Kind.FILL, Kind.LEFT, Kind.HAD)
    done = deed and all(t.kind in known for t in deed)
    return "".join(t.said for t in clause.tokens[place:]).removeprefix("是") if done else ""


def _part(clause: Clause, unsure: list[Ambiguous], found: Gathered, *, alone: bool) -> None:
    """One question of a clause; `alone`: it is no part of the question before it."""
    if found.asked and (rows := listed(found.asked[-1], clause)):
        found.asked[-1] = rows
        return
    read_ = read(clause)
    if read_.is_open or _picks_by_worry(clause):
        found.left.append(clause.said)
        return
    slots = carried(read_, found)
    if slots is None:
        _nothing(clause, found)
        return
    if clause.has(Kind.ABSENT) and not (slots.select or slots.topic is not Topic.DATA):
        found.unknown += clause_words(clause, Kind.ABSENT)
        return
    if _says_nothing(slots, clause):
        words = clause_words(clause, Kind.LEFT)[-1:] if slots.subjects else []
        # P016有几个孩子: of who is named the word is no name.
        found.unknown += words
        found.left += [] if words else [clause.said]
        return
    if _not_whole(slots, clause):
        found.unknown += _narrowing(clause)[-1:]
        return
    found.ambiguous += unsure
    found.unknown += clause_words(clause, Kind.ABSENT)
    if slots.topic is Topic.DICTIONARY and not slots.select:
        found.unknown += clause_words(clause, Kind.LEFT) + clause_words(clause, Kind.TERM)
    elif slots.topic is not Topic.DICTIONARY:
        found.left += _left_over(clause, slots)
    _keep(slots, read_, found, alone=alone)


def _picks_by_worry(clause: Clause) -> bool:
    """最让人担心的那位入组日期: no data say who that is."""
    asked = (Kind.FIELD, Kind.FORM, Kind.ENROLLED, Kind.TERM, Kind.CHOICE, Kind.WHEN)
    return clause.has(Kind.TODO, value="watch") and clause.has(*asked)


def _of_free_text(slots: Slots, setting: Setting) -> Slots:
    """谁有过敏史, 几个人有既往史: whoever wrote something is listed with it, for denials to be told apart."""
    filled = [str(c["field"]) for c in slots.where if c.get("op") == "filled"]
    counts = slots.aggregate in ("", "count") and slots.shape in (Shape.LIST, Shape.COUNT)
    alone = len(filled) == len(slots.where) == 1 and not (slots.by or slots.subjects)
    if not (counts and alone and setting.is_free_text(filled[0])):
        return slots
    return replace(slots, select=(filled[0],), shape=Shape.LIST, aggregate="")


def _takes_denials(slots: Slots, setting: Setting) -> bool:
    """Whether a filled free text would count as having what it may deny (过敏史: 无)."""
    if slots.topic is not Topic.DATA:
        return False
    named = [str(c.get("field")) for c in slots.where if c.get("op") == "filled"]
    if slots.shape is Shape.LIST and not slots.aggregate and (*named,) == slots.select:
        return False
    named += () if slots.subjects or slots.where else slots.select
    return any(setting.is_free_text(name) for name in named)


def _left_over(clause: Clause, slots: Slots) -> list[str]:
    """The words that nothing took; of everybody also single characters, where there are several (会诊)."""
    words = clause_words(clause, Kind.LEFT)
    if not slots.subjects:
        # 谁吃药最不规律: of all subjects the end of something unknown is no end at all.
        words += [t.said for t in clause.all(Kind.LEFT) if t.said == "最"]
    single = [token.said for token in clause.all(Kind.LEFT) if len(token.said) == 1]
    return words + (single if len(single) > 1 and not slots.subjects else [])


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
    if slots.subjects or slots.topic is not Topic.DATA or not _narrowing(clause):
        return False
    enrolled = all(c.get("field") == "@enrolled" for c in slots.where)
    of_all = slots.aggregate and enrolled and not (slots.by or slots.site)
    of_one = not (slots.aggregate or slots.order or slots.by or clause.many)
    return bool(of_all or of_one)


def _narrowing(clause: Clause) -> list[str]:
    """The words that nothing took, and those that may say who is meant (还在治疗的有几个)."""
    meant = [t.said for t in clause.all(Kind.FILL) if t.value == "narrowing"]
    return clause_words(clause, Kind.LEFT) or meant


def clause_words(clause: Clause, kind: Kind) -> list[str]:
    """What was said by the tokens of a kind."""
    return [token.said for token in clause.all(kind) if len(token.said) > 1]


def _nothing(clause: Clause, found: Gathered) -> None:
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


def _keep(slots: Slots, read_: Read, found: Gathered, *, alone: bool) -> None:
    """One more question, or a part of the one before it."""
    before = found.asked[-1] if found.asked and not alone else None
    both = (grouped(before, slots) or joined(before, slots, read_)) if before is not None else None
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
