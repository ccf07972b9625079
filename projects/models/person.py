"""Who somebody is in the house: one WeCom userid, one login (design.md 3)."""

from __future__ import annotations

import uuid
from typing import Any

from django.conf import settings
from django.core.validators import RegexValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

# As WeCom has them (address book, userid); anything else only looks like one of them.
validate_userid = RegexValidator(
    r"\A[0-9A-Za-z][0-9A-Za-z_.@-]{0,63}\Z",
    _("A WeCom userid has letters without accents, digits and _ - @ . alone."),
)


class PersonManager(models.Manager["Person"]):
    """Finding people by what they go by."""

    def by_userid(self, userid: str) -> Person | None:
        """The person of a WeCom userid (compared without case)."""
        return self.filter(wecom_userid=userid.lower()).first() if userid else None

    def known(self, identity: str) -> Person | None:
        """The person who goes by `identity`: a userid, else the login of one who has no userid."""
        by_login = self.filter(wecom_userid=None, user__username=identity)
        return self.by_userid(identity) or by_login.first()

    def of(self, identity: str) -> Person:
        """The person who goes by `identity`; a userid that the house does not know yet has no login."""
        return self.known(identity) or self.create(wecom_userid=identity)


class Person(models.Model):
    """A person of the house: a row of its own, so that no study's administrator can say who somebody is.

    Userid and login are unique both ways; only a superuser links or moves a login (`projects.people`).
    A userid once given stays: what was said and decided under it is kept under it.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    wecom_userid = models.CharField(
        _("WeCom userid"),
        max_length=64,
        unique=True,
        null=True,
        blank=True,
        validators=[validate_userid],
    )
    user = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="person",
        verbose_name=_("console user"),
    )
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    objects = PersonManager()

    class Meta:
        db_table = "iit_people"
        ordering = ["wecom_userid", "pk"]
        verbose_name = _("person")
        verbose_name_plural = _("people")

    def __str__(self) -> str:
        return self.identity or "-"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Fold the userid's case; a blank one is none."""
        self.wecom_userid = (self.wecom_userid or "").lower() or None
        super().save(*args, **kwargs)

    @property
    def login(self) -> str:
        """The name of the person's console user, "" without one."""
        return self.user.get_username() if self.user else ""

    @property
    def identity(self) -> str:
        """What user_id, triggered_by, resolved_by … hold (decisions.md, "identities")."""
        return self.wecom_userid or self.login
