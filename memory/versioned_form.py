"""A Markdown text with versions that people edit: the later of two writers sees both texts."""

from __future__ import annotations

from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from django.template.loader import render_to_string
from django.utils.functional import Promise

from memory.hot.merge import merge


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
            self._conflict(current)
        return cleaned

    def _conflict(self, current: Any) -> None:
        """Both edits in one text; saving again is then a decision made in its knowledge."""
        sent: Any = self.data
        number = sent.get(self.add_prefix("base_version"), "")
        version = int(number) if number.isdecimal() and len(number) < 10 else 0
        base = current.versions.filter(version=version).values_list("content", flat=True).first()
        content = getattr(current, self.text_field)
        mine = sent.get(self.add_prefix(self.text_field), "").replace("\r\n", "\n")
        mine = self.still_said(mine, content)
        found = merge(base or "", mine, content)
        shown = {
            "told": self.told,
            "who": self.author_of(current),
            "number": current.version,
            "content": content,
            "merge": found,
        }
        text = render_to_string("memory/conflict.html", shown)
        self.add_error(None, ValidationError(text, code="conflict"))
        self.data = {
            **sent.dict(),
            self.add_prefix("base_version"): str(current.version),
            self.add_prefix(self.text_field): found.text,
        }
