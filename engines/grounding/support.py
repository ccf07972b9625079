"""Whether one statement of a source says what a clause says: words, numbers, bounds, yes or no."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal

from engines.grounding.coverage import says_something, unsaid, vocabulary
from engines.grounding.kept import kept
from engines.grounding.linked import is_tied
from engines.grounding.modality import denies
from engines.grounding.statements import Statement
from engines.grounding.values import Token
from engines.grounding.values import tokens as tokens_of

_RANGE = re.compile(
    r"(?<![\d.-])(\d+(?:\.\d+)?)\s*(?:分|岁|周岁|级|例|天|周|%|mg)?\s*(?:[~-]|至|到)\s*(\d+(?:\.\d+)?)(?![\d.-])"
)
_CHANGE = re.compile(
    r"(?:由|从)[^\d,;]{0,8}(\d+(?:\.\d+)?)[^\d,;]{0,10}(?:到|至|为|成)[^\d,;]{0,6}(\d+(?:\.\d+)?)"
)
_LIMIT = re.compile(r"([未无][^,、;:]{1,6})的$")
_BEFORE_NOW = re.compile(r"原|此前|之前|以前|曾|当时|起初")
_UNIT = (
    r"个工作日|个周期|个半衰期|个月|周岁|个|小时|分钟|年|月|周|天|日|次|分|级|例|岁|条|项|种|倍"
    r"|%|mmhg|mg|g/l|ml|kg|℃|°c"
)
_BEHIND = re.compile(rf"\s*(?:[~-]|至|到)?\s*(?:\d+(?:\.\d+)?)?\s*({_UNIT})", re.IGNORECASE)
_SAME_UNIT = {"周岁": "岁", "日": "天", "个": "条", "项": "条", "种": "条", "例": "条", "℃": "°c"}
_BEFORE = (
    (re.compile(r"(?:不[低少小早]于|至少|不小于|>=|≥|大于等于|最少)\s*$"), ">="),
    (re.compile(r"(?:不[高大多晚]于|不超过|至多|<=|≤|小于等于|最多|最长)\s*$"), "<="),
    (re.compile(r"(?:大于|高于|超过|多于|>)\s*$"), ">"),
    (re.compile(r"(?:小于|低于|不足|少于|<)\s*$"), "<"),
)
_AFTER = (
    (re.compile(rf"\s*(?:{_UNIT})?\s*(?:\(含\))?(?:及|或)?以上"), ">="),
    (re.compile(rf"\s*(?:{_UNIT})?\s*(?:\(含\))?(?:及|或)?以下"), "<="),
)
_REAL = re.compile(r"已经?(?:完成|达到|达成|实现|超过)")
_PERIOD = re.compile(r"[本上下]周|[本上下]个?月|[今去明]年|[今昨明]天|今日")
_DAY = re.compile(r"day\s*$", re.IGNORECASE)
_NTH = re.compile(r"第\s*$|w\s?$", re.IGNORECASE)


@kept
def tokens(text: str) -> tuple[Token, ...]:
    """The values of a text: a clause is compared with hundreds of statements."""
    return tuple(tokens_of(text))


@kept
def _changes(text: str) -> frozenset[tuple[Decimal, Decimal]]:
    """From what to what something changed: `由每次200元降到100元`."""
    return frozenset((Decimal(a), Decimal(b)) for a, b in _CHANGE.findall(text))


@kept
def _ranges(text: str) -> frozenset[tuple[Decimal, Decimal]]:
    return frozenset((Decimal(a), Decimal(b)) for a, b in _RANGE.findall(text))


def matches(clause: str, ids: frozenset[str], statement: Statement) -> bool:
    """Whether the statement, with what it stands under, has all words and values of the clause."""
    if ids - statement.ids or (statement.owned and not statement.ids):
        return False
    if not _holds_values(clause, statement):
        return False
    told = vocabulary(f"{statement.context} {statement.text}")
    if unsaid(clause, told) or not _speaks(clause, statement):
        return False
    pieces = clause.split(",")
    if not is_tied(clause, statement) or _widened(clause, statement.text):
        return False
    return not any(_is_of_another(piece, statement) for piece in pieces)


def _widened(clause: str, text: str) -> bool:
    """Whether a clause says of all what the statement says only of some: `药物未能控制的高血压`."""
    for word in unsaid(clause, ""):
        limits = [_LIMIT.search(text[: hit.start()]) for hit in re.finditer(re.escape(word), text)]
        if limits and all(limit and limit[1] not in clause for limit in limits):
            return True
    return False


def is_past(clause: str, statement: Statement, others: Iterable[Statement]) -> bool:
    """Whether a number that a clause without a date takes from a dated statement was changed since."""
    held = tokens(clause)
    if any(t.kind == "date" for t in held) or _changes(clause) or _BEFORE_NOW.search(clause):
        return False
    numbers = {t.value for t in held if t.kind == "number"}
    for other in others:
        changed = {old for old, new in _changes(other.text) if new not in numbers}
        since = changed & numbers and _day(statement) <= _day(other)
        if since and not unsaid(clause, vocabulary(f"{other.context} {other.text}")):
            return True
    return False


def _day(statement: Statement) -> tuple[int, int, int]:
    return max(statement.values.dates | statement.around.dates, default=(0, 0, 0))


def agrees(clause: str, statement: Statement) -> bool:
    """Whether clause and statement both deny, or both affirm, what they have in common."""
    pieces = [p for p in statement.text.split(",") if _touches(clause, p)] or [statement.text]
    if _REAL.search(clause) and not _REAL.search(statement.text):
        return False
    return denies(clause) in {denies(piece) for piece in pieces}


def _speaks(clause: str, statement: Statement) -> bool:
    """Whether the statement itself, not only what it stands under, has a word or value of the clause."""
    return (
        _touches(clause, statement.text)
        or not says_something(clause)
        or any(statement.values.holds(token) for token in tokens(clause))
    )


def _touches(clause: str, piece: str) -> bool:
    whole = sum(map(len, unsaid(clause, "")))
    return sum(map(len, unsaid(clause, vocabulary(piece)))) < whole


def _holds_values(clause: str, statement: Statement) -> bool:
    if not _ranges(clause) <= _ranges(statement.text):
        return False
    if not _changes(clause) <= _changes(statement.text):
        return False
    return all(_holds(token, clause, statement) for token in tokens(clause) if token.kind != "id")


def _holds(token: Token, clause: str, statement: Statement) -> bool:
    if token.kind != "number":
        return statement.values.holds(token) or statement.around.holds(token)
    nth = _NTH.search(clause[: token.start]) and _unit(clause, token) in ("条", "周", "")
    if (nth or "." in token.text) and statement.around.holds(token):
        return True
    told = _of_names(clause, statement.text)
    dated = not (statement.around.dates or statement.around.names)
    spots = [t for t in tokens(told) if t.kind == "number" and t.value == token.value]
    unit, bound = _unit(clause, token), _bound(clause, token)
    for spot in spots:
        if not _is_near(clause, told, spot, dated=dated):
            continue
        if unit and _unit(told, spot) != unit and not _is_stretch(told, spot, unit):
            continue
        if not bound or _bound(told, spot) == bound:
            return True
    return False


def _is_of_another(clause: str, statement: Statement) -> bool:
    """Whether the words of a clause stand nearer to another number of its unit than to its own."""
    regions = _regions(_of_names(clause, statement.text))
    said = {token.value for token in tokens(clause)}
    for token in tokens(clause):
        unit = _unit(clause, token)
        same = [(text, here) for text, units in regions if (here := units.get(unit))]
        own = [_missing(clause, text) for text, here in same if token.value in here]
        others = [_missing(clause, text) for text, here in same if not here & said]
        if own and others and min(others) < min(own):
            return True
    return False


def _missing(clause: str, text: str) -> int:
    return len("".join(unsaid(clause, vocabulary(text))))


@kept
def _regions(text: str) -> list[tuple[str, dict[str, set[object]]]]:
    """The parts of a sentence up to and with those that have a number: (text, {unit: numbers})."""
    found, before = [], ""
    for piece in text.split(","):
        before += f",{piece}"
        units: dict[str, set[object]] = {}
        for token in tokens(piece):
            if token.kind == "number":
                units.setdefault(_unit(piece, token), set()).add(token.value)
        if units:
            found.append((before, units))
            before = ""
    return found


def _is_near(clause: str, text: str, token: Token, *, dated: bool) -> bool:
    """Whether the part of a sentence where a number stands has a word or a visit of the clause.

    What holds for this week (`dated`: nothing above it says of when it is) is told with its week only.
    """
    piece = text[text.rfind(",", 0, token.start) + 1 :].partition(",")[0]
    if dated and set(_PERIOD.findall(piece)) - set(_PERIOD.findall(clause)):
        return False
    names = {t.value for t in tokens(clause) if t.kind == "name"}
    before = [t.value for t in tokens(text) if t.kind == "name" and t.start < token.start]
    if names & set(before[-1:]) or not says_something(clause):
        return True
    return len("".join(unsaid(clause, piece))) < len("".join(unsaid(clause, "")))


def _is_stretch(text: str, token: Token, unit: str) -> bool:
    """`±7` is of days, whatever stands behind it."""
    return unit == "天" and text[: token.start].rstrip().endswith("±")


def _of_names(clause: str, text: str) -> str:
    """Of a text about several visits the pieces about those that the clause names."""
    names = {token.value for token in tokens(clause) if token.kind == "name"}
    pieces, kept, here = text.split(","), [], True
    if not names or len({t.value for t in tokens(text) if t.kind == "name"}) < 2:
        return text
    for piece in pieces:
        found = {token.value for token in tokens(piece) if token.kind == "name"}
        here = bool(found & names) if found else here
        kept += [piece] if here else []
    return ",".join(kept)


def _unit(text: str, token: Token) -> str:
    hit = _BEHIND.match(text, token.start + len(token.text))
    unit = hit[1].casefold() if hit else ""
    if _DAY.search(text[: token.start]) or (unit in "天日" and _NTH.search(text[: token.start])):
        return "day"
    return _SAME_UNIT.get(unit, unit)


def _bound(text: str, token: Token) -> str:
    before, end = text[: token.start], token.start + len(token.text)
    for regex, kind in _BEFORE:
        if regex.search(before):
            return kind
    return next((kind for regex, kind in _AFTER if regex.match(text, end)), "")
