"""The one place that says which rows a person may see (design.md 9.7).

Console, API, chat and tools all go through these querysets. "Not yours" and "does not exist" read the
same because a row outside the scope is simply not in the queryset. They stand below the models.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Protocol, Self, TypeVar
from uuid import UUID

from django.apps import apps
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import models
from django.db.models import Exists, OuterRef, Q

from core.house.request_cache import once

M = TypeVar("M", bound=models.Model)
User = AbstractBaseUser | AnonymousUser


class Membership(Protocol):
    """What a scope asks of `projects.models.Member`, which stands above it."""

    is_active: bool
    project_id: UUID
    role: str
    site: str
    is_unblinded: bool
    project: Any

    @property
    def identity(self) -> str:
        """Who they are in the house."""


def memberships(user: User) -> models.QuerySet[Any]:
    """The active memberships of a console user; an anonymous or deactivated one has none."""
    members = apps.get_model("projects", "Member")._default_manager
    if user.pk is None or not user.is_active:
        return members.none()
    mine = members.filter(person__user=user.pk, is_active=True)
    return mine.select_related("project", "person__user")


def held(user: User) -> list[Any]:
    """The same as a list, which a page reads once."""
    return [member for member in _of(user) if member.is_active]


def invited(user: User) -> list[Any]:
    """The memberships that wait for the user's answer, oldest first; read with those that are held."""
    waiting = [member for member in _of(user) if member.invited_at]
    return sorted(waiting, key=lambda member: (member.invited_at, member.pk))


def _of(user: User) -> list[Any]:
    if user.pk is None or not user.is_active:
        return []

    def read() -> list[Any]:
        members = apps.get_model("projects", "Member")._default_manager
        mine = members.filter(person__user=user.pk).exclude(is_active=False, invited_at=None)
        return [*mine.select_related("project", "person__user")]

    return once(("memberships", user.pk), read)


@dataclass(frozen=True)
class BlindingRule:
    """How a table's rows can tell an arm (design.md 9.10): the names of its columns, "" for none.

    `made`: when the row was made, in an open study perhaps; `marked`: true where it rests on a blinded field;
    `person`: whose words or messages it holds, by `Member.identity`.
    """

    made: str
    marked: str = ""
    person: str = ""

    def condition(self, since: datetime | models.F, project: Any) -> Q:
        """Of the rows that a blinded reader does not see. `project`: a key, or a reference to it."""
        told = Q(**{f"{self.made}__lt": since})
        if self.marked:
            told |= Q(**{self.marked: True})
        if self.person:
            knowing = apps.get_model("projects", "Member")._default_manager.filter(
                Q(wecom_userid=OuterRef(self.person))
                | Q(person__user__username=OuterRef(self.person)),  # before there was a userid, too
                project_id=project,
                unblinded_at__isnull=False,
            )
            told |= Q(Exists(knowing))
        return told


def is_blinded(member: Membership) -> bool:
    """Whether a member must not learn of what unblinds; never in an open study."""
    return member.project.blinded_since is not None and not member.is_unblinded


def hidden_from(user: User, rule: BlindingRule, path: str = "project") -> Q:
    """The rows of blinded studies in which a console user is no unblinded member that could unblind them."""
    since, project = f"{path}__blinded_since", f"{path}_id"
    mine = memberships(user).filter(is_unblinded=True).values("project_id")
    blinded = Q(**{f"{since}__isnull": False}) & ~Q(**{f"{project}__in": mine})
    return blinded & rule.condition(models.F(since), OuterRef(project))


