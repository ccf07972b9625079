"""What every door says in the same words."""

from __future__ import annotations

from django.utils.translation import gettext as _


def not_found() -> str:
    """The one wording for "does not exist" and "not yours" (design.md 9.7)."""
    return _("There is no such subject, or you have no right to see it. Please check the number.")


def withheld(label: str) -> str:
    """An identifier, or what may not leave: said without saying whether it is filled in."""
    return _("%(label)s is not shown by the assistant; please look it up in REDCap") % {
        "label": label
    }


def redcap_down() -> str:
    """REDCap cannot be read."""
    return _("REDCap cannot be read at the moment. Please try again later.")
