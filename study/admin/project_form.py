"""The form of a study: secrets that are never shown, addresses that may be asked, fields that REDCap knows."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from django import forms
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminPasswordWidget

from core.house.crypto import DecryptionError, decrypt, encrypt
from projects import endpoints
from projects.models import Project
from study.blinding.mask import known_to_all
from study.dictionary import KnownNames, name_refusal

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
        for name in {*SECRETS} & self.fields.keys():
            shown = "••••••" if getattr(self.instance, name) else ""
            attrs = {"autocomplete": "new-password", "placeholder": shown}
            field = self.fields[name]
            field.required, field.widget = False, KeptSecretWidget(attrs=attrs)
            field.help_text = _("Leave blank to keep the stored value.")
            self.initial[name] = ""

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        self.typed = {name for name in SECRETS if cleaned.get(name)}
        for name in SECRETS:
            if name in self.fields and not cleaned.get(name):
                cleaned[name] = getattr(self.instance, name)
        self._check_addresses(cleaned)
        known = KnownNames.of(self.instance)
        fields = known_to_all(self.instance, known.fields)
        for name in ("enrolment_field", "withdraw_field"):
            if why := name_refusal(cleaned.get(name) or "", fields, known.closed):
                self.add_error(name, why)
        if cleaned.get("withdraw_field") and cleaned.get("has_no_withdraw_field"):
            told = _("A withdrawal date field is given: take away this tick or the field.")
            self.add_error("has_no_withdraw_field", told)
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


KEPT_S = 3600
"""For so long a page that was refused may be mended without typing the secret again."""


class KeptSecretWidget(UnfoldAdminPasswordWidget):
    """What was typed comes back sealed beside an empty box; a blank box then means the sealed value."""

    def value_from_datadict(self, data: Mapping[str, Any], files: Any, name: str) -> Any:
        """What was typed now, else what was typed before the page was refused."""
        return super().value_from_datadict(data, files, name) or _opened(
            name, data.get(_beside(name), "")
        )

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        """The empty box, and the sealed value of what was typed."""
        if not value:
            return SafeString(super().render(name, "", attrs, renderer))
        told = {**(attrs or {}), "placeholder": _("typed; kept until you save")}
        sealed = encrypt(json.dumps([name, value, time.time()]))
        box = super().render(name, "", told, renderer)
        return format_html(
            '{}<input type="hidden" name="{}" value="{}">', box, _beside(name), sealed
        )


def _beside(name: str) -> str:
    return f"{name}_kept"


def _opened(name: str, sealed: str) -> str:
    try:
        told, value, at = json.loads(decrypt(sealed)) if sealed else ("", "", 0)
    except (DecryptionError, ValueError, TypeError):
        return ""
    return str(value) if told == name and time.time() - at < KEPT_S else ""
