"""What stands on the first page, by the roles that its reader has in each study (design.md 9.7)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext as _

from engines.assistant.uncited import never_cites
from engines.desk import queue
from engines.sop import DECIDERS
from iit_manager.home import house, trail, work
from iit_manager.home.figures import Figures, figures
from memory.hot.prune import is_over
from memory.models import ProjectMemory
from memory.versioned_admin import EDITORS
from projects.models import Member, Project, Role
from projects.scoping import User, held
from study.models import SyncState

SHOWN = 6


@dataclass(frozen=True)
class Part:
    """One study for one reader: their membership (None: a superuser's own view) and what they look after."""

    project: Project
    member: Member | None
    figures: Figures
    sync: SyncState | None
    visits: Mapping[str, Any] | None
    operation: Mapping[str, Any] | None
    over_cap: ProjectMemory | None
    never_cites: bool

    @property
    def role(self) -> str:
        """Their role and site; "" for a superuser."""
        one = self.member
        return f"{one.get_role_display()} {one.site}".strip() if one else ""

    @property
    def is_whole(self) -> bool:
        """Whether the reader sees every site."""
        return self.member is None or not self.member.site

    @property
    def sync_failed(self) -> bool:
        """Whether the last reading of the roster failed."""
        one = self.sync
        return bool(one and one.failed_at and not (one.roster_at and one.roster_at > one.failed_at))


def home(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Add the cards to the context of the index page."""
    user = request.user
    projects = [*Project.objects.for_user(user)]
    context |= {"title": _("Dashboard"), "has_studies": bool(projects)}
    if not projects:
        return context
    members = {one.project_id: one for one in held(user)}
    roles = {_role(user, members.get(project.pk)) for project in projects}
    waiting = queue.waiting(user)
    return context | {
        "reviews": waiting[:SHOWN],
        "waiting": len(waiting),
        "mine": sum(row.may_decide for row in waiting),
        "findings": work.findings(user),
        "runs": work.runs(user),
        "may_order": bool(roles & {"", *DECIDERS}),
        "studies": [_part(user, project, members.get(project.pk)) for project in projects],
        "house": house.state() if roles & {"", Role.ADMIN} else None,
        "trail": trail.newest(user) if roles & {"", Role.AUDITOR} else None,
    }


def _role(user: User, member: Member | None) -> str:
    """The role in a study; "" for a superuser, who looks after everything."""
    return "" if getattr(user, "is_superuser", False) or member is None else member.role


def _part(user: User, project: Project, member: Member | None) -> Part:
    role = _role(user, member)
    reader = None if role == "" else member
    found = figures(project, reader, user)
    edits = role == "" or role in EDITORS
    is_admin = role in ("", Role.ADMIN) and not (reader and reader.site)
    return Part(
        project=project,
        member=reader,
        figures=found,
        sync=SyncState.objects.filter(project=project).first(),
        visits=found.week() if role in ("", Role.CRC) else None,
        operation=house.operation(project) if is_admin else None,
        over_cap=_over_cap(project) if edits else None,
        never_cites=edits and never_cites(project),
    )


def _over_cap(project: Project) -> ProjectMemory | None:
    """The hot memory where it is too long, for those who may shorten it (seed 000, 5.1)."""
    memory = ProjectMemory.objects.filter(project=project).first()
    return memory if memory and is_over(memory.content) else None
