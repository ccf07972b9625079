"""Writes on studies and members, each with its audit entry."""

from __future__ import annotations

from typing import Any, TypeVar

from django.db.models import Model
from django.forms.models import model_to_dict

from projects import audit
from projects.db import atomic
from projects.fields import EncryptedTextField
from projects.models import Member, Project, VisitPlanEntry

T = TypeVar("T", bound=Model)
HIDDEN = "•••"
SECRETS = {"redcap_det_secret"}
"""Columns that are looked up and so cannot be encrypted."""


def summary(obj: Model) -> dict[str, Any]:
    """An object's values for the trail; secrets are only said to be there."""
    values = model_to_dict(obj)
    for field in obj._meta.get_fields():
        secret = isinstance(field, EncryptedTextField) or field.name in SECRETS
        if secret and values.get(field.name):
            values[field.name] = HIDDEN
    return values


def save_project(*, project: Project, actor: object) -> Project:
    """Store a new or changed study."""
    return _save(project, project, actor, "project.create", "project.change")


def save_member(*, member: Member, actor: object) -> Member:
    """Store a new or changed membership."""
    return _save(member, member.project, actor, "member.add", "member.change")


def save_visit(*, entry: VisitPlanEntry, actor: object) -> VisitPlanEntry:
    """Store a planned visit."""
    return _save(entry, entry.project, actor, "plan.change", "plan.change")


def _save(obj: T, project: Project, actor: object, created: str, changed: str) -> T:
    with atomic():
        before = type(obj)._default_manager.filter(pk=obj.pk).first()
        obj.save()
        audit.record(
            changed if before else created,
            actor=actor,
            project=project,
            subject=obj,
            old=summary(before) if before else None,
            new=summary(obj),
        )
    return obj
