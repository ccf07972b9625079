from __future__ import annotations

from typing import TYPE_CHECKING

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from projects.models import Project


def _follow(instance: Project, *, created: bool, **_: object) -> None:
    from skills import beat

    if not created:
        beat.follow(instance)


class SkillsConfig(AppConfig):
    name = "skills"
    verbose_name = _("Skills")

    def ready(self) -> None:
        from django.db.models.signals import post_save

        from projects import audit
        from projects.models import Project
        from skills import mapping
        from study import registry

        registry.register_aliases(mapping.aliases)
        post_save.connect(_follow, sender=Project, dispatch_uid="skills.beat")
        audit.register(
            **{
                "skill.create": "Skill created",
                "skill.change": "Skill changed",
                "skill.delete": "Skill deleted",
                "mapping.change": "Field mapping changed",
                "template.change": "Form template changed",
            }
        )
