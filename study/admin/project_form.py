"""The form of a study: secrets that are never shown, addresses that may be asked, fields that REDCap knows."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from projects import endpoints
from projects.models import Project
from study.admin.kept_secrets import KeptSecretWidget
from study.known_names import KnownNames, refusal

SECRETS = tuple(endpoints.ADDRESSES.values())
_PRESETS = tuple(f"{purpose.prefix}_preset" for purpose in endpoints.Purpose)
_MODELS = tuple(f"{purpose.prefix}_model" for purpose in endpoints.Purpose)


class ProjectForm(forms.ModelForm):
    """Secrets are never sent to the browser: an empty box keeps what is stored."""

    class Meta:
        model = Project
        exclude = ("redcap_det_secret",)  # noqa: DJ006 - a new column belongs to the form unless secret

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in SECRETS:
            if name in self.fields:
                stored = bool(getattr(self.instance, name))
                self.fields[name].required = False
                self.fields[name].widget = KeptSecretWidget(
                    attrs={
                        "autocomplete": "new-password",
                        "placeholder": "••••••" if stored else "",
                    }
                )
                self.fields[name].help_text = _("Leave blank to keep the stored value.")
                self.initial[name] = ""

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        self.typed = {name for name in SECRETS if cleaned.get(name)}
        for name in SECRETS:
            if name in self.fields and not cleaned.get(name):
                cleaned[name] = getattr(self.instance, name)
        self._check_addresses(cleaned)
        known = KnownNames.of(self.instance)
        for name in ("enrolment_field", "withdraw_field"):
            if why := refusal(cleaned.get(name) or "", known.fields):
                self.add_error(name, why)
        return cleaned

    def _check_addresses(self, cleaned: dict[str, Any]) -> None:
        """Each may be asked, and one that changed has its secret typed anew."""
        for name in endpoints.ADDRESSES:
            if cleaned.get(name) and not endpoints.is_allowed(cleaned[name]):
                self.add_error(name, endpoints.NOT_ALLOWED)
        fields = (*endpoints.ADDRESSES, *SECRETS, *_PRESETS, *_MODELS)
        stored = {name: getattr(self.instance, name) for name in fields}
        after = SimpleNamespace(**(stored | cleaned))
        for name in endpoints.without_secret(after):
            if name in self.fields and name not in self.errors:
                self.add_error(name, endpoints.MISSING)
        for name in endpoints.owed(self.instance, after, self.typed):
            if name in self.fields:
                self.add_error(name, endpoints.OWED)
        for name, why in endpoints.incomplete(after).items():
            if name in self.fields and name not in self.errors:
                self.add_error(name, why)
