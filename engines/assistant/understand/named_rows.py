"""Words that no dictionary holds: what a row of a repeating form is called, a part of a choice's label."""

from __future__ import annotations

import re
from collections.abc import Collection

from engines.assistant.understand.clause import Clause
from engines.assistant.understand.naming import fold
from engines.assistant.understand.tokens import Kind, Reading, Token
from language.denials import denies
from language.sounds import sound
from rules.context import Kind as ColumnKind

_NOTE = re.compile(r"[（(].*$")
_LOOSE = "的了过着是在有没还也都"
"""Words of one letter that are no part of a longer one."""
_DOSAGE = re.compile(r"(?:缓释|肠溶|分散)?(?:片|胶囊|颗粒|注射液|口服液|软膏|糖浆)$")
# What stands in brackets behind a name says more of it: 急性阑尾炎（住院手术）.


def _glued(tokens: list[Token], clause: Clause) -> list[Token]:
    """骨髓 and 炎 make one unknown word, also where a part of it is known; not what is written apart."""
    found: list[Token] = []
    open_ = (Kind.LEFT, Kind.ABSENT, Kind.TERM)
    for token in tokens:
        before = found[-1] if found else None
        if (
            before
            and before.kind in open_
            and token.kind in open_
            and Kind.LEFT in (before.kind, token.kind)
            and (
                _is_written(before.said + token.said, clause)
                or not _is_written(before.said, clause)
            )
        ):
            kind = Kind.TERM if Kind.TERM in (before.kind, token.kind) else Kind.LEFT
            found[-1] = Token(kind, before.said + token.said)
        else:
            found.append(token)
    return found


def _is_written(said: str, clause: Clause) -> bool:
    """Whether some free text of the study has it."""
    values = (value for known in clause.setting.terms.values() for value in known)
    return len(said) > 1 and any(said in value.casefold() for value in values)


def _called(clause: Clause) -> list[Token]:
    """肝功能异常那个AE, 氨氯地平: words that together are what a row is called.

    Words that are all known mean something by themselves, unless events are what is spoken of.
    """
    setting, form = clause.setting, clause.setting.vocabulary.event_form
    named = [setting.design.form_of(r.name) for t in clause.all(Kind.FIELD) for r in t.readings]
    # What lasts is a row: a value outside its limits has no end.
    spoken = clause.has(Kind.HAD, Kind.LASTED) or form in [
        *named,
        *(t.name for t in clause.all(Kind.FORM)),
    ]
    fields = map(setting.naming_field, setting.design.repeating_forms)
    values = [value for name in fields for value in setting.terms.get(name, ())]
    names = {_DOSAGE.sub("", fold(_NOTE.sub("", value))) for value in values}
    longest = max(map(len, names), default=0)
    tokens = clause.tokens
    for first in range(len(tokens)):
        for last in range(min(len(tokens), first + longest), first + 1, -1):
            within = tokens[first:last]
            said = "".join(token.said for token in within)
            if said in names and (spoken or any(t.kind is Kind.LEFT for t in within)):
                return [*tokens[:first], Token(Kind.TERM, said), *tokens[last:]]
    return tokens


def _of_kind(tokens: list[Token], clause: Clause) -> list[Token]:
    """谁在吃降压药: what stands right before 药 and is not all known says which drugs, and is one word."""
    end = next((i for i, t in enumerate(tokens) if (t.kind, t.said) == (Kind.FILL, "药")), 0)
    if not clause.has(Kind.TOOK) or clause.has(Kind.SUBJECT, Kind.PRONOUN):
        return tokens
    first = end
    while (
        first
        and tokens[first - 1].kind in (Kind.LEFT, Kind.FILL)
        and (len(tokens[first - 1].said) == 1 and tokens[first - 1].said not in _LOOSE)
    ):
        first -= 1
    within = tokens[first : end + 1]
    if not any(t.kind is Kind.LEFT for t in within):
        return tokens
    said = "".join(t.said for t in within)
    return [*tokens[:first], Token(Kind.LEFT, said), *tokens[end + 1 :]]


def named_rows(clause: Clause) -> Clause:
    """The clause with its unknown words as names of rows (TERM), choices, or what is not collected (ABSENT)."""
    clause = Clause(_glued(_of_kind(_called(clause), clause), clause), clause.setting)
    tokens: list[Token] = []
    for place, token in enumerate(clause.tokens):
        tokens.append(_named(place, token, clause))
    told = [
        t.readings[0]
        for t, was in zip(tokens, clause.tokens, strict=True)
        if t is not was and t.readings
    ]
    tokens = [t for t in tokens if not any(_wider(t, choice) for choice in told)]
    tokens = _treated(_of_drugs(tokens, clause), clause)
    return Clause([*tokens, *_implied(Clause(tokens, clause.setting))], clause.setting)


