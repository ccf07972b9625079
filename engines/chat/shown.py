"""What an answer about subjects has to show: every instance, every value asked for, every note."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from engines import render
from engines.grounding.places import event_names, names_of_places, said_places
from engines.grounding.values import plain
from engines.intents import Part
from engines.tools import Fact, ToolResult
from engines.tools.fields import FieldNames
from engines.tools.repeating import COUNT

_HOW_MANY = re.compile(r"多少|几[例条个项种次]|总数|\bhow many\b|\bnumber of\b", re.IGNORECASE)
_LAST = re.compile(r"最近|最新|最后|末次|目前|现在|\b(?:latest|last|current)\b", re.IGNORECASE)
_FIRST = re.compile(r"首次|第一次|最初|基线|\b(?:first|baseline)\b", re.IGNORECASE)
# What the values are compared with or told by: any of them may answer.
_SOME = re.compile(
    r"上一?次|最高|最低|最大|最小|升高|下降|正常|异常|超|\b(?:highest|lowest|normal)\b",
    re.IGNORECASE,
)
# Long texts may be told in other words.
_LONG = 20
_STATES = re.compile(
    r"超窗|逾期|下一?次|下个|下回|接下来|还有|到期|完成|迟|晚|提前|按时|哪|next|overdue|due|late",
    re.IGNORECASE,
)


def all_of(names: FieldNames, part: Part, results: Sequence[ToolResult]) -> list[Fact]:
    """Facts that must all stand in an answer; [] where one of the read ones will do."""
    if part.intent == "visit_window":
        return [] if _STATES.search(part.text) else list(_each_visit(part.text, results))
    if part.intent != "query_record":
        return []
    found = [
        *_of_groups(part.text, results),
        *_of_fields(names.spoken(part.text), part.text, results),
    ]
    return [fact for fact in dict.fromkeys(found) if len(fact.value) <= _LONG]


def _each_visit(question: str, results: Sequence[ToolResult]) -> Iterator[Fact]:
    """The names of the visits of every subject, or of those that are named."""
    facts = [fact for result in results for fact in result.facts if fact.where]
    said = _said(question, facts) or {fact.where for fact in facts}
    found = dict.fromkeys(fact.where for fact in facts if fact.where in said)
    yield from (Fact("", "visit", (), where) for where in found)


def _of_groups(question: str, results: Sequence[ToolResult]) -> Iterator[Fact]:
    """Of a repeating form the name of every instance, the fields that were asked for, the number."""
    for group in (group for result in results for group in result.groups):
        columns = {name for name, _label in group.columns}
        for entry in group.entries:
            yield from (f for f in entry.facts if not group.whole or f.field not in columns)
    if _HOW_MANY.search(question):
        yield from (f for result in results for f in result.facts if f.field.startswith(COUNT))


def _of_fields(
    spoken: Mapping[str, Sequence[str]], question: str, results: Sequence[ToolResult]
) -> Iterator[Fact]:
    """The values of each field that is named by a word of its own, of all visits."""
    for same, alone in _by_field(spoken, results):
        wanted = _at(same, question)
        yield from wanted if len(wanted) == 1 and (alone or len(same) > 1) else ()


def _by_field(
    spoken: Mapping[str, Sequence[str]], results: Sequence[ToolResult]
) -> Iterator[tuple[list[Fact], bool]]:
    """The values of each field that is asked for; whether a word of the question means only this field."""
    named = {name for fields in spoken.values() for name in fields}
    for result in results:
        grouped = {f for group in result.groups for entry in group.entries for f in entry.facts}
        facts = [f for f in result.facts if f.field in named and f not in grouped]
        visits = {name for f in facts for name in event_names(f.where)}
        own = {fs[0] for word, fs in spoken.items() if len(fs) == 1 and word not in visits}
        for name in dict.fromkeys(f.field for f in facts):
            yield [f for f in facts if f.field == name], name in own


def _at(same: Sequence[Fact], question: str) -> Sequence[Fact]:
    """Of a field's values, in the order of the visits, those that the question wants."""
    said = _said(question, same)
    at = [fact for fact in same if fact.where in said] or same
    if _LAST.search(question):
        return at[-1:]
    if _FIRST.search(question):
        return at[:1]
    return [] if _SOME.search(question) and len(at) > 1 else at


def leaves_out(text: str, names: FieldNames, part: Part, results: Sequence[ToolResult]) -> bool:
    """Whether an answer goes through the visits of a field and leaves some out without a word.

    One value that it chose is an answer; the first four of six read like all of them.
    """
    if part.intent != "query_record":
        return False
    for same, _alone in _by_field(names.spoken(part.text), results):
        said = _said(text, same)
        wanted = {fact.where for fact in _at(same, part.text)}
        narrowed = bool(said) and len(wanted) < len({fact.where for fact in same})
        if not wanted <= said and (narrowed or len(said) > 1):
            return True
    return False


def _said(text: str, facts: Iterable[Fact]) -> set[str]:
    """The places of the facts that a text names, each by a name of its own."""
    found = said_places(plain(text), names_of_places(facts))
    places = [{where for _subject, where in one.places} for one in found]
    return set().union(*(wheres for wheres in places if len(wheres) == 1))


def with_all(results: Sequence[ToolResult], limit: int, words: Callable[[int], str]) -> str:
    """`words` in the room that is left by what every answer has to say, and that behind them."""
    must = render.unsaid(results)
    room = max(limit - sum(len(line) + 1 for line in must), limit // 2)
    text = words(room)
    folded = plain(text).casefold()
    left = [line for line, note in must.items() if plain(note).casefold() not in folded]
    return "\n".join(filter(None, [text, *left]))
