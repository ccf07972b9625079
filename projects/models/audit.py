"""The audit trail: append-only and hash-chained (design.md 3 and 9.9)."""

from __future__ import annotations

from django.db import models
from django.utils.timezone import localtime
from django.utils.translation import gettext_lazy as _

from core.house.encrypted_fields import EncryptedJSONField, EncryptedTextField
from projects.models.project import Project
from projects.scoping import BlindingRule, RecordQuerySet


class AuditHead(models.Model):
    """The end of one chain: its length. Claimed first, so that entries get their numbers in order.

    `claim` is another one with every claim: who finds its own knows that nobody wrote since. `anchored` is
    how far the anchors outside the database reach (`projects.audit_anchors`).
    """

    chain = models.CharField(_("chain"), max_length=64, primary_key=True)
    length = models.PositiveBigIntegerField(_("entries"), default=0)
    claim = models.UUIDField(null=True, editable=False)
    anchored = models.PositiveBigIntegerField(_("anchored up to"), default=0)

    class Meta:
        db_table = "iit_audit_heads"
        verbose_name = _("end of a chain")
        verbose_name_plural = _("ends of chains")

    def __str__(self) -> str:
        return self.chain


class AuditQuerySet(RecordQuerySet["AuditEntry"]):
    """Entries about a subject follow its site; others are their actor's and the supervisors'."""

    owner_path = "actor"
    blinding_rule = BlindingRule(made="at", marked="unblinds")


class AuditEntry(models.Model):
    """Who did what, to what, old and new, why, when (UTC).

    `actor` is the identity that was acted as, `login` the console user who did, blank for WeCom and jobs.
    What people wrote and what it is about is encrypted; the hash covers it as it reads.
    `chain` is the project's id or `house`, and one apart for what `unblinds` (`audit.chain_of`); `hash` is an
    HMAC over the entry and `previous`, so a changed, removed or inserted row is found by
    `manage.py audit verify`. Triggers refuse UPDATE, DELETE, TRUNCATE and REPLACE (`core.house.audit_guard`).
    The project has no database constraint: an entry outlives what it speaks of.
    """

    chain = models.CharField(_("chain"), max_length=64)
    number = models.PositiveBigIntegerField(_("number"))
    project = models.ForeignKey(
        Project,
        models.DO_NOTHING,
        null=True,
        db_constraint=False,
        db_index=False,
        related_name="+",
        verbose_name=_("project"),
    )
    at = models.DateTimeField(_("time"))
    actor = models.CharField(_("who"), max_length=150)
    login = models.CharField(_("through login"), max_length=150, blank=True, default="")
    action = models.CharField(_("what"), max_length=64)
    object_type = models.CharField(_("kind"), max_length=64, blank=True)
    object_id = models.CharField(_("object"), max_length=64, blank=True)
    label = EncryptedTextField(_("label"), blank=True)
    record_id = models.CharField(_("subject"), max_length=100, blank=True)
    old = EncryptedJSONField(_("old"), null=True)
    new = EncryptedJSONField(_("new"), null=True)
    reason = EncryptedTextField(_("why"), blank=True)
    previous = models.CharField(_("previous hash"), max_length=64, blank=True)
    hash = models.CharField(_("hash"), max_length=64)

    unblinds = models.BooleanField(
        _("rests on a blinded field"), default=False, db_default=False, editable=False
    )

    objects = AuditQuerySet.as_manager()

    class Meta:
        db_table = "iit_audit_log"
        ordering = ["-at", "-number"]
        verbose_name = _("audit entry")
        verbose_name_plural = _("audit trail")
        constraints = [models.UniqueConstraint("chain", "number", name="iit_audit_number")]
        indexes = [models.Index(fields=["project", "at"])]

    def __str__(self) -> str:
        return f"{localtime(self.at):%Y-%m-%d %H:%M:%S} {self.label}".strip()
