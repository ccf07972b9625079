"""Figures over subjects: counts, shares, averages, and their groups, with what they count and over what."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from core.rules.values import Reason
from engines.assistant.read.question import Query
from engines.assistant.say import conditions, words
from engines.assistant.say.parts import Part, joined, joint
from engines.assistant.say.reader import Reader
from study.facts import Answer, Fact, Group, json_value

_PERIODS = ("month:", "week:", "quarter:")


def word_figures(
    query: Query,
    answer: Answer,
    pairs: Sequence[tuple[Fact, Group | None]],
    reader: Reader,
    marks: Sequence[str],
    as_rows: bool = False,
) -> Part:
    """已入组 27 例; of several groups one sentence in their order; `pairs`: those that are told."""
    if pairs and pairs[0][1] is not None:
        return _grouped(query, answer, pairs, reader, marks)
    fact = pairs[0][0]
    if fact.field == "@project.target":
        return Part(
            _("planned: %(count)s subjects") % {"count": json_value(fact.value)},
            (),
            marks=tuple(marks),
        )
    what, figure = (
        name(query, fact, None, reader),
        word_figure(query, answer, fact, None, reader, as_rows),
    )
    if what[-1:].isdigit() and query.get("aggregate") == "count":
        # Two numbers with a colon between are a time.
        said = _("with %(what)s there are %(count)s") % {"what": what, "count": figure}
        return Part(said, marks=tuple(marks))
    between = pgettext("before a figure", ": ")
    return Part(f"{what}{between}{figure}", marks=tuple(marks))


def _grouped(
    query: Query,
    answer: Answer,
    pairs: Sequence[tuple[Fact, Group | None]],
    reader: Reader,
    marks: Sequence[str],
) -> Part:
    """男 15 例、女 12 例; of periods without rows it is only said that there were none."""
    periods = any(str(key).startswith(_PERIODS) for key in query.get("by") or ())
    filled = [pair for pair in pairs if pair[1] and pair[1].rows]
    is_all = len(pairs) == len(answer.groups)
    shown = filled if periods and filled and is_all else list(pairs)
    items = [
        (f"{name(query, f, g, reader)} {word_figure(query, answer, f, g, reader)}",)
        for f, g in shown
    ]
    notes = [_("none in the others")] if len(shown) < len(pairs) else []
    head = about(query, pairs[0][0], reader)
    # Of the groups in their order only the first were asked for: the others are not left out.
    left_out = 0 if query.get("order") else answer.left_out
    weights = tuple(range(len(items))) if periods else ()
    return Part(
        head,
        tuple(items),
        tails=tuple(notes),
        marks=tuple(marks),
        weights=weights,
        left_out=left_out,
        key=("figures", head),
    )


def about(query: Query, fact: Fact | None, reader: Reader) -> str:
    """What is counted or measured and over whom, before its number: 演示医院A 2026-10 已入组."""
    by = query.get("by") or ()
    is_count = query.get("aggregate") in ("count", "share")
    chosen = conditions.described(query, reader, beside_topic=is_count)
    what = f"{conditions.topic(query) if is_count else ''} {chosen}".strip()
    blank_only = what and all(c.get("op") == "blank" for c in query.get("where") or ())
    if is_count and (not what or blank_only):
        # 在用几种药: what is not filled in does not say what is counted.
        selected = query.get("select") or ()
        names = [conditions.topic_of(str(n)) or conditions.operand(n, reader) for n in selected]
        what = joint().join([*names, *([what] if what else [])])
    if not is_count and fact is not None:
        what = f"{what} {joined(measured(query, fact, reader), _how(query))}".strip()
    when = (
        "" if any(str(key).startswith(_PERIODS) for key in by) else conditions.period(query, reader)
    )
    who = joint().join(query.get("subjects") or ())
    site = "" if "@site" in by else conditions.scope(query, reader)
    place = "" if "event" in by else conditions.places(query, reader)
    among = _among(query, reader)
    if not what and is_count and (query.get("period") or {}).get("field"):
        label = conditions.name_of(str(query["period"]["field"]), reader)
        what, when = _("%(label)s in %(period)s") % {"label": label, "period": when}, ""
    return joined(who or site, when, place, among, what)


def _among(query: Query, reader: Reader) -> str:
    """已入组者中, of whom a share is."""
    # The site stands before it.
    limit = conditions.site_of(query)
    told = conditions.worded([c for c in query.get("of") or () if c != limit], reader)
    return _("among %(what)s") % {"what": told} if told else ""


def measured(query: Query, fact: Fact, reader: Reader) -> str:
    """The label of what is averaged; 入组日期至首次用药日期 of the days between."""
    item = next(iter(query.get("select") or ()), None)
    if not fact.field or item is None:
        return fact.label
    own = item if isinstance(item, dict) else {"field": item}
    return conditions.operand({"rows": query.get("rows")} | own, reader)


def _how(query: Query) -> str:
    names = {
        "mean": _(" on average"),
        "median": _(" in the median"),
        "min": _(" lowest"),
        "max": _(" highest"),
        "sum": _(" in total"),
    }
    return names.get(str(query.get("aggregate")), "").strip()


def name(query: Query, fact: Fact, group: Group | None, reader: Reader) -> str:
    """A group by its labels; a figure of nobody in particular by what it counts."""
    if group is None:
        return about(query, fact, reader) or _("subjects")
    labels = fact.label.split(" · ")[-len(group.by) :]
    named = zip(query.get("by") or (), group.by, labels, strict=True)
    return " ".join(
        _("not filled in")
        if code is None
        else words.site_name(str(code), reader)
        if key == "@site"
        else words.event_name(str(code), reader)
        if key == "event"
        else label
        for key, code, label in named
    )


def _is_open(answer: Answer) -> bool:
    """Whether nothing was counted because nothing could be: of nobody it could be told, or REDCap hides it."""
    unread = any(one.reason == Reason.NOT_EXPORTED for one in answer.undecided)
    return unread or 0 < answer.basis.subjects <= len(answer.undecided)


def word_figure(
    query: Query,
    answer: Answer,
    fact: Fact,
    group: Group | None,
    reader: Reader,
    as_rows: bool = False,
) -> str:
    """The figure: 27 例, 5 条(3 例), 44.4%(12/27), 55.7(27 个数值); `as_rows`: rows, not subjects."""
    aggregate = query.get("aggregate")
    rows = group.rows if group else answer.basis.rows
    if group is None and not rows and _is_open(answer):
        return _("cannot be told")
    if aggregate == "count":
        people = int(json_value(group.count if group else fact.value) or 0)
        entries, several = _("%(count)s entries") % {"count": rows}, query.get("select")
        if group and "@subject" in (query.get("by") or ()):
            return entries
        one = len(query.get("subjects") or ()) == 1
        if rows != people and (group or several or conditions.topic(query)) and people and not one:
            return entries + words.bracketed(words.people(people))
        return (
            entries
            if as_rows or (one and several) or conditions.topic(query)
            else words.people(people)
        )
    if fact.value is None:
        return _("no value") if aggregate != "share" else _("nobody to count among")
    of_whom = words.people(group.count) if group else ""
    if aggregate == "share" and isinstance(fact.value, Decimal | int):
        held = int((Decimal(fact.value) * rows).to_integral_value())
        return f"{words.rounded(Decimal(fact.value) * 100, 1)}%" + words.bracketed(f"{held}/{rows}")
    missing = answer.basis.missing if not group else 0
    note = _("%(count)s subjects have no value") % {"count": missing} if missing else ""
    over = of_whom or (_("%(count)s values") % {"count": rows} if rows else "")
    return words.value(fact, reader) + words.bracketed(over, note)
