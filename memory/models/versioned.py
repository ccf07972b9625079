"""A text that keeps its versions."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models.functions import Now
from django.utils.timezone import now
from django.utils.translation import gettext_lazy as _


class Versioned(models.Model):
    """`version` lets two writers find out about each other; `versions` are the related rows."""

    created_at = models.DateTimeField(_("created"), auto_now_add=True, db_default=Now())
    updated_at = models.DateTimeField(_("changed"), auto_now=True, db_default=Now())
    version = models.PositiveIntegerField(_("version"), default=1, db_default=1)

    class Meta:
        abstract = True

    def replaced(self, number: int, **columns: Any) -> bool:
        """Compare and set: whether this still was the stored version, and its row is `number` now."""
        rows = type(self)._default_manager.filter(pk=self.pk, version=self.version)
        if not rows.update(version=number, updated_at=now(), **columns):
            return False
        for name, value in {"version": number, **columns}.items():
            setattr(self, name, value)
        return True
