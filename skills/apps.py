from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class SkillsConfig(AppConfig):
    name = "skills"
    verbose_name = _("Skills")

    def ready(self) -> None:
        from projects import audit

        audit.register(
            **{
                "skill.create": "Skill created",
                "skill.change": "Skill changed",
                "skill.delete": "Skill deleted",
                "mapping.change": "Field mapping changed",
                "template.change": "Form template changed",
            }
        )
