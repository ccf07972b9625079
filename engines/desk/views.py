"""The desk's two pages: the queue, and one review with what it rests on; deciding leads to the next."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.admin import ModelAdmin
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods

from engines import console, sop
from engines.desk import queue
from engines.desk.consequences import consequences
from engines.desk.grounds import fields_read, grounds, passages
from engines.desk.since import since_asked
from engines.models import PendingAction, Review
from engines.review_view import open_findings
from engines.sop.order_run import RecordNotFound
from engines.sop.take_back import may_take_back, take_back
from integrations.redcap import RedcapError
from projects import reads
from projects.models import Role
from skills.drawing import draw
from study import dictionary
from study.client import NotConfiguredError

QUEUE, PAGE = "admin:engines_review_desk", "admin:engines_review_desk_page"
PER_PAGE = 50


@require_GET
def queue_view(request: HttpRequest, page: ModelAdmin) -> HttpResponse:
    """What waits, with its filters and counts."""
    chosen = queue.Chosen.of(request.GET)
    everything = queue.waiting(request.user)
    rows = [row for row in everything if chosen.keeps(row)]
    context = page.admin_site.each_context(request) | {
        "title": _("Review desk"),
        "opts": page.model._meta,
        "chosen": chosen,
        "filters": _filters(chosen, everything),
        "query": _query(chosen),
        "rows": Paginator(rows, PER_PAGE).get_page(request.GET.get("p")),
    }
    return render(request, "engines/desk/queue.html", context)


@sensitive_post_parameters("password")
@require_http_methods(["GET", "POST"])
def review_view(request: HttpRequest, page: ModelAdmin, pk: int) -> HttpResponse:
    """One open review; a decision leads to the next one of the same filters."""
    reviews = Review.objects.for_user(request.user).select_related("project", "task_run__skill")
    review = reviews.filter(pk=pk).first()
    if review is None:
        raise Http404
    chosen = queue.Chosen.of(request.GET)
    rows = [row for row in queue.waiting(request.user) if chosen.keeps(row)]
    if "take_back" in request.POST:
        return _taken_back(request, review)
    if request.method == "POST" and _decided(request, review):
        return _to_next(request, rows, pk, chosen)
    if request.method == "POST":  # refused, perhaps because it is asked anew
        review = reviews.get(pk=pk)
    if review.status != Review.Status.OPEN:
        return redirect("admin:engines_review_change", pk)
    about = [review.record_id] if review.record_id else []
    reads.note(actor=request.user, project=review.project_id, record_ids=about, door="console")
    context = page.admin_site.each_context(request) | _context(request, review)
    context |= {
        "opts": page.model._meta,
        "query": _query(chosen),
        "place": next((n for n, row in enumerate(rows, 1) if row.pk == pk), 0),
        "total": len(rows),
        "next": queue.after(rows, pk),
        "previous": queue.before(rows, pk),
    }
    return render(request, "engines/desk/review.html", context)


def closed(request: HttpRequest, review: Review) -> dict[str, Any]:
    """What the page of a decided review shows beside its fields."""
    user: Any = request.user
    return {
        "review": review,
        "rows": console.review_rows(review),
        "may_take_back": may_take_back(user, review),
        "must_sign": review.project.requires_signature,
        "reopens": PendingAction.objects.filter(review=review, open_key__isnull=True).count(),
    }


def _decided(request: HttpRequest, review: Review) -> bool:
    """Take the decision that the form brought; False with the reason told where it was not taken."""
    if ("approve" in request.POST) == ("reject" in request.POST):
        messages.error(request, _("Please choose: approve or reject."))
        return False
    decision: sop.Decision = "approve" if "approve" in request.POST else "reject"
    try:
        console.decide(
            request,
            review,
            decision=decision,
            reason=request.POST.get("reason", ""),
            seen=request.POST.get("seen", ""),
            signature=console.signature(request),
        )
    except sop.SopError as error:
        messages.error(request, f"{review}: {error}")
        return False
    done = _("%s approved.") if decision == "approve" else _("%s rejected.")
    address = reverse("admin:engines_review_change", args=[review.pk])
    link = format_html('<a href="{}#take-back" data-key="u">{}</a>', address, _("Take it back"))
    messages.success(request, format_html("{} {}", done % review, link))
    return True


def _taken_back(request: HttpRequest, review: Review) -> HttpResponse:
    """Repeat the run of the person's own decision; leads to the question that it asks."""
    user: Any = request.user
    try:
        again = take_back(
            review=review,
            actor=user,
            reason=request.POST.get("reason", ""),
            signature=console.signature(request),
        )
    except RecordNotFound:
        messages.error(request, _("There is no such subject."))
    except (RedcapError, NotConfiguredError):
        messages.error(request, _("REDCap could not be read."))
    except sop.SopError as error:
        messages.error(request, f"{review}: {error}")
    else:
        messages.success(request, _("%s: the decision is taken back.") % review)
        asked = sop.open_review(again)
        return redirect(PAGE, asked.pk) if asked else redirect(console.RUN, again.pk)
    return redirect("admin:engines_review_change", review.pk)


