"""Writes on studies and members, each with its audit entry."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, TypeVar

from django.contrib.auth.models import AnonymousUser, User
from django.db.models import Model
from django.forms.models import model_to_dict

from house.db import atomic
from house.encrypted_fields import is_sealed
from projects import audit, endpoints, members
from projects.models import Member, Person, Project

T = TypeVar("T", bound=Model)
HIDDEN = "•••"


def summary(obj: Model) -> dict[str, Any]:
    """An object's values for the trail; secrets are only said to be there."""
    values = model_to_dict(obj)
    for field in obj._meta.get_fields():
        if is_sealed(field) and values.get(field.name):
            values[field.name] = HIDDEN
    return values


def save_project(*, project: Project, actor: object, typed: Collection[str] = ()) -> Project:
    """Store a new or changed study; `typed` names the secrets that the person gave anew.

    Raises endpoints.SecretOwed where a stored secret would go to another address.
    """
    before = Project.objects.filter(pk=project.pk).first()
    if before and (owed := endpoints.owed(before, project, typed)):
        raise endpoints.SecretOwed(owed)
    return save(project, project, actor, "project.create", "project.change")


def save_member(*, member: Member, actor: User | AnonymousUser) -> Member:
    """Store a new or changed membership; one that names a userid alone is of the person who goes by it.

    Raises PermissionDenied (`projects.members`).
    """
    with atomic():
        before = Member.objects.select_related("person").filter(pk=member.pk).first()
        if before is not None:
            member.person, member.project = before.person, before.project
        elif not member.person_id:
            member.person = Person.objects.of(member.wecom_userid)
        members.require(actor, before, member)
        return save(member, member.project, actor, "member.add", "member.change")


def save(obj: T, project: Project, actor: object, created: str, changed: str) -> T:
    """Store a row of a study with its entry in the trail: `created` or `changed` as its action."""
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
