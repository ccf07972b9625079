"""Facts as lines of a prompt (contracts.md, "In a prompt"), and behind each result its scope."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import zip_longest

from core.privacy.fold_text import one_line
from engines.assistant.read.question import Query, Question
from engines.assistant.say import case, conditions, figures, words
from engines.assistant.say.parts import joint
from engines.assistant.say.quotes import newest
from engines.assistant.say.reader import Reader
from engines.assistant.say.rows import WORK, Row, by_subject, rows_of
from engines.assistant.say.sheet import Answered, Line, Scope, Sheet, Source
from study.facts import Answer, Fact, Flag, Group, Kind, json_value

JOINT = " · "
MOST_SINGLE = 3
"""So many values of a form at one event have a line each."""
MOST_NAMED = 60
_NAMES = {Kind.FINDING: "疑点", Kind.REVIEW: "待审核", Kind.RUN: "质控", Kind.CHANGE: "数据变更"}
_ENDS = {"highest": "最高", "lowest": "最低"}


@dataclass
class Builder:
    """Lines as they are collected: each once, numbered by the kind of its source.

    `masked` is the privacy gate: nothing gets into a line that it has not passed, and a fact whose line held
    what identifies somebody is masked, too.
    """

    masked: Callable[[str], str] = str
    lines: list[Line] = field(default_factory=list)
    _numbers: Counter[Source] = field(default_factory=Counter)
    _said: dict[str, Line] = field(default_factory=dict)

    def add(self, lines: Iterable[Line]) -> tuple[str, ...]:
        """The marks of lines, in order, whether they were there or not; a report has its own."""
        return tuple(dict.fromkeys(self._marked(line).mark for line in lines))

    def _marked(self, line: Line) -> Line:
        text = self.masked(line.text)
        text = one_line(text) if line.source is Source.FACT else text
        key = f"{line.section}\n{text}"
        if key not in self._said:
            self._numbers[line.source] += 1
            mark = line.mark or f"{line.source}{self._numbers[line.source]}"
            is_same = text == line.text
            facts = line.facts if is_same else tuple(map(self._of_fact, line.facts))
            self._said[key] = replace(line, mark=mark, text=text, facts=facts)
            self.lines.append(self._said[key])
        return self._said[key]

    def _of_fact(self, fact: Fact) -> Fact:
        text = self.masked(fact.text)
        return fact if text == fact.text else replace(fact, text=text, value=text)

    def answered(
        self, question: Question, results: Sequence[tuple[Query, Answer]], reader: Reader
    ) -> Answered:
        """A question of data with the lines that its answers were listed in."""
        lines = [line for query, own in results for line in fact_lines(query, own, reader)]
        return Answered(question, tuple(results), self.add(lines))


def sheet_of(builder: Builder, reader: Reader, answered: Sequence[Answered] = ()) -> Sheet:
    """The lines that were collected, and which questions they answer."""
    return Sheet(
        tuple(newest(builder.lines)),
        reader.today,
        reader.design,
        tuple(answered),
        frozenset(reader.subjects),
        dict(reader.sites),
    )


def text_of(lines: Iterable[Line]) -> str:
    """The lines as a prompt lists them."""
    return "\n".join(f"[{line.mark}] {line.text}" for line in lines)


def fact_lines(query: Query, answer: Answer, reader: Reader) -> Iterator[Line]:
    """The facts of an answer and behind them what they are the whole of."""
    scope = scope_of(query, answer, reader)
    yield from _figures(query, answer, reader, scope)
    # A group by subject is a figure, though it has a subject.
    own = () if query.get("aggregate") else tuple(fact for fact in answer.facts if fact.subject)
    if is_overview(query, reader):
        yield from _together(own, reader, scope)
    else:
        yield from _rows(own, reader, scope)
    if query.get("subjects"):
        yield from _of_named(query, answer, reader, scope)
    elif not query.get("aggregate") and all(fact.subject for fact in answer.facts):
        yield _of_all(query, answer, reader, scope)


def scope_of(query: Query, answer: Answer, reader: Reader) -> Scope:
    """Named subjects who are there, else all that the reader may see."""
    named = [one for one in query.get("subjects") or () if one in reader.subjects]
    everybody = tuple(named) if query.get("subjects") else tuple(sorted(reader.subjects))
    listed = len(rows_of([fact for fact in answer.facts if fact.subject])) + answer.left_out
    whole = not (answer.left_out or answer.undecided)
    count = answer.basis.rows if query.get("aggregate") else listed
    return Scope(query, everybody, count, whole, answer)


def is_overview(query: Query, reader: Reader) -> bool:
    """Whether fields of several forms are asked for that subjects fill in once: they are told in one line."""
    names = [one for one in query.get("select") or () if isinstance(one, str)]
    fields = [name for name in names if name in reader.design.metadata.fields]
    forms = {reader.design.form_of(name) for name in fields}
    return len(forms) > 1 and fields == names and not any(_repeats(f, reader) for f in forms)


# --- values and rows ------------------------------------------------------------------------------


def _together(facts: Sequence[Fact], reader: Reader, scope: Scope) -> Iterator[Line]:
    for subject, rows in by_subject(rows_of(facts)).items():
        own = tuple(fact for row in rows for fact in row.facts)
        told = "; ".join(f"{fact.label} = {value(fact, reader)}" for fact in own)
        yield Line("", Source.FACT, f"{subject}: {told}", own, scope)


def _rows(facts: Sequence[Fact], reader: Reader, scope: Scope) -> Iterator[Line]:
    for row in rows_of(facts):
        if row.first.kind is Kind.SUBJECTS:
            continue
        if _is_whole(row, reader):
            yield Line("", Source.FACT, whole(row, reader), row.facts, scope)
        else:
            for fact in row.facts:
                yield Line("", Source.FACT, single(fact, reader), (fact,), scope)


def _is_whole(row: Row, reader: Reader) -> bool:
    """Repeating rows, visits and work are told as a whole, forms that are filled in once, and many values of
    one day."""
    if row.first.kind in (Kind.WINDOW, *WORK) or row.first.instance is not None:
        return True
    return len(row.facts) > (1 if len(_events(row.first, reader)) == 1 else MOST_SINGLE)


def _events(fact: Fact, reader: Reader) -> list[str]:
    forms = reader.design.context.forms_by_event
    return [event for event, held in forms.items() if fact.instrument in held]


def single(fact: Fact, reader: Reader) -> str:
    """`P016 · 谷丙转氨酶ALT（U/L） · V2 · 2026-09-03 = 185 (高于上限 40)`"""
    where = words.event_name(fact.event, reader) if fact.event else ""
    day = fact.date if fact.date and fact.date != fact.value else ""
    head = JOINT.join(filter(None, [fact.subject, fact.label, where, day]))
    return f"{head} = {value(fact, reader)}"


def value(fact: Fact, reader: Reader) -> str:
    """As read, with the unit that the label does not say and the limit it is judged by."""
    if words.is_blank(fact) and fact.value != ():
        return "未填写"
    if fact.field == "@site":
        return f"{fact.value} {words.site_name(str(fact.value), reader)}"
    in_label = bool(fact.unit) and fact.unit in fact.label
    told = words.value(fact, reader, bare=in_label or not fact.unit)
    notes = _limits(fact)
    if (
        fact.field in reader.design.unit_fields
        and not fact.unit
        and isinstance(fact.value, Decimal)
    ):
        notes.append("单位未填写")
    return told + (f" ({', '.join(notes)})" if notes else "")


def _limits(fact: Fact) -> list[str]:
    """Which way the value may not go: 高于上限 40, 上限 40 (higher is worse), 低于下限 3.5."""
    if fact.limit is None or not isinstance(fact.value, Decimal):
        return []
    sides = (
        ("低于下限" if Flag.LOW in fact.flags else "下限", fact.limit.low),
        ("高于上限" if Flag.HIGH in fact.flags else "上限", fact.limit.high),
    )
    return [f"{name} {json_value(limit)}" for name, limit in sides if limit is not None]


def whole(row: Row, reader: Reader) -> str:
    """`P003 · 不良事件#1: 不良事件名称 = 乏力; CTCAE分级 = 1级; …`"""
    first = row.first
    if first.kind is Kind.WINDOW:
        return _visit(row, reader)
    name = _NAMES.get(first.kind) or reader.design.metadata.form_label(first.instrument)
    number = "" if first.instance is None else f"#{first.instance}"
    several = len(_events(first, reader)) > 1
    place = [words.event_name(first.event, reader), first.date] if several else []
    head = JOINT.join(filter(None, [first.subject, f"{name}{number}", *place]))
    return f"{head}: " + "; ".join(f"{fact.label} = {value(fact, reader)}" for fact in row.facts)


def _visit(row: Row, reader: Reader) -> str:
    """`P005 · V3 访视: 状态 = 已超窗 13 天; 目标日期 = …; 窗口开放日 = …; 访视日期 = 未填写`"""
    visit = row.text("@visits.visit") or words.event_name(row.first.event, reader)
    said, state, days = [], row.text("@visits.state"), row.text("@visits.days").lstrip("-")
    if state:
        label = conditions.choices("@visits.state", reader).get(state) or state
        late = f" {days} 天" if days not in ("", "0") else ""
        said.append(f"状态 = {label}{late}{words.bracketed(row.text('@visits.reason'))}")
    for fact in row.facts:
        if fact.field not in ("@visits.visit", "@visits.state", "@visits.days", "@visits.reason"):
            said.append(f"{fact.label.removeprefix(visit).strip()} = {value(fact, reader)}")
    return f"{row.subject}{JOINT}{visit} 访视: " + "; ".join(said)


# --- figures and scopes ---------------------------------------------------------------------------


def _figures(query: Query, answer: Answer, reader: Reader, scope: Scope) -> Iterator[Line]:
    """`已入组 · site_a 演示医院A = 15 例`; what they count and over what."""
    facts = [fact for fact in answer.facts if query.get("aggregate") or not fact.subject]
    for fact, group in zip_longest(facts, answer.groups[: len(facts)]):
        if fact.field == "@project.target":
            text = f"{fact.label}(目标) = {value(fact, reader)} 例"
        else:
            what = figures.about(query, fact, reader)
            name = _group(query, fact, group, reader) if group else ""
            head = JOINT.join(filter(None, [what, name]))
            text = f"{head or '受试者'} = {figures.word_figure(query, answer, fact, group, reader)}"
            if group is None and answer.undecided:
                text += f", {len(answer.undecided)} 例无法判断"
        yield Line("", Source.FACT, text, (fact,), scope, group=group)


def _group(query: Query, fact: Fact, group: Group, reader: Reader) -> str:
    """A group by its labels; a site by its code, too, a status by what it is the status of."""
    name, by = figures.name(query, fact, group, reader), list(query.get("by") or ())
    if by == ["@site"] and group.by[0]:
        return f"{group.by[0]} {name}"
    return f"{conditions.name_of('@status', reader)} {name}" if by == ["@status"] else name


def _of_named(query: Query, answer: Answer, reader: Reader, scope: Scope) -> Iterator[Line]:
    """`P003 · 不良事件 · 共 2 条,全部列出`; `P099 · 无此受试者`."""
    items = [one for one in query.get("select") or () if isinstance(one, str)]
    rows = rows_of(answer.facts)
    for subject in query["subjects"]:
        if subject not in reader.subjects:
            gone = Scope(query, (), 0, True, answer)
            yield Line("", Source.FACT, f"{subject}{JOINT}无此受试者", (), gone)
            continue
        for item in items if not query.get("rows") and not query.get("aggregate") else ():
            form = reader.design.form_of(item)
            own = [r for r in rows if r.subject == subject and r.first.instrument == form]
            if item.startswith("@") or not _repeats(form, reader):
                continue
            name = conditions.name_of(item, reader)
            how = case.chosen(query, reader)
            told = JOINT.join([subject, f"{name}({how})" if how else name, _count(len(own), scope)])
            one = Scope(query, (subject,), len(own), scope.is_complete, answer)
            yield Line("", Source.FACT, told, (), one)


def _repeats(form: str, reader: Reader) -> bool:
    """Whether a subject can have several rows of a form: the number of them says something."""
    events = [e for e, held in reader.design.context.forms_by_event.items() if form in held]
    return form in reader.design.repeating_forms or len(events) > 1


def _count(rows: int, scope: Scope) -> str:
    if not scope.is_complete:
        return f"列出 {rows} 条,不是全部"
    return f"共 {rows} 条,全部列出" if rows else "共 0 条,已全部读取,没有记录"


def _of_all(query: Query, answer: Answer, reader: Reader, scope: Scope) -> Line:
    """`读取范围: 您可见的 20 例,全部读到; 符合 SAE: 2 例: P003、P010`."""
    what = case.chosen(query, reader, conditions.described(query, reader))
    who = list(dict.fromkeys(fact.subject for fact in answer.facts if fact.subject))
    text = f"读取范围: 您可见的 {answer.basis.subjects} 例,全部读到"
    rows, names = query.get("rows"), [n for n in query.get("select") or () if isinstance(n, str)]
    if isinstance(rows, str) and rows in _ENDS and query.get("order") and names:
        text += f",{len(answer.undecided)} 例无法判断" if answer.undecided else ""
        end = f"{conditions.name_of(names[0], reader)}{_ENDS[rows]}"
        return Line("", Source.FACT, f"{text}; {end}: {joint().join(who[:MOST_NAMED])}", (), scope)
    if answer.undecided:
        text += f",{len(answer.undecided)} 例无法判断"
    some = "" if scope.count in (0, len(who)) else f" {scope.count} 条"
    found = f"; 符合{f' {what}' if what else ''}: {len(who)} 例{some}"
    if answer.left_out:
        found += f",另有 {answer.left_out} 条未列出"
    elif who:
        found += f",全部列出: {joint().join(who[:MOST_NAMED])}"
    listed = tuple(fact for fact in answer.facts if fact.kind is Kind.SUBJECTS)
    return Line("", Source.FACT, text + found, listed, scope)
