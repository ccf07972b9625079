from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ProjectsConfig(AppConfig):
    name = "projects"
    verbose_name = _("Study")

    def ready(self) -> None:
        from projects import audit, checks, heartbeat  # noqa: F401

        audit.register_house_actions()
        heartbeat.connect()
