from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ProjectsConfig(AppConfig):
    name = "projects"
    verbose_name = _("Study")

    def ready(self) -> None:
        from projects import accounts, audit, checks, heartbeat, sessions  # noqa: F401

        audit.register_house_actions()
        heartbeat.connect()
        sessions.connect()
        accounts.connect()
