"""Directions, comparisons and extremes, by the readings that show them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from decimal import Decimal

from engines.assistant.lines.types import Line, Scope
from engines.assistant.understand.tokens import Kind as Meant
from engines.assistant.verify import evidence
from engines.assistant.verify.clause import Clause, events_of
from engines.assistant.verify.compute import events_named, figures_named, head_of, sides
from engines.assistant.verify.lexer import Kind, Token
from engines.assistant.verify.rules.measured import is_from_prose, is_negated, numbers_of, stated_of
from engines.assistant.verify.whole import is_whole
from language.claims import HIGHER_IS_BETTER
from language.folding import folded
from study.facts import Fact, Flag

_EVEN = Decimal("0.2")
"""Change up to which readings are told to stay as they were."""
_AFTER = ("后", "再", "又")
_SINCE = ("用药后", "治疗后", "给药后", "入组后")


# --- directions --------------------------------------------------------------------------------


def direction(clause: Clause) -> str:
    """Up, down or level, where the readings go another way."""
    words = clause.claims("up", "down", "flat")
    words = [t for t in words if not is_negated(clause, t) and t.is_a is None]
    if is_from_prose(clause) and not (
        clause.evidence.facts or (not clause.lines and clause.before)
    ):
        wrong = next((token for token in words if not _from_to(clause, token)), None)
        return f"前后的数值不支持「{wrong.text}」" if wrong else ""
    if not words or (clause.has("difference") and not words):
        return ""
    cited = [f for f, _line in clause.evidence.facts if evidence.decimal(f) is not None]
    cited = cited or numbers_of(clause)
    is_headline = False
    placed = any(t.is_a is Meant.PLACE for t in clause.tokens)
    if not placed and not stated_of(clause) and not any(stated_of(c) for c in clause.before):
        ahead = [
            f for c in clause.whole for f in stated_of(c) if cited and f.field == cited[0].field
        ]
        is_headline = len(ahead) > 1
        cited = ahead if is_headline else cited
    if not cited:
        return (
            "" if clause.prose or not clause.lines else f"没有引用能显示「{words[0].text}」的读数"
        )
    scope = next((line.scope for f, line in clause.evidence.facts if f is cited[0]), None)
    series = [f for f in clause.evidence.series(cited[0], scope) if evidence.decimal(f) is not None]
    is_told = is_headline or len(stated_of(clause)) > 1 or clause.has("than")
    is_told |= len(events_named(clause, 0, len(clause.text))) > 1
    steps = _steps(_in_order(cited, series), series, is_told)
    for token in words:
        if not _from_to(clause, token):
            return f"读数不支持「{token.text}」"
        if token.claims & {"high"} and all(Flag.HIGH in f.flags for f in cited):
            continue
        if not any(_goes(token, *step) for step in steps):
            return f"读数不支持「{token.text}」"
    if clause.has("steady") and not _steady(words, series, _stretch(clause) or cited):
        return "各次读数并不是一直同一方向"
    return ""


def _stretch(clause: Clause) -> list[Fact]:
    """The readings that a clause gives, from the one told right before it."""
    at = clause.whole.index(clause)
    own = next((found for c in clause.whole[at : at + 2] if (found := stated_of(c))), [])
    last = [f for c in clause.before for f in stated_of(c)][-1:] if len(own) < 2 else []
    return [*last, *own] if len([*last, *own]) > 1 else []


def _from_to(clause: Clause, token: Token) -> bool:
    """Whether the value before a word and the one behind it go that way: 从A升到B."""
    told = [
        (s.token.at, v)
        for s in clause.said
        if s.best and not s.best[1] and (v := evidence.decimal(s.best[0])) is not None
    ]
    if is_from_prose(clause):
        told = [(t.at, t.number) for t in clause.tokens if t.number is not None]
    before = [v for at, v in told if at < token.at]
    after = [v for at, v in told if at > token.at]
    if not before or not after or not any(word in clause.text[: token.at] for word in "从由自"):
        return True
    return _goes(token, before[-1], after[0])


def _in_order(cited: Sequence[Fact], series: Sequence[Fact]) -> list[Fact]:
    places = {(*evidence.row_of(f), f.label): n for n, f in enumerate(series)}
    same = [f for f in cited if (*evidence.row_of(f), f.label) in places]
    return sorted(same, key=lambda f: places[(*evidence.row_of(f), f.label)])


def _steps(
    cited: Sequence[Fact], series: Sequence[Fact], is_told: bool
) -> list[tuple[Decimal, Decimal]]:
    """From the first to the last, from each to the next; unless both are told, from the one before."""
    values = [v for f in cited if (v := evidence.decimal(f)) is not None]
    if not values:
        return []
    at = next(
        (
            n
            for n, f in enumerate(series)
            if evidence.row_of(f) == evidence.row_of(cited[0]) and f.label == cited[0].label
        ),
        0,
    )
    before = evidence.decimal(series[at - 1]) if at else None
    steps = list(itertools.pairwise(values)) if len(values) > 2 else []
    steps += [(values[0], values[-1])] if len(values) > 1 else []
    if before is not None and not is_told:
        steps += [(before, values[0]), (before, values[-1])]
    return steps


def _goes(token: Token, first: Decimal, last: Decimal) -> bool:
    even = abs(last - first) <= _EVEN * abs(first)
    if "flat" in token.claims:
        return even
    return last > first if "up" in token.claims else last < first


def _steady(words: Sequence[Token], series: Sequence[Fact], cited: Sequence[Fact]) -> bool:
    rows = {(*evidence.row_of(f), f.label) for f in cited}
    at = [n for n, f in enumerate(series) if (*evidence.row_of(f), f.label) in rows]
    stretch = series[at[0] : at[-1] + 1] if len(at) > 1 else series
    values = [evidence.decimal(f) or Decimal(0) for f in stretch]
    up = any(t.claims & {"up", "more"} for t in words)
    return all((b >= a) if up else (b <= a) for a, b in itertools.pairwise(values))


# --- comparisons -------------------------------------------------------------------------------


def comparison(clause: Clause) -> str:
    """More, less, better or worse than another, the wrong way round or without the other."""
    if is_from_prose(clause):
        return ""
    if wrong := _passes(clause):
        return wrong
    words = clause.claims("more", "less", "worse", "better", "equal")
    words = [t for t in words if len(t.text) > 1 or clause.has("than") or _is_last(clause, t)]
    if words and "一次比一次" in clause.text:
        series = _in_order(numbers_of(clause), clause.evidence.series(numbers_of(clause)[0], None))
        return "" if _steady(words, series, series) else "各次读数并不是一直同一方向"
    if not words:
        return ""
    facts = _measured(clause.lines)
    mine, others = sides(clause, facts)
    if not mine or not others:
        mine, others = sides(clause, _measured(clause.around))
    if not mine or not others:
        scopes = {id(line.scope): line.scope for line in clause.around if line.scope}
        mine, others = sides(
            clause, [f for s in scopes.values() for f in evidence.result(clause.sheet, s)]
        )
    loose = len(words[0].text) == 1 or any(t.claims & {"small"} for t in words)
    if (not mine or not others) and loose and not clause.has("than"):
        return ""
    token = words[0]
    if "equal" in token.claims:
        both = [*mine, *others] or facts
        both = both[-2:] if clause.text[: token.at].rstrip().endswith(_AFTER) else both
        return "" if len(both) > 1 and len({_figure(f) for f in both}) == 1 else "读数并不相同"
    if not mine or not others:
        return f"没有引用能比较「{words[0].text}」的两个值"
    up = "more" in token.claims
    if token.claims & {"worse", "better"}:
        up = ("worse" in token.claims) != _higher_is_better(mine[0])
    ours, theirs = [_figure(f) for f in mine], [_figure(f) for f in others]
    right = min(ours) > max(theirs) if up else max(ours) < min(theirs)
    return "" if right else f"读数不支持「{token.text}」"


def _measured(lines: Sequence[Line]) -> list[Fact]:
    found = [f for line in lines for f in line.facts]
    return [f for f in found if evidence.decimal(f) is not None or f.text[:1].isdecimal()]


def _is_last(clause: Clause, token: Token) -> bool:
    """Whether a word ends its clause, which names whose reading it is: V2高."""
    rest = clause.tokens[clause.tokens.index(token) + 1 :]
    named = any(t.kind is Kind.SUBJECT or t.is_a is Meant.PLACE for t in clause.tokens)
    return not rest and named


def _passes(clause: Clause) -> str:
    """X 21.0高于Y 21.3: two readings with over or under between them."""
    told = [s for s in clause.said if s.best and evidence.decimal(s.best[0]) is not None]
    for token in clause.claims("over", "under"):
        left = [s for s in told if s.token.end <= token.at]
        right = [s for s in told if s.token.at >= token.end]
        if not left and not right and (wrong := _named_over(clause, token)):
            return wrong
        if not left or not right or not left[-1].best or not right[0].best:
            continue
        one, other = left[-1].best[0], right[0].best[0]
        if one.field == other.field and one is not other:
            a, b = _figure(one), _figure(other)
            if not (a > b if "over" in token.claims else a < b):
                return f"读数不支持「{token.text}」"
    return ""


def _named_over(clause: Clause, token: Token) -> str:
    """V3高于V2: by the readings of the sentence."""
    if token.text not in ("高于", "低于", "大于", "小于", "多于", "少于"):
        return ""
    facts = _measured(clause.around)
    before, after = (
        events_named(clause, *ends) for ends in ((0, token.at), (token.end, len(clause.text)))
    )
    mine = [_figure(f) for f in facts if f.event in before]
    others = [_figure(f) for f in facts if f.event in after]
    if not mine or not others or len({f.field for f in facts}) > 1:
        return ""
    up = "over" in token.claims
    right = min(mine) > max(others) if up else max(mine) < min(others)
    return "" if right else f"读数不支持「{token.text}」"


def _figure(fact: Fact) -> Decimal:
    value = evidence.decimal(fact)
    head = fact.text.rstrip("分级")
    return value if value is not None else Decimal(head) if head.isdecimal() else Decimal(0)


def _higher_is_better(fact: Fact) -> bool:
    label = folded(fact.label)
    only_low = fact.limit is not None and fact.limit.low is not None and fact.limit.high is None
    return only_low or any(word in label for word in HIGHER_IS_BETTER)


# --- extremes and arithmetic -------------------------------------------------------------------


def extremum(clause: Clause) -> str:
    """The highest, lowest, first or worst, where the whole result was not read or says otherwise."""
    for token in clause.claims("max", "min", "worst", "best"):
        if (
            is_from_prose(clause)
            or clause.has("asked")
            or any(t.kind is Kind.DAY for t in clause.tokens)
        ):
            continue
        facts = numbers_of(clause)
        if not facts:
            return f"没有引用能支持「{token.text}」的读数"
        mine = _nearest(clause, token) or facts[0]
        line = next((ln for f, ln in clause.evidence.facts if f is mine), None)
        up = token.claims & {"max"} or (
            ("worst" in token.claims) != _higher_is_better(mine)
            and not token.claims & {"min", "best"}
        )
        if "best" in token.claims:
            up = _higher_is_better(mine)
        everyone = clause.has("everyone") or any(
            w in clause.sheet.question for w in ("谁", "哪个受试者", "哪位", "哪例", "哪些")
        )
        alike = [f for f in facts if f.field == mine.field and f.value == mine.value]
        if not all(
            _is_extreme(
                clause, one, line.scope if line else None, bool(up), bool(everyone and one.subject)
            )
            for one in (mine, *alike)
        ):
            return f"读到的全部结果不支持「{token.text}」"
    return ""


def _nearest(clause: Clause, token: Token) -> Fact | None:
    """The reading that is called an extreme: the value given nearest, else that of the visit or month named."""
    own = [
        s
        for s in clause.said
        if s.best and not s.best[1] and evidence.decimal(s.best[0]) is not None
    ]
    if not any(s.token.at < token.at for s in own) and clause.text[:1] in "是为" and clause.before:
        own = [s for s in clause.before[-1].said[-1:] if s.best and not s.best[1]] or own
    elif not own and clause.before and not any(_names_one(t) for t in clause.tokens):
        own = [
            s
            for s in clause.before[-1].said[-1:]
            if s.best and evidence.decimal(s.best[0]) is not None
        ]
    near = min(own, key=lambda s: abs(s.token.at - token.at), default=None)
    if near is not None and near.best is not None:
        return near.best[0]
    keys = events_named(clause, 0, len(clause.text)) | figures_named(clause, 0, len(clause.text))
    return next((f for f in numbers_of(clause) if f.event in keys or head_of(f) in keys), None)


def _names_one(token: Token) -> bool:
    return token.kind in (Kind.SUBJECT, Kind.SPAN) or token.is_a in (Meant.PLACE, Meant.SITE)


def _is_extreme(clause: Clause, mine: Fact, scope: Scope | None, up: bool, everyone: bool) -> bool:
    if (
        scope is not None
        and not scope.query.get("subjects")
        and scope.query.get("rows") == ("highest" if up else "lowest")
    ):
        return scope.is_complete or not clause.has("everyone")
    if everyone:
        series = [f for f in evidence.result(clause.sheet, scope) if f.field == mine.field]
        if scope is None or scope.query.get("subjects") or not scope.is_complete:
            return False
    elif scope is not None and len(scope.query.get("subjects") or ()) > 1 and mine.subject:
        series = [f for f in evidence.result(clause.sheet, scope) if f.field == mine.field]
    else:
        series = clause.evidence.series(mine, scope)
        if mine.subject and not any(is_whole(s, clause) for s in _scopes(clause, mine)):
            return False
    if any(word in clause.text for word in _SINCE):
        visits = set(events_of(clause.sheet).values())
        series = [f for f in series if f.event in visits]
    values = [v for f in series if (v := evidence.decimal(f)) is not None]
    value = evidence.decimal(mine)
    return len(values) > 1 and value == (max(values) if up else min(values))


def _scopes(clause: Clause, mine: Fact) -> list[Scope]:
    return [
        line.scope for line in clause.sheet.lines
        if line.scope and any(f.field == mine.field and f.subject == mine.subject for f in line.facts)
    ]  # fmt: skip
