"""Questions of the study's data about which or how many subjects there are: counts, shares, lists, ends."""

from __future__ import annotations

import re
from dataclasses import replace

from core.rules.context import Kind as ColumnKind
from engines.assistant.read.clause import refuse
from engines.assistant.read.data import ENDS, ROWS, Parts
from engines.assistant.read.question import Query, Question, Shape, condition_fields
from engines.assistant.read.tokens import CODED, Kind, Token

_MOST = {"most": "-", "fewest": "+"}
_PEOPLE = ("个", "位", "名", "例", "人", "")
_ENROLLED: Query = {"field": "@enrolled", "op": "filled"}


class Sought(Parts):
    """The question of a clause about subjects that are looked for."""

    def asked(self) -> Question:
        """The question, of subjects that are looked for."""
        clause = self.clause
        self._everyone = bool(clause.take(Kind.EVERYONE))
        figures = [t.value for t in clause.take(Kind.AGGREGATE)]
        refuse(self.lasts)
        by = self._groups()
        if self.where == [_ENROLLED] and (by or self.scope.period) and clause.take(Kind.OVERVIEW):
            return self._counted(by)
        if figures:
            return self._figure(figures, by)
        if clause.has(Kind.SHARE):
            return self._share(by)
        if clause.has(Kind.ROWS):
            return self._extreme(by)
        how_many = any(clause.tokens[i].said == "多少" for i in clause.places(Kind.WHAT))
        fields = filter(self.setting.column_kind, self.select)
        picks = [name for name in fields if not self.setting.is_date(name)]
        if by or clause.has(Kind.COUNT, Kind.COUNT_ROWS) or (how_many and not picks):
            return self._counted(by)
        return self._listed()

    def _groups(self) -> tuple[str, ...]:
        """What is told apart: by a field, by site, by time."""
        clause, setting = self.clause, self.setting
        sites = [t.said for t in clause.take(Kind.EACH_SITE)]
        by = ["@site"] if sites else []
        # Where somebody is asks for no figure of each.
        refuse(sites and sites[0][0] == "哪" and not clause.has(Kind.ROWS, Kind.COUNT))
        each, spread = bool(clause.take(Kind.EACH)), clause.take(Kind.WHAT, value="spread")
        coded = [n for n in self.select if setting.column_kind(n) in CODED or n == "@status"]
        flags = [n for n in coded if setting.column_kind(n) is ColumnKind.FLAG]
        if (each or spread or by) and not flags:
            by += coded
            self.select = [n for n in self.select if n not in coded]
        if each and not by:
            # Of two that are named both are counted.
            choices = [q for q in self.where if q.get("op") == "in"][:1]
            by = condition_fields(choices) or (["@site"] if len(self.scope.site) > 1 else [])
            self.where = [q for q in self.where if q not in choices]
        by += [self._time_group(token) for token in clause.take(Kind.GROUP)]
        if self.where == [_ENROLLED] and not (by or self.select):
            # The course of enrolment is told by months.
            course = clause.take(Kind.ROWS, value="each")
            by += [self._time_group(replace(token, value="month")) for token in course]
        # With a list the values are told.
        beside = self.where and not self.select and clause.has(Kind.WHO)
        refuse((spread and not by) or len(by) > 2 or (each and not by and not beside))
        return tuple(by)

    def _time_group(self, token: Token) -> str:
        refuse(token.value in ("subject", "event"))
        forms = self._row_forms()
        # Where the field of enrolment is not set, the study says so.
        enrolled = self.design.enrolment_field or "@enrolled"
        days = self.words.onsets.get(forms[0], "") if forms else enrolled
        enrols = any(q.get("field") == "@enrolled" for q in self.where)
        refuse(len(forms) > 1 or not days or not (enrols or forms))
        refuse(self.setting.column_kind(days) is ColumnKind.TEXT)
        return f"{token.value}:{days}"

    def _figure(self, figures: list[str], by: tuple[str, ...]) -> Question:
        """A mean, a median … of one measurement."""
        self.clause.take(Kind.WHAT, value="")
        refuse(len(figures) > 1)
        measured = [n for n in self.select if self.setting.is_number(n) or n == "@age"]
        refuse(len(measured) != 1 or measured != self.select or self._row_forms())
        self.where = [*self.of, *self.where]
        shape = Shape.GROUPS if by else Shape.AGGREGATE
        return self._told(shape, measured, aggregate=figures[0], by=by)

    def _share(self, by: tuple[str, ...]) -> Question:
        """A share; where the whole is not said it is all, or the enrolled."""
        clause, form_of, of = self.clause, self.design.form_of, list(self.of)
        clause.take(Kind.SHARE, Kind.WHAT)
        counted = clause.take(Kind.COUNT, Kind.COUNT_ROWS)
        refuse(any(t.said[0] not in "几多h" for t in counted))
        rows = [n for n in self.select if self.setting.repeats(n)]
        if rows and len(self.select) == 1 and not self.where:
            self.where = [{"field": self.setting.naming_field(rows[0]), "op": "filled"}]
            self.select = []
        refuse(not self.where or self.select)
        told = [(q.get("field"), q.get("value")) for q in self.where if q.get("op") == "="]
        left = {(r.name, r.code) for r in self.words.enrolled_choices}
        if not of and len(told) == len(self.where) and {*told} <= left:
            # Who was never enrolled cannot drop out.
            of = [_ENROLLED]
        joined = all(self.setting.repeats(form_of(str(q.get("field")))) for q in self.where)
        refuse(len(self.where) > 1 and not joined)
        figure = "count,share" if counted else "share"
        shape = Shape.GROUPS if by else Shape.SHARE
        return self._told(shape, [], of=tuple(of), aggregate=figure, by=by)

    def _counted(self, by: tuple[str, ...]) -> Question:
        """How many subjects, or rows."""
        clause, setting = self.clause, self.setting
        people, rows = clause.take(Kind.COUNT), clause.take(Kind.COUNT_ROWS)
        who, tokens = clause.take(Kind.WHO), clause.take(Kind.ROWS)
        clause.take(Kind.WHAT, value="")
        most = [t for t in tokens if t.value in _MOST]
        over_time = any(":" in name for name in by)
        refuse(not over_time and any(t not in most and t.said != "都" for t in tokens))
        self.where, forms = [*self.of, *self.where], self._row_forms()
        if self._of_texts() or (who and not by):
            # Of a text the reader sees what is affirmed; a list tells who and how many.
            refuse(by or not self.where or (self._of_texts() and self.select))
            return self._list(Shape.LIST)
        select = [n for n in self.select if setting.repeats(n)]
        dates = [n for n in self.select if setting.is_date(n) and n not in select]
        refuse((who and not most) or len(forms) > 1 or len(dates) > 1 or (rows and not forms))
        refuse([n for n in self.select if n not in select] != dates)
        said = "".join(t.said for t in clause.tokens if t.kind is Kind.COUNT or t.value == "people")
        whole = re.search("人|者|例|subj|pat", said) and not self.scope.period
        refuse(not (self.where or self.select or by or whole))
        refuse(dates and forms)
        counted = "".join(t.said for t in people)
        of_people = not forms or re.search("[人例位名个者]|many|number", counted)
        shape = Shape.COUNT if of_people and not rows else Shape.COUNT_ROWS
        order = f"{_MOST[most[0].value]}value" if most else ""
        parts = {"by": by, "order": order, "limit": 1 if most else None}
        shape = Shape.GROUPS if by else shape
        return self._told(shape, [*(select or forms), *dates], aggregate="count", **parts)

    def _extreme(self, by: tuple[str, ...]) -> Question:
        """Who has most or least, or came first or last; 都: all are meant as it is."""
        clause, setting = self.clause, self.setting
        counted = clause.has(Kind.COUNT, Kind.COUNT_ROWS)
        tokens, who = clause.take(Kind.ROWS), bool(clause.take(Kind.WHO))
        clause.take(Kind.WHAT, value="")
        limit = self._limit(tokens)
        self.where = [*self.of, *self.where]
        if tokens and (all(t.said == "都" for t in tokens) or (by and tokens[0].value == "each")):
            refuse(not (self.where or self.select))
            # Whether all are so is not whether one is.
            refuse(clause.has(Kind.YES_NO) and not (by or counted))
            return self._counted(by) if by or counted else self._listed(who)
        refuse(len(tokens) != 1)
        token = tokens[0]
        if token.value in _MOST:
            return self._most(token, by, limit)
        if token.value in ("latest", "first"):
            return self._newest(token, limit)
        valued = [n for n in self.select if setting.is_number(n) or n == "@age"]
        refuse(token.value not in ENDS or by or counted or not valued or valued != self.select)
        refuse(not self._together())
        sign = ENDS[token.value]
        return self._named(Shape.EXTREME, ROWS[sign], order=sign + valued[0], limit=limit)

    def _limit(self, tokens: list[Token]) -> int:
        """How many of them; 1 where it is not said."""
        said = [t for t in tokens if t.value in ("top_n", "bottom_n")]
        places = self.clause.places(Kind.NUMBER)
        places = [at for at in places if self.clause.tokens[at].value in _PEOPLE]
        self.clause.free -= {*places}
        said += [self.clause.tokens[at] for at in places]
        named = [int(t.number) for t in said if t.number is not None]
        refuse(len(named) > 1 or any(n < 1 for n in named))
        self.clause.fill("unit", "people")
        return named[0] if named else 1

    def _most(self, token: Token, by: tuple[str, ...], limit: int) -> Question:
        """The subject, the site or the month with most or fewest rows."""
        forms = self._row_forms()
        fields = any(map(self.setting.column_kind, self.select))
        refuse(not (forms or self.where) if by else len(forms) != 1 or fields)
        by, order = by or ("@subject",), f"{_MOST[token.value]}value"
        most = None if by == ("@site",) else limit
        return self._told(Shape.GROUPS, forms, aggregate="count", by=by, order=order, limit=most)

    def _newest(self, token: Token, limit: int) -> Question:
        """Who was first or last by their day."""
        dates = [n for n in self.select if self.setting.is_date(n) and n != "@enrolled"]
        refuse(self.scope.period or not {*self.select} <= {"@enrolled", *dates[:1]})
        refuse(self.where != ([] if dates else [_ENROLLED]))
        day = dates[0] if dates else "@enrolled"
        refuse(self.setting.repeats(self.design.form_of(day)))
        self.clause.take(Kind.WHEN)
        order = ("-" if token.value == "latest" else "+") + day
        return self._told(Shape.EXTREME, [day], order=order, limit=limit)

    def _listed(self, who: bool = False) -> Question:
        """Who, which rows, or whether there is one."""
        clause = self.clause
        who = bool(clause.take(Kind.WHO)) or who
        asked, when = clause.take(Kind.YES_NO), bool(clause.take(Kind.WHEN))
        yes, what = bool(asked), bool(clause.take(Kind.WHAT, value=""))
        what |= "any" in clause.said
        self.where, rows = [*self.of, *self.where], self._row_forms()
        anybody = any("有" in t.said for t in clause.tokens if t.kind is Kind.WHO)
        refuse(self.found.denied or self.found.unlimited or (yes and who and not anybody))
        refuse(self._now and self._measured())
        if not self.where:
            return self._bare_list(who, what, yes)
        refuse(len(rows) > 1 or (when and not self._dated()))
        if yes:
            refuse(not re.search("有|any|人", clause.said))
            anyone = who or self._people or any(t.value == "any" for t in asked)
            if not anyone and len(self.where) == 1 and "none" in self.where[0]:
                # It is asked whether there is one, and not whether somebody has none.
                self.where = list(self.where[0]["none"])
                return replace(self._list(Shape.YES_NO), aspect="never")
            return self._list(Shape.YES_NO)
        asks = who or what or when
        refuse(self._of_texts() and not asks)
        denied = any("none" in part for part in self.where)
        # A denial without a word that asks states something.
        refuse(not (asks or self._people or self._all or (rows and not denied)))
        refuse(rows and not who and any(f not in rows for f in self._forms()))
        # Which drugs there are asks for the rule, as long as nobody took them.
        took = any(t.kind is Kind.TOOK for t in clause.tokens)
        refuse(rows == [self.words.drug_form] and not (who or took or self.scope.site))
        return self._list(Shape.ROWS if rows and not who and not when else Shape.LIST)

    def _bare_list(self, who: bool, what: bool, yes: bool) -> Question:
        """Whoever has a row or a day, or all of a site."""
        scope, setting = self.scope, self.setting
        if not self.select:
            told = scope.site or self._everyone or self._all
            refuse(not who or not told or scope.period or scope.place)
            return self._told(Shape.LIST, [])
        name, repeats = self.select[0], setting.repeats(self.select[0])
        refuse(len(self.select) > 1)
        times = sum(setting.stands(name, one) for one in self.design.event_order)
        if self._everyone and setting.column_kind(name) and not (yes or repeats):
            refuse(scope.period or (times > 1 and not scope.place))
            return self._told(Shape.VALUE, [name])
        refuse(yes and not re.search("有|any", self.clause.said))
        narrowed = scope.site or scope.period or scope.place or self._all
        refuse(not (who or what or yes or narrowed))
        if repeats and not who:
            return self._told(Shape.YES_NO if yes else Shape.ROWS, [name])
        dated = setting.is_date(name) and scope.period
        refuse(not who or not (repeats or setting.is_free_text(name) or dated))
        self.where = [{"field": setting.naming_field(name) if repeats else name, "op": "filled"}]
        return self._list(Shape.LIST)

    def _list(self, shape: Shape) -> Question:
        self.select = self._tidy(self.select)
        return self._told(
            shape, self._shown() or (["@enrolled"] if _ENROLLED in self.where else [])
        )
