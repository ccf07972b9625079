"""What a version of the protocol touches: looked at before it is put in force, and checked off after that."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.contrib.admin.views.decorators import staff_member_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from engines.models import PendingAction
from engines.pages.layout import UNREADABLE, render_page, why_unreadable
from projects import reads
from projects.access import has_role, member_in
from projects.models import Project, Role
from projects.scoping import User
from skills import amendments
from skills.amendments import RULE, WINDOW, Touched
from study.models import ProtocolDocument, ProtocolUpload, Subject
from study.protocol.changes import (
    Changed,
    changed_between,
    changed_sections,
    names_in_force,
    version_before,
)
from study.visits import due
from study.visits.calendar import is_to_do

MOST = 200


@require_GET
@staff_member_required
def rehearsal_view(request: HttpRequest, protocolupload: int) -> HttpResponse:
    """What an uploaded file would touch if it took effect; `name`: of the document it replaces, "" for none."""
    rows = ProtocolUpload.objects.for_user(request.user).select_related("project").exclude(text="")
    upload = get_object_or_404(rows, pk=protocolupload)
    if not has_role(request.user, upload.project_id, Role.ADMIN):
        raise Http404
    name = request.GET.get("name", upload.name).strip()[:200]
    changed = changed_sections(upload.project, name, upload.text)
    shown = _touched(request.user, upload.project, changed or [])
    shown |= {
        "changed": changed,
        "name": name,
        "names": names_in_force(upload.project),
        "upload": upload,
        "project": upload.project,
    }
    return render_page(request, "engines/amendment.html", _("Rehearsal"), ProtocolDocument, **shown)


@require_http_methods(["GET", "POST"])
@staff_member_required
def flags_view(request: HttpRequest, protocoldocument: int) -> HttpResponse:
    """What the version in force touches and nobody has checked; POST checks one off (`kind`, `key`)."""
    rows = ProtocolDocument.objects.for_user(request.user).select_related("project")
    document = get_object_or_404(rows, pk=protocoldocument)
    may_check = has_role(request.user, document.project_id, Role.ADMIN)
    waiting = amendments.to_check(document)
    if request.method == "POST":
        sent = request.POST.get("kind"), request.POST.get("key")
        if not may_check or sent not in {(one.kind, one.key) for one in waiting}:
            raise Http404
        amendments.mark_checked(
            document=document, kind=str(sent[0]), key=str(sent[1]), actor=request.user
        )
        messages.success(request, _("Checked against the new version."))
        return redirect("amendment_flags", document.pk)
    before = version_before(document)
    changed = changed_between(before.text, document.text) if before else None
    if changed is not None:
        # What an earlier version changed is still to be checked, too.
        earlier = [one for touched in waiting for one in touched.changed]
        changed = tuple(dict.fromkeys([*changed, *earlier]))
    shown = _touched(request.user, document.project, changed or [], waiting)
    shown |= {
        "changed": changed,
        "document": document,
        "project": document.project,
        "may_check": may_check,
    }
    title = f"{document.name} {document.version}".strip()
    return render_page(request, "engines/amendment.html", title, ProtocolDocument, **shown)


def _touched(
    user: User,
    project: Project,
    changed: Sequence[Changed],
    found: Sequence[Touched] | None = None,
) -> dict[str, Any]:
    """Rules, windows, open findings and subjects, of those the reader may see."""
    found = amendments.touched_by(project, changed) if found is None else found
    rules = [one for one in found if one.kind == RULE]
    windows = [one for one in found if one.kind == WINDOW]
    findings = _findings(user, project, rules)
    subjects: defaultdict[str, list[str]] = defaultdict(list)
    for one in findings:
        if one.record_id:
            subjects[one.record_id].append(one.rule_key)
    problem = ""
    if windows:
        try:
            for record_id, visit in _visits(user, project, windows):
                subjects[record_id].append(visit)
        except UNREADABLE as error:
            problem = why_unreadable(error)
    shown = sorted(subjects)[:MOST]
    mine = Subject.objects.for_user(user).filter(project=project, record_id__in=shown)
    keys = dict(mine.values_list("record_id", "pk"))
    if shown:
        reads.note(actor=user, project=project, record_ids=shown, door="console")
    return {
        "rules": rules,
        "windows": windows,
        "findings": findings[:MOST],
        "finding_count": len(findings),
        "subjects": [(one, keys.get(one), [*dict.fromkeys(subjects[one])]) for one in shown],
        "subject_count": len(subjects),
        "problem": problem,
    }


def _findings(user: User, project: Project, rules: Sequence[Touched]) -> list[PendingAction]:
    keys = {(one.skill.skill_type, one.rule) for one in rules if one.skill}
    rows = PendingAction.objects.for_user(user).filter(project=project).unclosed()
    rows = rows.filter(rule_key__in={rule for _skill, rule in keys}).order_by("record_id")
    return [one for one in rows if (one.skill_type, one.rule_key) in keys]


def _visits(user: User, project: Project, windows: Sequence[Touched]) -> list[tuple[str, str]]:
    """(subject, visit) of each visit that is still to be done in a touched window."""
    told = due.schedule(project, member_in(user, project.pk))
    names = {one.entry.visit for one in windows if one.entry}
    return [
        (one.subject, one.visit)
        for one in told.visits
        if one.visit in names and is_to_do(one, told.today)
    ]
