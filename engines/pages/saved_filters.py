"""Saved filters of the findings list: kept, shown as chips, taken away; each person's own."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.admin.views.main import PAGE_VAR, SEARCH_VAR
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from django.views.decorators.http import require_POST

from core.house.db import atomic
from engines.models import SavedFilter

LIST = "admin:engines_pendingaction_changelist"
PAGE = "findings"
MOST = 20
_READY = (
    (gettext_noop("Waiting"), "waits=yes"),
    (gettext_noop("Mine"), "waits=yes&whose=me"),
    (gettext_noop("Past due"), "due=past"),
    (gettext_noop("Resolved by data change, to be confirmed"), "state__exact=data_changed"),
)


def chips(request: HttpRequest) -> list[dict[str, Any]]:
    """The ready-made filters and the person's own; `on`: the one that the page shows now."""
    now = _normal(request.GET.urlencode())
    found: list[tuple[str, str, int | None]]
    found = [(_(label), query, None) for label, query in _READY]
    found += [(row.name, row.query, row.pk) for row in _mine(request)[:MOST]]
    return [
        {"label": label, "query": query, "pk": pk, "on": _normal(query) == now}
        for label, query, pk in found
    ]


@require_POST
def save_view(request: HttpRequest) -> HttpResponse:
    """Keep what the list is narrowed by; the same name takes the place of an older one."""
    name = " ".join(request.POST.get("name", "").split())[:40]
    query = _normal(request.POST.get("query", ""))
    if not name:
        messages.error(request, _("Please give the filter a name."))
    elif not query or len(query) > 500:
        messages.error(request, _("Narrow the list first; a search text is not kept."))
    elif not _keep(request, name, query):
        messages.error(request, _("You have %d filters already; remove one first.") % MOST)
    else:
        messages.success(request, _("Filter “%s” is kept.") % name)
    answer = redirect(LIST)
    answer["Location"] += f"?{query}" if query else ""
    return answer


@require_POST
def remove_view(request: HttpRequest, pk: int) -> HttpResponse:
    """Take a filter of one's own away; of others nothing happens."""
    with atomic():
        _mine(request).filter(pk=pk).delete()
    return redirect(LIST)


def _mine(request: HttpRequest) -> QuerySet[SavedFilter]:
    user: Any = request.user  # the console lets nobody in who is not logged in
    return SavedFilter.objects.filter(user=user, page=PAGE)


def _keep(request: HttpRequest, name: str, query: str) -> bool:
    mine = _mine(request)
    new = {"user": request.user, "page": PAGE, "name": name, "query": query}
    with atomic():
        if not mine.filter(name=name).exists() and mine.count() >= MOST:
            return False
        mine.update_or_create(name=name, defaults={"query": query}, create_defaults=new)
    return True


def _normal(query: str) -> str:
    """The parameters in one order, without the page and the search text, which may be a name."""
    pairs = QueryDict(query[:2000]).lists()
    kept = sorted((n, v) for n, v in pairs if n not in (PAGE_VAR, SEARCH_VAR, "_facets"))
    return urlencode(kept, doseq=True)
