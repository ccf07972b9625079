"""Questions of the study's data: what a clause speaks of, and what is asked of subjects that are named."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any

from core.rules.context import Kind as ColumnKind
from engines.assistant.read.build import fields_to_show, lasted, picked
from engines.assistant.read.clause import Clause, refuse
from engines.assistant.read.conditions import Conditions
from engines.assistant.read.question import Question, Shape, condition_fields, conditions_of
from engines.assistant.read.tokens import Kind, Token

ENDS = dict.fromkeys(("highest", "top_n", "longest"), "-")
ENDS |= dict.fromkeys(("lowest", "bottom_n", "shortest"), "+")
ROWS = {"-": "highest", "+": "lowest"}
# Deeds that say something of their own, and not only that a value was taken.
_OTHER_DEEDS = ("来", "做到", "报", "登记", "停", "用药", "写", "做完")
_STILL = re.compile(
    r"还(?![没未不要需能可是差缺有])|仍|(?:现在|目前|如今|眼下).{0,6}还有|还有[吗么没]|\bstill\b"
)
_HOW = ("怎么样", "咋样", "如何")


class Parts(ABC):
    """The parts of a question as they are found: `select` and the conditions `where` and `of`.

    Who, where and when a clause speaks of is in `scope` already.
    """

    def __init__(self, clause: Clause, scope: Question) -> None:
        self.clause, self.setting, self.words = clause, clause.setting, clause.setting.vocabulary
        self.scope, self.design = scope, clause.setting.design
        self.one, self.lasts = bool(scope.subjects), clause.has(Kind.LASTED)

    def read(self) -> Question:
        """The question of the clause. Raises NotRead."""
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
        asked = self.asked()
        told = [*asked.select, *condition_fields([*asked.where, *asked.of])]
        for name in told if asked.place and not asked.change else ():
            # What is not filled in there is not asked of that place.
            stands = any(setting.stands(name, place) for place in asked.place)
            refuse(not stands and name != "@enrolled")
        return asked

    @abstractmethod
    def asked(self) -> Question:
        """The question, of subjects that are named or of those that are looked for."""

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
        names = fields_to_show(base, self.setting)
        return [n for n in names if n != "@enrolled" or n in self.select]

    def _together(self) -> bool:
        """Whether the fields are named in one breath (ALT和AST)."""
        tokens = self.clause.tokens
        places = [i for i, t in enumerate(tokens) if t.kind is Kind.FIELD]
        between = tokens[places[0] : places[-1]] if places else []
        return all(t.kind in (Kind.FIELD, Kind.AND) for t in between)


class Named(Parts):
    """The question of a clause about subjects that are named."""

    def asked(self) -> Question:
        """The question, of subjects that are named."""
        clause = self.clause
        if self.lasts:
            return self._lasted()
        self.select = self._tidy(self.select)
        # 胆囊炎那次: which one is said beside it.
        refuse(clause.fill("time") and not (self.where or self.scope.place))
        if special := self._reason() or self._of_form():
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

    def _reason(self) -> Question | None:
        """Why somebody left or was never enrolled stands on the form of their status."""
        clause, reason, status = self.clause, self.setting.status_reason, self.design.status_field
        named = [*self.select, *condition_fields(self.where)]
        others = [name for name in named if name not in (status, reason, "@enrolled")]
        no = clause.has(Kind.NOT) or any(part.get("op") == "blank" for part in self.where)
        asks = clause.has(Kind.WHAT, value="why") or (no and clause.has(Kind.WHAT, value="how"))
        asks = asks or (reason in named and status in named)
        own = self.design.form_of(status)
        about = len(others) < len(named) and all(self.design.form_of(n) == own for n in others)
        if not (reason and asks and about):
            return None
        clause.take(Kind.WHAT, Kind.NOT)
        self.where = []
        return self._told(Shape.VALUE, [status, reason, *others])

    def _of_form(self) -> Question | None:
        """What is no value that was asked for by name: an overview, the site, blanks, how many rows."""
        clause, bare = self.clause, not self.select and not self.where
        if self.found.unlimited:
            clause.take(Kind.YES_NO, Kind.WHAT)
            rows = "latest" if clause.take(Kind.ROWS, value="latest") else None
            self.select = list(dict.fromkeys([*self.select, *self.found.unlimited]))
            return self._named(Shape.VALUE, rows)
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
        ends = {ENDS.get(t.value, "") for t in [*self._bare_end(), *clause.take(Kind.ROWS)]} - {""}
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
        ranked = [t for t in tokens if t.value in ENDS] or (self._bare_end() if who else [])
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
        return picked(base, ROWS[ENDS[token.value]], int(token.number or 1), self.setting)

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
        kinds = [t.kind for t in clause.tokens]
        before = kinds[: kinds.index(Kind.FIELD)] if Kind.FIELD in kinds else kinds
        # A visit behind the date is where the days end.
        refuse(base.change == "since" and scope.place and Kind.PLACE not in before)
        return base
