"""One question as tokens, and what it is read in."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from engines.assistant.understand.tokens import Kind, Token
from engines.assistant.understand.types import State
from engines.assistant.understand.vocabulary import Vocabulary
from language.periods import Calendar
from rules.context import Kind as ColumnKind
from study.design import StudyDesign

_MOST_TOKENS, _MOST_CLAUSES = 80, 24


@dataclass(frozen=True, slots=True)
class Setting:
    """What a clause is read in."""

    design: StudyDesign
    vocabulary: Vocabulary
    calendar: Calendar
    own_site: str
    state: State
    terms: Mapping[str, Collection[str]]
    reviewed: Callable[[], str] = str

    def column_kind(self, name: str) -> ColumnKind | None:
        """The type of a field; None for columns and unknown names."""
        column = self.design.context.columns.get(name)
        return column.kind if column else None

    def is_number(self, name: str) -> bool:
        """Whether a field is a measurement."""
        return self.column_kind(name) in (ColumnKind.NUMBER, ColumnKind.INTEGER)

    def is_date(self, name: str) -> bool:
        """Whether a field holds days; a text field does whose label says so (partial dates)."""
        kind = self.column_kind(name)
        told = kind is ColumnKind.TEXT and self.design.metadata.label(name).endswith(
            ("日期", "date")
        )
        return kind in (ColumnKind.DATE, ColumnKind.DATETIME) or told

    def is_free_text(self, name: str) -> bool:
        """Whether a field of a form that is filled in once takes any text."""
        is_text = self.column_kind(name) is ColumnKind.TEXT
        return is_text and not self.repeats(self.design.form_of(name)) and not self.is_date(name)

    def repeats(self, form: str) -> bool:
        """Whether a form has rows of its own."""
        return form in self.design.repeating_forms

    def day_of(self, form: str) -> str:
        """The field that dates a form; "" for none."""
        dated = (name for name in self.fields_of(form) if self.is_date(name))
        return self.design.form_dates.get(form) or next(dated, "")

    def naming_field(self, form: str) -> str:
        """The field that says what a row of a form is: the one of its REDCap label, else its first text."""
        for row in self.design.metadata.repeating:
            label = str(row.get("custom_form_label") or "")
            if row.get("form_name") == form and "[" in label:
                return label.partition("[")[2].partition("]")[0]
        fields = self.fields_of(form)
        return next(
            (n for n in fields if self.column_kind(n) is ColumnKind.TEXT),
            fields[0] if fields else "",
        )

    def numbers_of(self, form: str) -> list[str]:
        """The measurements of a form."""
        return [name for name in self.fields_of(form) if self.is_number(name)]

    def grades_of(self, form: str) -> list[str]:
        """What says how severe a row of a form is."""
        return [self.vocabulary.grades[form]] if form in self.vocabulary.grades else []

    def fields_of(self, form: str) -> list[str]:
        """The fields of a form that the reader may know of."""
        hidden = self.design.hidden | self.design.metadata.identifier_fields
        rows = self.design.metadata.fields.items()
        return [name for name, row in rows if row["form_name"] == form and name not in hidden]


@dataclass
class Clause:
    """The tokens of one question."""

    tokens: list[Token]
    setting: Setting

    @cached_property
    def said(self) -> str:
        """Its words."""
        return "".join(token.said for token in self.tokens if token.kind is not Kind.BREAK)

    def all(self, *kinds: Kind) -> list[Token]:
        """The tokens of these kinds."""
        return [token for token in self.tokens if token.kind in kinds]

    def has(self, *kinds: Kind, value: str | None = None) -> bool:
        """Whether there is a token of these kinds (with that value)."""
        return any(t.kind in kinds and (value is None or t.value == value) for t in self.tokens)

    def places(self, *kinds: Kind) -> list[int]:
        """Where the tokens of these kinds stand."""
        return [place for place, token in enumerate(self.tokens) if token.kind in kinds]

    def values(self, kind: Kind) -> list[str]:
        """The values of the tokens of a kind."""
        return [token.value for token in self.tokens if token.kind is kind]

    @property
    def asks(self) -> bool:
        """Whether some word of it asks, or a no stands at its end (做了没)."""
        return self.has(*_ASKING) or (bool(self.tokens) and self.tokens[-1].kind is Kind.NOT)

    @property
    def many(self) -> bool:
        """Whether it asks which or how many subjects, not for a value of one."""
        return self.has(
            Kind.WHO, Kind.COUNT, Kind.COUNT_ROWS, Kind.SHARE, Kind.EACH_SITE, Kind.GROUP
        )


_ASKING = (
    *(Kind.WHAT, Kind.YES_NO, Kind.WHEN, Kind.WHO, Kind.COUNT, Kind.COUNT_ROWS, Kind.SHARE),
    *(Kind.LASTED, Kind.TIMES, Kind.DIFFERENCE, Kind.RULE),
)


def speaks_of_events(clause: Clause) -> bool:
    """Whether it names events of the study, by their form, one of its fields or what one is called."""
    form, form_of = clause.setting.vocabulary.event_form, clause.setting.design.form_of
    named = [t.name for t in clause.all(Kind.FORM)] + clause.values(Kind.TERM)
    named += [form_of(r.name) for t in clause.all(Kind.FIELD) for r in t.readings]
    return bool(form) and form in named


def clauses(tokens: Sequence[Token]) -> list[list[Token]]:
    """The tokens cut at punctuation and connectives; what is longer than any question is cut off."""
    found: list[list[Token]] = [[]]
    for token in tokens:
        if token.kind is Kind.BREAK:
            found.append([])
        else:
            found[-1].append(token)
    return [part[:_MOST_TOKENS] for part in found if part][:_MOST_CLAUSES]
