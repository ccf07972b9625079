"""What the search looks through, each in the reader's scope; nothing of it is kept."""

from __future__ import annotations

from collections.abc import Iterator

from django.db.models import Q
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _
from unfold.dataclasses import SearchResult

from engines.desk import queue
from engines.models import PendingAction
from iit_manager.unfold import menu
from study.models import Subject

MOST = 8
"""So many of each kind: who wants more types more."""
_SHOWN = 80


def found(request: HttpRequest, term: str) -> Iterator[SearchResult]:
    """Subjects first, then what waits, then pages."""
    yield from _subjects(request, term)
    yield from _reviews(request, term)
    yield from _findings(request, term)
    yield from _pages(request, term)


def _subjects(request: HttpRequest, term: str) -> Iterator[SearchResult]:
    rows = Subject.objects.for_user(request.user).filter(record_id__icontains=term)
    for row in rows.select_related("project").order_by("project", "record_id")[:MOST]:
        told = " · ".join(filter(None, [_("Subject"), row.project.code, row.site]))
        yield _result(row.record_id, told, reverse("subject_page", args=[row.pk]), "person")


def _reviews(request: HttpRequest, term: str) -> Iterator[SearchResult]:
    word = term.casefold()
    rows = (
        row
        for row in queue.waiting(request.user)
        if word in f"{row.record_id} {row.question} {row.skill}".casefold()
    )
    for row, _place in zip(rows, range(MOST), strict=False):
        told = f"{_('Review')} · {row.code} · {row.question[:_SHOWN]}"
        link = reverse("admin:engines_review_desk_page", args=[row.pk])
        yield _result(row.record_id or row.skill, told, link, "gavel")


def _findings(request: HttpRequest, term: str) -> Iterator[SearchResult]:
    """Those that wait; what they say is sealed, so subject, field and rule are looked through."""
    named = Q(record_id__icontains=term) | Q(field__icontains=term) | Q(rule_key__icontains=term)
    rows = PendingAction.objects.for_user(request.user).filter(named, open_key__isnull=False)
    for row in rows.select_related("project").order_by("-created_at")[:MOST]:
        told = f"{_('Finding')} · {row.project.code} · {row.message[:_SHOWN]}"
        link = reverse("admin:engines_pendingaction_change", args=[row.pk])
        yield _result(row.record_id or row.rule_key, told, link, "flag")


def _pages(request: HttpRequest, term: str) -> Iterator[SearchResult]:
    """Those of the menu that open for the reader."""
    word = term.casefold()
    for group in menu(request):
        for item in group["items"]:
            title, allowed = str(item["title"]), item.get("permission")
            if word in title.casefold() and (allowed is None or allowed(request)):
                yield _result(title, str(group["title"]), str(item["link"]), item["icon"])


def _result(title: str, description: str, link: str, icon: str) -> SearchResult:
    return SearchResult(title=title, description=description, link=link, icon=icon)
