"""Who may write a member's row (design.md 1): nobody their own, nobody beyond their own site."""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import PermissionDenied
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from projects.models import Member, Role
from projects.scoping import memberships

NO_SITE = gettext_lazy("Give a site, or choose “all sites”.")


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


def headed(text: str, member: Member) -> str:
    """`text` with its study's code before it, where the reader is a member of several studies."""
    head = _head(member)
    if not text.strip() or text.startswith(head) or not in_several(member):
        return text
    return head + ("\n" if "\n" in text else "") + text


def without_head(text: str, member: Member) -> str:
    """What `headed` was given."""
    return text.removeprefix(_head(member)).lstrip("\n")


def _head(member: Member) -> str:
    return f"【{member.project.code}】"


def in_several(member: Member) -> bool:
    """Whether the person of `member` takes part in another study as well."""
    others = Member.objects.filter(person=member.person_id, is_active=True)
    return others.exclude(project=member.project_id).exists()


def require(actor: User | AnonymousUser, before: Member | None, after: Member) -> None:
    """Raises PermissionDenied where `refusal` has a reason."""
    if why := refusal(actor, before, after):
        raise PermissionDenied(why)
