"""Random StudyQueries over a study, typed by its dictionary; and ones that must be refused, with the place."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from tests.study.oracle import operands
from tests.study.oracle.cells import CHOICE, DATE, NUMBER, TEXT
from tests.study.oracle.query_conditions import Conditions

KEYS = (
    "subjects",
    "where",
    "select",
    "rows",
    "place",
    "period",
    "aggregate",
    "of",
    "by",
    "order",
    "limit",
)
OPERATORS = (
    "=",
    "!=",
    ">",
    ">=",
    "<",
    "<=",
    "between",
    "in",
    "contains",
    "blank",
    "filled",
    "missing_code",
)


class Random(Conditions):
    """Queries over one study; the same seed makes the same ones."""

    def query(self) -> dict[str, Any]:
        """One query; every key is optional."""
        rng = self.rng
        found: dict[str, Any] = {}
        if self.chance(0.12):
            ids = [subject.id for subject in self.study.subjects]
            found["subjects"] = rng.sample(ids, min(len(ids), rng.choice((1, 2, 10, 25)))) + (
                ["X404"] if self.chance(0.2) else []
            )
        if self.chance(0.62):
            found["where"] = self.conditions(rng.choice((1, 1, 1, 1, 2, 2, 3)))
        shape = rng.choice(
            ("list", "list", "list", "rows", "rows", "aggregate", "aggregate", "by", "subjects")
        )
        getattr(self, f"_as_{shape}")(found)
        if self.chance(0.16):
            found["place"] = self.place(found)
        if self.chance(0.12):
            found["period"] = self.period()
        if self.chance(0.2):
            self._order(found)
        if self.chance(0.18):
            found["limit"] = rng.choice((1, 2, 3, 5, 20, 200))
        return found

    # --- shapes --------------------------------------------------------------------------------

    def _as_list(self, found: dict[str, Any]) -> None:
        form = self._form_of_conditions(found)
        own = [n for n in self.names if operands.form_of(self.study, n) == form] or self.names
        chosen = self.rng.choice(("field", "field", "two", "form", "column", "operand"))
        if chosen == "field":
            found["select"] = [self.rng.choice(own)]
        elif chosen == "two":
            found["select"] = self.rng.sample(
                own if len(own) > 1 and self.chance(0.6) else self.names, 2
            )
        elif chosen == "form":
            found["select"] = [self.rng.choice(self.study.forms)]
        elif chosen == "column":
            found["select"] = [
                self.rng.choice(
                    (
                        "@site",
                        "@status",
                        "@enrolled",
                        "@age",
                        "@visits.state",
                        "@visits.visit",
                        "@visits.open",
                        "@visits.close",
                        "@visits.target",
                        "@visits.actual",
                        "@visits.days",
                    )
                )
            ]
        else:
            found["select"] = [self.operand()]
        if self.chance(0.15):
            found["select"].append("@site")

    def _as_rows(self, found: dict[str, Any]) -> None:
        rows = self.rng.choice(
            (
                "all",
                "latest",
                "first",
                "highest",
                "lowest",
                {"latest": 2},
                {"first": 2},
                {"latest": 1},
            )
        )
        found["rows"] = rows
        kinds = (
            (NUMBER, DATE)
            if rows in ("highest", "lowest")
            else (NUMBER, NUMBER, DATE, CHOICE, TEXT)
        )
        name = self.of_type(self.rng.choice(kinds), many=True)
        found["select"] = [name]
        if self.chance(0.3):
            form = operands.form_of(self.study, name)
            others = [
                n for n in self.names if operands.form_of(self.study, n) == form and n != name
            ]
            found["select"] += self.rng.sample(others, 1)

    def _as_aggregate(self, found: dict[str, Any]) -> None:
        kind = self.rng.choice(
            ("count", "count", "mean", "median", "min", "max", "sum", "share", "share")
        )
        found["aggregate"] = kind
        if kind == "share":
            found["where"] = found.get("where") or self.conditions(1)
            if self.chance(0.6):
                found["of"] = self.conditions(1)
            return
        if kind == "count":
            if self.chance(0.4):
                found["select"] = [
                    self.rng.choice(
                        (self.rng.choice(self.names), self.rng.choice(self.study.forms))
                    )
                ]
        else:
            found["select"] = [self.of_type(NUMBER)]
        if self.chance(0.3):
            found["rows"] = self.rng.choice(
                ("all", "latest", "first")
                if kind == "count"
                else ("all", "latest", "first", "highest", "lowest")
            )

    def _as_by(self, found: dict[str, Any]) -> None:
        self._as_aggregate(found)
        found["by"] = [self.grouping()]
        if self.chance(0.25):
            other = self.grouping()
            if other not in found["by"]:
                found["by"].append(other)

    def _as_subjects(self, found: dict[str, Any]) -> None:
        if self.chance(0.3):
            found["select"] = []
        found.setdefault("where", self.conditions(1))

    def _order(self, found: dict[str, Any]) -> None:
        names = [
            i for i in found.get("select") or [] if isinstance(i, str) and i not in self.study.forms
        ]
        if found.get("aggregate") or (names and len(names) == len(found["select"])):
            by = "value" if found.get("aggregate") or self.chance(0.5) else self.rng.choice(names)
            found["order"] = {"by": by, "desc": self.chance(0.5)}

    def grouping(self) -> str:
        """One key of `by`."""
        date = self.rng.choice(self.by_type[DATE])
        return self.rng.choice(
            (
                "@site",
                "@status",
                "event",
                "@subject",
                self.rng.choice(self.by_type[CHOICE]),
                f"month:{date}",
                f"week:{date}",
                f"quarter:{date}",
            )
        )

    # --- parts ---------------------------------------------------------------------------------

    def place(self, found: dict[str, Any]) -> Any:
        """A visit, an event or a list of them, mostly where what is selected can stand."""
        item = (found.get("select") or ["@site"])[0]
        name = item["field"] if isinstance(item, dict) else item
        places = self.places
        if not name.startswith("@") and self.chance(0.9):
            form = name if name in self.study.forms else operands.form_of(self.study, name)
            places = [
                place
                for place in places
                if any(
                    self.study.can_stand(form, event)
                    for event in operands.events_of(self.study, place)
                )
            ]
        if self.chance(0.25) and len(places) > 1:
            return self.rng.sample(places, 2)
        return self.rng.choice(places)

    def period(self) -> dict[str, Any]:
        """Some weeks of the study, of rows or of a date field."""
        first = self.study.today - timedelta(days=self.rng.randrange(30, 300))
        last = first + timedelta(days=self.rng.choice((13, 90, 180, 250)))
        found = {"from": first.isoformat(), "to": last.isoformat()}
        if self.chance(0.2):
            found.pop(self.rng.choice(("from", "to")))
        return found | ({"field": self.rng.choice(self.by_type[DATE])} if self.chance(0.4) else {})

    def _form_of_conditions(self, found: dict[str, Any]) -> str | None:
        for condition in found.get("where", []):
            field = condition.get("field")
            if isinstance(field, str) and not field.startswith("@") and self.chance(0.6):
                return operands.form_of(self.study, field)
        return None
