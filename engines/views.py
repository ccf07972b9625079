"""REDCap's Data Entry Trigger (reference/redcap_dify.md 1.10): a hint, never a source of data."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from engines.tasks import record_changed
from projects.models import Project

MAX_ID = 100


@csrf_exempt
@require_POST
def data_entry_trigger(request: HttpRequest, secret: str) -> HttpResponse:
    """200 at once with an empty body; a wrong secret is a 404."""
    project = Project.objects.filter(redcap_det_secret=secret).first()
    if project is None:
        raise Http404
    record = request.POST.get("record", "")
    if record and len(record) <= MAX_ID:
        record_changed.delay(str(project.pk), record)
    return HttpResponse()
