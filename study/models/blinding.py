"""What must not be told in a blinded study, and whose code was broken (issue 17, Blinding)."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from core.house.encrypted_fields import EncryptedTextField
from projects.models import Member, Project
from projects.scoping import ScopedQuerySet


class BlindedField(models.Model):
    """A field that unblinds. `words`: one a line, what tells its value in texts besides the choices' labels."""

    class Kind(models.TextChoices):
        ARM = "arm", _("Arm")
        RANDOMISATION = "randomisation", _("Randomisation")
        KIT = "kit", _("Kit number")
        LAB = "lab", _("Lab value that tells the arm")

    project = models.ForeignKey(
        Project, models.CASCADE, related_name="blinded_fields", verbose_name=_("project")
    )
    field = models.CharField(_("REDCap field"), max_length=100)
    kind = models.CharField(_("kind"), max_length=16, choices=Kind.choices)
    words = models.TextField(_("words"), blank=True)

    objects = ScopedQuerySet.as_manager()

    class Meta:
        db_table = "iit_blinded_fields"
        ordering = ["project", "field"]
        verbose_name = _("blinded field")
        verbose_name_plural = _("blinded fields")
        constraints = [models.UniqueConstraint("project", "field", name="iit_blinded_field_once")]

    def __str__(self) -> str:
        return self.field


class CodeBreak(models.Model):
    """A subject whose blinded fields one person was shown, and why; kept for good (design.md 9.9)."""

    project = models.ForeignKey(
        Project, models.CASCADE, related_name="code_breaks", verbose_name=_("project")
    )
    record_id = models.CharField(_("subject"), max_length=100)
    member = models.ForeignKey(
        Member, models.PROTECT, related_name="code_breaks", verbose_name=_("who")
    )
    reason = EncryptedTextField(_("why"))
    created_at = models.DateTimeField(_("time"), auto_now_add=True)

    objects = ScopedQuerySet.as_manager()

    class Meta:
        db_table = "iit_code_breaks"
        ordering = ["-created_at"]
        verbose_name = _("broken code")
        verbose_name_plural = _("broken codes")
        constraints = [
            models.UniqueConstraint("project", "record_id", "member", name="iit_code_broken_once")
        ]

    def __str__(self) -> str:
        return self.record_id
