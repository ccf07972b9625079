"""Where a study is heading, for its first page: enrolment against the target, and sites that stand out."""

from __future__ import annotations

import hashlib
from typing import Any

from django.core.cache import cache
from django.utils.translation import get_language

from engines.pages.layout import UNREADABLE
from engines.pages.pictures import enrolment
from engines.pages.site_risk import tables_of
from engines.site_figures import site_figures
from projects.models import Member, Project
from projects.scoping import User, held

KEPT_S = 300
"""All subjects are looked at: a page that is opened often is told the same for so long."""


def outlook(
    project: Project, member: Member | None, user: User, read_at: object
) -> dict[str, Any] | None:
    """The forecast in words, the limits that are exceeded, and the flags; None where nothing was read.

    `member` None: a superuser. `read_at`: when the study was read last; what was read since is told at once.
    """
    # Also a superuser may be unblinded, as a member.
    mine = [(one.pk, one.is_unblinded) for one in held(user) if one.project_id == project.pk]
    reader = [f"user {user.pk}", str(mine)]
    if member is not None:
        reader = [f"member {member.pk}", member.site, str(member.is_unblinded)]
    about = (project.pk, project.blinded_since, project.target_enrolment, project.quality_limits)
    said = repr((*map(str, about), *reader, str(read_at), get_language()))
    key = f"outlook:{hashlib.sha256(said.encode()).hexdigest()}"
    found = cache.get(key)
    if found is None:
        found = _looked_at(project, member, user)
        cache.set(key, found, KEPT_S)
    return found or None


def _looked_at(project: Project, member: Member | None, user: User) -> dict[str, Any]:
    try:
        found = site_figures(project, member, user)
    except UNREADABLE:
        return {}
    is_whole = member is None or not member.site
    told = enrolment(found, project.start_date, project.target_enrolment if is_whole else 0)
    tables = tables_of(project, found, {}, is_whole=is_whole)
    return {
        "enrolment": told.note if told.plots else told.empty,
        "breaches": [one.label for one in tables if one.told and one.told.is_breached],
        "unknown": [one.label for one in tables if one.told is None],
        "flags": [
            {
                "site": line.name,
                "label": one.label,
                "sign": line.sign,
                "colour": line.colour,
                "word": line.word,
                "months": line.row.months,
            }
            for one in tables
            for line in one.lines
            if line.row and line.row.flag
        ],
    }