def _to_next(
    request: HttpRequest, rows: list[queue.Waiting], pk: int, chosen: queue.Chosen
) -> HttpResponse:
    following = queue.after([row for row in rows if row.may_decide or row.pk == pk], pk)
    if following is None:
        messages.info(request, _("That was the last review that waited for you."))
        return redirect(reverse(QUEUE) + _query(chosen))
    return redirect(reverse(PAGE, args=[following.pk]) + _query(chosen))


def _context(request: HttpRequest, review: Review) -> dict[str, Any]:
    run, metadata = review.task_run, dictionary.load(review.project)
    found = grounds(run, open_findings(review), metadata)
    hits = fields_read(found)
    values = console.review_rows(review)
    user: Any = request.user
    return {
        "title": review.question,
        "review": review,
        "run": run,
        "grounds": found,
        "passages": passages(run, found),
        "changed": since_asked(review, user, metadata),
        "hits": hits,
        "rows": [row for row in values if row["field"] in hits or row.get("before")],
        "others": [row for row in values if row["field"] not in hits and not row.get("before")],
        "waiting": sop.waiting_for(review).exclude(pk=run.pk),
        "consequences": consequences(review, len(found)),
        "drawing": draw(run.config),
        "past": set(run.steps.values_list("node", flat=True)) - {review.node},
        "here": review.node,
        "may_decide": sop.has_say(user, review),
        "must_sign": review.project.requires_signature,
        "reason": request.POST.get("reason", ""),
        "reasons": console.reasons(),
        "who": "、".join(str(Role(role).label) for role in review.reviewers if role in Role),
    }


def _filters(chosen: queue.Chosen, rows: list[queue.Waiting]) -> list[dict[str, Any]]:
    """Chips of the queue: each with its count and the address that chooses it."""
    shown = [row for row in rows if chosen.everyone or row.may_decide]
    counted = queue.counts(shown)
    others = sum(not row.may_decide for row in rows)
    chips = [_chip(_("All"), len(shown), queue.Chosen(everyone=chosen.everyone), chosen)]
    for code, label, count in counted["projects"] if len(counted["projects"]) > 1 else []:
        one = queue.Chosen(code, chosen.skill, chosen.everyone)
        chips.append(_chip(label, count, one, chosen))
    for kind, label, count in counted["skills"]:
        one = queue.Chosen(chosen.project, kind, chosen.everyone)
        chips.append(_chip(label, count, one, chosen))
    if others:
        one = queue.Chosen(chosen.project, chosen.skill, not chosen.everyone)
        chips.append(
            _chip(_("Those that others decide"), others, one, chosen) | {"on": chosen.everyone}
        )
    return chips


def _chip(label: str, count: int, to: queue.Chosen, chosen: queue.Chosen) -> dict[str, Any]:
    return {"label": label, "count": count, "query": _query(to) or "?", "on": to == chosen}


def _query(chosen: queue.Chosen) -> str:
    given = {
        "project": chosen.project,
        "skill": chosen.skill,
        "all": "1" if chosen.everyone else "",
    }
    text = urlencode({name: value for name, value in given.items() if value})
    return f"?{text}" if text else ""
