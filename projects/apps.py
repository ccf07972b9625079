from django.apps import AppConfig, apps
from django.utils.module_loading import autodiscover_modules
from django.utils.translation import gettext_lazy as _


class ProjectsConfig(AppConfig):
    name = "projects"
    verbose_name = _("Study")

    def ready(self) -> None:
        """Import `hooks` of every app: what each listens to, and gives to those below it."""
        autodiscover_modules("hooks")
        # axes names itself, in one language.
        apps.get_app_config("axes").verbose_name = _("Log-ins and lockouts")