def _named(place: int, token: Token, clause: Clause) -> Token:
    """What an unknown word is; a known one as it is."""
    if token.kind not in (Kind.LEFT, Kind.ABSENT, Kind.TERM):
        return token
    written = _written_in(place, clause)
    if written:
        form = clause.setting.design.form_of(written)
        return Token(Kind.TERM, token.said, form, (Reading(written),))
    if found := _held(token, clause):
        return found
    if history := _history(token, clause):
        return Token(Kind.TERM, token.said, clause.setting.design.form_of(history.name), (history,))
    if form := _trade_form(token, clause):
        return Token(Kind.TERM, token.said, form)
    if token.kind is Kind.TERM:
        return Token(Kind.ABSENT, token.said)
    choice = _choice_part(token.said, clause) if token.kind is Kind.LEFT else None
    if choice:
        return Token(Kind.CHOICE, token.said, "", (choice,))
    form = _spoken_form(place, token, clause) if len(token.said) > 1 else ""
    return Token(Kind.TERM, token.said, form) if form else token


def _of_drugs(tokens: list[Token], clause: Clause) -> list[Token]:
    """阑尾炎那次住院用了什么抗生素: where drugs are asked for, words of other rows say no more than when."""
    form = clause.setting.vocabulary.drug_form
    named = [t for t in tokens if t.kind is Kind.TERM]
    if not clause.has(Kind.TOOK) or not clause.setting.terms or len(named) < 2:
        return tokens
    written = [v.casefold() for vs in clause.setting.terms.values() for v in vs]
    drugs = [t for t in named if t.value == form and any(t.said in v for v in written)]
    others = [t for t in named if t not in drugs and clause.setting.repeats(t.value)]
    if not drugs:
        return tokens
    return [Token(Kind.FILL, t.said) if t in others else t for t in tokens]


def _treated(tokens: list[Token], clause: Clause) -> list[Token]:
    """P001的皮疹用没用药: an event beside the drugs of one subject is what they were taken for."""
    words = clause.setting.vocabulary
    reason = words.reasons.get(words.drug_form)
    drugs = any(t.name == words.drug_form for t in clause.all(Kind.FORM))
    if not reason or not drugs or clause.many or clause.has(Kind.DURING, Kind.HAD, Kind.AND):
        return tokens
    form, read = words.drug_form, (Reading(reason),)
    events = (Kind.TERM, words.event_form)
    return [
        Token(Kind.TERM, t.said, form, read) if (t.kind, t.value) == events else t for t in tokens
    ]


def _spoken_form(place: int, token: Token, clause: Clause) -> str:
    """The form whose rows a clause speaks of: what was taken, or what happened."""
    words = clause.setting.vocabulary
    if (
        any(len(t.said) > 1 or not token.said.isascii() for t in clause.all(Kind.TOOK))
        and words.drug_form
    ):
        return words.drug_form
    if token.kind is not Kind.LEFT or not words.event_form:
        return ""
    told = clause.has(Kind.FORM, Kind.TERM, Kind.PERIOD)
    happened = any(t.kind is Kind.HAD for t in (clause.tokens[:place] if told else clause.tokens))
    return words.event_form if happened or _names_row(place, clause) else ""


def _written_in(place: int, clause: Clause) -> str:
    """既往史有高血压的, 治便秘的药, 青霉素过敏的: the free text named right beside a word holds it."""
    setting = clause.setting
    before = [t for t in clause.tokens[:place] if t.kind is not Kind.FILL][-1:]
    after = clause.tokens[place + 1 : place + 2] if len(clause.tokens[place].said) > 1 else []
    for named in [*before, *after] if clause.many else []:
        if named.kind is not Kind.FIELD or len(named.readings) != 1:
            continue
        if setting.column_kind(named.name) is ColumnKind.TEXT and not setting.is_date(named.name):
            return named.name
    return ""


def _held(token: Token, clause: Clause) -> Token | None:
    """A word as some free text of the study has it: what a row is called, else what is written elsewhere."""
    setting = clause.setting
    for name in _texts(clause) if len(token.said) > 1 else ():
        values = setting.terms[name]
        form = setting.design.form_of(name)
        called = setting.repeats(form) and name == setting.naming_field(form)
        if not (setting.repeats(form) or clause.many or clause.has(Kind.SUBJECT, Kind.PRONOUN)):
            continue
        said = _as_written(token.said, values) if called else _affirmed(token.said, values)
        if said:
            return Token(Kind.TERM, said, form, () if called else (Reading(name),))
    return None


