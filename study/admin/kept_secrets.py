"""A box for a secret that survives a form which could not be saved, without ever showing the secret."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminPasswordWidget

from house.crypto import DecryptionError, decrypt, encrypt

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
