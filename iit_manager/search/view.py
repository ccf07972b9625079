"""The answer to what is typed after Ctrl-K, in Unfold's palette.

Unfold's own search keeps what it found for five minutes by the words alone: longer than a right may last.
"""

from __future__ import annotations

from django.contrib import admin
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from iit_manager.search.sources import found

PER_PAGE = 40


@never_cache
@require_GET
def search(request: HttpRequest) -> HttpResponse:
    """Results as a piece of the page; nothing for no words."""
    term = " ".join(request.GET.get("s", "").split())[:100]
    if not term:
        return HttpResponse()
    context = {"results": Paginator([*found(request, term)], PER_PAGE).page(1)}
    answer = render(request, "unfold/helpers/command_results.html", context)
    answer["HX-Trigger"] = "search"
    return answer


def view(request: HttpRequest) -> HttpResponse:
    """The same for who is logged in."""
    answer: HttpResponse = admin.site.admin_view(search)(request)
    return answer
