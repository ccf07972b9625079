"""What this app knows of setting a study up: the first text of its hot memory."""

from __future__ import annotations

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.models import ProjectMemory
from projects.models import Project
from study.setup.steps import State, Step


def _memory(project: Project) -> tuple[State, str]:
    if not ProjectMemory.objects.filter(project=project).exists():
        return State.MISSING, _("No hot memory: rules and profiles are not told to the model.")
    return State.DONE, _("There is one.")


def _page(project: Project) -> str:
    row = ProjectMemory.objects.filter(project=project).first()
    if row:
        return reverse("admin:memory_projectmemory_change", args=[row.pk])
    return f"{reverse('admin:memory_projectmemory_add')}?project={project.pk}"


STEPS = (
    Step(
        "memory",
        gettext_lazy("Hot memory"),
        gettext_lazy(
            "What the assistant always has in mind: people, current state, questions, rules."
        ),
        _memory,
        _page,
    ),
)
