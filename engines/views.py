"""REDCap's Data Entry Trigger (reference/redcap_dify.md 1.10): a hint, never a source of data."""

from __future__ import annotations

from django.core.exceptions import RequestDataTooBig
from django.http import Http404, HttpRequest, HttpResponse
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
    project = _project(secret)
    try:
        record = request.POST.get("record", "")
    except RequestDataTooBig:
        return HttpResponse(status=413)
    except UNREADABLE:
        return HttpResponse(status=400)
    if _is_id(record):
        change_handlers.note_changed_subject(project, record)
    return HttpResponse()


def _project(secret: str) -> Project:
    """Raises Http404."""
    digest = DigestField.digest(secret)
    found: Project | None = Project.objects.filter(redcap_det_digest=digest).first()
    if found is None:
        raise Http404
    return found


def _is_id(record: str) -> bool:
    return 0 < len(record) <= MAX_ID and record.isprintable()
