from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class StudyConfig(AppConfig):
    name = "study"
    verbose_name = _("Study data")
