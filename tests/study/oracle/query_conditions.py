"""Random conditions and operands of a StudyQuery, typed by the dictionary."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import Any

from tests.study.oracle import cells, operands
from tests.study.oracle.cells import CHOICE, DATE, MOMENT, NUMBER, TEXT, TICKS
from tests.study.oracle.study import Study

BY_TYPE = {
    NUMBER: ("=", "!=", ">", ">=", "<", "<=", "between", "in"),
    DATE: ("=", "!=", ">", ">=", "<", "<=", "between"),
    MOMENT: (">", ">=", "<", "<=", "between"),
    CHOICE: ("=", "!=", "in"),
    TICKS: ("contains",),
    TEXT: ("=", "!=", "in", "contains", "contains", "contains"),
}


class Conditions:
    """Conditions over one study; the same seed makes the same ones."""

    def __init__(self, study: Study, seed: int) -> None:
        self.study, self.rng = study, random.Random(seed)
        self.by_type: dict[str, list[str]] = {}
        for name, row in study.fields.items():
            if (
                name not in study.hidden
                and name != study.record_id
                and row["field_type"] != "descriptive"
            ):
                self.by_type.setdefault(cells.type_of(row), []).append(name)
        self.names = [name for names in self.by_type.values() for name in names]
        self.names += [name for name in study.settings["mapped"] if self.real(name) in self.names]
        self.places = [spec["visit"] for spec in study.settings["plan"]["visits"]] + study.events
        self.ranged = [*study.settings["ranges"], "alt"]

    def real(self, name: str) -> str:
        """A mapped name's field."""
        return operands.plain_name(self.study, name)

    def chance(self, share: float) -> bool:
        """True in that share of calls."""
        return self.rng.random() < share

    def conditions(self, count: int) -> list[dict[str, Any]]:
        """Conditions that must all hold; often on one form."""
        form = (
            operands.form_of(self.study, self.rng.choice(self.names)) if self.chance(0.6) else None
        )
        return [self.condition(form) for _ in range(count)]

    def condition(self, form: str | None = None, depth: int = 0) -> dict[str, Any]:
        """One condition, sometimes a group of them."""
        dice = self.rng.random()
        if depth < 2 and dice < 0.14:
            word = self.rng.choice(("any", "any", "all", "none"))
            own = form if self.chance(0.5) else None
            if word == "none" and own is None:
                own = form
            return {
                word: [self.condition(own, depth + 1) for _ in range(self.rng.choice((1, 2, 2, 3)))]
            }
        if dice < 0.28:
            return self.column_condition()
        if dice < 0.35:
            return self.ref_condition()
        if dice < 0.42:
            return self.operand_condition()
        own = [n for n in self.names if form is None or operands.form_of(self.study, n) == form]
        found = self.field_condition(self.rng.choice(own))
        if self.chance(0.08):
            found["holds"] = self.rng.choice(("every", "any"))
        return found

    def field_condition(self, name: str) -> dict[str, Any]:
        """An operator that fits a field, with a value it might hold."""
        real = self.real(name)
        type_ = self.study.type_of(real)
        if self.chance(0.28):
            return {
                "field": name,
                "op": self.rng.choice(("blank", "filled", "filled", "filled", "missing_code")),
            }
        ops = BY_TYPE[type_]
        codes = list(cells.choices_of(self.study.fields[real]))
        if type_ == CHOICE and all(code.isdigit() for code in codes):
            ops = (*ops, ">", ">=", "<", "<=", "between")
        op = self.rng.choice(ops)
        if op == "in":
            return {
                "field": name,
                "op": op,
                "value": [self.value(real) for _ in range(self.rng.choice((1, 2, 3)))],
            }
        if op == "between":
            pair = [self.value(real, plain=True), self.value(real, plain=True)]
            return {
                "field": name,
                "op": op,
                "value": sorted(pair, key=lambda v: (isinstance(v, str), v)),
            }
        return {"field": name, "op": op, "value": self.value(real)}

    def value(self, name: str, *, plain: bool = False) -> Any:
        """A literal near what stands in the data."""
        type_ = self.study.type_of(name)
        if type_ in (CHOICE, TICKS):
            choices = cells.choices_of(self.study.fields[name])
            code = self.rng.choice(list(choices))
            return choices[code] if choices[code] and self.chance(0.2) and not plain else code
        if type_ == DATE and not plain and self.chance(0.25):
            return self.rng.choice(("today", "today-30", "today+7"))
        if type_ in (DATE, MOMENT):
            return (self.study.today - timedelta(days=self.rng.randrange(0, 250))).isoformat()
        seen = self.seen(name)
        if type_ == NUMBER:
            found = float(self.rng.choice(seen)) if seen else 1.0
            return int(found) if found.is_integer() else found
        return self.rng.choice(seen) if seen else "无"

    def seen(self, name: str) -> list[str]:
        """Some of what the field holds."""
        form = self.study.fields[name]["form_name"]
        found = []
        for subject in self.rng.sample(self.study.subjects, 20):
            for line in subject.lines[form]:
                cell = operands.with_unit(self.study, name, self.study.cell(line, name))
                if cell.state == "value" and cell.type == NUMBER and cell.point:
                    found.append(str(round(float(cell.low), 1)))
                elif cell.state == "value" and cell.type == TEXT and cell.raw:
                    found.append(cell.raw)
        return found

    def column_condition(self) -> dict[str, Any]:
        """A condition on a column that is not in the dictionary."""
        states = ["due", "overdue", "in_window", "late", "early", "not_due", "unknown"]
        visits = list(
            dict.fromkeys(spec["visit"] for spec in self.study.settings["plan"]["visits"])
        )
        day = (self.study.today - timedelta(days=self.rng.randrange(0, 200))).isoformat()
        return (
            self.rng.choice(
                (
                    {"field": "@site", "op": "=", "value": self.rng.choice(self.study.sites)},
                    {
                        "field": "@status",
                        "op": "in",
                        "value": self.rng.sample(
                            list(
                                cells.choices_of(
                                    self.study.fields[self.study.settings["status_field"]]
                                )
                            ),
                            2,
                        ),
                    },
                    {
                        "field": "@age",
                        "op": "between",
                        "value": [self.rng.randrange(18, 50), self.rng.randrange(50, 90)],
                    },
                    {
                        "field": "@age",
                        "op": self.rng.choice((">=", "<")),
                        "value": self.rng.randrange(25, 75),
                    },
                    {"field": "@enrolled", "op": self.rng.choice((">=", "<")), "value": day},
                    {
                        "field": self.rng.choice(("@enrolled", "@age", "@status")),
                        "op": self.rng.choice(("filled", "blank")),
                    },
                    {"field": "@visits.state", "op": "in", "value": self.rng.sample(states, 3)},
                    {
                        "all": [
                            {"field": "@visits.state", "op": "=", "value": self.rng.choice(states)},
                            {"field": "@visits.visit", "op": "=", "value": self.rng.choice(visits)},
                        ]
                    },
                    {"field": "@visits.open", "op": self.rng.choice((">", "<=")), "value": "today"},
                )
            )
            | {}
        )

    def ref_condition(self) -> dict[str, Any]:
        """A comparison with a reference limit."""
        side = self.rng.choice(("high", "high", "low"))
        operand: dict[str, Any] = {"ref": side}
        if self.chance(0.6):
            operand["times"] = self.rng.choice((1.5, 2, 3))
        return {
            "field": self.rng.choice(self.ranged),
            "op": ">" if side == "high" else "<",
            "value": operand,
        }

    def operand_condition(self) -> dict[str, Any]:
        """A condition whose one side is an operand."""
        operand = self.operand()
        kind = operand.get("as")
        if "minus" not in operand:
            type_ = self.study.type_of(self.real(operand["field"]))
            if type_ in (NUMBER, DATE) and self.chance(0.5):
                other = self.of_type(type_)
                return {"field": other, "op": self.rng.choice((">", "<", ">=")), "value": operand}
            return self.field_condition(operand["field"]) | {"field": operand}
        value = {
            "percent": self.rng.choice((-20, 0, 20, 50)),
            "ratio": self.rng.choice((0.8, 1, 1.5)),
        }.get(kind or "", self.rng.choice((-10, 0, 5, 14, 30)))
        return {"field": operand, "op": self.rng.choice((">", "<", ">=", "<=")), "value": value}

    def operand(self) -> dict[str, Any]:
        """A field with a place or a row, or a difference."""
        dice = self.rng.random()
        if dice < 0.25:
            first, second = self.rng.sample(self.by_type[DATE], 2)
            return {"field": first, "minus": {"field": second}} | (
                {"as": "days"} if self.chance(0.6) else {}
            )
        name = self.of_type(NUMBER, many=True)
        if dice < 0.65:
            own = self._visits_of(name)
            first, last = self.rng.sample(own, 2) if len(own) > 1 else (own[0], own[0])
            found = {"field": name, "place": last, "minus": {"field": name, "place": first}}
            kind = self.rng.choice((None, "diff", "percent", "ratio"))
            return found | ({"as": kind} if kind else {})
        if dice < 0.85:
            return {"field": name, "place": self.rng.choice(self._visits_of(name))}
        return {"field": name, "rows": self.rng.choice(("latest", "first", "highest", "lowest"))}

    def _visits_of(self, name: str) -> list[str]:
        form = operands.form_of(self.study, name)
        visits = dict.fromkeys(spec["visit"] for spec in self.study.settings["plan"]["visits"])
        found = [
            v
            for v in visits
            if any(self.study.can_stand(form, e) for e in operands.events_of(self.study, v))
        ]
        return found or [event for event in self.study.events if self.study.can_stand(form, event)]

    def of_type(self, type_: str, *, many: bool = False) -> str:
        """A field of a type; `many`: preferably one with several readings."""
        names = self.by_type[type_]
        if many and self.chance(0.8):
            names = [
                n for n in names if self.study.has_many(operands.form_of(self.study, n))
            ] or names
        return self.rng.choice(names)
