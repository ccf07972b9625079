"""Which tasks of a message are questions about the study's data, and what they ask (design.md 5a.1).

What starts, stores or refuses something is what the offline rules of `engines.assistant.intents` say: a
question about a result is never an order, and an order never a question.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from engines.assistant.chat.handlers import recall, talk
from engines.assistant.chat.handlers.open_work import asks_result, is_of_control
from engines.assistant.chat.handlers.visit_plan import asks_plan
from engines.assistant.chat.turn import Turn
from engines.assistant.intents import Part
from engines.assistant.understand import Asked, Shape, State, Topic, Understood, understand
from engines.assistant.understand.lay import is_of_trade
from engines.assistant.understand.scan import is_of_version
from engines.assistant.understand.withheld import withheld
from language.periods import Calendar, periods
from memory.reports.history import book

DATA = frozenset({"query_record", "count_records", "visit_window", "qa_query"})
_WORK = frozenset({Topic.FINDINGS, Topic.REVIEWS, Topic.RUNS})
_MINE = _WORK | {Topic.TODO}
_SURELY = frozenset({"mine", "undecided"})
"""Of findings, understood to the last word: nobody tells or orders anything by these."""
_NAMING = frozenset({"query_record", "count_records"})
_TOLD = frozenset({"remember", "feedback", "data_entry", "generate_report"})
"""What tells or orders something: never a question, whatever it names."""
_TAILS = frozenset({"project_info", "query_protocol", "general_chat"})
"""What the end of a question is taken for when it stands alone (…, 编号给我)."""
_LONGEST_NAME = 12
_COMPARED = ("<", "<=", ">", ">=", "between")
_VAGUE = frozenset({"count_records", "off_topic", "project_info"})
_PHRASE = 4
_SHORT = 6
_TELLING = 3
"""From so many letters on a word stands for its matter wherever it is found."""
_ENDED = re.compile(r"[?!;。？！；].*\w", re.DOTALL)
"""A sentence that is over, and another one behind it."""
_SURE_FROM = 0.8
_UNSURE_BELOW = 0.6
"""Of the classifier, for one part; the label of such a part says little beside what was understood."""


@dataclass(frozen=True)
class Task:
    """One task of a message; `found`: what it asks of the study's data, None for all else."""

    part: Part
    found: Understood | None = None


def tasks(turn: Turn, parts: Sequence[Part]) -> list[Task]:
    """The parts of a message with what those that ask about data ask, in their order.

    A question that the offline rules cut in two is one task again; questions they left together are one reply.
    """
    parts = [_of_version(part) for part in parts]
    if len(parts) > 1 and (whole := _whole(turn, parts)):
        return whole
    state, found = turn.talk, []
    for part in parts:
        own = _read(turn, part.text, state)
        taken = _takes(turn, part, own)
        state = own.state if taken else state
        if not taken:
            part = _of_past(part) if _is_remembered(turn, part, own) else _of_rule(part, own)
        found.append(Task(part, own if taken else None))
    return found


def _of_past(part: Part) -> Part:
    return replace(part, intent="query_history")


def _of_rule(part: Part, own: Understood) -> Part:
    """漏服了怎么补: what asks what must be, in words of the study, is hardly a matter from outside."""
    least = _SURE_FROM if part.intent == "off_topic" else _UNSURE_BELOW
    unsure = part.intent in DATA | {"off_topic"} and part.confidence < least
    is_rule = own.rules and unsure and not own.asked
    return replace(part, intent="query_protocol") if is_rule else part


def _is_remembered(turn: Turn, part: Part, own: Understood) -> bool:
    """交通补贴后来涨到多少了: nobody is named, the data know the word not, and the weekly reports do."""
    unsure = part.confidence < _UNSURE_BELOW and part.intent in _TAILS | {
        "count_records",
        "off_topic",
    }
    words = [
        w for w in (*own.left, *own.unknown) if len(w) >= _TELLING and w in part.text.casefold()
    ]
    if not turn.detection.sure and part.intent in _VAGUE:
        # 恢复筛选以后每天最多筛几个人: what the data do not know may have been decided.
        text = _bare(part.text)
        words, unsure = [text[at : at + _PHRASE] for at in range(len(text) - _PHRASE + 1)], True
    if not unsure or part.record_ids or not words:
        return False
    pages = book(turn.project, turn.member, scope=turn.scope)
    return any(word in _bare(page.text) for page in pages for word in words)