def _texts(clause: Clause) -> list[str]:
    """The free texts of a study, first those where a word of this clause is looked for."""
    setting = clause.setting
    words, form_of = setting.vocabulary, setting.design.form_of
    forms = [t.name for t in clause.all(Kind.FORM)]
    forms += [words.drug_form] if clause.has(Kind.TOOK) else []

    def rank(name: str) -> tuple[bool, bool, bool]:
        form = form_of(name)
        rows = setting.repeats(form)
        called = rows and name == setting.naming_field(form)
        return form not in forms, not called, rows

    return sorted(setting.terms, key=rank)


def _affirmed(said: str, values: Collection[str]) -> str:
    """The word, where some value says it and does not deny it."""
    told = any(said in value.casefold() and not denies(value, said) for value in values)
    return said if told else ""


def _history(token: Token, clause: Clause) -> Reading | None:
    """高血压的病人有哪些: an illness that no row tells of is one of the history."""
    told = (Kind.HAD, Kind.TOOK, Kind.FORM, Kind.FIELD, Kind.PERIOD, Kind.NOT)
    if token.kind is not Kind.TERM or not clause.setting.terms:
        return None
    words = clause.setting.vocabulary.words.get("病史")
    if words is None or words.kind is not Kind.FIELD or not clause.many or clause.has(*told):
        return None
    return words.readings[0]


def _trade_form(token: Token, clause: Clause) -> str:
    """A word of the trade that nothing written holds names an event, or a drug where one was taken."""
    if token.kind is not Kind.TERM or len(token.said) < 2:
        return ""
    words = clause.setting.vocabulary
    return (clause.has(Kind.TOOK) and words.drug_form) or words.event_form


def _as_written(said: str, values: Collection[str]) -> str:
    """How a word stands in some value, also where it is only spelt by its sound; "" where it does not."""
    heard = sound(said)
    for value in values:
        at = value.casefold().find(said)
        at = at if at >= 0 or len(said) < 3 else sound(value.casefold()).find(heard)
        if at >= 0:
            return value[at : at + len(said)]
    return ""


def _names_row(place: int, clause: Clause) -> bool:
    """那个胃痛是几级的: an unknown word before a field of the rows, where nothing else says which rows."""
    said, after = clause.tokens[place].said, clause.tokens[place + 1 :]
    setting = clause.setting
    flags = [t for t in clause.all(Kind.FIELD) if setting.column_kind(t.name) is ColumnKind.FLAG]
    told = clause.has(Kind.FORM, Kind.TERM) or flags or said.isascii()
    forms = {setting.design.form_of(r.name) for t in clause.all(Kind.FIELD) for r in t.readings}
    near = setting.vocabulary.event_form in forms
    return near and not told and any(t.kind is Kind.FIELD for t in after)


def _choice_part(said: str, clause: Clause) -> Reading | None:
    """肯定 beside 与药物的关系 is part of its choice 肯定有关; of several the one most of which is said."""
    metadata = clause.setting.design.metadata
    best: tuple[int, Reading | None] = (0, None)
    for name in {r.name for t in clause.all(Kind.FIELD, Kind.CHOICE) for r in t.readings}:
        for code, label in metadata.choices(name).items():
            told = sum(char in clause.said for char in label)
            if len(said) > 1 and said in label.casefold() and told > best[0]:
                best = told, Reading(name, code)
    return best[1]


def _wider(token: Token, than: Reading) -> bool:
    """有关 stands for several choices, of which 肯定 told one."""
    return token.kind is Kind.CHOICE and len(token.readings) > 1 and than in token.readings


def _implied(clause: Clause) -> list[Token]:
    """在用的有哪些: what was taken, or happened, are the rows of a form that the words leave out."""
    words = clause.setting.vocabulary
    if clause.has(Kind.DURING) and clause.has(Kind.TOOK) and words.drug_form:
        # 吃药那几天有没有AE: what was taken, beside what is asked.
        return [Token(Kind.FORM, "", "", (Reading(words.drug_form),))]
    if clause.has(
        Kind.FIELD, Kind.FORM, Kind.TERM, Kind.CHOICE, Kind.ABSENT, Kind.ENROLLED, Kind.VISIT
    ):
        return []
    form = (
        words.drug_form
        if clause.has(Kind.TOOK)
        else words.event_form
        if clause.has(Kind.HAD)
        else ""
    )
    return [Token(Kind.FORM, "", "", (Reading(form),))] if form else []
