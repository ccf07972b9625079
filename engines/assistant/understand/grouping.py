"""Counts, means and shares, and the groups that they are asked for."""

from __future__ import annotations

from dataclasses import replace

from engines.assistant.understand.clause import Clause
from engines.assistant.understand.found import Conditions, is_flag
from engines.assistant.understand.row_choice import MOST, number_behind
from engines.assistant.understand.tokens import CODED, Kind, Reading, Token
from engines.assistant.understand.types import Query, Slots
from rules.context import Kind as ColumnKind

_THAN = ("多", "少", "高", "低", "大", "小", "好", "差")
_SITES = ("中心", "医院")


def shared(clause: Clause, found: Conditions, slots: Slots) -> Slots:
    """The slots with what a share is of and over: conditions before 里 are the denominator."""
    rows = [name for name in slots.select if clause.setting.repeats(name)]
    if clause.has(Kind.SHARE) and rows and not slots.where:
        # 并发症发生率: of those who have a row.
        filled = {"field": clause.setting.naming_field(rows[0]), "op": "filled"}
        return replace(slots, aggregate="share", where=(filled,), select=())
    if not clause.has(Kind.SHARE) or not slots.where:
        return slots
    among = next((i for i, t in enumerate(clause.tokens) if t.kind is Kind.AMONG), None)
    base = [
        c for c, at in zip(found.where, found.at, strict=True) if among is not None and at < among
    ]
    part = [c for c in found.where if c not in base]
    if among is not None and not base:
        forms = [t.name for t in clause.tokens[:among] if t.kind is Kind.FORM]
        named = [clause.setting.naming_field(f) for f in forms if clause.setting.repeats(f)]
        base = [{"field": name, "op": "filled"} for name in named]
    if not part:
        base, part = [], list(found.where)
    if not base:
        base = [c for c in part if c.get("field") == "@enrolled" and len(part) > 1]
        part = [c for c in part if c not in base]
    if not base and _of_the_enrolled(clause, part):
        base = [{"field": "@enrolled", "op": "filled"}]
    both = "count,share" if clause.has(Kind.COUNT, Kind.COUNT_ROWS) else "share"
    return replace(slots, aggregate=both, where=tuple(part), of=tuple(base), select=())


def _of_the_enrolled(clause: Clause, part: list[Query]) -> bool:
    """脱落率: who was never enrolled cannot drop out."""
    told = {Reading(str(c.get("field")), str(c.get("value"))) for c in part if c.get("op") == "="}
    return len(told) == len(part) and told <= clause.setting.vocabulary.enrolled_choices


def grouped(clause: Clause, found: Conditions, slots: Slots) -> Slots:
    """The slots with the groups a clause names; conditions on what is grouped by go."""
    if slots.subjects and clause.has(Kind.EACH_SITE) and not (slots.select or slots.where):
        # P032是哪个中心的
        return replace(slots, select=("@site",))
    by: list[str] = []
    told_apart = clause.has(Kind.EACH, Kind.COUNT, Kind.AGGREGATE, Kind.SHARE, Kind.WHO)
    which = any(t.said.startswith("哪") for t in clause.all(Kind.WHAT))
    # B中心AE报得多还是A中心多: a comparison with nothing but the other site.
    than = any(t.said in _THAN for t in clause.tokens)
    apart = len(slots.site) > 1 and (told_apart or which or than)
    if clause.has(Kind.EACH_SITE) or apart:
        by.append("@site")
    by += [name for name in _coded_after_each(clause) if name not in by]
    by += [name for name in _split_choices(clause, slots) if name not in by]
    if clause.has(Kind.AGGREGATE) and (len(slots.place) > 1 or clause.has(Kind.ROWS, value="each")):
        by.append("event")
    for token in clause.all(Kind.GROUP):
        by.append(_time_group(clause, slots, token))
    by = [name for name in by if name][:2]
    most = next((t for t in clause.all(Kind.ROWS) if t.value in MOST), None)
    rows = slots.select and all(clause.setting.repeats(name) for name in slots.select)
    if most and by and clause.has(Kind.GROUP):
        # 入组最多的是哪个月: the group that has most.
        order, limit = MOST[most.value] + "value", number_behind(clause, most)
        slots = replace(slots, order=order, limit=limit)
    if most and rows and not by and (clause.has(Kind.WHO) or _ends_with_which(clause)):
        by = ["@subject"]
        order, limit = MOST[most.value] + "value", number_behind(clause, most)
        slots = replace(slots, order=order, limit=limit)
    if not by and not slots.where and not slots.subjects and _spread(clause):
        by = [n for n in slots.select if clause.setting.column_kind(n) is ColumnKind.CODE]
    if not by:
        return slots
    if clause.has(Kind.DIFFERENCE):
        slots = replace(slots, aspect="difference")
    where = tuple(c for c in slots.where if c.get("field") not in by)
    select = tuple(name for name in slots.select if name not in by)
    return replace(slots, by=tuple(by), where=where, select=select)


def _ends_with_which(clause: Clause) -> bool:
    """AE最多的是哪个: whoever has most."""
    return bool(clause.tokens) and clause.tokens[-1].said in ("哪个", "哪一个")


def _coded_after_each(clause: Clause) -> list[str]:
    """按性别, 各分期, 按性别和中心: the coded fields right behind an each, and those joined to them."""
    found, open_, sites = list[str](), False, False
    for token in clause.tokens:
        coded = token.kind is Kind.FIELD and (
            clause.setting.column_kind(token.name) in CODED or token.name == "@status"
        )
        # 各中心SAE例数: a yes or no right behind the sites says what is counted in each.
        coded = coded and not (sites and is_flag(clause, token.name))
        if token.kind in (Kind.EACH, Kind.EACH_SITE):
            open_, sites = True, token.kind is Kind.EACH_SITE
        elif open_ and coded:
            found.append(token.name)
        elif open_ and found and token.said in _SITES:
            found.append("@site")
        elif token.kind is not Kind.AND:
            open_ = False
    return found


