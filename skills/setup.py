"""What this app knows of setting a study up: field mappings and skills."""

from __future__ import annotations

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from projects.models import Project
from skills.models import FieldMapping, Skill
from study.setup.steps import State, Step


def _mappings(project: Project) -> tuple[State, str]:
    count = FieldMapping.objects.filter(project=project).count()
    if not count:
        return State.OPTIONAL, _("No name is mapped: fields are called by their labels only.")
    return State.DONE, _("%d names") % count


def _skills(project: Project) -> tuple[State, str]:
    active = Skill.objects.filter(project=project, is_active=True).count()
    if not active:
        return State.MISSING, _("No active skill: nothing is checked and nobody is reminded.")
    return State.DONE, _("%d active skills") % active


STEPS = (
    Step(
        "mappings",
        gettext_lazy("Field mappings"),
        gettext_lazy(
            "Names that people use, and the fields they mean; the dictionary proposes some."
        ),
        _mappings,
        lambda project: f"{reverse('admin:skills_fieldmapping_propose')}?project={project.code}",
    ),
    Step(
        "skills",
        gettext_lazy("Skills"),
        gettext_lazy("Checks, reminders, briefings: take over standard ones or import your own."),
        _skills,
        lambda project: f"{reverse('admin:skills_skill_import_skills')}?project={project.code}",
    ),
)
