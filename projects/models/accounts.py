"""What hangs on a login: tokens of programs (contracts.md, HTTP)."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils.timezone import now
from django.utils.translation import gettext_lazy as _

from projects.scoping import User


class TokenScope(models.TextChoices):
    """What a token may be made for. A scope only narrows: its owner's memberships decide as ever."""

    READ = "read", _("Read data")
    ASK = "ask", _("Ask the assistant")
    RUN = "run", _("Order, rehearse and cancel runs")
    DECIDE = "decide", _("Decide reviews")
    FINDINGS = "findings", _("Work on findings")
    SKILLS = "skills", _("Change workflows, field mappings and form templates")
    MEMORY = "memory", _("Change hot memory")
    DOCUMENTS = "documents", _("Add protocol documents")
    COUNTS = "counts", _("Count over MCP, without rows")


class ApiTokenQuerySet(models.QuerySet["ApiToken"]):
    """Tokens by whose they are and what they are good for."""

    def of(self, user: User) -> ApiTokenQuerySet:
        """A person's own."""
        return self.filter(user_id=user.pk) if user.pk is not None else self.none()


class ApiToken(models.Model):
    """A program's key to the API in its owner's name; only its hash is stored.

    The framework's own table holds keys in clear and one for each login; `key_start` is what tells an owner
    which program this one belongs to. A revoked token is deleted: the trail keeps that it was there.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.CASCADE,
        related_name="api_tokens",
        verbose_name=_("console user"),
    )
    digest = models.CharField(max_length=64, unique=True)
    key_start = models.CharField(_("begins with"), max_length=8)
    name = models.CharField(_("used for"), max_length=64, blank=True)
    # A list of TokenScope; null is all that the owner may do, also what is added later.
    scopes = models.JSONField(_("may"), null=True, blank=True)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    last_used_at = models.DateTimeField(_("last used"), null=True)
    expires_at = models.DateTimeField(_("expires"), null=True)

    objects = ApiTokenQuerySet.as_manager()
    key = ""
    """The token itself, of one just made for who made it; never stored."""

    class Meta:
        db_table = "iit_api_tokens"
        ordering = ["-created_at"]
        verbose_name = _("API token")
        verbose_name_plural = _("API tokens")

    def __str__(self) -> str:
        return f"{self.key_start}…"

    @property
    def is_valid(self) -> bool:
        """Whether its owner's login is active and its time not over."""
        return self.user.is_active and (self.expires_at is None or self.expires_at > now())

    def may(self, scope: TokenScope) -> bool:
        """Whether the token was made for this; what its owner may do is asked elsewhere."""
        return self.scopes is None or scope.value in self.scopes
