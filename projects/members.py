"""Who may write a member's row (design.md 1): nobody their own, nobody beyond their own site."""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import PermissionDenied
from django.utils.translation import gettext as _

from projects.models import Member, Role
from projects.scoping import memberships


def refusal(actor: User | AnonymousUser, before: Member | None, after: Member | None = None) -> str:
    """Why `actor` may not make `after` of the stored row `before` (None: a new one); "" where they may.

    Within a site an administrator has every right that a role there has, so the site bounds what they give.
    """
    if before is not None and before.person.user_id == actor.pk:
        return _("Nobody changes their own membership.")
    if actor.is_active and actor.is_superuser:
        return ""
    for member in filter(None, (before, after)):
        held = memberships(actor).filter(project_id=member.project_id, role=Role.ADMIN)
        if not held.filter(site__in=("", member.site)).exists():
            return _("You administer the members of your own site only.")
    return ""


def require(actor: User | AnonymousUser, before: Member | None, after: Member) -> None:
    """Raises PermissionDenied where `refusal` has a reason."""
    if why := refusal(actor, before, after):
        raise PermissionDenied(why)
