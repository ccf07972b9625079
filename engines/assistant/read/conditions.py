"""The conditions of a clause: comparisons, choices, what is empty, what happened and what did not.

Each takes the words that it is made of; words that could belong to two things are not read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from core.rules.context import Kind as ColumnKind
from engines.assistant.read.build import SIDES, TURNED, beyond, has_limit, limit
from engines.assistant.read.clause import Clause, NotRead, refuse
from engines.assistant.read.naming import fold
from engines.assistant.read.question import Query
from engines.assistant.read.tokens import CODED, Kind, Token
from study.facts import json_value

_BARE = {">": "abnormal_high", "<": "abnormal_low"}
OR = ("或", "或者", "or")
"""Between two fields it says either."""
_BETWEEN = {Kind.YES_NO, Kind.HAD, Kind.NOT, Kind.ALWAYS, Kind.ROWS, Kind.PLACE, Kind.EMPTY}
_BETWEEN |= {Kind.WHAT}
_COUNTED = ("个", "位", "名", "例", "人", "次", "天", "倍", "周")


@dataclass
class Found:
    """The conditions in the order of their words.

    `at`: the place of the first word of each. `fields`: what they are about. `denied`: of the named subjects
    it is asked whether none of their rows is so; `always`: 从来, 一直. `asked`: fields that are told instead.
    `unlimited`: fields that were compared with limits which they have not.
    """

    where: list[Query] = field(default_factory=list)
    at: list[int] = field(default_factory=list)
    fields: list[str] = field(default_factory=list)
    denied: bool = False
    always: bool = False
    asked: list[str] = field(default_factory=list)
    unlimited: list[str] = field(default_factory=list)

    def add(self, query: Query, at: int, *names: str) -> None:
        """One more, and the fields that it is about."""
        self.where.append(query)
        self.at.append(at)
        self.fields += [name for name in names if name not in self.fields]


class Conditions:
    """Takes the conditions out of a clause.

    `many`: subjects are looked for, none is named.
    """

    def __init__(self, clause: Clause, *, many: bool) -> None:
        self.clause, self.setting, self.many = clause, clause.setting, many
        self.tokens, self.found, self._is_all = clause.tokens, Found(), False

    def read(self) -> Found:
        """All of them."""
        for at in range(len(self.tokens)):
            if at in self.clause.free:
                self._at(at)
        return self.found

    def _at(self, at: int) -> None:
        token = self.tokens[at]
        match token.kind:
            case Kind.COMPARE:
                self._compared(at)
            case Kind.NUMBER:
                self._number(at)
            case Kind.LIMIT if token.value in SIDES and not self.clause.has(Kind.TIMES):
                self._limited(at, token.value)
            case Kind.CHOICE:
                self._choices(at)
                self._take(*self._own_field(at))
            case Kind.EMPTY:
                self._empty(at)
            case Kind.FIELD:
                self._field(at)
            case Kind.TERM:
                self._called(at)
            case Kind.FORM if self.setting.repeats(token.name) and self._denied(at):
                # No row; what else stands beside a form says which of its rows.
                refuse(not self.many)
                self._take(at)
                filled = {"field": self.setting.naming_field(token.name), "op": "filled"}
                self.found.add({"none": [filled]}, at)
            case Kind.TOOK if token.value == "now":
                # Which drug is not said, and the study's own is no row of this form.
                named = (Kind.TERM, Kind.CHOICE, Kind.FIELD, Kind.FORM, Kind.WHAT)
                refuse(self.clause.has(Kind.YES_NO) and not self.clause.has(*named))
                ends = self.setting.vocabulary.ends.get(self.setting.vocabulary.drug_form, "")
                refuse(not ends or self.clause.has(Kind.PERIOD) or self._denied(at))
                self._take(at)
                self.found.add({"field": ends, "op": "blank"}, at, ends)
            case Kind.ENROLLED if self.many:
                self._take(at)
                op = "blank" if self._denied(at) else "filled"
                self.found.add({"field": "@enrolled", "op": op}, at)

    def _take(self, *places: int) -> None:
        self.clause.free -= {*places}

    def _said(self, place: int, kind: Kind, value: str) -> bool:
        """Whether a token of this kind with this value, or said so, stands at a place."""
        token = self.clause.at(place)
        return token is not None and token.kind is kind and value in (token.value, token.said)

    def _own_field(self, at: int) -> list[int]:
        """The place of the field that a choice or a text is of, right before it."""
        before = self.clause.at(at - 1)
        own = before and before.kind is Kind.FIELD and before.name == self.tokens[at].name
        return [at - 1] if own else []

    # Comparisons

    def _compared(self, at: int) -> None:
        """A comparison; with nothing behind it the limit is meant."""
        token, after = self.tokens[at], self.clause.at(at + 1)
        if after and after.kind in (Kind.NUMBER, Kind.LIMIT) and not self.clause.has(Kind.TIMES):
            value, end = self._operand(at + 1)
            refuse(self.clause.kind(end) is Kind.BOUND)
            names = self._fields_for(at, after)
            self._take(*range(at, end))
            self._add(names, token.value, value, at)
        elif not self._dates(at) and token.value in _BARE:
            # Of one who is named the limit is meant where there is nothing else to compare with.
            beside = (Kind.DIFFERENCE, Kind.BASELINE, Kind.TIMES, Kind.AGGREGATE, Kind.WHO)
            asked = self.clause.has(Kind.YES_NO, Kind.ALWAYS) or self._is_no(at - 1)
            if not asked or self.clause.has(*beside):
                return
            self._limited(at, _BARE[token.value])

    def _dates(self, at: int) -> bool:
        """A date before or after another one, on both sides of the word."""
        first = at - 2 if self.clause.kind(at - 1) is Kind.YES_NO else at - 1
        left, right = self._date(first), self._date(at + 1)
        if not (left and right):
            return False
        enrolled = Kind.ENROLLED in (self.clause.kind(first), self.clause.kind(at + 1))
        self._take(first, at, at + 1)
        later: Query = {"field": left, "op": self.tokens[at].value, "value": {"field": right}}
        self.found.add(later, at, left, right)
        if enrolled:
            self.found.add({"field": "@enrolled", "op": "filled"}, at)
        return True

    def _date(self, at: int) -> str:
        token = self.clause.at(at) if at in self.clause.free else None
        if token and token.kind is Kind.ENROLLED:
            return self.setting.design.enrolment_field
        dated = token and token.kind is Kind.FIELD and self.setting.is_date(token.name)
        return token.name if token and dated else ""

    def _operand(self, at: int) -> tuple[Any, int]:
        """A number or a limit with the times it is meant, and the place behind it."""
        token, after = self.tokens[at], self.clause.at(at + 1)
        if token.kind is Kind.LIMIT:
            refuse(token.value not in ("high", "low"))
            times = after.number if after and self._said(at + 1, Kind.NUMBER, "倍") else None
            return limit(token.value, times), at + (2 if times else 1)
        if token.value != "倍":
            return json_value(token.number), at + 1
        if after and after.kind is Kind.LIMIT and after.value in ("high", "low"):
            return limit(after.value, token.number), at + 2
        refuse(self.clause.has(Kind.BASELINE))
        return limit("high", token.number), at + 1

    def _number(self, at: int) -> None:
        """A number with its bound behind it, two as a range, or right behind its field as its value."""
        token = self.tokens[at]
        joined = self.clause.kind(at + 1) is Kind.AND or self._said(at + 1, Kind.FILL, "to")
        last = self.clause.at(at + 2) if joined else None
        if last and last.kind is Kind.NUMBER:
            names = self._fields_for(at, last)
            bound = self.clause.kind(at + 3) is Kind.BOUND
            refuse(len(names) != 1 or (bound and self.tokens[at + 3].value != "between"))
            self._take(*range(at, at + (4 if bound else 3)))
            ends = [json_value(token.number), json_value(last.number)]
            refuse(self.setting.column_kind(names[0]) in CODED)
            self.found.add({"field": names[0], "op": "between", "value": ends}, at, names[0])
            return
        value, end = (
            self._operand(at) if token.value == "倍" else (json_value(token.number), at + 1)
        )
        bound_token = self.clause.at(end)
        if bound_token and bound_token.kind is Kind.BOUND and bound_token.value != "between":
            names = self._fields_for(at, token)
            self._take(*range(at, end + 1))
            self._add(names, bound_token.value, value, at)
        elif self._is_equal(at, token):
            self._take(at - 1, at, *self.clause.places(Kind.FILL, value="time"))
            self._add([self.tokens[at - 1].name], "=", value, at)

    def _is_equal(self, at: int, token: Token) -> bool:
        """Whether a number right behind its field is its value."""
        before = self.clause.at(at - 1)
        named = before and before.kind is Kind.FIELD and len(before.readings) == 1
        asks_when = self.clause.has(Kind.WHEN) or any("次" in t.said for t in self.tokens)
        return bool(named) and token.value not in _COUNTED and (self.many or asks_when)

    def _limited(self, at: int, said: str) -> None:
        """Outside the limits that the fields have, or within all of them."""
        refuse(self.clause.has(Kind.BASELINE, Kind.AGGREGATE))
        names = self._fields_for(at, self.tokens[at])
        self._take(at)
        parts = beyond(names, said, self.setting)
        denied = self._denied(at)
        if not parts:
            refuse(self.many or not all(map(self.setting.is_number, names)))
            self.clause.take(Kind.ALWAYS)
            self.found.unlimited += names
            return
        self._hold(parts, at, denied=(said == "normal") is not denied)

    def _add(self, names: list[str], operator: str, value: Any, at: int) -> None:
        """A comparison of any of the fields."""
        if isinstance(value, dict):
            refuse(not any(has_limit(n, value["ref"], self.setting) for n in names))
        elif self.setting.column_kind(names[0]) in CODED:
            value = str(value)
        parts: list[Query] = [{"field": n, "op": operator, "value": value} for n in names]
        self._hold(parts, at, denied=self._denied(at))

    def _hold(self, parts: list[Query], at: int, *, denied: bool) -> None:
        """Any of the parts, each under 都; under 没, 从来, 一直 or 正常 of no row, or of every row."""
        names = [str(part["field"]) for part in parts]
        each = self._said(at - 1, Kind.ROWS, "都")
        self._take(*([at - 1] if each else []))
        self.found.always = bool(self.clause.take(Kind.ALWAYS))
        refuse(self.found.always and not denied)
        if denied and self.many and self.setting.repeats(self.setting.design.form_of(names[0])):
            # No such row, and who has no row at all has none.
            refuse(self.found.always)
            self.found.add({"none": parts}, at, *names)
            return
        if denied and self.many:
            parts = [part | {"op": TURNED[part["op"]], "holds": "every"} for part in parts]
        self.found.denied |= denied and not self.many
        apart = (denied and self.many) or (each and self._is_all and not denied)
        for query in parts if apart or len(parts) == 1 else [{"any": parts}]:
            self.found.add(query, at, *names)

    def _fields_for(self, at: int, value: Token) -> list[str]:
        """What a comparison is about: its unit's field, the fields named right before it, else the only one."""
        names, spent, of_number = list[str](), list[int](), value.kind is Kind.NUMBER
        for i in range(at - 1, -1, -1):
            token = self.tokens[i]
            if self._is_compared(token):
                names = [*(r.name for r in token.readings), *names]
                spent.append(i)
                if self.clause.kind(i - 1) is not Kind.AND:
                    break
            elif token.kind is not Kind.AND and (names or token.kind not in _BETWEEN):
                break
        by_unit = self.setting.vocabulary.units.get(value.value) if of_number else None
        if by_unit and by_unit[0].name not in names:
            return [by_unit[0].name]
        if not names:
            return [self._of_people(value)]
        joined = [i for i in self.clause.places(Kind.AND) if min(spent) < i < max(spent)]
        self._is_all = bool(joined) and not any(self.tokens[i].said in OR for i in joined)
        # Both or either, where no 都 says that both are meant.
        refuse(len(spent) > 1 and self._is_all and not self._said(at - 1, Kind.ROWS, "都"))
        self._take(*joined, *spent)
        return names

    def _is_compared(self, token: Token) -> bool:
        kinds = {self.setting.column_kind(r.name) for r in token.readings}
        unordered = {ColumnKind.FLAG, ColumnKind.TEXT, ColumnKind.TICKS}
        return token.kind is Kind.FIELD and not kinds <= unordered

    def _of_people(self, value: Token) -> str:
        """A bare number of people is their age."""
        years = self.setting.vocabulary.units.get("岁")
        sex = {t.name for t in self.tokens if t.kind is Kind.CHOICE}
        people = self.setting.design.sex_field in sex or self.clause.has(Kind.FILL, value="people")
        if years and people and value.kind is Kind.NUMBER and not value.value:
            return years[0].name
        raise NotRead

    # Choices, blanks, rows

    def _is_ordered(self, token: Token) -> bool:
        codes = self.setting.design.metadata.choices(token.name)
        return all(code.isdecimal() for code in codes) and len(token.readings) == 1

    def _choices(self, at: int) -> None:
        """A choice, several of one field, one with a bound behind it; behind a no all but that."""
        token, after, name = self.tokens[at], self.clause.at(at + 1), self.tokens[at].name
        codes, end = [r.code for r in token.readings], at + 1
        if after and after.kind is Kind.BOUND and self._is_ordered(token):
            refuse(after.value == "between")
            self._take(at, at + 1)
            self._add([name], after.value, codes[0], at)
            return
        while (more := self._joined(end, token)) is not None:
            codes += [r.code for r in more.readings]
            end += 2
        places = self.clause.places(Kind.CHOICE)
        others = [i for i in places if i >= end and self.tokens[i].name == name]
        once = not self.setting.repeats(self.setting.design.form_of(name))
        self._take(*range(at, end), *others)
        # What it is of two is asked, or whether both: the model may know.
        refuse(others and once and not self.many)
        refuse(any(self.tokens[i].readings != token.readings for i in others))
        ticked, codes = (
            self.setting.column_kind(name) is ColumnKind.TICKS,
            list(dict.fromkeys(codes)),
        )
        denied = self._denied((self._own_field(at) or [at])[0])
        refuse(denied and once and not self.many)
        if ticked and once and not self.many and self.clause.has(Kind.YES_NO):
            # An empty box is no answer beside what is written of it.
            texts, said = self.setting.terms.items(), fold(token.said)
            written = [n for n, told in texts if any(said in fold(text) for text in told)]
            self.found.asked += [name, *filter(self.setting.is_free_text, written)]
            return
        op = "contains" if ticked else "="
        parts: list[Query] = [{"field": name, "op": op, "value": code} for code in codes]
        query = parts[0]
        if denied:
            query = {"none": parts} if ticked or len(parts) > 1 else query | {"op": "!="}
        elif len(parts) > 1:
            query = {"any": parts} if ticked else {"field": name, "op": "in", "value": codes}
        self.found.add(query, at, name)

    def _joined(self, place: int, token: Token) -> Token | None:
        """The token behind an and that is of the same kind and field."""
        more = self.clause.at(place + 1) if self.clause.kind(place) is Kind.AND else None
        return more if more and (more.kind, more.name) == (token.kind, token.name) else None

    def _empty(self, at: int) -> None:
        """The field beside it is blank."""
        for place in (at + 1, at - 1):
            token = self.clause.at(place) if place in self.clause.free else None
            name = (
                token.name
                if token and token.kind is Kind.FIELD and len(token.readings) == 1
                else ""
            )
            if token and token.kind is Kind.FORM and not self.setting.repeats(token.name):
                name = self.setting.day_of(token.name)
            if self.setting.column_kind(name) not in (None, ColumnKind.FLAG):
                self._take(at, place)
                self.found.add({"field": name, "op": "blank"}, at, name)
                return

    def _field(self, at: int) -> None:
        """A yes-no field says which rows, or who is looked for; behind a no a date or a choice is blank."""
        token, name = self.tokens[at], self.tokens[at].name
        kind, rows = (
            self.setting.column_kind(name),
            self.setting.repeats(self.setting.design.form_of(name)),
        )
        if len(token.readings) != 1:
            return
        if kind is ColumnKind.FLAG and (rows or self.many):
            ticked: Query = {"field": name, "op": "=", "value": "1"}
            self._take(at)
            if self._denied(at):
                whether = rows and not self.many and self.clause.has(Kind.YES_NO)
                self.found.denied |= whether
                if not whether:
                    ticked = {"none": [ticked]} if rows else ticked | {"value": "0"}
            self.found.add(ticked, at, name)
            return
        no = self._is_no(at - 1) and self.tokens[at - 1].value != "report"
        if no and (kind is ColumnKind.CODE or self.setting.is_date(name)):
            self._take(at, at - 1)
            self.found.add({"field": name, "op": "blank"}, at, name)

    def _called(self, at: int) -> None:
        """What rows are called, or what a free text holds."""
        token = self.tokens[at]
        reasons = token.name in self.setting.vocabulary.reasons.values()
        # What somebody has is not what a drug was taken for.
        refuse(reasons and any(t.value == "people" for t in self.tokens))
        self._take(*self._own_field(at), at)
        query: Query = {"field": token.name, "op": "contains", "value": token.said}
        if self._denied(at):
            refuse(
                not self.many or not self.setting.repeats(self.setting.design.form_of(token.name))
            )
            query = {"none": [query]}
        self.found.add(query, at, token.name)

    def _is_no(self, place: int) -> bool:
        return place in self.clause.free and self.clause.kind(place) is Kind.NOT

    def _denied(self, at: int) -> bool:
        """Whether a no stands before a word, with nothing but 得过, 用过 between them; it is taken."""
        place = at - 1
        while place >= 0 and (
            self.tokens[place].kind in (Kind.HAD, Kind.TOOK) or self.tokens[place].value == "done"
        ):
            place -= 1
        denied = self._is_no(place)
        self._take(*([place] if denied else []))
        return denied
