"""Who is who: linking WeCom userids and logins (design.md 3, iit_people). Only superusers do."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import PermissionDenied, ValidationError
from django.utils.translation import gettext as _

from core.house.db import atomic
from projects import audit
from projects.models import Member, Person, Project
from projects.models.person import validate_userid
from projects.signals import login_moved


@dataclass(frozen=True)
class _Was:
    """What a person went by before."""

    wecom_userid: str = ""
    login: str = ""

    @classmethod
    def stored(cls, person: Person) -> _Was | None:
        found = Person.objects.select_related("user").filter(pk=person.pk).first()
        return cls(found.wecom_userid or "", found.login) if found else None


def link(*, person: Person, actor: User | AnonymousUser, reason: str = "") -> Person:
    """Store a person's userid and login; a login that was another person's is taken from them.

    Both are told. Raises PermissionDenied to anybody but a superuser, ValidationError (see `check`).
    """
    if not (actor.is_active and actor.is_superuser):
        raise PermissionDenied
    check_person(person)
    with atomic():
        holders = Person.objects.filter(user__isnull=False, user=person.user)
        for holder in holders.exclude(pk=person.pk):
            was = _Was.stored(holder)
            holder.user = None
            _store(holder, was, actor, reason)
        _store(person, _Was.stored(person), actor, reason)
    return person


def check_person(person: Person) -> None:
    """Raises ValidationError where two would go by one name, or a person by none, or by another userid."""
    was = _Was.stored(person)
    userid = (person.wecom_userid or "").lower()
    if was and was.wecom_userid and was.wecom_userid != userid:
        raise ValidationError(_("A userid stays with its person; move the login instead."))
    if userid and not was:
        validate_userid(userid)
    if not userid and not person.user:
        raise ValidationError(_("Please give a WeCom userid, a console user, or both."))
    others = Person.objects.exclude(pk=person.pk)
    if userid and others.filter(wecom_userid=userid).exists():
        raise ValidationError(_("This userid is another person's: link the login there."))
    if not userid and others.filter(wecom_userid=person.login.lower()).exists():
        raise ValidationError(_("Somebody goes by this name in WeCom: link the login there."))


def _store(person: Person, was: _Was | None, actor: object, reason: str) -> None:
    person.save()
    Member.objects.filter(person=person).update(wecom_userid=person.wecom_userid or "")
    old, now = was or _Was(), _Was(person.wecom_userid or "", person.login)
    if was == now:
        return
    # The house's trail has it, and that of each study whose member somebody is now somebody else.
    for project in (None, *Project.objects.filter(members__person=person)):
        audit.record(
            "person.link" if was else "person.add",
            actor=actor,
            project=project,
            subject=person,
            old=vars(old) if was else None,
            new=vars(now),
            reason=reason,
        )
    if old.login != now.login:
        login_moved.send(sender=Person, person=person, lost=old.login, gained=now.login)
