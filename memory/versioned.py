"""The page of a text with versions that two people may write at once.

Nothing is overwritten silently (issue 4): the later of two writers sees both texts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.functional import Promise

from projects.access import has_role
from projects.models import Role
from projects.scoping import User
from study.admin.versions import VersionedAdmin, version_number
from study.blinding import mask

EDITORS = (Role.ADMIN, Role.PI)


@dataclass(frozen=True)
class Conflict:
    """A place that both changed differently; the merged text carries the lines of both."""

    theirs: tuple[str, ...]
    mine: tuple[str, ...]


@dataclass(frozen=True)
class Merge:
    """The text with both people's changes, and where they met."""

    text: str
    conflicts: tuple[Conflict, ...]


def merge(base: str, mine: str, theirs: str) -> Merge:
    """Both edits of `base` in one text, line by line.

    A line goes only where one of the two removed it; where both changed the same place, theirs stands
    before mine and the place is named as a conflict.
    """
    merged: list[str] = []
    conflicts = []
    for was, my, their in _regions(base.split("\n"), mine.split("\n"), theirs.split("\n")):
        if their in (my, was):
            merged += my
        elif my == was:
            merged += their
        else:
            # A line that both have stands once.
            rest = list(their)
            merged += their
            for line in my:
                if line in rest:
                    rest.remove(line)
                else:
                    merged.append(line)
            conflicts.append(Conflict(tuple(their), tuple(my)))
    return Merge("\n".join(merged), tuple(conflicts))


def _regions(*texts: list[str]) -> Iterator[tuple[list[str], ...]]:
    """Base, mine and theirs cut at the lines that all three share: their pieces in order."""
    base, mine, theirs = texts
    in_mine, in_theirs = _matches(base, mine), _matches(base, theirs)
    shared = [(at, in_mine[at], in_theirs[at]) for at in sorted(in_mine.keys() & in_theirs)]
    for here, after in pairwise([(-1, -1, -1), *shared, tuple(map(len, texts))]):
        if here[0] >= 0:
            yield tuple(text[at : at + 1] for text, at in zip(texts, here, strict=True))
        yield tuple(text[a + 1 : b] for text, a, b in zip(texts, here, after, strict=True))


def _matches(base: list[str], other: list[str]) -> dict[int, int]:
    blocks = SequenceMatcher(None, base, other, autojunk=False).get_matching_blocks()
    return {block.a + n: block.b + n for block in blocks for n in range(block.size)}


def edits(user: User, project_id: Any = None) -> bool:
    """Whether the user may change a study's (any study's) texts: administrators and PIs of all its sites."""
    return has_role(user, project_id, *EDITORS)


class VersionedTextForm(forms.ModelForm):
    """Remembers which version was read (decisions.md, Memory).

    The model has `version` and `versions` (rows with `version`, `author` and `content`). `told` begins the
    explanation of the merge view; `check` and `author_of` are the text's own.
    """

    text_field: ClassVar[str]
    told: ClassVar[Promise]

    base_version = forms.IntegerField(widget=forms.HiddenInput, required=False, label="")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["base_version"] = self.instance.version

    def check(self, text: str) -> None:
        """Raises ValueError where the text is too long."""
        raise NotImplementedError

    def author_of(self, current: Any) -> str:
        """Who wrote the version that stands there now."""
        raise NotImplementedError

    def still_said(self, text: str, current: str) -> str:
        """What may stay of a text that was begun on an older version."""
        return text

    def clean(self) -> dict[str, Any]:
        """The text is refused where it is too long, and shown beside the other's where it is late."""
        cleaned: dict[str, Any] = super().clean() or {}
        try:
            self.check(cleaned.get(self.text_field) or "")
        except ValueError as error:
            self.add_error(self.text_field, str(error))
            return cleaned
        current = type(self.instance)._default_manager.filter(pk=self.instance.pk).first()
        if current and cleaned.get("base_version") != current.version:
            self._show_both(current)
        return cleaned

    def _show_both(self, current: Any) -> None:
        """Both edits in one text; saving again is then a decision made in its knowledge."""
        sent: Any = self.data
        number, name = self.add_prefix("base_version"), self.add_prefix(self.text_field)
        read = current.versions.filter(version=version_number(sent.get(number, "")))
        base = read.values_list("content", flat=True).first() or ""
        content = getattr(current, self.text_field)
        mine = self.still_said(sent.get(name, "").replace("\r\n", "\n"), content)
        found = merge(base, mine, content)
        shown = {
            "told": self.told,
            "who": self.author_of(current),
            "number": current.version,
            "content": content,
            "merge": found,
        }
        text = render_to_string("memory/conflict.html", shown)
        self.add_error(None, ValidationError(text, code="conflict"))
        self.data = {**sent.dict(), number: str(current.version), name: found.text}


class TextAdmin(VersionedAdmin):
    """Goes with `VersionedTextForm`; what versions changed is for those who edit."""

    edit_roles = EDITORS

    def versions_of(self, request: HttpRequest, row: Any) -> QuerySet[Any]:
        """Those that the reader's blinding leaves."""
        versions = super().versions_of(request, row)
        if mask.mask_of_user(row.project, request.user).fields:
            versions = versions.filter(created_at__gte=row.project.blinded_since)
        return versions

    def beside(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        """Nothing for those who only read."""
        return super().beside(request, row) if edits(request.user, row.project_id) else {}
