"""The page of an answer that is too long for the phone (issue 5, Outbound)."""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.safestring import mark_safe
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from projects.markdown import render as as_html
from projects.models import Project
from wechat.models import Answer


def keep(*, text: str, to_user: str, project: Project | None) -> str:
    """Store a long answer for its one reader; the path of its page."""
    answer = Answer.objects.create(text=text, to_user=to_user, project=project)
    return f"/wechat/answers/{answer.pk}/"


@require_GET
@never_cache
@login_required
def page(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The whole answer, for its reader; everybody else finds nothing."""
    answer = get_object_or_404(Answer.objects.for_user(request.user), pk=pk)
    # nh3 has cleaned it: an explicit list of tags, no attributes but addresses.
    html = mark_safe(as_html(answer.text))  # noqa: S308
    return render(request, "wechat/answer.html", {"answer": answer, "html": html})
