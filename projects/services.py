"""Writes on studies and members, each with its audit entry."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, TypeVar

from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import Model
from django.forms.models import model_to_dict
from django.utils.timezone import now

from core.house.db import atomic
from core.house.encrypted_fields import is_sealed
from projects import audit, endpoints, invitations, members
from projects.models import Member, Person, Project
from projects.models.person import validate_userid
from projects.signals import membership_offered

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

    Raises endpoints.SecretOwed where a stored secret would go to another address, ValidationError
    (`Project.clean`).
    """
    project.clean()
    before = Project.objects.filter(pk=project.pk).first()
    if before and "redcap_token" in typed:
        project.redcap_is_new = True
    if before and (owed := endpoints.owed(before, project, typed)):
        raise endpoints.SecretOwed(owed)
    return save(project, project, actor, "project.create", "project.change")


def save_member(*, member: Member, actor: User | AnonymousUser, all_sites: bool = False) -> Member:
    """Store a new or changed membership; one that names a userid alone is of the person who goes by it.

    `is_active` is what the actor wants: what anybody but a superuser makes active is an invitation first, and
    one that is wanted no more is taken back. The person is told.
    `all_sites`: a blank site was chosen; without it no membership comes to see every site by an omission.
    Raises PermissionDenied (`projects.members`), ValidationError.
    """
    with atomic():
        before = Member.objects.select_related("person").filter(pk=member.pk).first()
        if before is not None:
            member.person, member.project = before.person, before.project
        elif not member.person_id:
            if Person.objects.known(member.wecom_userid) is None:
                validate_userid(member.wecom_userid)
            member.person = Person.objects.of(member.wecom_userid)
        members.require(actor, before, member)
        if not (member.site or all_sites) and (before is None or before.site):
            raise ValidationError({"site": members.NO_SITE})
        is_new = member.is_active and not (before and (before.is_active or before.invited_at))
        member.invited_at = before.invited_at if before and member.is_active else None
        if is_new and not actor.is_superuser:
            member.invited_at = now()
        member.is_active = member.is_active and member.invited_at is None
        save(member, member.project, actor, "member.add", "member.change")
        if is_new:
            membership_offered.send(sender=Member, member=member, actor=actor)
        return member


def accept_for(*, member: Member, actor: User | AnonymousUser) -> bool:
    """Accept an invitation in the person's place; False where it does not wait any more. The person is told.

    Raises PermissionDenied to anybody but a superuser, and on their own membership.
    """
    members.require(actor, member, member)
    if not actor.is_superuser:
        raise PermissionDenied
    with atomic():
        is_ours = invitations.settle(member=member, accept=True, actor=actor)
        if is_ours:
            membership_offered.send(sender=Member, member=member, actor=actor)
    return is_ours


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


def delete(obj: Model, project: Project, actor: object, action: str) -> None:
    """Take a row of a study away, with what it held as its entry in the trail."""
    with atomic():
        audit.record(action, actor=actor, project=project, subject=obj, old=summary(obj))
        obj.delete()
