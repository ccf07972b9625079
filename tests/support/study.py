"""The demo study in the test database."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from demo import runfile, seed, stand_ins
from projects import dictionary, roster
from projects.models import Member, Project
from tests.support.stand_ins import StandIns


@dataclass
class Study:
    """The seeded study, its people and the stand-ins it talks to."""

    project: Project
    stand_ins: StandIns
    run: dict[str, Any]
    members: dict[str, Member] = field(default_factory=dict)

    def __getitem__(self, userid: str) -> Member:
        return self.members[userid]


def seed_study(servers: StandIns) -> Study:
    """Seed, tell the stand-ins, read dictionary and subjects."""
    run = runfile.load()
    today = seed.day(run)
    project = seed.seed(run, today)
    stand_ins.configure(run, det_url="", today=today)
    dictionary.refresh(project)
    roster.sync(project)
    seed.fill(project, today)
    members = {m.wecom_userid: m for m in Member.objects.select_related("project", "user")}
    return Study(Project.objects.get(pk=project.pk), servers, run, members)
