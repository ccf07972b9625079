"""What the console shows of texts that speak of all sites, and the editor's preview.

A line that names a record the reader may not see is left out (decisions.md, "hot memory and reports name
subjects of all sites").
"""

from __future__ import annotations

from typing import Any

from django.contrib.admin.views.decorators import staff_member_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest
from django.views.decorators.http import require_POST
from markdownx.views import MarkdownifyView

from house.markdown import TextTooLong
from memory.visibility import Scope, scope_of
from projects.scoping import User, held


def scopes(user: User, project_id: Any) -> list[Scope]:
    """What the user may see in a study, one scope for each membership; [] for a superuser: everything."""
    if getattr(user, "is_superuser", False):
        return []
    return [scope_of(member) for member in held(user) if str(member.project_id) == str(project_id)]


@staff_member_required
@require_POST
def preview(request: HttpRequest) -> HttpResponse:
    """HTML of the Markdown in the editor: for members only; django-markdownx's own view has no login."""
    if not (request.user.is_superuser or held(request.user)):
        raise PermissionDenied
    if "content" not in request.POST:
        return HttpResponseBadRequest()
    try:
        answer: HttpResponse = MarkdownifyView().post(request)
    except TextTooLong as error:
        return HttpResponseBadRequest(str(error), content_type="text/plain; charset=utf-8")
    return answer
