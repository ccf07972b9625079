"""Ctrl-K: pages, subjects, reviews and findings of the reader's own, in Unfold's palette; nothing is kept.

Unfold's own search keeps what it found for five minutes by the words alone: longer than a right may last.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from django.contrib import admin
from django.core.paginator import Paginator
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET
from unfold.dataclasses import SearchResult

from engines.models import PendingAction
from engines.pages.review_desk import waiting
from iit_manager.menu import menu
from study.models import Subject

PER_PAGE = 40
MOST = 8
"""So many of each kind: who wants more types more."""
_SHOWN = 80


@never_cache
@require_GET
def _search(request: HttpRequest) -> HttpResponse:
    term = " ".join(request.GET.get("s", "").split())[:100]
    if not term:
        return HttpResponse()
    context = {"results": Paginator([*found(request, term)], PER_PAGE).page(1)}
    answer = render(request, "unfold/helpers/command_results.html", context)
    answer["HX-Trigger"] = "search"
    return answer


def view(request: HttpRequest) -> HttpResponse:
    """Results as a piece of the page, for who is logged in; nothing for no words."""
    answer: HttpResponse = admin.site.admin_view(_search)(request)
    return answer


def found(request: HttpRequest, term: str) -> Iterator[SearchResult]:
    """Subjects first, then what waits, then pages of the menu that open for the reader."""
    word = term.casefold()
    subjects = Subject.objects.for_user(request.user).filter(record_id__icontains=term)
    for one in subjects.select_related("project").order_by("project", "record_id")[:MOST]:
        told = [_("Subject"), one.project.code, one.site]
        yield _result(one.record_id, told, "person", "subject_page", one.pk)
    asked = (
        row
        for row in waiting(request.user)
        if word in f"{row.review.record_id or ''} {row.review.question} {row.skill}".casefold()
    )
    for row in islice(asked, MOST):
        review = row.review
        told = [_("Review"), review.project.code, review.question[:_SHOWN]]
        title = review.record_id or row.skill
        yield _result(title, told, "gavel", "admin:engines_review_desk_page", review.pk)
    # What findings say is sealed: subject, field and rule are looked through.
    named = Q(record_id__icontains=term) | Q(field__icontains=term) | Q(rule_key__icontains=term)
    findings = PendingAction.objects.for_user(request.user).unclosed().filter(named)
    for finding in findings.select_related("project").order_by("-created_at")[:MOST]:
        told = [_("Finding"), finding.project.code, finding.message[:_SHOWN]]
        title = finding.record_id or finding.rule_key
        yield _result(title, told, "flag", "admin:engines_pendingaction_change", finding.pk)
    for group in menu(request):
        for item in group["items"]:
            title, allowed = str(item["title"]), item.get("permission")
            if word in title.casefold() and (allowed is None or allowed(request)):
                link = str(item["link"])
                yield SearchResult(
                    title=title, description=str(group["title"]), link=link, icon=item["icon"]
                )


def _result(title: str, told: list[str], icon: str, page: str, pk: Any) -> SearchResult:
    description = " · ".join(filter(None, told))
    link = reverse(page, args=[pk])
    return SearchResult(title=title, description=description, link=link, icon=icon)
