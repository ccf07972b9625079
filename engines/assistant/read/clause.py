"""The words of one clause, each taken by what it means; what is left at the end was not understood."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from core.language.denials import denies
from core.rules.context import Kind as ColumnKind
from engines.assistant.read.naming import fold
from engines.assistant.read.setting import Setting
from engines.assistant.read.tokens import Kind, Reading, Token

_OPEN = (Kind.LEFT, Kind.TERM, Kind.ABSENT)
_MOST_GLUED = 6
_WEAK = 0.34


class NotRead(Exception):
    """The clause has words that fit nowhere, or in several ways."""


def refuse(unread: object) -> None:
    """Not read where something holds that the grammar cannot take."""
    if unread:
        raise NotRead


class Clause:
    """The tokens that say something.

    `free`: the places of those that nothing took yet. `near`: the forms that were spoken of before.
    """

    def __init__(self, tokens: Iterable[Token], setting: Setting, near: Iterable[str] = ()) -> None:
        tokens = list(tokens)
        self.setting, self.near = setting, frozenset(near)
        self.said = "".join(t.said for t in tokens)
        said = _spoken([t for t in tokens if t.kind is not Kind.FILL or t.value], setting)
        named = _named_rows(said, setting)
        self.tokens = [self._certain(t, named) for t in named]
        self.free = set(range(len(self.tokens)))

    def places(self, *kinds: Kind, value: str | None = None) -> list[int]:
        """Where free tokens of these kinds (with that value) stand, in order."""
        return [
            i
            for i in sorted(self.free)
            if self.tokens[i].kind in kinds and value in (None, self.tokens[i].value)
        ]

    def has(self, *kinds: Kind, value: str | None = None) -> bool:
        """Whether there is such a free token."""
        return bool(self.places(*kinds, value=value))

    def take(self, *kinds: Kind, value: str | None = None) -> list[Token]:
        """All such free tokens, taken."""
        found = self.places(*kinds, value=value)
        self.free -= {*found}
        return [self.tokens[i] for i in found]

    def fill(self, *values: str) -> bool:
        """Take the function words of these classes where they stand; whether there was one."""
        found = [self.take(Kind.FILL, value=value) for value in values]
        return any(found)

    def at(self, place: int) -> Token | None:
        """The token of a place, None beyond the ends."""
        return self.tokens[place] if 0 <= place < len(self.tokens) else None

    def kind(self, place: int) -> Kind | None:
        """The kind of the token of a place."""
        token = self.at(place)
        return token.kind if token else None

    def ends_with_no(self) -> bool:
        """Whether a no at the end only asks (好了没); it is taken."""
        last = len(self.tokens) - 1
        if last not in self.free or self.kind(last) is not Kind.NOT or self.tokens[last].value:
            return False
        self.free.discard(last)
        return True

    def end(self) -> None:
        """Not read where something is left."""
        if self.free:
            raise NotRead

    def _certain(self, token: Token, said: list[Token]) -> Token:
        """A field or a choice with the one reading that it has in this clause, as LEFT where there is none."""
        form_of, readings = self.setting.design.form_of, token.readings
        forms = _forms(said, self.setting, but=token) or self.near
        if token.kind is Kind.FIELD and token.value != "all":
            if len(readings) > 1:
                best = [r for r in readings if form_of(r.name) in forms]
                return replace(token, readings=(best[0],)) if len(best) == 1 else _left(token)
            if token.name[:1] != "@" and not self._stands(token, said):
                return _left(token)
            weak = token.value == "part" and readings[0].weight < _WEAK
            return _left(token) if weak and form_of(token.name) not in self.near else token
        if token.kind is not Kind.CHOICE or len({r.name for r in readings}) == 1:
            return token
        fields = {r.name for t in said if t.kind is Kind.FIELD for r in t.readings}
        beside = [r for r in readings if r.name in fields]
        near = [r for r in readings if form_of(r.name) in forms]
        best = beside or near or [r for r in readings if r.name == self.setting.design.status_field]
        one = len({r.name for r in best}) == 1
        return replace(token, readings=tuple(best)) if one else _left(token)

    def _stands(self, token: Token, said: list[Token]) -> bool:
        """Whether a field is filled in at the places named, or more than once where its course is asked for."""
        setting, events = self.setting, self.setting.design.event_order
        places = [r.name for t in said if t.kind is Kind.PLACE for r in t.readings]
        often = any((t.kind, t.value) == (Kind.ROWS, "each") and t.said != "都" for t in said)
        asked = (places or often) and events and not _speaks(said, Kind.VISIT, Kind.LASTED)
        if not asked or setting.is_date(token.name):
            return True
        rows = often and setting.repeats(setting.design.form_of(token.name))
        stands = sum(setting.stands(token.name, place) for place in places or events)
        return rows or stands > (0 if places else 1)


def _speaks(said: list[Token], *kinds: Kind) -> bool:
    return any(t.kind in kinds for t in said)


_NAMES = (Kind.FIELD, Kind.FORM, Kind.TERM)


def _spoken(said: list[Token], setting: Setting) -> list[Token]:
    """The words as they are meant beside each other; None of some that say nothing there."""
    found: list[Token] = []
    said = _merged(said)
    for at, token in enumerate(said):
        before, after = found[-1] if found else None, said[at + 1] if at + 1 < len(said) else None
        meant: Token | None = token
        match token.kind, token.value:
            case Kind.FILL, "noun":
                # Behind or before what is named it says nothing.
                beside = (before and before.kind in (*_NAMES, Kind.RUN, Kind.PLACE)) or (
                    after and after.kind in _NAMES
                )
                meant = (
                    None if beside or _speaks(said, Kind.CHANGED, Kind.DICTIONARY) else _left(token)
                )
            case Kind.FILL, "request":
                # It begins a request; inside one it asks for something.
                meant = _left(token) if found else None
            case Kind.AND, _ if token.said == "还有" and not (
                before and after and before.kind is after.kind
            ):
                meant = None
            case Kind.CHOICE, _ if after and after.kind is Kind.LASTED:
                meant = None
            case Kind.FOLLOW, _ if before:
                # 那条皮疹: it points at what is named behind it.
                meant = None
            case Kind.FIELD, _ if token.said.startswith("多") and before:
                # Behind what is measured it asks for it.
                named = before.kind is not Kind.FIELD or setting.is_number(before.name)
                asks = named and before.kind in (*_NAMES, Kind.ROWS) and _speaks(said[:at], *_NAMES)
                meant = Token(Kind.WHAT, token.said) if asks else token
            case Kind.VISIT, _:
                meant = _visit(token, said, before)
            case Kind.TARGET, _ if _speaks(said, Kind.SUBJECT, Kind.PRONOUN):
                # Of one subject no target of the study is meant.
                kind = Kind.EMPTY if token.value == "left" else Kind.VISIT
                meant = Token(kind, token.said, "" if token.value == "left" else "topic")
        found += [meant] if meant else []
    return found


def _visit(token: Token, said: list[Token], before: Token | None) -> Token | None:
    """Visits beside a field say which reading; beside enrolment and 谁 who was first or last."""
    if _speaks(said, *_NAMES):
        if token.value == "topic" and before and before.value == "each":
            return None
        if token.value == "last":
            return Token(Kind.ROWS, token.said, "latest")
    ends = {"open": "first", "close": "latest"}
    if token.value in ends and _speaks(said, Kind.ENROLLED) and _speaks(said, *_MANY):
        return Token(Kind.ROWS, token.said, ends[token.value])
    return token


_MANY = (Kind.WHO, Kind.COUNT, Kind.GROUP)


def _merged(said: list[Token]) -> list[Token]:
    """The words, two parts of one label beside each other as one name."""
    found: list[Token] = []
    for token in said:
        before = found[-1] if found else token
        parts = before.kind is token.kind is Kind.FIELD and "part" in (before.value, token.value)
        same = {r.name for r in before.readings} == {r.name for r in token.readings}
        if found and parts and same:
            weight = before.readings[0].weight + token.readings[0].weight
            whole = (Reading(token.name, "", weight), *token.readings[1:])
            found[-1] = Token(Kind.FIELD, before.said + token.said, "part", whole)
        else:
            found.append(token)
    return found


def _left(token: Token) -> Token:
    return Token(Kind.LEFT, token.said)


def _forms(said: list[Token], setting: Setting, *, but: Token) -> set[str]:
    """The forms that the other words of a clause are of."""
    found = set()
    words = setting.vocabulary
    for token in said:
        if token is but:
            continue
        if token.kind in (Kind.FORM, Kind.FIELD, Kind.CHOICE, Kind.TERM):
            found |= {setting.design.form_of(r.name) or r.name for r in token.readings}
        elif token.kind is Kind.TOOK or (token.kind, token.value) == (Kind.FILL, "drug"):
            found.add(words.drug_form)
        elif token.kind is Kind.HAD:
            found.add(words.event_form)
    return found - {""}


def _named_rows(said: list[Token], setting: Setting) -> list[Token]:
    """Unknown words, alone or with what stands beside them, as what some free text of the study holds."""
    found: list[Token] = []
    at = 0
    while at < len(said):
        for end in range(min(len(said), at + _MOST_GLUED), at, -1):
            within = said[at:end]
            word = "".join(t.said for t in within)
            if any(t.kind in _OPEN for t in within) and (
                name := _text_of(word, said, within, setting)
            ):
                found.append(Token(Kind.TERM, word, "written", (Reading(name),)))
                at = end
                break
        else:
            token = said[at]
            found.append(_unwritten(token, said, setting) if token.kind is Kind.TERM else token)
            at += 1
    return found


def _unwritten(token: Token, said: list[Token], setting: Setting) -> Token:
    """A word of the trade that nothing written holds names an event, where events are spoken of."""
    form, kinds = setting.vocabulary.event_form, {t.kind for t in said}
    is_event = Kind.HAD in kinds or form in _forms(said, setting, but=token)
    if not form or Kind.TOOK in kinds or not is_event or len(token.said) < 2:
        return _left(token)
    return Token(Kind.TERM, token.said, "", (Reading(setting.naming_field(form)),))


def _text_of(word: str, said: list[Token], within: list[Token], setting: Setting) -> str:
    """The free text that has a word and does not deny it; "" for none, or for several of equal standing."""
    if len(word) < 2 or word.isdecimal():
        return ""
    form_of, words = setting.design.form_of, setting.vocabulary
    others = [t for t in said if t not in within]
    beside = {r.name for t in others if t.kind is Kind.FIELD for r in t.readings}
    forms = {f for t in within for f in _forms(others, setting, but=t)}
    of_trade = any(t.kind in (Kind.TERM, Kind.ABSENT) for t in within)
    holds = [
        name
        for name, values in setting.terms.items()
        if not setting.is_date(name)
        and (of_trade or name in beside or name == setting.naming_field(form_of(name)))
        and setting.column_kind(name) is ColumnKind.TEXT
        and any(fold(word) in fold(v) and not denies(v, word) for v in values)
    ]

    def rank(name: str) -> tuple[bool, ...]:
        form = form_of(name)
        called = setting.repeats(form) and name == setting.naming_field(form)
        event = form == words.event_form
        return name in beside, form in forms, called, event or not setting.repeats(form)

    holds.sort(key=rank, reverse=True)
    if len(holds) > 1 and rank(holds[0]) == rank(holds[1]):
        return ""
    return holds[0] if holds else ""
