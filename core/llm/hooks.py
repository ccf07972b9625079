"""The actions of this app in the audit trail."""

from __future__ import annotations

from django.utils.translation import gettext_noop as _

from projects import audit

audit.register(
    **{
        "model.accept": _("Model put to its acceptance"),
        "model.sign": _("Acceptance of a model signed"),
        "model.canary": _("Daily check of a model"),
    }
)