def _bare(text: str) -> str:
    return text.casefold().replace(" ", "")


def _of_version(part: Part) -> Part:
    """V2.1是哪天更新的: what has a point is no visit but a version of a document, of which the past tells."""
    if part.intent != "visit_window" or not is_of_version(part.text):
        return part
    return _of_past(part)


def _read(turn: Turn, text: str, state: State) -> Understood:
    # An identifier that lies across commas is put together: in pieces nobody would know it.
    asked = turn.resolved(turn.gate.joined(text))
    found = _understood(turn, asked, state)
    never = withheld(turn.context.metadata, asked)
    if not never or found.withheld:
        return found
    # Of all subjects the word could be a condition that is lost; of named ones the rest is told.
    of_named = tuple(one for one in found.asked if one.slots.subjects)
    return replace(found, asked=of_named, withheld=tuple(never), unknown=(), ambiguous=(), left=())


def _understood(turn: Turn, asked: str, state: State) -> Understood:
    return understand(
        asked,
        design=turn.design,
        today=turn.context.today,
        sites=turn.sites,
        own_site=turn.member.site,
        subjects=turn.roster.present,
        pattern=turn.project.record_id_pattern or None,
        state=state,
        terms=turn.terms,
        reviewed=lambda: turn.reviewed,
    )


def _whole(turn: Turn, parts: Sequence[Part]) -> list[Task]:
    """All parts as one question, or as many as there are parts; [] where some part is no such question."""
    kinds = {part.intent for part in parts}
    if parts[0].intent not in DATA or not kinds <= DATA | _TAILS:
        return []
    alone = [(part, _read(turn, part.text, State())) for part in parts]
    if any(asks_plan(part, own) for part, own in alone):
        return []
    found = _read(turn, turn.text, turn.talk)
    unclear = found.left or found.unknown or found.ambiguous
    is_one = len(found.asked) == 1 and not unclear and not _ENDED.search(turn.text)
    if found.rules and "query_protocol" in kinds:
        return []
    if not is_one and any(_stands_alone(part, own) for part, own in alone):
        return []
    one = replace(parts[0], text=turn.resolved(turn.text))
    if not _takes(turn, one, found) or any(part.named for part in parts):
        return []
    if len(found.asked) < 2:
        return [Task(one, found)] if found.asked and not (found.left or found.unknown) else []
    if len(found.asked) != len(parts) or not kinds <= DATA:
        return []
    return [_single(part, found, asked) for part, asked in _paired(parts, found.asked)]


def _stands_alone(part: Part, own: Understood) -> bool:
    """Whether a part of another label is surely a question of its own (…?排除标准是什么?)."""
    if part.intent == "project_info":
        return any(one.slots.topic is Topic.TARGET for one in own.asked)
    return part.intent not in DATA and bool(own.asked) and part.confidence >= _UNSURE_BELOW


def _paired(parts: Sequence[Part], asked: Sequence[Asked]) -> list[tuple[Part, Asked]]:
    """Each question with the label of a part of its kind, as far as there is one."""
    rest, pairs = list(parts), []
    for one in asked:
        best = next((part for part in rest if part.intent == _label(one)), rest[0])
        rest.remove(best)
        pairs.append((best, one))
    return pairs


def _label(asked: Asked) -> str:
    if asked.slots.topic is Topic.VISITS:
        return "visit_window"
    counts = asked.shape in (Shape.COUNT, Shape.COUNT_ROWS, Shape.SHARE, Shape.GROUPS)
    return "count_records" if counts else "query_record"


def _single(part: Part, found: Understood, asked: Asked) -> Task:
    """One question of several; what belongs to all of them is said with the last."""
    is_last = asked is found.asked[-1]
    beside = found if is_last else replace(found, unknown=(), ambiguous=(), withheld=())
    return Task(replace(part, text=asked.said), replace(beside, asked=(asked,)))


