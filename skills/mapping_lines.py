"""Field mappings as lines, pasted from a table or read from a CSV file: each is stored or refused by itself."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass

from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, override

from projects.models import Project
from skills.models import FieldMapping
from skills.services import save_mapping
from study.blinding.mask import unnamed_for_all
from study.dictionary import KnownNames, name_refusal

MOST_SIGNS = 200_000
MOST_LINES = 2000
_DELIMITERS = "\t,;"
_LANGUAGES = ("en", "zh-hans")
_GUARD = "'"


class Outcome(models.TextChoices):
    """What became of a line."""

    NEW = "new", gettext_lazy("Stored")
    CHANGED = "changed", gettext_lazy("Changed")
    SAME = "same", gettext_lazy("There already")
    REFUSED = "refused", gettext_lazy("Refused")


COLOURS = {
    Outcome.NEW: "success",
    Outcome.CHANGED: "info",
    Outcome.SAME: "",
    Outcome.REFUSED: "danger",
}


@dataclass(frozen=True)
class Taken:
    """A line with its number in the text, and what became of it; `why` where it was refused or changed."""

    number: int
    alias: str
    field: str
    outcome: Outcome
    why: str = ""

    @property
    def colour(self) -> str:
        """How lists show it."""
        return COLOURS[self.outcome]


class TooManyLines(ValueError):
    """More lines than are taken at once."""

    def __init__(self) -> None:
        super().__init__(_("At most %d lines at once.") % MOST_LINES)


def take(*, project: Project, text: str, actor: object) -> list[Taken]:
    """Store the mappings of a text, name and field a line; one that is wrong keeps no other back.

    Raises TooManyLines.
    """
    rows = list(_rows(text))
    if len(rows) > MOST_LINES:
        raise TooManyLines
    fields, unnamed = KnownNames.of(project).fields, unnamed_for_all(project)
    there = {one.alias_name: one for one in FieldMapping.objects.filter(project=project)}
    taken: list[Taken] = []
    for number, alias, field in rows:
        said = [one for one in taken if one.alias == alias and one.outcome != Outcome.REFUSED]
        refusal = name_refusal(field, fields, unnamed=unnamed)
        why = _("The name stands in an earlier line.") if said else refusal
        if why:
            taken.append(Taken(number, alias, field, Outcome.REFUSED, why))
        else:
            mapping = there.get(alias) or FieldMapping(project=project, alias_name=alias)
            taken.append(_store(mapping, number, field, actor))
    return taken


def _store(mapping: FieldMapping, number: int, field: str, actor: object) -> Taken:
    before = mapping.actual_name
    alias = mapping.alias_name
    if field and before == field:
        return Taken(number, alias, field, Outcome.SAME)
    mapping.actual_name = field
    try:
        save_mapping(mapping=mapping, actor=actor)
    except ValidationError as error:
        mapping.actual_name = before
        return Taken(number, alias, field, Outcome.REFUSED, " ".join(error.messages))
    if before:
        told = _("was %(field)s") % {"field": before}
        return Taken(number, alias, field, Outcome.CHANGED, told)
    return Taken(number, alias, field, Outcome.NEW)


def _rows(text: str) -> Iterator[tuple[int, str, str]]:
    """(number, name, field) of all lines but blank ones and the head; further columns are passed over."""
    text = text.lstrip("\ufeff")
    first = next((line for line in text.splitlines() if line.strip()), "")
    delimiter = max(_DELIMITERS, key=first.count)
    reader = csv.reader(io.StringIO(text), delimiter=delimiter)
    is_first = True
    for cells in reader:
        alias, field = (*(_cell(cell) for cell in cells[:2]), "", "")[:2]
        if not (alias or field):
            continue
        if not (is_first and _is_head(alias, field)):
            yield reader.line_num, alias, field
        is_first = False


def _cell(text: str) -> str:
    """Without the mark that keeps a spreadsheet from reading a formula."""
    return text.strip().removeprefix(_GUARD)


def _is_head(alias: str, field: str) -> bool:
    names = ("alias_name", "actual_name")
    heads = {names}
    for language in _LANGUAGES:
        with override(language):
            labels = (FieldMapping._meta.get_field(one).verbose_name for one in names)  # type: ignore[union-attr]
            heads.add(tuple(str(label).casefold() for label in labels))  # type: ignore[arg-type]
    return (alias.casefold(), field.casefold()) in heads
