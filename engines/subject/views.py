"""The subject's page: what its reader may know, without anything that names the person."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.admin.views.decorators import staff_member_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET
from pydantic import ValidationError

from engines.subject.read import read
from engines.subject.work import sections
from integrations.redcap import RedcapError
from projects import reads
from study.client import NotConfiguredError
from study.models import Subject


@require_GET
@staff_member_required
def subject_view(request: HttpRequest, pk: int) -> HttpResponse:
    """One subject of the reader's; "not yours" and "does not exist" are the same."""
    rows = Subject.objects.for_user(request.user).select_related("project")
    subject = rows.filter(pk=pk).first()
    if subject is None:
        raise Http404
    project, record_id = subject.project, subject.record_id
    reads.note(actor=request.user, project=project, record_ids=[record_id], door="console")
    context: dict[str, Any] = admin.site.each_context(request) | {
        "title": _("Subject %(record)s") % {"record": record_id},
        "subject": subject,
        "project": project,
    }
    try:
        page = read(project, request.user, record_id)
    except (RedcapError, NotConfiguredError):
        context["problem"] = _("REDCap could not be read: nothing can be told of this subject.")
    except ValidationError:
        context["problem"] = _(
            "The visit plan cannot be followed: visits are unknown. "
            "Please have it corrected in the console."
        )
    else:
        if page is None:
            context["problem"] = _("This subject is not in REDCap any more.")
        else:
            context |= {"page": page, "work": sections(page.work, record_id)}
    return render(request, "engines/subject/page.html", context)
