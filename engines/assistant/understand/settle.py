"""The words of a clause that have several readings, settled by what stands beside them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

from engines.assistant.understand.clause import Clause, Setting, speaks_of_events
from engines.assistant.understand.days import day_of
from engines.assistant.understand.naming import choice_names, fold
from engines.assistant.understand.standing import stands
from engines.assistant.understand.tokens import Kind, Reading, Token
from engines.assistant.understand.types import Ambiguous

_NEAR = 0.05
_SINCE = ("以后", "之后")
_MOST_ASKED_BACK = 4
_WORKED = (Kind.FINDING, Kind.REVIEW, Kind.RUN, Kind.TODO, Kind.TARGET, Kind.CHANGED)


def settle(clause: Clause) -> tuple[Clause, list[Ambiguous]]:
    """The clause with one reading for each word, and the words that stay open."""
    clause = Clause([_of_last(t, clause) for t in clause.tokens], clause.setting)
    clause = Clause(_timed(_measured_counts(_eligible(clause), clause.setting)), clause.setting)
    clause = Clause(_of_one(_reported(clause)), clause.setting)
    clause = Clause([_at_place(t, clause) for t in _reasons(clause)], clause.setting)
    clause = Clause(_on_their_day(clause), clause.setting)
    clause = Clause([_begins_range(i, clause) for i in range(len(clause.tokens))], clause.setting)
    context = _forms_named(clause)
    named = {r.name for t in clause.all(Kind.FIELD) if len(t.readings) == 1 for r in t.readings}
    tokens: list[Token] = []
    unsure: list[Ambiguous] = []
    for place, token in enumerate(clause.tokens):
        if token.value == "normal" and not _measured(clause):
            token = _as_choice(token, clause.setting)
        if _only_asks(token, clause.tokens[:place]):
            token = Token(Kind.WHAT, token.said)
        elif token.kind is Kind.FIELD and token.value != "all" and len(token.readings) > 1:
            best = _best(token, clause, context)
            if len(best) > 1 and _measured(clause, alone=True):
                # ALT什么时候恢复的: of what is measured no row ends; what followed is told.
                tokens.append(Token(Kind.ROWS, token.said, "since"))
                continue
            if len(best) > 1 and clause.has(Kind.VISIT):
                # 窗口到哪天结束: of the windows, no form's end is spoken of.
                tokens.append(Token(Kind.WHEN, token.said))
                continue
            if len(best) > 1:
                names = tuple(reading.name for reading in best[:_MOST_ASKED_BACK])
                unsure.append(Ambiguous(token.said, names))
            token = replace(token, readings=best[:1], value="")
        elif token.kind is Kind.CHOICE and len(token.readings) > 1:
            top = _best_choice(token, named, clause, context)
            alike = (r for r in token.readings if (r.name, r.weight) == (top.name, top.weight))
            token = replace(token, readings=tuple(alike))
        tokens.append(token)
    return Clause(tokens, clause.setting), unsure


def _measured(clause: Clause, *, alone: bool = False) -> bool:
    """Whether a measurement is named (`alone`: and no row of a form), or the last question was about one."""
    if alone and (
        clause.has(Kind.FORM, Kind.TERM, Kind.TOOK, Kind.HAD) or not clause.has(Kind.SUBJECT)
    ):
        return False
    last = None if alone else clause.setting.state.last
    named = [r.name for t in clause.all(Kind.FIELD) for r in t.readings]
    return any(map(clause.setting.is_number, named or (last.select if last else ())))


def _as_choice(token: Token, setting: Setting) -> Token:
    """检查结果正常: what is no measurement is normal by a choice of that name."""
    choice = setting.vocabulary.other(fold(token.said), Kind.CHOICE)
    return Token(Kind.CHOICE, token.said, choice.value, choice.readings) if choice else token


def _reasons(clause: Clause) -> list[Token]:
    """筛败的是谁,为什么: where nothing else is asked about, the reason that the study notes."""
    reason = clause.setting.vocabulary.words.get("原因")
    told = (
        *(Kind.FIELD, Kind.FORM, Kind.FINDING, Kind.RUN, Kind.REVIEW, Kind.VISIT, Kind.TARGET),
        *(Kind.NUMBER, Kind.PERIOD, Kind.PLACE),
    )
    if reason is None or clause.has(*told) or not clause.has(Kind.WHAT, value="why"):
        return clause.tokens
    design = clause.setting.design
    of_status = design.form_of(design.status_field)
    readings = sorted(reason.readings, key=lambda r: design.form_of(r.name) != of_status)
    return [
        Token(Kind.FIELD, t.said, "why", tuple(readings[:1])) if t.value == "why" else t
        for t in clause.tokens
    ]


def _of_last(token: Token, clause: Clause) -> Token:
    """P016的转氨酶 → V2那次判断是什么, A中心入组几例 → B呢: an unknown word, known beside what was spoken of.

    It is a part of one label of the forms that were spoken of, or what tells one site from the others.
    """
    setting, last = clause.setting, clause.setting.state.last
    if last is None or token.kind is not Kind.LEFT:
        return token
    site = setting.vocabulary.words.get(f"{fold(token.said)}中心")
    if last.site and site is not None and site.kind is Kind.SITE:
        return Token(Kind.SITE, token.said, site.value, site.readings)
    form_of, label = setting.design.form_of, setting.design.metadata.label
    forms = {form_of(name) for name in last.select} - {""}
    near = [n for form in forms for n in setting.fields_of(form) if token.said in fold(label(n))]
    if len(token.said) < 2 or len(near) != 1 or clause.has(Kind.FIELD, Kind.FORM):
        return token
    return Token(Kind.FIELD, token.said, "", (Reading(near[0]),))


def _reported(clause: Clause) -> list[Token]:
    """P010的SAE什么时候报的: the day on which an event was reported."""
    words = clause.setting.vocabulary
    name = words.reports.get(words.event_form)
    last = clause.setting.state.last
    told = {*last.select, *(c.get("field") for c in last.where)} if last else set()
    form_of = clause.setting.design.form_of
    of_last = any(words.event_form in (n, form_of(str(n))) for n in told)
    spoken_of = speaks_of_events(clause) or (of_last and not clause.has(Kind.FIELD, Kind.FORM))
    if not name or not spoken_of or not clause.has(Kind.WHEN, Kind.LASTED):
        return clause.tokens
    day = Token(Kind.FIELD, "报", "", (Reading(name),))
    return [day if (t.kind, t.said) == (Kind.FILL, "报") else t for t in clause.tokens]


def _timed(tokens: list[Token]) -> list[Token]:
    """退出前最后一次来是哪天, 皮疹持续了几天: a choice that only says when, or what lasts, is none."""
    words = [token for token in tokens if token.kind is not Kind.FILL]
    tokens = _happened_before(tokens)
    lasting = [a for a, b in pairwise(words) if a.kind is Kind.CHOICE and b.kind is Kind.LASTED]
    if lasting and any(token.kind in (Kind.TERM, Kind.FORM) for token in tokens):
        tokens = [Token(Kind.FILL, t.said) if t in lasting else t for t in tokens]
    if not any(token.kind is Kind.VISIT for token in tokens):
        return tokens
    ends = (*tokens[1:], Token(Kind.FILL, ""))
    pairs = zip(tokens, ends, strict=True)
    return [
        Token(Kind.FILL, t.said) if t.kind is Kind.CHOICE and after.said in ("前", "后") else t
        for t, after in pairs
    ]


def _measured_counts(tokens: list[Token], setting: Setting) -> list[Token]:
    """The latest platelet count: right behind what is measured a count is a part of its name."""
    counted = [
        after
        for named, after in pairwise(tokens)
        if (after.kind, after.said) == (Kind.COUNT, "count")
        and named.kind is Kind.FIELD
        and setting.is_number(named.name)
    ]
    told = [Token(Kind.FILL, t.said) if t in counted else t for t in tokens]
    # 乏力的几个人都好了吗: those who were counted before are all meant.
    meant = [a for a, b in pairwise(told) if (a.kind, b.said) == (Kind.COUNT, "都")]
    return [Token(Kind.FILL, t.said) if t in meant else t for t in told]


def _of_one(tokens: list[Token]) -> list[Token]:
    """P002还缺什么: what one subject lacks is not filled in, and is no part of the target."""
    if not any(t.kind in (Kind.SUBJECT, Kind.PRONOUN) for t in tokens):
        return tokens
    lacks = (Kind.TARGET, "left")
    return [Token(Kind.EMPTY, t.said) if (t.kind, t.value) == lacks else t for t in tokens]


def _happened_before(tokens: list[Token]) -> list[Token]:
    """ALT高了以后降下来没: of the time behind a high value all that followed is asked."""
    ends = zip(tokens, tokens[1:], tokens[2:], strict=False)
    since = [a for a, b, c in ends if a.kind is Kind.LIMIT and b.said + c.said in _SINCE]
    return [Token(Kind.ROWS, t.said, "since") if t in since else t for t in tokens]


def _eligible(clause: Clause) -> list[Token]:
    """P022能入组吗: of somebody, what speaks against it as far as it is noted, and where they stand."""
    rule = next((t for t in clause.all(Kind.RULE) if t.value == "eligible"), None)
    valued = (Kind.FIELD, Kind.CHOICE, Kind.NUMBER, Kind.FORM, Kind.LEFT)
    if rule is None or not clause.has(Kind.SUBJECT, Kind.PRONOUN) or clause.has(*valued):
        return clause.tokens
    words = clause.setting.vocabulary.words
    known = [meant for w in ("排除标准", "状态") if (meant := words.get(w)) and meant.readings]
    told = [Token(Kind.FIELD, rule.said, "", meant.readings[:1]) for meant in known]
    return [t for token in clause.tokens for t in (told if token is rule and told else [token])]


def _begins_range(place: int, clause: Clause) -> Token:
    """0到1分: the number before a choice is one of the same field, said without its unit."""
    token, after = clause.tokens[place], clause.tokens[place + 1 : place + 3]
    if token.kind is not Kind.NUMBER or [t.kind for t in after[1:]] != [Kind.CHOICE]:
        return token
    if after[0].said not in ("到", "至"):
        return token
    name, end = after[1].name, after[1].said
    labels = clause.setting.design.metadata.choices(name).items()
    said = fold(token.said) + end.lstrip("0123456789")
    codes = [code for code, label in labels if said in choice_names(label)]
    return Token(Kind.CHOICE, token.said, "", (Reading(name, codes[0]),)) if codes else token


def _at_place(token: Token, clause: Clause) -> Token:
    """V3时ECOG几分, ECOG的变化: a word is the field of that name which is filled in there, or several times."""
    design = clause.setting.design
    if token.kind is not Kind.FIELD or token.name.startswith("@"):
        return token
    places = [r.name for t in clause.all(Kind.PLACE) for r in t.readings]
    over_time = any(t.value in ("each", "since") for t in clause.all(Kind.ROWS))

    def fits(name: str) -> bool:
        if places:
            return any(stands(design, name, place) for place in places)
        return sum(stands(design, name, event) for event in design.event_order) > 1

    if not (places or over_time) or any(fits(r.name) for r in token.readings):
        return token
    others = clause.setting.vocabulary.others.get(fold(token.said), ())
    there = [r for o in others if o.kind is Kind.FIELD for r in o.readings if fits(r.name)]
    return replace(token, readings=(there[0],), value="") if there else token


def _on_their_day(clause: Clause) -> list[Token]:
    """上周筛选了几个: who came to an event in a period is told by the day that is called after it."""
    told = (*(Kind.FIELD, Kind.FORM, Kind.TERM, Kind.CHOICE, Kind.VISIT, Kind.ENROLLED),)
    who = clause.has(Kind.WHO, Kind.COUNT, Kind.GROUP)
    when = clause.has(Kind.PERIOD, Kind.GROUP) or any(
        t.value in ("latest", "first") for t in clause.all(Kind.ROWS)
    )
    if not (who and when) or clause.has(*told, *_WORKED):
        return clause.tokens
    days = {t: day_of(t, clause.setting) for t in clause.all(Kind.PLACE) if t.value == "event"}
    return [
        Token(Kind.FIELD, t.said, "", (Reading(day),)) if (day := days.get(t)) else t
        for t in clause.tokens
    ]


def _only_asks(token: Token, before: Sequence[Token]) -> bool:
    """口子多大: behind what is measured 多大, 多高 and 多重 ask for it and name nothing themselves."""
    how_bad = token.value == "part" and token.said.startswith("严重")
    if token.kind is not Kind.FIELD or not (token.said.startswith("多") or how_bad):
        return False
    between = (Kind.FILL, Kind.ROWS, Kind.PERIOD, Kind.PLACE, Kind.FOLLOW)
    named = next((t for t in reversed(before) if t.kind not in between), None)
    measured = named is not None and named.kind in (Kind.FIELD, Kind.FORM)
    return measured and named is not None and not named.said.startswith("多")


def _forms_named(clause: Clause) -> dict[str, float]:
    """Form -> how much the clause speaks of it."""
    setting, found = clause.setting, dict[str, float]()
    design = setting.design
    for token in clause.tokens:
        if token.kind is Kind.FORM:
            found[token.name] = 1.0
        elif token.kind in (Kind.FIELD, Kind.CHOICE) and len(token.readings) == 1:
            found.setdefault(design.form_of(token.name), 0.5)
        elif token.kind is Kind.TERM:
            found[token.value] = 1.0
        elif token.kind is Kind.TOOK:
            found[setting.vocabulary.drug_form] = 1.0
        elif token.kind is Kind.HAD:
            found[setting.vocabulary.event_form] = 1.0
    if not found and setting.state.last:
        for name in setting.state.last.select:
            found.setdefault(design.form_of(name) or name, 0.4)
    return found


def _best(token: Token, clause: Clause, context: dict[str, float]) -> tuple[Reading, ...]:
    design = clause.setting.design
    beside = [
        t.said
        for t in clause.tokens
        if t.kind in (Kind.FIELD, Kind.LEFT, Kind.CHOICE) and t is not token
    ]

    def score(reading: Reading) -> float:
        label = design.metadata.label(reading.name).casefold()
        told = sum(len(word) for word in beside if word in label) / 10
        return reading.weight + context.get(design.form_of(reading.name), 0.0) + told

    ranked = sorted(token.readings, key=lambda reading: -score(reading))
    top = score(ranked[0])
    return tuple(reading for reading in ranked if score(reading) > top - _NEAR)


def _best_choice(
    token: Token, named: Iterable[str], clause: Clause, context: dict[str, float]
) -> Reading:
    design, known = clause.setting.design, set(named)

    def score(reading: Reading) -> tuple[float, ...]:
        of_status = reading.name == design.status_field
        return (
            reading.name in known,
            context.get(design.form_of(reading.name), 0.0),
            of_status,
            reading.weight,
        )

    return max(token.readings, key=score)
