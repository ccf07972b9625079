"""Comparisons of a clause: with numbers, choices and limits, and what must hold of every row or of none."""

from __future__ import annotations

from decimal import Decimal

from engines.assistant.understand.clause import Clause
from engines.assistant.understand.days import apart
from engines.assistant.understand.found import Conditions, is_flag, negated
from engines.assistant.understand.tokens import Kind, Token
from engines.assistant.understand.types import Query
from study.facts import plain

_ABNORMAL = {
    "abnormal_high": ((">", "high"),),
    "abnormal_low": (("<", "low"),),
    "abnormal": ((">", "high"), ("<", "low")),
    "normal": ((">", "high"), ("<", "low")),
}
_FLIPPED = {">": "<=", ">=": "<", "<": ">=", "<=": ">", "=": "!="}
WHICH_TIME = (
    "哪次访视",
    "哪次",
    "哪一次",
    "在哪个访视",
    "第几次访视",
    "在哪次访视",
    "哪个访视",
    "哪次来",
)
COUNTED = ("个", "位", "名", "例", "人")
"""Units of people: a number with one is no value of a field."""
_PEOPLE = ("人", "病人", "患者", "受试者", "patients", "subjects")
_SIDES = {">": "abnormal_high", "<": "abnormal_low"}


def compared(clause: Clause, found: Conditions) -> None:
    """Add the conditions that comparisons are."""
    tokens = clause.tokens
    for place, token in enumerate(tokens):
        if place in found.used:
            continue
        if token.kind is Kind.COMPARE:
            _compared(clause, place, found)
        elif token.kind in (Kind.NUMBER, Kind.CHOICE):
            _bounded(clause, place, found)
        elif token.kind is Kind.LIMIT and token.value in _ABNORMAL:
            _abnormal(clause, place, found, token.value)


def _after(clause: Clause, place: int) -> int | None:
    """The next token that says something."""
    for later in range(place + 1, len(clause.tokens)):
        if clause.tokens[later].kind is not Kind.FILL:
            return later
    return None


def _compared(clause: Clause, place: int, found: Conditions) -> None:
    """超过80, 高于上限3倍, 超过2级, 低于3倍上限; 从来没高过: than the limit."""
    if clause.many and (dates := apart(clause, place)):
        first, last = dates
        later: Query = {"field": first, "op": clause.tokens[place].value, "value": {"field": last}}
        found.add(later, place, {place}, first)
        found.fields.append(last)
        return
    at = _after(clause, place)
    if at is None or clause.tokens[at].kind in (Kind.YES_NO, Kind.WHAT):
        if _asks_of_limit(clause, place):
            _abnormal(clause, place, found, _SIDES[clause.tokens[place].value])
        elif _is_unlimited(clause, place):
            found.unlimited = True
        return
    target, spent = clause.tokens[at], {place, at}
    operator = clause.tokens[place].value
    if target.kind is Kind.CHOICE:
        reading = target.readings[0]
        code = reading.code
        found.add(
            {"field": reading.name, "op": operator, "value": code}, place, spent, reading.name
        )
        return
    if target.kind not in (Kind.NUMBER, Kind.LIMIT) or clause.has(Kind.TIMES):
        return
    value, more = _operand(clause, at)
    name = _field_for(clause, place, target)
    if value is None or not name:
        found.needs_field = found.needs_field or value is not None or target.kind is Kind.NUMBER
        found.used |= spent
        return
    # ALT或AST超过上限: one of the fields named together will do.
    listed = _listed(clause, place, name)
    parts: list[Query] = [{"field": n, "op": operator, "value": value} for n in listed]
    _held(clause, place, found, parts, spent | more, denied=negated(clause, place))
    found.fields += [n for n in listed if n not in found.fields]


def _asks_of_limit(clause: Clause, place: int) -> bool:
    """ALT从来没高过, ALT高吗: a comparison with nothing is one with the limit of what is measured."""
    beside = (Kind.WHO, Kind.NUMBER, Kind.DIFFERENCE, Kind.BASELINE, Kind.TIMES, Kind.AGGREGATE)
    asked = clause.has(Kind.YES_NO, Kind.ALWAYS) or negated(clause, place)
    named = [t.name for t in clause.tokens[:place] if t.kind is Kind.FIELD]
    side = _SIDES.get(clause.tokens[place].value, "")
    limited = any(_has_limit(clause, n, s) for n in named for _op, s in _ABNORMAL.get(side, ()))
    return bool(side) and asked and limited and not clause.has(*beside)


