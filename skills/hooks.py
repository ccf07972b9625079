"""What a change of the study does to its schedules; the actions of this app."""

from __future__ import annotations

from typing import Any

from django.db.models.signals import post_save

from projects import audit
from projects.models import Project
from skills import beat, form_templates, forms_of_dictionary, mapping, setup
from study import registry
from study.setup import steps


def _follow(instance: Project, *, created: bool, **_given: Any) -> None:
    if not created:
        beat.follow(instance)


registry.register_aliases(mapping.aliases)
steps.register(*setup.STEPS)
form_templates.register_source(forms_of_dictionary.draft)
post_save.connect(_follow, sender=Project, dispatch_uid="skills.beat")
audit.register(
    **{
        "skill.create": "Skill created",
        "skill.change": "Skill changed",
        "skill.delete": "Skill deleted",
        "mapping.change": "Field mapping changed",
        "dq.import": "Data quality rules taken over",
        "dq.switch": "Data quality rules switched",
        "template.change": "Form template changed",
    }
)
