"""Hot memory stands in every prompt: a study that is blinded takes out of it what unblinds."""

from __future__ import annotations

from typing import Any

from django.dispatch import receiver

from memory.hot import save
from memory.models import ProjectMemory
from projects.models import Project
from study.blinding.signals import study_blinded

ACTOR = "system"


@receiver(study_blinded, dispatch_uid="memory.study_blinded")
def on_study_blinded(*, project: Project, **_kwargs: Any) -> None:
    """Save it anew; saving masks (`memory.hot.save`). Inside the transaction of the switch."""
    memory = ProjectMemory.objects.filter(project=project).first()
    if memory is not None:
        content, version = memory.content, memory.version
        save.save_memory(project=project, content=content, base_version=version, actor=ACTOR)
