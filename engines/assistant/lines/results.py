"""What claims of number and absence hang on: figures, and of each result its scope and count."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from engines.assistant.answer import conditions, words
from engines.assistant.answer.reader import Reader
from engines.assistant.answer.rows import rows_of
from engines.assistant.lines import facts
from engines.assistant.lines.types import Line, Scope, Source
from engines.assistant.understand.types import Query
from study.facts import Answer, Fact, Group, Kind

MOST_NAMED = 60
_ENDS = {"highest": "最高", "lowest": "最低"}


def lines_of(query: Query, answer: Answer, reader: Reader) -> Iterator[Line]:
    """The facts of an answer and behind them what they are the whole of."""
    scope = scope_of(query, answer, reader)
    yield from _figures(query, answer, reader, scope)
    apart = is_overview(query, reader)
    yield from facts.lines_of(answer.facts, reader, scope, together=apart)
    if query.get("subjects"):
        yield from _of_named(query, answer, reader, scope)
    elif not query.get("aggregate") and all(fact.subject for fact in answer.facts):
        yield _of_all(query, answer, reader, scope)


def is_overview(query: Query, reader: Reader) -> bool:
    """Whether fields of several forms are asked for that subjects fill in once: they are told in one line."""
    names = [one for one in query.get("select") or () if isinstance(one, str)]
    fields = [name for name in names if name in reader.design.metadata.fields]
    forms = {reader.design.form_of(name) for name in fields}
    return len(forms) > 1 and fields == names and not any(_repeats(f, reader) for f in forms)


def scope_of(query: Query, answer: Answer, reader: Reader) -> Scope:
    """Named subjects who are there, else all that the reader may see."""
    named = [one for one in query.get("subjects") or () if one in reader.subjects]
    everybody = tuple(named) if query.get("subjects") else tuple(sorted(reader.subjects))
    listed = len(rows_of([fact for fact in answer.facts if fact.subject])) + answer.left_out
    whole = not (answer.left_out or answer.undecided)
    count = answer.basis.rows if query.get("aggregate") else listed
    return Scope(query, everybody, count, whole)


def _figures(query: Query, answer: Answer, reader: Reader, scope: Scope) -> Iterator[Line]:
    """`已入组 · site_a 演示医院A = 15 例`, computed values of nobody in particular."""
    plain = [fact for fact in answer.facts if not fact.subject]
    groups: list[Group | None] = [*answer.groups] if answer.groups else [None] * len(plain)
    for fact, group in zip(plain, groups, strict=False):
        who = "、".join(query.get("subjects") or ())
        visits = "访视" if _of_visits(query) else ""
        parts = [who, visits, _what(query, reader), _label(query, fact, reader)]
        text = f"{facts.JOINT.join(filter(None, parts))} = {_figure(query, fact, group, reader)}"
        if group is None and query.get("aggregate") == "count" and _of_visits(query):
            text += f", {answer.basis.rows} 条"
        if group is None and (query.get("aggregate") or "") not in ("", "count"):
            text += f" ({_over(query, answer)})"
        yield Line("", Source.FACT, text, (fact,), scope)


def _label(query: Query, fact: Fact, reader: Reader) -> str:
    """A target is called so, whatever the console calls it; a status what it is the status of."""
    if fact.field == "@project.target":
        return f"{fact.label}(目标)"
    by = [name for name in query.get("by") or () if name == "@status"]
    return " ".join([*(conditions.name_of(name, reader) for name in by), fact.label]).strip()


def _figure(query: Query, fact: Fact, group: Group | None, reader: Reader) -> str:
    aggregate = query.get("aggregate")
    if aggregate == "share" and isinstance(fact.value, Decimal | int):
        return f"{words.rounded(Decimal(fact.value) * 100, 1)}%"
    if aggregate == "count" and group and group.rows != group.count:
        return f"{group.count} 例, {group.rows} 条"
    counts = aggregate == "count" or fact.field == "@project.target"
    return f"{facts.value(fact, reader)} 例" if counts else facts.value(fact, reader)


def _over(query: Query, answer: Answer) -> str:
    """Over how many a figure is; a share of those of whom `of` holds counts them alone."""
    rest = f", {len(answer.undecided)} 例无法判断" if answer.undecided else ""
    narrowed = query.get("aggregate") == "share" and query.get("of")
    return f"{answer.basis.rows if narrowed else answer.basis.subjects} 例中{rest}"


def _what(query: Query, reader: Reader) -> str:
    """What the rows were chosen by, in words."""
    said = (conditions.of(one, reader) for one in query.get("where") or ())
    sites = [_site(one, reader) for one in query.get("where") or () if one.get("field") == "@site"]
    return "、".join(filter(None, [*sites, *said]))


def _of_visits(query: Query) -> bool:
    """Whether visits are counted, of which somebody has many."""
    return any(str(c.get("field")).startswith("@visits") for c in query.get("where") or ())


def _site(condition: Mapping[str, Any], reader: Reader) -> str:
    codes = condition.get("value")
    return "、".join(
        f"{code} {words.site_name(code, reader)}"
        for code in ([codes] if isinstance(codes, str) else codes or [])
    )


def _of_named(query: Query, answer: Answer, reader: Reader, scope: Scope) -> Iterator[Line]:
    """`P003 · 不良事件 · 共 2 条,全部列出`; `P099 · 无此受试者`."""
    items = [one for one in query.get("select") or () if isinstance(one, str)]
    rows = rows_of(answer.facts)
    for subject in query["subjects"]:
        if subject not in reader.subjects:
            gone = Scope(query, (), 0, True)
            yield Line("", Source.FACT, f"{subject}{facts.JOINT}无此受试者", (), gone)
            continue
        for item in items:
            form = reader.design.form_of(item)
            own = [r for r in rows if r.subject == subject and r.first.instrument == form]
            if not item.startswith("@") and not query.get("rows") and _repeats(form, reader):
                told = facts.JOINT.join([subject, _chosen(query, item, reader), _count(len(own))])
                one = Scope(query, (subject,), len(own), scope.is_complete)
                yield Line("", Source.FACT, told, (), one)


def _repeats(form: str, reader: Reader) -> bool:
    """Whether a subject can have several rows of a form: the number of them says something."""
    events = [e for e, held in reader.design.context.forms_by_event.items() if form in held]
    return form in reader.design.repeating_forms or len(events) > 1


def _chosen(query: Query, item: str, reader: Reader) -> str:
    what = _what(query, reader)
    name = conditions.name_of(item, reader)
    places = query.get("place") or ()
    where = "、".join([places] if isinstance(places, str) else places)
    return " ".join(filter(None, [where, f"{name}({what})" if what else name]))


def _count(rows: int) -> str:
    return f"共 {rows} 条,全部列出" if rows else "共 0 条,已全部读取,没有记录"


def _of_all(query: Query, answer: Answer, reader: Reader, scope: Scope) -> Line:
    """`读取范围: 您可见的 20 例,全部读到; 符合 SAE: 2 例: P003、P010`."""
    what = _what(query, reader)
    who = list(dict.fromkeys(fact.subject for fact in answer.facts if fact.subject))
    text = f"读取范围: 您可见的 {answer.basis.subjects} 例,全部读到"
    if end := _end(query, reader):
        return Line("", Source.FACT, f"{text}; {end}: {'、'.join(who[:MOST_NAMED])}", (), scope)
    if answer.undecided:
        text += f",{len(answer.undecided)} 例无法判断"
    rows = "" if scope.count in (0, len(who)) else f" {scope.count} 条"
    found = f"; 符合{f' {what}' if what else ''}: {len(who)} 例{rows}"
    if answer.left_out:
        found += f",另有 {answer.left_out} 条未列出"
    elif who:
        found += f",全部列出: {'、'.join(who[:MOST_NAMED])}"
    listed = tuple(fact for fact in answer.facts if fact.kind is Kind.SUBJECTS)
    return Line("", Source.FACT, text + found, listed, scope)


def _end(query: Query, reader: Reader) -> str:
    """用药依从性（%）最低 for the end of an order over all."""
    rows, order = query.get("rows"), query.get("order")
    item = next((one for one in query.get("select") or () if isinstance(one, str)), "")
    said = _ENDS.get(rows) if isinstance(rows, str) else None
    return f"{conditions.name_of(item, reader)}{said}" if said and order and item else ""
