"""How the console looks: name and colours (settings.UNFOLD)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import reverse_lazy
from django.utils.translation import gettext_lazy as _


def _file(name: str) -> Callable[[HttpRequest], str]:
    return lambda request: static(name)


UNFOLD: dict[str, Any] = {
    "SITE_TITLE": "IIT Manager",
    "SITE_HEADER": "IIT Manager",
    "SITE_SUBHEADER": _("Investigator-initiated trials"),
    "SITE_SYMBOL": "clinical_notes",
    "SITE_URL": None,
    "SITE_FAVICONS": [
        {"rel": "icon", "type": "image/svg+xml", "href": _file("iit/icon.svg")},
    ],
    "SHOW_LANGUAGES": True,
    "SHOW_HISTORY": True,
    "SHOW_VIEW_ON_SITE": False,
    "SHOW_BACK_BUTTON": True,
    "BORDER_RADIUS": "6px",
    "STYLES": [_file("iit/console.css")],
    "SCRIPTS": [_file("iit/console.js")],
    "ACCOUNT": {
        "navigation": [
            {"title": _("Change password"), "link": reverse_lazy("admin:password_change")},
            {"title": _("Second factor"), "link": reverse_lazy("mfa_index")},
        ]
    },
    "DASHBOARD_CALLBACK": "iit_manager.home.page.home",
    "COLORS": {
        "primary": {
            "50": "#eefbfa",
            "100": "#d3f4f1",
            "200": "#a9e8e3",
            "300": "#72d5cf",
            "400": "#3bb9b4",
            "500": "#209d9a",
            "600": "#187f7f",
            "700": "#176566",
            "800": "#175152",
            "900": "#174445",
            "950": "#072829",
        },
    },
    "SIDEBAR": {
        "show_search": True,
        "command_search": True,
        "navigation": "iit_manager.menu.menu",
    },
}
