"""Which rows about a person a reader of one site may see, in console and API (design.md 9.7)."""

from __future__ import annotations

from typing import Any, TypeVar

from django.db.models import JSONField, Model, QuerySet, TextField

from house.asked_once import once
from memory.console import scopes
from memory.visibility import whole
from projects.scoping import User, held

M = TypeVar("M", bound=Model)


def readable(rows: QuerySet[M], user: User) -> QuerySet[M]:
    """Rows of `for_user` without those that name a record outside the user's sites, as in chat.

    Who reads one site alone has no rows but their own (`OwnQuerySet`): few enough to look at each.
    """
    hidden = once(("unreadable", rows.model, user.pk), lambda: _unreadable(rows, user))
    return rows.exclude(pk__in=hidden) if hidden else rows


def _unreadable(rows: QuerySet[M], user: User) -> list[Any]:
    hidden: list[Any] = []
    for project_id in (member.project_id for member in held(user) if member.site):
        opened = scopes(user, project_id)
        mine = () if whole(opened) else rows.filter(project_id=project_id)
        hidden += [row.pk for row in mine if not any(one.allows(_text(row)) for one in opened)]
    return hidden


def _text(row: Model) -> str:
    told = [f for f in row._meta.concrete_fields if isinstance(f, TextField | JSONField)]
    return " ".join(str(getattr(row, field.attname)) for field in told)