def _spread(clause: Clause) -> bool:
    """突变的有几例, 性别分布: a coded field alone is counted by what it says."""
    return clause.has(Kind.COUNT) or clause.has(Kind.WHAT, value="spread")


def _split_choices(clause: Clause, slots: Slots) -> list[str]:
    """男的几个女的几个: two choices of one field, each counted."""
    counted = max(len(clause.all(kind)) for kind in (Kind.COUNT, Kind.AGGREGATE)) > 1 or clause.has(
        Kind.EACH
    )
    counted = counted or clause.has(Kind.DIFFERENCE)
    groups = [c["field"] for c in slots.where if c.get("op") == "in"]
    return groups if counted and isinstance(groups, list) else []


def _time_group(clause: Clause, slots: Slots, token: Token) -> str:
    if token.value in ("subject", "event"):
        return "@subject" if token.value == "subject" else "event"
    design = clause.setting.design
    named = [*slots.select, *(str(c.get("field", "")) for c in slots.where)]
    setting = clause.setting
    onsets = setting.vocabulary.onsets.items()
    days = {
        **design.form_dates,
        **{f: n for f, n in onsets if setting.column_kind(n) is ColumnKind.DATE},
    }
    forms = [n if n in days else design.form_of(n) for n in named]
    dated = next((days[form] for form in forms if form in days), "")
    return f"{token.value}:{dated or design.enrolment_field}"


def aggregated(clause: Clause, slots: Slots) -> Slots:
    """The slots with the figure over subjects that a clause asks for."""
    if slots.aggregate:
        return slots
    kinds = clause.values(Kind.AGGREGATE)
    listed = slots.select and all(clause.setting.repeats(name) for name in slots.select)
    counted = clause.has(Kind.COUNT, Kind.COUNT_ROWS) or bool(listed and "多少" in clause.said)
    counted = counted or _of_people(clause, slots)
    if _of_free_text(clause, slots):
        return slots
    if kinds and _measured(clause, slots, counted):
        named = {c.get("field") for c in slots.where}
        fields = [n for n in slots.select if n not in named] or list(slots.select)
        coded = [n for n in fields if clause.setting.column_kind(n) in CODED]
        fields = [n for n in fields if n not in coded] or coded
        by = tuple(dict.fromkeys([*slots.by, *(n for n in coded if n not in fields)]))[:2]
        if clause.has(Kind.LASTED):
            # AE平均持续几天: each row lasted, not each subject.
            form = clause.setting.design.form_of(slots.select[-1])
            rows = "all" if clause.setting.repeats(form) else None
            return replace(slots, aggregate=",".join(dict.fromkeys(kinds)), by=by, rows=rows)
        rows = "all" if "event" in by and not slots.place else None
        return replace(
            slots,
            aggregate=",".join(dict.fromkeys(kinds)),
            select=tuple(fields[:1]),
            by=by,
            rows=rows,
        )
    if slots.by and not counted and _is_measured(clause, slots):
        # 两个中心谁的依从性好: of what is measured the mean of each tells it.
        return replace(slots, aggregate="mean", select=slots.select[:1])
    counted = (counted and not _names_them(clause)) or bool(slots.by and not slots.subjects)
    bare = clause.has(Kind.WHAT) and slots.where and not slots.select and not slots.subjects
    # 最近一个入组的呢: one of them is asked for.
    bare = bare and not any(t.value in ("latest", "first") for t in clause.all(Kind.ROWS))
    if counted or bare:
        return replace(slots, aggregate="count")
    return slots


def _names_them(clause: Clause) -> bool:
    """一共几个都是谁: who is asked behind how many, and a list tells both."""
    kinds = [t.kind for t in clause.tokens if t.kind is not Kind.FILL]
    asks = (Kind.COUNT, Kind.WHO)
    return any(tuple(kinds[i : i + 2]) == asks for i in range(len(kinds))) and kinds[-1:] == [
        Kind.WHO
    ]


def _is_measured(clause: Clause, slots: Slots) -> bool:
    return bool(slots.select) and clause.setting.is_number(slots.select[0])


def _of_people(clause: Clause, slots: Slots) -> bool:
    """鳞癌入组了多少: where nothing is measured, a bare 多少 is people."""
    if slots.subjects or not any(t.said == "多少" for t in clause.all(Kind.WHAT)):
        return False
    named = [c.get("field") for c in slots.where]
    return "@enrolled" in named and set(named) <= {"@enrolled", *slots.select}


def _of_free_text(clause: Clause, slots: Slots) -> bool:
    """既往有糖尿病的有几个: whether a text affirms a word or denies it is for the reader to see."""
    names = [str(c["field"]) for c in slots.where if c.get("op") == "contains"]
    setting, design = clause.setting, clause.setting.design
    texts = [n for n in names if setting.column_kind(n) is ColumnKind.TEXT]
    return any(not setting.repeats(design.form_of(n)) for n in texts)


def _measured(clause: Clause, slots: Slots, counted: bool) -> bool:
    """Whether there is something to average; 脱落的加起来几位 is a count."""
    kinds = [clause.setting.column_kind(name) for name in slots.select]
    return any(kind not in CODED for kind in kinds) if counted else bool(slots.select)