def _is_unlimited(clause: Clause, place: int) -> bool:
    """P006的白细胞低吗: of one who is named a comparison with nothing, where no limit is known."""
    named = next((t for t in reversed(clause.tokens[:place]) if t.kind is not Kind.FILL), None)
    of_one = clause.has(Kind.SUBJECT, Kind.PRONOUN) and clause.has(Kind.YES_NO)
    beside = (Kind.NUMBER, Kind.BASELINE, Kind.DIFFERENCE, Kind.TIMES, Kind.AGGREGATE)
    if named is None or not of_one or clause.many or clause.has(*beside):
        return False
    limited = any(_has_limit(clause, named.name, side) for side in ("high", "low"))
    is_value = named.kind is Kind.FIELD and clause.setting.is_number(named.name)
    return is_value and not limited


def _held(
    clause: Clause,
    place: int,
    found: Conditions,
    parts: list[Query],
    spent: set[int],
    *,
    denied: bool,
) -> None:
    """Any of the parts; under 没, 从来, 一直 or 正常 of no row, or of every row.

    Of many the condition ranges over all rows; of one it is what must not be, so that the answer can show it.
    """
    always = clause.has(Kind.ALWAYS)
    name = str(parts[0]["field"])
    if always and not denied and len(parts) == 1:
        parts = [_opposite(part) for part in parts]
    elif not denied:
        found.add(parts[0] if len(parts) == 1 else {"any": parts}, place, spent, name)
        return
    if not clause.many:
        found.every = True
        found.add(parts[0] if len(parts) == 1 else {"any": parts}, place, spent, name)
        return
    for part in parts:
        found.add(_opposite(part) | {"holds": "every"}, place, spent, str(part["field"]))


def _opposite(part: Query) -> Query:
    return part | {"op": _FLIPPED.get(part["op"], part["op"])}


def _listed(clause: Clause, place: int, name: str) -> list[str]:
    """The fields named together with the one that a comparison is about."""
    found: list[str] = []
    for token in reversed(clause.tokens[:place]):
        if token.kind is Kind.FIELD:
            found = [*(r.name for r in token.readings), *found]
        elif token.kind not in (Kind.AND, Kind.FILL, Kind.YES_NO, Kind.HAD):
            break
    return found if name in found else [name]


def _operand(clause: Clause, at: int) -> tuple[object, set[int]]:
    """A number, or a limit with the number of times it is meant."""
    token, following = clause.tokens[at], _after(clause, at)
    beside = clause.tokens[following] if following is not None else None
    if token.kind is Kind.LIMIT:
        if token.value not in ("high", "low"):
            return None, set()
        if beside and beside.kind is Kind.NUMBER and beside.value == "倍" and following is not None:
            return _limit(token.value, beside.number), {following}
        return _limit(token.value, None), set()
    if token.value == "倍":
        if beside and beside.kind is Kind.LIMIT and following is not None:
            return _limit(beside.value, token.number), {following}
        return (_limit("high", token.number), set()) if _of_limit(clause) else (None, set())
    return plain(token.number), set()


def _of_limit(clause: Clause) -> bool:
    """转氨酶高过3倍: times with nothing beside them are those of the upper limit, where there is one."""
    if clause.has(Kind.LIMIT):
        return True
    named = [r.name for t in clause.all(Kind.FIELD) for r in t.readings]
    return not clause.has(Kind.BASELINE) and any(_has_limit(clause, n, "high") for n in named)


def _limit(side: str, times: Decimal | None) -> Query:
    return {"ref": side} | ({"times": plain(times)} if times is not None and times != 1 else {})


def _bounded(clause: Clause, place: int, found: Conditions) -> None:
    """80以下, 3级以上, 3倍上限以上, 60到75之间."""
    token, at = clause.tokens[place], _after(clause, place)
    if at is None:
        return
    following = clause.tokens[at]
    if token.kind is Kind.NUMBER and token.value == "倍" and following.kind is Kind.LIMIT:
        bound = _after(clause, at)
        operator = (
            clause.tokens[bound].value
            if bound and clause.tokens[bound].kind is Kind.BOUND
            else ">="
        )
        name = _field_for(clause, place, token)
        if name:
            found.add(
                {"field": name, "op": operator, "value": _limit(following.value, token.number)},
                place,
                {place, at} | ({bound} if bound else set()),
                name,
            )
        return
    if following.kind is Kind.BOUND and following.value != "between":
        if token.kind is Kind.CHOICE:
            reading = token.readings[0]
            condition = {"field": reading.name, "op": following.value, "value": reading.code}
            found.add(condition, place, {place, at}, reading.name)
            return
        name = _field_for(clause, place, token)
        times = token.value == "倍"
        found.needs_field = found.needs_field or not name or (times and not _of_limit(clause))
        if name and times:
            limit = _limit("high", token.number)
            parts: list[Query] = [
                {"field": n, "op": following.value, "value": limit}
                for n in _listed(clause, place, name)
            ]
            _held(clause, place, found, parts, {place, at}, denied=False)
            found.fields += [str(p["field"]) for p in parts if p["field"] not in found.fields]
        elif name:
            coded = clause.setting.design.metadata.choices(name)
            value = str(plain(token.number)) if coded else plain(token.number)
            found.add(
                {"field": name, "op": following.value, "value": value}, place, {place, at}, name
            )
        return
    if not _between(clause, place, found):
        _equal(clause, place, found)


