"""Ordering a workflow on a subject: console, API, command and chat come through here."""

from __future__ import annotations

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

from engines import sop
from engines.models import TaskRun
from projects import records
from projects.access import member_in
from projects.models import Member, Project
from skills.models import Skill


class RecordNotFound(Exception):
    """There is no such subject, or not for this person: both read the same (design.md 9.7)."""


def start_for(
    person: Member | AbstractBaseUser | AnonymousUser,
    project: Project,
    skill: Skill,
    record_id: str,
) -> TaskRun:
    """Read the subject with the person's rights and start. Raises RecordNotFound, RedcapError."""
    member = person if isinstance(person, Member) else member_in(person, project.pk)
    data = records.read_record(project=project, record_id=record_id, member=member)
    if data is None:
        raise RecordNotFound
    identity = member.identity if member else person.get_username()  # type: ignore[union-attr]
    return sop.start(
        project=project, skill=skill, record_id=record_id, triggered_by=identity, data=data
    )
