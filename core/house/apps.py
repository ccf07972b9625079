from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class HouseConfig(AppConfig):
    name = "core.house"
    verbose_name = _("House")
