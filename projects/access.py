"""What a person may do in a study, by their memberships (design.md 9.7)."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from projects.models import Member
from projects.scoping import User, held, is_blinded


def member_in(user: User, project_id: UUID | str) -> Member | None:
    """The membership of a console user in a project."""
    return next((one for one in held(user) if _is_in(one, project_id)), None)


def reads_as(user: User, project_id: UUID | str) -> Member | None:
    """As which member a console user reads a project: a superuser as none, whatever they are a member of."""
    return None if getattr(user, "is_superuser", False) else member_in(user, project_id)


def has_role(user: User, project_id: UUID | str | None, *roles: str, of_site: bool = False) -> bool:
    """Whether a console user holds one of `roles` in a project (None: in any); a superuser holds all.

    What holds for all sites takes a membership without a site, in console and API alike. `of_site`: what is
    asked for concerns rows of a site alone, so that the memberships of that site hold it, too.
    """
    if getattr(user, "is_superuser", False) and user.is_active:
        return bool(roles)
    return any(
        one.role in roles
        and (of_site or not one.site)
        and (project_id is None or _is_in(one, project_id))
        for one in held(user)
    )


def sees_all_sites(user: User, project_id: UUID | str | None = None) -> bool:
    """Whether no site limits what a console user sees: in a study, else in any study of theirs."""
    if getattr(user, "is_superuser", False) and user.is_active:
        return True
    if project_id is None:
        return not any(one.site for one in held(user))
    return any(not one.site and _is_in(one, project_id) for one in held(user))


def _is_in(member: Member, project_id: UUID | str) -> bool:
    return str(member.project_id) == str(project_id)


def tells_arm(row: Any) -> bool:
    """Whether a run or review may tell an arm: `projects.scoping.BlindingRule` for one row."""
    since = row.project.blinded_since
    return since is not None and (row.unblinds or row.created_at < since)


def sees(
    member: Member, *, record_id: str | None, site: str | None, owner: str, unblinds: bool = False
) -> bool:
    """`RecordQuerySet.for_member` for one row of the member's project whose subject was read before.

    `site` is the subject's, None where there is no such subject; `owner` is who caused the row; `unblinds`: it
    rests on a blinded field.
    """
    if not member.is_active or (unblinds and is_blinded(member)):
        return False
    if not member.site or member.site == site:
        return True
    return not record_id and owner == member.identity
