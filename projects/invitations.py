"""Memberships that wait for the person: accepted or declined by them, or by a superuser (design.md 9.7).

Until then they open nothing and no message is taken for one of that study.
"""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser, User
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from core.house.db import atomic
from projects import audit
from projects.models import Member, Person


def waiting(person: Person | None) -> QuerySet[Member]:
    """The invitations of a person, oldest first."""
    return _waiting(Member.objects.filter(person=person))


def _waiting(members: QuerySet[Member]) -> QuerySet[Member]:
    rows = members.filter(invited_at__isnull=False)
    return rows.select_related("project", "person__user").order_by("invited_at", "pk")


def waiting_for(user: User | AnonymousUser) -> QuerySet[Member]:
    """The invitations of a console user."""
    return _waiting(
        Member.objects.filter(person__user=user.pk) if user.pk else Member.objects.none()
    )


def settle(*, member: Member, accept: bool, actor: object) -> bool:
    """Accept or decline an invitation; False where it does not wait any more. The caller knows who asks.

    Of two answers the first counts.
    """
    rows = Member.objects.filter(pk=member.pk, invited_at__isnull=False)
    with atomic():
        if rows.update(invited_at=None, is_active=accept) != 1:
            return False
        member.invited_at, member.is_active = None, accept
        audit.record(
            "member.accept" if accept else "member.decline",
            actor=actor,
            project=member.project,
            subject=member,
            new={"role": member.role, "site": member.site},
        )
    return True


def describe_invitation(member: Member) -> str:
    """What the person is invited to, in the reader's language."""
    return _("%(study)s as %(role)s, site: %(site)s") % {
        "study": f"{member.project.name} ({member.project.code})",
        "role": member.get_role_display(),
        "site": member.site or _("all"),
    }
