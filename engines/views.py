"""REDCap's Data Entry Trigger (reference/redcap_dify.md 1.10): a hint, never a source of data."""

from __future__ import annotations

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from core.house.api_errors import UNREADABLE
from core.house.encrypted_fields import DigestField
from projects.models import Project
from study import change_handlers

MAX_ID = 100


@csrf_exempt
@require_POST
def data_entry_trigger(request: HttpRequest, secret: str) -> HttpResponse:
    """200 at once with an empty body; a wrong secret is a 404, a form nobody can read a 400 or 413."""
    project = get_object_or_404(Project, redcap_det_digest=DigestField.digest(secret))
    try:
        record = request.POST.get("record", "")
    except RequestDataTooBig:
        return HttpResponse(status=413)
    except UNREADABLE:
        return HttpResponse(status=400)
    if 0 < len(record) <= MAX_ID and record.isprintable():
        change_handlers.note_changed_subject(project, record)
    return HttpResponse()
