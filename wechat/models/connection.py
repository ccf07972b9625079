"""Who holds the smart bot's long connection."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _


class BotConnection(models.Model):
    """The one long connection of a bot: WeCom ends the first where a second subscribes (wecom.md 5).

    `lease_until` and `fence` are the claim of the process `holder`; the others stand by. `not_before`: nobody
    connects until then, after another's connection took the bot over (`kicks` in a row, the last one
    `kicked_at`) or after a refused secret; it is void for another `secret`, of which this is a digest.
    """

    bot_id = models.CharField(_("bot"), max_length=128, primary_key=True)
    holder = models.CharField(_("held by"), max_length=100, blank=True)
    fence = models.PositiveIntegerField(default=0)
    lease_until = models.DateTimeField(_("held until"), null=True, blank=True)
    connected_at = models.DateTimeField(_("connected since"), null=True, blank=True)
    secret = models.CharField(max_length=64, blank=True)
    not_before = models.DateTimeField(_("not before"), null=True, blank=True)
    kicks = models.PositiveIntegerField(_("taken over"), default=0)
    kicked_at = models.DateTimeField(_("last taken over"), null=True, blank=True)
    error_code = models.IntegerField(_("error code"), null=True, blank=True)
    error = models.CharField(_("error"), max_length=300, blank=True)

    class Meta:
        db_table = "iit_wechat_connections"
        verbose_name = _("long connection")
        verbose_name_plural = _("long connections")

    def __str__(self) -> str:
        return self.bot_id
