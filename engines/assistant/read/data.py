"""What a clause of the study's data speaks of: the parts of its question before it is known what is asked."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any

from engines.assistant.read.build import shown
from engines.assistant.read.clause import Clause, refuse
from engines.assistant.read.conditions import Conditions
from engines.assistant.read.question import Question, Shape, condition_fields, conditions_of
from engines.assistant.read.tokens import Kind

ENDS = dict.fromkeys(("highest", "top_n", "longest"), "-")
ENDS |= dict.fromkeys(("lowest", "bottom_n", "shortest"), "+")
ROWS = {"-": "highest", "+": "lowest"}
# Deeds that say something of their own, and not only that a value was taken.
_OTHER_DEEDS = ("来", "做到", "报", "登记", "停", "用药", "写", "做完")


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
        names = shown(base, self.setting)
        return [n for n in names if n != "@enrolled" or n in self.select]

    def _together(self) -> bool:
        """Whether the fields are named in one breath (ALT和AST)."""
        tokens = self.clause.tokens
        places = [i for i, t in enumerate(tokens) if t.kind is Kind.FIELD]
        between = tokens[places[0] : places[-1]] if places else []
        return all(t.kind in (Kind.FIELD, Kind.AND) for t in between)
