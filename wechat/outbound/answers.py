"""The page of an answer that is too long for the phone (issue 5, Outbound)."""

from __future__ import annotations

import json
from dataclasses import asdict
from uuid import UUID

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.http import content_disposition_header
from django.utils.text import get_valid_filename
from django.utils.timezone import localdate
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from core.house import markdown, spreadsheet
from engines.assistant.answer_spans import spans_behind
from engines.assistant.say.answer import Table
from projects import reads
from projects.models import Project
from study.record_ids import record_ids_in
from wechat.models import Answer

MOST_ROWS = 200


def keep(*, text: str, to_user: str, project: Project | None, table: Table | None = None) -> str:
    """Store a long answer for its one reader; the path of its page."""
    stored = json.dumps(asdict(table), ensure_ascii=False) if table else ""
    answer = Answer.objects.create(text=text, to_user=to_user, project=project, table=stored)
    return f"/wechat/answers/{answer.pk}/"


def with_link(text: str, table: Table, *, to_user: str, project: Project | None) -> str:
    """A reply that shows a part of a list, and where the whole of it is."""
    path = keep(text=text, to_user=to_user, project=project, table=table)
    link = f"{settings.PUBLIC_URL}{path}"
    told = _("The whole list (%(rows)d rows, as a spreadsheet too): %(link)s")
    return f"{text}\n{told % {'rows': len(table.rows), 'link': link}}"


@require_GET
@never_cache
@login_required
def page(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The whole answer, for its reader; everybody else finds nothing."""
    answer = get_object_or_404(Answer.objects.for_user(request.user), pk=pk)
    _note(request, answer)
    table = json.loads(answer.table) if answer.table else None
    answers = spans_behind(
        answer.text, userid=answer.to_user, project=answer.project, at=answer.created_at
    )
    shown = {
        "answer": answer,
        "answers": answers,
        "html": markdown.render_markdown(answer.text),
        "table": table,
        "rows": table["rows"][:MOST_ROWS] if table else [],
        "rest": max(len(table["rows"]) - MOST_ROWS, 0) if table else 0,
    }
    return render(request, "wechat/answer.html", shown)


@require_GET
@never_cache
@login_required
def file(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The list behind an answer as XLSX, for its reader; everybody else finds nothing."""
    answer = get_object_or_404(Answer.objects.for_user(request.user), pk=pk)
    if not answer.table:
        raise Http404
    _note(request, answer)
    table = json.loads(answer.table)
    title = answer.project.code if answer.project else "IIT Manager"
    content = spreadsheet.workbook(title, table["header"], table["rows"])
    response = HttpResponse(content, content_type=spreadsheet.CONTENT_TYPE)
    name = f"{get_valid_filename(title)}_{localdate(answer.created_at):%Y-%m-%d}.xlsx"
    response["Content-Disposition"] = content_disposition_header(True, name) or ""
    return response


def _note(request: HttpRequest, answer: Answer) -> None:
    """Whom the answer speaks of was shown to its reader once more."""
    if answer.project_id is not None:
        found = record_ids_in(answer.project_id, [answer.text, answer.table or ""])
        reads.note(actor=request.user, project=answer.project_id, record_ids=found, door="console")
