"""What the console calls what a call of a model was for, and who was asked."""

from __future__ import annotations

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

PURPOSES: dict[str, Promise] = {
    "chat": _("Answer in chat"),
    "react": _("Question answered in steps"),
    "ground": _("Answer corrected by its sources"),
    "shorten": _("Answer shortened"),
    "intent": _("What a message asks for"),
    "ask": _("What a message asks for"),
    "say": _("Choice of what is told"),
    "soft_rule": _("Soft rule"),
    "remember": _("Facts of a user"),
    "distil": _("Hot memory of the day"),
    "weekly": _("Weekly report"),
    "check": _("Check of the endpoint"),
}
MODEL_PURPOSES: dict[str, Promise] = {
    "chat": _("Answers in chat"),
    "engines": _("Engines"),
    "small": _("Small work"),
}
# Presets are called after their models; this one is no model's.
PROVIDERS: dict[str, Promise] = {
    "local": _("a model of your own"),
}
ABILITIES: dict[str, Promise] = {
    "ask": _("Understanding by the model"),
    "say": _("Choice by the model"),
}