def _takes(turn: Turn, part: Part, found: Understood) -> bool:
    """Whether a part is a question about data that was understood, or that can be asked back."""
    of_us = recall.asks_of_us(part) or recall.asks_attention(part)
    if part.named or of_us or talk.asks_again(part):
        return False
    if not _tells_nobody(turn, found):
        return False
    if found.asked and all(one.slots.topic is Topic.DICTIONARY for one in found.asked):
        return part.intent in DATA | _TAILS
    if found.unplanned and not found.asked:
        return part.intent in DATA
    if part.intent not in DATA:
        return bool(found.asked) and _is_one_after_all(turn, part, found)
    if found.asked and found.ambiguous and not _can_be_asked_back(turn, found):
        return False
    if found.asked:
        return _is_sure(part.text, found) and not asks_plan(part, found)
    if found.withheld:
        return True
    return _can_be_asked_back(turn, found) or _names_nothing_known(part, found)


def _tells_nobody(turn: Turn, found: Understood) -> bool:
    """Whether neither the queries nor the words that an answer repeats identify anybody.

    Subjects are asked for by their ids; of who is not the reader's nothing is told.
    """
    queries = (
        json.dumps([{**query, "subjects": []} for query in one.queries], ensure_ascii=False)
        for one in found.asked
    )
    beside = (one.word for one in found.ambiguous)
    return all(map(turn.tells_nobody, [*queries, *found.unknown, *beside]))


def _is_sure(text: str, found: Understood) -> bool:
    """Of named subjects some words may be left over; of all, one more could be a condition that was missed."""
    left = [*found.left, *found.unknown]
    if not all(asked.slots.subjects for asked in found.asked):
        return not left
    return 2 * sum(map(len, left)) <= len(text)


def _can_be_asked_back(turn: Turn, found: Understood) -> bool:
    """Whether a word has several readings; the dates of all visits are no such choice."""
    dates = {visit.date_field for visit in turn.design.plan.visits}
    return any(not dates.issuperset(one.readings) for one in found.ambiguous)


def _names_nothing_known(part: Part, found: Understood) -> bool:
    """Whether it asks for something that this study does not collect.

    Without a subject in the question a word that is none of the trade could be anybody's name.
    """
    named = found.unknown
    of_trade = all(map(is_of_trade, named))
    if part.intent == "query_record" and not (part.record_ids or of_trade):
        return False
    short = all(len(word) <= _LONGEST_NAME for word in named)
    is_had = part.intent == "qa_query" and any(f"有{word}" in part.text for word in named)
    naming = part.intent in _NAMING or is_had
    return naming and len(named) == 1 and short and not found.left


def _names_a_time(turn: Turn, part: Part) -> bool:
    """The target of a week is none of the study's (本周目标)."""
    return bool(list(periods(part.text, Calendar(turn.context.today, turn.design.start))))


def _asks_for_subjects(found: Understood) -> bool:
    """谁用了禁用药, 上周入组了谁: of persons of whom something is recorded, no rule and no decision."""
    lists = (Shape.LIST, Shape.EXTREME)
    listed = all(asked.shape in lists and asked.slots.topic is Topic.DATA for asked in found.asked)
    return listed and found.asks_who and not found.rules


def _is_no_history(turn: Turn, part: Part, found: Understood, *, named: bool) -> bool:
    """Whether what sounds like the past is asked of the data, or of what quality control found."""
    if (named and _names_more(turn, found)) or (part.confidence < _SURE_FROM and _ranks(found)):
        return not found.rules
    topics = {asked.slots.topic for asked in found.asked}
    of_work = named or topics == {Topic.RUNS} or is_of_control(part.text)
    of_data = named or _asks_for_subjects(found)
    unsure = part.confidence < _UNSURE_BELOW
    return (topics <= _WORK and of_work) or (unsure and of_data and not found.rules)


def _names_more(turn: Turn, found: Understood) -> bool:
    """V2那次判断是什么: it goes on with another visit or field; a week alone is no part of the data."""
    last, slots = turn.talk.last, found.asked[-1].slots
    return (
        found.goes_on
        and last is not None
        and slots.place + slots.select != last.place + last.select
    )