def _equal(clause: Clause, place: int, found: Conditions) -> None:
    """ECOG评分为1的有几个."""
    token, before = clause.tokens[place], clause.tokens[:place]
    named = next((t for t in reversed(before) if t.kind is not Kind.FILL), None)
    if (
        token.kind is not Kind.NUMBER
        or token.value in COUNTED
        or named is None
        or named.kind is not Kind.FIELD
        or not (clause.many or _asks_which_time(clause, place))
    ):
        return
    coded = clause.setting.design.metadata.choices(named.name)
    value = str(plain(token.number)) if coded else plain(token.number)
    found.add({"field": named.name, "op": "=", "value": value}, place, {place}, named.name)


def _asks_which_time(clause: Clause, place: int) -> bool:
    """血红蛋白96那次是哪天: of a reading with that value its day or its visit is asked for."""
    behind = clause.tokens[place + 1 :]
    times = any(t.kind is Kind.WHAT and t.said in WHICH_TIME for t in behind)
    return any(t.kind is Kind.WHEN for t in behind) or times


def _between(clause: Clause, place: int, found: Conditions) -> bool:
    """60到75岁, 60和75之间."""
    tokens = clause.tokens
    later = [
        i for i in range(place + 1, min(place + 4, len(tokens))) if tokens[i].kind is Kind.NUMBER
    ]
    if tokens[place].kind is not Kind.NUMBER or not later:
        return False
    end = later[0]
    joined = (
        all(t.kind in (Kind.AND, Kind.FILL) for t in tokens[place + 1 : end]) and end > place + 1
    )
    name = _field_for(clause, place, tokens[end])
    if joined and name:
        both = [plain(tokens[place].number), plain(tokens[end].number)]
        found.add({"field": name, "op": "between", "value": both}, place, {place, end}, name)
    return joined


def _abnormal(clause: Clause, place: int, found: Conditions, said: str) -> None:
    """ALT偏高, 肝功异常, 肾功正常: outside the limits that the fields have, or not."""
    name = _field_for(clause, place, clause.tokens[place])
    if not name or clause.has(Kind.TIMES):
        return
    names = _listed(clause, place, name)
    sides = _ABNORMAL[said]
    limits = [(n, op, side) for op, side in sides for n in names if _has_limit(clause, n, side)]
    if said == "normal" and not limits:
        found.unlimited = True
        return
    limits = limits or [(n, op, side) for op, side in sides for n in names]
    parts: list[Query] = [{"field": n, "op": op, "value": {"ref": side}} for n, op, side in limits]
    told = {i for i, t in enumerate(clause.tokens) if t.kind is Kind.FIELD and t.name in names}
    spent = {place} | (told if len(names) > 1 else set())
    denied = (said == "normal") is not negated(clause, place)
    if denied and not clause.many and _asks_which_time(clause, place):
        # AST降到正常是哪次: the readings that are so.
        for part in map(_opposite, parts):
            found.add(part, place, spent, str(part["field"]))
        return
    _held(clause, place, found, parts, spent, denied=denied)
    found.fields += [n for n, _op, _side in limits if n not in found.fields]


def _has_limit(clause: Clause, name: str, side: str) -> bool:
    ranges = clause.setting.design.ranges.get(name, ())
    return any((r.high if side == "high" else r.low) is not None for r in ranges)


def _field_for(clause: Clause, place: int, value: Token) -> str:
    """What a comparison is about: its unit's field, the field named before it, else the one after."""
    by_unit = (
        clause.setting.vocabulary.units.get(value.value) if value.kind is Kind.NUMBER else None
    )
    before = [
        t for t in clause.tokens[:place] if t.kind is Kind.FIELD and not is_flag(clause, t.name)
    ]
    after = [
        t for t in clause.tokens[place:] if t.kind is Kind.FIELD and not is_flag(clause, t.name)
    ]
    named = before[-1:] or after[:1]
    if by_unit and by_unit[0].name not in {t.name for t in named}:
        return by_unit[0].name
    if named:
        return named[0].name
    if clause.has(Kind.VISIT) and value.value in ("天", "周", ""):
        return "@visits.days"
    last = clause.setting.state.last
    known = [n for n in (last.select if last else ()) if clause.setting.column_kind(n) is not None]
    return known[-1] if known else _of_people(clause, value)


def _of_people(clause: Clause, value: Token) -> str:
    """65以上的女性, patients over 65: a bare number of people is their age."""
    years = clause.setting.vocabulary.units.get("岁")
    sex = {r.name for t in clause.all(Kind.CHOICE) for r in t.readings}
    people = clause.setting.design.sex_field in sex or any(t.said in _PEOPLE for t in clause.tokens)
    is_bare = value.kind is Kind.NUMBER and not value.value
    return years[0].name if years and people and is_bare else ""
