"""Which fields of a study identify a person: the one decision, for everything that tells or keeps data.

It rests on REDCap's flag, on names and labels, on what the age is calculated from, on what is copied from such
a field, and on an administrator's answers. A date of which nothing says what it dates is closed until it
was answered (design.md 9.1).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import models
from django.utils.translation import gettext_lazy as _

from core.privacy.dictionary_words import (
    AGE,
    DATES_AN_EVENT,
    ENTERED_NOW,
    FILLED,
    PART_OF_A_DATE,
    PERSON,
    SAYS_DATE,
    SEX,
)
from core.privacy.identifying_fields import identifies, is_birth, mentions_birth, words
from core.rules.labels import choices

Rows = Mapping[str, Mapping[str, Any]]
_CHECK = "text_validation_type_or_show_slider_number"
_CHOICES = "select_choices_or_calculations"
_NO_DATE = frozenset({"yesno", "truefalse", "checkbox", "descriptive", "file", "slider"})
_CODED = frozenset({"radio", "dropdown"})
_DATEDIFF = re.compile(r"datediff\s*\(([^,]*),([^,]*),\s*['\"](\w)['\"]", re.IGNORECASE)
_IN_BRACKETS = re.compile(r"\[([a-z]\w*)(?:[:(][^\]]*)?\]", re.IGNORECASE)
_TELLS_A_DAY = frozenset("dhms")


class Answer(models.TextChoices):
    """What an administrator said of a date that may identify."""

    BIRTH = "birth", _("Date of birth")
    IDENTIFIES = "identifies", _("Identifies the subject in another way")
    NOBODY = "nobody", _("Identifies nobody")


@dataclass(frozen=True)
class Identity:
    """`closed`: fields that identify a person, told or kept nowhere; the record id only names a subject.

    `births`: those that hold a date of birth or tell it; `asked`: dates of which only an administrator can say,
    in the order of the dictionary, answered or not.
    """

    closed: frozenset[str]
    births: frozenset[str]
    asked: tuple[str, ...]


@dataclass(frozen=True)
class Fields:
    """Of a dictionary: rows and labels by field, labels by form, forms that a subject has several times."""

    rows: Rows
    labels: Mapping[str, str]
    forms: Mapping[str, str]
    several: Collection[str]

    def form(self, name: str) -> str:
        """The form of a field."""
        return str(self.rows[name].get("form_name"))


def decide_identity(of: Fields, answers: Mapping[str, str]) -> Identity:
    """`answers` (field -> Answer) open only what is asked, and close whatever they name."""
    fields, labels = of.rows, of.labels
    record_id = next(iter(fields), "")
    flagged = {name for name, row in fields.items() if row.get("identifier") == "y"}
    named = {n for n in fields if n != record_id and identifies(n, labels[n])}
    births = {name for name in fields if is_birth(name, labels[name]) and _may_hold(fields[name])}
    births |= {name for name, said in answers.items() if said == Answer.BIRTH}
    births |= _of_ages(fields, labels, births)
    births |= _copies(fields, births)
    told = flagged | named | births
    told |= {name for name, said in answers.items() if said == Answer.IDENTIFIES}
    told |= _copies(fields, told - {record_id})
    doubts = _Doubts(of, told, births)
    asked = tuple(name for name in fields if name not in told and doubts.has(name))
    unclear = {name for name in asked if answers.get(name) != Answer.NOBODY}
    return Identity(
        frozenset((told | unclear) & fields.keys()), frozenset(births & fields.keys()), asked
    )


def _may_hold(row: Mapping[str, Any]) -> bool:
    """Whether a field can hold a date or a part of one: a year to be picked, not a yes or no."""
    kind = str(row.get("field_type"))
    if kind not in _CODED:
        return kind not in _NO_DATE
    found = choices(str(row.get(_CHOICES) or "")).values()
    parts = sum(bool(PART_OF_A_DATE.fullmatch(label)) for label in found)
    return len(found) > 4 and 2 * parts > len(found)


def _annotation(row: Mapping[str, Any]) -> str:
    return str(row.get("field_annotation") or "")


def _formulas(row: Mapping[str, Any]) -> str:
    """What a field is calculated or filled in by."""
    own = str(row.get(_CHOICES) or "") if row.get("field_type") == "calc" else ""
    return " ".join([own, *FILLED.findall(_annotation(row))])


def _of_ages(fields: Rows, labels: Mapping[str, str], births: Collection[str]) -> set[str]:
    """Dates that an age is counted from, where none of them is known as a date of birth."""
    found: set[str] = set()
    for name, row in fields.items():
        if not AGE.search(f"{words(name)} {labels[name]}"):
            continue
        for first, second, unit in _DATEDIFF.findall(_formulas(row)):
            read = [one for one in _IN_BRACKETS.findall(f"{first} {second}") if one in fields]
            if unit in "yM" and not {*read} & {*births}:
                found |= {one for one in read if not _dates_an_event(one, labels[one])}
    return found


def _copies(fields: Rows, of: Collection[str]) -> set[str]:
    """Fields that are filled in from these, as they are or by a calculation that gives a date or a text.

    A difference of dates tells no day of its own.
    """
    filled = {name: " ".join(FILLED.findall(_annotation(row))) for name, row in fields.items()}
    reads = {n: {*_IN_BRACKETS.findall(_DATEDIFF.sub(" ", told))} for n, told in filled.items()}
    found: set[str] = set()
    while more := {n for n, read in reads.items() if n not in found and read & (found | {*of})}:
        found |= more
    return found


class _Doubts:
    """Of which fields of a dictionary only a person can say whether they tell a date of birth."""

    def __init__(self, of: Fields, told: Collection[str], births: Collection[str]) -> None:
        self._of = of
        self._births = births
        self._personal = {
            of.form(name)
            for at, name in enumerate(of.rows)
            if at == 0 or name in told or self._is_of_a_person(name)
        }

    def _is_of_a_person(self, name: str) -> bool:
        """Whether a field shows that its form is about who somebody is: so called, or asking for sex or age."""
        form, label = self._of.form(name), self._of.labels[name]
        about = f"{form.replace('_', ' ')} {self._of.forms.get(form, '')}"
        return bool(SEX.search(label) or AGE.search(label) or PERSON.search(about))

    def has(self, name: str) -> bool:
        """An age in days; a date of which nothing says what it dates, where one of birth may stand."""
        row, label = self._of.rows[name], self._of.labels[name]
        for first, second, unit in _DATEDIFF.findall(_formulas(row)):
            read = {*_IN_BRACKETS.findall(f"{first} {second}")}
            if unit in _TELLS_A_DAY and read & {*self._births}:
                return True
        if not _is_date(name, row, label) or ENTERED_NOW.search(_annotation(row)):
            return False
        if mentions_birth(name, label):
            return True
        if _dates_an_event(name, label):
            return False
        form = self._of.form(name)
        if form in self._personal:
            return True
        about = f"{self._of.forms.get(form, '')} {row.get('section_header') or ''}"
        return form not in self._of.several and not _dates_an_event(form, about)


def _is_date(name: str, row: Mapping[str, Any], label: str) -> bool:
    checked = str(row.get(_CHECK) or "")
    if checked or row.get("field_type") != "text":
        return checked.startswith("date")
    return bool(SAYS_DATE.search(words(name)) or SAYS_DATE.search(label))


def _dates_an_event(name: str, label: str) -> bool:
    return bool(DATES_AN_EVENT.search(words(name)) or DATES_AN_EVENT.search(label))
