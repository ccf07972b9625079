"""Questions of the study's data: what is asked of named subjects, and which or how many subjects there are."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from core.rules.context import Kind as ColumnKind
from engines.assistant.read.build import lasted, picked, shown
from engines.assistant.read.clause import Clause, refuse
from engines.assistant.read.conditions import Conditions
from engines.assistant.read.question import Query, Question, Shape, condition_fields, conditions_of
from engines.assistant.read.tokens import CODED, Kind, Token

_ENDS = dict.fromkeys(("highest", "top_n", "longest"), "-")
_ENDS |= dict.fromkeys(("lowest", "bottom_n", "shortest"), "+")
_ROWS = {"-": "highest", "+": "lowest"}
_MOST = {"most": "-", "fewest": "+"}
_PEOPLE = ("个", "位", "名", "例", "人", "")
_STILL = re.compile(
    r"还(?![没未不要需能可是差缺有])|仍|(?:现在|目前|如今|眼下).{0,6}还有|还有[吗么没]|\bstill\b"
)
_HOW = ("怎么样", "咋样", "如何")
_ENROLLED: Query = {"field": "@enrolled", "op": "filled"}


def data(clause: Clause, scope: Question) -> Question:
    """The question of a clause whose subjects, sites, places and period are in `scope` already."""
    return _Data(clause, scope).read()


class _Data:
    """The parts of a question as they are found: `select` and the conditions `where` and `of`."""

    def __init__(self, clause: Clause, scope: Question) -> None:
        self.clause, self.setting, self.words = clause, clause.setting, clause.setting.vocabulary
        self.scope, self.design = scope, clause.setting.design
        self.one, self.lasts = bool(scope.subjects), clause.has(Kind.LASTED)

    def read(self) -> Question:
        clause, setting = self.clause, self.setting
        among = next(iter(clause.places(Kind.AMONG)), None)
        self.found = Conditions(clause, many=not self.one).read()
        self.select = self._selected()
        placed = zip(self.found.where, self.found.at, strict=True)
        # Of whom is asked: the conditions before 里.
        self.of = [q for q, at in placed if among is not None and at < among]
        self.where = [q for q in self.found.where if q not in self.of]
        clause.take(Kind.AMONG)
        self._verbs()
        self._now, self._all, people = map(clause.fill, ("now", "all", "people"))
        self._people = people and clause.tokens[-1].value == "people"
        # A list of subjects that names none of them means all.
        self._all = self._all or bool(people and clause.has(Kind.WHO, value="list"))
        clause.fill("unit")
        refuse(clause.fill("new") and not self.scope.period)
        asked = self._of_named() if self.one else self._of_many()
        told = [*asked.select, *condition_fields([*asked.where, *asked.of])]
        for name in told if asked.place and not asked.change else ():
            # What is not filled in there is not asked of that place.
            stands = any(setting.stands(name, place) for place in asked.place)
            refuse(not stands and name != "@enrolled")
        return asked

    # What is spoken of

    def _selected(self) -> list[str]:
        """Fields, forms and columns that are named and are no condition."""
        names, dated = list[str](), self.clause.has(Kind.WHEN)
        for token in self.clause.take(Kind.FIELD, Kind.FORM, Kind.ENROLLED):
            day = ""
            if token.kind is Kind.FORM and dated and not self.setting.repeats(token.name):
                day = self.setting.day_of(token.name)
            names += [day] if day else [r.name for r in token.readings] or ["@enrolled"]
        return list(dict.fromkeys([*names, *self.found.asked]))

    def _tidy(self, names: list[str]) -> list[str]:
        """Of a form whose fields are asked for, these, and what its rows are called."""
        form_of, found = self.design.form_of, list[str]()
        for name in names:
            inside = any(form_of(n) == name != n for n in names)
            if not inside or self.setting.repeats(name):
                found.append(self.setting.naming_field(name) if inside else name)
        return list(dict.fromkeys(found))

    def _verbs(self) -> None:
        """Words for what is done (得过, 吃过, 报, 签的), where what it is done with is named."""
        clause, words, forms = self.clause, self.words, self._forms()
        bare = not self.select and not self.where
        report = words.reports.get(words.event_form, "")
        if clause.take(Kind.HAD):
            self.select = [words.event_form] if bare else self.select
            denied = map(self.design.form_of, condition_fields(self.where))
            rows = any(map(self.setting.repeats, [*denied, *self._forms()]))
            refuse(not bare and not rows and not self._of_texts())
        if clause.take(Kind.TOOK) and not (self.lasts and words.drug_form not in forms):
            self.select = [words.drug_form] if bare else self.select
            denied = map(self.design.form_of, condition_fields(self.where))
            refuse(not words.drug_form or words.drug_form not in [*denied, *self._forms()])
        refuse(clause.fill("drug") and words.drug_form not in self._forms())
        for token in clause.take(Kind.FILL, value="done"):
            spoken = report and words.event_form in {*forms, *clause.near}
            if token.said == "报" and spoken and clause.has(Kind.WHEN, Kind.LASTED):
                self.select = [*(n for n in self.select if n != words.event_form), report]
            else:
                refuse(token.said in _OTHER_DEEDS or not self.select or not self.one)
        if clause.take(Kind.NOT, value="report"):
            refuse(not report or words.event_form not in forms)
            self.where.append({"field": report, "op": "blank"})

    def _forms(self) -> list[str]:
        """The forms of what is selected and of the conditions."""
        named = condition_fields([*self.where, *self.of], but="none")
        return [self.design.form_of(n) or n for n in [*self.select, *named]]

    def _row_forms(self) -> list[str]:
        return list(dict.fromkeys(f for f in self._forms() if self.setting.repeats(f)))

    def _of_texts(self) -> bool:
        """Whether some condition is on what a free text says, which only its reader can judge."""
        told = [q for q in conditions_of(self.where) if q["op"] in ("contains", "filled")]
        return any(map(self.setting.is_free_text, condition_fields(told)))

    def _measured(self) -> list[str]:
        names = [*self.select, *condition_fields(self.where)]
        return [n for n in dict.fromkeys(names) if self.setting.is_number(n)]

    def _dated(self) -> bool:
        return any(map(self.setting.is_date, self.select))

    def _told(self, shape: Shape, select: list[str], **more: Any) -> Question:
        parts = {"select": tuple(select), "where": tuple(self.where), **more}
        return replace(self.scope, shape=shape, **parts)

    def _named(self, shape: Shape, rows: str | None = None, **more: Any) -> Question:
        never = "never" if self.found.denied and shape is Shape.YES_NO else ""
        aspect = "unlimited" if self.found.unlimited else never or self.scope.aspect
        return self._told(shape, self._shown(), rows=rows, aspect=aspect, **more)

    def _shown(self) -> list[str]:
        """What is selected, and what the conditions are about."""
        base = replace(self.scope, select=tuple(self.select), where=tuple(self.where))
        names = shown(base, self.setting)
        return [n for n in names if n != "@enrolled" or n in self.select]

    # Of subjects that are named

    def _of_named(self) -> Question:
        clause = self.clause
        if self.lasts:
            return self._lasted()
        self.select = self._tidy(self.select)
        if special := self._of_form():
            return special
        refuse(not self.select and not self.where)
        # What goes on now is not all that there was.
        named = any(part["op"] == "contains" for part in conditions_of(self.where))
        still = _STILL.search(clause.said) or (named and "还有" in clause.said)
        ends = {*self.words.ends.values()} & {*self.select, *condition_fields(self.where)}
        if (still or self._now) and self._row_forms() and not ends:
            self._goes_on()
        # Which rows are meant says nothing of what is on other forms.
        forms = self._row_forms()
        refuse(self.where and forms and any(f not in forms for f in self._forms()))
        if changed := self._changed():
            return changed
        return self._picked() if clause.has(Kind.ROWS, Kind.WHO) else self._values()

    def _goes_on(self) -> None:
        """An event that has ended is no more, a drug no longer taken; what it was taken for is no event."""
        forms, asks = self._row_forms(), self.clause.has(Kind.YES_NO) or self._last_asks()
        drug = forms == [self.words.drug_form] and self.select == forms and not self.where
        end = self.words.ends.get(forms[0], "")
        refuse(not end or not (drug or (asks and forms == [self.words.event_form])))
        self.where = [*self.where, {"field": end, "op": "blank"}]

    def _of_form(self) -> Question | None:
        """What is no value that was asked for by name: an overview, the site, blanks, how many rows."""
        clause, bare = self.clause, not self.select and not self.where
        if self.found.unlimited:
            clause.take(Kind.YES_NO, Kind.WHAT)
            self.select = list(dict.fromkeys([*self.select, *self.found.unlimited]))
            return self._named(Shape.VALUE)
        how = [i for i in clause.places(Kind.WHAT) if clause.tokens[i].said in _HOW]
        asks_how = bool(how) and clause.free == {*how} and not self.scope.place
        if (clause.take(Kind.OVERVIEW) and bare) or (asks_how and bare):
            clause.take(Kind.WHAT)
            return self._told(Shape.OVERVIEW, [*self.design.shown_forms])
        clause.take(Kind.WHO, value="list")
        if bare and clause.take(Kind.EACH_SITE):
            return self._told(Shape.VALUE, ["@site"])
        fields = any(map(self.setting.column_kind, self.select))
        if clause.take(Kind.EMPTY):
            # Of the forms that are named, else of all.
            refuse(not clause.take(Kind.WHAT, Kind.YES_NO) or fields)
            clause.fill("done")
            named = self._row_forms() or self.select
            return self._told(Shape.BLANKS, named or [*self.design.shown_forms])
        if counts := clause.take(Kind.COUNT, Kind.COUNT_ROWS):
            clause.take(Kind.WHAT)
            # A row tells of a drug, and not of how often it was taken.
            often = any(t.said[-1] == "次" for t in counts)
            refuse(often and self.words.drug_form in self._row_forms())
            refuse(len(self._row_forms()) != 1 or fields)
            return self._told(Shape.COUNT_ROWS, self._row_forms(), aggregate="count")
        return None

    def _values(self) -> Question:
        """Values, days, whether, or rows as they are."""
        clause, setting = self.clause, self.setting
        refuse(not clause.has(Kind.YES_NO, Kind.WHEN, Kind.WHAT) and not self._asks_by_name())
        # Of one subject a choice or a text chooses no rows: it is asked whether it is so.
        told = [q for q in conditions_of(self.where) if q["op"] != "blank"]
        own = [n for n in condition_fields(told) if not setting.repeats(self.design.form_of(n))]
        own = [n for n in own if not setting.is_number(n)]
        refuse(own and not (clause.has(Kind.YES_NO) or self._last_asks()))
        texts = [*filter(setting.is_free_text, own)]
        refuse(texts and {*self.select} - {*texts})
        when, yes = clause.take(Kind.WHEN), clause.take(Kind.YES_NO)
        if self._dated():
            clause.fill("from")
        yes_no = clause.ends_with_no() or bool(yes) or self.found.denied
        clause.take(Kind.WHAT, value="")
        clause.take(Kind.EACH)
        now = self._now or re.search("正常了[吗没]", clause.said)
        rows = "latest" if now and self._measured() else None
        if when:
            refuse(not self._dated() and not (self.where and self._measured()))
            return self._named(Shape.WHEN, rows)
        if yes_no:
            return self._named(Shape.YES_NO, rows)
        refuse(self._all and self._measured())
        if self.select and all(map(setting.is_date, self.select)):
            return self._named(Shape.WHEN, rows)
        return self._named(self._plain(), rows)

    def _plain(self) -> Shape:
        return Shape.ROWS if any(map(self.setting.repeats, self._shown())) else Shape.VALUE

    def _last_asks(self) -> bool:
        last = len(self.clause.tokens) - 1
        return last in self.clause.free and self.clause.kind(last) is Kind.NOT

    def _asks_by_name(self) -> bool:
        """Whether a clause without a word that asks names what is asked, and states nothing."""
        if self._last_asks():
            return True
        dates = bool(self.select) and all(map(self.setting.is_date, self.select))
        if self.found.denied or self.found.asked or not self.where:
            denied = self.found.denied and not self.found.always
            return not (dates and self.scope.period) and not denied
        if self._of_texts():
            return False
        kinds = {self.setting.column_kind(n) for n in condition_fields(self.where)}
        asks = bool(re.search("[吗呢几哪谁啥]|什么|多少|没$", self.clause.said))
        # What is named at the end is what is asked for.
        told = {q["op"] for q in conditions_of(self.where)} <= {"=", "in"}
        asks |= told and self.clause.tokens[-1].kind in (Kind.FORM, Kind.FIELD)
        return asks or kinds <= {ColumnKind.FLAG, ColumnKind.TEXT}

    def _changed(self) -> Question | None:
        """What is worked out of two values: times a limit, the change from baseline, a difference."""
        clause, subjects = self.clause, self.scope.subjects
        if clause.take(Kind.TIMES):
            clause.take(Kind.WHAT, Kind.COMPARE)
            sides = {t.value.removeprefix("abnormal_") for t in clause.take(Kind.LIMIT)} or {"high"}
            refuse(not self._measured() or self.where or sides not in ({"high"}, {"low"}))
            base = self._named(Shape.RATIO_TO_LIMIT, change=f"limit:{sides.pop()}")
            return self._of_rows(base, clause.take(Kind.ROWS))
        if clause.take(Kind.BASELINE):
            how = "percent" if clause.take(Kind.SHARE) else "diff"
            asked = clause.take(Kind.DIFFERENCE, Kind.WHAT, Kind.COMPARE)
            refuse(not self._measured() or not asked or self.where or len(subjects) > 1)
            base = self._named(Shape.CHANGE, change=f"baseline:{how}")
            return self._of_rows(base, clause.take(Kind.ROWS))
        if not clause.take(Kind.DIFFERENCE):
            return None
        ends = {_ENDS.get(t.value, "") for t in [*self._bare_end(), *clause.take(Kind.ROWS)]} - {""}
        clause.take(Kind.WHAT, Kind.WHO)
        clause.fill("than", "from", "to")
        refuse(self.where or self.select != self._measured() or len(self.select) != 1)
        refuse(len(subjects) != 2)
        order = ends.pop() + self.select[0] if len(ends) == 1 else ""
        return self._named(Shape.DIFFERENCE, order=order)

    def _picked(self) -> Question:
        """The rows that are asked for (最近一次, 最高, 历次, 第二次), or the one of two subjects."""
        clause, setting = self.clause, self.setting
        tokens, who, when = clause.take(Kind.ROWS), clause.take(Kind.WHO), clause.take(Kind.WHEN)
        clause.take(Kind.WHAT, value="")
        clause.take(Kind.EACH)
        yes = clause.take(Kind.YES_NO)
        ranked = [t for t in tokens if t.value in _ENDS] or (self._bare_end() if who else [])
        values = {t.value for t in tokens}
        if who:
            one_end = len(ranked) == 1 and (not tokens or tokens == ranked)
            refuse(len(self.scope.subjects) < 2 or not one_end or self.where)
        refuse(len(values - {"each"}) > 1 or (yes and not self.where and ranked))
        if ranked:
            return self._ranked(ranked[0])
        if values <= {"each"}:
            if self._row_forms() or yes or self._dated():
                # All rows are meant as it is.
                shape = Shape.YES_NO if yes else Shape.ROWS
                return self._named(Shape.WHEN if self._dated() else shape)
            refuse(len(self.scope.place) == 1 or self.where)
            fields = all(map(setting.column_kind, self.select))
            return self._named(Shape.SERIES if fields else Shape.VALUE)
        refuse(when and (self._measured() if self._dated() else self._row_forms()))
        shape = Shape.YES_NO if yes else Shape.WHEN if when else self._plain()
        return self._of_rows(self._named(shape), tokens)

    def _bare_end(self) -> list[Token]:
        """A comparison with nothing picks the one who has most or least."""
        bare = self.clause.take(Kind.COMPARE)
        refuse(any(t.said[-1] not in "高大重多低小轻少" for t in bare))
        ends = {">": "highest", "<": "lowest"}
        return [Token(Kind.ROWS, t.said, ends[t.value]) for t in bare if t.value in ends]

    def _ranked(self, token: Token) -> Question:
        """The highest or lowest measurement: of one subject its rows, of several the subjects in order."""
        valued = self._measured()
        refuse(not valued or not {*self.select} <= {*valued})
        refuse(len(valued) > 1 and not self._together())
        base = replace(self._named(Shape.EXTREME), select=(*self.select, *valued))
        return picked(base, _ROWS[_ENDS[token.value]], int(token.number or 1), self.setting)

    def _together(self) -> bool:
        """Whether the fields are named in one breath (ALT和AST)."""
        tokens = self.clause.tokens
        places = [i for i, t in enumerate(tokens) if t.kind is Kind.FIELD]
        between = tokens[places[0] : places[-1]] if places else []
        return all(t.kind in (Kind.FIELD, Kind.AND) for t in between)

    def _of_rows(self, base: Question, tokens: list[Token]) -> Question:
        """A question of the row that is named, at most one."""
        refuse(len(tokens) > 1)
        if not tokens:
            return replace(base, rows="latest" if self._now else None)
        which = tokens[0].value.removesuffix("_n")
        refuse(which not in ("latest", "first", "nth", "nth_last"))
        return picked(base, which, int(tokens[0].number or 1), self.setting)

    def _lasted(self) -> Question:
        """The days between two dates, of rows from their beginning, of one date until today."""
        clause, setting, scope = self.clause, self.setting, self.scope
        refuse(any(q["op"] not in ("contains", "=") for q in conditions_of(self.where)))
        clause.take(Kind.LASTED, Kind.WHAT)
        clause.fill("from", "to")
        fields = [n for n in self.select if setting.column_kind(n) and not setting.is_date(n)]
        refuse(fields or (self.where and not self._row_forms()))
        today = setting.calendar.today.isoformat()
        refuse(scope.period not in (None, (today, today)))
        self.scope = replace(scope, period=None)
        dates = [n for n in self.select if setting.is_date(n)]
        figure = "since" if len(dates) == 1 and not self._row_forms() else ""
        base = lasted(self._told(Shape.LASTED, self.select), figure, setting)
        refuse(scope.period and base.change != "since")
        return base

    # Of subjects that are looked for

    def _of_many(self) -> Question:
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
        refuse(token.value not in _ENDS or by or counted or not valued or valued != self.select)
        refuse(not self._together())
        sign = _ENDS[token.value]
        return self._named(Shape.EXTREME, _ROWS[sign], order=sign + valued[0], limit=limit)

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


# Deeds that say something of their own, and not only that a value was taken.
_OTHER_DEEDS = ("来", "做到", "报", "登记", "停", "用药", "写", "做完")
