"""How we stand with WeCom: the access token, and what needs an operator."""

from __future__ import annotations

from django.db import models
from django.utils.timezone import now
from django.utils.translation import gettext_lazy as _

from core.house.encrypted_fields import EncryptedTextField


class AccessToken(models.Model):
    """The one access token of an app, shared by all processes (wecom.md 3.1).

    `refresh_until` is the lease of the process that fetches, `fence` makes its claim fail once another has
    fetched. `blocked_until` is the circuit: after a refused secret nobody asks, because repeated tries get
    the address banned. The key holds a digest of the secret: a corrected secret starts afresh.
    """

    key = models.CharField(max_length=150, primary_key=True)
    token = EncryptedTextField(blank=True)
    expires_at = models.DateTimeField(_("expires"), null=True, blank=True)
    refresh_until = models.DateTimeField(null=True, blank=True)
    fence = models.PositiveIntegerField(default=0)
    blocked_until = models.DateTimeField(_("blocked until"), null=True, blank=True)
    error_code = models.IntegerField(_("error code"), null=True, blank=True)
    error = models.CharField(_("error"), max_length=300, blank=True)
    fetched_at = models.DateTimeField(_("fetched"), null=True, blank=True)

    class Meta:
        db_table = "iit_wechat_tokens"
        verbose_name = _("access token")
        verbose_name_plural = _("access tokens")

    def __str__(self) -> str:
        return self.key


class Alert(models.Model):
    """Something an operator has to mend, one row per cause: a log line alone is seen by nobody (wecom.md 9.8).

    `subject` is the userid of an unreachable member, the channel of a wrong key, the step that failed, the
    code of the study whose event nobody can be told of, else blank. `cleared_at` is
    set when it works again.
    """

    class Code(models.TextChoices):
        KEY = "key", _("The AES key is not the one of the WeCom console")
        NOT_UNDERSTOOD = "not_understood", _("A genuine callback was not understood")
        ADDRESS = "address", _("Our address is not trusted by WeCom (60020)")
        SECRET = "secret", _("WeCom refuses our secret (40001)")
        LIMIT = "limit", _("Over a call limit of WeCom (45009)")
        REFUSED = "refused", _("WeCom refuses our calls")
        INACTIVE = "inactive", _("WeCom is about to suspend the app")
        UNREACHABLE = "unreachable", _("A member cannot be reached")
        AUDIT = "audit", _("The audit trail does not hold, or nothing guards it")
        SWEEP = "sweep", _("A background step failed")
        BOT_KICKED = "bot_kicked", _("Another connection took the smart bot over")
        BOT_SECRET = "bot_secret", _("WeCom refuses the smart bot's secret")
        BOT_DOWN = "bot_down", _("The smart bot's long connection does not come about")
        SAFETY = "safety", _("Nobody can be told of a serious event that is to be reported")

    REMEDIES = {
        Code.KEY: _(
            "Copy EncodingAESKey from the callback settings into WECOM_AES_KEY "
            "(the smart bot's into WECOM_AIBOT_AES_KEY)."
        ),
        Code.NOT_UNDERSTOOD: _("Look at the quarantined row in the inbox."),
        Code.ADDRESS: _(
            "Add the address named below to the trusted addresses of the app; it takes a minute."
        ),
        Code.SECRET: _(
            "Copy the secret of the app into WECOM_SECRET. Nobody asks before the ban ends."
        ),
        Code.LIMIT: _(
            "Nothing: sending goes on by itself. If it stays, ask who else uses the app."
        ),
        Code.REFUSED: _("Run manage.py wecom_check and do what it says."),
        Code.INACTIVE: _("Have members open the app, or reopen it in the WeCom console."),
        Code.UNREACHABLE: _("Add the member to the app's visible range, or end the membership."),
        Code.SWEEP: _(
            "Look in the log for the row named below and mend it; everything else goes on meanwhile."
        ),
        Code.BOT_KICKED: _(
            "Find what else connects with this bot's id and secret (another house, a trial on a laptop) "
            "and stop it, or reset the secret. We try again, ever more rarely."
        ),
        Code.BOT_SECRET: _(
            "Copy Bot ID and Secret of the long connection into WECOM_AIBOT_ID and WECOM_AIBOT_SECRET, "
            "then restart the process wecom_socket."
        ),
        Code.BOT_DOWN: _(
            "Let this server reach openws.work.weixin.qq.com, port 443: look at DNS, proxy, firewall."
        ),
        Code.SAFETY: _(
            "Tell the study's administrator at once: the site needs an active coordinator or investigator, or "
            "the study an administrator, whom WeCom reaches and who may see the subject."
        ),
        Code.AUDIT: _(
            "Run manage.py audit verify: it names every place. Find out who had access to the database."
        ),
    }

    code = models.CharField(_("what"), max_length=32, choices=Code.choices)
    subject = models.CharField(_("whom"), max_length=64, blank=True)
    detail = models.CharField(_("detail"), max_length=300, blank=True)
    times = models.PositiveIntegerField(_("times"), default=1)
    first_at = models.DateTimeField(_("first"), default=now)
    last_at = models.DateTimeField(_("last"), default=now)
    cleared_at = models.DateTimeField(_("cleared"), null=True, blank=True)

    class Meta:
        db_table = "iit_wechat_alerts"
        ordering = ["-last_at"]
        verbose_name = _("WeCom alert")
        verbose_name_plural = _("WeCom alerts")
        constraints = [models.UniqueConstraint("code", "subject", name="iit_alert_once")]

    def __str__(self) -> str:
        return f"{self.get_code_display()} {self.subject}".strip()

    @property
    def remedy(self) -> str:
        """What to do about it."""
        return str(self.REMEDIES[Alert.Code(self.code)])