class ScopedQuerySet(models.QuerySet[M]):
    """Rows of one project each; subclasses narrow them to the member's site.

    `blinding_rule`: how rows can tell an arm; a table without it holds nothing of the kind.
    """

    project_path = "project"
    blinding_rule: ClassVar[BlindingRule | None] = None

    def scope(self, member: Membership) -> Q:
        """The condition under which `member` may see a row."""
        return Q(**{f"{self.project_path}_id": member.project_id})

    def opened(self, member: Membership) -> Q:
        """`scope` without what would unblind the member."""
        own = self.scope(member)
        if self.blinding_rule is None or not is_blinded(member):
            return own
        return own & ~self.blinding_rule.condition(member.project.blinded_since, member.project_id)

    def for_member(self, member: Membership) -> Self:
        """Rows of the member's project (and site); none for a member who left."""
        return self.filter(self.opened(member)) if member.is_active else self.none()

    def for_all(self, project: models.Model) -> Self:
        """Rows of a project that may go into what is written for all its members, the blinded too."""
        rows = self.filter(**{self.project_path: project})
        since = getattr(project, "blinded_since")  # noqa: B009 - a Project, which stands above
        if self.blinding_rule is None or since is None:
            return rows
        return rows.exclude(self.blinding_rule.condition(since, project.pk))

    def for_user(self, user: User) -> Self:
        """Rows that any membership of a console user opens; a superuser sees the house, blinded too."""
        if getattr(user, "is_superuser", False) and user.is_active:
            return self._of_house(user)
        condition = Q(pk__in=[])
        for member in held(user):
            condition |= self.opened(member)
        return self.filter(condition)

    def _of_house(self, user: User) -> Self:
        if self.blinding_rule is None:
            return self.all()
        return self.exclude(hidden_from(user, self.blinding_rule, self.project_path))


class SiteQuerySet(ScopedQuerySet[M]):
    """Rows that carry the subject's site themselves."""

    def scope(self, member: Membership) -> Q:
        """The member's project, and the member's site where they have one."""
        own = super().scope(member)
        return own & Q(site=member.site) if member.site else own


class RecordQuerySet(ScopedQuerySet[M]):
    """Rows about a subject (`record_id`): a member with a site sees only subjects of that site.

    The site is looked up in `iit_subjects`, never copied: a subject that moves to another site takes its
    rows along. Rows about no subject are visible to the one who caused them (`owner_path`).
    """

    owner_path = "triggered_by"

    def scope(self, member: Membership) -> Q:
        """The member's project; with a site, rows of its subjects and the member's own general rows."""
        own = super().scope(member)
        if not member.site:
            return own
        subjects = apps.get_model("study", "Subject")._default_manager
        # Not by a reference to the row: the database reads a site's subjects once, not once a row.
        of_site = subjects.filter(project=member.project_id, site=member.site).order_by()
        ours = Q(record_id__in=of_site.values("record_id"))
        general = Q(record_id__isnull=True) | Q(record_id="")
        return own & (ours | (general & Q(**{self.owner_path: member.identity})))


class OwnQuerySet(ScopedQuerySet[M]):
    """Rows that belong to one person (`user_id`); administrators and auditors of the house see all."""

    def scope(self, member: Membership) -> Q:
        """The member's own rows, or every row of the project for those who supervise all sites."""
        project = super().scope(member)
        if member.role in {"ADMIN", "AUDITOR"} and not member.site:
            return project
        return project & Q(user_id=member.identity)


class ProjectQuerySet(models.QuerySet[Any]):
    """Projects a person takes part in."""

    def for_user(self, user: User) -> Self:
        """Projects of the user's active memberships; all of them for a superuser."""
        if getattr(user, "is_superuser", False) and user.is_active:
            return self.all()
        return self.filter(pk__in={member.project_id for member in held(user)})

    def for_member(self, member: Membership) -> Self:
        """The member's one project."""
        return self.filter(pk=member.project_id) if member.is_active else self.none()


class MemberQuerySet(ScopedQuerySet[Any]):
    """People of the projects a person takes part in."""

    def active_of(self, userid: str) -> Self:
        """Active memberships of a WeCom userid (compared without case)."""
        mine = self.filter(wecom_userid=userid.lower(), is_active=True)
        return mine.exclude(wecom_userid="").select_related("project")

    def named(self, project: models.Model | UUID, identity: str) -> Self:
        """Who goes or went by a `Member.identity` in a project: a userid, else the name of an account."""
        by_login = Q(wecom_userid="", person__user__username=identity)
        named = Q(wecom_userid=identity.lower()) | by_login
        return self.filter(named, project=project)

    def of_identity(self, project: models.Model | UUID, identity: str) -> Any:
        """Who is active in a project under a `Member.identity`."""
        rows = self.named(project, identity).filter(is_active=True)
        return rows.select_related("project", "person__user").first()