def _ranks(found: Understood) -> bool:
    """最近一例SAE是什么时候: the end of what is recorded, by a condition, is no week's to tell."""
    return all(one.shape is Shape.EXTREME and one.slots.where for one in found.asked)


def _asks_nonetheless(part: Part, found: Understood, *, named: bool) -> bool:
    """P014登记合并用药了吗: of who is named a question was understood to its last word, so nothing is told.

    不是问P002一个人,是问所有人 sets the last question right; that asks it anew.
    """
    if part.intent == "feedback" and found.goes_on and found.contrasts:
        return True
    told = part.intent in ("data_entry", "feedback") and bool(part.record_ids)
    return told and named and found.is_asked


def _goes_on(part: Part, found: Understood, unsure: bool) -> bool:
    """Whether it only changes the last question; what may ask for more is short or says so (上个月呢)."""
    text = part.text.rstrip("?？。. ")
    short = len(text) <= _SHORT and part.intent in _TAILS - {"query_protocol"}
    return found.goes_on and (unsure or short or text.endswith("呢"))


def _says_whom(part: Part, asked: Asked) -> bool:
    """Whether a question counts, or says by values who is meant; a name or a choice may be of a rule."""
    if part.intent != "query_protocol":
        return bool(asked.slots.aggregate or asked.slots.where or asked.slots.order)
    return _is_compared(asked) and asked.shape in (Shape.LIST, Shape.COUNT)


def _is_no_rule(part: Part, found: Understood, *, named: bool) -> bool:
    """Whether what sounds like a rule is asked of the data.

    血小板低于50的有没有: whether a value is there; what must be done then is asked in words of its own.
    """
    there = all(one.shape is Shape.YES_NO and _is_compared(one) for one in found.asked)
    if there and found.asks_any and not (named or found.rules):
        return True
    unsure = part.confidence < _UNSURE_BELOW
    figures = not found.rules and all(one.shape is Shape.AGGREGATE for one in found.asked)
    if unsure and figures:
        return True
    return (unsure and (named or _asks_for_subjects(found))) or (named and bool(part.record_ids))


def _is_compared(asked: Asked) -> bool:
    """Whether it says by comparisons alone what is meant."""
    parts = [p for c in asked.slots.where for p in c.get("any", [c])]
    return bool(parts) and all(p.get("op") in _COMPARED for p in parts)


def _is_one_after_all(turn: Turn, part: Part, found: Understood) -> bool:
    """Whether a part of another label asks about data: about results, one's work, the target, a subject."""
    topics = {asked.slots.topic for asked in found.asked}
    if found.left or found.unknown or found.withheld:
        return False
    if topics == {Topic.FINDINGS} and all(one.slots.aspect in _SURELY for one in found.asked):
        return True
    if topics == {Topic.CHANGES}:
        return part.intent not in _TOLD | {"qc_task", "query_protocol", "project_info"}
    named = all(asked.slots.subjects for asked in found.asked)
    if part.intent == "qc_task":
        return topics <= _WORK and asks_result(part.text)
    if part.intent in _TOLD:
        return _asks_nonetheless(part, found, named=named)
    unsure = part.confidence < _UNSURE_BELOW
    of_one = part.intent == "analyze_trend" and named and topics == {Topic.DATA}
    if of_one or _goes_on(part, found, unsure):
        return True
    if part.intent == "analyze_trend":
        pace = all(asked.shape is Shape.TARGET_PACE for asked in found.asked)
        return pace or (unsure and _asks_for_subjects(found))
    if part.intent == "query_history":
        return _is_no_history(turn, part, found, named=named)
    if part.intent == "project_info" and topics == {Topic.TARGET}:
        return not _names_a_time(turn, part)
    if part.intent == "query_protocol" and _is_no_rule(part, found, named=named):
        return True
    told = all(_says_whom(part, asked) for asked in found.asked)
    of_data = topics <= _MINE or (topics <= {Topic.DATA, Topic.VISITS} and (named or told))
    return unsure and not found.rules and part.intent in _TAILS | {"off_topic"} and of_data
