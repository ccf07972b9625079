"""Ways of narrowing a list that a person wants again."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _


class SavedFilter(models.Model):
    """The address part behind a list's "?", under a name; each person sees their own only.

    It exists because a CRC looks at the same three selections every morning (part J, findings desk). `query`
    holds codes and ids of the console, no search text: that may be a name.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    page = models.CharField(_("page"), max_length=64)
    name = models.CharField(_("name"), max_length=40)
    query = models.CharField(max_length=500)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        db_table = "iit_saved_filters"
        ordering = ["pk"]
        verbose_name = _("saved filter")
        verbose_name_plural = _("saved filters")
        constraints = [models.UniqueConstraint("user", "page", "name", name="iit_filter_once")]

    def __str__(self) -> str:
        return self.name
