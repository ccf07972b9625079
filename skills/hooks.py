"""What this app gives to lower ones: steps of setting a study up, actions, and what it listens to."""

from __future__ import annotations

from typing import Any

from django.db.models.signals import post_save
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop

from projects import audit
from projects.models import Project
from skills import amendments, beat, mapping
from skills.models import FieldMapping, Skill
from study import registry
from study.setup import steps
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


def _follow(instance: Project, *, created: bool, **_given: Any) -> None:
    if not created:
        beat.follow(instance)


registry.register_aliases(mapping.aliases)
registry.register_flags(amendments.flags)
steps.register_steps(*STEPS)
post_save.connect(_follow, sender=Project, dispatch_uid="skills.beat")
audit.register(
    **{
        "skill.create": gettext_noop("Skill created"),
        "skill.change": gettext_noop("Skill changed"),
        "skill.draft": gettext_noop("Draft of a skill"),
        "skill.delete": gettext_noop("Skill deleted"),
        "mapping.change": gettext_noop("Field mapping changed"),
        "dq.import": gettext_noop("Data quality rules taken over"),
        "dq.switch": gettext_noop("Data quality rules switched"),
        "document.checked": gettext_noop("Checked against a new protocol version"),
        "template.change": gettext_noop("Form template changed"),
    }
)
