from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class EnginesConfig(AppConfig):
    name = "engines"
    verbose_name = _("Engines")
