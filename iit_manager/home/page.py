"""What stands on the first page, by the roles that its reader has in each study (design.md 9.7)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.core.paginator import Paginator
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

from core.house.stored_labels import name
from core.llm import acceptance, standing
from core.llm.labels import ABILITIES
from engines.agenda import Kind as Agenda
from engines.agenda import Row, agenda
from engines.models import Review
from engines.pages.review_desk import MOST, waiting
from engines.sop import DECIDERS
from iit_manager.home import cards
from iit_manager.home.figures import figures
from iit_manager.home.outlook import outlook
from memory.hot.prune import is_over
from memory.models import ProjectMemory
from memory.versioned import EDITORS
from projects import switcher
from projects.models import Member, Project, Role
from projects.scoping import User, held, invited
from study.admin.blinding import PAGE as BLINDING_PAGE
from study.admin.confirm import CONFIRM, is_waiting
from study.admin.confirm import PAGE as CONFIRM_PAGE
from study.records import state_of

_STUDIES = 20
_STUDY = {"project__id__exact": ""}
_FINDINGS = "admin:engines_pendingaction_changelist"
_PAGES: Mapping[Agenda, tuple[str, dict[str, str]]] = {
    Agenda.TRAIL_REVIEW: ("trail_reviews", {"project": ""}),
    Agenda.TRAIL: ("admin:projects_auditentry_changelist", {}),
    Agenda.READING: ("admin:study_syncstate_changelist", {}),
    Agenda.REPORTS: ("admin:engines_safetyclock_changelist", _STUDY | {"state__exact": "running"}),
    Agenda.REVIEWS: ("admin:engines_review_desk", {"project": ""}),
    Agenda.LATE_REVIEWS: ("admin:engines_review_desk", {"project": "", "all": "1"}),
    Agenda.OVERDUE: ("visit_board", {"project": "", "state": "overdue"}),
    Agenda.TODAY: ("visit_board", {"project": "", "state": "due"}),
    Agenda.WEEK: ("visit_board", {"project": "", "view": "week"}),
    Agenda.DUE: (_FINDINGS, _STUDY | {"due": "now"}),
    Agenda.MINE: (_FINDINGS, _STUDY | {"waits": "yes", "whose": "me"}),
    Agenda.ANSWERED: (_FINDINGS, _STUDY | {"state__exact": "answered"}),
    Agenda.CHANGED: (_FINDINGS, _STUDY | {"state__exact": "data_changed"}),
    Agenda.ASKED: (_FINDINGS, _STUDY | {"source": "redcap"}),
    Agenda.VIOLATIONS: (_FINDINGS, _STUDY | {"waits": "yes", "action_type__exact": "violation"}),
    Agenda.FAILED: ("admin:engines_taskrun_changelist", _STUDY | {"status__exact": "FAILED"}),
    Agenda.PROPOSALS: (
        "admin:memory_memoryproposal_changelist",
        _STUDY | {"state__exact": "pending"},
    ),
}
"""Where each kind of work is done; what is "" stands for the study, by its code or key."""


def home(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Add the cards to the context of the index page."""
    user = request.user
    study = switcher.chosen(request)
    projects = [study] if study else switcher.studies(user)
    context |= {
        "title": _("Dashboard"),
        "has_studies": bool(projects),
        "invitations": len(invited(user)),
    }
    if not projects:
        return context
    members = {one.project_id: one for one in held(user)}
    roles = {_role(user, members.get(project.pk)) for project in projects}
    reviews = waiting(user, study)
    many = _many(request, study)
    told = [] if many and study is None else projects
    whole, by_age = len(reviews) < MOST, defaultdict[UUID, list[Review]](list)
    for one in sorted(reviews, key=lambda row: (row.review.created_at, row.review.pk)):
        by_age[one.review.project_id].append(one.review)
    parts = [
        _part(user, one, members.get(one.pk), by_age[one.pk] if whole else None) for one in told
    ]
    return context | {
        "reviews": reviews[: cards.SHOWN],
        "waiting": len(reviews),
        "mine": sum(row.may_decide for row in reviews),
        "findings": cards.findings(user, study),
        "runs": cards.runs(user, study),
        "may_order": bool(roles & {"", *DECIDERS}),
        "many": many,
        "studies": parts,
        "house": cards.house() if roles & {"", Role.ADMIN} else None,
        "trail": cards.trail(user) if roles & {"", Role.AUDITOR} else None,
    }


def _many(request: HttpRequest, study: Project | None) -> dict[str, Any] | None:
    """A page of the reader's studies, those with `?studies=` in code or name; None where all are told of."""
    asked = request.GET.get("studies", "").strip()[:200]
    if not switcher.has_many(request.user) or (study and not asked):
        return None
    rows = [
        one
        for one in switcher.studies(request.user)
        if asked.casefold() in f"{one.code} {one.name}".casefold()
    ]
    page = Paginator(rows, _STUDIES).get_page(request.GET.get("p"))
    return {"asked": asked, "rows": page}


def _role(user: User, member: Member | None) -> str:
    """The role in a study; "" for a superuser, who looks after everything."""
    return "" if getattr(user, "is_superuser", False) or member is None else member.role


def _part(
    user: User, project: Project, member: Member | None, reviews: Sequence[Review] | None
) -> dict[str, Any]:
    """One study for one reader, whose `member` is None where they are a superuser.

    `reviews`: the study's open ones that they see; None: not all of them were read.
    """
    role = _role(user, member)
    reader = None if role == "" else member
    found = figures(project, reader, user)
    edits = role == "" or role in EDITORS
    is_whole = reader is None or not reader.site
    sync = state_of(project)
    schedule = found.stands.schedule if found.stands else None
    may_confirm = is_whole and (reader is None or role in CONFIRM)
    memory = ProjectMemory.objects.filter(project=project).first() if edits else None
    return {
        "project": project,
        "role": (
            f"{reader.get_role_display()} {found.site(reader.site)}".strip() if reader else ""
        ),
        "figures": found,
        "is_whole": is_whole,
        "confirm_link": (
            reverse(CONFIRM_PAGE, args=[project.pk])
            if may_confirm and is_waiting(project, moves=found.moves)
            else ""
        ),
        "sync": sync,
        "sync_failed": bool(
            sync and sync.failed_at and not (sync.roster_at and sync.roster_at > sync.failed_at)
        ),
        "outlook": (
            outlook(project, reader, user, sync.roster_at if sync else None)
            if found.stands and role in ("", Role.PI, Role.ADMIN)
            else None
        ),
        "visits": found.week() if role in ("", Role.CRC, Role.PI) else None,
        "operation": (cards.operation(project) if is_whole and role in ("", Role.ADMIN) else None),
        # The hot memory where it is too long, for those who may shorten it (seed 000, 5.1).
        "over_cap": memory if memory and is_over(memory.content) else None,
        "switched_off": [name(ABILITIES, one) for one in standing.off(project)] if edits else [],
        "plain": acceptance.why_plain(project) if edits and is_whole else [],
        "agenda": [
            (row, _address(row, project))
            for row in agenda(project, reader, schedule, user, reviews)
        ],
    }


def _address(row: Row, project: Project) -> str:
    if row.kind is Agenda.AMENDMENTS:
        return reverse("amendment_flags", args=[row.entries[0].key])
    if row.kind is Agenda.BLINDING:
        return reverse(BLINDING_PAGE, args=[project.pk])
    page, asked = _PAGES[row.kind]
    study = {"project": project.code, "project__id__exact": str(project.pk)}
    query = urlencode({name: value or study[name] for name, value in asked.items()})
    return f"{reverse(page)}?{query}" if query else reverse(page)
