"""Tables of the running house: broker messages, heartbeats, cron firings (design.md 3)."""

from __future__ import annotations

from django.db import models
from django.utils.timezone import localtime
from django.utils.translation import gettext_lazy as _


class BrokerMessage(models.Model):
    """A Celery message of the embedded broker; claimed by conditional UPDATE, leased, then deleted."""

    queue = models.CharField(_("queue"), max_length=100)
    body = models.TextField()
    visible_at = models.DateTimeField(_("due"))
    claim = models.CharField(max_length=64, blank=True, default="")
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        db_table = "iit_broker_messages"
        verbose_name = _("broker message")
        verbose_name_plural = _("broker messages")
        indexes = [models.Index(fields=["queue", "visible_at"], name="iit_broker_due")]

    def __str__(self) -> str:
        return f"{self.queue} #{self.pk}"


class Heartbeat(models.Model):
    """The last sign of life of worker and beat; `/readyz` reads it."""

    name = models.CharField(_("process"), max_length=32, primary_key=True)
    at = models.DateTimeField(_("last sign of life"))

    class Meta:
        db_table = "iit_heartbeats"
        verbose_name = _("heartbeat")
        verbose_name_plural = _("heartbeats")

    def __str__(self) -> str:
        return self.name


class SealedKeys(models.Model):
    """The keys of digests and signatures, sealed with FIELD_ENCRYPTION_KEYS: one row (`core.house.key_ring`).

    It exists because those keys must outlive a rotation, and because keys that do not open it are not this
    database's.
    """

    name = models.CharField(max_length=16, primary_key=True)
    value = models.TextField()

    class Meta:
        db_table = "iit_sealed_keys"
        verbose_name = _("sealed keys")
        verbose_name_plural = _("sealed keys")

    def __str__(self) -> str:
        return self.name


class CronFiring(models.Model):
    """One firing of a job: unique, so that it happens once whatever beat or the broker do."""

    job = models.CharField(_("job"), max_length=200)
    due_at = models.DateTimeField(_("due"))
    fired_at = models.DateTimeField(_("fired"), auto_now_add=True)

    class Meta:
        db_table = "iit_cron_firings"
        ordering = ["-due_at"]
        verbose_name = _("cron firing")
        verbose_name_plural = _("cron firings")
        constraints = [models.UniqueConstraint("job", "due_at", name="iit_fires_once")]

    def __str__(self) -> str:
        return f"{localtime(self.due_at):%Y-%m-%d %H:%M}"
